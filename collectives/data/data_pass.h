/*
 * data_pass.h: the second pass: executes the committed data operations of lp/record.h on sparse
 * memories that hold every PE's HBM slice and TCM and every cube's SRAM. It knows nothing of time.
 * Values are bound as record.h says: an operation reads its operands entirely before it writes, a
 * send copies, a received tile keeps its value until its last use.
 *
 * While a drain lasts, each worker executes the records of its own cubes (data_commit.h). The
 * functions here are the host's, between drains: several threads may be in functions that change a
 * PE's contents, for different cubes. Two passes share nothing.
 */
#ifndef COLLECTIVES_DATA_PASS_H
#define COLLECTIVES_DATA_PASS_H

#include "collectives/config/ccl_config.h"
#include "collectives/data/dtype.h"
#include "collectives/memory/sparse_memory.h"
#include "core/cw.h"
#include "hw/hw_config.h"
#include "lp/record.h"

struct data_pass;
struct lp_plan;
struct op_log;

/* hw must outlive the pass. bytes_max: limit on the storage of all contents; 0: no limit.
 * worker_count: of the engine. NULL: out of memory. */
struct data_pass *data_pass_create(const struct hw_config *hw, uint64_t bytes_max,
                                   uint32_t worker_count);
/* How records compute; before the first. Not set: all zero. */
void data_pass_set_arithmetic(struct data_pass *pass, struct ccl_arithmetic arithmetic);
/* Before a drain: records will come worker by worker; `owner` is the worker of each cube. */
void data_pass_set_owner(struct data_pass *pass, uint32_t (*owner)(void *arg, uint32_t cube),
                         void *arg);
void data_pass_free(struct data_pass *pass); /* accepts NULL */
/* Frees the contents of one worker's cubes, for all workers at the same time; afterwards only
 * data_pass_free() may be called. */
void data_pass_free_part(struct data_pass *pass, uint32_t worker);

/* Messages name directions as in this install plan, which must outlive the pass. */
void data_pass_set_plan(struct data_pass *pass, const struct lp_plan *plan);

/* The worker of a SIP's first cube. */
uint32_t data_pass_worker_of_sip(const struct data_pass *pass, uint32_t sip);

/* From here on the log records every change that the functions below make (op_log.h). */
void data_pass_log(struct data_pass *pass, struct op_log *log);

/*
 * Executes one operation; they come in the total order. Non-zero, with *error filled: CW_BUG, the
 * record is impossible (a PE, an address or a dtype out of range, a tile that was not sent or has
 * been dropped), and nothing was changed; CW_NO_RESOURCE. The caller that reads records from a file
 * may want another code.
 */
int data_pass_apply(struct data_pass *pass, const struct lp_op *op, struct cw_error *error);

/* The PE's kernel has ended: the tiles it has received are dropped, and a later use is an error. */
void data_pass_end_kernel(struct data_pass *pass, uint32_t pe);

/* Tiles that have been sent and not dropped; bytes of storage taken. */
uint64_t data_pass_tiles(const struct data_pass *pass);
uint64_t data_pass_bytes(const struct data_pass *pass);

/*
 * The host's access to a PE's HBM: `bytes` or `count` elements at a byte offset. The range must lie
 * within the slice: data_pass_in_hbm(). Writes return CW_OK or CW_NO_RESOURCE.
 */
bool data_pass_in_hbm(const struct data_pass *pass, uint32_t pe, uint64_t offset, uint64_t bytes);
/* Several threads may read. */
void data_pass_read(const struct data_pass *pass, uint32_t pe, uint64_t offset, void *dst,
                    size_t bytes);
int data_pass_write(struct data_pass *pass, uint32_t pe, uint64_t offset, const void *src,
                    size_t bytes, struct cw_error *error);
/* The range gets the buffer's bytes, and the buffer the range's. The log does not record it: the
 * same call again, before the machine runs, undoes it. */
int data_pass_exchange(struct data_pass *pass, uint32_t pe, uint64_t offset, uint8_t *buffer,
                       size_t bytes, struct cw_error *error);
/* Elements first .. first + count - 1 of the seed's stream (input.h). */
int data_pass_fill_input(struct data_pass *pass, uint32_t pe, uint64_t offset, enum dtype dtype,
                         uint64_t seed, uint64_t first, uint64_t count, struct cw_error *error);
/* The same, or zeros, called on a worker while other workers fill other cubes. The log does not
 * record it. */
struct data_fill {
    uint32_t pe;
    enum dtype dtype;
    uint64_t offset, seed, first, count;
    bool zero;
};
int data_pass_fill_as(struct data_pass *pass, uint32_t worker, const struct data_fill *fill,
                      struct cw_error *error);
/* Drops the contents of a range: it reads as zeros from then on, and takes no storage. */
int data_pass_forget(struct data_pass *pass, uint32_t pe, uint64_t offset, uint64_t bytes,
                     struct cw_error *error);
/* `count` times the value, rounded to the dtype. */
int data_pass_fill(struct data_pass *pass, uint32_t pe, uint64_t offset, enum dtype dtype,
                   float value, uint64_t count, struct cw_error *error);

/* A range of a PE's HBM, for data_pass_hash(): XXH3 (64 bits) over the ranges one after the other.
 */
struct sparse_range data_pass_range(const struct data_pass *pass, uint32_t pe, uint64_t offset,
                                    uint64_t bytes);
/* Long ranges are hashed on the simulation's workers together; NULL: by the calling thread alone.
 */
uint64_t data_pass_hash(const struct data_pass *pass, const struct sparse_range *ranges,
                        size_t count, struct cw_sim *sim);

/* Of all memories' contents (sparse_memory.h): equal after equal operations. */
uint64_t data_pass_digest(const struct data_pass *pass);

#endif
