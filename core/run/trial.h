/*
 * trial.h: whether a move of parts was worth it, and when the next one may come. Each move is a
 * trial: the events committed per second after it are held against those before. A move that gains
 * too little is taken back, and for a while none is tried. That time doubles with each such move,
 * and is never less than TRIAL_SHARE times the time that the trial has lost.
 *
 * A rate is measured over windows of some 30 ms. Time that cannot count, because other threads were
 * stopped or because a move took place, is in no window.
 *
 * No clock and no thread: the caller gives the time. One owner.
 */
#ifndef CORE_BALANCE_TRIAL_H
#define CORE_BALANCE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

enum trial_says {
    TRIAL_WAITS,     /* nothing is to be done */
    TRIAL_MAY_MOVE,  /* a move may be planned; the work of the last windows says which */
    TRIAL_TAKE_BACK, /* the last move is to be taken back */
};

struct trial {
    bool tries;        /* a move is on trial */
    bool takes_back;   /* until trial_moved() */
    double rate;       /* events per second, before a move; the past counts less; 0: not known */
    double window_s;   /* of time that counts, in this window */
    uint64_t events;   /* committed in it */
    double settles_s;  /* left until time counts */
    double wait_s;     /* time that counts until a move may be tried */
    double back_off_s; /* the next such wait after a move that lost */
};

void trial_init(struct trial *trial);
/* `passed_s` have passed, in which this many events were committed. `counts`: nothing has disturbed
 * them. `ready`: the work of the parts is known well enough to end a window. Returns the step to
 * take; *window_ended: whether a window has ended. */
enum trial_says trial_look(struct trial *trial, double passed_s, uint64_t events, bool counts,
                           bool ready, bool *window_ended);
/* A move has been planned: a new one, or the one that takes the last one back. */
void trial_moved(struct trial *trial);

#endif
