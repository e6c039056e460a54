/*
 * cost_walk.h: the state of an estimate (cost.h), and how threads are carried out, tile by
 * tile, in the order of time. Threads meet in queues of this many slots, and where they share an
 * engine of PE_DMA, the HBM of the home, or a link between SIPs. Times are picoseconds from the
 * launch on. One thread of the host; no state of its own.
 */
#ifndef COLLECTIVES_COST_WALK_H
#define COLLECTIVES_COST_WALK_H

#include <Judy.h>

#include "collectives/choice/cost_times.h"
#include "collectives/choice/cost_turns.h"
#include "collectives/schedule/schedule.h"

enum { COST_MOVES = 2, COST_AHEAD = 2, COST_NONE = UINT32_MAX };

/* A queue between two threads. */
struct cost_queue {
    struct cost_route route;
    int64_t off_ps, credit_off_ps; /* ... the mean of all, less the way of this one */
    uint32_t *busy; /* of like ranks: [crossing] messages that cross that outlet's busiest link */
    int64_t *arrives_ps;          /* [slots] of a message that is in the queue */
    int64_t *free_ps;             /* [slots] when the sender knows that the slot is free again */
    struct cost_message *message; /* [slots] on its way, where messages take links one by one */
    uint32_t source;              /* the thread that sends them */
    uint32_t sent, arrived, received; /* arrived: its time is known */
    uint32_t sender, receiver;        /* threads that wait; COST_NONE */
};

/* One way of a home's HBM. */
struct cost_memory {
    int64_t free_ps;
};

/* A tile of a chunk of a step. */
struct cost_cursor {
    uint32_t step, chunk, tile;
};

/* A thread on its way. */
struct cost_thread {
    const struct schedule_rank *rank;
    const struct schedule_thread *thread;
    uint32_t number, rank_number;
    uint32_t team;  /* the threads of a rank that are carried out together: cost.first, .written */
    uint32_t share; /* lanes, or schedules beside each other, that it stands for */
    uint32_t share_at[HW_PORTS]; /* of these, in the same row or column of cubes */
    int64_t spread_ps; /* from the launch of the first of these lanes to that of the last */
    struct hw_place own, home;
    uint32_t home_hops; /* between the two */
    int64_t now_ps;
    int64_t engine_ps;                  /* its PE_DMA is free */
    int64_t load_ps, store_ps;          /* latencies */
    int64_t moved_ps[COST_MOVES];       /* loads and stores in flight: when they end */
    uint32_t begun, ended;              /* of these; known to have ended */
    int64_t inward_since_ps, inward_ps; /* pe_noc's way to it is kept, for what it has asked for */
    uint32_t loads, used;               /* values whose load has begun; that have been used */
    uint32_t move_of_load[COST_AHEAD];
    struct cost_cursor ahead; /* whose value is to be loaded next */
    uint32_t piece;
    struct cost_cursor at; /* that is carried out */
    uint32_t link;         /* of the steps that are carried out as one (chain): the current one */
    enum { TILE_LOADS, TILE_TAKES, TILE_GIVES } third;          /* of the current tile */
    uint32_t *send_queue, *recv_queue;                          /* [step] */
    enum cost_early { EARLY_NO, EARLY_YES, EARLY_ASK } * early; /* [step] */
    uint8_t *chain;               /* [step]: this many, from this one on, are carried out as one */
    int64_t *step_ended_ps;       /* [step], in this piece */
    uint32_t waiter, next_waiter; /* a list of threads that wait for this one; COST_NONE: its end */
};

/* An estimate: a schedule on a machine, and how far it has come. */
struct cost {
    const struct schedule *s;
    const struct ccl_call *call;
    struct cost_times times;
    uint32_t slots, tile_bytes, piece_tiles, pieces;
    uint64_t block_elems, chunk_elems;
    uint32_t blocks, chunks; /* of the input */
    uint32_t share;          /* lanes of a part, or schedules beside each other, on each link */
    uint32_t groups;         /* of these lanes, carried out one by one; without lanes: 1 */
    uint32_t group;          /* whose threads are made */
    bool lanes, alike;
    bool by_link; /* messages take each link when they come to it, not all when they set out */
    bool mean;    /* of like ranks: messages take the mean of all ranks' times on their ways */
    bool mixed;   /* like ranks' messages take different times on their ways */
    struct cost_thread *thread; /* [threads] */
    uint32_t *first;            /* [team] */
    uint32_t threads;
    struct cost_queue *queue;
    uint32_t queues, queue_room;
    uint32_t queues_each;  /* of a group */
    Pvoid_t by_ends;       /* JudyL: (from, to, channel) -> queue + 1 */
    Pvoid_t by_receiver;   /* the same of like ranks' receives: `from` need not be carried out */
    int64_t *link_free_ps; /* [crossing] */
    uint32_t **written;    /* [team][place]: the last piece, + 1, in which it was written */
    struct cost_memory *read, *write; /* [rank, or thread in lanes] the home's HBM */
    struct cost_turns turns; /* of threads that can continue; after their numbers, of messages:
                                slot after slot, queue after queue */
    int64_t ended_ps;        /* the last thread */
    double events;           /* of the simulator, for what has been carried out */
    uint64_t all_pieces;
    int64_t limit_ps; /* longer times need not be known */
    bool too_long, failed;
};

/* Step number `step` of a thread's own. */
const struct schedule_step *cost_step_at(const struct cost_thread *t, uint32_t step);

/* Carries out all threads until they have come to the end of their pieces, until none can continue,
 * or until the whole will take longer than limit_ps (too_long). */
void cost_walk(struct cost *c);

#endif
