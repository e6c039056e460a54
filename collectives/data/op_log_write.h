/*
 * op_log_write.h: writes an op log (op_log.h), of committed operations and of the fills of the
 * host. One thread at a time; two logs share nothing.
 */
#ifndef COLLECTIVES_OP_LOG_WRITE_H
#define COLLECTIVES_OP_LOG_WRITE_H

#include <stdio.h>

#include "collectives/data/op_log.h"

struct op_log;

/* Begins a log on the stream, which must outlive it. NULL, with *error filled: out of memory. */
struct op_log *op_log_create(FILE *stream, const struct op_log_header *header,
                             struct cw_error *error);
void op_log_free(struct op_log *log); /* accepts NULL */

/* A change that the data pass has made. The stream remembers a failed write. */
void op_log_op(struct op_log *log, const struct lp_op *op);
void op_log_kernel_ended(struct op_log *log, uint32_t pe);
void op_log_fill_input(struct op_log *log, uint32_t pe, uint64_t offset, enum dtype dtype,
                       uint64_t seed, uint64_t first, uint64_t count);
void op_log_fill(struct op_log *log, uint32_t pe, uint64_t offset, enum dtype dtype, float value,
                 uint64_t count);
void op_log_write(struct op_log *log, uint32_t pe, uint64_t offset, const void *src, size_t bytes);
/* The trailer. Nothing may be logged afterwards. */
int op_log_finish(struct op_log *log, uint64_t digest, struct cw_error *error);
uint64_t op_log_count(const struct op_log *log); /* of records, without the trailer */

#endif
