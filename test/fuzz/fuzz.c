/*
 * fuzz.c: see fuzz.h. Output of commands is caught by streams of memory in the place of stdout and
 * stderr; the sanitizers write to descriptors, and so past them.
 */
#define _GNU_SOURCE /* mkdtemp, open_memstream */
#include "test/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/cli/commands.h"

#define FORMAT(name) extern const struct fuzz_format fuzz_##name;
#include "test/fuzz/formats.h"
#undef FORMAT
#define FORMAT(name) &fuzz_##name,
static const struct fuzz_format *const formats[] = {
#include "test/fuzz/formats.h"
};
#undef FORMAT

const struct fuzz_format *fuzz_format_at(size_t i)
{
    return i < sizeof formats / sizeof *formats ? formats[i] : NULL;
}

/* xorshift64*, whose state is never 0. */
uint64_t fuzz_draw(struct fuzz_mutation *mutation, uint64_t count)
{
    uint64_t x = mutation->random != 0 ? mutation->random : 1;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    mutation->random = x;
    return (x * UINT64_C(2685821657736338717) >> 16) % count;
}

/* ---- demands --------------------------------------------------------------------------------- */

_Noreturn void fuzz_fail(const char *file, int line, const char *condition, const char *text)
{
    dprintf(STDERR_FILENO, "%s:%d: not so: %s%s%s\n", file, line, condition,
            text != NULL ? "\n" : "", text != NULL ? text : "");
    abort();
}

/* Lines of text that do nothing to a terminal. */
static bool is_plain(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 127)
            return false;
    return true;
}

void fuzz_demand_error(int code, const struct cw_error *error)
{
    if (code == CW_OK)
        return;
    FUZZ_DEMAND(code == error->exit_code);
    FUZZ_DEMAND(code == CW_USAGE || code == CW_NO_RESOURCE);
    FUZZ_DEMAND(error->text[0] != '\0' && memchr(error->text, '\0', sizeof error->text) != NULL);
    if (!is_plain(error->text, strlen(error->text)))
        fuzz_fail(__FILE__, __LINE__, "a message without control characters", error->text);
}

/* ---- files ----------------------------------------------------------------------------------- */

enum { PATHS = 8, PATH_BYTES = 128 };
static char folder[PATH_BYTES / 2];

void fuzz_clear(void)
{
    DIR *const files = folder[0] != '\0' ? opendir(folder) : NULL;
    char path[PATH_BYTES + 256];
    for (const struct dirent *at; files != NULL && (at = readdir(files)) != NULL;)
        if (at->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, at->d_name);
            (void)remove(path); /* a folder that is not empty stays */
        }
    if (files != NULL)
        closedir(files);
}

static void remove_folder(void)
{
    fuzz_clear();
    (void)rmdir(folder);
}

const char *fuzz_path(const char *name)
{
    static char paths[PATHS][PATH_BYTES];
    static unsigned next;
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "%s/cubewarp-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        FUZZ_DEMAND(mkdtemp(folder) != NULL);
        (void)atexit(remove_folder);
    }
    char *const path = paths[next++ % PATHS];
    snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return path;
}

const char *fuzz_file(const char *name, const void *data, size_t size)
{
    const char *const path = fuzz_path(name);
    FILE *const file = fopen(path, "wb");
    FUZZ_DEMAND(file != NULL);
    FUZZ_DEMAND(fwrite(data, 1, size, file) == size);
    FUZZ_DEMAND(fclose(file) == 0);
    return path;
}

char *fuzz_read(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    struct stat status;
    *size = 0;
    if (file == NULL)
        return NULL;
    char *data = NULL;
    if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
        (data = malloc((size_t)status.st_size + 1)) != NULL) {
        *size = fread(data, 1, (size_t)status.st_size, file);
        data[*size] = '\0';
    }
    fclose(file);
    return data;
}

/* ---- whole commands -------------------------------------------------------------------------- */

static void check_said(const struct fuzz_said *said, uint32_t legal, const char *place)
{
    if (said->code < 0 || said->code > 31 || (legal >> said->code & 1) == 0) {
        dprintf(STDERR_FILENO, "exit code %d\n", said->code);
        fuzz_fail(__FILE__, __LINE__, "a legal exit code", said->err);
    }
    if (!is_plain(said->err, said->err_bytes))
        fuzz_fail(__FILE__, __LINE__, "a message without control characters", said->err);
    if (said->code != CW_USAGE && said->code != CW_NO_RESOURCE)
        return;
    if (said->err_bytes == 0 || said->err[said->err_bytes - 1] != '\n')
        fuzz_fail(__FILE__, __LINE__, "a refusal is a line", said->err);
    if (place != NULL && said->code == CW_USAGE && strstr(said->err, place) == NULL)
        fuzz_fail(__FILE__, __LINE__, "a refusal names its place", said->err);
}

void fuzz_command(struct fuzz_said *said, uint32_t legal, const char *place,
                  const char *const *words)
{
    enum { WORDS_MAX = 64 };
    char *argv[WORDS_MAX] = {"cubewarp"};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++) {
        FUZZ_DEMAND(argc + 1 < WORDS_MAX);
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    }
    FILE *const own_out = stdout, *const own_err = stderr;
    *said = (struct fuzz_said){.out = NULL};
    stdout = open_memstream(&said->out, &said->out_bytes);
    stderr = open_memstream(&said->err, &said->err_bytes);
    FUZZ_DEMAND(stdout != NULL && stderr != NULL);
    said->code = commands_main(argc, argv);
    const bool closed = fclose(stdout) == 0 && fclose(stderr) == 0;
    stdout = own_out;
    stderr = own_err;
    FUZZ_DEMAND(closed);
    check_said(said, legal, place);
}

void fuzz_said_free(struct fuzz_said *said)
{
    free(said->out);
    free(said->err);
    *said = (struct fuzz_said){.out = NULL};
}

int fuzz_run(uint32_t legal, const char *place, const char *const *words)
{
    struct fuzz_said said;
    fuzz_command(&said, legal, place, words);
    fuzz_said_free(&said);
    return said.code;
}
