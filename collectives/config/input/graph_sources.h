/*
 * graph_sources.h: machines from files of other programs, as keys of a graph: `nccl`, a topology
 * that NCCL or RCCL dumped, and `astra`, a network of ASTRA-sim (hw/HARDWARE.md, "Files of
 * others").
 */
#ifndef COLLECTIVES_GRAPH_SOURCES_H
#define COLLECTIVES_GRAPH_SOURCES_H

#include "collectives/config/input/config_parse.h"
#include "collectives/config/input/graph_list.h"

#define GRAPH_SOURCE_NAMES      "nccl", "astra"
#define GRAPH_SOURCE_PARAMETERS "nodes", "network", "rings" /* of nccl */

/* Whether a key of a graph names such a file; whether it is a parameter of one; whether it has a
 * path. */
bool graph_source_is(const char *key);
bool graph_source_parameter_is(const char *key);
bool graph_source_has_path(const char *key);

/* Puts the machine of the file that `key` names into an empty list, to which classes may have been
 * added; `graph` is the mapping that has the key. *contents takes up the file's hash. The list's
 * `read` and `assumed` say what was. False: an error is reported. */
bool graph_source_read(struct config_loader *loader, const char *path,
                       const struct config_node *graph, const struct config_node *key,
                       struct graph_list *list, uint64_t *contents);

/* The two readers behind it. `file`: its text, and where it came from. */
struct graph_file {
    struct config_loader *loader;
    const char *path; /* of the key, in messages */
    const struct config_node *graph;
    const char *name; /* of the file */
    uint32_t source;
    const char *text;
    size_t bytes;
    struct graph_list *list;
    uint64_t *contents;
};
bool graph_nccl_read(const struct graph_file *file);
bool graph_astra_read(const struct graph_file *file);

/* The order of GPUs in the first ring of the file that `rings` names, as NCCL_GRAPH_DUMP_FILE
 * writes it: place[i] of GPU i, of which rank (-1: none) and device are given. *about: what the
 * file says, in the loader's arena. False: an error is reported. */
bool graph_nccl_rings(const struct graph_file *file, const struct config_node *rings, uint32_t gpus,
                      const int64_t *rank, const int64_t *dev, uint32_t *place, const char **about);
/* The text of a file, whose hash *contents takes up; for free(). NULL: an error is reported. */
char *graph_file_text(struct config_loader *loader, const char *name, uint32_t *source,
                      size_t *bytes, uint64_t *contents);
/* A class with the figures of a file, over which what the graph says goes. */
uint32_t graph_source_class(struct graph_list *list, const char *name, const struct level *figures);
/* Millionths as a decimal. */
struct decimal graph_millionths(int64_t value);

#endif
