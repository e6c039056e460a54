/*
 * tl_queue.h: what other calls and the end of a kernel need to know of received tiles.
 */
#ifndef LP_TL_QUEUE_H
#define LP_TL_QUEUE_H

#include "lp/kernel/tl_call.h"

/* A tile of an installed direction has been received. */
bool tl_has_received(const struct tl *tl, enum hw_dir dir, uint32_t seq);
/* The kernel ends: each recv_async has been waited for. */
void tl_check_all_received(struct tl *tl);
/* The record of the tile that has just been received, if the host wants operations. */
void tl_emit_recv_op(struct tl *tl);
static inline void tl_emit_recv(struct tl *tl)
{
    if (tl->view->m->emit.ops)
        tl_emit_recv_op(tl);
}

#endif
