/*
 * mesh.c: reduce-scatter for small messages (ALGORITHMS.md): every rank writes each
 * other rank its slice, at once; then each reduces the partials of all ranks, in rank order, by the
 * same tree as birs. Where ranks are on the dies in order, it has birs's bits: neighbours first.
 */
#include "collectives/algorithms/reduce_scatter.h"
#include "collectives/algorithms/reduce_scatter_kernel.h"
#include "collectives/fold/fold_rule.h"

enum phase { COPY, EXCHANGE, FINAL };
static const char *const phase_name[] = {"copy", "exchange", "final reduction"};

/* `ahead` ranks after mine. */
static uint32_t rank_after(const struct tl *tl, uint32_t ahead)
{
    return (tl_args(tl)->rank + ahead) % rs_ranks(tl);
}

static enum tl_status mesh_run(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    const uint32_t me = tl_args(tl)->rank, n = rs_ranks(tl);
    TL_BEGIN(&f->line);
    tl_phase(tl, COPY);
    TL_CALL(&f->line, tl_copy(tl, rs_slot_va(tl, me), rs_slice_va(tl, me), rs_slice_bytes(tl)));
    tl_phase(tl, EXCHANGE);
    for (f->round = 1; f->round < n; f->round++) {
        TL_CALL(&f->line, tl_put(tl, rs_pe_of(tl, rank_after(tl, f->round)), rs_slot(tl, me),
                                 rs_slice(tl, rank_after(tl, f->round)), rs_slice_bytes(tl)));
        TL_CALL(&f->line, tl_notify(tl, rs_pe_of(tl, rank_after(tl, f->round)), RS_DATA));
    }
    for (f->round = 1; f->round < n; f->round++)
        TL_CALL(&f->line, tl_wait_notify(tl, rs_pe_of(tl, rank_after(tl, n - f->round)), RS_DATA));
    tl_phase(tl, FINAL);
    TL_RUN(&f->line, rs_reduce_partials(tl, f, n, rs_slot_va, rs_output_va(tl)));
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "mesh",
                                        .frame_bytes = sizeof(struct rs_frame),
                                        .run = mesh_run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

static struct ccl_rs_needs needs(const struct ccl_call *call)
{
    return (struct ccl_rs_needs){
        .ranks_min = 1, .aligned = true, .slots = call->world_size, .tcm_tiles = call->world_size};
}

static int mesh_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    const struct ccl_rs_needs n = needs(call);
    return ccl_rs_check(call, &n, "mesh", refusal);
}

static uint64_t mesh_tcm_bytes(const struct ccl_call *call)
{
    return ccl_rs_tcm_bytes(call, call->world_size);
}

static uint64_t mesh_scratch_bytes(const struct ccl_call *call)
{
    const struct ccl_rs_needs n = needs(call);
    return ccl_rs_scratch_bytes(call, &n);
}

static uint32_t mesh_peers(const struct ccl_call *call) { return call->world_size - 1; }

static void mesh_steps(const struct ccl_call *call, struct cost_steps *steps)
{
    const uint32_t n = call->world_size;
    const uint64_t slice = ccl_rs_slice_bytes(call);
    cost_queues(steps, n);
    cost_copy(steps, slice);
    for (uint32_t to = 1; to < n; to++) {
        cost_put(steps, (struct cost_put){.from = 0, .to = to, .bytes = slice});
        cost_notify(steps, to, 0, to);
    }
    for (uint32_t from = n; --from > 0;)
        cost_wait(steps, n - from);
    cost_reduce(steps, (struct cost_reduction){.loads = n, .adds = n - 1, .bytes = slice});
}

static const struct ccl_order order = {.between = CCL_BETWEEN_NEIGHBOURS, .kept = CCL_KEPT_LEFT};

/*
 * Peers are `round` ranks ahead, modulo the number of ranks, in the order of rounds. Beside that
 * the rank gives numbers of slices and slots: addresses in one HBM slice. So turns are kept that
 * keep the ring of all ranks.
 */
static bool mesh_folds(const struct ccl_call *call, const struct hw_fold *fold,
                       char why[CCL_FOLD_WHY_BYTES])
{
    return fold_keeps_ring(fold, 1, call->world_size) ||
           fold_refuse(why, "peers are so many ranks ahead, round all ranks");
}

const struct ccl_algorithm ccl_mesh = {.name = "mesh",
                                       .collective = CCL_REDUCE_SCATTER,
                                       .kernel = &kernel,
                                       .order = &order,
                                       .machine = {.mappers = CCL_RS_MAPPERS,
                                                   .reads = CCL_READS_SLICE_ALIGN,
                                                   .tcm_bytes = mesh_tcm_bytes,
                                                   .scratch_bytes = mesh_scratch_bytes,
                                                   .peers = mesh_peers},
                                       .kernel_args = ccl_rs_kernel_args,
                                       .check = mesh_check,
                                       .takes_part = ccl_rs_takes_part,
                                       .steps = mesh_steps,
                                       .folds = mesh_folds};
