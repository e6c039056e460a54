/*
 * sparse_memory.c: sparse memory (sparse_memory.h): a JudyL array from block number (address / 16
 * KiB) to a table of the block's 16 pages. Judy rather than a hash table because the digest walks
 * in the order of addresses, and because address spaces are sparse at every scale: many PEs, few
 * bytes in each, at a handful of offsets. The two levels below it make a tensor of 16 KiB one
 * lookup, and a tile of 32 bytes one small page.
 *
 * When an allocation fails inside of Judy (1.0.5), it says so, but may lose a node of its own: a
 * leak checker sees that once, in a run that ends for lack of memory anyway.
 *
 * Fills (sparse_fills.h) give the contents of untouched pages; a page that is touched begins with
 * them. A look at a short fill touches its pages, so that its contents are made once, by the worker
 * that uses them.
 */
#include "collectives/memory/sparse_memory.h"

#include <string.h>

#include <Judy.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "collectives/memory/sparse_fills.h"

/* A fill that long is made anew for each look. */
enum { LAZY_BYTES_MIN = 64 * 1024 };

static const uint8_t zeros[SPARSE_BLOCK_BYTES];

void sparse_memory_free(struct sparse_memory *memory)
{
    JudyLFreeArray(&memory->blocks, PJE0);
    sparse_fills_free(&memory->fills);
    *memory = (struct sparse_memory){0};
}

static struct sparse_block *sparse_memory_find(struct sparse_memory *memory, uint64_t address)
{
    const uint64_t number = address / SPARSE_BLOCK_BYTES;
    const size_t way = address >> 62;
    if (memory->cache[way].block && memory->cache[way].number == number)
        return memory->cache[way].block;
    void *const *value = JudyLGet(memory->blocks, number, PJE0);
    if (!value)
        return NULL;
    memory->cache[way].number = number;
    memory->cache[way].block = *value;
    return *value;
}

static struct sparse_block *find_or_make(struct sparse_memory *memory, struct sparse_arena *arena,
                                         uint64_t address)
{
    struct sparse_block *block = sparse_memory_find(memory, address);
    if (block)
        return block;
    block = sparse_arena_block(arena);
    if (!block)
        return NULL;
    void **value = JudyLIns(&memory->blocks, address / SPARSE_BLOCK_BYTES, PJE0);
    if (value == PPJERR || !value)
        return NULL;
    *value = block;
    return block;
}

static size_t sparse_memory_least(size_t a, size_t b) { return a < b ? a : b; }

/* Where in its block a stretch begins and where it ends at the latest. */
struct span {
    size_t offset, end, first_page;
};

static struct span span_of(uint64_t address, size_t want)
{
    const size_t offset = address % SPARSE_BLOCK_BYTES;
    return (struct span){offset, sparse_memory_least(offset + want, SPARSE_BLOCK_BYTES),
                         offset / SPARSE_PAGE_BYTES};
}

/* The stretch of a block from the span's start on: neighbouring pages, or pages that are all
 * untouched (NULL). block NULL: untouched. */
static const uint8_t *stretch(const struct sparse_block *block, const struct span *span,
                              size_t *run)
{
    *run = span->end - span->offset;
    if (!block)
        return NULL;
    const uint8_t *const start = block->page[span->first_page];
    size_t page = span->first_page + 1;
    while (page * SPARSE_PAGE_BYTES < span->end &&
           block->page[page] ==
               (start ? start + (page - span->first_page) * SPARSE_PAGE_BYTES : NULL))
        page++;
    *run = sparse_memory_least(page * SPARSE_PAGE_BYTES, span->end) - span->offset;
    return start ? start + span->offset % SPARSE_PAGE_BYTES : NULL;
}

const uint8_t *sparse_memory_look(struct sparse_memory *memory, struct sparse_arena *arena,
                                  uint64_t address, size_t want, size_t *run)
{
    const struct span span = span_of(address, want);
    const uint8_t *const there = stretch(sparse_memory_find(memory, address), &span, run);
    if (there != NULL)
        return there;
    const struct sparse_fill *const fill = sparse_fills_at(&memory->fills, address, *run);
    if (fill == NULL)
        return zeros;
    size_t made_run; /* has no meaning where there is no storage */
    const uint8_t *const made = fill->bytes < LAZY_BYTES_MIN
                                    ? sparse_memory_touch(memory, arena, address, *run, &made_run)
                                    : NULL;
    if (made != NULL) {
        *run = made_run;
        return made;
    }
    uint8_t *const scratch = sparse_arena_scratch(arena);
    (void)sparse_fills_show(&memory->fills, address, scratch, *run);
    return scratch;
}

/* A page with the contents that its place has shown so far. */
static uint8_t *make_page(struct sparse_memory *memory, struct sparse_arena *arena,
                          uint64_t address)
{
    uint8_t *const page = sparse_arena_page(arena);
    if (page && memory->fills.count > 0)
        (void)sparse_fills_show(&memory->fills, address, page, SPARSE_PAGE_BYTES);
    return page;
}

/* `replace`: the caller overwrites the whole span. */
static inline __attribute__((always_inline)) uint8_t *touch_span(struct sparse_memory *memory,
                                                                 struct sparse_arena *arena,
                                                                 uint64_t address, struct span span,
                                                                 bool replace, size_t *run)
{
    struct sparse_block *const block = find_or_make(memory, arena, address);
    if (!block)
        return NULL;
    uint8_t *start = NULL;
    size_t page = span.first_page;
    for (; page * SPARSE_PAGE_BYTES < span.end; page++) {
        const size_t at = page * SPARSE_PAGE_BYTES;
        const bool whole = at >= span.offset && at + SPARSE_PAGE_BYTES <= span.end;
        if (!block->page[page])
            block->page[page] = replace && whole
                                    ? sparse_arena_raw_page(arena)
                                    : make_page(memory, arena, address - span.offset + at);
        if (page == span.first_page)
            start = block->page[page];
        if (!start || block->page[page] != start + (page - span.first_page) * SPARSE_PAGE_BYTES)
            break;
    }
    *run = sparse_memory_least(page * SPARSE_PAGE_BYTES, span.end) - span.offset;
    return start ? start + span.offset % SPARSE_PAGE_BYTES : NULL;
}

uint8_t *sparse_memory_touch(struct sparse_memory *memory, struct sparse_arena *arena,
                             uint64_t address, size_t want, size_t *run)
{
    return touch_span(memory, arena, address, span_of(address, want), false, run);
}

uint8_t *sparse_memory_replace(struct sparse_memory *memory, struct sparse_arena *arena,
                               uint64_t address, size_t want, size_t *run)
{
    return touch_span(memory, arena, address, span_of(address, want), true, run);
}

const uint8_t *sparse_memory_peek(const struct sparse_memory *memory, uint64_t address, size_t want,
                                  size_t *run, uint8_t *shown)
{
    const struct span span = span_of(address, want);
    void *const *const value = JudyLGet(memory->blocks, address / SPARSE_BLOCK_BYTES, PJE0);
    const uint8_t *const there = stretch(value ? *value : NULL, &span, run);
    if (there != NULL)
        return there;
    return sparse_fills_show(&memory->fills, address, shown, *run) ? shown : zeros;
}

void sparse_memory_read(const struct sparse_memory *memory, uint64_t address, void *dst,
                        size_t bytes)
{
    uint8_t *to = dst;
    for (size_t done = 0, run; done < bytes; done += run) {
        const size_t want = sparse_memory_least(bytes - done, SPARSE_BLOCK_BYTES);
        const uint8_t *const from =
            sparse_memory_peek(memory, address + done, want, &run, to + done);
        if (from != to + done)
            memcpy(to + done, from, run);
    }
}

bool sparse_memory_write(struct sparse_memory *memory, struct sparse_arena *arena, uint64_t address,
                         const void *src, size_t bytes)
{
    for (size_t done = 0, run; done < bytes; done += run) {
        uint8_t *to = sparse_memory_replace(memory, arena, address + done, bytes - done, &run);
        if (!to)
            return false;
        memcpy(to, (const uint8_t *)src + done, run);
    }
    return true;
}

void sparse_memory_hash(const struct sparse_memory *memory, struct sparse_range range,
                        void *xxh3_state)
{
    uint8_t shown[SPARSE_BLOCK_BYTES];
    size_t run;
    for (uint64_t done = 0; done < range.bytes; done += run) {
        const uint64_t left = range.bytes - done;
        const size_t want = left < SPARSE_BLOCK_BYTES ? (size_t)left : SPARSE_BLOCK_BYTES;
        const uint8_t *const from =
            sparse_memory_peek(memory, range.address + done, want, &run, shown);
        XXH3_64bits_update(xxh3_state, from, run);
    }
}

/* Touched pages of a block that are wholly between first and last are freed; pages that are there
 * in part get the content. */
static void fill_block(struct sparse_arena *arena, struct sparse_block *block, uint64_t start,
                       uint64_t first, uint64_t last, const struct sparse_content *content)
{
    for (size_t i = 0; i < SPARSE_PAGES_PER_BLOCK; i++) {
        const uint64_t page = start + i * SPARSE_PAGE_BYTES, end = page + (SPARSE_PAGE_BYTES - 1);
        if (!block->page[i] || end < first || page > last)
            continue;
        const uint64_t from = page > first ? page : first, to = end < last ? end : last;
        uint8_t *bytes = block->page[i] + (from - page);
        if (from == page && to == end) {
            sparse_arena_give(arena, bytes);
            block->page[i] = NULL;
        } else if (content->make) {
            content->make(content, from - first, bytes, (size_t)(to - from) + 1);
        } else {
            memset(bytes, 0, (size_t)(to - from) + 1);
        }
    }
}

bool sparse_memory_fill(struct sparse_memory *memory, struct sparse_arena *arena,
                        struct sparse_range range, struct sparse_content content)
{
    const uint64_t last = range.address + (range.bytes - 1);
    if (!sparse_fills_add(&memory->fills, range, content))
        return false;
    Word_t number = range.address / SPARSE_BLOCK_BYTES;
    for (void *const *value = JudyLFirst(memory->blocks, &number, PJE0);
         value && number <= last / SPARSE_BLOCK_BYTES;
         value = JudyLNext(memory->blocks, &number, PJE0))
        fill_block(arena, *value, number * SPARSE_BLOCK_BYTES, range.address, last, &content);
    return true;
}

/* The pages of a block that are not all zeros; block NULL: untouched. */
static void digest_block(const struct sparse_memory *memory, const struct sparse_block *block,
                         uint64_t start, XXH3_state_t *state)
{
    for (size_t i = 0; i < SPARSE_PAGES_PER_BLOCK; i++) {
        uint8_t shown[SPARSE_PAGE_BYTES], little_endian[8];
        const uint64_t address = start + i * SPARSE_PAGE_BYTES;
        const uint8_t *page = block ? block->page[i] : NULL;
        if (!page && sparse_fills_show(&memory->fills, address, shown, sizeof shown))
            page = shown;
        if (!page || !memcmp(page, zeros, SPARSE_PAGE_BYTES))
            continue;
        for (size_t k = 0; k < sizeof little_endian; k++)
            little_endian[k] = (uint8_t)(address >> 8 * k);
        XXH3_64bits_update(state, little_endian, sizeof little_endian);
        XXH3_64bits_update(state, page, SPARSE_PAGE_BYTES);
    }
}

void sparse_memory_digest(const struct sparse_memory *memory, struct sparse_range range,
                          void *xxh3_state)
{
    const uint64_t last = (range.address + (range.bytes - 1)) / SPARSE_BLOCK_BYTES;
    Word_t number = range.address / SPARSE_BLOCK_BYTES;
    for (;;) { /* blocks that were touched, or that a fill has */
        uint64_t address = 0;
        Word_t touched = number;
        void *const *value = JudyLFirst(memory->blocks, &touched, PJE0);
        const bool filled =
            sparse_fills_next(&memory->fills, (uint64_t)number * SPARSE_BLOCK_BYTES, &address);
        if (!value && !filled)
            return;
        const bool here = value && (!filled || touched <= address / SPARSE_BLOCK_BYTES);
        number = here ? touched : address / SPARSE_BLOCK_BYTES;
        if (number > last)
            return;
        digest_block(memory, here ? *value : NULL, (uint64_t)number * SPARSE_BLOCK_BYTES,
                     xxh3_state);
        if (number == last)
            return;
        number++;
    }
}
