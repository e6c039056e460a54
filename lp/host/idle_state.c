/*
 * idle_state.c: the words of each kind of LP (idle_state.h). Beside each member of a state stands
 * whether simulated times of the future depend on it, and why. A struct that gets another member
 * stops this file from compiling.
 */
#include "lp/host/idle_state.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "lp/coarse.h"
#include "lp/fabric/sequencer.h"
#include "lp/maps.h"

/* ---- the list -------------------------------------------------------------------------------- */

void lp_idle_state_begin(struct lp_idle_state *state, int64_t now_ps)
{
    state->now_ps = now_ps;
    state->digest = 0;
    state->count = state->age_count = 0;
    state->counter_max = 0;
    state->out_of_memory = false;
}

void lp_idle_state_free(struct lp_idle_state *state)
{
    free(state->word);
    free(state->age);
    *state = (struct lp_idle_state){0};
}

uint64_t lp_idle_state_bytes(const struct lp_idle_state *state)
{
    return state->capacity * sizeof *state->word + state->age_capacity * sizeof *state->age;
}

/* Room for one more of `count` in an array. NULL: out of memory. */
static void *grown(void *at, size_t count, size_t *capacity, size_t each)
{
    if (count < *capacity)
        return at;
    const size_t more = *capacity > 0 ? 2 * *capacity : 256;
    void *const larger = realloc(at, more * each);
    if (larger != NULL)
        *capacity = more;
    return larger;
}

void lp_idle_state_put(struct lp_idle_state *state, uint64_t word)
{
    uint64_t *const at = grown(state->word, state->count, &state->capacity, sizeof *at);
    if (at == NULL) {
        state->out_of_memory = true;
        return;
    }
    state->word = at;
    at[state->count++] = word;
}

static void put_age(struct lp_idle_state *state, int64_t ps, int64_t apart)
{
    struct lp_age *const at = grown(state->age, state->age_count, &state->age_capacity, sizeof *at);
    if (at == NULL) {
        state->out_of_memory = true;
        return;
    }
    state->age = at;
    at[state->age_count++] = (struct lp_age){ps, apart};
}

void lp_idle_state_count_up(struct lp_idle_state *state, uint64_t counter)
{
    if (counter > state->counter_max)
        state->counter_max = counter;
}

bool lp_idle_state_end(struct lp_idle_state *state)
{
    state->digest = XXH3_64bits(state->word, state->count * sizeof *state->word);
    return !state->out_of_memory;
}

/*
 * Ages count with coarse tiles alone, where time in which a part was idle can be used later (see
 * put_links() and put_coarse()). Of a message that began after the state was taken, no more of it
 * can be used than the message has been on its way. With `passed_ps` between the states, whatever
 * the machine does in this time has been on its way no longer than that. So idle times of twice as
 * much (times are rounded up, here and there by a picosecond) are as good as endless; and they
 * remain so where they do not fall.
 */
static bool is_same_age(struct lp_age earlier, struct lp_age later, int64_t passed_ps)
{
    if (earlier.ps == later.ps && earlier.apart == later.apart)
        return true;
    return passed_ps > 0 && earlier.ps >= 2 * passed_ps && later.ps >= earlier.ps;
}

bool lp_idle_state_equal(const struct lp_idle_state *earlier, const struct lp_idle_state *later)
{
    const int64_t passed_ps = later->now_ps - earlier->now_ps;
    if (earlier->digest != later->digest || earlier->count != later->count ||
        earlier->age_count != later->age_count ||
        (later->count > 0 &&
         memcmp(earlier->word, later->word, later->count * sizeof *later->word) != 0))
        return false;
    for (size_t i = 0; i < later->age_count; i++)
        if (!is_same_age(earlier->age[i], later->age[i], passed_ps))
            return false;
    return true;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* What a word is of. Words that are 0 are left out. */
enum what {
    WHAT_LINK = 1,
    WHAT_M_CPU,
    WHAT_IO_CPU,
    WHAT_PCIE,
    WHAT_PLAN,
    WHAT_MAPPED,
    WHAT_UNSEEN,
    WHAT_PRESENT,
    WHAT_LAST_CHANNEL,
    WHAT_QUOTA,
    WHAT_SERVED,
    WHAT_POLLED,
    WHAT_PENDING,
    WHAT_VISIBLE,
    WHAT_SIGMA,
};

static void put(struct lp_idle_state *state, enum what what, uint64_t which, uint64_t word)
{
    if (word == 0)
        return;
    lp_idle_state_put(state, (uint64_t)what << 56 | which);
    lp_idle_state_put(state, word);
}

/* A time until which something is reserved. One in the past delays nothing any more. */
static void put_until(struct lp_idle_state *state, const struct lp_idle_machine *machine,
                      enum what what, uint64_t which, int64_t until_ps)
{
    put(state, what, which,
        until_ps > machine->now_ps ? (uint64_t)(until_ps - machine->now_ps) : 0);
}

/* ---- links ----------------------------------------------------------------------------------- */

/*
 * struct hw_link:
 *   free_ps             counts while it is ahead: a flight whose tail is ready at tau waits for
 *                       free_ps + ser - tau, and tau - ser is no earlier than the flight's begin.
 *                       A control message of an io_cpu's program pays no serialisation, so its
 *                       tau - ser may be earlier by its ser
 *   bytes, queue_ps_max, epoch   counts of the latest batches: no time depends on them
 * With coarse tiles a tile may use time in which the link was idle (lp_coarse_cross()): the time
 * since free_ps, and the link's word of idle time before it. A link that was never used has been
 * idle longer than any flight has been on its way.
 */
_Static_assert(sizeof(struct hw_link) == 24, "say above whether the new member counts");

int64_t lp_idle_state_before_ps(const struct lp_model *m)
{
    int64_t longest_ps = 0;
    for (uint32_t kind = 0; m->program != NULL && kind < HW_LINK_KINDS; kind++) {
        const int64_t ps = hw_ser_ps(&m->hw.link[kind], m->hw.control_msg_bytes);
        longest_ps = ps > longest_ps ? ps : longest_ps;
    }
    return longest_ps;
}

static void put_links(struct lp_idle_state *state, const struct lp_idle_machine *machine,
                      enum lp_link_owner kind, const struct hw_link *link)
{
    const struct lp_model *const m = machine->m;
    const int64_t past_ps = machine->now_ps - lp_idle_state_before_ps(m);
    if (m->hw.contention == HW_CONTENTION_NONE)
        return; /* nothing is reserved */
    for (uint32_t i = 0; i < m->links.count[kind]; i++) {
        if (m->accounts.idle_words > 0)
            put_age(state, link[i].free_ps > 0 ? machine->now_ps - link[i].free_ps : INT64_MAX,
                    *lp_link_idle(m, kind, &link[i], i));
        else if (link[i].free_ps > past_ps)
            put(state, WHAT_LINK, i, (uint64_t)(link[i].free_ps - past_ps));
    }
}

/* ---- PEs ------------------------------------------------------------------------------------- */

/*
 * struct lp_queue: pointers count by what is between them.
 *   my_head - peer_tail_cache      tiles that were sent and have given no credit back
 *   peer_head_cache - my_tail      tiles that are there
 *   early, promised                0 on an idle PE: such a tile's predecessor is in flight, or a
 *                                  kernel waits for it. The bits of slot_map.h are then 0, too
 *   sent_at                        for reports alone
 * The place of a tile in its ring, its number modulo n_slots, does not count: all slots of a ring
 * cost the same, kernels get at a tile through its number, and casts (lp_kernel.casts) are
 * forgotten at a kernel's end. A tile's number counts nowhere by itself: it ends with an error
 * before it begins anew (IpcqTooManyTiles), as counter_max says.
 */
_Static_assert(sizeof(struct lp_queue) == 24, "say above whether the new member counts");

static bool put_queues(struct lp_idle_state *state, const struct lp_pe *pe, uint64_t which)
{
    for (uint32_t left = pe->installed; left != 0; left &= left - 1) {
        const uint32_t dir = (uint32_t)__builtin_ctz(left);
        const struct lp_queue *const queue = &pe->queue[dir];
        if (queue->early > 0 || queue->promised > 0)
            return false;
        put(state, WHAT_UNSEEN, which << 8 | dir, queue->my_head - queue->peer_tail_cache);
        put(state, WHAT_PRESENT, which << 8 | dir, queue->peer_head_cache - queue->my_tail);
        lp_idle_state_count_up(state, queue->my_head);
        lp_idle_state_count_up(state, queue->my_tail);
    }
    return true;
}

/*
 * struct hw_dma of an idle engine:
 *   last, quota                    whose turn it is when both channels have work. Without quota a
 *                                  turn of the computation's channel comes next, unless it was
 *                                  just that channel's
 *   count, running                 say that it is idle
 *   passed                         0 in front of an empty channel
 *   head                           where in its ring a channel is: all places are alike
 *   generation                     compared with those of events in flight alone, of which there
 *                                  are none
 *   run_start_ps, run_passed, run_depth, last_before, quota_before   set by the next grant
 *   whole_chunks                   set when the next kernel begins
 */
_Static_assert(sizeof(struct hw_dma) == 48, "say above whether the new member counts");
_Static_assert(sizeof(struct hw_dma_op) == 16, "operations in channels: an idle PE has none");

static bool put_dma(struct lp_idle_state *state, const struct hw_dma *dma, uint64_t which)
{
    if (dma->running != HW_VC_IDLE || dma->count[HW_VC_COMPUTE] > 0 || dma->count[HW_VC_COMM] > 0)
        return false;
    put(state, WHAT_LAST_CHANNEL, which, dma->last == HW_VC_COMPUTE);
    put(state, WHAT_QUOTA, which, dma->quota);
    return true;
}

/*
 * struct lp_pe_queue:
 *   last_polled                    where the next receive from any direction begins to look, unless
 *                                  fairness is strict
 *   asyncs                         0 on an idle PE
 *   batch, written                 numbers of batches, for counts of bytes and for reports
 *   async_at                       for reports alone
 * struct lp_backlog:
 *   count                          0 on an idle PE; at[] is empty
 *   first_number, batch_before     of operations in PE_DMA, of which there are none
 * struct lp_context: it is free, and the next kernel or stream begins with an empty one. Handles
 * are free: a kernel ends with an error otherwise.
 */
_Static_assert(sizeof(struct lp_pe_queue) == 16, "say above whether the new member counts");
_Static_assert(sizeof(struct lp_backlog) == 16, "say above whether the new member counts");

static bool put_hardware_queues(struct lp_idle_state *state, const struct lp_model *m,
                                const struct lp_pe *pe, uint64_t which)
{
    for (uint32_t i = 0; i < m->contexts; i++)
        if (lp_context(m, pe, i)->kernel.launch != 0)
            return false;
    for (uint32_t i = 0; i < m->needs.queues; i++) {
        const struct lp_pe_queue *const queue = lp_pe_queue(m, pe, i);
        if (queue->asyncs > 0 || (m->needs.launches > 0 && lp_backlog(m, pe, i)->count > 0))
            return false;
        if (!m->config.fairness_strict)
            put(state, WHAT_POLLED, which << 8 | i, queue->last_polled ^ (HW_DIRS_MAX - 1u));
    }
    return true;
}

/*
 * struct lp_one_sided:
 *   peer[].pending                 notifications that no kernel has consumed
 *   peer[].sent, seen              by their difference, which is what is in flight: nothing
 *                                  (I-PUT-1)
 *   peer[].key                     where in the table a peer is has no effect. An equal iteration
 *                                  needs no further place
 *   puts_issued, puts_passed, notifies_issued   numbers of puts, for records alone
 *   early_count                    0 on an idle PE; the places for early ones are empty
 */
_Static_assert(sizeof(struct lp_one_sided) == 16, "say above whether the new member counts");
_Static_assert(sizeof(struct lp_peer) == 12 + 4 * TL_TAGS, "say above whether it counts");

static bool put_one_sided(struct lp_idle_state *state, const struct lp_model *m,
                          const struct lp_pe *pe, uint64_t which)
{
    if (m->needs.peers == 0)
        return true;
    const struct lp_one_sided *const own = lp_one_sided(m, pe);
    if (own->early_count > 0)
        return false;
    for (uint32_t i = 0; i < m->needs.peers; i++) {
        for (uint32_t tag = 0; tag < TL_TAGS && own->peer[i].key != 0; tag++)
            put(state, WHAT_PENDING, which << 40 | (uint64_t)tag << 32 | own->peer[i].key,
                own->peer[i].pending[tag]);
        lp_idle_state_count_up(state, own->peer[i].sent);
        lp_idle_state_count_up(state, own->peer[i].seen);
    }
    return true;
}

/*
 * struct lp_coarse:
 *   engine_idle_ps, engine_end_ps  an age: how long PE_DMA was idle without use, until now. Tiles
 *                                  that have waited for it use as much as they have waited
 *   queue[].visible_ps, sigma_ps   of the latest tile, while one is there
 *   queue[].sent_ps                earlier than the begin of the next kernel, which comes first
 *   context[]                      set when the next kernel begins
 *   skipped, op[]                  of operations in PE_DMA, of which there are none
 */
_Static_assert(sizeof(struct lp_coarse) == 16 * sizeof(struct lp_coarse_context) +
                                               HW_DIRS_MAX * sizeof(struct lp_coarse_queue) + 24,
               "say above whether the new member counts");
_Static_assert(sizeof(struct lp_coarse_context) == 32 + 4 * sizeof(struct lp_coarse_move), "too");
_Static_assert(sizeof(struct lp_coarse_queue) == 24, "too");

static void put_coarse(struct lp_idle_state *state, const struct lp_idle_machine *machine,
                       const struct lp_pe *pe, uint64_t which)
{
    if (!lp_is_coarse(&machine->m->config))
        return;
    const struct lp_coarse *const own = lp_coarse_of(machine->m, pe);
    put_age(state, own->engine_idle_ps + machine->now_ps - own->engine_end_ps, 0);
    for (uint32_t left = pe->installed; left != 0; left &= left - 1) {
        const uint32_t dir = (uint32_t)__builtin_ctz(left);
        if (pe->queue[dir].peer_head_cache == pe->queue[dir].my_tail)
            continue;
        put(state, WHAT_VISIBLE, which << 8 | dir,
            (uint64_t)(machine->now_ps - own->queue[dir].visible_ps) + 1);
        put(state, WHAT_SIGMA, which << 8 | dir, (uint64_t)own->queue[dir].sigma_ps);
    }
}

/*
 * struct lp_pe:
 *   queue, dma                     above
 *   installed, plan                which queues it has, and where they lead
 *   mapped                         which maps it reaches: all that it holds, or up to a number
 *   served                         whose turn it is, if fairness is strict
 *   void_request                   each is in flight: an idle PE has none
 *   next_number                    of its events: they are compared among each other
 */
_Static_assert(sizeof(struct lp_pe) == HW_DIRS_MAX * sizeof(struct lp_queue) +
                                           sizeof(struct hw_dma) + 8 + 8 + 4 * LP_VOID_REQUESTS + 8,
               "say above whether the new member counts");

static bool put_pe(struct lp_idle_state *state, const struct lp_idle_machine *machine,
                   const struct lp_pe *pe, uint64_t which, uint32_t latest_map)
{
    const struct lp_model *const m = machine->m;
    for (uint32_t i = 0; i < LP_VOID_REQUESTS; i++)
        if (pe->void_request[i] != 0)
            return false;
    put(state, WHAT_PLAN, which, (uint64_t)pe->plan << 16 | pe->installed);
    if (pe->mapped < latest_map)
        put(state, WHAT_MAPPED, which, 1 + (uint64_t)pe->mapped);
    if (m->config.fairness_strict)
        put(state, WHAT_SERVED, which, pe->served);
    lp_idle_state_count_up(state, pe->next_number);
    if (!put_dma(state, &pe->dma, which) || !put_queues(state, pe, which) ||
        !put_hardware_queues(state, m, pe, which) || !put_one_sided(state, m, pe, which))
        return false;
    put_coarse(state, machine, pe, which);
    return true;
}

/* ---- LPs ------------------------------------------------------------------------------------- */

/* struct lp_cube: m_cpu's time, its links, its PEs. The rows of accounts after them count bytes. */
_Static_assert(sizeof(struct lp_cube) == 8, "say above whether the new member counts");

/* The number of the latest message that the maps of a SIP wait for; `index` as lp_sip_index(). */
static uint32_t latest_map_of(const struct lp_model *m, uint32_t index)
{
    const struct lp_map *map;
    uint32_t latest = 0;
    for (uint32_t i = 0; (map = lp_maps_at(m->maps, index, i)) != NULL; i++)
        latest = map->message > latest ? map->message : latest;
    return latest;
}

static bool put_cube(struct lp_idle_state *state, const struct lp_idle_machine *machine,
                     const struct lp_cube *cube, uint32_t index)
{
    const uint32_t latest_map = latest_map_of(machine->m, index);
    put_until(state, machine, WHAT_M_CPU, 0, cube->m_cpu_free_ps);
    put_links(state, machine, LP_OF_CUBE, cube->link);
    for (uint32_t pe = 0; pe < machine->m->pes; pe++)
        if (!put_pe(state, machine, lp_pe(machine->m, cube, pe), pe, latest_map))
            return false;
    return true;
}

/*
 * struct lp_io_die: io_cpu's time, its links; and the host's link to it, which is the host's. The
 * sequencer of a program (sequencer.c) begins with a state of its own; only between programs is it
 * idle, and its count of messages does not count.
 */
_Static_assert(sizeof(struct lp_io_die) == 8, "say above whether the new member counts");

static bool put_io_die(struct lp_idle_state *state, const struct lp_idle_machine *machine,
                       const struct lp_io_die *die, uint32_t index)
{
    if (machine->m->program != NULL && !machine->in_program &&
        lp_sequencer_left(machine->m, die) > 0)
        return false;
    put_until(state, machine, WHAT_IO_CPU, 0, die->io_cpu_free_ps);
    put_until(state, machine, WHAT_PCIE, 0, machine->control->pcie_free_ps[index]);
    put_links(state, machine, LP_OF_IO_DIE, die->link);
    return true;
}

/* struct lp_host: answers that have come, by which times are read. It sends nothing. */
_Static_assert(sizeof(struct lp_host) == 16, "say above whether the new member counts");
_Static_assert(sizeof(struct lp_switch) == 8, "say whether the new member counts");

bool lp_idle_state_add(struct lp_idle_state *state, const struct lp_idle_machine *machine,
                       uint32_t lp)
{
    const struct lp_model *const m = machine->m;
    const void *const own = cw_state(machine->sim, lp);
    if (lp == 0)
        return true;
    const size_t at = state->count;
    bool idle = true;
    lp_idle_state_put(state, 0); /* its words' number, which parts them from the next LP's */
    if (lp < m->lps.first_io_die)
        idle = put_cube(state, machine, own, (lp - 1) / m->cubes);
    else if (lp < m->lps.first_switch)
        idle = put_io_die(state, machine, own, lp - m->lps.first_io_die);
    else
        put_links(state, machine, LP_OF_SWITCH, ((const struct lp_switch *)own)->link);
    if (at < state->count)
        state->word[at] = state->count - at;
    return idle;
}
