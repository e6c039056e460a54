/*
 * sorted_bucket.c: sorts one bucket (sorted_bucket.h).
 *
 * A counting sort on the highest bits in which the bucket's times differ, with about as many digits
 * as entries, leaves next to nothing for the insertion sort that ends it: some 3 ns an entry.
 * Models that run in lock-step put hundreds of events at one time, or a few; such runs are sorted
 * separately on the highest bit in which they differ, of the time or, if that is the same, of the
 * rest of the key. A comparison sort alone takes three times as long, a radix sort from the lowest
 * digit needs all 20 bytes of the key.
 */
#include "core/queue/sorted_bucket.h"

#include "core/invariant.h"

#include <string.h>

enum {
    CAPACITY_MIN = 256,  /* entries */
    RUN_MAX = 12,        /* a longer run with one digit is sorted separately */
    DIGIT_BITS_MAX = 11, /* so the counts stay in the nearest cache */
};

/* The three words of a key; the last ends with the LP. */
enum word { WORD_TIME, WORD_HIGH, WORD_LOW, WORDS };

/* Where the digit is: (word >> shift) & mask. */
struct digit {
    enum word word;
    unsigned shift;
    uint64_t mask;
};

static inline uint64_t word_of(const struct entry *entry, enum word word)
{
    return word == WORD_TIME   ? (uint64_t)entry->time_ps
           : word == WORD_HIGH ? entry->key_high
                               : entry->key_low;
}

static inline size_t digit_of(const struct entry *entry, struct digit digit)
{
    return (size_t)(word_of(entry, digit.word) >> digit.shift & digit.mask);
}

/* The highest bits of `difference` (not 0), from the highest one set down, and none below the
 * lowest one set. Between a number and the LP after it lie bits in which entries seldom differ: no
 * digit has bits of both. */
static struct digit digit_at(enum word word, uint64_t difference, size_t count)
{
    const uint64_t number = difference & ~(uint64_t)UINT32_MAX;
    if (word == WORD_LOW && number != 0)
        difference = number;
    const unsigned top = 64 - (unsigned)__builtin_clzll(difference);
    const unsigned bottom = (unsigned)__builtin_ctzll(difference);
    unsigned bits = 65 - (unsigned)__builtin_clzll(count); /* at most 2 to 4 digits per entry */
    bits = bits > DIGIT_BITS_MAX ? DIGIT_BITS_MAX : bits;
    const unsigned shift = top < bottom + bits ? bottom : top - bits;
    return (struct digit){.word = word, .shift = shift, .mask = (1ull << (top - shift)) - 1};
}

/* Empties the array. The entries that may be read ahead then point to an unused event. */
static void clear_sorted(struct sorted_bucket *sorted)
{
    for (size_t i = 0; i < SORTED_SLACK; i++)
        sorted->idle[i] = (struct entry){.time_ps = CW_TIME_MAX, .event = &sorted->unused};
    sorted->front = sorted->last = sorted->idle;
}

void sorted_bucket_init(struct sorted_bucket *sorted, struct memory *memory)
{
    *sorted = (struct sorted_bucket){.memory = memory};
    clear_sorted(sorted);
}

static size_t array_bytes(size_t capacity)
{
    return (1 + capacity + SORTED_SLACK) * sizeof(struct entry);
}

static void free_arrays(struct sorted_bucket *sorted)
{
    if (sorted->entries != NULL)
        memory_give(sorted->memory, sorted->entries - 1, array_bytes(sorted->capacity));
    memory_give(sorted->memory, sorted->scratch, array_bytes(sorted->capacity));
    sorted->entries = NULL;
    sorted->scratch = NULL;
    sorted->capacity = 0;
    clear_sorted(sorted);
}

void sorted_bucket_free(struct sorted_bucket *sorted) { free_arrays(sorted); }

static bool sorted_bucket_reserve(struct sorted_bucket *sorted, size_t count)
{
    if (count <= sorted->capacity)
        return true;
    size_t capacity = CAPACITY_MIN;
    while (capacity < count)
        capacity += capacity / 4; /* not twice: a burst of all that is pending may be in here */
    free_arrays(sorted);
    struct entry *const block = memory_take(sorted->memory, array_bytes(capacity));
    if (block == NULL)
        return false;
    block[0] = (struct entry){.time_ps = INT64_MIN};
    sorted->entries = block + 1;
    sorted->capacity = capacity;
    return true;
}

/* Frees the scratch, which others need near the memory limit: all workers have a burst in their
 * arrays at once. */
static void free_scratch(struct sorted_bucket *sorted)
{
    memory_give(sorted->memory, sorted->scratch, array_bytes(sorted->capacity));
    sorted->scratch = NULL;
}

static struct entry *scratch_of(struct sorted_bucket *sorted)
{
    if (sorted->scratch == NULL)
        sorted->scratch = memory_take(sorted->memory, array_bytes(sorted->capacity));
    return sorted->scratch;
}

/* The last resort, for entries whose keys and LPs are equal: a merge sort. Tie numbers are asked
 * for once, and stand in the keys for as long. */
static void sort_tied(struct entry *entries, struct entry *scratch, size_t count)
{
    const struct entry key = entries[0];
    const bool numbered = event_has_tie();
    for (size_t i = 0; i < count && numbered; i++) {
        entries[i].time_ps = entries[i].event->type;
        entries[i].key_high = event_tie(entries[i].event);
    }
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            const size_t middle = start + width < count ? start + width : count;
            const size_t end = middle + width < count ? middle + width : count;
            size_t a = start, b = middle;
            for (size_t to = start; to < end; to++) {
                const bool take_b =
                    b < end && (a == middle || entry_before(&entries[b], &entries[a]));
                scratch[to] = take_b ? entries[b++] : entries[a++];
            }
        }
        memcpy(entries, scratch, count * sizeof *entries);
    }
    for (size_t i = 0; i < count && numbered; i++) {
        entries[i].time_ps = key.time_ps;
        entries[i].key_high = key.key_high;
    }
}

/* All words of an entry, for one instruction on all of them. */
typedef uint64_t __attribute__((vector_size(sizeof(struct entry)), aligned(8), may_alias))
entry_words;

/* Finds where the entries differ first. False: nowhere. */
static bool find_digit(const struct entry *entries, size_t count, struct digit *digit)
{
    const entry_words *const words = (const entry_words *)(const void *)entries;
    entry_words differences = {0};
    for (size_t i = 1; i < count; i++)
        differences |= words[i] ^ words[0];
    for (unsigned word = 0; word < WORDS; word++) {
        if (differences[word] != 0) {
            *digit = digit_at((enum word)word, differences[word], count);
            return true;
        }
    }
    return false;
}

static void sort_run(struct entry *entries, struct entry *scratch, size_t count);

/* Counts of neighbouring digits, four to an instruction: there are often more digits than
 * entries. */
typedef uint32_t __attribute__((vector_size(16), may_alias)) four_counts;
enum { COUNTS = 4 };

/* The counts or starts of all digits. */
struct digit_counts {
    four_counts of[(1 << DIGIT_BITS_MAX) / COUNTS];
};

static inline uint32_t *digit_numbers(struct digit_counts *counts)
{
    return (uint32_t *)(void *)counts;
}

static size_t fours_of(size_t digits) { return (digits + COUNTS - 1) / COUNTS; }

static void clear_counts(struct digit_counts *counts, size_t digits)
{
    memset(counts->of, 0, fours_of(digits) * sizeof *counts->of);
}

/* Turns counts into starts. Returns the largest count. */
static uint32_t sum_up(struct digit_counts *counts, size_t digits)
{
    const four_counts none = {0};
    four_counts before = {0}, largest = {0};
    for (size_t i = 0; i < fours_of(digits); i++) {
        const four_counts count = counts->of[i];
        const four_counts larger = (four_counts)(count > largest);
        largest = (count & larger) | (largest & ~larger);
        const four_counts pairs = count + __builtin_shufflevector(count, none, 4, 0, 1, 2);
        const four_counts sums = pairs + __builtin_shufflevector(pairs, none, 4, 4, 0, 1);
        counts->of[i] = before + sums - count;
        before += __builtin_shufflevector(sums, sums, 3, 3, 3, 3);
    }
    uint32_t most = 0;
    for (int i = 0; i < COUNTS; i++)
        most = largest[i] > most ? largest[i] : most;
    return most;
}

/* After scattering, starts[i] is where digit i's run ends. Sorts the long ones. */
static void sort_long_runs(struct entry *entries, struct entry *scratch, const uint32_t *ends,
                           size_t digits)
{
    uint32_t start = 0;
    for (size_t i = 0; i < digits; i++) {
        if (ends[i] - start > RUN_MAX)
            sort_run(entries + start, scratch + start, ends[i] - start);
        start = ends[i];
    }
}

/* Leaves runs of up to RUN_MAX entries in disorder, for the insertion sort at the end. */
static void sort_run(struct entry *entries, struct entry *scratch, size_t count)
{
    struct digit digit;
    if (!find_digit(entries, count, &digit)) {
        sort_tied(entries, scratch, count);
        return;
    }
    struct digit_counts counts;
    uint32_t *const starts = digit_numbers(&counts);
    const size_t digits = digit.mask + 1;
    clear_counts(&counts, digits);
    for (size_t i = 0; i < count; i++)
        starts[digit_of(&entries[i], digit)]++;
    memcpy(scratch, entries, count * sizeof *entries); /* meanwhile the counts reach the cache */
    const uint32_t largest = sum_up(&counts, digits);
    for (size_t i = 0; i < count; i++)
        entries[starts[digit_of(&scratch[i], digit)]++] = scratch[i];
    if (largest > RUN_MAX)
        sort_long_runs(entries, scratch, starts, digits);
}

/* Ends every sort. Counts distinct times. */
static size_t insertion_sort(struct entry *entries, size_t count)
{
    size_t distinct = 1;
    for (size_t i = 1; i < count; i++) {
        const struct entry *const entry = &entries[i], *const previous = entry - 1;
        const bool same_time = entry->time_ps == previous->time_ps;
        distinct += !same_time;
        if (same_time ? entry->key_high > previous->key_high : entry->time_ps > previous->time_ps)
            continue; /* most */
        if (!entry_before(entry, previous))
            continue;
        const struct entry moved = entries[i];
        size_t at = i;
        do {
            entries[at] = entries[at - 1];
            at--;
        } while (entry_before(&moved, &entries[at - 1])); /* the guard stops it */
        entries[at] = moved;
    }
    return distinct;
}

/* The result of a first walk over the chain. */
struct survey {
    size_t count;
    uint64_t difference; /* of the times */
};

static struct survey survey_chain(const struct entry_chain *chain)
{
    struct survey survey = {0};
    const struct chunk *chunk = entry_chain_newest(chain);
    const uint64_t first = (uint64_t)chunk->entries[0].time_ps;
    size_t count = entry_chain_newest_count(chain);
    do {
        for (size_t i = 0; i < count; i++)
            survey.difference |= (uint64_t)chunk->entries[i].time_ps ^ first;
        survey.count += count;
        count = CHUNK_ENTRIES;
        chunk = chunk->previous;
    } while (chunk != NULL);
    return survey;
}

/* Copies the chain to the array as it comes, and recycles its chunks. */
static void sorted_bucket_gather(struct entry *entries, struct chunk_pool *pool,
                                 struct entry_chain *chain)
{
    struct chunk *chunk = entry_chain_newest(chain);
    size_t count = entry_chain_newest_count(chain);
    do {
        struct chunk *const previous = chunk->previous;
        memcpy(entries, chunk->entries, count * sizeof *entries);
        entries += count;
        count = CHUNK_ENTRIES;
        chunk_put(pool, chunk);
        chunk = previous;
    } while (chunk != NULL);
}

/* Scatters the chain by the digit and recycles its chunks. Returns the largest run. */
static uint32_t scatter(struct entry *entries, struct chunk_pool *pool, struct entry_chain *chain,
                        struct digit digit, struct digit_counts *counts)
{
    uint32_t *const starts = digit_numbers(counts);
    const size_t digits = digit.mask + 1;
    clear_counts(counts, digits);
    struct chunk *chunk = entry_chain_newest(chain);
    size_t count = entry_chain_newest_count(chain);
    do {
        for (size_t i = 0; i < count; i++)
            starts[digit_of(&chunk->entries[i], digit)]++;
        count = CHUNK_ENTRIES;
        chunk = chunk->previous;
    } while (chunk != NULL);
    const uint32_t largest = sum_up(counts, digits);
    chunk = entry_chain_newest(chain);
    count = entry_chain_newest_count(chain);
    do {
        struct chunk *const previous = chunk->previous;
        for (size_t i = 0; i < count; i++)
            entries[starts[digit_of(&chunk->entries[i], digit)]++] = chunk->entries[i];
        count = CHUNK_ENTRIES;
        chunk_put(pool, chunk);
        chunk = previous;
    } while (chunk != NULL);
    return largest;
}

size_t sorted_bucket_fill(struct sorted_bucket *sorted, struct chunk_pool *pool,
                          struct entry_chain *chain)
{
    const struct survey survey = survey_chain(chain);
    if (!sorted_bucket_reserve(sorted, survey.count))
        return 0;
    struct entry *const entries = sorted->entries;
    if (survey.count <= RUN_MAX) {
        sorted_bucket_gather(entries, pool, chain);
    } else if (survey.difference == 0) {
        struct entry *const scratch = scratch_of(sorted);
        if (scratch == NULL)
            return 0;
        sorted_bucket_gather(entries, pool, chain);
        sort_run(entries, scratch, survey.count);
    } else {
        struct digit_counts counts;
        const struct digit digit = digit_at(WORD_TIME, survey.difference, survey.count);
        if (sorted->scratch == NULL && scratch_of(sorted) == NULL)
            return 0;
        if (scatter(entries, pool, chain, digit, &counts) > RUN_MAX)
            sort_long_runs(entries, sorted->scratch, digit_numbers(&counts), digit.mask + 1);
    }
    if (memory_level(sorted->memory) >= MEMORY_SCARCE)
        free_scratch(sorted);
    chain->next = NULL;
    sorted->distinct = insertion_sort(entries, survey.count);
    for (size_t i = 1; i < survey.count; i++)
        CW_INVARIANT("I-ORDER-1", !entry_before(&entries[i], &entries[i - 1]),
                     "place %zu of %zu, at %lld ps, comes after %lld ps", i, survey.count,
                     (long long)entries[i].time_ps, (long long)entries[i - 1].time_ps);
    sorted->front = entries;
    sorted->last = entries + survey.count;
    for (size_t i = 0; i < SORTED_SLACK; i++)
        sorted->last[i] = (struct entry){.time_ps = CW_TIME_MAX, .event = &sorted->unused};
    return survey.count;
}
