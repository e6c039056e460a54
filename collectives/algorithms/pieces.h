/*
 * pieces.h: tensors above the size of TCM go in pieces of whole tiles, one after the other, each as
 * if it were a tensor of its own. A tensor that fits is one piece. Host side, pure.
 *
 * No piece waits for another's PEs. (1) A PE leaves a piece when it has sent and received all tiles
 * of it. (2) Tiles of a queue arrive in the order of sending, so in every queue, tiles of the
 * earliest piece that any PE is still in come before all others. (3) So the PEs in that piece
 * continue as with that piece alone.
 */
#ifndef COLLECTIVES_PIECES_H
#define COLLECTIVES_PIECES_H

#include "collectives/algorithm.h"

/* Tiles of a piece of the call's shard, of which TCM holds `copies` beside the receive rings. At
 * least one; all tiles, where the shard fits. */
uint32_t piece_tiles(const struct ccl_call *call, uint32_t copies);
/* Bytes of such a piece; of the shard, where it fits. */
uint64_t piece_bytes(const struct ccl_call *call, uint32_t copies);

#endif
