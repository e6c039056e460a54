/*
 * change_check.h: the proof that a handler changed only what it asked for (cw_config.check_changes,
 * and always in the stress mode): a copy of the LP's state is taken before the handler and compared
 * after it, outside the parts asked for. What a rollback puts back is undo_log.h's.
 */
#ifndef CORE_UNDO_H
#define CORE_UNDO_H

#include "core/cw.h"
#include "core/memory/memory.h"

struct undo_part {
    size_t offset, bytes;
};

struct undo {
    struct memory *memory;
    struct undo_part *parts; /* asked for by the handler that runs */
    size_t count, capacity;
    uint8_t *before; /* the state as it was before that handler */
    size_t before_bytes;
};

/* No change outside the parts that were asked for. */
#define UNDO_UNCHANGED SIZE_MAX

void undo_init(struct undo *undo, struct memory *memory);
void undo_free(struct undo *undo);

/* Room for the largest state that will be checked. False: out of memory. */
bool undo_reserve(struct undo *undo, size_t state_bytes_max);

/* Before the handler: keeps a copy of the state. */
void undo_begin(struct undo *undo, const uint8_t *state, size_t state_bytes);

/* The handler asked for a part. False: out of memory. */
bool undo_keep(struct undo *undo, size_t offset, size_t bytes);

/* After the handler: offset of the first byte that changed without being asked for. */
size_t undo_first_unasked(struct undo *undo, const uint8_t *state, size_t state_bytes);

#endif
