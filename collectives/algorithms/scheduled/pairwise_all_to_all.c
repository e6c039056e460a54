/*
 * pairwise_all_to_all.c: every rank sends each other rank's block straight to it (ALGORITHMS.md).
 * In step k = 1 ... N - 1, rank r sends to rank r + k and receives from rank r - k, so that in each
 * step every rank sends one block and receives one. Several threads share the steps; where there
 * are few steps, and blocks are not short, each block is cut into chunks, and each thread takes
 * one.
 *
 * All ranks share their steps alike, and each thread goes through its steps in one order. So a
 * thread that waits in step k waits for the same thread of another rank, which is in an earlier
 * step or in this one: no thread waits forever.
 *
 * That holds for blocks of any sizes, too, and where some are empty (schedule_messages.h). A step
 * moves no more tiles of a piece than a ring has slots, and no two steps of a thread share a ring.
 * So within a piece no send waits. A thread that waits to receive in step k waits for a thread that
 * has not sent in step k: that one waits in an earlier step, or can continue. Steps of such a chain
 * descend, so it ends at a thread that can continue. Pieces: schedule_rings.h, whose argument does
 * not depend on how many tiles a step moves.
 */
#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule_builder.h"

enum {
    PEERS_MAX = 15, /* of a thread: a PE has 16 directions */
    THREADS_CUT =
        8 /* blocks are cut for at most this many threads: with more, small messages take longer */
};

static const struct ccl_parameter parameters[] = {
    [SCHEDULED_THREADS] = {
        .name = "threads", .type = CCL_PARAMETER_COUNT, .value = 32, .min = 1, .max = 64}};

/*
 * Steps k and N - k have the same two peers. A thread that has both of them needs a queue pair for
 * each peer; a thread that has one of them needs two queue pairs for one step. So where a thread
 * has many steps, it has both.
 */
struct sharing {
    uint32_t threads; /* for each chunk of a block */
    uint32_t chunks;  /* of a block: more than one where each step has a thread of its own */
    bool in_pairs;
};

static uint32_t ceil_quotient(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

/* Peers of the thread that has most, where this many threads share N ranks' steps in pairs. */
static uint32_t peers_in_pairs(uint32_t ranks, uint32_t threads)
{
    const uint32_t pairs = ranks / 2;
    const bool last_alone = ranks % 2 == 0 && (pairs - 1) % threads == 0; /* k = N - k there */
    return 2 * ceil_quotient(pairs, threads) - last_alone;
}

static struct sharing share_steps(const struct ccl_call *call)
{
    const uint32_t ranks = call->world_size, places = hw_cubes(call->hw) * hw_pes(call->hw);
    const bool lanes = scheduled_lanes(call) > 1; /* a thread each */
    uint32_t threads = lanes ? 1
                             : (uint32_t)scheduled_parameter(call, "pairwise_all_to_all",
                                                             parameters, SCHEDULED_THREADS);
    if (ranks < 2)
        return (struct sharing){1, 1, false};
    threads = threads < places ? threads : places;
    if (threads >= ranks - 1) {
        const uint64_t block = call->n_elem / ranks * tl_itemsize(call->dtype);
        const uint32_t chunks = (threads < THREADS_CUT ? threads : THREADS_CUT) / (ranks - 1);
        const bool cut = chunks > 1 && block >= call->ccl->queues.slot_bytes / 2;
        return (struct sharing){ranks - 1, cut ? chunks : 1, false};
    }
    if (2 * ceil_quotient(ranks - 1, threads) <= PEERS_MAX)
        return (struct sharing){threads, 1, false};
    while (!lanes && peers_in_pairs(ranks, threads) > PEERS_MAX)
        threads++;
    return (struct sharing){threads, 1, true};
}

static uint32_t thread_of(const struct ccl_call *call, struct sharing sharing, uint32_t k)
{
    const uint32_t back = call->world_size - k;
    return (sharing.in_pairs && back < k ? back - 1 : k - 1) % sharing.threads;
}

static int pairwise_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    const uint32_t places = hw_cubes(call->hw) * hw_pes(call->hw), ranks = call->world_size;
    const struct sharing sharing = share_steps(call);
    if (sharing.in_pairs && peers_in_pairs(ranks, sharing.threads) > PEERS_MAX) {
        (void)ccl_refuse(refusal, "defaults.mapper",
                         "%s: each PE exchanges its shard's blocks with %u other ranks by queues "
                         "of its own",
                         call->ccl->algorithm, ranks - 1);
        return ccl_legal(refusal, "legal are at most %d ranks; with the mapper leader_only, more",
                         PEERS_MAX + 1);
    }
    if (sharing.threads <= places)
        return CW_OK;
    (void)ccl_refuse(refusal, "defaults.module",
                     "%s: %u ranks need %u PEs in each SIP, and there are %u", call->ccl->algorithm,
                     ranks, sharing.threads, places);
    return ccl_legal(refusal, "legal are fewer ranks, or more PEs");
}

/* One chunk of the blocks that a rank sends and receives in step k. */
struct exchange {
    uint32_t k, ranks, chunk, chunks;
};

static void add_exchange(struct schedule_builder *b, uint32_t rank, uint32_t thread,
                         struct exchange x)
{
    const uint32_t to = (rank + x.k) % x.ranks, from = (rank + x.ranks - x.k) % x.ranks;
    (void)schedule_add(
        b, rank, thread,
        (struct schedule_step){.op = SCHEDULE_SEND,
                               .channel = (uint8_t)x.chunk,
                               .count = 1,
                               .src = {to * x.chunks + x.chunk, SCHEDULE_INPUT, false, {0}},
                               .send_to = to});
    (void)schedule_add(
        b, rank, thread,
        (struct schedule_step){.op = SCHEDULE_RECV,
                               .channel = (uint8_t)x.chunk,
                               .count = 1,
                               .dst = {from * x.chunks + x.chunk, SCHEDULE_OUTPUT, false, {0}},
                               .recv_from = from});
}

static void add_rank(struct schedule_builder *b, const struct ccl_call *call,
                     struct sharing sharing, uint32_t rank)
{
    const uint32_t ranks = call->world_size;
    const uint32_t chunks = sharing.chunks;
    schedule_chunks_of(b, rank, ranks * chunks, ranks * chunks, 0);
    for (uint32_t i = 0; i < sharing.threads * chunks; i++) {
        const uint32_t t = i % sharing.threads, chunk = i / sharing.threads;
        const uint32_t thread = schedule_thread(b, rank, 0);
        for (uint32_t k = 1; k < ranks; k++)
            if (thread_of(call, sharing, k) == t)
                add_exchange(b, rank, thread, (struct exchange){k, ranks, chunk, chunks});
        if (t + 1 == sharing.threads) /* it has no more steps than any other */
            (void)schedule_add(b, rank, thread,
                               (struct schedule_step){
                                   .op = SCHEDULE_COPY,
                                   .count = 1,
                                   .src = {rank * chunks + chunk, SCHEDULE_INPUT, false, {0}},
                                   .dst = {rank * chunks + chunk, SCHEDULE_OUTPUT, false, {0}}});
    }
}

static struct schedule *pairwise_schedule(const struct ccl_call *call, struct cw_error *error)
{
    const struct sharing sharing = share_steps(call);
    struct schedule_builder *const b =
        schedule_builder_create("pairwise_all_to_all", CCL_ALL_TO_ALL, call->world_size, 1);
    for (uint32_t rank = 0; b != NULL && rank < call->world_size; rank++)
        add_rank(b, call, sharing, rank);
    struct schedule *const schedule = schedule_build(b, error);
    if (schedule != NULL)
        schedule->direct = true;
    return schedule;
}

const struct ccl_algorithm ccl_pairwise_all_to_all = {.name = "pairwise_all_to_all",
                                                      .collective = CCL_ALL_TO_ALL,
                                                      .kernel = &schedule_pairs_kernel,
                                                      .machine = SCHEDULED_MACHINE,
                                                      .parameters = parameters,
                                                      .parameter_count = 1,
                                                      .check = pairwise_check,
                                                      .schedule = pairwise_schedule};
