/*
 * process_phases.h: where a process spends its wall time. Consecutive phases, each divided into
 * time in drains, time in the host's work on the workers' threads (cw_each_worker()), and serial
 * time: the rest, in which the calling thread works alone.
 *
 * One thread, between drains. Names are string constants.
 */
#ifndef BENCH_PROCESS_PHASES_H
#define BENCH_PROCESS_PHASES_H

#include <stddef.h>

#include "core/cw.h"

enum { PROCESS_PHASES_MAX = 16 };

struct process_phase {
    const char *name;
    double wall_s;
    struct cw_times times; /* in this phase */
};

struct process_phases {
    struct process_phase list[PROCESS_PHASES_MAX]; /* each name once, in the order of first ends */
    size_t count;
    double since_s;        /* when the current phase began */
    struct cw_times times; /* of the simulation when the current phase began */
};

/* The first phase has begun at that moment (clock_s()); 0: now. */
void process_phases_begin(struct process_phases *phases, double begun_s);
/* A phase ends, and the next one begins. sim: NULL: there is none. Phases beyond PROCESS_PHASES_MAX
 * are added to the last one. */
void process_phase_end(struct process_phases *phases, const char *name, const struct cw_sim *sim);
/* The simulation is about to be freed, or has just been created. */
void process_phases_forget_sim(struct process_phases *phases);

double process_phase_serial_s(const struct process_phase *phase);
/* The sum over all phases; its name is NULL. */
struct process_phase process_phases_sum(const struct process_phases *phases);

#endif
