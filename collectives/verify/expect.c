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
 */
#include "collectives/verify/expect.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algorithm.h"
#include "collectives/data/input.h"
#include "collectives/verify/expect_order.h"
#include "hw/topology/topology.h"

/* All ranks' vectors of one evaluation take about so much: they stay in a near cache. */
#define STEP_BYTES     (2u << 20)
#define STEP_ELEMS_MIN 256u
#define STEP_ELEMS_MAX 16384u
#define VECTOR_ALIGN   64u

/* A grid and its root. */
struct grid {
    uint32_t w, h, root_x, root_y;
};

struct expect {
    struct expect_request request;
    const char *name; /* the algorithm's */
    struct ccl_order order;
    bool scatters;                  /* a rank's result is its slice alone */
    bool one_order;                 /* of order.operand: the same for all ranks */
    struct grid pe_grid, cube_mesh; /* 1 x 1 where the algorithm has no such level */
    uint32_t sips;
    uint64_t result_elems; /* of each shard's result */
    uint64_t step;         /* elements of one evaluation, at most */
    struct expect_math math;
    uint8_t *pes, *cubes; /* vectors of one cube's PEs, of one SIP's cubes */
    uint8_t *values;      /* [sips]: each SIP's own */
    uint8_t *results;     /* [sips] */
    uint8_t *read;        /* one vector, for expect_verify */
};

static uint8_t *vector(const struct expect *expect, uint8_t *vectors, uint32_t i)
{
    return vectors + (size_t)i * expect->math.vector_bytes;
}

/* ---- the request ----------------------------------------------------------------------------- */

/* The algorithm whose order is asked for; NULL: there is none, or it has no order. */
static const struct ccl_algorithm *expect_find(const struct expect_request *request,
                                               struct cw_error *error)
{
    const char *const module = request->module ? request->module : request->ccl->module;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(module, error), *other;
    if (!algorithm || algorithm->order)
        return algorithm;
    (void)cw_error_set(error, CW_USAGE,
                       "verification: module %s has no specified order of additions; one of",
                       module);
    const char *comma = "";
    for (uint32_t i = 0; (other = ccl_algorithm_at(i)); i++)
        if (other->order) {
            const size_t n = strlen(error->text);
            snprintf(error->text + n, sizeof error->text - n, "%s %s", comma, other->name);
            comma = ",";
        }
    const size_t n = strlen(error->text);
    snprintf(error->text + n, sizeof error->text - n, " has");
    return NULL;
}

static uint32_t ranks_of(const struct expect_request *request)
{
    return request->ccl->world_size ? request->ccl->world_size : request->hw->sip_count;
}

/* Each element is computed for all ranks at once, and each rank has one shard. */
static bool by_elements(const struct expect *expect)
{
    return expect->scatters ||
           (!expect->order.operand && expect->order.between >= CCL_BETWEEN_NEIGHBOURS);
}

static bool check_machine(const struct expect *expect, struct cw_error *error)
{
    const struct expect_request *const request = &expect->request;
    const struct hw_config *hw = request->hw;
    const struct hw_grid grid = hw_sip_grid(hw);
    char ringed[200];
    if (by_elements(expect)) {
        if (request->n_elem % ranks_of(request) == 0)
            return true;
        (void)cw_error_set(error, CW_USAGE, "%llu elements are no multiple of %u ranks",
                           (unsigned long long)request->n_elem, ranks_of(request));
        return false;
    }
    if (expect->order.operand || expect->order.between != CCL_BETWEEN_SIPS)
        return true;
    if (request->ccl->world_size && request->ccl->world_size != hw->sip_count) {
        (void)cw_error_set(error, CW_USAGE,
                           "verification: world_size %u is not the number of SIPs, %u",
                           request->ccl->world_size, hw->sip_count);
        return false;
    }
    if (hw->sip_count == 1)
        return true;
    if (!hw_topology_is_directed(hw->sip_topology)) {
        (void)cw_error_set(error, CW_USAGE, "%s: %s has no global_* directions; use ring_allreduce",
                           expect->name, hw->sip_topology->name);
        return false;
    }
    if (request->ccl->rank_invariant && !hw_topology_is_ringed(hw->sip_topology)) {
        (void)cw_error_set(error, CW_USAGE, "rank_invariant: not offered on %s; legal on %s",
                           hw->sip_topology->name,
                           hw_topology_list(hw_topology_is_ringed, "and", ringed, sizeof ringed));
        return false;
    }
    if ((uint64_t)grid.w * grid.h != hw->sip_count) {
        (void)cw_error_set(error, CW_USAGE, "%u x %u SIPs are not %u", hw->sip_w, hw->sip_h,
                           hw->sip_count);
        return false;
    }
    return true;
}

/* The operands that order.operand() names for a rank are the ranks, each once. */
static bool check_operands(struct expect *expect, uint32_t rank, bool *seen, struct cw_error *error)
{
    const uint32_t n = expect->sips;
    memset(seen, 0, n * sizeof *seen);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t operand = expect->order.operand(rank, n, k);
        if (operand >= n || seen[operand]) {
            (void)cw_error_set(
                error, CW_USAGE,
                "verification: operand %u of rank %u, in the order of %s, is rank %u%s; legal is "
                "each of 0 to %u once",
                k, rank, expect->name, operand, operand < n ? " again" : "", n - 1);
            return false;
        }
        seen[operand] = true;
        expect->one_order &= operand == expect->order.operand(0, n, k);
    }
    return true;
}

static bool check_order(struct expect *expect, struct cw_error *error)
{
    const struct ccl_order *const order = &expect->order;
    bool good = true;
    if (by_elements(expect) && ((!order->operand && order->between < CCL_BETWEEN_NEIGHBOURS) ||
                                order->pe_grid || order->cube_mesh)) {
        (void)cw_error_set(
            error, CW_USAGE,
            "verification: the order of %s is none of a reduce-scatter; legal: one shard per "
            "rank, and between ranks neighbours, halves, or operands by name",
            expect->name);
        return false;
    }
    if (!order->operand)
        return true;
    bool *const seen = calloc(expect->sips, sizeof *seen);
    if (!seen) {
        (void)cw_error_set(error, CW_NO_RESOURCE, "out of memory: %zu bytes",
                           expect->sips * sizeof *seen);
        return false;
    }
    expect->one_order = true;
    for (uint32_t rank = 0; rank < expect->sips && good; rank++)
        good = check_operands(expect, rank, seen, error);
    free(seen);
    return good;
}

static bool make_grids(struct expect *expect, struct cw_error *error)
{
    const struct hw_config *hw = expect->request.hw;
    const struct ccl_config *ccl = expect->request.ccl;
    const bool corner = ccl->root == CCL_ROOT_CORNER;
    expect->pe_grid = expect->cube_mesh = (struct grid){.w = 1, .h = 1};
    if (expect->order.cube_mesh) {
        struct grid mesh = {hw->cube_w, hw->cube_h, hw->cube_w / 2, hw->cube_h / 2};
        if (corner)
            mesh.root_x = mesh.w - 1, mesh.root_y = mesh.h - 1;
        else if (ccl->root == CCL_ROOT_XY)
            mesh.root_x = ccl->root_x, mesh.root_y = ccl->root_y;
        if (mesh.root_x >= mesh.w || mesh.root_y >= mesh.h) {
            (void)cw_error_set(error, CW_USAGE, "root %u,%u is outside of the %u x %u cubes",
                               mesh.root_x, mesh.root_y, mesh.w, mesh.h);
            return false;
        }
        expect->cube_mesh = mesh;
    }
    if (expect->order.pe_grid) {
        struct grid grid = {2 * hw->pe_per_corner, 2, hw->pe_per_corner, 1};
        if (corner)
            grid.root_x = grid.w - 1;
        if (hw->corner_count != HW_CORNERS) {
            (void)cw_error_set(error, CW_USAGE, "%s needs PEs in all four corners, there are %u",
                               expect->name, hw->corner_count);
            return false;
        }
        expect->pe_grid = grid;
    }
    return true;
}

static bool take_memory(struct expect *expect, struct cw_error *error)
{
    const size_t itemsize = dtype_bytes(expect->request.dtype);
    uint64_t step = STEP_BYTES / itemsize / expect->sips;
    step = step < STEP_ELEMS_MIN ? STEP_ELEMS_MIN : step > STEP_ELEMS_MAX ? STEP_ELEMS_MAX : step;
    expect->step = step < expect->result_elems ? step : expect->result_elems;
    const size_t vector_bytes =
        ((size_t)expect->step * itemsize + VECTOR_ALIGN - 1) / VECTOR_ALIGN * VECTOR_ALIGN;
    expect->math = (struct expect_math){
        .dtype = expect->request.dtype, .op = expect->request.op, .vector_bytes = vector_bytes};
    const size_t pes = (size_t)expect->pe_grid.w * expect->pe_grid.h;
    const size_t cubes = (size_t)expect->cube_mesh.w * expect->cube_mesh.h;
    expect->pes = aligned_alloc(VECTOR_ALIGN, pes * vector_bytes);
    expect->cubes = aligned_alloc(VECTOR_ALIGN, cubes * vector_bytes);
    expect->values = aligned_alloc(VECTOR_ALIGN, expect->sips * vector_bytes);
    expect->results = aligned_alloc(VECTOR_ALIGN, expect->sips * vector_bytes);
    expect->read = aligned_alloc(VECTOR_ALIGN, vector_bytes);
    if (expect->pes && expect->cubes && expect->values && expect->results && expect->read)
        return true;
    (void)cw_error_set(error, CW_NO_RESOURCE, "out of memory: verification needs %zu bytes",
                       (pes + cubes + 2 * (size_t)expect->sips + 1) * vector_bytes);
    return false;
}

struct expect *expect_create(const struct expect_request *request, struct cw_error *error)
{
    assert(dtype_is_known(request->dtype) && redop_is_known(request->op) && request->n_elem);
    const struct ccl_algorithm *const algorithm = expect_find(request, error);
    if (!algorithm)
        return NULL;
    struct expect *expect = calloc(1, sizeof *expect);
    if (!expect) {
        (void)cw_error_set(error, CW_NO_RESOURCE, "out of memory: %zu bytes", sizeof *expect);
        return NULL;
    }
    expect->request = *request;
    expect->name = algorithm->name;
    expect->order = *algorithm->order;
    expect->scatters = algorithm->collective == CCL_REDUCE_SCATTER;
    expect->sips = ranks_of(request);
    expect->result_elems = expect->scatters ? request->n_elem / expect->sips : request->n_elem;
    if (!check_machine(expect, error) || !check_order(expect, error) ||
        !make_grids(expect, error) || !take_memory(expect, error)) {
        expect_free(expect);
        return NULL;
    }
    return expect;
}

void expect_free(struct expect *expect)
{
    if (!expect)
        return;
    free(expect->pes);
    free(expect->cubes);
    free(expect->values);
    free(expect->results);
    free(expect->read);
    free(expect);
}

uint32_t expect_ranks(const struct expect *expect) { return expect->sips; }

uint64_t expect_result_elems(const struct expect *expect) { return expect->result_elems; }

uint32_t expect_shards(const struct expect *expect)
{
    return expect->cube_mesh.w * expect->cube_mesh.h * expect->pe_grid.w * expect->pe_grid.h;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Phases 1 and 2: every row to the root's column, then that column to the root. */
static const uint8_t *reduce_grid(const struct expect *expect, uint8_t *vectors, struct grid grid)
{
    for (uint32_t y = 0; y < grid.h; y++)
        expect_converge(&expect->math, vectors, (struct expect_line){y * grid.w, 1, grid.w},
                        grid.root_x);
    expect_converge(&expect->math, vectors, (struct expect_line){grid.root_x, grid.w, grid.h},
                    grid.root_y);
    return vector(expect, vectors, grid.root_y * grid.w + grid.root_x);
}

static void expect_fill(const struct expect *expect, uint8_t *to, uint32_t rank, uint32_t shard,
                        uint64_t first)
{
    const struct expect_request *request = &expect->request;
    const uint64_t start = input_first(rank, expect_shards(expect), shard, request->n_elem);
    input_fill(request->dtype, request->seed, start + first, to, expect->math.count);
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

/* A SIP's own value: its shards' inputs, reduced. */
static void evaluate_sip(const struct expect *expect, uint32_t rank, uint64_t first)
{
    const size_t bytes = expect->math.count * dtype_bytes(expect->math.dtype);
    const uint32_t cubes = expect->cube_mesh.w * expect->cube_mesh.h;
    const uint32_t pes = expect->pe_grid.w * expect->pe_grid.h;
    for (uint32_t cube = 0; cube < cubes; cube++) {
        uint8_t *value = vector(expect, expect->cubes, cube);
        if (!expect->order.pe_grid) {
            expect_fill(expect, value, rank, cube, first);
            continue;
        }
        for (uint32_t pe = 0; pe < pes; pe++)
            expect_fill(expect, vector(expect, expect->pes, pe_place(expect->request.hw, pe)), rank,
                        cube * pes + pe, first);
        memcpy(value, reduce_grid(expect, expect->pes, expect->pe_grid), bytes);
    }
    memcpy(vector(expect, expect->values, rank),
           reduce_grid(expect, expect->cubes, expect->cube_mesh), bytes);
}

static void swap_values(struct expect *expect)
{
    uint8_t *values = expect->values;
    expect->values = expect->results;
    expect->results = values;
}

/* Rings in the rows, whose results are the values of rings in the columns. */
static void exchange_torus(struct expect *expect)
{
    const uint32_t w = expect->request.hw->sip_w, h = expect->request.hw->sip_h;
    for (uint32_t y = 0; y < h; y++)
        expect_ring(&expect->math, expect->results, expect->values,
                    (struct expect_line){y * w, 1, w});
    swap_values(expect);
    for (uint32_t x = 0; x < w; x++)
        expect_ring(&expect->math, expect->results, expect->values, (struct expect_line){x, w, h});
}

/* Chains to the last column, back along the rows; then to the last row, back up the columns. */
static void exchange_mesh(struct expect *expect)
{
    const uint32_t w = expect->request.hw->sip_w, h = expect->request.hw->sip_h;
    for (uint32_t y = 0; y < h; y++) {
        const struct expect_line row = {y * w, 1, w};
        expect_converge(&expect->math, expect->values, row, w - 1);
        expect_spread(&expect->math, expect->values, row, w - 1);
    }
    for (uint32_t x = 0; x < w; x++) {
        const struct expect_line column = {x, w, h};
        expect_converge(&expect->math, expect->values, column, h - 1);
        expect_spread(&expect->math, expect->values, column, h - 1);
    }
    swap_values(expect);
}

/* Rank r: its own, plus its left child's (2r + 1), plus its right child's; rank 0's is all's. */
static void exchange_tree(struct expect *expect)
{
    const struct expect_math *math = &expect->math;
    for (uint32_t rank = expect->sips; rank-- > 0;)
        for (uint64_t child = 2ull * rank + 1; child <= 2ull * rank + 2; child++)
            if (child < expect->sips) {
                uint8_t *acc = vector(expect, expect->values, rank);
                dtype_reduce(math->dtype, math->op, acc, acc,
                             vector(expect, expect->values, (uint32_t)child), math->count);
            }
    expect_spread(math, expect->values, (struct expect_line){0, 1, expect->sips}, 0);
    swap_values(expect);
}

/* The operands that order.operand() names for a rank, from left to right. */
static void add_listed(const struct expect *expect, uint32_t rank, uint8_t *result)
{
    const struct expect_math *math = &expect->math;
    for (uint32_t k = 0; k < expect->sips; k++) {
        const uint8_t *const value =
            vector(expect, expect->values, expect->order.operand(rank, expect->sips, k));
        if (k == 0)
            memcpy(result, value, math->count * dtype_bytes(math->dtype));
        else
            dtype_reduce(math->dtype, math->op, result, result, value, math->count);
    }
}

static void exchange_listed(struct expect *expect)
{
    for (uint32_t rank = 0; rank < (expect->one_order ? 1 : expect->sips); rank++)
        add_listed(expect, rank, vector(expect, expect->results, rank));
    if (expect->one_order)
        expect_spread(&expect->math, expect->results, (struct expect_line){0, 1, expect->sips}, 0);
}

static void expect_exchange(struct expect *expect)
{
    const struct expect_line all = {0, 1, expect->sips};
    const struct hw_topology_ops *const topology = expect->request.hw->sip_topology;
    const enum ccl_between between = expect->order.between;
    if (expect->order.operand)
        exchange_listed(expect);
    else if (between == CCL_BETWEEN_TREE)
        exchange_tree(expect);
    else if (expect->request.ccl->rank_invariant)
        expect_in_order(&expect->math, expect->results, expect->values, all);
    else if (between == CCL_BETWEEN_SIPS && expect->sips > 1 &&
             topology->lines == HW_SIP_LINES_RINGS && topology->is_grid)
        exchange_torus(expect);
    else if (between == CCL_BETWEEN_SIPS && expect->sips > 1 &&
             topology->lines == HW_SIP_LINES_OPEN)
        exchange_mesh(expect);
    else
        expect_ring(&expect->math, expect->results, expect->values, all);
}

/* Elements `from` on of the inputs, added as for rank `rank`, into `result`. */
static void evaluate_elements(const struct expect *expect, uint32_t rank, uint64_t from,
                              uint8_t *result)
{
    const struct expect_math *math = &expect->math;
    const struct ccl_ranks *places = &expect->request.ccl->ranks;
    const bool by_place = expect->order.by_place && !expect->order.operand;
    for (uint32_t i = 0; i < expect->sips; i++)
        expect_fill(expect, vector(expect, expect->values, i),
                    by_place ? ccl_rank_on(places, i) : i, 0, from);
    if (expect->order.operand) {
        add_listed(expect, rank, result);
        return;
    }
    if (expect->order.between == CCL_BETWEEN_HALVES)
        expect_halving(math, expect->values, expect->sips);
    else
        expect_tree(math, expect->values, expect->sips);
    memcpy(result, expect->values, math->count * dtype_bytes(math->dtype));
}

static void evaluate_by_elements(struct expect *expect, uint64_t first)
{
    evaluate_elements(expect, 0, first, expect->results);
    if (!expect->scatters)
        expect_spread(&expect->math, expect->results, (struct expect_line){0, 1, expect->sips}, 0);
    for (uint32_t rank = 1; rank < expect->sips && expect->scatters; rank++)
        evaluate_elements(expect, rank, rank * expect->result_elems + first,
                          vector(expect, expect->results, rank));
}

uint64_t expect_evaluate(struct expect *expect, uint64_t first)
{
    if (first >= expect->result_elems)
        return 0;
    const uint64_t left = expect->result_elems - first;
    expect->math.count = left < expect->step ? left : expect->step;
    if (by_elements(expect)) {
        evaluate_by_elements(expect, first);
        return expect->math.count;
    }
    for (uint32_t rank = 0; rank < expect->sips; rank++)
        evaluate_sip(expect, rank, first);
    expect_exchange(expect);
    return expect->math.count;
}

const void *expect_bits(const struct expect *expect, uint32_t rank)
{
    assert(rank < expect->sips);
    return vector(expect, expect->results, rank);
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

int expect_verify(struct expect *expect, expect_read_fn read, void *arg, uint64_t *wrong,
                  struct cw_error *error)
{
    const size_t itemsize = dtype_bytes(expect->request.dtype);
    const uint32_t shards = expect_shards(expect);
    uint64_t first = 0, count;
    *wrong = 0;
    while ((count = expect_evaluate(expect, first))) {
        for (uint32_t rank = 0; rank < expect->sips; rank++)
            for (uint32_t shard = 0; shard < shards; shard++) {
                const int code = read(arg, rank, shard, first, count, expect->read, error);
                if (code)
                    return code;
                *wrong += count_different(expect->read, expect_bits(expect, rank), count, itemsize);
            }
        first += count;
    }
    return CW_OK;
}
