/*
 * sums.c: evaluates the formulas of a reduction's results (sums.h). The elements of all results are
 * one line: shard by shard, of a reduce-scatter rank by rank, chunk by chunk. It is cut into equal
 * shares, one for each worker of the engine. A worker goes along its share from chunk to chunk. For
 * each chunk it lists the formulas below the ranks' results, each once, an operand before its sum,
 * and gives each a vector for as long as it is needed. Then it evaluates the list, some elements at
 * a time, and hands over each result as it is made.
 *
 * Work: of each chunk one operation per element and formula, however many ranks share it. Memory:
 * the vectors stay within a near cache, unless there are very many. Lists are short: ranks with
 * very many formulas are listed one after the other.
 *
 * Threads: a worker writes its own share's figures and scratch memory only.
 */
#include "collectives/verify/sums.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/data/input.h"

enum { VECTORS_BYTES = 1 << 20, WINDOW_MIN = 64, WINDOW_MAX = 4096, ALIGN_BYTES = 64 };
enum { NOT_LISTED = UINT32_MAX, NO_RANK = UINT32_MAX, LIST_MAX = 1 << 20 };

/* A formula of the list. */
struct listed {
    uint32_t node;
    uint32_t vector;
    uint32_t a, b;  /* vectors of a sum's operands */
    uint32_t uses;  /* sums that still need it, while vectors are given */
    uint32_t ranks; /* the first whose result it is; NO_RANK: none's */
};

/* A worker's own. */
struct share {
    _Alignas(128) struct cw_error error;
    struct listed *list;
    uint32_t count, room;
    uint32_t *at;    /* [nodes]: in the list; NOT_LISTED */
    uint32_t *next;  /* [ranks]: the next rank with the same result */
    uint32_t *stack; /* nodes to be listed; then vectors that are free */
    uint32_t stacked, stack_room;
    uint32_t vectors;
    uint8_t *memory; /* of the vectors, one for the visitor, and one for a quotient */
    size_t memory_bytes, vector_bytes;
    uint64_t window; /* elements of a vector */
};

struct evaluation {
    const struct sums *sums;
    sums_fn visit;
    void *arg;
    uint32_t workers;
    uint64_t result_elems; /* of a rank's shard */
    uint32_t shards;       /* of each rank of the formulas */
    uint32_t chunks;       /* of a result, which a shard goes by */
    struct share *share;
};

/* Elements of one chunk: all ranks' results, or of a reduce-scatter one rank's. */
struct stretch {
    uint32_t shard, rank, chunk;
    uint64_t first, count; /* of the result */
};

/* ---- the list of a chunk --------------------------------------------------------------------- */

static bool grow_list(void **list, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room)
        return true;
    const uint32_t more = *room * 2 + 64;
    void *const bigger = realloc(*list, more * bytes);
    if (bigger == NULL)
        return false;
    *list = bigger;
    *room = more;
    return true;
}

static bool push(struct share *share, uint32_t value)
{
    if (!grow_list((void **)&share->stack, share->stacked, &share->stack_room,
                   sizeof *share->stack))
        return false;
    share->stack[share->stacked++] = value;
    return true;
}

/* Lists a formula after all formulas that it is the sum of. */
static bool list_node(const struct schedule_values *v, struct share *share, uint32_t node)
{
    if (!push(share, node))
        return false;
    while (share->stacked > 0) {
        const uint32_t top = share->stack[share->stacked - 1];
        const struct value_node *const sum = top >= v->leaves ? &v->node[top] : NULL;
        if (share->at[top] != NOT_LISTED) {
            share->stacked--;
        } else if (sum != NULL && share->at[sum->a] == NOT_LISTED) {
            if (!push(share, sum->a))
                return false;
        } else if (sum != NULL && share->at[sum->b] == NOT_LISTED) {
            if (!push(share, sum->b))
                return false;
        } else {
            if (!grow_list((void **)&share->list, share->count, &share->room, sizeof *share->list))
                return false;
            if (sum != NULL) {
                share->list[share->at[sum->a]].uses++;
                share->list[share->at[sum->b]].uses++;
            }
            share->list[share->count] = (struct listed){.node = top, .ranks = NO_RANK};
            share->at[top] = share->count++;
            share->stacked--;
        }
    }
    return true;
}

/* The vector of an operand, which one sum less needs now; free if that was the last. */
static bool use_vector(struct share *share, uint32_t at, uint32_t *vector)
{
    struct listed *const operand = &share->list[at];
    *vector = operand->vector;
    return --operand->uses > 0 || push(share, operand->vector);
}

/* Gives each formula a vector until its last use. A result is handed over at once. */
static bool give_vectors(const struct schedule_values *v, struct share *share)
{
    share->vectors = 0;
    share->stacked = 0;
    for (uint32_t i = 0; i < share->count; i++) {
        struct listed *const own = &share->list[i];
        const struct value_node *const sum = own->node >= v->leaves ? &v->node[own->node] : NULL;
        if (sum != NULL && (!use_vector(share, share->at[sum->a], &own->a) ||
                            !use_vector(share, share->at[sum->b], &own->b)))
            return false;
        own->vector = share->stacked > 0 ? share->stack[--share->stacked] : share->vectors++;
        if (own->uses == 0 && !push(share, own->vector))
            return false;
    }
    share->stacked = 0;
    return true;
}

/* Room for the vectors, and how long they are. */
static bool take_vectors(const struct evaluation *c, struct share *share)
{
    const size_t itemsize = c->sums->in_f32 ? sizeof(float) : dtype_bytes(c->sums->dtype);
    uint64_t window = VECTORS_BYTES / itemsize / (share->vectors + 1);
    window = window > WINDOW_MAX ? WINDOW_MAX : window < WINDOW_MIN ? WINDOW_MIN : window;
    share->window = window / WINDOW_MIN * WINDOW_MIN;
    share->vector_bytes = share->window * itemsize;
    const size_t bytes = (share->vectors + 2) * share->vector_bytes;
    if (bytes <= share->memory_bytes)
        return true;
    free(share->memory);
    share->memory = aligned_alloc(ALIGN_BYTES, bytes);
    share->memory_bytes = share->memory != NULL ? bytes : 0;
    return share->memory != NULL;
}

/* Lists the results of the ranks from *rank on, up to `end`, as many as have room in a list; *rank:
 * the first that has not. */
static bool list_ranks(const struct evaluation *c, struct share *share, uint32_t chunk,
                       uint32_t *rank, uint32_t end)
{
    const struct schedule_values *const v = c->sums->values;
    const uint32_t *const output = v->output + chunk;
    const uint32_t first = *rank;
    for (uint32_t i = 0; i < share->count; i++)
        share->at[share->list[i].node] = NOT_LISTED;
    share->count = share->stacked = 0;
    for (; *rank < end && share->count < LIST_MAX; ++*rank)
        if (!list_node(v, share, output[(size_t)*rank * v->outputs]))
            return false;
    for (uint32_t i = *rank; i-- > first;) {
        struct listed *const own = &share->list[share->at[output[(size_t)i * v->outputs]]];
        share->next[i] = own->ranks;
        own->ranks = i;
    }
    return give_vectors(v, share) && take_vectors(c, share);
}

/* ---- evaluation ------------------------------------------------------------------------------ */

static uint8_t *vector_of(const struct share *share, uint32_t vector)
{
    return share->memory + (size_t)vector * share->vector_bytes;
}

/* The process group's rank of a rank of the formulas, and which of its shards its result is: its
 * own, or the stretch's. */
static uint32_t group_rank(const struct evaluation *c, uint32_t rank)
{
    return rank / c->sums->members;
}
static uint32_t shard_of(const struct evaluation *c, const struct stretch *stretch, uint32_t rank)
{
    const uint32_t members = c->sums->members;
    return members > 1 ? rank % members : stretch->shard;
}

/* A result, divided in a vector of its own: others may still need the sum. */
static const uint8_t *divided(const struct evaluation *c, const struct share *share,
                              const uint8_t *bits, uint64_t count)
{
    uint8_t *const own = vector_of(share, share->vectors + 1);
    memcpy(own, bits, count * dtype_bytes(c->sums->dtype));
    scaling_divide(&c->sums->scaling, c->sums->dtype, own, count);
    return own;
}

/* A sum's operand in f32: as it is, or rounded to the type when it was sent or stored. */
static void take_operand(const struct evaluation *c, float *value, const uint8_t *vector,
                         bool is_wide, uint8_t *scratch, uint64_t count)
{
    memcpy(value, vector, count * sizeof *value);
    if (is_wide)
        return;
    dtype_from_f32(c->sums->dtype, scratch, value, count);
    dtype_to_f32(c->sums->dtype, value, scratch, count);
}

/* A formula's vector in f32. */
static void evaluate_in_f32(const struct evaluation *c, const struct share *share,
                            const struct listed *own, uint64_t count)
{
    const struct schedule_values *const v = c->sums->values;
    float a[WINDOW_MAX], b[WINDOW_MAX];
    uint8_t *const scratch = vector_of(share, share->vectors);
    const uint8_t wide = v->wide != NULL ? v->wide[own->node] : 0;
    take_operand(c, a, vector_of(share, own->a), wide & VALUE_WIDE_A, scratch, count);
    take_operand(c, b, vector_of(share, own->b), wide & VALUE_WIDE_B, scratch, count);
    dtype_reduce(DTYPE_F32, REDOP_SUM, vector_of(share, own->vector), a, b, count);
}

/* The formula's value in the type; in_f32: in a vector of its own. */
static const uint8_t *rounded(const struct evaluation *c, const struct share *share,
                              const uint8_t *bits, uint64_t count)
{
    if (!c->sums->in_f32)
        return bits;
    float value[WINDOW_MAX];
    uint8_t *const own = vector_of(share, share->vectors + 1);
    memcpy(value, bits, count * sizeof *value);
    dtype_from_f32(c->sums->dtype, own, value, count);
    return own;
}

/* How far a leaf is, in its input, from the stretch's chunk. */
static uint64_t moved_from(const struct evaluation *c, const struct stretch *stretch,
                           uint32_t leaf_chunk)
{
    const uint64_t each = schedule_span(c->result_elems, c->chunks, 0).count;
    return c->sums->moves ? (leaf_chunk - (uint64_t)stretch->chunk) * each : 0;
}

/* Evaluates `count` elements of the results, from `first` on. */
static int evaluate_window(const struct evaluation *c, struct share *share,
                           const struct stretch *stretch, uint64_t first, uint64_t count)
{
    const struct sums *const e = c->sums;
    struct sums_result result = {.worker = (uint32_t)(share - c->share),
                                 .first = first,
                                 .count = count,
                                 .scratch = vector_of(share, share->vectors)};
    /* The place in the input; a reduce-scatter's rank has its own block. */
    const uint64_t place = (e->scatters ? stretch->rank * c->result_elems : 0) + first;
    uint32_t failed = NO_RANK; /* the least rank that does */
    for (uint32_t i = 0; i < share->count; i++) {
        const struct listed *const own = &share->list[i];
        uint8_t *const bits = vector_of(share, own->vector);
        const uint32_t leaf = own->node / e->values->inputs; /* the rank whose input it is */
        if (own->node < e->values->leaves) {
            input_take(
                e->dtype, e->given, e->seed,
                input_first(group_rank(c, leaf), e->shards, shard_of(c, stretch, leaf), e->n_elem) +
                    place + moved_from(c, stretch, own->node % e->values->inputs),
                bits, count);
            scaling_multiply(&e->scaling, e->dtype, bits, count);
            if (e->in_f32) {
                float value[WINDOW_MAX];
                dtype_to_f32(e->dtype, value, bits, count);
                memcpy(bits, value, count * sizeof *value);
            }
        } else if (e->in_f32)
            evaluate_in_f32(c, share, own, count);
        else
            dtype_reduce(e->dtype, e->op, bits, vector_of(share, own->a), vector_of(share, own->b),
                         count);
        result.bits = e->scaling.divisor == 0 ? rounded(c, share, bits, count)
                                              : divided(c, share, bits, count);
        for (uint32_t rank = own->ranks; rank != NO_RANK; rank = share->next[rank]) {
            struct cw_error error;
            result.rank = group_rank(c, rank);
            result.shard = shard_of(c, stretch, rank);
            const int code = rank < failed ? c->visit(c->arg, &result, &error) : CW_OK;
            if (code != CW_OK) {
                failed = rank;
                share->error = error;
                share->error.exit_code = code;
            }
        }
    }
    return failed != NO_RANK ? share->error.exit_code : CW_OK;
}

/* The elements from `at` on of the line that are of one chunk, up to `end`. */
static struct stretch stretch_at(const struct evaluation *c, uint64_t at, uint64_t end)
{
    const struct sums *const e = c->sums;
    const uint64_t ranks = e->scatters ? e->values->ranks : 1;
    const uint64_t result = at / c->result_elems, first = at % c->result_elems;
    const uint32_t rank = (uint32_t)(result % ranks);
    const uint64_t before = e->of_input ? rank * c->result_elems : 0; /* in the tensor */
    const uint64_t all = e->of_input ? e->n_elem : c->result_elems;
    const uint64_t each = schedule_span(all, c->chunks, 0).count;
    struct stretch stretch = {.shard = (uint32_t)(result / ranks),
                              .rank = rank,
                              .chunk = (uint32_t)((before + first) / each),
                              .first = first};
    const struct schedule_span span = schedule_span(all, c->chunks, stretch.chunk);
    uint64_t left = span.first + span.count - before - first;
    left = left < c->result_elems - first ? left : c->result_elems - first;
    stretch.count = left < end - at ? left : end - at;
    if (c->shards > 1)
        stretch.chunk += stretch.shard % e->parts * c->chunks;
    return stretch;
}

/* Some ranks after the others, where their formulas are very many. */
static int evaluate_stretch(const struct evaluation *c, struct share *share,
                            const struct stretch *stretch)
{
    const bool scatters = c->sums->scatters;
    const uint32_t end = scatters ? stretch->rank + 1 : c->sums->values->ranks;
    int code = CW_OK;
    for (uint32_t rank = scatters ? stretch->rank : 0; rank < end && code == CW_OK;) {
        if (!list_ranks(c, share, stretch->chunk, &rank, end))
            return cw_error_memory(&share->error, "verification");
        for (uint64_t done = 0; done < stretch->count && code == CW_OK; done += share->window) {
            const uint64_t left = stretch->count - done;
            code = evaluate_window(c, share, stretch, stretch->first + done,
                                   left < share->window ? left : share->window);
        }
    }
    return code;
}

static void evaluate_share(void *arg, uint32_t worker)
{
    const struct evaluation *const c = arg;
    struct share *const share = &c->share[worker];
    const uint64_t ranks = c->sums->scatters ? c->sums->values->ranks : 1;
    const uint64_t all = c->result_elems * ranks * c->shards;
    const uint64_t end =
        all / c->workers * (worker + 1) + (worker + 1 == c->workers) * (all % c->workers);
    uint64_t at = all / c->workers * worker;
    int code = CW_OK;
    while (at < end && code == CW_OK) {
        const struct stretch stretch = stretch_at(c, at, end);
        code = evaluate_stretch(c, share, &stretch);
        at += stretch.count;
    }
    share->error.exit_code = code;
}

/* ---- all workers ----------------------------------------------------------------------------- */

static uint32_t sums_workers(const struct sums *sums)
{
    return sums->sim != NULL ? cw_sim_worker_count(sums->sim) : 1;
}

static bool take_shares(struct evaluation *c)
{
    const struct schedule_values *const v = c->sums->values;
    const size_t bytes = c->workers * sizeof *c->share;
    c->share = aligned_alloc(_Alignof(struct share), bytes);
    if (c->share == NULL)
        return false;
    memset(c->share, 0, bytes);
    for (uint32_t i = 0; i < c->workers; i++) {
        struct share *const share = &c->share[i];
        share->at = malloc(((size_t)v->nodes + 1) * sizeof *share->at);
        share->next = malloc(((size_t)v->ranks + 1) * sizeof *share->next);
        if (share->at == NULL || share->next == NULL)
            return false;
        memset(share->at, 0xff, v->nodes * sizeof *share->at);
    }
    return true;
}

static void give_shares(struct evaluation *c)
{
    for (uint32_t i = 0; c->share != NULL && i < c->workers; i++) {
        free(c->share[i].list);
        free(c->share[i].at);
        free(c->share[i].next);
        free(c->share[i].stack);
        free(c->share[i].memory);
    }
    free(c->share);
}

int sums_each(const struct sums *sums, sums_fn visit, void *arg, struct cw_error *error)
{
    const uint32_t ranks = sums->values->ranks;
    struct evaluation c = {.sums = sums,
                           .visit = visit,
                           .arg = arg,
                           .workers = sums_workers(sums),
                           .result_elems = sums->scatters ? sums->n_elem / ranks : sums->n_elem,
                           .shards = sums->members > 1 ? 1 : sums->shards};
    int code = CW_OK;
    c.chunks = sums->values->outputs / (c.shards > 1 ? sums->parts : 1);
    if (!take_shares(&c)) {
        give_shares(&c);
        return cw_error_memory(error, "verification");
    }
    if (c.workers > 1)
        cw_each_worker(sums->sim, evaluate_share, &c);
    else
        evaluate_share(&c, 0);
    for (uint32_t i = 0; i < c.workers && code == CW_OK; i++) {
        code = c.share[i].error.exit_code;
        if (code != CW_OK)
            *error = c.share[i].error;
    }
    give_shares(&c);
    return code;
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* A worker's count, on a cache line of its own. */
struct count {
    _Alignas(128) uint64_t wrong;
};

struct comparison {
    const struct sums *sums;
    expect_read_fn read;
    void *arg;
    struct count *count; /* [workers] */
};

static int compare_result(void *arg, const struct sums_result *result, struct cw_error *error)
{
    const struct comparison *const c = arg;
    const size_t itemsize = dtype_bytes(c->sums->dtype);
    const uint8_t *const found = result->scratch, *const bits = result->bits;
    const int code = c->read(c->arg, result->rank, result->shard, result->first, result->count,
                             result->scratch, error);
    if (code != CW_OK || memcmp(found, bits, result->count * itemsize) == 0)
        return code;
    for (uint64_t i = 0; i < result->count; i++)
        c->count[result->worker].wrong +=
            memcmp(found + i * itemsize, bits + i * itemsize, itemsize) != 0;
    return CW_OK;
}

int sums_compare(const struct sums *sums, expect_read_fn read, void *arg, uint64_t *wrong,
                 struct cw_error *error)
{
    const uint32_t workers = sums_workers(sums);
    struct comparison c = {.sums = sums, .read = read, .arg = arg};
    *wrong = 0;
    c.count = aligned_alloc(_Alignof(struct count), workers * sizeof *c.count);
    if (c.count == NULL)
        return cw_error_memory(error, "verification");
    memset(c.count, 0, workers * sizeof *c.count);
    const int code = sums_each(sums, compare_result, &c, error);
    for (uint32_t i = 0; i < workers; i++)
        *wrong += c.count[i].wrong;
    free(c.count);
    return code;
}
