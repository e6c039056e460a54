/*
 * schedule_run.h: carries out a schedule without a machine, on numbers: each chunk is the sum of
 * numbers that ranks and chunks give, so that a sum tells which operands are in it. Chunks travel
 * one by one through queues of so many slots; joined steps are carried out chunk by chunk. For the
 * tests of the makers of schedules.
 */
#ifndef TEST_SCHEDULE_RUN_H
#define TEST_SCHEDULE_RUN_H

#include "collectives/schedule/schedule.h"

/* Fails the test where the schedule blocks for ever, or a rank's result is wrong. It is carried out
 * `loops` times, one piece after the other. */
void schedule_run(const struct schedule *schedule, uint32_t slots, uint32_t loops);

/* Messages of the longest chain of messages each of which a rank sends after the one before it has
 * come: the steps of the algorithm. */
uint32_t schedule_run_depth(const struct schedule *schedule);

/* Most ranks that a thread exchanges messages with. */
uint32_t schedule_run_peers(const struct schedule *schedule);

#endif
