/*
 * test_config_groups.c: groups of ranks in ccl.yaml (RUNTIME.md, "Process group"): which ranks
 * each group has, how the sets print, what is refused and where, and the entries that sets name.
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_load.h"
#include "collectives/config/config_place.h"
#include "collectives/config/config_print.h"
#include "collectives/config/config_unused.h"

#define SIXTEEN "system: { sips: { count: 16, topology: switch } }\n"
#define LEGAL_RANKS                                                                                \
    "expected numbers from 0 to 16383 and ranges of them, such as 0-15, or [1, 3, 5-7, 8-31/2]"

static struct config *load_text(const char *text)
{
    write_text("groups.yaml", text);
    return load_with("groups.yaml", NULL, 0);
}

static void expect_refused(const char *text, const char *expected)
{
    write_text("groups.yaml", text);
    expect_errors(&(struct config_request){.preset = "groups.yaml"}, expected);
}

static void expect_refused_set(const char *const *sets, size_t count, const char *expected)
{
    write_text("groups.yaml", SIXTEEN "groups: { tp: { each: 8 } }\n");
    expect_errors(
        &(struct config_request){.preset = "groups.yaml", .sets = sets, .set_count = count},
        expected);
}

/* All groups of a set as one text: "tp.0: 0 1, tp.1: 2 3". */
static const char *written(const struct config *config, const char *name, char text[1024])
{
    const struct ccl_group_set *const set = ccl_groups_find(&config->groups, name);
    size_t n = 0;
    text[0] = '\0';
    assert_non_null(set);
    for (uint32_t group = 0; group < set->groups; group++) {
        char of[CCL_NAME_BYTES + 16];
        n += (size_t)snprintf(text + n, 1024 - n, "%s%s:", group > 0 ? ", " : "",
                              ccl_group_name(set, group, of, sizeof of));
        for (uint32_t i = 0; i < set->size; i++)
            n += (size_t)snprintf(text + n, 1024 - n, " %u", ccl_group_rank(set, group, i));
    }
    return text;
}

/* The example in Megatron's initialize_model_parallel(): 16 GPUs, tensor parallelism of 2, pipeline
 * parallelism of 4. */
static void tensor_data_and_pipeline_groups_are_those_of_megatron(void **state)
{
    (void)state;
    char text[1024];
    struct config *const config = load_text(SIXTEEN "groups:\n"
                                                    "  tp: { each: 2 }\n"
                                                    "  dp: { each: 2, stride: 2 }\n"
                                                    "  pp: { stride: 4 }\n");
    assert_string_equal(written(config, "tp", text),
                        "tp.0: 0 1, tp.1: 2 3, tp.2: 4 5, tp.3: 6 7, tp.4: 8 9, tp.5: 10 11, "
                        "tp.6: 12 13, tp.7: 14 15");
    assert_string_equal(written(config, "dp", text),
                        "dp.0: 0 2, dp.1: 1 3, dp.2: 4 6, dp.3: 5 7, dp.4: 8 10, dp.5: 9 11, "
                        "dp.6: 12 14, dp.7: 13 15");
    assert_string_equal(written(config, "pp", text),
                        "pp.0: 0 4 8 12, pp.1: 1 5 9 13, pp.2: 2 6 10 14, pp.3: 3 7 11 15");
    config_free(config);
}

static void ranks_are_listed_in_their_order_and_cut(void **state)
{
    (void)state;
    char text[1024];
    struct config *const config = load_text(SIXTEEN "groups:\n"
                                                    "  all: {}\n"
                                                    "  one: { ranks: 5 }\n"
                                                    "  odd: { ranks: [1, 3, 5-7, 9-15/4] }\n"
                                                    "  ring: { ranks: [0, 1, 3, 2] }\n"
                                                    "  stage: { ranks: 8-15, each: 4 }\n"
                                                    "  far: { ranks: [3, 0-2, 8-14/2], each: 2, "
                                                    "stride: 4 }\n");
    assert_string_equal(written(config, "all", text), "all: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
    assert_string_equal(written(config, "one", text), "one: 5");
    assert_string_equal(written(config, "odd", text), "odd: 1 3 5 6 7 9 13");
    assert_string_equal(written(config, "ring", text), "ring: 0 1 3 2");
    assert_string_equal(written(config, "stage", text), "stage.0: 8 9 10 11, stage.1: 12 13 14 15");
    assert_string_equal(written(config, "far", text), "far.0: 3 8, far.1: 0 10, far.2: 1 12, "
                                                      "far.3: 2 14");
    config_free(config);
}

/* Which group a rank is in is the inverse of which rank a group has. */
static void a_rank_finds_its_group_and_place(void **state)
{
    (void)state;
    uint32_t group, i, seen = 0;
    struct config *const config =
        load_text(SIXTEEN "groups: { far: { ranks: [3, 0-2, 8-14/2], each: 2, stride: 2 } }\n");
    const struct ccl_group_set *const set = ccl_groups_find(&config->groups, "far");
    for (uint32_t rank = 0; rank < 16; rank++)
        if (ccl_group_of(set, rank, &group, &i)) {
            assert_int_equal(ccl_group_rank(set, group, i), rank);
            seen++;
        }
    assert_int_equal(seen, 8);
    assert_false(ccl_group_of(set, 9, &group, &i)); /* between the ranks of a range */
    assert_false(ccl_group_of(set, 4, &group, &i));
    assert_true(ccl_group_of(set, 1, &group, &i)); /* 3 0 | 1 2 : 8 10 | 12 14, two apart */
    assert_int_equal(group, 0);
    assert_int_equal(i, 1);
    assert_null(ccl_groups_find(&config->groups, "far.0"));
    config_free(config);
}

static void the_largest_world_costs_nothing(void **state)
{
    (void)state;
    uint32_t group, i;
    struct config *const config = load_text("system: { sips: { count: 16384, topology: switch } }\n"
                                            "sip: { cube_mesh: { w: 1, h: 1 } }\n"
                                            "groups: { tp: { each: 8 }, dp: { stride: 8 } }\n");
    const struct ccl_group_set *const tp = ccl_groups_find(&config->groups, "tp"),
                                      *const dp = ccl_groups_find(&config->groups, "dp");
    assert_int_equal(tp->groups, 2048);
    assert_int_equal(tp->range_count, 1);
    assert_int_equal(ccl_group_rank(tp, 2047, 7), 16383);
    assert_int_equal(dp->groups, 8);
    assert_int_equal(dp->size, 2048);
    assert_int_equal(ccl_group_rank(dp, 7, 2047), 16383);
    assert_true(ccl_group_of(dp, 16382, &group, &i));
    assert_int_equal(group, 6);
    assert_int_equal(i, 2047);
    config_free(config);
}

static void options_change_sets_key_by_key(void **state)
{
    (void)state;
    static const char *const sets[] = {"groups.tp.each=4", "groups.dp={stride: 8}",
                                       "groups.tp.lanes=2-5", "groups={pp: {each: 2, stride: 8}}",
                                       "groups.pp.stride=null"};
    char text[1024], where[64];
    write_text("groups.yaml", SIXTEEN "groups: { tp: { each: 2, ranks: 0-7 } }\n");
    struct config *const config = load_with("groups.yaml", sets, COUNT_OF(sets));
    assert_string_equal(written(config, "tp", text), "tp.0: 0 1 2 3, tp.1: 4 5 6 7");
    assert_string_equal(written(config, "dp", text),
                        "dp.0: 0 8, dp.1: 1 9, dp.2: 2 10, dp.3: 3 11, dp.4: 4 12, dp.5: 5 13, "
                        "dp.6: 6 14, dp.7: 7 15");
    assert_int_equal(ccl_groups_find(&config->groups, "pp")->groups, 8);
    assert_int_equal(ccl_groups_find(&config->groups, "tp")->first_pe, 2);
    assert_int_equal(ccl_groups_find(&config->groups, "tp")->pes, 4);
    assert_int_equal(ccl_groups_find(&config->groups, "dp")->first_pe, 0);
    assert_int_equal(ccl_groups_find(&config->groups, "dp")->pes, 128); /* 4 x 4 cubes of 8 PEs */
    assert_string_equal(config_where(config, "groups.tp.each", where, sizeof where),
                        "--set groups.tp.each=4");
    assert_string_equal(config_where(config, "groups.tp.ranks", where, sizeof where),
                        "groups.yaml:2:33");
    assert_string_equal(config_where(config, "groups.tp.stride", where, sizeof where),
                        "groups.yaml:2:11");
    config_free(config);
}

static void sets_print_in_one_spelling_and_are_in_the_digest(void **state)
{
    (void)state;
    char *text = NULL, digest[17];
    size_t bytes;
    struct config *config = load_text(SIXTEEN);
    snprintf(digest, sizeof digest, "%s", config->digest);
    config_free(config);
    config = load_text(SIXTEEN "groups: { a: { ranks: [0-0, 3-4/7, 5-10/2] }, b: {}, c: { lanes: "
                               "3-3 }, d: { ranks: [2-9] } }\n");
    assert_string_not_equal(config->digest, digest);
    FILE *const stream = open_memstream(&text, &bytes);
    assert_non_null(stream);
    assert_int_equal(config_print(stream, config, false), CW_OK);
    assert_int_equal(fclose(stream), 0);
    assert_non_null(strstr(text, "\ngroups:\n"
                                 "  a:\n    ranks: [0, 3, 5-9/2]\n"
                                 "  b: {}\n"
                                 "  c:\n    lanes: 3\n"
                                 "  d:\n    ranks: 2-9\n"));
    write_text("again.yaml", text);
    struct config *const again = load_with("again.yaml", NULL, 0);
    assert_string_equal(again->digest, config->digest);
    config_free(again);
    config_free(config);
    free(text);
}

static void ranks_that_are_none_are_refused_where_they_stand(void **state)
{
    (void)state;
    expect_refused(SIXTEEN "groups: { tp: { ranks: [0, 12-16] } }\n",
                   "groups.yaml:2:28: groups.tp.ranks: rank 16 in a world of 16; legal: 0 to 15\n");
    expect_refused(SIXTEEN "groups:\n  tp: { ranks: [0-7, 9, 5] }\n",
                   "groups.yaml:3:25: groups.tp.ranks: rank 5 is there twice; legal is each rank "
                   "once\n");
    expect_refused(SIXTEEN "groups: { tp: { ranks: [1, x] } }\n",
                   "groups.yaml:2:28: groups.tp.ranks: " LEGAL_RANKS "; found 'x'\n");
    expect_refused(SIXTEEN "groups: { tp: { ranks: [] } }\n",
                   "groups.yaml:2:24: groups.tp.ranks: " LEGAL_RANKS
                   "; found a list, which is empty\n");
    expect_refused(SIXTEEN "groups: { tp: { ranks: 7-3 } }\n",
                   "groups.yaml:2:24: groups.tp.ranks: " LEGAL_RANKS
                   "; found '7-3'; the lower number comes first\n");
    expect_refused(SIXTEEN "groups: { tp: { ranks: 0-7/0 } }\n",
                   "groups.yaml:2:24: groups.tp.ranks: " LEGAL_RANKS
                   "; found '0-7/0'; a step is a whole number of at least 1\n");
    expect_refused(SIXTEEN "groups: { tp: { ranks: 0-99999 } }\n",
                   "groups.yaml:2:24: groups.tp.ranks: " LEGAL_RANKS "; found '0-99999'\n");
    expect_refused(SIXTEEN "groups: { tp: { ranks: 0-7 8 } }\n",
                   "groups.yaml:2:24: groups.tp.ranks: " LEGAL_RANKS "; found '0-7 8'\n");
    expect_refused("defaults: { world_size: 3, algorithm: ring_allreduce }\n"
                   "groups: { tp: { ranks: 2-3 } }\n",
                   "groups.yaml:2:24: groups.tp.ranks: rank 3 in a world of 3; legal: 0 to 2\n");
}

static void cuts_that_leave_ranks_over_are_refused(void **state)
{
    (void)state;
    expect_refused(SIXTEEN "groups: { tp: { each: 5 } }\n",
                   "groups.yaml:2:23: groups.tp.each: 5 does not divide the number of ranks, 16; "
                   "legal: 1, 2, 4, 8, 16\n");
    expect_refused(SIXTEEN "groups: { dp: { stride: 3 } }\n",
                   "groups.yaml:2:25: groups.dp.stride: 3 does not divide the number of ranks, 16; "
                   "legal: 1, 2, 4, 8, 16\n");
    expect_refused(SIXTEEN "groups: { dp: { each: 8, stride: 4 } }\n",
                   "groups.yaml:2:23: groups.dp.each: 8 does not divide the number of ranks that "
                   "are a stride apart, 4; legal: 1, 2, 4\n");
    expect_refused(SIXTEEN "groups: { dp: { ranks: [0-4], each: 2 } }\n",
                   "groups.yaml:2:37: groups.dp.each: 2 does not divide the number of ranks, 5; "
                   "legal: 1, 5\n");
}

static void names_keys_lanes_and_entries_are_checked(void **state)
{
    (void)state;
    static const char name[] = "groups: expected a name of up to 63 letters, digits, '_' and '-' "
                               "that begins with a letter and is not 'world'; found ";
    static const char *const sets[][1] = {{"groups.0-8.each=2"},
                                          {"groups.world={}"},
                                          {"groups.tp.0.each=2"},
                                          {"groups.tp=4"},
                                          {"groups=4"},
                                          {"groups.tp.algorithm=rink"},
                                          {"groups.tp.lanes=0-128"},
                                          {"groups.tp.lanes=0-7/2"}};
    static const char *const expected[] = {
        "--set groups.0-8.each=2: %s'0-8'\n",
        "--set groups.world={}: %s'world'\n",
        "--set groups.tp.0.each=2: unknown key '0.each' in groups.tp; did you mean 'each'? known "
        "here: ranks, each, stride, algorithm, lanes\n",
        "--set groups.tp=4: groups.tp: expected a mapping with keys of ranks, each, stride, "
        "algorithm, lanes; found '4'\n",
        "--set groups=4: groups: expected a mapping from names to sets of groups; found '4'\n",
        "--set groups.tp.algorithm=rink: groups.tp.algorithm: no algorithm 'rink'; `cubewarp list "
        "algorithms` lists them\n",
        "--set groups.tp.lanes=0-128: groups.tp.lanes: PE 128 of a SIP that has 128; legal: 0 to "
        "127\n",
        "--set groups.tp.lanes=0-7/2: groups.tp.lanes: expected a number from 0 to 65535 or a "
        "range of them, such as 0-15; found '0-7/2'; it has no step\n"};
    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        char text[512];
        const char *const at = strstr(expected[i], "%s");
        snprintf(text, sizeof text, "%.*s%s%s",
                 (int)(at != NULL ? at - expected[i] : (ptrdiff_t)strlen(expected[i])), expected[i],
                 at != NULL ? name : "", at != NULL ? at + 2 : "");
        expect_refused_set(sets[i], 1, text);
    }
    write_text("topology.yaml", "groups: {}\n");
    expect_errors(&(struct config_request){.topology = "topology.yaml"},
                  "topology.yaml:1:1: key 'groups' belongs in ccl.yaml; known here: system, sip, "
                  "cube, memory, fabric, faults\n");
}

static void the_entry_of_a_set_has_its_own_settings(void **state)
{
    (void)state;
    struct ccl_config ccl;
    struct config *const config =
        load_text("defaults: { algorithm: ring_allreduce, n_slots: 3 }\n"
                  "algorithms:\n"
                  "  mine: { extends: ring_rs_ag, rings: 2, n_slots: 6 }\n"
                  "groups: { tp: { algorithm: mine } }\n");
    config_entry(config, "mine", &ccl);
    assert_string_equal(ccl.module, "ring_rs_ag");
    assert_string_equal(ccl.topology, "none");
    assert_int_equal(ccl.queues.n_slots, 6);
    assert_int_equal(ccl.parameter[1], 2); /* way, rings */
    config_entry(config, "", &ccl);
    assert_string_equal(ccl.module, "ring_allreduce");
    assert_int_equal(ccl.queues.n_slots, 3);
    assert_string_equal(config->ccl.module, "ring_allreduce");
    config_free(config);
}

/* Which code is loaded is not up to options, for a set of groups either. */
static void the_entry_of_a_set_obeys_the_rules_of_code(void **state)
{
    (void)state;
    static const char *const sets[] = {"algorithms.mine={module: './mine.so:mine', topology: none}",
                                       "groups.tp.algorithm=mine"};
    expect_refused_set(sets, COUNT_OF(sets),
                       "--set algorithms.mine={module: './mine.so:mine', topology: none}: module: "
                       "./mine.so:mine would load code, which only a configuration file may ask "
                       "for: write it in ccl.yaml and give --ccl\n");
    write_text("groups.yaml", "algorithms: { mine: { module: './mine.so:mine', topology: none } }\n"
                              "groups: { tp: { algorithm: mine } }\n");
    expect_errors(&(struct config_request){.preset = "groups.yaml", .no_plugins = true},
                  "groups.yaml:1:31: module: ./mine.so:mine is loaded from a file, which "
                  "--no-plugins forbids\n");
}

static void put_unused(void *stream, const char *key, const char *place, const char *why)
{
    (void)place;
    fprintf(stream, "%s: %s\n", key, why);
}

static void keys_of_groups_that_nobody_makes_are_named(void **state)
{
    (void)state;
    static const char *const sets[] = {"groups.tp.each=4", "groups.tp.algorithm=ring_rs_ag",
                                       "algorithms.ring_rs_ag.n_slots=5"};
    struct config *const config = load_with(NULL, sets, COUNT_OF(sets));
    for (int makes = 0; makes < 2; makes++) {
        char text[1024] = "";
        FILE *const stream = fmemopen(text, sizeof text, "w");
        const struct config_work work = {.is_unknown = true, .groups = makes != 0};
        assert_non_null(stream);
        config_unused_visit(config, &work, false, put_unused, stream);
        assert_int_equal(fclose(stream), 0);
        assert_int_equal(strstr(text, "groups.tp.each: this run does not use it; ") == NULL, makes);
        assert_int_equal(strstr(text, "groups.tp.algorithm: ") == NULL, makes);
        assert_int_equal(strstr(text, "algorithms.ring_rs_ag.n_slots: ") == NULL, makes);
    }
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_data_and_pipeline_groups_are_those_of_megatron),
        cmocka_unit_test(ranks_are_listed_in_their_order_and_cut),
        cmocka_unit_test(a_rank_finds_its_group_and_place),
        cmocka_unit_test(the_largest_world_costs_nothing),
        cmocka_unit_test(options_change_sets_key_by_key),
        cmocka_unit_test(sets_print_in_one_spelling_and_are_in_the_digest),
        cmocka_unit_test(ranks_that_are_none_are_refused_where_they_stand),
        cmocka_unit_test(cuts_that_leave_ranks_over_are_refused),
        cmocka_unit_test(names_keys_lanes_and_entries_are_checked),
        cmocka_unit_test(the_entry_of_a_set_has_its_own_settings),
        cmocka_unit_test(the_entry_of_a_set_obeys_the_rules_of_code),
        cmocka_unit_test(keys_of_groups_that_nobody_makes_are_named),
    };
    return cmocka_run_group_tests_name("groups in configurations", tests, scratch_enter,
                                       scratch_leave);
}
