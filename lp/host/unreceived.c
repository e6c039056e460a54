/*
 * unreceived.c: looks for tiles that are left in queues. No event is left, so a sender's
 * peer_tail_cache is its receiver's my_tail (I-IPCQ-2): the sender's state alone says how many
 * tiles are left. A launched PE costs a look at its queues, so a drain pays for the PEs that it has
 * used. Of many, each worker looks at a part.
 */
#include "lp/host/unreceived.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lp/queues/queue_ends.h"

enum { QUEUES_NAMED = 4, SHARED_PES_MIN = 4096 /* fewer are not worth waking a thread for */ };
enum { LIST_BYTES = 860 }; /* with the rest, it fits into an error */

/* A machine whose kernels have ended. */
struct ended {
    const struct lp_model *m;
    const struct cw_sim *sim;
    const struct lp_launched *launched;
    size_t count;
};

static const struct lp_pe *sender_state(const struct ended *ended, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&ended->m->hw, pe);
    return lp_pe(ended->m, cw_state(ended->sim, lp_of_cube(ended->m, place.sip, place.cube)),
                 place.pe);
}

static uint32_t tiles_left(const struct lp_pe *sender, enum hw_dir dir)
{
    return sender->queue[dir].my_head - sender->queue[dir].peer_tail_cache;
}

/* Whether a kernel of this launch may use a direction of its PE. */
static bool may_use(const struct lp_launch *launch, enum hw_dir dir)
{
    return launch->dirs == NULL || (launch->dirs->mask >> dir & 1) != 0;
}

/* "PE 0.0.0, kernel NAME": the last one that may use the direction. Without a kernel: ", which runs
 * none". */
static void name_end(const struct ended *ended, uint32_t pe, enum hw_dir dir, char *text,
                     size_t bytes)
{
    const struct hw_place place = hw_place_of(&ended->m->hw, pe);
    const char *kernel = NULL;
    for (size_t i = 0; i < ended->count; i++) {
        const struct lp_launch *const launch = lp_launch_of(ended->m, ended->launched[i].launch);
        if (ended->launched[i].pe == pe && (kernel == NULL || may_use(launch, dir)))
            kernel = launch->kernel->name;
    }
    snprintf(text, bytes, "PE %u.%u.%u, %s%.48s,", place.sip, place.cube, place.pe,
             kernel != NULL ? "kernel " : "on which no kernel ran", kernel != NULL ? kernel : "");
}

static void name_queue(const struct ended *ended, uint32_t pe, enum hw_dir dir, char *text,
                       size_t bytes)
{
    const struct lp_pe *const sender = sender_state(ended, pe);
    const struct lp_queue *const queue = &sender->queue[dir];
    const struct lp_plan *const plan = lp_plan_at(ended->m, sender);
    const uint32_t left = queue->my_head - queue->peer_tail_cache;
    char from[128], to[128], at[TL_SOURCE_TEXT_BYTES];
    uint32_t peer = 0;
    enum hw_dir peer_dir = HW_DIRS_MAX;
    (void)lp_queue_peer(plan, pe, dir, &peer, &peer_dir);
    name_end(ended, pe, dir, from, sizeof from);
    name_end(ended, peer, peer_dir, to, sizeof to);
    (void)tl_source_text(tl_source_numbered(queue->sent_at), at, sizeof at);
    snprintf(text, bytes, "%s has not received %u tile%s from direction %s that %s sent in %s%s",
             to, left, left == 1 ? "" : "s", lp_dir_name(plan, peer, peer_dir), from,
             lp_dir_name(plan, pe, dir), at);
}

/* The first queues, in the order of their senders, and the number of the rest. */
static int refuse(const struct ended *ended, uint32_t queues, struct cw_error *error)
{
    char list[LIST_BYTES] = "", one[560], more[48] = "";
    uint32_t named = 0, last = UINT32_MAX;
    size_t used = 0;
    for (size_t i = 0; i < ended->count && named < QUEUES_NAMED; i++) {
        const uint32_t pe = ended->launched[i].pe;
        for (enum hw_dir dir = 0; dir < HW_DIRS_MAX && pe != last; dir++) {
            if (tiles_left(sender_state(ended, pe), dir) == 0 || named == QUEUES_NAMED)
                continue;
            name_queue(ended, pe, dir, one, sizeof one);
            if (used + strlen(one) + 3 > sizeof list)
                break;
            used +=
                (size_t)snprintf(list + used, sizeof list - used, "%s%s", named ? "; " : "", one);
            named++;
        }
        last = pe;
    }
    if (queues > named)
        snprintf(more, sizeof more, "; and %u queue%s more", queues - named,
                 queues - named == 1 ? "" : "s");
    return cw_error_set(error, CW_PROGRAM_FAILED,
                        "IpcqUnreceived: all kernels have ended, and %s%s. Each send needs a "
                        "receive on the other side",
                        list, more);
}

/* The count of one worker. */
struct worker_left {
    _Alignas(128) uint64_t queues;
};

struct left_search {
    struct ended ended;
    uint32_t workers;
    struct worker_left *left; /* [workers] */
};

/* Queues with tiles left that the launched PEs from `first` to before `end` have sent into. */
static uint64_t queues_left(const struct ended *ended, size_t first, size_t end)
{
    uint64_t queues = 0;
    for (size_t i = first; i < end; i++) {
        const uint32_t pe = ended->launched[i].pe;
        const struct lp_pe *const state = sender_state(ended, pe);
        const bool is_first = i == 0 || ended->launched[i - 1].pe != pe;
        for (uint32_t dirs = is_first ? state->installed : 0; dirs != 0; dirs &= dirs - 1)
            queues += tiles_left(state, (enum hw_dir)__builtin_ctz(dirs)) != 0;
    }
    return queues;
}

static void count_left(void *arg, uint32_t worker)
{
    const struct left_search *const search = arg;
    const size_t count = search->ended.count;
    search->left[worker].queues = queues_left(&search->ended, count * worker / search->workers,
                                              count * (worker + 1) / search->workers);
}

int lp_check_received(const struct lp_model *m, struct cw_sim *sim,
                      const struct lp_launched *launched, size_t count, struct cw_error *error)
{
    struct left_search search = {{m, sim, launched, count}, cw_sim_worker_count(sim), NULL};
    uint64_t queues = 0;
    if (count >= SHARED_PES_MIN)
        search.left =
            aligned_alloc(_Alignof(struct worker_left), search.workers * sizeof *search.left);
    if (search.left != NULL)
        cw_each_worker(sim, count_left, &search);
    else
        queues = queues_left(&search.ended, 0, count);
    for (uint32_t i = 0; search.left != NULL && i < search.workers; i++)
        queues += search.left[i].queues;
    free(search.left);
    return queues == 0 ? CW_OK : refuse(&search.ended, (uint32_t)queues, error);
}
