/*
 * data_pass.c: the contents of all memories as the host sees them (data_pass.h): creation, records
 * that come one after the other, filling, reading, hashing.
 */
#include "collectives/data/data_join.h"
#include "collectives/data/data_pass.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "collectives/data/data_apply.h"
#include "collectives/data/data_commit.h"
#include "collectives/data/data_parcel.h"
#include "collectives/data/data_take.h"
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
    pass->joins = data_joins_create();
    if (make_workers(pass) && pass->cubes && pass->joins)
        return pass;
    data_pass_free(pass);
    return NULL;
}

void data_pass_set_arithmetic(struct data_pass *pass, struct ccl_arithmetic arithmetic)
{
    pass->arithmetic = arithmetic;
}

static void free_cube(struct data_pass *pass, struct data_cube *cube)
{
    sparse_memory_free(&cube->memory);
    wide_sums_free(&cube->wide);
    tiles_free(&cube->tiles, &pass->storage);
    data_parcels_free(cube);
    data_waiting_free(cube);
    data_takes_free(cube);
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
    data_joins_free(pass->joins);
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

/* ---- records in the total order -------------------------------------------------------------- */

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
    tiles_end_kernel(&site.cube->tiles, &site.worker->pool, pe, 0); /* an op log has no queues */
    (void)wide_sums_forget(&site.cube->wide, pe, 0, UINT32_MAX, 1);
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

/* The host's access to a PE's memory between drains: new pages belong to the cube's worker. */
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

int data_pass_exchange(struct data_pass *pass, uint32_t pe, uint64_t offset, uint8_t *buffer,
                       size_t bytes, struct cw_error *error)
{
    const struct data_site site = host_site(pass, pe);
    const uint64_t at = data_pass_range(pass, pe, offset, bytes).address;
    for (size_t done = 0, run; done < bytes; done += run) {
        uint8_t *const place = data_touch(&site, at + done, bytes - done, &run);
        if (place == NULL)
            return data_out_of_storage(pass, error);
        for (size_t i = 0; i < run; i++) {
            const uint8_t byte = place[i];
            place[i] = buffer[done + i];
            buffer[done + i] = byte;
        }
    }
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
        op_log_fill(pass->log, pe, offset, bytes % 2 ? DTYPE_INT8 : DTYPE_F16, 0,
                    bytes % 2 ? bytes : bytes / 2);
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
