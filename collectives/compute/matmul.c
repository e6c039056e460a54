/*
 * matmul.c: the kernel of a matrix product (matmul.h), alone and as a stream. Both buffers of
 * operand tiles are in use: while PE_GEMM works on one, the loads of the next step fill the other.
 * Kernels run speculatively, in handlers.
 */
#include "collectives/compute/matmul.h"

#include <string.h>

#include "collectives/choice/cost_times.h"
#include "hw/timing.h"

enum { LOAD_A, LOAD_B }; /* handles */
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

static uint32_t tiles(uint32_t side, uint32_t tile) { return (side + tile - 1) / tile; }

static uint32_t at_edge(uint32_t side, uint32_t tile, uint32_t index)
{
    const uint32_t left = side - index * tile;
    return left < tile ? left : tile;
}

/* ---- where things are in TCM: A or two tiles of it, likewise B, one tile of C ---------------- */

const char *matmul_operands_name(size_t operands)
{
    static const char *const names[MATMUL_OPERANDS] = {
        [MATMUL_STREAMED] = "streamed", [MATMUL_PINNED] = "pinned", [MATMUL_LOADED] = "loaded"};
    return operands < MATMUL_OPERANDS ? names[operands] : NULL;
}

static bool has_whole_a(const struct matmul_shape *s) { return s->operands != MATMUL_STREAMED; }
static bool has_whole_b(const struct matmul_shape *s) { return s->operands == MATMUL_LOADED; }

static uint64_t tile_room(const struct matmul_shape *s, size_t itemsize_bytes)
{
    return (uint64_t)s->tile * s->tile * itemsize_bytes;
}

static uint64_t whole_room(uint32_t rows, uint32_t columns, size_t itemsize_bytes)
{
    return ((uint64_t)rows * columns * itemsize_bytes + 63) / 64 * 64;
}

/* Of all of A's. */
static uint64_t room_of_a(const struct matmul_shape *s, size_t itemsize_bytes)
{
    return has_whole_a(s) ? whole_room(s->m, s->k, itemsize_bytes)
                          : 2 * tile_room(s, itemsize_bytes);
}

static uint64_t room_of_b(const struct matmul_shape *s, size_t itemsize_bytes)
{
    return has_whole_b(s) ? whole_room(s->k, s->n, itemsize_bytes)
                          : 2 * tile_room(s, itemsize_bytes);
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
    const double columns = tiles(s->n, s->tile), of_c = tiles(s->m, s->tile) * columns,
                 steps = of_c * tiles(s->k, s->tile);
    const double load =
        1 + cost_load_events(call, tile_room(s, tl_itemsize(call->dtype))); /* with its wait */
    const double loads = (has_whole_a(s) ? 1 : steps) + (has_whole_b(s) ? 1 : steps);
    return loads * load + of_c * cost_store_events(call, tile_room(s, tl_itemsize(call->dtype)));
}

static const struct matmul_job *job_of(const struct tl *tl) { return tl_args(tl)->more; }

static uint32_t itemsize(const struct tl *tl)
{
    return tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

static uint32_t step_count(const struct matmul_shape *s)
{
    return tiles(s->m, s->tile) * tiles(s->n, s->tile) * tiles(s->k, s->tile);
}

static struct step step_at(const struct tl *tl, uint32_t number)
{
    const struct matmul_job *job = job_of(tl);
    const struct matmul_shape *s = &job->shape;
    const uint32_t inner = tiles(s->k, s->tile), columns = tiles(s->n, s->tile);
    struct step step = {
        .l = number % inner, .j = number / inner % columns, .i = number / inner / columns};
    step.m = at_edge(s->m, s->tile, step.i);
    step.n = at_edge(s->n, s->tile, step.j);
    step.k = at_edge(s->k, s->tile, step.l);
    step.first = step.l == 0;
    step.last = step.l == inner - 1;
    const uint64_t tile = s->tile;
    step.a = step.i * tile * s->k + step.l * tile * step.m;
    step.b = (uint64_t)s->m * s->k + step.l * tile * s->n + step.j * tile * step.k;
    step.c = matmul_result(s) + step.i * tile * s->n + step.j * tile * step.m;
    const uint32_t bytes = itemsize(tl), room = (uint32_t)tile_room(s, bytes);
    const uint32_t tcm_b = job->tcm + (uint32_t)room_of_a(s, bytes);
    const uint64_t from_b = step.b - (uint64_t)s->m * s->k;
    step.tcm_a = job->tcm + (has_whole_a(s) ? (uint32_t)step.a * bytes : number % 2 * room);
    step.tcm_b = tcm_b + (has_whole_b(s) ? (uint32_t)from_b * bytes : number % 2 * room);
    step.tcm_c = tcm_b + (uint32_t)room_of_b(s, bytes);
    return step;
}

static uint64_t address(const struct tl *tl, uint64_t element)
{
    return tl_args(tl)->region[MATMUL_REGION].va + element * itemsize(tl);
}

static void load_a(struct tl *tl, uint32_t number)
{
    const struct step s = step_at(tl, number);
    tl_load_async(tl, s.tcm_a, address(tl, s.a), s.m * s.k * itemsize(tl), LOAD_A);
}

static void load_b(struct tl *tl, uint32_t number)
{
    const struct step s = step_at(tl, number);
    tl_load_async(tl, s.tcm_b, address(tl, s.b), s.k * s.n * itemsize(tl), LOAD_B);
}

/* A and B from step 0 on, laid out in TCM as in HBM. */
static void load_whole_a(struct tl *tl)
{
    const struct matmul_shape *const s = &job_of(tl)->shape;
    tl_load_async(tl, step_at(tl, 0).tcm_a, address(tl, 0), s->m * s->k * itemsize(tl), LOAD_A);
}

static void load_whole_b(struct tl *tl)
{
    const struct matmul_shape *const s = &job_of(tl)->shape;
    tl_load_async(tl, step_at(tl, 0).tcm_b, address(tl, (uint64_t)s->m * s->k),
                  s->k * s->n * itemsize(tl), LOAD_B);
}

static void matmul_multiply(struct tl *tl, uint32_t number)
{
    const struct step s = step_at(tl, number);
    tl_dot(tl, s.tcm_c, tl_tcm(s.tcm_a), tl_tcm(s.tcm_b), s.m, s.n, s.k, !s.first);
}

static void write_back(struct tl *tl, uint32_t number)
{
    const struct step s = step_at(tl, number);
    tl_store(tl, address(tl, s.c), tl_tcm(s.tcm_c), s.m * s.n * itemsize(tl));
}

static enum tl_status product(struct tl *tl, struct frame *f)
{
    const uint32_t steps = step_count(&job_of(tl)->shape);
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
        TL_CALL(&f->product, matmul_multiply(tl, f->step));
        if (step_at(tl, f->step).last)
            TL_CALL(&f->product, write_back(tl, f->step));
    }
    TL_END(&f->product);
}

/* With A, or A and B, in TCM from the beginning on. */
static enum tl_status staged_product(struct tl *tl, struct frame *f)
{
    const struct matmul_shape *const s = &job_of(tl)->shape;
    const uint32_t steps = step_count(s);
    TL_BEGIN(&f->product);
    tl_phase(tl, 0);
    TL_CALL(&f->product, load_whole_a(tl));
    if (has_whole_b(s))
        TL_CALL(&f->product, load_whole_b(tl));
    TL_CALL(&f->product, tl_wait_dma(tl, LOAD_A));
    if (has_whole_b(s))
        TL_CALL(&f->product, tl_wait_dma(tl, LOAD_B));
    tl_phase(tl, 1);
    if (!has_whole_b(s))
        TL_CALL(&f->product, load_b(tl, 0));
    for (f->step = 0; f->step < steps; f->step++) {
        if (!has_whole_b(s)) {
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

static enum tl_status matmul_run_alone(struct tl *tl, void *frame) { return product(tl, frame); }

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

uint64_t matmul_tcm_bytes(const struct matmul_shape *shape, size_t itemsize_bytes)
{
    return room_of_a(shape, itemsize_bytes) + room_of_b(shape, itemsize_bytes) +
           tile_room(shape, itemsize_bytes);
}

static void bound_class(struct hw_bound *bound, const struct hw_config *hw, enum hw_link_kind kind,
                        uint64_t bytes)
{
    const int64_t ps = hw_ser_ps(&hw->link[kind], bytes);
    bound->class_ps[kind] = ps;
    if (ps > bound->ps) {
        bound->ps = ps;
        bound->by = hw_link_name[kind];
    }
}

struct hw_bound matmul_bound(const struct hw_config *hw, const struct matmul_shape *shape,
                             size_t itemsize_bytes)
{
    const uint64_t operands = matmul_result(shape) * itemsize_bytes;
    const uint64_t result = (uint64_t)shape->m * shape->n * itemsize_bytes;
    struct hw_bound bound = {.ps = hw_gemm_ps(hw, shape->m, shape->n, shape->k) -
                                   hw->overhead_ps[HW_NODE_PE_GEMM],
                             .by = "pe_gemm"};
    bound_class(&bound, hw, HW_LINK_HBM, operands > result ? operands : result);
    bound_class(&bound, hw, HW_LINK_PE_NOC, operands + result);
    bound_class(&bound, hw, HW_LINK_TCM, operands);
    return bound;
}
