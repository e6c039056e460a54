/*
 * again.h: `run --again RESULT.json`: the line of a result's provenance runs again, with the
 * options of the new line in place of its own, and without the files that it wrote; and both
 * results are compared.
 */
#ifndef BENCH_AGAIN_H
#define BENCH_AGAIN_H

#include <stdbool.h>

#include "bench/output/result.h"
#include "bench/result/result_document.h"

struct again {
    bool asked;                   /* else all else is empty */
    struct result_document first; /* the result that is run again */
    char **argv;                  /* the line, whose words are the document's and the caller's */
    int argc;
};

/* CW_OK, or CW_USAGE with *error filled. Released by again_free() either way. */
int again_begin(struct again *again, int argc, char **argv, struct cw_error *error);
/* Compares, and reports on `file`. CW_OK; CW_DATA_WRONG with *error filled: they differ. */
int again_end(const struct again *again, const struct result *result, FILE *file,
              struct cw_error *error);
void again_free(struct again *again);

#endif
