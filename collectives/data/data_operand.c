/*
 * data_operand.c: operands of the data pass's operations (data_operand.h). An operation that writes
 * over a part of an operand, but not exactly over the operand, works on a copy of it.
 */
#include "collectives/data/data_operand.h"

#include <assert.h>
#include <string.h>

/* ---- storage --------------------------------------------------------------------------------- */

int data_out_of_storage(const struct data_pass *pass, struct cw_error *error)
{
    const unsigned long long taken = storage_taken(&pass->storage), most = pass->storage.bytes_max;
    if (most == UINT64_MAX)
        return cw_error_set(error, CW_NO_RESOURCE,
                            "out of memory: tensors and tiles have taken %llu bytes; `run "
                            "--no-data` leaves the data out",
                            taken);
    return cw_error_set(error, CW_NO_RESOURCE,
                        "out of memory: tensors and tiles have taken %llu of %llu bytes, and need "
                        "more; allow it (--max-memory); `run --no-data` leaves the data out",
                        taken, most);
}

/* ---- operands -------------------------------------------------------------------------------- */

uint64_t data_operand_address(const struct data_pass *pass, uint32_t pe,
                              const struct lp_operand *operand)
{
    switch (operand->space) {
    case LP_SPACE_TCM:
        return data_address(MEMORY_TCM, pe, operand->at);
    case LP_SPACE_HBM:
        return data_address(MEMORY_HBM, pe, operand->at);
    default:
        return data_address(MEMORY_SRAM, pe / pass->pes, operand->at);
    }
}

bool data_store(const struct data_site *site, uint64_t address, const void *src, size_t bytes)
{
    return sparse_memory_write(&site->cube->memory, &site->worker->arena, address, src, bytes);
}

const uint8_t *data_stretch(const struct data_site *site, const struct source *source, size_t at,
                            size_t *run)
{
    if (source->bytes)
        return source->bytes + at;
    return sparse_memory_look(&site->cube->memory, &site->worker->arena, source->address + at, *run,
                              run);
}

void data_gather(const struct data_site *site, const struct source *source, size_t at, uint8_t *dst,
                 size_t bytes)
{
    for (size_t done = 0, run; done < bytes; done += run) {
        run = bytes - done;
        const uint8_t *from = data_stretch(site, source, at + done, &run);
        memcpy(dst + done, from, run);
    }
}

struct tile *data_tile(const struct data_site *site, uint32_t pe, uint32_t seq, uint8_t dir)
{
    struct tile *tile = NULL;
    const enum tile_state state =
        tiles_find(&site->cube->tiles, (struct tile_name){pe, seq, dir}, &tile);
    assert(state == TILE_THERE);
    (void)state;
    return tile;
}

bool data_bind(const struct data_site *site, const struct lp_op *op,
               const struct lp_operand *operand, uint64_t bytes, const struct target *target,
               struct source *source)
{
    *source = (struct source){0};
    if (operand->space == LP_SPACE_TILE) {
        struct tile *const tile = data_tile(site, op->pe, operand->at, operand->dir);
        tile->received = 1 + operand->queue;
        source->bytes = tile->buffer->bytes;
        return true;
    }
    source->address = data_operand_address(site->pass, op->pe, operand);
    if (!target || (target->same && target->address == source->address) ||
        target->address + target->bytes <= source->address ||
        source->address + bytes <= target->address)
        return true;
    source->copy = tile_pool_take(&site->worker->pool, (uint32_t)bytes);
    if (!source->copy)
        return false;
    data_gather(site, source, 0, source->copy->bytes, bytes);
    source->bytes = source->copy->bytes;
    return true;
}

void data_unbind(const struct data_site *site, const struct lp_op *op,
                 const struct lp_operand *operand, const struct source *source)
{
    if (source->copy)
        tile_buffer_release(source->copy, &site->worker->pool);
    const struct tile_name name = {op->pe, operand->at, operand->dir};
    struct tile *tile;
    if (operand->space == LP_SPACE_TILE && operand->flags & LP_LAST_USE &&
        tiles_find(&site->cube->tiles, name, &tile) ==
            TILE_THERE) /* a and b may be the same tile */
        tiles_drop(&site->cube->tiles, &site->worker->pool, name);
}
