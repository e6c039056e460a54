/*
 * repeat.h: iterations that repeat (COMMANDS.md, "Shortcuts"). At the end of a call the machine's
 * state relative to its time (lp/host/idle_state.h) is compared with those at the ends of earlier
 * calls. Once it is one of them again, what came between comes again and again: the calls of one
 * more such period are simulated, and each stands for all calls that it is the image of.
 *
 * The program makes the calls of a row like this, in the workers or around them:
 *
 *     bench_calls_begin(session);                              before the first one
 *     for (i = 0; repeat_goes_on(&session->repeat, i); i++)    in every worker
 *         ...the call
 *
 * and, when a call has completed and nobody has continued:
 *
 *     bench_row_sample(row, times, repeat_weight(&session->repeat));
 *     bench_called(session);
 *     if (repeat_is_over(&session->repeat))                    it was the last one
 *         ...
 *
 * A call stands for as many timed ones as its weight says; one of the warm-up for none.
 */
#ifndef BENCH_REPEAT_H
#define BENCH_REPEAT_H

#include "lp/host/system.h"

enum { REPEAT_KEPT = 8 }; /* states: the longest period that is found */

struct repeat {
    bool looks;                /* for a state that has been there */
    uint32_t warmup, calls;    /* asked for: of `calls` the first ones are not timed */
    uint32_t done, end;        /* simulated so far; when there is no more to simulate */
    uint32_t timed_from, once; /* from here on calls are timed: first so many that stand for */
    uint32_t weight;           /* themselves, then each of the others stands for so many */
    uint32_t kept;             /* states, ever */
    struct lp_idle_state state[REPEAT_KEPT]; /* [number % REPEAT_KEPT], and then */
    int64_t host_ps[REPEAT_KEPT];            /* the workers' time, from the machine's on */
    int64_t left_out_ps; /* since the machine was made: of calls that were not simulated */
};

/* `looks`: for a state that has been there. */
void repeat_begin(struct repeat *repeat, uint32_t warmup, uint32_t iterations, bool looks);
bool repeat_goes_on(const struct repeat *repeat, uint32_t call);
uint32_t repeat_weight(const struct repeat *repeat);
/* `host_ps`: the workers' time, from the machine's on; 0: there are no workers. */
void repeat_called(struct repeat *repeat, const struct lp_system *system, int64_t host_ps);
bool repeat_is_over(const struct repeat *repeat);
/* Calls that are simulated, as far as is known. */
uint32_t repeat_simulated(const struct repeat *repeat);
/* The state after the calls that are done is that of `period` calls before, so long ago: decides
 * which calls are still simulated. */
void repeat_found(struct repeat *repeat, uint32_t period, int64_t period_ps);
/* Another machine: nothing of it is left out so far. Frees what was kept. */
void repeat_forget(struct repeat *repeat);

#endif
