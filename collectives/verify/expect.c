/*
 * expect.c: the final tensors that an algorithm's order of additions demands (order.h), evaluated
 * in three levels, each optional: the PEs of a cube, the cubes of a SIP, the SIPs. A level is a
 * grid that is reduced to its root (rows, then the root's column); the SIPs exchange by the rules
 * of their topology. Broadcasts need no arithmetic: every shard of a rank ends with its SIP's bits.
 * Reductions on paired dies have one shard per rank and one order for all ranks; of a
 * reduce-scatter, element e of rank r's result is made of elements r * (n_elem / ranks) + e.
 *
 * Work: one operation per input element, and phase 3: for a ring, n - 1 operations per element for
 * each of n ranks, because each rank adds in an order of its own.
 *
 * Threads: the work of an evaluation is cut twice, for the workers of the engine: the work of each
 * rank alone by ranks, the exchange between the ranks by elements. A worker writes its own pieces
 * of `values` and `results`, which begin at cache lines, and its own scratch memory. Each step ends
 * before the next begins (cw_each_worker()). An addition works on one element at a time, so the
 * bits do not depend on where the pieces end.
 */
#include "collectives/verify/expect.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/data/input.h"
#include "collectives/verify/expect_order.h"
#include "collectives/verify/expect_plan.h"
#include "collectives/verify/sum_tree.h"
#include "hw/topology/topology.h"

/* All ranks' vectors of one evaluation take about so much: they stay in a near cache. */
#define STEP_BYTES     (2u << 20)
#define STEP_ELEMS_MIN 256u
#define STEP_ELEMS_MAX 16384u
#define VECTOR_ALIGN   64u
/* Pieces begin at multiples of so many elements of a vector: at a cache line, for any dtype. */
#define PIECE_ELEMS 64u
/* Fewer elements than these are not worth waking a thread for. */
#define SHARED_ELEMS_MIN 32768u

/* A worker's own memory. */
struct expect_scratch {
    _Alignas(128) uint8_t *pes; /* vectors of one cube's PEs */
    uint8_t *cubes;             /* of one SIP's cubes */
    uint8_t *inputs;            /* [sips], where elements are computed one by one */
    uint8_t *stack;             /* [depth], of sums in the order of a tree */
    const uint8_t **list;       /* [depth] */
    uint8_t *read;              /* one vector, for expect_verify */
    uint64_t wrong;
    struct cw_error error;
    bool swapped; /* the exchange has left its results in `values` */
};

struct expect {
    struct expect_plan plan;
    uint64_t step; /* elements of one evaluation, at most */
    size_t vector_bytes;
    uint32_t workers;
    bool shared;                    /* the workers' threads do it, also if they are one */
    struct expect_scratch *scratch; /* [workers] */
    uint8_t *values;                /* [sips]: each SIP's own */
    uint8_t *results;               /* [sips] */
    uint64_t first, count;          /* of the evaluation in `results`; count 0: none */
    expect_read_fn read;            /* of the comparison under way */
    void *read_arg;
};

/* Some elements of all ranks' vectors, which one worker works on. */
struct window {
    const struct expect_plan *plan;
    const struct expect_scratch *scratch; /* the worker's */
    uint64_t first;                       /* element, of the tensor's */
    struct expect_math math;
    uint8_t *values, *results;
};

static uint8_t *vector(const struct expect_math *math, uint8_t *vectors, uint32_t i)
{
    return vectors + (size_t)i * math->vector_bytes;
}

static struct expect_math math_of(const struct expect *expect, uint64_t count)
{
    const struct expect_request *const request = &expect->plan.request;
    return (struct expect_math){request->dtype, request->op, count, expect->vector_bytes};
}

/* ---- creation -------------------------------------------------------------------------------- */

static bool take_scratch(struct expect *expect, struct expect_scratch *scratch)
{
    const struct expect_plan *const plan = &expect->plan;
    const bool by_elements = expect_plan_by_elements(plan);
    const size_t bytes = expect->vector_bytes;
    scratch->pes = aligned_alloc(VECTOR_ALIGN, plan->pe_grid.w * plan->pe_grid.h * bytes);
    scratch->cubes = aligned_alloc(VECTOR_ALIGN, plan->cube_mesh.w * plan->cube_mesh.h * bytes);
    scratch->inputs = by_elements ? aligned_alloc(VECTOR_ALIGN, plan->sips * bytes) : NULL;
    scratch->stack = plan->depth ? aligned_alloc(VECTOR_ALIGN, plan->depth * bytes) : NULL;
    scratch->list = plan->depth ? calloc(plan->depth, sizeof *scratch->list) : NULL;
    scratch->read = aligned_alloc(VECTOR_ALIGN, bytes);
    return scratch->pes && scratch->cubes && (scratch->inputs || !by_elements) &&
           ((scratch->stack && scratch->list) || plan->depth == 0) && scratch->read;
}

static bool is_shared(const struct expect_plan *plan)
{
    const uint64_t elems = plan->sips * plan->result_elems * expect_plan_shards(plan);
    return plan->request.sim != NULL && elems >= SHARED_ELEMS_MIN;
}

static bool take_memory(struct expect *expect, struct cw_error *error)
{
    const struct expect_plan *const plan = &expect->plan;
    const size_t itemsize = dtype_bytes(plan->request.dtype);
    uint64_t step = STEP_BYTES / itemsize / plan->sips;
    step = step < STEP_ELEMS_MIN ? STEP_ELEMS_MIN : step > STEP_ELEMS_MAX ? STEP_ELEMS_MAX : step;
    expect->shared = is_shared(plan);
    expect->workers = expect->shared ? cw_sim_worker_count(plan->request.sim) : 1;
    const uint64_t pieces = (uint64_t)PIECE_ELEMS * expect->workers; /* one for each at least */
    step = step < pieces ? pieces : step;
    step = step > STEP_ELEMS_MAX ? STEP_ELEMS_MAX : step;
    expect->step = step < plan->result_elems ? step : plan->result_elems;
    const size_t bytes =
        ((size_t)expect->step * itemsize + VECTOR_ALIGN - 1) / VECTOR_ALIGN * VECTOR_ALIGN;
    expect->vector_bytes = bytes;
    expect->values = aligned_alloc(VECTOR_ALIGN, plan->sips * bytes);
    expect->results = aligned_alloc(VECTOR_ALIGN, plan->sips * bytes);
    expect->scratch =
        aligned_alloc(_Alignof(struct expect_scratch), expect->workers * sizeof *expect->scratch);
    bool good = expect->values && expect->results && expect->scratch;
    if (expect->scratch)
        memset(expect->scratch, 0, expect->workers * sizeof *expect->scratch);
    for (uint32_t i = 0; i < expect->workers && good; i++)
        good = take_scratch(expect, &expect->scratch[i]);
    if (good)
        return true;
    (void)cw_error_set(error, CW_NO_RESOURCE,
                       "out of memory: verification needs more than %zu bytes",
                       2 * plan->sips * bytes);
    return false;
}

struct expect *expect_create(const struct expect_request *request, struct cw_error *error)
{
    assert(dtype_is_known(request->dtype) && redop_is_known(request->op) && request->n_elem);
    struct expect *expect = calloc(1, sizeof *expect);
    if (!expect) {
        (void)cw_error_set(error, CW_NO_RESOURCE, "out of memory: %zu bytes", sizeof *expect);
        return NULL;
    }
    if (!expect_plan_make(&expect->plan, request, error) || !take_memory(expect, error)) {
        expect_free(expect);
        return NULL;
    }
    return expect;
}

void expect_free(struct expect *expect)
{
    if (!expect)
        return;
    for (uint32_t i = 0; expect->scratch && i < expect->workers; i++) {
        free(expect->scratch[i].pes);
        free(expect->scratch[i].cubes);
        free(expect->scratch[i].inputs);
        free(expect->scratch[i].stack);
        free(expect->scratch[i].list);
        free(expect->scratch[i].read);
    }
    free(expect->scratch);
    free(expect->values);
    free(expect->results);
    free(expect);
}

uint32_t expect_ranks(const struct expect *expect) { return expect->plan.sips; }

uint64_t expect_result_elems(const struct expect *expect) { return expect->plan.result_elems; }

uint32_t expect_shards(const struct expect *expect) { return expect_plan_shards(&expect->plan); }

/* ---- pieces of the work ---------------------------------------------------------------------- */

/* Has each worker do its part. */
static void for_each_worker(struct expect *expect, cw_worker_fn part)
{
    if (expect->shared)
        cw_each_worker(expect->plan.request.sim, part, expect);
    else
        part(expect, 0);
}

/* Elements `from` to `from` + count - 1 of one evaluation, of a rank. */
struct piece {
    uint32_t rank;
    uint64_t from, count;
};

/* The n-th of a worker's pieces, of all ranks' elements; false: there are no more. Equal shares,
 * and neighbouring ranks. */
static bool piece_of(const struct expect *expect, uint32_t worker, uint32_t n, struct piece *piece)
{
    const uint64_t blocks = (expect->count + PIECE_ELEMS - 1) / PIECE_ELEMS;
    const uint64_t all = blocks * expect->plan.sips;
    const uint64_t first = all * worker / expect->workers,
                   end = all * (worker + 1) / expect->workers;
    const uint64_t rank = first / blocks + n;
    const uint64_t from = n == 0 ? first : rank * blocks;
    if (from >= end)
        return false;
    const uint64_t to = (rank + 1) * blocks < end ? (rank + 1) * blocks : end;
    piece->rank = (uint32_t)rank;
    piece->from = (from - rank * blocks) * PIECE_ELEMS;
    const uint64_t behind = (to - rank * blocks) * PIECE_ELEMS;
    piece->count = (behind < expect->count ? behind : expect->count) - piece->from;
    return true;
}

/* A worker's elements of all ranks; false: there are none for it. */
static bool window_of(const struct expect *expect, uint32_t worker, struct window *window,
                      uint64_t *from)
{
    const uint64_t blocks = (expect->count + PIECE_ELEMS - 1) / PIECE_ELEMS;
    const uint64_t end = blocks * (worker + 1) / expect->workers * PIECE_ELEMS;
    *from = blocks * worker / expect->workers * PIECE_ELEMS;
    if (*from >= end)
        return false;
    const size_t skip = *from * dtype_bytes(expect->plan.request.dtype);
    *window = (struct window){
        .plan = &expect->plan,
        .scratch = &expect->scratch[worker],
        .first = expect->first + *from,
        .math = math_of(expect, (end < expect->count ? end : expect->count) - *from),
        .values = expect->values + skip,
        .results = expect->results + skip};
    return true;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Phases 1 and 2: every row to the root's column, then that column to the root. */
static const uint8_t *reduce_grid(const struct expect_math *math, uint8_t *vectors,
                                  struct expect_grid grid)
{
    for (uint32_t y = 0; y < grid.h; y++)
        expect_converge(math, vectors, (struct expect_line){y * grid.w, 1, grid.w}, grid.root_x);
    expect_converge(math, vectors, (struct expect_line){grid.root_x, grid.w, grid.h}, grid.root_y);
    return vector(math, vectors, grid.root_y * grid.w + grid.root_x);
}

static void expect_fill(const struct expect_plan *plan, const struct expect_math *math, uint8_t *to,
                        uint32_t rank, uint32_t shard, uint64_t first)
{
    const struct expect_request *request = &plan->request;
    const uint64_t start = input_first(rank, expect_plan_shards(plan), shard, request->n_elem);
    input_take(request->dtype, request->values, request->seed, start + first, to, math->count);
}

/* Where PE `pe` is in the cube's grid: NW and NE above, SW and SE below. */
static uint32_t pe_place(const struct hw_config *hw, uint32_t pe)
{
    const enum hw_corner corner = hw->corner[pe / hw->pe_per_corner];
    const bool east = corner == HW_NE || corner == HW_SE;
    const bool south = corner == HW_SW || corner == HW_SE;
    const uint32_t x = pe % hw->pe_per_corner + (east ? hw->pe_per_corner : 0);
    return (south ? 2 * hw->pe_per_corner : 0) + x;
}

/* A SIP's own value: its shards' inputs from element `first` on, reduced. */
static void evaluate_sip(const struct expect_plan *plan, const struct expect_math *math,
                         const struct expect_scratch *scratch, uint32_t rank, uint64_t first,
                         uint8_t *to)
{
    const size_t bytes = math->count * dtype_bytes(math->dtype);
    const uint32_t cubes = plan->cube_mesh.w * plan->cube_mesh.h;
    const uint32_t pes = plan->pe_grid.w * plan->pe_grid.h;
    for (uint32_t cube = 0; cube < cubes; cube++) {
        uint8_t *value = vector(math, scratch->cubes, cube);
        if (!plan->order.pe_grid) {
            expect_fill(plan, math, value, rank, cube, first);
            continue;
        }
        for (uint32_t pe = 0; pe < pes; pe++)
            expect_fill(plan, math, vector(math, scratch->pes, pe_place(plan->request.hw, pe)),
                        rank, cube * pes + pe, first);
        memcpy(value, reduce_grid(math, scratch->pes, plan->pe_grid), bytes);
    }
    memcpy(to, reduce_grid(math, scratch->cubes, plan->cube_mesh), bytes);
}

static void evaluate_values(void *arg, uint32_t worker)
{
    const struct expect *const expect = arg;
    const size_t itemsize = dtype_bytes(expect->plan.request.dtype);
    struct piece piece;
    for (uint32_t n = 0; piece_of(expect, worker, n, &piece); n++) {
        const struct expect_math math = math_of(expect, piece.count);
        evaluate_sip(&expect->plan, &math, &expect->scratch[worker], piece.rank,
                     expect->first + piece.from,
                     vector(&math, expect->values, piece.rank) + piece.from * itemsize);
    }
}

static void swap_values(struct window *window)
{
    uint8_t *values = window->values;
    window->values = window->results;
    window->results = values;
}

/* Rings in the rows, whose results are the values of rings in the columns. */
static void exchange_torus(struct window *window)
{
    const uint32_t w = window->plan->request.hw->sip_w, h = window->plan->request.hw->sip_h;
    for (uint32_t y = 0; y < h; y++)
        expect_ring(&window->math, window->results, window->values,
                    (struct expect_line){y * w, 1, w});
    swap_values(window);
    for (uint32_t x = 0; x < w; x++)
        expect_ring(&window->math, window->results, window->values, (struct expect_line){x, w, h});
}

/* Chains to the last column, back along the rows; then to the last row, back up the columns. */
static void exchange_mesh(struct window *window)
{
    const uint32_t w = window->plan->request.hw->sip_w, h = window->plan->request.hw->sip_h;
    for (uint32_t y = 0; y < h; y++) {
        const struct expect_line row = {y * w, 1, w};
        expect_converge(&window->math, window->values, row, w - 1);
        expect_spread(&window->math, window->values, row, w - 1);
    }
    for (uint32_t x = 0; x < w; x++) {
        const struct expect_line column = {x, w, h};
        expect_converge(&window->math, window->values, column, h - 1);
        expect_spread(&window->math, window->values, column, h - 1);
    }
    swap_values(window);
}

/* Rank r: its own, plus its left child's (2r + 1), plus its right child's; rank 0's is all's. */
static void exchange_tree(struct window *window)
{
    const struct expect_math *math = &window->math;
    const uint32_t sips = window->plan->sips;
    for (uint32_t rank = sips; rank-- > 0;)
        for (uint64_t child = 2ull * rank + 1; child <= 2ull * rank + 2; child++)
            if (child < sips) {
                uint8_t *acc = vector(math, window->values, rank);
                dtype_reduce(math->dtype, math->op, acc, acc,
                             vector(math, window->values, (uint32_t)child), math->count);
            }
    expect_spread(math, window->values, (struct expect_line){0, 1, sips}, 0);
    swap_values(window);
}

/* The operands that order.operand() names for a rank, from left to right. */
static void add_listed(const struct expect_plan *plan, const struct expect_math *math,
                       uint8_t *values, uint32_t rank, uint8_t *result)
{
    for (uint32_t k = 0; k < plan->sips; k++) {
        const uint8_t *const value = vector(math, values, plan->order.operand(rank, plan->sips, k));
        if (k == 0)
            memcpy(result, value, math->count * dtype_bytes(math->dtype));
        else
            dtype_reduce(math->dtype, math->op, result, result, value, math->count);
    }
}

static void exchange_listed(struct window *window)
{
    const struct expect_plan *const plan = window->plan;
    for (uint32_t rank = 0; rank < (plan->one_order ? 1 : plan->sips); rank++)
        add_listed(plan, &window->math, window->values, rank,
                   vector(&window->math, window->results, rank));
    if (plan->one_order)
        expect_spread(&window->math, window->results, (struct expect_line){0, 1, plan->sips}, 0);
}

/* Elements `first` on of `values`, added in the order of the trees of a rank, into `result`: part
 * by part. */
static void add_trees(const struct expect_plan *plan, const struct expect_math *math,
                      const struct expect_scratch *scratch, uint32_t rank, uint64_t first,
                      const uint8_t *values, uint8_t *result)
{
    const struct ccl_order *const order = &plan->order;
    const size_t itemsize = dtype_bytes(math->dtype);
    const uint64_t each = sum_tree_part_elems(order, plan->sips, plan->request.n_elem);
    for (uint64_t done = 0, part_end; done < math->count; done = part_end - first) {
        const uint64_t part = (first + done) / each, end = first + math->count;
        part_end = (part + 1) * each < end ? (part + 1) * each : end;
        struct expect_math own = *math;
        own.count = part_end - first - done;
        const struct sum_tree tree = {order,          order->tree_by_rank ? rank : 0,
                                      (uint32_t)part, plan->sips,
                                      scratch->stack, scratch->list};
        sum_tree_add(&tree, &own, values + done * itemsize, result + done * itemsize);
    }
}

static void exchange_trees(struct window *window)
{
    const struct expect_plan *const plan = window->plan;
    const bool by_rank = plan->order.tree_by_rank;
    for (uint32_t rank = 0; rank < (by_rank ? plan->sips : 1); rank++)
        add_trees(plan, &window->math, window->scratch, rank, window->first, window->values,
                  vector(&window->math, window->results, rank));
    if (!by_rank)
        expect_spread(&window->math, window->results, (struct expect_line){0, 1, plan->sips}, 0);
}

static void exchange_window(struct window *window)
{
    const struct expect_plan *const plan = window->plan;
    const struct expect_line all = {0, 1, plan->sips};
    const struct hw_topology_ops *const topology = plan->request.hw->sip_topology;
    const enum ccl_between between = plan->order.between;
    if (plan->order.tree)
        exchange_trees(window);
    else if (plan->order.operand)
        exchange_listed(window);
    else if (between == CCL_BETWEEN_TREE)
        exchange_tree(window);
    else if (plan->request.ccl->rank_invariant)
        expect_in_order(&window->math, window->results, window->values, all);
    else if (between == CCL_BETWEEN_SIPS && plan->sips > 1 &&
             topology->lines == HW_SIP_LINES_RINGS && topology->is_grid)
        exchange_torus(window);
    else if (between == CCL_BETWEEN_SIPS && plan->sips > 1 && topology->lines == HW_SIP_LINES_OPEN)
        exchange_mesh(window);
    else
        expect_ring(&window->math, window->results, window->values, all);
}

/* Which of the two arrays holds the results in the end depends on the topology alone, so it is the
 * same one for all workers that have elements. */
static void expect_exchange(void *arg, uint32_t worker)
{
    struct expect *const expect = arg;
    struct expect_scratch *const scratch = &expect->scratch[worker];
    struct window window;
    uint64_t from;
    scratch->swapped = false;
    if (!window_of(expect, worker, &window, &from))
        return;
    const uint8_t *const results = window.results;
    exchange_window(&window);
    scratch->swapped = window.results != results;
}

/* Elements `from` on of the inputs, added as for rank `rank`, into `result`. */
static void evaluate_elements(const struct expect_plan *plan, const struct expect_math *math,
                              const struct expect_scratch *scratch, uint32_t rank, uint64_t from,
                              uint8_t *result)
{
    const struct ccl_ranks *places = &plan->request.ccl->ranks;
    const bool by_place = plan->order.by_place && !plan->order.operand && !plan->order.tree;
    uint8_t *const inputs = scratch->inputs;
    for (uint32_t i = 0; i < plan->sips; i++)
        expect_fill(plan, math, vector(math, inputs, i), by_place ? ccl_rank_on(places, i) : i, 0,
                    from);
    if (plan->order.tree) {
        add_trees(plan, math, scratch, rank, from, inputs, result);
        return;
    }
    if (plan->order.operand) {
        add_listed(plan, math, inputs, rank, result);
        return;
    }
    if (plan->order.between == CCL_BETWEEN_HALVES)
        expect_halving(math, inputs, plan->sips);
    else
        expect_tree(math, inputs, plan->sips);
    memcpy(result, inputs, math->count * dtype_bytes(math->dtype));
}

/* All ranks have the same result. */
static void evaluate_common(void *arg, uint32_t worker)
{
    const struct expect *const expect = arg;
    struct window window;
    uint64_t from;
    if (!window_of(expect, worker, &window, &from))
        return;
    evaluate_elements(&expect->plan, &window.math, &expect->scratch[worker], 0,
                      expect->first + from, window.results);
    expect_spread(&window.math, window.results, (struct expect_line){0, 1, expect->plan.sips}, 0);
}

/* Each rank has its slice. */
static void evaluate_slices(void *arg, uint32_t worker)
{
    const struct expect *const expect = arg;
    const struct expect_plan *const plan = &expect->plan;
    const size_t itemsize = dtype_bytes(plan->request.dtype);
    struct piece piece;
    for (uint32_t n = 0; piece_of(expect, worker, n, &piece); n++) {
        const struct expect_math math = math_of(expect, piece.count);
        evaluate_elements(plan, &math, &expect->scratch[worker], piece.rank,
                          piece.rank * plan->result_elems + expect->first + piece.from,
                          vector(&math, expect->results, piece.rank) + piece.from * itemsize);
    }
}

uint64_t expect_evaluate(struct expect *expect, uint64_t first)
{
    const struct expect_plan *const plan = &expect->plan;
    if (first >= plan->result_elems)
        return 0;
    const uint64_t left = plan->result_elems - first,
                   count = left < expect->step ? left : expect->step;
    if (expect->count == count && expect->first == first)
        return count; /* the same inputs, hence the same results */
    expect->first = first;
    expect->count = count;
    if (expect_plan_by_elements(plan)) {
        for_each_worker(expect, plan->scatters ? evaluate_slices : evaluate_common);
        return count;
    }
    for_each_worker(expect, evaluate_values);
    for_each_worker(expect, expect_exchange);
    bool swapped = false;
    for (uint32_t i = 0; i < expect->workers; i++)
        swapped |= expect->scratch[i].swapped;
    if (swapped) {
        uint8_t *const values = expect->values;
        expect->values = expect->results;
        expect->results = values;
    }
    return count;
}

const void *expect_bits(const struct expect *expect, uint32_t rank)
{
    assert(rank < expect->plan.sips);
    return expect->results + (size_t)rank * expect->vector_bytes;
}

/* ---- verification ---------------------------------------------------------------------------- */

static uint64_t count_different(const uint8_t *a, const uint8_t *b, uint64_t count, size_t itemsize)
{
    if (!memcmp(a, b, count * itemsize))
        return 0;
    uint64_t different = 0;
    for (uint64_t i = 0; i < count; i++)
        different += memcmp(a + i * itemsize, b + i * itemsize, itemsize) != 0;
    return different;
}

/* Compares a worker's part of the evaluation that is there. */
static void expect_compare(void *arg, uint32_t worker)
{
    const struct expect *const expect = arg;
    struct expect_scratch *const scratch = &expect->scratch[worker];
    const size_t itemsize = dtype_bytes(expect->plan.request.dtype);
    const uint32_t shards = expect_plan_shards(&expect->plan);
    struct piece piece;
    scratch->error.exit_code = CW_OK;
    scratch->wrong = 0;
    for (uint32_t n = 0; piece_of(expect, worker, n, &piece); n++) {
        const uint8_t *const bits =
            (const uint8_t *)expect_bits(expect, piece.rank) + piece.from * itemsize;
        for (uint32_t shard = 0; shard < shards; shard++) {
            const int code =
                expect->read(expect->read_arg, piece.rank, shard, expect->first + piece.from,
                             piece.count, scratch->read, &scratch->error);
            if (code) {
                scratch->error.exit_code = code;
                return;
            }
            scratch->wrong += count_different(scratch->read, bits, piece.count, itemsize);
        }
    }
}

int expect_verify(struct expect *expect, expect_read_fn read, void *arg, uint64_t *wrong,
                  struct cw_error *error)
{
    uint64_t first = 0, count;
    *wrong = 0;
    expect->read = read;
    expect->read_arg = arg;
    for (; (count = expect_evaluate(expect, first)); first += count) {
        for_each_worker(expect, expect_compare);
        for (uint32_t i = 0; i < expect->workers; i++) { /* the least rank's error comes first */
            struct expect_scratch *const scratch = &expect->scratch[i];
            if (scratch->error.exit_code) {
                *error = scratch->error;
                return error->exit_code;
            }
            *wrong += scratch->wrong;
        }
    }
    return CW_OK;
}
