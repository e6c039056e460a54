/*
 * data_pass.c: executes data operations (data_pass.h). Everything happens in stretches: a range of
 * an address space, or a tile, gives one contiguous piece after the other, and a copy or an
 * addition works on the longest piece that all its operands have there. Operations that write over
 * a part of what they read, but not exactly over it, work on a copy of that operand.
 *
 * Addresses in the sparse memory: which memory (2 bits), its index (30 bits: PE, or cube for SRAM),
 * byte offset (32 bits).
 */
#include "collectives/data_pass.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/data_tiles.h"
#include "collectives/input.h"
#include "hw/structure.h"

#define PIECE_BYTES 4096u

enum memory_kind { MEMORY_TCM, MEMORY_SRAM, MEMORY_HBM };

struct data_pass {
    const struct hw_config *hw;
    struct sparse_memory *memory;
    struct tiles *tiles;
    uint64_t bytes_max;
    uint32_t pe_count, pes; /* in all; in one cube */
};

/* What an operation reads: a buffer, or memory from an address on. */
struct source {
    const uint8_t *bytes; /* NULL: memory */
    uint64_t address;
    struct tile_buffer *copy; /* to be released after the operation, or NULL */
};

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

uint64_t data_pass_bytes(const struct data_pass *pass)
{
    return sparse_memory_bytes(pass->memory) + tiles_bytes(pass->tiles);
}

void data_pass_end_kernel(struct data_pass *pass, uint32_t pe)
{
    tiles_end_kernel(pass->tiles, pe);
}

/* ---- errors --------------------------------------------------------------------------------- */

static const char *kind_name(uint8_t kind)
{
    static const char *const name[] = {"?", "send", "recv", "load", "store", "copy", "math"};
    return kind < sizeof name / sizeof name[0] ? name[kind] : "?";
}

/* "data pass: PE sip.cube.pe: kind: ..." */
__attribute__((format(printf, 4, 5))) static int impossible(const struct data_pass *pass,
                                                            const struct lp_op *op,
                                                            struct cw_error *error,
                                                            const char *format, ...)
{
    const uint32_t cube = op->pe / pass->pes, cubes = hw_cubes(pass->hw);
    char what[600];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(error->text, sizeof error->text, "data pass: PE %u.%u.%u: %s of %u bytes: %s",
             cube / cubes, cube % cubes, op->pe % pass->pes, kind_name(op->kind), op->bytes, what);
    return error->exit_code = CW_BUG;
}

static int out_of_storage(const struct data_pass *pass, struct cw_error *error)
{
    if (pass->bytes_max == UINT64_MAX)
        snprintf(error->text, sizeof error->text,
                 "out of memory: tensors and tiles have taken %llu bytes; --no-data leaves the "
                 "data out",
                 (unsigned long long)data_pass_bytes(pass));
    else
        snprintf(error->text, sizeof error->text,
                 "out of memory: tensors and tiles have taken %llu of %llu bytes; allow more "
                 "(--max-memory), or leave the data out (--no-data)",
                 (unsigned long long)data_pass_bytes(pass), (unsigned long long)pass->bytes_max);
    return error->exit_code = CW_NO_RESOURCE;
}

/* ---- checks: a record may come from a file -------------------------------------------------- */

static bool is_memory(uint8_t space)
{
    return space == LP_SPACE_TCM || space == LP_SPACE_HBM || space == LP_SPACE_SRAM;
}

static uint64_t capacity(const struct data_pass *pass, uint8_t space)
{
    return space == LP_SPACE_TCM   ? pass->hw->tcm_bytes
           : space == LP_SPACE_HBM ? pass->hw->hbm_bytes
                                   : pass->hw->sram_bytes;
}

static int check_operand(const struct data_pass *pass, const struct lp_op *op,
                         const struct lp_operand *operand, const char *name, struct cw_error *error)
{
    if (is_memory(operand->space)) {
        const uint64_t bytes = capacity(pass, operand->space);
        if ((uint64_t)operand->at + op->bytes > bytes)
            return impossible(pass, op, error, "%s at %u passes the memory's end at %llu", name,
                              operand->at, (unsigned long long)bytes);
        return CW_OK;
    }
    if (operand->space != LP_SPACE_TILE || operand == &op->dst)
        return impossible(pass, op, error, "%s is in space %u", name, operand->space);
    struct tile *tile;
    const enum tile_state state =
        tiles_find(pass->tiles, (struct tile_name){op->pe, operand->at, operand->dir}, &tile);
    if (state != TILE_THERE)
        return impossible(pass, op, error, "%s is tile %u of direction %u (%s), which %s", name,
                          operand->at, operand->dir, hw_dir_name((enum hw_dir)operand->dir),
                          state == TILE_DROPPED ? "was used for the last time, or its kernel ended"
                                                : "has not been sent");
    if (op->bytes > tile->bytes)
        return impossible(pass, op, error, "%s is tile %u of direction %u (%s), of %u bytes", name,
                          operand->at, operand->dir, hw_dir_name((enum hw_dir)operand->dir),
                          tile->bytes);
    return CW_OK;
}

static int check(const struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    int code = CW_OK;
    if (op->pe >= pass->pe_count || (op->kind == LP_OP_SEND && op->peer >= pass->pe_count))
        return impossible(pass, op, error, "there are %u PEs, not %u", pass->pe_count,
                          op->pe >= pass->pe_count ? op->pe : op->peer);
    if (op->kind < LP_OP_SEND || op->kind > LP_OP_MATH)
        return impossible(pass, op, error, "kind %u", op->kind);
    if (op->kind == LP_OP_RECV)
        return CW_OK;
    code = check_operand(pass, op, &op->a, "source", error);
    if (op->kind == LP_OP_SEND || code)
        return code;
    code = check_operand(pass, op, &op->dst, "destination", error);
    if (op->kind != LP_OP_MATH || code)
        return code;
    if (!dtype_is_known(op->dtype) || !redop_is_known(op->math))
        return impossible(pass, op, error, "dtype %u, operation %u", op->dtype, op->math);
    if (op->bytes % dtype_bytes((enum dtype)op->dtype))
        return impossible(pass, op, error, "%s has %zu bytes", dtype_name((enum dtype)op->dtype),
                          dtype_bytes((enum dtype)op->dtype));
    return check_operand(pass, op, &op->b, "second source", error);
}

/* ---- operands ------------------------------------------------------------------------------- */

static uint64_t address_of(enum memory_kind kind, uint32_t index, uint64_t offset)
{
    return (uint64_t)kind << 62 | (uint64_t)index << 32 | offset;
}

static uint64_t operand_address(const struct data_pass *pass, const struct lp_op *op,
                                const struct lp_operand *operand)
{
    switch (operand->space) {
    case LP_SPACE_TCM:
        return address_of(MEMORY_TCM, op->pe, operand->at);
    case LP_SPACE_HBM:
        return address_of(MEMORY_HBM, op->pe, operand->at);
    default:
        return address_of(MEMORY_SRAM, op->pe / pass->pes, operand->at);
    }
}

/* The contiguous bytes of a source from `at` on, at most *run of them; *run: how many there are. */
static const uint8_t *stretch(struct data_pass *pass, const struct source *source, size_t at,
                              size_t *run)
{
    if (source->bytes)
        return source->bytes + at;
    return sparse_memory_look(pass->memory, source->address + at, *run, run);
}

/* A buffer of the pool. The two share one limit. */
static struct tile_buffer *take(struct data_pass *pass, uint32_t bytes)
{
    const uint64_t stored = sparse_memory_bytes(pass->memory);
    const uint64_t left = pass->bytes_max > stored ? pass->bytes_max - stored : 0;
    struct tile_buffer *buffer = tiles_take(pass->tiles, bytes, left);
    if (buffer && pass->bytes_max != UINT64_MAX)
        sparse_memory_limit(pass->memory, pass->bytes_max - tiles_bytes(pass->tiles));
    return buffer;
}

static void gather(struct data_pass *pass, const struct source *source, size_t at, uint8_t *dst,
                   size_t bytes)
{
    for (size_t done = 0, run; done < bytes; done += run) {
        run = bytes - done;
        const uint8_t *from = stretch(pass, source, at + done, &run);
        memcpy(dst + done, from, run);
    }
}

/*
 * Binds an operand. `dst` is where the operation will write, or NULL: an operand that overlaps it,
 * and not exactly, is read now. False: out of storage.
 */
static bool bind_operand(struct data_pass *pass, const struct lp_op *op,
                         const struct lp_operand *operand, const uint64_t *dst,
                         struct source *source)
{
    *source = (struct source){0};
    if (operand->space == LP_SPACE_TILE) {
        struct tile *tile;
        const enum tile_state state =
            tiles_find(pass->tiles, (struct tile_name){op->pe, operand->at, operand->dir}, &tile);
        assert(state == TILE_THERE);
        (void)state;
        tile->received = true;
        source->bytes = tile->buffer->bytes;
        return true;
    }
    source->address = operand_address(pass, op, operand);
    if (!dst || *dst == source->address || *dst + op->bytes <= source->address ||
        source->address + op->bytes <= *dst)
        return true;
    source->copy = take(pass, op->bytes);
    if (!source->copy)
        return false;
    gather(pass, source, 0, source->copy->bytes, op->bytes);
    source->bytes = source->copy->bytes;
    return true;
}

/* After the operation: gives back a copy, and a tile after its last use. */
static void unbind_operand(struct data_pass *pass, const struct lp_op *op,
                           const struct lp_operand *operand, const struct source *source)
{
    if (source->copy)
        tiles_release(pass->tiles, source->copy);
    const struct tile_name name = {op->pe, operand->at, operand->dir};
    struct tile *tile;
    if (operand->space == LP_SPACE_TILE && operand->flags & LP_LAST_USE &&
        tiles_find(pass->tiles, name, &tile) == TILE_THERE) /* a and b may be the same tile */
        tiles_drop(pass->tiles, name);
}

/* ---- operations ----------------------------------------------------------------------------- */

static int apply_send(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    const struct tile_name to = {op->peer, op->seq, op->peer_dir};
    struct tile_buffer *buffer;
    if (op->a.space == LP_SPACE_TILE) { /* forwarded: one more name for the same bytes */
        struct tile *tile;
        tiles_find(pass->tiles, (struct tile_name){op->pe, op->a.at, op->a.dir}, &tile);
        tile->received = true;
        buffer = tile->buffer;
        buffer->holders++;
    } else {
        struct source source;
        (void)bind_operand(pass, op, &op->a, NULL, &source); /* nothing to copy: it cannot fail */
        buffer = take(pass, op->bytes);
        if (!buffer)
            return out_of_storage(pass, error);
        gather(pass, &source, 0, buffer->bytes, op->bytes);
    }
    uint32_t expected;
    const bool sent = tiles_send(pass->tiles, to, buffer, op->bytes, &expected);
    tiles_release(pass->tiles, buffer);
    if (!sent && expected == op->seq)
        return out_of_storage(pass, error);
    if (!sent)
        return impossible(
            pass, op, error, "tile %u of direction %u (%s) of PE index %u is sent, but %u is next",
            op->seq, op->peer_dir, hw_dir_name((enum hw_dir)op->peer_dir), op->peer, expected);
    unbind_operand(pass, op, &op->a, &(struct source){0});
    return CW_OK;
}

static int apply_recv(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    struct tile *tile;
    const enum tile_state state =
        tiles_find(pass->tiles, (struct tile_name){op->pe, op->seq, op->dir}, &tile);
    if (state != TILE_THERE)
        return impossible(pass, op, error, "tile %u of direction %u (%s) %s", op->seq, op->dir,
                          hw_dir_name((enum hw_dir)op->dir),
                          state == TILE_DROPPED ? "has been dropped" : "has not been sent");
    tile->received = true;
    return CW_OK;
}

/* load, store, copy: they differ in time only. */
static int apply_move(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    const uint64_t dst = operand_address(pass, op, &op->dst);
    struct source a;
    if (!bind_operand(pass, op, &op->a, &dst, &a))
        return out_of_storage(pass, error);
    int code = CW_OK;
    for (size_t done = 0, run; done < op->bytes; done += run) {
        uint8_t *to = sparse_memory_touch(pass->memory, dst + done, op->bytes - done, &run);
        if (!to) {
            code = out_of_storage(pass, error);
            break;
        }
        const uint8_t *from = stretch(pass, &a, done, &run);
        if (from != to)
            memcpy(to, from, run);
    }
    unbind_operand(pass, op, &op->a, &a);
    return code;
}

/* One element that lies across the end of a stretch. False: out of storage. */
static bool math_across(struct data_pass *pass, const struct lp_op *op, uint64_t dst,
                        const struct source *a, const struct source *b, size_t at)
{
    const size_t bytes = dtype_bytes((enum dtype)op->dtype);
    uint8_t x[DTYPE_BYTES_MAX], y[DTYPE_BYTES_MAX];
    gather(pass, a, at, x, bytes);
    gather(pass, b, at, y, bytes);
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
        const uint8_t *x = stretch(pass, a, done, &run);
        const uint8_t *y = stretch(pass, b, done, &run);
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
    const uint64_t dst = operand_address(pass, op, &op->dst);
    struct source a, b = {0};
    const bool done = bind_operand(pass, op, &op->a, &dst, &a) &&
                      bind_operand(pass, op, &op->b, &dst, &b) && math_all(pass, op, dst, &a, &b);
    unbind_operand(pass, op, &op->a, &a);
    unbind_operand(pass, op, &op->b, &b);
    return done ? CW_OK : out_of_storage(pass, error);
}

int data_pass_apply(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    const int code = check(pass, op, error);
    if (code)
        return code;
    switch (op->kind) {
    case LP_OP_SEND:
        return apply_send(pass, op, error);
    case LP_OP_RECV:
        return apply_recv(pass, op, error);
    case LP_OP_MATH:
        return apply_math(pass, op, error);
    default:
        return apply_move(pass, op, error);
    }
}

/* ---- the host ------------------------------------------------------------------------------- */

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
    return (struct sparse_range){address_of(MEMORY_HBM, pe, offset), bytes};
}

void data_pass_read(struct data_pass *pass, uint32_t pe, uint64_t offset, void *dst, size_t bytes)
{
    sparse_memory_read(pass->memory, data_pass_range(pass, pe, offset, bytes).address, dst, bytes);
}

int data_pass_write(struct data_pass *pass, uint32_t pe, uint64_t offset, const void *src,
                    size_t bytes, struct cw_error *error)
{
    const uint64_t address = data_pass_range(pass, pe, offset, bytes).address;
    if (sparse_memory_write(pass->memory, address, src, bytes))
        return CW_OK;
    return out_of_storage(pass, error);
}

int data_pass_fill_input(struct data_pass *pass, uint32_t pe, uint64_t offset, enum dtype dtype,
                         uint64_t seed, uint64_t first, uint64_t count, struct cw_error *error)
{
    const size_t itemsize = dtype_bytes(dtype);
    uint8_t piece[PIECE_BYTES];
    for (uint64_t done = 0, n; done < count; done += n) {
        n = count - done < PIECE_BYTES / itemsize ? count - done : PIECE_BYTES / itemsize;
        input_fill(dtype, seed, first + done, piece, n);
        const int code =
            data_pass_write(pass, pe, offset + done * itemsize, piece, n * itemsize, error);
        if (code)
            return code;
    }
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
        const int code =
            data_pass_write(pass, pe, offset + done * itemsize, piece, n * itemsize, error);
        if (code)
            return code;
    }
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
