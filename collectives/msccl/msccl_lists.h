/*
 * msccl_lists.h: the elements of an MSCCL XML file, as lists in the order of the file; then sorted
 * by number. Used by msccl_xml.c alone. Memory that runs out is kept as a state.
 */
#ifndef COLLECTIVES_MSCCL_LISTS_H
#define COLLECTIVES_MSCCL_LISTS_H

#include "collectives/schedule/schedule_faults.h"

enum { MSCCL_CHUNKS_MAX = 1 << 20 }; /* of a buffer */

struct msccl_place {
    uint32_t line, column;
};

struct msccl_algo {
    char name[64], protocol[16];
    enum ccl_collective collective;
    uint32_t gpus, loop_chunks; /* loop_chunks 0: not said */
    uint32_t root;              /* UINT32_MAX: not said */
    int in_place;               /* -1: not said */
    uint64_t min_bytes, max_bytes;
};

/* Ids are UINT32_MAX where they are missing, which is reported. */
struct msccl_gpu {
    struct msccl_place place;
    uint32_t id, chunks[SCHEDULE_BUFFERS];
    uint32_t tb_first, tb_count, copy_first, copy_count;
};

struct msccl_copy {
    struct msccl_place place;
    uint32_t from, to, count; /* chunks of i and o */
};

struct msccl_tb {
    struct msccl_place place;
    uint32_t id, send, recv; /* SCHEDULE_NO_RANK: none */
    uint8_t channel;
    uint32_t step_first, step_count;
};

struct msccl_step {
    struct msccl_place place;
    uint32_t s, depid, deps; /* depid UINT32_MAX: waits for none */
    int hasdep;              /* -1: not said */
    struct schedule_step step;
};

struct msccl_lists {
    struct msccl_algo algo;
    struct msccl_gpu *gpu;
    struct msccl_copy *copy;
    struct msccl_tb *tb;
    struct msccl_step *step;
    uint32_t gpu_count, copy_count, tb_count, step_count;
    uint32_t gpu_room, copy_room, tb_room, step_room;
    struct msccl_gpu no_gpu; /* used when memory has run out */
    struct msccl_tb no_tb;
    bool no_memory;
};
void msccl_lists_free(struct msccl_lists *lists);

void msccl_add_gpu(struct msccl_lists *lists, const struct msccl_gpu *gpu);
/* To the last gpu; a step to the last thread block. */
void msccl_add_copy(struct msccl_lists *lists, const struct msccl_copy *copy);
void msccl_add_tb(struct msccl_lists *lists, const struct msccl_tb *tb);
void msccl_add_step(struct msccl_lists *lists, const struct msccl_step *step);
const struct msccl_gpu *msccl_last_gpu(struct msccl_lists *lists);
const struct msccl_tb *msccl_last_tb(struct msccl_lists *lists);

/* Sorts all by number, and reports each number that is missing or there twice. Numbers count from
 * 0. Steps may leave numbers out, which then are steps that do nothing. */
void msccl_sort(struct msccl_lists *lists, const char *path, struct schedule_faults *faults);

/* A fault at a place of the file. */
void msccl_fault(struct schedule_faults *faults, const char *path, struct msccl_place place,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
