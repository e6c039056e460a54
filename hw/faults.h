/*
 * faults.h: parts of a machine that are slower than others of their kind (`faults`, HARDWARE.md,
 * "Faults"). What they add to an operation is a pure function of the place, the operation's cost
 * and its time, and never below 0: every lookahead and every lower bound holds. Links that have
 * failed are hw/topology/broken.h's.
 */
#ifndef HW_FAULTS_H
#define HW_FAULTS_H

#include <stddef.h>

#include "hw/hw_config.h"

/* Kinds of parts: of nodes, then of links. */
enum { HW_PART_KINDS = HW_NODE_KINDS + HW_LINK_KINDS };
static inline uint32_t hw_part_of_link(enum hw_link_kind kind) { return HW_NODE_KINDS + kind; }

/* A link that leaves a SIP or a switch, as one number above 0. */
static inline uint64_t hw_outer_link(uint32_t stop, uint32_t outlet)
{
    return ((uint64_t)stop << 16 | outlet) + 1;
}

/* One entry of `faults` that makes parts slower. */
struct hw_slow {
    const char *name;         /* of the entry */
    bool kind[HW_PART_KINDS]; /* which kinds, */
    struct hw_where where;    /* and where; */
    const uint64_t *links;    /* or these links alone: hw_outer_link(), ascending */
    uint32_t link_count;      /* 0: by kind */
    const char *links_text;   /* "link 0-1", "3 links" */
    uint32_t percent;         /* added to each operation, of its own time; */
    struct hw_rate rate;      /* or a link's own rate; den 0: none */
    int64_t from_ps;
};
struct hw_faults {
    const struct hw_slow *slow; /* [slow_count] */
    uint32_t slow_count;
    uint32_t halved; /* 1 + the number of one that has half of its slowness, to see what that
                        would give (bench/explain/); 0: none */
};

/* The slow part's number that counts for a part of this kind at a place at a time: the one that
 * adds most, the first of several. UINT32_MAX: none. */
uint32_t hw_slow_at(const struct hw_config *hw, uint32_t kind, const struct hw_jitter_place *place,
                    int64_t now_ps);

/* What slowness adds to an operation of a node, and to the passing of bytes over a link. */
int64_t hw_slow_node_ps(const struct hw_config *hw, enum hw_node_kind node,
                        const struct hw_jitter_place *place, int64_t cost_ps, int64_t now_ps);
int64_t hw_slow_link_ps(const struct hw_config *hw, enum hw_link_kind link,
                        const struct hw_jitter_place *place, uint64_t bytes, int64_t now_ps);

/* Whether only parts at some place are slow, not all of a kind. */
static inline bool hw_slow_has_place(const struct hw_slow *slow)
{
    return slow->link_count > 0 || slow->where.parts > 0 || slow->where.sips != NULL;
}

#endif
