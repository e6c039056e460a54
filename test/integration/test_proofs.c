/*
 * test_proofs.c: --verify-data of algorithms from a shared object, whatever they declare: by their
 * order of additions, by operations and inputs that no order makes a difference to, by a bound. The
 * result says which proof it was, and each finds a kernel that loses an addition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"

BUILT_PLUGIN("sums")

static const char *ccl_of(const char *symbol)
{
    return built_plugin_name_symbol(&plugin, symbol, "ring_1d");
}

static const json_t *row_of(const json_t *root, const char *key)
{
    return json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
}

/* The symbol's result is right, and this is how one knows. */
static void expect_proof(const char *symbol, const char *options, const char *proof)
{
    json_t *root =
        run_json("run --ccl %s --n-elem 10004 --verify-data %s", ccl_of(symbol), options);
    assert_int_equal(json_integer_value(row_of(root, "wrong")), 0);
    assert_string_equal(json_string_value(row_of(root, "proof")), proof);
    json_decref(root);
}

static void sums_of_trees_are_compared_bit_for_bit(void **state)
{
    (void)state;
    expect_proof("by_trees", "", "order");
    expect_proof("by_trees", "--dtype bf16 --op prod", "order");
    expect_proof("by_trees", "--set system.sips.count=7 --set system.sips.topology=ring_1d",
                 "order");
    expect_proof("by_trees", "--set system.sips.count=1", "order");
    expect_proof("by_trees", "--dtype bf16 --set defaults.accumulate=f32", "order");
    struct run_output output =
        run_line(1, "run --ccl %s --n-elem 10004 --verify-data", ccl_of("by_other_trees"));
    run_output_free(&output);
}

/* Kernels that nobody has looked at: they may receive from any direction. */
static void kernels_of_a_shared_object_do_not_fold(void **state)
{
    (void)state;
    struct run_output output =
        run_line(2, "run --ccl %s --n-elem 64 --no-data --fold on", ccl_of("by_trees"));
    assert_non_null(strstr(output.err, "--fold on: by_trees is of a shared object, whose kernels"));
    run_output_free(&output);
}

static void a_tree_that_is_none_is_refused(void **state)
{
    (void)state;
    struct run_output output =
        run_line(2, "run --ccl %s --n-elem 16 --verify-data", ccl_of("by_no_trees"));
    assert_non_null(strstr(output.err,
                           "step 1 of the tree of rank 0, part 0, in the order of by_no_trees, is "
                           "a rank that is in the tree already: 0; legal is each rank from 0 to 3 "
                           "once, and CCL_ADD 3 times"));
    run_output_free(&output);
}

static void the_strongest_proof_that_there_is_counts(void **state)
{
    (void)state;
    expect_proof("in_silence", "--op max", "any_order");
    expect_proof("in_silence", "--op min --dtype bf16", "any_order");
    expect_proof("in_silence", "--input integers", "integers");
    expect_proof("in_silence", "--input integers --op prod", "integers");
    expect_proof("in_silence", "--input integers --dtype bf16 --threads 2", "integers");
    expect_proof("in_silence", "", "error_bound");
    expect_proof("in_silence", "--op prod --dtype f32", "error_bound");
    expect_proof("by_trees", "--input integers", "order");
    expect_proof("in_silence", "--bench ccl_broadcast", "moved");
    expect_proof("in_silence", "--bench ccl_all_gather --input integers", "moved");
}

static void every_proof_finds_a_lost_addition(void **state)
{
    (void)state;
    static const struct {
        const char *symbol, *options, *what;
    } cases[] = {{"with_an_order_and_a_loss", "", "than the specified order of operations gives"},
                 {"with_a_loss", "--op max", "than every order of operations gives"},
                 {"with_a_loss", "--input integers", "than the exact sum, which every order gives"},
                 {"with_a_loss", "", "are further off than any order of operations can be"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_output output = run_line(1, "run --ccl %s --n-elem 10004 --verify-data %s",
                                            ccl_of(cases[i].symbol), cases[i].options);
        assert_non_null(strstr(output.err, cases[i].what));
        run_output_free(&output);
    }
}

static void the_table_states_the_bound_and_what_was_found(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run --ccl %s --n-elem 10004 --verify-data", ccl_of("in_silence"));
    assert_non_null(strstr(output.out, "# Verified          : within a bound of the error that "
                                       "holds for any order of additions\n"));
    assert_non_null(strstr(output.out, "the bound is 0.00147 of the operands' magnitudes; the "
                                       "largest error is 0.00"));
    run_output_free(&output);
    json_t *root = run_json("run --ccl %s --n-elem 10004 --verify-data", ccl_of("in_silence"));
    const double bound = json_real_value(row_of(root, "error_bound"));
    const double largest = json_real_value(row_of(root, "error_largest"));
    assert_true(largest > 0 && largest < bound && bound < 0.0015);
    json_decref(root);
}

/* 4 SIPs of 16 cubes: 64 operands of an element; then 1,024, more than bf16 has whole numbers. */
static void integers_have_exact_sums_on_built_in_algorithms_too(void **state)
{
    (void)state;
    static const char *const machines[] = {"--n-elem 8", "--n-elem 8 --dtype bf16",
                                           "--dtype bf16 --preset pod64 --n-elem 100"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        json_t *root = run_json("run --input integers --verify-data %s", machines[i]);
        assert_int_equal(json_integer_value(row_of(root, "wrong")), 0);
        json_t *other = run_json("run --input integers --verify-data --algorithm "
                                 "intercube_allreduce --set defaults.root=corner %s",
                                 machines[i]);
        assert_string_equal(json_string_value(row_of(root, "data_hash")),
                            json_string_value(row_of(other, "data_hash")));
        assert_string_equal(json_string_value(json_object_get(root, "input")), "integers");
        json_decref(root);
        json_decref(other);
    }
}

static void a_log_of_integers_replays(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run --input integers --n-elem 100 --op-log %s/i.log", plugin.folder);
    run_output_free(&output);
    output = run_line(0, "replay %s/i.log", plugin.folder);
    assert_non_null(strstr(output.out, "OK"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_trees_are_compared_bit_for_bit),
        cmocka_unit_test(kernels_of_a_shared_object_do_not_fold),
        cmocka_unit_test(a_tree_that_is_none_is_refused),
        cmocka_unit_test(the_strongest_proof_that_there_is_counts),
        cmocka_unit_test(every_proof_finds_a_lost_addition),
        cmocka_unit_test(the_table_states_the_bound_and_what_was_found),
        cmocka_unit_test(integers_have_exact_sums_on_built_in_algorithms_too),
        cmocka_unit_test(a_log_of_integers_replays),
    };
    return cmocka_run_group_tests_name("proofs", tests, build, clean);
}
