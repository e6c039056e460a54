/*
 * op_log.h: the format of the op log (QUEUES.md, "Op log and the two passes"): all that the data
 * pass has done, in order, so that doing it again ends with the same memory. The same bytes for any
 * number of threads, any mode and any partition.
 *
 * A file is a Zstandard stream; `zstd -dc FILE` shows its content, whose byte offsets messages
 * name. The content is
 *   "cubewarp op log 3\n"
 *   the header: a line of JSON, an object of
 *     version, config_digest, bench, algorithm, dtype, itemsize, redop, seed: of the run
 *     fp8_overflow: "infinity", accumulate: "f32", if that was configured
 *     machine: {sips, cubes (of a SIP), pes (of a cube), tcm_bytes, hbm_bytes (of a PE), sram_bytes
 *     (of a cube)}
 *   records, from a memory of zeros on; then, as the last one, the trailer.
 * A record is a byte for its kind, and numbers. u: unsigned LEB128 (seven bits to a byte, the
 * lowest first; the highest bit: one more follows), no longer than needed; s: signed, as u of
 * (n << 1) ^ (n >> 63).
 *
 *   1..63  a data operation, enum lp_op_kind (lp/record.h):
 *          s t_start_ps less the previous operation's (of the first: 0), s t_end_ps -
 * t_start_ps, u pe, u math, u dtype, u dir, u bytes, u seq, u peer, u peer_dir, then operands a, b,
 * dst: u space + 8 * flags; if that is not 0, u dir and u at. Of a send and a receive (kinds 1 and
 * 2) the tile's shape replaces b: u number of dimensions (1 to 4; 0: not said), u the first, u the
 * second (of one dimension: 0); the last has the other elements. Of four, the first three are in
 * the low 63 bits of the two numbers, 21 bits each, the low ones first, and the second number has
 * the high 32 bits. a of a receive is its slot, peer its sender, peer_dir the direction there. A
 * reader refuses kinds that it does not know, so the format's version stays when a kind is added
 *
 *   64     the kernels of a PE have ended: u pe. With several hardware queues: the last one of
 *          those that ran at the same time
 *
 *   65     the host fills HBM from the seed's stream (input.h):
 *          u pe, u offset, u dtype, u seed, u first, u count of elements
 *
 *   66     the host fills HBM with one value: u pe, u offset, u dtype, u count, f32 (4 bytes)
 *
 *   67     the host writes HBM: u pe, u offset, u bytes (1 to 4096), the bytes
 *
 *   127    the trailer: u number of records before it, data_pass_digest() (8 bytes)
 *
 * Numbers of fixed size are little-endian. Nothing follows the trailer.
 *
 * op_log_write.h writes a log, op_log_read.h reads it, op_replay.h executes it again.
 */
#ifndef COLLECTIVES_OP_LOG_H
#define COLLECTIVES_OP_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/data/dtype.h"
#include "core/cw.h"
#include "hw/hw_config.h"
#include "lp/record.h"

#define OP_LOG_MAGIC            "cubewarp op log 3\n"
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
    struct ccl_arithmetic arithmetic;
    struct hw_config machine; /* structure only: counts and sizes of memories */
};

#endif
