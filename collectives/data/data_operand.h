/*
 * data_operand.h: a data pass from the inside (data_pass.h), and the operands of its operations:
 * where an operand is, its bytes stretch by stretch, and the one limit of storage. For the files of
 * the data pass only.
 *
 * Addresses in a cube's memory: which memory (2 bits), its index (30 bits: PE, or cube for SRAM),
 * byte offset (32 bits).
 */
#ifndef COLLECTIVES_DATA_OPERAND_H
#define COLLECTIVES_DATA_OPERAND_H

#include "collectives/config/ccl_config.h"
#include "collectives/data/data_tiles.h"
#include "collectives/data/dtype.h"
#include "collectives/data/wide_sums.h"
#include "collectives/memory/sparse_memory.h"
#include "core/cw.h"
#include "hw/structure.h"
#include "lp/record.h"

/* The puts of a PE are numbered as tiles of a queue whose direction no tile can have. */
#define DATA_PUTS_DIR 255u

enum memory_kind { MEMORY_TCM, MEMORY_SRAM, MEMORY_HBM };

struct data_joins;
struct data_parcel;
struct data_take;
struct data_waiting;
struct op_log;

/* The contents of one cube: its SRAM, and the HBM slices and TCMs of its PEs. Of the worker that
 * owns the cube's LP; between drains the host's. */
struct data_cube {
    _Alignas(64) struct sparse_memory memory;
    struct tile_queues tiles;
    void *puts; /* JudyL: puts, raw stores, lent values in flight to this cube (data_parcel.h) */
    struct wide_sums wide;
    struct data_waiting *first, *last; /* records that wait, in the order of the LP */
    struct data_take *takes;           /* copies that have been asked for (data_take.h) */
    struct sync_node next; /* in a worker's list, or on its way to one (data_commit.c): */
    bool listed;           /* it is in one of them */
    bool failed;           /* no further record is executed */
    /* written by other workers */
    _Alignas(64) struct sync_pointer inbox; /* parcels: a stack */
};

/* The least failure, in the total order of events. */
struct data_failure {
    struct cw_error error; /* exit_code CW_OK: none */
    struct cw_event event;
};

/* The part of the pass that one worker uses alone. */
struct data_worker {
    _Alignas(128) struct sparse_arena arena;
    struct tile_pool pool;
    struct sync_node *listed; /* the cubes in which records wait, by data_cube.next */
    struct data_failure failure;
    /* written by other workers */
    _Alignas(128) struct sync_pointer moved; /* listed cubes that this worker owns now: a stack */
};

struct data_pass {
    const struct hw_config *hw;
    struct ccl_arithmetic arithmetic;
    struct storage storage;
    struct data_cube *cubes;                          /* [cube_count] */
    struct data_worker *workers;                      /* [worker_count] */
    uint32_t worker_count, cube_count, pe_count, pes; /* pes: in one cube */
    struct data_joins *joins;   /* tiles that switches combine (data_join.h); NULL: none yet */
    struct op_log *log;         /* is notified of the host's changes; NULL: none */
    const struct lp_plan *plan; /* names directions in messages; NULL: built-in names */
    /* A cube's worker; NULL: all records are worker 0's and come in the total order, so none waits.
     */
    uint32_t (*owner)(void *arg, uint32_t cube);
    void *owner_arg;
};

/* The type in which arithmetic leaves its results. */
static inline enum dtype data_type(const struct data_pass *pass, enum dtype dtype)
{
    return dtype_of_results(dtype, pass->arithmetic);
}

/* Where an operation is executed. */
struct data_site {
    struct data_pass *pass;
    struct data_worker *worker;   /* that executes it */
    struct data_cube *cube;       /* of the operation's PE */
    const struct cw_event *event; /* that emitted the record; NULL: records come one after the other
                                     in the total order, and none waits */
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

/* Always CW_NO_RESOURCE, with the limit. */
int data_out_of_storage(const struct data_pass *pass, struct cw_error *error);
/* A stretch of the cube's memory for writing (sparse_memory_touch()). */
static inline uint8_t *data_touch(const struct data_site *site, uint64_t address, size_t want,
                                  size_t *run)
{
    return sparse_memory_touch(&site->cube->memory, &site->worker->arena, address, want, run);
}
/* False: out of storage. */
bool data_store(const struct data_site *site, uint64_t address, const void *src, size_t bytes);
/* The contiguous bytes of a source from `at` on, at most *run of them; *run: how many there are. */
const uint8_t *data_stretch(const struct data_site *site, const struct source *source, size_t at,
                            size_t *run);
void data_gather(const struct data_site *site, const struct source *source, size_t at, uint8_t *dst,
                 size_t bytes);
/* A received tile, which must exist. */
struct tile *data_tile(const struct data_site *site, uint32_t pe, uint32_t seq, uint8_t dir);
/*
 * Binds `bytes` bytes of an operand that has been checked. An operand that overlaps the target (or
 * NULL) is read now, unless it is exactly there and the target allows that. False: out of storage;
 * unbind all the same.
 */
bool data_bind(const struct data_site *site, const struct lp_op *op,
               const struct lp_operand *operand, uint64_t bytes, const struct target *target,
               struct source *source);
/* After the operation: gives back a copy, and a tile after its last use. */
void data_unbind(const struct data_site *site, const struct lp_op *op,
                 const struct lp_operand *operand, const struct source *source);

#endif
