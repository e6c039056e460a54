/*
 * model_figures.h: the figures that go into the model of the engine (engine_model.h), and those
 * that come out of it. Plain data.
 */
#ifndef PERF_MODEL_FIGURES_H
#define PERF_MODEL_FIGURES_H

#include "perf/projection.h"
#include "perf/socket_layout.h"

/* Seconds, on one core, unless said otherwise. */
struct perf_engine_costs {
    double event_factor;  /* a trace's event cost -> the cost of a safe event on a worker */
    double turn_s;        /* of a turn, without events */
    double short_share;   /* a short turn, as a part of turn_s */
    double look_s;        /* of a turn, for each other worker that it looks at */
    double idle_s;        /* the pause of a turn that found nothing */
    double message_s;     /* a message: sending and receiving together, without moving lines */
    double message_lines; /* cache lines that a message moves and the two workers wait for */
    double mail_lines;    /* the same for a mailbox with messages: their count, and the first one */
    double promise_lines; /* the same for a promise that has risen, for each worker that looks */
    double round_s;       /* of a round of GVT, for each worker */
    double round_other_s; /* the same, for each other worker */
    double undo_share;    /* an event that is handled speculatively costs so much more */
    double listen_s;      /* an event of the listener, in order and freed: the workers share it */
    double listen_level_s;  /* the same, for each doubling of the workers' lists that are merged */
    double listen_serial_s; /* and handled, by one thread */
    double call_lines;      /* lines that a call of all workers moves, for each other worker */
};

struct perf_engine_run {
    const struct perf_trace *trace;
    const double *cost_s; /* [65,536] by type, in a sequential run */
    uint32_t lp_count, workers;
    const uint32_t *lp_worker; /* [lp_count] */
    const int64_t *least_ps;   /* [from * workers + to] */
    uint32_t listener;         /* 1 + the LP whose events are handled behind all; 0: none */
    bool speculates;           /* adaptive; else conservative */
    bool takes_short_turns;    /* no sink for records on each worker (core/ENGINE.md) */
    struct perf_engine_costs costs;
    const struct perf_socket_layout *layout; /* of at least so many cores */
};

/* Sums over all workers, but for `took_s`. The shares of the workers' time add up to
 * workers * took_s. */
struct perf_engine_figures {
    double took_s;      /* wall time of all drains */
    double handling_s;  /* the events' cost in a sequential run */
    double overhead_s;  /* added to them by the parallel mode */
    double messages_s;  /* sending and receiving */
    double lines_s;     /* waiting for cache lines */
    double turns_s;     /* turns that handled events, without these */
    double rounds_s;    /* of GVT */
    double undone_s;    /* events that were undone */
    double waiting_s;   /* turns that found nothing */
    double imbalance_s; /* part of waiting_s: the work of the busiest worker less that of each
                           other, drain by drain */
    uint64_t events, messages, turns, turns_short, turns_idle, rounds, speculated, undone;
};

#endif
