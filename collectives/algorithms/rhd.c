/*
 * rhd.c: reduce-scatter by recursive halving (ALGORITHMS.md): log2 N steps, in each of which a
 * rank sends its partner at distance N/2, N/4 ... 1 the half of the slices that the partner keeps,
 * to be reduced there. On paired dies all steps but the last use hccs alone, the last sio alone.
 *
 * The working copy of the slices that a rank keeps is in the scratch. In the first step it comes
 * from the input, slice by slice, and the partner is notified of each slice, so that the copy costs
 * about one slice's time.
 *
 * Where N is not a power of two, p is the largest below it and the first 2 (N - p) ranks are folded
 * in pairs: the odd one's whole input is reduced into the even one's working copy, which takes part
 * for both, and the odd one gets its slice in the end. So a virtual rank v of p stands for the
 * ranks 2v and 2v + 1, or v + N - p, whose slices are neighbours.
 */
#include "collectives/algorithms/reduce_scatter.h"
#include "collectives/algorithms/reduce_scatter_kernel.h"
#include "collectives/fold/fold_rule.h"

enum phase { FOLD, FIRST_STEP, LATER_STEPS, COPY };
static const char *const phase_name[] = {"fold", "first step", "later steps", "copy"};

/* ---- virtual ranks --------------------------------------------------------------------------- */

struct fold {
    uint32_t ranks, p, folded; /* folded: pairs */
    uint32_t me;               /* virtual rank; of the odd one of a pair: its pair's */
    bool is_pair, is_odd;
};

static struct fold fold_for(uint32_t ranks, uint32_t rank)
{
    struct fold fold = {.ranks = ranks, .p = 1};
    while (2 * fold.p <= fold.ranks)
        fold.p *= 2;
    fold.folded = fold.ranks - fold.p;
    fold.is_pair = rank < 2 * fold.folded;
    fold.is_odd = fold.is_pair && rank % 2 != 0;
    fold.me = fold.is_pair ? rank / 2 : rank - fold.folded;
    return fold;
}

static struct fold fold_of(const struct tl *tl)
{
    return fold_for(rs_ranks(tl), tl_args(tl)->rank);
}

/* Slices, which is ranks, of the virtual ranks before v. */
static uint32_t slices_before(const struct fold *fold, uint32_t v)
{
    return v + (v < fold->folded ? v : fold->folded);
}

static uint32_t pe_of_virtual(const struct tl *tl, const struct fold *fold, uint32_t v)
{
    return rs_pe_of(tl, slices_before(fold, v)); /* the even one of a pair */
}

static uint32_t my_mate_pe(const struct tl *tl) { return rs_pe_of(tl, tl_args(tl)->rank ^ 1); }

/* ---- memory ---------------------------------------------------------------------------------- */

/* Byte of a slice in the working copy: of all slices, or of the half that is kept. */
static uint32_t work_at(const struct tl *tl, const struct fold *fold, uint32_t slice)
{
    const uint32_t at = fold->folded > 0 ? slice : slice % (fold->ranks / 2);
    return at * rs_slice_bytes(tl);
}
static uint64_t work_va(const struct tl *tl, const struct fold *fold, uint32_t slice)
{
    return tl_args(tl)->region[1].va + work_at(tl, fold, slice);
}
static struct lp_operand rhd_work(const struct tl *tl, const struct fold *fold, uint32_t slice)
{
    return tl_hbm((uint32_t)tl_args(tl)->region[1].pa + work_at(tl, fold, slice));
}

/* The slices that virtual rank `of` keeps in the step at `distance`. */
struct range {
    uint32_t first, end;
};
static struct range kept(const struct fold *fold, uint32_t of, uint32_t distance)
{
    const uint32_t low = of & ~(distance - 1);
    return (struct range){slices_before(fold, low), slices_before(fold, low + distance)};
}

static void put_range(struct tl *tl, const struct fold *fold, uint32_t to, struct lp_operand src,
                      struct range range)
{
    tl_put_reduce(tl, to, (enum lp_math)tl_args(tl)->math, rhd_work(tl, fold, range.first), src,
                  (range.end - range.first) * rs_slice_bytes(tl));
}

/* ---- the first step: from the input ---------------------------------------------------------- */

/* Prepares slices f->low .. f->low + f->count - 1 and notifies f->s, a PE, of each. */
static enum tl_status prepare_stream(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    const struct fold fold = fold_of(tl);
    TL_BEGIN(&f->line);
    for (f->i = f->low; f->i < f->low + f->count; f->i++) {
        if (!f->prepared)
            TL_CALL(&f->line, tl_copy(tl, work_va(tl, &fold, f->i), rs_slice_va(tl, f->i),
                                      rs_slice_bytes(tl)));
        TL_CALL(&f->line, tl_notify(tl, f->s, RS_READY));
    }
    TL_END(&f->line);
}
static enum tl_status (*const streams[])(struct tl *tl, void *frame) = {prepare_stream};

/* Puts slices of the input, or of the working copy once it is made, as `to` is ready. */
static enum tl_status send_slices(struct tl *tl, struct rs_frame *f, uint32_t to,
                                  struct range range)
{
    const struct fold fold = fold_of(tl);
    TL_BEGIN(&f->part);
    for (f->i = range.first; f->i < range.end; f->i++) {
        TL_CALL(&f->part, tl_wait_notify(tl, to, RS_READY));
        TL_CALL(&f->part, put_range(tl, &fold, to,
                                    f->prepared ? rhd_work(tl, &fold, f->i) : rs_slice(tl, f->i),
                                    (struct range){f->i, f->i + 1}));
    }
    TL_CALL(&f->part, tl_notify(tl, to, RS_DATA));
    TL_END(&f->part);
}

/* The odd rank of a pair: all it has goes to the even one, which sends back a slice. */
static enum tl_status fold_away(struct tl *tl, struct rs_frame *f)
{
    TL_BEGIN(&f->stage);
    TL_RUN(&f->stage, send_slices(tl, f, my_mate_pe(tl), (struct range){0, rs_ranks(tl)}));
    TL_CALL(&f->stage, tl_wait_notify(tl, my_mate_pe(tl), RS_DATA));
    TL_END(&f->stage);
}

static void rhd_prepare(struct rs_frame *f, uint32_t pe, struct range range)
{
    f->s = pe;
    f->low = range.first;
    f->count = range.end - range.first;
}

/* The even one: the working copy becomes the sum of both. */
static enum tl_status fold_in(struct tl *tl, struct rs_frame *f)
{
    TL_BEGIN(&f->stage);
    rhd_prepare(f, my_mate_pe(tl), (struct range){0, rs_ranks(tl)});
    TL_CALL(&f->stage, tl_fork(tl, 1));
    TL_CALL(&f->stage, tl_wait_notify(tl, my_mate_pe(tl), RS_DATA));
    TL_CALL(&f->stage, tl_join(tl));
    f->prepared = true;
    TL_END(&f->stage);
}

static enum tl_status first_step(struct tl *tl, struct rs_frame *f)
{
    const struct fold fold = fold_of(tl);
    const uint32_t distance = fold.p / 2, other = fold.me ^ distance;
    const uint32_t partner = pe_of_virtual(tl, &fold, other);
    TL_BEGIN(&f->stage);
    rhd_prepare(f, partner, kept(&fold, fold.me, distance));
    TL_CALL(&f->stage, tl_fork(tl, 1));
    TL_RUN(&f->stage, send_slices(tl, f, partner, kept(&fold, other, distance)));
    TL_CALL(&f->stage, tl_wait_notify(tl, partner, RS_DATA));
    TL_CALL(&f->stage, tl_join(tl));
    TL_END(&f->stage);
}

/* ---- the later steps: in the working copy ---------------------------------------------------- */

static enum tl_status later_step(struct tl *tl, struct rs_frame *f)
{
    const struct fold fold = fold_of(tl);
    const uint32_t other = fold.me ^ f->distance, partner = pe_of_virtual(tl, &fold, other);
    const struct range range = kept(&fold, other, f->distance);
    TL_BEGIN(&f->stage);
    TL_CALL(&f->stage, tl_notify(tl, partner, RS_READY));
    TL_CALL(&f->stage, tl_wait_notify(tl, partner, RS_READY));
    TL_CALL(&f->stage, put_range(tl, &fold, partner, rhd_work(tl, &fold, range.first), range));
    TL_CALL(&f->stage, tl_notify(tl, partner, RS_DATA));
    TL_CALL(&f->stage, tl_wait_notify(tl, partner, RS_DATA));
    TL_END(&f->stage);
}

/* The result, and the odd one's. */
static enum tl_status rhd_finish(struct tl *tl, struct rs_frame *f)
{
    const struct fold fold = fold_of(tl);
    const uint32_t rank = tl_args(tl)->rank;
    TL_BEGIN(&f->stage);
    if (fold.is_pair) {
        TL_CALL(&f->stage, tl_put(tl, my_mate_pe(tl), rs_output(tl), rhd_work(tl, &fold, rank + 1),
                                  rs_slice_bytes(tl)));
        TL_CALL(&f->stage, tl_notify(tl, my_mate_pe(tl), RS_DATA));
    }
    TL_CALL(&f->stage, tl_copy(tl, rs_output_va(tl),
                               fold.p > 1 ? work_va(tl, &fold, rank) : rs_slice_va(tl, rank),
                               rs_slice_bytes(tl)));
    TL_END(&f->stage);
}

static enum tl_status rhd_run(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    const struct fold fold = fold_of(tl);
    TL_BEGIN(&f->line);
    tl_phase(tl, FOLD);
    if (fold.is_odd) {
        TL_RUN(&f->line, fold_away(tl, f));
    } else {
        if (fold.is_pair)
            TL_RUN(&f->line, fold_in(tl, f));
        tl_phase(tl, FIRST_STEP);
        if (fold.p > 1)
            TL_RUN(&f->line, first_step(tl, f));
        tl_phase(tl, LATER_STEPS);
        for (f->distance = fold.p / 4; f->distance > 0; f->distance /= 2)
            TL_RUN(&f->line, later_step(tl, f));
        tl_phase(tl, COPY);
        TL_RUN(&f->line, rhd_finish(tl, f));
    }
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "rhd",
                                        .frame_bytes = sizeof(struct rs_frame),
                                        .run = rhd_run,
                                        .stream = streams,
                                        .stream_count = 1,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

/* ---- host side ------------------------------------------------------------------------------- */

static struct ccl_rs_needs rhd_needs(const struct ccl_call *call)
{
    const uint32_t n = call->world_size;
    const bool whole = (n & (n - 1)) != 0;
    return (struct ccl_rs_needs){.ranks_min = 1, .slots = whole ? n : n / 2};
}

static int rhd_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    const struct ccl_rs_needs needs = rhd_needs(call);
    return ccl_rs_check(call, &needs, "rhd", refusal);
}

static uint64_t rhd_tcm_bytes(const struct ccl_call *call)
{
    (void)call;
    return 0;
}

static uint64_t rhd_scratch_bytes(const struct ccl_call *call)
{
    const struct ccl_rs_needs needs = rhd_needs(call);
    return ccl_rs_scratch_bytes(call, &needs);
}

/* A partner at each distance, and the other rank of a pair. */
static uint32_t rhd_peers(const struct ccl_call *call)
{
    uint32_t peers = 1;
    for (uint32_t p = call->world_size; p > 1; p /= 2)
        peers++;
    return peers;
}

/* ---- the steps, for estimates ---------------------------------------------------------------- */

static uint32_t described_rank(const struct fold *fold, uint32_t v)
{
    return slices_before(fold, v);
}

/* `slices` go from rank `from` to rank `to`, each when it is ready there. */
static void describe_slices(struct cost_steps *steps, struct cost_put put, uint32_t slices,
                            bool copied)
{
    enum { READY, DATA };
    cost_fork(steps);
    cost_stream(steps);
    for (uint32_t i = 0; i < slices; i++) {
        if (copied)
            cost_copy(steps, put.bytes);
        cost_notify(steps, READY, put.from, put.to);
    }
    cost_stream_end(steps);
    for (uint32_t i = 0; i < slices; i++) {
        cost_wait(steps, READY);
        cost_put(steps, put);
    }
    cost_notify(steps, DATA, put.from, put.to);
    cost_wait(steps, DATA);
    cost_join(steps);
}

/* The step at a distance, of the virtual rank that gets most slices. */
static void describe_step(const struct fold *fold, uint32_t distance, uint64_t slice,
                          struct cost_steps *steps)
{
    const uint32_t v = fold->folded > 0 ? distance : 0; /* the first ranks are pairs */
    const struct range range = kept(fold, v ^ distance, distance);
    struct cost_put put = {.from = described_rank(fold, v),
                           .to = described_rank(fold, v ^ distance),
                           .bytes = slice,
                           .reduce = true};
    if (distance == fold->p / 2) {
        describe_slices(steps, put, range.end - range.first, fold->folded == 0);
        return;
    }
    put.bytes = (range.end - range.first) * slice;
    for (uint32_t queue = 0; queue < 2; queue++) {
        cost_notify(steps, queue, put.from, put.to);
        cost_wait(steps, queue);
        if (queue == 0)
            cost_put(steps, put);
    }
}

static void rhd_steps(const struct ccl_call *call, struct cost_steps *steps)
{
    const struct fold fold = fold_for(call->world_size, 0);
    const uint64_t slice = ccl_rs_slice_bytes(call);
    struct cost_put put = {.from = 1, .to = 0, .bytes = slice, .reduce = true};
    cost_queues(steps, 2);
    if (fold.folded > 0)
        describe_slices(steps, put, fold.ranks, true);
    for (uint32_t distance = fold.p / 2; distance > 0; distance /= 2)
        describe_step(&fold, distance, slice, steps);
    if (fold.folded > 0) {
        put = (struct cost_put){.from = 0, .to = 1, .bytes = slice};
        cost_put(steps, put);
        cost_notify(steps, 0, 0, 1);
        cost_wait(steps, 0);
    }
    cost_copy(steps, slice);
}

static const struct ccl_order order = {.between = CCL_BETWEEN_HALVES, .kept = CCL_KEPT_NONE};

/*
 * With a power of two of ranks there are no pairs: the partner's number is the own one's exclusive
 * or with a distance. Beside that the rank gives numbers of slices, of which a range has as many on
 * every rank, and so places in the input and the scratch: addresses in one HBM slice. So turns are
 * kept that are exclusive ors. With other numbers of ranks, some are folded and some are not.
 */
static bool rhd_folds(const struct ccl_call *call, const struct hw_fold *fold,
                      char why[CCL_FOLD_WHY_BYTES])
{
    if ((call->world_size & (call->world_size - 1)) != 0)
        return fold_refuse(why, "%u ranks are no power of two: some ranks begin in pairs",
                           call->world_size);
    return fold_keeps_bits(fold) ||
           fold_refuse(why, "partners are exclusive ors of ranks' numbers");
}

const struct ccl_algorithm ccl_rhd = {.name = "rhd",
                                      .collective = CCL_REDUCE_SCATTER,
                                      .kernel = &kernel,
                                      .order = &order,
                                      .machine = {.mappers = CCL_RS_MAPPERS,
                                                  .reads = CCL_READS_SLICE_ALIGN,
                                                  .tcm_bytes = rhd_tcm_bytes,
                                                  .scratch_bytes = rhd_scratch_bytes,
                                                  .peers = rhd_peers},
                                      .kernel_args = ccl_rs_kernel_args,
                                      .check = rhd_check,
                                      .takes_part = ccl_rs_takes_part,
                                      .steps = rhd_steps,
                                      .folds = rhd_folds};
