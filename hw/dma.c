/*
 * dma.c: arbitration of PE_DMA's engine (dma.h).
 */
#include "hw/dma.h"

void hw_dma_init(struct hw_dma *dma)
{
    *dma = (struct hw_dma){.running = HW_VCS, .last = HW_VCS, .last_before = HW_VCS};
}

/* Time from the moment `from` bytes of an operation have passed until `to` have. A chunk's time is
 * such a difference, so that chunks sum to ser(n). */
static int64_t passing_ps(const struct hw_dma_params *params, uint32_t from, uint32_t to)
{
    return hw_rate_ps(params->rate, to) - hw_rate_ps(params->rate, from);
}

static enum hw_vc choose(struct hw_dma *dma, const struct hw_dma_params *params)
{
    if (dma->count[HW_VC_COMPUTE] == 0 || dma->count[HW_VC_COMM] == 0) {
        dma->quota = 0; /* chunks passed while alone count for no quota */
        return dma->count[HW_VC_COMPUTE] ? HW_VC_COMPUTE : HW_VC_COMM;
    }
    if (dma->quota > 0) {
        dma->quota--;
        return (enum hw_vc)dma->last;
    }
    const enum hw_vc vc = dma->last == HW_VC_COMPUTE ? HW_VC_COMM : HW_VC_COMPUTE;
    dma->quota = (uint16_t)(params->weight[vc] - 1);
    return vc;
}

int64_t hw_dma_grant(struct hw_dma *dma, const struct hw_dma_params *params,
                     const uint32_t first_bytes[HW_VCS], int64_t now_ps, uint16_t depth)
{
    if (dma->count[HW_VC_COMPUTE] == 0 && dma->count[HW_VC_COMM] == 0)
        return -1;
    const bool alone = dma->count[HW_VC_COMPUTE] == 0 || dma->count[HW_VC_COMM] == 0;
    dma->last_before = dma->last;
    dma->quota_before = dma->quota;
    const enum hw_vc vc = choose(dma, params);
    const uint32_t left = first_bytes[vc] - dma->passed[vc];
    const uint32_t bytes =
        left > params->chunk_bytes && (!alone || params->whole_chunks) ? params->chunk_bytes : left;
    dma->last = (uint8_t)vc;
    dma->running = (uint8_t)vc;
    dma->run_bytes = dma->passed[vc] + bytes;
    dma->run_start_ps = now_ps;
    dma->run_depth = depth;
    dma->generation++;
    return now_ps + passing_ps(params, dma->passed[vc], dma->run_bytes);
}

int64_t hw_dma_newcomer(struct hw_dma *dma, const struct hw_dma_params *params, enum hw_vc vc,
                        int64_t now_ps, uint16_t depth, bool *regrant)
{
    const enum hw_vc running = (enum hw_vc)dma->running;
    *regrant = false;
    if (running == vc || running == HW_VCS)
        return -1;
    if (now_ps == dma->run_start_ps && depth <= dma->run_depth) {
        dma->last = dma->last_before;
        dma->quota = dma->quota_before;
        dma->running = HW_VCS;
        *regrant = true;
        return -1;
    }
    /* The first chunk boundary of the run that is not before now. A run is whole chunks from the
     * operation's start, except for the operation's last bytes. */
    const uint32_t start = dma->passed[running];
    uint64_t low = 1, high = (dma->run_bytes - start + params->chunk_bytes - 1ull) /
                             params->chunk_bytes; /* that many chunks end the run */
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        const uint32_t passed = (uint32_t)(start + middle * params->chunk_bytes);
        if (dma->run_start_ps + passing_ps(params, start, passed) >= now_ps)
            high = middle;
        else
            low = middle + 1;
    }
    const uint64_t passed = start + low * params->chunk_bytes;
    if (passed >= dma->run_bytes)
        return -1;
    dma->run_bytes = (uint32_t)passed;
    dma->generation++;
    return dma->run_start_ps + passing_ps(params, start, dma->run_bytes);
}

uint32_t hw_dma_run_end(struct hw_dma *dma)
{
    const enum hw_vc vc = (enum hw_vc)dma->running;
    const uint32_t before = dma->passed[vc];
    dma->passed[vc] = dma->run_bytes;
    dma->running = HW_VCS;
    return before;
}
