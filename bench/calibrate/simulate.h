/*
 * simulate.h: simulates rows of curves under some values of the fitted keys, in several processes
 * at once. A process takes one row after the other, so that the same times come whatever the number
 * of processes. A row whose process ends early has failed; the others do not notice.
 *
 * The calling process has no threads, and runs nothing itself.
 */
#ifndef BENCH_SIMULATE_H
#define BENCH_SIMULATE_H

#include "bench/calibrate/curves.h"

/* What a row gave. */
struct row_answer {
    int exit_code;      /* enum cw_exit; CW_OK: the figures are known */
    bool is_other_size; /* CW_USAGE: the run counts other bytes than asked for */
    int64_t time_ps;
    uint64_t events;
    char message[200]; /* of a failure */
};

struct simulator {
    const struct curves *curves;
    uint32_t jobs;              /* processes at once, from 1 */
    double deadline_s;          /* clock_s(): not later; 0: no limit */
    struct shared_rows *shared; /* with the processes */
};

/* CW_OK or CW_NO_RESOURCE. Release with simulator_free() in any case. */
int simulator_init(struct simulator *simulator, const struct curves *curves, uint32_t jobs,
                   struct cw_error *error);
void simulator_free(struct simulator *simulator);

/* Simulates rows[count], by their index in curves->rows, with sets[set_count], KEY=VALUE each, and
 * puts what they gave into answers[], by the same index. CW_OK, CW_NO_RESOURCE, or CW_INTERRUPTED
 * if the deadline has come: then the answers mean nothing. */
int simulate_rows(struct simulator *simulator, const uint32_t *rows, uint32_t count,
                  const char *const *sets, uint32_t set_count, struct row_answer *answers,
                  struct cw_error *error);

#endif
