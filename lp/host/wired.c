/*
 * wired.c: a store of machines whose queues are installed (wired.h). Machines are distinguished by
 * a key: everything that they must agree in, as bytes. Padding is included, so equal machines may
 * be taken for different ones, never the reverse.
 */
#include "lp/host/wired.h"

#include <stdlib.h>
#include <string.h>

#include "lp/queues/queue_ends.h"

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

/* What two machines must agree in, beside their PEs' directions and their cubes' workers. */
struct machine_key {
    struct hw_config hw;
    struct lp_config config;
    struct lp_needs needs;
    struct cw_config engine;
    struct hw_fold fold; /* all zero: none */
    uint64_t plan;
};

/* The engine's configuration without the host's functions, their arguments and the partition, which
 * has a place of its own in the key. Whatever else is added there becomes part of the key. */
static struct cw_config without_host(const struct cw_config *engine)
{
    struct cw_config own = *engine;
    struct cw_tuning *const tuning = &own.tuning;
    own.lp_worker = tuning->lp_part = NULL;
    own.least_delay_ps = NULL;
    own.record = NULL;
    own.stop = NULL;
    tuning->least_delays = NULL;
    tuning->worker_record = NULL;
    tuning->worker_look = NULL;
    tuning->progress = tuning->each_round = NULL;
    own.record_arg = own.stop_arg = tuning->least_delays_arg = NULL;
    tuning->worker_arg = tuning->progress_arg = NULL;
    return own;
}

/* Directions of each PE, UINT16_MAX where it gets no IpcqInitMsg. */
static void put_directions(const struct lp_wired_machine *machine, uint8_t *at)
{
    const struct lp_plan *const plan = machine->m->plan[1 + machine->plan];
    const uint32_t count = lp_pe_count(machine->m);
    for (uint32_t i = 0; i < count; i++, at += sizeof(uint16_t)) {
        const uint32_t pe = lp_pe_at(machine->m, i);
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
    struct machine_key key;
    memset(&key, 0, sizeof key); /* padding, too */
    key.hw = m->hw;
    key.config = m->config;
    key.needs = m->needs;
    key.engine = without_host(machine->engine);
    if (m->fold != NULL)
        key.fold = *m->fold;
    key.plan = machine->plan;
    const size_t cubes = cw_sim_worker_count(machine->sim) > 1 ? (size_t)m->sips * m->cubes : 0;
    const size_t pe_bytes = (size_t)lp_pe_count(m) * sizeof(uint16_t);
    const size_t bytes = sizeof key + cubes * sizeof(uint32_t) + pe_bytes;
    struct wired_entry *const entry = calloc(1, sizeof *entry + bytes);
    if (entry == NULL)
        return NULL;
    entry->key_bytes = bytes;
    memcpy(entry->key, &key, sizeof key);
    put_workers(machine, entry->key + sizeof key, cubes);
    put_directions(machine, entry->key + sizeof key + cubes * sizeof(uint32_t));
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
    wired->asked_bytes = (uint64_t)m->sips * m->cubes * m->cube.state_bytes;
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
