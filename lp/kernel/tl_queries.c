/*
 * tl_queries.c: the queries of the kernel API (tl.h): they are answered at once, and cost nothing.
 * Runs in handlers only.
 */
#include "lp/kernel/tl.h"

#include "lp/kernel/tl_call.h"
#include "lp/queues/queue_ends.h"

const struct tl_args *tl_args(const struct tl *tl) { return &tl->launch->args; }

struct hw_place tl_place(const struct tl *tl)
{
    return (struct hw_place){tl->view->sip, tl->view->cube_in_sip, tl->pe};
}

uint64_t tl_shard(const struct tl *tl)
{
    const struct tl_args *args = tl_args(tl);
    const uint32_t cube = tl->view->cube_in_sip;
    return args->tensor +
           (args->pe_shards ? cube * tl->view->m->pes + tl->pe : cube) * args->shard_bytes;
}

uint32_t tl_pe_id(const struct tl *tl) { return tl->pe; }

uint32_t tl_num_pes(const struct tl *tl) { return tl->view->m->pes; }
uint32_t tl_program_id(const struct tl *tl)
{
    return tl->view->cube_in_sip * tl->view->m->pes + tl->pe;
}
uint32_t tl_num_programs(const struct tl *tl) { return tl->view->m->cubes * tl->view->m->pes; }

uint32_t tl_pe_index(const struct tl *tl, struct hw_place place)
{
    return hw_pe_index(&tl->view->m->hw, place);
}

uint32_t tl_slot_bytes(const struct tl *tl) { return lp_move_bytes(&tl->view->m->config); }

bool tl_installed(const struct tl *tl, enum hw_dir dir)
{
    return tl_has_queue(tl, tl_dir_of_pe(tl, dir));
}

enum hw_dir tl_dir(const struct tl *tl, const char *name)
{
    const enum hw_dir dir = lp_dir_named(
        lp_plan_at(tl->view->m, tl->p), lp_pe_index(tl->view, tl->pe), (uint16_t)tl_dirs(tl), name);
    const struct lp_dirs *const dirs = tl->launch->dirs;
    enum hw_dir own = dirs != NULL ? 0 : dir;
    while (dirs != NULL && own < HW_DIRS_MAX && dirs->of_pe[own] != dir)
        own++;
    return dir == HW_DIRS_MAX ? dir : own;
}

uint32_t tl_tile_elems(const struct tl *tl)
{
    return tl_slot_bytes(tl) / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

uint32_t tl_tiles(const struct tl *tl)
{
    const uint32_t per_tile = tl_tile_elems(tl);
    return (uint32_t)((tl_args(tl)->n_elem + per_tile - 1) / per_tile);
}

uint32_t tl_tile_bytes(const struct tl *tl, uint32_t tile)
{
    const uint64_t per_tile = tl_tile_elems(tl), first = tile * per_tile;
    const uint64_t left = tl_args(tl)->n_elem - first;
    return (uint32_t)(left < per_tile ? left : per_tile) *
           tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

struct lp_operand tl_received(const struct tl *tl)
{
    return (struct lp_operand){
        .space = LP_SPACE_TILE, .dir = tl->kernel->received_dir, .at = tl->kernel->received_seq};
}

struct lp_operand tl_received_from(const struct tl *tl, enum hw_dir own)
{
    const enum hw_dir dir = tl_dir_of_pe(tl, own);
    if (!tl_has_queue(tl, dir))
        tl_fail(tl, "", ": received_from direction %u, which is not installed there",
                (unsigned)own);
    return (struct lp_operand){.space = LP_SPACE_TILE,
                               .dir = (uint8_t)dir,
                               .at = tl->p->queue[dir].my_tail + tl->p->queue[dir].promised - 1};
}
