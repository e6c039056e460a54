/*
 * format_engine_log.c: engine logs (CSV of `run --engine-log`), as `report` reads them.
 */
#include "test/fuzz/fuzz.h"

static void read_engine_log(const uint8_t *data, size_t size)
{
    const char *const path = fuzz_file("engine.csv", data, size);
    const char *const page = fuzz_path("page.html");
    (void)fuzz_run(FUZZ_OK | FUZZ_USAGE, path, (const char *[]){"report", path, "-o", page, NULL});
}

const struct fuzz_format fuzz_engine_log = {.name = "engine_log", .once = read_engine_log};
