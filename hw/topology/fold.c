/*
 * fold.c: relabellings of SIPs, and the machines that they keep (fold.h).
 */
#include "hw/topology/fold.h"

#include <inttypes.h>
#include <stdio.h>

#include "hw/faults.h"

/* ---- digits ---------------------------------------------------------------------------------- */

static bool is_in(const struct hw_fold_digit *digit, const struct hw_sip_dim *dim)
{
    return digit->stride >= dim->stride && digit->stride / dim->stride < dim->size;
}

/* A turn of a dimension's highest factor carries into nothing: it is a translation by multiples of
 * the factor's stride. Turns of the others are not. */
static bool is_highest_in(const struct hw_fold_digit *digit, const struct hw_sip_dim *dim)
{
    return digit->stride / dim->stride * digit->size == dim->size;
}

static bool is_turned(const struct hw_fold_digit *digit) { return digit->step < digit->size; }

static void count_sips(struct hw_fold *fold)
{
    fold->sips = 1;
    fold->translates = true;
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        fold->sips *= digit->step;
        fold->translates &= !is_turned(digit) || is_highest_in(digit, &fold->dims.at[digit->dim]);
    }
}

static void set_step(struct hw_fold_digit *digit, uint32_t step)
{
    digit->step = step;
    digit->by_step = hw_divisor_of(step);
}

void hw_fold_set_step(struct hw_fold *fold, uint32_t digit, uint32_t step)
{
    set_step(&fold->digit[digit], step);
    count_sips(fold);
}

/* A factor of a dimension; the dimension's factors below it have the product `below`. */
static void add_digit(struct hw_fold *fold, uint32_t dim, uint32_t below, uint32_t size)
{
    const uint32_t stride = fold->dims.at[dim].stride * below;
    const bool may_turn = fold->dims.at[dim].joint != HW_SIP_LINE;
    struct hw_fold_digit *const digit = &fold->digit[fold->count++];
    *digit = (struct hw_fold_digit){.stride = stride,
                                    .size = size,
                                    .dim = dim,
                                    .by_stride = hw_divisor_of(stride),
                                    .by_size = hw_divisor_of(size)};
    set_step(digit, may_turn ? 1 : size);
}

/* The prime factors of `size`, the least first, in digits of their own. */
static void add_factors(struct hw_fold *fold, uint32_t dim, uint32_t below, uint32_t size)
{
    for (uint32_t factor = 2; size > 1; factor++) {
        if ((uint64_t)factor * factor > size)
            factor = size;
        for (; size % factor == 0; size /= factor, below *= factor)
            add_digit(fold, dim, below, factor);
    }
}

static void begin(const struct hw_config *hw, struct hw_fold *fold)
{
    *fold = (struct hw_fold){.of = hw->sip_count, .dims = hw_sip_dims_of(hw)};
}

void hw_fold_none(const struct hw_config *hw, struct hw_fold *fold)
{
    begin(hw, fold);
    for (uint32_t dim = 0; dim < fold->dims.count; dim++) {
        const uint32_t size = fold->dims.at[dim].size;
        add_digit(fold, dim, 1, size);
        set_step(&fold->digit[fold->count - 1], size);
    }
    count_sips(fold);
}

uint32_t hw_fold_index(const struct hw_fold *fold, uint32_t sip)
{
    uint32_t index = 0, radix = 1;
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        index += hw_remainder(hw_fold_digit_of(digit, sip), &digit->by_step) * radix;
        radix *= digit->step;
    }
    return index;
}

uint32_t hw_fold_sip(const struct hw_fold *fold, uint32_t index)
{
    uint32_t sip = 0;
    for (uint32_t d = 0; d < fold->count; d++) {
        const uint32_t rest = hw_divide(index, &fold->digit[d].by_step);
        sip += (index - rest * fold->digit[d].step) * fold->digit[d].stride;
        index = rest;
    }
    return sip;
}

uint32_t hw_fold_member(const struct hw_fold *fold, uint32_t representative, uint32_t k)
{
    uint32_t sip = representative;
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        const uint32_t places = digit->size / digit->step;
        sip += k % places * digit->step * digit->stride;
        k /= places;
    }
    return sip;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* How the dimension of a switch becomes digits: whole; its prime factors; or in two parts, of which
 * the lower has `low` places: either part whole, or one of them in prime factors. */
enum division { WHOLE, IN_FACTORS, IN_TWO, LOW_IN_FACTORS, HIGH_IN_FACTORS };

static void add_dim(struct hw_fold *fold, uint32_t dim, enum division division, uint32_t low)
{
    const uint32_t size = fold->dims.at[dim].size;
    if (division == WHOLE) {
        add_digit(fold, dim, 1, size);
    } else if (division == IN_FACTORS) {
        add_factors(fold, dim, 1, size);
    } else {
        if (division == LOW_IN_FACTORS)
            add_factors(fold, dim, 1, low);
        else
            add_digit(fold, dim, 1, low);
        if (division == HIGH_IN_FACTORS)
            add_factors(fold, dim, low, size / low);
        else
            add_digit(fold, dim, low, size / low);
    }
}

static bool is_prime(uint32_t size)
{
    for (uint32_t factor = 2; (uint64_t)factor * factor <= size; factor++)
        if (size % factor == 0)
            return false;
    return true;
}

/* Whether no division before this one has the same digits. */
static bool is_new(enum division division, uint32_t low, uint32_t size)
{
    if (size % low != 0 || low == 1 || low == size)
        return false;
    switch (division) {
    case IN_TWO:
        return !is_prime(low) || !is_prime(size / low) || low > size / low;
    case LOW_IN_FACTORS:
        return !is_prime(low) && !is_prime(size / low);
    default:
        return !is_prime(size / low) && !is_prime(low);
    }
}

bool hw_fold_candidate(const struct hw_config *hw, uint32_t number, struct hw_fold *fold)
{
    begin(hw, fold);
    uint32_t divided = 0, low = 0;
    enum division division = WHOLE;
    for (uint32_t k = 0; k < fold->dims.count && number > 0; k++) {
        const struct hw_sip_dim *const dim = &fold->dims.at[k];
        if (dim->joint != HW_SIP_SWITCH || is_prime(dim->size))
            continue;
        divided = k;
        division = IN_FACTORS;
        number--;
        for (low = 2; low < dim->size && number > 0; low++)
            for (enum division d = IN_TWO; d <= HIGH_IN_FACTORS && number > 0; d++)
                if (is_new(d, low, dim->size)) {
                    division = d;
                    number--;
                }
        low--;
    }
    if (number > 0)
        return false;
    for (uint32_t k = 0; k < fold->dims.count; k++)
        add_dim(fold, k, k == divided ? division : WHOLE, low);
    count_sips(fold);
    return true;
}

void hw_fold_narrow(struct hw_fold *fold, bool (*keeps)(void *arg, const struct hw_fold *one_digit),
                    void *arg)
{
    struct hw_fold one = *fold;
    for (uint32_t d = 0; d < one.count; d++)
        set_step(&one.digit[d], one.digit[d].size);
    for (uint32_t d = 0; d < fold->count; d++) {
        struct hw_fold_digit *const digit = &fold->digit[d];
        uint32_t step = digit->step;
        for (; step < digit->size; step++) {
            if (step % digit->step != 0 || digit->size % step != 0)
                continue;
            hw_fold_set_step(&one, d, step);
            if (keeps(arg, &one))
                break;
        }
        set_step(digit, step);
        hw_fold_set_step(&one, d, digit->size);
    }
    count_sips(fold);
}

/* ---- switches: numbered dimension by dimension, as in sip_dims.c ----------------------------- */

/* The classes of the switches in a dimension. */
static uint32_t switches_in(const struct hw_fold *fold, uint32_t k)
{
    uint32_t count = 1;
    if (fold->dims.at[k].joint != HW_SIP_SWITCH)
        return 0;
    for (uint32_t d = 0; d < fold->count; d++)
        count *= is_in(&fold->digit[d], &fold->dims.at[k]) ? 1 : fold->digit[d].step;
    return count;
}

uint32_t hw_fold_switches(const struct hw_fold *fold)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < fold->dims.count; k++)
        count += switches_in(fold, k);
    return count;
}

/* The dimension of a switch; *number is its number there, *first that of the first in its
 * dimension. */
static uint32_t dim_of_switch(const struct hw_fold *fold, uint32_t *number, uint32_t *first)
{
    uint32_t k = 0;
    *first = 0;
    for (;; k++) {
        const struct hw_sip_dim *const dim = &fold->dims.at[k];
        const uint32_t count = dim->joint == HW_SIP_SWITCH ? fold->of / dim->size : 0;
        if (*number < count || k + 1 == fold->dims.count)
            return k;
        *number -= count;
        *first += count;
    }
}

static uint32_t first_sip_on(const struct hw_sip_dim *dim, uint32_t number)
{
    return number / dim->stride * dim->stride * dim->size + number % dim->stride;
}

uint32_t hw_fold_switch_index(const struct hw_fold *fold, uint32_t number)
{
    uint32_t index = 0, radix = 1, first;
    const uint32_t k = dim_of_switch(fold, &number, &first);
    const struct hw_sip_dim *const dim = &fold->dims.at[k];
    const uint32_t sip = first_sip_on(dim, number);
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        if (is_in(digit, dim))
            continue;
        index += hw_fold_digit_of(digit, sip) % digit->step * radix;
        radix *= digit->step;
    }
    for (uint32_t before = 0; before < k; before++)
        index += switches_in(fold, before);
    return index;
}

uint32_t hw_fold_switch_at(const struct hw_fold *fold, uint32_t index)
{
    uint32_t k = 0, first = 0, sip = 0;
    for (; k + 1 < fold->dims.count && index >= switches_in(fold, k); k++) {
        index -= switches_in(fold, k);
        first += fold->dims.at[k].joint == HW_SIP_SWITCH ? fold->of / fold->dims.at[k].size : 0;
    }
    const struct hw_sip_dim *const dim = &fold->dims.at[k];
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        if (is_in(digit, dim))
            continue;
        sip += index % digit->step * digit->stride;
        index /= digit->step;
    }
    return first + sip / (dim->stride * dim->size) * dim->stride + sip % dim->stride;
}

uint32_t hw_fold_switch_with(const struct hw_fold *fold, uint32_t number, uint32_t sip)
{
    uint32_t first;
    const struct hw_sip_dim *const dim = &fold->dims.at[dim_of_switch(fold, &number, &first)];
    return first + sip / (dim->stride * dim->size) * dim->stride + sip % dim->stride;
}

static uint32_t links_in(const struct hw_fold *fold, const struct hw_sip_dim *dim)
{
    uint32_t links = 1;
    for (uint32_t d = 0; d < fold->count; d++)
        links *= is_in(&fold->digit[d], dim) ? fold->digit[d].step : 1;
    return links;
}

uint32_t hw_fold_switch_links_max(const struct hw_fold *fold)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < fold->dims.count; k++)
        if (fold->dims.at[k].joint == HW_SIP_SWITCH && links_in(fold, &fold->dims.at[k]) > most)
            most = links_in(fold, &fold->dims.at[k]);
    return most;
}

uint32_t hw_fold_switch_link_to(const struct hw_fold *fold, uint32_t number, uint32_t sip)
{
    uint32_t link = 0, radix = 1, first;
    const struct hw_sip_dim *const dim = &fold->dims.at[dim_of_switch(fold, &number, &first)];
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        if (!is_in(digit, dim))
            continue;
        link += hw_remainder(hw_fold_digit_of(digit, sip), &digit->by_step) * radix;
        radix *= digit->step;
    }
    return link;
}

uint32_t hw_fold_switch_sip(const struct hw_fold *fold, uint32_t number, uint32_t link)
{
    uint32_t first;
    const struct hw_sip_dim *const dim = &fold->dims.at[dim_of_switch(fold, &number, &first)];
    uint32_t sip = first_sip_on(dim, number);
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        if (!is_in(digit, dim))
            continue;
        sip += link % digit->step * digit->stride;
        link /= digit->step;
    }
    return sip;
}

/* ---- what a fold keeps ----------------------------------------------------------------------- */

static uint32_t turned(const struct hw_fold_digit *digit, uint32_t sip)
{
    const uint32_t at = hw_fold_digit_of(digit, sip);
    return sip - at * digit->stride + (at + digit->step) % digit->size * digit->stride;
}

/* Whether the turns take SIPs that are late to SIPs that are late. A turn leaves no SIP where it
 * is, so no fold keeps what only one SIP has. */
static bool keeps_only(const struct hw_where *where, const struct hw_fold *fold, const char *name,
                       char why[HW_FOLD_WHY_BYTES])
{
    if (where->parts > 0)
        snprintf(why, HW_FOLD_WHY_BYTES, "only SIP %" PRIu32 " has a late %s", where->at[0], name);
    if (where->sips == NULL)
        return where->parts == 0;
    for (uint32_t d = 0; d < fold->count; d++)
        for (uint32_t sip = 0; is_turned(&fold->digit[d]) && sip < fold->of; sip++) {
            const uint32_t to = turned(&fold->digit[d], sip);
            if (hw_jitter_has_sip(where->sips, sip) == hw_jitter_has_sip(where->sips, to))
                continue;
            const bool is_late = hw_jitter_has_sip(where->sips, sip);
            snprintf(why, HW_FOLD_WHY_BYTES,
                     "SIP %" PRIu32 " has a late %s, and SIP %" PRIu32 " has not",
                     is_late ? sip : to, name, is_late ? to : sip);
            return false;
        }
    return true;
}

static bool keeps_jitter(const struct hw_jitter_kind *kind, const struct hw_fold *fold,
                         const char *name, char why[HW_FOLD_WHY_BYTES])
{
    if (!kind->active)
        return true;
    if (!hw_jitter_is_drawn(kind))
        return keeps_only(&kind->only, fold, name, why);
    snprintf(why, HW_FOLD_WHY_BYTES, "the jitter of %s is drawn for each %s", name,
             kind->per_instance ? "part, so SIPs differ" : "operation, so none repeats another");
    return false;
}

/* The name of a kind of parts that it makes slower: of the first. */
static const char *slow_kind(const struct hw_config *hw, const struct hw_slow *slow)
{
    uint32_t kind = 0;
    while (kind + 1 < (uint32_t)HW_PART_KINDS && !slow->kind[kind])
        kind++;
    return kind < HW_NODE_KINDS ? hw_node_name_of(hw, (enum hw_node_kind)kind)
                                : hw_link_name_of(hw, (enum hw_link_kind)(kind - HW_NODE_KINDS));
}

static bool keeps_slow(const struct hw_config *hw, const struct hw_slow *slow,
                       const struct hw_fold *fold, char why[HW_FOLD_WHY_BYTES])
{
    if (slow->link_count == 0)
        return keeps_only(&slow->where, fold, slow_kind(hw, slow), why);
    snprintf(why, HW_FOLD_WHY_BYTES, "only %s has another rate (faults.%s)", slow->links_text,
             slow->name);
    return false;
}

static bool keeps_parameters(const struct hw_config *hw, const struct hw_fold *fold,
                             char why[HW_FOLD_WHY_BYTES])
{
    if (hw->later != NULL) {
        snprintf(why, HW_FOLD_WHY_BYTES, "links fail at %.3f ns", (double)hw->later_ps / 1000);
        return false;
    }
    for (uint32_t i = 0; hw->faults != NULL && i < hw->faults->slow_count; i++)
        if (!keeps_slow(hw, &hw->faults->slow[i], fold, why))
            return false;
    for (uint32_t kind = 0; kind < HW_NODE_KINDS; kind++)
        if (!keeps_jitter(&hw->node_jitter[kind], fold, hw_node_name_of(hw, kind), why))
            return false;
    for (uint32_t kind = 0; kind < HW_LINK_KINDS; kind++)
        if (!keeps_jitter(&hw->link_jitter[kind], fold, hw_link_name_of(hw, kind), why))
            return false;
    return true;
}

static bool is_like(const struct hw_hop *a, const struct hw_hop *b)
{
    return a->link == b->link && a->in == b->in;
}

/* Whether the route from a SIP to another one is the turned route between the turned ones. */
static bool keeps_route(const struct hw_config *hw, const struct hw_fold *fold,
                        const struct hw_fold_digit *digit, uint32_t sip, uint32_t to)
{
    const struct hw_topology_ops *const t = hw->sip_topology;
    const uint32_t sip2 = turned(digit, sip), to2 = turned(digit, to);
    const uint32_t outlet = t->exit(hw, sip, to, 0);
    if (t->exit(hw, sip2, to2, 0) != outlet)
        return false;
    const struct hw_hop out = hw_hop(hw, sip, outlet), out2 = hw_hop(hw, sip2, outlet);
    if (!hw_is_switch(hw, out.to))
        return is_like(&out, &out2) && out2.to == turned(digit, out.to);
    if (!is_like(&out, &out2) || !hw_is_switch(hw, out2.to) ||
        hw_fold_switch_index(fold, out.to - hw->sip_count) !=
            hw_fold_switch_index(fold, out2.to - hw->sip_count))
        return false;
    const struct hw_hop down = hw_hop(hw, out.to, t->exit(hw, out.to, to, 0)),
                        down2 = hw_hop(hw, out2.to, t->exit(hw, out2.to, to2, 0));
    return is_like(&down, &down2) && down2.to == turned(digit, down.to);
}

/* Whether the links of a SIP, and its ways in global directions, are those of the turned SIP. */
static bool keeps_links(const struct hw_config *hw, const struct hw_fold_digit *digit, uint32_t sip)
{
    const struct hw_topology_ops *const t = hw->sip_topology;
    const uint32_t sip2 = turned(digit, sip);
    uint32_t to, to2;
    for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++) {
        const struct hw_hop hop = hw_hop(hw, sip, outlet), hop2 = hw_hop(hw, sip2, outlet);
        if (hop.link == HW_LINK_KINDS && hop2.link == HW_LINK_KINDS)
            continue;
        if (!is_like(&hop, &hop2) || hw_is_switch(hw, hop.to) != hw_is_switch(hw, hop2.to) ||
            (!hw_is_switch(hw, hop.to) &&
             (hop2.to != turned(digit, hop.to) || hop.back != hop2.back)))
            return false;
    }
    for (enum hw_port port = 0; t->lines != HW_SIP_LINES_NONE && port < HW_PORTS; port++) {
        const bool leads = t->neighbour(hw, sip, port, &to);
        if (t->neighbour(hw, sip2, port, &to2) != leads ||
            (leads && t->global_exit(hw, sip, port) != t->global_exit(hw, sip2, port)))
            return false;
    }
    return true;
}

/* Where one SIP's links and routes need not be like another's, turns are known only from a
 * comparison of all of them. */
enum { COMPARED_MAX = 1024 };
static bool may_keep_irregular(const struct hw_config *hw, char why[HW_FOLD_WHY_BYTES])
{
    const struct hw_topology_ops *const t = hw->sip_topology;
    if (t->hashes)
        snprintf(why, HW_FOLD_WHY_BYTES,
                 "%s: a hash of PEs chooses its routes, so they do not commute with turns",
                 t->name);
    else if (hw_switches(hw) > 0)
        snprintf(why, HW_FOLD_WHY_BYTES,
                 "%s: its switches, which need not be alike, are not compared", t->name);
    else if (hw->sip_count > COMPARED_MAX)
        snprintf(why, HW_FOLD_WHY_BYTES, "%s: routes of more than %d SIPs are not compared",
                 t->name, COMPARED_MAX);
    return why[0] == '\0';
}

enum { ROUTES_SAMPLED = 16 }; /* SIPs from which, and to which */

bool hw_fold_keeps(const struct hw_config *hw, const struct hw_fold *fold,
                   char why[HW_FOLD_WHY_BYTES])
{
    why[0] = '\0';
    if (fold->sips == fold->of)
        return true;
    if (!keeps_parameters(hw, fold, why))
        return false;
    const bool is_irregular = hw->sip_topology->is_irregular;
    if (is_irregular && !may_keep_irregular(hw, why))
        return false;
    const uint32_t sample = is_irregular || fold->of < ROUTES_SAMPLED ? fold->of : ROUTES_SAMPLED;
    for (uint32_t d = 0; d < fold->count; d++)
        for (uint32_t sip = 0; is_irregular && is_turned(&fold->digit[d]) && sip < fold->of; sip++)
            if (!keeps_links(hw, &fold->digit[d], sip)) {
                snprintf(why, HW_FOLD_WHY_BYTES,
                         "%s: the links of SIP %" PRIu32 " are not those of SIP %" PRIu32,
                         hw->sip_topology->name, turned(&fold->digit[d], sip), sip);
                return false;
            }
    for (uint32_t d = 0; d < fold->count; d++)
        for (uint32_t i = 0; is_turned(&fold->digit[d]) && i < sample * sample; i++) {
            const uint32_t sip = (uint32_t)((uint64_t)(i / sample) * fold->of / sample);
            const uint32_t to =
                (uint32_t)(fold->of - 1 - (uint64_t)(i % sample) * fold->of / sample);
            if (sip == to || keeps_route(hw, fold, &fold->digit[d], sip, to))
                continue;
            snprintf(why, HW_FOLD_WHY_BYTES,
                     "%s: the route from SIP %" PRIu32 " to SIP %" PRIu32
                     " is not the one from %" PRIu32 " to %" PRIu32,
                     hw->sip_topology->name, turned(&fold->digit[d], sip),
                     turned(&fold->digit[d], to), sip, to);
            return false;
        }
    return true;
}

bool hw_fold_keeps_direction(const struct hw_config *hw, const struct hw_fold *fold,
                             enum hw_port port)
{
    const struct hw_grid grid = hw_sip_grid(hw);
    const bool along_row = port == HW_PORT_E || port == HW_PORT_W;
    if (hw->sip_topology->lines == HW_SIP_LINES_NONE)
        return true;
    for (uint32_t d = 0; d < fold->count; d++) {
        const struct hw_fold_digit *const digit = &fold->digit[d];
        if (!is_turned(digit) || along_row != (digit->stride < grid.w))
            continue;
        /* the highest factor of the line, whose turns carry into nothing */
        if ((uint64_t)digit->stride * digit->size != (along_row ? grid.w : fold->of))
            return false;
    }
    return true;
}
