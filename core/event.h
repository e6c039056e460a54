/*
 * event.h: an event in memory, and the total order of events.
 *
 * A record is a struct cw_event whose payload is only as long as its size class; the pool owns it
 * (event_pool.h). An entry is what queues hold: the key inline, so that ordering almost never
 * touches the record, and the receiver, so that its state can be fetched early.
 *
 * I-ORDER-1: entry_before() is a strict total order on (time, depth, entity, number, type,
 * payload, LP); events that are equal in all of that are interchangeable.
 */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include <string.h>

#include "core/cw.h"

struct entry {
    int64_t time_ps;
    uint64_t key_high; /* depth, entity, number's upper 16 bits */
    uint64_t key_low;  /* number's lower 32 bits, then the receiving LP */
    struct cw_event *event;
};
_Static_assert(sizeof(struct entry) == 32, "two entries to a cache line");

static inline uint32_t entry_lp(const struct entry *entry) { return (uint32_t)entry->key_low; }

/* What a sender says of an event, but for its payload. */
struct event_header {
    int64_t time_ps;
    uint64_t number;
    uint32_t entity, lp;
    uint16_t depth, type, payload_bytes;
};

typedef uint64_t __attribute__((may_alias)) event_word;

/*
 * Writes the header of a record. In whole words, because the hash reads whole words, and a load
 * that spans several recent stores waits for them.
 */
static inline void event_write(struct cw_event *event, const struct event_header *header)
{
    event_word *const words = (event_word *)(void *)event;
    words[0] = (uint64_t)header->time_ps;
    words[1] = header->number;
    words[2] = (uint64_t)header->lp << 32 | header->entity;
    words[3] = (uint64_t)header->payload_bytes << 32 | (uint64_t)header->type << 16 | header->depth;
}

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

/* The same, in the words in which it is written: what is handed from function to function, since a
 * struct of small fields in memory would have to be read in words again. */
struct event_words {
    uint64_t word[4];
};

static inline struct event_words words_of(const struct event_header *header)
{
    return (struct event_words){
        {(uint64_t)header->time_ps, header->number, (uint64_t)header->lp << 32 | header->entity,
         (uint64_t)header->payload_bytes << 32 | (uint64_t)header->type << 16 | header->depth}};
}
static inline void words_write(struct cw_event *event, const struct event_words *words)
{
    event_word *const to = (event_word *)(void *)event;
    for (int i = 0; i < 4; i++) {
        uint64_t word = words->word[i];
        __asm__("" : "+r"(word)); /* one by one: no detour through a vector on the stack */
        to[i] = word;
    }
}
static inline uint32_t words_lp(const struct event_words *words)
{
    return (uint32_t)(words->word[2] >> 32);
}
static inline uint16_t words_payload_bytes(const struct event_words *words)
{
    return (uint16_t)(words->word[3] >> 32);
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

/* Copies a payload word by word: the words of one that was built a moment ago are still on their
 * way to the cache, where a load of several at once would have to wait for them. */
static inline void payload_copy(void *to, const void *from, size_t bytes)
{
    uint8_t *at = to;
    const uint8_t *source = from;
    for (; bytes >= 8; bytes -= 8, at += 8, source += 8) {
        uint64_t word;
        memcpy(&word, source, 8);
        __asm__("" : "+r"(word)); /* no vector */
        memcpy(at, &word, 8);
    }
    __asm__(""
            : "+r"(source)); /* a warning where the compiler knows what is read, but not how much */
    if (bytes > 0)
        memcpy(at, source, bytes);
}

/* Clears what the engine has noted in `reserved`, by its whole word: what copies the event reads
 * that next. */
static inline void event_clear_notes(struct cw_event *event)
{
    event_word *const words = (event_word *)(void *)event;
    words[3] &= UINT64_MAX >> 16;
}

/* The order of entries whose time, depth, entity and number are equal: type, payload, LP. */
bool entry_before_tied(const struct entry *a, const struct entry *b);

static inline bool entry_before(const struct entry *a, const struct entry *b)
{
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps;
    if (a->key_high != b->key_high)
        return a->key_high < b->key_high;
    if ((a->key_low ^ b->key_low) >> 32)
        return a->key_low < b->key_low;
    return entry_before_tied(a, b);
}

#endif
