/*
 * log_test.h: the test that a line of a log names: on a command line, in a banner, in a report of
 * its start. Pure; any thread.
 */
#ifndef BENCH_LOG_TEST_H
#define BENCH_LOG_TEST_H

#include <stdbool.h>
#include <stddef.h>

#include "collectives/algorithm.h"

struct log_test {
    char name[48];            /* "all_reduce_perf", "OSU Allreduce"; "": none is named */
    enum ccl_collective does; /* CCL_COLLECTIVES: what no bench does */
};

/* A cell's word, "all_reduce", "AllGather": false where it names no collective. */
bool log_test_named(const char *name, size_t bytes, struct log_test *test);

/* Whether the line names one test, or one several times. */
bool log_test_read(const char *line, size_t bytes, struct log_test *test);

#endif
