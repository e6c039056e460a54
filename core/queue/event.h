/*
 * event.h: an event in memory, and the total order of events.
 *
 * In memory an event is a struct cw_event whose payload is only as long as its size class. The pool
 * owns that memory (event_pool.h). Queues hold entries. An entry contains the key, so that ordering
 * almost never reads the event itself, and the receiving LP, so that the LP's state can be fetched
 * early.
 *
 * I-ORDER-1: entry_before() is a strict total order on (time, depth, entity, number, LP, type), and
 * last the model's tie number (cw_model.tie) or, without one, the payload. Events that are equal in
 * all of these are interchangeable.
 *
 * I-ORDER-2: a model with tie numbers commits no two events that are equal: its order says all.
 *
 * Any thread may call these functions on events that it owns, after event_order_by().
 */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include <string.h>

#include "core/cw.h"

/* The engine's notes in an event's `reserved`, which is 0 again when the event commits. */
enum event_note {
    EVENT_PROCESSED = 1,     /* handled speculatively; without this note it is pending */
    EVENT_CANCELLED = 2,     /* to be freed instead of handled */
    EVENT_LAZY = 4,          /* pending again, and its sends are kept (lazy_cancel.h) */
    EVENT_STRESS_UNDONE = 8, /* lowest bit of a count: how often the stress mode has undone it */
};

struct entry {
    int64_t time_ps;
    uint64_t key_high; /* depth, entity, number's upper 16 bits */
    uint64_t key_low;  /* number's lower 32 bits, then the receiving LP */
    struct cw_event *event;
};
_Static_assert(sizeof(struct entry) == 32, "two entries to a cache line");
_Static_assert(offsetof(struct cw_event, payload) == 32, "the header is half a cache line");

static inline uint32_t entry_lp(const struct entry *entry) { return (uint32_t)entry->key_low; }

/* An event's header as its sender gives it. */
struct event_header {
    int64_t time_ps;
    uint64_t number;
    uint32_t entity, lp;
    uint16_t depth, type, payload_bytes;
};

typedef uint64_t __attribute__((may_alias)) event_word;

/*
 * An event's header, packed into words as in memory. The header is written and copied in whole
 * words, because the trace hash reads whole words, and a load that spans several recent narrower
 * stores waits for them.
 */
struct event_words {
    uint64_t word[4];
};

static inline struct event_words words_of(const struct event_header *header)
{
    return (struct event_words){
        {(uint64_t)header->time_ps, header->number, (uint64_t)header->lp << 32 | header->entity,
         (uint64_t)header->payload_bytes << 32 | (uint64_t)header->type << 16 | header->depth}};
}

static inline uint32_t words_lp(const struct event_words *words)
{
    return (uint32_t)(words->word[2] >> 32);
}

static inline uint16_t words_payload_bytes(const struct event_words *words)
{
    return (uint16_t)(words->word[3] >> 32);
}

/* Writes the words one by one: the compiler must not gather them into a vector on the stack. */
static inline void words_write(struct cw_event *event, const struct event_words *words)
{
    event_word *const to = (event_word *)(void *)event;
    for (int i = 0; i < 4; i++)
        to[i] = cw_keep_in_register(words->word[i]);
}

static inline struct entry entry_of_words(const struct event_words *words, struct cw_event *event)
{
    const uint64_t number = words->word[1];
    return (struct entry){
        .time_ps = (int64_t)words->word[0],
        .key_high = words->word[3] << 48 | (words->word[2] & UINT32_MAX) << 16 | number >> 32,
        .key_low = number << 32 | words->word[2] >> 32,
        .event = event,
    };
}

static inline void event_write(struct cw_event *event, const struct event_header *header)
{
    const struct event_words words = words_of(header);
    words_write(event, &words);
}

/* The same entry as entry_of_words() makes, from the header's fields: this takes fewer
 * instructions. */
static inline struct entry entry_of(const struct event_header *header, struct cw_event *event)
{
    return (struct entry){
        .time_ps = header->time_ps,
        .key_high =
            (uint64_t)header->depth << 48 | (uint64_t)header->entity << 16 | header->number >> 32,
        .key_low = header->number << 32 | header->lp,
        .event = event,
    };
}

static inline struct entry entry_of_event(struct cw_event *event)
{
    struct event_words words;
    memcpy(&words, event, sizeof words);
    return entry_of_words(&words, event);
}

/* Lengths of payloads that have straight code of their own, where each instruction counts: those
 * that most events of the models in this repository have. */
enum { PAYLOAD_BYTES_SHORT = 16, PAYLOAD_BYTES_LONG = 40 };

static inline void payload_copy_words(uint8_t *to, const uint8_t *from, size_t words)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, from + 8 * i, 8);
        word = cw_keep_in_register(word);
        memcpy(to + 8 * i, &word, 8);
    }
}

/* Copies a payload word by word. A payload that was built a moment ago is still on its way to the
 * cache, and a load of several of its words at once would wait for the stores. */
static inline void payload_copy(void *to, const void *from, size_t bytes)
{
    uint8_t *at = to;
    const uint8_t *source = from;
    if (bytes == PAYLOAD_BYTES_LONG) {
        payload_copy_words(at, source, PAYLOAD_BYTES_LONG / 8);
        return;
    }
    if (bytes == PAYLOAD_BYTES_SHORT) {
        payload_copy_words(at, source, PAYLOAD_BYTES_SHORT / 8);
        return;
    }
    for (; bytes >= 8; bytes -= 8, at += 8, source += 8) {
        uint64_t word;
        memcpy(&word, source, 8);
        word = cw_keep_in_register(word);
        memcpy(at, &word, 8);
    }
    /* Hide `source` from the optimiser: it warns (stringop-overread) where it knows the object but
     * not `bytes`. */
    __asm__("" : "+r"(source));
    if (bytes > 0)
        memcpy(at, source, bytes);
}

/* Clears the engine's notes in `reserved`. Writes the whole word around it, because the copy of the
 * event that follows reads that word. */
static inline void event_clear_notes(struct cw_event *event)
{
    event_word *const words = (event_word *)(void *)event;
    words[3] &= UINT64_MAX >> 16;
}

/* From now on this thread compares events of this model. It is the one thing that the engine keeps
 * outside a simulation: nearly every comparison ends before it matters. */
void event_order_by(const struct cw_model *model);

/* Whether its events have tie numbers; and the one of an event. */
bool event_has_tie(void);
uint64_t event_tie(const struct cw_event *event);

/* The order of entries whose keys and LPs are equal: type, then tie number or payload. */
bool entry_before_tied(const struct entry *a, const struct entry *b);

static inline bool entry_before(const struct entry *a, const struct entry *b)
{
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps;
    if (a->key_high != b->key_high)
        return a->key_high < b->key_high;
    if (a->key_low != b->key_low)
        return a->key_low < b->key_low;
    return entry_before_tied(a, b);
}

/* The event that was committed last, as the total order compares it. */
struct latest_event {
    bool is;
    struct event_words words; /* without the payload's length */
    uint64_t tie;
};
/* The next one commits, in the total order; for assertions. Equal events would be neighbours. */
void latest_event_note(struct latest_event *latest, const struct cw_model *model,
                       const struct cw_event *event);

/* A key without the LP, the type and what follows. Between workers those decide in a failed run
 * only, and there the events themselves are compared (parallel.c). */
struct key {
    int64_t time_ps;
    uint64_t high, low;
};
#define KEY_NEVER ((struct key){CW_TIME_MAX, UINT64_MAX, UINT64_MAX})

static inline struct key key_of(const struct entry *entry)
{
    return (struct key){entry->time_ps, entry->key_high, entry->key_low >> 32};
}

static inline bool key_before(struct key a, struct key b)
{
    if (a.time_ps != b.time_ps)
        return a.time_ps < b.time_ps;
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* A time plus a delay, both not negative or the time INT64_MIN; at most CW_TIME_MAX. */
static inline int64_t add_saturating(int64_t time_ps, int64_t delay_ps)
{
    return time_ps > CW_TIME_MAX - delay_ps ? CW_TIME_MAX : time_ps + delay_ps;
}

#endif
