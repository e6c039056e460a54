/*
 * send.h: sending events and cancellations to other workers. Messages are written into mailboxes;
 * peers_publish() makes them known.
 *
 * Entered by the worker that owns the timewarp.
 */
#ifndef CORE_SEND_H
#define CORE_SEND_H

#include <stdint.h>

struct remote_send;
struct timewarp;
struct worker;

/* From a handler, to another worker's LP. The words of the event's header (event.h) are passed in
 * registers: a wide load right after four narrow stores would wait for them. */
void send_event(struct worker *worker, uint64_t word_0, uint64_t word_1, uint64_t word_2,
                uint64_t word_3, const void *payload);

/* Cancels the send of a log's item (undo_log.h): at once if it went to another worker. An event of
 * an own LP is put on a list that rollback_work_off() works off. */
void send_cancel_logged(struct timewarp *tw, const uint64_t *data, uint64_t word);

#endif
