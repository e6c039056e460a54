/*
 * schedule_program.c: where a program's threads run, and the queues between them
 * (schedule_program.h). On the host, one thread.
 */
#include "collectives/schedule/schedule_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/schedule/schedule_lay.h"

/* ---- the whole ------------------------------------------------------------------------------- */

/* Blocks of each buffer (schedule.h, "Parts"). */
static void find_blocks(struct schedule_program *p)
{
    for (uint32_t b = 0; b < SCHEDULE_BUFFERS; b++) {
        p->blocks[b] = schedule_blocks(p->schedule, b);
        p->chunks[b] = p->schedule->rank[0].chunks[b] / p->blocks[b];
        if (p->lanes > 0)
            p->chunks[b] /= p->schedule->parts;
    }
}

/* It fits the machine: threads on PEs. */
static int check_places(const struct schedule_program *p, struct cw_error *error)
{
    const struct schedule *const s = p->schedule;
    for (uint32_t r = 0; r < s->rank_count; r++) {
        if (p->lanes == 0 && s->rank[r].thread_count > p->pes_of_rank)
            return cw_error_set(error, CW_USAGE,
                                "rank %u has %u threads, each on a PE of its own, and there are %u "
                                "PEs for it; legal: %s",
                                schedule_rank_at(s, r), s->rank[r].thread_count, p->pes_of_rank,
                                p->ranks->pes > 0 ? "more lanes"
                                                  : "a machine with more cubes or PEs, such as by "
                                                    "a larger sip.cube_mesh.w");
        if (p->lanes > 0 && (s->rank[r].thread_count != s->parts || s->reaches))
            return cw_error_set(error, CW_USAGE,
                                "rank %u has %u threads for %u parts: a tensor that is cut over "
                                "PEs goes by one thread on each; legal: mapper leader_only",
                                schedule_rank_at(s, r), s->rank[r].thread_count, s->parts);
    }
    return CW_OK;
}

/* A thread's peers, or only those that it receives from; more than HW_DIRS_MAX count as one more.
 */
static uint32_t peers_of(const struct schedule_rank *rank, uint32_t thread, bool sends)
{
    uint32_t peer[HW_DIRS_MAX], peers = 0;
    for (uint32_t i = 0; i < rank->thread[thread].step_count; i++) {
        const struct schedule_step *const step = &rank->step[rank->thread[thread].step_first + i];
        if (schedule_op_reaches((enum schedule_op)step->op))
            continue;
        const uint32_t ends[] = {step->recv_from, sends ? step->send_to : SCHEDULE_NO_RANK};
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t at = 0;
            while (at < peers && peer[at] != ends[k])
                at++;
            if (ends[k] == SCHEDULE_NO_RANK || at < peers)
                continue;
            if (peers == HW_DIRS_MAX)
                return peers + 1;
            peer[peers++] = ends[k];
        }
    }
    return peers;
}

/* No PE has too many queues. In a sketch rank 0 stands for all. */
static int check_queues(struct schedule_program *p, struct cw_error *error)
{
    const struct schedule *const s = p->schedule;
    for (uint32_t r = 0; r < (s->sketch ? s->members : s->rank_count); r++)
        for (uint32_t t = 0; t < s->rank[r].thread_count; t++) {
            const uint32_t rings = peers_of(&s->rank[r], t, false);
            if (peers_of(&s->rank[r], t, true) > HW_DIRS_MAX)
                return schedule_lay_refuse_peers(schedule_rank_at(s, r), t, error);
            p->rings = rings > p->rings ? rings : p->rings;
        }
    return CW_OK;
}

/* PEs that carry out threads of the rank. */
static uint32_t places_of_rank(const struct schedule_program *p, uint32_t r)
{
    return p->lanes > 0 ? p->lanes : p->schedule->rank[r].thread_count;
}

uint32_t schedule_reach_bytes(const struct hw_config *hw, const struct ccl_config *ccl)
{
    enum { BYTES_MAX = 1 << 18, SHARE = 16, LINE = 64 };
    const uint64_t share = hw->tcm_bytes / SHARE;
    const uint32_t bytes = share < BYTES_MAX ? (uint32_t)share : BYTES_MAX;
    const uint32_t slot = lp_tile_bytes(&ccl->queues);
    return (bytes > slot ? bytes : slot) / LINE * LINE;
}

/* The first PE of any rank of the schedule: global index. */
static uint32_t first_pe_of(const struct schedule_program *p, uint32_t rank)
{
    const uint32_t members = p->schedule->members, pitch = hw_cubes(p->hw) * hw_pes(p->hw);
    return ccl_sip_of(p->ranks, rank / members) * pitch + p->ranks->first_pe +
           rank % members * p->pes_of_rank;
}

struct schedule_program *schedule_program_create(const struct program_request *request,
                                                 struct cw_error *error)
{
    const struct schedule *const s = request->schedule;
    struct schedule_program *const p = calloc(1, sizeof *p);
    if (p != NULL)
        p->rank = calloc(s->rank_count, sizeof *p->rank);
    if (p == NULL || p->rank == NULL) {
        free(p);
        (void)cw_error_memory(error, "the program of a schedule");
        return NULL;
    }
    p->schedule = s;
    p->reaches = s->reaches;
    p->tile_bytes = p->reaches ? schedule_reach_bytes(request->hw, request->ccl)
                               : lp_move_bytes(&request->ccl->queues);
    p->exact_tile_bytes = p->reaches ? p->tile_bytes : lp_tile_bytes(&request->ccl->queues);
    p->hw = request->hw;
    p->ranks = &request->ccl->ranks;
    p->lanes = request->lanes;
    p->lanes_apart = request->lanes_apart;
    const uint32_t pitch = hw_cubes(request->hw) * hw_pes(request->hw);
    p->pes_of_sip = p->ranks->pes > 0 ? p->ranks->pes : pitch;
    p->pes_of_rank = p->pes_of_sip / s->members;
    p->rank_count = s->rank_count;
    for (uint32_t r = 0, places = 0; r < s->rank_count; places += places_of_rank(p, r), r++) {
        p->rank[r].first_pe = first_pe_of(p, schedule_rank_at(s, r));
        p->rank[r].first_place = places;
    }
    find_blocks(p);
    int code = check_places(p, error);
    if (code == CW_OK)
        code = request->places_only || s->sketch ? check_queues(p, error)
                                                 : schedule_lay(p, request->ccl, error);
    if (code == CW_OK)
        return p;
    schedule_program_free(p);
    return NULL;
}

void schedule_program_free(struct schedule_program *program)
{
    if (program == NULL)
        return;
    for (uint32_t r = 0; r < program->rank_count; r++) {
        struct program_rank *const rank = &program->rank[r];
        free(rank->thread);
        free(rank->step);
        free(rank->link);
        free(rank->size);
        free(rank->wait);
        free(rank->notify);
    }
    free(program->rank);
    free(program);
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* The thread of the lane's part. */
static uint32_t thread_of_lane(const struct schedule_program *program, uint32_t rank, uint32_t lane)
{
    const uint32_t part = lane % program->schedule->parts;
    uint32_t t = 0;
    while (program->schedule->rank[rank].thread[t].part != part)
        t++;
    return t;
}

uint32_t schedule_program_thread(const struct schedule_program *program, uint32_t group_rank,
                                 uint32_t pe_of_sip)
{
    if (group_rank >= program->schedule->all_ranks / program->schedule->members)
        return UINT32_MAX;
    const uint32_t at = pe_of_sip - program->ranks->first_pe; /* wraps below it */
    if (at >= program->pes_of_sip)
        return UINT32_MAX;
    const uint32_t rank = schedule_program_rank(program, group_rank, pe_of_sip);
    const uint32_t number = at % program->pes_of_rank;
    if (program->lanes == 0)
        return number < program->rank[rank].thread_count ? number : UINT32_MAX;
    if (at % program->lanes_apart != 0 || at / program->lanes_apart >= program->lanes)
        return UINT32_MAX;
    return thread_of_lane(program, rank, at / program->lanes_apart);
}

uint32_t schedule_program_homes(const struct schedule_program *program, uint32_t group_rank,
                                uint32_t *pe)
{
    const uint32_t members = program->schedule->members;
    const uint32_t count = program->lanes > 0 ? program->lanes : members;
    const uint32_t apart = program->lanes > 0 ? program->lanes_apart : program->pes_of_rank;
    for (uint32_t i = 0; i < count; i++)
        pe[i] = first_pe_of(program, group_rank * members) + i * apart;
    return count;
}

/* The PE of a thread's peer, which is in the same lane. */
static uint32_t pe_of_peer(const struct schedule_program *program, const struct program_link *link,
                           uint32_t pe_of_sip)
{
    return first_pe_of(program, link->peer_rank) +
           (program->lanes > 0 ? pe_of_sip : link->peer_thread);
}

/* A queue's name at the end of one thread says the other. */
static void name_link(char name[LP_DIR_NAME_BYTES], uint32_t rank, uint32_t thread)
{
    snprintf(name, LP_DIR_NAME_BYTES, "rank%u_thread%u", rank, thread);
}

/* A queue that leaves its SIP by the other one of two links has the name of an outlet. */
static void name_other_way(const struct schedule_program *program, uint32_t rank, uint32_t peer,
                           struct lp_neighbour *at)
{
    const uint32_t sip = ccl_sip_of(program->ranks, rank), to = ccl_sip_of(program->ranks, peer);
    const char there = schedule_other_way(program->hw, sip, to),
               back = schedule_other_way(program->hw, to, sip);
    if (there == '\0' || back == '\0')
        return;
    snprintf(at->dir, LP_DIR_NAME_BYTES, "global_%c", there);
    snprintf(at->opposite, LP_DIR_NAME_BYTES, "global_%c", back);
}

uint32_t schedule_program_places(const struct schedule_program *program, uint32_t *pe)
{
    const uint32_t apart = program->lanes > 0 ? program->lanes_apart : 1;
    uint32_t places = 0;
    for (uint32_t r = 0; r < program->rank_count; r++) {
        const uint32_t count = places_of_rank(program, r);
        for (uint32_t i = 0; i < count && pe != NULL; i++)
            pe[places + i] = program->rank[r].first_pe + i * apart;
        places += count;
    }
    return places;
}

/* The last rank whose places begin at or before this one: others there have none. */
static uint32_t rank_of_place(const struct schedule_program *program, uint32_t place)
{
    uint32_t low = 0, high = program->rank_count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (program->rank[middle].first_place <= place)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void schedule_program_neighbours(const struct schedule_program *program, uint32_t place,
                                 struct lp_neighbours *out)
{
    const uint32_t rank = rank_of_place(program, place);
    const struct schedule *const s = program->schedule;
    const struct program_rank *const own = &program->rank[rank];
    const uint32_t own_rank = schedule_rank_at(s, rank);
    const uint32_t lane = place - own->first_place;
    const uint32_t t = program->lanes > 0 ? thread_of_lane(program, rank, lane) : lane;
    out->count = 0;
    for (uint32_t i = 0; i < own->thread[t].link_count; i++) {
        const struct program_link *const link = &own->link[own->thread[t].link_first + i];
        struct lp_neighbour *const at = &out->at[out->count++];
        name_link(at->dir, link->peer_rank, link->peer_thread);
        name_link(at->opposite, schedule_moved_rank(s, link->peer_rank, own_rank), t);
        if (link->peer_rank == own_rank && link->peer_thread == t) {
            snprintf(at->dir, LP_DIR_NAME_BYTES, "switch_%u", link->tree);
            memcpy(at->opposite, at->dir, sizeof at->dir);
        }
        if (s->rank[rank].thread[t].other_way)
            name_other_way(program, own_rank, link->peer_rank, at);
        at->sip = ccl_sip_of(program->ranks, link->peer_rank / s->members);
        at->rank = program->rank[schedule_place_of(s, link->peer_rank)].first_place +
                   (program->lanes > 0 ? lane : link->peer_thread);
        at->way = (uint8_t)(link->sends && link->receives ? LP_WAY_BOTH
                            : link->sends                 ? LP_WAY_OUT
                                                          : LP_WAY_IN);
    }
}

/* The direction of a PE's queue to another. */
static uint8_t direction_to(const struct lp_wiring *wiring, uint32_t pe, uint32_t peer)
{
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        const struct lp_wire *const wire = lp_wiring_at(wiring, pe, dir);
        if (wire != NULL && wire->peer == peer)
            return (uint8_t)dir;
    }
    return HW_DIRS_MAX; /* LCOV: the wiring has a direction for each link */
}

/* The number, within its rank, of a PE that carries out a thread; UINT32_MAX: there are fewer lanes
 * than parts. */
static uint32_t pe_of_thread(const struct schedule_program *program, uint32_t rank, uint32_t thread)
{
    if (program->lanes == 0)
        return thread;
    const uint32_t part = program->schedule->rank[rank].thread[thread].part;
    return part < program->lanes ? part * program->lanes_apart : UINT32_MAX;
}

void schedule_program_take_directions(struct schedule_program *program,
                                      const struct lp_wiring *wiring)
{
    for (uint32_t r = 0; r < program->rank_count; r++) {
        struct program_rank *const rank = &program->rank[r];
        for (uint32_t t = 0; t < rank->thread_count; t++) {
            const struct program_thread *const thread = &rank->thread[t];
            const uint32_t pe_of_sip = pe_of_thread(program, r, t);
            uint8_t dir[HW_DIRS_MAX] = {0};
            if (pe_of_sip == UINT32_MAX)
                continue;
            for (uint32_t i = 0; i < thread->link_count; i++)
                dir[i] = direction_to(
                    wiring, rank->first_pe + pe_of_sip,
                    pe_of_peer(program, &rank->link[thread->link_first + i], pe_of_sip));
            for (uint32_t k = 0; k < thread->step_count; k++) {
                struct program_step *const step = &rank->step[thread->step_first + k];
                step->send_dir = dir[step->send_dir];
                step->recv_dir = dir[step->recv_dir];
            }
        }
    }
}

uint64_t schedule_program_scratch(const struct schedule_program *program,
                                  const struct ccl_call *call)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < program->rank_count; r++) {
        const uint32_t chunks = program->schedule->rank[r].chunks[SCHEDULE_SCRATCH];
        most = chunks > most ? chunks : most;
    }
    if (program->lanes > 0)
        most /= program->schedule->parts;
    uint64_t elems = most * program_chunk_elems(program, call->n_elem);
    const bool on_one_tensor = call->collective == CCL_ALL_REDUCE ||
                               call->collective == CCL_CUSTOM ||
                               schedule_has_root(call->collective);
    if (on_one_tensor && schedule_program_layout(program) == PROGRAM_APART)
        elems += call->n_elem; /* the input, as it was */
    return elems * tl_itemsize(call->dtype);
}
