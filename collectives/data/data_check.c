/*
 * data_check.c: the conditions of each kind of record (data_check.h). Sizes are compared before
 * they are multiplied.
 */
#include "collectives/data/data_check.h"

#include <stdarg.h>
#include <stdio.h>

#include "collectives/data/data_matrix.h"
#include "collectives/data/data_parcel.h"
#include "collectives/data/dtype.h"
#include "lp/kernel/tl_source.h"
#include "lp/queues/queue_ends.h"

/* Products of one record: a minute's work, far more than fit in a TCM. */
#define PRODUCTS_MAX (UINT64_C(1) << 37)

static const char *kind_name(uint8_t kind)
{
    static const char *const name[] = {
        "?",      "send",        "recv", "load", "store",    "copy",   "math", "put",      "land",
        "notify", "wait_notify", "cast", "gemm", "store_to", "stored", "lent", "load_from"};
    return kind < sizeof name / sizeof name[0] ? name[kind] : "?";
}

int data_impossible(const struct data_pass *pass, const struct lp_op *op, struct cw_error *error,
                    const char *format, ...)
{
    const uint32_t cube = op->pe / pass->pes, cubes = hw_cubes(pass->hw);
    char what[600];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return cw_error_set(error, CW_BUG, "data pass: PE %u.%u.%u: %s of %u bytes: %s", cube / cubes,
                        cube % cubes, op->pe % pass->pes, kind_name(op->kind), op->bytes, what);
}

const char *data_dir_name(const struct data_pass *pass, uint32_t pe, uint8_t dir)
{
    return lp_dir_name(pass->plan, pe, (enum hw_dir)dir);
}

/* ---- operands -------------------------------------------------------------------------------- */

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

static int check_operand(const struct data_site *site, const struct lp_op *op,
                         const struct lp_operand *operand, uint64_t bytes, const char *name,
                         struct cw_error *error)
{
    if (is_memory(operand->space)) {
        const uint64_t end = capacity(site->pass, operand->space);
        if (bytes > end || operand->at > end - bytes)
            return data_impossible(site->pass, op, error,
                                   "%s at %u, %llu bytes, passes the memory's end at %llu", name,
                                   operand->at, (unsigned long long)bytes, (unsigned long long)end);
        return CW_OK;
    }
    if (operand->space != LP_SPACE_TILE || operand == &op->dst || operand->dir >= HW_DIRS_MAX)
        return data_impossible(site->pass, op, error,
                               "%s is in space %u, direction %u; expected TCM (1), HBM (2), SRAM "
                               "(3)%s",
                               name, operand->space, operand->dir,
                               operand == &op->dst ? "" : " or a tile (4)");
    struct tile *tile;
    const enum tile_state state = tiles_find(
        &site->cube->tiles, (struct tile_name){op->pe, operand->at, operand->dir}, &tile);
    if (state != TILE_THERE)
        return data_impossible(
            site->pass, op, error, "%s is tile %u of direction %u (%s), which %s", name,
            operand->at, operand->dir, data_dir_name(site->pass, op->pe, operand->dir),
            state == TILE_DROPPED ? "was used for the last time, or its kernel ended"
                                  : "has not been sent");
    if (bytes > tile->bytes)
        return data_impossible(site->pass, op, error,
                               "%s is tile %u of direction %u (%s), of %u bytes", name, operand->at,
                               operand->dir, data_dir_name(site->pass, op->pe, operand->dir),
                               tile->bytes);
    return CW_OK;
}

static int check_source(const struct data_site *site, const struct lp_op *op, uint64_t bytes,
                        struct cw_error *error)
{
    return check_operand(site, op, &op->a, bytes, "source", error);
}

static int check_destination(const struct data_site *site, const struct lp_op *op, uint64_t bytes,
                             struct cw_error *error)
{
    return check_operand(site, op, &op->dst, bytes, "destination", error);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* Elements of a known type, and an operation on them if one is asked for. */
static int check_elements(const struct data_site *site, const struct lp_op *op, bool reduces,
                          struct cw_error *error)
{
    if (!dtype_is_known(op->dtype) || (reduces && !redop_is_known(op->math)))
        return data_impossible(site->pass, op, error, "dtype %u, operation %u", op->dtype,
                               op->math);
    if (op->bytes % dtype_bytes((enum dtype)op->dtype))
        return data_impossible(site->pass, op, error, "%s has %zu bytes",
                               dtype_name((enum dtype)op->dtype),
                               dtype_bytes((enum dtype)op->dtype));
    return CW_OK;
}

/* F2: the kernels at both ends do not mean the same tile. */
static int refuse_size(const struct data_pass *pass, const struct lp_op *op,
                       const struct tile *tile, struct cw_error *error)
{
    char sent_at[TL_SOURCE_TEXT_BYTES], received_at[TL_SOURCE_TEXT_BYTES];
    const struct hw_place place = hw_place_of(pass->hw, op->pe);
    return cw_error_set(
        error, CW_PROGRAM_FAILED,
        "IpcqTypeMismatch: PE %u.%u.%u received tile %u from direction %s as %u bytes%s, and it "
        "was sent as %u bytes%s; both ends must name one size",
        place.sip, place.cube, place.pe, op->seq, data_dir_name(pass, op->pe, op->dir), op->bytes,
        tl_source_text(tl_source_numbered(op->source), received_at, sizeof received_at),
        tile->bytes, tl_source_text(tl_source_numbered(tile->source), sent_at, sizeof sent_at));
}

static int check_recv(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    struct tile *tile;
    if (op->dir >= HW_DIRS_MAX)
        return data_impossible(site->pass, op, error, "direction %u; there are %u", op->dir,
                               (unsigned)HW_DIRS_MAX);
    const enum tile_state state =
        tiles_find(&site->cube->tiles, (struct tile_name){op->pe, op->seq, op->dir}, &tile);
    if (state != TILE_THERE)
        return data_impossible(site->pass, op, error, "tile %u of direction %u (%s) %s", op->seq,
                               op->dir, data_dir_name(site->pass, op->pe, op->dir),
                               state == TILE_DROPPED ? "has been dropped" : "has not been sent");
    if (op->bytes != tile->bytes)
        return refuse_size(site->pass, op, tile, error);
    return op->dst.space == LP_SPACE_NONE ? CW_OK : check_destination(site, op, op->bytes, error);
}

/* Why there is no such put, store or loan. */
static int not_there(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    struct data_pass *const pass = site->pass;
    if (op->kind == LP_OP_STORED)
        return data_impossible(pass, op, error, "PE index %u has stored nothing here (%u)",
                               op->peer, op->seq);
    if (op->kind == LP_OP_LOAD_FROM)
        return data_impossible(pass, op, error, "PE index %u has lent nothing for it (%u)",
                               op->peer, op->seq);
    const struct tile_name name = {op->peer, op->seq, DATA_PUTS_DIR};
    const bool made = tiles_was_numbered(&pass->cubes[op->peer / pass->pes].tiles, name);
    return data_impossible(pass, op, error, "put %u of PE index %u %s", op->seq, op->peer,
                           made ? "has landed before" : "has not been made");
}

static int check_land(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    const struct data_parcel *const put = data_parcel_find(site, op);
    if (put == NULL)
        return not_there(site, op, error);
    if (op->bytes != put->op.bytes)
        return data_impossible(site->pass, op, error, "%s %u of PE index %u has %u bytes",
                               op->kind == LP_OP_LAND     ? "put"
                               : op->kind == LP_OP_STORED ? "store"
                                                          : "loan",
                               op->seq, op->peer, put->op.bytes);
    const int code =
        op->kind == LP_OP_LAND && op->math ? check_elements(site, op, true, error) : CW_OK;
    return code ? code : check_destination(site, op, op->bytes, error);
}

static int check_math(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    int code = check_source(site, op, op->bytes, error);
    if (!code)
        code = check_destination(site, op, op->bytes, error);
    if (!code)
        code = check_elements(site, op, true, error);
    return code ? code : check_operand(site, op, &op->b, op->bytes, "second source", error);
}

static int check_cast(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    int code = check_elements(site, op, false, error);
    if (!code && !dtype_is_known(op->math))
        code = data_impossible(site->pass, op, error, "to dtype %u", op->math);
    if (!code)
        code = check_source(site, op, op->bytes, error);
    if (code)
        return code;
    return check_destination(site, op,
                             op->bytes / dtype_bytes((enum dtype)op->dtype) *
                                 (uint64_t)dtype_bytes((enum dtype)op->math),
                             error);
}

static int check_gemm(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    int code = check_elements(site, op, false, error);
    if (code)
        return code;
    const struct data_gemm shape = data_gemm_shape(op);
    if (!shape.rows || (op->math && op->math != LP_MATH_SUM))
        return data_impossible(site->pass, op, error, "%u rows, %u inner, operation %u", op->seq,
                               op->peer, op->math);
    const bool from_f32 = op->dir & LP_SUMS_FROM_F32, to_f32 = op->dir & LP_SUMS_TO_F32;
    if (op->dir > (LP_SUMS_FROM_F32 | LP_SUMS_TO_F32) || (from_f32 && !op->math) ||
        (to_f32 && op->math && !from_f32))
        return data_impossible(site->pass, op, error, "sums %u, operation %u", op->dir, op->math);
    if (shape.a_bytes > UINT32_MAX || shape.b_bytes > UINT32_MAX)
        return data_impossible(
            site->pass, op, error, "factors of %llu and %llu bytes; at most 4 GiB",
            (unsigned long long)shape.a_bytes, (unsigned long long)shape.b_bytes);
    if ((uint64_t)shape.rows * shape.cols > PRODUCTS_MAX / (shape.inner ? shape.inner : 1))
        return data_impossible(site->pass, op, error, "%u x %u x %u products; at most 2^37 at once",
                               shape.rows, shape.cols, shape.inner);
    code = check_source(site, op, shape.a_bytes, error);
    if (!code)
        code = check_operand(site, op, &op->b, shape.b_bytes, "second source", error);
    const uint64_t old =
        (uint64_t)shape.rows * shape.cols * data_gemm_itemsize(op, LP_SUMS_FROM_F32);
    return code ? code : check_destination(site, op, old > op->bytes ? old : op->bytes, error);
}

static bool has_peer(const struct lp_op *op)
{
    return lp_op_is_tile(op) || (op->kind >= LP_OP_PUT && op->kind <= LP_OP_WAIT_NOTIFY) ||
           (op->kind >= LP_OP_STORE_TO && op->kind <= LP_OP_LOAD_FROM);
}

int data_check(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    const bool peer = has_peer(op) && op->peer >= site->pass->pe_count;
    if (op->pe >= site->pass->pe_count || peer)
        return data_impossible(site->pass, op, error, "there are %u PEs, not %u",
                               site->pass->pe_count,
                               op->pe >= site->pass->pe_count ? op->pe : op->peer);
    int code;
    switch (op->kind) {
    case LP_OP_SEND:
        if (op->math != 0 &&
            (op->peer != op->pe || op->peer_dir != op->dir ||
             !redop_is_known(op->math % LP_NOT_WANTED) || !dtype_is_known(op->dtype) ||
             op->bytes % dtype_bytes((enum dtype)op->dtype) != 0))
            return data_impossible(site->pass, op, error,
                                   "a part of a tile, operation %u, dtype %u, for PE index %u",
                                   op->math, op->dtype, op->peer);
        if (op->peer_dir >= HW_DIRS_MAX)
            return data_impossible(site->pass, op, error, "direction %u; there are %u",
                                   op->peer_dir, (unsigned)HW_DIRS_MAX);
        return check_source(site, op, op->bytes, error);
    case LP_OP_RECV:
        return check_recv(site, op, error);
    case LP_OP_LOAD:
    case LP_OP_STORE:
    case LP_OP_COPY:
    case LP_OP_STORE_TO:
        code = check_source(site, op, op->bytes, error);
        return code ? code : check_destination(site, op, op->bytes, error);
    case LP_OP_MATH:
        return check_math(site, op, error);
    case LP_OP_PUT:
        code = op->math ? check_elements(site, op, true, error) : CW_OK;
        return code ? code : check_source(site, op, op->bytes, error);
    case LP_OP_LAND:
    case LP_OP_STORED:
    case LP_OP_LOAD_FROM:
        return check_land(site, op, error);
    case LP_OP_LENT:
        return check_source(site, op, op->bytes, error);
    case LP_OP_NOTIFY:
    case LP_OP_WAIT_NOTIFY:
        return CW_OK;
    case LP_OP_CAST:
        return check_cast(site, op, error);
    case LP_OP_GEMM:
        return check_gemm(site, op, error);
    default:
        return data_impossible(site->pass, op, error, "kind %u", op->kind);
    }
}
