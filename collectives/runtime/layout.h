/*
 * layout.h: whether the kernels of a call cover its tensors: each PE that takes a shard has one,
 * and each shard is on such a PE (RUNTIME.md, "Mappers and validators"). A refusal names the
 * tensor's layout and the layout that the kernels take. Pure.
 */
#ifndef COLLECTIVES_LAYOUT_H
#define COLLECTIVES_LAYOUT_H

#include "collectives/runtime/tensor.h"

/* What the kernels of a rank take. */
struct layout_need {
    const struct hw_config *hw;
    const char *algorithm;
    const uint32_t *pe; /* global indices of the PEs that take a shard each, ascending */
    uint32_t pes;
    bool together;      /* all shards are added up, so that copies would be added several times */
    bool may_have_more; /* shards elsewhere stay as they are: a loaded validator answers for them */
};

/* CW_OK, or CW_USAGE: the rank's input is not laid out so, or its output (NULL: none, or the same
 * tensor) is not laid out as its input. */
int layout_check(const struct layout_need *need, uint32_t rank, const struct tensor *in,
                 const struct tensor *out, struct cw_error *error);

/* Two tensors are cut alike: parts, copies and PEs. Ranks that are PEs have theirs elsewhere. */
bool layout_is_alike(const struct tensor *a, const struct tensor *b);

/* "4 shards (cube_rows: rows over 4 cubes, on PE 0 of each)" */
enum { LAYOUT_NAME_BYTES = 160 };
const char *layout_name(const struct hw_config *hw, const struct tensor *tensor,
                        char name[LAYOUT_NAME_BYTES]);
/* The same for the PEs that take a shard each. */
const char *layout_name_of_pes(const struct hw_config *hw, const uint32_t *pe, uint32_t pes,
                               char name[LAYOUT_NAME_BYTES]);

#endif
