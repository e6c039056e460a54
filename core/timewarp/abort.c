/*
 * abort.c: see abort.h.
 */
#include "core/timewarp/abort.h"

#include "core/simulation.h"
#include "core/timewarp/wait.h"
#include "core/worker.h"

void abort_run(struct cw_sim *sim, const struct worker *worker)
{
    /* orders everything: the failure is written; pairs with simulation_aborted() */
    if (sync_claim(&sim->aborted, 1 + (uint64_t)worker->index) && sim->slots != NULL &&
        worker->timewarp != NULL)
        wait_wake(sim, worker->index, true);
}
