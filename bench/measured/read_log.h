/*
 * read_log.h: the tables of a log. Whatever else the log has is passed over; a row that cannot be
 * read is noted with its line.
 */
#ifndef BENCH_READ_LOG_H
#define BENCH_READ_LOG_H

#include "bench/measured/tables.h"

/* text: of log_text(); decimal commas in it become points. CW_OK, CW_USAGE for more than there is
 * room for, CW_NO_RESOURCE. */
int read_log(struct tables *tables, char *text, size_t bytes, struct cw_error *error);

#endif
