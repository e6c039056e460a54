/*
 * study_estimate.h: about how much a point costs: events, memory, seconds on one thread. From the
 * configuration and the sizes alone; nothing runs. The constants are measured (study_estimate.c),
 * and hold within a factor of 3 for most points.
 */
#ifndef BENCH_STUDY_ESTIMATE_H
#define BENCH_STUDY_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/programs/run_options.h"
#include "bench/study/study.h"
#include "collectives/config/config.h"

struct study_estimate {
    bool is_known; /* false: the point will be refused, or its algorithm tells too little */
    double events, seconds;
    uint64_t bytes; /* resident memory of a process that runs the point */
};

struct study_estimate study_estimate(const struct study *study, uint32_t point);
/* Of a run with these options and this configuration. */
struct study_estimate study_estimate_run(const struct run_options *run,
                                         const struct config *config);
/* Shards of a rank. An algorithm that goes by cubes or PEs has a shard on each; the entry names a
 * mapper, or the algorithm says which PEs take part. */
double study_estimate_shards(const struct config *config);

/*
 * Which of `count` points agree in all settings that count: first[i] is the least k so that
 * points[k] agrees with points[i]. Seldom two are taken for alike that are not: only speed may
 * depend on it. False: no memory.
 */
typedef bool (*study_counts_fn)(const struct study_setting *setting);
bool study_find_alike(const struct study *study, const uint32_t *points, uint32_t count,
                      study_counts_fn counts, uint32_t *first);

/*
 * Of `count` points: estimates[i] is that of points[i]. Points that differ only in keys that change
 * no size (speeds, latencies, seeds) share one, so that a thousand points take some milliseconds.
 * False: no memory.
 */
bool study_estimate_all(const struct study *study, const uint32_t *points, uint32_t count,
                        struct study_estimate *estimates);

#endif
