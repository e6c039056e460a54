/*
 * change_check.h: the proof that a handler changed only the parts of the state that it asked for
 * (cw_config.check_changes, and always in the stress mode). A copy of the LP's state is taken
 * before the handler. After it, state and copy must agree outside the parts asked for. Putting a
 * state back is not its subject: that is undo_log.h.
 *
 * One for each worker; no other thread enters.
 */
#ifndef CORE_CHANGE_CHECK_H
#define CORE_CHANGE_CHECK_H

#include "core/cw.h"
#include "core/os/memory.h"

struct asked_part {
    size_t offset, bytes;
};

struct change_check {
    struct memory *memory;
    struct asked_part *parts; /* that the running handler has asked for */
    size_t count, capacity;
    uint8_t *before; /* the state before that handler; NULL: nothing is checked */
    size_t before_bytes;
};

/* No change outside the parts that were asked for. */
#define CHANGE_CHECK_OK SIZE_MAX

void change_check_init(struct change_check *check, struct memory *memory);
void change_check_free(struct change_check *check);

/* Makes room for the largest state that will be checked. False: out of memory. */
bool change_check_reserve(struct change_check *check, size_t state_bytes_max);

/* Before the handler: keeps a copy of the state. */
void change_check_begin(struct change_check *check, const uint8_t *state, size_t state_bytes);

/* The handler asked for a part. False: out of memory. */
bool change_check_ask(struct change_check *check, size_t offset, size_t bytes);

/* After the handler: the offset of the first byte that changed without being asked for, or
 * CHANGE_CHECK_OK. The parts asked for are then equal in state and copy. */
size_t change_check_first_unasked(struct change_check *check, const uint8_t *state,
                                  size_t state_bytes);

#endif
