/*
 * format_measured.c: tables of measured times (`run --measured`): output of nccl-tests, rccl-tests
 * and hccl_test. Whatever a table says, its times are above 0, or it is refused with its place.
 */
#include "bench/programs/measured.h"
#include "test/fuzz/fuzz.h"

static void read_place(const char *path, enum measured_place place)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct measured *measured;
    const int code = measured_read(path, place, &measured, &error);
    FUZZ_DEMAND((code == CW_OK) == (measured != NULL));
    fuzz_demand_error(code, &error);
    if (code != CW_OK)
        return;
    struct result_row rows[] = {
        {.counted_bytes = 8}, {.counted_bytes = 1024}, {.counted_bytes = 2097152}};
    struct result result = {.rows = rows, .row_count = 3};
    for (int does = 0; does <= CCL_COLLECTIVES; does++) {
        struct cw_error refusal = {.exit_code = CW_OK};
        fuzz_demand_error(
            measured_check(measured, "ccl_allreduce", (enum ccl_collective)does, &refusal),
            &refusal);
    }
    measured_attach(measured, &result);
    for (size_t i = 0; i < result.row_count; i++)
        FUZZ_DEMAND(rows[i].measured_ps >= 0);
    measured_free(measured);
}

static void read_measured(const uint8_t *data, size_t size)
{
    const char *const path = fuzz_file("measured.txt", data, size);
    read_place(path, MEASURED_IN_PLACE);
    read_place(path, MEASURED_OUT_OF_PLACE);
}

const struct fuzz_format fuzz_measured = {.name = "measured", .once = read_measured};
