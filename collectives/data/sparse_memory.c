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
 * them.
 *
 * Pages are cut from chunks one after the other, so pages that are touched together are neighbours
 * here as well, and stretches are as long as a block.
 */
#include "collectives/data/sparse_fills.h"

#include <stdlib.h>
#include <string.h>

#include <Judy.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define PAGES_PER_BLOCK ((size_t)16)
#define BLOCK_BYTES     (PAGES_PER_BLOCK * SPARSE_PAGE_BYTES)
#define CHUNK_BYTES     ((size_t)256 * 1024)
#define CACHE_WAYS      4u /* one block remembered for each value of an address's two upper bits */

struct block {
    uint8_t *page[PAGES_PER_BLOCK]; /* NULL: untouched */
};

/* Where small zeroed pieces come from. They are freed all at once. */
struct chunk {
    struct chunk *next;
    _Alignas(64) uint8_t bytes[CHUNK_BYTES];
};

struct cutter {
    uint8_t *at;
    size_t left;
};

/* A page that is not in use. */
struct free_page {
    struct free_page *next;
};

struct sparse_memory {
    void *blocks; /* JudyL: block number -> struct block * */
    struct chunk *chunks;
    struct cutter page_cutter, block_cutter;
    struct free_page *free_pages;
    uint64_t bytes, bytes_max;
    struct {
        uint64_t number;
        struct block *block; /* NULL: nothing remembered */
    } cache[CACHE_WAYS];
    struct sparse_fills fills;
    uint8_t *shown; /* [SPARSE_LOOKS] blocks that the last looks at untouched places have shown */
    uint32_t shown_next;
};

static const uint8_t zeros[BLOCK_BYTES];

struct sparse_memory *sparse_memory_create(uint64_t bytes_max)
{
    struct sparse_memory *memory = calloc(1, sizeof *memory);
    if (memory)
        memory->bytes_max = bytes_max ? bytes_max : UINT64_MAX;
    return memory;
}

void sparse_memory_free(struct sparse_memory *memory)
{
    if (!memory)
        return;
    JudyLFreeArray(&memory->blocks, PJE0);
    while (memory->chunks) {
        struct chunk *next = memory->chunks->next;
        free(memory->chunks);
        memory->chunks = next;
    }
    sparse_fills_free(&memory->fills);
    free(memory->shown);
    free(memory);
}

uint64_t sparse_memory_bytes(const struct sparse_memory *memory) { return memory->bytes; }

void sparse_memory_limit(struct sparse_memory *memory, uint64_t bytes_max)
{
    memory->bytes_max = bytes_max;
}

/* `bytes` divides the chunk. */
static void *cut(struct sparse_memory *memory, struct cutter *cutter, size_t bytes)
{
    if (cutter->left < bytes) {
        if (memory->bytes + sizeof(struct chunk) > memory->bytes_max)
            return NULL;
        struct chunk *chunk = aligned_alloc(64, sizeof *chunk);
        if (!chunk)
            return NULL;
        chunk->next = memory->chunks;
        memory->chunks = chunk;
        memory->bytes += sizeof *chunk;
        cutter->at = chunk->bytes;
        cutter->left = CHUNK_BYTES;
    }
    void *piece = cutter->at;
    cutter->at += bytes;
    cutter->left -= bytes;
    return memset(piece, 0, bytes);
}

static struct block *sparse_memory_find(struct sparse_memory *memory, uint64_t address)
{
    const uint64_t number = address / BLOCK_BYTES;
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

static struct block *find_or_make(struct sparse_memory *memory, uint64_t address)
{
    struct block *block = sparse_memory_find(memory, address);
    if (block)
        return block;
    block = cut(memory, &memory->block_cutter, sizeof *block);
    if (!block)
        return NULL;
    void **value = JudyLIns(&memory->blocks, address / BLOCK_BYTES, PJE0);
    if (value == PPJERR || !value)
        return NULL;
    *value = block;
    return block;
}

static size_t sparse_memory_least(size_t a, size_t b) { return a < b ? a : b; }

/* Untouched bytes, at most a block of them. */
static const uint8_t *show(struct sparse_memory *memory, uint64_t address, size_t bytes)
{
    if (memory->fills.count == 0)
        return zeros;
    uint8_t *at = memory->shown + memory->shown_next * BLOCK_BYTES;
    if (!sparse_fills_show(&memory->fills, address, at, bytes))
        return zeros;
    memory->shown_next = (memory->shown_next + 1) % SPARSE_LOOKS;
    return at;
}

const uint8_t *sparse_memory_look(struct sparse_memory *memory, uint64_t address, size_t want,
                                  size_t *run)
{
    const size_t offset = address % BLOCK_BYTES,
                 end = sparse_memory_least(offset + want, BLOCK_BYTES);
    const struct block *block = sparse_memory_find(memory, address);
    if (!block) {
        *run = end - offset;
        return show(memory, address, *run);
    }
    const size_t first = offset / SPARSE_PAGE_BYTES, in_page = offset % SPARSE_PAGE_BYTES;
    const uint8_t *start = block->page[first];
    size_t page = first + 1;
    while (page * SPARSE_PAGE_BYTES < end &&
           block->page[page] == (start ? start + (page - first) * SPARSE_PAGE_BYTES : NULL))
        page++;
    *run = sparse_memory_least(page * SPARSE_PAGE_BYTES, end) - offset;
    return start ? start + in_page : show(memory, address, *run);
}

/* A page with the contents that its place has shown so far. */
static uint8_t *make_page(struct sparse_memory *memory, uint64_t address)
{
    uint8_t *page = (uint8_t *)memory->free_pages;
    if (page) {
        memory->free_pages = memory->free_pages->next;
        memset(page, 0, SPARSE_PAGE_BYTES);
    } else {
        page = cut(memory, &memory->page_cutter, SPARSE_PAGE_BYTES);
    }
    if (page && memory->fills.count > 0)
        (void)sparse_fills_show(&memory->fills, address, page, SPARSE_PAGE_BYTES);
    return page;
}

uint8_t *sparse_memory_touch(struct sparse_memory *memory, uint64_t address, size_t want,
                             size_t *run)
{
    const size_t offset = address % BLOCK_BYTES,
                 end = sparse_memory_least(offset + want, BLOCK_BYTES);
    struct block *block = find_or_make(memory, address);
    if (!block)
        return NULL;
    const size_t first = offset / SPARSE_PAGE_BYTES;
    uint8_t *start = NULL;
    size_t page = first;
    for (; page * SPARSE_PAGE_BYTES < end; page++) {
        if (!block->page[page])
            block->page[page] = make_page(memory, address - offset + page * SPARSE_PAGE_BYTES);
        if (page == first)
            start = block->page[page];
        if (!start || block->page[page] != start + (page - first) * SPARSE_PAGE_BYTES)
            break;
    }
    *run = sparse_memory_least(page * SPARSE_PAGE_BYTES, end) - offset;
    return start ? start + offset % SPARSE_PAGE_BYTES : NULL;
}

/* Copies what a block has at `offset`; returns how much. block NULL: untouched. */
static size_t read_block(const struct sparse_memory *memory, const struct block *block,
                         uint64_t address, uint8_t *dst, size_t want)
{
    const size_t offset = address % BLOCK_BYTES;
    const size_t all = sparse_memory_least(want, BLOCK_BYTES - offset);
    for (size_t done = 0, run; done < all; done += run) {
        const size_t at = offset + done, in_page = at % SPARSE_PAGE_BYTES;
        const uint8_t *const page = block ? block->page[at / SPARSE_PAGE_BYTES] : NULL;
        run = sparse_memory_least(all - done, block ? SPARSE_PAGE_BYTES - in_page : all);
        if (page)
            memcpy(dst + done, page + in_page, run);
        else if (!sparse_fills_show(&memory->fills, address + done, dst + done, run))
            memset(dst + done, 0, run);
    }
    return all;
}

void sparse_memory_read(const struct sparse_memory *memory, uint64_t address, void *dst,
                        size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        void *const *const value = JudyLGet(memory->blocks, (address + done) / BLOCK_BYTES, PJE0);
        done += read_block(memory, value ? *value : NULL, address + done, (uint8_t *)dst + done,
                           bytes - done);
    }
}

bool sparse_memory_write(struct sparse_memory *memory, uint64_t address, const void *src,
                         size_t bytes)
{
    for (size_t done = 0, run; done < bytes; done += run) {
        uint8_t *to = sparse_memory_touch(memory, address + done, bytes - done, &run);
        if (!to)
            return false;
        memcpy(to, (const uint8_t *)src + done, run);
    }
    return true;
}

uint64_t sparse_memory_hash(struct sparse_memory *memory, const struct sparse_range *ranges,
                            size_t count)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (size_t i = 0; i < count; i++) {
        size_t run;
        for (uint64_t done = 0; done < ranges[i].bytes; done += run) {
            const uint64_t left = ranges[i].bytes - done;
            const size_t want = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
            const uint8_t *from = sparse_memory_look(memory, ranges[i].address + done, want, &run);
            XXH3_64bits_update(&state, from, run);
        }
    }
    return XXH3_64bits_digest(&state);
}

/* Touched pages of a block between first and last are free; those that are there in part get the
 * content. */
static void fill_block(struct sparse_memory *memory, struct block *block, uint64_t start,
                       uint64_t first, uint64_t last, const struct sparse_content *content)
{
    for (size_t i = 0; i < PAGES_PER_BLOCK; i++) {
        const uint64_t page = start + i * SPARSE_PAGE_BYTES, end = page + (SPARSE_PAGE_BYTES - 1);
        if (!block->page[i] || end < first || page > last)
            continue;
        const uint64_t from = page > first ? page : first, to = end < last ? end : last;
        uint8_t *bytes = block->page[i] + (from - page);
        if (from == page && to == end) {
            struct free_page *free_page = (struct free_page *)(void *)bytes;
            free_page->next = memory->free_pages;
            memory->free_pages = free_page;
            block->page[i] = NULL;
        } else if (content->make) {
            content->make(content, from - first, bytes, (size_t)(to - from) + 1);
        } else {
            memset(bytes, 0, (size_t)(to - from) + 1);
        }
    }
}

bool sparse_memory_fill(struct sparse_memory *memory, struct sparse_range range,
                        struct sparse_content content)
{
    const uint64_t last = range.address + (range.bytes - 1);
    if (!memory->shown)
        memory->shown = malloc(SPARSE_LOOKS * BLOCK_BYTES);
    if (!memory->shown || !sparse_fills_add(&memory->fills, range, content))
        return false;
    Word_t number = range.address / BLOCK_BYTES;
    for (void *const *value = JudyLFirst(memory->blocks, &number, PJE0);
         value && number <= last / BLOCK_BYTES; value = JudyLNext(memory->blocks, &number, PJE0))
        fill_block(memory, *value, number * BLOCK_BYTES, range.address, last, &content);
    return true;
}

/* The pages of a block that are not all zeros; block NULL: untouched. */
static void digest_block(const struct sparse_memory *memory, const struct block *block,
                         uint64_t start, XXH3_state_t *state)
{
    for (size_t i = 0; i < PAGES_PER_BLOCK; i++) {
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

uint64_t sparse_memory_digest(const struct sparse_memory *memory)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    Word_t number = 0;
    for (;;) { /* blocks that were touched, or that a fill has */
        uint64_t address;
        Word_t touched = number;
        void *const *value = JudyLFirst(memory->blocks, &touched, PJE0);
        const bool filled =
            sparse_fills_next(&memory->fills, (uint64_t)number * BLOCK_BYTES, &address);
        if (!value && !filled)
            break;
        const bool here = value && (!filled || touched <= address / BLOCK_BYTES);
        number = here ? touched : address / BLOCK_BYTES;
        digest_block(memory, here ? *value : NULL, (uint64_t)number * BLOCK_BYTES, &state);
        if (number == UINT64_MAX / BLOCK_BYTES)
            break;
        number++;
    }
    return XXH3_64bits_digest(&state);
}
