/*
 * dist_work.c: the calls of a process group in flight (dist_internal.h): which call a rank's part
 * belongs to, what waits for it, and how the machine runs meanwhile.
 *
 * The machine runs only when no worker can continue. If all of them wait for the end of one call on
 * all ranks, and nothing else is in flight, it runs until it is idle. Otherwise it runs in steps,
 * each as long as the host's reaction takes (RUNTIME.md, "Calls and the machine's time").
 *
 * Between drains, one thread; dist_answered() on the thread that drains.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/runtime/dist_call.h"
#include "collectives/runtime/dist_internal.h"
#include "collectives/runtime/dist_results.h"
#include "collectives/runtime/dist_scratch.h"
#include "collectives/runtime/spawn.h"

/* ---- the list -------------------------------------------------------------------------------- */

bool dist_note_part(struct dist_work *work, uint32_t rank)
{
    struct dist_parts *const parts = dist_parts_of(work->dist, dist_world_rank(work->group, rank));
    if (parts->count == parts->capacity) {
        const uint32_t capacity = 2 * parts->capacity + 4;
        struct dist_part *const at = realloc(parts->at, capacity * sizeof *at);
        if (at == NULL)
            return false;
        parts->at = at;
        parts->capacity = capacity;
    }
    parts->at[parts->count++] = (struct dist_part){work, rank};
    return true;
}

static void forget_part(struct dist_work *work, uint32_t rank)
{
    struct dist_parts *const parts = dist_parts_of(work->dist, dist_world_rank(work->group, rank));
    uint32_t i = 0;
    while (i < parts->count && parts->at[i].work != work)
        i++;
    if (i == parts->count)
        return;
    parts->count--;
    memmove(&parts->at[i], &parts->at[i + 1], (parts->count - i) * sizeof parts->at[0]);
}

/* As if no rank had made the call. A batch leaves the other ranks' places alone: where all ranks
 * send, there are as many works as ranks. */
static void clear_parts(struct dist_work *work)
{
    const uint32_t first = work->alone ? dist_slot(work->group, work->first_rank) : 0;
    const uint32_t end = work->alone ? first + 1 : work->group->live;
    for (uint32_t i = first; i < end; i++) {
        struct dist_of_rank *const own = &work->of_rank[i];
        if (own->submits)
            forget_part(work, dist_rank_at(work->group, i));
        dist_free_messages(own->submission.messages);
        own->submission.messages = NULL;
        own->submits = false;
        work->tensors[i] = NULL;
    }
}

static void free_work(struct dist_work *work)
{
    if (work == NULL)
        return;
    free(work->of_rank);
    free(work->tensors);
    free(work);
}

static struct dist_work *create_work(uint32_t ranks)
{
    struct dist_work *const work = calloc(1, sizeof *work);
    if (work == NULL)
        return NULL;
    work->of_rank = calloc(ranks, sizeof *work->of_rank);
    work->tensors = calloc(ranks, sizeof *work->tensors);
    if (work->of_rank != NULL && work->tensors != NULL)
        return work;
    free_work(work);
    return NULL;
}

/* Of which no rank has made its call. */
static void begin_work(struct dist_group *group, struct dist_work *work, uint64_t number)
{
    work->dist = group->dist;
    work->group = group;
    work->number = number;
    work->algorithm = NULL;
    work->prepared = work->alone = false;
    work->batch = work->submitted = work->launched = work->done = 0;
    work->holders = group->live;
    work->complete_ps = INT64_MAX;
    work->next = work->previous = work->next_of_group = NULL;
}

/* A work for this many live ranks, which has been used before, or is new. */
static struct dist_work *take_work(struct dist *dist, uint32_t ranks)
{
    struct dist_work *const spare = dist->spare;
    if (spare == NULL || spare->group->live != ranks)
        return create_work(ranks);
    dist->spare = NULL;
    return spare;
}

/* A work that begins now; NULL: out of memory. */
static struct dist_work *add_work(struct dist_group *group, uint64_t number)
{
    struct dist *const dist = group->dist;
    struct dist_work *const work = take_work(dist, group->live);
    if (work == NULL)
        return NULL;
    begin_work(group, work, number);
    work->previous = dist->last_work;
    *(dist->last_work != NULL ? &dist->last_work->next : &dist->works) = work;
    return dist->last_work = work;
}

struct dist_work *dist_work_of_call(struct dist_group *group, uint32_t rank)
{
    uint64_t *const calls = &group->calls[dist_slot(group, rank)];
    const uint64_t number = *calls;
    struct dist_work **at = &group->works;
    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next_of_group;
    if (*at == NULL)
        *at = add_work(group, number);
    if (*at != NULL)
        ++*calls;
    return *at;
}

struct dist_work *dist_work_alone(struct dist_group *group)
{
    struct dist_work *const work = add_work(group, UINT64_MAX);
    if (work == NULL)
        return NULL;
    work->alone = true;
    work->holders = 1;
    return work;
}

/* It is over. */
static void drop_work(struct dist_work *work)
{
    struct dist *const dist = work->dist;
    struct dist_work **at = &work->group->works;
    while (*at != NULL && *at != work)
        at = &(*at)->next_of_group;
    if (*at != NULL)
        *at = work->next_of_group;
    *(work->previous != NULL ? &work->previous->next : &dist->works) = work->next;
    *(work->next != NULL ? &work->next->previous : &dist->last_work) = work->previous;
    if (dist->spare == NULL)
        dist->spare = work;
    else
        free_work(work);
}

uint32_t dist_work_ranks(const struct dist_work *work)
{
    return work->alone ? 1 : work->group->live;
}

void dist_check_handle(const struct dist *dist, const struct dist_work *work)
{
    const struct dist_parts *const parts = dist_parts_of(dist, (uint32_t)mp_rank());
    uint32_t i = 0;
    while (i < parts->count && parts->at[i].work != work)
        i++;
    if (i == parts->count || dist_of(work, parts->at[i].rank)->submission.order == 0)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_wait: not a handle of this rank's that it has yet to wait for; legal: "
                "each handle once, on the rank that made the call");
}

void dist_release_work(struct dist_work *work)
{
    if (!work->alone || work->holders == 1) /* a batch has a handle for each call that made it */
        dist_of(work, dist_rank_in(work->group, (uint32_t)mp_rank()))->submission.order = 0;
    if (--work->holders > 0)
        return;
    clear_parts(work);
    drop_work(work);
}

bool dist_is_in_flight(const struct dist *dist) { return dist->in_flight > 0; }

void dist_drop_works(struct dist *dist)
{
    dist->kernels_left |= dist_is_in_flight(dist);
    for (struct dist_work *at = dist->works, *next; at != NULL; at = next) {
        struct cw_error ignored;
        next = at->next;
        (void)dist_give_scratch(at, &ignored);
        for (uint32_t i = 0; i < at->group->live; i++)
            free(at->of_rank[i].kept);
        dist_drop_results(at);
        relay_free(&at->relay);
        clear_parts(at);
        free_work(at);
    }
    free_work(dist->spare);
    dist->works = dist->last_work = dist->spare = NULL;
    dist->in_flight = 0;
    dist->world.works = NULL;
    dist_drop_pending(dist);
    dist->part_count = dist->end_count = dist->end_at = 0;
    dist->alarm_count = 0;
    dist->waits_alone = 0;
    dist->wanted = NULL;
    dist->failed = false;
    memset(dist->world.calls, 0, dist->world.live * sizeof *dist->world.calls);
    for (uint32_t i = 0; i < dist->group_count; i++) {
        memset(dist->groups[i]->calls, 0, dist->groups[i]->live * sizeof *dist->groups[i]->calls);
        dist->groups[i]->works = NULL;
    }
    dist_free_groups_of_one(dist);
}

const char *dist_work_name(const struct dist_work *work, char text[DIST_WORK_NAME_BYTES])
{
    const char *const does = submission_name(&dist_of(work, work->first_rank)->submission);
    if (work->alone) /* it has no number */
        (void)snprintf(text, DIST_WORK_NAME_BYTES, "%s", does);
    else
        (void)snprintf(text, DIST_WORK_NAME_BYTES, "call %llu (%s)",
                       (unsigned long long)work->number, does);
    return text;
}

const char *dist_work_whose(const struct dist_work *work, char text[DIST_WORK_NAME_BYTES])
{
    const bool is_group = work->group->plans != NULL; /* else a rank's own computations */
    (void)snprintf(text, DIST_WORK_NAME_BYTES, "%s%s", is_group ? "group " : "", work->group->name);
    return work->group->name[0] != '\0' ? text : NULL;
}

const char *dist_work_of(const struct dist_work *work, char text[DIST_WORK_NAME_BYTES])
{
    char whose[DIST_WORK_NAME_BYTES];
    const char *const name = dist_work_whose(work, whose);
    (void)snprintf(text, DIST_WORK_NAME_BYTES, "%s%s", name != NULL ? " of " : "",
                   name != NULL ? name : "");
    return text;
}

bool dist_add_part(struct dist *dist, struct dist_work *work, uint32_t rank)
{
    if (dist->part_count == dist->part_capacity) {
        const size_t capacity = 2 * dist->part_capacity + dist->world.live;
        struct dist_part *const parts = realloc(dist->parts, capacity * sizeof *parts);
        if (parts == NULL)
            return false;
        dist->parts = parts;
        dist->part_capacity = capacity;
    }
    dist->parts[dist->part_count++] = (struct dist_part){work, rank};
    return true;
}

bool dist_reserve_ends(struct dist *dist, size_t parts)
{
    const size_t needed = dist->end_count + parts + dist->in_flight;
    if (needed <= dist->end_capacity)
        return true;
    struct dist_part *const ends = realloc(dist->ends, 2 * needed * sizeof *ends);
    if (ends == NULL)
        return false;
    dist->ends = ends;
    dist->end_capacity = 2 * needed;
    return true;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* A rank's wait for a time. */
struct alarm_wait {
    struct dist *dist;
    int64_t t_ps;
};

/* The next time at which ranks continue that wait for one; CW_TIME_MAX: none does. */
static int64_t next_alarm(const struct dist *dist)
{
    int64_t next = CW_TIME_MAX;
    for (size_t i = 0; i < dist->alarm_count; i++)
        if (dist->alarms[i] < next)
            next = dist->alarms[i];
    return next;
}

/* Each time once, however many ranks wait for it. False: out of memory. */
static bool set_alarm(struct dist *dist, int64_t t_ps)
{
    for (size_t i = 0; i < dist->alarm_count; i++)
        if (dist->alarms[i] == t_ps)
            return true;
    int64_t *const alarms = realloc(dist->alarms, (dist->alarm_count + 1) * sizeof *alarms);
    if (alarms == NULL)
        return false;
    dist->alarms = alarms;
    alarms[dist->alarm_count++] = t_ps;
    return true;
}

static void drop_alarms(struct dist *dist)
{
    size_t kept = 0;
    for (size_t i = 0; i < dist->alarm_count; i++)
        if (dist->alarms[i] > dist->now_ps)
            dist->alarms[kept++] = dist->alarms[i];
    dist->alarm_count = kept;
}

/* A rank's wait for the end of a work, its own or everybody's. */
struct waiting {
    struct dist_work *work;
    uint32_t rank;
    bool all;
};

static bool has_ended(const void *arg)
{
    const struct waiting *const waiting = arg;
    const struct dist_work *const work = waiting->work;
    return !work->dist->failed &&
           (waiting->all ? work->complete_ps : dist_of(work, waiting->rank)->done_ps) <=
               work->dist->now_ps;
}

static bool lacks_rank(const void *arg, uint32_t rank)
{
    const struct dist_work *const work = arg;
    return dist_is_live(work->group, rank) && !dist_of(work, rank)->submits;
}

uint32_t dist_work_queue(const struct dist_work *work, uint32_t rank)
{
    const struct submission *const submission = &dist_of(work, rank)->submission;
    return submission->algorithm != NULL || submission->operation != UINT32_MAX
               ? submission->queue
               : work->group->queue;
}

static const uint32_t ANY_QUEUE = UINT32_MAX;

/* The oldest call on this hardware queue of a rank of the world that has not ended there; *count:
 * how many there are. */
static struct dist_work *oldest_of_rank(const struct dist *dist, uint32_t world_rank,
                                        uint32_t queue, uint32_t *count)
{
    const struct dist_parts *const parts = dist_parts_of(dist, world_rank);
    struct dist_work *oldest = NULL;
    *count = 0;
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct dist_part *const at = &parts->at[i];
        if (dist_of(at->work, at->rank)->done_ps <= dist->now_ps ||
            (queue != ANY_QUEUE && dist_work_queue(at->work, at->rank) != queue))
            continue;
        if (oldest == NULL)
            oldest = at->work;
        ++*count;
    }
    return oldest;
}

/* "call 2 of group tp.0, all_reduce, lacks rank 1, 4-7 of 8": ranks of the group. The bytes used.
 */
static size_t describe_lack(const struct dist_work *work, char *text, size_t size)
{
    char of[DIST_WORK_NAME_BYTES];
    const uint32_t ranks = work->group->size;
    size_t used = (size_t)snprintf(text, size, "call %llu%s, %s, lacks rank",
                                   (unsigned long long)work->number, dist_work_of(work, of),
                                   submission_name(&dist_of(work, work->first_rank)->submission));
    used = mp_list_ranks(lacks_rank, work, ranks, text, size, used);
    return used + (size_t)snprintf(text + used, size - used, " of %u", ranks);
}

/* The call of another group that keeps one of the ranks that this call lacks; *world_rank: which.
 * NULL: none is in a call. */
static const struct dist_work *kept_elsewhere(const struct dist_work *work, uint32_t *world_rank)
{
    for (uint32_t i = 0; i < work->group->live; i++) {
        const uint32_t rank = dist_rank_at(work->group, i);
        uint32_t count;
        *world_rank = dist_world_rank(work->group, rank);
        const struct dist_work *const other =
            lacks_rank(work, rank) ? oldest_of_rank(work->dist, *world_rank, ANY_QUEUE, &count)
                                   : NULL;
        if (other != NULL && !other->alone && other->group != work->group &&
            other->submitted < dist_work_ranks(other))
            return other;
    }
    return NULL;
}

/* The call that waits, and a call of another group that its missing ranks are in. */
static void describe_work(const void *arg, char *text, size_t size)
{
    const struct dist_work *const work = ((const struct waiting *)arg)->work;
    if (work->alone) {
        if (!dist_describe_pending(work->dist, work, text, size))
            snprintf(text, size, "its sends and receives, whose other ends are there");
        return;
    }
    enum { LACK_BYTES = 400 }; /* of each of the two */
    uint32_t world_rank;
    const struct dist_work *const other = kept_elsewhere(work, &world_rank);
    size_t used = describe_lack(work, text, size < LACK_BYTES ? size : LACK_BYTES);
    if (other == NULL) {
        snprintf(text + used, size - used, ", which will not make it any more");
        return;
    }
    char lack[LACK_BYTES];
    (void)describe_lack(other, lack, sizeof lack);
    snprintf(text + used, size - used,
             ": rank %u of the world is in another group's call: %s; legal: ranks of several "
             "groups make their calls in one order, or wait for none in between",
             world_rank, lack);
}

void dist_wait_for_work(struct dist_work *work, bool all)
{
    struct waiting waiting = {work, dist_rank_in(work->group, (uint32_t)mp_rank()), all};
    work->dist->waits_alone += !all;
    mp_wait_until(&(struct mp_wait){has_ended, describe_work, NULL, &waiting});
    work->dist->waits_alone -= !all;
}

static bool is_time(const void *arg)
{
    const struct alarm_wait *const wait = arg;
    return !wait->dist->failed && wait->dist->now_ps >= wait->t_ps;
}

/* Nothing but a failure keeps the time from coming. */
static void describe_alarm(const void *arg, char *text, size_t size)
{
    snprintf(text, size, "until %lld ps", (long long)((const struct alarm_wait *)arg)->t_ps);
}

/* Half of all time: what a program does then has room. */
static const int64_t LATEST_PS = CW_TIME_MAX / 2;

void dist_wait_until_ps(int64_t t_ps)
{
    struct dist *const dist = dist_current();
    struct alarm_wait wait = {dist, t_ps};
    if (t_ps > LATEST_PS)
        mp_fail(CW_PROGRAM_FAILED, "dist_wait_until_ps: %lld ps; legal: up to %lld ps",
                (long long)t_ps, (long long)LATEST_PS);
    if (dist->now_ps >= t_ps)
        return;
    if (!set_alarm(dist, t_ps))
        mp_fail(CW_NO_RESOURCE, "dist_wait_until_ps: out of memory");
    dist->waits_alone++;
    mp_wait_until(&(struct mp_wait){is_time, describe_alarm, NULL, &wait});
    dist->waits_alone--;
}

static bool are_operations_over(const void *arg)
{
    const struct dist *const dist = arg;
    return !dist->failed && dist->operations_over;
}

static void describe_operations(const void *arg, char *text, size_t size)
{
    (void)arg;
    snprintf(text, size, "for the end of its program");
}

void dist_run_operations(void)
{
    struct dist *const dist = dist_current();
    dist->runs_operations = !dist->operations_over;
    mp_wait_until(&(struct mp_wait){are_operations_over, describe_operations, NULL, dist});
}

void dist_wait_for_room(struct dist *dist, uint32_t world_rank, uint32_t queue)
{
    uint32_t count;
    if (dist->operation != UINT32_MAX)
        return; /* the program of its SIP sees to that */
    for (struct dist_work *oldest;
         (oldest = oldest_of_rank(dist, world_rank, queue, &count)) != NULL &&
         count > dist->options.machine.needs.launches;)
        dist_wait_for_work(oldest, false);
}

/* ---- the machine runs ------------------------------------------------------------------------ */

/* Its time, and the time of all. */
static void end_part(struct dist_work *work, uint32_t rank, int64_t t_ps)
{
    dist_of(work, rank)->done_ps = t_ps;
    work->dist->in_flight--;
    if (++work->done == dist_work_ranks(work))
        work->complete_ps = t_ps;
}

/* There is room: dist_launch_parts(). */
static void note_end(struct dist_work *work, uint32_t rank, int64_t t_ps)
{
    struct dist *const dist = work->dist;
    end_part(work, rank, t_ps);
    dist->ends[dist->end_count++] = (struct dist_part){work, rank};
}

void dist_end_at_once(struct dist_work *work, uint32_t rank)
{
    struct dist *const dist = work->dist;
    struct dist_part *const at = dist->ends + dist->end_at;
    end_part(work, rank, dist->now_ps);
    memmove(at + 1, at, (dist->end_count++ - dist->end_at) * sizeof *at);
    *at = (struct dist_part){.work = work, .rank = rank};
}

void dist_answered(void *arg, void *of, uint32_t rank, int64_t t_ps)
{
    struct dist_work *const work = of;
    (void)arg;
    if (work != NULL && --dist_of(work, rank)->left == 0)
        note_end(work, rank, t_ps);
}

/* The one work that is in flight, if all its ranks wait for its end on all of them; else NULL. */
static struct dist_work *alone_in_flight(const struct dist *dist)
{
    struct dist_work *only = NULL;
    for (struct dist_work *at = dist->works; at != NULL; at = at->next) {
        if (at->complete_ps < INT64_MAX)
            continue;
        if (only != NULL || at->alone || at->group != &dist->world ||
            at->launched < at->group->live)
            return NULL;
        only = at;
    }
    return dist->waits_alone == 0 ? only : NULL;
}

/* Some rank has not made a call that others have, or not the other end of a message. */
static bool lacks_ranks(const struct dist *dist)
{
    for (const struct dist_work *at = dist->works; at != NULL; at = at->next)
        if (at->submitted < dist_work_ranks(at))
            return true;
    return dist_has_pending(dist);
}

/* Of the next part that ends after the host's time; CW_TIME_MAX: none has ended. */
static int64_t next_end_ps(const struct dist *dist)
{
    const struct dist_part *const end = &dist->ends[dist->end_at];
    return dist->end_at < dist->end_count ? dist_of(end->work, end->rank)->done_ps : CW_TIME_MAX;
}

/* The parts that have ended by this time are over for the host, too; then the works that they were
 * the last of. */
static int take_ends(struct dist *dist, int64_t t_ps, struct cw_error *error)
{
    const size_t first = dist->end_at;
    int code = CW_OK;
    while (dist->end_at < dist->end_count && next_end_ps(dist) <= t_ps && code == CW_OK)
        code = dist_finish_part(&dist->ends[dist->end_at++], error);
    for (size_t i = first; i < dist->end_at && code == CW_OK; i++) {
        struct dist_work *const work = dist->ends[i].work;
        if (work->complete_ps <= dist->now_ps && work->batch != 0)
            code = dist_finish_work(work, error);
    }
    if (dist->end_at == dist->end_count)
        dist->end_at = dist->end_count = 0;
    return code;
}

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* The host's time becomes the next one at which a rank's kernels have answered, or for which a rank
 * waits. */
static int take_instant(struct dist *dist, struct cw_error *error)
{
    const int64_t t_ps = earlier(next_end_ps(dist), next_alarm(dist));
    dist->now_ps = t_ps > dist->now_ps ? t_ps : dist->now_ps;
    drop_alarms(dist);
    lp_system_set_now(dist->system, dist->now_ps);
    return take_ends(dist, t_ps, error);
}

/* Runs the machine until it is idle, at the end of this work. */
static int run_to_end(struct dist *dist, struct cw_error *error)
{
    int code = dist_drain(dist, error);
    dist_phase_end(dist, "collectives");
    dist->now_ps = cw_sim_now(lp_system_sim(dist->system));
    if (code == CW_OK)
        code = take_ends(dist, dist->now_ps, error);
    dist->end_at = dist->end_count = 0;
    return code;
}

/* False: no worker can continue; *error says whether something has failed. */
static bool advance(struct dist *dist, struct cw_error *error)
{
    if (dist_launch_parts(dist, error) != CW_OK)
        return false;
    if (dist->runs_operations) {
        dist->runs_operations = false;
        if (lp_system_begin_program(dist->system, error) != CW_OK ||
            run_to_end(dist, error) != CW_OK)
            return false;
        return dist->operations_over = true;
    }
    while (dist->end_count == 0 && dist_is_in_flight(dist)) {
        if (alone_in_flight(dist) != NULL)
            return run_to_end(dist, error) == CW_OK;
        const int64_t next_ps = lp_system_next_ps(dist->system), alarm_ps = next_alarm(dist);
        if (alarm_ps < CW_TIME_MAX && next_ps >= alarm_ps)
            break;
        if (next_ps == CW_TIME_MAX && lacks_ranks(dist))
            return false;
        if (next_ps == CW_TIME_MAX) {
            (void)dist_drain(dist, error); /* says which kernels wait for each other */
            return false;
        }
        const int64_t end_ps = next_ps + lp_system_reaction_ps(dist->system);
        if (dist_run_until(dist, earlier(end_ps, alarm_ps), error) != CW_OK)
            return false;
    }
    return (dist->end_count > 0 || dist->alarm_count > 0) && take_instant(dist, error) == CW_OK;
}

bool dist_advance(void *arg, struct cw_error *error)
{
    struct dist *const dist = arg;
    *error = (struct cw_error){.exit_code = CW_OK};
    const bool more = advance(dist, error);
    dist->failed = error->exit_code != CW_OK;
    return more;
}

int dist_carry_out(struct dist *dist, struct cw_error *error)
{
    char text[900];
    while (dist_advance(dist, error)) {
    }
    if (error->exit_code == CW_OK && dist_describe_pending(dist, NULL, text, sizeof text))
        return cw_error_set(error, CW_PROGRAM_FAILED, "messages wait forever: %s", text);
    for (struct dist_work *at = dist->works; at != NULL && error->exit_code == CW_OK;
         at = at->next) {
        if (at->launched == at->done)
            continue;
        describe_work(&(struct waiting){.work = at}, text, sizeof text);
        return cw_error_set(error, CW_PROGRAM_FAILED, "kernels wait forever: %s", text);
    }
    return error->exit_code;
}
