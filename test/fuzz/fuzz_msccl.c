/*
 * fuzz_msccl.c: libFuzzer's entry for MSCCL XML files: whatever a file says, it becomes a schedule,
 * or is refused; a schedule is sound, or is refused; one that is sound is written, and read again
 * as one that is sound.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/msccl/msccl_write.h"
#include "collectives/msccl/msccl_xml.h"
#include "collectives/schedule/schedule_check.h"

enum { CHUNKS_MAX = 1 << 16, SLOTS = 4 };

/* So many that formulas of all outputs take long. */
static bool is_large(const struct schedule *schedule)
{
    uint64_t chunks = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++)
        for (int b = 0; b < SCHEDULE_BUFFERS; b++)
            chunks += schedule->rank[r].chunks[b];
    return chunks > CHUNKS_MAX;
}

/* The schedule of a text, if it is sound with rings of so many slots; else NULL. */
static struct schedule *sound(const char *text, size_t bytes, uint32_t slots)
{
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    const int code = msccl_read_text("fuzz.xml", text, bytes, &file, &error);
    if ((code == CW_OK) != (file.schedule != NULL) || (code != CW_OK && error.text[0] == '\0'))
        abort();
    if (code == CW_OK && !is_large(file.schedule) &&
        schedule_check(file.schedule, slots, NULL, NULL, &error) == CW_OK)
        return file.schedule;
    schedule_free(file.schedule);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct schedule *const given = sound((const char *)data, size, SLOTS);
    struct cw_error error;
    char *text = NULL;
    size_t bytes = 0;
    if (given == NULL)
        return 0;
    FILE *const stream = open_memstream(&text, &bytes);
    if (stream == NULL || msccl_write(stream, given, &error) != CW_OK || fclose(stream) != 0)
        abort();
    struct schedule *const again = sound(text, bytes, 0);
    if (again == NULL)
        abort();
    schedule_free(again);
    schedule_free(given);
    free(text);
    return 0;
}
