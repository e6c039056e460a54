/*
 * tl_mmu.c: PE_MMU (tl_mmu.h). A PE reaches the maps that it holds (lp/maps.h) and whose MmuMapMsg
 * has taken effect there, and its cube's SRAM. Its time is part of a call's overheads (tl_cost.c).
 */
#include "lp/kernel/tl_mmu.h"

#include <stdio.h>
#include <string.h>

#include "lp/kernel/tl_arguments.h"
#include "lp/maps.h"

void tl_map(struct lp_view *view, uint32_t pe, uint32_t message)
{
    const struct lp_pe *const p = lp_pe(view->m, view->cube, pe);
    if (message > p->mapped)
        *CW_MUT(view->ctx, &p->mapped) = message;
}

/* It holds at this PE by now. */
static bool is_in_effect(const struct tl *tl, const struct lp_map *map)
{
    return map->message <= tl->p->mapped && lp_map_is_held(map, tl->view->cube_in_sip, tl->pe);
}

/* " 0x100 to 0x200," for each range that is mapped at this PE, up to four. */
static void list_ranges(const struct tl *tl, char *text, size_t size)
{
    const struct lp_maps *const maps = tl->view->m->maps;
    uint32_t listed = 0;
    const struct lp_map *map;
    text[0] = '\0';
    for (uint32_t i = 0;
         (map = lp_maps_at(maps, lp_sip_index(tl->view->m, tl->view->sip), i)) != NULL &&
         listed < 4;
         i++) {
        if (!is_in_effect(tl, map))
            continue;
        const uint64_t va = lp_map_va(maps, map, tl->view->cube_in_sip, tl->pe);
        const size_t used = strlen(text);
        (void)snprintf(text + used, size - used, " 0x%llx to 0x%llx,", (unsigned long long)va,
                       (unsigned long long)(va + map->bytes));
        listed++;
    }
}

static _Noreturn __attribute__((noinline, cold)) void
page_fault(struct tl *tl, enum tl_call_kind kind, uint64_t va, uint32_t bytes)
{
    const struct lp_map *const map =
        lp_maps_find(tl->view->m->maps, lp_sip_index(tl->view->m, tl->view->sip), va);
    const bool held = map != NULL && lp_map_is_held(map, tl->view->cube_in_sip, tl->pe);
    const bool early = held && map->message > tl->p->mapped;
    char ranges[4 * 48];
    list_ranges(tl, ranges, sizeof ranges);
    tl_fail(tl, "PageFault: ",
            ": %s of %u bytes at address 0x%llx, which is not mapped there%s; legal:%s its cube's "
            "SRAM from 0x%llx on",
            tl_call_name[kind], bytes, (unsigned long long)va,
            early ? " before its MmuMapMsg has taken effect" : "", ranges,
            (unsigned long long)tl_sram_va(0));
}

struct lp_operand tl_translate(struct tl *tl, enum tl_call_kind kind, uint64_t va, uint32_t bytes)
{
    const struct lp_maps *const maps = tl->view->m->maps;
    const uint64_t sram = va - tl_sram_va(0);
    if (va >= tl_sram_va(0) && sram < tl->view->m->hw.sram_bytes &&
        bytes <= tl->view->m->hw.sram_bytes - sram) {
        const struct lp_operand at = tl_sram((uint32_t)sram);
        tl_check_rings(tl, kind, lp_pe_index(tl->view, tl->pe), at, bytes);
        return at;
    }
    const struct lp_map *const map =
        lp_maps_find(maps, lp_sip_index(tl->view->m, tl->view->sip), va);
    if (map != NULL && is_in_effect(tl, map)) {
        const uint64_t offset = va - lp_map_va(maps, map, tl->view->cube_in_sip, tl->pe);
        if (offset <= map->bytes && bytes <= map->bytes - offset)
            return tl_hbm((uint32_t)(map->pa + offset));
    }
    page_fault(tl, kind, va, bytes);
}
