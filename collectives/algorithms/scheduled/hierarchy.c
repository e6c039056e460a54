/*
 * hierarchy.c: makes the schedule of a hierarchy from the three phases of each member
 * (hierarchy.h).
 */
#include <stdlib.h>
#include <string.h>

#include "collectives/algorithms/scheduled/hierarchy.h"
#include "collectives/algorithms/scheduled/rs_ag.h"

/* ---- threads --------------------------------------------------------------------------------- */

/* The threads of the phases: of their own each, or shared. */
struct roles {
    uint32_t reduce[INSIDE_THREADS], spread[INSIDE_THREADS], between;
};

/* Most threads of a rank of the schedule between SIPs. */
static uint32_t threads_between(const struct hierarchy *h)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < h->between->rank_count; r++)
        most = h->between->rank[r].thread_count > most ? h->between->rank[r].thread_count : most;
    return most;
}

/* One thread can carry out the phases inside: along lines always; directly, while what it
 * sends before it receives fits in the slots. */
static bool may_share(const struct hierarchy *h)
{
    const uint32_t own = h->between->rank[0].chunks[SCHEDULE_OUTPUT];
    const uint32_t all = h->turns * inside_owners(&h->inside) * own;
    uint32_t owners = 1;
    for (uint32_t d = 1; d < h->inside.dims; d++)
        owners *= h->inside.dim[d].n;
    return h->inside.way != INSIDE_DIRECT || (uint64_t)owners * own <= rs_ag_window(h->call, all);
}

static bool find_roles(const struct hierarchy *h, struct roles *roles)
{
    const uint32_t inside = h->inside.dims > 0 ? inside_threads(&h->inside) : 0;
    const uint32_t between = threads_between(h);
    *roles = (struct roles){.between = 0};
    if (between > h->pes)
        return false;
    if (h->together)
        return may_share(h);
    if (inside + between > h->pes)
        return false;
    const bool apart = 2 * inside + between <= h->pes;
    for (uint32_t i = 0; i < inside; i++) {
        roles->reduce[i] = i;
        roles->spread[i] = apart ? inside + i : i;
    }
    roles->between = apart ? 2 * inside : inside;
    return true;
}

/* ---- a member -------------------------------------------------------------------------------- */

/* The making of a hierarchy. */
struct making {
    const struct hierarchy *h;
    struct schedule_builder *b;
    struct roles roles;
    uint32_t chunks, scratch; /* of the schedule between SIPs */
};

/* Threads of a member: those between SIPs are the last, and only an owner has them. */
static uint32_t threads_of_member(const struct making *making, const struct member *m)
{
    const struct hierarchy *const h = making->h;
    const uint32_t between = h->between->rank[m->rank / h->inside.members].thread_count;
    uint32_t inside = 0;
    for (uint32_t i = 0; i < inside_threads(&h->inside) && h->inside.dims > 0; i++) {
        inside = making->roles.reduce[i] + 1 > inside ? making->roles.reduce[i] + 1 : inside;
        inside = making->roles.spread[i] + 1 > inside ? making->roles.spread[i] + 1 : inside;
    }
    if (inside_owner(m) != SCHEDULE_NO_RANK && making->roles.between + between > inside)
        return making->roles.between + between;
    return inside;
}

/* A chunk of the schedule between SIPs, as the owner has it. */
static struct schedule_chunks chunk_of_owner(const struct making *making, const struct member *m,
                                             uint32_t turn, struct schedule_chunks chunks)
{
    const uint32_t owners = inside_owners(&making->h->inside);
    chunks.at += chunks.buffer == SCHEDULE_SCRATCH
                     ? turn * making->scratch
                     : (turn * owners + inside_owner(m)) * making->chunks;
    return chunks;
}

/* Phase 2 of a turn: the steps of a rank of the schedule between SIPs, `before` steps of the other
 * threads coming before them. */
static void add_between(const struct making *making, struct member *m, uint32_t turn,
                        const uint32_t *before)
{
    const struct hierarchy *const h = making->h;
    const uint32_t members = h->inside.members, number = m->rank - m->first_rank;
    const struct schedule_rank *const from = &h->between->rank[m->rank / members];
    const uint32_t first = making->roles.between;
    uint32_t steps_before[MEMBER_THREADS_MAX];
    memcpy(steps_before, m->steps, sizeof steps_before);
    for (uint32_t t = 0; t < from->thread_count; t++) {
        for (uint32_t other = 0; other < MEMBER_THREADS_MAX; other++)
            member_await(m, first + t, other, before[other]);
        for (uint32_t k = 0; k < from->thread[t].step_count; k++) {
            struct schedule_step step = from->step[from->thread[t].step_first + k];
            for (uint32_t i = 0; i < step.wait_count; i++) {
                const struct schedule_wait *const wait = &from->wait[step.wait_first + i];
                member_await(m, first + t, first + wait->thread,
                             steps_before[first + wait->thread] + wait->step + 1);
            }
            step.src = chunk_of_owner(making, m, turn, step.src);
            step.dst = chunk_of_owner(making, m, turn, step.dst);
            step.send_to = step.send_to * members + number;
            step.recv_from = step.recv_from * members + number;
            member_add(m, first + t, step);
            schedule_join(m->b, m->rank, first + t);
        }
    }
}

/* The steps that the threads of a phase have so far. */
static void count_steps(const struct member *m, const uint32_t thread[INSIDE_THREADS],
                        uint32_t threads, uint32_t steps[MEMBER_THREADS_MAX])
{
    memset(steps, 0, MEMBER_THREADS_MAX * sizeof *steps);
    for (uint32_t i = 0; i < threads; i++)
        steps[thread[i]] = m->steps[thread[i]];
}

static void make_member(const struct making *making, struct member *m)
{
    const struct hierarchy *const h = making->h;
    const bool owner = inside_owner(m) != SCHEDULE_NO_RANK;
    const uint32_t inside = h->inside.dims > 0 ? inside_threads(&h->inside) : 0;
    uint32_t reduced[TURNS_MAX][MEMBER_THREADS_MAX];
    for (uint32_t t = threads_of_member(making, m); t > 0; t--)
        (void)schedule_thread(m->b, m->rank, 0);
    for (uint32_t turn = 0; turn < h->turns; turn++) {
        if (inside > 0)
            inside_reduce(m, turn, making->roles.reduce);
        count_steps(m, making->roles.reduce, inside, reduced[turn]);
    }
    for (uint32_t turn = 0; turn < h->turns; turn++) {
        uint32_t done[MEMBER_THREADS_MAX];
        memcpy(done, reduced[turn], sizeof done);
        if (owner) {
            add_between(making, m, turn, reduced[turn]);
            for (uint32_t t = 0; t < h->between->rank[m->rank / h->inside.members].thread_count;
                 t++)
                done[making->roles.between + t] = m->steps[making->roles.between + t];
        }
        for (uint32_t i = 0; i < inside && owner; i++)
            for (uint32_t other = 0; other < MEMBER_THREADS_MAX; other++)
                member_await(m, making->roles.spread[i], other, done[other]);
        if (inside > 0)
            inside_spread(m, turn, making->roles.spread);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int refuse_threads(const struct hierarchy *h, struct cw_error *error)
{
    return cw_error_set(
        error, CW_USAGE,
        "%s between SIPs takes %u of each member's %u PEs, and the phases inside a "
        "SIP %s; legal are another schedule there, `threads: together` with `inside: "
        "lines` or `lrab`, and `threads: apart`",
        h->between->name, threads_between(h), h->pes,
        h->together ? "send more at once than the slots hold" : "find too few beside them");
}

static int refuse_peers(const struct hierarchy *h, struct cw_error *error)
{
    return cw_error_set(error, CW_USAGE,
                        "with %s between SIPs a PE would exchange messages with more than %u "
                        "others; legal are another schedule there, `threads: apart`, and `inside: "
                        "lines`",
                        h->between->name, (unsigned)MEMBER_PEERS_MAX);
}

struct schedule *hierarchy_schedule(const struct hierarchy *h, const char *name,
                                    struct cw_error *error)
{
    const uint32_t members = h->inside.members, sips = h->between->rank_count;
    struct making making = {.h = h, .chunks = h->between->rank[0].chunks[SCHEDULE_OUTPUT]};
    if (!find_roles(h, &making.roles)) {
        (void)refuse_threads(h, error);
        return NULL;
    }
    making.b = schedule_builder_create(name, CCL_ALL_REDUCE, sips * members, 1);
    struct member *const m = malloc(sizeof *m);
    if (making.b == NULL || m == NULL) {
        free(m);
        schedule_builder_free(making.b);
        (void)cw_error_memory(error, "a schedule");
        return NULL;
    }
    schedule_builder_head(making.b)->in_place = true;
    schedule_builder_head(making.b)->members = members;
    const uint32_t chunks = h->turns * inside_owners(&h->inside) * making.chunks;
    for (uint32_t r = 0; r < sips; r++)
        making.scratch = h->between->rank[r].chunks[SCHEDULE_SCRATCH] > making.scratch
                             ? h->between->rank[r].chunks[SCHEDULE_SCRATCH]
                             : making.scratch;
    for (uint32_t rank = 0; rank < sips * members; rank++) {
        *m = (struct member){.inside = &h->inside,
                             .b = making.b,
                             .rank = rank,
                             .first_rank = rank / members * members,
                             .chunks = making.chunks,
                             .window = rs_ag_window(h->call, chunks)};
        m->small = (uint64_t)m->window * h->call->n_elem * tl_itemsize(h->call->dtype) <
                   (uint64_t)chunks * h->call->ccl->queues.slot_bytes;
        for (uint32_t d = 0; d < h->inside.dims; d++)
            m->at[d] = rank % members / h->inside.dim[d].stride % h->inside.dim[d].n;
        schedule_chunks_of(making.b, rank, chunks, chunks, h->turns * making.scratch);
        make_member(&making, m);
        if (m->crowded) {
            free(m);
            schedule_builder_free(making.b);
            (void)refuse_peers(h, error);
            return NULL;
        }
    }
    free(m);
    return schedule_build(making.b, error);
}
