/*
 * test_perf_support.h: runs of the harness, made up.
 */
#ifndef TEST_PERF_SUPPORT_H
#define TEST_PERF_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/perf_run.h"

/* A free machine whose cores are near each other, or far. */
static const struct perf_calibration near_line = {1.0, 2.0, 45.0};
static const struct perf_calibration far_line __attribute__((unused)) = {1.0, 1.9, 205.0};

static inline struct perf_run made_up_run(void)
{
    return (struct perf_run){
        .machine = {.host = "here", .cpu = "a processor", .kernel = "Linux 6", .cores = 2},
        .commit = "0123456789ab",
        .version = "0.1.0",
        .set = "quick",
        .started = "2026-01-02T03:04:05Z",
    };
}

/* Adds a round of so many millions of events per second. */
static inline void add_round(struct perf_case_run *measured, double millions,
                             const struct perf_calibration *calibration, bool disturbed)
{
    const struct perf_sample sample = {
        .round = (uint32_t)measured->sample_count,
        .repeats = disturbed ? 2 : 0,
        .disturbed = disturbed,
        .events_per_s = millions * 1e6,
        .run_s = 0.25,
        .setup_s = 0.125,
        .cpu_s = 0.5,
        .efficiency = 0.75,
        .events = 1000000,
        .rss_bytes = 10485760,
        .before = *calibration,
        .after = *calibration,
    };
    assert_true(perf_case_add(measured, &sample));
}

/* A case on that many threads with five calm rounds. */
static inline struct perf_case_run *add_case(struct perf_run *run, const char *name,
                                             uint32_t threads, const double *millions)
{
    struct perf_case_run *const measured = perf_run_add(run, name, "phold --end 1", threads);
    assert_non_null(measured);
    for (size_t i = 0; i < 5; i++)
        add_round(measured, millions[i], &near_line, false);
    return measured;
}

/* A name in a new folder of its own; remove_temporary() takes both away. */
static inline void temporary(char path[64], const char *name)
{
    snprintf(path, 64, "/tmp/cubewarp-perf-XXXXXX");
    assert_non_null(mkdtemp(path));
    snprintf(path + strlen(path), 64 - strlen(path), "/%s", name);
}

static inline void remove_temporary(char path[64])
{
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
}

#endif
