/*
 * msccl_build.c: turns the sorted elements of an MSCCL XML file into calls of the schedule builder
 * (msccl_build.h).
 */
#include "collectives/msccl/msccl_build.h"

#include <stdio.h>

#include "collectives/msccl/msccl_limits.h"
#include "collectives/schedule/schedule_builder.h"

#define ALL_CHUNKS_MAX (UINT64_C(1) << 26) /* of all buffers of all gpus */

struct building {
    const struct msccl_lists *lists;
    const char *path;
    struct schedule_faults *faults;
};

/* Chunks of each buffer of all gpus. Files leave out buffers, and chunks at a buffer's end, that
 * no step names. False: a gpu has others, which is reported. */
static bool find_chunks(struct building *b, struct schedule_builder *builder)
{
    const struct msccl_algo *const algo = &b->lists->algo;
    const enum ccl_collective collective = algo->collective;
    uint32_t loop = algo->loop_chunks;
    uint64_t all = 0;
    for (uint32_t i = 0; i < b->lists->gpu_count; i++)
        for (int buffer = SCHEDULE_INPUT; buffer <= SCHEDULE_OUTPUT; buffer++)
            if (algo->loop_chunks == 0 && b->lists->gpu[i].chunks[buffer] > loop)
                loop = b->lists->gpu[i].chunks[buffer];
    const bool whole = collective != CCL_ALL_GATHER && collective != CCL_REDUCE_SCATTER &&
                       collective != CCL_ALL_TO_ALL;
    if (loop == 0 || (!whole && loop % algo->gpus != 0)) {
        schedule_fault(b->faults, b->path,
                       "nchunksperloop is %u; legal is a multiple of %u, of %s of %u gpus", loop,
                       whole ? 1 : algo->gpus, ccl_collective_name(collective), algo->gpus);
        return false;
    }
    uint32_t most[SCHEDULE_BUFFERS] = {loop, loop, MSCCL_CHUNKS_MAX};
    if (collective == CCL_ALL_GATHER)
        most[SCHEDULE_INPUT] /= algo->gpus;
    if (collective == CCL_REDUCE_SCATTER)
        most[SCHEDULE_OUTPUT] /= algo->gpus;
    for (uint32_t i = 0; i < b->lists->gpu_count; i++) {
        const struct msccl_gpu *const gpu = &b->lists->gpu[i];
        for (int i_o = SCHEDULE_INPUT; i_o <= SCHEDULE_OUTPUT; i_o++)
            if (gpu->chunks[i_o] > most[i_o])
                msccl_fault(b->faults, b->path, gpu->place,
                            "gpu %u has %c_chunks=\"%u\"; legal is up to %u, of nchunksperloop %u",
                            gpu->id, schedule_buffer_letter((unsigned)i_o), gpu->chunks[i_o],
                            most[i_o], loop);
        all +=
            most[SCHEDULE_INPUT] + (uint64_t)most[SCHEDULE_OUTPUT] + gpu->chunks[SCHEDULE_SCRATCH];
        schedule_chunks_of(builder, gpu->id, most[SCHEDULE_INPUT], most[SCHEDULE_OUTPUT],
                           gpu->chunks[SCHEDULE_SCRATCH]);
    }
    if (all > ALL_CHUNKS_MAX)
        schedule_fault(b->faults, b->path, "there are %llu chunks in all; legal is up to %llu",
                       (unsigned long long)all, (unsigned long long)ALL_CHUNKS_MAX);
    return b->faults->count == 0;
}

/* The number of the step `s` in a thread block, whose steps are sorted; UINT32_MAX: none. */
static uint32_t step_number(const struct msccl_lists *lists, const struct msccl_tb *tb, uint32_t s)
{
    return s < tb->step_count && lists->step[tb->step_first + s].s == s ? s : UINT32_MAX;
}

static void build_wait(struct building *b, struct schedule_builder *builder,
                       const struct msccl_gpu *gpu, uint32_t t, const struct msccl_step *step)
{
    const struct msccl_tb *const tb =
        step->depid < gpu->tb_count ? &b->lists->tb[gpu->tb_first + step->depid] : NULL;
    if (tb == NULL)
        msccl_fault(b->faults, b->path, step->place,
                    "gpu %u, tb %u, step %u waits for tb %u; legal is 0 to %u", gpu->id, t, step->s,
                    step->depid, gpu->tb_count - 1);
    else if (step_number(b->lists, tb, step->deps) == UINT32_MAX)
        msccl_fault(b->faults, b->path, step->place,
                    "gpu %u, tb %u, step %u waits for step %u of tb %u, which has %u steps; legal "
                    "is less",
                    gpu->id, t, step->s, step->deps, step->depid, tb->step_count);
    else if (step->depid != t)
        schedule_wait_for(builder, gpu->id, t,
                          (struct schedule_wait){.thread = step->depid, .step = step->deps});
    else if (step->deps >= step->s)
        msccl_fault(b->faults, b->path, step->place,
                    "gpu %u, tb %u, step %u waits for step %u of its own thread block; legal is a "
                    "step before it",
                    gpu->id, t, step->s, step->deps);
}

static void build_tb(struct building *b, struct schedule_builder *builder,
                     const struct msccl_gpu *gpu, uint32_t t)
{
    const struct msccl_tb *const tb = &b->lists->tb[gpu->tb_first + t];
    const uint32_t rank = gpu->id, thread = schedule_thread(builder, rank, 0);
    schedule_thread_line(builder, rank, thread, tb->place.line);
    for (uint32_t i = 0; i < tb->step_count; i++) {
        const struct msccl_step *const step = &b->lists->step[tb->step_first + i];
        (void)schedule_add(builder, rank, thread, step->step);
        if (step->depid != UINT32_MAX)
            build_wait(b, builder, gpu, t, step);
        if (i == 0 && gpu->copy_count > 0)
            schedule_wait_for(
                builder, rank, thread,
                (struct schedule_wait){.thread = gpu->tb_count, .step = gpu->copy_count - 1});
    }
}

static void build_copies(struct building *b, struct schedule_builder *builder,
                         const struct msccl_gpu *gpu)
{
    if (gpu->copy_count == 0)
        return;
    const uint32_t thread = schedule_thread(builder, gpu->id, 0);
    schedule_thread_line(builder, gpu->id, thread, b->lists->copy[gpu->copy_first].place.line);
    for (uint32_t i = 0; i < gpu->copy_count; i++) {
        const struct msccl_copy *const copy = &b->lists->copy[gpu->copy_first + i];
        (void)schedule_add(builder, gpu->id, thread,
                           (struct schedule_step){.op = SCHEDULE_COPY,
                                                  .count = copy->count,
                                                  .src = {copy->from, SCHEDULE_INPUT, false, {0}},
                                                  .dst = {copy->to, SCHEDULE_OUTPUT, false, {0}},
                                                  .line = copy->place.line});
    }
}

/* A file that does not say whether it works in place does if one of its buffers is missing. */
static bool is_in_place(const struct msccl_lists *lists)
{
    bool missing = false;
    for (uint32_t i = 0; i < lists->gpu_count; i++)
        missing |=
            lists->gpu[i].chunks[SCHEDULE_INPUT] == 0 || lists->gpu[i].chunks[SCHEDULE_OUTPUT] == 0;
    return lists->algo.in_place < 0 ? missing : lists->algo.in_place == 1;
}

struct schedule *msccl_build(const struct msccl_lists *lists, const char *path,
                             struct schedule_faults *faults, struct cw_error *error)
{
    struct building building = {lists, path, faults}, *const b = &building;
    const struct msccl_algo *const algo = &b->lists->algo;
    struct schedule_builder *const builder =
        schedule_builder_create(algo->name, algo->collective, algo->gpus, 1);
    if (builder == NULL) {
        b->faults->no_memory = true;
        return NULL;
    }
    struct schedule *const head = schedule_builder_head(builder);
    head->file = b->path;
    head->in_place = is_in_place(b->lists);
    head->min_bytes = algo->min_bytes;
    head->max_bytes = algo->max_bytes;
    if (find_chunks(b, builder))
        for (uint32_t i = 0; i < b->lists->gpu_count; i++) {
            const struct msccl_gpu *const gpu = &b->lists->gpu[i];
            for (uint32_t t = 0; t < gpu->tb_count; t++)
                build_tb(b, builder, gpu, t);
            build_copies(b, builder, gpu);
        }
    if (b->faults->count == 0)
        return schedule_build(builder, error);
    schedule_builder_free(builder);
    return NULL;
}

/* ---- what MSCCL would not carry out ---------------------------------------------------------- */

/* MSCCL's thread blocks publish the number of a step that they have done where it says hasdep="1";
 * a nop is not carried out, and so publishes nothing. A wait ends with that number or a later one.
 */
static bool publishes(const struct msccl_step *step)
{
    return step->step.op != SCHEDULE_NOP && step->hasdep != 0;
}

static void note_wait(const struct building *b, const struct msccl_gpu *gpu, uint32_t t,
                      const struct msccl_step *step)
{
    const struct msccl_tb *const tb = &b->lists->tb[gpu->tb_first + step->depid];
    const struct msccl_step *const steps = b->lists->step + tb->step_first;
    uint32_t next = step->deps;
    char ends[40] = "never ends";
    while (next < tb->step_count && !publishes(&steps[next]))
        next++;
    if (next == step->deps)
        return;
    if (next < tb->step_count)
        snprintf(ends, sizeof ends, "ends with its step %u", next);
    msccl_fault(b->faults, b->path, step->place,
                "gpu %u, tb %u, step %u waits for step %u of tb %u, which %s: in MSCCL, that "
                "wait %s",
                gpu->id, t, step->s, step->deps, step->depid,
                steps[step->deps].step.op == SCHEDULE_NOP ? "is a nop" : "has hasdep=\"0\"", ends);
}

/* MSCCL adds the wait of a nop to those of the step after it, which must have one of its own. */
static void note_tb(const struct building *b, const struct msccl_gpu *gpu, uint32_t t)
{
    const struct msccl_tb *const tb = &b->lists->tb[gpu->tb_first + t];
    const struct msccl_step *nop = NULL; /* that waits; since the step before it */
    for (uint32_t i = 0; i < tb->step_count; i++) {
        const struct msccl_step *const step = &b->lists->step[tb->step_first + i];
        const bool waits = step->depid != UINT32_MAX, is_nop = step->step.op == SCHEDULE_NOP;
        if (waits)
            note_wait(b, gpu, t, step);
        if (nop != NULL && !is_nop && !waits)
            msccl_fault(b->faults, b->path, nop->place,
                        "gpu %u, tb %u, step %u is a nop that waits, and step %u after it has "
                        "depid=\"-1\": MSCCL refuses such a \"chain of dependences\"",
                        gpu->id, t, nop->s, step->s);
        nop = !is_nop ? NULL : waits ? step : nop;
    }
}

void msccl_note_waits(const struct msccl_lists *lists, const char *path,
                      struct schedule_faults *notes)
{
    const struct building b = {lists, path, notes};
    for (uint32_t i = 0; i < lists->gpu_count; i++)
        for (uint32_t t = 0; t < lists->gpu[i].tb_count; t++)
            note_tb(&b, &lists->gpu[i], t);
}

static void note_figures_of(const struct msccl_lists *lists, const struct msccl_gpu *gpu,
                            struct msccl_figures *f)
{
    uint32_t sends[UINT8_MAX + 1] = {0}, recvs[UINT8_MAX + 1] = {0}, steps = 0;
    for (uint32_t t = 0; t < gpu->tb_count; t++) {
        const struct msccl_tb *const tb = &lists->tb[gpu->tb_first + t];
        sends[tb->channel] += tb->send != SCHEDULE_NO_RANK;
        recvs[tb->channel] += tb->recv != SCHEDULE_NO_RANK;
        steps += tb->step_count;
        f->channels = tb->channel >= f->channels ? tb->channel + 1u : f->channels;
        msccl_note_most(&f->sends, sends[tb->channel], gpu->id, t);
        msccl_note_most(&f->recvs, recvs[tb->channel], gpu->id, t);
        msccl_note_most(&f->steps, tb->step_count, gpu->id, t);
        for (uint32_t i = 0; i < tb->step_count; i++)
            msccl_note_most(&f->chunks, lists->step[tb->step_first + i].step.count, gpu->id, t);
    }
    msccl_note_most(&f->tbs, gpu->tb_count, gpu->id, 0);
    msccl_note_most(&f->elements, 1 + lists->gpu_count + gpu->tb_count + steps, gpu->id, 0);
}

void msccl_note_size(const struct msccl_lists *lists, const struct schedule *schedule,
                     struct schedule_faults *notes)
{
    struct msccl_figures figures = {.channels = 1};
    struct msccl_fit fit;
    for (uint32_t i = 0; i < lists->gpu_count; i++)
        note_figures_of(lists, &lists->gpu[i], &figures);
    msccl_fit(schedule, &figures, &fit);
    /* A reduce-scatter's two names are for different ones. */
    if (msccl_fit_count(&fit) == 0 && schedule->collective != CCL_REDUCE_SCATTER)
        schedule_fault(notes, schedule->file,
                       "no runtime takes the file, microsoft/msccl since %s; topo --xml cuts it",
                       fit.why[0]);
}
