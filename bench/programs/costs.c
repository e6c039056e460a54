/*
 * costs.c: runs sizes again with another value of a key, without data and without files, and
 * compares their times (costs.h).
 */
#include "bench/programs/costs.h"

#include <string.h>

#include "bench/programs/bench.h"

#define MUCH 0.1

/* A key, and the value that costs nothing. */
struct cost_key {
    const char *key;
    const char *(*value)(const struct config *config); /* NULL: it costs nothing */
    const char *other;
    void (*change)(struct config *config);
    /* The higher, the more it may cost; 0: nothing. */
    double (*suspicion)(const struct result_row *row);
};

static double share_of(int64_t ps, const struct result_row *row)
{
    return row->time_ps > 0 ? (double)ps / (double)row->time_ps : 0;
}

static const char *credit_value(const struct config *config)
{
    return config->ccl.queues.credit_blocks ? "true" : NULL;
}

static void without_credit_waits(struct config *config)
{
    config->ccl.queues.credit_blocks = false;
}

/* A chain of PEs may wait one after the other, so a fiftieth on one PE may be a tenth in all. */
static double credit_suspicion(const struct result_row *row)
{
    const double share = share_of(row->credit_longest.ps, row);
    return share > 0.02 ? share : 0;
}

static const char *contention_value(const struct config *config)
{
    switch (config->hw.contention) {
    case HW_CONTENTION_MESSAGE:
        return "message";
    case HW_CONTENTION_CHUNK:
        return "chunk";
    case HW_CONTENTION_NONE:
        break;
    }
    return NULL;
}

static void without_contention(struct config *config)
{
    config->hw.contention = HW_CONTENTION_NONE;
}

/* Where no link is busy for long and no message waits for long, waits are rare. */
static double contention_suspicion(const struct result_row *row)
{
    const double busy = row->link_count > 0 ? share_of(row->links[0].busy_ps, row) : 0;
    if (row->queue_ps_max == 0 || (busy < 0.03 && share_of(row->queue_ps_max, row) < 0.005))
        return 0;
    return busy;
}

static const struct cost_key keys[RESULT_COSTS_MAX] = {
    {"defaults.recv_blocks_on_credit", credit_value, "false", without_credit_waits,
     credit_suspicion},
    {"fabric.contention", contention_value, "none", without_contention, contention_suspicion},
};

static void keep_quiet(void *arg, const char *text)
{
    (void)arg;
    (void)text;
}

/* The time of the i-th size alone, in ps; 0: it could not be run. */
static int64_t time_without(const struct cost_key *key, const struct run_options *options,
                            const struct config *config, size_t i)
{
    struct run_options own = *options;
    struct config changed = *config;
    struct result result = {0};
    struct cw_error ignored;
    key->change(&changed);
    if (options->size_count > 0) {
        own.n_elem[0] = options->n_elem[i];
        own.size_count = 1;
    }
    own.no_data = own.quiet = true;
    own.verify_ranks = 0;
    own.verify_data = own.dump_pointers = own.explain = own.trace_links = false;
    own.measured = own.json = own.csv = own.ccl_trace = own.op_log = own.timeline = NULL;
    own.links = own.engine_log = own.engine_trace = own.data_out = NULL;
    memset(own.drawn, 0, sizeof own.drawn);
    own.aside = true;
    own.warn = keep_quiet;
    const int code = bench_run(&own, &changed, &result, &ignored);
    const int64_t ps = code == CW_OK && result.row_count == 1 && result.rows[0].not_run == NULL
                           ? result.rows[0].time_ps
                           : 0;
    result_free(&result);
    return ps;
}

/* Events of the whole run, the shortcuts' included, so that both kinds of runs say the same. */
static uint64_t events_of(const struct result_row *row)
{
    const struct result_simulated sips = row->shortcuts.sips,
                                  iterations = row->shortcuts.iterations;
    double events = (double)row->events;
    if (sips.done > 0)
        events *= (double)sips.of / (double)sips.done;
    if (iterations.done > 0)
        events *= (double)iterations.of / (double)iterations.done;
    return (uint64_t)events;
}

/* Of the rows that may still be tried, the most suspicious; row_count: none. */
static size_t most_suspicious(const struct cost_key *key, const struct result *result,
                              uint64_t events_max, const bool *tried)
{
    size_t most = result->row_count;
    double most_suspicion = 0;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *const row = &result->rows[i];
        const double suspicion = row->not_run == NULL && !tried[i] && events_of(row) <= events_max
                                     ? key->suspicion(row)
                                     : 0;
        if (suspicion > most_suspicion) {
            most = i;
            most_suspicion = suspicion;
        }
    }
    return most;
}

static void find_cost(const struct cost_key *key, const struct run_options *options,
                      const struct config *config, struct result *result)
{
    bool tried[RUN_SIZES_MAX] = {false};
    uint64_t events_max = COSTS_EVENTS_MAX;
    for (;;) {
        const size_t i = most_suspicious(key, result, events_max, tried);
        if (i == result->row_count)
            return;
        const struct result_row *const row = &result->rows[i];
        const int64_t ps = time_without(key, options, config, i);
        const double share = ps > 0 ? 1 - (double)ps / (double)row->time_ps : 0;
        tried[i] = true;
        events_max -= events_of(row);
        if (share > MUCH) {
            result->costs[result->cost_count++] = (struct result_cost){.key = key->key,
                                                                       .value = key->value(config),
                                                                       .other = key->other,
                                                                       .share = share,
                                                                       .row = i};
            return;
        }
    }
}

void costs_find(const struct run_options *options, const struct config *config,
                struct result *result)
{
    const size_t sizes = options->size_count > 0 ? options->size_count : 1;
    if (result->row_count != sizes) /* a bench whose rows are not its sizes */
        return;
    for (size_t k = 0; k < RESULT_COSTS_MAX; k++)
        if (keys[k].value(config) != NULL)
            find_cost(&keys[k], options, config, result);
}
