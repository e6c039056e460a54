/*
 * study_estimate.h: roughly what a point costs: events, memory, seconds on one thread. It follows
 * from the configuration and the sizes; nothing runs. Events and memory are within a factor of 2
 * for most points (test/estimates).
 */
#ifndef BENCH_STUDY_ESTIMATE_H
#define BENCH_STUDY_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/programs/run_options.h"
#include "bench/study/study.h"
#include "collectives/config/config.h"

struct study_estimate {
    bool is_known; /* false: the point will be refused, or its algorithm says too little */
    double events, seconds;
    uint64_t bytes; /* resident memory of a process that runs the point */
};

struct study_estimate study_estimate(const struct study *study, uint32_t point);
/* Of a run with these options and this configuration. */
struct study_estimate study_estimate_run(const struct run_options *run,
                                         const struct config *config);
/* Shards of a rank's tensor, as the benches lay it out. */
double study_estimate_shards(const struct config *config, enum ccl_collective collective);

/*
 * Which of `count` points agree in all settings that count: first[i] is the smallest k such that
 * points[k] agrees with points[i]. Rarely, two points are taken as equal that are not, so only
 * speed may depend on it. False: no memory.
 */
typedef bool (*study_counts_fn)(const struct study_setting *setting);
bool study_find_alike(const struct study *study, const uint32_t *points, uint32_t count,
                      study_counts_fn counts, uint32_t *first);

/*
 * Estimates `count` points: estimates[i] is for points[i]. Points that differ only in keys that
 * change no size (speeds, latencies, seeds) share one, so that a thousand points take some
 * milliseconds. False: no memory.
 */
bool study_estimate_all(const struct study *study, const uint32_t *points, uint32_t count,
                        struct study_estimate *estimates);

/* Estimates as short texts with a suitable unit: "12.4 M", "1.5 GiB", "3 min". Each returns
 * `text`. */
enum { ESTIMATE_TEXT_BYTES = 32 };
const char *estimate_number_text(double number, char text[ESTIMATE_TEXT_BYTES]);
const char *estimate_bytes_text(double bytes, char text[ESTIMATE_TEXT_BYTES]);
const char *estimate_seconds_text(double seconds, char text[ESTIMATE_TEXT_BYTES]);

#endif
