/*
 * prediction.h: the speed of a command on machines that are not there: the model of the engine
 * (perf/model/engine_model.h) with this machine's costs, and around it the other parts of the
 * process.
 *
 * One thread.
 */
#ifndef BENCH_PROJECT_PREDICTION_H
#define BENCH_PROJECT_PREDICTION_H

#include "bench/project/engine_costs.h"

/* A process on one thread, in wall time. */
struct process_parts {
    double engine_s; /* in drains */
    double host_s;   /* the host's work that the workers share, on their threads */
    double serial_s; /* all the rest, which one thread does */
};

/* The same on several workers, without the engine. */
struct host_parts {
    double workers_s; /* until the longest worker of each call is done, and to start the calls */
    double serial_s;
};

/* All that a prediction is made from. */
struct prediction_basis {
    struct subject *subject;
    const struct perf_trace *trace;
    struct host_phases host; /* in this process, on one worker */
    struct perf_engine_costs costs;
    struct subject_costs measured;
    struct process_parts parts;
    double data_bytes;  /* memory traffic of all data operations */
    double event_bytes; /* of an event's own data, if they do not fit a cache */
    double *cost_s;     /* [65,536] of an event by its type, in a sequential run */
    double trace_s;     /* the traced events' cost: part of measured.sequential_s */
};

/* Uses of the workers' time, as parts of all workers' time over the whole process. */
enum prediction_share {
    SHARE_EVENTS,    /* handlers, the queue and data, as on one thread; the host's parallel work */
    SHARE_OVERHEAD,  /* added to events by the parallel mode; undone work */
    SHARE_MESSAGES,  /* sending, receiving, and the cache lines that move for them */
    SHARE_LOOKS,     /* turns, promises and rounds of GVT */
    SHARE_IMBALANCE, /* waiting for the busiest worker */
    SHARE_WAITING,   /* other waiting for each other */
    SHARE_MEMORY,    /* waiting for memory beyond a socket's bandwidth */
    SHARE_SERIAL,    /* waiting while one thread works */
    SHARES
};
extern const char *const prediction_share_name[SHARES];

struct prediction {
    struct perf_socket_layout layout;
    uint32_t workers;
    struct host_phases host;          /* in this process, on so many workers in turn */
    struct host_parts host_parts;     /* of the process */
    double engine_gain, process_gain; /* over one thread */
    double part_factor;               /* an event's cost on a part of the LPs */
    bool is_gathered;                 /* one worker has all events: several would be slower */
    double share[SHARES];             /* their sum is 1 */
    struct perf_engine_figures figures;
};

/* Computes cost_s and trace_s; prediction_basis_free() frees them. */
int prediction_basis_fill(struct prediction_basis *basis, struct cw_error *error);
void prediction_basis_free(struct prediction_basis *basis);

/* Fills all but layout, workers and host, which the caller gives. */
int predict(const struct prediction_basis *basis, struct prediction *prediction,
            struct cw_error *error);

/* The largest part of the workers' time that is no event. */
enum prediction_share prediction_limit(const struct prediction *prediction);

#endif
