/*
 * expand.h: the expansion of a workload file, under way: what one class of ranks has become so far.
 * classes.c makes one program after the other, through expand_list(). Private to the room.
 */
#ifndef WORKLOAD_FILE_EXPAND_H
#define WORKLOAD_FILE_EXPAND_H

#include "workload/file/model.h"

enum { DEPS_MAX = 64, BUCKETS_MAX = 64 };

struct deps {
    uint32_t count, at[DEPS_MAX];
};

/* The latest operation of a name on one of the streams that it was made on. */
struct latest {
    uint32_t name, stream, op;
};

/* Bytes that were kept back for a bucket. */
struct bucket {
    struct item *item;
    struct workload_op op;
    struct deps deps;
};

struct expand {
    struct model *model;
    struct symbols *symbols;
    struct workload_graph *graph;
    uint32_t program;
    uint32_t rank; /* one of the class */
    struct deps last;
    int purpose;
    const struct stage *stage; /* the pipeline that it is in, and there */
    uint32_t part;             /* which part of the model, */
    bool backward;             /* in which direction */
    struct latest *latest;
    uint32_t latest_count, latest_capacity;
    struct bucket bucket[BUCKETS_MAX];
    uint32_t bucket_count;
    uint64_t ops, visits;
    bool stop; /* an error that makes all else pointless, or no memory */
    bool no_memory;
};

/* A pipeline on the stage of this class of ranks. */
struct stage {
    struct item *item;
    struct pipeline_shape shape;
    uint32_t number;
    uint32_t *layers; /* [stages x chunks] of each part of the model, in its order */
    uint64_t *first_layer;
    uint32_t set; /* pp; WORKLOAD_NONE: one stage */
    uint64_t message;
    struct deps begin; /* what the pipeline waits for */
};

/* Appends the operations of the items to the program; what they wait for is expand->last. */
void expand_list(struct expand *expand, struct item *items);
/* A mistake at an item. Nothing follows it: it may repeat itself without end. */
void expand_error(struct expand *expand, const struct item *item, const char *text);
void expand_no_memory(struct expand *expand);
void expand_set(struct expand *expand, struct symbol *symbol, uint64_t value);

/* The numbers of a pipeline on the stage of expand->rank. False: reported, or no memory. Freed by
 * stage_free() either way. */
bool stage_shape(struct expand *expand, struct item *item, struct stage *stage);
void stage_free(struct stage *stage);
/* Which part of the model a chunk of the stage is. */
uint32_t stage_part(const struct stage *stage, uint32_t chunk);
/* The names of a pass, and of a stage, have no value any more. */
void stage_forget(struct expand *expand);

#endif
