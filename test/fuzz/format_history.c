/*
 * format_history.c: histories of throughput, as `perf compare`, `perf trend`, `report` and the next
 * `perf run` read them. The sound one is made by the program itself, of this machine and the result
 * corpus/perf_json/quick. A history that takes a run gives it back as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "perf/perf_compare.h"
#include "perf/perf_history.h"
#include "perf/perf_json.h"
#include "test/fuzz/database_script.h"

enum { RUNS = 4 };

/* A run of this machine. */
static void make_run(struct perf_run *run)
{
    struct cw_error error;
    struct perf_run here;
    FUZZ_DEMAND(perf_json_read("test/fuzz/base/perf_json/quick", run, &error) == CW_OK);
    perf_run_begin(&here, "quick");
    run->machine = here.machine;
}

static const struct database_base *history_base(void)
{
    static struct database_base base;
    if (base.bytes != NULL)
        return &base;
    const char *const path = fuzz_path("base.sqlite");
    struct perf_run run;
    struct cw_error error;
    int64_t id;
    make_run(&run);
    for (int i = 0; i < RUNS; i++)
        FUZZ_DEMAND(perf_history_add(path, &run, &id, &error) == CW_OK);
    perf_run_free(&run);
    database_base_take(&base, path);
    return &base;
}

/* The next run goes in, and comes out again. */
static void add_run(const char *path)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct perf_run run, again = {.case_count = 0};
    int64_t id = 0;
    make_run(&run);
    const int code = perf_history_add(path, &run, &id, &error);
    fuzz_demand_error(code, &error);
    if (code == CW_OK && perf_history_read(path, id, &again, &error) == CW_OK)
        FUZZ_DEMAND(strcmp(run.machine.host, again.machine.host) == 0);
    perf_run_free(&again);
    perf_run_free(&run);
}

static void read_history(const uint8_t *data, size_t size)
{
    const uint32_t legal = FUZZ_OK | FUZZ_USAGE | FUZZ_NO_RESOURCE | 1 << PERF_HAS_SLOWER |
                           1 << PERF_HAS_OTHER_RESULTS | 1 << PERF_TOO_FEW;
    const struct database_base *const base = history_base();
    fuzz_clear();
    const char *const path = database_script_run(base, "history.sqlite", data, size);
    const char *const page = fuzz_path("page.html"), *const svg = fuzz_path("trend.svg");
    const char *const lines[][8] = {
        {"perf", "compare", "--list", "--history", path},
        {"perf", "compare", "--history", path, "1", "2"},
        {"perf", "compare", "--history", path, "--force", "4", "test/fuzz/base/perf_json/quick"},
        {"perf", "compare", "--history", path, "--against", "3", "--format=markdown"},
        {"perf", "trend", "--history", path, "--svg", svg},
        {"perf", "trend", "--history", path, "--set=quick", "--csv", "-"},
        {"report", path, "-o", page}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        (void)fuzz_run(legal, i == 2 || i == 1 ? NULL : path, lines[i]);
    add_run(path);
}

static size_t mutate_history(struct fuzz_mutation *mutation, uint8_t *data, size_t size,
                             size_t room)
{
    return database_script_mutate(history_base(), mutation, data, size, room);
}

const struct fuzz_format fuzz_history = {
    .name = "history", .once = read_history, .mutate = mutate_history};
