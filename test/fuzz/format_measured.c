/*
 * format_measured.c: tables of measured times (`run --measured`): output of nccl-tests, rccl-tests
 * and hccl_test. Whatever a table says, its times are above 0, or it is refused with its place.
 */
#include "bench/measured/measured.h"
#include "test/fuzz/fuzz.h"

static void read_place(const char *path, enum measured_place place, enum ccl_collective does)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct measured *measured;
    const struct measured_wish wish = {place, "the bench", does, "f16", "sum"};
    const int code = measured_read(path, &wish, &measured, &error);
    FUZZ_DEMAND((code == CW_OK) == (measured != NULL));
    fuzz_demand_error(code, &error);
    if (code != CW_OK)
        return;
    struct result_row rows[] = {
        {.counted_bytes = 8}, {.counted_bytes = 1024}, {.counted_bytes = 2097152, .ranks = 8}};
    struct result result = {.rows = rows, .row_count = 3};
    measured_attach(measured, &result);
    FUZZ_DEMAND(result.measured.rows_read > 0 && result.measured.rows_read <= result.measured.rows);
    FUZZ_DEMAND(result.measured.rows_wrong <= result.measured.rows_read);
    for (size_t i = 0; i < result.row_count; i++)
        FUZZ_DEMAND(rows[i].measured_ps >= 0);
    for (size_t i = 0; i < result.measured.note_count; i++)
        for (const char *at = result.measured.notes[i]; *at != '\0'; at++)
            FUZZ_DEMAND(*at >= ' ' && *at < 0x7f);
    measured_free(measured);
}

static void read_measured(const uint8_t *data, size_t size)
{
    const char *const path = fuzz_file("measured.txt", data, size);
    read_place(path, MEASURED_IN_PLACE, CCL_ALL_REDUCE);
    read_place(path, MEASURED_OUT_OF_PLACE, CCL_ALL_GATHER);
    read_place(path, MEASURED_IN_PLACE, CCL_COLLECTIVES);
}

const struct fuzz_format fuzz_measured = {.name = "measured", .once = read_measured};
