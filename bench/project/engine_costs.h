/*
 * engine_costs.h: the costs of the engine's own work on this machine at this moment, measured by
 * short runs on one thread: several workers that take turns on it send each other messages, look
 * and promise as on threads of their own, but no cache line moves and no worker waits. So these
 * figures do not depend on other cores. Takes some two seconds.
 */
#ifndef BENCH_PROJECT_ENGINE_COSTS_H
#define BENCH_PROJECT_ENGINE_COSTS_H

#include "bench/project/subject.h"
#include "perf/model/engine_model.h"

enum { SUBJECT_PARTS = 11 }; /* up to 1,024 parts */

/* The subject in this process, on one thread. */
struct subject_costs {
    struct cw_stats stats;  /* of a sequential run, the fastest */
    double sequential_s;    /* in drains */
    double adaptive_factor; /* the same of adaptive mode with one worker, over sequential */
    double part_factor[SUBJECT_PARTS]; /* [log2 of the parts]: subject_parts_measure() */
    double listen_s;        /* an event of the listener, on two workers: in order, and freed */
    double listen_serial_s; /* and handled */
    double workers_factor; /* the same with two workers in turn, without their messages and looks */
};

/* The host's own work around the drains, in this process: the least of some runs on one thread,
 * where so many workers take turns. A worker's part of a call is its time there, as it would be on
 * a core of its own. */
struct host_work {
    double work_s;    /* on the workers: of all together */
    double longest_s; /* the same: of the longest worker of each call */
    double serial_s;  /* of work that no worker does */
    double calls;     /* of cw_each_worker() */
};

/* The same phase by phase, and all together. */
struct host_phases {
    const char *name[PROCESS_PHASES_MAX];
    struct host_work phase[PROCESS_PHASES_MAX];
    size_t count;
    struct host_work sum;
};

/* Of any model. */
int engine_costs_measure(struct perf_engine_costs *costs, struct cw_error *error);
int subject_costs_measure(struct subject *subject, const struct perf_engine_costs *costs,
                          struct subject_costs *measured, struct cw_error *error);

int subject_host_measure(struct subject *subject, uint32_t workers, struct host_phases *host,
                         struct cw_error *error);

/* How much cheaper an event is among a part of the LPs, since more of them are in the cache. The
 * cores of a die share a cache, so the part is that of a die's workers together. Measured for
 * PHOLD, by models of a half, a quarter and so on of its size; 1 for other commands. */
int subject_parts_measure(const struct subject *subject, struct subject_costs *measured,
                          struct cw_error *error);
double subject_part_factor(const struct subject_costs *measured, uint32_t workers);

#endif
