/*
 * chart_frame.h: the frame of a static chart: scales, ticks, titles of axes, lines and markers, as
 * SVG inside of a page. Colours are the classes c0 to c7 of page.css around a line; each series has
 * a marker of its own form, too.
 */
#ifndef BENCH_CHART_FRAME_H
#define BENCH_CHART_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CHART_SERIES = 8, CHART_TICKS = 16 };

/* One axis of a chart. */
struct chart_scale {
    double least, most; /* of the data, then of the axis */
    bool is_log;
    double from, to; /* pixels */
};

/* Whether values in ascending order, as ticks of an axis, leave room for their labels. */
bool chart_fits(const struct chart_scale *scale, const double *values, size_t count);
/* Rounds the ends outwards and lists the ticks: powers of 2 where `of_bytes`, decades with 2 and 5
 * where there are few, round steps where the scale is linear. Returns how many. */
size_t chart_ticks(struct chart_scale *scale, bool of_bytes, double ticks[CHART_TICKS]);
double chart_place(const struct chart_scale *scale, double value);

/*
 * A chart: chart_begin(), chart_include() of each value, chart_open(), paths and markers,
 * chart_close(). Scales are logarithmic where the data differ much: times nearly always do.
 */
struct chart {
    FILE *out;
    const char *x_label, *y_label, *y_unit; /* unit "": none */
    bool of_bytes;                          /* x is a size */
    const double *x_values;                 /* ticks of x, if few enough have room; NULL: any */
    size_t x_value_count;
    bool in_order; /* x is a number in a row of events: never logarithmic */
    bool is_free;  /* y need not begin at 0 */
    struct chart_scale x, y;
    char command; /* of the next point of a path */
};

void chart_begin(struct chart *chart);
void chart_include(struct chart_scale *scale, double value); /* NAN: nothing */
/* False: there are no values, and nothing is written. */
bool chart_open(struct chart *chart);
void chart_close(struct chart *chart);
void chart_path_begin(struct chart *chart, const char *class);
void chart_path_point(struct chart *chart, double x, double y); /* NAN: left out */
void chart_path_end(struct chart *chart);
/* The marker of a series at a place in pixels. */
void chart_marker(FILE *out, size_t series, double x, double y, bool is_open);

#endif
