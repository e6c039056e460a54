/*
 * ipcq.h: a PE's queue block: the pointers of its queues, arrivals and credits (lp/QUEUES.md).
 * Handlers only, on the PE's cube.
 */
#ifndef LP_IPCQ_H
#define LP_IPCQ_H

#include "lp/lp_view.h"

/* An IpcqInitMsg takes effect: the plan of this index gives the other ends of the PE's queues,
 * which may be more than a message before gave. */
void lp_ipcq_install(struct lp_view *view, uint32_t pe, uint32_t plan);
/* LP_EVENT_VISIBLE: a tile is in its slot. True: its queue has a new tile to take; false: it waits
 * for an earlier one. */
bool lp_ipcq_visible(struct lp_view *view, const struct lp_transfer *transfer);
/* LP_EVENT_CREDIT: the receiver has a new tail. False: a later one was known. */
bool lp_ipcq_credit(struct lp_view *view, const struct lp_signal *signal);
/*
 * Receives tile `seq` of a queue, which must have arrived: one that a recv_async has claimed, or
 * the first unclaimed one. If it is the first of all, my_tail advances past all tiles that have
 * been received without a gap, and the credit leaves. Returns how long its emission takes. With
 * credit_fabric the caller sends it, if my_tail has advanced.
 */
int64_t lp_ipcq_take(struct lp_view *view, uint32_t pe, enum hw_dir dir, uint32_t seq);

#endif
