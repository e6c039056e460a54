/*
 * compute.c: what one rank computes by itself (compute.h): which PEs and tiles carry out what is
 * asked for, where the operands of a product are, and the kernels that are not products. Kernels
 * run speculatively, in handlers; all else is pure.
 */
#include "collectives/compute/compute.h"

#include <string.h>

#include "collectives/choice/cost_times.h"
#include "collectives/data/input.h"
#include "hw/timing.h"

/* Of a load of a roofline: half a microsecond of an HBM slice of 64 GB/s. */
enum { CHUNK_BYTES = 32768 };

static uint64_t divided_up(uint64_t n, uint64_t by) { return n / by + (n % by > 0); }

/* ---- kernels --------------------------------------------------------------------------------- */

static const struct compute_job *compute_job(const struct tl *tl) { return tl_args(tl)->more; }

struct roofline_frame {
    uint16_t line;
    uint32_t chunk; /* the next */
    struct tl_begun work;
};
_Static_assert(sizeof(struct roofline_frame) <= TL_FRAME_BYTES, "the frame fits");

static uint32_t chunk_count(const struct compute_job *job)
{
    return (uint32_t)divided_up(job->pe_bytes, job->chunk_bytes);
}

/* From the PE's own slice: what is there does not matter. */
static void load_chunk(struct tl *tl, uint32_t chunk)
{
    const struct compute_job *const job = compute_job(tl);
    const uint64_t left = job->pe_bytes - (uint64_t)chunk * job->chunk_bytes;
    tl_load_from_async(tl, job->tcm + chunk % TL_HANDLES * job->chunk_bytes,
                       tl_pe_index(tl, tl_place(tl)), tl_hbm(job->hbm),
                       left < job->chunk_bytes ? (uint32_t)left : job->chunk_bytes,
                       chunk % TL_HANDLES);
}

/* The block works all the while; two loads are always in flight. */
static enum tl_status run_roofline(struct tl *tl, void *frame)
{
    struct roofline_frame *const f = frame;
    const struct compute_job *const job = compute_job(tl);
    const uint32_t chunks = job->at_once_ps > 0 ? 0 : chunk_count(job);
    TL_BEGIN(&f->line);
    if (job->at_once_ps > 0) {
        TL_CALL(&f->line, tl_work(tl, TL_BLOCK_PE, job->at_once_ps));
        return TL_ENDED;
    }
    if (job->pe_work_ps > 0) {
        TL_CALL(&f->line, tl_work_async(tl, job->request.block, job->pe_work_ps));
        f->work = tl_begun(tl);
    }
    for (f->chunk = 0; f->chunk < chunks + TL_HANDLES; f->chunk++) {
        if (f->chunk >= TL_HANDLES && f->chunk - TL_HANDLES < chunks)
            TL_CALL(&f->line, tl_wait_dma(tl, f->chunk % TL_HANDLES));
        if (f->chunk < chunks)
            TL_CALL(&f->line, load_chunk(tl, f->chunk));
    }
    if (job->pe_work_ps > 0)
        TL_CALL(&f->line, tl_wait_work(tl, f->work));
    TL_END(&f->line);
}

struct time_frame {
    uint16_t line;
};

static enum tl_status run_time(struct tl *tl, void *frame)
{
    struct time_frame *const f = frame;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_work(tl, TL_BLOCK_PE, compute_job(tl)->request.time_ps));
    TL_END(&f->line);
}

const struct tl_kernel compute_roofline_kernel = {
    .name = "roofline", .frame_bytes = sizeof(struct roofline_frame), .run = run_roofline};
const struct tl_kernel compute_time_kernel = {
    .name = "time", .frame_bytes = sizeof(struct time_frame), .run = run_time};

const struct tl_kernel *compute_kernel(const struct compute_job *job)
{
    static const struct tl_kernel *const kernels[] = {[COMPUTE_PRODUCT] = &matmul_kernel,
                                                      [COMPUTE_ROOFLINE] = &compute_roofline_kernel,
                                                      [COMPUTE_TIME] = &compute_time_kernel};
    return kernels[job->request.kind];
}

const char *compute_kernel_name(enum compute_kind kind)
{
    return kind == COMPUTE_PRODUCT ? "product" : kind == COMPUTE_ROOFLINE ? "roofline" : "time";
}

/* ---- blocks of a product --------------------------------------------------------------------- */

/* Where part `i` of `parts` begins. */
static uint32_t part_begin(uint32_t side, uint32_t parts, uint32_t i)
{
    return (uint32_t)((uint64_t)side * i / parts);
}

struct compute_block compute_block_of(const struct compute_job *job, uint32_t index)
{
    struct compute_block block = {.shape = job->shape};
    if (job->rows == 0)
        return block;
    const uint32_t i = index / job->columns, j = index % job->columns;
    block.row = part_begin(job->shape.m, job->rows, i);
    block.column = part_begin(job->shape.n, job->columns, j);
    block.shape.m = part_begin(job->shape.m, job->rows, i + 1) - block.row;
    block.shape.n = part_begin(job->shape.n, job->columns, j + 1) - block.column;
    return block;
}

static struct matmul_shape largest_block(const struct compute_job *job)
{
    struct matmul_shape shape = job->shape;
    if (job->rows > 0) {
        shape.m = (uint32_t)divided_up(shape.m, job->rows);
        shape.n = (uint32_t)divided_up(shape.n, job->columns);
    }
    return shape;
}

uint64_t compute_shard_elems(const struct compute_job *job)
{
    const struct matmul_shape shape = largest_block(job);
    return matmul_elems(&shape);
}

uint64_t compute_tcm_bytes(const struct compute_job *job)
{
    const struct matmul_shape block = largest_block(job);
    return job->request.kind == COMPUTE_PRODUCT
               ? matmul_tcm_bytes(&block, dtype_bytes(job->request.dtype))
               : (uint64_t)TL_HANDLES * job->chunk_bytes;
}

/* A matrix of rows x columns that begins at (row, column) of one whose rows are `stride` long and
 * whose first element is `first` of the stream: tile by tile. */
struct part {
    uint64_t first, stride;
    uint32_t row, column, rows, columns;
    uint32_t high, wide; /* a tile */
};

static uint8_t *fill_part(const struct part *p, enum dtype dtype, uint64_t seed, uint8_t *to)
{
    for (uint32_t y = 0; y < p->rows; y += p->high)
        for (uint32_t x = 0; x < p->columns; x += p->wide)
            for (uint32_t i = y; i < p->rows && i < y + p->high; i++) {
                const uint32_t left = p->columns - x, run = left < p->wide ? left : p->wide;
                input_fill(dtype, seed,
                           p->first + (uint64_t)(p->row + i) * p->stride + p->column + x, to, run);
                to += run * dtype_bytes(dtype);
            }
    return to;
}

void compute_fill(const struct compute_job *job, uint32_t index, uint64_t seed, uint64_t first,
                  void *shard)
{
    const struct compute_block block = compute_block_of(job, index);
    const struct matmul_shape *const s = &block.shape;
    const uint32_t deep = s->depth > 0 ? s->depth : s->tile;
    const struct part a = {.first = first,
                           .stride = s->k,
                           .row = block.row,
                           .rows = s->m,
                           .columns = s->k,
                           .high = s->tile,
                           .wide = deep};
    const struct part b = {.first = first + (uint64_t)job->shape.m * s->k,
                           .stride = job->shape.n,
                           .column = block.column,
                           .rows = s->k,
                           .columns = s->n,
                           .high = deep,
                           .wide = s->tile};
    uint8_t *const after_a = fill_part(&a, job->request.dtype, seed, shard);
    (void)fill_part(&b, job->request.dtype, seed, after_a);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static int refuse_product(const struct compute_request *request, const char *why,
                          struct cw_error *error)
{
    return cw_error_set(error, CW_USAGE, "a product of %u x %u x %u of %s: %s", request->m,
                        request->n, request->k, dtype_name(request->dtype), why);
}

static bool has_f32_sums(enum dtype dtype) { return dtype_is_narrow(dtype) || dtype == DTYPE_F32; }

/* Of blocks beside each other, with so many below each other; 0: the PEs are no multiple of them.
 */
static uint32_t columns_for(const struct compute_job *job, uint32_t rows)
{
    const uint32_t columns = job->request.count / rows;
    return job->request.count % rows > 0 ? 0 : columns < job->request.n ? columns : job->request.n;
}

/* The tiles for the job's blocks with the least estimate, if it is below *least_ps. */
static void choose_tiles(const struct hw_config *hw, uint64_t tcm_bytes, uint32_t rows,
                         uint32_t columns, struct compute_job *job, int64_t *least_ps)
{
    const size_t itemsize = dtype_bytes(job->request.dtype);
    struct compute_job tried = *job;
    tried.rows = rows;
    tried.columns = columns;
    struct matmul_shape block = largest_block(&tried);
    const uint32_t unit = hw->gemm_m > hw->gemm_n ? hw->gemm_m : hw->gemm_n;
    const uint64_t side = block.m > block.n ? block.m : block.n;
    for (uint64_t tile = unit; tile < 2 * side + unit; tile *= 2)
        for (uint64_t depth = hw->gemm_k; depth < 2ull * block.k + hw->gemm_k; depth *= 2)
            for (uint32_t places = 1; places <= 2; places++) {
                block.tile = (uint32_t)tile;
                block.depth = (uint32_t)depth;
                block.places = places;
                if (matmul_tcm_bytes(&block, itemsize) > tcm_bytes ||
                    matmul_steps(&block) > UINT32_MAX)
                    continue;
                const int64_t ps = matmul_estimate_ps(hw, &block, itemsize);
                if (ps >= *least_ps)
                    continue;
                *least_ps = ps;
                job->rows = rows;
                job->columns = columns;
                job->shape.tile = block.tile;
                job->shape.depth = block.depth;
                job->shape.places = places;
            }
}

static int plan_product(const struct hw_config *hw, uint64_t tcm_bytes, struct compute_job *job,
                        struct cw_error *error)
{
    const struct compute_request *const request = &job->request;
    const uint32_t count = request->count;
    int64_t least_ps = INT64_MAX;
    if (request->m == 0 || request->n == 0 || request->k == 0 || request->m > COMPUTE_SIDE_MAX ||
        request->n > COMPUTE_SIDE_MAX || request->k > COMPUTE_SIDE_MAX)
        return refuse_product(request, "legal are sides from 1 to 16777216", error);
    if (!has_f32_sums(request->dtype))
        return refuse_product(request, "legal are f16, bf16, f32, fp8_e4m3 and fp8_e5m2", error);
    job->shape = (struct matmul_shape){
        .m = request->m, .n = request->n, .k = request->k, .sums = MATMUL_SUMS_F32};
    for (uint32_t rows = 1; rows <= count && rows <= request->m; rows++)
        if (columns_for(job, rows) > 0)
            choose_tiles(hw, tcm_bytes, rows, columns_for(job, rows), job, &least_ps);
    if (least_ps == INT64_MAX)
        return cw_error_set(
            error, CW_USAGE,
            "a product's tiles do not fit into %llu bytes of TCM beside the receive "
            "rings (memory.tcm_kib)",
            (unsigned long long)tcm_bytes);
    job->pes = job->rows * job->columns;
    return CW_OK;
}

static int plan_roofline(const struct hw_config *hw, uint64_t tcm_bytes, struct compute_job *job,
                         struct cw_error *error)
{
    const struct compute_request *const request = &job->request;
    const bool math = request->block == TL_BLOCK_MATH;
    const struct hw_rate rate = math ? hw->math_cycle : hw->gemm_cycle;
    const uint64_t per_cycle = math ? hw->math_lanes : 2ull * hw->gemm_m * hw->gemm_n * hw->gemm_k;
    const uint64_t cycles = divided_up(divided_up(request->flops, request->count), per_cycle);
    const __uint128_t ps = ((__uint128_t)cycles * rate.num + rate.den - 1) / rate.den;
    if (request->block == TL_BLOCK_PE)
        return cw_error_set(error, CW_USAGE, "a roofline is of PE_GEMM or of PE_MATH");
    if (request->flops == 0 && request->bytes == 0)
        return cw_error_set(error, CW_USAGE, "a roofline of no flops and no bytes");
    job->pe_bytes = divided_up(request->bytes, request->count);
    job->chunk_bytes =
        tcm_bytes / TL_HANDLES < CHUNK_BYTES ? (uint32_t)(tcm_bytes / TL_HANDLES) : CHUNK_BYTES;
    if (request->bytes > 0 && job->chunk_bytes == 0)
        return cw_error_set(error, CW_USAGE,
                            "a roofline needs some TCM beside the receive rings (memory.tcm_kib)");
    if (ps > CW_TIME_MAX / 4 || chunk_count(job) < job->pe_bytes / CHUNK_BYTES)
        return cw_error_set(error, CW_USAGE, "a roofline of %llu flops and %llu bytes is too large",
                            (unsigned long long)request->flops, (unsigned long long)request->bytes);
    job->pe_work_ps = (int64_t)ps;
    job->pes = request->count;
    return CW_OK;
}

void compute_job_at_once(const struct hw_config *hw, struct compute_job *job)
{
    if (job->request.kind != COMPUTE_ROOFLINE)
        return;
    const int64_t *const node_ps = hw->overhead_ps;
    const int64_t issue_ps = node_ps[HW_NODE_PE_CPU] + node_ps[HW_NODE_PE_SCHEDULER];
    const enum hw_node_kind block =
        job->request.block == TL_BLOCK_MATH ? HW_NODE_PE_MATH : HW_NODE_PE_GEMM;
    const int64_t way_ps = hw->link[HW_LINK_PE_NOC].prop_ps + node_ps[HW_NODE_ROUTER] +
                           hw->link[HW_LINK_HBM].prop_ps + node_ps[HW_NODE_PE_DMA];
    int64_t work_ps = 0, loads_ps = 0;
    if (job->pe_work_ps > 0)
        work_ps = issue_ps + node_ps[block] + job->pe_work_ps;
    if (job->pe_bytes > 0) {
        int64_t ser_ps = 0;
        static const enum hw_link_kind links[] = {HW_LINK_HBM, HW_LINK_PE_NOC, HW_LINK_TCM};
        for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
            const int64_t ps = hw_ser_ps(&hw->link[links[i]], job->pe_bytes);
            ser_ps = ps > ser_ps ? ps : ser_ps;
        }
        loads_ps = issue_ps + node_ps[HW_NODE_PE_MMU] + way_ps + node_ps[HW_NODE_HBM] + ser_ps +
                   way_ps + hw->link[HW_LINK_TCM].prop_ps + node_ps[HW_NODE_PE_TCM];
        if (work_ps > 0)
            loads_ps += issue_ps + node_ps[HW_NODE_PE_CPU];
    }
    job->at_once_ps = work_ps > loads_ps ? work_ps : loads_ps;
}

int compute_job_of(const struct hw_config *hw, const struct compute_request *request,
                   uint64_t tcm_bytes, uint32_t hbm, struct compute_job *job,
                   struct cw_error *error)
{
    const uint32_t pes = hw_cubes(hw) * hw_pes(hw);
    *job = (struct compute_job){.request = *request, .hbm = (uint32_t)hbm};
    if (request->first >= pes || request->count > pes - request->first)
        return cw_error_set(error, CW_USAGE, "PEs %u to %llu of a SIP that has 0 to %u",
                            request->first, (unsigned long long)request->first + request->count - 1,
                            pes - 1);
    if (request->count == 0)
        job->request.count = pes - request->first;
    if (request->kind == COMPUTE_PRODUCT)
        return plan_product(hw, tcm_bytes, job, error);
    if (request->kind == COMPUTE_ROOFLINE && hbm > UINT32_MAX - CHUNK_BYTES)
        return cw_error_set(error, CW_USAGE,
                            "a roofline reads HBM after the receive rings, whose end at %llu is "
                            "beyond 4 GiB",
                            (unsigned long long)hbm);
    if (request->kind == COMPUTE_ROOFLINE)
        return plan_roofline(hw, tcm_bytes, job, error);
    job->pes = job->request.count;
    if (request->kind == COMPUTE_TIME && request->time_ps >= 0 &&
        request->time_ps <= CW_TIME_MAX / 4)
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "a computation of kind %u, of %lld ps: legal are products "
                        "(0), rooflines (1) and times (2) from 0 ps on",
                        (unsigned)request->kind, (long long)request->time_ps);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* However C is cut into blocks. */
static struct hw_bound product_bound(const struct hw_config *hw, const struct compute_job *job)
{
    const uint32_t count = job->request.count;
    struct hw_bound least = {.ps = INT64_MAX};
    for (uint32_t rows = 1; rows <= count && rows <= job->shape.m; rows++) {
        struct compute_job cut = *job;
        cut.rows = rows;
        cut.columns = columns_for(job, rows);
        if (cut.columns == 0)
            continue;
        const struct matmul_shape block = largest_block(&cut);
        const struct hw_bound bound = matmul_bound(hw, &block, dtype_bytes(job->request.dtype));
        if (bound.ps < least.ps)
            least = bound;
    }
    return least;
}

struct hw_bound compute_bound(const struct hw_config *hw, const struct compute_job *job)
{
    struct hw_bound bound = {.ps = job->request.time_ps, .by = "time"};
    if (job->request.kind == COMPUTE_PRODUCT)
        return product_bound(hw, job);
    if (job->request.kind == COMPUTE_ROOFLINE) {
        bound.ps = job->pe_work_ps;
        bound.by = job->request.block == TL_BLOCK_MATH ? "pe_math" : "pe_gemm";
        matmul_bound_bytes(&bound, hw, HW_LINK_HBM, job->pe_bytes);
        matmul_bound_bytes(&bound, hw, HW_LINK_PE_NOC, job->pe_bytes);
        matmul_bound_bytes(&bound, hw, HW_LINK_TCM, job->pe_bytes);
    }
    return bound;
}

double compute_flops(const struct compute_job *job)
{
    const struct compute_request *const request = &job->request;
    return request->kind == COMPUTE_PRODUCT    ? 2.0 * request->m * request->n * request->k
           : request->kind == COMPUTE_ROOFLINE ? (double)request->flops
                                               : 0;
}

double compute_events(const struct ccl_call *call, const struct compute_job *job)
{
    const struct matmul_shape block = largest_block(job);
    const double of_pe = job->request.kind == COMPUTE_PRODUCT ? matmul_events(&block, call)
                         : job->request.kind == COMPUTE_ROOFLINE
                             ? (job->at_once_ps > 0 ? 0 : chunk_count(job)) *
                                   (1 + cost_load_events(call, job->chunk_bytes))
                             : 1;
    return job->pes * (cost_launch_events(call->hw, false) + of_pe);
}
