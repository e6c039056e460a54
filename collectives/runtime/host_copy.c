/*
 * host_copy.c: with `host_copy: simulated`, the host's maps and fills of tensors before a
 * collective take simulated time (HARDWARE.md, "Control plane"): an MmuMapMsg to each PE that holds
 * a shard of a new tensor, a MemoryWriteMsg with the shard's bytes for each fill. Ranks note them
 * as they go; the next collective call submits all maps at one moment and waits for them, then all
 * writes, then launches. Between drains, one thread.
 */
#include "collectives/runtime/host_copy.h"

#include <stdlib.h>

#include "collectives/runtime/dist_internal.h"

struct host_copy {
    uint32_t pe, number; /* number: in the order of the program */
    uint64_t bytes;      /* 0: a map */
};

int dist_note_copy(struct dist *dist, const struct tensor *tensor, bool map, struct cw_error *error)
{
    if (dist->options.config->ccl.host_copy != CCL_HOST_COPY_SIMULATED)
        return CW_OK;
    for (uint32_t i = 0; i < tensor->shard_count; i++) {
        if (dist->copy_count == dist->copy_capacity) {
            const size_t capacity = 2 * dist->copy_capacity + 64;
            struct host_copy *copies = realloc(dist->copies, capacity * sizeof *copies);
            if (copies == NULL)
                return dist_no_memory(error);
            dist->copies = copies;
            dist->copy_capacity = capacity;
        }
        dist->copies[dist->copy_count] = (struct host_copy){.pe = tensor->shard[i].pe_index,
                                                            .number = (uint32_t)dist->copy_count,
                                                            .bytes = map ? 0 : tensor->shard_bytes};
        dist->copy_count++;
    }
    return CW_OK;
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
    lp_system_begin_copy(dist->system);
    for (size_t i = 0; i < dist->copy_count; i++) {
        const struct host_copy *copy = &dist->copies[i];
        if ((copy->bytes == 0) != maps)
            continue;
        const int code = maps ? lp_system_submit_map(dist->system, copy->pe, error)
                              : lp_system_submit_write(dist->system, copy->pe, copy->bytes, error);
        if (code != CW_OK)
            return code;
        submitted++;
    }
    return submitted == 0 ? CW_OK : dist_drain(dist, error);
}

int dist_drain_copies(struct dist *dist, struct cw_error *error)
{
    if (dist->copy_count == 0)
        return CW_OK;
    qsort(dist->copies, dist->copy_count, sizeof *dist->copies, by_place);
    int code = submit_all(dist, true, error);
    if (code == CW_OK)
        code = submit_all(dist, false, error);
    dist->copy_count = 0;
    return code;
}
