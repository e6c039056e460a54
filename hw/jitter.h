/*
 * jitter.h: the random time that an operation takes beyond its cost, on blocks of a PE and on links
 * (`jitter` in components.yaml). Each draw is a pure function of (seed, kind, instance, operation)
 * in whole numbers. So a run is the same on any number of threads, after any number of rollbacks
 * and on any processor. A draw is never below 0: every lookahead and every lower bound holds.
 */
#ifndef HW_JITTER_H
#define HW_JITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hw_jitter_distribution {
    HW_JITTER_NONE,
    HW_JITTER_FIXED,       /* mean */
    HW_JITTER_UNIFORM,     /* from mean - spread to mean + spread */
    HW_JITTER_NORMAL,      /* mean + spread * (the sum of twelve uniform numbers, less 6), where
                              the distance from the mean is rounded toward 0 */
    HW_JITTER_EXPONENTIAL, /* mean * -ln(u) */
};

#define HW_JITTER_ANY UINT32_MAX
/* The operation of a piece of a transfer that is not its last: it has no draw. */
#define HW_JITTER_PIECE UINT64_MAX

/* The place of an operation. HW_JITTER_ANY: not in a cube, not in a PE. */
struct hw_jitter_place {
    uint32_t sip, cube, pe;
    uint32_t index; /* of a link, in its cube, IO die or switch */
    uint64_t outer; /* of a link that leaves a SIP or a switch: hw_outer_link(); else 0 */
};

/* SIPs, as they were listed. */
struct hw_jitter_sips {
    const char *text; /* as the key says them: "0-56/8" */
    uint32_t end;     /* none of this number or above */
    uint64_t bits[];  /* one for each SIP below `end` */
};

/* Where something is: everywhere, in a SIP, a cube, a PE, or in SIPs that are listed. */
struct hw_where {
    uint8_t parts; /* how much of `at` counts: 0 none, 1 sip, 2 and cube, 3 and pe */
    uint32_t at[3];
    const struct hw_jitter_sips *sips; /* parts is 0; NULL: none are listed */
};

/* One kind of block or link. All zero: it has no jitter. */
struct hw_jitter_kind {
    bool active;
    bool per_instance;     /* one draw for all operations of an instance */
    uint8_t salt;          /* of its kind (blocks.h) */
    uint32_t distribution; /* enum hw_jitter_distribution */
    struct hw_where only;
    int64_t mean_ps, spread_ps; /* both <= 10^12 */
};

/* Its delays are random, not the same each time. */
static inline bool hw_jitter_is_drawn(const struct hw_jitter_kind *kind)
{
    return kind->active &&
           (kind->distribution == HW_JITTER_UNIFORM || kind->distribution == HW_JITTER_NORMAL ||
            kind->distribution == HW_JITTER_EXPONENTIAL);
}

/* Words of `bits`. */
static inline uint32_t hw_jitter_words(uint32_t end) { return (end + 63) / 64; }

/* HW_JITTER_ANY: no. */
static inline bool hw_jitter_has_sip(const struct hw_jitter_sips *sips, uint32_t sip)
{
    return sip < sips->end && (sips->bits[sip / 64] >> sip % 64 & 1) != 0;
}

static inline bool hw_is_there(const struct hw_where *where, const struct hw_jitter_place *place)
{
    return (where->parts < 1 || where->at[0] == place->sip) &&
           (where->parts < 2 || where->at[1] == place->cube) &&
           (where->parts < 3 || where->at[2] == place->pe) &&
           (where->sips == NULL || hw_jitter_has_sip(where->sips, place->sip));
}

/* hw_jitter_ps() of an active kind. */
int64_t hw_jitter_draw_ps(const struct hw_jitter_kind *kind, uint64_t seed,
                          const struct hw_jitter_place *place, uint64_t operation);

/* The random time that an operation takes at this place. `operation` is its number among the
 * instance's operations. 0 where `kind` has no jitter, or only elsewhere. */
static inline int64_t hw_jitter_ps(const struct hw_jitter_kind *kind, uint64_t seed,
                                   const struct hw_jitter_place *place, uint64_t operation)
{
    return kind->active ? hw_jitter_draw_ps(kind, seed, place, operation) : 0;
}

#endif
