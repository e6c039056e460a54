/*
 * data_operand.h: a data pass from the inside (data_pass.h), and the operands of its operations:
 * where an operand is, its bytes stretch by stretch, and the one limit of storage. For the files of
 * the data pass only.
 *
 * Addresses in the sparse memory: which memory (2 bits), its index (30 bits: PE, or cube for SRAM),
 * byte offset (32 bits).
 */
#ifndef COLLECTIVES_DATA_OPERAND_H
#define COLLECTIVES_DATA_OPERAND_H

#include "collectives/data/data_tiles.h"
#include "collectives/data/dtype.h"
#include "collectives/data/sparse_memory.h"
#include "core/cw.h"
#include "hw/structure.h"
#include "lp/record.h"

/* Puts under way are tiles in a queue of their sender's, whose direction no tile can have. */
#define DATA_PUTS_DIR 255u

enum memory_kind { MEMORY_TCM, MEMORY_SRAM, MEMORY_HBM };

struct op_log;

struct data_pass {
    const struct hw_config *hw;
    struct sparse_memory *memory;
    struct tiles *tiles;
    struct op_log *log; /* hears of every change; NULL: none */
    uint64_t bytes_max;
    uint32_t pe_count, pes; /* in all; in one cube */
};

/* An operand that an operation reads: a buffer, or memory from an address on. */
struct source {
    const uint8_t *bytes; /* NULL: memory */
    uint64_t address;
    struct tile_buffer *copy; /* to be released after the operation, or NULL */
};

/* A range that an operation will write. `same`: it may read and write there element by element. */
struct target {
    uint64_t address, bytes;
    bool same;
};

static inline uint64_t data_address(enum memory_kind kind, uint32_t index, uint64_t offset)
{
    return (uint64_t)kind << 62 | (uint64_t)index << 32 | offset;
}
uint64_t data_operand_address(const struct data_pass *pass, uint32_t pe,
                              const struct lp_operand *operand);

/* Bytes of storage that contents and tiles have taken. */
uint64_t data_bytes_taken(const struct data_pass *pass);
/* Always CW_NO_RESOURCE, with the limit. */
int data_out_of_storage(const struct data_pass *pass, struct cw_error *error);
/* Bytes left of the limit, for tiles. */
uint64_t data_room(const struct data_pass *pass);
/* The tiles' part of the limit has grown: the memory's part shrinks. */
void data_share_limit(struct data_pass *pass);
/* A buffer of the pool, under the one limit; NULL: out of storage. */
struct tile_buffer *data_take(struct data_pass *pass, uint32_t bytes);
/* The contiguous bytes of a source from `at` on, at most *run of them; *run: how many there are. */
const uint8_t *data_stretch(struct data_pass *pass, const struct source *source, size_t at,
                            size_t *run);
void data_gather(struct data_pass *pass, const struct source *source, size_t at, uint8_t *dst,
                 size_t bytes);
/*
 * Binds `bytes` bytes of an operand that has been checked. An operand that overlaps the target (or
 * NULL) is read now, unless it lies exactly there and the target says that this is well. False:
 * out of storage; unbind all the same.
 */
bool data_bind(struct data_pass *pass, const struct lp_op *op, const struct lp_operand *operand,
               uint64_t bytes, const struct target *target, struct source *source);
/* After the operation: gives back a copy, and a tile after its last use. */
void data_unbind(struct data_pass *pass, const struct lp_op *op, const struct lp_operand *operand,
                 const struct source *source);

#endif
