/*
 * ccl_groups.h: the groups of ranks that a configuration names (collectives/RUNTIME.md, "Process
 * group"). A set is cut from ranks in their order, all of the world or those that are listed:
 * each group takes `size` of them, `stride` apart. Which rank is where is computed, so a set costs
 * the same in any world. Plain data of a configuration, const from its load on.
 */
#ifndef CCL_GROUPS_H
#define CCL_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/config/ccl_config.h"

#define CCL_WORLD "world" /* the group of all ranks; no set has this name */

/* first, first + step ... last, which is one of them. */
struct ccl_range {
    uint32_t first, last, step;
};

struct ccl_group_set {
    char name[CCL_NAME_BYTES];
    const struct ccl_range *ranks; /* [range_count] of the world, each once */
    uint32_t range_count;
    uint32_t groups;                /* how many */
    uint32_t size;                  /* ranks of each */
    uint32_t stride;                /* places in `ranks` from one rank of a group to the next */
    bool numbered;                  /* its groups are NAME.0, NAME.1 ...; else there is one, NAME */
    char algorithm[CCL_NAME_BYTES]; /* the entry that carries out its calls; "": the world's */
    /* The PEs of each SIP that the groups use, by their numbers in order of (cube, PE). */
    uint32_t first_pe, pes;
};

struct ccl_groups {
    const struct ccl_group_set *sets; /* [count] in order of appearance */
    uint32_t count;
};

/* The i-th rank of a group of the set, as a rank of the world. */
uint32_t ccl_group_rank(const struct ccl_group_set *set, uint32_t group, uint32_t i);
/* The group of the set that a rank of the world is in, and its rank there. False: in none. */
bool ccl_group_of(const struct ccl_group_set *set, uint32_t rank, uint32_t *group, uint32_t *i);
/* "tp.3", or "stage0". Returns buf. */
const char *ccl_group_name(const struct ccl_group_set *set, uint32_t group, char *buf, size_t size);
/* The set with this name; NULL: there is none. */
const struct ccl_group_set *ccl_groups_find(const struct ccl_groups *groups, const char *name);

#endif
