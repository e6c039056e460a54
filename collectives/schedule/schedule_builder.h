/*
 * schedule_builder.h: makes schedules, step by step. Memory that runs out is kept as a state, and
 * reported at the end: no call before needs to be checked.
 *
 *     struct schedule_builder *b = schedule_builder_create("ring", CCL_ALL_REDUCE, 4, 1);
 *     schedule_chunks_of(b, rank, 4, 4, 0);
 *     uint32_t t = schedule_thread(b, rank, 0);
 *     schedule_add(b, rank, t, (struct schedule_step){.op = SCHEDULE_SEND, .count = 1,
 *                  .src = {chunk, SCHEDULE_INPUT}, .send_to = right});
 *     struct schedule *s = schedule_build(b, &error);
 */
#ifndef COLLECTIVES_SCHEDULE_BUILDER_H
#define COLLECTIVES_SCHEDULE_BUILDER_H

#include "collectives/schedule/schedule.h"

struct schedule_builder;

/* Whether a schedule of this many steps fits in memory while it is made. CW_NO_RESOURCE: it does
 * not, so do not begin. */
int schedule_has_room(uint64_t steps, struct cw_error *error);

struct schedule_builder *schedule_builder_create(const char *name, enum ccl_collective collective,
                                                 uint32_t ranks, uint32_t parts);
/* Steps of each rank, more or less, for which there will be room at once. */
void schedule_builder_expect(struct schedule_builder *builder, uint64_t steps);
/* The schedule as it will be: name, in_place, members, bytes, file, partial and all_ranks may be
 * set; of a sketch, sketch, near and steps. Steps that are not set are counted. NULL: out of
 * memory. */
struct schedule *schedule_builder_head(struct schedule_builder *builder);
/* Chunks of a rank's buffers, all parts together. */
void schedule_chunks_of(struct schedule_builder *builder, uint32_t rank, uint32_t input,
                        uint32_t output, uint32_t scratch);
/* Adds a thread to a rank; returns its number. schedule_thread_line() may set its line in the file
 * that it was read from. */
uint32_t schedule_thread(struct schedule_builder *builder, uint32_t rank, uint32_t part);
void schedule_thread_line(struct schedule_builder *builder, uint32_t rank, uint32_t thread,
                          uint32_t line);
/* Its queues go the other way round rings of two (schedule.h, other_way). */
void schedule_thread_other_way(struct schedule_builder *builder, uint32_t rank, uint32_t thread);
/*
 * Appends a step to a thread; returns its number in the thread. Ranks that the operation does not
 * name are set to SCHEDULE_NO_RANK, and `wait_...`, `awaited`, `joined` are not read.
 */
uint32_t schedule_add(struct schedule_builder *builder, uint32_t rank, uint32_t thread,
                      struct schedule_step step);
/* Appends a step to a thread, for the caller to fill, all but `wait_...`, `awaited`, `joined`. Its
 * channel is below the head's `channels`. NULL: out of memory. */
struct schedule_step *schedule_next(struct schedule_builder *builder, uint32_t rank,
                                    uint32_t thread);
/*
 * Joins the step that was added last to `thread` with the one before it, if it adds to the same
 * sum, or sends the same chunks, and no other thread comes between: nothing is waited for there. No
 * step may read a sum that only a joined step adds to.
 */
void schedule_join(struct schedule_builder *builder, uint32_t rank, uint32_t thread);
/* The step that was added last to `thread` waits for another thread's step, which may come later. A
 * step's waits are given one after the other. */
void schedule_wait_for(struct schedule_builder *builder, uint32_t rank, uint32_t thread,
                       struct schedule_wait wait);
/* Frees the builder, which may be NULL. NULL: CW_NO_RESOURCE. The schedule is not checked:
 * schedule_check.h. */
struct schedule *schedule_build(struct schedule_builder *builder, struct cw_error *error);
void schedule_builder_free(struct schedule_builder *builder); /* without a schedule; accepts NULL */

#endif
