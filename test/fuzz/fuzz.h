/*
 * fuzz.h: a format that the program reads, as the fuzzer and the replay of the corpus see it; and
 * the demands that all formats share. A format is one file format_NAME.c with one `const struct
 * fuzz_format`, and one row of the table in fuzz.c; its kept inputs are in corpus/NAME.tar.gz,
 * its words are in dictionaries/NAME.
 *
 * One thread. A demand that is not met prints its text and aborts, which both drivers report with
 * the input that they have.
 */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cw.h"

/* Changes up to `room` bytes in place without knowing the format: libFuzzer's own mutation.
 * Returns how many bytes there are then. */
typedef size_t (*fuzz_mutate_fn)(uint8_t *data, size_t size, size_t room);

/* One mutation under way. */
struct fuzz_mutation {
    uint64_t random; /* state of fuzz_draw() */
    fuzz_mutate_fn bytes;
};

struct fuzz_format {
    const char *name;
    /* Reads one input. A crash, a leak, a broken demand is a finding. */
    void (*once)(const uint8_t *data, size_t size);
    /* A mutation that knows the format: as fuzz_mutate_fn. NULL: mutation->bytes alone. */
    size_t (*mutate)(struct fuzz_mutation *mutation, uint8_t *data, size_t size, size_t room);
};

/* The i-th format, NULL after the last. */
const struct fuzz_format *fuzz_format_at(size_t i);

/* A number below `count`, which is not 0. */
uint64_t fuzz_draw(struct fuzz_mutation *mutation, uint64_t count);

/* ---- demands --------------------------------------------------------------------------------- */

#define FUZZ_DEMAND(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fuzz_fail(__FILE__, __LINE__, #condition, NULL);                                       \
    } while (0)

/* Prints, and aborts. `text`: the message or file that shows it; NULL: none. */
_Noreturn void fuzz_fail(const char *file, int line, const char *condition, const char *text);

/* The error of a function that returned `code`: the codes agree, and a refusal has a text. */
void fuzz_demand_error(int code, const struct cw_error *error);

/* ---- files ----------------------------------------------------------------------------------- */

/* Writes a file into the fuzzer's own folder, which is removed at the end of the process. Returns
 * its path, which lasts until the next eight calls. */
const char *fuzz_file(const char *name, const void *data, size_t size);
/* The path of a file there, and nothing else; as above. */
const char *fuzz_path(const char *name);
/* Removes all files from the folder. */
void fuzz_clear(void);
/* The bytes of a file, behind which stands a 0; the caller frees them. NULL: it cannot be read. */
char *fuzz_read(const char *path, size_t *size);

/* ---- whole commands -------------------------------------------------------------------------- */

/* The output of one command. */
struct fuzz_said {
    int code;
    char *out, *err; /* freed by fuzz_said_free() */
    size_t out_bytes, err_bytes;
};

/*
 * Runs `cubewarp WORD...` in this process; the words end with NULL. Demands that the exit code is
 * one of `legal` (bits by code) and none of a bug; that a refusal says why, and names `place` where
 * it is the usage's (NULL: any text will do); that messages are lines without control characters
 * but tabs.
 */
void fuzz_command(struct fuzz_said *said, uint32_t legal, const char *place,
                  const char *const *words);
void fuzz_said_free(struct fuzz_said *said);
/* The same, where the output is of no interest. Returns the exit code. */
int fuzz_run(uint32_t legal, const char *place, const char *const *words);

/* Exit codes as bits. */
enum {
    FUZZ_OK = 1 << CW_OK,
    FUZZ_DIFFERS = 1 << CW_DATA_WRONG,
    FUZZ_USAGE = 1 << CW_USAGE,
    FUZZ_FAILED = 1 << CW_PROGRAM_FAILED,
    FUZZ_NO_RESOURCE = 1 << CW_NO_RESOURCE
};

#endif
