/*
 * make_room.h: gives memory back when the account comes near its limit. First free blocks and empty
 * batches go back; near the limit everything that was speculated is undone, and cancelled events
 * are looked for and freed.
 *
 * Entered by the worker that owns the timewarp, before it handles events.
 */
#ifndef CORE_MAKE_ROOM_H
#define CORE_MAKE_ROOM_H

struct timewarp;

/* Does as much as throttle.level asks for: nothing below MEMORY_TIGHT. */
void make_room(struct timewarp *tw);

#endif
