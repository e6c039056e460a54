/*
 * landing.c: the puts under way (landing.h): a hash table with linear probing, in which what is
 * taken out lets those behind it move up, so that no search meets a hole.
 */
#include "lp/host/landing.h"

#include <stdlib.h>

struct lp_put_record {
    uint32_t pe, seq, bytes;
    struct lp_operand dst;
    uint8_t math, dtype;
    bool taken;
};

void lp_landing_free(struct lp_landing *landing) { free(landing->put); }

/* Where the search for a put begins. */
static uint32_t landing_home_of(const struct lp_landing *landing, uint32_t pe, uint32_t seq)
{
    const uint64_t key = (uint64_t)pe << 32 | seq;
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (landing->capacity - 1);
}

/* The put's place, or the free one where it belongs. */
static uint32_t landing_place_of(const struct lp_landing *landing, uint32_t pe, uint32_t seq)
{
    uint32_t at = landing_home_of(landing, pe, seq);
    while (landing->put[at].taken && (landing->put[at].pe != pe || landing->put[at].seq != seq))
        at = (at + 1) & (landing->capacity - 1);
    return at;
}

static bool landing_grow(struct lp_landing *landing)
{
    struct lp_landing wider = {.count = landing->count,
                               .capacity = landing->capacity ? 2 * landing->capacity : 64};
    wider.put = calloc(wider.capacity, sizeof *wider.put);
    if (wider.put == NULL)
        return false;
    for (uint32_t i = 0; i < landing->capacity; i++)
        if (landing->put[i].taken)
            wider.put[landing_place_of(&wider, landing->put[i].pe, landing->put[i].seq)] =
                landing->put[i];
    free(landing->put);
    *landing = wider;
    return true;
}

bool lp_landing_put(struct lp_landing *landing, const struct lp_op *put)
{
    if (2 * landing->count >= landing->capacity && !landing_grow(landing))
        return false;
    landing->put[landing_place_of(landing, put->pe, put->seq)] =
        (struct lp_put_record){.pe = put->pe,
                               .seq = put->seq,
                               .bytes = put->bytes,
                               .dst = put->dst,
                               .math = put->math,
                               .dtype = put->dtype,
                               .taken = true};
    landing->count++;
    return true;
}

/* Frees a place; each of those behind it moves there if its search would pass it. */
static void take_out(struct lp_landing *landing, uint32_t hole)
{
    const uint32_t mask = landing->capacity - 1;
    for (uint32_t at = (hole + 1) & mask; landing->put[at].taken; at = (at + 1) & mask) {
        const uint32_t home = landing_home_of(landing, landing->put[at].pe, landing->put[at].seq);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        landing->put[hole] = landing->put[at];
        hole = at;
    }
    landing->put[hole].taken = false;
    landing->count--;
}

bool lp_landing_land(struct lp_landing *landing, struct lp_op *land)
{
    if (landing->count == 0)
        return false;
    const uint32_t at = landing_place_of(landing, land->peer, land->seq);
    if (!landing->put[at].taken)
        return false;
    land->bytes = landing->put[at].bytes;
    land->dst = landing->put[at].dst;
    land->math = landing->put[at].math;
    land->dtype = landing->put[at].dtype;
    take_out(landing, at);
    return true;
}
