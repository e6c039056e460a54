/*
 * test_schedule_messages.c: messages of sizes of their own on the steps of pairwise_all_to_all
 * (schedule_messages.h): how they are cut into pieces, which threads they need, and that random
 * calls move every element once, without a thread that waits forever.
 */
#include "test/support/random_model.h"
#include "test/support/test_config_support.h"

#include "collectives/schedule/schedule_messages.h"

enum { RANKS_MAX = 9, THREADS_MAX = 32, MESSAGES_MAX = 3 * RANKS_MAX, SLOTS_MAX = 4 };

/* A program of pairwise_all_to_all; tiles of 64 bytes. */
struct made {
    struct config *config;
    struct schedule *schedule;
    struct schedule_program *program;
};

static struct made make(uint32_t ranks, uint32_t slots, int64_t threads, uint64_t n_elem)
{
    char count[64], n_slots[64];
    snprintf(count, sizeof count, "system.sips.count=%u", ranks);
    snprintf(n_slots, sizeof n_slots, "defaults.n_slots=%u", slots);
    const char *const sets[] = {count, n_slots, "defaults.slot_size=64"};
    struct made made = {.config = load_with("tiny", sets, 3)};
    const struct ccl_algorithm *const algorithm = ccl_algorithm_find("pairwise_all_to_all");
    struct ccl_config ccl = made.config->ccl;
    struct cw_error error;
    snprintf(ccl.module, sizeof ccl.module, "pairwise_all_to_all");
    ccl.parameter[0] = threads;
    const struct ccl_call call = {.hw = &made.config->hw,
                                  .ccl = &ccl,
                                  .collective = CCL_ALL_TO_ALL,
                                  .world_size = ranks,
                                  .n_elem = n_elem,
                                  .dtype = LP_F16};
    made.schedule = algorithm->schedule(&call, &error);
    if (made.schedule == NULL)
        fail_msg("%s", error.text);
    const struct program_request request = {
        .schedule = made.schedule, .hw = &made.config->hw, .ccl = &made.config->ccl};
    made.program = schedule_program_create(&request, &error);
    if (made.program == NULL)
        fail_msg("%s", error.text);
    return made;
}

static void made_free(struct made made)
{
    schedule_program_free(made.program);
    schedule_free(made.schedule);
    config_free(made.config);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* A tile holds 32 elements of f16, a piece 2 tiles; each pair has one chunk. */
static void pieces_are_numbered_pair_by_pair(void **state)
{
    (void)state;
    struct made made = make(4, 2, 3, 4);
    assert_int_equal(made.program->chunks[SCHEDULE_INPUT], 1);
    assert_int_equal(made.program->piece_tiles, 2);
    struct schedule_message send[] = {
        {.peer = 3, .number = 0, .elems = 65, .dtype = LP_F16},  /* pieces 0 and 1 */
        {.peer = 1, .number = 1, .elems = 1, .dtype = LP_F16},   /* piece 0 */
        {.peer = 3, .number = 2, .elems = 0, .dtype = LP_F16},   /* none */
        {.peer = 3, .number = 3, .elems = 64, .dtype = LP_F32}}; /* 4 tiles: pieces 2 and 3 */
    struct schedule_messages messages = {.send = send, .send_count = 4};
    schedule_messages_lay(made.program, &messages);
    assert_int_equal(messages.pieces, 4);
    assert_int_equal(send[0].number, 1);
    assert_null(schedule_message_find(send, 4, 2, 0));
    assert_null(schedule_message_find(send, 4, 0, 7));
    assert_ptr_equal(schedule_message_find(send, 4, 1, 0), &send[0]);
    assert_ptr_equal(schedule_message_find(send, 4, 1, 5), &send[0]);
    static const uint32_t number_of_piece[] = {0, 0, 3, 3};
    for (uint32_t piece = 0; piece < 4; piece++)
        assert_int_equal(schedule_message_find(send, 4, 3, piece)->number, number_of_piece[piece]);
    made_free(made);
}

/* Step k has thread k - 1; the last thread copies. */
static void threads_without_elements_are_not_needed(void **state)
{
    (void)state;
    struct made made = make(4, 2, 3, 4);
    struct schedule_message send[] = {{.peer = 1, .elems = 5, .dtype = LP_F16},
                                      {.peer = 2, .elems = 0, .dtype = LP_F16}};
    struct schedule_message own[] = {{.peer = 0, .elems = 5, .dtype = LP_F16}};
    struct schedule_messages to = {.send = send, .send_count = 2};
    struct schedule_messages from = {.receive = send, .receive_count = 2};
    struct schedule_messages copy = {
        .send = own, .send_count = 1, .receive = own, .receive_count = 1};
    schedule_messages_lay(made.program, &to);
    for (uint32_t thread = 0; thread < 3; thread++) {
        assert_int_equal(schedule_messages_ways(&to, made.program, 0, thread),
                         thread == 0 ? SCHEDULE_SENDS : 0);
        assert_int_equal(schedule_messages_ways(&from, made.program, 0, thread),
                         thread == 2 ? SCHEDULE_RECEIVES : 0);
        assert_int_equal(schedule_messages_ways(&copy, made.program, 0, thread),
                         thread == 2 ? SCHEDULE_SENDS : 0);
    }
    made_free(made);
}

/* Where a pair has several chunks, a short message leaves the last ones empty. */
static void short_messages_leave_chunks_empty(void **state)
{
    (void)state;
    struct made made = make(2, 2, 8, 4096);
    assert_int_equal(made.program->chunks[SCHEDULE_INPUT], 8);
    struct schedule_message send[] = {{.peer = 1, .elems = 3, .dtype = LP_F16}};
    const struct schedule_messages to = {.send = send, .send_count = 1};
    for (uint32_t thread = 0; thread < 8; thread++)
        assert_int_equal(schedule_messages_ways(&to, made.program, 0, thread),
                         thread < 3 ? SCHEDULE_SENDS : 0);
    made_free(made);
}

/* ---- random calls ---------------------------------------------------------------------------- */

struct tile {
    uint32_t number, count;
    uint64_t first;
};

struct ring {
    struct tile slot[SLOTS_MAX];
    uint32_t sent, received;
};

/* A thread of a rank, on its way, as the kernel goes. */
struct walker {
    uint32_t piece, step, tile;
};

struct run {
    struct made made;
    uint32_t ranks, slots;
    struct schedule_messages messages[RANKS_MAX];
    struct schedule_message send[RANKS_MAX][MESSAGES_MAX], receive[RANKS_MAX][MESSAGES_MAX];
    struct walker walker[RANKS_MAX][THREADS_MAX];
    struct ring ring[RANKS_MAX][RANKS_MAX][THREADS_MAX]; /* [from][to][thread] */
    uint64_t sent, received, copied;                     /* elements */
};

/* The tile that a walker is at; count 0: the step has no more in this piece. */
static struct tile tile_of(const struct run *run, uint32_t rank, const struct walker *at,
                           const struct program_step *step)
{
    const struct schedule_program *const p = run->made.program;
    const struct schedule_messages *const m = &run->messages[rank];
    const uint32_t peer = schedule_message_peer(p, step);
    const struct schedule_message *const message =
        step->op == SCHEDULE_RECV
            ? schedule_message_find(m->receive, m->receive_count, peer, at->piece)
            : schedule_message_find(m->send, m->send_count, peer, at->piece);
    if (message == NULL || at->tile >= p->piece_tiles)
        return (struct tile){0};
    const uint32_t most = p->tile_bytes / tl_itemsize(message->dtype);
    const struct schedule_span span = schedule_message_span(p, message, step);
    const uint64_t before =
        ((uint64_t)(at->piece - message->first_piece) * p->piece_tiles + at->tile) * most;
    const uint64_t left = before < span.count ? span.count - before : 0;
    return (struct tile){message->number, (uint32_t)(left < most ? left : most),
                         span.first + before};
}

/* False: the thread must wait. */
static bool move(struct run *run, uint32_t rank, uint32_t thread, const struct program_step *step,
                 struct tile tile)
{
    const uint32_t peer = schedule_message_peer(run->made.program, step);
    if (step->op == SCHEDULE_SEND) {
        struct ring *const ring = &run->ring[rank][peer][thread];
        if (ring->sent - ring->received == run->slots)
            return false;
        ring->slot[ring->sent++ % run->slots] = tile;
        run->sent += tile.count;
    } else if (step->op == SCHEDULE_RECV) {
        struct ring *const ring = &run->ring[peer][rank][thread];
        if (ring->sent == ring->received)
            return false;
        const struct tile got = ring->slot[ring->received++ % run->slots];
        assert_memory_equal(&got, &tile, sizeof tile);
        run->received += tile.count;
    } else {
        run->copied += tile.count;
    }
    return true;
}

/* True: it has moved something. */
static bool walk(struct run *run, uint32_t rank, uint32_t thread)
{
    const struct program_rank *const r = &run->made.program->rank[rank];
    struct walker *const at = &run->walker[rank][thread];
    bool moved = false;
    for (; at->piece < run->messages[rank].pieces; at->piece++, at->step = 0)
        for (; at->step < r->thread[thread].step_count; at->step++, at->tile = 0) {
            const struct program_step *const step =
                &r->step[r->thread[thread].step_first + at->step];
            for (struct tile tile; (tile = tile_of(run, rank, at, step)).count > 0; at->tile++) {
                if (!move(run, rank, thread, step, tile))
                    return moved;
                moved = true;
            }
        }
    return moved;
}

static bool is_done(const struct run *run)
{
    for (uint32_t rank = 0; rank < run->ranks; rank++)
        for (uint32_t thread = 0; thread < run->made.program->rank[rank].thread_count; thread++)
            if (run->walker[rank][thread].piece < run->messages[rank].pieces)
                return false;
    return true;
}

/* Each pair has up to three messages, most of them short, some empty, in any order of pairs. */
static uint64_t draw_messages(struct run *run, struct cw_rng *rng)
{
    uint64_t elems = 0;
    uint32_t numbers[RANKS_MAX] = {0};
    for (uint32_t i = 0; i < run->ranks * run->ranks; i++) {
        const uint32_t from = i / run->ranks, to = (i + from) % run->ranks;
        for (uint32_t k = cw_rng_below(rng, 4); k > 0; k--) {
            const uint32_t size = cw_rng_below(rng, 3);
            const struct schedule_message message = {
                .number = numbers[from]++,
                .dtype = cw_rng_below(rng, 2) ? LP_F16 : LP_F32,
                .elems = size == 0 ? 0 : cw_rng_below(rng, size == 1 ? 40 : 1500)};
            struct schedule_messages *const s = &run->messages[from], *const r = &run->messages[to];
            s->send[s->send_count] = r->receive[r->receive_count] = message;
            s->send[s->send_count++].peer = to;
            r->receive[r->receive_count++].peer = from;
            elems += message.elems;
        }
    }
    return elems;
}

static void random_calls_move_every_element_once(void **state)
{
    (void)state;
    static const int64_t threads[] = {1, 2, 3, 8, 32};
    for (uint64_t seed = random_from_environment("MESSAGES_SEED", 1), i = 0; i < 300; i++, seed++) {
        struct cw_rng rng = cw_rng_seeded(seed, 1);
        struct run *const run = calloc(1, sizeof *run);
        run->ranks = 1 + cw_rng_below(&rng, RANKS_MAX);
        run->slots = 1 + cw_rng_below(&rng, SLOTS_MAX);
        run->made = make(run->ranks, run->slots, threads[cw_rng_below(&rng, 5)],
                         cw_rng_below(&rng, 2) ? 4096 : 1);
        for (uint32_t rank = 0; rank < run->ranks; rank++) {
            run->messages[rank].send = run->send[rank];
            run->messages[rank].receive = run->receive[rank];
        }
        const uint64_t elems = draw_messages(run, &rng);
        for (uint32_t rank = 0; rank < run->ranks; rank++)
            schedule_messages_lay(run->made.program, &run->messages[rank]);
        for (bool moved = true; moved;) {
            moved = false;
            for (uint32_t rank = 0; rank < run->ranks; rank++)
                for (uint32_t t = 0; t < run->made.program->rank[rank].thread_count; t++)
                    moved = walk(run, rank, t) || moved;
        }
        if (!is_done(run) || run->sent != run->received || run->sent + run->copied != elems)
            fail_msg("MESSAGES_SEED=%llu: %s, %llu of %llu elements", (unsigned long long)seed,
                     is_done(run) ? "done" : "threads wait forever",
                     (unsigned long long)(run->received + run->copied), (unsigned long long)elems);
        made_free(run->made);
        free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_numbered_pair_by_pair),
        cmocka_unit_test(threads_without_elements_are_not_needed),
        cmocka_unit_test(short_messages_leave_chunks_empty),
        cmocka_unit_test(random_calls_move_every_element_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
