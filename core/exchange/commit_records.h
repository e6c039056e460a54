/*
 * commit_records.h: commit records on their way from a handler to the simulation's sink.
 *
 * A handler's records are kept until it is known that its event commits; then they go out in the
 * order of emission. The events themselves commit in the total order, so the sink sees one order
 * whatever the threads.
 *
 * A handler whose event is final may hand its records over itself (cw_is_final()). The order of its
 * LP's records stays:
 *   1. An event that is handled without undo finds no log of its LP: all earlier ones are dropped.
 *   2. A log is dropped only after its records are delivered. The records of an event without a log
 *      are delivered right after its handler.
 *   3. So all earlier records of the LP are with the host when the handler begins.
 *   4. No other thread uses the worker's number meanwhile.
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
