/*
 * repeat.c: finds a machine's state that has been there before, and counts the calls that follow
 * from it instead of simulating them (repeat.h).
 *
 * Why the rest follows. The machine is idle, so what it does next depends on its state, on the
 * host's messages and on their times. Its states at the ends of calls j and i < j are equal. So
 * are the launches of calls j and i (lp_system_idle_state() has them), and the maps. Of the host's
 * side:
 *   - the program makes the same call on the same tensors each time, and it does so when all ranks
 *     have the result, at the host's time: as long after the machine's time as then;
 *   - the choice of the algorithm, the plans, the schedules and the PEs are functions of the call
 *     and of the configuration alone;
 *   - scratch is given back at a call's end, so the allocator is in the same state before each;
 *   - numbers of batches, launches and calls only name them. Those of 32 bits must not end within
 *     the calls that are left out: is_within_numbers();
 *   - nobody looks at values: with tensor data nothing is left out (shortcuts.c). Kernels cannot
 *     see them in any case.
 * Then call j + 1 is call i + 1 again, and leaves its state; and so on.
 */
#include "bench/programs/repeat.h"

enum {
    KEPT_MAX = 64,                     /* then no more states are taken */
    KEPT_BYTES_MAX = 256 * 1024 * 1024 /* of all states together */
};

void repeat_begin(struct repeat *repeat, uint32_t warmup, uint32_t iterations, bool looks)
{
    repeat->warmup = repeat->timed_from = warmup;
    repeat->calls = repeat->end = warmup + iterations;
    repeat->once = iterations;
    repeat->weight = 1;
    repeat->done = repeat->kept = 0;
    repeat->looks = looks;
}

bool repeat_goes_on(const struct repeat *repeat, uint32_t call) { return call < repeat->end; }

bool repeat_is_over(const struct repeat *repeat) { return repeat->done >= repeat->end; }

uint32_t repeat_simulated(const struct repeat *repeat) { return repeat->end; }

uint32_t repeat_weight(const struct repeat *repeat)
{
    if (repeat->done < repeat->timed_from)
        return 0;
    return repeat->done < repeat->timed_from + repeat->once ? 1 : repeat->weight;
}

/* The numbers of tiles, launches and events, of 32 bits: no one has grown in all calls so far by
 * more than it is. */
static bool is_within_numbers(const struct repeat *repeat, const struct lp_idle_state *state)
{
    return state->counter_max < UINT32_MAX / (2 + (uint64_t)(repeat->calls - repeat->done));
}

/*
 * The state after `done` calls is that of `period` calls before. Of the calls that are left of the
 * warm-up, whole periods are left out. The timed ones are q periods and some calls: these calls
 * are simulated once more, then one period, each call of which stands for q. So the last call that
 * is simulated is the image of the last call of all, and leaves its counts on the links.
 */
void repeat_found(struct repeat *repeat, uint32_t period, int64_t period_ps)
{
    const uint32_t done = repeat->done;
    const uint32_t warmup = done < repeat->warmup ? repeat->warmup - done : 0,
                   timed = repeat->calls - done - warmup;
    const uint32_t q = timed / period;
    const int64_t periods = warmup / period + (q > 0 ? q - 1 : 0);
    repeat->looks = false;
    repeat->timed_from = done + warmup % period;
    repeat->once = timed % period;
    repeat->weight = q > 0 ? q : 1;
    repeat->end = repeat->timed_from + repeat->once + (q > 0 ? period : 0);
    repeat->left_out_ps += periods * period_ps;
}

/* Compares the latest state with those that are kept, the latest first. */
static void look_back(struct repeat *repeat)
{
    const uint32_t at = repeat->kept % REPEAT_KEPT;
    const struct lp_idle_state *const state = &repeat->state[at];
    for (uint32_t period = 1; period <= repeat->kept && period < REPEAT_KEPT; period++) {
        const uint32_t before = (at + REPEAT_KEPT - period) % REPEAT_KEPT;
        if (repeat->host_ps[before] == repeat->host_ps[at] &&
            lp_idle_state_equal(&repeat->state[before], state)) {
            repeat_found(repeat, period, state->now_ps - repeat->state[before].now_ps);
            return;
        }
    }
    if (++repeat->kept == KEPT_MAX || lp_idle_state_bytes(state) > KEPT_BYTES_MAX / REPEAT_KEPT)
        repeat->looks = false;
}

void repeat_called(struct repeat *repeat, const struct lp_system *system, int64_t host_ps)
{
    enum { LEAST_LEFT = 2 }; /* one of which is simulated */
    const uint32_t at = repeat->kept % REPEAT_KEPT;
    struct lp_idle_state *const state = &repeat->state[at];
    repeat->done++;
    /* the state after the first call is of use only if enough is left after the second */
    if (!repeat->looks || repeat->calls - repeat->done < LEAST_LEFT + (repeat->done == 1))
        return;
    repeat->looks = lp_system_idle_state(system, state) && is_within_numbers(repeat, state);
    if (!repeat->looks)
        return;
    repeat->host_ps[at] = host_ps;
    look_back(repeat);
}

void repeat_forget(struct repeat *repeat)
{
    for (uint32_t i = 0; i < REPEAT_KEPT; i++)
        lp_idle_state_free(&repeat->state[i]);
    *repeat = (struct repeat){.looks = false};
}
