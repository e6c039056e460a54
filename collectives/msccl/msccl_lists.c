/*
 * msccl_lists.c: adds an MSCCL XML file's elements to lists, and sorts and checks their numbers
 * (msccl_lists.h).
 */
#include "collectives/msccl/msccl_lists.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread block with this few steps for its greatest number is considered a mistake. */
enum { GAPS_PER_STEP = 4, GAPS_ANY = 64 };

void msccl_fault(struct schedule_faults *faults, const char *path, struct msccl_place place,
                 const char *format, ...)
{
    char text[500], at[SCHEDULE_PLACE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(at, sizeof at, "%.300s:%u:%u", path, place.line, place.column);
    schedule_fault(faults, at, "%s", text);
}

void msccl_lists_free(struct msccl_lists *lists)
{
    free(lists->gpu);
    free(lists->copy);
    free(lists->tb);
    free(lists->step);
}

/* Room for one more element of a list; false: there is none. */
static bool list_room(struct msccl_lists *lists, void **list, uint32_t count, uint32_t *room,
                      size_t bytes)
{
    if (count < *room)
        return true;
    const uint32_t more = *room == 0 ? 64 : *room * 2;
    void *const bigger = more > *room ? realloc(*list, more * bytes) : NULL;
    if (bigger == NULL) {
        lists->no_memory = true;
        return false;
    }
    *list = bigger;
    *room = more;
    return true;
}

void msccl_add_gpu(struct msccl_lists *lists, const struct msccl_gpu *gpu)
{
    if (!list_room(lists, (void **)&lists->gpu, lists->gpu_count, &lists->gpu_room, sizeof *gpu))
        return;
    lists->gpu[lists->gpu_count] = *gpu;
    lists->gpu[lists->gpu_count].tb_first = lists->tb_count;
    lists->gpu[lists->gpu_count++].copy_first = lists->copy_count;
}

void msccl_add_copy(struct msccl_lists *lists, const struct msccl_copy *copy)
{
    if (lists->gpu_count == 0 || !list_room(lists, (void **)&lists->copy, lists->copy_count,
                                            &lists->copy_room, sizeof *copy))
        return;
    lists->copy[lists->copy_count++] = *copy;
    lists->gpu[lists->gpu_count - 1].copy_count++;
}

void msccl_add_tb(struct msccl_lists *lists, const struct msccl_tb *tb)
{
    if (lists->gpu_count == 0 ||
        !list_room(lists, (void **)&lists->tb, lists->tb_count, &lists->tb_room, sizeof *tb))
        return;
    lists->tb[lists->tb_count] = *tb;
    lists->tb[lists->tb_count++].step_first = lists->step_count;
    lists->gpu[lists->gpu_count - 1].tb_count++;
}

void msccl_add_step(struct msccl_lists *lists, const struct msccl_step *step)
{
    if (lists->tb_count == 0 || !list_room(lists, (void **)&lists->step, lists->step_count,
                                           &lists->step_room, sizeof *step))
        return;
    lists->step[lists->step_count++] = *step;
    lists->tb[lists->tb_count - 1].step_count++;
}

const struct msccl_gpu *msccl_last_gpu(struct msccl_lists *lists)
{
    return lists->gpu_count > 0 ? &lists->gpu[lists->gpu_count - 1] : &lists->no_gpu;
}

const struct msccl_tb *msccl_last_tb(struct msccl_lists *lists)
{
    return lists->tb_count > 0 ? &lists->tb[lists->tb_count - 1] : &lists->no_tb;
}

/* ---- sorting --------------------------------------------------------------------------------- */

static int by_line(const struct msccl_place *a, const struct msccl_place *b)
{
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return a->column < b->column ? -1 : a->column > b->column;
}

static int by_gpu(const void *a, const void *b)
{
    const struct msccl_gpu *const x = a, *const y = b;
    return x->id != y->id ? (x->id < y->id ? -1 : 1) : by_line(&x->place, &y->place);
}

static int by_tb(const void *a, const void *b)
{
    const struct msccl_tb *const x = a, *const y = b;
    return x->id != y->id ? (x->id < y->id ? -1 : 1) : by_line(&x->place, &y->place);
}

static int by_s(const void *a, const void *b)
{
    const struct msccl_step *const x = a, *const y = b;
    return x->s != y->s ? (x->s < y->s ? -1 : 1) : by_line(&x->place, &y->place);
}

/* qsort() for a list that may be NULL. */
static void sort_list(void *list, size_t count, size_t bytes,
                      int (*compare)(const void *a, const void *b))
{
    if (count > 1)
        qsort(list, count, bytes, compare);
}

static void sort_gpus(struct msccl_lists *lists, const char *path, struct schedule_faults *faults)
{
    uint32_t next = 0;
    sort_list(lists->gpu, lists->gpu_count, sizeof *lists->gpu, by_gpu);
    for (uint32_t i = 0; i < lists->gpu_count; i++) {
        const struct msccl_gpu *const gpu = &lists->gpu[i];
        if (gpu->id >= lists->algo.gpus)
            msccl_fault(faults, path, gpu->place, "gpu %u of %u; legal is 0 to %u", gpu->id,
                        lists->algo.gpus, lists->algo.gpus - 1);
        else if (gpu->id < next)
            msccl_fault(faults, path, gpu->place, "gpu %u is there already; legal is each gpu once",
                        gpu->id);
        else if (gpu->id > next)
            msccl_fault(faults, path, gpu->place, "gpu %u is missing, before gpu %u", next,
                        gpu->id);
        next = gpu->id + 1 > next ? gpu->id + 1 : next;
    }
    if (next < lists->algo.gpus && faults->count == 0)
        schedule_fault(faults, path, "gpu %u of %u is missing", next, lists->algo.gpus);
}

static void sort_tbs(struct msccl_lists *lists, const struct msccl_gpu *gpu, const char *path,
                     struct schedule_faults *faults)
{
    if (gpu->tb_count == 0)
        return;
    struct msccl_tb *const tb = lists->tb + gpu->tb_first;
    sort_list(tb, gpu->tb_count, sizeof *tb, by_tb);
    for (uint32_t i = 0; i < gpu->tb_count; i++)
        if (tb[i].id != i) {
            msccl_fault(faults, path, tb[i].place,
                        "gpu %u has tb %u %s; legal are 0 to %u, each once", gpu->id, tb[i].id,
                        tb[i].id < i ? "twice" : "without those before it", gpu->tb_count - 1);
            return;
        }
}

/* Sorts the steps of a thread block. Adds to *gaps the numbers that are left out. */
static void sort_steps(struct msccl_lists *lists, const struct msccl_gpu *gpu,
                       const struct msccl_tb *tb, const char *path, struct schedule_faults *faults,
                       uint64_t *gaps)
{
    if (tb->step_count == 0)
        return;
    struct msccl_step *const step = lists->step + tb->step_first;
    sort_list(step, tb->step_count, sizeof *step, by_s);
    const struct msccl_step *const last = &step[tb->step_count - 1];
    for (uint32_t i = 1; i < tb->step_count; i++)
        if (step[i].s == step[i - 1].s)
            msccl_fault(faults, path, step[i].place,
                        "gpu %u, tb %u: step %u is there already; legal is each step once", gpu->id,
                        tb->id, step[i].s);
    const uint64_t most = (uint64_t)GAPS_PER_STEP * tb->step_count + GAPS_ANY;
    if (last->s > most)
        msccl_fault(faults, path, last->place,
                    "gpu %u, tb %u: step %u is one of %u; legal is up to %llu", gpu->id, tb->id,
                    last->s, tb->step_count, (unsigned long long)most);
    else
        *gaps += last->s + 1 - tb->step_count;
}

/* Puts steps that do nothing where numbers are left out. */
static void fill_gaps(struct msccl_lists *lists, uint64_t gaps)
{
    const uint64_t all = lists->step_count + gaps;
    struct msccl_step *const step = all < UINT32_MAX ? calloc(all, sizeof *step) : NULL;
    uint32_t count = 0;
    if (step == NULL) {
        lists->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < lists->tb_count; i++) {
        struct msccl_tb *const tb = &lists->tb[i];
        const struct msccl_step *const from = lists->step + tb->step_first;
        const uint32_t first = count;
        for (uint32_t k = 0; k < tb->step_count; k++) {
            for (; count - first < from[k].s; count++)
                step[count] = (struct msccl_step){.place = from[k].place,
                                                  .s = count - first,
                                                  .depid = UINT32_MAX,
                                                  .hasdep = -1,
                                                  .step = {.op = SCHEDULE_NOP,
                                                           .channel = tb->channel,
                                                           .line = from[k].place.line}};
            step[count++] = from[k];
        }
        tb->step_first = first;
        tb->step_count = count - first;
    }
    free(lists->step);
    lists->step = step;
    lists->step_count = lists->step_room = count;
}

void msccl_sort(struct msccl_lists *lists, const char *path, struct schedule_faults *faults)
{
    uint64_t gaps = 0;
    sort_gpus(lists, path, faults);
    for (uint32_t i = 0; i < lists->gpu_count; i++) {
        const struct msccl_gpu *const gpu = &lists->gpu[i];
        sort_tbs(lists, gpu, path, faults);
        for (uint32_t t = 0; t < gpu->tb_count; t++)
            sort_steps(lists, gpu, &lists->tb[gpu->tb_first + t], path, faults, &gaps);
    }
    if (gaps > 0 && faults->count == 0)
        fill_gaps(lists, gaps);
}
