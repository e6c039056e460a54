/*
 * op_log_read.h: reads an op log (op_log.h), record by record; each is checked as far as the format
 * goes. One thread at a time; two readers share nothing.
 */
#ifndef COLLECTIVES_OP_LOG_READ_H
#define COLLECTIVES_OP_LOG_READ_H

#include <stdio.h>

#include "collectives/data/op_log.h"

/* One record. A place is given as the writer was given it. */
struct op_log_record {
    uint32_t kind; /* enum op_log_kind; at most OP_LOG_OP_LAST: op */
    struct lp_op op;
    uint32_t pe;
    enum dtype dtype;
    float value;
    uint64_t offset, seed, first;
    uint64_t count; /* of elements, bytes, or records */
    uint64_t digest;
    uint8_t bytes[OP_LOG_WRITE_BYTES_MAX];
};

struct op_log_reader;

/* Reads magic and header; `name` is for messages, and is not copied. NULL: *error says why, with
 * NAME:OFFSET in front where the content is at fault (CW_USAGE). */
struct op_log_reader *op_log_open(FILE *stream, const char *name, struct op_log_header *header,
                                  struct cw_error *error);
void op_log_close(struct op_log_reader *reader); /* accepts NULL; the stream stays open */
/* The next record. The last is the trailer; nothing follows it. */
int op_log_next(struct op_log_reader *reader, struct op_log_record *record, struct cw_error *error);
/* Refuses the record read last: NAME:OFFSET: record N: the fault. Always CW_USAGE. */
int op_log_refuse(const struct op_log_reader *reader, struct cw_error *error, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

#endif
