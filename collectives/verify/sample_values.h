/*
 * sample_values.h: the values of some elements of a schedule's results, computed from its formulas
 * (schedule_values.h) with the arithmetic of the element type, in the order of the steps, and
 * compared with what they must be. For sample.c.
 *
 * The elements are the first and the last of each chunk that is looked at, in the first shard that
 * goes by it. Host side; one thread.
 */
#ifndef COLLECTIVES_SAMPLE_VALUES_H
#define COLLECTIVES_SAMPLE_VALUES_H

#include "collectives/verify/sample.h"

/* How the chunks of a buffer lie in its shards. */
struct sample_layout {
    uint32_t chunks, blocks, parts;
    uint32_t shards;      /* that go by the parts; 1: the parts share it */
    uint64_t block_elems; /* of each shard */
};

/* Elements of a chunk, of all shards together. */
uint64_t sample_layout_elements(const struct sample_layout *layout, uint32_t chunk);

struct sample_formulas {
    const struct schedule_values *values;
    struct sample_layout input, output;
    uint32_t input_chunk, output_chunk; /* those that `values` call chunk 0 */
};

/* The i-th of `count` numbers below `of`, one somewhere in each of `count` equal stretches, with
 * the first and the last of all: at irregular distances. */
uint64_t sample_number(uint64_t i, uint64_t count, uint64_t of);

/* Chunks of a result whose formulas, of `count` ranks, visit no more than about SAMPLE_VISITS
 * ranks; at least 1. */
uint64_t sample_room(const struct sample_request *request, uint32_t ranks, uint32_t count);

/*
 * Computes and compares the values of `count` ranks, and adds to found->elements, `wrong` and
 * `fault`. is_wrong: [count * outputs], chunks that are known to be wrong and are left out. CW_OK,
 * or CW_NO_RESOURCE.
 */
int sample_values(const struct sample_request *request, const struct sample_formulas *formulas,
                  const uint32_t *rank, uint32_t count, const bool *is_wrong,
                  struct sample_found *found, struct cw_error *error);

#endif
