/*
 * wired.c: a store of machines whose queues are installed (wired.h). Machines are distinguished by
 * a key: everything that they must agree in, as bytes. Padding is included, so equal machines may
 * be taken for different ones, never the reverse.
 */
#include "lp/host/wired.h"

#include <stdlib.h>
#include <string.h>

#include "lp/queues/queue_ends.h"

/* The parts of cw_config that decide how an installation ends. */
struct engine_key {
    uint64_t sync, worker_count, plan, memory_bytes_max, events_max, sends_per_event_max;
    uint64_t stress_seed, stress_rate_p32;
    int64_t end_ps, window_ps;
    uint64_t hash_off, check_changes;
};

/* A machine that is kept. */
struct wired_entry {
    struct wired_entry *next; /* asked for less recently */
    struct cw_snapshot *snapshot;
    uint32_t messages;
    size_t key_bytes;
    uint8_t key[];
};

struct lp_wired {
    struct wired_entry *first;
    struct wired_entry *asked; /* a key that was not found; NULL: none is waited for */
    const struct cw_sim *asked_by;
    uint64_t asked_bytes; /* of its snapshot, at least */
    uint64_t bytes, bytes_max;
};

struct lp_wired *lp_wired_create(uint64_t bytes_max)
{
    struct lp_wired *const wired = calloc(1, sizeof *wired);
    if (wired != NULL)
        wired->bytes_max = bytes_max;
    return wired;
}

static uint64_t entry_bytes(const struct wired_entry *entry)
{
    return cw_snapshot_bytes(entry->snapshot) + sizeof *entry + entry->key_bytes;
}

static void free_entry(struct wired_entry *entry)
{
    cw_snapshot_free(entry->snapshot);
    free(entry);
}

void lp_wired_free(struct lp_wired *wired)
{
    struct wired_entry *next;
    for (struct wired_entry *at = wired != NULL ? wired->first : NULL; at != NULL; at = next) {
        next = at->next;
        free_entry(at);
    }
    if (wired != NULL)
        free(wired->asked);
    free(wired);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static struct engine_key engine_key_of(const struct lp_wired_machine *machine)
{
    const struct cw_config *const engine = machine->engine;
    return (struct engine_key){.sync = engine->sync,
                               .worker_count = engine->worker_count,
                               .plan = machine->plan,
                               .memory_bytes_max = engine->memory_bytes_max,
                               .events_max = engine->events_max,
                               .sends_per_event_max = engine->tuning.sends_per_event_max,
                               .stress_seed = engine->tuning.stress_seed,
                               .stress_rate_p32 = engine->tuning.stress_rate_p32,
                               .end_ps = engine->end_ps,
                               .window_ps = engine->tuning.window_ps,
                               .hash_off = engine->tuning.hash_off,
                               .check_changes = engine->check_changes};
}

/* Directions of each PE, UINT16_MAX where it gets no IpcqInitMsg. */
static void put_directions(const struct lp_wired_machine *machine, uint8_t *at)
{
    const struct lp_plan *const plan = machine->m->plan[1 + machine->plan];
    const uint32_t count = hw_pe_count(&machine->m->hw);
    for (uint32_t pe = 0; pe < count; pe++, at += sizeof(uint16_t)) {
        const uint16_t directions = lp_is_wired(plan, pe) ? lp_directions(plan, pe) : UINT16_MAX;
        memcpy(at, &directions, sizeof directions);
    }
}

/* The worker of each cube, which may change while the machine runs. */
static void put_workers(const struct lp_wired_machine *machine, uint8_t *at, size_t cubes)
{
    for (size_t cube = 0; cube < cubes; cube++, at += sizeof(uint32_t)) {
        const uint32_t worker = cw_lp_worker(machine->sim, 1 + (uint32_t)cube);
        memcpy(at, &worker, sizeof worker);
    }
}

/* An entry with the machine's key alone. NULL: out of memory. */
static struct wired_entry *entry_of_machine(const struct lp_wired_machine *machine)
{
    const struct lp_model *const m = machine->m;
    const struct engine_key engine = engine_key_of(machine);
    const size_t cubes =
        cw_sim_worker_count(machine->sim) > 1 ? (size_t)m->hw.sip_count * m->cubes : 0;
    const size_t pe_bytes = (size_t)hw_pe_count(&m->hw) * sizeof(uint16_t);
    const size_t bytes =
        sizeof m->hw + sizeof m->config + sizeof engine + cubes * sizeof(uint32_t) + pe_bytes;
    struct wired_entry *const entry = calloc(1, sizeof *entry + bytes);
    if (entry == NULL)
        return NULL;
    entry->key_bytes = bytes;
    uint8_t *at = entry->key;
    memcpy(at, &m->hw, sizeof m->hw);
    memcpy(at += sizeof m->hw, &m->config, sizeof m->config);
    memcpy(at += sizeof m->config, &engine, sizeof engine);
    put_workers(machine, at += sizeof engine, cubes);
    put_directions(machine, at + cubes * sizeof(uint32_t));
    return entry;
}

/* ---- the store ------------------------------------------------------------------------------- */

/* The place that leads to the entry with this key; to NULL: there is none. */
static struct wired_entry **find(struct lp_wired *wired, const struct wired_entry *like)
{
    struct wired_entry **at = &wired->first;
    while (*at != NULL && ((*at)->key_bytes != like->key_bytes ||
                           memcmp((*at)->key, like->key, like->key_bytes) != 0))
        at = &(*at)->next;
    return at;
}

static void forget_asked(struct lp_wired *wired)
{
    free(wired->asked);
    wired->asked = NULL;
}

/* The host's links to the SIPs stay as they are: free. Each message has left its link before it was
 * answered, and now is the time of the last answer. */
uint32_t lp_wired_restore(struct lp_wired *wired, const struct lp_wired_machine *machine)
{
    const struct lp_model *const m = machine->m;
    struct cw_error ignored;
    forget_asked(wired);
    wired->asked = entry_of_machine(machine);
    wired->asked_by = machine->sim;
    wired->asked_bytes = (uint64_t)m->hw.sip_count * m->cubes * m->cube.state_bytes;
    if (wired->asked == NULL)
        return 0;
    struct wired_entry **const place = find(wired, wired->asked);
    struct wired_entry *const entry = *place;
    if (entry == NULL)
        return 0;
    forget_asked(wired);
    if (cw_sim_restore(machine->sim, entry->snapshot, &ignored) != CW_OK)
        return 0;
    *place = entry->next;
    entry->next = wired->first;
    wired->first = entry;
    machine->control->next_number = entry->messages; /* they were the first */
    return entry->messages;
}

/* Drops the entry that was used least recently. */
static void drop_last(struct lp_wired *wired)
{
    struct wired_entry **at = &wired->first;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): bytes count the entries */
    while ((*at)->next != NULL)
        at = &(*at)->next;
    wired->bytes -= entry_bytes(*at);
    free_entry(*at);
    *at = NULL;
}

void lp_wired_keep(struct lp_wired *wired, struct cw_sim *sim, uint32_t messages)
{
    struct wired_entry *const entry = wired->asked;
    struct cw_error ignored;
    if (entry == NULL || wired->asked_by != sim || wired->asked_bytes > wired->bytes_max)
        return;
    wired->asked = NULL;
    entry->messages = messages;
    entry->snapshot = cw_snapshot_take(sim, &ignored);
    if (entry->snapshot == NULL) {
        free(entry);
        return;
    }
    entry->next = wired->first;
    wired->first = entry;
    wired->bytes += entry_bytes(entry);
    while (wired->bytes > wired->bytes_max)
        drop_last(wired);
}
