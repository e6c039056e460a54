/*
 * random_model.h: random models for the engine, their runs, and the outcome that two runs share:
 * the trace hash, the records in their order, the failure. Delays of 0, bursts at equal times,
 * fan-out, payloads of all sizes, equal events, several drains.
 *
 * Everything follows from seeds. No mutable state: runs on different threads do not meet.
 */
#ifndef TEST_RANDOM_MODEL_H
#define TEST_RANDOM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cw.h"

enum { RANDOM_LPS_MAX = 64, RANDOM_WORKERS_MAX = 8, RANDOM_RECORDS_MAX = 4096 };

struct random_model {
    uint32_t lps;
    int64_t lookahead_ps; /* of sends to another LP */
    uint32_t zero_p;      /* of 100: a send to itself has no delay */
    uint32_t spread_ps;   /* other delays are below this */
    int64_t grid_ps;      /* times are multiples: bursts */
    int64_t fail_ps;      /* an event from here on fails; CW_TIME_MAX: none */
    uint32_t ttl;         /* how many events follow each other */
    uint32_t near;        /* so many LPs in a row are in one worker: no lookahead among them */
    bool twins;           /* some events are equal in all but their LP */
    bool listens;         /* LP 0 only listens */
    bool rivals;          /* some to one LP, by different ones, in all but type and payload */
    struct random_records *at_once; /* where handlers of final events note their records; or NULL */
};

/* The records of a run by LP: as the receiver of all records gets them, as the receiver of each
 * worker's, and as they are where handlers of final events (cw_is_final()) note theirs at once, and
 * that receiver notes the others. A digest covers all records of the LP so far. */
struct random_records {
    struct random_part {
        uint32_t count;
        uint64_t digest;
    } in_order[RANDOM_LPS_MAX], on_workers[RANDOM_LPS_MAX], at_once[RANDOM_LPS_MAX];
    uint32_t ahead[RANDOM_LPS_MAX]; /* noted at once, and not yet received */
    uint64_t digest_after[RANDOM_LPS_MAX][RANDOM_RECORDS_MAX]; /* each of on_workers */
    uint32_t owner[RANDOM_LPS_MAX];
    bool moves;                     /* LPs change their owners */
    bool gathers;                   /* one worker may handle all events */
    bool misplaced[RANDOM_LPS_MAX]; /* a record came on another worker than the LP's owner */
};

/* A run of a model that is drawn: here, in harsh_model.h or in tied_model.h. */
struct random_run {
    enum cw_sync sync;
    uint32_t workers;
    uint32_t threads; /* 0: as the seed says */
    uint64_t seed;    /* of the partition, and of the stress mode */
    int64_t window_ps;
    uint64_t stress_rate_p32; /* 0: a quarter */
    enum cw_balance balance;
    enum cw_gather gather;
    bool lazy; /* cancellation */
    bool check_changes;
    uint64_t memory_bytes_max; /* 0: the engine's default */
    uint64_t events_max;       /* 0: no limit */
    /* of random_model_run() alone */
    int64_t step_ps; /* a drain is made of drains this long, or longer where nothing happens; 0: it
                        is one */
    bool restores;   /* each drain has a simulation of its own, restored from the one before */
    struct random_records *records; /* zeroed by the caller; NULL: not wanted */
    /* of harsh_model_run() alone */
    bool pressed; /* the limit seems near, or not, at random: for the explorer's one thread */
};

/* The settings of the engine that follow from the run alone. */
struct cw_config random_config(const struct random_run *run);

struct random_outcome {
    int exit_code;
    uint64_t trace_hash, records, committed, rolled_back, injected, moved, held_back, reused, moves,
        gathered;
    int64_t now_ps;
    char text[1020]; /* of the failure */
};

struct random_model random_model_draw(uint64_t seed, uint32_t lps_max, uint32_t ttl);

/* Whether the mode can run the model: the conservative one wants a lookahead. */
bool random_model_runs(const struct random_model *model, enum cw_sync sync, uint32_t workers);

struct random_outcome random_model_run(const struct random_model *model,
                                       const struct random_run *run);

/* Fills in the counts of the simulation, its hash and its time. */
void random_outcome_note(const struct cw_sim *sim, struct random_outcome *outcome);

/* True if a run's outcome differs from the sequential one's; then `text` tells both. */
bool random_outcome_differs(const struct random_outcome *got, const struct random_outcome *expected,
                            char *text, size_t bytes);

/* Whether runs in each mode that the model suits, on 1 to 4 workers, do as the sequential one. The
 * seed decides on balance, gathering and cancellation, too. False: `text` says which run differs.
 */
bool random_modes_agree(const struct random_model *model, uint64_t seed, bool restores, char *text,
                        size_t bytes);

/* Whether each LP's owner has had the LP's part of the total order, at once or not. A run that
 * failed may have told the owners of later records, too. False: `text` says which LP differs. */
bool random_records_agree(const struct random_records *records, bool failed, char *text,
                          size_t bytes);

/* A number from the environment. */
uint64_t random_from_environment(const char *name, uint64_t otherwise);

/* Whether run number `index` of the `runs` that a test makes of one model is to be made. With
 * RANDOM_RUNS=3 in the environment three of them are, evenly spaced from an offset that the seed
 * draws: many models are worth more than many runs of each. Without it all are. */
bool random_run_is_drawn(uint64_t seed, uint32_t index, uint32_t runs);

#endif
