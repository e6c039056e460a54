/*
 * phold.h: PHOLD, the standard benchmark of parallel discrete-event engines, and a variant whose
 * tokens hop in lock-step.
 */
#ifndef BENCH_PHOLD_H
#define BENCH_PHOLD_H

#include "bench/output/process_phases.h"
#include "core/cw.h"

enum phold_traffic {
    /* Each event, on arrival, sends one after lookahead + Exp(mean), with probability `remote` to
     * an LP drawn from all, else to its own LP. The draw is uniform. With hot LPs it is one of
     * those with probability `hot_share`, else one of the others. */
    PHOLD_RANDOM,
    /* The event pattern of simulated hardware. LPs on a square torus; each token makes 16 hops to
     * random neighbours, with delays of 1, 5, 50, 300 ns (probabilities 16, 10, 5, 1 of 32), then
     * waits for the next whole microsecond, as all tokens do, and goes again. */
    PHOLD_MESH,
};

struct phold_options {
    struct cw_config engine; /* end_ps, limits, functions; the rest phold_run() sets itself. The
                                first member: bench/options/options_table.c */
    enum phold_traffic traffic;
    uint32_t lps;        /* PHOLD_MESH: a square number */
    uint32_t population; /* events that each LP starts with */
    uint64_t remote_p32; /* probability times 2^32; PHOLD_RANDOM only */
    uint64_t hot_p32;    /* share of the LPs, the first ones, that are hot, times 2^32; 0: none */
    uint64_t hot_share_p32; /* of the remote events they get, times 2^32 */
    int64_t mean_ps;        /* of the exponential part of a delay; PHOLD_RANDOM only */
    int64_t lookahead_ps;   /* least delay; PHOLD_RANDOM only */
    uint32_t state_bytes;   /* of each LP; at least PHOLD_STATE_BYTES_MIN */
    uint32_t grain_ns;      /* additional work of an event, in ns of this machine */
    uint64_t seed;
    struct cw_stats *workers; /* [threads], to be filled with each worker's; NULL: not wanted */
    struct process_phases *phases; /* to be filled from its beginning on; NULL: not wanted */
    /* Called after the drain, also if it has failed, with at_end_arg; NULL: not wanted. */
    void (*at_end)(void *arg, const struct cw_sim *sim);
    void *at_end_arg;
};

enum { PHOLD_STATE_BYTES_MIN = 16, PHOLD_STATE_BYTES_MAX = 1 << 24 };

/* "random", "mesh"; NULL after the last. */
const char *phold_traffic_name(size_t traffic);

/* 4,096 LPs x 16 events, remote 25 %, mean 1 us, lookahead 0.1 us, until 100 us. */
struct phold_options phold_defaults(void);

/* One whole run, in this mode on this many threads. Returns an enum cw_exit. */
int phold_run(const struct phold_options *options, enum cw_sync sync, uint32_t threads,
              struct cw_stats *stats, double *setup_s, struct cw_error *error);

/* LP's worker, and the least delay between workers, as phold_run() gives them to the engine. */
uint32_t phold_worker_of(const struct phold_options *options, uint32_t lp, uint32_t threads);
int64_t phold_least_delay_ps(const struct phold_options *options);

#endif
