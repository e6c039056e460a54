/*
 * data_operand.c: operands of the data pass's operations (data_operand.h). An operation that writes
 * over a part of an operand, but not exactly over the operand, works on a copy of it.
 */
#include "collectives/data/data_operand.h"

#include <assert.h>
#include <string.h>

/* ---- storage --------------------------------------------------------------------------------- */

uint64_t data_bytes_taken(const struct data_pass *pass)
{
    return sparse_memory_bytes(pass->memory) + tiles_bytes(pass->tiles);
}

int data_out_of_storage(const struct data_pass *pass, struct cw_error *error)
{
    const unsigned long long taken = data_bytes_taken(pass), most = pass->bytes_max;
    if (pass->bytes_max == UINT64_MAX)
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

const uint8_t *data_stretch(struct data_pass *pass, const struct source *source, size_t at,
                            size_t *run)
{
    if (source->bytes)
        return source->bytes + at;
    return sparse_memory_look(pass->memory, source->address + at, *run, run);
}

uint64_t data_room(const struct data_pass *pass)
{
    const uint64_t stored = sparse_memory_bytes(pass->memory);
    return pass->bytes_max > stored ? pass->bytes_max - stored : 0;
}

void data_share_limit(struct data_pass *pass)
{
    if (pass->bytes_max != UINT64_MAX)
        sparse_memory_limit(pass->memory, pass->bytes_max - tiles_bytes(pass->tiles));
}

struct tile_buffer *data_take(struct data_pass *pass, uint32_t bytes)
{
    struct tile_buffer *buffer = tiles_take(pass->tiles, bytes, data_room(pass));
    data_share_limit(pass);
    return buffer;
}

void data_gather(struct data_pass *pass, const struct source *source, size_t at, uint8_t *dst,
                 size_t bytes)
{
    for (size_t done = 0, run; done < bytes; done += run) {
        run = bytes - done;
        const uint8_t *from = data_stretch(pass, source, at + done, &run);
        memcpy(dst + done, from, run);
    }
}

bool data_bind(struct data_pass *pass, const struct lp_op *op, const struct lp_operand *operand,
               uint64_t bytes, const struct target *target, struct source *source)
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
    source->address = data_operand_address(pass, op->pe, operand);
    if (!target || (target->same && target->address == source->address) ||
        target->address + target->bytes <= source->address ||
        source->address + bytes <= target->address)
        return true;
    source->copy = data_take(pass, (uint32_t)bytes);
    if (!source->copy)
        return false;
    data_gather(pass, source, 0, source->copy->bytes, bytes);
    source->bytes = source->copy->bytes;
    return true;
}

void data_unbind(struct data_pass *pass, const struct lp_op *op, const struct lp_operand *operand,
                 const struct source *source)
{
    if (source->copy)
        tiles_release(pass->tiles, source->copy);
    const struct tile_name name = {op->pe, operand->at, operand->dir};
    struct tile *tile;
    if (operand->space == LP_SPACE_TILE && operand->flags & LP_LAST_USE &&
        tiles_find(pass->tiles, name, &tile) == TILE_THERE) /* a and b may be the same tile */
        tiles_drop(pass->tiles, name);
}
