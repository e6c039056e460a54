/*
 * test_hw_dma.c: which channel gets PE_DMA's engine (lp/QUEUES.md, "PE_DMA"). hw/dma.c computes
 * runs of many chunks at once; here is a literal simulation, chunk by chunk and choice by choice,
 * whose times it must equal to the picosecond, over thousands of random workloads: when each
 * operation is granted its first chunk (a load's request leaves then), and when its last byte has
 * passed.
 */
#include "test/support/test_hw_support.h"

#include "core/cw.h"
#include "hw/dma.h"

enum { REQUESTS_MAX = 32, EVENTS_MAX = 4096 };

/* An operation that enters a channel. */
struct request {
    int64_t at_ps;
    enum hw_vc vc;
    uint32_t bytes;
    uint32_t depth; /* of the event that makes it, among those of its instant */
};

struct workload {
    struct hw_dma_params params;
    bool whole_chunks;
    struct request request[REQUESTS_MAX];
    uint32_t count;
};

/* The times of each operation in a simulation. */
struct outcome {
    int64_t granted_ps[REQUESTS_MAX], done_ps[REQUESTS_MAX];
};

/* ---- events of both simulations: (time, depth, order) -----------------------------------------
 *
 * A choice comes after all events of the depth of its cause, and before those of the next depth.
 */

enum event_kind { REQUEST, CHUNK_END, CHOICE };
struct event {
    int64_t at_ps;
    uint32_t depth, order;
    enum event_kind kind;
    uint32_t arg; /* request number; generation of a run */
};

struct events {
    struct event list[EVENTS_MAX];
    uint32_t count;
    struct cw_rng rng;
};

static bool before(const struct event *a, const struct event *b)
{
    if (a->at_ps != b->at_ps)
        return a->at_ps < b->at_ps;
    if (a->depth != b->depth)
        return a->depth < b->depth;
    if ((a->kind == CHOICE) != (b->kind == CHOICE))
        return a->kind == CHOICE;
    return a->order < b->order;
}

/* Events of equal time and depth come in a random order: the results must not depend on it. */
static void post(struct events *events, int64_t at_ps, uint32_t depth, enum event_kind kind,
                 uint32_t arg)
{
    assert_true(events->count < EVENTS_MAX);
    const uint32_t order = kind == REQUEST ? arg : cw_rng_below(&events->rng, REQUESTS_MAX);
    events->list[events->count++] = (struct event){at_ps, depth, order, kind, arg};
}

static bool next_event(struct events *events, struct event *event)
{
    if (events->count == 0)
        return false;
    uint32_t least = 0;
    for (uint32_t i = 1; i < events->count; i++)
        if (before(&events->list[i], &events->list[least]))
            least = i;
    *event = events->list[least];
    events->list[least] = events->list[--events->count];
    return true;
}

static void post_requests(struct events *events, const struct workload *w, uint64_t seed)
{
    events->count = 0;
    events->rng = cw_rng_seeded(seed, 1);
    for (uint32_t i = 0; i < w->count; i++)
        post(events, w->request[i].at_ps, w->request[i].depth, REQUEST, i);
}

/* ---- the literal simulation ------------------------------------------------------------------ */

struct channel {
    uint32_t fifo[REQUESTS_MAX], head, tail;
    uint32_t passed; /* bytes of the first operation */
};

struct oracle {
    const struct workload *w;
    struct events events;
    struct channel channel[HW_VCS];
    bool busy, choosing;
    enum hw_vc running;
    int last;           /* channel that went last, -1: none */
    uint32_t turn_left; /* chunks left to it of its turn */
    uint32_t chunk;     /* bytes of the chunk in progress */
};

static bool waiting(const struct oracle *o, enum hw_vc vc)
{
    return o->channel[vc].head < o->channel[vc].tail;
}

/* ser(n) = ceil(n * num / den) */
static int64_t ser_ps(const struct hw_dma_params *p, uint64_t bytes)
{
    return (int64_t)((bytes * p->rate.num + p->rate.den - 1) / p->rate.den);
}

static enum hw_vc whose_turn(struct oracle *o)
{
    if (!waiting(o, HW_VC_COMPUTE) || !waiting(o, HW_VC_COMM)) {
        o->turn_left = 0; /* alone: no turn */
        return waiting(o, HW_VC_COMPUTE) ? HW_VC_COMPUTE : HW_VC_COMM;
    }
    if (o->turn_left == 0) {
        o->last = o->last == HW_VC_COMPUTE ? HW_VC_COMM : HW_VC_COMPUTE;
        o->turn_left = o->w->params.weight[o->last];
    }
    o->turn_left--;
    return (enum hw_vc)o->last;
}

static void choose_chunk(struct oracle *o, const struct event *event, struct outcome *outcome)
{
    o->choosing = false;
    if (!waiting(o, HW_VC_COMPUTE) && !waiting(o, HW_VC_COMM))
        return;
    o->running = whose_turn(o);
    o->last = (int)o->running;
    const struct channel *c = &o->channel[o->running];
    const uint32_t left = o->w->request[c->fifo[c->head]].bytes - c->passed;
    o->chunk = left < o->w->params.chunk_bytes ? left : o->w->params.chunk_bytes;
    o->busy = true;
    if (c->passed == 0)
        outcome->granted_ps[c->fifo[c->head]] = event->at_ps;
    const int64_t chunk_ps =
        ser_ps(&o->w->params, c->passed + o->chunk) - ser_ps(&o->w->params, c->passed);
    assert_true(chunk_ps > 0);
    post(&o->events, event->at_ps + chunk_ps, 0, CHUNK_END, 0);
}

static void simulate_chunks(const struct workload *w, uint64_t seed, struct outcome *outcome)
{
    static struct oracle o;
    struct event event;
    memset(&o, 0, sizeof o);
    o.w = w;
    o.last = -1;
    post_requests(&o.events, w, seed);
    while (next_event(&o.events, &event)) {
        if (event.kind == CHOICE) {
            choose_chunk(&o, &event, outcome);
            continue;
        }
        if (event.kind == REQUEST) {
            struct channel *c = &o.channel[w->request[event.arg].vc];
            c->fifo[c->tail++] = event.arg;
        } else {
            struct channel *c = &o.channel[o.running];
            c->passed += o.chunk;
            o.busy = false;
            if (c->passed == w->request[c->fifo[c->head]].bytes) {
                outcome->done_ps[c->fifo[c->head++]] = event.at_ps;
                c->passed = 0;
            }
        }
        if (!o.busy && !o.choosing) {
            o.choosing = true;
            post(&o.events, event.at_ps, event.depth + 1, CHOICE, 0);
        }
    }
}

/* ---- hw/dma.c, used as lp/fabric/pe_dma.c uses it
 * --------------------------------------------------- */

struct engine {
    const struct workload *w;
    struct events events;
    struct hw_dma dma;
    uint32_t fifo[HW_VCS][REQUESTS_MAX], head[HW_VCS];
    uint32_t runs;
    struct outcome *outcome;
};

static void post_end(struct engine *e, const struct event *cause, int64_t end_ps)
{
    assert_true(end_ps >= cause->at_ps);
    post(&e->events, end_ps, end_ps > cause->at_ps ? 0 : cause->depth + 1, CHUNK_END,
         e->dma.generation);
}

static void grant(struct engine *e, const struct event *cause)
{
    uint32_t first_bytes[HW_VCS] = {0, 0};
    int64_t grant_ps[HW_VCS];
    for (enum hw_vc vc = 0; vc < HW_VCS; vc++)
        if (e->dma.count[vc] > 0)
            first_bytes[vc] = e->w->request[e->fifo[vc][e->head[vc]]].bytes;
    const int64_t end_ps = hw_dma_grant(&e->dma, &e->w->params, first_bytes, cause->at_ps,
                                        (uint16_t)cause->depth, grant_ps);
    if (end_ps < 0)
        return;
    post_end(e, cause, end_ps);
    for (enum hw_vc vc = 0; vc < HW_VCS; vc++)
        if (grant_ps[vc] >= 0 && e->dma.passed[vc] == 0)
            e->outcome->granted_ps[e->fifo[vc][e->head[vc]]] = grant_ps[vc];
}

static void request_enters(struct engine *e, const struct event *event)
{
    const enum hw_vc vc = e->w->request[event->arg].vc;
    e->fifo[vc][e->head[vc] + (uint32_t)e->dma.count[vc]] = event->arg;
    if (e->dma.count[vc]++ > 0)
        return;
    e->dma.passed[vc] = 0;
    if (e->dma.running == HW_VC_IDLE) {
        grant(e, event);
        return;
    }
    bool regrant;
    const int64_t end_ps =
        hw_dma_newcomer(&e->dma, &e->w->params, vc, event->at_ps, (uint16_t)event->depth, &regrant);
    if (regrant)
        grant(e, event);
    else if (end_ps >= 0)
        post_end(e, event, end_ps);
}

static void run_ends(struct engine *e, const struct event *event)
{
    if (e->dma.generation != event->arg || e->dma.running == HW_VC_IDLE)
        return;
    uint32_t before_bytes;
    const enum hw_vc vc = hw_dma_run_end(&e->dma, &before_bytes);
    const uint32_t request = e->fifo[vc][e->head[vc]];
    const uint32_t passed = e->dma.passed[vc];
    e->runs++;
    assert_true(passed > before_bytes && passed <= e->w->request[request].bytes);
    if (e->w->whole_chunks)
        assert_true(passed - before_bytes <= e->w->params.chunk_bytes);
    if (passed == e->w->request[request].bytes) {
        e->outcome->done_ps[request] = event->at_ps;
        e->head[vc]++;
        e->dma.passed[vc] = 0;
        e->dma.count[vc]--;
    }
    grant(e, event);
}

/* Returns how many runs the engine made. */
static uint32_t simulate_runs(const struct workload *w, uint64_t seed, struct outcome *outcome)
{
    static struct engine e;
    struct event event;
    memset(&e, 0, sizeof e);
    e.w = w;
    e.outcome = outcome;
    hw_dma_init(&e.dma);
    e.dma.whole_chunks = w->whole_chunks;
    post_requests(&e.events, w, seed);
    while (next_event(&e.events, &event)) {
        if (event.kind == REQUEST)
            request_enters(&e, &event);
        else
            run_ends(&e, &event);
    }
    return e.runs;
}

/* ---- worked out by hand: 128 GB/s, chunks of 256 bytes (2 ns), weights 1 : 1 ----------------- */

static struct workload by_hand(uint32_t compute_weight, uint32_t comm_weight)
{
    return (struct workload){.params = {.rate = per_ns(128, 1),
                                        .chunk_bytes = 256,
                                        .weight = {compute_weight, comm_weight}}};
}

static void add(struct workload *w, int64_t at_ps, enum hw_vc vc, uint32_t bytes)
{
    assert_true(w->count < REQUESTS_MAX);
    w->request[w->count++] = (struct request){at_ps, vc, bytes, 0};
}

/* Both the literal simulation and hw/dma.c give these times. */
static void expect_done(const struct workload *w, const int64_t *expected_ps)
{
    for (int whole = 0; whole < 2; whole++) {
        struct workload copy = *w;
        struct outcome literal = {.done_ps = {0}}, runs = literal;
        copy.whole_chunks = whole;
        simulate_chunks(&copy, 1, &literal);
        (void)simulate_runs(&copy, 1, &runs);
        for (uint32_t i = 0; i < w->count; i++) {
            assert_int_equal(literal.done_ps[i], expected_ps[i]);
            assert_int_equal(runs.done_ps[i], expected_ps[i]);
        }
    }
}

static void a_channel_alone_gets_the_whole_engine(void **state)
{
    (void)state;
    struct workload w = by_hand(1, 1);
    add(&w, 1000, HW_VC_COMM, 4096);
    add(&w, 1000, HW_VC_COMM, 16);
    add(&w, 50000, HW_VC_COMM, 1000);
    expect_done(&w, (const int64_t[]){33000, 33125, 57813}); /* 7812.5, rounded up */
}

static void chunks_that_cannot_be_reordered_are_one_run(void **state)
{
    (void)state;
    struct workload alone = by_hand(1, 1), both = by_hand(1, 1);
    struct outcome outcome;
    add(&alone, 0, HW_VC_COMPUTE, 1 << 20);
    assert_int_equal(simulate_runs(&alone, 1, &outcome), 1);
    alone.whole_chunks = true;
    assert_int_equal(simulate_runs(&alone, 1, &outcome), 4096);
    add(&both, 0, HW_VC_COMPUTE, 1 << 20);
    add(&both, 0, HW_VC_COMM, 1 << 20);
    assert_int_equal(simulate_runs(&both, 1, &outcome), 2);
}

static void a_newcomer_waits_for_the_chunk_in_progress_at_most(void **state)
{
    (void)state;
    struct workload w = by_hand(1, 1);
    add(&w, 0, HW_VC_COMPUTE, 4096); /* chunks end at 2, 4, 6, 8 ... */
    add(&w, 7000, HW_VC_COMM, 16);   /* from 8 */
    add(&w, 20000, HW_VC_COMM, 16);  /* chunks end at 2k + .125: from 20.125 */
    expect_done(&w, (const int64_t[]){32250, 8125, 20250});
}

static void a_request_at_a_chunk_s_end_takes_part_in_the_choice(void **state)
{
    (void)state;
    struct workload w = by_hand(1, 1);
    add(&w, 0, HW_VC_COMPUTE, 1024);
    add(&w, 4000, HW_VC_COMM, 256);
    expect_done(&w, (const int64_t[]){10000, 6000});
}

/* The choice at 4 ns is the first event of depth 1. A request of that depth, or a greater one,
 * waits for the next choice, whether chunks are simulated one by one or not. */
static void a_request_behind_the_choice_waits_for_the_next(void **state)
{
    (void)state;
    for (uint32_t depth = 1; depth <= 3; depth++) {
        struct workload w = by_hand(1, 1);
        add(&w, 0, HW_VC_COMPUTE, 1024);
        add(&w, 4000, HW_VC_COMM, 256);
        w.request[1].depth = depth;
        expect_done(&w, (const int64_t[]){10000, 8000});
    }
}

static void compute_goes_first_at_the_very_start(void **state)
{
    (void)state;
    struct workload w = by_hand(1, 1);
    add(&w, 500, HW_VC_COMM, 512); /* enters first, at the same instant */
    add(&w, 500, HW_VC_COMPUTE, 512);
    expect_done(&w, (const int64_t[]){8500, 6500}); /* compute, comm, compute, comm */
}

static void weights_say_how_many_chunks_of_one_then_of_the_other(void **state)
{
    (void)state;
    struct workload w = by_hand(3, 2);
    add(&w, 0, HW_VC_COMPUTE, 7 * 256);
    add(&w, 0, HW_VC_COMM, 3 * 256);
    /* C C C m m C C C m, then C alone */
    expect_done(&w, (const int64_t[]){20000, 18000});
}

static void chunks_passed_while_alone_count_for_no_quota(void **state)
{
    (void)state;
    struct workload w = by_hand(2, 3);
    add(&w, 0, HW_VC_COMPUTE, 6 * 256);
    add(&w, 5000, HW_VC_COMM, 4 * 256);
    /* C C C alone, to 6; then the channel that did not go last, its whole turn: m m m, C C, m, C */
    expect_done(&w, (const int64_t[]){20000, 18000});
}

static void a_turn_ends_when_its_channel_runs_dry(void **state)
{
    (void)state;
    struct workload w = by_hand(3, 1);
    add(&w, 0, HW_VC_COMPUTE, 256);
    add(&w, 0, HW_VC_COMM, 5 * 256);
    add(&w, 5000, HW_VC_COMPUTE, 4 * 256);
    /* C, m m alone to 6 (the second from 4), then C C C, m, C, m m */
    expect_done(&w, (const int64_t[]){2000, 20000, 16000});
}

static void chunks_sum_to_the_serialisation_of_the_whole(void **state)
{
    (void)state;
    struct workload w = by_hand(1, 1);
    w.params.rate = per_ns(3, 1); /* 333.3 ps per byte */
    w.params.chunk_bytes = 1;
    add(&w, 0, HW_VC_COMPUTE, 4); /* its chunks end after 334, 667, 1000, 1334 ps of its own */
    add(&w, 0, HW_VC_COMM, 4);
    /* C 334, m 334, C 333, m 333, C 333, m 333, C 334, m 334 */
    expect_done(&w, (const int64_t[]){2334, 2668});
}

/* ---- against the literal simulation ---------------------------------------------------------- */

static struct workload random_workload(uint64_t seed)
{
    struct cw_rng rng = cw_rng_seeded(seed, 0);
    struct workload w = {
        .params = {.rate = per_ns(1 + cw_rng_below(&rng, 999), 1 + cw_rng_below(&rng, 3)),
                   .chunk_bytes = cw_rng_below(&rng, 2) ? 256 : 1 + cw_rng_below(&rng, 300),
                   .weight = {1 + cw_rng_below(&rng, 4), 1 + cw_rng_below(&rng, 4)}},
        .whole_chunks = cw_rng_below(&rng, 4) == 0};
    const uint32_t count = 1 + cw_rng_below(&rng, REQUESTS_MAX);
    const int64_t chunk_ps = ser_ps(&w.params, w.params.chunk_bytes);
    int64_t at_ps = 0;
    for (uint32_t i = 0; i < count; i++) {
        static const uint32_t chunks_max[] = {2, 6, 20};
        const uint32_t bytes =
            1 + cw_rng_below(&rng, w.params.chunk_bytes * chunks_max[cw_rng_below(&rng, 3)]);
        switch (cw_rng_below(&rng, 5)) {
        case 0: /* with the one before */
            break;
        case 1: /* likely at a chunk's end */
            at_ps += chunk_ps * cw_rng_below(&rng, 8);
            break;
        case 2:
            at_ps += 1 + cw_rng_below(&rng, 3);
            break;
        default:
            at_ps += cw_rng_below(&rng, (uint32_t)chunk_ps * (cw_rng_below(&rng, 20) + 1));
        }
        add(&w, at_ps, (enum hw_vc)cw_rng_below(&rng, HW_VCS), bytes);
        if (cw_rng_below(&rng, 2) == 0)
            w.request[w.count - 1].depth = cw_rng_below(&rng, 4);
    }
    return w;
}

static void check_equal(uint64_t seed, const struct workload *w, const char *what,
                        const int64_t *runs_ps, const int64_t *literal_ps)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (runs_ps[i] != literal_ps[i])
            fail_msg(
                "seed %llu: request %u of %u (%u bytes at %lld ps, channel %d) is %s at %lld "
                "ps, chunk by chunk at %lld; replay: DMA_SEED=%llu build/test/unit/hw/test_hw_dma",
                (unsigned long long)seed, i, w->count, w->request[i].bytes,
                (long long)w->request[i].at_ps, w->request[i].vc, what, (long long)runs_ps[i],
                (long long)literal_ps[i], (unsigned long long)seed);
}

static void check_random_workload(uint64_t seed)
{
    const struct workload w = random_workload(seed);
    struct outcome literal = {.done_ps = {0}}, runs = literal;
    simulate_chunks(&w, seed, &literal);
    (void)simulate_runs(&w, seed + 1, &runs); /* events at one instant in another order */
    check_equal(seed, &w, "granted", runs.granted_ps, literal.granted_ps);
    check_equal(seed, &w, "done", runs.done_ps, literal.done_ps);
}

static void times_equal_those_chunk_by_chunk(void **state)
{
    (void)state;
    const char *replay = getenv("DMA_SEED");
    if (replay != NULL) {
        check_random_workload(strtoull(replay, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= 20000; seed++)
        check_random_workload(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_channel_alone_gets_the_whole_engine),
        cmocka_unit_test(chunks_that_cannot_be_reordered_are_one_run),
        cmocka_unit_test(a_newcomer_waits_for_the_chunk_in_progress_at_most),
        cmocka_unit_test(a_request_at_a_chunk_s_end_takes_part_in_the_choice),
        cmocka_unit_test(a_request_behind_the_choice_waits_for_the_next),
        cmocka_unit_test(compute_goes_first_at_the_very_start),
        cmocka_unit_test(weights_say_how_many_chunks_of_one_then_of_the_other),
        cmocka_unit_test(chunks_passed_while_alone_count_for_no_quota),
        cmocka_unit_test(a_turn_ends_when_its_channel_runs_dry),
        cmocka_unit_test(chunks_sum_to_the_serialisation_of_the_whole),
        cmocka_unit_test(times_equal_those_chunk_by_chunk),
    };
    return cmocka_run_group_tests_name("hw_dma", tests, NULL, NULL);
}
