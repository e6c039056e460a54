/*
 * cause_log.h: keeps the causes of events (lp/causes.h) while a collective runs, and finds them
 * afterwards.
 *
 * Each worker writes the entries of its LPs one after the other (lp/cause_entry.h). Each entry
 * leads to the one before it of its LP: that is the LP's log, in the order in which its events
 * committed. So an LP's log does not depend on threads. An LP that moves to another worker is
 * handed over with all that was written. The logs are read between drains.
 */
#ifndef BENCH_CAUSE_LOG_H
#define BENCH_CAUSE_LOG_H

#include "lp/causes.h"

struct cause_log;

/* `ordered`: one worker, whose entries come in order of time; look-ups are quick then. `bytes_max`:
 * of all logs together, and not above 16 GiB; entries beyond that are dropped. NULL: out of
 * memory. */
struct cause_log *cause_log_create(uint32_t lps, uint32_t workers, bool ordered,
                                   uint64_t bytes_max);
void cause_log_free(struct cause_log *log); /* accepts NULL */
/* Forgets all; between drains. From then on entries are read with originators (lp/entity.h) in
 * place of entities, which are relative to the SIP of their LP: at a switch, to the SIP that the
 * event is sent to. m NULL: as they were written. */
void cause_log_clear(struct cause_log *log, const struct lp_model *m);
/*
 * The log of a folded machine is read as that of the whole one, of which `whole` is a model: LPs,
 * originators and PEs are whole's, and each LP has the log of its class's representative, turned.
 * The fold is of translations. Until the log is cleared.
 *
 * A switch's entries are turned by the originator that is asked for, or as the entry that they are
 * before; links in their steps keep the folded numbers (`to_link` has the whole one).
 */
void cause_log_unfold(struct cause_log *log, const struct lp_model *whole);

/*
 * On the worker that owns event->lp. The steps of LP_RECORD_CAUSE_MORE records come first.
 * cause_log_join() fills *sent with the event of an LP_RECORD_CAUSE record and the number of all
 * its steps, and returns the steps. They are valid until the worker's next call.
 */
void cause_log_more(struct cause_log *log, uint32_t worker, const uint32_t *steps, uint32_t count);
const uint32_t *cause_log_join(struct cause_log *log, uint32_t worker, const struct lp_cause *cause,
                               struct lp_sent *sent);
/* `steps` has room for LP_STEPS_AT_ONCE. */
void cause_log_add(struct cause_log *log, uint32_t worker, const struct cw_event *event,
                   const struct lp_sent *sent, const uint32_t *steps);
/* [workers] for handlers that write entries themselves (struct lp_cause_direct). They belong to the
 * log. */
struct lp_cause_writer **cause_log_writers(struct cause_log *log);

/* Between drains. True: no entry was dropped. */
bool cause_log_is_whole(const struct cause_log *log);
uint64_t cause_log_bytes(const struct cause_log *log); /* that are taken from the system */
/* The last entry of an LP whose event is not after this time; its place is 0: there is none. Quick
 * if the times of successive calls decrease, and in an ordered log. */
struct lp_cause_entry cause_log_until(struct cause_log *log, uint32_t lp, int64_t until_ps);
/* The entry before this one in the log of its LP; its place is 0: there is none. */
struct lp_cause_entry cause_log_before(const struct cause_log *log, uint32_t lp,
                                       const struct lp_cause_entry *entry);

/* The same two, of which a switch's entries are turned so that an event of this originator's SIP
 * has it. */
struct lp_cause_entry cause_log_until_of(struct cause_log *log, uint32_t lp, int64_t until_ps,
                                         uint32_t originator);
struct lp_cause_entry cause_log_before_of(const struct cause_log *log, uint32_t lp,
                                          const struct lp_cause_entry *entry, uint32_t originator);

/* Searches that log backwards from this entry, for the latest one that sent such an event; its
 * place is 0: there is none. */
struct lp_cause_entry cause_log_sent(const struct cause_log *log, uint32_t lp,
                                     const struct lp_cause_entry *from, uint32_t entity,
                                     uint32_t number, uint32_t type);

#endif
