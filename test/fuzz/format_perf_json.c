/*
 * format_perf_json.c: results of `perf run --json`, as `perf compare` reads them. A run that was
 * read is written, and the run that is read from that has the same cases and rounds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "perf/perf_compare.h"
#include "perf/perf_json.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate_json.h"

static void read_back(const struct perf_run *run)
{
    struct cw_error error = {.exit_code = CW_OK};
    char *text = NULL;
    size_t bytes;
    FILE *const stream = open_memstream(&text, &bytes);
    FUZZ_DEMAND(stream != NULL);
    FUZZ_DEMAND(perf_json_write(stream, run, &error) == CW_OK);
    FUZZ_DEMAND(fclose(stream) == 0);
    struct perf_run again;
    if (perf_json_read(fuzz_file("written.json", text, bytes), &again, &error) != CW_OK)
        fuzz_fail(__FILE__, __LINE__, "a written run is read", error.text);
    FUZZ_DEMAND(again.case_count == run->case_count);
    for (size_t i = 0; i < run->case_count; i++)
        FUZZ_DEMAND(again.cases[i].sample_count == run->cases[i].sample_count);
    perf_run_free(&again);
    free(text);
}

static void read_perf_json(const uint8_t *data, size_t size)
{
    static const char other[] = "test/fuzz/base/perf_json/quick";
    const uint32_t legal = FUZZ_OK | FUZZ_USAGE | 1 << PERF_HAS_SLOWER |
                           1 << PERF_HAS_OTHER_RESULTS | 1 << PERF_TOO_FEW;
    const char *const path = fuzz_file("perf.json", data, size);
    struct perf_run run;
    struct cw_error error = {.exit_code = CW_OK};
    const int code = perf_json_read(path, &run, &error);
    fuzz_demand_error(code, &error);
    if (code == CW_OK)
        read_back(&run);
    perf_run_free(&run);
    (void)fuzz_run(legal, NULL, (const char *[]){"perf", "compare", other, path, NULL});
    (void)fuzz_run(legal, path, (const char *[]){"perf", "compare", "--force", path, other, NULL});
    (void)fuzz_run(legal, path,
                   (const char *[]){"perf", "compare", "--format", "markdown", path, path, NULL});
}

const struct fuzz_format fuzz_perf_json = {
    .name = "perf_json", .once = read_perf_json, .mutate = mutate_json};
