/*
 * bench_fold.h: the fold of a machine that a session is about to make (collectives/fold,
 * hw/topology/fold.h): found before the machine is made, judged after its run.
 */
#ifndef BENCH_BENCH_FOLD_H
#define BENCH_BENCH_FOLD_H

#include "bench/programs/bench_program.h"

#define BENCH_FOLDS_ONE_CALL "the bench does more than one call on all ranks"
/* Why no machine of the session folds, whatever it is; NULL: it may. */
const char *bench_fold_why_not(const struct bench_session *session);
/* Finds the widest fold for the sizes that share the current machine. session->folded says whether
 * there is one, and session->fold_why why the machine is not folded further. CW_USAGE: an option
 * asks for a fold, and there is none; CW_NO_RESOURCE. */
int bench_fold_find(struct bench_session *session, struct cw_error *error);
/* Why a run with these options does not take a fold that was found; NULL: it does. */
const char *bench_fold_why_refused(const struct run_options *options, const struct hw_config *hw,
                                   const struct hw_fold *fold);
/* The machine's options with the session's fold. */
void bench_fold_give(struct bench_session *session, struct dist_options *dist);
/* Of a folded machine whose run continues: the rows that are known are the whole machine's, and
 * those that are not reported yet say what the fold did. */
bool bench_fold_holds_so_far(struct bench_session *session);
/* After the run of a folded machine, which still is there: whether it is the whole machine's. If it
 * is not, session->fold_why says why. */
bool bench_fold_holds(struct bench_session *session, int code, const struct cw_error *error);
/* CW_USAGE: the machine is too large to be simulated without a fold; the error says why it has
 * none. */
int bench_fold_check_unfolded(const struct bench_session *session, struct cw_error *error);
/* Notes in the rows from `first` on what the machine's fold did, or why there was none. */
void bench_fold_note(const struct bench_session *session, size_t first);
/* Frees the schedule that was found. */
void bench_fold_end(struct bench_session *session);

#endif
