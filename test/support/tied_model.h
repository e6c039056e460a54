/*
 * tied_model.h: models whose events tie on purpose. In each burst all LPs get events of one key,
 * from many senders: LP, type or payload alone tells them apart. In the last burst some of them
 * fail. So several workers have events of the failed event's key: before it and after it in the
 * total order, handled, undone, on their way.
 *
 * The outcome that a run must have follows from two sequential runs, one of them without failures:
 *   1. it fails at the same event, with the same message;
 *   2. the receiver of all records gets the same records, those before the failed event;
 *   3. each worker's receiver gets of each LP these, and maybe some that the LP emits later in the
 *      run without failures, in that order and without a gap. A record holds how many events of its
 *      burst the LP had handled, so one of an event that was handled too early is wrong.
 *
 * Everything follows from seeds. No mutable state: runs on different threads do not meet.
 */
#ifndef TEST_TIED_MODEL_H
#define TEST_TIED_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cw.h"
#include "test/support/random_model.h"

enum {
    TIED_LPS_MAX = 16,
    TIED_WORKERS_MAX = 8,
    TIED_BURSTS_MAX = 3,
    TIED_EVENTS_MAX = 48 * TIED_BURSTS_MAX,
    TIED_DEPTHS = 2,
    TIED_RECORDS_MAX = TIED_DEPTHS * TIED_EVENTS_MAX
};

/* One event of a burst, and the event that sends it. */
struct tied_event {
    uint32_t from, to; /* LPs */
    int64_t sent_ps;
    uint32_t burst;
    uint16_t type, rank; /* the rank is its payload; twins share it */
    bool goes_on;        /* sends its LP the like without delay: a tie one level deeper */
    bool fails[TIED_DEPTHS];
};

/* Records in their order: rank, depth, and how many events of the burst came before at the LP. */
struct tied_records {
    uint32_t count;
    uint64_t value[TIED_RECORDS_MAX + 1]; /* one more to print, where there are too many */
};

struct tied_model {
    uint32_t lps, event_count;
    int64_t lookahead_ps;
    bool fails; /* else no event does */
    struct tied_event events[TIED_EVENTS_MAX];
    /* of sequential runs */
    struct tied_records whole[TIED_LPS_MAX]; /* without failures */
    struct tied_records told;                /* of all LPs, before the failure */
    struct cw_error failure;
};

/* Draws a model and learns the outcome of its runs. Every other model has no lookahead. */
void tied_model_draw(struct tied_model *model, uint64_t seed);

/* A run that the model allows: modes, workers, moves, gathering, ways of cancellation. */
struct random_run tied_run_draw(const struct tied_model *model, uint64_t seed);

/* Runs it. False: `text` says how it differs from the sequential runs. */
bool tied_model_holds(const struct tied_model *model, const struct random_run *run, char *text,
                      size_t bytes);

#endif
