/*
 * fold_steps.c: compares the parts of a schedule (fold_steps.h).
 *
 * Proof that the programs (schedule_program.h) of schedules which are kept are kept, but for
 * addresses. Let g take rank x to its representative r.
 *
 * 1. Links. Steps name peers and channels, and those of all ranks are kept, so the step at the
 * other end of a message is, too, with its thread. A thread's links are in the order in which its
 * steps name them, and so are its directions, unless it goes by outlets (`other_way`): those have
 * the letters of outlets, which are compared. Notifications follow from waits and threads; tiles of
 * a piece, from the queues of all ranks together.
 * 2. Early loads. A step loads early if no step before it has written its source. Where one thread
 *    alone touches a place that is written, its own steps say that, and they are compared. Where
 *    several do, one map, one to one, must take the places of r to those of x: the order of all
 *    steps is kept, and so is all that it says of steps that touch one place.
 * 3. Lengths. A value is as long as the chunk of the input that it comes from. They are kept if
 *    - values keep the numbers of their chunks (schedule.h, `keeps_numbers`): numbers are compared;
 *    - all chunks of a part's blocks that steps read have one number in their block: so have all
 *      values that move in the part, whose threads have queues of their own;
 *    - there is the map of 2, and it keeps numbers in blocks;
 *    - chunks of all calls are equally long, and steps have one chunk each.
 * 4. Otherwise, and for files, whose steps may have hazards, so that more than the order decides,
 *    the program is made, and its flags and lengths are compared.
 */
#include "collectives/fold/fold_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/choice/cost.h"
#include "collectives/fold/fold_rule.h"
#include "collectives/schedule/schedule_faults.h"
#include "collectives/schedule/schedule_program.h"
#include "collectives/schedule/schedule_values.h"

#define NO_PEER UINT32_MAX

/* Parts of a partial schedule that are made at a time: they fit into a near cache. */
enum { RANKS_AT_ONCE = 8 };

#define NO_NUMBER UINT32_MAX       /* none so far */
#define NUMBERS   (UINT32_MAX - 1) /* several */

/* A number that counts only with the stamp of the part that is being looked at. */
struct stamped {
    uint32_t stamp, value;
};

/* Which thread has touched a place; MANY_THREADS: several have read it. */
struct touched {
    uint32_t stamp;
    uint16_t thread;
    bool written;
};
enum { MANY_THREADS = UINT16_MAX };

struct fold_steps {
    struct fold_steps_request request;
    struct schedule *schedule; /* if it is partial, with a representative's part */
    struct schedule *others;   /* with the parts of others of its class that are being compared, if
                                  the schedule is partial; else NULL */
    struct schedule *whole;    /* of a partial one, for the program; NULL: not needed so far */
    uint32_t steps, places;    /* of a rank, that there is room for */
    uint32_t lanes;            /* of each SIP; 0: a rank has one shard */
    uint32_t chunks_of_block;  /* of the input, as a lane sees it */
    uint32_t of_block[SCHEDULE_BUFFERS]; /* chunks of a block, of all parts */
    bool rings_of_two;                   /* of SIPs: there are other ways round (schedule.h) */
    bool even;                           /* of all calls: chunks have equal lengths */
    uint32_t stamp;                      /* of the part that is being looked at */
    struct stamped *number;              /* [all ranks] of the representative's peers */
    struct stamped *image;    /* [all ranks] by that number: the peer in the other part */
    uint32_t *peer;           /* [all ranks] by that number */
    uint32_t *send, *receive; /* [steps of a rank] numbers of the representative's peers */
    bool *early;              /* [steps of a rank] of the representative: it may load early */
    uint32_t *part_number;    /* [parts] of the representative: its chunks' number in a block */
    bool one_each;            /* each part of the representative has one thread */
    uint64_t *written;        /* [places of a rank] as bits: a step of the part has written it */
    struct touched *touched;  /* [places of a rank] by steps so far */
    struct stamped *there, *back;     /* [places of a rank] the map between places, both ways */
    struct schedule_program *program; /* NULL: not needed so far */
};

/* The parts of two ranks. */
struct pair {
    struct fold_steps *s;
    const struct hw_fold *fold;
    uint32_t r, x; /* the representative, and the other */
    uint32_t sip_r, sip_x;
    const struct schedule_rank *own, *other;
    uint32_t base_r[SCHEDULE_BUFFERS], base_x[SCHEDULE_BUFFERS]; /* places of chunks 0 */
    bool renumbers; /* some chunk has another number in its block */
    bool numbers;   /* chunks of a part have several numbers, in one of the ranks */
    bool together;  /* some step has several chunks */
    bool shared;    /* several threads touch a place that is written */
    char *why;
};

/* ---- ranks ----------------------------------------------------------------------------------- */

static uint32_t sip_of(const struct fold_steps *s, uint32_t rank)
{
    return ccl_sip_of(&s->request.ccl->ranks, rank / s->schedule->members);
}

/* Where the schedule has a representative's part. */
static uint32_t part_at(const struct schedule *schedule, uint32_t rank)
{
    return schedule->partial ? 0 : rank;
}

/* The rank on a SIP with this number among its members. */
static uint32_t rank_on(const struct fold_steps *s, uint32_t sip, uint32_t member)
{
    return ccl_rank_on(&s->request.ccl->ranks, sip) * s->schedule->members + member;
}

/* The relabelling takes rank a to rank b. */
static bool takes_to(const struct pair *p, uint32_t a, uint32_t b)
{
    const uint32_t members = p->s->schedule->members;
    return a % members == b % members &&
           hw_fold_moved(p->fold, p->sip_x, sip_of(p->s, a)) == sip_of(p->s, b);
}

/* ---- reasons --------------------------------------------------------------------------------- */

static bool differs(const struct pair *p, uint32_t thread, uint32_t step, const char *what)
{
    char at[SCHEDULE_PLACE_BYTES];
    return fold_refuse(p->why, "%s %s %s %u's",
                       schedule_place(p->s->schedule, p->x, thread, step, at), what,
                       p->s->schedule->file != NULL ? "gpu" : "rank", p->r);
}

/* ---- the representative's peers -------------------------------------------------------------- */

static uint32_t number_of(struct fold_steps *s, uint32_t rank, uint32_t *peers)
{
    struct stamped *const number = &s->number[rank];
    if (number->stamp != s->stamp) {
        *number = (struct stamped){s->stamp, *peers};
        s->peer[(*peers)++] = rank;
    }
    return number->value;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static bool keeps_peer(struct pair *p, uint32_t number, uint32_t peer)
{
    if (number == NO_PEER)
        return true;
    struct stamped *const image = &p->s->image[number];
    if (image->stamp == p->s->stamp)
        return image->value == peer;
    *image = (struct stamped){p->s->stamp, peer};
    return takes_to(p, peer, p->s->peer[number]);
}

/* Notes that a thread reads places; returns whether no step has written them. */
static bool read_places(struct fold_steps *s, uint32_t first, uint32_t count, uint32_t thread,
                        bool *shared)
{
    bool unwritten = true;
    for (uint32_t i = first; i < first + count; i++) {
        struct touched *const at = &s->touched[i];
        if (at->stamp != s->stamp) {
            *at = (struct touched){.stamp = s->stamp, .thread = (uint16_t)thread};
        } else if (at->thread != thread) {
            *shared |= at->written;
            at->thread = MANY_THREADS;
        }
        unwritten &= !at->written;
    }
    return unwritten;
}

static void write_places(struct fold_steps *s, uint32_t first, uint32_t count, uint32_t thread,
                         bool *shared)
{
    for (uint32_t i = first; i < first + count; i++) {
        struct touched *const at = &s->touched[i];
        *shared |= at->stamp == s->stamp && at->thread != thread;
        *at = (struct touched){.stamp = s->stamp, .thread = (uint16_t)thread, .written = true};
    }
}

/* Bits of a word of a set of places, and how many places come after them. */
struct bits {
    uint64_t mask; /* 0: none */
    uint32_t word, rest;
};

static struct bits bits_of(uint32_t first, uint32_t count)
{
    const uint32_t from = first % 64, here = count < 64 - from ? count : 64 - from;
    const uint64_t mask = here == 0 ? 0 : UINT64_MAX >> (64 - here) << from;
    return (struct bits){mask, first / 64, count - here};
}

static struct bits bits_after(struct bits bits) { return bits_of((bits.word + 1) * 64, bits.rest); }

/* The same where each part has one thread, which alone touches the part's chunks (schedule.h,
 * "Parts"). */
static bool read_own(const struct fold_steps *s, uint32_t first, uint32_t count)
{
    for (struct bits at = bits_of(first, count); at.mask != 0; at = bits_after(at))
        if ((s->written[at.word] & at.mask) != 0)
            return false;
    return true;
}

static void write_own(struct fold_steps *s, uint32_t first, uint32_t count)
{
    for (struct bits at = bits_of(first, count); at.mask != 0; at = bits_after(at))
        s->written[at.word] |= at.mask;
}

/* The step of a thread reads and writes; returns whether it may load early, as far as its own
 * thread's steps say. */
static bool touch_places(struct fold_steps *s, const struct schedule_step *step,
                         const uint32_t *base, uint32_t thread, bool *shared)
{
    const enum schedule_op op = (enum schedule_op)step->op;
    const uint32_t src = base[step->src.buffer] + step->src.at,
                   dst = base[step->dst.buffer] + step->dst.at;
    bool early = false;
    if (schedule_op_reads(op))
        early = (s->one_each ? read_own(s, src, step->count)
                             : read_places(s, src, step->count, thread, shared)) &&
                op != SCHEDULE_REDUCE && step->wait_count == 0;
    if (schedule_op_writes(op) && s->one_each)
        write_own(s, dst, step->count);
    else if (schedule_op_writes(op))
        write_places(s, dst, step->count, thread, shared);
    return early;
}

/* The places of chunks correspond, as far as others do that are known. */
static bool map_places(const struct pair *p, struct schedule_chunks own,
                       struct schedule_chunks other, uint32_t count)
{
    const uint32_t stamp = p->s->stamp;
    const uint32_t from = p->base_r[own.buffer] + own.at, to = p->base_x[other.buffer] + other.at;
    for (uint32_t i = 0; i < count; i++) {
        struct stamped *const there = &p->s->there[from + i], *const back = &p->s->back[to + i];
        if (there->stamp != stamp && back->stamp != stamp) {
            *there = (struct stamped){stamp, to + i};
            *back = (struct stamped){stamp, from + i};
        }
        if (there->stamp != stamp || there->value != to + i)
            return false;
    }
    return true;
}

/* A chunk's number in its block. */
static uint32_t number_in_block(const struct fold_steps *s, struct schedule_chunks chunks)
{
    const uint32_t of_block = s->of_block[chunks.buffer];
    return chunks.at < of_block ? chunks.at : of_block > 0 ? chunks.at % of_block : 0;
}

/* A chunk's length in each call, by its number in a block, as the kernel sees it. */
static bool keeps_length(const struct fold_steps *s, uint32_t own, uint32_t other)
{
    const uint32_t chunks = s->chunks_of_block;
    for (uint32_t i = 0; i < s->request.count; i++) {
        const uint64_t block = s->request.n_elem[i] / schedule_blocks(s->schedule, SCHEDULE_INPUT);
        if (schedule_span(block, chunks, own).count != schedule_span(block, chunks, other).count)
            return false;
    }
    return true;
}

static bool keeps_lengths(const struct pair *p, uint32_t own, uint32_t other, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!keeps_length(p->s, (own + i) % p->s->chunks_of_block,
                          (other + i) % p->s->chunks_of_block))
            return false;
    return true;
}

/* The numbers of chunks that a step of a part reads or writes. False: other lengths. */
static bool keeps_chunks(struct pair *p, struct schedule_chunks own, struct schedule_chunks other,
                         const struct schedule_step *step, uint32_t part)
{
    if (own.buffer == SCHEDULE_SCRATCH)
        return true;
    const uint32_t a = number_in_block(p->s, own), b = number_in_block(p->s, other);
    p->numbers |= b != p->s->part_number[part] || step->count > 1;
    if (a == b)
        return true;
    p->renumbers = true;
    return p->s->even || !p->s->schedule->keeps_numbers || keeps_lengths(p, a, b, step->count);
}

static const char not_when[] = "may not load when it can in";
static const char other_bytes[] = "moves other bytes (chunks of unequal lengths) than";

/* What differs between two steps, but for the places of chunks; NULL: nothing. */
static const char *difference(struct pair *p, uint32_t thread, uint32_t i)
{
    const struct schedule_step *const own = &p->own->step[i], *const other = &p->other->step[i];
    const enum schedule_op op = (enum schedule_op)own->op;
    const uint32_t part = p->own->thread[thread].part;
    if (own->op != other->op)
        return "does something else than";
    if (own->count != other->count)
        return "moves another number of chunks than";
    if (own->channel != other->channel || own->joined != other->joined)
        return "has another channel or joint than";
    if (own->wait_first != other->wait_first || own->wait_count != other->wait_count)
        return "waits for other steps than";
    if (!keeps_peer(p, p->s->send[i], other->send_to))
        return "sends elsewhere than";
    if (!keeps_peer(p, p->s->receive[i], other->recv_from))
        return "receives from elsewhere than";
    p->together |= own->count > 1;
    if ((schedule_op_reads(op) && own->src.buffer != other->src.buffer) ||
        (schedule_op_writes(op) && own->dst.buffer != other->dst.buffer))
        return "has other buffers than";
    if ((schedule_op_reads(op) && !keeps_chunks(p, own->src, other->src, own, part)) ||
        (schedule_op_writes(op) && !keeps_chunks(p, own->dst, other->dst, own, part)))
        return other_bytes;
    if (p->s->early[i] != touch_places(p->s, other, p->base_x, thread, &p->shared) && !p->shared)
        return not_when;
    return NULL;
}

/* ---- a part ---------------------------------------------------------------------------------- */

/* Places of chunks 0 of a rank's buffers, which has the part at `at`. */
static void set_bases(const struct schedule *schedule, uint32_t at, uint32_t *base)
{
    for (unsigned buffer = 0; buffer < SCHEDULE_BUFFERS; buffer++)
        base[buffer] = schedule_location(schedule, at, buffer, 0);
}

/* The number of a part's chunks. */
static void note_number(struct fold_steps *s, uint32_t part, struct schedule_chunks chunks)
{
    if (chunks.buffer == SCHEDULE_SCRATCH)
        return;
    const uint32_t number = number_in_block(s, chunks);
    uint32_t *const of_part = &s->part_number[part];
    *of_part = *of_part == NO_NUMBER || *of_part == number ? number : NUMBERS;
}

/* Begins a part: no step has read or written a place. */
static void begin_part(struct fold_steps *s)
{
    s->stamp++;
    memset(s->written, 0, (s->places / 64 + 1) * sizeof *s->written);
}

/* Peers, early loads and chunks of a representative's part. Returns whether several threads touch a
 * place that is written. */
static bool look_at_part(struct fold_steps *s, uint32_t r)
{
    const uint32_t at = part_at(s->schedule, r);
    const struct schedule_rank *const own = &s->schedule->rank[at];
    uint32_t base[SCHEDULE_BUFFERS], peers = 0;
    bool shared = false;
    begin_part(s);
    set_bases(s->schedule, at, base);
    for (uint32_t part = 0; part < s->schedule->parts; part++)
        s->part_number[part] = NO_NUMBER;
    s->one_each = s->schedule->file == NULL && own->thread_count == s->schedule->parts;
    for (uint32_t t = 0; t < own->thread_count; t++)
        s->one_each &= own->thread[t].part == t;
    for (uint32_t t = 0; t < own->thread_count; t++)
        for (uint32_t k = 0; k < own->thread[t].step_count; k++) {
            const uint32_t i = own->thread[t].step_first + k;
            const struct schedule_step *const step = &own->step[i];
            const enum schedule_op op = (enum schedule_op)step->op;
            s->send[i] = schedule_op_sends(op) ? number_of(s, step->send_to, &peers) : NO_PEER;
            s->receive[i] =
                schedule_op_receives(op) ? number_of(s, step->recv_from, &peers) : NO_PEER;
            s->early[i] = touch_places(s, step, base, t, &shared);
            if (schedule_op_reads(op))
                note_number(s, own->thread[t].part, step->src);
            if (schedule_op_writes(op))
                note_number(s, own->thread[t].part, step->dst);
        }
    return shared;
}

/* The letters of the outlets of a thread that goes the other way round rings of two. */
static bool keeps_outlets(const struct pair *p, const struct schedule_thread *thread)
{
    const struct hw_config *const hw = p->s->request.hw;
    for (uint32_t i = 0; p->s->rings_of_two && thread->other_way && i < thread->step_count; i++) {
        const struct schedule_step *const own = &p->own->step[thread->step_first + i],
                                          *const other = &p->other->step[thread->step_first + i];
        const enum schedule_op op = (enum schedule_op)own->op;
        if (schedule_op_sends(op) &&
            schedule_other_way(hw, p->sip_r, sip_of(p->s, own->send_to)) !=
                schedule_other_way(hw, p->sip_x, sip_of(p->s, other->send_to)))
            return false;
        if (schedule_op_receives(op) &&
            schedule_other_way(hw, p->sip_r, sip_of(p->s, own->recv_from)) !=
                schedule_other_way(hw, p->sip_x, sip_of(p->s, other->recv_from)))
            return false;
    }
    return true;
}

static bool keeps_threads(const struct pair *p)
{
    const struct schedule_rank *const own = p->own, *const other = p->other;
    if (own->thread_count != other->thread_count)
        return differs(p, UINT32_MAX, UINT32_MAX, "has another number of threads than");
    if (memcmp(own->chunks, other->chunks, sizeof own->chunks) != 0)
        return differs(p, UINT32_MAX, UINT32_MAX, "has another number of chunks than");
    for (uint32_t t = 0; t < own->thread_count; t++) {
        const struct schedule_thread *const a = &own->thread[t], *const b = &other->thread[t];
        if (a->step_count != b->step_count || a->step_first != b->step_first)
            return differs(p, t, UINT32_MAX, "has another number of steps than");
        if (a->part != b->part || a->other_way != b->other_way)
            return differs(p, t, UINT32_MAX, "is of another part, or goes another way, than");
        if (!keeps_outlets(p, a))
            return differs(p, t, UINT32_MAX, "leaves its SIP by other outlets than");
    }
    if (own->wait_count != other->wait_count ||
        (own->wait_count > 0 &&
         memcmp(own->wait, other->wait, own->wait_count * sizeof *own->wait) != 0))
        return differs(p, UINT32_MAX, UINT32_MAX, "waits for other steps than");
    return true;
}

/* Whether one map takes places to places. */
static bool is_mapped(struct pair *p)
{
    p->s->stamp++;
    for (uint32_t i = 0; i < p->own->step_count; i++) {
        const struct schedule_step *const own = &p->own->step[i], *const other = &p->other->step[i];
        const enum schedule_op op = (enum schedule_op)own->op;
        if ((schedule_op_reads(op) && !map_places(p, own->src, other->src, own->count)) ||
            (schedule_op_writes(op) && !map_places(p, own->dst, other->dst, own->count)))
            return false;
    }
    return true;
}

/* Compares the parts; the representative's has been looked at. */
static bool keeps_part(struct pair *p)
{
    begin_part(p->s);
    if (!keeps_threads(p))
        return false;
    for (uint32_t t = 0; t < p->own->thread_count; t++)
        for (uint32_t i = 0; i < p->own->thread[t].step_count; i++) {
            const char *const what = difference(p, t, p->own->thread[t].step_first + i);
            if (what != NULL)
                return differs(p, t, i, what);
        }
    return true;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* What differs between the flags and lengths of a step of the program; NULL: nothing. */
static const char *laid_difference(const struct pair *p, uint32_t i)
{
    const struct program_rank *const own = &p->s->program->rank[p->r], *const other =
                                                                           &p->s->program
                                                                                ->rank[p->x];
    const struct program_step *const a = &own->step[i], *const b = &other->step[i];
    if ((a->flags & PROGRAM_EARLY) != (b->flags & PROGRAM_EARLY))
        return not_when;
    if (a->flags != b->flags)
        return other_bytes;
    for (uint32_t k = 0; k < a->count; k++)
        if (!keeps_length(p->s, own->size[a->size_first + k], other->size[b->size_first + k]))
            return other_bytes;
    return NULL;
}

static bool keeps_laid(const struct pair *p)
{
    for (uint32_t t = 0; t < p->own->thread_count; t++)
        for (uint32_t i = 0; i < p->own->thread[t].step_count; i++) {
            const char *const what = laid_difference(p, p->own->thread[t].step_first + i);
            if (what != NULL)
                return differs(p, t, i, what);
        }
    return true;
}

static int lay(struct fold_steps *s, struct cw_error *error)
{
    const struct ccl_config *const ccl = s->request.ccl;
    if (s->program == NULL && s->whole == NULL && s->schedule->partial)
        s->whole = s->request.make(s->request.arg, NULL, 0, error);
    if (s->whole == NULL && s->schedule->partial)
        return error->exit_code;
    const struct program_request request = {
        .schedule = s->schedule->partial ? s->whole : s->schedule,
        .hw = s->request.hw,
        .ccl = ccl,
        .lanes = s->lanes,
        .lanes_apart = cost_mapper(ccl) == CCL_MAPPER_ALL_PES ? 1 : hw_pes(s->request.hw)};
    if (s->program == NULL)
        s->program = schedule_program_create(&request, error);
    return s->program != NULL ? CW_OK : error->exit_code;
}

/* The comparison of steps says less than enough: the program has to be looked at. */
static bool needs_program(struct pair *p)
{
    const struct schedule *const schedule = p->s->schedule;
    const bool lengths = schedule->keeps_numbers || !p->numbers || (p->s->even && !p->together);
    if (schedule->file != NULL)
        return true;
    if (lengths && !p->shared)
        return false;
    const bool mapped = is_mapped(p);
    return !mapped || !(lengths || !p->renumbers);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool keeps_pair(struct pair *p, struct cw_error *error)
{
    if (!keeps_part(p))
        return false;
    if (!needs_program(p))
        return true;
    if (lay(p->s, error) != CW_OK)
        return fold_refuse(p->why, "%s", cw_error_text(error));
    return keeps_laid(p);
}

/* Makes parts of a partial schedule, in place of those that there were. */
static int make_parts(struct fold_steps *s, struct schedule **parts, const uint32_t *wanted,
                      uint32_t count, struct cw_error *error)
{
    struct schedule *const made = s->request.make(s->request.arg, wanted, count, error);
    if (made == NULL)
        return error->exit_code;
    schedule_free(*parts);
    *parts = made;
    return CW_OK;
}

/* The parts of some ranks of a representative's class, from number `first` on. */
static int make_others(struct fold_steps *s, const struct hw_fold *fold, uint32_t sip,
                       uint32_t first, struct cw_error *error)
{
    uint32_t wanted[RANKS_AT_ONCE], count = 0;
    for (uint32_t k = first; k < hw_fold_alike(fold) && count < RANKS_AT_ONCE; k++)
        wanted[count++] = rank_on(s, hw_fold_member(fold, sip, k), 0);
    return make_parts(s, &s->others, wanted, count, error);
}

/* Room for a representative's steps and places, which are as many as those of its class. */
static bool take_room(struct fold_steps *s, uint32_t r)
{
    const uint32_t at = part_at(s->schedule, r), steps = s->schedule->rank[at].step_count,
                   places = schedule_locations(s->schedule, at);
    if (steps > s->steps || s->send == NULL) {
        s->steps = steps;
        free(s->send);
        free(s->receive);
        free(s->early);
        s->send = calloc((size_t)steps + 1, sizeof *s->send);
        s->receive = calloc((size_t)steps + 1, sizeof *s->receive);
        s->early = calloc((size_t)steps + 1, sizeof *s->early);
    }
    if (places > s->places || s->touched == NULL) {
        s->places = places;
        free(s->touched);
        free(s->written);
        free(s->there);
        free(s->back);
        s->touched = calloc((size_t)places + 1, sizeof *s->touched);
        s->written = calloc((size_t)places / 64 + 1, sizeof *s->written);
        s->there = calloc((size_t)places + 1, sizeof *s->there);
        s->back = calloc((size_t)places + 1, sizeof *s->back);
    }
    return s->send != NULL && s->receive != NULL && s->early != NULL && s->touched != NULL &&
           s->written != NULL && s->there != NULL && s->back != NULL;
}

/* The representative's part is there, and has been looked at. */
static int begin_class(struct fold_steps *s, struct pair *p, struct cw_error *error)
{
    if (s->schedule->partial && make_parts(s, &s->schedule, &p->r, 1, error) != CW_OK)
        return error->exit_code;
    if (!take_room(s, p->r))
        return cw_error_memory(error, "the comparison of a schedule's parts");
    p->own = &s->schedule->rank[part_at(s->schedule, p->r)];
    set_bases(s->schedule, part_at(s->schedule, p->r), p->base_r);
    p->shared = look_at_part(s, p->r);
    return CW_OK;
}

/* The pair with number k of the class. */
static int go_to(struct pair *p, uint32_t k, struct cw_error *error)
{
    struct fold_steps *const s = p->s;
    const bool partial = s->schedule->partial;
    const uint32_t at = (k - 1) % RANKS_AT_ONCE;
    if (partial && at == 0 && make_others(s, p->fold, p->sip_r, k, error) != CW_OK)
        return error->exit_code;
    const struct schedule *const schedule = partial ? s->others : s->schedule;
    p->sip_x = hw_fold_member(p->fold, p->sip_r, k);
    p->x = rank_on(s, p->sip_x, p->r % s->schedule->members);
    p->other = &schedule->rank[partial ? at : p->x];
    set_bases(schedule, partial ? at : p->x, p->base_x);
    return CW_OK;
}

/* The ranks on the other SIPs of a representative's class. */
static bool keeps_class(struct fold_steps *s, const struct hw_fold *fold, uint32_t r, char *why,
                        struct cw_error *error)
{
    struct pair first = {.s = s, .fold = fold, .r = r, .sip_r = sip_of(s, r), .why = why};
    if (hw_fold_alike(fold) > 1 && begin_class(s, &first, error) != CW_OK)
        return fold_refuse(why, "%s", cw_error_text(error));
    for (uint32_t k = 1; k < hw_fold_alike(fold); k++) {
        struct pair p = first;
        if (go_to(&p, k, error) != CW_OK)
            return fold_refuse(why, "%s", cw_error_text(error));
        if (!keeps_pair(&p, error))
            return false;
    }
    return true;
}

static bool has_rank(const struct fold_steps *s, uint32_t sip)
{
    return ccl_rank_on(&s->request.ccl->ranks, sip) != UINT32_MAX;
}

bool fold_steps_keep(struct fold_steps *s, const struct hw_fold *fold, char why[CCL_FOLD_WHY_BYTES],
                     struct cw_error *error)
{
    if (s->schedule->reaches)
        return fold_refuse(why, "%s loads and stores in other ranks' memories", s->schedule->name);
    for (uint32_t index = 0; index < fold->sips; index++)
        for (uint32_t member = 0; member < s->schedule->members; member++)
            if (has_rank(s, hw_fold_sip(fold, index)) &&
                !keeps_class(s, fold, rank_on(s, hw_fold_sip(fold, index), member), why, error))
                return false;
    return true;
}

/* Chunks of a call have equal lengths. */
static bool is_even(const struct fold_steps *s)
{
    for (uint32_t i = 0; i < s->request.count; i++)
        if (s->request.n_elem[i] / schedule_blocks(s->schedule, SCHEDULE_INPUT) %
                s->chunks_of_block !=
            0)
            return false;
    return true;
}

static bool has_rings_of_two(const struct hw_config *hw)
{
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    for (uint32_t d = 0; d < dims.count; d++)
        if (dims.at[d].joint == HW_SIP_RING && dims.at[d].size == 2)
            return true;
    return false;
}

static bool take_memory(struct fold_steps *s)
{
    const struct schedule *const schedule = s->schedule;
    s->number = calloc(schedule->all_ranks, sizeof *s->number);
    s->image = calloc(schedule->all_ranks, sizeof *s->image);
    s->peer = calloc(schedule->all_ranks, sizeof *s->peer);
    s->part_number = calloc(schedule->parts, sizeof *s->part_number);
    return s->number != NULL && s->image != NULL && s->peer != NULL && s->part_number != NULL;
}

int fold_steps_create(const struct fold_steps_request *request, struct fold_steps **out,
                      struct cw_error *error)
{
    struct schedule *const schedule = request->schedule;
    struct fold_steps *const s = calloc(1, sizeof *s);
    *out = s;
    if (s != NULL) {
        const uint32_t lanes =
            schedule->members > 1 ? 1 : cost_lanes(request->hw, cost_mapper(request->ccl));
        s->request = *request;
        s->schedule = schedule_share(schedule);
        s->lanes = lanes > 1 ? lanes : 0;
        s->chunks_of_block = schedule->rank[0].chunks[SCHEDULE_INPUT] /
                             schedule_blocks(schedule, SCHEDULE_INPUT) /
                             (s->lanes > 0 ? schedule->parts : 1);
        s->chunks_of_block += s->chunks_of_block == 0;
        for (unsigned buffer = 0; buffer < SCHEDULE_BUFFERS; buffer++)
            s->of_block[buffer] =
                schedule->rank[0].chunks[buffer] / schedule_blocks(schedule, buffer);
        s->even = is_even(s);
        s->rings_of_two = has_rings_of_two(request->hw);
    }
    if (s != NULL && take_memory(s))
        return CW_OK;
    fold_steps_free(s);
    *out = NULL;
    return cw_error_memory(error, "the comparison of a schedule's parts");
}

void fold_steps_free(struct fold_steps *s)
{
    if (s == NULL)
        return;
    schedule_program_free(s->program);
    schedule_free(s->whole);
    schedule_free(s->schedule);
    schedule_free(s->others);
    free(s->number);
    free(s->image);
    free(s->peer);
    free(s->send);
    free(s->receive);
    free(s->early);
    free(s->part_number);
    free(s->touched);
    free(s->written);
    free(s->there);
    free(s->back);
    free(s);
}
