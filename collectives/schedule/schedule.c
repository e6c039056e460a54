/*
 * schedule.c: what an algorithm makes, names, spans and memory of any schedule (schedule.h).
 */
#include "collectives/schedule/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/hook.h"
#include "hw/route.h"

const char *schedule_op_name(enum schedule_op op)
{
    static const char *const name[SCHEDULE_OPS] = {"nop", "s",   "r",    "cpy",  "re",  "rcs",
                                                   "rrc", "rrs", "rrcs", "load", "add", "store"};
    return (unsigned)op < SCHEDULE_OPS ? name[op] : "?";
}

void schedule_free(struct schedule *schedule)
{
    if (schedule == NULL)
        return;
    if (schedule->others > 0) {
        schedule->others--;
        return;
    }
    for (uint32_t i = 0; schedule->rank != NULL && i < schedule->rank_count; i++) {
        free(schedule->rank[i].thread);
        free(schedule->rank[i].step);
        free(schedule->rank[i].wait);
    }
    schedule_free(schedule->whole);
    free(schedule->place);
    free(schedule->sums);
    free(schedule->rank);
    free(schedule);
}

struct schedule *schedule_share(struct schedule *schedule)
{
    schedule->others++;
    return schedule;
}

static void *copy_of(const void *from, uint32_t count, size_t size)
{
    void *const to = malloc(count * size + 1);
    if (to != NULL && count > 0)
        memcpy(to, from, count * size);
    return to;
}

/* Some step moves several chunks, whose numbers are not their values'. */
static bool needs_whole(const struct schedule *folded)
{
    for (uint32_t r = 0; !folded->keeps_numbers && r < folded->rank_count; r++)
        for (uint32_t i = 0; i < folded->rank[r].step_count; i++)
            if (folded->rank[r].step[i].count > 1)
                return true;
    return false;
}

struct schedule *schedule_folded(struct schedule *whole, const struct hw_fold *fold)
{
    struct schedule *const s = malloc(sizeof *s);
    if (s == NULL)
        return NULL;
    *s = *whole;
    s->others = 0;
    s->place = NULL; /* a schedule that reaches is not folded */
    s->fold = fold;
    s->rank_count = fold->sips * whole->members;
    s->rank = calloc(s->rank_count, sizeof *s->rank);
    bool good = s->rank != NULL;
    for (uint32_t i = 0; good && i < s->rank_count; i++) {
        struct schedule_rank *const to = &s->rank[i];
        *to = whole->rank[schedule_rank_at(s, i)];
        to->thread = copy_of(to->thread, to->thread_count, sizeof *to->thread);
        to->step = copy_of(to->step, to->step_count, sizeof *to->step);
        to->wait = copy_of(to->wait, to->wait_count, sizeof *to->wait);
        good = to->thread != NULL && to->step != NULL && to->wait != NULL;
    }
    if (good && needs_whole(s))
        s->whole = schedule_share(whole);
    if (good)
        return s;
    schedule_free(s);
    return NULL;
}

struct schedule *schedule_ask(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                              struct cw_error *error)
{
    error->exit_code = CW_OK; /* a hook of a shared object may leave it */
    struct schedule *const made = CCL_HOOK("schedule()", algorithm->schedule, (call, error));
    if (made == NULL && error->exit_code == CW_OK)
        (void)cw_error_set(error, CW_USAGE,
                           "%s makes no schedule, and does not say why (its schedule())",
                           ccl_algorithm_label(call->ccl, algorithm));
    return made;
}

/* The representatives' parts alone. */
static struct schedule *ask_for_parts(const struct ccl_algorithm *algorithm, struct ccl_call call,
                                      const struct hw_fold *fold, struct cw_error *error)
{
    uint32_t *const wanted = malloc(fold->sips * sizeof *wanted);
    if (wanted == NULL) {
        (void)cw_error_memory(error, "a schedule");
        return NULL;
    }
    for (uint32_t i = 0; i < fold->sips; i++)
        wanted[i] = hw_fold_sip(fold, i);
    call.wanted = wanted;
    call.wanted_count = fold->sips;
    struct schedule *const made = schedule_ask(algorithm, &call, error);
    free(wanted);
    return made;
}

struct schedule *schedule_ask_folded(const struct ccl_algorithm *algorithm,
                                     const struct ccl_call *call, const struct hw_fold *fold,
                                     struct cw_error *error)
{
    struct schedule *const made = algorithm->folds != NULL
                                      ? ask_for_parts(algorithm, *call, fold, error)
                                      : schedule_ask(algorithm, call, error);
    if (made == NULL)
        return NULL;
    if (made->partial) {
        made->partial = false;
        made->fold = fold;
        return made;
    }
    struct schedule *const folded = schedule_folded(made, fold);
    schedule_free(made);
    if (folded == NULL)
        (void)cw_error_memory(error, "a schedule");
    return folded;
}

uint32_t schedule_blocks(const struct schedule *s, unsigned buffer)
{
    const bool gathers = s->collective == CCL_ALL_GATHER, swaps = s->collective == CCL_ALL_TO_ALL,
               scatters = s->collective == CCL_REDUCE_SCATTER;
    const bool many = buffer == SCHEDULE_INPUT    ? scatters || swaps
                      : buffer == SCHEDULE_OUTPUT ? gathers || swaps
                                                  : false;
    return many ? s->all_ranks : 1;
}

uint32_t schedule_chain(const struct schedule_rank *rank, uint32_t thread, uint32_t step)
{
    const struct schedule_thread *const t = &rank->thread[thread];
    uint32_t count = 1;
    while (step + count < t->step_count && count < UINT8_MAX &&
           rank->step[t->step_first + step + count].joined == SCHEDULE_JOINED)
        count++;
    return count;
}

struct schedule_span schedule_span(uint64_t n, uint32_t chunks, uint32_t chunk)
{
    const uint64_t each = (n + chunks - 1) / chunks;
    const uint64_t first = each * chunk < n ? each * chunk : n;
    const uint64_t rest = n - first;
    return (struct schedule_span){.first = first, .count = rest < each ? rest : each};
}

/* Both ways round a ring of two lead from one to the other. */
static bool is_ring_of_two(const struct hw_sip_dim *dim, uint32_t sip, uint32_t to_sip)
{
    return dim->joint == HW_SIP_RING && dim->size == 2 && sip != to_sip &&
           hw_sip_moved(dim, sip, hw_sip_coordinate(dim, to_sip)) == to_sip;
}

char schedule_other_way(const struct hw_config *hw, uint32_t sip, uint32_t to_sip)
{
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    bool joined = false;
    for (uint32_t d = 0; d < dims.count; d++)
        joined |= is_ring_of_two(&dims.at[d], sip, to_sip);
    for (const char *letter = "NSEWUD"; joined && *letter != '\0'; letter++) {
        const uint32_t outlet = hw_named_outlet(hw, sip, *letter);
        if (outlet != HW_OUTLET_NONE && outlet != hw_route_exit(hw, sip, to_sip, 0) &&
            hw_route_next_sip(hw, sip, outlet, to_sip, 0) == to_sip)
            return *letter;
    }
    return '\0';
}

enum { ITEM_BYTES_MAX = 4 };

uint64_t schedule_tile_bytes(const struct ccl_config *ccl)
{
    return lp_tile_bytes(&ccl->queues) / ITEM_BYTES_MAX * ITEM_BYTES_MAX;
}

uint64_t schedule_chunk_bytes(uint64_t bytes, uint64_t chunks)
{
    const uint64_t items = bytes / chunks / ITEM_BYTES_MAX + 1;
    return items * ITEM_BYTES_MAX;
}

/* A step moves chunks to another rank of the process group, or from one. */
static bool leaves_group_rank(const struct schedule *schedule, uint32_t rank,
                              const struct schedule_step *step)
{
    if (schedule->reaches) {
        const uint32_t peer = step->op == SCHEDULE_STORE ? step->send_to : step->recv_from;
        return peer != SCHEDULE_NO_RANK && peer != rank;
    }
    return schedule_op_sends((enum schedule_op)step->op) &&
           (step->send_to / schedule->members != rank / schedule->members ||
            (schedule_goes_by_tree(schedule, rank, step) && !step->src.none));
}

double schedule_moved(const struct schedule *schedule)
{
    uint64_t sent = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++)
        for (uint32_t i = 0; i < schedule->rank[r].step_count; i++)
            if (leaves_group_rank(schedule, schedule_rank_at(schedule, r),
                                  &schedule->rank[r].step[i]))
                sent += schedule->rank[r].step[i].count;
    const uint32_t groups = schedule->rank_count / schedule->members;
    return (double)sent / groups / schedule->loop_chunks;
}
