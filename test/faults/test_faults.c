/*
 * test_faults.c: calls that fail. Each command runs once to count its calls by kind, and to number
 * the calls that come from a new place. Then it runs again for each such number, with this one call
 * failing, and for random pairs, and with all calls of a kind failing from a random one on (a full
 * disk, memory that is used up). It has to end by itself, with a message and a documented exit
 * code; each file is old, absent or whole; with exit code 0 each is whole. Built with
 * AddressSanitizer, the program says so when it leaks, and ends with another exit code.
 *
 * FAULT_STRIDE: every so-manieth call only (1: each; default 20). FAULT_ALL=1: each call, not only
 * those from new places. FAULT_PART=2/8: the second of eight parts of these calls. FAULT_PAIRS:
 * random pairs for each command. FAULT_SEED. FAULT_TEST: the name of the one command to test.
 * FAULT_REPLAY: the faults of one run, which is shown. FAULT_HANG_S: seconds after which a run
 * hangs (120; more on a machine that is busy).
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

#include "core/cw.h"
#include "test/faults/command_runner.h"

enum { SITES_MAX = 1 << 20, SHOWN_MAX = 12 };

static const char *const kind_name[FAULT_KINDS] = {FAULT_KIND_NAMES};

/* Of the whole program: how much was tested. */
static uint64_t runs, injected, defects;

static struct ending ending, again;

static uint64_t number_of_environment(const char *name, uint64_t standard)
{
    const char *const text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : standard;
}

/* ---- one run --------------------------------------------------------------------------------- */

static bool is_code_documented(const struct command *command, int code)
{
    const unsigned always = 1u << 0 | 1u << 2 | 1u << 4;
    return code >= 0 && code < 16 && ((always | command->codes) >> code & 1u) != 0;
}

/* Whether the program has said anything; the remark of AddressSanitizer is none. */
static bool has_message(const char *text)
{
    for (const char *line = text; *line != '\0';) {
        const char *const end = strchr(line, '\n');
        if (*line != '=' && *line != '\n')
            return true;
        if (end == NULL)
            break;
        line = end + 1;
    }
    return false;
}

static bool has_report(const char *text)
{
    return strstr(text, "ERROR: AddressSanitizer") != NULL ||
           strstr(text, "ERROR: LeakSanitizer") != NULL || strstr(text, "runtime error:") != NULL;
}

/* NULL: the ending is as it must be. */
static const char *judge(const struct command *command, const char *faults)
{
    static char text[256];
    if (ending.exit_code == -1)
        return "does not end";
    if (strstr(ending.err, "AddressSanitizer: CHECK failed") != NULL)
        return NULL; /* it has no memory itself */
    if (has_report(ending.err))
        return "is reported by a sanitizer";
    if (!is_code_documented(command, ending.exit_code)) {
        snprintf(text, sizeof text, "ends with %d", ending.exit_code);
        return text;
    }
    const bool is_mute = strstr(faults, "write:") != NULL; /* the message is a write, too */
    if (ending.exit_code != 0 && !is_mute && !has_message(ending.err) && !has_message(ending.out))
        return "has no message";
    if (ending.left_processes)
        return "leaves a process behind";
    if (ending.exit_code == 0 && runner_judge_said(&ending) != NULL)
        return runner_judge_said(&ending);
    /* A file aside stays where it cannot be removed. */
    const bool may_leave = strstr(faults, "unlink") != NULL;
    return runner_judge(ending.exit_code == 0, may_leave);
}

/* A database goes on from the state that a fault has left. */
static const char *judge_next_run(const struct command *command)
{
    const bool goes_on =
        command->files[0].kind == FILE_STUDY || command->files[0].kind == FILE_HISTORY;
    static char text[512];
    if (!goes_on)
        return NULL;
    runner_run(NULL, NULL, 0, &again);
    if (again.exit_code == 0 || (again.exit_code == 3 && (command->codes & 1u << 3) != 0))
        return runner_judge(again.exit_code == 0, true);
    snprintf(text, sizeof text, "hinders the next run, which ends with %d: %.300s", again.exit_code,
             again.err);
    return text;
}

static void say_defect(const struct command *command, const char *faults, const char *wrong)
{
    if (defects++ < SHOWN_MAX || getenv("FAULT_ALL") != NULL || getenv("FAULT_SHOW") != NULL)
        print_error(
            "%s, %s: %s\n  replay: FAULT_TEST=%s FAULT_REPLAY=%s\nexit code %d\n%.6000s%s\n",
            command->name, faults, wrong, command->name, faults, ending.exit_code, ending.err,
            ending.out);
}

static void run_faults(const struct command *command, const char *faults)
{
    runner_clear(runs % 2 == 1);
    runner_run(faults, NULL, 0, &ending);
    runs++;
    injected += ending.injected;
    const char *wrong = judge(command, faults);
    if (wrong == NULL)
        wrong = judge_next_run(command);
    if (wrong != NULL)
        say_defect(command, faults, wrong);
}

/* ---- many runs ------------------------------------------------------------------------------- */

/* The calls of a command that are to fail one at a time. */
struct calls {
    char (*text)[32];
    size_t count;
};

/* Calls from new places, by a run that writes them down. */
static void find_sites(struct calls *calls)
{
    char *const path = strdup(runner_scratch("sites"));
    assert_non_null(path);
    runner_clear(false);
    runner_run(NULL, path, 0, &ending);
    assert_int_equal(ending.exit_code, 0);
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    free(path);
    char line[64];
    while (fgets(line, sizeof line, file) != NULL && calls->count < SITES_MAX)
        if (sscanf(line, "%31s", calls->text[calls->count]) == 1)
            calls->count++;
    fclose(file);
}

static void all_calls(struct calls *calls)
{
    runner_clear(false);
    runner_run(NULL, NULL, 0, &ending);
    assert_int_equal(ending.exit_code, 0);
    for (int k = 0; k < FAULT_KINDS; k++)
        for (uint64_t n = 1; n <= ending.calls[k] && calls->count < SITES_MAX; n++)
            snprintf(calls->text[calls->count++], sizeof *calls->text, "%s:%llu", kind_name[k],
                     (unsigned long long)n);
}

/* Whether a call belongs to the part that FAULT_PART names. */
static bool is_of_part(size_t call)
{
    unsigned part = 1, parts = 1;
    const char *const text = getenv("FAULT_PART");
    if (text != NULL)
        assert_true(sscanf(text, "%u/%u", &part, &parts) == 2 && part >= 1 && part <= parts);
    return call % parts == part - 1;
}

static void fail_each(const struct command *command, const struct calls *calls, uint64_t stride)
{
    uint64_t of_kind[FAULT_KINDS] = {0};
    for (size_t i = 0; i < calls->count; i++) {
        if (!is_of_part(i))
            continue;
        const char *const text = calls->text[i];
        size_t kind = 0;
        while (strncmp(text, kind_name[kind], strlen(kind_name[kind])) != 0 ||
               text[strlen(kind_name[kind])] != ':')
            kind++;
        /* Memory by stride; of the others, which are few, each stride's share of ten. */
        const uint64_t every =
            kind == FAULT_MALLOC || kind == FAULT_SQLITE ? stride : (stride + 9) / 10;
        if ((of_kind[kind]++ + number_of_environment("FAULT_SEED", 1)) % every == 0)
            run_faults(command, text);
    }
}

static void fail_pairs(const struct command *command, const struct calls *calls, uint64_t pairs)
{
    struct cw_rng rng = cw_rng_seeded(number_of_environment("FAULT_SEED", 1), 0);
    char both[80];
    for (uint64_t i = 0; i < pairs; i++) {
        const char *const a = calls->text[cw_rng_u64(&rng) % calls->count];
        const char *const b = calls->text[cw_rng_u64(&rng) % calls->count];
        if (i % 2 == 0)
            snprintf(both, sizeof both, "%s,%s", a, b);
        else
            snprintf(both, sizeof both, "%s-", a); /* and all after it */
        run_faults(command, both);
    }
}

static void test_command(const struct command *command)
{
    const char *const replay = getenv("FAULT_REPLAY");
    const uint64_t before = defects, runs_before = runs;
    struct calls calls = {.text = calloc(SITES_MAX, sizeof *calls.text)};
    assert_non_null(calls.text);
    runner_prepare(command);
    if (replay != NULL) {
        run_faults(command, replay);
        print_message("exit code %d\n%s%s", ending.exit_code, ending.out, ending.err);
    } else {
        if (getenv("FAULT_ALL") != NULL)
            all_calls(&calls);
        else
            find_sites(&calls);
        const uint64_t stride = number_of_environment("FAULT_STRIDE", 20);
        fail_each(command, &calls, command->is_slow && stride > 1 ? 8 * stride : stride);
        fail_pairs(command, &calls, number_of_environment("FAULT_PAIRS", 4));
    }
    print_message("%s: %zu places, %llu runs, %llu defects\n", command->name, calls.count,
                  (unsigned long long)(runs - runs_before), (unsigned long long)(defects - before));
    runner_end();
    free(calls.text);
}

static void commands_survive_each_call_that_fails(void **state)
{
    const char *const only = getenv("FAULT_TEST");
    (void)state;
    for (size_t i = 0; i < commands_that_write_count; i++)
        if (only == NULL || strcmp(only, commands_that_write[i].name) == 0)
            test_command(&commands_that_write[i]);
    print_message("%llu runs, %llu calls that failed\n", (unsigned long long)runs,
                  (unsigned long long)injected);
    assert_true(injected > 0);
    assert_int_equal(defects, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(commands_survive_each_call_that_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
