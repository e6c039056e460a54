/*
 * link_table.h: --links FILE: for each size of a run, all links that carried something and all PEs
 * that ran a kernel, with their total use and their use over time. Equal ones share a row: links of
 * one name, or PEs, in several cubes and SIPs, whose figures are all equal. bench/FORMATS.md
 * describes the file. Between drains, one thread.
 */
#ifndef BENCH_DRAW_LINK_TABLE_H
#define BENCH_DRAW_LINK_TABLE_H

#include <stdio.h>

#include "bench/draw/machine_use.h"
#include "lp/host/system.h"

/* The collective of a row of the result. */
struct link_table_head {
    const char *collective, *algorithm;
    uint64_t bytes;
    int64_t time_ps; /* of its last iteration: shares are of this time */
};

struct link_table;

struct link_table *link_table_create(void); /* NULL: out of memory */
void link_table_free(struct link_table *table);

/* Adds the use of the machine in its last batch. CW_OK, or out of memory. */
int link_table_add(struct link_table *table, const struct link_table_head *head,
                   const struct lp_system *system, struct machine_use *use, struct cw_error *error);

/* Write errors stay in the stream. */
void link_table_json(FILE *out, const struct link_table *table);
/* With a row of the kind "failed" for each link of this machine that has failed from the start. */
void link_table_csv(FILE *out, const struct link_table *table, const struct hw_config *hw);

#endif
