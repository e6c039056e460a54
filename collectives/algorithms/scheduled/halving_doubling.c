/*
 * halving_doubling.c: recursive halving, then recursive doubling (ALGORITHMS.md): ranks whose
 * numbers differ in one bit exchange halves; and, for small tensors, whole tensors.
 */
#include <stdlib.h>

#include "collectives/algorithms/scheduled/ring_order.h"
#include "collectives/algorithms/scheduled/rs_ag.h"
#include "collectives/algorithms/scheduled/scheduled.h"

/* The ranks as places: 2^bits of them, of which the first `folded` have two ranks each. Each bit is
 * a dimension of a part. */
_Static_assert((int)RS_AG_DIMS_MAX >= 32, "each bit of the number of a rank has room");
struct folding {
    uint32_t bits, folded;
    uint32_t *rank, *second; /* [2^bits], [folded] */
};

static bool folding_create(const struct ccl_call *call, struct folding *f, struct cw_error *error)
{
    const uint32_t ranks = call->world_size;
    uint32_t *const order = level_order(call);
    f->bits = (uint32_t)__builtin_ctz(scheduled_power(ranks));
    f->folded = ranks - scheduled_power(ranks);
    f->rank = malloc((size_t)ranks * sizeof *f->rank);
    if (f->rank == NULL) {
        free(order);
        (void)cw_error_memory(error, "a schedule");
        return false;
    }
    f->second = f->rank + (1u << f->bits);
    for (uint32_t i = 0; i < 1u << f->bits; i++)
        f->rank[i] = i < f->folded ? 2 * i : i + f->folded;
    for (uint32_t i = 0; i < f->folded; i++)
        f->second[i] = 2 * i + 1;
    for (uint32_t i = 0; order != NULL && i < ranks; i++) /* both lists, one after the other */
        f->rank[i] = order[f->rank[i]];
    free(order);
    return true;
}

static struct schedule *halving_schedule(const struct ccl_call *call, const char *name,
                                         struct cw_error *error)
{
    struct rs_ag_part part = {0};
    struct folding f = {0};
    if (!folding_create(call, &f, error))
        return NULL;
    part.rank_of = f.rank;
    part.dims = f.bits;
    for (uint32_t d = 0; d < f.bits; d++)
        part.dim[d] =
            (struct rs_ag_dim){.joint = RS_AG_RING, .way = RS_AG_UP, .n = 2, .stride = 1u << d};
    const struct rs_ag plan = {.name = name,
                               .call = call,
                               .parts = 1,
                               .part = &part,
                               .folded = f.folded,
                               .folded_rank = f.second};
    struct schedule *const schedule = rs_ag_schedule(&plan, error);
    free(f.rank);
    return schedule;
}

static int halving_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    const uint32_t n = call->world_size;
    if ((n & (n - 1)) == 0)
        return CW_OK;
    (void)ccl_refuse(refusal, "defaults.world_size", "%u ranks: %s is made for powers of two", n,
                     call->ccl->algorithm);
    (void)ccl_legal(refusal, "%u and %u ranks are legal", scheduled_power(n),
                    2 * scheduled_power(n));
    return ccl_advise(refusal, "--algorithm auto takes one for any number of ranks");
}

static struct schedule *halving_doubling_schedule(const struct ccl_call *call,
                                                  struct cw_error *error)
{
    return halving_schedule(call, "halving_doubling", error);
}

const struct ccl_algorithm ccl_halving_doubling = {.name = "halving_doubling",
                                                   .collective = CCL_ALL_REDUCE,
                                                   .kernel = &schedule_kernel,
                                                   .machine = SCHEDULED_MACHINE,
                                                   .schedule = halving_doubling_schedule};

static struct schedule *halving_reduce_scatter_schedule(const struct ccl_call *call,
                                                        struct cw_error *error)
{
    return halving_schedule(call, "halving_reduce_scatter", error);
}

const struct ccl_algorithm ccl_halving_reduce_scatter = {.name = "halving_reduce_scatter",
                                                         .collective = CCL_REDUCE_SCATTER,
                                                         .kernel = &schedule_kernel,
                                                         .machine = SCHEDULED_MACHINE,
                                                         .check = halving_check,
                                                         .schedule =
                                                             halving_reduce_scatter_schedule};

static struct schedule *doubling_all_gather_schedule(const struct ccl_call *call,
                                                     struct cw_error *error)
{
    return halving_schedule(call, "doubling_all_gather", error);
}

const struct ccl_algorithm ccl_doubling_all_gather = {.name = "doubling_all_gather",
                                                      .collective = CCL_ALL_GATHER,
                                                      .kernel = &schedule_kernel,
                                                      .machine = SCHEDULED_MACHINE,
                                                      .check = halving_check,
                                                      .schedule = doubling_all_gather_schedule};

/* ---- whole tensors --------------------------------------------------------------------------- */

static void add_whole(struct schedule_builder *b, uint32_t rank, enum schedule_op op, uint32_t from,
                      uint32_t to)
{
    (void)schedule_add(b, rank, 0,
                       (struct schedule_step){.op = (uint8_t)op,
                                              .count = 1,
                                              .src = {.buffer = SCHEDULE_OUTPUT},
                                              .dst = {.buffer = SCHEDULE_OUTPUT},
                                              .send_to = to,
                                              .recv_from = from});
}

static void make_doubling(struct schedule_builder *b, const struct folding *f, uint32_t place)
{
    const uint32_t rank = f->rank[place];
    if (place < f->folded) {
        add_whole(b, f->second[place], SCHEDULE_SEND, 0, rank);
        add_whole(b, rank, f->bits > 0 ? SCHEDULE_RECV_REDUCE_COPY_SEND : SCHEDULE_RECV_REDUCE_COPY,
                  f->second[place], f->bits > 0 ? f->rank[place ^ 1] : 0);
    } else if (f->bits > 0) {
        add_whole(b, rank, SCHEDULE_SEND, 0, f->rank[place ^ 1]);
    }
    for (uint32_t d = 0; d < f->bits; d++) {
        const uint32_t partner = f->rank[place ^ 1u << d];
        const bool last = d + 1 == f->bits && place >= f->folded;
        const uint32_t next = d + 1 < f->bits ? f->rank[place ^ 2u << d]
                              : last          ? 0
                                              : f->second[place];
        add_whole(b, rank, last ? SCHEDULE_RECV_REDUCE_COPY : SCHEDULE_RECV_REDUCE_COPY_SEND,
                  partner, next);
    }
    if (place < f->folded)
        add_whole(b, f->second[place], SCHEDULE_RECV, rank, 0);
}

static struct schedule *recursive_doubling_schedule(const struct ccl_call *call,
                                                    struct cw_error *error)
{
    struct folding f = {0};
    if (!folding_create(call, &f, error))
        return NULL;
    struct schedule_builder *const b =
        schedule_builder_create("recursive_doubling", CCL_ALL_REDUCE, call->world_size, 1);
    if (b != NULL)
        schedule_builder_head(b)->in_place = true;
    for (uint32_t rank = 0; b != NULL && rank < call->world_size; rank++) {
        schedule_chunks_of(b, rank, 1, 1, 0);
        (void)schedule_thread(b, rank, 0);
    }
    for (uint32_t place = 0; b != NULL && place < 1u << f.bits; place++)
        make_doubling(b, &f, place);
    free(f.rank);
    return schedule_build(b, error);
}

/* The whole tensor in each step: the least k with 2^k >= N, and folded ranks in addition. */
static double recursive_doubling_moved(const struct ccl_call *call)
{
    double steps = 0;
    for (uint32_t ranks = 1; ranks < call->world_size; ranks *= 2)
        steps++;
    return steps;
}

const struct ccl_algorithm ccl_recursive_doubling = {.name = "recursive_doubling",
                                                     .collective = CCL_ALL_REDUCE,
                                                     .kernel = &schedule_kernel,
                                                     .machine = SCHEDULED_MACHINE,
                                                     .schedule = recursive_doubling_schedule,
                                                     .moved = recursive_doubling_moved};
