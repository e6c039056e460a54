/*
 * commit_records.c: keeps a handler's records, and passes them on when the event commits
 * (commit_records.h).
 */
#include "core/exchange/commit_records.h"

#include <string.h>

enum { CAPACITY_MIN = 4096 }; /* bytes */

struct record_header {
    uint16_t kind;
    uint16_t bytes;
    uint32_t stride; /* to the next header */
};

void commit_records_init(struct commit_records *records, struct memory *memory)
{
    *records = (struct commit_records){.memory = memory};
}

void commit_records_free(struct commit_records *records)
{
    memory_give(records->memory, records->bytes, records->capacity);
}

bool commit_records_add(struct commit_records *records, uint16_t kind, const void *record,
                        uint16_t bytes)
{
    const uint32_t stride = (uint32_t)sizeof(struct record_header) + (bytes + 7u) / 8u * 8u;
    if (!memory_grow(records->memory, &records->bytes, &records->capacity, records->used,
                     records->used + stride, 1, CAPACITY_MIN))
        return false;
    const struct record_header header = {.kind = kind, .bytes = bytes, .stride = stride};
    memcpy(records->bytes + records->used, &header, sizeof header);
    if (bytes > 0)
        memcpy(records->bytes + records->used + sizeof header, record, bytes);
    records->used += stride;
    return true;
}

void commit_records_deliver_bytes(const uint8_t *bytes, size_t used, const struct cw_event *event,
                                  cw_record_fn sink, void *arg)
{
    for (size_t at = 0; at < used;) {
        struct record_header header;
        memcpy(&header, bytes + at, sizeof header);
        sink(arg, event, header.kind, bytes + at + sizeof header, header.bytes);
        at += header.stride;
    }
}

void commit_records_deliver_worker(const uint8_t *bytes, size_t used, const struct cw_event *event,
                                   const struct cw_config *config, uint32_t worker)
{
    for (size_t at = 0; at < used;) {
        struct record_header header;
        memcpy(&header, bytes + at, sizeof header);
        config->tuning.worker_record(config->tuning.worker_arg, worker, event, header.kind,
                                     bytes + at + sizeof header, header.bytes);
        at += header.stride;
    }
}
