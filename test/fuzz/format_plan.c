/*
 * format_plan.c: MSCCL++ execution plans: whatever a plan says, it becomes a schedule, or is
 * refused; a schedule is sound, or is refused.
 */
#include <stdint.h>
#include <stdlib.h>

#include "collectives/msccl/msccl_file.h"
#include "collectives/schedule/schedule_check.h"
#include "test/fuzz/fuzz.h"

enum { CHUNKS_MAX = 1 << 16, STEPS_MAX = 1 << 16, SLOTS = 4 };

/* So many that formulas of all outputs, or the order of all steps, take long. */
static bool is_long(const struct schedule *schedule)
{
    uint64_t chunks = 0, steps = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        steps += schedule->rank[r].step_count;
        for (int b = 0; b < SCHEDULE_BUFFERS; b++)
            chunks += schedule->rank[r].chunks[b];
    }
    return chunks > CHUNKS_MAX || steps > STEPS_MAX;
}

/* A plan always begins with a brace here, or it would be taken for XML. */
static void read_plan(const uint8_t *data, size_t size)
{
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    if (size == 0 || data[0] != '{')
        return;
    const int code = msccl_read_text("fuzz.json", (const char *)data, size, &file, &error);
    FUZZ_DEMAND((code == CW_OK) == (file.schedule != NULL));
    fuzz_demand_error(code, &error);
    if (code == CW_OK && !is_long(file.schedule)) {
        struct schedule_faults hazards = {0};
        const int sound = schedule_check(file.schedule, SLOTS, NULL, &hazards, &error);
        fuzz_demand_error(sound, &error);
        schedule_faults_free(&hazards);
    }
    msccl_file_free(&file);
}

const struct fuzz_format fuzz_plan = {.name = "plan", .once = read_plan};
