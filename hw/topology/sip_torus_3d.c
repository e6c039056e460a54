/*
 * sip_torus_3d.c: torus_3d: a grid of SIPs of w columns, h rows and d layers, whose lines are rings
 * in all three dimensions. SIP (z * h + y) * w + x is in column x, row y, layer z. Routes go X,
 * then Y, then Z, the shorter way round.
 *
 * The global directions use it as a grid of two dimensions, with w columns and h * d rows: the rows
 * of layer 0, then of layer 1, and so on.
 */
#include <inttypes.h>
#include <stdio.h>

#include "hw/topology/sip_dims.h"
#include "hw/topology/sip_grid.h"

static uint32_t largest_of(struct hw_sip_size size)
{
    const uint32_t most = size.w > size.h ? size.w : size.h;
    return most > size.d ? most : size.d;
}

struct hw_sip_size hw_most_cubic_grid(uint32_t count)
{
    struct hw_sip_size best = {.w = count, .h = 1, .d = 1};
    for (uint32_t d = 1; (uint64_t)d * d * d <= count; d++) {
        if (count % d != 0)
            continue;
        for (uint32_t h = d; (uint64_t)h * h <= count / d; h++) {
            const struct hw_sip_size size = {.w = count / d / h, .h = h, .d = d};
            if (count / d % h == 0 && (largest_of(size) < largest_of(best) ||
                                       (largest_of(size) == largest_of(best) && d > best.d)))
                best = size;
        }
    }
    return best;
}

static bool refuse(struct hw_misfit *misfit, enum hw_sip_key key, const char *why, uint32_t sips)
{
    const struct hw_sip_size cubic = hw_most_cubic_grid(sips);
    misfit->key = key;
    snprintf(misfit->text, sizeof misfit->text,
             "%s; legal: w x h x d = system.sips.count, such as %" PRIu32 " x %" PRIu32
             " x %" PRIu32 " for %" PRIu32
             " SIPs, or none of the three for this, the most cubic grid",
             why, cubic.w, cubic.h, cubic.d, sips);
    return false;
}

static bool torus_3d_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                         struct hw_misfit *misfit)
{
    const uint32_t sizes[] = {given.w, given.h, given.d};
    char why[120];
    *size = (struct hw_sip_size){0};
    if (given.w == 0 && given.h == 0 && given.d == 0) {
        *size = hw_most_cubic_grid(sips);
    } else {
        for (uint32_t i = 0; i < 3; i++)
            if (sizes[i] == 0) {
                snprintf(why, sizeof why, "system.sips.%c is missing beside the others", "whd"[i]);
                return refuse(misfit,
                              given.w > 0   ? HW_SIP_KEY_W
                              : given.h > 0 ? HW_SIP_KEY_H
                                            : HW_SIP_KEY_D,
                              why, sips);
            }
        const uint64_t product = (uint64_t)given.w * given.h * given.d;
        if (product != sips) {
            snprintf(why, sizeof why,
                     "%" PRIu32 " x %" PRIu32 " x %" PRIu32 " is %" PRIu64
                     " SIPs, but system.sips.count is %" PRIu32,
                     given.w, given.h, given.d, product, sips);
            return refuse(misfit, HW_SIP_KEY_W, why, sips);
        }
        *size = (struct hw_sip_size){.w = given.w, .h = given.h, .d = given.d};
    }
    hw_sip_dims_add(&size->dims, HW_SIP_RING, size->w, HW_LINK_SIP_LINK);
    hw_sip_dims_add(&size->dims, HW_SIP_RING, size->h, HW_LINK_SIP_LINK);
    hw_sip_dims_add(&size->dims, HW_SIP_RING, size->d, HW_LINK_SIP_LINK);
    return true;
}

const struct hw_topology_ops hw_torus_3d = {
    .name = "torus_3d",
    .is_grid = true,
    .is_3d = true,
    .lines = HW_SIP_LINES_RINGS,
    .fit = torus_3d_fit,
    HW_SIP_DIMS_OPERATIONS,
};
