/*
 * data_commit.c: executes records as they commit (data_commit.h).
 *
 * A worker lists the cubes in which records wait. A cube that has changed its owner meanwhile is
 * handed over to the new one, by that worker's inbox: nothing else of the list is shared.
 */
#include "collectives/data/data_commit.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/data/data_apply.h"
#include "collectives/data/data_check.h"
#include "collectives/data/data_parcel.h"
#include "collectives/data/data_take.h"
#include "core/invariant.h"

/* A record that waits; op.kind 0: a kernel of op.pe has ended, with op.dst and op.bytes its queue
 * and its TCM, or (op.seq) one of the batch of this number begins. */
struct data_waiting {
    struct data_waiting *next;
    struct lp_op op;
    struct cw_event event;
};

static struct data_cube *cube_of(struct sync_node *node)
{
    return (struct data_cube *)(void *)((uint8_t *)node - offsetof(struct data_cube, next));
}

void data_waiting_free(struct data_cube *cube)
{
    while (cube->first != NULL) {
        struct data_waiting *const next = cube->first->next;
        free(cube->first);
        cube->first = next;
    }
    cube->last = NULL;
}

static uint32_t cube_index(const struct data_site *site)
{
    return (uint32_t)(site->cube - site->pass->cubes);
}

/* No further record of the site's cube is executed. */
static void fail_cube(const struct data_site *site, const struct cw_event *event,
                      const struct cw_error *error)
{
    data_note_failure(site->worker, event, error);
    data_waiting_free(site->cube);
    site->cube->failed = true;
}

/* ---- one record ------------------------------------------------------------------------------ */

static bool has_come(const struct data_site *site, uint32_t pe, uint32_t seq, uint8_t dir)
{
    struct tile *tile;
    return tiles_find(&site->cube->tiles, (struct tile_name){pe, seq, dir}, &tile) != TILE_NOT_SENT;
}

static bool operand_has_come(const struct data_site *site, const struct lp_op *op,
                             const struct lp_operand *operand)
{
    return operand->space != LP_SPACE_TILE || has_come(site, op->pe, operand->at, operand->dir);
}

/* Whether all values from other cubes are here that the record needs. */
static bool is_ready_now(const struct data_site *site, const struct lp_op *op)
{
    switch (op->kind) {
    case 0:
    case LP_OP_NOTIFY:
    case LP_OP_WAIT_NOTIFY:
        return true;
    case LP_OP_RECV:
        return has_come(site, op->pe, op->seq, op->dir);
    case LP_OP_LAND:
    case LP_OP_STORED:
    case LP_OP_LOAD_FROM:
        return data_parcel_find(site, op) != NULL;
    default:
        return operand_has_come(site, op, &op->a) &&
               (!lp_op_reads_b(op) || operand_has_come(site, op, &op->b));
    }
}

static bool is_ready(const struct data_site *site, const struct lp_op *op)
{
    return site->pass->owner == NULL || is_ready_now(site, op) ||
           (data_parcels_take(site) && is_ready_now(site, op));
}

/* A landing gets the destination and the operation of its put or store. */
static void complete_landing(const struct data_site *site, struct lp_op *op)
{
    const struct data_parcel *const parcel = data_parcel_find(site, op);
    if (parcel == NULL)
        return;
    op->bytes = parcel->op.bytes;
    op->dst = parcel->op.dst;
    op->math = op->kind == LP_OP_LAND ? parcel->op.math : 0;
    op->dtype = parcel->op.dtype;
}

static void execute(const struct data_site *site, const struct lp_op *record)
{
    if (record->kind == 0 && record->seq != 0) {
        data_take_at_start(site->pass, record->pe, record->seq);
        return;
    }
    if (record->kind == 0) {
        tiles_end_kernel(&site->cube->tiles, &site->worker->pool, record->pe, record->dst.queue);
        (void)wide_sums_forget(&site->cube->wide, record->pe, record->dst.at, record->bytes, 1);
        return;
    }
    struct lp_op op = *record;
    struct cw_error error;
    if (op.kind == LP_OP_LAND || op.kind == LP_OP_STORED)
        complete_landing(site, &op);
    if (data_apply(site, &op, &error) != CW_OK)
        fail_cube(site, site->event, &error);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void list_cube(struct data_worker *worker, struct data_cube *cube)
{
    cube->next.next = worker->listed;
    worker->listed = &cube->next;
}

static void wait_in_line(const struct data_site *site, const struct lp_op *op)
{
    struct data_cube *const cube = site->cube;
    struct data_waiting *const waiting = malloc(sizeof *waiting);
    if (waiting == NULL) {
        struct cw_error error;
        (void)cw_error_memory(&error, "records that wait for tiles");
        fail_cube(site, site->event, &error);
        return;
    }
    if (!cube->listed)
        list_cube(site->worker, cube);
    cube->listed = true;
    waiting->next = NULL;
    waiting->op = *op;
    memcpy(&waiting->event, site->event,
           offsetof(struct cw_event, payload) + site->event->payload_bytes);
    if (cube->first == NULL)
        cube->first = waiting;
    else
        cube->last->next = waiting;
    cube->last = waiting;
}

/* Executes the cube's waiting records as far as their values have come. Returns how many. */
static uint64_t execute_waiting(struct data_pass *pass, struct data_worker *worker,
                                struct data_cube *cube)
{
    uint64_t executed = 0;
    while (cube->first != NULL) {
        struct data_waiting *const waiting = cube->first;
        const struct data_site site = {pass, worker, cube, &waiting->event};
        if (!is_ready(&site, &waiting->op))
            break;
        cube->first = waiting->next;
        execute(&site, &waiting->op);
        free(waiting);
        executed++;
    }
    return executed;
}

static void commit_record(struct data_pass *pass, uint32_t worker, const struct cw_event *event,
                          const struct lp_op *op)
{
    struct data_cube *const cube = &pass->cubes[op->pe < pass->pe_count ? op->pe / pass->pes : 0];
    const struct data_site site = {pass, &pass->workers[worker], cube, event};
    CW_INVARIANT("I-DATA-1",
                 pass->owner == NULL || op->pe >= pass->pe_count ||
                     pass->owner(pass->owner_arg, cube_index(&site)) == worker,
                 "worker %u executes a record of PE index %u", worker, op->pe);
    if (cube->failed)
        return;
    if (cube->first == NULL && is_ready(&site, op))
        execute(&site, op);
    else
        wait_in_line(&site, op);
}

static void on_op(void *pass, uint32_t worker, const struct cw_event *event, const struct lp_op *op)
{
    commit_record(pass, worker, event, op);
}

/* It matters where somebody wants to know what the kernel finds. */
static void on_kernel_start(void *arg, uint32_t worker, const struct cw_event *event, uint32_t pe,
                            uint32_t batch)
{
    const struct data_pass *const pass = arg;
    if (pe < pass->pe_count && pass->cubes[pe / pass->pes].takes != NULL)
        commit_record(arg, worker, event, &(struct lp_op){.pe = pe, .seq = batch});
}

static void on_kernel_end(void *pass, uint32_t worker, const struct cw_event *event,
                          const struct lp_kernel_end *end)
{
    commit_record(pass, worker, event,
                  &(struct lp_op){.pe = end->pe,
                                  .bytes = end->tcm_bytes,
                                  .dst = {.queue = (uint8_t)end->queue, .at = end->tcm_at}});
}

/* ---- looks ----------------------------------------------------------------------------------- */

/* Lists the cubes that were other workers' before. A cube may have moved to a third worker
 * meanwhile, so nothing of it is touched but `next`. */
static void adopt(struct data_worker *worker)
{
    struct sync_node *node = sync_take_all(&worker->moved);
    while (node != NULL) {
        struct data_cube *const cube = cube_of(node);
        node = node->next;
        list_cube(worker, cube);
    }
}

/* Returns how many records were executed and how many cubes went to another list. A cube needs no
 * memory on its way to its new owner: it is in one list at a time, the stack `moved` included. */
static uint64_t look(struct data_pass *pass, uint32_t index)
{
    struct data_worker *const worker = &pass->workers[index];
    uint64_t done = 0;
    adopt(worker);
    for (struct sync_node **at = &worker->listed; *at != NULL;) {
        struct sync_node *const node = *at;
        struct data_cube *const cube = cube_of(node);
        const uint32_t owner = pass->owner(pass->owner_arg, (uint32_t)(cube - pass->cubes));
        if (owner != index) {
            *at = node->next;
            sync_push(&pass->workers[owner].moved, node); /* pairs with adopt() */
            done++; /* the new owner has not looked at it yet */
            continue;
        }
        done += execute_waiting(pass, worker, cube);
        if (cube->first != NULL) {
            at = &node->next;
        } else {
            *at = node->next;
            cube->listed = false;
        }
    }
    return done;
}

/* A cw_worker_look_fn. */
static bool on_look(void *arg, uint32_t worker)
{
    struct data_pass *const pass = arg;
    if (pass->owner == NULL)
        return false;
    (void)look(pass, worker);
    return pass->workers[worker].listed != NULL;
}

struct lp_worker_listener data_commit_listener(struct data_pass *pass)
{
    return (struct lp_worker_listener){.op = on_op,
                                       .kernel_started = on_kernel_start,
                                       .kernel_ended = on_kernel_end,
                                       .look = on_look,
                                       .arg = pass};
}

/* The first record that waits in each cube can never be executed: the message of data_check(). */
static void fail_waiting(struct data_pass *pass, struct data_worker *worker, bool aborted)
{
    while (worker->listed != NULL) {
        struct data_cube *const cube = cube_of(worker->listed);
        worker->listed = cube->next.next;
        cube->listed = false;
        if (cube->first == NULL)
            continue;
        const struct cw_event event = cube->first->event;
        const struct data_site site = {pass, worker, cube, &event};
        struct cw_error error;
        if (!aborted && data_check(&site, &cube->first->op, &error) != CW_OK)
            fail_cube(&site, &event, &error);
        data_waiting_free(cube);
    }
}

/* Parcels for which no record has asked yet: tiles of the next drain. Giving them their names may
 * show a failure of their senders. */
static void take_inboxes(struct data_pass *pass)
{
    for (uint32_t i = 0; i < pass->cube_count; i++) {
        struct data_worker *const owner = &pass->workers[pass->owner(pass->owner_arg, i)];
        (void)data_parcels_take(&(struct data_site){pass, owner, &pass->cubes[i], NULL});
    }
}

/* For the assertion below. */
static bool any_failure(const struct data_pass *pass)
{
    bool any = false;
    for (uint32_t i = 0; i < pass->worker_count; i++)
        any |= pass->workers[i].failure.error.exit_code != CW_OK;
    return any;
}

/* Whether the value that the worker's first waiting record needs has come. */
static bool all_were_sent(struct data_pass *pass, struct data_worker *worker)
{
    struct data_cube *const cube = cube_of(worker->listed);
    if (cube->first == NULL)
        return false;
    const struct data_site site = {pass, worker, cube, &cube->first->event};
    return is_ready(&site, &cube->first->op);
}

int data_commit_settle(struct data_pass *pass, const struct data_drain *drain,
                       struct cw_event *event, struct cw_error *error)
{
    const struct data_failure *least = NULL;
    for (bool more = pass->owner != NULL; more;) {
        more = false;
        for (uint32_t i = 0; i < pass->worker_count; i++)
            more |= look(pass, i) > 0;
    }
    if (pass->owner != NULL && pass->worker_count > 1)
        take_inboxes(pass);
    for (uint32_t i = 0; i < pass->worker_count; i++) {
        const struct data_failure *const failure = &pass->workers[i].failure;
        CW_INVARIANT("I-DATA-2",
                     pass->workers[i].listed == NULL || drain->aborted || drain->failed != NULL ||
                         any_failure(pass) || !all_were_sent(pass, &pass->workers[i]),
                     "worker %u: a record waits for a value that has come", i);
        fail_waiting(pass, &pass->workers[i], drain->aborted);
        if (failure->error.exit_code != CW_OK &&
            (drain->failed == NULL || cw_event_before(&failure->event, drain->failed)) &&
            (least == NULL || cw_event_before(&failure->event, &least->event)))
            least = failure;
    }
    if (least == NULL)
        return CW_OK;
    *event = least->event;
    *error = least->error;
    return error->exit_code;
}
