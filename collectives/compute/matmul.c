/*
 * matmul.c: the kernel of a matrix product (matmul.h), alone and as a stream. Both buffers of
 * operand tiles are in use: while PE_GEMM works on one, the loads of the next step fill the other.
 * Kernels run speculatively, in handlers.
 */
#include "collectives/compute/matmul.h"

#include <string.h>

#include "collectives/choice/cost_times.h"
#include "collectives/compute/compute.h"
#include "hw/timing.h"

enum { LOAD_A, LOAD_B, STORE_C = TL_STORE_HANDLE }; /* handles */
enum { INNER_BYTES = 80 };

/* A frame that both forms share: the collective's own comes first, since streams are forked with
 * its lines zeroed. */
struct frame {
    _Alignas(8) uint8_t inner[INNER_BYTES];
    uint16_t line;    /* of the kernel */
    uint16_t product; /* of the product */
    uint32_t step;    /* one per pair of tiles: k fastest, then n, then m */
};
_Static_assert(sizeof(struct frame) <= TL_FRAME_BYTES, "the frame fits in a kernel's state");

static uint32_t tiles(uint32_t side, uint32_t tile)
{
    return (uint32_t)(((uint64_t)side + tile - 1) / tile);
}

static uint32_t depth(const struct matmul_shape *s) { return s->depth > 0 ? s->depth : s->tile; }
static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t at_edge(uint32_t side, uint32_t tile, uint32_t index)
{
    const uint32_t left = side - index * tile;
    return left < tile ? left : tile;
}

/* ---- where things are in TCM: A or two tiles of it, likewise B, one tile of C ---------------- */

const char *matmul_operands_name(size_t operands)
{
    static const char *const names[MATMUL_OPERANDS] = {[MATMUL_STREAMED] = "streamed",
                                                       [MATMUL_PINNED] = "pinned",
                                                       [MATMUL_LOADED] = "loaded",
                                                       [MATMUL_CUT] = "cut"};
    return operands < MATMUL_OPERANDS ? names[operands] : NULL;
}

static bool has_whole_a(const struct matmul_shape *s)
{
    return s->operands == MATMUL_PINNED || s->operands == MATMUL_LOADED;
}
static bool has_whole_b(const struct matmul_shape *s) { return s->operands == MATMUL_LOADED; }

/* Of the largest tile of A, of B, of C. */
static uint64_t tile_of_a(const struct matmul_shape *s, size_t itemsize)
{
    return (uint64_t)smaller(s->tile, s->m) * smaller(depth(s), s->k) * itemsize;
}

static uint64_t tile_of_b(const struct matmul_shape *s, size_t itemsize)
{
    return (uint64_t)smaller(depth(s), s->k) * smaller(s->tile, s->n) * itemsize;
}

static uint64_t tile_of_c(const struct matmul_shape *s, size_t itemsize)
{
    const bool wide = s->sums == MATMUL_SUMS_F32 && depth(s) < s->k;
    return (uint64_t)smaller(s->tile, s->m) * smaller(s->tile, s->n) *
           (wide && itemsize < sizeof(float) ? sizeof(float) : itemsize);
}

static uint32_t places(const struct matmul_shape *s) { return s->places > 0 ? s->places : 1; }

static uint64_t whole_room(uint32_t rows, uint32_t columns, size_t itemsize)
{
    return ((uint64_t)rows * columns * itemsize + 63) / 64 * 64;
}

/* Of all of A's. */
static uint64_t room_of_a(const struct matmul_shape *s, size_t itemsize)
{
    return has_whole_a(s) ? whole_room(s->m, s->k, itemsize) : 2 * tile_of_a(s, itemsize);
}

static uint64_t room_of_b(const struct matmul_shape *s, size_t itemsize)
{
    return has_whole_b(s) ? whole_room(s->k, s->n, itemsize) : 2 * tile_of_b(s, itemsize);
}

/* The pair of tiles of a step. */
struct step {
    uint32_t i, j, l;             /* tile of C: row, column; of the inner dimension */
    uint32_t m, n, k;             /* elements */
    bool first, last;             /* of its tile of C */
    uint64_t a, b, c;             /* in elements, from A's first */
    uint32_t tcm_a, tcm_b, tcm_c; /* bytes */
};

double matmul_events(const struct matmul_shape *s, const struct ccl_call *call)
{
    const size_t itemsize = tl_itemsize(call->dtype);
    const double of_c = (double)tiles(s->m, s->tile) * tiles(s->n, s->tile),
                 steps = of_c * tiles(s->k, depth(s));
    /* with their waits */
    const double load_a = 1 + cost_load_events(call, tile_of_a(s, itemsize)),
                 load_b = 1 + cost_load_events(call, tile_of_b(s, itemsize));
    return (has_whole_a(s) ? 1 : steps) * load_a + (has_whole_b(s) ? 1 : steps) * load_b +
           of_c * cost_store_events(call, tile_of_c(s, itemsize));
}

static const struct compute_job *job_of(const struct tl *tl) { return tl_args(tl)->more; }

static uint32_t itemsize_of(const struct tl *tl)
{
    return tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

uint64_t matmul_steps(const struct matmul_shape *s)
{
    return (uint64_t)tiles(s->m, s->tile) * tiles(s->n, s->tile) * tiles(s->k, depth(s));
}

/* This PE's product. */
static struct matmul_shape shape_of(const struct tl *tl)
{
    const struct compute_job *const job = job_of(tl);
    return compute_block_of(job, tl_program_id(tl) - job->request.first).shape;
}

static struct step step_at(const struct tl *tl, uint32_t number)
{
    const struct compute_job *job = job_of(tl);
    const struct matmul_shape shape = shape_of(tl), *s = &shape;
    const uint32_t inner = tiles(s->k, depth(s)), columns = tiles(s->n, s->tile);
    const uint32_t of_c = number / inner; /* tile of C */
    struct step step = {.l = number % inner, .j = of_c % columns, .i = of_c / columns};
    step.m = at_edge(s->m, s->tile, step.i);
    step.n = at_edge(s->n, s->tile, step.j);
    step.k = at_edge(s->k, depth(s), step.l);
    step.first = step.l == 0;
    step.last = step.l == inner - 1;
    const uint64_t tile = s->tile, deep = depth(s);
    step.a = step.i * tile * s->k + step.l * deep * step.m;
    step.b = (uint64_t)s->m * s->k + step.l * deep * s->n + step.j * tile * step.k;
    step.c = matmul_result(s) + step.i * tile * s->n + step.j * tile * step.m;
    const uint32_t bytes = itemsize_of(tl);
    const uint32_t tcm_b = job->tcm + (uint32_t)room_of_a(s, bytes);
    const uint64_t from_b = step.b - (uint64_t)s->m * s->k;
    step.tcm_a = job->tcm + (has_whole_a(s) ? (uint32_t)step.a * bytes
                                            : number % 2 * (uint32_t)tile_of_a(s, bytes));
    step.tcm_b = tcm_b + (has_whole_b(s) ? (uint32_t)from_b * bytes
                                         : number % 2 * (uint32_t)tile_of_b(s, bytes));
    step.tcm_c =
        tcm_b + (uint32_t)room_of_b(s, bytes) + of_c % places(s) * (uint32_t)tile_of_c(s, bytes);
    return step;
}

static uint64_t address(const struct tl *tl, uint64_t element)
{
    return tl_args(tl)->region[MATMUL_REGION].va + element * itemsize_of(tl);
}

static void load_a(struct tl *tl, uint32_t number)
{
    const struct step s = step_at(tl, number);
    tl_load_async(tl, s.tcm_a, address(tl, s.a), s.m * s.k * itemsize_of(tl), LOAD_A);
}

static void load_b(struct tl *tl, uint32_t number)
{
    const struct step s = step_at(tl, number);
    tl_load_async(tl, s.tcm_b, address(tl, s.b), s.k * s.n * itemsize_of(tl), LOAD_B);
}

/* A and B from step 0 on, laid out in TCM as in HBM. */
static void load_whole_a(struct tl *tl)
{
    const struct matmul_shape s = shape_of(tl);
    tl_load_async(tl, step_at(tl, 0).tcm_a, address(tl, 0), s.m * s.k * itemsize_of(tl), LOAD_A);
}

static void load_whole_b(struct tl *tl)
{
    const struct matmul_shape s = shape_of(tl);
    tl_load_async(tl, step_at(tl, 0).tcm_b, address(tl, (uint64_t)s.m * s.k),
                  s.k * s.n * itemsize_of(tl), LOAD_B);
}

static uint8_t sums_of(const struct step *s, uint32_t sums)
{
    if (sums == MATMUL_SUMS_OWN)
        return s->first ? TL_SUMS_NEW : TL_SUMS_ADD;
    return (uint8_t)((s->first ? TL_SUMS_NEW : TL_SUMS_FROM_F32) | (s->last ? 0 : TL_SUMS_TO_F32));
}

static void matmul_multiply(struct tl *tl, uint32_t number)
{
    const struct step s = step_at(tl, number);
    tl_dot(tl, s.tcm_c, tl_tcm(s.tcm_a), tl_tcm(s.tcm_b), s.m, s.n, s.k,
           sums_of(&s, job_of(tl)->shape.sums));
}

static void write_back(struct tl *tl, uint32_t number)
{
    const struct step s = step_at(tl, number);
    tl_store(tl, address(tl, s.c), tl_tcm(s.tcm_c), s.m * s.n * itemsize_of(tl));
}

static void begin_write_back(struct tl *tl, uint32_t number)
{
    const struct step s = step_at(tl, number);
    tl_store_async(tl, address(tl, s.c), tl_tcm(s.tcm_c), s.m * s.n * itemsize_of(tl), STORE_C);
}

/* With that many places, the store of the tile before this step's is to be waited for. */
static bool waits_for_store(const struct matmul_shape *s, uint32_t step, uint32_t places_of_c)
{
    return s->places == places_of_c && step >= tiles(s->k, depth(s));
}

static enum tl_status product(struct tl *tl, struct frame *f)
{
    const struct matmul_shape s = shape_of(tl);
    const uint32_t steps = (uint32_t)matmul_steps(&s);
    TL_BEGIN(&f->product);
    TL_CALL(&f->product, load_a(tl, 0));
    TL_CALL(&f->product, load_b(tl, 0));
    for (f->step = 0; f->step < steps; f->step++) {
        TL_CALL(&f->product, tl_wait_dma(tl, LOAD_A));
        TL_CALL(&f->product, tl_wait_dma(tl, LOAD_B));
        if (f->step + 1 < steps) {
            TL_CALL(&f->product, load_a(tl, f->step + 1));
            TL_CALL(&f->product, load_b(tl, f->step + 1));
        }
        if (step_at(tl, f->step).first && waits_for_store(&s, f->step, 1))
            TL_CALL(&f->product, tl_wait_dma(tl, STORE_C));
        TL_CALL(&f->product, matmul_multiply(tl, f->step));
        if (step_at(tl, f->step).last && waits_for_store(&s, f->step, 2))
            TL_CALL(&f->product, tl_wait_dma(tl, STORE_C));
        if (step_at(tl, f->step).last && s.places > 0)
            TL_CALL(&f->product, begin_write_back(tl, f->step));
        else if (step_at(tl, f->step).last)
            TL_CALL(&f->product, write_back(tl, f->step));
    }
    if (s.places > 0)
        TL_CALL(&f->product, tl_wait_dma(tl, STORE_C));
    TL_END(&f->product);
}

/* With A, or A and B, in TCM from the beginning on. */
static enum tl_status staged_product(struct tl *tl, struct frame *f)
{
    const struct matmul_shape s = shape_of(tl);
    const uint32_t steps = (uint32_t)matmul_steps(&s);
    TL_BEGIN(&f->product);
    tl_phase(tl, 0);
    TL_CALL(&f->product, load_whole_a(tl));
    if (has_whole_b(&s))
        TL_CALL(&f->product, load_whole_b(tl));
    TL_CALL(&f->product, tl_wait_dma(tl, LOAD_A));
    if (has_whole_b(&s))
        TL_CALL(&f->product, tl_wait_dma(tl, LOAD_B));
    tl_phase(tl, 1);
    if (!has_whole_b(&s))
        TL_CALL(&f->product, load_b(tl, 0));
    for (f->step = 0; f->step < steps; f->step++) {
        if (!has_whole_b(&s)) {
            TL_CALL(&f->product, tl_wait_dma(tl, LOAD_B));
            if (f->step + 1 < steps)
                TL_CALL(&f->product, load_b(tl, f->step + 1));
        }
        TL_CALL(&f->product, matmul_multiply(tl, f->step));
        if (step_at(tl, f->step).last)
            TL_CALL(&f->product, write_back(tl, f->step));
    }
    TL_END(&f->product);
}

static enum tl_status run_staged(struct tl *tl, void *frame) { return staged_product(tl, frame); }

static const char *const staged_phases[] = {"load operands", "multiply"};

const struct tl_kernel matmul_staged_kernel = {.name = "matmul",
                                               .frame_bytes = sizeof(struct frame),
                                               .run = run_staged,
                                               .phase = staged_phases,
                                               .phase_count = 2};

/* A PE that has no block of a product ends at once. */
static enum tl_status matmul_run_alone(struct tl *tl, void *frame)
{
    const struct compute_job *const job = job_of(tl);
    const bool is_cut = job->rows > 0;
    return is_cut && tl_program_id(tl) - job->request.first >= job->pes ? TL_ENDED
                                                                        : product(tl, frame);
}

const struct tl_kernel matmul_kernel = {
    .name = "matmul", .frame_bytes = sizeof(struct frame), .run = matmul_run_alone};

/* The collective in the kernel itself, the product in a stream, at PE 0. */
static enum tl_status run_beside(struct tl *tl, void *frame)
{
    struct frame *f = frame;
    const struct tl_kernel *collective = job_of(tl)->kernel;
    TL_BEGIN(&f->line);
    if (tl_place(tl).pe == 0)
        TL_CALL(&f->line, tl_fork(tl, 1));
    if (collective->phase_count == 0)
        tl_phase(tl, 0);
    TL_RUN(&f->line, collective->run(tl, f->inner));
    tl_phase(tl, collective->phase_count > 0 ? collective->phase_count : 1);
    if (tl_place(tl).pe == 0)
        TL_CALL(&f->line, tl_join(tl));
    TL_END(&f->line);
}

bool matmul_beside(struct matmul_beside *beside, const struct tl_kernel *collective)
{
    const uint32_t room = sizeof beside->phase / sizeof *beside->phase;
    uint32_t phases = collective->phase_count;
    if (collective->stream_count > 0 || collective->frame_bytes > INNER_BYTES || phases + 2 > room)
        return false;
    memset(beside, 0, sizeof *beside);
    for (uint32_t i = 0; i < phases; i++)
        beside->phase[i] = collective->phase[i];
    if (phases == 0)
        beside->phase[phases++] = "collective";
    beside->phase[phases++] = "rest of the product";
    beside->stream[0] = matmul_run_alone;
    beside->kernel = (struct tl_kernel){.name = collective->name,
                                        .frame_bytes = sizeof(struct frame),
                                        .run = run_beside,
                                        .phase = beside->phase,
                                        .phase_count = phases,
                                        .stream = beside->stream,
                                        .stream_count = 1};
    return true;
}

/* ---- sizes and bounds ------------------------------------------------------------------------ */

uint64_t matmul_elems(const struct matmul_shape *shape)
{
    return matmul_result(shape) + (uint64_t)shape->m * shape->n;
}

uint64_t matmul_tcm_bytes(const struct matmul_shape *shape, size_t itemsize)
{
    return room_of_a(shape, itemsize) + room_of_b(shape, itemsize) +
           places(shape) * tile_of_c(shape, itemsize);
}

/* ---- an estimate ----------------------------------------------------------------------------- */

/* Of the tiles along a side: how many are whole, and what is left for one more. */
struct cut {
    uint64_t count[2];
    uint32_t side[2];
};

static struct cut cut_of(uint32_t side, uint32_t tile)
{
    return (struct cut){{side / tile, side % tile > 0}, {tile, side % tile}};
}

/* Of one step, without the waits for its loads. */
static int64_t dot_ps(const struct hw_config *hw, const struct matmul_shape *s, size_t itemsize,
                      uint32_t m, uint32_t n, uint32_t k)
{
    const uint64_t operands = ((uint64_t)m * k + (uint64_t)k * n) * itemsize;
    const uint64_t sums =
        (uint64_t)m * n *
        (tile_of_c(s, itemsize) / ((uint64_t)smaller(s->tile, s->m) * smaller(s->tile, s->n)));
    const bool adds = depth(s) < s->k;
    return hw->overhead_ps[HW_NODE_PE_CPU] + hw->overhead_ps[HW_NODE_PE_SCHEDULER] +
           hw_fetch_ps(hw, operands + (adds ? sums : 0)) + hw_gemm_ps(hw, m, n, k) +
           hw_fetch_ps(hw, sums);
}

/* Each step takes what its product or its loads take, whichever is longer; the first loads and the
 * last store come on top, and with one place each store but for the loads beside it. */
int64_t matmul_estimate_ps(const struct hw_config *hw, const struct matmul_shape *s,
                           size_t itemsize)
{
    const struct ccl_call call = {.hw = hw, .dtype = LP_F16};
    const struct cost_times t = cost_times_of(&call);
    const struct hw_place here = {0, 0, 0};
    const int64_t issue_ps = 2 * (t.issue_ps + t.wait_ps),
                  load_ps = cost_load_latency_ps(&t, here, here);
    const struct cut rows = cut_of(s->m, s->tile), columns = cut_of(s->n, s->tile),
                     inner = cut_of(s->k, depth(s));
    const int64_t store_ps =
        cost_store_latency_ps(&t, here, here) +
        cost_memory_ps(&t, (uint64_t)smaller(s->tile, s->m) * smaller(s->tile, s->n) * itemsize);
    const int64_t stores = (int64_t)(matmul_steps(s) / tiles(s->k, depth(s)));
    int64_t total_ps =
        load_ps + cost_memory_ps(&t, tile_of_a(s, itemsize) + tile_of_b(s, itemsize)) + store_ps;
    for (uint32_t c = 0; c < 8; c++) {
        const uint32_t m = rows.side[c & 1], n = columns.side[c >> 1 & 1], k = inner.side[c >> 2];
        const uint64_t count = rows.count[c & 1] * columns.count[c >> 1 & 1] * inner.count[c >> 2];
        if (count == 0)
            continue;
        const int64_t product_ps = dot_ps(hw, s, itemsize, m, n, k) + issue_ps;
        const int64_t loads_ps =
            load_ps + issue_ps + cost_memory_ps(&t, ((uint64_t)m * k + (uint64_t)k * n) * itemsize);
        total_ps += (int64_t)count * (product_ps > loads_ps ? product_ps : loads_ps);
    }
    return total_ps + (s->places < 2 ? (stores - 1) * store_ps / 2 : 0);
}

void matmul_bound_bytes(struct hw_bound *bound, const struct hw_config *hw, enum hw_link_kind kind,
                        uint64_t bytes)
{
    const int64_t ps = hw_ser_ps(&hw->link[kind], bytes);
    bound->class_ps[kind] = ps;
    if (ps > bound->ps) {
        bound->ps = ps;
        bound->by = hw_link_name_of(hw, kind);
    }
}

struct hw_bound matmul_bound(const struct hw_config *hw, const struct matmul_shape *shape,
                             size_t itemsize)
{
    const uint64_t operands = matmul_result(shape) * itemsize;
    const uint64_t result = (uint64_t)shape->m * shape->n * itemsize;
    struct hw_bound bound = {.ps = hw_gemm_ps(hw, shape->m, shape->n, shape->k) -
                                   hw->overhead_ps[HW_NODE_PE_GEMM],
                             .by = "pe_gemm"};
    matmul_bound_bytes(&bound, hw, HW_LINK_HBM, operands > result ? operands : result);
    matmul_bound_bytes(&bound, hw, HW_LINK_PE_NOC, operands + result);
    matmul_bound_bytes(&bound, hw, HW_LINK_TCM, operands);
    return bound;
}
