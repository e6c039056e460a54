/*
 * cw.h: the engine's one public header; a model includes this and nothing else of core/.
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
 * Between drains the host injects events (cw_inject) and reads any LP's state (cw_state).
 *
 * Total order (10-engine.md, "Virtual time and order"): events are handled in the order of
 *   (receive time, zero-delay depth, sending entity, number), then type, then payload bytes,
 * and events that are equal in all of that in the order of their LPs. Depth is 0 for an event that
 * was sent with a positive delay or injected, and its cause's depth + 1 for one sent with delay 0.
 * Entity and number are the model's: they name who sent it, wherever that entity is placed, so
 * that the order does not depend on the partition.
 */
#ifndef CW_H
#define CW_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of cubewarp as a whole; in every result. */
#ifndef CW_VERSION
#define CW_VERSION "0.1.0"
#endif

/* ---- limits ------------------------------------------------------------------------------- */

#define CW_PAYLOAD_BYTES_MAX 64u /* inline payload of an event, and of a commit record */
#define CW_STATE_BYTES_MAX   ((1u << 29) - 1)   /* state of an LP */
#define CW_DEPTH_MAX         65535u             /* deepest chain of zero-delay events at one time */
#define CW_NUMBER_MAX        ((1ull << 48) - 1) /* greatest number an entity may give an event */
#define CW_TIME_MAX          INT64_MAX          /* "never"; no event may be sent to this time */

/* Exit codes (60-cli.md); an engine call returns one of them. */
enum cw_exit {
    CW_OK = 0,
    CW_DATA_WRONG = 1,     /* --verify-data found a difference */
    CW_USAGE = 2,          /* usage or configuration */
    CW_PROGRAM_FAILED = 3, /* the simulated program failed: deadlock, fault, overflow of time */
    CW_NO_RESOURCE = 4,    /* memory, disk, threads */
    CW_BUG = 5,            /* an internal check of cubewarp itself */
};

/* What went wrong. Filled by the function that returns a non-zero enum cw_exit. */
struct cw_error {
    int exit_code; /* enum cw_exit */
    char text[1020];
};

/* Fills *error with the exit code and the formatted text, cut to its room. Returns exit_code. The
 * text may be built from arguments, but not from error->text itself. */
int cw_error_set(struct cw_error *error, enum cw_exit exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a function that has variable arguments itself. The caller ends the list. */
int cw_error_set_list(struct cw_error *error, enum cw_exit exit_code, const char *format,
                      va_list arguments) __attribute__((format(printf, 3, 0)));
/* Fills *error with CW_NO_RESOURCE and "out of memory for PURPOSE". Returns CW_NO_RESOURCE. */
int cw_error_memory(struct cw_error *error, const char *purpose);

/* ---- events ------------------------------------------------------------------------------- */

/*
 * An event as its handler sees it. Owned by the engine; valid until the handler returns.
 * payload[] holds payload_bytes bytes that the sender gave and is 8-byte aligned.
 */
struct cw_event {
    int64_t time_ps;
    uint64_t number; /* the sending entity's own numbering, <= CW_NUMBER_MAX */
    uint32_t entity; /* who sent it */
    uint32_t lp;     /* who receives it */
    uint16_t depth;
    uint16_t type; /* the model's */
    uint16_t payload_bytes;
    uint16_t reserved; /* the engine's */
    _Alignas(8) uint8_t payload[CW_PAYLOAD_BYTES_MAX];
};
_Static_assert(offsetof(struct cw_event, payload) == 32, "the header is half a cache line");

/* ---- models ------------------------------------------------------------------------------- */

struct cw_ctx;
struct cw_sim;

/*
 * A model. All hooks must be pure functions of their arguments and `data`; they may run on any
 * thread. `data` is the model's own and outlives the simulation; handlers read it through
 * cw_model_data(), and the host may change it between drains only.
 */
struct cw_model {
    const char *name;
    const void *data;
    uint32_t lp_count;
    /* Bytes of one LP's state; asked once per LP at creation. May differ between LPs; may be 0. */
    size_t (*state_bytes)(const void *data, uint32_t lp);
    /* Fills a zeroed state. Called once per LP at creation, before any event. */
    void (*init)(const void *data, uint32_t lp, void *state);
    /* Handles one event. Possibly speculative: may see a state that no sequential run shows, so
     * it checks every index and loop bound that it takes from state or payload (cw_check). */
    void (*handle)(struct cw_ctx *ctx, const void *state, const struct cw_event *event);
};

/* The same word, in a register of its own: without this the compiler may gather neighbouring words
 * into a vector, whose load would wait for stores of a moment ago. */
static inline uint64_t cw_keep_in_register(uint64_t word)
{
    __asm__("" : "+r"(word));
    return word;
}

/* Where before-images go (core/timewarp/undo_log.h); here, since each change of a state adds one.
 */
struct cw_undo {
    uint8_t *at, *end;
};
enum { CW_UNDO_IMAGE = 2, CW_UNDO_BYTES_MAX = 64 }; /* of one that is added without a call */

/* The context of one handler call. The fields are the engine's; models use the functions. */
struct cw_ctx {
    const uint8_t *state; /* of the LP whose event this is */
    size_t state_bytes;
    const struct cw_event *event;
    const void *model_data;
    bool keep;            /* before-images are wanted: undo is on, or changes are being checked */
    struct cw_undo *undo; /* if undo alone is on */
};

static inline const void *cw_model_data(const struct cw_ctx *ctx) { return ctx->model_data; }
static inline int64_t cw_now(const struct cw_ctx *ctx) { return ctx->event->time_ps; }

void cw_mut_keep(struct cw_ctx *ctx, const void *part, size_t bytes);
_Noreturn void cw_mut_outside(struct cw_ctx *ctx, const void *part, size_t bytes);

/* Adds a part as it is, word by word: it was likely written a moment ago, and a wider load would
 * wait for the stores. False: there is no room, or it is too large. */
static inline bool cw_undo_add(struct cw_undo *undo, size_t offset, const void *part, size_t bytes)
{
    const size_t room = (bytes + 7) / 8 * 8;
    uint8_t *const to = undo->at;
    if (bytes > CW_UNDO_BYTES_MAX || (size_t)(undo->end - to) < room + sizeof(uint64_t))
        return false;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        __builtin_memcpy(&word, (const uint8_t *)part + i, bytes - i < 8 ? bytes - i : 8);
        word = cw_keep_in_register(word);
        __builtin_memcpy(to + i, &word, 8);
    }
    const uint64_t what = (uint64_t)offset << 32 | (uint64_t)bytes << 3 | CW_UNDO_IMAGE;
    __builtin_memcpy(to + room, &what, 8);
    undo->at = to + room + 8;
    return true;
}

static inline void *cw_mut(struct cw_ctx *ctx, const void *part, size_t bytes)
{
    const size_t offset = (size_t)((uintptr_t)part - (uintptr_t)ctx->state);
    if (__builtin_expect(offset > ctx->state_bytes || bytes > ctx->state_bytes - offset, 0))
        cw_mut_outside(ctx, part, bytes); /* exit 5: the part is not in this LP's state */
    if (__builtin_expect(ctx->keep, 0) &&
        (ctx->undo == NULL || !cw_undo_add(ctx->undo, offset, part, bytes)))
        cw_mut_keep(ctx, part, bytes);
    return (void *)(uintptr_t)part;
}

/*
 * A mutable pointer to a part of this LP's state: struct pe *pe = CW_MUT(ctx, &cube->pe[i]).
 * The engine keeps the part's before-image if this event could still be rolled back. Ask for the
 * smallest part that changes; parts may overlap. Arrays do not compile: take their elements.
 * A call's return type drops qualifiers (C17 6.7.6.3), hence the type of a call of a function
 * that returns the part's type.
 */
#define CW_UNQUALIFIED(part) __typeof__(((__typeof__ (*(part)) (*)(void))0)())
#define CW_MUT(ctx, part)    ((CW_UNQUALIFIED(part) *)cw_mut((ctx), (part), sizeof *(part)))

/*
 * Sends an event: `delay_ps` >= 0 after now, to LP `lp`, as entity `entity`'s event `number`.
 * payload may be NULL when payload_bytes is 0. Fails the event for a negative delay, a time that
 * overflows, an unknown LP, an oversized payload, too great a depth, or a delay below the
 * least that the partition promised for this pair of workers.
 */
void cw_send(struct cw_ctx *ctx, uint32_t lp, int64_t delay_ps, uint16_t type, uint32_t entity,
             uint64_t number, const void *payload, uint16_t payload_bytes);

/*
 * Emits a commit record: `bytes` <= CW_PAYLOAD_BYTES_MAX bytes that reach the simulation's record
 * sink if and when this event commits, in the total order of events and, within one event, in
 * the order of emission.
 */
void cw_emit(struct cw_ctx *ctx, uint16_t kind, const void *record, uint16_t bytes);

/*
 * Fails the event: it does not return. Its changes, sends and records are as if they had never
 * been. When the event turns out to be the least of all unprocessed ones, the run ends with this
 * exit code and message.
 */
_Noreturn void cw_fail(struct cw_ctx *ctx, enum cw_exit exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An internal check that also holds against impossible speculative states. */
#define cw_check(ctx, condition)                                                                   \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0))                                                     \
            cw_fail((ctx), CW_BUG, "%s:%d: check failed: %s", __FILE__, __LINE__, #condition);     \
    } while (0)

/* ---- random numbers ------------------------------------------------------------------------ */

/* A stream of random numbers, kept in an LP's state and changed through CW_MUT. */
struct cw_rng {
    uint64_t s;
};

/* A stream of its own for each (seed, entity). */
struct cw_rng cw_rng_seeded(uint64_t seed, uint64_t entity);
uint64_t cw_rng_u64(struct cw_rng *rng);
/* Uniform in [0, bound), bound > 0, without modulo bias worth measuring (64-bit multiply). */
uint32_t cw_rng_below(struct cw_rng *rng, uint32_t bound);
/* True with probability p32 / 2^32. */
bool cw_rng_chance(struct cw_rng *rng, uint64_t p32);
/* Exponential with the given mean, rounded down to whole ps, by integer arithmetic only, so that
 * every machine and compiler draws the same. */
int64_t cw_rng_exp_ps(struct cw_rng *rng, int64_t mean_ps);

/* ---- the host's side ----------------------------------------------------------------------- */

enum cw_sync {
    CW_SEQUENTIAL,   /* one thread, one queue, no undo: the oracle */
    CW_CONSERVATIVE, /* only events that nothing can precede any more; no undo */
    CW_OPTIMISTIC,   /* Time Warp: keeps undo for every event */
    CW_ADAPTIVE,     /* safe events without undo; beyond them as far as speculation pays */
    CW_STRESS,       /* Time Warp that makes itself a hard life at random: it undoes events, holds
                        messages back, moves states, and checks what handlers and undoing change */
    CW_SYNCS
};
extern const char *const cw_sync_name[CW_SYNCS]; /* "sequential", ... */

/*
 * Receives the commit records of all LPs, in the total order; called on the thread that drains.
 * `event` is the event that emitted the record. May read anything, must not call the engine.
 */
typedef void (*cw_record_fn)(void *arg, const struct cw_event *event, uint16_t kind,
                             const void *record, uint16_t bytes);

/* How far a drain is; figures of all workers, and since the simulation was created. */
struct cw_progress {
    uint64_t round;  /* of GVT; CW_SEQUENTIAL: of such looks */
    double run_s;    /* wall time inside drains */
    int64_t gvt_ps;  /* nothing before is undone any more; never falls */
    int64_t safe_ps; /* what is before needs no undo; not before GVT; CW_TIME_MAX: all */
    uint64_t events_committed, events_processed, events_rolled_back;
    uint64_t window_events;  /* that may be speculated at a time */
    uint64_t history_events; /* that were, and may yet be undone */
    int64_t ahead_ps;        /* how far the latest of them is beyond GVT */
    uint64_t memory_bytes;   /* engine-accounted */
    double idle_share;       /* of the workers' time so far, as far as it was sampled */
};
/* On the thread that drains. Must not call the engine. */
typedef void (*cw_progress_fn)(void *arg, const struct cw_progress *progress);

/*
 * One committed event, as a trace sees it: what it takes to say how long any engine must take at
 * least. Sequential mode only, and slow: for models to be looked at, not for runs.
 */
#define CW_NO_CAUSE UINT64_MAX
struct cw_trace {
    uint64_t index; /* in order of commitment, from 0, over all drains */
    uint64_t cause; /* the event whose handler sent it; CW_NO_CAUSE: it was injected */
    uint64_t drain; /* from 0 */
    double cost_s;  /* what it took, queue and commitment included; < 0: not sampled, as most */
};
typedef void (*cw_trace_fn)(void *arg, const struct cw_event *event, const struct cw_trace *trace);

struct cw_config {
    enum cw_sync sync;
    uint32_t worker_count;         /* CW_SEQUENTIAL: 1; or more, to check a partition's promises */
    uint32_t thread_count;         /* that workers run on, some taking turns on one; 0: one for each
                                      worker, but no more than cores, unless it is CW_STRESS */
    const uint32_t *lp_worker;     /* [lp_count] who owns each LP; NULL: block partition */
    const int64_t *least_delay_ps; /* [from * worker_count + to]; NULL: all 0 */
    int64_t end_ps;                /* exclusive; CW_TIME_MAX: until no event is left */
    cw_record_fn record;           /* NULL: records are dropped */
    void *record_arg;
    cw_progress_fn progress;   /* now and then: every 2^16 events, or every few rounds of GVT */
    cw_progress_fn each_round; /* every round of GVT, and the end of each drain */
    void *progress_arg;        /* of both, of which any may be NULL: nobody wants to know */
    cw_trace_fn trace;         /* CW_SEQUENTIAL only; NULL: nobody wants to know */
    void *trace_arg;
    uint64_t memory_bytes_max;    /* engine-accounted; 0: 80 % of what there is */
    uint32_t sends_per_event_max; /* 0: 65,536; at most 2^22; as many records */
    int64_t window_ps;            /* optimistic modes: no event this far beyond GVT; 0: any.
                                     CW_STRESS: and half of the safe events run without undo */
    uint64_t stress_seed;         /* CW_STRESS: what its random decisions come from */
    uint64_t stress_rate_p32;     /* and how often it undoes an event, times 2^32; 0: one in ten.
                                     Each event at most twice, and each worker's first always */
    bool lazy_cancellation;       /* optimistic modes: what an undone event sent stays until it is
                                     known that it is not sent again; else it is cancelled at once */
    bool pin_workers;   /* each thread to a hardware thread of its own, of those the caller
                           may run on; the caller itself while a drain lasts; where they do not
                           suffice: none */
    bool hash_off;      /* leave the trace hash out */
    bool check_changes; /* after each handler, prove that it changed nothing but the
                           parts it asked for (slow; exit 5 if it did) */
};

/* What a worker's time goes to. */
enum cw_activity {
    CW_HANDLING, /* handlers, with what they send, and committing what is safe */
    CW_QUEUE,    /* finding and taking the next event */
    CW_ROLLBACK, /* undoing and cancelling */
    CW_GVT,      /* GVT, fossil collection, records, messages between workers */
    CW_IDLE,     /* waiting for the other workers */
    CW_ACTIVITIES
};
extern const char *const cw_activity_name[CW_ACTIVITIES]; /* "handling", ... */

struct cw_stats {
    uint64_t events_committed, events_processed, events_rolled_back, anti_messages;
    uint64_t rollbacks; /* of an LP, by any number of events: primary, secondary and injected */
    uint64_t rollbacks_primary;   /* by a straggler, or by a cancellation from another worker */
    uint64_t rollbacks_secondary; /* because an event was cancelled within a worker */
    uint64_t rollbacks_injected, states_moved, looks_held_back; /* CW_STRESS */
    uint64_t rollback_events_max;                               /* undone by one rollback */
    uint64_t gvt_rounds, safe_events;
    uint64_t undo_bytes; /* written to undo logs: before-images, sends, records, and their heads */
    uint64_t sends_reused; /* cw_config.lazy_cancellation: that were kept and sent again */
    uint64_t events_alive, events_alive_max;
    uint64_t window_first, window_last; /* events that a worker may speculate at a time */
    double window_mean;                 /* over the rounds of GVT; of several workers, the mean */
    double gvt_round_mean_s;            /* wall time from a worker's first cut to its new GVT */
    double time_share[CW_ACTIVITIES];   /* sampled; their sum is 1, or 0: nothing was */
    uint64_t trace_hash;
    uint32_t threads_pinned; /* all, or none */
    double run_s;            /* wall time inside cw_drain, all drains */
};

/* NULL on failure, with *error filled. The model must outlive the simulation. */
struct cw_sim *cw_sim_create(const struct cw_config *config, const struct cw_model *model,
                             struct cw_error *error);
void cw_sim_free(struct cw_sim *sim); /* accepts NULL */

/* Injects an event at `time_ps`, not before cw_sim_now(). Between drains only. */
int cw_inject(struct cw_sim *sim, uint32_t lp, int64_t time_ps, uint16_t type, uint32_t entity,
              uint64_t number, const void *payload, uint16_t payload_bytes, struct cw_error *error);

/*
 * Runs until no event is left before end_ps. All records are delivered when it returns. After a
 * failed drain the simulation takes no more injections or drains; states can still be read.
 */
int cw_drain(struct cw_sim *sim, struct cw_error *error);

/* Time of the last committed event; 0 before the first. */
int64_t cw_sim_now(const struct cw_sim *sim);
/* Valid until the next drain. NULL: there is no such LP. */
const void *cw_state(const struct cw_sim *sim, uint32_t lp);
/* Between drains. */
void cw_sim_stats(const struct cw_sim *sim, struct cw_stats *stats);
uint32_t cw_sim_worker_count(const struct cw_sim *sim);
/* Of one worker; what is the simulation's alone (trace hash, pinning, wall time) is 0. */
void cw_sim_worker_stats(const struct cw_sim *sim, uint32_t gemm_worker, struct cw_stats *stats);

#endif
