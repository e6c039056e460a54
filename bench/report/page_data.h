/*
 * page_data.h: a survey as JSON for the page's script. Rows are in columns, values of axes are
 * indices, so that thousands of rows stay small:
 *
 *   {"title", "x": axis,
 *    "axes": [{"name", "label", "unit", "kind", "numeric", "bytes", "varies", "series",
 *              "texts": [values as people read them, ..], "numbers": [where it is numeric, ..]}],
 *    "figures": [{"key", "label", "unit", "better"}],
 *    "points": [{"label", "state", "message", "command"}],
 *    "rows": {"point": [..], "axis": [[value of axis 0 of each row, -1: none], ..],
 *             "figure": [[..], ..], "not_run": [text or null, ..], "flaw": [null or [name, text],
 * ..], "bound_by": [text or null, ..]}, "phases": {"names": [..], "rows": [[name, mean µs, most µs,
 * ..] or null, ..]}, "kinds": the same of link kinds: [name, links, bytes, busy share, ..],
 *    "explain": [object or null, ..],
 *    "steps": [{"point", and of the member `step` of its result all but `operations` and `chart`}],
 *    "charts": [{"point", "chart"}],
 *    "logs": [{"source", "columns": [..], "rows": [[..], ..]}],
 *    "cases": [{"name", "host", "measures": [[started, commit, median, least, most, disturbed,
 *                                          changed]]}]}
 */
#ifndef BENCH_PAGE_DATA_H
#define BENCH_PAGE_DATA_H

#include <stdio.h>

#include "bench/survey/survey.h"

void page_write_data(FILE *out, struct survey *survey, const char *title);

#endif
