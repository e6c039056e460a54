/*
 * data_pass.c: executes data operations (data_pass.h). Everything happens in stretches: a range of
 * an address space, or a tile, gives one contiguous piece after the other, and a copy or an
 * addition works on the longest piece that all its operands have there.
 */
#include "collectives/data/data_pass.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "collectives/data/data_check.h"
#include "collectives/data/data_matrix.h"
#include "collectives/data/data_commit.h"
#include "collectives/data/data_parcel.h"
#include "collectives/data/input.h"
#include "collectives/data/op_log_write.h"
#include "collectives/memory/range_hash.h"
#include "core/os/pages.h"

static uint32_t worker_of_cube(const struct data_pass *pass, uint32_t cube)
{
    return pass->owner ? pass->owner(pass->owner_arg, cube) : 0;
}

static bool make_workers(struct data_pass *pass)
{
    pass->workers =
        aligned_alloc(_Alignof(struct data_worker), pass->worker_count * sizeof *pass->workers);
    if (!pass->workers)
        return false;
    memset(pass->workers, 0, pass->worker_count * sizeof *pass->workers);
    bool good = true;
    for (uint32_t i = 0; i < pass->worker_count; i++) {
        tile_pool_init(&pass->workers[i].pool, &pass->storage);
        good &= sparse_arena_init(&pass->workers[i].arena, &pass->storage);
    }
    return good;
}

struct data_pass *data_pass_create(const struct hw_config *hw, uint64_t bytes_max,
                                   uint32_t worker_count)
{
    assert(hw->hbm_bytes <= (uint64_t)1 << 32 && hw->tcm_bytes <= (uint64_t)1 << 32 &&
           hw->sram_bytes <= (uint64_t)1 << 32 && hw_pe_count(hw) <= 1u << 30);
    struct data_pass *pass = calloc(1, sizeof *pass);
    if (!pass)
        return NULL;
    pass->hw = hw;
    pass->pes = hw_pes(hw);
    pass->pe_count = hw_pe_count(hw);
    pass->cube_count = pass->pe_count / pass->pes;
    pass->worker_count = worker_count;
    storage_init(&pass->storage, bytes_max);
    pass->cubes =
        pages_map(pass->cube_count * sizeof *pass->cubes); /* each worker touches its own */
    if (make_workers(pass) && pass->cubes)
        return pass;
    data_pass_free(pass);
    return NULL;
}

static void free_cube(struct data_pass *pass, struct data_cube *cube)
{
    sparse_memory_free(&cube->memory);
    tiles_free(&cube->tiles, &pass->storage);
    data_parcels_free(cube);
    data_waiting_free(cube);
}

void data_pass_free_part(struct data_pass *pass, uint32_t worker)
{
    for (uint32_t i = 0; i < pass->cube_count; i++)
        if (worker_of_cube(pass, i) == worker)
            free_cube(pass, &pass->cubes[i]);
    sparse_arena_free(&pass->workers[worker].arena);
    tile_pool_free(&pass->workers[worker].pool);
}

void data_pass_free(struct data_pass *pass)
{
    if (!pass)
        return;
    for (uint32_t i = 0; pass->cubes && i < pass->cube_count; i++)
        free_cube(pass, &pass->cubes[i]);
    if (pass->cubes)
        pages_unmap(pass->cubes, pass->cube_count * sizeof *pass->cubes);
    for (uint32_t i = 0; pass->workers && i < pass->worker_count; i++) {
        sparse_arena_free(&pass->workers[i].arena);
        tile_pool_free(&pass->workers[i].pool);
    }
    free(pass->workers);
    free(pass);
}

void data_pass_set_owner(struct data_pass *pass, uint32_t (*owner)(void *arg, uint32_t cube),
                         void *arg)
{
    pass->owner = owner;
    pass->owner_arg = arg;
}

void data_pass_set_plan(struct data_pass *pass, const struct lp_plan *plan) { pass->plan = plan; }

uint64_t data_pass_tiles(const struct data_pass *pass)
{
    uint64_t alive = 0;
    for (uint32_t i = 0; i < pass->cube_count; i++)
        alive += pass->cubes[i].tiles.alive;
    return alive;
}

uint64_t data_pass_bytes(const struct data_pass *pass) { return storage_taken(&pass->storage); }

void data_pass_log(struct data_pass *pass, struct op_log *log) { pass->log = log; }

/* ---- operations ------------------------------------------------------------------------------ */

/* Binds the value of the source and sends it on: a tile, a put, a raw store or a loan. */
static int apply_value(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    struct data_pass *const pass = site->pass;
    struct tile_buffer *buffer;
    uint32_t expected;
    if (op->a.space == LP_SPACE_TILE) { /* forwarded: one more name for the same bytes */
        struct tile *const tile = data_tile(site, op->pe, op->a.at, op->a.dir);
        tile->received = true;
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
        code = data_parcel_send(site, op, buffer, error);
    tile_buffer_release(buffer, &site->worker->pool);
    if (code == CW_OK)
        data_unbind(site, op, &op->a, &(struct source){0});
    return code;
}

/* dst <- a source that does not overlap it, or lies exactly there. False: out of storage. */
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
    tile->received = true;
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

/* One element that lies across the end of a stretch. False: out of storage. */
static bool math_across(const struct data_site *site, const struct lp_op *op, uint64_t dst,
                        const struct source *a, const struct source *b, size_t at)
{
    const size_t bytes = dtype_bytes((enum dtype)op->dtype);
    uint8_t x[DTYPE_BYTES_MAX], y[DTYPE_BYTES_MAX];
    data_gather(site, a, at, x, bytes);
    data_gather(site, b, at, y, bytes);
    dtype_reduce((enum dtype)op->dtype, (enum redop)op->math, x, x, y, 1);
    return data_store(site, dst + at, x, bytes);
}

static bool math_all(const struct data_site *site, const struct lp_op *op, uint64_t dst,
                     const struct source *a, const struct source *b)
{
    const size_t itemsize = dtype_bytes((enum dtype)op->dtype);
    for (size_t done = 0, run; done < op->bytes; done += run) {
        /* dst first: where it is an operand, too, the operand's pages must be there by then */
        uint8_t *to = data_touch(site, dst + done, op->bytes - done, &run);
        if (!to)
            return false;
        const uint8_t *x = data_stretch(site, a, done, &run);
        const uint8_t *y = data_stretch(site, b, done, &run);
        run -= run % itemsize;
        if (run) {
            dtype_reduce((enum dtype)op->dtype, (enum redop)op->math, to, x, y, run / itemsize);
            continue;
        }
        if (!math_across(site, op, dst, a, b, done))
            return false;
        run = itemsize;
    }
    return true;
}

static int apply_math(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    const struct target target = {data_operand_address(site->pass, op->pe, &op->dst), op->bytes,
                                  true};
    struct source a, b = {0};
    const bool done = data_bind(site, op, &op->a, op->bytes, &target, &a) &&
                      data_bind(site, op, &op->b, op->bytes, &target, &b) &&
                      math_all(site, op, target.address, &a, &b);
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
    const int code = data_check(site, op, error);
    return code ? code : apply_checked(site, op, error);
}

/* Of records that come in the total order; they are worker 0's. */
static struct data_site site_of(struct data_pass *pass, uint32_t pe)
{
    return (struct data_site){pass, &pass->workers[0],
                              &pass->cubes[pe < pass->pe_count ? pe / pass->pes : 0], NULL};
}

int data_pass_apply(struct data_pass *pass, const struct lp_op *op, struct cw_error *error)
{
    const struct data_site site = site_of(pass, op->pe);
    const int code = data_apply(&site, op, error);
    if (!code && pass->log)
        op_log_op(pass->log, op);
    return code;
}

void data_pass_end_kernel(struct data_pass *pass, uint32_t pe)
{
    const struct data_site site = site_of(pass, pe);
    tiles_end_kernel(&site.cube->tiles, &site.worker->pool, pe);
    if (pass->log)
        op_log_kernel_ended(pass->log, pe);
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

uint32_t data_pass_worker_of_sip(const struct data_pass *pass, uint32_t sip)
{
    return worker_of_cube(pass, sip * hw_cubes(pass->hw));
}

/* The host's access to a PE's memory between drains: new pages are those of the cube's worker. */
static struct data_site host_site(struct data_pass *pass, uint32_t pe)
{
    const uint32_t cube = pe / pass->pes;
    return (struct data_site){pass, &pass->workers[worker_of_cube(pass, cube)], &pass->cubes[cube],
                              NULL};
}

void data_pass_read(const struct data_pass *pass, uint32_t pe, uint64_t offset, void *dst,
                    size_t bytes)
{
    sparse_memory_read(&pass->cubes[pe / pass->pes].memory,
                       data_pass_range(pass, pe, offset, bytes).address, dst, bytes);
}

/* Pages that are given back become the worker's. */
static bool fill_as(struct data_pass *pass, uint32_t worker, uint32_t pe, uint64_t offset,
                    uint64_t bytes, struct sparse_content content)
{
    const struct data_site site = {pass, &pass->workers[worker], &pass->cubes[pe / pass->pes],
                                   NULL};
    return bytes == 0 || sparse_memory_fill(&site.cube->memory, &site.worker->arena,
                                            data_pass_range(pass, pe, offset, bytes), content);
}

static bool host_fill(struct data_pass *pass, uint32_t pe, uint64_t offset, uint64_t bytes,
                      struct sparse_content content)
{
    return fill_as(pass, worker_of_cube(pass, pe / pass->pes), pe, offset, bytes, content);
}

int data_pass_write(struct data_pass *pass, uint32_t pe, uint64_t offset, const void *src,
                    size_t bytes, struct cw_error *error)
{
    const struct data_site site = host_site(pass, pe);
    if (!data_store(&site, data_pass_range(pass, pe, offset, bytes).address, src, bytes))
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

int data_pass_fill_input(struct data_pass *pass, uint32_t pe, uint64_t offset, enum dtype dtype,
                         uint64_t seed, uint64_t first, uint64_t count, struct cw_error *error)
{
    const struct sparse_content content = {.make = make_input, .word = {dtype, seed, first}};
    if (!host_fill(pass, pe, offset, count * dtype_bytes(dtype), content))
        return data_out_of_storage(pass, error);
    if (pass->log)
        op_log_fill_input(pass->log, pe, offset, dtype, seed, first, count);
    return CW_OK;
}

int data_pass_fill_as(struct data_pass *pass, uint32_t worker, const struct data_fill *fill,
                      struct cw_error *error)
{
    const struct sparse_content content = {.make = fill->zero ? NULL : make_input,
                                           .word = {fill->dtype, fill->seed, fill->first}};
    return fill_as(pass, worker, fill->pe, fill->offset, fill->count * dtype_bytes(fill->dtype),
                   content)
               ? CW_OK
               : data_out_of_storage(pass, error);
}

int data_pass_forget(struct data_pass *pass, uint32_t pe, uint64_t offset, uint64_t bytes,
                     struct cw_error *error)
{
    if (!host_fill(pass, pe, offset, bytes, (struct sparse_content){.make = NULL}))
        return data_out_of_storage(pass, error);
    if (pass->log)
        op_log_fill(pass->log, pe, offset, DTYPE_F16, 0, bytes / dtype_bytes(DTYPE_F16));
    return CW_OK;
}

/* One value again and again, from any byte on. */
static void make_value(const struct sparse_content *content, uint64_t at, void *dst, size_t bytes)
{
    const size_t itemsize = (size_t)content->word[0];
    uint8_t element[DTYPE_BYTES_MAX], *to = dst;
    memcpy(element, &content->word[1], itemsize);
    for (size_t i = 0; i < bytes; i++)
        to[i] = element[(at + i) % itemsize];
}

int data_pass_fill(struct data_pass *pass, uint32_t pe, uint64_t offset, enum dtype dtype,
                   float value, uint64_t count, struct cw_error *error)
{
    const size_t itemsize = dtype_bytes(dtype);
    struct sparse_content content = {.make = make_value, .word = {itemsize}};
    dtype_from_f32(dtype, (uint8_t *)&content.word[1], &value, 1);
    if (content.word[1] == 0)
        content.make = NULL;
    if (!host_fill(pass, pe, offset, count * itemsize, content))
        return data_out_of_storage(pass, error);
    if (pass->log)
        op_log_fill(pass->log, pe, offset, dtype, value, count);
    return CW_OK;
}

static const struct sparse_memory *memory_of_address(const void *arg, uint64_t address)
{
    const struct data_pass *const pass = arg;
    const uint32_t pe = address >> 32 & ((1u << 30) - 1);
    return &pass->cubes[pe / pass->pes].memory;
}

uint64_t data_pass_hash(const struct data_pass *pass, const struct sparse_range *ranges,
                        size_t count, struct cw_sim *sim)
{
    return range_hash(&(struct range_hash_request){
        .ranges = ranges, .count = count, .memory_of = memory_of_address, .arg = pass, .sim = sim});
}

uint64_t data_pass_digest(const struct data_pass *pass)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (enum memory_kind kind = MEMORY_TCM; kind <= MEMORY_HBM; kind++)
        for (uint32_t cube = 0; cube < pass->cube_count; cube++) {
            const uint64_t count = kind == MEMORY_SRAM ? 1 : pass->pes;
            const struct sparse_range all = {data_address(kind, (uint32_t)(cube * count), 0),
                                             count << 32};
            sparse_memory_digest(&pass->cubes[cube].memory, all, &state);
        }
    return XXH3_64bits_digest(&state);
}
