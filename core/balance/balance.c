/*
 * balance.c: see balance.h.
 */
#include "core/balance/balance.h"

#include "core/balance/migrate.h"
#include "core/simulation.h"
#include "core/timewarp/timewarp.h"
#include "core/worker.h"

/* ---- at random ------------------------------------------------------------------------------- */

/* Every second round. In one of four moves all parts go to one worker, in the others one part of
 * four goes to any. */
static void move_at_random(struct timewarp *tw)
{
    enum { ROUNDS = 2, KINDS = 4 };
    const struct cw_sim *const sim = tw->worker->sim;
    struct cw_rng *const rng = &tw->stress.rng;
    uint32_t *const part_worker = cw_rng_below(rng, ROUNDS) == 0 ? migrate_draft(tw) : NULL;
    if (part_worker == NULL)
        return;
    const uint32_t parts = migrate_part_count(sim), kind = cw_rng_below(rng, KINDS);
    const uint32_t to = cw_rng_below(rng, sim->worker_count);
    for (uint32_t part = 0; part < parts; part++)
        if (kind == 0)
            part_worker[part] = to;
        else if (cw_rng_below(rng, KINDS) == 0)
            part_worker[part] = cw_rng_below(rng, sim->worker_count);
    (void)migrate_plan(tw);
}

/* ---- the look -------------------------------------------------------------------------------- */

void balance_look(struct timewarp *tw)
{
    const struct cw_config *const config = &tw->worker->sim->config;
    if (tw->stress.on || config->balance == CW_BALANCE_RANDOM)
        move_at_random(tw);
}
