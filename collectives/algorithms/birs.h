/*
 * birs.h: the parts of birs.c that birs_inter.c and birs_allreduce.c use: the peers of a round, and
 * the rounds themselves. Kernels' parts are speculative; the rest is host side and pure.
 */
#ifndef COLLECTIVES_BIRS_H
#define COLLECTIVES_BIRS_H

#include "collectives/algorithms/reduce_scatter.h"
#include "collectives/algorithms/reduce_scatter_kernel.h"

enum { BIRS_COPYING, BIRS_FIRST_ROUND, BIRS_ROUNDS, BIRS_FINAL };
extern const char *const birs_phase[];
enum { BIRS_STREAMS = 3 };
extern enum tl_status (*const birs_stream[])(struct tl *tl, void *frame);

uint32_t birs_packages(const struct tl *tl);
/* The SIP of this parity this many packages further on. */
uint32_t birs_ahead(const struct tl *tl, uint32_t packages);
/* The SIP that intermediate i is for: t_i. */
uint32_t birs_target(const struct tl *tl, uint32_t i);
/* The exchange of a round with the mate, whose intermediate is in scratch slot `slot`. */
struct rs_put birs_sio_put(const struct tl *tl, uint32_t round, uint32_t slot);
/* A TL_CALL: copies this rank's slice for t_i into intermediate i, which is in slot `slot`. */
void birs_copy(struct tl *tl, uint32_t i, uint32_t slot);
/* All rounds: afterwards the partials are where birs_partial_va() says. Runs by f->stage. */
enum tl_status birs_rounds(struct tl *tl, struct rs_frame *f);
uint64_t birs_partial_va(const struct tl *tl, uint32_t package);

/* For estimates: all of birs; the fork and the streams of one of its rounds; all rounds in which
 * birs_allreduce gathers. */
void birs_steps(const struct ccl_call *call, struct cost_steps *steps);
void birs_describe_round(const struct ccl_call *call, uint32_t round, struct cost_steps *steps);
void birs_describe_gather(const struct ccl_call *call, struct cost_steps *steps);

struct ccl_rs_needs birs_needs(const struct ccl_call *call);
uint64_t birs_tcm_bytes(const struct ccl_call *call);
uint64_t birs_scratch_bytes(const struct ccl_call *call);
uint32_t birs_peers(const struct ccl_call *call);
bool birs_folds(const struct ccl_call *call, const struct hw_fold *fold,
                char why[CCL_FOLD_WHY_BYTES]);

#endif
