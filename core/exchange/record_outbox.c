/*
 * record_outbox.c: fills chunks with committed records (record_outbox.h). Each function is entered
 * by the worker that owns the outbox, or between drains by the host.
 */
#include "core/exchange/record_outbox.h"

#include <string.h>

#include "core/invariant.h"

enum {
    CHUNK_BYTES_MIN = 16 << 10,
    CHUNK_BYTES_MAX = 64 << 10,
    CHUNK_SHARE = 4096, /* a chunk has at most this part of all memory, */
    LENT_SHARE = 16,    /* and the chunks of all workers this one, */
    LENT_BYTES_MAX = 64 << 20,
    LENT_CHUNKS_MIN = 4, /* but each worker may lend at least this many */
    RECORDS_AHEAD_BYTES = 512,
};

static size_t chunk_bytes(size_t bytes) { return sizeof(struct record_chunk) + bytes; }

static size_t usual_bytes(const struct memory *memory)
{
    const uint64_t share = memory->bytes_max / CHUNK_SHARE;
    return share < CHUNK_BYTES_MIN   ? CHUNK_BYTES_MIN
           : share > CHUNK_BYTES_MAX ? CHUNK_BYTES_MAX
                                     : share & ~(uint64_t)15;
}

void record_outbox_init(struct record_outbox *outbox, struct memory *memory,
                        struct record_lane *lane, uint32_t owner, uint32_t workers)
{
    const uint64_t all = memory->bytes_max / LENT_SHARE;
    const size_t part = (size_t)(all < LENT_BYTES_MAX ? all : LENT_BYTES_MAX) / workers;
    const size_t least = LENT_CHUNKS_MIN * usual_bytes(memory);
    *outbox = (struct record_outbox){
        .memory = memory, .lane = lane, .owner = owner, .lent_most = part > least ? part : least};
}

/* An empty chunk with room for this many bytes. NULL: out of memory. */
static struct record_chunk *get_chunk(struct record_outbox *outbox, size_t bytes)
{
    if (outbox->spare == NULL)
        record_outbox_take_back(outbox);
    struct record_chunk *const spare = outbox->spare;
    if (spare != NULL && spare->bytes >= bytes) {
        outbox->spare = spare->older;
        outbox->spare_bytes -= spare->bytes;
        spare->ended = false;
        sync_store_release(&spare->used, 0); /* ours alone, until it is published (I-REC-1) */
        sync_store_pointer_release(&spare->next, NULL);
        return spare;
    }
    const size_t usual = usual_bytes(outbox->memory);
    const size_t capacity = bytes > usual ? bytes : usual;
    struct record_chunk *const chunk = memory_take(outbox->memory, chunk_bytes(capacity));
    if (chunk != NULL) {
        chunk->bytes = capacity;
        chunk->owner = outbox->owner;
    }
    return chunk;
}

/* The open chunk is full: publishes it, and continues in another one. False: out of memory. */
static bool go_on(struct record_outbox *outbox, size_t bytes)
{
    struct record_chunk *const old = outbox->open;
    CW_INVARIANT("I-REC-1", outbox->lane != NULL, "worker %llu adds records that go to no merger",
                 (unsigned long long)outbox->owner);
    struct record_chunk *const chunk = get_chunk(outbox, bytes);
    if (chunk == NULL)
        return false;
    (void)record_outbox_publish(outbox);
    CW_INVARIANT("I-REC-1", old == NULL || sync_load_pointer_acquire(&old->next) == NULL,
                 "a chunk of worker %llu gets a second successor",
                 (unsigned long long)outbox->owner);
    /* release: publishes the chunk's head and, before it, the last `used` of the old one (I-REC-1);
     * pairs with the acquire in next_chunk() of record_merge.c */
    sync_store_pointer_release(old == NULL ? &outbox->lane->first : &old->next, chunk);
    outbox->lent_bytes += old == NULL ? 0 : old->bytes;
    outbox->open = chunk;
    outbox->written = 0;
    return true;
}

uint8_t *record_outbox_add(struct record_outbox *outbox, const struct cw_event *event,
                           size_t records_bytes)
{
    const size_t copied = offsetof(struct cw_event, payload) + event->payload_bytes;
    const struct record_chunk_event head = {.event_bytes = (uint32_t)record_round_up(copied),
                                            .records_bytes = (uint32_t)records_bytes,
                                            .placement = outbox->placement};
    const size_t bytes = sizeof head + head.event_bytes + record_round_up(records_bytes);
    if ((outbox->open == NULL || outbox->open->bytes - outbox->written < bytes) &&
        !go_on(outbox, bytes))
        return NULL;
    uint8_t *const at = outbox->open->data + outbox->written;
    for (size_t line = 0; line < bytes; line += 64) /* the merger has read it the last time */
        __builtin_prefetch(at + RECORDS_AHEAD_BYTES + line, 1);
    memcpy(at, &head, sizeof head);
    memcpy(at + sizeof head, event, copied);
    outbox->written += bytes;
    outbox->added += bytes;
    return at + sizeof head + head.event_bytes;
}

uint64_t record_outbox_publish(struct record_outbox *outbox)
{
    if (outbox->open == NULL || outbox->published == outbox->added)
        return outbox->published;
    CW_INVARIANT("I-REC-1",
                 outbox->written <= outbox->open->bytes &&
                     sync_load_acquire(&outbox->open->used) < outbox->written,
                 "worker %llu publishes %zu bytes of a chunk of %zu, after %llu",
                 (unsigned long long)outbox->owner, outbox->written, outbox->open->bytes,
                 (unsigned long long)sync_load_acquire(&outbox->open->used));
    outbox->published = outbox->added;
    /* release: publishes the records; pairs with the acquire in take_lane() of record_merge.c */
    sync_store_release(&outbox->open->used, outbox->written);
    return outbox->published;
}

void record_outbox_take_back(struct record_outbox *outbox)
{
    if (outbox->lane == NULL)
        return;
    /* acquire: the chunks are empty; pairs with the release in give_back() of record_merge.c */
    struct record_chunk *chunk = sync_load_pointer_acquire(&outbox->lane->spent);
    if (chunk == NULL)
        return;
    sync_store_pointer_release(&outbox->lane->spent, NULL); /* pairs with give_back() */
    while (chunk != NULL) {
        struct record_chunk *const older = chunk->older;
        CW_INVARIANT("I-REC-1",
                     chunk->owner == outbox->owner && chunk->left == 0 && chunk->ended &&
                         outbox->lent_bytes >= chunk->bytes,
                     "worker %llu gets back a chunk of worker %llu with %zu events",
                     (unsigned long long)outbox->owner, (unsigned long long)chunk->owner,
                     chunk->left);
        outbox->lent_bytes -= chunk->bytes;
        if (chunk->bytes == usual_bytes(outbox->memory) &&
            outbox->spare_bytes < outbox->lent_most) {
            chunk->older = outbox->spare;
            outbox->spare = chunk;
            outbox->spare_bytes += chunk->bytes;
        } else {
            memory_give(outbox->memory, chunk, chunk_bytes(chunk->bytes));
        }
        chunk = older;
    }
}

void record_chunks_free(struct record_chunk *chunk, struct memory *memory)
{
    while (chunk != NULL) {
        struct record_chunk *const older = chunk->older;
        memory_give(memory, chunk, chunk_bytes(chunk->bytes));
        chunk = older;
    }
}

void record_outbox_trim(struct record_outbox *outbox)
{
    record_chunks_free(outbox->spare, outbox->memory);
    outbox->spare = NULL;
    outbox->spare_bytes = 0;
}

void record_outbox_free(struct record_outbox *outbox)
{
    if (outbox->lane != NULL)
        record_chunks_free(sync_load_pointer_acquire(&outbox->lane->spent), outbox->memory);
    record_outbox_trim(outbox);
}
