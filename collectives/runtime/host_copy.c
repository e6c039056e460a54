/*
 * host_copy.c: a new tensor goes into the machine's table of maps, and a freed one leaves it. With
 * `host_copy: simulated`, the host's maps and fills of tensors before a collective take simulated
 * time (HARDWARE.md, "Control plane"): an MmuMapMsg to each PE that holds a shard of a new tensor,
 * a MemoryWriteMsg with the shard's bytes for each fill. Ranks note them as they go; the next
 * collective call submits all maps at one moment and waits for them, then all writes, then
 * launches. With `instant` a map needs no message. Between drains, one thread.
 */
#include "collectives/runtime/host_copy.h"

#include <stdlib.h>

#include "collectives/runtime/dist_check.h"
#include "collectives/runtime/dist_internal.h"

struct host_copy {
    uint32_t pe, number; /* number: in the order of the program */
    uint64_t bytes;      /* 0: a map */
    uint32_t map;        /* its number */
    uint32_t reserved;
};

static bool takes_time(const struct dist *dist)
{
    return dist->options.config->ccl.host_copy == CCL_HOST_COPY_SIMULATED;
}

/* To each PE that holds a shard: the map of this number, or (0) a write of the shard. */
static int note_copies(struct dist *dist, const struct tensor *tensor, uint32_t map,
                       struct cw_error *error)
{
    for (uint32_t i = 0; i < tensor->shard_count; i++) {
        if (dist->copy_count == dist->copy_capacity) {
            const size_t capacity = 2 * dist->copy_capacity + 64;
            struct host_copy *copies = realloc(dist->copies, capacity * sizeof *copies);
            if (copies == NULL)
                return dist_no_memory(error);
            dist->copies = copies;
            dist->copy_capacity = capacity;
        }
        dist->copies[dist->copy_count] =
            (struct host_copy){.pe = tensor->shard[i].pe_index,
                               .number = (uint32_t)dist->copy_count,
                               .bytes = map > 0 ? 0 : tensor->shard_bytes,
                               .map = map};
        dist->copy_count++;
    }
    return CW_OK;
}

int dist_map_tensor(struct dist *dist, const struct tensor *tensor, struct cw_error *error)
{
    const struct tensor_shard *const first = &tensor->shard[0];
    const struct dp_policy *const policy = &tensor->policy;
    struct lp_map map = {.va = tensor->va_base,
                         .pa = tensor->hbm_offset,
                         .bytes = tensor->shard_bytes,
                         .sip = tensor->sip,
                         .message = takes_time(dist) ? ++dist->maps : 0,
                         .first_cube = first->cube,
                         .cubes = policy->num_cubes,
                         .first_pe = first->pe,
                         .pes = policy->num_pes,
                         .parts = policy->pe == DP_COLUMN_WISE ? LP_MAP_BY_PE : LP_MAP_BY_CUBE};
    int code = lp_system_map(dist->system, &map, error);
    if (code == CW_OK && tensor->window_va != tensor->va_base) {
        map.va = tensor->window_va;
        map.parts = LP_MAP_ALIKE;
        code = lp_system_map(dist->system, &map, error);
    }
    return code == CW_OK && map.message > 0 ? note_copies(dist, tensor, map.message, error) : code;
}

void dist_unmap_tensor(struct dist *dist, const struct tensor *tensor)
{
    if (tensor == NULL)
        return;
    lp_system_unmap(dist->system, tensor->sip, tensor->va_base);
    if (tensor->window_va != tensor->va_base)
        lp_system_unmap(dist->system, tensor->sip, tensor->window_va);
}

int dist_note_fill(struct dist *dist, const struct tensor *tensor, struct cw_error *error)
{
    return takes_time(dist) ? note_copies(dist, tensor, 0, error) : CW_OK;
}

/* By (sip, cube, pe), then as the program had them. */
static int by_place(const void *a, const void *b)
{
    const struct host_copy *x = a, *y = b;
    if (x->pe != y->pe)
        return x->pe < y->pe ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int submit_all(struct dist *dist, bool maps, struct cw_error *error)
{
    uint32_t submitted = 0;
    if (lp_system_begin_copy(dist->system, error) != CW_OK)
        return error->exit_code;
    for (size_t i = 0; i < dist->copy_count; i++) {
        const struct host_copy *copy = &dist->copies[i];
        if ((copy->bytes == 0) != maps)
            continue;
        const int code = maps ? lp_system_submit_map(dist->system, copy->pe, copy->map, error)
                              : lp_system_submit_write(dist->system, copy->pe, copy->bytes, error);
        if (code != CW_OK)
            return code;
        submitted++;
    }
    return submitted == 0 ? CW_OK : dist_drain(dist, error);
}

/* The machine runs until it is idle, which it must not do beside kernels whose ends the host may
 * react to. */
static int check_idle(const struct dist *dist, struct cw_error *error)
{
    for (const struct dist_work *at = dist->works; at != NULL; at = at->next)
        if (at->launched > 0 && at->complete_ps > dist->now_ps) {
            (void)cw_error_set(error, CW_USAGE,
                               "a tensor was made or filled for the next call while call %llu, %s, "
                               "had not ended on all ranks; legal: instant, or calls that wait",
                               (unsigned long long)at->number,
                               submission_name(&dist_of(at, at->first_rank)->submission));
            return dist_refuse(dist->options.config, "defaults.host_copy", error);
        }
    return CW_OK;
}

int dist_drain_copies(struct dist *dist, struct cw_error *error)
{
    if (dist->copy_count == 0)
        return CW_OK;
    if (check_idle(dist, error) != CW_OK)
        return error->exit_code;
    qsort(dist->copies, dist->copy_count, sizeof *dist->copies, by_place);
    int code = submit_all(dist, true, error);
    if (code == CW_OK)
        code = submit_all(dist, false, error);
    dist->copy_count = 0;
    dist->now_ps = cw_sim_now(lp_system_sim(dist->system));
    return code;
}
