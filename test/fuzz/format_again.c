/*
 * format_again.c: results whose command line runs again (`run --again`): the line that is put
 * together from the document's and a new one is read by the options' reader, but not run.
 */
#include "bench/options/options.h"
#include "bench/options/options_run.h"
#include "bench/result/again.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate_json.h"

static void read_line(const struct again *again)
{
    struct cw_error error = {.exit_code = CW_OK};
    static struct run_options run;
    struct option_parse parse = {.command = COMMAND_RUN, .values = &run};
    run_options_defaults(&run);
    for (int i = 0; i < again->argc; i++)
        FUZZ_DEMAND(again->argv[i] != NULL);
    fuzz_demand_error(options_read(&parse, again->argc, again->argv, &error), &error);
}

static void read_again(const uint8_t *data, size_t size)
{
    char *const path = (char *)(uintptr_t)fuzz_file("again.json", data, size);
    char *argv[] = {(char *)(uintptr_t) "run", (char *)(uintptr_t) "--again", path,
                    (char *)(uintptr_t) "--seed=3", (char *)(uintptr_t) "-n2"};
    for (int argc = 3; argc <= 5; argc++) {
        struct again again;
        struct cw_error error = {.exit_code = CW_OK};
        const int code = again_begin(&again, argc, argv, &error);
        fuzz_demand_error(code, &error);
        if (code == CW_OK) {
            FUZZ_DEMAND(again.asked);
            read_line(&again);
        }
        again_free(&again);
    }
}

const struct fuzz_format fuzz_again = {.name = "again", .once = read_again, .mutate = mutate_json};
