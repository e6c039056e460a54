/*
 * fit.h: fits keys of a configuration to measured times: which rows count, the search, what each
 * key moves, the cross-validation. The figures do not depend on the number of processes, nor on the
 * machine's speed unless the time limit ends a search.
 */
#ifndef BENCH_FIT_H
#define BENCH_FIT_H

#include "bench/calibrate/curves.h"
#include "bench/calibrate/minimum.h"
#include "bench/calibrate/parameters.h"
#include "bench/calibrate/sensitivity.h"
#include "bench/calibrate/simulate.h"

struct fit_setup {
    uint32_t jobs, starts;
    uint64_t seed;
    double limit_s;
    void (*progress)(void *arg, const char *phase, uint32_t evaluations, double squares);
    void *progress_arg;
};

struct fit {
    struct fit_setup setup;
    struct curves curves;
    struct parameters parameters;
    struct simulator simulator;
    double begun_s;
    uint32_t *rows; /* [row_count], in the order in which they run: those of the fit first */
    uint32_t fitted_rows, judged_rows;
    struct row_answer *before, *after; /* [curves.row_count] */
    struct row_answer *crossed;        /* with the row, or its curve, left out of the fit */
    struct row_answer *scratch;
    struct assignment best;
    struct minimum minimum; /* of the best choice of the swept keys */
    uint32_t choices;       /* of the swept keys that were tried, of them */
    uint32_t of_choices;
    uint32_t evaluations;
    bool has_sensitivity;
    struct sensitivity sensitivity;
    uint32_t crossed_groups, groups; /* of the cross-validation, done, of them */
    bool is_late;                    /* the limit ended a search, or what comes after */
};

/* Reads curves and keys, and simulates all rows once. CW_OK; CW_USAGE, with nothing fitted;
 * CW_NO_RESOURCE. Release with fit_free() in any case. */
int fit_prepare(struct fit *fit, const struct study *study, const struct fit_setup *setup,
                struct cw_error *error);
/* Searches, and then says how good and how sure it is. */
int fit_search(struct fit *fit, const struct nlopt_library *library, struct cw_error *error);
int fit_examine(struct fit *fit, const struct nlopt_library *library, struct cw_error *error);
void fit_free(struct fit *fit);

#endif
