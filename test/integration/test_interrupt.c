/*
 * test_interrupt.c: SIGINT, SIGTERM and SIGHUP end a run in the middle of a drain, on one thread
 * and on several, and in a stretch without a drain; every file is whole and says so; the exit code
 * is the signal's. Rows are on standard output before the run ends. A failing run keeps its rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/os/clock.h"
#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"

enum { WORDS_MAX = 40, TEXT_BYTES = 65536 };

/* A run under way. */
struct child {
    pid_t pid;
    int out, in;           /* its standard output and input */
    char text[TEXT_BYTES]; /* that it has said so far */
    size_t bytes;
};

static char folder[] = "/tmp/cubewarp-interrupt-XXXXXX";
static const char *preloaded; /* a shared object before the program's own; NULL: none */

static void start(struct child *child, const char *line)
{
    static char words[1024];
    const char *program = getenv("CUBEWARP");
    static char path[4096];
    char *argv[WORDS_MAX] = {path};
    int argc = 1, out[2], in[2];
    assert_non_null(realpath(program != NULL ? program : "build/cubewarp", path));
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        argv[argc++] = word;
    *child = (struct child){.bytes = 0};
    assert_int_equal(pipe(out) | pipe(in), 0);
    child->pid = fork();
    assert_true(child->pid >= 0);
    if (child->pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        dup2(out[1], STDOUT_FILENO);
        dup2(in[0], STDIN_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        for (int i = 3; i < 64; i++)
            close(i);
        if (preloaded != NULL) {
            setenv("LD_PRELOAD", preloaded, 1);
            setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 0);
        }
        if (chdir(folder) == 0)
            execv(path, argv);
        _exit(127);
    }
    close(out[1]);
    close(in[0]);
    child->out = out[0];
    child->in = in[1];
}

/* Reads until `text` has come, or for so long. */
static bool says(struct child *child, const char *text, double limit_s)
{
    const double since_s = clock_s();
    while (strstr(child->text, text) == NULL && clock_s() - since_s < limit_s) {
        struct pollfd poll_out = {.fd = child->out, .events = POLLIN};
        if (poll(&poll_out, 1, 50) <= 0)
            continue;
        const ssize_t got =
            read(child->out, child->text + child->bytes, TEXT_BYTES - 1 - child->bytes);
        if (got <= 0)
            break;
        child->bytes += (size_t)got;
        child->text[child->bytes] = '\0';
    }
    return strstr(child->text, text) != NULL;
}

/* Waits until the program's main thread has blocked the three signals: from then on it watches. */
static void wait_until_it_watches(const struct child *child)
{
    enum { SIGNALS = 1 << (SIGHUP - 1) | 1 << (SIGINT - 1) | 1 << (SIGTERM - 1) };
    char path[64], line[256];
    unsigned long long blocked = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)child->pid);
    for (int i = 0; i < 6000 && (blocked & SIGNALS) != SIGNALS; i++) {
        FILE *const file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file) != NULL)
            if (strncmp(line, "SigBlk:", 7) == 0)
                blocked = strtoull(line + 7, NULL, 16);
        fclose(file);
        usleep(10000);
    }
    assert_int_equal(blocked & SIGNALS, SIGNALS);
}

/* Sends a signal; returns the exit code. It comes soon. */
static int interrupt(struct child *child, int number, double limit_s)
{
    int status;
    wait_until_it_watches(child);
    const double since_s = clock_s();
    kill(child->pid, number);
    (void)says(child, "\x01", 60); /* to its end */
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    close(child->out);
    close(child->in);
    assert_true(clock_s() - since_s < limit_s);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static json_t *read_json(const char *name)
{
    char path[256];
    json_error_t error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    json_t *const json = json_load_file(path, 0, &error);
    assert_non_null(json);
    unlink(path);
    return json;
}

static size_t read_text(const char *name, char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    const size_t bytes = fread(text, 1, TEXT_BYTES - 1, file);
    text[bytes] = '\0';
    fclose(file);
    unlink(path);
    return bytes;
}

/* Its third size would take minutes. */
#define LONG_RUN                                                                                   \
    "run --preset tiny --bytes 1KiB:2KiB:x2 --iters 100000 --no-data --json r.json --csv r.csv "   \
    "--fold off --repeat off --tag a=b "

static void signals_end_a_drain(void **state)
{
    (void)state;
    static const struct {
        int number, code;
        const char *options;
    } cases[] = {{SIGINT, 130, ""},
                 {SIGTERM, 143, "--threads 2"},
                 {SIGHUP, 129, "--threads 2 --sync optimistic"},
                 {SIGINT, 130, "--threads 3 --sync conservative"},
                 {SIGTERM, 143, "--trace r.trace --ccl-trace r.ccl --max-memory 1GiB"}};
    static char text[TEXT_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct child child;
        char line[512];
        snprintf(line, sizeof line, LONG_RUN "%s", cases[i].options);
        start(&child, line);
        (void)says(&child, "\x01", 0.3);
        assert_int_equal(interrupt(&child, cases[i].number, 15), cases[i].code);
        assert_non_null(strstr(child.text, "# interrupted by "));
        json_t *const json = read_json("r.json");
        assert_true(json_is_true(json_object_get(json, "interrupted")));
        assert_null(json_object_get(json, "error"));
        assert_int_equal(json_array_size(json_object_get(json, "results")), 0);
        assert_non_null(json_object_get(json, "provenance"));
        json_decref(json);
        (void)read_text("r.csv", text);
        assert_non_null(strstr(
            text, ",not_run,ranks_differ,not_finite,fold,sips_simulated,iterations_simulated,"
                  "operations_simulated,a\n"));
        assert_non_null(strstr(text, ",\"interrupted\",,,,,,,b\n"));
        if (strstr(cases[i].options, "--trace") == NULL)
            continue;
        json_t *const trace = read_json("r.trace");
        json_decref(trace);
    }
}

static void rows_are_there_before_the_end(void **state)
{
    (void)state;
    struct child child;
    start(&child, "run --preset pod64 --no-data --bytes 64:1MiB:x2048 --set memory.tcm_kib=65536 "
                  "--iters 40 --fold off --repeat off --json r.json");
    assert_true(says(&child, "\n              64 ", 60));
    assert_null(strstr(child.text, "# Avg bus bandwidth"));
    assert_int_equal(interrupt(&child, SIGTERM, 15), 143);
    assert_non_null(strstr(child.text, "# Avg bus bandwidth"));
    assert_non_null(strstr(child.text, "# interrupted by SIGTERM: 1 row is done, of 2 sizes"));
    json_t *const json = read_json("r.json");
    assert_true(json_is_true(json_object_get(json, "interrupted")));
    assert_int_equal(json_array_size(json_object_get(json, "results")), 1);
    json_decref(json);
}

/* It waits for its standard input: there is no drain that could end. */
static void a_stretch_without_a_drain_ends_too(void **state)
{
    (void)state;
    static char text[TEXT_BYTES];
    struct child child;
    start(&child, "run --preset tiny --bench ccl_gradient --data - --json r.json --csv r.csv");
    (void)says(&child, "\x01", 0.3);
    assert_int_equal(interrupt(&child, SIGINT, 15), 130);
    json_t *const json = read_json("r.json");
    assert_true(json_is_true(json_object_get(json, "interrupted")));
    assert_string_equal(json_string_value(json_object_get(json, "bench")), "ccl_gradient");
    json_decref(json);
    (void)read_text("r.csv", text);
    assert_non_null(strstr(text, ",\"interrupted\",,,,,,\n"));
}

/* Where files aside have names from the start they go with the program, also at a second signal. */
static void files_aside_are_removed(void **state)
{
    static const char *const lines[] = {
        "run --preset tiny --bytes 1KiB --iters 100000 --no-data --trace r.trace --ccl-trace r.ccl",
        "phold --end 1s --engine-log r.csv --json r.json"};
    static struct built_plugin named_asides;
    glob_t found;
    char pattern[64];
    int status;
    (void)state;
    assert_int_equal(built_plugin_make(&named_asides, "named_asides"), 0);
    snprintf(pattern, sizeof pattern, "%s/*.part", folder);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct child child;
        preloaded = named_asides.path;
        start(&child, lines[i]);
        preloaded = NULL;
        wait_until_it_watches(&child);
        for (int k = 0; k < 6000 && glob(pattern, 0, NULL, &found) != 0; k++)
            usleep(10000);
        assert_true(found.gl_pathc > 0);
        globfree(&found);
        kill(child.pid, SIGINT);
        usleep(1000); /* signals of one number that wait are one */
        kill(child.pid, SIGINT);
        (void)says(&child, "\x01", 60);
        assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
        close(child.out);
        close(child.in);
        assert_int_equal(status, 130 << 8);
        assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
    }
    assert_int_equal(built_plugin_remove(&named_asides), 0);
}

static void other_commands_end_with_the_code(void **state)
{
    (void)state;
    static const char *const lines[] = {"phold --end 1s --json r.json",
                                        "phold --end 1s --threads 2 --json r.json",
                                        "verify --preset tiny --no-data --iters 1000000",
                                        "batch --preset a3_16 --rows 4096 --row-elems 4096"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct child child;
        start(&child, lines[i]);
        (void)says(&child, "\x01", 0.2);
        assert_int_equal(interrupt(&child, SIGHUP, 15), 129);
        if (strstr(lines[i], "json") == NULL)
            continue;
        assert_non_null(strstr(child.text, "# interrupted by SIGHUP"));
        json_t *const json = read_json("r.json");
        assert_true(json_is_true(json_object_get(json, "interrupted")));
        assert_non_null(json_object_get(json, "provenance"));
        json_decref(json);
    }
}

/* The second size has too many events. */
static void a_failing_run_keeps_its_rows(void **state)
{
    (void)state;
    static char text[TEXT_BYTES];
    char line[512];
    snprintf(line, sizeof line,
             "run --preset tiny --bytes 64:1MiB:x16384 --max-events 5000 --csv %s/r.csv", folder);
    struct run_output output = run_line(3, "%s", line);
    assert_non_null(strstr(output.out, "\n              64 "));
    run_output_free(&output);
    (void)read_text("r.csv", text);
    assert_non_null(strstr(text, "sum,64,32,"));
    assert_non_null(strstr(text, "sum,1048576,524288,"));
    assert_non_null(strstr(text, "more than 5000 events"));
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    char path[256];
    static const char *const names[] = {"r.json", "r.csv", "r.trace", "r.ccl"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_end_a_drain),
        cmocka_unit_test(rows_are_there_before_the_end),
        cmocka_unit_test(a_stretch_without_a_drain_ends_too),
        cmocka_unit_test(files_aside_are_removed),
        cmocka_unit_test(other_commands_end_with_the_code),
        cmocka_unit_test(a_failing_run_keeps_its_rows),
    };
    return cmocka_run_group_tests_name("interrupt", tests, make_folder, remove_folder);
}
