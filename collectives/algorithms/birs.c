/*
 * birs.c: batch-invariant reduce-scatter on paired dies (ALGORITHMS.md). Each
 * package reduces, for every rank of the machine in turn, its two dies' slices over sio, and sends
 * the sum over hccs to the rank that it is for, while it reduces the next one. The order of
 * additions depends on the number of ranks alone: pair sums, then a tree over the packages.
 *
 * Round i = 0 .. Y - 1 is a fork and a join of three streams, while the kernel waits (Y: packages;
 * t_i: the die that intermediate i is for; in round i this rank writes to r + 2i and is written to
 * by r - 2i): main: puts input[S(t_i ^ 1)] into its mate's intermediate i, to be reduced there;
 *   hccs: puts intermediate i - 1 to the SIP it is for, into the slot of its package;
 *   copy: prepares intermediate i + 1 from input[S(t_(i+1))].
 * Scratch: slots 0 .. Y - 1 are the intermediates (the last one is for this rank itself), slots
 * Y .. 2Y - 1 the partials from packages 0 .. Y - 1.
 */
#include "collectives/algorithms/birs.h"

#include "collectives/fold/fold_rule.h"

enum { STREAM_MAIN = 1, STREAM_HCCS = 2, STREAM_COPY = 4 };

const char *const birs_phase[] = {"copy", "round 0", "rounds 1 to Y-1", "final reduction"};

uint32_t birs_packages(const struct tl *tl) { return rs_ranks(tl) / 2; }

uint32_t birs_ahead(const struct tl *tl, uint32_t packages)
{
    return (rs_die(tl) + 2 * packages) % rs_ranks(tl);
}

uint32_t birs_target(const struct tl *tl, uint32_t i)
{
    return i + 1 < birs_packages(tl) ? birs_ahead(tl, i + 1) : rs_die(tl);
}

struct rs_put birs_sio_put(const struct tl *tl, uint32_t round, uint32_t slot)
{
    const uint32_t mate = rs_die(tl) ^ 1;
    return (struct rs_put){.to = mate,
                           .from = mate,
                           .src = rs_slice(tl, rs_rank_on(tl, birs_target(tl, round) ^ 1)),
                           .dst = rs_slot(tl, slot),
                           .reduce = true};
}

void birs_copy(struct tl *tl, uint32_t i, uint32_t slot)
{
    tl_copy(tl, rs_slot_va(tl, slot), rs_slice_va(tl, rs_rank_on(tl, birs_target(tl, i))),
            rs_slice_bytes(tl));
}

/* ---- the streams of a round ------------------------------------------------------------------ */

static enum tl_status birs_main_stream(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    const struct rs_put put = birs_sio_put(tl, f->round, f->round);
    return rs_exchange(tl, f, &put);
}

static enum tl_status birs_hccs_stream(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    const uint32_t y = birs_packages(tl);
    const struct rs_put put = {.to = birs_ahead(tl, f->round),
                               .from = birs_ahead(tl, y - f->round),
                               .src = rs_slot(tl, f->round - 1),
                               .dst = rs_slot(tl, y + rs_die(tl) / 2)};
    return rs_exchange(tl, f, &put);
}

static enum tl_status birs_copy_stream(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, birs_copy(tl, f->round + 1, f->round + 1));
    TL_END(&f->line);
}

enum tl_status (*const birs_stream[])(struct tl *tl, void *frame) = {
    birs_main_stream, birs_hccs_stream, birs_copy_stream};

enum tl_status birs_rounds(struct tl *tl, struct rs_frame *f)
{
    const uint32_t y = birs_packages(tl);
    TL_BEGIN(&f->stage);
    tl_phase(tl, BIRS_COPYING);
    TL_CALL(&f->stage, birs_copy(tl, 0, 0));
    tl_phase(tl, BIRS_FIRST_ROUND);
    for (f->round = 0; f->round < y; f->round++) {
        if (f->round == 1)
            tl_phase(tl, BIRS_ROUNDS);
        TL_CALL(&f->stage, tl_fork(tl, STREAM_MAIN | (f->round > 0 ? STREAM_HCCS : 0u) |
                                           (f->round + 1 < y ? STREAM_COPY : 0u)));
        TL_CALL(&f->stage, tl_join(tl));
    }
    tl_phase(tl, BIRS_FINAL);
    TL_END(&f->stage);
}

uint64_t birs_partial_va(const struct tl *tl, uint32_t package)
{
    const uint32_t y = birs_packages(tl);
    return rs_slot_va(tl, package == rs_die(tl) / 2 ? y - 1 : y + package);
}

static enum tl_status birs_run(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    TL_BEGIN(&f->line);
    TL_RUN(&f->line, birs_rounds(tl, f));
    TL_RUN(&f->line,
           rs_reduce_partials(tl, f, birs_packages(tl), birs_partial_va, rs_output_va(tl)));
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "birs",
                                        .frame_bytes = sizeof(struct rs_frame),
                                        .run = birs_run,
                                        .stream = birs_stream,
                                        .stream_count = BIRS_STREAMS,
                                        .phase = birs_phase,
                                        .phase_count = BIRS_FINAL + 1};

/* ---- host side ------------------------------------------------------------------------------- */

struct ccl_rs_needs birs_needs(const struct ccl_call *call)
{
    return (struct ccl_rs_needs){.pairs = true,
                                 .ranks_min = 2,
                                 .ranks_max = CCL_BIRS_RANKS_MAX,
                                 .aligned = true,
                                 .slots = call->world_size / 2 * 2,
                                 .tcm_tiles = call->world_size / 2};
}

static int birs_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    const struct ccl_rs_needs needs = birs_needs(call);
    return ccl_rs_check(call, &needs, "birs", refusal);
}

uint64_t birs_tcm_bytes(const struct ccl_call *call)
{
    return ccl_rs_tcm_bytes(call, call->world_size / 2);
}

uint64_t birs_scratch_bytes(const struct ccl_call *call)
{
    const struct ccl_rs_needs needs = birs_needs(call);
    return ccl_rs_scratch_bytes(call, &needs);
}

/* The mate, and the ranks of its own parity. */
uint32_t birs_peers(const struct ccl_call *call) { return call->world_size / 2; }

static void describe_exchange(struct cost_steps *steps, uint32_t ready, struct cost_put put)
{
    cost_stream(steps);
    cost_notify(steps, ready, put.from, put.to);
    cost_wait(steps, ready);
    cost_put(steps, put);
    cost_notify(steps, ready + 1, put.from, put.to);
    cost_wait(steps, ready + 1);
    cost_stream_end(steps);
}

enum { SIO, HCCS = 2 }; /* queues, each of two */

void birs_describe_round(const struct ccl_call *call, uint32_t round, struct cost_steps *steps)
{
    const struct ccl_ranks *const places = &call->ccl->ranks;
    const uint32_t own = ccl_rank_at(places, 0), y = call->world_size / 2;
    const uint64_t slice = ccl_rs_slice_bytes(call);
    cost_queues(steps, 4);
    cost_fork(steps);
    describe_exchange(steps, SIO,
                      (struct cost_put){own, ccl_rank_at(places, 1), slice, .reduce = true});
    if (round > 0)
        describe_exchange(steps, HCCS,
                          (struct cost_put){own, ccl_rank_at(places, 2 * round), slice, false});
    if (round + 1 < y) {
        cost_stream(steps);
        cost_copy(steps, slice);
        cost_stream_end(steps);
    }
}

void birs_describe_gather(const struct ccl_call *call, struct cost_steps *steps)
{
    const struct ccl_ranks *const places = &call->ccl->ranks;
    const uint32_t own = ccl_rank_at(places, 0), y = call->world_size / 2;
    const uint64_t slice = ccl_rs_slice_bytes(call);
    for (uint32_t round = 0; round < y; round++) {
        cost_fork(steps);
        describe_exchange(steps, SIO, (struct cost_put){own, ccl_rank_at(places, 1), slice, false});
        if (round + 1 < y)
            describe_exchange(
                steps, HCCS,
                (struct cost_put){own, ccl_rank_at(places, 2 * (round + 1)), slice, false});
        cost_join(steps);
    }
}

void birs_steps(const struct ccl_call *call, struct cost_steps *steps)
{
    const uint32_t y = call->world_size / 2;
    const uint64_t slice = ccl_rs_slice_bytes(call);
    cost_copy(steps, slice);
    for (uint32_t round = 0; round < y; round++) {
        birs_describe_round(call, round, steps);
        cost_join(steps);
    }
    cost_reduce(steps, (struct cost_reduction){.loads = y, .adds = y - 1, .bytes = slice});
}

static const struct ccl_order order = {
    .between = CCL_BETWEEN_NEIGHBOURS, .by_place = true, .kept = CCL_KEPT_AFTER_PAIRS};

/*
 * Also of birs_allreduce. A die's peers are its mate, which is the other die of its package, and
 * the dies of its parity so many packages ahead, round all packages. Beside that die and rank give
 * numbers of slices and slots: addresses in one HBM slice. So turns of the dies of packages are
 * kept, and those that keep the ring of packages.
 */
bool birs_folds(const struct ccl_call *call, const struct hw_fold *fold,
                char why[CCL_FOLD_WHY_BYTES])
{
    return fold_keeps_ring(fold, 2, call->world_size / 2) ||
           fold_refuse(why, "peers are so many packages ahead, round all packages");
}

const struct ccl_algorithm ccl_birs = {.name = "birs",
                                       .collective = CCL_REDUCE_SCATTER,
                                       .kernel = &kernel,
                                       .order = &order,
                                       .machine = {.mappers = CCL_RS_MAPPERS,
                                                   .reads = CCL_READS_SLICE_ALIGN,
                                                   .tcm_bytes = birs_tcm_bytes,
                                                   .scratch_bytes = birs_scratch_bytes,
                                                   .peers = birs_peers},
                                       .kernel_args = ccl_rs_kernel_args,
                                       .check = birs_check,
                                       .takes_part = ccl_rs_takes_part,
                                       .steps = birs_steps,
                                       .folds = birs_folds};
