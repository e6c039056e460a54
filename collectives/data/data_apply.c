/*
 * data_apply.c: executes one data operation (data_apply.h). Everything happens in stretches: a
 * range of an address space, or a tile, gives one contiguous piece after the other, and a copy or
 * an addition works on the longest piece that all its operands have there.
 */
#include "collectives/data/data_apply.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/data/data_check.h"
#include "collectives/data/data_join.h"
#include "collectives/data/data_matrix.h"
#include "collectives/data/data_parcel.h"

/* Binds the value of the source and sends it on: a tile, a put, a raw store or a loan. */
static int apply_value(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    struct data_pass *const pass = site->pass;
    struct tile_buffer *buffer;
    uint32_t expected;
    if (op->a.space == LP_SPACE_TILE) { /* forwarded: one more name for the same bytes */
        struct tile *const tile = data_tile(site, op->pe, op->a.at, op->a.dir);
        tile->received = 1 + op->a.queue;
        buffer = tile->buffer;
        if (pass->worker_count > 1)
            tile_buffer_cross(buffer); /* two cubes hold it, of which each may move */
        tile_buffer_hold(buffer);
    } else {
        struct source source;
        /* nothing to copy: it cannot fail */
        (void)data_bind(site, op, &op->a, op->bytes, NULL, &source);
        buffer = tile_pool_take(&site->worker->pool, op->bytes);
        if (!buffer)
            return data_out_of_storage(pass, error);
        data_gather(site, &source, 0, buffer->bytes, op->bytes);
    }
    tile_buffer_note_send(buffer, op->bytes);
    int code = CW_OK;
    if (op->kind == LP_OP_PUT &&
        !tiles_number(&site->cube->tiles, &pass->storage,
                      (struct tile_name){op->pe, op->seq, DATA_PUTS_DIR}, &expected))
        code = expected == op->seq
                   ? data_out_of_storage(pass, error)
                   : data_impossible(pass, op, error, "put %u is made, but %u is next", op->seq,
                                     expected);
    if (code == CW_OK)
        code = op->kind == LP_OP_SEND && op->math != 0 ? data_join_part(site, op, buffer, error)
                                                       : data_parcel_send(site, op, buffer, error);
    tile_buffer_release(buffer, &site->worker->pool);
    if (code == CW_OK)
        data_unbind(site, op, &op->a, &(struct source){0});
    return code;
}

/* dst <- a source that does not overlap it, or is exactly there. False: out of storage. */
static bool copy_all(const struct data_site *site, uint64_t dst, const struct source *source,
                     size_t bytes)
{
    if (!source->bytes && source->address == dst)
        return true;
    for (size_t done = 0, run; done < bytes; done += run) {
        size_t part;
        uint8_t *const to = sparse_memory_replace(&site->cube->memory, &site->worker->arena,
                                                  dst + done, bytes - done, &run);
        if (!to)
            return false;
        for (size_t at = 0; at < run; at += part) { /* all of it is overwritten */
            part = run - at;
            const uint8_t *const from = data_stretch(site, source, done + at, &part);
            memcpy(to + at, from, part);
        }
    }
    return true;
}

static int apply_recv(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    struct tile *const tile = data_tile(site, op->pe, op->seq, op->dir);
    tile->received = 1 + op->dst.queue;
    if (op->dst.space == LP_SPACE_NONE)
        return CW_OK;
    const struct source value = {.bytes = tile->buffer->bytes};
    return copy_all(site, data_operand_address(site->pass, op->pe, &op->dst), &value, op->bytes)
               ? CW_OK
               : data_out_of_storage(site->pass, error);
}

/* load, store, copy: they differ in time only. */
static int apply_move(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    const struct target target = {data_operand_address(site->pass, op->pe, &op->dst), op->bytes,
                                  true};
    struct source a;
    const bool done = data_bind(site, op, &op->a, op->bytes, &target, &a) &&
                      copy_all(site, target.address, &a, op->bytes);
    data_unbind(site, op, &op->a, &a);
    return done ? CW_OK : data_out_of_storage(site->pass, error);
}

/* One element that crosses the end of a stretch. False: out of storage. */
static bool math_across(const struct data_site *site, const struct lp_op *op, uint64_t dst,
                        const struct source *a, const struct source *b, size_t at)
{
    const size_t bytes = dtype_bytes((enum dtype)op->dtype);
    uint8_t x[DTYPE_BYTES_MAX], y[DTYPE_BYTES_MAX];
    data_gather(site, a, at, x, bytes);
    data_gather(site, b, at, y, bytes);
    dtype_reduce(data_type(site->pass, (enum dtype)op->dtype), (enum redop)op->math, x, x, y, 1);
    return data_store(site, dst + at, x, bytes);
}

static bool math_all(const struct data_site *site, const struct lp_op *op, uint64_t dst,
                     const struct source *a, const struct source *b)
{
    const enum dtype dtype = data_type(site->pass, (enum dtype)op->dtype);
    const size_t itemsize = dtype_bytes(dtype);
    for (size_t done = 0, run; done < op->bytes; done += run) {
        /* dst first: where it is an operand, too, the operand's pages must be there by then */
        uint8_t *to = data_touch(site, dst + done, op->bytes - done, &run);
        if (!to)
            return false;
        const uint8_t *x = data_stretch(site, a, done, &run);
        const uint8_t *y = data_stretch(site, b, done, &run);
        run -= run % itemsize;
        if (run) {
            dtype_reduce(dtype, (enum redop)op->math, to, x, y, run / itemsize);
            continue;
        }
        if (!math_across(site, op, dst, a, b, done))
            return false;
        run = itemsize;
    }
    return true;
}

/* ---- sums that are kept in f32 --------------------------------------------------------------- */

static bool is_kept_wide(const struct data_site *site, const struct lp_op *op)
{
    return site->pass->arithmetic.accumulate == CCL_ACCUMULATE_F32 && op->kind == LP_OP_MATH &&
           op->math == LP_MATH_SUM && op->dst.space == LP_SPACE_TCM &&
           dtype_is_narrow((enum dtype)op->dtype);
}

/* An operand in f32: the sum that is kept there, if this addition adds to it; else what memory has.
 */
static void widen_operand(const struct data_site *site, const struct lp_op *op,
                          const struct lp_operand *operand, const struct source *source,
                          uint8_t *raw, float *value)
{
    const enum dtype dtype = (enum dtype)op->dtype;
    const size_t itemsize = dtype_bytes(dtype);
    data_gather(site, source, 0, raw, op->bytes);
    dtype_to_f32(dtype, value, raw, op->bytes / itemsize);
    if (operand->space == LP_SPACE_TCM && operand->at == op->dst.at)
        wide_sums_take(&site->cube->wide, op->pe, operand->at, op->bytes, itemsize, value);
}

static bool add_wide(const struct data_site *site, const struct lp_op *op, uint64_t dst,
                     const struct source *a, const struct source *b)
{
    const enum dtype dtype = data_type(site->pass, (enum dtype)op->dtype);
    const size_t itemsize = dtype_bytes(dtype), count = op->bytes / itemsize;
    float *const sum = malloc((count + 1) * sizeof *sum), *const other =
                                                              malloc((count + 1) * sizeof *other);
    uint8_t *const raw = malloc(op->bytes + 1);
    bool done = sum != NULL && other != NULL && raw != NULL;
    if (done) {
        widen_operand(site, op, &op->a, a, raw, sum);
        widen_operand(site, op, &op->b, b, raw, other);
        dtype_reduce(DTYPE_F32, REDOP_SUM, sum, sum, other, count);
        dtype_from_f32(dtype, raw, sum, count);
        done = data_store(site, dst, raw, op->bytes);
    }
    free(other);
    free(raw);
    if (done)
        return wide_sums_put(&site->cube->wide,
                             (struct wide_range){op->pe, op->dst.at, op->bytes, sum}, itemsize);
    free(sum);
    return false;
}

/* What any other operation writes to TCM is no sum any more. */
static bool forget_sums(const struct data_site *site, const struct lp_op *op)
{
    const bool writes_here = op->kind != LP_OP_SEND && op->kind != LP_OP_PUT &&
                             op->kind != LP_OP_STORE_TO && op->kind != LP_OP_LENT;
    const uint64_t bytes =
        op->kind == LP_OP_CAST ? (uint64_t)op->bytes * DTYPE_BYTES_MAX : op->bytes;
    if (site->cube->wide.count == 0 || !writes_here || op->dst.space != LP_SPACE_TCM ||
        is_kept_wide(site, op))
        return true;
    return wide_sums_forget(&site->cube->wide, op->pe, op->dst.at, bytes,
                            lp_dtype_is_known(op->dtype) ? dtype_bytes((enum dtype)op->dtype) : 1);
}

static int apply_math(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    const struct target target = {data_operand_address(site->pass, op->pe, &op->dst), op->bytes,
                                  true};
    struct source a, b = {0};
    const bool done = data_bind(site, op, &op->a, op->bytes, &target, &a) &&
                      data_bind(site, op, &op->b, op->bytes, &target, &b) &&
                      (is_kept_wide(site, op) ? add_wide(site, op, target.address, &a, &b)
                                              : math_all(site, op, target.address, &a, &b));
    data_unbind(site, op, &op->a, &a);
    data_unbind(site, op, &op->b, &b);
    return done ? CW_OK : data_out_of_storage(site->pass, error);
}

static int apply_land(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    const uint64_t dst = data_operand_address(site->pass, op->pe, &op->dst);
    const struct source old = {.address = dst};
    const struct source value = {.bytes = data_parcel_find(site, op)->buffer->bytes};
    const bool done = op->kind == LP_OP_LAND && op->math ? math_all(site, op, dst, &old, &value)
                                                         : copy_all(site, dst, &value, op->bytes);
    if (!done)
        return data_out_of_storage(site->pass, error);
    data_parcel_drop(site, op);
    return CW_OK;
}

static int apply_checked(const struct data_site *site, const struct lp_op *op,
                         struct cw_error *error)
{
    switch (op->kind) {
    case LP_OP_SEND:
    case LP_OP_PUT:
    case LP_OP_STORE_TO:
    case LP_OP_LENT:
        return apply_value(site, op, error);
    case LP_OP_RECV:
        return apply_recv(site, op, error);
    case LP_OP_MATH:
        return apply_math(site, op, error);
    case LP_OP_LAND:
    case LP_OP_STORED:
    case LP_OP_LOAD_FROM:
        return apply_land(site, op, error);
    case LP_OP_CAST:
        return data_apply_cast(site, op, error);
    case LP_OP_GEMM:
        return data_apply_gemm(site, op, error);
    case LP_OP_NOTIFY:
    case LP_OP_WAIT_NOTIFY:
        return CW_OK;
    default:
        return apply_move(site, op, error);
    }
}

int data_apply(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    int code = data_check(site, op, error);
    if (code == CW_OK)
        code = apply_checked(site, op, error);
    if (code == CW_OK && !forget_sums(site, op))
        code = data_out_of_storage(site->pass, error);
    return code;
}
