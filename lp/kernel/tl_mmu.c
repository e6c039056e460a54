/*
 * tl_mmu.c: PE_MMU (tl_mmu.h). Mapped are the PE's shard of the tensor, the regions of the launch,
 * and the cube's SRAM. Its time is part of a call's overheads (tl_cost.c).
 */
#include "lp/kernel/tl_mmu.h"

/* The mapped range that holds `va`, extended to whole pages: the PE's shard of the tensor, or a
 * region. False: none. */
static bool find_range(const struct tl *tl, uint64_t va, struct tl_region *found)
{
    const struct tl_args *args = tl_args(tl);
    const uint64_t page = tl->run->m->hw.mmu_page_bytes;
    struct tl_region range[1 + TL_REGIONS] = {{tl_shard(tl), args->tensor_pa, args->shard_bytes}};
    for (uint32_t i = 0; i < TL_REGIONS; i++)
        range[1 + i] = args->region[i];
    for (uint32_t i = 0; i < 1 + TL_REGIONS; i++) {
        range[i].bytes = (range[i].bytes + page - 1) / page * page;
        if (va >= range[i].va && va - range[i].va < range[i].bytes) {
            *found = range[i];
            return true;
        }
    }
    return false;
}

static void page_fault(struct tl *tl, enum tl_call_kind kind, uint64_t va, uint32_t bytes)
{
    const struct tl_args *args = tl_args(tl);
    const uint64_t shard = tl_shard(tl);
    tl_fail(tl, "PageFault: ",
            ": %s of %u bytes at address 0x%llx, which is not mapped there (its shard is 0x%llx to "
            "0x%llx)",
            tl_call_ops[kind].name, bytes, (unsigned long long)va, (unsigned long long)shard,
            (unsigned long long)(shard + args->shard_bytes));
}

struct lp_operand tl_translate(struct tl *tl, enum tl_call_kind kind, uint64_t va, uint32_t bytes)
{
    struct tl_region range;
    const uint64_t sram = va - tl_sram_va(0);
    if (va >= tl_sram_va(0) && sram < tl->run->m->hw.sram_bytes &&
        bytes <= tl->run->m->hw.sram_bytes - sram)
        return tl_sram((uint32_t)sram);
    if (!find_range(tl, va, &range) || bytes > range.bytes - (va - range.va))
        page_fault(tl, kind, va, bytes);
    return tl_hbm((uint32_t)(range.pa + (va - range.va)));
}
