/*
 * commit_records.h: commit records on their way from a handler to the simulation's sink.
 *
 * A handler's records are kept until it is known that its event commits; then they go out in the
 * order of emission. The events themselves commit in the total order, so the sink sees one order
 * whatever the threads.
 */
#ifndef CORE_COMMIT_RECORDS_H
#define CORE_COMMIT_RECORDS_H

#include "core/cw.h"
#include "core/os/memory.h"

struct commit_records {
    struct memory *memory;
    uint8_t *bytes; /* each record: a header, then its bytes, padded to 8 */
    size_t used, capacity;
};

void commit_records_init(struct commit_records *records, struct memory *memory);
void commit_records_free(struct commit_records *records);

/* False: out of memory. */
bool commit_records_add(struct commit_records *records, uint16_t kind, const void *record,
                        uint16_t bytes);

/* Hands `used` bytes of records, as commit_records_add() wrote them, to the sink. */
void commit_records_deliver_bytes(const uint8_t *bytes, size_t used, const struct cw_event *event,
                                  cw_record_fn sink, void *arg);

/* Hands the `used` bytes of records, as commit_records_add() wrote them, to the receiver of the
 * worker that owns the LP of `event`. */
void commit_records_deliver_worker(const uint8_t *bytes, size_t used, const struct cw_event *event,
                                   const struct cw_config *config, uint32_t worker);

#endif
