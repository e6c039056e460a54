/*
 * graph.h: a step as the machine runs it: for each rank a program of operations with dependencies
 * among them, and the groups of ranks that collectives and messages are of. Every reader of
 * workloads (YAML, traces) makes one of these; the runner needs nothing else. Ranks that do the
 * same share a program: a program names groups by their set, and each rank finds its own group
 * there.
 *
 * An operation begins when all that it depends on is over (or has begun, WORKLOAD_AFTER_START) and
 * its stream lets it. Plain data, const once
 * workload_graph_check() has accepted it.
 */
#ifndef WORKLOAD_GRAPH_H
#define WORKLOAD_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/algorithm.h"
#include "collectives/data/dtype.h"
#include "core/cw.h"

enum workload_op_kind {
    WORKLOAD_NOTHING,    /* takes no time: joins dependencies */
    WORKLOAD_ROOFLINE,   /* flops and bytes */
    WORKLOAD_PRODUCT,    /* m x n x k */
    WORKLOAD_TIME,       /* so many picoseconds */
    WORKLOAD_COLLECTIVE, /* of the rank's group of a set */
    WORKLOAD_SEND,       /* to one rank of its group; */
    WORKLOAD_RECV,       /* from one */
    WORKLOAD_OP_KINDS
};

/* What an operation is for: accounts of a step are kept by it. */
enum workload_purpose {
    WORKLOAD_OTHER,
    WORKLOAD_FORWARD,
    WORKLOAD_BACKWARD,
    WORKLOAD_RECOMPUTE,
    WORKLOAD_UPDATE, /* the optimizer's */
    WORKLOAD_PREFILL,
    WORKLOAD_DECODE,
    WORKLOAD_PURPOSES
};

#define WORKLOAD_NONE UINT32_MAX
/* In a dependency: the other operation has begun, not ended. */
#define WORKLOAD_AFTER_START (UINT32_C(1) << 31)

struct workload_op {
    uint8_t kind;       /* enum workload_op_kind */
    uint8_t purpose;    /* enum workload_purpose */
    uint8_t collective; /* enum ccl_collective */
    uint8_t redop;      /* enum redop */
    uint8_t dtype;      /* enum dtype */
    uint8_t matrix;     /* of a roofline: its flops are matrix products', not PE_MATH's */
    uint16_t stream;    /* of the rank, in graph->streams */
    uint32_t label;     /* in graph->labels: operations of one label are one row of a report */
    uint32_t set;       /* of a collective or a message: in graph->sets */
    uint32_t peer; /* of a message: the other rank, in its group; of a rooted collective: root */
    uint32_t tag;  /* of a message: matches the k-th send with the k-th receive of equal
                      (group, sender, receiver, tag) */
    uint32_t first_dep, dep_count; /* in program->deps */
    int32_t layer, microbatch;     /* -1: none. For names and timelines */
    uint64_t bytes; /* of a collective or message: a rank's whole tensor (of an all-gather its
                       result, else its input); of a roofline: moved to and from memory */
    union {
        uint64_t flops;   /* of a roofline */
        uint64_t time_ps; /* of a time */
        uint32_t side[3]; /* of a product: m, n, k */
    };
    uint32_t to_first, from_first; /* of an all-to-all: thousandths of the mean block that go to the
                                      group's first rank from each rank, or to each from it; the
                                      other blocks share the rest. 0: all blocks are alike */
    uint32_t kernels;              /* of a roofline: launches that it stands for, at least 1 */
    uint64_t id;                   /* as its file numbers it (a node's id); else its line, */
    uint32_t column;               /* and the column there; 0: id is a node's */
};

struct workload_program {
    struct workload_op *ops; /* [op_count] in program order */
    uint32_t op_count;
    uint32_t *deps; /* [dep_count] operations of this program, each | WORKLOAD_AFTER_START or not */
    uint32_t dep_count;
    char *name; /* of the class of ranks that run it: "stage 0" */
};

/* Disjoint groups of ranks. */
struct workload_set {
    char *name;      /* "tp" */
    uint32_t groups; /* how many */
    uint32_t *first; /* [groups + 1] group g has ranks[first[g]] ... ranks[first[g + 1] - 1] */
    uint32_t *ranks; /* in the order of their numbers in the group */
    uint32_t *group_of, *rank_in; /* [graph->rank_count] WORKLOAD_NONE: in none. Filled by
                                     workload_graph_check() */
    char *algorithm; /* entry of ccl.yaml that carries out its collectives; NULL: by the machine */
    uint32_t queue;  /* of a PE, that its kernels run on; WORKLOAD_NONE: as the runner decides */
};

/* When operations of one rank and stream begin, once all that they depend on is over. */
enum workload_stream_order {
    WORKLOAD_IN_ORDER, /* one after the other, in program order */
    WORKLOAD_AS_READY, /* one at a time: of those that may begin, the first of the program */
    WORKLOAD_AT_ONCE,  /* each as soon as it may */
    WORKLOAD_STREAM_ORDERS
};

struct workload_stream {
    char *name;    /* "compute" */
    uint8_t order; /* enum workload_stream_order */
};

/* Bytes that one rank of a program holds, at most at one moment. */
struct workload_memory {
    uint64_t weights, gradients, optimizer, activations, cache, other;
    bool known;
};

/* What people quote of a step; 0: not known. */
struct workload_quotes {
    double model_flops;  /* of all ranks, without recomputation */
    double tokens;       /* of all ranks */
    double first_tokens; /* inference: sequences whose first token the step makes, and */
    double next_tokens;  /* tokens per sequence after it */
};

struct workload_graph {
    char *name, *file; /* file: as messages name it */
    uint32_t rank_count;
    uint32_t *program_of; /* [rank_count] */
    uint32_t *sip_of;     /* [rank_count] where `place` put it; NULL: rank r is SIP r */
    struct workload_program *programs;
    uint32_t program_count;
    struct workload_memory *memory; /* [program_count]; NULL: not known */
    struct workload_set *sets;
    uint32_t set_count;
    struct workload_stream *streams;
    uint32_t stream_count;
    char **labels;
    uint32_t label_count;
    struct workload_quotes quotes;
    bool verifies; /* tensors have values: the file asks for data */
};

/* Zero-initialised graphs grow by these; each returns the new index, or WORKLOAD_NONE: out of
 * memory. Names are copied; a known name's index is returned again (streams, labels). A new
 * stream is WORKLOAD_IN_ORDER. */
uint32_t workload_add_stream(struct workload_graph *graph, const char *name);
uint32_t workload_add_label(struct workload_graph *graph, const char *name);
uint32_t workload_add_program(struct workload_graph *graph, const char *name);
/* The groups' ranks one after the other; `first` as in struct workload_set. */
uint32_t workload_add_set(struct workload_graph *graph, const char *name, uint32_t groups,
                          const uint32_t *first, const uint32_t *ranks);
/* Appends to the program; its dependencies are those added by workload_add_dep() right after. */
uint32_t workload_add_op(struct workload_graph *graph, uint32_t program,
                         const struct workload_op *op);
bool workload_add_dep(struct workload_graph *graph, uint32_t program, uint32_t dep);

/*
 * Whether a machine can run it: ranks and groups exist, dependencies are without circles, every
 * rank of a group makes the same collectives of it in the same order, every send has its receive of
 * as many bytes and the same dtype. Fills the sets' tables. CW_USAGE: what is wrong, with the file,
 * the rank and the operation's id; CW_NO_RESOURCE.
 */
int workload_graph_check(struct workload_graph *graph, struct cw_error *error);
void workload_graph_free(struct workload_graph *graph); /* leaves it zero */

/* "layer forward, layer 3, microbatch 2" of an operation. Returns text. */
const char *workload_op_name(const struct workload_graph *graph, const struct workload_op *op,
                             char *text, size_t size);

#endif
