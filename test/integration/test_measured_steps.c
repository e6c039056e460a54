/*
 * test_measured_steps.c: steps of GPTs by `workload new` and `step` beside measured ones
 * (perf/results/steps.py has all rows, and makes a table).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

/* Measured steps of Megatron-DeepSpeed on A100, in ms (perf/results/steps_node.csv): some of those
 * on which presets were fitted. */
static void steps_meet_measured_ones(void **state)
{
    (void)state;
    static const struct {
        const char *plan;
        unsigned gpus;
        double ms;
    } rows[] = {
        {"--layers 24 --hidden 2048 --micro-batch 2 --global-batch 64 --dp 8", 8, 569.740946},
        {"--layers 24 --hidden 2048 --micro-batch 1 --global-batch 8 --tp 2", 2, 698.673914},
        {"--layers 16 --hidden 1024 --micro-batch 2 --global-batch 32 --tp 4 --dp 2", 8,
         457.697031},
        {"--layers 12 --hidden 1024 --micro-batch 1 --global-batch 64 --dp 4", 4, 692.663731},
        {"--layers 24 --hidden 1024 --micro-batch 4 --global-batch 64 --dp 8", 8, 289.605758},
    };
    char path[64] = "/tmp/cubewarp_published_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run_output written =
            run_line(0,
                     "workload new gpt --heads 16 --sequence 1024 --vocab 51200 --dtype f16 %s "
                     "-o %s",
                     rows[i].plan, path);
        run_output_free(&written);
        json_t *root = run_json("step %s --quiet --preset a100_8 --set system.sips.count=%u", path,
                                rows[i].gpus);
        const json_t *const ns = json_object_get(json_object_get(root, "step"), "step_ns");
        const double percent = (json_number_value(ns) / 1e6 / rows[i].ms - 1) * 100;
        if (fabs(percent) > 12)
            fail_msg("%s: %+.1f %%", rows[i].plan, percent);
        json_decref(root);
    }
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_meet_measured_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
