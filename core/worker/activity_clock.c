/*
 * activity_clock.c: the sampled clock (activity_clock.h).
 */
#include "core/worker/activity_clock.h"

enum { FIRST_SAMPLE = 16, CLOCK_TRIALS = 16, CLOCK_READS = 16 };
/* What takes so many times the mean of at least so many samples is no work of a few events. */
enum { LONGEST_IN_MEANS = 256, SAMPLES_KNOWN = 4 };

void activity_init(struct activity_clock *clock)
{
    uint64_t last = 0, least = UINT64_MAX; /* of several trials */
    *clock =
        (struct activity_clock){.turns_left = FIRST_SAMPLE, .turns_per_sample = TURNS_PER_SAMPLE};
    for (int i = 0; i < CLOCK_TRIALS; i++) {
        const uint64_t start = clock_ticks();
        for (int k = 0; k < CLOCK_READS; k++)
            last = clock_ticks();
        least = last - start < least ? last - start : least;
    }
    clock->cost = least / CLOCK_READS;
}

void activity_log_to(struct activity_clock *clock, struct interval_log *log)
{
    clock->log = log;
    clock->turns_per_sample = TURNS_PER_LOGGED_SAMPLE;
}

void activity_forget(struct activity_clock *clock)
{
    for (int i = 0; i < ACTIVITIES; i++)
        clock->turn[i] = 0;
}

void activity_forget_interrupted(struct activity_clock *clock, bool away)
{
    uint64_t ticks = 0;
    for (int i = 0; i < ACTIVITIES; i++)
        ticks += clock->turn[i];
    if (away || (clock->samples > SAMPLES_KNOWN &&
                 ticks / LONGEST_IN_MEANS > activity_ticks(clock) / clock->samples))
        activity_forget(clock);
}

void activity_begin(struct activity_clock *clock, enum cw_activity activity, uint64_t moment)
{
    const uint32_t mean = clock->turns_per_sample; /* an odd number */
    clock->turns_left = (mean + 1) / 2 + (uint32_t)(sample_draw(clock->samples++) % mean);
    activity_forget(clock); /* times of a turn that a failure cut short */
    clock->on = true;
    clock->now = (uint8_t)activity;
    clock->moment = moment;
    clock->since = clock_ticks();
}

void activity_stop(struct activity_clock *clock)
{
    (void)activity_go(clock, CW_IDLE);
    clock->on = false;
}

void activity_end(struct activity_clock *clock, bool idle)
{
    activity_stop(clock);
    for (int i = 0; i < ACTIVITIES; i++)
        clock->sum[idle && i != CW_ROLLBACK ? CW_IDLE : i] += clock->turn[i];
}

uint64_t activity_ticks(const struct activity_clock *clock)
{
    uint64_t ticks = 0;
    for (int i = 0; i < ACTIVITIES; i++)
        ticks += clock->sum[i];
    return ticks;
}

void activity_shares(const struct activity_clock *clock, double share[CW_ACTIVITIES])
{
    const double all = (double)activity_ticks(clock);
    const double handling = (double)clock->sum[CW_HANDLING], queue = (double)clock->sum[CW_QUEUE];
    const double batch = (double)clock->sum[ACTIVITY_BATCH];
    const double queue_part = handling + queue > 0 ? queue / (handling + queue) : 0;
    for (int i = 0; i < CW_ACTIVITIES; i++)
        share[i] = all > 0 ? (double)clock->sum[i] / all : 0;
    if (all == 0)
        return;
    share[CW_HANDLING] += batch * (1 - queue_part) / all;
    share[CW_QUEUE] += batch * queue_part / all;
}
