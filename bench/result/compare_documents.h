/*
 * compare_documents.h: two results side by side: sizes, phases and kinds of links with their
 * ratios, and the values in which their configurations differ. Pure; reads no file.
 *
 * A size differs if its times differ by more than the tolerance; if a phase is, measured by the
 * time of the size; if the bytes of a kind of links are; if one of the two has no such size, or did
 * not run it; where B's data have a flaw that A's have not; and, where both have one configuration,
 * seed and input, if the results' bits differ.
 */
#ifndef BENCH_COMPARE_DOCUMENTS_H
#define BENCH_COMPARE_DOCUMENTS_H

#include "bench/result/result_document.h"

/* A pair of figures; a figure that is absent in one of the two results is 0 there. */
struct compared_part {
    char name[48];
    double a, b;           /* of a phase the mean in ns; of a kind of links bytes */
    double busy_a, busy_b; /* of a kind of links: mean share of the time */
    bool differs;          /* beyond the tolerance */
};

enum { COMPARED_PARTS_MAX = 64 };

struct compared_row {
    const struct document_row *a, *b; /* NULL: it has no such row; not both */
    int64_t size;                     /* in bytes, of a shard or of a rank */
    int64_t a_ps, b_ps;               /* their times */
    bool differs;
    bool hash_differs;
    const char
        *flaw; /* "WRONG DATA": what is wrong with B's data, and not with A's; NULL: nothing */
    const char *why; /* where no times can be compared: "not in B"; NULL: they can */
    struct compared_part phases[COMPARED_PARTS_MAX], kinds[COMPARED_PARTS_MAX];
    size_t phase_count, kind_count;
};

/* A value in which the two differ: of the result's head or, with a key of --set, of the
 * configuration. Texts are the documents', or constants. */
struct compared_value {
    const char *key, *a, *b;
};

struct comparison_of_documents {
    double tolerance_percent;
    bool per_rank; /* sizes are a rank's: an automatic choice says how many shards one has, or only
                      so do the two have sizes in common */
    bool a_is_cut; /* A was interrupted, or failed: sizes that only B has do not count as a
                      difference */
    struct compared_row *rows; /* A's, in order, then the rows that B alone has */
    size_t row_count, differing;
    struct compared_value *values;
    size_t value_count;
    char seeds[2][24];
    double largest_percent; /* change of a size's time, by amount; with its sign */
};

/* CW_OK, or CW_NO_RESOURCE with *error filled and *comparison empty. It points into a and b. */
int compare_documents(const struct result_document *a, const struct result_document *b,
                      double tolerance_percent, struct comparison_of_documents *comparison,
                      struct cw_error *error);
void comparison_of_documents_free(struct comparison_of_documents *comparison);

/* By how much B's time is longer, in per cent of A's. */
double compared_row_percent(const struct compared_row *row);

#endif
