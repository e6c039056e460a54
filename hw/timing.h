/*
 * timing.h: durations (HARDWARE.md, "Timing of a transfer"), in whole picoseconds.
 * Pure functions and one plain struct, the server that each directed link is.
 */
#ifndef HW_TIMING_H
#define HW_TIMING_H

#include "hw/hw_config.h"

/* ceil(units * num / den) ps. */
static inline int64_t hw_rate_ps(struct hw_rate rate, uint64_t units)
{
    const uint64_t product = units * rate.num;
    if ((rate.den & (rate.den - 1)) == 0) /* the usual case: a shift instead of a division */
        return (int64_t)((product + rate.den - 1) >> __builtin_ctzll(rate.den));
    return (int64_t)((product + rate.den - 1) / rate.den);
}

/* ser(e, n): serialisation of n bytes on a link of this class. */
static inline int64_t hw_ser_ps(const struct hw_link_class *link, uint64_t bytes)
{
    return hw_rate_ps(link->rate, bytes);
}

/* GB/s, for people. */
static inline double hw_link_gbs(const struct hw_link_class *link)
{
    return 1000.0 * (double)link->rate.den / (double)link->rate.num;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* states, payloads and records have none */

/*
 * One directed link: a server that sends one message after the other. Its counts are of the epochs
 * from a first one on (of collectives that are in flight together): the first message after older
 * ones resets them. 24 bytes, part of an LP's state.
 */
struct hw_link {
    int64_t free_ps;       /* when its last message's tail has left it */
    uint64_t bytes;        /* sent in these epochs */
    uint32_t queue_ps_max; /* the longest that a message waited for it in them; saturates */
    uint32_t epoch;        /* the latest one of a message */
};
_Static_assert(sizeof(struct hw_link) == 24, "72 links make 216 bytes per PE");
#pragma GCC diagnostic pop

/*
 * A transfer in flight between two nodes: tau, when its tail is ready there, and sigma, the
 * serialisation it has already paid.
 */
struct hw_flight {
    int64_t tau_ps, sigma_ps;
    uint32_t bytes;
    uint32_t epoch;     /* links count it in this one; 0: not counted (control messages) */
    uint64_t operation; /* its number for jitter */
};

/* Pays the serialisation on `link_class` beyond the part that is paid already. */
static inline int64_t hw_flight_serialise(struct hw_flight *flight,
                                          const struct hw_link_class *link_class)
{
    const int64_t ser_ps = hw_ser_ps(link_class, flight->bytes);
    if (ser_ps > flight->sigma_ps) {
        flight->tau_ps += ser_ps - flight->sigma_ps;
        flight->sigma_ps = ser_ps;
    }
    return ser_ps;
}

/* Counts a flight that waited this long for the link; below 0: it did not wait. What came in epochs
 * before `first_epoch` counts no more. */
static inline void hw_link_count(struct hw_link *link, const struct hw_flight *flight,
                                 uint32_t first_epoch, int64_t wait_ps)
{
    if (link->epoch != flight->epoch) {
        if (link->epoch < first_epoch) {
            link->bytes = 0;
            link->queue_ps_max = 0;
        }
        if (link->epoch < flight->epoch)
            link->epoch = flight->epoch;
    }
    const uint32_t queue_ps = wait_ps < 0            ? 0
                              : wait_ps < UINT32_MAX ? (uint32_t)wait_ps
                                                     : UINT32_MAX;
    if (queue_ps > link->queue_ps_max)
        link->queue_ps_max = queue_ps;
    link->bytes += flight->bytes;
}

/*
 * Sends the flight over a link to the next node, whose overhead it pays. `link` is NULL where
 * nothing is reserved: contention `none`, and transfers of 0 bytes. `first_epoch`: see
 * hw_link_count(). `late_ps`: jitter, by which the flight leaves the link later and the link is
 * free later, so that nothing overtakes it there.
 * Returns how long the flight waited for the link; not above 0: it did not.
 */
static inline int64_t hw_flight_cross_late(struct hw_flight *flight,
                                           const struct hw_link_class *link_class,
                                           struct hw_link *link, uint32_t first_epoch,
                                           int64_t next_overhead_ps, int64_t late_ps)
{
    const int64_t ser_ps = hw_flight_serialise(flight, link_class);
    int64_t wait_ps = 0;
    if (link) {
        wait_ps = link->free_ps + ser_ps - flight->tau_ps;
        if (wait_ps > 0)
            flight->tau_ps += wait_ps;
        link->free_ps = flight->tau_ps + late_ps;
        if (flight->epoch > 0)
            hw_link_count(link, flight, first_epoch, wait_ps);
    }
    flight->tau_ps += late_ps + link_class->prop_ps + next_overhead_ps;
    return wait_ps;
}

static inline int64_t hw_flight_cross(struct hw_flight *flight,
                                      const struct hw_link_class *link_class, struct hw_link *link,
                                      uint32_t first_epoch, int64_t next_overhead_ps)
{
    return hw_flight_cross_late(flight, link_class, link, first_epoch, next_overhead_ps, 0);
}

/* Durations of the blocks of a PE (HARDWARE.md, "Blocks of a PE"). */
int64_t hw_math_ps(const struct hw_config *hw, uint64_t elements);
int64_t hw_gemm_ps(const struct hw_config *hw, uint32_t m, uint32_t n, uint32_t k);
int64_t hw_fetch_ps(const struct hw_config *hw, uint64_t bytes);

#endif
