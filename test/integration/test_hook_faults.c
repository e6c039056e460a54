/*
 * test_hook_faults.c: a hook of a shared object that crashes, ends the program or does not return
 * is named, and the program ends as it does for a kernel that does (RUNTIME.md, "Algorithm
 * modules"); and what the runtime adds to the arguments of every kernel (DECISIONS.md).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

BUILT_PLUGIN("hook_faults")

/* Writes the algorithm's ccl.yaml, with a mapper and a validator of the object, if they are asked
 * for. */
static void configure(const char *symbol, const char *topology, bool mapped)
{
    (void)built_plugin_name_symbol(&plugin, symbol, topology);
    FILE *const file = fopen(plugin.config, "a");
    assert_non_null(file);
    if (mapped)
        fprintf(file, "    mapper: %s:mapper\n    validator: %s:validator\n", plugin.path,
                plugin.path);
    assert_int_equal(fclose(file), 0);
}

static void fail_with(const char *command, const char *hook, const char *fault, const char *text)
{
    char wanted[300];
    assert_int_equal(setenv("CUBEWARP_TEST_HOOK", hook, 1), 0);
    assert_int_equal(setenv("CUBEWARP_TEST_FAULT", fault, 1), 0);
    struct run_output output = run_line(3, "%s --ccl %s", command, plugin.config);
    assert_int_equal(unsetenv("CUBEWARP_TEST_HOOK"), 0);
    assert_int_equal(unsetenv("CUBEWARP_TEST_FAULT"), 0);
    snprintf(wanted, sizeof wanted, "cubewarp: %s, in its %s: %s", plugin.path, hook, text);
    if (strstr(output.err, wanted) == NULL)
        fail_msg("%s by %s said %s", hook, fault, output.err);
    run_output_free(&output);
}

static const struct fault {
    const char *name, *text;
} faults[] = {{"null", "segmentation fault at address 0x0\n"},
              {"recursion", "segmentation fault at address 0x"},
              {"exit", "exit(); legal: a hook returns\n"},
              {"abort", "abort()\n"},
              {"divide", "arithmetic fault\n"}};

static void every_fault_in_every_hook_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *hook, *symbol, *topology;
        bool mapped;
    } hooks[] = {{"mapper", "faulty", "ring_1d", true},
                 {"validator", "faulty", "ring_1d", true},
                 {"neighbors()", "faulty", "ring_1d", false},
                 {"kernel_args()", "faulty", "ring_1d", false},
                 {"takes_part()", "faulty", "ring_1d", false},
                 {"check()", "faulty", "ring_1d", false},
                 {"tcm_bytes()", "faulty", "ring_1d", false},
                 {"scratch_bytes()", "faulty", "ring_1d", false},
                 {"peers()", "faulty", "ring_1d", false},
                 {"moved()", "faulty", "ring_1d", false},
                 {"order.operand()", "faulty", "ring_1d", false},
                 {"order.tree()", "faulty_tree", "ring_1d", false},
                 {"order.parts()", "faulty_tree", "ring_1d", false},
                 {"schedule()", "faulty_schedule", "none", false},
                 {"choose()", "faulty_choice", "none", false},
                 {"constructors", "faulty", "ring_1d", false}};
    for (size_t i = 0; i < COUNT_OF(hooks); i++) {
        configure(hooks[i].symbol, hooks[i].topology, hooks[i].mapped);
        for (size_t k = 0; k < COUNT_OF(faults); k++)
            fail_with("run --n-elem 8 --verify-data", hooks[i].hook, faults[k].name,
                      faults[k].text);
    }
}

static void a_hook_that_does_not_return_is_named(void **state)
{
    (void)state;
    configure("faulty", "ring_1d", true);
    fail_with("run --n-elem 8", "mapper", "endless", "no return for 2 s of processor time\n");
    fail_with("run --n-elem 8", "kernel_args()", "endless",
              "no return for 2 s of processor time\n");
}

static void check_names_a_hook_s_fault_too(void **state)
{
    (void)state;
    configure("faulty", "ring_1d", true);
    fail_with("check", "mapper", "null", faults[0].text);
    fail_with("check", "neighbors()", "exit", faults[2].text);
}

/* ADR-0032 D5, D7: rank, topology, w and h are added to each kernel's arguments. */
static void every_kernel_gets_rank_topology_w_and_h(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        unsigned kind, w, h;
    } machines[] = {
        {"--set system.sips.topology=ring_1d --set system.sips.count=5", 0, 5, 1},
        {"--set system.sips.topology=torus_2d --set system.sips.count=6 --set system.sips.w=3 "
         "--set system.sips.h=2",
         1, 3, 2},
        {"--set system.sips.topology=mesh_2d_no_wrap --set system.sips.count=6 "
         "--set system.sips.w=2 --set system.sips.h=3",
         2, 2, 3},
        {"--set system.sips.topology=fully_connected --set system.sips.count=4", 3, 4, 1}};
    const char *const path = built_plugin_name_symbol(&plugin, "places", "ring_1d");
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        for (size_t k = 0; k < COUNT_OF(machines); k++) {
            struct run_output output =
                run_line(i == k ? 0 : 3,
                         "run --bench ccl_barrier --ccl %s %s --set algorithms.built.kind=%u "
                         "--set algorithms.built.width=%u --set algorithms.built.height=%u",
                         path, machines[i].machine, machines[k].kind, machines[k].w, machines[k].h);
            run_output_free(&output);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_in_every_hook_is_named),
        cmocka_unit_test(a_hook_that_does_not_return_is_named),
        cmocka_unit_test(check_names_a_hook_s_fault_too),
        cmocka_unit_test(every_kernel_gets_rank_topology_w_and_h),
    };
    return cmocka_run_group_tests_name("hook faults", tests, build, clean);
}
