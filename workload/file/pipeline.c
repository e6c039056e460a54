/*
 * pipeline.c: orders of forward and backward passes (pipeline.h).
 */
#include "workload/file/pipeline.h"

#include <stddef.h>

const char *pipeline_schedule_name(enum pipeline_schedule schedule)
{
    static const char *const name[PIPELINE_SCHEDULES] = {"gpipe", "1f1b", "interleaved"};
    return (unsigned)schedule < PIPELINE_SCHEDULES ? name[schedule] : NULL;
}

uint32_t pipeline_units(const struct pipeline_shape *shape)
{
    return shape->chunks * shape->microbatches * (shape->forward_only ? 1 : 2);
}

/* The k-th forward or backward pass of a stage: groups of `stages` microbatches go through the
 * first chunk, then through the next one; backward from the last chunk on. */
static struct pipeline_unit unit_at(const struct pipeline_shape *shape, bool backward, uint32_t k)
{
    const uint32_t group = shape->chunks > 1 ? shape->stages : 1, round = group * shape->chunks;
    const uint32_t chunk = k % round / group;
    return (struct pipeline_unit){.backward = backward,
                                  .chunk = backward ? shape->chunks - 1 - chunk : chunk,
                                  .microbatch = k / round * group + k % group};
}

/* Forward passes before the first backward pass follows one of them. */
static uint32_t warmup_of(const struct pipeline_shape *shape, uint32_t stage)
{
    const uint32_t all = shape->chunks * shape->microbatches, rest = shape->stages - 1 - stage;
    uint32_t warmup = all;
    if (shape->schedule == PIPELINE_1F1B ||
        (shape->schedule == PIPELINE_INTERLEAVED && shape->chunks == 1))
        warmup = rest;
    else if (shape->schedule == PIPELINE_INTERLEAVED)
        warmup = 2 * rest + (shape->chunks - 1) * shape->stages;
    return warmup < all ? warmup : all;
}

void pipeline_order(const struct pipeline_shape *shape, uint32_t stage, struct pipeline_unit *unit)
{
    const uint32_t all = shape->chunks * shape->microbatches;
    const uint32_t warmup = shape->forward_only ? all : warmup_of(shape, stage);
    uint32_t n = 0;
    for (uint32_t k = 0; k < warmup; k++)
        unit[n++] = unit_at(shape, false, k);
    for (uint32_t k = warmup; k < all; k++) {
        unit[n++] = unit_at(shape, false, k);
        unit[n++] = unit_at(shape, true, k - warmup);
    }
    for (uint32_t k = all - warmup; !shape->forward_only && k < all; k++)
        unit[n++] = unit_at(shape, true, k);
}

uint32_t pipeline_in_flight(const struct pipeline_unit *unit, uint32_t count)
{
    uint32_t now = 0, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        now = unit[i].backward ? now - (now > 0) : now + 1;
        most = now > most ? now : most;
    }
    return most;
}
