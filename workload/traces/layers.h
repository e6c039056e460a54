/*
 * layers.h: the layer tables of ASTRA-sim 1.0 and SimAI as the graph of one training iteration (or
 * inference): a policy in the first line, the number of layers in the second, then a line for each
 * layer with its times, collectives and bytes.
 */
#ifndef WORKLOAD_LAYERS_H
#define WORKLOAD_LAYERS_H

#include "workload/traces/trace_build.h"
#include "workload/traces/trace_file.h"

/* Whether a text begins with the word of a policy. */
bool layers_begin(const char *text, size_t count);
int layers_read(struct trace_build *build, const struct trace_file *file);

/* ---- a table, as it was read ----------------------------------------------------------------- */

enum layers_policy {
    LAYERS_MICRO,
    LAYERS_DATA,
    LAYERS_MODEL,
    LAYERS_DATA_MODEL, /* HYBRID_DATA_MODEL: dimension 0 has the model, the others the data */
    LAYERS_MODEL_DATA,
    LAYERS_TRANSFORMER,
    LAYERS_TRANSFORMER_AGAIN, /* HYBRID_TRANSFORMER_FWD_IN_BCKWD: forward again from checkpoints */
    LAYERS_DLRM,
    LAYERS_DLRM_ENHANCED,
    LAYERS_CUSTOMIZED, /* each layer has a policy */
    LAYERS_INFERENCE,
    LAYERS_POLICIES
};

enum layers_phase { LAYERS_FORWARD, LAYERS_INPUT, LAYERS_WEIGHT, LAYERS_PHASES };

/* The ranks that a type's suffix means. */
enum layers_group { LAYERS_PLAIN, LAYERS_EP, LAYERS_DP_EP };

struct layers_part {
    uint64_t time_ps, bytes;
    int collective; /* enum ccl_collective; -1: NONE */
    enum layers_group group;
};

struct layers_layer {
    const char *name;
    size_t name_bytes;
    struct layers_part part[LAYERS_PHASES];
    uint64_t update_ps;
    enum layers_policy policy; /* its own, or the table's */
    bool is_checkpoint;        /* forward may begin again here, */
    bool runs_again;           /* and does, from the last such one, before its backward pass */
    uint32_t line;
};

struct layers_table {
    const char *path;
    enum layers_policy policy;
    struct layers_layer *layers;
    uint32_t count;
    uint32_t model, ep, pp, ga, ranks; /* 0: the table does not say */
    uint64_t pp_bytes;                 /* of a message between stages */
    uint32_t last_bottom;              /* of DLRM */
    bool is_simai;                     /* all-gathers state the whole result */
};

/* layers_graph.c */
int layers_build(struct trace_build *build, const struct layers_table *table);

#endif
