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
 * Total order: events are handled in the order of
 *   (receive time, zero-delay depth, sending entity, number), then type, then payload bytes,
 * and events that are equal in all of that in the order of their LPs. An event that was injected,
 * or sent with a positive delay, has depth 0. An event that was sent with delay 0 has the depth of
 * the event that sent it, plus 1. The model chooses entity and number. They name the sender,
 * wherever it is placed, so that the order does not depend on the partition.
 *
 * The header is C17 and C++17, for GCC and Clang. Installed, it is <cubewarp/cw.h>, and the library
 * is libcubewarp-engine; `pkg-config --cflags --libs cubewarp-engine` gives the options. A model
 * written from scratch is core/example/tandem.c; core/README.md explains it.
 */
#ifndef CW_H
#define CW_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define CW_ALIGNAS(bytes)                alignas(bytes)
#define CW_STATIC_ASSERT(condition, why) static_assert(condition, why)
#else
#define CW_ALIGNAS(bytes)                _Alignas(bytes)
#define CW_STATIC_ASSERT(condition, why) _Static_assert(condition, why)
#endif
#define CW_NORETURN __attribute__((noreturn))
/* The library's interface: its objects are built with all other symbols hidden. */
#define CW_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ------------------------------------------------------------------------------ */

/*
 * The version of these headers; cubewarp as a whole has the same one, and names it in every result.
 * MAJOR rises when programs must be compiled again. The shared library's name ends in it, so that
 * a program never runs with a library of another MAJOR version.
 */
#define CW_VERSION_MAJOR   0
#define CW_VERSION_MINOR   1
#define CW_VERSION_PATCH   0
#define CW_TEXT_OF(number) #number
#define CW_TEXT(number)    CW_TEXT_OF(number)
#define CW_VERSION_STRING                                                                          \
    CW_TEXT(CW_VERSION_MAJOR) "." CW_TEXT(CW_VERSION_MINOR) "." CW_TEXT(CW_VERSION_PATCH)
#define CW_VERSION CW_VERSION_STRING

/* CW_VERSION_STRING of the library that the program runs with. */
CW_API const char *cw_version(void);

/* ---- limits ------------------------------------------------------------------------------- */

#define CW_PAYLOAD_BYTES_MAX 64u /* inline payload of an event, and of a commit record */
#define CW_STATE_BYTES_MAX   ((1u << 29) - 1)   /* state of an LP */
#define CW_DEPTH_MAX         65535u             /* deepest chain of zero-delay events at one time */
#define CW_NUMBER_MAX        ((1ull << 48) - 1) /* greatest number an entity may give an event */
#define CW_TIME_MAX          INT64_MAX          /* "never"; no event may be sent to this time */

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

/* An error. Filled by the function that returns a non-zero enum cw_exit. */
struct cw_error {
    int exit_code; /* enum cw_exit */
    char text[1020];
};

/*
 * Fills *error, for hosts and the layers above. Returns exit_code.
 *   error      replaced; its own text may not be among the arguments
 *   exit_code  of the failure
 *   format     as for printf; a text beyond the room is kept beside: cw_error_text()
 */
CW_API int cw_error_set(struct cw_error *error, enum cw_exit exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a function that has variable arguments itself. The caller ends the list. */
CW_API int cw_error_set_list(struct cw_error *error, enum cw_exit exit_code, const char *format,
                             va_list arguments) __attribute__((format(printf, 3, 0)));
/* The error's whole text, which may be longer than its room: a failure of many ranks, say. Valid as
 * long as *error is, and until 64 more errors with such long texts. */
CW_API const char *cw_error_text(const struct cw_error *error);
/* Fills *error with CW_NO_RESOURCE and "out of memory for PURPOSE". Returns CW_NO_RESOURCE. */
CW_API int cw_error_memory(struct cw_error *error, const char *purpose);

/* ---- events ------------------------------------------------------------------------------- */

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
    CW_ALIGNAS(8) uint8_t payload[CW_PAYLOAD_BYTES_MAX];
};
CW_STATIC_ASSERT(offsetof(struct cw_event, payload) == 32, "the header is half a cache line");

/* ---- models ------------------------------------------------------------------------------- */

struct cw_ctx;
struct cw_sim;

/*
 * A model. All hooks must be pure functions of their arguments and `data`; they may run on any
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
};

/* The same word, in a register of its own: without this the compiler may gather neighbouring words
 * into a vector, whose load would wait for stores of a moment ago. */
static inline uint64_t cw_keep_in_register(uint64_t word)
{
    __asm__("" : "+r"(word));
    return word;
}

/* Where before-images go. For the engine (core/speculation/undo_log.h) and cw_mut() below, which
 * adds one before each change of a state. */
struct cw_undo {
    uint8_t *at, *end;
};
enum { CW_UNDO_IMAGE = 2, CW_UNDO_BYTES_MAX = 64 }; /* of an image that is added without a call */

/* The context of one handler call. Only the engine uses the fields; models use the functions. */
struct cw_ctx {
    const uint8_t *state, *state_end; /* of the LP whose event this is */
    const struct cw_event *event;
    const void *model_data;
    bool keep;            /* before-images are wanted: undo is on, or changes are being checked */
    struct cw_undo *undo; /* if undo alone is on */
};

/* The model's `data`. */
static inline const void *cw_model_data(const struct cw_ctx *ctx) { return ctx->model_data; }
/* Model time: that of the event being handled. */
static inline int64_t cw_now(const struct cw_ctx *ctx) { return ctx->event->time_ps; }

/* Slow paths of cw_mut(): a before-image that cw_undo_add() does not take; a part that is not in
 * this LP's state. */
CW_API void cw_mut_keep(struct cw_ctx *ctx, const void *part, size_t bytes);
CW_API CW_NORETURN void cw_mut_outside(struct cw_ctx *ctx, const void *part, size_t bytes);

/* Adds a before-image of a part, word by word: the part was likely written a moment ago, and a
 * wider load would wait for the stores. False: there is no room, or the part is too large. */
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
    const uint64_t place = (uint64_t)offset << 32 | (uint64_t)bytes << 3 | CW_UNDO_IMAGE;
    __builtin_memcpy(to + room, &place, 8);
    __asm__ volatile("" : : : "memory"); /* a fault may end the handler anywhere: */
    undo->at = to + room + 8;            /* image, end of the log, */
    __asm__ volatile("" : : : "memory"); /* and then the change (core/worker/worker.h) */
    return true;
}

/* CW_MUT() without a type; returns `part`. */
static inline void *cw_mut(struct cw_ctx *ctx, const void *part, size_t bytes)
{
    const uintptr_t at = (uintptr_t)part, last = (uintptr_t)ctx->state_end - bytes;
    if (__builtin_expect(at > last || at < (uintptr_t)ctx->state, 0))
        cw_mut_outside(ctx, part, bytes); /* exit 5: the part is not in this LP's state */
    if (__builtin_expect(ctx->keep, 0) &&
        (ctx->undo == NULL || !cw_undo_add(ctx->undo, at - (uintptr_t)ctx->state, part, bytes)))
        cw_mut_keep(ctx, part, bytes);
    return (void *)(uintptr_t)part;
}

/*
 * A mutable pointer to a part of this LP's state: struct pe *pe = CW_MUT(ctx, &cube->pe[i]).
 *   part  a pointer into the state that the handler was given: the smallest part that changes
 * If this event could still be rolled back, the engine keeps the part's contents first. Parts may
 * overlap. Fails the event with CW_BUG for a part outside the state. An array does not compile:
 * take its elements, or the struct that it is in.
 */
#ifdef __cplusplus
#define CW_MUT(ctx, part) cw_mut_typed((ctx), (part))
#else
/* The value of a comma expression has its right side's type without qualifiers. An array would have
 * become a pointer there: for it the size below is negative, which does not compile. */
#define CW_UNQUALIFIED(part) __typeof__((void)0, *(part))
#define CW_NO_ARRAY(part)                                                                          \
    (__builtin_types_compatible_p(CW_UNQUALIFIED(part), __typeof__(*(part))) ? 1 : -1)
#define CW_MUT(ctx, part)                                                                          \
    ((CW_UNQUALIFIED(part) *)cw_mut((ctx), (part),                                                 \
                                    sizeof *(part) * sizeof(char[CW_NO_ARRAY(part)])))
#endif

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
 * commits. Records come in the total order of their events, and for one event in the order of
 * emission.
 *   kind    any number; for the host
 *   record  `bytes` bytes, which are copied
 *   bytes   <= CW_PAYLOAD_BYTES_MAX
 */
CW_API void cw_emit(struct cw_ctx *ctx, uint16_t kind, const void *record, uint16_t bytes);

/* Whether this event will not be undone, and the records of its LP's events before it have reached
 * cw_config.worker_record. Then the handler may give at once to the host's data of *worker, which
 * runs it, all that it would emit. */
CW_API bool cw_is_final(struct cw_ctx *ctx, uint32_t *worker);

/*
 * Fails the event and does not return. Its changes, sends and records are as if they had never
 * been. When the event turns out to be the least of all unprocessed ones, the run ends with this
 * exit code and message.
 *   exit_code  CW_PROGRAM_FAILED, say
 *   format     as for printf
 */
CW_API CW_NORETURN void cw_fail(struct cw_ctx *ctx, enum cw_exit exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An internal check that also holds against impossible speculative states. */
#define cw_check(ctx, condition)                                                                   \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0))                                                     \
            cw_fail((ctx), CW_BUG, "%s:%d: check failed: %s", __FILE__, __LINE__, #condition);     \
    } while (0)

/* ---- random numbers ------------------------------------------------------------------------ */

/* A stream of random numbers, kept in an LP's state and changed through CW_MUT. Integer arithmetic
 * only: every machine and compiler draws the same. */
struct cw_rng {
    uint64_t s;
};

/* The stream of (seed, entity); different pairs have different streams. */
CW_API struct cw_rng cw_rng_seeded(uint64_t seed, uint64_t entity);
/* 64 random bits. */
CW_API uint64_t cw_rng_u64(struct cw_rng *rng);
/* Uniform in [0, bound), for bound > 0. One 64-bit multiplication: the bias is too small to show.
 */
CW_API uint32_t cw_rng_below(struct cw_rng *rng, uint32_t bound);
/* True with probability p32 / 2^32. */
CW_API bool cw_rng_chance(struct cw_rng *rng, uint64_t p32);
/* Exponential with the given mean, rounded down to whole ps. */
CW_API int64_t cw_rng_exp_ps(struct cw_rng *rng, int64_t mean_ps);

/* ---- the host's side ----------------------------------------------------------------------- */

enum cw_sync {
    CW_SEQUENTIAL,   /* one thread, one queue, no undo: the oracle */
    CW_CONSERVATIVE, /* only events that nothing can precede any more; no undo */
    CW_OPTIMISTIC,   /* Time Warp: keeps undo for every event */
    CW_ADAPTIVE,     /* safe events without undo; beyond them as far as speculation pays */
    CW_STRESS, /* a test of the model and the engine: Time Warp that, at random, undoes events,
                  holds messages back and moves states, and checks every change */
    CW_SYNCS
};
CW_API extern const char *const cw_sync_name[CW_SYNCS]; /* "sequential", ... */

/*
 * Receives the commit records of all LPs, in the total order. It is called on the thread that
 * drains if the workers run on one thread. If they run on several, it is called on a thread of the
 * engine's own, beside the workers, and on the thread that drains for the last records. There is
 * one call at a time, and each sees all that the calls before it wrote; so does the host after
 * cw_drain(). It may run at the same time as handlers and cw_progress_fn. It must not call the
 * engine.
 *   arg     cw_config.record_arg
 *   event   the event that emitted the record
 *   kind    as given to cw_emit()
 *   record  `bytes` bytes, valid during the call
 */
typedef void (*cw_record_fn)(void *arg, const struct cw_event *event, uint16_t kind,
                             const void *record, uint16_t bytes);

/*
 * Receives the commit records of the LPs that one worker owns, on that worker's thread. The records
 * of one LP come in the total order; between LPs there is no order. A record comes as soon as its
 * event is final: behind the handler, if the event was safe. It must not call the engine.
 *   arg     cw_config.worker_arg
 *   worker  the worker that owns event->lp
 *   event, kind, record, bytes  as for cw_record_fn
 */
typedef void (*cw_worker_record_fn)(void *arg, uint32_t worker, const struct cw_event *event,
                                    uint16_t kind, const void *record, uint16_t bytes);
/*
 * Called by each worker between batches of events, for a receiver of records that waits for the
 * records of other workers. Returns whether anything of this worker still waits. At the end of a
 * drain, when all records have come, each worker calls it again for some milliseconds as long as
 * something waits. The host finishes the rest after the drain.
 */
typedef bool (*cw_worker_look_fn)(void *arg, uint32_t worker);

/* How far a drain is. The figures are those of all workers together, since the simulation was
 * created. */
struct cw_progress {
    uint64_t round;  /* of GVT; CW_SEQUENTIAL: the number of such reports */
    double run_s;    /* wall time inside drains */
    int64_t gvt_ps;  /* no event before this time is undone any more; never falls */
    int64_t safe_ps; /* events before this time need no undo; >= gvt_ps; CW_TIME_MAX: all events */
    uint64_t events_committed, events_processed, events_rolled_back;
    uint64_t window_events;  /* events that may be speculated at a time */
    uint64_t history_events; /* events that were speculated, and may yet be undone */
    int64_t ahead_ps;        /* how far the latest of these events is beyond GVT */
    uint64_t memory_bytes;   /* as far as the engine accounts for it */
    double idle_share;       /* of the workers' time so far, as far as it was sampled */
};
/* Called on the thread that drains. It must not call the engine. */
typedef void (*cw_progress_fn)(void *arg, const struct cw_progress *progress);

/*
 * One committed event, as a trace shows it: the data from which the least run time of any engine
 * follows. Sequential mode only, and slow.
 */
#define CW_NO_CAUSE UINT64_MAX
struct cw_trace {
    uint64_t index; /* in order of commitment, from 0, over all drains */
    uint64_t cause; /* index of the event whose handler sent it; CW_NO_CAUSE: it was injected */
    uint64_t drain; /* from 0 */
    double cost_s;  /* wall time, queue and commitment included; < 0: not sampled, as for most */
};
typedef void (*cw_trace_fn)(void *arg, const struct cw_event *event, const struct cw_trace *trace);

/* Whether parts of the model move between workers while they run. Results are the same. Parts never
 * move if the least delays are not all equal and cw_config.least_delays is NULL. */
enum cw_balance {
    CW_BALANCE_OFF,    /* as CW_BALANCE_RANDOM for CW_STRESS */
    CW_BALANCE_ON,     /* if workers have much more to do than others for long */
    CW_BALANCE_RANDOM, /* at random, by stress_seed: a test of the engine */
    CW_BALANCES
};
CW_API extern const char *const cw_balance_name[CW_BALANCES]; /* "off", ... */

/*
 * The least delays between workers for other owners of the LPs: fills least_delay_ps as
 * cw_config.least_delay_ps is filled. Called on the thread that drains, while other threads run
 * handlers. It must not call the engine.
 *   arg           cw_config.least_delays_arg
 *   lp_worker     [lp_count] the worker of each LP; all LPs of a part have the same one
 *   worker_count  workers
 */
typedef void (*cw_least_delays_fn)(void *arg, const uint32_t *lp_worker, uint32_t worker_count,
                                   int64_t *least_delay_ps);

/* Whether one thread handles all events, while the others sleep, where several would be slower. */
enum cw_gather {
    CW_GATHER_NEVER,
    CW_GATHER_IF_FASTER,
    CW_GATHER_OFTEN, /* again and again, at random: for tests */
};

/*
 * How to run a model. Zeros are good defaults, but for end_ps and worker_count, which must be set.
 *
 * Three members decide how fast several workers are: `sync`; `lp_worker`, which should keep LPs
 * that send to each other often on one worker; and `least_delay_ps`, the lookahead. Without
 * lookahead an event may be undone by any other, so nearly all of them need undo, or a wait.
 */
struct cw_config {
    enum cw_sync sync;
    uint32_t worker_count;     /* CW_SEQUENTIAL: 1, or more to check a partition's promises */
    uint32_t thread_count;     /* that workers run on, several taking turns on one; 0: one for each
                                  worker, but no more than cores, except for CW_STRESS */
    const uint32_t *lp_worker; /* [lp_count] the worker of each LP; NULL: blocks of equal size */
    const int64_t *least_delay_ps;   /* [from * worker_count + to] the promise that no LP of worker
                                        `from` sends to one of worker `to` with less delay, `from`
                                        itself included; CW_TIME_MAX: never; NULL: all 0 */
    enum cw_balance balance;         /* whether parts of the model move between workers */
    const uint32_t *lp_part;         /* [lp_count] the part of each LP: LPs that move together, and
                                        start on one worker; numbered from 0; NULL: blocks */
    uint32_t listener;               /* 1 + the LP that only listens: its handler sends and emits
                                        nothing. Several workers handle its events at the end of
                                        a drain, behind all others, and no worker waits for them.
                                        Least delays do not hold of sends to it. 0: none */
    cw_least_delays_fn least_delays; /* NULL: the least delays are the same for all owners */
    void *least_delays_arg;
    int64_t end_ps;      /* exclusive; CW_TIME_MAX: until no event is left */
    cw_record_fn record; /* NULL: records are dropped */
    void *record_arg;
    cw_worker_record_fn worker_record; /* beside `record`; NULL: not wanted */
    cw_worker_look_fn worker_look;     /* NULL: nothing ever waits */
    void *worker_arg;                  /* of both */
    cw_progress_fn progress;           /* every 2^16 events, or every few rounds of GVT; or NULL */
    cw_progress_fn each_round;         /* every round of GVT, and the end of each drain; or NULL */
    void *progress_arg;                /* of both */
    cw_trace_fn trace;                 /* CW_SEQUENTIAL only; or NULL */
    void *trace_arg;
    uint64_t memory_bytes_max; /* limit of the engine's memory; 0: 80 % of the machine's */
    uint64_t events_max;       /* most events of all drains together, 0: no limit. A run with more
                                  ends with CW_PROGRAM_FAILED: CW_SEQUENTIAL right behind the
                                  last that is allowed, others within a round of GVT */
    bool (*stop)(void *arg);   /* whether the run is to end. Asked at the beginning of a drain
                                  and then by each worker, on its thread, every few thousand
                                  events at most; several may ask at the same time. Once true,
                                  the drain ends with CW_INTERRUPTED, at no event. NULL: never */
    void *stop_arg;
    uint32_t sends_per_event_max; /* 0: 65,536; at most 2^22; the limit of records is the same */
    int64_t window_ps;            /* CW_OPTIMISTIC, CW_ADAPTIVE: events this far beyond GVT wait;
                                     >= 0, 0: no limit. CW_STRESS: not 0 runs half of the safe events
                                     without undo */
    uint64_t stress_seed;         /* CW_STRESS: seed of its random decisions */
    uint64_t stress_rate_p32;     /* CW_STRESS: how often it undoes an event, times 2^32; 0: one
                                     event in ten. Each event is undone so at most twice, and the
                                     first event of each worker always */
    bool lazy_cancellation;       /* CW_OPTIMISTIC, CW_ADAPTIVE: messages of an undone event stay
                                     until its new run has shown whether it sends them again;
                                     false: they are cancelled at once */
    enum cw_gather gather;        /* not in CW_SEQUENTIAL and CW_STRESS, nor with check_changes */
    bool pin_workers;             /* each thread to a hardware thread of its own on which the
                                     caller may run; the caller only while a drain lasts. No
                                     thread is pinned if there are too few */
    size_t interval_bytes;        /* of memory for each worker, to note how it spends its time
                                     (cw_sim_intervals()); 0: nothing is noted */
    bool hash_off;                /* leave the trace hash out */
    bool leave_signals;           /* faults in handlers (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT)
                                     keep their effect on the process, and no timer sends
                                     SIGVTALRM. false: they fail the event (core/ENGINE.md, "Faults
                                     in handlers") */
    bool check_changes;           /* prove after each handler that it changed only the parts that
                                     it asked for; slow; CW_BUG if it changed others */
};

/* Activities that a worker's time is divided into. */
enum cw_activity {
    CW_HANDLING, /* handlers, with their sends, and committing safe events */
    CW_QUEUE,    /* finding and taking the next event */
    CW_ROLLBACK, /* undoing and cancelling */
    CW_GVT,      /* GVT, fossil collection, records, messages between workers */
    CW_IDLE,     /* waiting for the other workers */
    CW_ACTIVITIES
};
CW_API extern const char *const cw_activity_name[CW_ACTIVITIES]; /* "handling", ... */

/* Counts and times since the simulation was created. */
struct cw_stats {
    uint64_t events_committed, events_processed, events_rolled_back, anti_messages;
    uint64_t events_restored;     /* of those committed: by the simulation that the snapshot is of
                                     (cw_sim_restore()) */
    uint64_t rollbacks;           /* of an LP, by any number of events; the sum of the next three */
    uint64_t rollbacks_primary;   /* by a straggler, or by a cancellation from another worker */
    uint64_t rollbacks_secondary; /* because an event was cancelled within a worker */
    uint64_t rollbacks_injected, states_moved, looks_held_back; /* CW_STRESS */
    uint64_t rollback_events_max;                               /* undone by one rollback */
    uint64_t gvt_rounds, safe_events;
    uint64_t gathered_events;    /* of the safe ones: handled while one thread had all events */
    uint64_t moves, parts_moved; /* how often parts moved between workers, and how many in all */
    double move_s;               /* wall time in those moves; all workers stop for them */
    uint64_t undo_bytes;    /* written to undo logs: before-images, sends, records, their heads */
    uint64_t messages_sent; /* to other workers, cancellations included */
    uint64_t turns;         /* of the workers' loops: looks at the others, then a batch of events */
    uint64_t turns_idle;    /* of these, turns that found no event to handle */
    uint64_t promises_raised; /* writes of a word that other workers read */
    uint64_t sends_reused;    /* cw_config.lazy_cancellation: messages that were sent again */
    uint64_t events_alive, events_alive_max;
    uint64_t window_first, window_last; /* events that a worker may speculate at a time */
    double window_mean;                 /* over the rounds of GVT; of several workers, the mean */
    double gvt_round_mean_s;            /* wall time from a worker's first cut to its new GVT */
    double time_share[CW_ACTIVITIES];   /* sampled; the sum is 1, or 0 without samples */
    uint64_t trace_hash;      /* of all committed events: the same for every mode and partition */
    uint32_t threads_pinned;  /* all, or none */
    double run_s;             /* wall time inside cw_drain(), all drains */
    double host_s;            /* wall time inside cw_each_worker(), all calls */
    uint64_t events_listened; /* of those committed: at the end of drains (cw_config.listener) */
    double listen_shared_s;   /* wall time: the workers put them in order, and free them */
    double listen_serial_s;   /* one thread handles them */
};

/*
 * Creates a simulation: asks for the size of each LP's state, and has each initialised. NULL on
 * failure.
 *   config  copied, with its arrays
 *   model   must outlive the simulation
 *   error   filled on failure
 */
CW_API struct cw_sim *cw_sim_create(const struct cw_config *config, const struct cw_model *model,
                                    struct cw_error *error);
/* Gives back, on the workers, the large memory that they own: events and states. Afterwards nothing
 * may be asked but cw_sim_times() and cw_each_worker(), and cw_sim_free() has little left to do.
 * Does nothing after a failure, and for small models. */
CW_API void cw_sim_clear(struct cw_sim *sim);
/* Frees a simulation; accepts NULL. */
CW_API void cw_sim_free(struct cw_sim *sim);

/*
 * Injects an event. Between drains only. Returns CW_OK or the error's exit code.
 *   sim            the simulation
 *   lp             the receiver, < lp_count
 *   time_ps        not before cw_sim_now()
 *   type, entity, number, payload, payload_bytes  as for cw_send()
 *   error          filled on failure
 */
CW_API int cw_inject(struct cw_sim *sim, uint32_t lp, int64_t time_ps, uint16_t type,
                     uint32_t entity, uint64_t number, const void *payload, uint16_t payload_bytes,
                     struct cw_error *error);

/*
 * Runs until no event is left before end_ps. All records are delivered when it returns. After a
 * failed drain the simulation takes no more injections or drains; states can still be read.
 *   sim    the simulation
 *   error  filled on failure
 */
CW_API int cw_drain(struct cw_sim *sim, struct cw_error *error);

/*
 * The states of all LPs between two drains, for other simulations of the same model: several runs
 * that begin alike need their beginning once. Const: several simulations may be restored from one.
 */
struct cw_snapshot;
/*
 * Takes a snapshot. Between drains, when no event is left. NULL: a drain has failed (with that
 * error), events are left, the simulation is traced (cw_config.trace), or there is no memory.
 *   sim    not changed, but for the times of cw_each_worker()
 *   error  filled on failure
 */
CW_API struct cw_snapshot *cw_snapshot_take(struct cw_sim *sim, struct cw_error *error);
/*
 * A new simulation goes on as the snapshot's would have gone on. States, trace hash, time, counts
 * of events committed, processed and safe, and the most events alive are the snapshot's. Counts of
 * the engine's other work, and times, begin at 0.
 *   sim       of a model with the same LPs and sizes, in the same mode, with as many workers; no
 *             event has been injected yet
 *   snapshot  not changed
 *   error     filled on failure; then nothing has changed
 * Returns CW_OK or the error's exit code.
 */
CW_API int cw_sim_restore(struct cw_sim *sim, const struct cw_snapshot *snapshot,
                          struct cw_error *error);
CW_API size_t cw_snapshot_bytes(const struct cw_snapshot *snapshot); /* of memory */
CW_API void cw_snapshot_free(struct cw_snapshot *snapshot);          /* accepts NULL */

/* The worker that owns an LP; of the workers' threads, each may ask while a drain lasts. */
CW_API uint32_t cw_lp_worker(const struct cw_sim *sim, uint32_t lp);
/* Whether event a comes before event b in the total order. */
CW_API bool cw_event_before(const struct cw_event *a, const struct cw_event *b);
/* The event whose failure ended the last drain, with which the records end: those of all events
 * before it have been delivered. Per worker, records of later events may have been, too. NULL: the
 * drain did not fail, or not at an event. */
CW_API const struct cw_event *cw_failed_event(const struct cw_sim *sim);

/* Time of the last committed event; 0 before the first. */
CW_API int64_t cw_sim_now(const struct cw_sim *sim);
/* The state of an LP, valid until the next drain. NULL: there is no such LP. */
CW_API const void *cw_state(const struct cw_sim *sim, uint32_t lp);
/* Wall time of a simulation on the threads of its workers; of one thread that takes all workers in
 * turn, too. */
struct cw_times {
    double run_s;        /* inside cw_drain() */
    double host_s;       /* inside cw_each_worker() */
    double work_s;       /* of that, in the host's function: the sum over all workers */
    double longest_s;    /* the same, of each call's longest worker: with a core for each worker, no
                            call ends earlier */
    uint64_t host_calls; /* of cw_each_worker() */
};
/* Between drains; a handful of loads. */
CW_API struct cw_times cw_sim_times(const struct cw_sim *sim);
/* Fills *stats. Between drains. */
CW_API void cw_sim_stats(const struct cw_sim *sim, struct cw_stats *stats);
/* The number of workers; 1 for CW_SEQUENTIAL. */
CW_API uint32_t cw_sim_worker_count(const struct cw_sim *sim);

/* The host's work for one worker's LPs. It must not call the engine, except for cw_state(), and
 * cw_inject() to LPs of this worker. */
typedef void (*cw_worker_fn)(void *arg, uint32_t worker);
/*
 * Calls fn(arg, worker) once for each worker, each on the thread that runs the worker in a drain,
 * and returns when all calls have returned. So memory that fn is the first to write lies near the
 * cores that use it. A thread with several workers takes them in ascending order. Between drains
 * only, after a failed one too. CW_SEQUENTIAL, one thread, and a system that starts too few threads
 * have all calls made on the calling thread.
 *   sim  the simulation
 *   fn   sees all that the caller has written before; calls on different threads run at the same
 *        time, so that they may write to different places only. Worker 0's is on the caller's stack
 *   arg  as fn gets it
 */
CW_API void cw_each_worker(struct cw_sim *sim, cw_worker_fn fn, void *arg);
/* The same as cw_sim_stats() of one worker. The figures that belong to the simulation as a whole
 * (trace hash, pinning, wall time) are 0. */
CW_API void cw_sim_worker_stats(const struct cw_sim *sim, uint32_t worker, struct cw_stats *stats);

/* The kinds of intervals that a worker's time is shown as. */
enum cw_interval_kind {
    /* The first level: these follow each other. */
    CW_INTERVAL_WORK,   /* turns in a row that had something to do */
    CW_INTERVAL_TURN,   /* one such turn, sampled: its parts are told apart */
    CW_INTERVAL_WAIT,   /* nothing to do */
    CW_INTERVAL_PARKED, /* taken out of the run for a while */
    CW_INTERVAL_HOST,   /* a call by cw_each_worker() */
    /* Inside those: */
    CW_INTERVAL_PART,     /* of a sampled turn: `activity`, where CW_HANDLING is a batch of events,
                             CW_QUEUE included */
    CW_INTERVAL_ROLLBACK, /* a long one; `count` events were undone */
    CW_INTERVAL_RECORDS,  /* commit records are delivered */
    CW_INTERVAL_DATA,     /* the host works on this worker's records: cw_config.worker_record */
    CW_INTERVAL_MOVE,     /* `count` LPs go to worker `other`, or come from there */
    /* Beside them: */
    CW_INTERVAL_ROUND, /* of GVT, which stops no worker: from the first cut to the new GVT */
    CW_INTERVALS
};
CW_API extern const char *const cw_interval_name[CW_INTERVALS]; /* "work", ... */

/* How a worker spent a while. A member that belongs to another kind is 0. */
struct cw_interval {
    double begin_s, end_s; /* wall time since the simulation was created */
    enum cw_interval_kind kind;
    enum cw_activity activity; /* PART */
    uint32_t other; /* WAIT: the worker whose promise limits the safe bound; itself: none. MOVE */
    uint64_t events_committed, events_rolled_back; /* of the first level: in it */
    double waited_s;        /* WORK, TURN: of it, in waits that are too short to be told apart */
    uint64_t window_events; /* ROUND: that this worker may speculate at a time */
    uint64_t memory_bytes;  /* ROUND of worker 0: as far as the engine accounts for it */
    uint64_t count;
};
typedef void (*cw_interval_fn)(void *arg, uint32_t worker, const struct cw_interval *interval);

/*
 * Calls `fn` for all intervals that were noted (cw_config.interval_bytes), worker by worker.
 * Between drains, after a failed one, too.
 *
 * Intervals of the first level come in the order of time and fill each drain. Between drains there
 * are intervals of the host's calls. Others come in no order; each lies inside an interval of the
 * first level, or beside it. If the memory does not suffice, the intervals show
 * the whole run in less detail: short ones join their neighbours, and of turns and rounds only some
 * are told. A worker that shares its thread with others has their turns in its own intervals.
 */
CW_API void cw_sim_intervals(const struct cw_sim *sim, cw_interval_fn fn, void *arg);

#ifdef __cplusplus
} /* extern "C" */

/* CW_MUT() in C++: one function for each type of part. */
template <typename part_type>
inline part_type *cw_mut_typed(struct cw_ctx *ctx, const part_type *part)
{
    return static_cast<part_type *>(cw_mut(ctx, part, sizeof *part));
}
template <typename part_type, size_t count>
part_type *cw_mut_typed(struct cw_ctx *ctx, const part_type (*part)[count]) = delete;
#endif

#endif
