/*
 * replay_parts.h: what the parts of replay (replay.h) share: operations whose SIPs are recorded or
 * replayed, the moments at which they begin, and the episodes that were recorded.
 *
 *   replay.c         follows operations, and decides what is recorded, replayed and undone
 *   replay_moment.c  the moment at which an operation begins on a SIP, as words that are compared
 *   replay_record.c  an episode: what has changed between its begin and its end
 *   replay_place.c   puts an episode in place, and takes it back
 *
 * Private to these four.
 */
#ifndef LP_REPLAY_PARTS_H
#define LP_REPLAY_PARTS_H

#include <stdlib.h>

#include "lp/host/idle_state.h"
#include "lp/host/replay.h"
#include "lp/places.h"

/* ---- episodes -------------------------------------------------------------------------------- */

enum change_kind {
    CHANGE_VALUE,  /* has this value */
    CHANGE_TIME,   /* this long after the begin */
    CHANGE_COUNT,  /* so much more */
    CHANGE_RING,   /* so many places on in a channel's ring */
    CHANGE_BATCH,  /* the operation's batch */
    CHANGE_BEFORE, /* the batch that is at `link` in the state; applied before that one changes */
    CHANGE_NUMBER, /* so much more than the number at `link`; applied after that one has changed */
    CHANGE_LINK,   /* struct link_change */
    CHANGE_IDLE    /* as much more as the idle time is greater than at the episode's begin */
};

/* Of one member of a state. "The begin" is that of the SIP. */
struct change {
    uint32_t sip;    /* its number in the episode */
    uint32_t lp;     /* in the SIP: a cube, or the IO die */
    uint32_t offset; /* in the state */
    uint8_t kind, bytes;
    uint32_t link; /* CHANGE_LINK: in links; CHANGE_IDLE: in idle; else an offset */
    int64_t value;
};

struct link_change {
    int64_t free_ps; /* after the begin */
    uint64_t bytes;
    uint32_t queue_ps_max;
    bool counted; /* bytes of the operation's batch */
};

/*
 * Idle time (coarse.h) of a part of the SIPs that was used: what it had at the begin, and how what
 * it has at the end follows from that. "Idle" is until the begin: lp_age.ps + lp_age.apart; "busy"
 * is the rest of the time since 0.
 *
 * Each use cuts idle time to a bound, and takes from it what it would wait for otherwise, as far as
 * there is any. (PE_DMA takes whole tiles of its idle time and never cuts it, so what is left there
 * always differs as the idle times do.) Nothing else in a machine depends on it. Let two episodes
 * differ in idle times alone, and take the same of each at each use (episode.taken). Then so does
 * one whose idle times lie between theirs. What is left at the end is the lesser of idle + a and b.
 * So it is the same (CHANGE_VALUE) or differs as the idle times do (CHANGE_IDLE) between them, if
 * it does at both.
 *   the same   Both idle times have been cut to b. On the way each use of the longer one took all
 *              that it asked for, or as much as an earlier cut had left. A still longer one is cut
 *              to the same bounds, and gives the same
 *   differs    Of an idle time that no episode can use up, not all is taken, and no tile has cut
 *              it, or no more would be left. Control messages cut it at the time at which they
 *              began, so that the part was busy at least since then. A part that was busy for
 *              longer at one of the two begins, and so at its end, was not cut there, and is not
 *              after more busy time
 */
struct used_idle {
    uint32_t sip, index;     /* in moment.state.age */
    uint32_t change;         /* of the episode: CHANGE_VALUE or CHANGE_IDLE */
    bool is_known, is_uncut; /* from two episodes: of other idle times; of other busy times */
    bool is_early;           /* the machine has not been there for much longer than the episode */
    struct lp_age at;
    int64_t least_ps, most_ps; /* idle times of such episodes, */
    int64_t least_busy_ps;     /* and busy time */
};

/* An event that is pending at the end. */
struct later {
    struct cw_event event; /* time: after the begin of the SIP that receives it */
    uint32_t receiver;     /* that SIP, by its number in the episode */
    uint32_t pe;           /* whose counter its number is of */
    int32_t earlier;       /* pending at the begin, too: its place there; -1: not */
    uint32_t launch;       /* 1 + place in the SIP's launches; 0: none */
    uint64_t number;       /* more than the counter at the begin */
    uint32_t more;         /* CREDIT: more than the queue's head at the begin; ENGINE: than the
                              engine's generation */
};

/* A kernel's mark. */
struct episode_mark {
    uint32_t sip;
    struct lp_kernel_record record; /* t_ps: since the begin; launch: place in the SIP's launches */
};

struct episode {
    uint64_t digest;
    uint64_t *word; /* of the begin */
    size_t words;
    int64_t duration_ps; /* from the first begin */
    uint64_t taken;      /* digest of all that was taken from idle times */
    struct change *changes;
    size_t change_count, change_capacity;
    struct link_change *links;
    size_t link_count, link_capacity;
    struct used_idle *idle;
    size_t idle_count, idle_capacity;
    struct later *later;
    size_t later_count;
    struct episode_mark *marks;
    size_t mark_count;
    uint32_t *kernels;    /* [SIPs] that have not been served */
    uint64_t *numbers;    /* [SIPs] of sequencers: so much more */
    struct episode *next; /* of the same digest */
};

/* ---- operations ------------------------------------------------------------------------------ */

/* The events that are pending somewhere, in their order. */
struct events {
    struct cw_event *at; /* [count] */
    size_t count, capacity;
};

/* A SIP right after the operation has begun on it. */
struct moment {
    int64_t now_ps;
    struct lp_idle_state state; /* the words: states, and events */
    struct events events;
    uint32_t *launches; /* [launch_count] the numbers of launches, in order of first appearance */
    size_t launch_count, launch_capacity;
    int64_t sigma_min_ps;
    uint32_t kernels; /* of the operation, that have not ended; */
    uint64_t number;  /* and the number of the sequencer's next message */
    bool out_of_memory;
};

/* A SIP of an operation. */
struct cell_sip {
    uint32_t sip, op;
    struct moment begin;
    uint8_t **states; /* [LPs of a SIP] at the begin; in a replay, those that it has replaced. NULL:
                         they are the present ones */
    uint32_t left;    /* completions that have not come to io_cpu */
    uint32_t heard;   /* marks of kernels before the operation had begun on all SIPs */
    uint32_t kernels; /* of a replay: what it has replaced of moment.kernels */
    uint64_t number;  /* and of moment.number */
};

enum cell_stage {
    CELL_BEGINS,   /* on some of its SIPs it has not begun */
    CELL_RECORDS,  /* it is simulated, and becomes an episode if it ends as one */
    CELL_REPLAYED, /* an episode's end is in place */
};

/* An operation whose SIPs are watched. */
struct cell {
    uint32_t batch;
    struct cell_sip *sip; /* [sips] */
    uint32_t sips;
    enum cell_stage stage;
    bool is_broken; /* not an episode, or of a replay: something has come from outside */
    bool has_ended; /* of a recording */
    struct episode *episode;
    struct episode_mark *marks; /* until it is replayed */
    size_t mark_count, mark_capacity;
    uint64_t taken;           /* episode.taken, so far */
    int64_t first_ps, end_ps; /* the first begin; of a replay: its end */
    uint8_t *old;             /* of a replay: what changes have replaced */
    struct events replaced;   /* and which events */
    struct events put;        /* by these */
    struct cell *next;
};

struct batch_of {
    uint32_t first, size; /* in places */
    uint32_t come;        /* SIPs on which the operation has begun */
    struct cell *cell;    /* CELL_BEGINS */
};
struct place {
    uint32_t sip, op;
};

/* Where a SIP is. */
struct sip_in_cell {
    struct cell *cell; /* NULL: in none */
    uint32_t number;   /* in cell->sip */
};

struct lp_replay {
    struct lp_model *m;
    const struct lp_control *control;
    void (*mark)(void *arg, const struct lp_kernel_record *record);
    void *mark_arg;
    struct cw_sim *sim;
    struct lp_replay_watch watch;
    struct batch_of *batches; /* [batch - first_batch] */
    uint32_t batch_count;
    struct place *places;
    struct sip_in_cell *of_sip; /* [lp_sip_index()] */
    struct cell *cells;
    struct place *due; /* operations that have begun in the last event */
    size_t due_count, due_capacity;
    bool turn_is_due;
    int64_t now_ps; /* of the event that asked for the turn */
    void *episodes; /* JudyL: digest -> struct episode, the first of a list */
    struct lp_replay_counts counts;
    uint64_t recorded; /* operations that have begun to be */
    bool out_of_memory;
};

/* Room for one more of `count` in an array. NULL: out of memory. */
static inline void *replay_grown(void *at, size_t count, size_t *capacity, size_t each)
{
    if (count < *capacity)
        return at;
    const size_t more = *capacity > 0 ? 2 * *capacity : 64;
    void *const larger = realloc(at, more * each);
    if (larger != NULL)
        *capacity = more;
    return larger;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* LPs of a SIP: its cubes, then its IO die. */
static inline uint32_t replay_parts(const struct lp_model *m) { return m->cubes + 1; }

static inline uint32_t replay_lp(const struct lp_model *m, uint32_t sip, uint32_t part)
{
    return part < m->cubes ? lp_of_cube(m, sip, part) : lp_of_io_die(m, sip);
}

static inline size_t replay_state_bytes(const struct lp_model *m, uint32_t part)
{
    return part < m->cubes ? lp_state_bytes_of(m, LP_OF_CUBE) : lp_state_bytes_of(m, LP_OF_IO_DIE);
}

/* The SIP that has the LP, by lp_sip_index(); UINT32_MAX: none. */
static inline uint32_t replay_index_of_lp(const struct lp_model *m, uint32_t lp)
{
    if (lp == 0 || lp >= m->lps.first_switch)
        return UINT32_MAX;
    return lp < m->lps.first_io_die ? (lp - 1) / m->cubes : lp - m->lps.first_io_die;
}

static inline struct sip_in_cell *replay_in_cell(const struct lp_replay *replay, uint32_t sip)
{
    return &replay->of_sip[lp_sip_index(replay->m, sip)];
}

/* Of the cell; UINT32_MAX: the LP is not in it. */
static inline uint32_t replay_number_of_lp(const struct lp_replay *replay, const struct cell *cell,
                                           uint32_t lp)
{
    const uint32_t index = replay_index_of_lp(replay->m, lp);
    return index != UINT32_MAX && replay->of_sip[index].cell == cell ? replay->of_sip[index].number
                                                                     : UINT32_MAX;
}

/* ---- replay_moment.c ------------------------------------------------------------------------- */

/* The events that are pending at SIPs of the cell, or at `sip` alone where it is not NULL.
 * `takes`: they leave the machine. */
int replay_gather(const struct lp_replay *replay, const struct cell *cell,
                  const struct cell_sip *sip, bool takes, struct events *events,
                  struct cw_error *error);
/* Takes the moment at a begin. *suits: an episode may begin with it; false counts as `busy`. */
int replay_take_moment(struct lp_replay *replay, const struct cell *cell, struct cell_sip *sip,
                       bool *suits, struct cw_error *error);
/* Whether all PEs of the SIP are idle. */
bool replay_is_idle(struct lp_replay *replay, const struct cell_sip *sip, int64_t now_ps);
uint32_t replay_place_of_launch(struct moment *moment, uint32_t launch);
void replay_free_moment(struct moment *moment);

/* The PE of the machine that has sent the event. UINT32_MAX: none, the host or an io_cpu has. */
uint32_t replay_sender(const struct lp_model *m, const struct cw_event *event);
/* The PE that a CREDIT or an ENGINE event is for; in this state of its cube, or the present one. */
const struct lp_pe *replay_pe_of_signal(const struct lp_replay *replay,
                                        const struct cw_event *event, const uint8_t *cube);
const struct lp_pe *replay_pe(const struct lp_replay *replay, uint32_t pe);

static inline const struct lp_transfer *replay_transfer(const struct cw_event *event)
{
    return (const struct lp_transfer *)(const void *)event->payload;
}
static inline const struct lp_signal *replay_signal(const struct cw_event *event)
{
    return (const struct lp_signal *)(const void *)event->payload;
}
static inline bool replay_is_control(const struct cw_event *event)
{
    return event->type == LP_EVENT_TRANSFER || event->type == LP_EVENT_CPU_ARRIVAL ||
           event->type == LP_EVENT_CPU_DONE || event->type == LP_EVENT_PE_CPU;
}

/* ---- replay_record.c ------------------------------------------------------------------------- */

/* Keeps the present states of a SIP. False: out of memory. */
bool replay_keep_states(const struct lp_replay *replay, struct cell_sip *sip);
void replay_free_states(const struct lp_model *m, struct cell_sip *sip);
/* An episode that begins as the cell does. NULL: out of memory. */
struct episode *replay_begin_episode(const struct cell *cell, uint64_t digest, uint64_t *word,
                                     size_t words);
/* Fills it, now that it has ended. *is_episode: it is one. Returns CW_OK, or an exit code with
 * *error filled. */
int replay_end_episode(struct lp_replay *replay, struct cell *cell, bool *is_episode,
                       struct cw_error *error);
/* Whether the other one is this one but for idle times; then it learns what follows from them. */
bool replay_join_episodes(struct episode *e, const struct episode *other);
void replay_free_episode(struct episode *episode);

/* ---- replay_place.c -------------------------------------------------------------------------- */

int replay_put_in_place(struct lp_replay *replay, struct cell *cell, struct cw_error *error);
/* What has come from outside stays. */
int replay_undo(struct lp_replay *replay, struct cell *cell, struct cw_error *error);

#endif
