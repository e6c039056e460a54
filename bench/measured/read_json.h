/*
 * read_json.h: the results of nccl-tests' JSON (-J) as a table. A result that cannot be read is
 * noted with its index; of a file that is cut off, or damaged, all whole results are read.
 */
#ifndef BENCH_READ_JSON_H
#define BENCH_READ_JSON_H

#include "bench/measured/tables.h"

/* text: of log_text(). CW_OK, CW_USAGE for text that is no such JSON, CW_NO_RESOURCE. */
int read_json(struct tables *tables, const char *text, size_t bytes, struct cw_error *error);

/* Lines of a container's log, each {"log": "...\n", ...}, become the lines that were logged, in
 * place. False: they are no such lines, and the text is as it was. */
bool json_lines_unwrap(char *text, size_t *bytes);

#endif
