/*
 * pipeline.h: the order in which a stage of a pipeline runs its microbatches: GPipe, 1F1B (both as
 * in Megatron and PyTorch), and 1F1B interleaved, in which a stage has several chunks of layers
 * (megatron/core/pipeline_parallel/schedules.py).
 */
#ifndef WORKLOAD_FILE_PIPELINE_H
#define WORKLOAD_FILE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

enum pipeline_schedule {
    PIPELINE_GPIPE,       /* all forward passes, then all backward passes, in order */
    PIPELINE_1F1B,        /* stages - stage - 1 forward passes first, then one of each in turn */
    PIPELINE_INTERLEAVED, /* of chunks, microbatches in groups of `stages` */
    PIPELINE_SCHEDULES
};

struct pipeline_shape {
    enum pipeline_schedule schedule;
    uint32_t stages, chunks, microbatches; /* chunks: 1 but for PIPELINE_INTERLEAVED */
    bool forward_only;
};

struct pipeline_unit {
    bool backward;
    uint32_t chunk, microbatch;
};

const char *pipeline_schedule_name(enum pipeline_schedule schedule); /* "1f1b"; NULL: none */
/* How many units a stage has. */
uint32_t pipeline_units(const struct pipeline_shape *shape);
/* Fills unit[pipeline_units()] in the stage's order. */
void pipeline_order(const struct pipeline_shape *shape, uint32_t stage, struct pipeline_unit *unit);
/* The most units, in this order, that were passed forward and not yet backward at one moment. */
uint32_t pipeline_in_flight(const struct pipeline_unit *unit, uint32_t count);

#endif
