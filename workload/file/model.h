/*
 * model.h: a workload file after it was read: its items as a tree, with formulas that are not
 * computed yet. Private to the room.
 */
#ifndef WORKLOAD_FILE_MODEL_H
#define WORKLOAD_FILE_MODEL_H

#include "workload/file/expression.h"
#include "workload/file/parallel.h"
#include "workload/file/pipeline.h"
#include "workload/file/workload_file.h"

/* What an item of a list of operations is. */
enum item_kind {
    ITEM_NOTHING,
    ITEM_ROOFLINE,
    ITEM_PRODUCT,
    ITEM_TIME,
    ITEM_COLLECTIVE,
    ITEM_SEND,
    ITEM_RECV,
    ITEM_OPS, /* a list of its own */
    ITEM_REPEAT,
    ITEM_EACH_LAYER, /* of the stage's layers, in a pipeline */
    ITEM_USE,        /* a block */
    ITEM_PIPELINE,
    ITEM_KINDS
};

enum item_formula {
    FORMULA_WHEN,
    FORMULA_BYTES, /* of a send or receive, the message's */
    FORMULA_FLOPS,
    FORMULA_KERNELS,
    FORMULA_TIME,
    FORMULA_M,
    FORMULA_N,
    FORMULA_K,
    FORMULA_PEER, /* or root */
    FORMULA_TAG,
    FORMULA_BUCKET,
    FORMULA_TO_FIRST,
    FORMULA_FROM_FIRST,
    FORMULA_COUNT, /* of a repeat */
    FORMULA_MICROBATCHES,
    FORMULA_CHUNKS,
    FORMULA_LAYERS,
    FORMULA_MESSAGE,
    ITEM_FORMULAS
};

/* A name that operations have, and that `after` refers to. */
struct item_name {
    const char *text;
    uint32_t index; /* among all */
    bool is_made;   /* an operation has it; else only `after` names it */
    struct item_name *next;
};

struct item_after {
    struct item_name *name; /* NULL: the item before */
    bool start;             /* after its start, not its end */
    const struct config_node *node;
    struct item_after *next;
};

/* A set of groups that an item names. */
struct item_set {
    const char *name;
    uint32_t index;                        /* in the graph; WORKLOAD_NONE: not made yet */
    uint32_t dims;                         /* of the layout; 0: `all`, or of the file's own */
    const struct config_node *own;         /* `groups`: its list of lists */
    const struct config_node *first_place; /* where it is named first */
    const char *algorithm;
    struct item_set *next;
};

struct item_block {
    const char *name;
    const struct config_node *node;
    struct item *items;
    bool busy; /* it is being expanded */
    struct item_block *next;
};

struct item {
    enum item_kind kind;
    const struct config_node *node;
    struct item_name *name; /* NULL: none */
    struct formula *formula[ITEM_FORMULAS];
    bool overlaps; /* what follows does not wait for it */
    bool has_after;
    struct item_after *after;
    int purpose;        /* enum workload_purpose; -1: that of the list it is in */
    const char *stream; /* NULL: by its kind */
    bool vector;        /* of a roofline: flops are not those of matrix products */
    uint8_t collective, redop;
    int dtype; /* enum dtype */
    struct item_set *set;
    struct symbol *index; /* of a repeat */
    bool backwards;       /* of a repeat: from the last one to the first */
    struct item_block *block;
    enum pipeline_schedule schedule;
    struct formula **split; /* of a pipeline: layers of each stage and chunk; NULL: equal parts */
    uint32_t split_count;
    struct item *items;    /* of a list; of a pipeline: forward */
    struct item *backward; /* of a pipeline; NULL: none */
    bool has_backward;
    /* Of a bucket, while it is expanded. */
    uint64_t pending_bytes;
    struct item *next;
};

enum { MEMORY_KEYS = 6, QUOTE_KEYS = 4 };

/* Names that every file has. */
struct model_symbols {
    struct symbol *size[PARALLEL_DIMS], *ranks, *dtype_bytes;
    struct symbol *coordinate[PARALLEL_DIMS], *rank, *stage;
    struct symbol *microbatch, *last_microbatch, *chunk, *first, *last, *layer, *stage_layers;
    struct symbol *in_flight, *layers_in_flight;
};

struct model {
    struct config_loader loader;
    struct config_arena arena;
    struct config_errors errors;
    struct symbols symbols;
    struct model_symbols known;
    const char *path;
    const char *name;
    int dtype;
    bool data;
    struct formula *ranks;
    const struct config_node *parallel_node;
    struct formula *size[PARALLEL_EDP];
    struct parallel parallel;
    struct item_set *sets;
    struct item_name *names;
    uint32_t name_count;
    struct item_block *blocks;
    struct item *items;
    bool has_pipeline;
    struct formula *memory[MEMORY_KEYS]; /* as in struct workload_memory */
    bool has_memory;
    struct formula *quote[QUOTE_KEYS]; /* as in struct workload_quotes */
    const struct config_node *place;
    uint64_t operations_max;
};

/* Reads the text into the model, errors into model->errors. False: there is nothing to expand. */
bool model_read(struct model *model, const struct workload_file_request *request);
/* Expands it. Mistakes go to model->errors. False: no memory. */
bool model_expand(struct model *model, struct workload_graph *graph);
/* Fills graph->sip_of as `place` says. False: no memory. */
bool model_place(struct model *model, const struct workload_file_request *request,
                 struct workload_graph *graph);
/* Reports names of sets that are neither of the layout nor of the file. */
void model_check_sets(struct model *model);
/* The set in the graph; makes it if it is not there yet. WORKLOAD_NONE: reported, or no memory. */
uint32_t model_set(struct model *model, struct workload_graph *graph, struct item_set *set);

#endif
