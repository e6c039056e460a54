/*
 * data_commit.h: executes records on the workers that own their cubes, as their events become final
 * (cw_tuning.worker_record). The records of one cube come in the total order, records of
 * different cubes in any. So a record may come before the value that it needs from another cube.
 * Then it waits, and so do all later records of its cube; no other cube waits for that reason.
 *
 * I-DATA-1: each record reads and writes the same bytes as in the total order. Proof, by induction
 * over the total order of records:
 *   1. A record reads its own cube's memories and the values that parcels bring. Only records of
 *      the same cube write those memories, and they are executed in their order.
 *   2. A value is bound by a record of the sending cube, which comes earlier in the total order,
 * and the record that uses it names it. So it is the same value, whenever it comes.
 *
 * I-DATA-2: some record can always be executed, as long as one waits. Proof:
 *   1. Of all records that are final and have not been executed, take the least.
 *   2. The value that it needs was bound by an earlier record (record.h, "Causality"). The event of
 *      that record is final, too, since it comes before a final event.
 *   3. So that record has been executed, or is yet to be handed over by its worker, which waits for
 *      nothing. In both cases the value comes.
 * So nothing waits when all final events of a drain have been handed over and executed.
 *
 * A failure names the record that fails in the total order, whatever else has failed: the least
 * failed event counts, and by I-DATA-1 every record before it was executed well.
 */
#ifndef COLLECTIVES_DATA_COMMIT_H
#define COLLECTIVES_DATA_COMMIT_H

#include "core/cw.h"
#include "lp/record.h"

struct data_cube;
struct data_pass;

/* For the machine: takes each record on the worker that owns the LP of the event that emitted it;
 * failures are noted. `look` executes the worker's waiting records whose values have come. */
struct lp_worker_listener data_commit_listener(struct data_pass *pass);

/* How a drain has ended. */
struct data_drain {
    bool aborted;                  /* without an order: a record that still waits is not an error */
    const struct cw_event *failed; /* failures at or after this event do not count; NULL: all do */
};
/*
 * The host, after a drain: executes the records that still wait. Returns CW_OK, or the failure that
 * comes first in the total order, with *error and its event.
 */
int data_commit_settle(struct data_pass *pass, const struct data_drain *drain,
                       struct cw_event *event, struct cw_error *error);

/* Frees the records that wait in a cube. */
void data_waiting_free(struct data_cube *cube);

#endif
