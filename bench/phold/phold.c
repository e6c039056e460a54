/*
 * phold.c: the two models, and a whole run of one (phold.h).
 */
#include "bench/phold/phold.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/os/clock.h"

#include "core/os/host_limits.h"

/* ---- the models ----------------------------------------------------------------------------- */

enum { MESH_HOPS = 16 };
static const int64_t mesh_round_ps = 1000000;

struct phold_data {
    struct phold_options options;
    uint32_t side;         /* of the torus */
    uint64_t words;        /* of a state, beyond struct phold_state */
    uint64_t grain_rounds; /* of burn() */
    bool has_work;         /* either is not 0 */
    uint32_t hot_lps;      /* this many LPs are hot: the first ones */
};

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* states, payloads and records have none */

/* An LP's state; the rest of state_bytes is an array of words. */
struct phold_state {
    struct cw_rng rng;
    uint64_t number; /* of the next event that this LP sends */
    uint64_t words[];
};
_Static_assert(sizeof(struct phold_state) == PHOLD_STATE_BYTES_MIN, "words follow at once");
#pragma GCC diagnostic pop

/* A chain of dependent multiplications that the compiler can neither skip nor shorten. */
static void burn(uint64_t rounds)
{
    uint64_t x = rounds;
    for (uint64_t i = 0; i < rounds; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
}

/* How many rounds of burn() take that long, by the fastest of a few trials: other programs
 * disturbed it least. */
static uint64_t rounds_of(uint32_t grain_ns)
{
    if (grain_ns == 0)
        return 0;
    const uint64_t trial = 200000;
    double best_s = 1;
    for (int i = 0; i < 5; i++) {
        const double start_s = clock_s();
        burn(trial);
        const double took_s = clock_s() - start_s;
        best_s = took_s < best_s ? took_s : best_s;
    }
    return (uint64_t)((double)grain_ns * 1e-9 / best_s * (double)trial) + 1;
}

static size_t phold_state_bytes(const void *data, uint32_t lp)
{
    (void)lp;
    return ((const struct phold_data *)data)->options.state_bytes;
}

static void phold_init(const void *data, uint32_t lp, void *state)
{
    const struct phold_options *const options = &((const struct phold_data *)data)->options;
    struct phold_state *const mine = state;
    mine->rng = cw_rng_seeded(options->seed, lp);
    mine->number = options->population;
}

/* Does an event's work: the grain, and a change to one word of a state that has more. */
static void phold_work(struct cw_ctx *ctx, const struct phold_data *data,
                       const struct phold_state *state, uint64_t number)
{
    if (data->words > 0)
        ++*CW_MUT(ctx, &state->words[number % data->words]);
    burn(data->grain_rounds);
}

/* The receiver of an event that goes to an LP drawn from all. */
static inline uint32_t draw_receiver(struct cw_rng *rng, const struct phold_data *data)
{
    const struct phold_options *const options = &data->options;
    if (__builtin_expect(data->hot_lps == 0, 1))
        return cw_rng_below(rng, options->lps);
    if (cw_rng_chance(rng, options->hot_share_p32))
        return cw_rng_below(rng, data->hot_lps);
    return data->hot_lps + cw_rng_below(rng, options->lps - data->hot_lps);
}

static void random_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct phold_data *const data = cw_model_data(ctx);
    const struct phold_options *const options = &data->options;
    const struct phold_state *const seen = state;
    struct phold_state *const mine = CW_MUT(ctx, seen);
    const uint64_t number = mine->number++;
    uint32_t to = event->lp;
    if (cw_rng_chance(&mine->rng, options->remote_p32))
        to = draw_receiver(&mine->rng, data);
    const int64_t delay_ps = options->lookahead_ps + cw_rng_exp_ps(&mine->rng, options->mean_ps);
    if (data->has_work)
        phold_work(ctx, data, seen, number);
    cw_send(ctx, to, delay_ps, 0, event->lp, number, NULL, 0);
}

static uint32_t phold_neighbour(uint32_t lp, uint32_t side, uint64_t direction)
{
    const uint32_t x = lp % side, y = lp / side;
    switch (direction) {
    case 0:
        return y * side + (x + 1 == side ? 0 : x + 1);
    case 1:
        return y * side + (x == 0 ? side - 1 : x - 1);
    case 2:
        return (y + 1 == side ? 0 : y + 1) * side + x;
    default:
        return (y == 0 ? side - 1 : y - 1) * side + x;
    }
}

/* The event's type is how many hops the token has made. */
static void mesh_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    static const int64_t delays_ps[4] = {1000, 5000, 50000, 300000};
    const struct phold_data *const data = cw_model_data(ctx);
    const struct phold_state *const seen = state;
    struct phold_state *const mine = CW_MUT(ctx, seen);
    const uint64_t number = mine->number++;
    if (data->has_work)
        phold_work(ctx, data, seen, number);
    if (event->type == MESH_HOPS) {
        const int64_t wait_ps = mesh_round_ps - event->time_ps % mesh_round_ps;
        cw_send(ctx, event->lp, wait_ps, 0, event->lp, number, NULL, 0);
        return;
    }
    const uint64_t random = cw_rng_u64(&mine->rng);
    const uint64_t of_32 = random >> 59;
    const int64_t delay_ps = delays_ps[(of_32 >= 16) + (of_32 >= 26) + (of_32 >= 31)];
    cw_send(ctx, phold_neighbour(event->lp, data->side, random & 3), delay_ps,
            (uint16_t)(event->type + 1), event->lp, number, NULL, 0);
}

/* ---- a run ---------------------------------------------------------------------------------- */

const char *phold_traffic_name(size_t traffic)
{
    static const char *const names[] = {"random", "mesh"};
    return traffic < sizeof names / sizeof *names ? names[traffic] : NULL;
}

struct phold_options phold_defaults(void)
{
    return (struct phold_options){
        .traffic = PHOLD_RANDOM,
        .lps = 4096,
        .population = 16,
        .remote_p32 = 1ull << 30,
        .mean_ps = 1000000,
        .lookahead_ps = 100000,
        .state_bytes = PHOLD_STATE_BYTES_MIN,
        .hot_share_p32 = 1ull << 31,
        .seed = 1,
        .engine = {.end_ps = 100000000, .tuning.pin_workers = true},
    };
}

/* The number of hot LPs: none, or at least one. */
static uint64_t hot_lps(const struct phold_options *options)
{
    const uint64_t lps = (options->lps * options->hot_p32) >> 32;
    return options->hot_p32 > 0 && lps == 0 ? 1 : lps;
}

/* An event's header, and its entry in the pending set. */
enum { EVENT_BYTES_MIN = offsetof(struct cw_event, payload) + 32 };

static uint32_t root(uint32_t square)
{
    uint32_t side = 0;
    while ((uint64_t)(side + 1) * (side + 1) <= square)
        side++;
    return side;
}

/* Refuses a model whose states and events alone need more than the limit: at once, rather than when
 * memory runs out. */
static int phold_check_memory(const struct phold_options *options, struct cw_error *error)
{
    const uint64_t bytes_max = options->engine.memory_bytes_max > 0
                                   ? options->engine.memory_bytes_max
                                   : host_limits_memory_bytes() / 5 * 4;
    const unsigned __int128 bytes =
        (unsigned __int128)options->lps *
        (options->state_bytes + (unsigned __int128)options->population * EVENT_BYTES_MIN);
    if (bytes <= bytes_max)
        return CW_OK;
    const uint64_t needed = bytes < UINT64_MAX ? (uint64_t)bytes : UINT64_MAX;
    return cw_error_set(error, CW_NO_RESOURCE,
                        "out of memory: the simulation needs at least %" PRIu64
                        " bytes for %" PRIu32 " LPs with %" PRIu32
                        " events each, the limit is %" PRIu64 " (--max-memory)",
                        needed, options->lps, options->population, bytes_max);
}

static int phold_check(const struct phold_options *options, struct cw_error *error)
{
    const uint32_t side = root(options->lps);
    if (options->lps == 0)
        return cw_error_set(error, CW_USAGE, "--lps 0: at least 1 is needed");
    if (options->traffic == PHOLD_MESH && (side < 2 || side * side != options->lps))
        return cw_error_set(
            error, CW_USAGE,
            "--lps %" PRIu32 ": a torus needs a square number of LPs from 4 on, such as "
            "%" PRIu32 " or %" PRIu32,
            options->lps, side < 2 ? 4 : side * side, side < 2 ? 9 : (side + 1) * (side + 1));
    if (options->state_bytes < PHOLD_STATE_BYTES_MIN ||
        options->state_bytes > PHOLD_STATE_BYTES_MAX || options->state_bytes % 8 != 0)
        return cw_error_set(error, CW_USAGE,
                            "--state-bytes %" PRIu32 ": a multiple of 8 from %d to %d is needed",
                            options->state_bytes, PHOLD_STATE_BYTES_MIN, PHOLD_STATE_BYTES_MAX);
    if (hot_lps(options) >= options->lps)
        return cw_error_set(error, CW_USAGE,
                            "--hot: all of the %" PRIu32 " LPs are hot; at least one must not be",
                            options->lps);
    if (options->traffic == PHOLD_MESH && options->hot_p32 > 0)
        return cw_error_set(
            error, CW_USAGE,
            "--hot: mesh traffic goes to neighbours; random traffic can have hot LPs");
    if (options->remote_p32 > 1ull << 32)
        return cw_error_set(error, CW_USAGE, "--remote: a probability from 0 to 1 is needed");
    if (options->mean_ps < 0 || options->lookahead_ps < 0 || options->engine.end_ps < 0)
        return cw_error_set(error, CW_USAGE, "times must not be negative");
    if (options->traffic == PHOLD_RANDOM && options->mean_ps == 0 && options->lookahead_ps == 0)
        return cw_error_set(error, CW_USAGE,
                            "--mean 0 --lookahead 0: no time would ever pass; one of them must be "
                            "positive");
    return phold_check_memory(options, error);
}

/* The first events, while they are injected. */
struct first_events {
    struct cw_sim *sim;
    const struct phold_options *options;
    struct cw_error *errors; /* [worker] exit_code CW_OK: none */
};

static int inject_lp(const struct first_events *first, uint32_t lp, struct cw_error *error)
{
    const struct phold_options *const options = first->options;
    struct cw_rng rng = cw_rng_seeded(options->seed, (uint64_t)options->lps + lp);
    for (uint32_t i = 0; i < options->population; i++) {
        int64_t time_ps = 0;
        if (options->traffic == PHOLD_RANDOM &&
            __builtin_add_overflow(options->lookahead_ps, cw_rng_exp_ps(&rng, options->mean_ps),
                                   &time_ps))
            return cw_error_set(error, CW_USAGE,
                                "--lookahead and --mean together overflow the time");
        const int result = cw_inject(first->sim, lp, time_ps, 0, lp, i, NULL, 0, error);
        if (result != CW_OK)
            return result;
    }
    return CW_OK;
}

/* The first events of a worker's LPs, which are consecutive. */
static void inject_own(void *arg, uint32_t worker)
{
    const struct first_events *const first = arg;
    const uint64_t lps = first->options->lps, workers = cw_sim_worker_count(first->sim);
    const uint64_t end = (lps * (worker + 1) + workers - 1) / workers;
    struct cw_error *const error = &first->errors[worker];
    for (uint64_t lp = (lps * worker + workers - 1) / workers; lp < end; lp++)
        if (inject_lp(first, (uint32_t)lp, error) != CW_OK)
            return;
}

/* Each worker makes the first events of its own LPs: their memory is the worker's, and near it. */
static int inject_all(struct cw_sim *sim, const struct phold_options *options,
                      struct cw_error *error)
{
    enum { SHARED_EVENTS_MIN = 16384 /* fewer are not worth waking a thread for */ };
    const uint32_t workers = cw_sim_worker_count(sim);
    struct first_events first = {sim, options, calloc(workers, sizeof *first.errors)};
    if (first.errors == NULL)
        return cw_error_set(error, CW_NO_RESOURCE, "out of memory: %u workers", (unsigned)workers);
    if ((uint64_t)options->lps * options->population >= SHARED_EVENTS_MIN)
        cw_each_worker(sim, inject_own, &first);
    else
        for (uint32_t i = 0; i < workers; i++)
            inject_own(&first, i);
    int result = CW_OK;
    for (uint32_t i = 0; i < workers && result == CW_OK; i++) {
        result = first.errors[i].exit_code;
        if (result != CW_OK)
            *error = first.errors[i];
    }
    free(first.errors);
    return result;
}

uint32_t phold_worker_of(const struct phold_options *options, uint32_t lp, uint32_t threads)
{
    return (uint32_t)((uint64_t)lp * threads / options->lps);
}

int64_t phold_least_delay_ps(const struct phold_options *options)
{
    return options->traffic == PHOLD_MESH ? 1000 : options->lookahead_ps;
}

/* [threads x threads]: every send has at least this delay. NULL if there is no memory for it. */
static int64_t *least_delays(const struct phold_options *options, uint32_t threads)
{
    const size_t pairs = (size_t)threads * threads;
    int64_t *const least_ps = calloc(pairs, sizeof *least_ps);
    for (size_t i = 0; least_ps != NULL && i < pairs; i++)
        least_ps[i] = phold_least_delay_ps(options);
    return least_ps;
}

/* Ends a phase of the process, if phases are wanted. */
static void end_phase(const struct phold_options *options, const char *name,
                      const struct cw_sim *sim)
{
    if (options->phases != NULL)
        process_phase_end(options->phases, name, sim);
}

int phold_run(const struct phold_options *options, enum cw_sync sync, uint32_t threads,
              struct cw_stats *stats, double *setup_s, struct cw_error *error)
{
    if (phold_check(options, error) != CW_OK)
        return error->exit_code;
    const uint64_t words = (options->state_bytes - sizeof(struct phold_state)) / sizeof(uint64_t);
    const struct phold_data data = {
        .options = *options,
        .side = root(options->lps),
        .words = words,
        .grain_rounds = rounds_of(options->grain_ns),
        .has_work = words > 0 || options->grain_ns > 0,
        .hot_lps = (uint32_t)hot_lps(options),
    };
    const struct cw_model model = {
        .name = "phold",
        .data = &data,
        .lp_count = options->lps,
        .state_bytes = phold_state_bytes,
        .init = phold_init,
        .handle = options->traffic == PHOLD_MESH ? mesh_handle : random_handle,
    };
    int64_t *const least_ps = threads > 1 ? least_delays(options, threads) : NULL;
    struct cw_config config = options->engine;
    config.sync = sync;
    config.worker_count = threads;
    config.least_delay_ps = least_ps;
    config.tuning.stress_seed = options->seed;
    const double start_s = clock_s();
    end_phase(options, "preparation", NULL);
    struct cw_sim *const sim = cw_sim_create(&config, &model, error);
    free(least_ps);
    end_phase(options, "states", sim);
    int result = sim == NULL ? error->exit_code : inject_all(sim, options, error);
    *setup_s = clock_s() - start_s;
    end_phase(options, "first events", sim);
    if (result == CW_OK)
        result = cw_drain(sim, error);
    end_phase(options, "events", sim);
    if (sim != NULL)
        cw_sim_stats(sim, stats);
    for (uint32_t i = 0; sim != NULL && options->workers != NULL && i < threads; i++)
        cw_sim_worker_stats(sim, i, &options->workers[i]);
    if (sim != NULL && options->at_end != NULL)
        options->at_end(options->at_end_arg, sim);
    end_phase(options, "figures", sim);
    if (sim != NULL)
        cw_sim_clear(sim);
    end_phase(options, "clearing", sim);
    cw_sim_free(sim);
    end_phase(options, "freeing", NULL);
    return result;
}
