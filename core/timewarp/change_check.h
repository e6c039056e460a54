/*
 * change_check.h: the proof that a handler changed only what it asked for (cw_config.check_changes,
 * and always in the stress mode): a copy of the LP's state is taken before the handler and compared
 * after it, outside the parts asked for. What a rollback puts back is undo_log.h's.
 */
#ifndef CORE_CHANGE_CHECK_H
#define CORE_CHANGE_CHECK_H

#include "core/cw.h"
#include "core/memory/memory.h"

struct asked_part {
    size_t offset, bytes;
};

struct change_check {
    struct memory *memory;
    struct asked_part *parts; /* asked for by the handler that runs */
    size_t count, capacity;
    uint8_t *before; /* the state as it was before that handler */
    size_t before_bytes;
};

/* No change outside the parts that were asked for. */
#define CHANGE_CHECK_OK SIZE_MAX

void change_check_init(struct change_check *undo, struct memory *memory);
void change_check_free(struct change_check *undo);

/* Room for the largest state that will be checked. False: out of memory. */
bool change_check_reserve(struct change_check *undo, size_t state_bytes_max);

/* Before the handler: keeps a copy of the state. */
void change_check_begin(struct change_check *undo, const uint8_t *state, size_t state_bytes);

/* The handler asked for a part. False: out of memory. */
bool change_check_keep(struct change_check *undo, size_t offset, size_t bytes);

/* After the handler: offset of the first byte that changed without being asked for. */
size_t change_check_first_unasked(struct change_check *undo, const uint8_t *state,
                                  size_t state_bytes);

#endif
