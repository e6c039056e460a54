/*
 * test_loaded_mappers.c: mappers and validators from a shared object that a configuration file
 * names (RUNTIME.md, "Install plans"; QUALITY.md, "Bad input"), objects that cannot be loaded, and
 * built-in mappers that an algorithm cannot do with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"

static int make(void **state)
{
    struct built_plugin *const plugin = calloc(1, sizeof *plugin);
    assert_non_null(plugin);
    *state = plugin;
    return built_plugin_make(plugin, "choose");
}

static int clean(void **state)
{
    const int code = built_plugin_remove(*state);
    free(*state);
    return code;
}

/* The ring, with a mapper and a validator of the object. Returns the file's path. */
static const char *configure(struct built_plugin *plugin, const char *mapper, const char *validator)
{
    snprintf(plugin->config, sizeof plugin->config, "%s/ccl.yaml", plugin->folder);
    FILE *const file = fopen(plugin->config, "w");
    assert_non_null(file);
    fprintf(file,
            "defaults:\n  algorithm: mine\nalgorithms:\n  mine:\n    extends: ring_allreduce\n"
            "    mapper: %s:%s\n    validator: %s:%s\n",
            plugin->path, mapper, plugin->path, validator);
    assert_int_equal(fclose(file), 0);
    return plugin->config;
}

static void refuse(const char *text, const char *format, const char *path)
{
    char line[300];
    snprintf(line, sizeof line, format, path);
    struct run_output output = run_line(2, "%s", line);
    if (strstr(output.err, text) == NULL)
        fail_msg("%s\nsaid %s\ninstead of %s", line, output.err, text);
    run_output_free(&output);
}

static void a_loaded_mapper_and_validator_do_their_work(void **state)
{
    struct built_plugin *plugin = *state;
    const char *const path = configure(plugin, "leader", "small");
    struct run_output output = run_line(0, "run --ccl %s --n-elem 100 --verify-data", path);
    run_output_free(&output);
    refuse("ccl.yaml:7:16: 101 elements are too many for me; at most 100",
           "run --ccl %s --n-elem 101", path);
}

static void a_symbol_that_is_not_there_is_named(void **state)
{
    refuse("choose.so has no symbol nobody", "run --ccl %s", configure(*state, "nobody", "small"));
    refuse("choose.so has no symbol anything", "run --ccl %s",
           configure(*state, "leader", "anything"));
}

static void a_symbol_that_is_no_function_is_refused(void **state)
{
    refuse("ccl.yaml:6:13: ", "run --ccl %s", configure(*state, "a_number", "small"));
    refuse("choose.so:a_number is a variable; a function is wanted", "run --ccl %s",
           configure(*state, "a_number", "small"));
    refuse("ccl.yaml:7:16: ", "run --ccl %s", configure(*state, "leader", "a_number"));
    refuse("choose.so:of_a_thread is a variable; a function is wanted", "run --ccl %s",
           configure(*state, "leader", "of_a_thread"));
}

/* The command line cannot load code that no file has asked for. */
static void code_is_loaded_only_if_a_file_says_so(void **state)
{
    struct built_plugin *plugin = *state;
    refuse("loaded from a file, which --no-plugins forbids", "run --no-plugins --ccl %s",
           configure(plugin, "leader", "small"));
    static const char *const keys[] = {"module", "mapper", "validator"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char format[160];
        snprintf(format, sizeof format,
                 "run --algorithm ring_allreduce --set algorithms.ring_allreduce.%s=%%s:leader",
                 keys[i]);
        refuse("would load code, which only a configuration file may ask for: write it in ccl.yaml "
               "and give --ccl",
               format, plugin->path);
    }
}

/* Whether a run whose shipped ccl.yaml has an object as its default's module loads it. The run's
 * own algorithm is built in; it compares its configuration with that of a line without options. */
static bool loads_shipped_object(struct built_plugin *plugin, const char *options)
{
    char loaded[100], command[600];
    snprintf(loaded, sizeof loaded, "%s/loaded", plugin->folder);
    snprintf(command, sizeof command,
             "rm -f %s && cp configs/*.yaml %s && "
             "sed -i 's|^  algorithm: .*|  algorithm: mine|' %s/ccl.yaml && "
             "printf '  mine:\n    extends: ring_allreduce\n    module: %s:leader\n' "
             ">>%s/ccl.yaml",
             loaded, plugin->folder, plugin->folder, plugin->path, plugin->folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(setenv("CUBEWARP_CONFIGS", plugin->folder, 1), 0);
    assert_int_equal(setenv("CUBEWARP_TEST_LOADED", loaded, 1), 0);
    json_t *const root = run_json("run --n-elem 64 --algorithm ring_allreduce %s", options);
    assert_int_equal(unsetenv("CUBEWARP_TEST_LOADED"), 0);
    assert_int_equal(unsetenv("CUBEWARP_CONFIGS"), 0);
    const bool is_loaded = access(loaded, F_OK) == 0;
    if (strstr(options, "--no-plugins") != NULL) /* nothing to compare with */
        assert_true(json_is_null(json_object_get(json_object_get(root, "provenance"), "changed")));
    json_decref(root);
    return is_loaded;
}

static void no_plugins_is_for_the_shipped_files_too(void **state)
{
    struct built_plugin *const plugin = *state;
    char own[100], own_without[120];
    snprintf(own, sizeof own, "--topology %s/topology.yaml", plugin->folder);
    snprintf(own_without, sizeof own_without, "%s --no-plugins", own);
    assert_true(loads_shipped_object(plugin, ""));
    assert_true(loads_shipped_object(plugin, own));
    assert_false(loads_shipped_object(plugin, "--no-plugins"));
    assert_false(loads_shipped_object(plugin, own_without));
}

static void objects_of_other_kinds_are_refused(void **state)
{
    struct built_plugin *plugin = *state;
    char command[300];
    const char *const path = configure(plugin, "leader", "small");
    static const char build[] = "${CC:-cc} -std=gnu17 -I. -shared -fPIC %s -o %s "
                                "test/plugins/choose.c";
    snprintf(command, sizeof command, build, "-DNO_PLUGIN", plugin->path);
    assert_int_equal(system(command), 0);
    refuse("choose.so does not say CCL_PLUGIN", "run --ccl %s", path);
    snprintf(command, sizeof command, build, "-DOTHER_HEADERS", plugin->path);
    assert_int_equal(system(command), 0);
    refuse("choose.so was built with the headers of another version; build it again",
           "run --ccl %s", path);
    assert_int_equal(unlink(plugin->path), 0);
    refuse("choose.so: cannot open shared object file: No such file or directory", "run --ccl %s",
           path);
}

/* The line, with the mapper in a file's line 5 from column 13. */
static void refuse_mapper(struct built_plugin *plugin, const char *algorithm, const char *mapper,
                          const char *line, const char *legal)
{
    char text[300];
    snprintf(plugin->config, sizeof plugin->config, "%s/ccl.yaml", plugin->folder);
    FILE *const file = fopen(plugin->config, "w");
    assert_non_null(file);
    fprintf(file, "# of one algorithm\n\nalgorithms:\n  %s:\n    mapper: %s\n    validator: null\n",
            algorithm, mapper);
    assert_int_equal(fclose(file), 0);
    snprintf(text, sizeof text,
             "ccl.yaml:5:13: mapper: %s cannot run on the PEs that %s chooses; legal: %s, "
             "./file.so:symbol\n",
             algorithm, mapper, legal);
    char format[200];
    snprintf(format, sizeof format, "run --n-elem 64 --ccl %%s --algorithm %s %s", algorithm, line);
    refuse(text, format, plugin->config);
}

static void a_mapper_whose_pes_the_kernel_cannot_run_on_is_refused(void **state)
{
    static const struct {
        const char *algorithm, *mapper, *line, *legal;
    } cases[] = {{"lrab_hierarchical_allreduce", "all_pes", "", "pe0_all_cubes"},
                 {"lrab_hierarchical_allreduce", "leader_only", "", "pe0_all_cubes"},
                 {"lrab_pipelined_allreduce", "all_pes", "", "pe0_all_cubes"},
                 {"pe_hierarchical_allreduce", "pe0_all_cubes", "", "all_pes"},
                 {"relay_barrier", "all_pes", "--bench ccl_barrier", "leader_only, rank_per_pe"},
                 {"birs", "all_pes", "--preset a3_8 --bench ccl_reduce_scatter",
                  "leader_only, pe0_all_cubes"},
                 {"birs_inter", "all_pes",
                  "--preset a3_16 --set system.sips.count=32 --bench ccl_reduce_scatter",
                  "leader_only, pe0_all_cubes"},
                 {"rhd", "all_pes", "--preset a3_8 --bench ccl_reduce_scatter",
                  "leader_only, pe0_all_cubes"},
                 {"mesh", "all_pes", "--preset a3_8 --bench ccl_reduce_scatter",
                  "leader_only, pe0_all_cubes"},
                 {"auto", "all_pes", "--preset a3_8 --bench ccl_reduce_scatter",
                  "leader_only, pe0_all_cubes"},
                 {"birs_allreduce", "all_pes", "--preset a3_8", "leader_only, pe0_all_cubes"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_mapper(*state, cases[i].algorithm, cases[i].mapper, cases[i].line, cases[i].legal);
}

static void a_mapper_of_the_same_pes_is_as_good(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--set algorithms.lrab_hierarchical_allreduce.mapper=pe0_all_cubes",
        "--set algorithms.lrab_hierarchical_allreduce.mapper=leader_only "
        "--set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1",
        "--algorithm ring_allreduce --set algorithms.ring_allreduce.mapper=pe0_all_cubes "
        "--set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1",
        "--algorithm pe_hierarchical_allreduce "
        "--set algorithms.pe_hierarchical_allreduce.mapper=all_pes"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output = run_line(0, "run --n-elem 64 --verify-data %s", lines[i]);
        run_output_free(&output);
    }
}

/* The shards are on all cubes by default, and the kernels are not: `check` says what `run` says. */
static void check_refuses_what_the_default_validator_refuses(void **state)
{
    struct built_plugin *const plugin = *state;
    static const char *const commands[] = {"check", "run --no-data"};
    snprintf(plugin->config, sizeof plugin->config, "%s/ccl.yaml", plugin->folder);
    FILE *const file = fopen(plugin->config, "w");
    assert_non_null(file);
    fprintf(file,
            "defaults:\n  algorithm: mine\nalgorithms:\n  mine:\n    extends: ring_allreduce\n"
            "    mapper: %s:scattered\n",
            plugin->path);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < 2; i++) {
        char line[300];
        snprintf(line, sizeof line, "%s --ccl %s", commands[i], plugin->config);
        refuse(":4:3: validator of mine: rank 0's tensor has 128 shards (multi_pe_sip_local: rows "
               "over 16 cubes, columns over 8 PEs of each), and PE 0 of cube 0 has a shard that no "
               "kernel takes; legal: 2 shards, on PE 3 of cube 5 to PE 3 of cube 6, as the mapper "
               "names them\n",
               "%s", line);
    }
}

/* An algorithm with a mapper of the object; the validator is the default one. */
static const char *map(struct built_plugin *plugin, const char *algorithm, const char *mapper)
{
    snprintf(plugin->config, sizeof plugin->config, "%s/ccl.yaml", plugin->folder);
    FILE *const file = fopen(plugin->config, "w");
    assert_non_null(file);
    fprintf(
        file,
        "defaults:\n  algorithm: mine\nalgorithms:\n  mine:\n    extends: %s\n    mapper: %s:%s\n",
        algorithm, plugin->path, mapper);
    assert_int_equal(fclose(file), 0);
    return plugin->config;
}

/* They look at every rank, and a folded machine has representatives alone. */
static void nothing_folds_with_a_loaded_mapper_or_validator(void **state)
{
    struct built_plugin *const plugin = *state;
    const char *const path = map(plugin, "ring_rs_ag", "more_of_rank_2");
    refuse("choose.so:more_of_rank_2 names others", "run --no-data --n-elem 64 --ccl %s", path);
    refuse("--fold on: the mapper ", "run --no-data --fold on --n-elem 64 --ccl %s", path);
    FILE *const file = fopen(plugin->config, "w");
    assert_non_null(file);
    fprintf(file,
            "defaults:\n  algorithm: mine\nalgorithms:\n  mine:\n    extends: ring_rs_ag\n"
            "    validator: %s:few\n",
            plugin->path);
    assert_int_equal(fclose(file), 0);
    refuse("4 ranks are too many for me", "run --no-data --n-elem 64 --ccl %s", plugin->config);
    refuse("--fold on: the validator ", "run --no-data --fold on --n-elem 64 --ccl %s",
           plugin->config);
}

/* The result row and the bandwidths' number of shards of a run that verifies. */
static void verify_lanes(int64_t parts, const char *format, const char *path)
{
    json_t *const root = run_json(format, path);
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
    assert_string_equal(json_string_value(json_object_get(row, "proof")), "order");
    assert_int_equal(json_integer_value(json_object_get(row, "shards_per_rank")), parts);
    json_decref(root);
}

/* ADR-0024 D5, D6: the queues of a logical topology join the PEs that the mapper names, lane by
 * lane: each lane is a ring, or a tree, of its own. */
static void each_lane_of_a_mapper_is_a_ring_of_its_own(void **state)
{
    static const struct {
        const char *mapper;
        int64_t parts;
    } mappers[] = {{"leader", 1},
                   {"pe_3_of_cube_5", 1},
                   {"another_of_each", 1},
                   {"half_of_each", 64},
                   {"two_cubes", 2}};
    static const char *const algorithms[] = {"ring_allreduce", "tree_allreduce"};
    for (size_t i = 0; i < sizeof mappers / sizeof *mappers; i++)
        for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
            const char *const path = map(*state, algorithms[a], mappers[i].mapper);
            verify_lanes(mappers[i].parts, "run --ccl %s --n-elem 5000 --verify-data", path);
            verify_lanes(mappers[i].parts,
                         "run --ccl %s --n-elem 100 --verify-data --threads 2 --sync optimistic",
                         path);
        }
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
        char format[200];
        snprintf(format, sizeof format,
                 "run --algorithm %s --set algorithms.%s.mapper=%%s --n-elem 3000 --verify-data",
                 algorithms[a], algorithms[a]);
        verify_lanes(128, format, "all_pes");
        verify_lanes(16, format, "pe0_all_cubes");
    }
}

/* A ring on other PEs takes the ways of those PEs, and the other collectives find their queues. */
static void other_collectives_go_along_the_lanes(void **state)
{
    static const char *const benches[] = {"ccl_broadcast", "ccl_all_gather", "ccl_barrier"};
    static const char *const mappers[] = {"pe_3_of_cube_5", "another_of_each", "half_of_each"};
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
        for (size_t k = 0; k < sizeof mappers / sizeof *mappers; k++) {
            char line[300];
            snprintf(line, sizeof line, "run --bench %s --verify-data --ccl %s", benches[i],
                     map(*state, "ring_allreduce", mappers[k]));
            struct run_output output = run_line(0, "%s", line);
            run_output_free(&output);
        }
}

static void refuse_with(int code, const char *text, const char *format, const char *path)
{
    struct run_output output = run_line(code, format, path);
    if (strstr(output.err, text) == NULL)
        fail_msg("said %s\ninstead of %s", output.err, text);
    run_output_free(&output);
}

/* A mapper that names no PE, or not as many of each rank, is its author's error. */
static void a_mapper_without_pes_is_its_author_s_error(void **state)
{
    static const char *const commands[] = {"run --ccl %s", "check --ccl %s"};
    static const char *const others[] = {"lrab_hierarchical_allreduce", "ring_rs_ag",
                                         "hierarchical", "tree_allreduce"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        refuse_with(3,
                    "/choose.so:none_of_rank_1 of mine names no PE of SIP 1, which is rank 1; "
                    "legal: at least one\n",
                    commands[i], map(*state, "ring_allreduce", "none_of_rank_1"));
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            refuse_with(3, "/choose.so:nobody_at_all of mine names no PE of SIP 0, which is rank 0",
                        commands[i], map(*state, others[k], "nobody_at_all"));
        refuse_with(3,
                    "/choose.so:more_of_rank_2 of mine names 2 PEs of rank 2 and 1 of rank 0; "
                    "legal: as many of each rank, since a logical topology joins them lane by "
                    "lane\n",
                    commands[i], map(*state, "ring_allreduce", "more_of_rank_2"));
    }
}

/* A loaded mapper names PEs that the kernel, or the schedule, is made for. */
static void a_loaded_mapper_names_pes_that_the_algorithm_takes(void **state)
{
    refuse_with(2, "ccl.yaml:6:13: mapper: lrab_hierarchical_allreduce cannot run on the PEs that ",
                "run --ccl %s", map(*state, "lrab_hierarchical_allreduce", "two_cubes"));
    refuse_with(2, "ccl.yaml:6:13: mapper: mine takes the PEs of a mapper by its name, and ",
                "run --ccl %s", map(*state, "ring_rs_ag", "half_of_each"));
    refuse_with(0, "", "run --ccl %s --verify-data", map(*state, "ring_rs_ag", "leader"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_folds_with_a_loaded_mapper_or_validator),
        cmocka_unit_test(check_refuses_what_the_default_validator_refuses),
        cmocka_unit_test(a_loaded_mapper_and_validator_do_their_work),
        cmocka_unit_test(each_lane_of_a_mapper_is_a_ring_of_its_own),
        cmocka_unit_test(other_collectives_go_along_the_lanes),
        cmocka_unit_test(a_mapper_without_pes_is_its_author_s_error),
        cmocka_unit_test(a_loaded_mapper_names_pes_that_the_algorithm_takes),
        cmocka_unit_test(a_symbol_that_is_not_there_is_named),
        cmocka_unit_test(a_symbol_that_is_no_function_is_refused),
        cmocka_unit_test(code_is_loaded_only_if_a_file_says_so),
        cmocka_unit_test(no_plugins_is_for_the_shipped_files_too),
        cmocka_unit_test(objects_of_other_kinds_are_refused),
        cmocka_unit_test(a_mapper_whose_pes_the_kernel_cannot_run_on_is_refused),
        cmocka_unit_test(a_mapper_of_the_same_pes_is_as_good),
    };
    return cmocka_run_group_tests_name("loaded_mappers", tests, make, clean);
}
