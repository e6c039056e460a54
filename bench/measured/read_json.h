/*
 * read_json.h: the results of nccl-tests' JSON (-J) as a table. A result that cannot be read is
 * noted with its index.
 */
#ifndef BENCH_READ_JSON_H
#define BENCH_READ_JSON_H

#include "bench/measured/tables.h"

/* CW_OK, CW_USAGE for text that is no such JSON, CW_NO_RESOURCE. */
int read_json(struct tables *tables, const char *text, size_t bytes, struct cw_error *error);

#endif
