/*
 * curves.h: the curves of a calibration, each a point of its study with a table of measured times,
 * and their rows, one for each measured size.
 */
#ifndef BENCH_CURVES_H
#define BENCH_CURVES_H

#include "bench/measured/measured.h"
#include "bench/study/study.h"
#include "core/cw.h"

/* ROW_FITTED: it counts in the fit. ROW_JUDGED: only in the errors before and after, since it takes
 * many events. ROW_OUT: in nothing. */
enum row_use { ROW_FITTED, ROW_JUDGED, ROW_OUT };

struct curve_row {
    uint32_t curve;
    uint64_t bytes; /* as bandwidths count */
    int64_t measured_ps;
    bool is_shard;   /* its size is given as --bytes, not as --bytes-per-rank */
    uint8_t use;     /* enum row_use */
    char why[200];   /* ROW_OUT: in words */
    uint64_t events; /* of its simulation before the fit; 0: not simulated */
};

struct curve {
    char *label;                    /* "ring LL", or the table's file */
    struct study_settings settings; /* of its runs, without sizes */
    struct measured *measured;
    uint32_t first, count; /* of its rows */
    uint32_t ranks;
};

struct curves {
    const struct study *study;
    struct curve *list; /* [count] */
    uint32_t count;
    struct curve_row *rows; /* [row_count] */
    uint32_t row_count;
};

/* Reads the tables of all points. CW_OK, CW_USAGE or CW_NO_RESOURCE. Release with curves_free() in
 * any case. Remarks about the tables go to standard error. */
int curves_read(const struct study *study, struct curves *curves, struct cw_error *error);
void curves_free(struct curves *curves);

#endif
