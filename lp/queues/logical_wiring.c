/*
 * logical_wiring.c: tables of logical topologies (logical_wiring.h): 16 ends of queues for each
 * rank. Built and checked by the host; handlers only read them.
 */
#include "lp/queues/logical_wiring.h"

#include <Judy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/route.h"

/* A name that wires have. */
struct dir_name {
    struct dir_name *older;
    char text[LP_DIR_NAME_BYTES];
};

struct lp_wiring {
    struct hw_config hw;
    uint32_t ranks, pes_apart;
    uint32_t rings_max;
    void *names;             /* JudySL: name -> its struct dir_name */
    struct dir_name *newest; /* of all, which live as long as the table: Judy without memory may
                                lose names */
    struct lp_wire *wire;    /* [rank * HW_DIRS_MAX + direction] */
};

static const uint32_t no_rank = UINT32_MAX;

void lp_wiring_free(struct lp_wiring *wiring)
{
    if (wiring == NULL)
        return;
    while (wiring->newest != NULL) {
        struct dir_name *const name = wiring->newest;
        wiring->newest = name->older;
        free(name);
    }
    JudySLFreeArray(&wiring->names, PJE0);
    free(wiring->wire);
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

/* ---- building -------------------------------------------------------------------------------- */

/* The one copy of a name; NULL: out of memory. */
static const char *intern_name(struct lp_wiring *wiring, const char *name)
{
    void **const copy = JudySLIns(&wiring->names, (const uint8_t *)name, PJE0);
    if (copy == NULL || copy == PPJERR)
        return NULL;
    if (*copy == NULL) {
        struct dir_name *const made = calloc(1, sizeof *made);
        if (made == NULL)
            return NULL;
        snprintf(made->text, sizeof made->text, "%s", name);
        made->older = wiring->newest;
        wiring->newest = made;
        *copy = made;
    }
    return ((const struct dir_name *)*copy)->text;
}

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

static enum hw_dir find_direction(const struct lp_wiring *wiring, uint32_t rank, const char *name)
{
    const struct lp_wire *const wire = &wiring->wire[(size_t)rank * HW_DIRS_MAX];
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
        if (wire[dir].peer_rank != no_rank && strcmp(wire[dir].name, name) == 0)
            return dir;
    return HW_DIRS_MAX;
}

/* A free index for a name that has none of its own. Indices that name a port come late. The index
 * of `peer` comes last, since a point-to-point bench may want it. */
static enum hw_dir free_index(const struct lp_wire *wire)
{
    static const uint8_t order[HW_DIRS_MAX] = {8,  9,  10, 11, 0, 1, 2, 3,
                                               13, 14, 15, 4,  5, 6, 7, 12};
    for (uint32_t i = 0; i < HW_DIRS_MAX; i++)
        if (wire[order[i]].peer_rank == no_rank)
            return (enum hw_dir)order[i];
    return HW_DIRS_MAX;
}

static struct hw_place place_of_rank(const struct lp_wiring *wiring, uint32_t rank)
{
    return hw_place_of(&wiring->hw, rank * wiring->pes_apart);
}

/* "global_N", "global_U". */
static bool names_outlet(const char *name)
{
    static const char prefix[] = "global_";
    return strncmp(name, prefix, sizeof prefix - 1) == 0 && strlen(name) == sizeof prefix &&
           strchr("NSEWUD", name[sizeof prefix - 1]) != NULL;
}

/* The outlet of a rank's SIP that a name means; HW_OUTLET_NONE: it means none, or there is none. */
static uint32_t exit_of(const struct lp_wiring *wiring, uint32_t rank, const char *name)
{
    return names_outlet(name) ? hw_named_outlet(&wiring->hw, place_of_rank(wiring, rank).sip,
                                                name[strlen(name) - 1])
                              : HW_OUTLET_NONE;
}

static int check_entry(const struct lp_wiring *wiring, uint32_t rank,
                       const struct lp_neighbour *entry, struct cw_error *error)
{
    if (!is_direction_name(entry->dir))
        return cw_error_set(
            error, CW_USAGE,
            "rank %u has a direction named '%.31s'; a name is 1 to 31 letters, digits "
            "and _",
            rank, entry->dir);
    if (entry->rank >= wiring->ranks || entry->rank == rank)
        return cw_error_set(error, CW_USAGE,
                            "direction %s of rank %u leads to rank %u; legal: another one below %u",
                            entry->dir, rank, entry->rank, wiring->ranks);
    if (find_direction(wiring, rank, entry->dir) != HW_DIRS_MAX)
        return cw_error_set(error, CW_USAGE, "rank %u has two directions named %s", rank,
                            entry->dir);
    if (names_outlet(entry->dir) && exit_of(wiring, rank, entry->dir) == HW_OUTLET_NONE)
        return cw_error_set(
            error, CW_USAGE,
            "direction %s of rank %u always leaves by that port of its SIP, which has no "
            "link there; use another name",
            entry->dir, rank);
    return CW_OK;
}

/* Adds a rank's directions: first the ones with an index of their own, then the others. */
static int add_rank(struct lp_wiring *wiring, uint32_t rank, const struct lp_neighbours *map,
                    struct cw_error *error)
{
    struct lp_wire *const wire = &wiring->wire[(size_t)rank * HW_DIRS_MAX];
    if (map->count > HW_DIRS_MAX)
        return cw_error_set(error, CW_USAGE, "rank %u has %u directions; at most %d", rank,
                            map->count, HW_DIRS_MAX);
    for (int named = 1; named >= 0; named--)
        for (uint32_t i = 0; i < map->count; i++) {
            const struct lp_neighbour *const entry = &map->at[i];
            const enum hw_dir fixed = fixed_index(entry->dir);
            if ((fixed != HW_DIRS_MAX) != named)
                continue;
            const int code = check_entry(wiring, rank, entry, error);
            if (code != CW_OK)
                return code;
            struct lp_wire *const at = &wire[named ? fixed : free_index(wire)];
            at->name = intern_name(wiring, entry->dir);
            if (at->name == NULL)
                return cw_error_memory(error, "the wiring");
            at->peer_rank = entry->rank;
            at->way = entry->way;
        }
    return CW_OK;
}

/* I3 (lp/QUEUES.md, "Invariants"): the direction's opposite is there, and leads back. */
static int join_direction(struct lp_wiring *wiring, uint32_t rank, const struct lp_neighbour *entry,
                          struct cw_error *error)
{
    static const enum lp_way other[] = {LP_WAY_BOTH, LP_WAY_IN, LP_WAY_OUT};
    char opposite[LP_DIR_NAME_BYTES];
    if (entry->opposite[0] != '\0')
        snprintf(opposite, sizeof opposite, "%s", entry->opposite);
    else if (!lp_dir_opposite(entry->dir, opposite))
        return cw_error_set(
            error, CW_USAGE,
            "direction %s of rank %u has no opposite by its name, and none is given", entry->dir,
            rank);
    struct lp_wire *const wire =
        &wiring->wire[(size_t)rank * HW_DIRS_MAX + find_direction(wiring, rank, entry->dir)];
    const enum hw_dir back = find_direction(wiring, entry->rank, opposite);
    if (back == HW_DIRS_MAX)
        return cw_error_set(
            error, CW_USAGE,
            "I3: direction %s of rank %u leads to rank %u, which has no direction %s to "
            "lead back",
            entry->dir, rank, entry->rank, opposite);
    const struct lp_wire *const peer = &wiring->wire[(size_t)entry->rank * HW_DIRS_MAX + back];
    if (peer->peer_rank != rank)
        return cw_error_set(
            error, CW_USAGE,
            "I3: direction %s of rank %u leads to rank %u, whose direction %s leads to "
            "rank %u instead of back",
            entry->dir, rank, entry->rank, opposite, peer->peer_rank);
    if (peer->way != other[wire->way])
        return cw_error_set(
            error, CW_USAGE,
            "direction %s of rank %u and direction %s of rank %u do not agree on which "
            "of them sends",
            entry->dir, rank, opposite, entry->rank);
    wire->peer_dir = (uint8_t)back;
    return CW_OK;
}

/* Checks that the opposite of each opposite is the direction itself, and computes the latency of
 * its credits: they take the way that tiles from here to the peer take. */
static int finish_rank(struct lp_wiring *wiring, uint32_t rank, uint32_t credit_bytes,
                       struct cw_error *error)
{
    uint32_t rings = 0;
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        struct lp_wire *const wire = &wiring->wire[(size_t)rank * HW_DIRS_MAX + dir];
        if (wire->peer_rank == no_rank)
            continue;
        const struct lp_wire *const peer =
            &wiring->wire[(size_t)wire->peer_rank * HW_DIRS_MAX + wire->peer_dir];
        if (peer->peer_dir != dir)
            return cw_error_set(
                error, CW_USAGE,
                "I3: direction %s of rank %u and direction %s of rank %u name each other "
                "under different directions",
                wire->name, rank, peer->name, wire->peer_rank);
        const struct hw_place from = place_of_rank(wiring, rank),
                              to = place_of_rank(wiring, wire->peer_rank);
        wire->exit = (uint8_t)exit_of(wiring, rank, wire->name);
        wire->credit_ps =
            hw_path_ps(&wiring->hw, from, to, HW_MEMORY_NONE, wire->exit, credit_bytes);
        rings += wire->way != LP_WAY_OUT;
    }
    wiring->rings_max = rings > wiring->rings_max ? rings : wiring->rings_max;
    return CW_OK;
}

static int build_wiring(struct lp_wiring *wiring, const struct lp_wiring_request *request,
                        struct cw_error *error)
{
    struct lp_neighbours map;
    for (uint32_t rank = 0; rank < wiring->ranks; rank++) {
        map = (struct lp_neighbours){0};
        int code = request->neighbours(request->arg, rank, &map, error);
        if (code == CW_OK)
            code = add_rank(wiring, rank, &map, error);
        if (code != CW_OK)
            return code;
    }
    for (uint32_t rank = 0; rank < wiring->ranks; rank++) {
        map = (struct lp_neighbours){0};
        int code = request->neighbours(request->arg, rank, &map, error);
        for (uint32_t i = 0; i < map.count && code == CW_OK; i++)
            code = join_direction(wiring, rank, &map.at[i], error);
        if (code != CW_OK)
            return code;
    }
    for (uint32_t rank = 0; rank < wiring->ranks; rank++) {
        const int code = finish_rank(wiring, rank, request->credit_bytes, error);
        if (code != CW_OK)
            return code;
    }
    return CW_OK;
}

int lp_wiring_create(const struct lp_wiring_request *request, struct lp_wiring **out,
                     struct cw_error *error)
{
    *out = NULL;
    struct lp_wiring *const wiring = calloc(1, sizeof *wiring);
    if (wiring == NULL)
        return cw_error_memory(error, "the wiring");
    wiring->hw = *request->hw;
    wiring->ranks = request->ranks;
    wiring->pes_apart =
        request->pes_apart > 0 ? request->pes_apart : hw_cubes(request->hw) * hw_pes(request->hw);
    const size_t wires = (size_t)wiring->ranks * HW_DIRS_MAX;
    wiring->wire = calloc(wires, sizeof *wiring->wire);
    int code = wiring->wire == NULL ? cw_error_memory(error, "the wiring") : CW_OK;
    for (size_t i = 0; code == CW_OK && i < wires; i++)
        wiring->wire[i].peer_rank = no_rank;
    if (code == CW_OK)
        code = build_wiring(wiring, request, error);
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
    const uint32_t rank = pe_index / wiring->pes_apart;
    if (pe_index % wiring->pes_apart != 0 || rank >= wiring->ranks || (unsigned)dir >= HW_DIRS_MAX)
        return NULL;
    const struct lp_wire *const wire = &wiring->wire[(size_t)rank * HW_DIRS_MAX + dir];
    return wire->peer_rank != no_rank ? wire : NULL;
}

uint32_t lp_wiring_rings(const struct lp_wiring *wiring, uint32_t pe_index, enum hw_dir dir)
{
    uint32_t rings = 0;
    for (enum hw_dir before = 0; before < dir; before++) {
        const struct lp_wire *const wire = lp_wiring_at(wiring, pe_index, before);
        rings += wire != NULL && wire->way != LP_WAY_OUT;
    }
    return rings;
}

uint16_t lp_wiring_directions(const struct lp_wiring *wiring)
{
    uint16_t directions = 0;
    for (size_t i = 0; i < (size_t)wiring->ranks * HW_DIRS_MAX; i++)
        if (wiring->wire[i].peer_rank != no_rank)
            directions |= (uint16_t)(1u << i % HW_DIRS_MAX);
    return directions;
}

uint32_t lp_wiring_rings_max(const struct lp_wiring *wiring) { return wiring->rings_max; }
uint32_t lp_wiring_ranks(const struct lp_wiring *wiring) { return wiring->ranks; }
uint32_t lp_wiring_pes_apart(const struct lp_wiring *wiring) { return wiring->pes_apart; }

uint64_t lp_wiring_queue_pairs(const struct lp_wiring *wiring)
{
    uint64_t pairs = 0;
    for (size_t i = 0; i < (size_t)wiring->ranks * HW_DIRS_MAX; i++)
        pairs += wiring->wire[i].peer_rank != no_rank;
    return pairs;
}
