/*
 * data_pass.c: executes data operations (data_pass.h). Everything happens in stretches: a range of
 * an address space, or a tile, gives one contiguous piece after the other, and a copy or an
 * addition works on the longest piece that all its operands have there.
 */
#include "collectives/data/data_pass.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/data/data_check.h"
#include "collectives/data/data_matrix.h"
#include "collectives/data/data_operand.h"
#include "collectives/data/input.h"
#include "collectives/data/op_log_write.h"
#include "core/invariant.h"

#define PIECE_BYTES 4096u
/* An input that long is made when it is read: one that is only read takes no storage. */
#define LAZY_BYTES_MIN (64u * 1024)

struct data_pass *data_pass_create(const struct hw_config *hw, uint64_t bytes_max)
{
    assert(hw->hbm_bytes <= (uint64_t)1 << 32 && hw->tcm_bytes <= (uint64_t)1 << 32 &&
           hw->sram_bytes <= (uint64_t)1 << 32 && hw_pe_count(hw) <= 1u << 30);
    struct data_pass *pass = calloc(1, sizeof *pass);
    if (!pass)
        return NULL;
    pass->hw = hw;
    pass->pes = hw_pes(hw);
    pass->pe_count = hw_pe_count(hw);
    pass->bytes_max = bytes_max ? bytes_max : UINT64_MAX;
    pass->memory = sparse_memory_create(pass->bytes_max);
    pass->tiles = tiles_create();
    if (pass->memory && pass->tiles)
        return pass;
    data_pass_free(pass);
    return NULL;
}

void data_pass_free(struct data_pass *pass)
{
    if (!pass)
        return;
    sparse_memory_free(pass->memory);
    tiles_free(pass->tiles);
    free(pass);
}

uint64_t data_pass_tiles(const struct data_pass *pass) { return tiles_alive(pass->tiles); }

uint64_t data_pass_bytes(const struct data_pass *pass) { return data_bytes_taken(pass); }

void data_pass_end_kernel(struct data_pass *pass, uint32_t pe)
{
    tiles_end_kernel(pass->tiles, pe);
    if (pass->log)
        op_log_kernel_ended(pass->log, pe);
}

void data_pass_log(struct data_pass *pass, struct op_log *log) { pass->log = log; }

/* ---- operations ------------------------------------------------------------------------------ */

/* Gives the value of the source a name. The record has been checked. */
static int apply_value(struct data_pass *pass, const struct lp_op *op, struct tile_name to,
                       struct cw_error *error)
{
    struct tile_buffer *buffer;
    if (op->a.space == LP_SPACE_TILE) { /* forwarded: one more name for the same bytes */
        struct tile *tile;
        tiles_find(pass->tiles, (struct tile_name){op->pe, op->a.at, op->a.dir}, &tile);
        tile->received = true;
        buffer = tile->buffer;
        buffer->holders++;
    } else {
        struct source source;
        /* nothing to copy: it cannot fail */
        (void)data_bind(pass, op, &op->a, op->bytes, NULL, &source);
        buffer = data_take(pass, op->bytes);
        if (!buffer)
            return data_out_of_storage(pass, error);
        CW_INVARIANT("I-TILE-2", buffer->holders == 1, "%u holders", buffer->holders);
        data_gather(pass, &source, 0, buffer->bytes, op->bytes);
    }
    uint32_t expected;
    const bool sent = tiles_send(pass->tiles, to, buffer, op->bytes, data_room(pass), &expected);
    data_share_limit(pass);
    tiles_release(pass->tiles, buffer);
    if (!sent && expected == op->seq)
        return data_out_of_storage(pass, error);
    if (!sent && op->kind == LP_OP_PUT)
        return data_impossible(pass, op, error, "put %u is made, but %u is next", op->seq,
                               expected);
    if (!sent)
        return data_impossible(
            pass, op, error, "tile %u of direction %u (%s) of PE index %u is sent, but %u is next",
            op->seq, op->peer_dir, hw_dir_name((enum hw_dir)op->peer_dir), op->peer, expected);
    data_unbind(pass, op, &op->a, &(struct source){0});
    return CW_OK;
}

/* dst <- a source that does not overlap it, or lies exactly there. False: out of storage. */
static bool copy_all(struct data_pass *pass, uint64_t dst, const struct source *source,
                     size_t bytes)
{
    for (size_t done = 0, run; done < bytes; done += run) {
        uint8_t *to = sparse_memory_touch(pass->memory, dst + done, bytes - done, &run);
        if (!to)
            return false;
        const uint8_t *from = data_stretch(pass, source, done, &run);
        if (from != to)
            memcpy(to, from, run);
    }
    return true;
}

static int apply_recv(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    struct tile *tile;
    tiles_find(pass->tiles, (struct tile_name){op->pe, op->seq, op->dir}, &tile);
    tile->received = true;
    if (op->dst.space == LP_SPACE_NONE)
        return CW_OK;
    const struct source value = {.bytes = tile->buffer->bytes};
    return copy_all(pass, data_operand_address(pass, op->pe, &op->dst), &value, op->bytes)
               ? CW_OK
               : data_out_of_storage(pass, error);
}

/* load, store, copy, store_to: they differ in time, and whose memory they write. */
static int apply_move(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    const uint32_t to = op->kind == LP_OP_STORE_TO ? op->peer : op->pe;
    const struct target target = {data_operand_address(pass, to, &op->dst), op->bytes, true};
    struct source a;
    const bool done = data_bind(pass, op, &op->a, op->bytes, &target, &a) &&
                      copy_all(pass, target.address, &a, op->bytes);
    data_unbind(pass, op, &op->a, &a);
    return done ? CW_OK : data_out_of_storage(pass, error);
}

/* One element that lies across the end of a stretch. False: out of storage. */
static bool math_across(struct data_pass *pass, const struct lp_op *op, uint64_t dst,
                        const struct source *a, const struct source *b, size_t at)
{
    const size_t bytes = dtype_bytes((enum dtype)op->dtype);
    uint8_t x[DTYPE_BYTES_MAX], y[DTYPE_BYTES_MAX];
    data_gather(pass, a, at, x, bytes);
    data_gather(pass, b, at, y, bytes);
    dtype_reduce((enum dtype)op->dtype, (enum redop)op->math, x, x, y, 1);
    return sparse_memory_write(pass->memory, dst + at, x, bytes);
}

static bool math_all(struct data_pass *pass, const struct lp_op *op, uint64_t dst,
                     const struct source *a, const struct source *b)
{
    const size_t itemsize = dtype_bytes((enum dtype)op->dtype);
    for (size_t done = 0, run; done < op->bytes; done += run) {
        /* dst first: where it is an operand, too, the operand's pages must be there by then */
        uint8_t *to = sparse_memory_touch(pass->memory, dst + done, op->bytes - done, &run);
        if (!to)
            return false;
        const uint8_t *x = data_stretch(pass, a, done, &run);
        const uint8_t *y = data_stretch(pass, b, done, &run);
        run -= run % itemsize;
        if (run) {
            dtype_reduce((enum dtype)op->dtype, (enum redop)op->math, to, x, y, run / itemsize);
            continue;
        }
        if (!math_across(pass, op, dst, a, b, done))
            return false;
        run = itemsize;
    }
    return true;
}

static int apply_math(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    const struct target target = {data_operand_address(pass, op->pe, &op->dst), op->bytes, true};
    struct source a, b = {0};
    const bool done = data_bind(pass, op, &op->a, op->bytes, &target, &a) &&
                      data_bind(pass, op, &op->b, op->bytes, &target, &b) &&
                      math_all(pass, op, target.address, &a, &b);
    data_unbind(pass, op, &op->a, &a);
    data_unbind(pass, op, &op->b, &b);
    return done ? CW_OK : data_out_of_storage(pass, error);
}

static int apply_land(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    const struct tile_name name = {op->peer, op->seq, DATA_PUTS_DIR};
    const uint64_t dst = data_operand_address(pass, op->pe, &op->dst);
    const struct source old = {.address = dst};
    struct tile *put;
    tiles_find(pass->tiles, name, &put);
    const struct source value = {.bytes = put->buffer->bytes};
    const bool done =
        op->math ? math_all(pass, op, dst, &old, &value) : copy_all(pass, dst, &value, op->bytes);
    if (!done)
        return data_out_of_storage(pass, error);
    tiles_drop(pass->tiles, name);
    return CW_OK;
}

static int apply_checked(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    switch (op->kind) {
    case LP_OP_SEND:
        return apply_value(pass, op, (struct tile_name){op->peer, op->seq, op->peer_dir}, error);
    case LP_OP_PUT:
        return apply_value(pass, op, (struct tile_name){op->pe, op->seq, DATA_PUTS_DIR}, error);
    case LP_OP_RECV:
        return apply_recv(pass, op, error);
    case LP_OP_MATH:
        return apply_math(pass, op, error);
    case LP_OP_LAND:
        return apply_land(pass, op, error);
    case LP_OP_CAST:
        return data_apply_cast(pass, op, error);
    case LP_OP_GEMM:
        return data_apply_gemm(pass, op, error);
    case LP_OP_NOTIFY:
    case LP_OP_WAIT_NOTIFY:
        return CW_OK;
    default:
        return apply_move(pass, op, error);
    }
}

int data_pass_apply(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    int code = data_check(pass, op, error);
    if (!code)
        code = apply_checked(pass, op, error);
    if (!code && pass->log)
        op_log_op(pass->log, op);
    return code;
}

/* ---- the host -------------------------------------------------------------------------------- */

bool data_pass_in_hbm(const struct data_pass *pass, uint32_t pe, uint64_t offset, uint64_t bytes)
{
    return pe < pass->pe_count && offset <= pass->hw->hbm_bytes &&
           bytes <= pass->hw->hbm_bytes - offset;
}

struct sparse_range data_pass_range(const struct data_pass *pass, uint32_t pe, uint64_t offset,
                                    uint64_t bytes)
{
    assert(data_pass_in_hbm(pass, pe, offset, bytes));
    (void)pass;
    return (struct sparse_range){data_address(MEMORY_HBM, pe, offset), bytes};
}

void data_pass_read(const struct data_pass *pass, uint32_t pe, uint64_t offset, void *dst,
                    size_t bytes)
{
    sparse_memory_read(pass->memory, data_pass_range(pass, pe, offset, bytes).address, dst, bytes);
}

static bool data_pass_store(struct data_pass *pass, uint32_t pe, uint64_t offset, const void *src,
                            size_t bytes)
{
    return sparse_memory_write(pass->memory, data_pass_range(pass, pe, offset, bytes).address, src,
                               bytes);
}

int data_pass_write(struct data_pass *pass, uint32_t pe, uint64_t offset, const void *src,
                    size_t bytes, struct cw_error *error)
{
    if (!data_pass_store(pass, pe, offset, src, bytes))
        return data_out_of_storage(pass, error);
    if (pass->log)
        op_log_write(pass->log, pe, offset, src, bytes);
    return CW_OK;
}

/* Bytes of the seed's stream, from any byte on. */
static void make_input(const struct sparse_content *content, uint64_t at, void *dst, size_t bytes)
{
    const enum dtype dtype = (enum dtype)content->word[0];
    const size_t itemsize = dtype_bytes(dtype);
    uint8_t *to = dst;
    while (bytes > 0) {
        uint8_t element[DTYPE_BYTES_MAX];
        const uint64_t g = content->word[2] + at / itemsize;
        const size_t skip = at % itemsize, left = itemsize - skip;
        size_t n = bytes / itemsize * itemsize;
        if (skip == 0 && n > 0) {
            input_fill(dtype, content->word[1], g, to, n / itemsize);
        } else {
            n = bytes < left ? bytes : left;
            input_fill(dtype, content->word[1], g, element, 1);
            memcpy(to, element + skip, n);
        }
        at += n, to += n, bytes -= n;
    }
}

static bool write_input(struct data_pass *pass, uint64_t address, enum dtype dtype, uint64_t seed,
                        uint64_t first, uint64_t count)
{
    const size_t itemsize = dtype_bytes(dtype);
    uint8_t piece[PIECE_BYTES];
    for (uint64_t done = 0, n; done < count; done += n) {
        n = count - done < PIECE_BYTES / itemsize ? count - done : PIECE_BYTES / itemsize;
        input_fill(dtype, seed, first + done, piece, n);
        if (!sparse_memory_write(pass->memory, address + done * itemsize, piece, n * itemsize))
            return false;
    }
    return true;
}

int data_pass_fill_input(struct data_pass *pass, uint32_t pe, uint64_t offset, enum dtype dtype,
                         uint64_t seed, uint64_t first, uint64_t count, struct cw_error *error)
{
    const struct sparse_content content = {.make = make_input, .word = {dtype, seed, first}};
    const struct sparse_range range = data_pass_range(pass, pe, offset, count * dtype_bytes(dtype));
    if (count * dtype_bytes(dtype) < LAZY_BYTES_MIN
            ? !write_input(pass, range.address, dtype, seed, first, count)
            : !sparse_memory_fill(pass->memory, range, content))
        return data_out_of_storage(pass, error);
    if (pass->log)
        op_log_fill_input(pass->log, pe, offset, dtype, seed, first, count);
    return CW_OK;
}

int data_pass_forget(struct data_pass *pass, uint32_t pe, uint64_t offset, uint64_t bytes,
                     struct cw_error *error)
{
    const struct sparse_content zeros = {.make = NULL};
    if (bytes > 0 &&
        !sparse_memory_fill(pass->memory, data_pass_range(pass, pe, offset, bytes), zeros))
        return data_out_of_storage(pass, error);
    if (pass->log)
        op_log_fill(pass->log, pe, offset, DTYPE_F16, 0, bytes / dtype_bytes(DTYPE_F16));
    return CW_OK;
}

int data_pass_fill(struct data_pass *pass, uint32_t pe, uint64_t offset, enum dtype dtype,
                   float value, uint64_t count, struct cw_error *error)
{
    const size_t itemsize = dtype_bytes(dtype);
    uint8_t piece[PIECE_BYTES];
    for (size_t i = 0; i < PIECE_BYTES / itemsize; i++)
        dtype_from_f32(dtype, piece + i * itemsize, &value, 1);
    for (uint64_t done = 0, n; done < count; done += n) {
        n = count - done < PIECE_BYTES / itemsize ? count - done : PIECE_BYTES / itemsize;
        if (!data_pass_store(pass, pe, offset + done * itemsize, piece, n * itemsize))
            return data_out_of_storage(pass, error);
    }
    if (pass->log)
        op_log_fill(pass->log, pe, offset, dtype, value, count);
    return CW_OK;
}

uint64_t data_pass_hash(struct data_pass *pass, const struct sparse_range *ranges, size_t count)
{
    return sparse_memory_hash(pass->memory, ranges, count);
}

uint64_t data_pass_digest(const struct data_pass *pass)
{
    return sparse_memory_digest(pass->memory);
}
