/*
 * harsh_model.h: random models at the edges of the rules for models, their runs, and the same
 * outcome of any two runs (random_model.h has the comparison). Beyond random_model.h:
 *   - least delays that differ by direction, 0 and "never" among them, between regions of LPs;
 *   - workers without LPs, several drains, an end time, times near the end of time;
 *   - numbers that differ above 2^32 only, entities near 2^32, bursts of one sender at one time;
 *   - parts of states from 1 byte to 64 KiB, many sends and records at once, low limits for both;
 *   - handlers that fail in each state that no sequential run shows, after they have sent nonsense;
 *   - limits of memory, and memory that seems short to the engine again and again.
 *
 * Everything follows from seeds. A model is written by its sequential run only (harsh_model_learn).
 */
#ifndef TEST_HARSH_MODEL_H
#define TEST_HARSH_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cw.h"
#include "test/support/random_model.h"

enum { HARSH_LPS_MAX = 48, HARSH_REGIONS = 8, HARSH_WORKERS_MAX = 8 };

/* How an entity's events are numbered. */
enum harsh_numbers { HARSH_COUNT, HARSH_COUNT_ABOVE_32_BITS, HARSH_ANY_48_BITS, HARSH_NUMBERS };

struct harsh_model {
    uint32_t lps;
    uint32_t region[HARSH_LPS_MAX];
    int64_t least_ps[HARSH_REGIONS][HARSH_REGIONS]; /* [from][to]; CW_TIME_MAX: never */
    int64_t grid_ps;                                /* times are multiples of it: bursts */
    uint32_t spread_ps;                             /* delays are below this, and the least one */
    uint32_t near_p; /* of 100: a send goes to an LP of the same region */
    uint32_t zero_p; /* of 100: a send within a region has no delay */
    uint32_t ttl;    /* how many events follow each other */
    uint32_t fan_p;  /* of 100: an event sends `fan` more */
    uint32_t fan;
    uint32_t records_p; /* of 100: an event emits 20 records more */
    enum harsh_numbers numbers;
    bool high_entities, twins, rivals, large_states;
    bool alike;      /* sends have the same payload, whatever the state */
    bool suspicious; /* a handler fails in a state that no sequential run shows */
    bool nonsense;   /* ... and sends nonsense before */
    bool faults;     /* ... and may divide by zero instead */
    int64_t base_ps, end_ps, window_ps, fail_ps; /* CW_TIME_MAX: no event fails by itself */
    uint32_t sends_max;                          /* 0: the engine's default */
    uint32_t drains;
    struct harsh_seen *seen; /* the states that the sequential run shows; NULL: not learnt */
};

/* A model with at most so many LPs and events in a chain. To be freed by harsh_model_free(). */
struct harsh_model harsh_model_draw(uint64_t seed, uint32_t lps_max, uint32_t ttl_max);
void harsh_model_free(struct harsh_model *model);

/* The sequential run, which also tells the model's handlers the states that they may see. */
struct random_outcome harsh_model_learn(struct harsh_model *model, uint64_t seed);

struct random_outcome harsh_model_run(const struct harsh_model *model,
                                      const struct random_run *run);

/* Whether the mode can run the model so: the conservative one wants least delays. */
bool harsh_model_runs(const struct harsh_model *model, const struct random_run *run);

/* Whether a run ended for lack of memory, and says so in the engine's words. */
bool harsh_ran_out_of_memory(const struct random_outcome *outcome);

#endif
