/*
 * dma.c: arbitration of PE_DMA's engine (dma.h).
 */
#include "hw/dma.h"

#include "hw/arithmetic.h"

void hw_dma_init(struct hw_dma *dma)
{
    *dma = (struct hw_dma){.running = HW_VC_IDLE, .last = HW_VC_IDLE, .last_before = HW_VC_IDLE};
}

/* Time from the moment `from` bytes of an operation have passed until `to` have. A chunk's time is
 * such a difference, so that chunks sum to ser(n). */
static int64_t passing_ps(const struct hw_dma_params *params, uint32_t from, uint32_t to)
{
    return hw_rate_ps(params->rate, to) - hw_rate_ps(params->rate, from);
}

static enum hw_vc other(enum hw_vc vc) { return vc == HW_VC_COMPUTE ? HW_VC_COMM : HW_VC_COMPUTE; }

/* Bytes of an operation that have passed after `chunks` more. */
static uint32_t after_chunks(const struct hw_dma_params *params, uint32_t passed, uint32_t bytes,
                             uint64_t chunks)
{
    const uint64_t to = passed + chunks * params->chunk_bytes;
    return to < bytes ? (uint32_t)to : bytes;
}

/* One channel alone: all of its operation, or a chunk. These chunks count for no quota. */
static void dma_run_alone(struct hw_dma *dma, const struct hw_dma_params *params, enum hw_vc vc,
                          uint32_t bytes)
{
    dma->quota = 0;
    dma->last = (uint8_t)vc;
    dma->running = (uint8_t)vc;
    dma->run_passed[vc] =
        dma->whole_chunks ? after_chunks(params, dma->passed[vc], bytes, 1) : bytes;
}

/* An operation of 0 bytes is one chunk of nothing. */
static uint64_t chunks_left(const struct hw_dma *dma, const struct hw_dma_params *params,
                            enum hw_vc vc, uint32_t bytes)
{
    const uint64_t chunks = hw_ceil_div(bytes - dma->passed[vc], params->chunk_bytes);
    return chunks > 0 ? chunks : 1;
}

/*
 * Both channels: turns of weight[vc] chunks each, channel `a` first, with `turn` chunks left of its
 * turn, until the first of the two operations is complete, or for one chunk. Chunk number n of a is
 * the run's chunk n, if in this turn, else it comes after ceil((n - turn) / weight[a]) turns of b;
 * chunk number n of b comes after this turn and ceil(n / weight[b]) - 1 turns of a.
 */
static void dma_run_both(struct hw_dma *dma, const struct hw_dma_params *params, enum hw_vc a,
                         uint64_t turn, const uint32_t first_bytes[HW_VCS])
{
    const enum hw_vc b = other(a);
    const uint64_t weight_a = params->weight[a], weight_b = params->weight[b];
    const uint64_t left_a = chunks_left(dma, params, a, first_bytes[a]);
    const uint64_t left_b = chunks_left(dma, params, b, first_bytes[b]);
    const uint64_t turns_b = left_a <= turn ? 0 : hw_ceil_div(left_a - turn, weight_a);
    const uint64_t turns_a = hw_ceil_div(left_b, weight_b) - 1;
    const uint64_t end_a = left_a + turns_b * weight_b;
    const uint64_t end_b = left_b + turn + turns_a * weight_a;
    uint64_t chunks_a = 1, chunks_b = 0; /* of the run */
    dma->last = (uint8_t)a;
    dma->quota = (uint16_t)(turn - 1);
    if (!dma->whole_chunks && end_a < end_b) {
        chunks_a = left_a;
        chunks_b = turns_b * weight_b;
        dma->quota = (uint16_t)(turn + turns_b * weight_a - left_a);
    } else if (!dma->whole_chunks) {
        chunks_a = turn + turns_a * weight_a;
        chunks_b = left_b;
        dma->last = (uint8_t)b;
        dma->quota = (uint16_t)((turns_a + 1) * weight_b - left_b);
    }
    dma->running = chunks_b > 0 ? HW_VC_BOTH : (uint8_t)a;
    dma->run_passed[a] = after_chunks(params, dma->passed[a], first_bytes[a], chunks_a);
    dma->run_passed[b] = after_chunks(params, dma->passed[b], first_bytes[b], chunks_b);
}

/* After 2^32 - 1 comes 1: 0 stands for no generation. */
static uint32_t generation_after(uint32_t generation)
{
    return generation + 1 + (generation == UINT32_MAX);
}

int64_t hw_dma_grant(struct hw_dma *dma, const struct hw_dma_params *params,
                     const uint32_t first_bytes[HW_VCS], int64_t now_ps, uint16_t depth,
                     int64_t grant_ps[HW_VCS])
{
    grant_ps[HW_VC_COMPUTE] = grant_ps[HW_VC_COMM] = -1;
    if (dma->count[HW_VC_COMPUTE] == 0 && dma->count[HW_VC_COMM] == 0)
        return -1;
    dma->last_before = dma->last;
    dma->quota_before = dma->quota;
    dma->run_start_ps = now_ps;
    dma->run_depth = depth;
    dma->generation = generation_after(dma->generation);
    dma->run_passed[HW_VC_COMPUTE] = dma->passed[HW_VC_COMPUTE];
    dma->run_passed[HW_VC_COMM] = dma->passed[HW_VC_COMM];
    if (dma->count[HW_VC_COMPUTE] == 0 || dma->count[HW_VC_COMM] == 0) {
        const enum hw_vc vc = dma->count[HW_VC_COMPUTE] ? HW_VC_COMPUTE : HW_VC_COMM;
        dma_run_alone(dma, params, vc, first_bytes[vc]);
        grant_ps[vc] = now_ps;
    } else {
        const bool goes_on = dma->quota > 0;
        const enum hw_vc a = goes_on                      ? (enum hw_vc)dma->last
                             : dma->last == HW_VC_COMPUTE ? HW_VC_COMM
                                                          : HW_VC_COMPUTE;
        const uint64_t turn = goes_on ? dma->quota : params->weight[a];
        dma_run_both(dma, params, a, turn, first_bytes);
        grant_ps[a] = now_ps;
        if (dma->running == HW_VC_BOTH)
            grant_ps[other(a)] =
                now_ps + passing_ps(params, dma->passed[a],
                                    after_chunks(params, dma->passed[a], first_bytes[a], turn));
    }
    int64_t end_ps = now_ps;
    for (enum hw_vc vc = 0; vc < HW_VCS; vc++)
        end_ps += passing_ps(params, dma->passed[vc], dma->run_passed[vc]);
    return end_ps;
}

int64_t hw_dma_newcomer(struct hw_dma *dma, const struct hw_dma_params *params, enum hw_vc vc,
                        int64_t now_ps, uint16_t depth, bool *regrant)
{
    const enum hw_vc running = other(vc);
    *regrant = false;
    if (dma->running != running)
        return -1;
    if (now_ps == dma->run_start_ps && depth <= dma->run_depth) {
        dma->last = dma->last_before;
        dma->quota = dma->quota_before;
        dma->running = HW_VC_IDLE;
        *regrant = true;
        return -1;
    }
    /* The first chunk boundary of the run that is not before now. The choice at a boundary comes
     * before all zero-delay events of that instant: such a newcomer takes part in the next choice.
     * A run is whole chunks from the operation's start, except for the operation's last bytes. */
    const int64_t from_ps = now_ps + (depth > 0);
    const uint32_t start = dma->passed[running];
    uint64_t low = 1, high = hw_ceil_div(dma->run_passed[running] - start, params->chunk_bytes);
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        const uint32_t passed = (uint32_t)(start + middle * params->chunk_bytes);
        if (dma->run_start_ps + passing_ps(params, start, passed) >= from_ps)
            high = middle;
        else
            low = middle + 1;
    }
    const uint64_t passed = start + low * params->chunk_bytes;
    if (passed >= dma->run_passed[running])
        return -1;
    dma->run_passed[running] = (uint32_t)passed;
    dma->generation = generation_after(dma->generation);
    return dma->run_start_ps + passing_ps(params, start, dma->run_passed[running]);
}

enum hw_vc hw_dma_run_end(struct hw_dma *dma, uint32_t *before)
{
    const enum hw_vc vc = (enum hw_vc)dma->last;
    *before = dma->passed[vc];
    dma->passed[HW_VC_COMPUTE] = dma->run_passed[HW_VC_COMPUTE];
    dma->passed[HW_VC_COMM] = dma->run_passed[HW_VC_COMM];
    dma->running = HW_VC_IDLE;
    return vc;
}
