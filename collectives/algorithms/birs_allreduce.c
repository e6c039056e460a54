/*
 * birs_allreduce.c: a batch-invariant all-reduce on paired dies (ALGORITHMS.md): birs, whose result
 * is written into the tensor itself, then an all-gather over hccs and sio at once. In round i = 0
 * .. Y - 1 of the gathering a rank sends its own slice over hccs to the rank i + 1 packages further
 * on (except in the last round), and over sio sends its mate the slice that arrived in the round
 * before (its own in round 0). So each slice arrives once, and both links are always busy.
 */
#include "collectives/algorithms/birs.h"

enum { GATHER = BIRS_FINAL + 1 };
static const char *const phase_name[] = {"copy", "round 0", "rounds 1 to Y-1", "final reduction",
                                         "all-gather"};
enum { STREAM_MAIN = 1, STREAM_HCCS = 2 };

/* The result of the rank on a SIP moves to the same place of another rank's tensor. */
static struct rs_put put_result(const struct tl *tl, uint32_t of, uint32_t to, uint32_t from)
{
    const struct lp_operand slice = rs_slice(tl, rs_rank_on(tl, of));
    return (struct rs_put){.to = to, .from = from, .src = slice, .dst = slice};
}

static enum tl_status birs_allreduce_main_stream(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    const uint32_t mate = rs_die(tl) ^ 1;
    if (!f->gathering)
        return birs_stream[0](tl, frame);
    const struct rs_put put =
        put_result(tl, birs_ahead(tl, birs_packages(tl) - f->round), mate, mate);
    return rs_exchange(tl, f, &put);
}

static enum tl_status birs_allreduce_hccs_stream(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    if (!f->gathering)
        return birs_stream[1](tl, frame);
    const struct rs_put put = put_result(tl, rs_die(tl), birs_ahead(tl, f->round + 1),
                                         birs_ahead(tl, birs_packages(tl) - f->round - 1));
    return rs_exchange(tl, f, &put);
}

static enum tl_status birs_allreduce_copy_stream(struct tl *tl, void *frame)
{
    return birs_stream[2](tl, frame);
}

static enum tl_status (*const streams[])(struct tl *tl, void *frame) = {
    birs_allreduce_main_stream, birs_allreduce_hccs_stream, birs_allreduce_copy_stream};

static enum tl_status birs_allreduce_gather(struct tl *tl, struct rs_frame *f)
{
    TL_BEGIN(&f->stage);
    for (f->round = 0; f->round < birs_packages(tl); f->round++) {
        TL_CALL(&f->stage,
                tl_fork(tl, STREAM_MAIN | (f->round + 1 < birs_packages(tl) ? STREAM_HCCS : 0u)));
        TL_CALL(&f->stage, tl_join(tl));
    }
    TL_END(&f->stage);
}

static enum tl_status birs_allreduce_run(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    TL_BEGIN(&f->line);
    TL_RUN(&f->line, birs_rounds(tl, f));
    TL_RUN(&f->line, rs_reduce_partials(tl, f, birs_packages(tl), birs_partial_va,
                                        rs_slice_va(tl, tl_args(tl)->rank)));
    tl_phase(tl, GATHER);
    f->gathering = true;
    TL_RUN(&f->line, birs_allreduce_gather(tl, f));
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "birs_allreduce",
                                        .frame_bytes = sizeof(struct rs_frame),
                                        .run = birs_allreduce_run,
                                        .stream = streams,
                                        .stream_count = BIRS_STREAMS,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

/* ---- host side ------------------------------------------------------------------------------- */

static int birs_allreduce_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    struct ccl_rs_needs needs = birs_needs(call);
    needs.in_place = true;
    return ccl_rs_check(call, &needs, "birs_allreduce", refusal);
}

static const struct ccl_order order = {
    .between = CCL_BETWEEN_NEIGHBOURS, .by_place = true, .kept = CCL_KEPT_AFTER_PAIRS};

static double birs_allreduce_moved(const struct ccl_call *call)
{
    return 2 * ((double)call->world_size - 1) / call->world_size;
}

static void birs_allreduce_steps(const struct ccl_call *call, struct cost_steps *steps)
{
    birs_steps(call, steps);
    birs_describe_gather(call, steps);
}

const struct ccl_algorithm ccl_birs_allreduce = {.name = "birs_allreduce",
                                                 .collective = CCL_ALL_REDUCE,
                                                 .kernel = &kernel,
                                                 .order = &order,
                                                 .moved = birs_allreduce_moved,
                                                 .machine = {.mappers = CCL_RS_MAPPERS,
                                                             .reads = CCL_READS_SLICE_ALIGN,
                                                             .tcm_bytes = birs_tcm_bytes,
                                                             .scratch_bytes = birs_scratch_bytes,
                                                             .peers = birs_peers},
                                                 .kernel_args = ccl_rs_kernel_args,
                                                 .check = birs_allreduce_check,
                                                 .takes_part = ccl_rs_takes_part,
                                                 .steps = birs_allreduce_steps,
                                                 .folds = birs_folds};
