/*
 * trial.c: measures the events committed before and after a move (trial.h).
 */
#include "core/run/trial.h"

#define WINDOW_S       0.03
#define TRIAL_S        0.1
#define SETTLE_S       0.03
#define WAIT_S         0.1 /* after a move that was kept */
#define BACK_OFF_S     0.4 /* after the first one that was not */
#define BACK_OFF_MAX_S 60.0
#define TRIAL_SHARE    64
#define KEPT_FROM      1.02 /* rate after over before */
#define HOPELESS       0.8  /* the trial ends with its first window */

void trial_init(struct trial *trial)
{
    *trial = (struct trial){.settles_s = SETTLE_S, .back_off_s = BACK_OFF_S};
}

static void begin_window(struct trial *trial)
{
    trial->window_s = 0;
    trial->events = 0;
}

/* The move on trial gains, or it is to be taken back. */
static enum trial_says end_trial(struct trial *trial, double rate)
{
    const double lost_s = (trial->window_s + SETTLE_S) * (1 - rate / trial->rate);
    trial->tries = false;
    if (rate >= KEPT_FROM * trial->rate) {
        trial->rate = rate;
        trial->wait_s = WAIT_S;
        trial->back_off_s = BACK_OFF_S;
        return TRIAL_WAITS;
    }
    trial->wait_s =
        trial->back_off_s > TRIAL_SHARE * lost_s ? trial->back_off_s : TRIAL_SHARE * lost_s;
    trial->back_off_s *= 2;
    if (trial->back_off_s > BACK_OFF_MAX_S)
        trial->back_off_s = BACK_OFF_MAX_S;
    trial->takes_back = true;
    return TRIAL_TAKE_BACK;
}

enum trial_says trial_look(struct trial *trial, double passed_s, uint64_t events, bool counts,
                           bool ready, bool *window_ended)
{
    *window_ended = false;
    if (trial->takes_back)
        return TRIAL_TAKE_BACK;
    if (!counts)
        return TRIAL_WAITS;
    if (trial->settles_s > 0) {
        trial->settles_s -= passed_s;
        return TRIAL_WAITS;
    }
    trial->window_s += passed_s;
    trial->events += events;
    trial->wait_s -= passed_s;
    if (trial->window_s < WINDOW_S)
        return TRIAL_WAITS;
    const double rate = (double)trial->events / trial->window_s;
    if (trial->tries) {
        if (trial->window_s < TRIAL_S && rate >= HOPELESS * trial->rate)
            return TRIAL_WAITS;
        const enum trial_says says = end_trial(trial, rate);
        *window_ended = true;
        begin_window(trial);
        return says;
    }
    if (!ready)
        return TRIAL_WAITS;
    trial->rate = trial->rate > 0 ? (trial->rate + rate) / 2 : rate;
    *window_ended = true;
    begin_window(trial);
    return trial->wait_s <= 0 ? TRIAL_MAY_MOVE : TRIAL_WAITS;
}

void trial_moved(struct trial *trial)
{
    trial->tries = !trial->takes_back;
    trial->takes_back = false;
    trial->settles_s = SETTLE_S;
    begin_window(trial);
}
