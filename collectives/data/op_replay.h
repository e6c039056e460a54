/*
 * op_replay.h: executes an op log again (op_log.h): the same operations, so the same memory. One
 * thread at a time.
 */
#ifndef COLLECTIVES_OP_REPLAY_H
#define COLLECTIVES_OP_REPLAY_H

#include <stdio.h>

#include "collectives/data/op_log.h"

/* "ipcq_send", ...; NULL: not a kind. */
const char *op_log_kind_name(uint32_t kind);

struct op_log_replay {
    uint64_t bytes_max;                  /* limit on the storage of contents; 0: no limit */
    FILE *listing;                       /* each record as a line of text; NULL: none */
    struct op_log_header header;         /* filled */
    uint64_t counts[OP_LOG_TRAILER + 1]; /* filled: records by kind */
    uint64_t digest, expected;           /* filled: of the memory at the end; the trailer's */
};

/* Executes a log with a data pass of its own. CW_OK does not mean that the digests agree. */
int op_log_replay(FILE *stream, const char *name, struct op_log_replay *replay,
                  struct cw_error *error);

#endif
