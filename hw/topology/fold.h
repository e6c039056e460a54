/*
 * fold.h: relabellings of SIPs under which a machine looks the same, and one SIP for each class of
 * SIPs that they map onto each other (hw/HARDWARE.md, "Folded machines"). Pure functions; a fold is
 * plain data.
 *
 * A SIP's number is a sum of digits, each times its stride: the dimensions of hw_sip_dims_of(), or
 * factors of the SIPs of one switch. A fold turns digits: it adds multiples of `step` to a digit,
 * modulo its size. SIPs whose digits are all below their steps are the representatives. A power of
 * two as digits of size 2 makes the turns exclusive ors of the SIP's number.
 */
#ifndef HW_FOLD_H
#define HW_FOLD_H

#include "hw/arithmetic.h"
#include "hw/topology/topology.h"

struct hw_fold_digit {
    uint32_t stride, size;
    uint32_t step; /* divides size; equal: the fold does not turn this digit */
    uint32_t dim;  /* the dimension that it belongs to */
    struct hw_divisor by_stride, by_size, by_step; /* the same, for divisions */
};

enum { HW_FOLD_DIGITS_MAX = 40 };
struct hw_fold {
    uint32_t sips, of; /* representatives; SIPs of the machine */
    uint32_t count;    /* of digits, those with the least strides first */
    struct hw_fold_digit digit[HW_FOLD_DIGITS_MAX];
    bool translates; /* each turn is a translation of a whole dimension. These keep the order of
                        events; other folds watch for ties (lp_system_fold_is_exact()) */
    struct hw_sip_dims dims; /* hw_sip_dims_of() */
};

/* ---- SIPs ------------------------------------------------------------------------------------ */

static inline uint32_t hw_fold_digit_of(const struct hw_fold_digit *digit, uint32_t sip)
{
    return hw_remainder(hw_divide(sip, &digit->by_stride), &digit->by_size);
}

/* The representative of a SIP's class. */
static inline uint32_t hw_fold_representative(const struct hw_fold *fold, uint32_t sip)
{
    uint32_t to = 0;
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        to += hw_remainder(hw_fold_digit_of(digit, sip), &digit->by_step) * digit->stride;
    }
    return to;
}

/* Where `sip` goes under the relabelling that takes `x` to its representative. */
static inline uint32_t hw_fold_moved(const struct hw_fold *fold, uint32_t x, uint32_t sip)
{
    uint32_t to = 0;
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        const uint32_t from = hw_fold_digit_of(digit, x), at = hw_fold_digit_of(digit, sip);
        const uint32_t back = from - hw_remainder(from, &digit->by_step);
        to += (at >= back ? at - back : at + digit->size - back) * digit->stride;
    }
    return to;
}

/* Where `sip` comes from under that relabelling: hw_fold_moved() of the result is `sip`. */
static inline uint32_t hw_fold_moved_back(const struct hw_fold *fold, uint32_t x, uint32_t sip)
{
    uint32_t to = 0;
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        const uint32_t of = hw_fold_digit_of(digit, x), at = hw_fold_digit_of(digit, sip);
        const uint32_t back = of - hw_remainder(of, &digit->by_step);
        to += hw_remainder(at + back, &digit->by_size) * digit->stride;
    }
    return to;
}

/* Representatives are numbered from 0 to sips - 1, in the order of their SIPs: the number of a
 * SIP's representative, and the representative with a number. */
uint32_t hw_fold_index(const struct hw_fold *fold, uint32_t sip);
uint32_t hw_fold_sip(const struct hw_fold *fold, uint32_t index);

/* SIPs of each class. */
static inline uint32_t hw_fold_alike(const struct hw_fold *fold) { return fold->of / fold->sips; }
/* The SIP number `k` of a representative's class, from 0 to hw_fold_alike() - 1; 0 is the
 * representative. */
uint32_t hw_fold_member(const struct hw_fold *fold, uint32_t representative, uint32_t k);

/* ---- switches --------------------------------------------------------------------------------
 * A fold moves switches with their SIPs. A class of switches has one number from 0 to
 * hw_fold_switches() - 1. Its representative is the switch whose first SIP is a representative. */

uint32_t hw_fold_switches(const struct hw_fold *fold);
/* The number of the class of any switch of the machine; and the representative of a class. */
uint32_t hw_fold_switch_index(const struct hw_fold *fold, uint32_t number);
uint32_t hw_fold_switch_at(const struct hw_fold *fold, uint32_t index);
/* The switch that joins any SIP in the dimension of switch `number`. */
uint32_t hw_fold_switch_with(const struct hw_fold *fold, uint32_t number, uint32_t sip);
/* Links between a representative switch and SIPs, one for each class of them: all their numbers
 * are below the first; the number of the link to a SIP; the representative SIP at a link. */
uint32_t hw_fold_switch_links_max(const struct hw_fold *fold);
uint32_t hw_fold_switch_link_to(const struct hw_fold *fold, uint32_t number, uint32_t sip);
uint32_t hw_fold_switch_sip(const struct hw_fold *fold, uint32_t number, uint32_t link);

/* ---- folds of a machine ---------------------------------------------------------------------- */

/* The machine itself: every SIP is a representative. */
void hw_fold_none(const struct hw_config *hw, struct hw_fold *fold);

/* The fold of this number among those that the topology allows, as wide as it allows: number 0
 * turns whole dimensions, except lines; the others turn factors of the SIPs behind one switch, too.
 * False: there are no more. */
bool hw_fold_candidate(const struct hw_config *hw, uint32_t number, struct hw_fold *fold);

/* Makes the steps of a fold the least with which each digit's turns, alone, satisfy `keeps`. What
 * all turns of single digits keep is kept by the whole fold. */
void hw_fold_narrow(struct hw_fold *fold, bool (*keeps)(void *arg, const struct hw_fold *one_digit),
                    void *arg);

/* The fold with the step of one digit replaced by a divisor of its size. */
void hw_fold_set_step(struct hw_fold *fold, uint32_t digit, uint32_t step);

/* Whether the machine is the same after each turn of the fold: parameters of single SIPs (jitter,
 * slow parts), and routes. The routes are those between a sample of SIPs; unit tests compare all.
 * Of graphs and of machines with failed parts all links and all routes are compared.
 * False: `why` says what differs. */
enum { HW_FOLD_WHY_BYTES = 200 };
bool hw_fold_keeps(const struct hw_config *hw, const struct hw_fold *fold,
                   char why[HW_FOLD_WHY_BYTES]);

/* Whether the global direction of this port leads from a SIP's image to its neighbour's image. For
 * topologies of three and more dimensions rows follow each other, so that only some turns do. */
bool hw_fold_keeps_direction(const struct hw_config *hw, const struct hw_fold *fold,
                             enum hw_port port);

#endif
