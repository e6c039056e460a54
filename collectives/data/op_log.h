/*
 * op_log.h: the op log (30-ipcq.md, "Op log and the two passes"): all that the data pass has done,
 * in order, so that doing it again ends with the same memory. The same bytes for any number of
 * threads, any mode and any partition.
 *
 * A file is a Zstandard stream; `zstd -dc FILE` shows its content, whose byte offsets messages
 * name. The content is
 *   "cubewarp op log 1\n"
 *   the header: a line of JSON, an object of
 *     version, config_digest, bench, algorithm, dtype, itemsize, redop, seed: what ran
 *     machine: {sips, cubes (of a SIP), pes (of a cube), tcm_bytes, hbm_bytes (of a PE), sram_bytes
 *     (of a cube)}
 *   records, from a memory of zeros on; then, as the last one, the trailer.
 * A record is a byte for its kind, and numbers. u: unsigned LEB128 (seven bits to a byte, the
 * lowest first; the highest bit: one more follows), no longer than needed; s: signed, as u of
 * (n << 1) ^ (n >> 63).
 *   1..63  a data operation, enum lp_op_kind (lp/record.h): s t_start_ps less that of the operation
 *          before (of the first: 0), s t_end_ps - t_start_ps, u pe, u math, u dtype, u dir, u
 * bytes, u seq, u peer, u peer_dir, then operands a, b, dst: u space + 8 * flags; if that is not 0,
 * u dir and u at 64     the kernels of a PE have ended: u pe 65     the host fills HBM from the
 * seed's stream (60-cli.md, "Inputs"): u pe, u offset, u dtype, u seed, u first, u count of
 * elements 66     the host fills HBM with one value: u pe, u offset, u dtype, u count, f32 (4
 * bytes) 67     the host writes HBM: u pe, u offset, u bytes (1 to 4096), the bytes 127    the
 * trailer: u number of records before it, data_pass_digest() (8 bytes) Numbers of fixed size are
 * little-endian. Nothing follows the trailer.
 *
 * One thread at a time; two logs share nothing.
 */
#ifndef COLLECTIVES_OP_LOG_H
#define COLLECTIVES_OP_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "collectives/data/dtype.h"
#include "core/cw.h"
#include "hw/hw_config.h"
#include "lp/record.h"

#define OP_LOG_MAGIC            "cubewarp op log 1\n"
#define OP_LOG_HEADER_BYTES_MAX 16384u
#define OP_LOG_WRITE_BYTES_MAX  4096u
#define OP_LOG_NAME_BYTES       64u

enum op_log_kind {
    OP_LOG_OP_LAST = 63,
    OP_LOG_KERNEL_ENDED,
    OP_LOG_FILL_INPUT,
    OP_LOG_FILL,
    OP_LOG_WRITE,
    OP_LOG_TRAILER = 127
};

struct op_log_header {
    char version[OP_LOG_NAME_BYTES], config_digest[OP_LOG_NAME_BYTES];
    char bench[OP_LOG_NAME_BYTES], algorithm[OP_LOG_NAME_BYTES];
    enum dtype dtype;
    enum redop redop;
    uint64_t seed;
    struct hw_config machine; /* structure only: counts and sizes of memories */
};

/* ---- writing -------------------------------------------------------------------------------- */

struct op_log;

/* Begins a log on the stream, which must outlive it. NULL, with *error filled: out of memory. */
struct op_log *op_log_create(FILE *stream, const struct op_log_header *header,
                             struct cw_error *error);
void op_log_free(struct op_log *log); /* accepts NULL */

/* What the data pass has done. What cannot be written is known to the stream. */
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

/* ---- reading -------------------------------------------------------------------------------- */

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
/* The next record. The last is the trailer, behind which there is nothing. */
int op_log_next(struct op_log_reader *reader, struct op_log_record *record, struct cw_error *error);
/* Refuses the record read last: NAME:OFFSET: record N: what is wrong. Always CW_USAGE. */
int op_log_refuse(const struct op_log_reader *reader, struct cw_error *error, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

/* "ipcq_send", ...; NULL: no kind. */
const char *op_log_kind_name(uint32_t kind);

/* ---- executing again ------------------------------------------------------------------------ */

struct op_log_replay {
    uint64_t bytes_max;                  /* storage for contents; 0: as much as there is */
    FILE *listing;                       /* each record as a line of text; NULL: none */
    struct op_log_header header;         /* filled */
    uint64_t counts[OP_LOG_TRAILER + 1]; /* filled: records by kind */
    uint64_t digest, expected;           /* filled: of the memory at the end; the trailer's */
};

/* Executes a log with a data pass of its own. CW_OK says nothing of the digests. */
int op_log_replay(FILE *stream, const char *name, struct op_log_replay *replay,
                  struct cw_error *error);

#endif
