/*
 * logical_wiring.c: tables of logical topologies (logical_wiring.h). Only ends that exist are
 * stored: a place has the number of its first end and a pattern of directions, which many places
 * share. Built and checked by the host; handlers only read them.
 *
 * Places are numbered in order of their PEs. A PE's place is the first one of its SIP plus the
 * number of the PE among those of the SIP that are places. The latter is in a table that SIPs share
 * whose places are on the same PEs: the shape of the SIP.
 */
#include "lp/queues/logical_wiring.h"

#include <Judy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/arithmetic.h"
#include "hw/route.h"
#include "hw/topology/broken.h"
#include "hw/topology/trees.h"

struct pattern {
    uint16_t directions;            /* one bit each */
    uint8_t wire[HW_DIRS_MAX];      /* [direction]: how many are below it; NO_WIRE: it is none */
    uint8_t rings[HW_DIRS_MAX + 1]; /* [direction]: those with a ring below it */
};

struct place {
    uint32_t first;   /* wire[] of its lowest direction; the others follow */
    uint32_t pattern; /* pattern[] */
};

struct sip_places {
    uint32_t first; /* place[] */
    uint32_t shape; /* shape[] of its PE 0 */
};

struct dir_name {
    char text[LP_DIR_NAME_BYTES];
    uint8_t index; /* that the name always has, or HW_DIRS_MAX */
    bool is_outlet;
    uint8_t tree; /* lp_wire.tree */
};

struct lp_wiring {
    struct hw_divisor by_sip_pes;
    const struct hw_fold *fold; /* NULL: none */
    enum lp_wired_pes wired;
    uint16_t directions; /* of all places */
    uint32_t ranks, rings_max;
    uint32_t sip_first, sip_count; /* from the first SIP with a place to the last */
    struct sip_places *sip;        /* one more: its first place is the number of all */
    uint32_t *shape; /* of each PE of a SIP: its number among the SIP's places, or NO_PLACE */
    struct place *place;
    struct pattern *pattern;
    uint32_t wire_count, name_count;
    struct lp_wire *wire;
    uint32_t *named; /* of each wire: name[] */
    struct dir_name *name;
};

#define NO_PLACE UINT32_MAX
#define NO_WIRE  UINT8_MAX

void lp_wiring_free(struct lp_wiring *wiring)
{
    if (wiring == NULL)
        return;
    free(wiring->sip);
    free(wiring->shape);
    free(wiring->place);
    free(wiring->pattern);
    free(wiring->wire);
    free(wiring->named);
    free(wiring->name);
    free(wiring);
}

bool lp_dir_opposite(const char *name, char opposite[LP_DIR_NAME_BYTES])
{
    static const char letters[] = "NSEW";
    const size_t length = strlen(name);
    if (length == 0 || length >= LP_DIR_NAME_BYTES || (length > 1 && name[length - 2] != '_'))
        return false;
    const char *const letter = strchr(letters, name[length - 1]);
    if (letter == NULL)
        return false;
    memcpy(opposite, name, length + 1);
    opposite[length - 1] = letters[(letter - letters) ^ 1];
    return true;
}

/* ---- lookup ---------------------------------------------------------------------------------- */

/* The place in sip[] of a SIP, or of its representative. */
static uint32_t place_of_sip(const struct lp_wiring *wiring, uint32_t sip)
{
    const bool is_whole = __builtin_expect(wiring->fold == NULL, 1);
    return (is_whole ? sip : hw_fold_representative(wiring->fold, sip)) - wiring->sip_first;
}

static struct place *place_at(const struct lp_wiring *wiring, uint32_t pe_index)
{
    const uint32_t sip = hw_divide(pe_index, &wiring->by_sip_pes), at = place_of_sip(wiring, sip);
    if (at >= wiring->sip_count)
        return NULL;
    const uint32_t pe_of_sip = pe_index - sip * wiring->by_sip_pes.value;
    const uint32_t number = wiring->shape[wiring->sip[at].shape + pe_of_sip];
    return number != NO_PLACE ? &wiring->place[wiring->sip[at].first + number] : NULL;
}

/* The wire[] of a direction that the place has. */
static uint32_t wire_of(const struct lp_wiring *wiring, const struct place *place, enum hw_dir dir)
{
    return place->first + wiring->pattern[place->pattern].wire[dir];
}

/* ---- places ---------------------------------------------------------------------------------- */

struct build {
    const struct lp_wiring_request *request;
    struct lp_wiring *wiring;
    void *names;    /* JudySL: name -> 1 + its name[] */
    void *patterns; /* JudyL: directions and those with rings -> 1 + their pattern[] */
    uint32_t wire_capacity, name_capacity, pattern_count;
    struct hw_trees trees; /* of the machine, where a direction leads to one */
};

static int wiring_no_memory(struct cw_error *error) { return cw_error_memory(error, "the wiring"); }

static int compare_pes(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* A copy of the places' PEs in ascending order. They differ, and the machine has them. */
static int sort_places(const struct build *build, uint32_t count, uint32_t **sorted,
                       struct cw_error *error)
{
    const uint32_t pes = hw_pe_count(build->request->hw);
    uint32_t *const pe = malloc(((size_t)count + 1) * sizeof *pe);
    bool ascends = true;
    *sorted = pe;
    if (pe == NULL)
        return wiring_no_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        pe[i] = build->request->pe[i];
        ascends &= i == 0 || pe[i - 1] < pe[i];
        if (pe[i] >= pes)
            return cw_error_set(error, CW_USAGE,
                                "a logical topology joins PE %u; legal: PEs below %u", pe[i], pes);
    }
    if (!ascends)
        qsort(pe, count, sizeof *pe, compare_pes);
    for (uint32_t i = 1; i < count && !ascends; i++)
        if (pe[i - 1] == pe[i])
            return cw_error_set(error, CW_USAGE,
                                "a logical topology joins PE %u twice; legal: a PE for each place",
                                pe[i]);
    return CW_OK;
}

/* The shape of a SIP with places on these PEs, which are among the last that have been made, or
 * becomes the next. There is room for it. */
static uint32_t find_shape(struct lp_wiring *wiring, uint32_t *shapes, const uint32_t *pe,
                           uint32_t count)
{
    enum { SHAPES_LOOKED_AT = 16 };
    const uint32_t pes = wiring->by_sip_pes.value;
    uint32_t *const own = &wiring->shape[(size_t)*shapes * pes];
    memset(own, 0xff, pes * sizeof *own); /* NO_PLACE */
    for (uint32_t i = 0; i < count; i++)
        own[hw_remainder(pe[i], &wiring->by_sip_pes)] = i;
    for (uint32_t back = 1; back <= *shapes && back <= SHAPES_LOOKED_AT; back++)
        if (memcmp(own - (size_t)back * pes, own, pes * sizeof *own) == 0)
            return (*shapes - back) * pes;
    return (*shapes)++ * pes;
}

static bool make_room_for_shape(struct lp_wiring *wiring, uint32_t shapes, uint32_t *capacity)
{
    if (shapes < *capacity)
        return true;
    const uint32_t wanted = 2 * *capacity + 2;
    uint32_t *const more =
        realloc(wiring->shape, (size_t)wanted * wiring->by_sip_pes.value * sizeof *more);
    if (more == NULL)
        return false;
    wiring->shape = more;
    *capacity = wanted;
    return true;
}

/* SIPs and shapes, from the PEs in ascending order. False: out of memory. */
static bool place_sips(struct lp_wiring *wiring, const uint32_t *pe, uint32_t count)
{
    uint32_t shapes = 0, capacity = 0, at = 0;
    if (count > 0) {
        wiring->sip_first = hw_divide(pe[0], &wiring->by_sip_pes);
        wiring->sip_count = hw_divide(pe[count - 1], &wiring->by_sip_pes) + 1 - wiring->sip_first;
    }
    wiring->sip = calloc(wiring->sip_count + 1, sizeof *wiring->sip);
    wiring->place = calloc((size_t)count + 1, sizeof *wiring->place);
    for (uint32_t i = 0; i < wiring->sip_count; i++) {
        const uint32_t end = (wiring->sip_first + i + 1) * wiring->by_sip_pes.value;
        uint32_t next = at;
        while (next < count && pe[next] < end)
            next++;
        if (wiring->sip == NULL || !make_room_for_shape(wiring, shapes, &capacity))
            return false;
        wiring->sip[i].first = at;
        wiring->sip[i].shape = find_shape(wiring, &shapes, pe + at, next - at);
        at = next;
    }
    if (wiring->sip != NULL)
        wiring->sip[wiring->sip_count].first = at;
    return wiring->sip != NULL && wiring->place != NULL;
}

static int place_ranks(const struct build *build, struct cw_error *error)
{
    const struct lp_wiring_request *const request = build->request;
    const uint64_t count = (uint64_t)request->ranks * request->lanes;
    uint32_t *sorted;
    if (count > hw_pe_count(request->hw))
        return cw_error_set(error, CW_USAGE, "a logical topology joins %llu PEs, and there are %u",
                            (unsigned long long)count, hw_pe_count(request->hw));
    int code = sort_places(build, (uint32_t)count, &sorted, error);
    if (code == CW_OK && !place_sips(build->wiring, sorted, (uint32_t)count))
        code = wiring_no_memory(error);
    free(sorted);
    return code;
}

static uint32_t pe_of(const struct build *build, uint32_t rank, uint32_t lane)
{
    return build->request->pe[(size_t)rank * build->request->lanes + lane];
}

/* Of a rank's first lane; all have the same directions. */
static struct place *place_of_rank(const struct build *build, uint32_t rank)
{
    return place_at(build->wiring, pe_of(build, rank, 0));
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_direction_name(const char *name)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const size_t length = strnlen(name, LP_DIR_NAME_BYTES);
    return length > 0 && length < LP_DIR_NAME_BYTES && strspn(name, legal) == length;
}

/* The index that a name always has, or HW_DIRS_MAX. */
static enum hw_dir fixed_index(const char *name)
{
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
        if (dir != HW_DIR_PEER && strcmp(name, hw_dir_name(dir)) == 0)
            return dir;
    return HW_DIRS_MAX;
}

/* "global_N", "global_U". */
static bool names_outlet(const char *name)
{
    static const char prefix[] = "global_";
    return strncmp(name, prefix, sizeof prefix - 1) == 0 && strlen(name) == sizeof prefix &&
           strchr("NSEWUD", name[sizeof prefix - 1]) != NULL;
}

/* "switch_0": 1 + the number; 0: another name. */
static uint8_t tree_named(const char *name)
{
    static const char prefix[] = "switch_";
    char again[LP_DIR_NAME_BYTES];
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return 0;
    const unsigned long number = strtoul(name + sizeof prefix - 1, NULL, 10);
    snprintf(again, sizeof again, "%s%lu", prefix, number);
    return number < HW_TREES_MAX && strcmp(name, again) == 0 ? (uint8_t)(number + 1) : 0;
}

/* The one copy of a name: its name[]. False: out of memory. */
static bool intern_name(struct build *build, const char *name, uint32_t *number)
{
    struct lp_wiring *const wiring = build->wiring;
    if (wiring->name_count == build->name_capacity) {
        const uint32_t capacity = 2 * build->name_capacity + 8;
        struct dir_name *const more = realloc(wiring->name, capacity * sizeof *more);
        if (more == NULL)
            return false;
        wiring->name = more;
        build->name_capacity = capacity;
    }
    Word_t *const known = (Word_t *)JudySLIns(&build->names, (const uint8_t *)name, PJE0);
    if (known == NULL || (void *)known == PPJERR)
        return false;
    if (*known == 0) {
        struct dir_name *const made = &wiring->name[wiring->name_count++];
        snprintf(made->text, sizeof made->text, "%s", name);
        made->index = (uint8_t)fixed_index(name);
        made->is_outlet = !build->request->routed && names_outlet(name);
        made->tree = tree_named(name);
        if (made->tree > 0 && build->trees.sips == 0 &&
            !hw_trees_make(build->request->hw, &build->trees))
            return false;
        *known = wiring->name_count;
    }
    *number = (uint32_t)(*known - 1);
    return true;
}

/* The direction of a rank with this name, or HW_DIRS_MAX. */
static enum hw_dir find_direction(const struct build *build, uint32_t rank, const char *name)
{
    const Word_t *const known =
        (const Word_t *)JudySLGet(build->names, (const uint8_t *)name, PJE0);
    if (known == NULL)
        return HW_DIRS_MAX;
    const struct place *const place = place_of_rank(build, rank);
    uint32_t at = place->first;
    for (uint32_t left = build->wiring->pattern[place->pattern].directions; left != 0;
         left &= left - 1, at++)
        if (build->wiring->named[at] == *known - 1)
            return (enum hw_dir)__builtin_ctz(left);
    return HW_DIRS_MAX;
}

/* The outlet of a PE's SIP that a name means, whether its link has failed or not; HW_OUTLET_NONE:
 * it means none, or there is none. */
static uint32_t exit_of(const struct build *build, uint32_t pe_index, const struct dir_name *name)
{
    if (!name->is_outlet)
        return HW_OUTLET_NONE;
    const struct hw_config *const hw = build->request->hw;
    return hw_named_outlet(hw_whole(hw), hw_place_of(hw, pe_index).sip,
                           name->text[strlen(name->text) - 1]);
}

/* ---- directions ------------------------------------------------------------------------------ */

/* A rank's directions, as they are found. */
struct ends {
    uint16_t directions, receives;
    struct {
        uint32_t rank, sip, name;
        uint8_t way;
    } at[HW_DIRS_MAX]; /* by direction */
};

/* Indices that name a port come late. The index of `peer` comes last, since a point-to-point bench
 * may want it. */
enum hw_dir lp_dir_numbered(uint32_t n)
{
    static const uint8_t order[HW_DIRS_MAX] = {8,  9,  10, 11, 0, 1, 2, 3,
                                               13, 14, 15, 4,  5, 6, 7, 12};
    return n < HW_DIRS_MAX ? (enum hw_dir)order[n] : HW_DIRS_MAX;
}

/* A free index for a name that has none of its own. */
static enum hw_dir free_index(const struct ends *ends)
{
    uint32_t i = 0;
    while ((ends->directions >> lp_dir_numbered(i) & 1) != 0)
        i++;
    return lp_dir_numbered(i);
}

static bool has_name(const struct ends *ends, uint32_t name)
{
    for (uint32_t left = ends->directions; left != 0; left &= left - 1)
        if (ends->at[__builtin_ctz(left)].name == name)
            return true;
    return false;
}

static uint32_t sip_of(const struct build *build, uint32_t rank)
{
    return hw_divide(pe_of(build, rank, 0), &build->wiring->by_sip_pes);
}

/* The SIP that a direction leads to. */
static uint32_t entry_sip(const struct build *build, const struct lp_neighbour *entry)
{
    return build->wiring->fold != NULL ? entry->sip : sip_of(build, entry->rank);
}

/* Adds a direction to a rank's. */
static int add_end(struct build *build, uint32_t rank, const struct lp_neighbour *entry,
                   uint32_t number, struct ends *ends, struct cw_error *error)
{
    const struct dir_name *const name = &build->wiring->name[number];
    const uint32_t ranks = build->request->ranks;
    if (name->tree > build->trees.count)
        return cw_error_set(error, CW_USAGE,
                            "direction %s of rank %u: the machine has %u trees of switches that "
                            "reduce; legal: switch_0 to one less",
                            entry->dir, rank, build->trees.count);
    if (entry->rank >= ranks ||
        (entry->rank == rank && entry_sip(build, entry) == sip_of(build, rank)) != (name->tree > 0))
        return cw_error_set(error, CW_USAGE,
                            "direction %s of rank %u leads to rank %u; legal: another one below %u",
                            entry->dir, rank, entry->rank, ranks);
    if (has_name(ends, number))
        return cw_error_set(error, CW_USAGE, "rank %u has two directions named %s", rank,
                            entry->dir);
    if (name->is_outlet && exit_of(build, pe_of(build, rank, 0), name) == HW_OUTLET_NONE)
        return cw_error_set(
            error, CW_USAGE,
            "direction %s of rank %u always leaves by that port of its SIP, which has no "
            "link there; use another name",
            entry->dir, rank);
    const enum hw_dir dir = name->index != HW_DIRS_MAX ? name->index : free_index(ends);
    ends->directions |= (uint16_t)(1u << dir);
    if (entry->way != LP_WAY_OUT)
        ends->receives |= (uint16_t)(1u << dir);
    ends->at[dir].rank = entry->rank;
    ends->at[dir].sip = entry_sip(build, entry);
    ends->at[dir].name = number;
    ends->at[dir].way = entry->way;
    return CW_OK;
}

/* First the directions with an index of their own, then the others. */
static int find_ends(struct build *build, uint32_t rank, const struct lp_neighbours *map,
                     struct ends *ends, struct cw_error *error)
{
    *ends = (struct ends){0};
    if (map->count > HW_DIRS_MAX)
        return cw_error_set(error, CW_USAGE, "rank %u has %u directions; at most %d", rank,
                            map->count, HW_DIRS_MAX);
    for (int fixed = 1; fixed >= 0; fixed--)
        for (uint32_t i = 0; i < map->count; i++) {
            const struct lp_neighbour *const entry = &map->at[i];
            uint32_t name;
            if (!is_direction_name(entry->dir)) {
                if (fixed)
                    continue;
                return cw_error_set(error, CW_USAGE,
                                    "rank %u has a direction named '%.31s'; a name is 1 to 31 "
                                    "letters, digits and _",
                                    rank, entry->dir);
            }
            if (!intern_name(build, entry->dir, &name))
                return wiring_no_memory(error);
            if ((build->wiring->name[name].index != HW_DIRS_MAX) != fixed)
                continue;
            const int code = add_end(build, rank, entry, name, ends, error);
            if (code != CW_OK)
                return code;
        }
    return CW_OK;
}

/* The pattern of a rank's directions. False: out of memory. */
static bool find_pattern(struct build *build, const struct ends *ends, uint32_t *number)
{
    const Word_t key = (Word_t)ends->directions << HW_DIRS_MAX | ends->receives;
    struct lp_wiring *const wiring = build->wiring;
    Word_t *const known = (Word_t *)JudyLIns(&build->patterns, key, PJE0);
    if (known == NULL || (void *)known == PPJERR)
        return false;
    if (*known == 0) {
        struct pattern *const more =
            realloc(wiring->pattern, (build->pattern_count + 1) * sizeof *more);
        if (more == NULL)
            return false;
        wiring->pattern = more;
        struct pattern *const made = &more[build->pattern_count++];
        *made = (struct pattern){.directions = ends->directions};
        uint8_t wires = 0;
        for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
            const bool is_there = (ends->directions >> dir & 1) != 0;
            made->wire[dir] = is_there ? wires++ : NO_WIRE;
            made->rings[dir + 1] = (uint8_t)(made->rings[dir] + (ends->receives >> dir & 1));
        }
        wiring->directions |= ends->directions;
        if (made->rings[HW_DIRS_MAX] > wiring->rings_max)
            wiring->rings_max = made->rings[HW_DIRS_MAX];
        *known = build->pattern_count;
    }
    *number = (uint32_t)(*known - 1);
    return true;
}

/* Room for so many more wires, and for as many of each of the ranks that are left. False: out of
 * memory, or of numbers for wires. */
static bool make_room_for_wires(struct build *build, uint64_t more, uint32_t ranks_left)
{
    struct lp_wiring *const wiring = build->wiring;
    const uint64_t wanted = wiring->wire_count + more;
    if (wanted <= build->wire_capacity)
        return true;
    uint64_t capacity = wanted + more * ranks_left;
    capacity = capacity < UINT32_MAX ? capacity : UINT32_MAX;
    struct lp_wire *const wire = realloc(wiring->wire, capacity * sizeof *wire);
    if (wire != NULL)
        wiring->wire = wire;
    uint32_t *const named = realloc(wiring->named, capacity * sizeof *named);
    if (named != NULL)
        wiring->named = named;
    if (wire == NULL || named == NULL || wanted > capacity)
        return false;
    build->wire_capacity = (uint32_t)capacity;
    return true;
}

/* Gives a rank's directions to all of its lanes. Until finish_rank() the peer of a wire is a
 * rank and its credit_ps the peer's SIP, and wires of lanes but the first have nothing but names.
 */
static int add_rank(struct build *build, uint32_t rank, struct cw_error *error)
{
    const struct lp_wiring_request *const request = build->request;
    struct lp_wiring *const wiring = build->wiring;
    struct lp_neighbours map = {0};
    struct ends ends;
    uint32_t pattern;
    int code = request->neighbours(request->arg, rank, &map, error);
    if (code == CW_OK)
        code = find_ends(build, rank, &map, &ends, error);
    if (code != CW_OK)
        return code;
    if (!find_pattern(build, &ends, &pattern) ||
        !make_room_for_wires(build, (uint64_t)map.count * request->lanes,
                             request->ranks - 1 - rank))
        return wiring_no_memory(error);
    for (uint32_t lane = 0; lane < request->lanes; lane++) {
        *place_at(wiring, pe_of(build, rank, lane)) = (struct place){wiring->wire_count, pattern};
        for (uint32_t left = ends.directions; left != 0; left &= left - 1) {
            const uint32_t dir = (uint32_t)__builtin_ctz(left), at = wiring->wire_count++;
            wiring->wire[at] = (struct lp_wire){
                .peer = ends.at[dir].rank, .way = ends.at[dir].way, .credit_ps = ends.at[dir].sip};
            wiring->named[at] = ends.at[dir].name;
        }
    }
    return CW_OK;
}

static struct lp_wire *wire_of_rank(const struct build *build, uint32_t rank, enum hw_dir dir)
{
    return &build->wiring->wire[wire_of(build->wiring, place_of_rank(build, rank), dir)];
}

/* The queue at the other end of a rank's direction leads to the rank's SIP: in a folded machine, to
 * its image under the relabelling that takes the peer to its representative. */
static bool leads_back(const struct build *build, uint32_t rank, const struct lp_neighbour *entry,
                       const struct lp_wire *peer)
{
    const struct hw_fold *const fold = build->wiring->fold;
    return fold == NULL || hw_fold_moved(fold, entry->sip, sip_of(build, rank)) == peer->credit_ps;
}

/* I3 (lp/QUEUES.md, "Invariants"): the direction's opposite is there, and leads back. */
static int join_direction(const struct build *build, uint32_t rank,
                          const struct lp_neighbour *entry, struct cw_error *error)
{
    static const enum lp_way other[] = {LP_WAY_BOTH, LP_WAY_IN, LP_WAY_OUT};
    char opposite[LP_DIR_NAME_BYTES];
    if (entry->opposite[0] != '\0' || tree_named(entry->dir) > 0)
        snprintf(opposite, sizeof opposite, "%s",
                 entry->opposite[0] != '\0' ? entry->opposite : entry->dir);
    else if (!lp_dir_opposite(entry->dir, opposite))
        return cw_error_set(
            error, CW_USAGE,
            "direction %s of rank %u has no opposite by its name, and none is given", entry->dir,
            rank);
    struct lp_wire *const wire = wire_of_rank(build, rank, find_direction(build, rank, entry->dir));
    const enum hw_dir back = find_direction(build, entry->rank, opposite);
    if (back == HW_DIRS_MAX)
        return cw_error_set(
            error, CW_USAGE,
            "I3: direction %s of rank %u leads to rank %u, which has no direction %s to "
            "lead back",
            entry->dir, rank, entry->rank, opposite);
    const struct lp_wire *const peer = wire_of_rank(build, entry->rank, back);
    if (peer->peer != rank || !leads_back(build, rank, entry, peer))
        return cw_error_set(
            error, CW_USAGE,
            "I3: direction %s of rank %u leads to rank %u, whose direction %s leads to "
            "rank %u instead of back",
            entry->dir, rank, entry->rank, opposite, peer->peer);
    if (peer->way != other[wire->way])
        return cw_error_set(
            error, CW_USAGE,
            "direction %s of rank %u and direction %s of rank %u do not agree on which "
            "of them sends",
            entry->dir, rank, opposite, entry->rank);
    wire->peer_dir = (uint8_t)back;
    return CW_OK;
}

static int join_rank(const struct build *build, uint32_t rank, struct cw_error *error)
{
    const struct lp_wiring_request *const request = build->request;
    struct lp_neighbours map = {0};
    int code = request->neighbours(request->arg, rank, &map, error);
    for (uint32_t i = 0; i < map.count && code == CW_OK; i++)
        code = join_direction(build, rank, &map.at[i], error);
    return code;
}

/* The PE that a lane of a rank's wire leads to: in a folded machine on the peer's own SIP. */
static uint32_t peer_of(const struct build *build, const struct lp_wire *wire, uint32_t lane)
{
    const uint32_t peer = pe_of(build, wire->peer, lane);
    const struct hw_divisor *const by_sip = &build->wiring->by_sip_pes;
    return build->wiring->fold == NULL
               ? peer
               : hw_remainder(peer, by_sip) + (uint32_t)wire->credit_ps * by_sip->value;
}

/* The wire of each lane: its peer, and the latency of its credits, which take the way that tiles
 * from here to the peer take. */
static void finish_lanes(const struct build *build, uint32_t rank, enum hw_dir dir)
{
    const struct lp_wiring_request *const request = build->request;
    const struct lp_wire first = *wire_of_rank(build, rank, dir);
    for (uint32_t lane = 0; lane < request->lanes; lane++) {
        const uint32_t pe = pe_of(build, rank, lane), peer = peer_of(build, &first, lane);
        const uint32_t at = wire_of(build->wiring, place_at(build->wiring, pe), dir);
        struct lp_wire *const wire = &build->wiring->wire[at];
        *wire = first;
        wire->peer = peer;
        const struct dir_name *const name = &build->wiring->name[build->wiring->named[at]];
        wire->tree = name->tree;
        if (name->tree > 0) { /* the ring is its own: it sees at once that a slot is free */
            const struct hw_trees *const trees = &build->trees;
            wire->exit =
                (uint8_t)trees
                    ->sip_up[(name->tree - 1u) * trees->sips + hw_place_of(request->hw, pe).sip];
            wire->credit_ps = 0;
            continue;
        }
        const uint32_t exit = exit_of(build, pe, name);
        wire->exit = (uint8_t)(exit == HW_OUTLET_NONE
                                   ? exit
                                   : hw_exit_left(request->hw, hw_place_of(request->hw, pe).sip,
                                                  exit, hw_place_of(request->hw, peer).sip));
        wire->credit_ps =
            hw_path_ps(request->hw, hw_place_of(request->hw, pe), hw_place_of(request->hw, peer),
                       HW_MEMORY_NONE, wire->exit, wire->peer_dir, request->credit_bytes);
    }
}

static const char *name_of_rank(const struct build *build, uint32_t rank, enum hw_dir dir)
{
    const struct lp_wiring *const wiring = build->wiring;
    return wiring->name[wiring->named[wire_of(wiring, place_of_rank(build, rank), dir)]].text;
}

/* Checks that the opposite of each opposite is the direction itself. */
static int finish_rank(const struct build *build, uint32_t rank, struct cw_error *error)
{
    const uint32_t pattern = place_of_rank(build, rank)->pattern;
    for (uint32_t left = build->wiring->pattern[pattern].directions; left != 0; left &= left - 1) {
        const enum hw_dir dir = (enum hw_dir)__builtin_ctz(left);
        const struct lp_wire *const wire = wire_of_rank(build, rank, dir);
        const enum hw_dir back = (enum hw_dir)wire->peer_dir;
        if (wire_of_rank(build, wire->peer, back)->peer_dir != dir)
            return cw_error_set(
                error, CW_USAGE,
                "I3: direction %s of rank %u and direction %s of rank %u name each other "
                "under different directions",
                name_of_rank(build, rank, dir), rank, name_of_rank(build, wire->peer, back),
                wire->peer);
        finish_lanes(build, rank, dir);
    }
    return CW_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Gives back the room for wires that did not come. */
static void trim_wires(struct lp_wiring *wiring)
{
    const size_t count = wiring->wire_count > 0 ? wiring->wire_count : 1;
    void *const wire = realloc(wiring->wire, count * sizeof *wiring->wire);
    if (wire != NULL)
        wiring->wire = wire;
    void *const named = realloc(wiring->named, count * sizeof *wiring->named);
    if (named != NULL)
        wiring->named = named;
}

static int build_wiring(struct build *build, struct cw_error *error)
{
    const uint32_t ranks = build->request->ranks;
    int code = place_ranks(build, error);
    for (uint32_t rank = 0; rank < ranks && code == CW_OK; rank++)
        code = add_rank(build, rank, error);
    if (code == CW_OK)
        trim_wires(build->wiring);
    for (uint32_t rank = 0; rank < ranks && code == CW_OK; rank++)
        code = join_rank(build, rank, error);
    for (uint32_t rank = 0; rank < ranks && code == CW_OK; rank++)
        code = finish_rank(build, rank, error);
    JudySLFreeArray(&build->names, PJE0);
    JudyLFreeArray(&build->patterns, PJE0);
    hw_trees_free(&build->trees);
    return code;
}

int lp_wiring_create(const struct lp_wiring_request *request, struct lp_wiring **out,
                     struct cw_error *error)
{
    *out = NULL;
    struct lp_wiring *const wiring = calloc(1, sizeof *wiring);
    if (wiring == NULL)
        return wiring_no_memory(error);
    wiring->by_sip_pes = hw_divisor_of(hw_cubes(request->hw) * hw_pes(request->hw));
    wiring->fold = request->fold;
    wiring->wired = request->wired;
    wiring->ranks = request->ranks;
    struct build build = {.request = request, .wiring = wiring};
    const int code = build_wiring(&build, error);
    if (code != CW_OK) {
        lp_wiring_free(wiring);
        return code;
    }
    *out = wiring;
    return CW_OK;
}

/* ---- queries --------------------------------------------------------------------------------- */

const struct lp_wire *lp_wiring_at(const struct lp_wiring *wiring, uint32_t pe_index,
                                   enum hw_dir dir)
{
    const struct place *const place = place_at(wiring, pe_index);
    if (place == NULL || (unsigned)dir >= HW_DIRS_MAX)
        return NULL;
    const uint32_t number = wiring->pattern[place->pattern].wire[dir];
    return number != NO_WIRE ? &wiring->wire[place->first + number] : NULL;
}

const char *lp_wiring_name(const struct lp_wiring *wiring, uint32_t pe_index, enum hw_dir dir)
{
    const struct lp_wire *const wire = lp_wiring_at(wiring, pe_index, dir);
    return wire != NULL ? wiring->name[wiring->named[wire - wiring->wire]].text : NULL;
}

bool lp_wiring_wires(const struct lp_wiring *wiring, uint32_t pe_index, bool by_plan)
{
    if (wiring->wired == LP_WIRED_MACHINE || place_at(wiring, pe_index) != NULL)
        return true;
    if (wiring->wired == LP_WIRED_PLACES || (wiring->wired == LP_WIRED_BY_PLAN && !by_plan))
        return false;
    const uint32_t at = place_of_sip(wiring, hw_divide(pe_index, &wiring->by_sip_pes));
    return at < wiring->sip_count && wiring->sip[at].first < wiring->sip[at + 1].first;
}

uint32_t lp_wiring_rings(const struct lp_wiring *wiring, uint32_t pe_index, enum hw_dir dir)
{
    const struct place *const place = place_at(wiring, pe_index);
    return place != NULL ? wiring->pattern[place->pattern].rings[dir] : 0;
}

uint16_t lp_wiring_directions_of(const struct lp_wiring *wiring, uint32_t pe_index)
{
    const struct place *const place = place_at(wiring, pe_index);
    return place != NULL ? wiring->pattern[place->pattern].directions : 0;
}

uint16_t lp_wiring_directions(const struct lp_wiring *wiring) { return wiring->directions; }
uint32_t lp_wiring_rings_max(const struct lp_wiring *wiring) { return wiring->rings_max; }
uint32_t lp_wiring_ranks(const struct lp_wiring *wiring) { return wiring->ranks; }
uint64_t lp_wiring_queue_pairs(const struct lp_wiring *wiring) { return wiring->wire_count; }
