/*
 * cause_log.h: keeps the causes of events (lp/causes.h) while a collective runs, and finds them
 * afterwards.
 *
 * Each worker writes the entries of its LPs one after the other. Each entry leads to the one before
 * it of its LP: that is the LP's log, in the order in which its events committed. So an LP's log
 * does not depend on threads. An LP that moves to another worker is handed over with all that was
 * written. The logs are read between drains.
 */
#ifndef BENCH_CAUSE_LOG_H
#define BENCH_CAUSE_LOG_H

#include "lp/causes.h"

struct cause_log;

/* `bytes_max`: of all logs together; entries beyond are not kept. NULL: out of memory. */
struct cause_log *cause_log_create(uint32_t lps, uint32_t workers, uint64_t bytes_max);
void cause_log_free(struct cause_log *log); /* accepts NULL */
/* Forgets all; between drains. */
void cause_log_clear(struct cause_log *log);

/*
 * On the worker that owns event->lp. The steps of LP_RECORD_CAUSE_MORE records come first; joined
 * with those of the cause that they belong to they are valid until the worker's next call.
 */
struct cause_steps {
    const uint32_t *step;
    uint32_t count;
};
void cause_log_more(struct cause_log *log, uint32_t worker, const uint32_t *steps, uint32_t count);
struct cause_steps cause_log_join(struct cause_log *log, uint32_t worker,
                                  const struct lp_cause *cause);
const struct lp_cause_entry *cause_log_add(struct cause_log *log, uint32_t worker,
                                           const struct cw_event *event, const struct lp_sent *sent,
                                           struct cause_steps steps);
/* The place of worker 0, for handlers that write entries themselves (struct lp_cause_direct). */
struct lp_cause_writer *cause_log_writer(struct cause_log *log);

/* Between drains. All that came was kept. */
bool cause_log_is_whole(const struct cause_log *log);
uint64_t cause_log_bytes(const struct cause_log *log); /* that are taken from the system */
/* The last entry of an LP whose event is not after this time; NULL: there is none. Quick where the
 * times that are asked for fall, and with one worker. */
const struct lp_cause_entry *cause_log_until(struct cause_log *log, uint32_t lp, int64_t until_ps);

#endif
