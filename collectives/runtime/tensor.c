/*
 * tensor.c: placement and allocation of tensors (tensor.h). A SIP's heap is the sorted list of the
 * ranges in use; a tensor takes the first gap that is long enough. Hosts allocate a handful of
 * tensors, so a list is all it takes.
 */
#include "collectives/runtime/tensor.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not 0, so that no tensor is at a null pointer, and not an HBM offset either. */
#define VA_FIRST (UINT64_C(1) << 40)

struct range {
    uint64_t start, bytes;
};

struct heap {
    struct range *used; /* sorted, disjoint */
    uint32_t count, capacity;
    uint64_t next_va;
};

struct tensor_space {
    const struct hw_config *hw;
    const struct hw_fold *fold; /* NULL: none */
    uint32_t cubes, pes, heaps;
    uint64_t page_bytes, first_bytes; /* first_bytes: before the heap, in whole pages */
    struct heap heap[];               /* [heaps] of the SIPs that are simulated */
};

/* Saturates: a size beyond 64 bits fits nowhere. */
static uint64_t tensor_round_up(uint64_t bytes, uint64_t page)
{
    const uint64_t over = bytes % page;
    if (!over)
        return bytes;
    return bytes > UINT64_MAX - (page - over) ? UINT64_MAX : bytes + (page - over);
}

static uint64_t first_va(const struct tensor_space *space)
{
    return tensor_round_up(VA_FIRST, space->page_bytes);
}

struct tensor_space *tensor_space_create(const struct hw_config *hw, const struct hw_fold *fold,
                                         uint64_t reserved_bytes)
{
    const uint32_t heaps = fold != NULL ? fold->sips : hw->sip_count;
    struct tensor_space *space = calloc(1, sizeof *space + heaps * sizeof space->heap[0]);
    if (!space)
        return NULL;
    space->fold = fold;
    space->heaps = heaps;
    space->hw = hw;
    space->cubes = hw->cube_w * hw->cube_h;
    space->pes = hw->pe_per_corner * hw->corner_count;
    space->page_bytes = hw->mmu_page_bytes ? hw->mmu_page_bytes : 1;
    space->first_bytes = tensor_round_up(reserved_bytes, space->page_bytes);
    for (uint32_t i = 0; i < heaps; i++)
        space->heap[i].next_va = first_va(space);
    return space;
}

void tensor_space_free(struct tensor_space *space)
{
    if (!space)
        return;
    for (uint32_t i = 0; i < space->heaps; i++) {
        assert(space->heap[i].count == 0);
        free(space->heap[i].used);
    }
    free(space);
}

/* ---- the heap -------------------------------------------------------------------------------- */

static uint32_t heap_number(const struct tensor_space *space, uint32_t sip)
{
    return space->fold != NULL ? hw_fold_index(space->fold, sip) : sip;
}

/* The gap before the i-th range in use, or after the last. */
static struct range gap(const struct tensor_space *space, const struct heap *heap, uint32_t i)
{
    const uint64_t start =
        i ? heap->used[i - 1].start + heap->used[i - 1].bytes : space->first_bytes;
    const uint64_t end = i < heap->count ? heap->used[i].start : space->hw->hbm_bytes;
    return (struct range){start, end > start ? end - start : 0};
}

uint64_t tensor_space_begin(const struct tensor_space *space) { return space->first_bytes; }

uint64_t tensor_space_left(const struct tensor_space *space, uint32_t sip)
{
    const struct heap *const heap = &space->heap[heap_number(space, sip)];
    uint64_t most = 0;
    for (uint32_t i = 0; i <= heap->count; i++) {
        const uint64_t bytes = gap(space, heap, i).bytes;
        most = bytes > most ? bytes : most;
    }
    return most / space->page_bytes * space->page_bytes;
}

/* The gap that has the first place for this many bytes, from a byte on, which becomes the place's.
 * heap->count + 1: there is none. */
static uint32_t find_place(const struct tensor_space *space, const struct heap *heap,
                           uint64_t bytes, uint64_t *from)
{
    for (uint32_t i = 0; i <= heap->count; i++) {
        const struct range found = gap(space, heap, i);
        const uint64_t end = found.start + found.bytes;
        const uint64_t start = found.start > *from ? found.start : *from;
        if (start <= end && end - start >= bytes) {
            *from = start;
            return i;
        }
    }
    return heap->count + 1;
}

uint64_t tensor_space_place(const struct tensor_space *space, uint32_t sip, uint64_t bytes,
                            uint64_t from)
{
    const struct heap *const heap = &space->heap[heap_number(space, sip)];
    const uint32_t i = find_place(space, heap, tensor_round_up(bytes, space->page_bytes), &from);
    return i <= heap->count ? from : UINT64_MAX;
}

/* At the first place from *start on, which becomes the place. False: no gap is long enough, or
 * (capacity left unchanged) out of memory. */
static bool tensor_take(const struct tensor_space *space, struct heap *heap, uint64_t bytes,
                        uint64_t *start)
{
    if (heap->count == heap->capacity) {
        const uint32_t capacity = heap->capacity ? heap->capacity * 2 : 4;
        struct range *used = realloc(heap->used, capacity * sizeof *used);
        if (!used)
            return false;
        heap->used = used;
        heap->capacity = capacity;
    }
    const uint32_t i = find_place(space, heap, bytes, start);
    if (i > heap->count)
        return false;
    memmove(&heap->used[i + 1], &heap->used[i], (heap->count - i) * sizeof heap->used[0]);
    heap->used[i] = (struct range){*start, bytes};
    heap->count++;
    return true;
}

/* The addresses after all tensors come again: so the same calls have the same addresses. */
static void give(const struct tensor_space *space, struct heap *heap, const struct tensor *tensor)
{
    const uint64_t start = tensor->hbm_offset;
    uint32_t i = 0;
    while (i < heap->count && heap->used[i].start != start)
        i++;
    assert(i < heap->count);
    heap->count--;
    memmove(&heap->used[i], &heap->used[i + 1], (heap->count - i) * sizeof heap->used[0]);
    if (heap->count == 0)
        heap->next_va = first_va(space);
    else if (heap->next_va == tensor->va_end)
        heap->next_va = tensor->va_base;
}

/* ---- placement ------------------------------------------------------------------------------- */

static bool check_policy(const struct tensor_space *space, struct dp_policy *policy,
                         struct cw_error *error)
{
    const uint32_t cube = policy->first_pe / space->pes, pe = policy->first_pe % space->pes;
    policy->num_cubes = policy->num_cubes ? policy->num_cubes : space->cubes;
    policy->num_pes = policy->num_pes ? policy->num_pes : space->pes;
    if (policy->cube != DP_ROW_WISE && policy->cube != DP_REPLICATE)
        (void)cw_error_set(error, CW_USAGE, "dp_policy: cube: row_wise or replicate is legal");
    else if (policy->pe != DP_COLUMN_WISE && policy->pe != DP_REPLICATE)
        (void)cw_error_set(error, CW_USAGE, "dp_policy: pe: column_wise or replicate is legal");
    else if (policy->num_cubes > space->cubes - cube)
        (void)cw_error_set(error, CW_USAGE, "dp_policy: %u cubes from cube %u on, but a SIP has %u",
                           policy->num_cubes, cube, space->cubes);
    else if (policy->num_pes > space->pes - pe)
        (void)cw_error_set(error, CW_USAGE, "dp_policy: %u PEs from PE %u on, but a cube has %u",
                           policy->num_pes, pe, space->pes);
    else
        return true;
    return false;
}

/* Elements and bytes of one shard. */
static bool divide(struct tensor *tensor, struct cw_error *error)
{
    const struct tensor_shape shape = tensor->shape;
    const struct dp_policy *policy = &tensor->policy;
    const uint64_t cubes = policy->cube == DP_ROW_WISE ? policy->num_cubes : 1;
    const uint64_t pes = policy->pe == DP_COLUMN_WISE ? policy->num_pes : 1;
    if (!shape.rows || !shape.columns || shape.rows % cubes || shape.columns % pes) {
        (void)cw_error_set(
            error, CW_USAGE,
            "a tensor of %llu x %llu elements over %llu cubes by rows and %llu PEs by columns: "
            "multiples of these, greater than 0, are legal",
            (unsigned long long)shape.rows, (unsigned long long)shape.columns,
            (unsigned long long)cubes, (unsigned long long)pes);
        return false;
    }
    uint64_t bytes;
    if (__builtin_mul_overflow(shape.rows, shape.columns, &bytes) ||
        __builtin_mul_overflow(bytes, tensor->item_bytes, &bytes)) {
        (void)cw_error_set(error, CW_NO_RESOURCE,
                           "a tensor of %llu x %llu elements of %s: no memory is as large",
                           (unsigned long long)shape.rows, (unsigned long long)shape.columns,
                           dtype_name(tensor->dtype));
        return false;
    }
    tensor->shard_bytes = bytes / cubes / pes;
    tensor->shard_elems = tensor->shard_bytes / tensor->item_bytes;
    return true;
}

uint32_t tensor_parts(const struct tensor *tensor)
{
    return (tensor->policy.cube == DP_ROW_WISE ? tensor->policy.num_cubes : 1) *
           (tensor->policy.pe == DP_COLUMN_WISE ? tensor->policy.num_pes : 1);
}

static void tensor_place_shards(const struct tensor_space *space, struct tensor *tensor)
{
    const struct dp_policy *policy = &tensor->policy;
    const bool by_columns = policy->pe == DP_COLUMN_WISE;
    const uint64_t itemsize = tensor->item_bytes;
    const uint64_t row_bytes = tensor->shape.columns * itemsize;
    const uint64_t cube_bytes =
        policy->cube == DP_ROW_WISE ? tensor->shape.rows / policy->num_cubes * row_bytes : 0;
    const uint64_t pe_bytes = by_columns ? row_bytes / policy->num_pes : 0;
    for (uint32_t i = 0; i < tensor->shard_count; i++) {
        const uint32_t at = policy->first_pe;
        const uint32_t cube = i / policy->num_pes + at / space->pes;
        const uint32_t pe = i % policy->num_pes + at % space->pes;
        const uint32_t index = by_columns ? cube * space->pes + pe : cube;
        const uint32_t part = (policy->cube == DP_ROW_WISE ? i / policy->num_pes : 0) *
                                  (by_columns ? policy->num_pes : 1) +
                              (by_columns ? i % policy->num_pes : 0);
        tensor->shard[i] = (struct tensor_shard){
            .sip = tensor->sip,
            .cube = cube,
            .pe = pe,
            .pe_index = (tensor->sip * space->cubes + cube) * space->pes + pe,
            .part = part,
            .offset_bytes = i / policy->num_pes * cube_bytes + i % policy->num_pes * pe_bytes,
            .va = tensor->va_base + index * tensor->shard_bytes,
            .hbm_offset = tensor->hbm_offset};
    }
}

/* Takes the tensor's range, and virtual addresses up to a page beyond its last shard. */
static bool tensor_allocate(struct tensor_space *space, struct tensor *tensor,
                            struct cw_error *error)
{
    struct heap *heap = &space->heap[heap_number(space, tensor->sip)];
    const uint64_t left = tensor_space_left(space, tensor->sip);
    tensor->reserved_bytes = tensor_round_up(tensor->shard_bytes, space->page_bytes);
    if (tensor->reserved_bytes > left) {
        (void)cw_error_set(
            error, CW_NO_RESOURCE,
            "HBM: a tensor needs %llu bytes in each PE's slice of SIP %u, in pages of %llu; free "
            "is a range of %llu, of %llu in all (memory.hbm_mib)",
            (unsigned long long)tensor->reserved_bytes, tensor->sip,
            (unsigned long long)space->page_bytes, (unsigned long long)left,
            (unsigned long long)space->hw->hbm_bytes);
        return false;
    }
    if (!tensor_take(space, heap, tensor->reserved_bytes, &tensor->hbm_offset)) {
        (void)cw_error_set(error, CW_NO_RESOURCE, "out of memory: the list of SIP %u's tensors",
                           tensor->sip);
        return false;
    }
    tensor->va_base = heap->next_va;
    tensor->window_va = tensor->va_base;
    const uint32_t per_cube = tensor->policy.pe == DP_COLUMN_WISE ? space->pes : 1;
    const uint64_t places =
        ((uint64_t)tensor->policy.first_pe / space->pes + tensor->policy.num_cubes) *
        per_cube; /* < 2^32, of less than 2^32 bytes: no overflow */
    heap->next_va +=
        tensor_round_up(places * tensor->shard_bytes, space->page_bytes) + space->page_bytes;
    if (places > 1) {
        tensor->window_va = heap->next_va;
        heap->next_va += tensor->reserved_bytes + space->page_bytes;
    }
    tensor->va_end = heap->next_va;
    return true;
}

/* A tensor with sip, dtype, item_bytes, shape and policy as in `wanted`, placed at its hbm_offset
 * or after it. */
static struct tensor *tensor_make(struct tensor_space *space, const struct tensor *wanted,
                                  struct cw_error *error)
{
    struct dp_policy filled = wanted->policy;
    if (wanted->sip >= space->hw->sip_count) {
        (void)cw_error_set(error, CW_USAGE, "a tensor on SIP %u: there are %u", wanted->sip,
                           space->hw->sip_count);
        return NULL;
    }
    if (space->fold != NULL && hw_fold_representative(space->fold, wanted->sip) != wanted->sip) {
        (void)cw_error_set(error, CW_USAGE,
                           "a tensor on SIP %u of a folded machine, for which SIP %u stands",
                           wanted->sip, hw_fold_representative(space->fold, wanted->sip));
        return NULL;
    }
    if (!check_policy(space, &filled, error))
        return NULL;
    const uint32_t shards = filled.num_cubes * filled.num_pes;
    struct tensor *tensor = calloc(1, sizeof *tensor + shards * sizeof tensor->shard[0]);
    if (!tensor) {
        (void)cw_error_set(error, CW_NO_RESOURCE, "out of memory: a tensor's %u shards", shards);
        return NULL;
    }
    *tensor = *wanted;
    tensor->space = space;
    tensor->policy = filled;
    tensor->shard_count = shards;
    if (!divide(tensor, error) || !tensor_allocate(space, tensor, error)) {
        free(tensor);
        return NULL;
    }
    tensor_place_shards(space, tensor);
    return tensor;
}

struct tensor *tensor_create(struct tensor_space *space, uint32_t sip, struct tensor_shape shape,
                             enum dtype dtype, const struct dp_policy *policy,
                             struct cw_error *error)
{
    return tensor_make(space,
                       &(struct tensor){.dtype = dtype,
                                        .item_bytes = (uint32_t)dtype_bytes(dtype),
                                        .shape = shape,
                                        .policy = *policy,
                                        .sip = sip},
                       error);
}

struct tensor *tensor_create_bytes(struct tensor_space *space, uint32_t sip, uint64_t bytes,
                                   uint64_t from, const struct dp_policy *policy,
                                   struct cw_error *error)
{
    return tensor_make(space,
                       &(struct tensor){.item_bytes = 1,
                                        .shape = {1, bytes},
                                        .policy = *policy,
                                        .sip = sip,
                                        .hbm_offset = from},
                       error);
}

void tensor_give_range(struct tensor *tensor)
{
    if (tensor->space != NULL)
        give(tensor->space, &tensor->space->heap[heap_number(tensor->space, tensor->sip)], tensor);
    tensor->space = NULL;
}

void tensor_free(struct tensor *tensor)
{
    if (!tensor)
        return;
    tensor_give_range(tensor);
    free(tensor);
}

/* ---- views ----------------------------------------------------------------------------------- */

int tensor_view_of(const struct tensor_group *group, uint32_t sip, struct tensor_view *view,
                   struct cw_error *error)
{
    for (uint32_t rank = 0; rank < group->ranks; rank++) {
        const struct tensor *const tensor = group->tensor[rank];
        if (tensor->sip != sip || tensor->shard_count == 0)
            continue;
        *view = (struct tensor_view){tensor->shard, tensor->shard_count, tensor->va_base};
        return CW_OK;
    }
    *view = (struct tensor_view){0};
    (void)cw_error_set(error, CW_PROGRAM_FAILED, "the tensor has no shard on SIP %u", sip);
    return CW_PROGRAM_FAILED;
}

struct tensor_view tensor_view_of_pe(const struct tensor_view *view, uint32_t cube, uint32_t pe)
{
    uint32_t first = 0, last;
    while (first < view->count && (view->shard[first].cube < cube ||
                                   (view->shard[first].cube == cube && view->shard[first].pe < pe)))
        first++;
    for (last = first;
         last < view->count && view->shard[last].cube == cube && view->shard[last].pe == pe;)
        last++;
    return (struct tensor_view){view->shard + first, last - first,
                                last > first ? view->shard[first].va : 0};
}
