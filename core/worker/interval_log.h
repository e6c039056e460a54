/*
 * interval_log.h: how a worker spent its time, as a list of intervals that the host may read after
 * a drain (cw_sim_intervals() in cw.h).
 *
 * First-level intervals follow each other: work (turns in a row that had something to do), sampled
 * turns, and waits. Nested intervals lie inside them: the parts of a sampled turn, and single
 * operations that take long. GVT rounds stop no worker, so they are listed separately.
 *
 * Its cost is bounded. Turns are sampled by the activity clock. The counter is also read where a
 * wait begins and ends, on each poll while a worker waits, and twice for a rollback. A wait or a
 * nested interval has its own record only if it takes at least a grain, the time of GRAIN_READS
 * readings of the counter. A shorter wait counts as part of the work around it.
 *
 * Its memory is bounded. When it is full, the grain doubles, every other sampled turn is dropped,
 * and an interval shorter than a grain joins the one before it. So the log always covers the whole
 * run, each time in half the detail.
 *
 * I-LOG-1: a first-level interval begins no earlier than the previous one ends. A nested interval
 * neither begins before the one around it nor ends after it.
 *
 * Times are ticks (clock_ticks()); the caller reads them. No decision of a run depends on them.
 * Each worker has a log, which only it uses during a drain.
 */
#ifndef CORE_INTERVAL_LOG_H
#define CORE_INTERVAL_LOG_H

#include "core/cw.h"
#include "core/os/clock.h"
#include "core/os/memory.h"

enum { INTERVALS_MIN = 256, GRAIN_READS = 64 };

/* Events of a worker so far. */
struct interval_counts {
    uint64_t committed, undone; /* events */
};

struct interval_record {
    uint64_t begin, end;
    uint64_t value[2]; /* first level: events committed, undone. ROUND: window, bytes of memory.
                          Inside others: a count */
    uint64_t waited;   /* of it, in waits shorter than a grain */
    uint32_t number;   /* TURN, PART, ROUND: the number of the turn or round */
    uint16_t other;    /* as in struct cw_interval */
    uint8_t kind;      /* enum cw_interval_kind */
    uint8_t activity;  /* PART: enum cw_activity */
};
_Static_assert(sizeof(struct interval_record) == 48, "memory of a log");

struct interval_log {
    struct interval_record *records; /* [capacity] */
    size_t count, capacity;
    struct memory *memory;
    uint64_t grain;
    unsigned halvings;
    bool open;       /* a drain is in progress, and this worker runs */
    bool waiting;    /* the last turn found nothing to do */
    bool in_turn;    /* in a sampled turn, which is recorded separately */
    uint16_t other;  /* the worker that it waits for */
    uint64_t latest; /* moment recorded */
    /* of the current interval of the first level: */
    uint64_t since, waited;        /* its beginning; short waits in it */
    struct interval_counts counts; /* at its beginning */
    /* of the current wait: its beginning; its last poll; the counts at its beginning */
    uint64_t wait_begun, looked;
    struct interval_counts counts_at_wait;
    /* of the current sampled turn: its beginning; the first record since then; the counts then */
    uint64_t turn_begun;
    size_t turn_first;
    struct interval_counts counts_at_turn;
    uint32_t turns, rounds;             /* so far */
    uint64_t round_end;                 /* of the last one */
    uint32_t data_left;                 /* operations on data that are not to be timed */
    uint64_t data_samples;              /* that were timed */
    uint64_t undo_begun, undone_before; /* of the current rollback */
};

/* For this many bytes of records, at least INTERVALS_MIN. `read_cost`: of the counter, in ticks.
 * NULL: out of memory. */
struct interval_log *interval_log_create(struct memory *memory, size_t bytes, uint64_t read_cost);
void interval_log_free(struct interval_log *log); /* accepts NULL */

/* A drain begins, before the worker runs; the worker or the drain has ended. */
void interval_log_open(struct interval_log *log, uint64_t now, struct interval_counts counts);
void interval_log_close(struct interval_log *log, uint64_t now, struct interval_counts counts);

/* A turn has found nothing to do. `other`: the worker that limits the safe bound. */
void interval_log_wait(struct interval_log *log, uint64_t now, uint32_t other,
                       struct interval_counts counts);
/* The next turn after that is about to look for events. */
static inline void interval_log_look(struct interval_log *log, uint64_t now) { log->looked = now; }
/* It has found some: the wait ended when it looked. */
void interval_log_work(struct interval_log *log);

/* The worker was parked from `begin` to `end`. */
void interval_log_parked(struct interval_log *log, uint64_t begin, uint64_t end,
                         struct interval_counts counts);

/* Between drains: the host has worked for this worker. */
void interval_log_host(struct interval_log *log, uint64_t begin, uint64_t end);

/* A sampled turn begins, and ends. */
void interval_log_turn(struct interval_log *log, uint64_t now, struct interval_counts counts);
void interval_log_turn_end(struct interval_log *log, uint64_t now, struct interval_counts counts);
/* A part of a sampled turn. One that continues the part before it is joined with it. */
void interval_log_part(struct interval_log *log, uint64_t begin, uint64_t end, unsigned activity);
/* A failure has cut the turn short. */
void interval_log_turn_cut(struct interval_log *log);

/* A round of GVT has ended. `memory_bytes` 0: this worker does not report it. */
void interval_log_round(struct interval_log *log, uint64_t begin, uint64_t end, uint64_t window,
                        uint64_t memory_bytes);
/* Another operation of this worker, within one turn: recorded separately if it took at least a
 * grain. `count`: of events, LPs or records. */
void interval_log_long(struct interval_log *log, enum cw_interval_kind kind, uint64_t begin,
                       uint64_t end, uint32_t other, uint64_t count);
/* Whether the next operation on the host's data is to be timed; and its time. A long one is
 * recorded separately; so is, in a sampled turn, any that takes a grain. */
bool interval_log_wants_data(struct interval_log *log);
void interval_log_data(struct interval_log *log, uint64_t begin, uint64_t end);
/* A rollback begins, and ends. `undone`: the events that were undone so far. */
void interval_log_rollback(struct interval_log *log, uint64_t now, uint64_t undone);
void interval_log_rollback_end(struct interval_log *log, uint64_t now, uint64_t undone);

#endif
