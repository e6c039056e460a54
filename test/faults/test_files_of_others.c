/*
 * test_files_of_others.c: files that belong to others, or were protected: links that lead nowhere
 * and read-only files are not replaced, permissions are those of the umask or of the file that was
 * there, and a file that is no configuration is not shown in errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

#define SMALL                                                                                      \
    "--set system.sips.count=2 --set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1 --n-elem 64"

static char folder[] = "/tmp/cubewarp-others-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_file(const char *name, const char *text, mode_t mode)
{
    FILE *const file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(in_folder(name), mode), 0);
}

static mode_t mode_of(const char *name)
{
    struct stat status;
    assert_int_equal(stat(in_folder(name), &status), 0);
    return status.st_mode & 0777;
}

/* Lines whose last argument is the file that they would write. */
static const char *const writing[] = {
    "run " SMALL " --json",
    "run " SMALL " --csv",
    "run " SMALL " --trace",
    "run " SMALL " --op-log",
    "run " SMALL " --ccl-trace",
    "run " SMALL " --links",
    "phold --lps 4 --end 1 --engine-log",
    "phold --lps 4 --end 1 --engine-trace",
    "phold --lps 4 --end 1 --json",
    "run " SMALL " --svg",
    "run " SMALL " --dot",
    "run " SMALL " --gexf",
    "run " SMALL " --engine-log",
    "topo --set system.sips.count=2 --svg",
    "topo --set system.sips.count=2 --gexf",
    "topo --set system.sips.count=2 --algorithm ring_rs_ag --xml",
    "perf run --set self-test --rounds 1 --no-history --json",
    "perf run --set self-test --rounds 1 --history",
};
enum { WRITING = sizeof writing / sizeof *writing };

/* Each command is to write into a link of this target. */
static void expect_link_to_stay(const char *target, const char *reason)
{
    char found[64];
    for (size_t i = 0; i < WRITING; i++) {
        assert_int_equal(symlink(target, in_folder("link.json")), 0);
        struct run_output said = run_line(4, "%s %s", writing[i], in_folder("link.json"));
        assert_non_null(strstr(said.err, reason));
        run_output_free(&said);
        assert_int_equal(readlink(in_folder("link.json"), found, sizeof found), strlen(target));
        assert_int_not_equal(access(in_folder("nowhere"), F_OK), 0);
        assert_int_equal(unlink(in_folder("link.json")), 0);
    }
}

static void a_link_that_leads_nowhere_is_not_replaced(void **state)
{
    (void)state;
    expect_link_to_stay("nowhere", "is a symbolic link to a file that is not there");
    expect_link_to_stay("link.json", "is a symbolic link that cannot be followed (");
}

static void a_read_only_file_is_not_replaced(void **state)
{
    char text[8] = "";
    (void)state;
    for (size_t i = 0; i < WRITING; i++) {
        write_file("kept.json", "mine", 0444);
        struct run_output said = run_line(4, "%s %s", writing[i], in_folder("kept.json"));
        assert_non_null(strstr(said.err, "the file is there and read-only"));
        run_output_free(&said);
        FILE *const file = fopen(in_folder("kept.json"), "r");
        assert_non_null(file);
        assert_int_equal(fread(text, 1, sizeof text - 1, file), 4);
        fclose(file);
        assert_string_equal(text, "mine");
        assert_int_equal(unlink(in_folder("kept.json")), 0);
    }
}

/* So it is with the files that gnuplot would write. */
static void no_file_of_a_plot_is_written_through_a_link_that_leads_nowhere(void **state)
{
    static const char *const files[] = {"time.dat", "time.gp", "time.svg", "time.png"};
    char target[64], result[128];
    (void)state;
    snprintf(result, sizeof result, "%s", in_folder("sizes.json"));
    struct run_output said = run_line(0,
                                      "run --set system.sips.count=2 --set sip.cube_mesh.w=1 --set "
                                      "sip.cube_mesh.h=1 --bytes 128:512:x2 --json %s",
                                      result);
    run_output_free(&said);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_int_equal(symlink("nowhere", in_folder(files[i])), 0);
        said = run_line(4, "report %s --plots %s", result, folder);
        assert_non_null(strstr(said.err, "is a symbolic link to a file that is not there"));
        assert_non_null(strstr(said.err, in_folder(files[i])));
        run_output_free(&said);
        assert_int_equal(readlink(in_folder(files[i]), target, sizeof target), 7);
        assert_int_not_equal(access(in_folder("nowhere"), F_OK), 0);
        assert_int_equal(unlink(in_folder(files[i])), 0);
    }
}

static void a_link_to_a_file_stays_a_link(void **state)
{
    struct stat status;
    (void)state;
    write_file("real.csv", "old", 0644);
    assert_int_equal(symlink("real.csv", in_folder("to_real")), 0);
    struct run_output said = run_line(0, "run " SMALL " --csv %s", in_folder("to_real"));
    run_output_free(&said);
    assert_int_equal(lstat(in_folder("to_real"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(in_folder("real.csv"), &status), 0);
    assert_true(status.st_size > 100);
}

static void permissions_are_those_of_the_umask_or_of_the_file_before(void **state)
{
    static const mode_t masks[] = {022, 077, 027};
    (void)state;
    const mode_t before = umask(0);
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        (void)umask(masks[i]);
        struct run_output said = run_line(0, "run " SMALL " --csv %s", in_folder("new.csv"));
        run_output_free(&said);
        assert_int_equal(mode_of("new.csv"), 0666 & ~masks[i]);
        assert_int_equal(unlink(in_folder("new.csv")), 0);
    }
    (void)umask(022);
    write_file("private.csv", "old", 0600);
    struct run_output said = run_line(0, "run " SMALL " --csv %s", in_folder("private.csv"));
    run_output_free(&said);
    assert_int_equal(mode_of("private.csv"), 0600);
    (void)umask(before);
}

static void a_file_that_is_no_configuration_is_not_shown(void **state)
{
    static const char *const files[] = {
        "root:$y$j9T$SECRETS:19000:0:99999:7:::\nuser:$6$SECRETS:1:2:3:4:::\n",
        "PASSWORD=SECRETS\nOTHER: x\n",
        "-----BEGIN KEY-----\nSECRETS\nSECRETS\n",
        "a:\n  - SECRETS\n",
    };
    static const char *const reading[] = {"check --topology",
                                          "check --components",
                                          "check --ccl",
                                          "check --preset",
                                          "sweep",
                                          "report",
                                          "replay",
                                          "run --again",
                                          "run --measured",
                                          "compare /dev/null",
                                          "perf trend --history"};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (size_t r = 0; r < sizeof reading / sizeof *reading; r++) {
            write_file("secret", files[f], 0600);
            char line[256];
            snprintf(line, sizeof line, "%s %s", reading[r], in_folder("secret"));
            const char *words[8] = {NULL};
            int count = 0;
            for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " "))
                words[count++] = word;
            struct run_output said = run_cubewarp(words);
            assert_true(said.exit_code == 2 || said.exit_code == 4);
            if (strstr(said.err, "SECRETS") != NULL || strstr(said.out, "SECRETS") != NULL)
                fail_msg("%s shows the file: %s%s", reading[r], said.err, said.out);
            run_output_free(&said);
        }
}

/* The program lies where no folder above it has configs/, and the working directory has one, with
 * an entry that would load code. */
static void no_code_is_loaded_that_a_found_file_names(void **state)
{
    static const char line[] =
        "cd %s && mkdir -p configs bin/a/b/c/d/e && cp %s bin/a/b/c/d/e/cubewarp && for f in "
        "topology "
        "components ccl; do cp %s/configs/$f.yaml configs/; done && sed -i "
        "'s|^algorithms:|&\\n  mine: { extends: lrab_hierarchical_allreduce, module: "
        "'./mine.so:algorithm' }|; s|^  algorithm: .*|  "
        "algorithm: mine|' configs/ccl.yaml && ! bin/a/b/c/d/e/cubewarp run >out 2>&1; grep -c "
        "'would "
        "load code, and nobody has named this file' out";
    char command[2048], program[1024], tree[512], answer[16] = "";
    const char *const given = getenv("CUBEWARP");
    (void)state;
    assert_non_null(getcwd(tree, sizeof tree));
    assert_non_null(realpath(given != NULL ? given : "build/cubewarp", program));
    snprintf(command, sizeof command, line, folder, program, tree);
    FILE *const stream = popen(command, "r");
    assert_non_null(stream);
    assert_non_null(fgets(answer, sizeof answer, stream));
    (void)pclose(stream);
    assert_string_equal(answer, "1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_that_leads_nowhere_is_not_replaced),
        cmocka_unit_test(a_read_only_file_is_not_replaced),
        cmocka_unit_test(no_file_of_a_plot_is_written_through_a_link_that_leads_nowhere),
        cmocka_unit_test(a_link_to_a_file_stays_a_link),
        cmocka_unit_test(permissions_are_those_of_the_umask_or_of_the_file_before),
        cmocka_unit_test(no_code_is_loaded_that_a_found_file_names),
        cmocka_unit_test(a_file_that_is_no_configuration_is_not_shown),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
