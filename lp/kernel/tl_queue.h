/*
 * tl_queue.h: effects of the calls on queues (tl.h).
 */
#ifndef LP_TL_QUEUE_H
#define LP_TL_QUEUE_H

#include "lp/kernel/tl_call.h"

void tl_effect_send(struct tl *tl);
void tl_effect_recv(struct tl *tl);
void tl_effect_recv_all(struct tl *tl);
void tl_effect_recv_async(struct tl *tl);
void tl_effect_wait(struct tl *tl);
/* The second half of recv_into, where the place is in TCM. */
void tl_effect_move_tile(struct tl *tl);
/* A tile of an installed direction has been received. */
bool tl_has_received(const struct tl *tl, enum hw_dir dir, uint32_t seq);
/* The kernel ends: each recv_async has been waited for. */
void tl_check_all_received(struct tl *tl);
/* The record of the tile that has just been received, if the host wants operations. */
void tl_emit_recv_op(struct tl *tl);
static inline void tl_emit_recv(struct tl *tl)
{
    if (tl->run->m->emit.ops)
        tl_emit_recv_op(tl);
}

#endif
