/*
 * model_data.h: the data of one play of the engine's model (engine_model.h): workers, rounds, and
 * where each event stands. The other files of this folder are its parts: bounds, events, pace.
 *
 * A promise keeps its last few values, because a worker whose turn begins earlier than another's
 * turn ends still sees the value before. Each worker has its events in one list, in the total
 * order. Events before `next` are handled. An event is in the list before it has been sent:
 * the bounds make sure that an event is safe only after its cause has been handled and published,
 * as I-SAFE-1 and I-SAFE-2 do in the engine. A speculative event is tried only if its cause has
 * been handled.
 *
 * One thread.
 */
#ifndef PERF_MODEL_DATA_H
#define PERF_MODEL_DATA_H

#include "core/timewarp/throttle.h"
#include "perf/model/model_figures.h"

enum {
    INJECTED = -1,
    NO_EFFECT = -1,
    PROMISES_KEPT = 8,     /* the last ones of a worker */
    ROUNDS_KEPT = 4,       /* a worker is at most one round ahead of another */
    BATCH_AHEAD_STEP = 16, /* speculative events between two looks at promises that may rise */
};

enum model_stage { AT_REST, AFTER_FIRST_CUT, AFTER_SECOND_CUT };
enum event_state { NOT_HANDLED, AHEAD, FINAL };

struct promised {
    double since_s;
    int64_t time_ps;
};

struct model_worker {
    double clock_s, busy_s;
    size_t next, end; /* places in the list */
    int64_t safe_ps, gvt_ps;
    struct promised promises[PROMISES_KEPT];
    unsigned promise;                   /* the place of the latest */
    struct throttle throttle;           /* the engine's own: batch, patience, window */
    unsigned looks;                     /* turns in a row that found nothing */
    bool in_short;                      /* its next turn is a short one (engine_model.c): */
    unsigned short_events, short_empty; /* so far in a row */
    size_t live;                        /* events handled ahead */
    uint64_t pending;                   /* events that have been sent and not handled */
    uint64_t turns, rest_until;
    uint64_t handled, handled_then, safe;
    uint64_t round;
    enum model_stage stage;
    bool promises_release; /* no other worker's least delay to it is 0 */
    bool over;
};

struct model_round {
    double begun_s, first_s, second_s; /* the first to begin; the last to make each cut */
    uint32_t first, second;            /* workers that have made it */
};

struct model {
    const struct perf_engine_run *run;
    const struct perf_trace *trace;
    struct perf_engine_figures *sum;
    uint32_t n;
    struct model_worker *workers;
    uint32_t *heap; /* [heap_count] workers, the earliest first */
    uint32_t heap_count;
    uint32_t *list;      /* [event] indices of events, worker by worker */
    uint16_t *sends;     /* [event] messages that it sends */
    uint16_t *spawns;    /* [event] events that it sends to its own worker */
    uint8_t *state;      /* [event] enum event_state */
    double *known_s;     /* [event] when other workers can know of its effects */
    uint32_t *lp_ahead;  /* [lp] one more than the last place handled ahead; 0: none */
    uint32_t *effect;    /* [event] the last effect on another worker; NO_EFFECT: none */
    uint32_t *sibling;   /* [event] the effect of the same cause before this one */
    double *mail_s;      /* [from * n + to] when unread messages were published; 0: none are */
    uint32_t *near;      /* [from * n + to] the promise last seen by `to` */
    int64_t *paths_ps;   /* [from * n + to] least delay of any path */
    int64_t *reports_ps; /* [round % ROUNDS_KEPT][worker] */
    uint32_t *sent;      /* [sent_count] events of this turn that sent messages */
    uint32_t sent_count;
    double line_max_s;
    struct model_round rounds[ROUNDS_KEPT];
};

/* For the run, trace and number of workers that *model has. False: out of memory.
 * model_data_free() in any case. */
bool model_data_create(struct model *model);
void model_data_free(struct model *model);

static inline double model_line_s(const struct model *model, uint32_t a, uint32_t b)
{
    return perf_socket_line_s(model->run->layout, a, b);
}

static inline uint32_t model_worker_of(const struct model *model, uint32_t event)
{
    return model->run->lp_worker[model->trace->lp[event]];
}

/* The event is for the LP that only listens: no worker has it before the drain is over. */
static inline bool model_is_listened(const struct model *model, uint32_t event)
{
    return model->n > 1 && model->trace->lp[event] + 1 == model->run->listener;
}

static inline bool model_is_injected(const struct model *model, uint32_t event)
{
    return model->trace->cause[event] == (uint32_t)INJECTED;
}

/* The time of the least event that a worker has not handled for good. */
static inline int64_t model_next_ps(const struct model *model, const struct model_worker *worker)
{
    return worker->next < worker->end ? model->trace->time_ps[model->list[worker->next]]
                                      : CW_TIME_MAX;
}

#endif
