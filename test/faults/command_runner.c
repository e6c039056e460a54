/*
 * command_runner.c: see command_runner.h. A run is a process group of its own, so that all its
 * processes can be killed, and so that it shows when it leaves one behind.
 */
#define _GNU_SOURCE /* nftw, asprintf */
#include "test/faults/command_runner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/os/clock.h"

enum { WORDS_MAX = 64, PATH_BYTES = 512, HANG_S_DEFAULT = 120 };

static char base[PATH_BYTES];   /* the command's place: work/, whole/, inputs */
static char folder[PATH_BYTES]; /* base/work */
static char program[4096], shim[4096];
static const struct command *current;
static struct fault_counts *counts;
static double undisturbed_s;
static char reason[1024];
static char whole_out[sizeof(((struct ending *)NULL)->out)]; /* of the undisturbed run */

static const char old_text[] = "old\n";

/* ---- files ----------------------------------------------------------------------------------- */

static char *file_bytes(const char *path, size_t *bytes)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = NULL;
    *bytes = 0;
    for (size_t room = 1 << 16, got = 1; got > 0; room *= 2) {
        char *const more = realloc(text, room + 1);
        assert_non_null(more);
        text = more;
        got = fread(text + *bytes, 1, room - *bytes, file);
        *bytes += got;
    }
    text[*bytes] = '\0';
    fclose(file);
    return text;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *runner_scratch(const char *name)
{
    static char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", base, name);
    return path;
}

static const struct command_file *file_named(const char *name)
{
    for (const struct command_file *file = current->files; file->name != NULL; file++)
        if (strcmp(file->name, name) == 0)
            return file;
    return NULL;
}

static bool is_input(const char *name)
{
    return current->setup != NULL && strncmp(name, "in_", 3) == 0;
}

/* From one name to another in the command's folder. */
static void copy_file(const char *from, const char *to)
{
    char path[2 * PATH_BYTES];
    size_t bytes;
    snprintf(path, sizeof path, "%s/%s", folder, from);
    char *const text = file_bytes(path, &bytes);
    assert_non_null(text);
    snprintf(path, sizeof path, "%s/%s", folder, to);
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
    free(text);
}

void runner_clear(bool old)
{
    char path[2 * PATH_BYTES];
    DIR *const stream = opendir(folder);
    assert_non_null(stream);
    for (struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        if (entry->d_name[0] == '.' || is_input(entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        remove_tree(path);
    }
    closedir(stream);
    if (current->start != NULL)
        copy_file(current->start, current->files[0].name);
    for (const struct command_file *file = current->files; old && file->name != NULL; file++) {
        if (file->kind == FILE_STUDY || file->kind == FILE_HISTORY)
            continue; /* a text is no database to go on with */
        snprintf(path, sizeof path, "%s/%s", folder, file->name);
        FILE *const stream_old = fopen(path, "w");
        assert_non_null(stream_old);
        fputs(old_text, stream_old);
        fclose(stream_old);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int split(char *line, char **argv, int argc)
{
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(argc < WORDS_MAX - 1);
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    return argc;
}

/* In the child. */
static _Noreturn void become(const char *line, const char *faults, const char *sites)
{
    char words[2048], *argv[WORDS_MAX] = {program};
    snprintf(words, sizeof words, "%s", line);
    split(words, argv, 1);
    setpgid(0, 0);
    const int out = open(runner_scratch("out"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    const int err = open(runner_scratch("err"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    const int in = open("/dev/null", O_RDONLY);
    if (out < 0 || err < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
        chdir(folder) != 0)
        _exit(126);
    for (int i = 3; i < 64; i++)
        close(i);
    setenv("FAULT_COUNTS", runner_scratch("counts"), 1);
    if (faults != NULL)
        setenv("FAULT_AT", faults, 1);
    if (sites != NULL)
        setenv("FAULT_SITES", sites, 1);
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("ASAN_OPTIONS",
           "verify_asan_link_order=0:detect_leaks=1:exitcode=99:fast_unwind_on_malloc=0", 0);
    setenv("LD_PRELOAD", shim, 1);
    execv(program, argv);
    _exit(127);
}

/* Waits until the process ends, or for so long. */
static bool ends_within(pid_t process, double limit_s, int *status)
{
    sigset_t child;
    const double since_s = clock_s();
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        if (waitpid(process, status, WNOHANG) == process)
            return true;
        const double left_s = limit_s - (clock_s() - since_s);
        if (left_s <= 0)
            return false;
        const struct timespec wait = {(time_t)left_s,
                                      (long)((left_s - (double)(time_t)left_s) * 1e9)};
        (void)sigtimedwait(&child, NULL, &wait); /* SIGCHLD is blocked: see runner_prepare() */
    }
}

/* Whether all processes of a group end. Processes that end with their parent take a moment. */
static bool group_is_gone(pid_t group)
{
    enum { TRIES = 300 };
    const struct timespec wait = {.tv_nsec = 10000000};
    for (int i = 0; i < TRIES && kill(-group, 0) == 0; i++)
        (void)nanosleep(&wait, NULL);
    return kill(-group, 0) != 0;
}

static void read_text(const char *name, char *text, size_t room)
{
    size_t bytes;
    char *const whole = file_bytes(runner_scratch(name), &bytes);
    snprintf(text, room, "%s", whole != NULL ? whole : "");
    free(whole);
}

static void run_line_of(const char *line, const char *faults, const char *sites,
                        double kill_after_s, struct ending *ending)
{
    int status = 0;
    memset(counts, 0, sizeof *counts);
    *ending = (struct ending){.exit_code = 0};
    fflush(NULL);
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        become(line, faults, sites);
    }
    (void)setpgid(process, process);
    const char *const hang_s = getenv("FAULT_HANG_S");
    const double most_s = hang_s != NULL ? strtod(hang_s, NULL) : HANG_S_DEFAULT;
    const bool ended = ends_within(process, kill_after_s > 0 ? kill_after_s : most_s, &status);
    if (!ended) {
        (void)kill(-process, SIGKILL);
        (void)waitpid(process, &status, 0);
    }
    ending->exit_code = !ended && kill_after_s <= 0 ? -1
                        : WIFSIGNALED(status)       ? 128 + WTERMSIG(status)
                                                    : WEXITSTATUS(status);
    ending->left_processes = ended && !group_is_gone(process);
    if (ending->left_processes)
        (void)kill(-process, SIGKILL);
    read_text("out", ending->out, sizeof ending->out);
    read_text("err", ending->err, sizeof ending->err);
    for (int k = 0; k < FAULT_KINDS; k++)
        ending->calls[k] = counts->calls[k];
    ending->injected = counts->injected;
}

void runner_run(const char *faults, const char *sites, double kill_after_s, struct ending *ending)
{
    run_line_of(current->line, faults, sites, kill_after_s, ending);
}

double runner_seconds(void) { return undisturbed_s; }

static void run_setup(const char *setup)
{
    char lines[4096];
    struct ending *const ending = malloc(sizeof *ending);
    assert_non_null(ending);
    snprintf(lines, sizeof lines, "%s", setup);
    for (char *line = lines, *next; line != NULL && *line != '\0'; line = next) {
        next = strchr(line, ';');
        if (next != NULL)
            *next++ = '\0';
        run_line_of(line, NULL, NULL, 0, ending);
        if (ending->exit_code != 0)
            fail_msg("setup 'cubewarp %s' ends with %d: %s", line, ending->exit_code, ending->err);
    }
    free(ending);
}

static void write_text(const char *name, const char *text, const char *more)
{
    FILE *const file = fopen(runner_scratch(name), "w");
    assert_non_null(file);
    fprintf(file, "%s%s", text, more);
    fclose(file);
}

static void write_inputs(void)
{
#define SMALL_STUDY(name)                                                                          \
    "study: " name "\nbase:\n  bytes: 256\n  no-data: true\n  sip.cube_mesh.w: 1\n"                \
    "  sip.cube_mesh.h: 1\naxes:\n  system.sips.count: [2, 3]\n"                                   \
    "  algorithm: [ring_rs_ag, direct_rs_ag]\n"
    write_text("study.yaml", SMALL_STUDY("small"), "");
    write_text("larger.yaml", SMALL_STUDY("small"), "  seed: [1, 2]\n");
    write_text("renamed.yaml", SMALL_STUDY("another"), "");
    FILE *const values = fopen(runner_scratch("values"), "w"); /* 64 zeros of each of two ranks */
    assert_non_null(values);
    assert_int_equal(ftruncate(fileno(values), 2 * 64 * 4), 0);
    fclose(values);
}

void runner_prepare(const struct command *command)
{
    const char *const given = getenv("FAULTS_PROGRAM"), *const given_shim = getenv("FAULTS_SHIM");
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    assert_non_null(realpath(given != NULL ? given : FAULTS_PROGRAM_BUILT, program));
    assert_non_null(realpath(given_shim != NULL ? given_shim : FAULTS_SHIM_BUILT, shim));
    current = command;
    snprintf(base, sizeof base, "/tmp/cubewarp-faults-XXXXXX");
    assert_non_null(mkdtemp(base));
    snprintf(folder, sizeof folder, "%.400s/work", base);
    assert_int_equal(mkdir(folder, 0700), 0);
    const int file = open(runner_scratch("counts"), O_RDWR | O_CREAT, 0600);
    assert_true(file >= 0 && ftruncate(file, sizeof *counts) == 0);
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(counts != MAP_FAILED);
    close(file);
    write_inputs();
    if (command->setup != NULL)
        run_setup(command->setup);
    struct ending *const ending = malloc(sizeof *ending);
    assert_non_null(ending);
    runner_clear(false);
    const double begun_s = clock_s();
    run_line_of(command->line, NULL, NULL, 0, ending);
    undisturbed_s = clock_s() - begun_s;
    if (ending->exit_code != 0)
        fail_msg("'cubewarp %s' without a fault ends with %d: %s%s", command->line,
                 ending->exit_code, ending->err, ending->out);
    snprintf(whole_out, sizeof whole_out, "%s", ending->out);
    free(ending);
    char whole[2 * PATH_BYTES], made[2 * PATH_BYTES];
    snprintf(whole, sizeof whole, "%s", runner_scratch("whole"));
    assert_int_equal(mkdir(whole, 0700), 0);
    for (const struct command_file *f = command->files; f->name != NULL; f++) {
        snprintf(whole, sizeof whole, "%.400s/whole/%s", base, f->name);
        snprintf(made, sizeof made, "%s/%s", folder, f->name);
        if (rename(made, whole) != 0)
            fail_msg("'cubewarp %s' has made no %s", command->line, f->name);
    }
    runner_clear(false);
}

void runner_end(void)
{
    munmap(counts, sizeof *counts);
    remove_tree(base);
}

/* ---- the files and the database afterwards --------------------------------------------------- */

static int64_t number_in(const char *path, const char *query)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

/* As many points, rows and axes as without a fault. Runs of a history are one more each time. */
static bool is_study_complete(const char *path)
{
    static const char *const counts_of[] = {
        "SELECT count(*) FROM point", "SELECT count(*) FROM row", "SELECT count(*) FROM axis"};
    char whole[2 * PATH_BYTES];
    snprintf(whole, sizeof whole, "%.400s/whole/%s", base, strrchr(path, '/') + 1);
    for (size_t i = 0; i < sizeof counts_of / sizeof *counts_of; i++)
        if (number_in(path, counts_of[i]) != number_in(whole, counts_of[i]))
            return false;
    return true;
}

static const char *judge_database(const char *path, const struct command_file *file, bool whole)
{
    static const char study_halves[] =
        "SELECT (SELECT count(*) FROM point WHERE state = 'done' AND id NOT IN"
        " (SELECT point FROM row)) + (SELECT count(*) FROM point WHERE id NOT IN"
        " (SELECT point FROM axis)) + (SELECT count(*) FROM point WHERE state = 'done' AND"
        " result IS NULL)";
    static const char history_halves[] =
        "SELECT count(*) FROM run WHERE id NOT IN (SELECT run FROM measurement)";
    struct stat status;
    if (stat(path, &status) == 0 && status.st_size == 0 && !whole)
        return NULL; /* made, and nothing written yet: the next run takes it as new */
    if (number_in(path, "SELECT integrity_check = 'ok' FROM pragma_integrity_check") != 1)
        return "fails SQLite's check of its integrity";
    const int64_t tables = number_in(path, "SELECT count(*) FROM sqlite_master");
    if (tables == 0 && !whole)
        return NULL;
    if (number_in(path, file->kind == FILE_STUDY ? study_halves : history_halves) != 0)
        return "has half a point or half a run";
    return whole && file->kind == FILE_STUDY && !is_study_complete(path) ? "lacks points" : NULL;
}

static bool ends_with(const char *text, size_t bytes, const char *end)
{
    const size_t count = strlen(end);
    return bytes >= count && memcmp(text + bytes - count, end, count) == 0;
}

/* Where a value lacks a member or an element of the model's; numbers and texts may differ. NULL: it
 * lacks none. */
static const char *lacking(const json_t *value, json_t *model, const char *name)
{
    const char *key, *lacks = NULL;
    json_t *part;
    size_t i;
    static const char *const unknown[] = {"changed", "shipped", "folder", "path"};
    for (size_t u = 0; u < sizeof unknown / sizeof *unknown; u++)
        if (json_is_null(value) && strcmp(name, unknown[u]) == 0)
            return NULL; /* documented: not known */
    if (value == NULL || (json_typeof(value) != json_typeof(model) &&
                          !(json_is_number(value) && json_is_number(model)) &&
                          !(json_is_boolean(value) && json_is_boolean(model))))
        return name;
    if (json_is_object(model))
        json_object_foreach(model, key, part) lacks =
            lacks != NULL ? lacks : lacking(json_object_get(value, key), part, key);
    if (json_is_array(model) && json_array_size(value) != json_array_size(model))
        return name;
    if (json_is_array(model))
        json_array_foreach(model, i, part) lacks =
            lacks != NULL ? lacks : lacking(json_array_get(value, i), part, name);
    return lacks;
}

static const char *judge_json(const char *text, size_t bytes, const char *whole, bool must_be_whole)
{
    json_t *const value = json_loadb(text, bytes, 0, NULL);
    json_t *const model = json_loads(whole, 0, NULL);
    assert_non_null(model);
    const char *wrong = value == NULL ? "is half a JSON value" : NULL;
    static char text_of[100];
    const char *const lacks =
        value != NULL && must_be_whole ? lacking(value, model, "its root") : NULL;
    if (lacks != NULL) {
        snprintf(text_of, sizeof text_of, "lacks '%.60s', or has another type there", lacks);
        wrong = text_of;
    }
    json_decref(value);
    json_decref(model);
    return wrong;
}

/* Lines of the undisturbed run, and at most one row of a failure, whose reason stands in quotes. */
static const char *judge_rows(const char *text, size_t bytes, const char *whole)
{
    size_t same = 0, quotes = 0;
    while (same < bytes && text[same] == whole[same])
        same++;
    while (same > 0 && text[same - 1] != '\n')
        same--;
    for (size_t i = same; i < bytes; i++)
        quotes += text[i] == '"';
    const bool fine = same == bytes || (quotes == 2 && text[bytes - 1] == '\n');
    return fine ? NULL : "has other rows";
}

/* A gzip or Zstandard file that can be unpacked to its end. */
static const char *judge_packed(const char *name)
{
    char line[3 * PATH_BYTES];
    const bool is_gzip = ends_with(name, strlen(name), ".gz");
    snprintf(line, sizeof line, is_gzip ? "gzip -t %s/%s" : "zstd -tq %s/%s", folder, name);
    return system(line) == 0 ? NULL : "cannot be unpacked";
}

static const char *judge_text(const char *text, size_t bytes, const struct command_file *file,
                              bool must_be_whole)
{
    size_t whole_bytes;
    char name[64];
    snprintf(name, sizeof name, "whole/%.50s", file->name);
    char *const whole = file_bytes(runner_scratch(name), &whole_bytes);
    assert_non_null(whole);
    const bool is_same = bytes == whole_bytes && memcmp(text, whole, bytes) == 0;
    const char *wrong = NULL;
    if (is_same)
        ;
    else if (file->exact && must_be_whole)
        wrong = "is not the same as without a fault";
    else if (file->kind == FILE_SAME)
        wrong = "is neither absent, nor old, nor whole";
    else if (file->kind == FILE_ROWS)
        wrong = judge_rows(text, bytes, whole);
    else if (file->kind == FILE_PACKED)
        wrong = judge_packed(file->name);
    else if (file->kind == FILE_VALUE)
        wrong = judge_json(text, bytes, whole, false);
    else if (file->kind == FILE_JSON)
        wrong = judge_json(text, bytes, whole, must_be_whole);
    else if (file->kind == FILE_HTML && !ends_with(text, bytes, "</html>\n"))
        wrong = "is half a page";
    else if (file->kind == FILE_TEXT && bytes > 0 && !ends_with(text, bytes, "\n"))
        wrong = "is half a text";
    free(whole);
    return wrong;
}

static const char *judge_file(const char *path, const struct command_file *file, bool must_be_whole)
{
    size_t bytes;
    if (access(path, F_OK) != 0)
        return must_be_whole ? "is absent" : NULL;
    if (file->kind == FILE_STUDY || file->kind == FILE_HISTORY)
        return judge_database(path, file, must_be_whole);
    char *const text = file_bytes(path, &bytes);
    if (text == NULL)
        return "cannot be read";
    const bool is_old = strcmp(text, old_text) == 0;
    const char *const wrong = is_old ? (must_be_whole ? "is the old one" : NULL)
                                     : judge_text(text, bytes, file, must_be_whole);
    free(text);
    return wrong;
}

/* Files that SQLite keeps beside a database after a crash, and takes up again. */
static bool is_of_sqlite(const char *name)
{
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < 3; i++)
        if (ends_with(name, strlen(name), ends[i]))
            return true;
    return false;
}

const char *runner_judge_said(const struct ending *ending)
{
    return current->tells && strcmp(ending->out, whole_out) != 0 ? "says something else" : NULL;
}

const char *runner_judge(bool must_be_whole, bool may_leave)
{
    char path[2 * PATH_BYTES];
    const char *wrong = NULL;
    for (const struct command_file *f = current->files; f->name != NULL && wrong == NULL; f++) {
        snprintf(path, sizeof path, "%s/%s", folder, f->name);
        wrong = judge_file(path, f, must_be_whole);
        if (wrong != NULL)
            snprintf(reason, sizeof reason, "%s %s", f->name, wrong);
    }
    DIR *const stream = opendir(folder);
    assert_non_null(stream);
    for (struct dirent *entry = readdir(stream); entry != NULL && wrong == NULL && !may_leave;
         entry = readdir(stream)) {
        const char *const name = entry->d_name;
        if (name[0] == '.' || is_input(name) || file_named(name) != NULL || is_of_sqlite(name))
            continue;
        snprintf(reason, sizeof reason, "%s is left behind", name);
        wrong = reason;
    }
    closedir(stream);
    return wrong != NULL ? reason : NULL;
}
