/*
 * cw.h: the engine's public header: what a model and its host need, simple things first.
 *
 * A model is a number of logical processes (LPs). Each has a fixed-size, pointer-free state, and
 * one function, handle(), that is called for each event the LP receives, in the total order below.
 * A handler sees its state and the event const. It may do five things, all through its context:
 *   change a part of its state      CW_MUT()
 *   send an event to any LP         cw_send()
 *   draw random numbers             cw_rng_*() on a stream kept in its state
 *   emit a commit record            cw_emit(): the only way out
 *   fail the event                  cw_check(), cw_fail()
 * It does no I/O and touches no other memory, except to read const model data, which changes only
 * between drains. The same model runs unchanged under every synchronisation mode.
 *
 * Total order: events are handled in the order of
 *   (receive time, zero-delay depth, sending entity, number, receiving LP, type),
 * and events that are equal in all of that in the order of cw_model.tie or, without it, of their
 * payload bytes. An event that was injected, or sent with a positive delay, has depth 0. An event
 * that was sent with delay 0 has the depth of the event that sent it, plus 1. The model chooses
 * entity and number. They name the sender, wherever it is placed, so that the order does not depend
 * on the partition.
 *
 * cw_tuning.h has what makes a run on several threads faster and shows how it went; cw_inline.h
 * has the engine's own inline functions, and need not be read. This header includes both. They are
 * C17 and C++17, for GCC and Clang. Installed, this one is <cubewarp/cw.h>, and the library is
 * libcubewarp-engine; `pkg-config --cflags --libs cubewarp-engine` gives the options. A model
 * written from scratch is core/example/tandem.c; core/README.md explains it.
 */
#ifndef CW_H
#define CW_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CW_NORETURN __attribute__((noreturn))
/* The library's interface: its objects are built with all other symbols hidden. */
#define CW_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers, and of cubewarp as a whole. The shared library's name has MAJOR,
 * and until 1.0 MINOR, too: programs must be compiled again when it changes. */
#define CW_VERSION_MAJOR   0
#define CW_VERSION_MINOR   2
#define CW_VERSION_PATCH   0
#define CW_TEXT_OF(number) #number
#define CW_TEXT(number)    CW_TEXT_OF(number)
#define CW_VERSION_STRING                                                                          \
    CW_TEXT(CW_VERSION_MAJOR) "." CW_TEXT(CW_VERSION_MINOR) "." CW_TEXT(CW_VERSION_PATCH)
#define CW_VERSION CW_VERSION_STRING
CW_API const char *cw_version(void); /* the same of the library that the program runs with */

#define CW_PAYLOAD_BYTES_MAX 64u /* inline payload of an event, and of a commit record */
#define CW_STATE_BYTES_MAX   ((1u << 29) - 1)   /* state of an LP */
#define CW_DEPTH_MAX         65535u             /* deepest chain of zero-delay events at one time */
#define CW_NUMBER_MAX        ((1ull << 48) - 1) /* greatest number an entity may give an event */
#define CW_TIME_MAX          INT64_MAX          /* "never"; no event may be sent to this time */

/* ---- errors -------------------------------------------------------------------------------- */

/* Exit codes of cubewarp. An engine call returns one of them. */
enum cw_exit {
    CW_OK = 0,
    CW_DATA_WRONG = 1,     /* the results are not the expected ones; never the engine's */
    CW_USAGE = 2,          /* usage or configuration */
    CW_PROGRAM_FAILED = 3, /* the simulated program failed: deadlock, fault, overflow of time */
    CW_NO_RESOURCE = 4,    /* memory, disk, threads */
    CW_BUG = 5,            /* an internal check of cubewarp itself */
    CW_INTERRUPTED = 6,    /* the host asked for it: cw_config.stop */
};

/* Filled by the function that returns a non-zero enum cw_exit, or NULL. */
struct cw_error {
    int exit_code; /* enum cw_exit */
    char text[1020];
};
/* The error's whole text, which may be longer than its room: a failure of many ranks, say. Valid as
 * long as *error is, and until 64 more errors with such long texts. */
CW_API const char *cw_error_text(const struct cw_error *error);
/* For hosts: these fill *error, and return exit_code, or CW_NO_RESOURCE and "out of memory for
 * PURPOSE". The arguments may not point into *error. */
CW_API int cw_error_set(struct cw_error *error, enum cw_exit exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
CW_API int cw_error_set_list(struct cw_error *error, enum cw_exit exit_code, const char *format,
                             va_list arguments) __attribute__((format(printf, 3, 0)));
CW_API int cw_error_memory(struct cw_error *error, const char *purpose);

/* ---- a model ------------------------------------------------------------------------------- */

/*
 * An event as its handler sees it. The engine owns it; it is valid until the handler returns.
 * payload[] holds the payload_bytes bytes that the sender gave, and is 8-byte aligned.
 */
struct cw_event {
    int64_t time_ps;
    uint64_t number; /* the sending entity's own numbering, <= CW_NUMBER_MAX */
    uint32_t entity; /* the sender */
    uint32_t lp;     /* the receiver */
    uint16_t depth;  /* of the chain of zero-delay events that it ends; 0 for all others */
    uint16_t type;   /* chosen by the model */
    uint16_t payload_bytes;
    uint16_t reserved; /* for the engine */
    uint8_t payload[CW_PAYLOAD_BYTES_MAX] __attribute__((aligned(8)));
};

struct cw_ctx; /* of one handler call */

/*
 * A model. All functions must be pure functions of their arguments and `data`; they may run on any
 * thread. Handlers read `data` through cw_model_data().
 */
struct cw_model {
    const char *name;  /* for messages */
    const void *data;  /* constant while a drain lasts; outlives the simulation; may be NULL */
    uint32_t lp_count; /* LPs are numbered from 0 */
    /* Bytes of one LP's state; asked once per LP at creation. May differ between LPs; may be 0. */
    size_t (*state_bytes)(const void *data, uint32_t lp);
    /* Fills a zeroed state. Called once per LP at creation, before any event. */
    void (*init)(const void *data, uint32_t lp, void *state);
    /* Handles one event. The call may be speculative: it may see a state that no sequential run
     * shows. So it checks every index and loop bound that it takes from state or payload
     * (cw_check). */
    void (*handle)(struct cw_ctx *ctx, const void *state, const struct cw_event *event);
    /* The last word of the total order: a number that tells apart events that are equal in all else
     * (two that commit must not have the same one). NULL: the payload's bytes decide. */
    uint64_t (*tie)(const void *data, const struct cw_event *event);
};

/* The model's `data`. */
static inline const void *cw_model_data(const struct cw_ctx *ctx);
/* Model time: the time of the event being handled. */
static inline int64_t cw_now(const struct cw_ctx *ctx);

/*
 * A mutable pointer to a part of this LP's state: struct pe *pe = CW_MUT(ctx, &cube->pe[i]).
 *   part  a pointer into the state that the handler was given: the smallest part that changes
 * If this event could still be rolled back, the engine keeps the part's contents first. Parts may
 * overlap. Fails the event with CW_BUG for a part outside the state. An array does not compile:
 * take its elements, or the struct that it is in.
 */
#define CW_MUT(ctx, part) CW_MUT_TYPED(ctx, part)

/*
 * Sends an event. It returns only if the event can be sent: it fails the running event otherwise,
 * for instance for too great a depth.
 *   lp             the receiver, < lp_count
 *   delay_ps       >= 0 after cw_now(), and not less than the least delay that
 *                  cw_config.least_delay_ps promises for this pair of workers
 *   type           any number; for the model
 *   entity         the sender, as the total order names it
 *   number         of this event among the entity's, <= CW_NUMBER_MAX; best unique
 *   payload        payload_bytes bytes, which are copied; may be NULL if there are none
 *   payload_bytes  <= CW_PAYLOAD_BYTES_MAX
 */
CW_API void cw_send(struct cw_ctx *ctx, uint32_t lp, int64_t delay_ps, uint16_t type,
                    uint32_t entity, uint64_t number, const void *payload, uint16_t payload_bytes);

/*
 * Emits a commit record: bytes that reach the host (cw_config.record) if and when this event
 * commits. Records of one drain come in the total order of their events, and for one event in the
 * order of emission; all records of a drain come before those of the next.
 *   kind    any number; for the host
 *   record  `bytes` bytes, which are copied
 *   bytes   <= CW_PAYLOAD_BYTES_MAX
 */
CW_API void cw_emit(struct cw_ctx *ctx, uint16_t kind, const void *record, uint16_t bytes);

/*
 * Fails the event and does not return. Its changes, sends and records are as if they had never
 * been. When the event turns out to be the least of all unprocessed ones, the run ends with this
 * exit code (CW_PROGRAM_FAILED, say) and message, which is formatted as by printf.
 */
CW_API CW_NORETURN void cw_fail(struct cw_ctx *ctx, enum cw_exit exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An internal check that also holds against impossible speculative states. */
#define cw_check(ctx, condition)                                                                   \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0))                                                     \
            cw_fail((ctx), CW_BUG, "%s:%d: check failed: %s", __FILE__, __LINE__, #condition);     \
    } while (0)

/* A stream of random numbers, kept in an LP's state and changed through CW_MUT. Integer arithmetic
 * only: every machine and compiler draws the same. */
struct cw_rng {
    uint64_t s;
};
/* The stream of (seed, entity); different pairs have different streams. */
CW_API struct cw_rng cw_rng_seeded(uint64_t seed, uint64_t entity);
CW_API uint64_t cw_rng_u64(struct cw_rng *rng); /* 64 random bits */
/* Uniform in [0, bound), for bound > 0. One multiplication: the bias is too small to show. */
CW_API uint32_t cw_rng_below(struct cw_rng *rng, uint32_t bound);
/* True with probability p32 / 2^32. */
CW_API bool cw_rng_chance(struct cw_rng *rng, uint64_t p32);
/* Exponential with the given mean, rounded down to whole ps. */
CW_API int64_t cw_rng_exp_ps(struct cw_rng *rng, int64_t mean_ps);

/* ---- a host -------------------------------------------------------------------------------- */

struct cw_sim;

enum cw_sync {
    CW_SEQUENTIAL,   /* one thread, one queue, no undo: the oracle */
    CW_CONSERVATIVE, /* only events that no earlier event can still affect; no undo */
    CW_OPTIMISTIC,   /* Time Warp: keeps undo for every event */
    CW_ADAPTIVE,     /* safe events without undo; beyond them as far as speculation pays */
    CW_STRESS, /* a test of the model and the engine: Time Warp that, at random, undoes events,
                  holds messages back and moves states, and checks every change */
    CW_SYNCS
};
CW_API extern const char *const cw_sync_name[CW_SYNCS]; /* "sequential", ... */

/*
 * Receives the commit records of all LPs, in the total order of each drain. An event that is
 * injected after a drain, at its last moment, may come before events of that drain in the total
 * order; its records come after theirs all the same. It is called on the thread that
 * drains if the workers run on one thread. If they run on several, it is called on a thread of the
 * engine's own, beside the workers, and on the thread that drains for the last records. There is
 * one call at a time, and each sees all that the calls before it wrote; so does the host after
 * cw_drain(). It may run at the same time as handlers and cw_progress_fn. It must not call the
 * engine. `event` emitted the record; `kind` is as given to cw_emit(); `record` has `bytes` bytes,
 * which are valid during the call.
 */
typedef void (*cw_record_fn)(void *arg, const struct cw_event *event, uint16_t kind,
                             const void *record, uint16_t bytes);

#include "cw_tuning.h"

/*
 * How to run a model. Zeros are good defaults, but for worker_count and end_ps, which must be set:
 * cw_sim_create() refuses 0.
 *
 * Three members decide how fast several workers are: `sync`; `lp_worker`, which should keep LPs
 * that send to each other often on one worker; and `least_delay_ps`, the lookahead. Without
 * lookahead an event may be undone by any other, so nearly all of them need undo, or a wait.
 */
struct cw_config {
    enum cw_sync sync;
    uint32_t worker_count;     /* CW_SEQUENTIAL: 1, or more to check a partition's promises */
    int64_t end_ps;            /* exclusive, > 0; CW_TIME_MAX: until no event is left */
    const uint32_t *lp_worker; /* [lp_count] the worker of each LP; NULL: blocks of equal size */
    const int64_t *least_delay_ps; /* [from * worker_count + to] the promise that no LP of worker
                                      `from` sends to one of worker `to` with less delay, `from`
                                      itself included; CW_TIME_MAX: never; NULL: all 0 */
    cw_record_fn record;           /* NULL: records are dropped */
    void *record_arg;
    bool (*stop)(void *arg); /* whether the run is to end. Asked at the beginning of a drain
                                and then by each worker, on its thread, every few thousand
                                events at most; several may ask at the same time. Once true,
                                the drain ends with CW_INTERRUPTED, at no event. NULL: never */
    void *stop_arg;
    uint64_t memory_bytes_max; /* limit of the engine's memory; 0: 80 % of the machine's */
    uint64_t events_max;       /* most events of all drains together, 0: no limit. A run with more
                                  ends with CW_PROGRAM_FAILED, at no event: CW_SEQUENTIAL right
                                  after the last that is allowed, others within a few rounds of
                                  GVT. In every mode an event that would fail after the last
                                  that is allowed counts as one too many */
    bool check_changes;        /* prove after each handler that it changed only the parts that
                                  it asked for; slow; CW_BUG if it changed others */
    struct cw_tuning tuning;
};

/*
 * Creates a simulation: asks for the size of each LP's state, and has each initialised. NULL on
 * failure, with *error filled.
 *   config  copied, with its arrays
 *   model   must outlive the simulation
 */
CW_API struct cw_sim *cw_sim_create(const struct cw_config *config, const struct cw_model *model,
                                    struct cw_error *error);
CW_API void cw_sim_free(struct cw_sim *sim); /* accepts NULL */

/* Injects an event. Between drains only. Returns CW_OK, or an exit code with *error filled. time_ps
 * is not before cw_sim_now(); lp and all others are as for cw_send(). */
CW_API int cw_inject(struct cw_sim *sim, uint32_t lp, int64_t time_ps, uint16_t type,
                     uint32_t entity, uint64_t number, const void *payload, uint16_t payload_bytes,
                     struct cw_error *error);
/* Runs until no event is left before end_ps. All records are delivered when it returns CW_OK, or an
 * exit code with *error filled. After a failed drain the simulation takes no more injections or
 * drains; states can still be read. */
CW_API int cw_drain(struct cw_sim *sim, struct cw_error *error);
/* The same until no event is left before end_ps (exclusive), too. Later events stay for the next
 * drain. A host that reacts to what its model does drains so in steps, none longer than its
 * reaction takes. */
CW_API int cw_drain_until(struct cw_sim *sim, int64_t end_ps, struct cw_error *error);

/* Time of the last committed event; 0 before the first. */
CW_API int64_t cw_sim_now(const struct cw_sim *sim);
/* Time of the next event that is left, between drains; CW_TIME_MAX: there is none. Exact after a
 * drain that has not failed. */
CW_API int64_t cw_sim_next(const struct cw_sim *sim);
/* The state of an LP, valid until the next drain. NULL: there is no such LP. */
CW_API const void *cw_state(const struct cw_sim *sim, uint32_t lp);
/* Fills *stats (cw_tuning.h): the trace hash, counts, times. Between drains. */
CW_API void cw_sim_stats(const struct cw_sim *sim, struct cw_stats *stats);
/* The event whose failure ended the last drain. The records of all events before it have been
 * delivered, and no later ones; per worker, records of later events may have been, too. NULL: the
 * drain did not fail, or not at an event. */
CW_API const struct cw_event *cw_failed_event(const struct cw_sim *sim);
/* Whether event a comes before event b in the total order, of the model whose simulation the
 * calling thread has run or added events to last. */
CW_API bool cw_event_before(const struct cw_event *a, const struct cw_event *b);

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "cw_inline.h"

#endif
