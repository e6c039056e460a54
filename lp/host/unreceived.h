/*
 * unreceived.h: tiles that nobody has received when all kernels have ended (invariant I1 of
 * lp/QUEUES.md): the next launch's kernel would take them for its own. Host side, between
 * drains.
 */
#ifndef LP_UNRECEIVED_H
#define LP_UNRECEIVED_H

#include <stddef.h>

#include "lp/model.h"

/* A PE, and the number of the launch that it got. */
struct lp_launched {
    uint32_t pe, launch;
};

/* The queues that these PEs have sent into: all their tiles have been received, or
 * CW_PROGRAM_FAILED, IpcqUnreceived. The list is sorted: of a PE with two launches, the later comes
 * second. */
int lp_check_received(const struct lp_model *m, struct cw_sim *sim,
                      const struct lp_launched *launched, size_t count, struct cw_error *error);

#endif
