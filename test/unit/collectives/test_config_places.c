/*
 * test_config_places.c: where configurations come from: the files that the program has compiled in,
 * the places that messages name for keys that no file gives, whole entries from options, and limits
 * of the loader.
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_place.h"
#include "collectives/config/config_schema.h"
#include "collectives/config/config_unused.h"
#include "collectives/config/input/config_arena.h"

/* Without the variable and without a folder configs/ near the program or here. */
static void enter_no_folder(char shipped[PATH_MAX])
{
    snprintf(shipped, PATH_MAX, "%s", getenv("CUBEWARP_CONFIGS"));
    assert_int_equal(unsetenv("CUBEWARP_CONFIGS"), 0);
}

static void leave_no_folder(const char *shipped)
{
    assert_int_equal(setenv("CUBEWARP_CONFIGS", shipped, 1), 0);
}

static void the_program_has_the_shipped_files_and_presets_compiled_in(void **state)
{
    char shipped[PATH_MAX], digest[2][17], where[128];
    static const char *const presets[] = {NULL, "tiny"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(presets); i++) {
        struct config *config = load_with(presets[i], NULL, 0);
        snprintf(digest[0], sizeof digest[0], "%s", config->digest);
        config_free(config);
        enter_no_folder(shipped);
        config = load_with(presets[i], NULL, 0);
        snprintf(digest[1], sizeof digest[1], "%s", config->digest);
        assert_string_equal(digest[1], digest[0]);
        assert_ptr_equal(strstr(config_where(config, "defaults.n_slots", where, sizeof where),
                                "built-in ccl.yaml:"),
                         where);
        config_free(config);
        leave_no_folder(shipped);
    }
}

static void an_unknown_preset_lists_those_that_are_compiled_in(void **state)
{
    char shipped[PATH_MAX];
    int code;
    (void)state;
    enter_no_folder(shipped);
    char *const text = load_errors(&(struct config_request){.preset = "milion"}, &code);
    leave_no_folder(shipped);
    assert_int_equal(code, CW_USAGE);
    assert_ptr_equal(strstr(text, "configuration: unknown preset 'milion'; did you mean 'million'? "
                                  "known in built-in presets: "),
                     text);
    assert_non_null(strstr(text, ", tiny, "));
    free(text);
}

/* Three files of a user's own are a whole configuration, but presets are files that ship. */
static void a_preset_is_not_passed_over_where_there_are_no_shipped_files(void **state)
{
    static const char *const names[] = {"topology.yaml", "components.yaml", "ccl.yaml"};
    const struct config_request request = {.topology = names[0],
                                           .components = names[1],
                                           .ccl = names[2]},
                                with = {.topology = names[0],
                                        .components = names[1],
                                        .ccl = names[2],
                                        .preset = "tiny"};
    struct config_request elsewhere = with;
    char shipped[PATH_MAX], command[2 * PATH_MAX];
    int code;
    (void)state;
    enter_no_folder(shipped);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(command, sizeof command, "cp '%s/%s' %s", shipped, names[i], names[i]);
        assert_int_equal(system(command), 0);
    }
    assert_int_equal(setenv("CUBEWARP_CONFIGS", "/nonexistent", 1), 0);
    char *const text = load_errors(&request, &code);
    assert_string_equal(text, "");
    assert_int_equal(code, CW_OK);
    free(text);
    expect_errors(&with, "configuration: preset 'tiny': no topology.yaml in /nonexistent, which "
                         "CUBEWARP_CONFIGS names; presets are in its folder presets\n");
    assert_int_equal(unsetenv("CUBEWARP_CONFIGS"), 0);
    elsewhere.configs_dir = "/elsewhere";
    expect_errors(&elsewhere, "configuration: preset 'tiny': no topology.yaml in /elsewhere; "
                              "presets are in its folder presets\n");
    leave_no_folder(shipped);
}

static void a_key_that_no_file_gives_has_the_place_of_those_beside_it(void **state)
{
    static const char *const sets[] = {"system.sips.count=9", "defaults.n_slots=5"};
    static const char *const beside[] = {"system.sips", "system.sips.d"};
    static const char *const nowhere[] = {"nothing", "nothing.at.all", "algorithms.nobody.module",
                                          "defaults.nothing"};
    char where[256], entry[256];
    struct config *const config = load_with(NULL, sets, COUNT_OF(sets));
    (void)state;
    for (size_t i = 0; i < COUNT_OF(beside); i++)
        assert_string_equal(config_where(config, beside[i], where, sizeof where),
                            "--set system.sips.count=9");
    for (size_t i = 0; i < COUNT_OF(nowhere); i++) {
        assert_string_equal(config_where(config, nowhere[i], where, sizeof where), "configuration");
        assert_false(config_is_from_option(config, nowhere[i]));
    }
    assert_string_equal(config_where(config, "defaults.n_slots", where, sizeof where),
                        "--set defaults.n_slots=5");
    assert_true(config_is_from_option(config, "defaults.n_slots"));
    /* an entry's key that it does not have, and one that there is not, are at the entry */
    (void)config_where(config, "algorithms.ring_rs_ag", entry, sizeof entry);
    assert_non_null(strstr(entry, "/ccl.yaml:"));
    assert_string_equal(config_where(config, "algorithms.ring_rs_ag.mate", where, sizeof where),
                        entry);
    assert_string_equal(config_where(config, "algorithms.ring_rs_ag.nothing", where, sizeof where),
                        entry);
    config_free(config);
}

static void options_give_whole_entries_and_their_parameters(void **state)
{
    static const char *const sets[] = {
        "algorithms={mine: {extends: ring_rs_ag}, other: {extends: mine}}",
        "algorithms.mine.way=both",
        "algorithms.third={extends: other, rings: 2}",
        "defaults.algorithm=third",
    };
    struct config *const config = load_with(NULL, sets, COUNT_OF(sets));
    (void)state;
    assert_string_equal(config->ccl.algorithm, "third");
    assert_string_equal(config->ccl.module, "ring_rs_ag");
    assert_int_equal(config->ccl.parameter[0], 1); /* the second of one, both, meet */
    assert_int_equal(config->ccl.parameter[1], 2);
    config_free(config);
}

static void expect_set(const char *set, const char *expected)
{
    expect_errors(&(struct config_request){.sets = &set, .set_count = 1}, expected);
}

static void entries_that_are_none_are_refused(void **state)
{
    (void)state;
    expect_set("algorithms=4", "--set algorithms=4: algorithms: expected a mapping from names to "
                               "entries; found '4'\n");
    expect_set("algorithms.a b=4",
               "--set algorithms.a b=4: algorithms: expected a name of up to 63 letters, "
               "digits, '_' and '-'; found 'a b'\n");
    expect_set("algorithms.a b.n_slots=4",
               "--set algorithms.a b.n_slots=4: algorithms: expected a name of up to 63 "
               "letters, digits, '_' and '-'; found 'a b'\n");
}

static void a_placeholder_that_is_not_read_is_named_with_the_key_that_is(void **state)
{
    static const char *const sets[] = {"defaults.root_cube=5"};
    char text[256] = "";
    struct config *const config = load_with(NULL, sets, COUNT_OF(sets));
    FILE *const stream = fmemopen(text, sizeof text, "w");
    (void)state;
    assert_non_null(stream);
    config_print_unread(stream, config);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, "cubewarp: note: --set defaults.root_cube=5: root_cube is a "
                              "placeholder that is not read, and the root is `root: center`; "
                              "`root: 1,1` makes cube 5 the root\n");
    config_free(config);
}

static void put_unused(void *stream, const char *key, const char *place, const char *why)
{
    (void)key;
    fprintf(stream, "%s: %s\n", place, why);
}

/* The shipped entry of lrab_hierarchical_allreduce has a root of its own, which counts. */
static void a_default_that_the_entry_covers_is_named_with_the_key_that_counts(void **state)
{
    static const struct {
        const char *sets[2], *text;
    } lines[] = {
        {{"defaults.root=corner"}, "algorithms.lrab_hierarchical_allreduce.root` sets that\n"},
        {{"defaults.root=corner", "algorithms.lrab_hierarchical_allreduce.root=corner"}, ""},
        {{"defaults.root=corner", "defaults.algorithm=tree_allreduce"}, ""},
        {{"defaults.root=corner", "algorithms.tree_allreduce.root=corner"},
         "since the entry that runs is lrab_hierarchical_allreduce; "},
        {{"defaults.root=center"}, ""},
        {{"defaults.n_slots=4"}, ""}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        char text[800] = "";
        const size_t count = lines[i].sets[1] != NULL ? 2 : 1;
        struct config *const config = load_with(NULL, lines[i].sets, count);
        FILE *const stream = fmemopen(text, sizeof text, "w");
        assert_non_null(stream);
        const struct config_work work = {.is_unknown = true};
        config_unused_visit(config, &work, false, put_unused, stream);
        assert_int_equal(fclose(stream), 0);
        assert_int_equal(text[0] == '\0', lines[i].text[0] == '\0');
        assert_non_null(strstr(text, lines[i].text));
        config_free(config);
    }
}

static void every_key_names_its_reader(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < config_machine_key_count; i++)
        if (config_machine_keys[i].reader == CONFIG_READ_BY_NOBODY_YET)
            fail_msg("%s", config_machine_keys[i].path);
    for (uint32_t i = 0; i < config_ccl_key_count; i++)
        if (config_ccl_keys[i].reader == CONFIG_READ_BY_NOBODY_YET)
            fail_msg("%s", config_ccl_keys[i].path);
}

static void a_size_that_cannot_be_is_no_memory(void **state)
{
    struct config_arena arena = {0};
    (void)state;
    assert_null(config_arena_alloc(&arena, SIZE_MAX / 2 + 1));
    assert_true(arena.failed);
    config_arena_free(&arena);
    assert_null(config_arena_text(&arena, "", SIZE_MAX));
    assert_true(arena.failed);
    config_arena_free(&arena);
    assert_non_null(config_arena_text(&arena, "a", 1));
    assert_false(arena.failed);
    config_arena_free(&arena);
}

/* `head`, and lines that begin with `before` and a number from 0. */
static void write_lines(const char *path, const char *head, const char *before, const char *behind,
                        unsigned count)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(head, file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "%s%u%s\n", before, i, behind);
    assert_int_equal(fclose(file), 0);
}

static void errors_beyond_a_thousand_are_counted(void **state)
{
    int code;
    (void)state;
    write_lines("topology.yaml", "", "k", ": 1", 1234);
    char *const text = load_errors(&(struct config_request){.topology = "topology.yaml"}, &code);
    assert_int_equal(code, CW_USAGE);
    assert_ptr_equal(strstr(text, "topology.yaml:1:1: unknown key 'k0'; known here: "), text);
    const char *const rest = strstr(text, "and 234 more errors\n");
    assert_non_null(rest);
    assert_string_equal(rest, "and 234 more errors\n");
    free(text);
}

static void more_than_1024_entries_are_refused(void **state)
{
    int code;
    (void)state;
    write_lines("ccl.yaml", "algorithms:\n", "  e", ": { extends: ring_rs_ag }", 1024);
    char *const text = load_errors(&(struct config_request){.ccl = "ccl.yaml"}, &code);
    assert_int_equal(code, CW_USAGE);
    assert_non_null(strstr(text, "ccl.yaml:1025:3: algorithms: more than 1024 entries\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_has_the_shipped_files_and_presets_compiled_in),
        cmocka_unit_test(an_unknown_preset_lists_those_that_are_compiled_in),
        cmocka_unit_test(a_preset_is_not_passed_over_where_there_are_no_shipped_files),
        cmocka_unit_test(a_key_that_no_file_gives_has_the_place_of_those_beside_it),
        cmocka_unit_test(options_give_whole_entries_and_their_parameters),
        cmocka_unit_test(entries_that_are_none_are_refused),
        cmocka_unit_test(a_placeholder_that_is_not_read_is_named_with_the_key_that_is),
        cmocka_unit_test(a_default_that_the_entry_covers_is_named_with_the_key_that_counts),
        cmocka_unit_test(every_key_names_its_reader),
        cmocka_unit_test(a_size_that_cannot_be_is_no_memory),
        cmocka_unit_test(errors_beyond_a_thousand_are_counted),
        cmocka_unit_test(more_than_1024_entries_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
