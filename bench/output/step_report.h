/*
 * step_report.h: what a step took and where it went, as tables for people and as the member `step`
 * of a result's JSON (bench/FORMATS.md, "A step").
 */
#ifndef BENCH_STEP_REPORT_H
#define BENCH_STEP_REPORT_H

#include <stdio.h>

#include "workload/account/classes.h"
#include "workload/account/critical.h"
#include "workload/account/op_rows.h"
#include "workload/model/fit.h"
#include "workload/run/quotes.h"

struct step_report {
    struct workload_graph graph;
    struct step_modes modes;
    struct step_result result;
    struct workload_meetings meetings;
    struct step_classes classes;
    struct step_op_rows rows;
    struct step_critical critical;
    struct workload_fit fit;
    struct step_quotes quotes;
};

void step_report_free(struct step_report *report); /* accepts NULL */

/* Fills all but `graph`, `modes` and `result` from these. bound: of an operation; NULL: none. CW_OK
 * or CW_NO_RESOURCE. */
int step_report_make(struct step_report *report, const struct hw_config *hw, step_bound_of *bound,
                     void *arg, struct cw_error *error);

void step_report_table(FILE *file, const struct step_report *report);
struct json_t *step_report_json(const struct step_report *report); /* NULL: out of memory */

/* "all-reduce of tp": a label with its set. Returns text. */
const char *step_report_name(const struct workload_graph *graph, uint32_t label, uint32_t set,
                             char *text, size_t size);
/* The same of a row, with its purpose where another row has its label and set. */
const char *step_row_name(const struct step_report *report, const struct step_op_row *row,
                          char *text, size_t size);
const char *step_purpose_name(enum workload_purpose purpose);
/* Of a row; 0: it has no bytes, or took no time. busbw as nccl-tests counts it. */
double step_row_algbw_gbs(const struct step_op_row *row);
double step_row_busbw_gbs(const struct step_op_row *row);
double step_bus_factor(const struct step_op_row *row);

#endif
