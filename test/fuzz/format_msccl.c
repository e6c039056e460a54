/*
 * format_msccl.c: MSCCL XML files: whatever a file says, it becomes a schedule, or is refused; a
 * schedule is sound, or is refused; one that is sound is written, and read again as one that is
 * sound.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/msccl/msccl_write.h"
#include "collectives/msccl/msccl_file.h"
#include "collectives/schedule/schedule_check.h"
#include "test/fuzz/fuzz.h"

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
    FUZZ_DEMAND((code == CW_OK) == (file.schedule != NULL));
    schedule_faults_free(&file.notes);
    fuzz_demand_error(code, &error);
    if (code == CW_OK && !is_large(file.schedule) &&
        schedule_check(file.schedule, slots, NULL, NULL, &error) == CW_OK)
        return file.schedule;
    schedule_free(file.schedule);
    return NULL;
}

static char *written(const struct schedule *schedule, size_t *bytes)
{
    struct cw_error error;
    char *text = NULL;
    FILE *const stream = open_memstream(&text, bytes);
    FUZZ_DEMAND(stream != NULL);
    FUZZ_DEMAND(msccl_write(stream, schedule, NULL, &error) == CW_OK);
    FUZZ_DEMAND(fclose(stream) == 0);
    return text;
}

static void read_schedule(const uint8_t *data, size_t size)
{
    struct schedule *const given = sound((const char *)data, size, SLOTS);
    size_t bytes, bytes_again;
    if (given == NULL)
        return;
    char *const text = written(given, &bytes);
    struct schedule *const again = sound(text, bytes, 0);
    FUZZ_DEMAND(again != NULL);
    char *const text_again = written(again, &bytes_again);
    if (bytes != bytes_again || memcmp(text, text_again, bytes) != 0)
        fuzz_fail(__FILE__, __LINE__, "a schedule that was written is the same one", text);
    schedule_free(again);
    schedule_free(given);
    free(text_again);
    free(text);
}

const struct fuzz_format fuzz_msccl = {.name = "msccl", .once = read_schedule};
