/*
 * cost_steps.c: the time that a kernel's steps take (cost_steps.h). Its streams, the two channels
 * of its PE_DMA and the transfers in flight are carried out in the order of time.
 *
 * The engine passes the operations of a channel one after the other. Then they move in a few parts,
 * as fast as the slowest link on their way lets them, and share HBM and the links between SIPs with
 * all others in flight, as chunks do. Where a message holds a link as one block
 * (fabric.contention: message) it is one part: others wait for all of it, and the engine turns to
 * the other channel only when the data are there.
 */
#include "collectives/choice/cost_steps.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/choice/cost_times.h"
#include "collectives/choice/cost_turns.h"
#include "hw/route.h"
#include "hw/timing.h"

enum { PARTS = 8, PIECES_MAX = 64, NOTICE_BYTES = 16, NONE = UINT32_MAX };
enum { CHANNEL_COMPUTE, CHANNEL_COMM, CHANNELS };

/* ---- the steps ------------------------------------------------------------------------------- */

enum op { OP_COPY, OP_PUT, OP_NOTIFY, OP_WAIT, OP_REDUCE, OP_FORK, OP_STREAM, OP_END, OP_JOIN };

struct step {
    enum op op;
    uint32_t queue, end; /* end: of a stream, the step after its last one */
    union {
        struct cost_put put; /* of a notification: its ranks */
        struct cost_reduction reduction;
    };
};

struct cost_steps {
    struct step *step;
    uint32_t count, room, stream; /* stream: that is being described */
    uint32_t queues, notifications, streams;
    bool failed;
};

static struct step *add_step(struct cost_steps *steps, enum op op)
{
    static struct step none;
    if (steps->count == steps->room) {
        const uint32_t room = 2 * steps->room + 64;
        struct step *const more = realloc(steps->step, room * sizeof *more);
        if (more == NULL) {
            steps->failed = true;
            return &none;
        }
        steps->step = more;
        steps->room = room;
    }
    struct step *const step = &steps->step[steps->count++];
    *step = (struct step){.op = op};
    return step;
}

void cost_copy(struct cost_steps *steps, uint64_t bytes)
{
    add_step(steps, OP_COPY)->put.bytes = bytes;
}

void cost_put(struct cost_steps *steps, struct cost_put put) { add_step(steps, OP_PUT)->put = put; }

void cost_notify(struct cost_steps *steps, uint32_t queue, uint32_t from, uint32_t to)
{
    struct step *const step = add_step(steps, OP_NOTIFY);
    step->queue = queue;
    step->put = (struct cost_put){.from = from, .to = to};
    steps->notifications++;
}

void cost_wait(struct cost_steps *steps, uint32_t queue)
{
    add_step(steps, OP_WAIT)->queue = queue;
}

void cost_queues(struct cost_steps *steps, uint32_t queues) { steps->queues = queues; }

void cost_reduce(struct cost_steps *steps, struct cost_reduction reduction)
{
    add_step(steps, OP_REDUCE)->reduction = reduction;
}

void cost_fork(struct cost_steps *steps) { (void)add_step(steps, OP_FORK); }

void cost_stream(struct cost_steps *steps)
{
    steps->stream = steps->count;
    steps->streams++;
    (void)add_step(steps, OP_STREAM);
}

void cost_stream_end(struct cost_steps *steps)
{
    (void)add_step(steps, OP_END);
    if (!steps->failed)
        steps->step[steps->stream].end = steps->count;
}

void cost_join(struct cost_steps *steps) { (void)add_step(steps, OP_JOIN); }

/* ---- the machine ----------------------------------------------------------------------------- */

enum transfer_kind { TRANSFER_LOAD, TRANSFER_STORE, TRANSFER_COPY, TRANSFER_PUT, TRANSFER_NOTIFY };

/* The way of a put over the links between SIPs. */
struct way {
    struct cost_route route;
    uint32_t busy[COST_CROSSINGS_MAX]; /* messages of all ranks that cross that link at once */
};

/* An operation of PE_DMA. */
struct transfer {
    enum transfer_kind kind;
    uint32_t next;   /* in its channel, in a put's notifications, or among the free ones; NONE */
    uint32_t stream; /* that waits for its end; NONE */
    uint32_t queue;
    struct cost_put put;
    struct way *way;            /* of a put in flight */
    int64_t ready_ps, extra_ps; /* extra: that the stream waits after its end */
    uint64_t passed, moved;     /* bytes that the engine has passed; that have been moved */
    uint32_t notifications;     /* that wait for the end of this put; NONE */
    int64_t ends_ps;
};

struct channel {
    uint32_t first, last; /* operations; NONE */
    int64_t now_ps;
    bool in_turn; /* it is among the turns */
};

struct stream {
    uint32_t at; /* step */
    int64_t now_ps;
    uint32_t piece, part; /* of a reduction: how far it has come */
    uint32_t running;     /* of the main stream: forked streams that have not ended */
    int64_t ended_ps;     /* the last of them */
    bool joins;           /* waits for them */
};

struct arrival {
    int64_t ps;
    uint32_t next;
};

struct queue {
    uint32_t first, last; /* arrivals; NONE */
    uint32_t waiter;      /* a stream; NONE */
};

struct walk {
    const struct cost_steps *steps;
    const struct ccl_call *call;
    struct cost_times times;
    bool by_message; /* a message holds a link as one block */
    uint64_t piece_bytes;
    struct channel channel[CHANNELS];
    struct transfer *transfer;
    uint32_t transfers, free_transfer;
    struct stream *stream;
    uint32_t streams;
    struct queue *queue;
    struct arrival *arrival;
    uint32_t arrivals;
    int64_t *link_free_ps; /* [cost_crossing_classes()] */
    uint32_t *put_to;      /* [SIP] the last put to it that is in flight, + 1 */
    int64_t *put_ends_ps;  /* [SIP] the last put to it that has ended */
    int64_t engine_ps, read_ps, write_ps, reduce_ps; /* free again */
    uint32_t engine_of;                              /* the channel that had the engine last */
    struct cost_turns turns; /* of channels, streams and transfers, by turn_of_...() */
    int64_t load_ps, store_ps, copy_ps, to_put_ps; /* latencies; to_put: until a put leaves */
    int64_t ended_ps;
    bool failed;
};

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static uint64_t at_most(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Numbers of turns: the channels, the transfers, the streams. */
static uint32_t turn_of_transfer(uint32_t transfer) { return CHANNELS + transfer; }
static uint32_t turn_of_stream(const struct walk *w, uint32_t stream)
{
    return CHANNELS + w->transfers + stream;
}

static void take_turn(struct walk *w, uint32_t number, int64_t ps)
{
    cost_turns_push(&w->turns, (struct cost_turn){ps, number});
}

static struct hw_place place_of(const struct walk *w, uint32_t rank)
{
    return (struct hw_place){.sip = ccl_sip_of(&w->call->ccl->ranks, rank)};
}

/* The slower of HBM's link and PE_DMA's. */
static int64_t hbm_ps(const struct walk *w, uint64_t bytes)
{
    return later(cost_memory_ps(&w->times, bytes), cost_engine_ps(&w->times, bytes));
}

static int64_t take(int64_t *free_ps, int64_t from_ps, int64_t takes_ps)
{
    *free_ps = later(*free_ps, from_ps) + takes_ps;
    return *free_ps;
}

/* Bytes of the parts that a transfer moves in: two chunks at least. */
static uint64_t part_bytes(const struct walk *w, const struct transfer *transfer)
{
    const uint64_t all = transfer->put.bytes, least = 2ull * w->call->ccl->queues.vc_chunk_bytes;
    const uint64_t part = (all + PARTS - 1) / PARTS;
    return w->by_message ? all : part < least ? least : part;
}

/* ---- transfers ------------------------------------------------------------------------------- */

static void arrive(struct walk *w, uint32_t number, int64_t ps)
{
    struct queue *const queue = &w->queue[number];
    const uint32_t at = w->arrivals++;
    w->arrival[at] = (struct arrival){ps, NONE};
    if (queue->first == NONE)
        queue->first = at;
    else
        w->arrival[queue->last].next = at;
    queue->last = at;
    if (queue->waiter != NONE)
        take_turn(w, turn_of_stream(w, queue->waiter), w->stream[queue->waiter].now_ps);
    queue->waiter = NONE;
}

static void drop_transfer(struct walk *w, uint32_t number)
{
    struct transfer *const transfer = &w->transfer[number];
    free(transfer->way);
    transfer->way = NULL;
    transfer->next = w->free_transfer;
    w->free_transfer = number;
}

/* A notification leaves; those that others put to its receiver come first. */
static void notify(struct walk *w, uint32_t number, int64_t now_ps)
{
    struct transfer *const transfer = &w->transfer[number];
    const struct hw_config *const hw = w->call->hw;
    const struct hw_place from = place_of(w, transfer->put.from),
                          to = place_of(w, transfer->put.to);
    transfer->ends_ps =
        now_ps + hw_notify_wire_ps(hw) +
        hw_path_ps(hw, from, to, HW_MEMORY_NONE, HW_OUTLET_NONE, HW_DIRS_MAX, NOTICE_BYTES);
    transfer->ends_ps = later(transfer->ends_ps, w->put_ends_ps[to.sip]);
    if (w->put_to[to.sip] != 0) {
        struct transfer *const put = &w->transfer[w->put_to[to.sip] - 1];
        transfer->next = put->notifications;
        put->notifications = number;
        return;
    }
    arrive(w, transfer->queue, transfer->ends_ps);
    drop_transfer(w, number);
}

static void end_transfer(struct walk *w, uint32_t number)
{
    struct transfer *const transfer = &w->transfer[number];
    if (transfer->kind == TRANSFER_PUT) {
        const uint32_t to = place_of(w, transfer->put.to).sip;
        if (w->put_to[to] == number + 1)
            w->put_to[to] = 0;
        w->put_ends_ps[to] = later(w->put_ends_ps[to], transfer->ends_ps);
        for (uint32_t i = transfer->notifications, next; i != NONE; i = next) {
            next = w->transfer[i].next;
            arrive(w, w->transfer[i].queue, later(w->transfer[i].ends_ps, w->put_ends_ps[to]));
            drop_transfer(w, i);
        }
    }
    if (transfer->stream != NONE) {
        struct stream *const stream = &w->stream[transfer->stream];
        stream->now_ps = transfer->ends_ps + transfer->extra_ps;
        take_turn(w, turn_of_stream(w, transfer->stream), stream->now_ps);
    }
    drop_transfer(w, number);
}

/* When the tail of a part of a put that has been read at `read_ps` comes to its HBM. */
static int64_t tail_of_put(struct walk *w, const struct transfer *put, int64_t read_ps,
                           uint64_t bytes)
{
    const struct cost_links links = {.hw = w->call->hw,
                                     .free_ps = w->link_free_ps,
                                     .by_class = true,
                                     .busy = put->way->busy,
                                     .share = 1};
    const int64_t begins_ps = read_ps - hbm_ps(w, bytes);
    int64_t ps = cost_travel_ps(&put->way->route, &links, begins_ps, bytes);
    ps = later(ps, read_ps + put->way->route.latency_ps);
    if (put->put.reduce) {
        const int64_t takes_ps = hw_rate_ps(w->call->hw->dma_reduce, bytes);
        ps = later(ps, take(&w->reduce_ps, begins_ps, takes_ps) + put->way->route.latency_ps);
    }
    return ps + w->to_put_ps;
}

/* Moves one part, which begins at `now_ps`: when it is done. Ranks that are alike write into this
 * HBM while this rank writes into theirs. */
static int64_t move_bytes(struct walk *w, const struct transfer *transfer, int64_t now_ps,
                          uint64_t bytes)
{
    const int64_t ser_ps = hbm_ps(w, bytes);
    if (transfer->kind == TRANSFER_STORE)
        return take(&w->write_ps, now_ps, ser_ps) + w->store_ps;
    const int64_t read_ps = take(&w->read_ps, now_ps, ser_ps);
    if (transfer->kind == TRANSFER_LOAD)
        return read_ps + w->load_ps +
               later(0, hw_ser_ps(&w->call->hw->link[HW_LINK_TCM], bytes) - ser_ps);
    if (transfer->kind == TRANSFER_COPY)
        return take(&w->write_ps, read_ps - ser_ps, ser_ps) + w->copy_ps;
    const int64_t tail_ps = tail_of_put(w, transfer, read_ps, bytes);
    if (w->by_message)
        return tail_ps;
    const int64_t written_ps = take(&w->write_ps, now_ps, ser_ps);
    return later(tail_ps, written_ps + transfer->way->route.latency_ps + w->to_put_ps);
}

/* How long a part is on the slowest link of its way, which paces it. */
static int64_t pace_of(const struct walk *w, const struct transfer *transfer, uint64_t bytes)
{
    int64_t ps = hbm_ps(w, bytes);
    if (transfer->kind != TRANSFER_PUT)
        return ps;
    const struct cost_route *const route = &transfer->way->route;
    ps = later(ps, hw_rate_ps(route->inside, bytes));
    for (uint32_t i = 0; i < route->count; i++)
        ps = later(ps, hw_rate_ps(route->rate[i], bytes));
    return transfer->put.reduce ? later(ps, hw_rate_ps(w->call->hw->dma_reduce, bytes)) : ps;
}

/* A transfer continues with its next part. A put that is one block is written when its tail has
 * come, since others may have taken HBM meanwhile. */
static void move_part(struct walk *w, uint32_t number, int64_t now_ps)
{
    struct transfer *const transfer = &w->transfer[number];
    const uint64_t all = transfer->put.bytes;
    const uint64_t bytes = at_most(part_bytes(w, transfer), all - transfer->moved);
    if (transfer->moved == all) {
        const int64_t ser_ps = hbm_ps(w, all);
        transfer->ends_ps = take(&w->write_ps, now_ps - ser_ps, ser_ps);
        end_transfer(w, number);
        return;
    }
    if (transfer->moved + bytes > transfer->passed) { /* the other channel has the engine */
        const uint32_t own = transfer->kind == TRANSFER_PUT ? CHANNEL_COMM : CHANNEL_COMPUTE;
        take_turn(w, turn_of_transfer(number), later(now_ps, w->channel[own].now_ps));
        return;
    }
    transfer->ends_ps = later(transfer->ends_ps, move_bytes(w, transfer, now_ps, bytes));
    transfer->moved += bytes;
    if (transfer->moved < all)
        take_turn(w, turn_of_transfer(number), now_ps + pace_of(w, transfer, bytes));
    else if (transfer->kind == TRANSFER_PUT && w->by_message)
        take_turn(w, turn_of_transfer(number), transfer->ends_ps);
    else
        end_transfer(w, number);
}

/* ---- the channels of PE_DMA ------------------------------------------------------------------ */

/* The way of a put, and how many messages of all ranks cross each link of it at once. */
static bool find_way(struct walk *w, struct transfer *put)
{
    struct way *const way = calloc(1, sizeof *way);
    put->way = way;
    w->failed |= way == NULL;
    if (way == NULL)
        return false;
    cost_route_to_hbm(w->call, place_of(w, put->put.from), place_of(w, put->put.to), &way->route);
    for (uint32_t i = 0; i < way->route.count; i++) {
        const uint32_t *const crossing = way->route.crossing;
        uint32_t first = 0;
        while (cost_crossing_class(w->call->hw, crossing[first]) !=
               cost_crossing_class(w->call->hw, crossing[i]))
            first++;
        way->busy[first]++;
    }
    return true;
}

/* The channel continues with its first operation, if it has one. */
static void begin_first(struct walk *w, uint32_t number)
{
    struct channel *const channel = &w->channel[number];
    channel->in_turn = channel->first != NONE;
    if (channel->first == NONE)
        return;
    channel->now_ps = later(channel->now_ps, w->transfer[channel->first].ready_ps);
    take_turn(w, number, channel->now_ps);
}

static void add_transfer(struct walk *w, struct transfer transfer)
{
    const uint32_t number = transfer.kind >= TRANSFER_PUT ? CHANNEL_COMM : CHANNEL_COMPUTE;
    struct channel *const channel = &w->channel[number];
    const uint32_t at = w->free_transfer;
    w->free_transfer = w->transfer[at].next;
    transfer.next = transfer.notifications = NONE;
    w->transfer[at] = transfer;
    if (channel->first == NONE)
        channel->first = at;
    else
        w->transfer[channel->last].next = at;
    channel->last = at;
    if (!channel->in_turn)
        begin_first(w, number);
}

/* The engine passes a part of the first operation of a channel. With its first part the operation
 * begins to move. */
static void pass_part(struct walk *w, uint32_t number)
{
    struct channel *const channel = &w->channel[number];
    const uint32_t first = channel->first;
    struct transfer *const transfer = &w->transfer[first];
    const uint32_t next = transfer->next;
    if (transfer->kind == TRANSFER_NOTIFY) {
        notify(w, first, channel->now_ps);
        channel->first = next;
        begin_first(w, number);
        return;
    }
    const uint64_t bytes = at_most(part_bytes(w, transfer), transfer->put.bytes - transfer->passed);
    const bool turns = w->by_message && w->engine_of != number;
    const int64_t begins_ps = later(channel->now_ps, w->engine_ps + (turns ? w->store_ps / 2 : 0));
    w->engine_of = number;
    w->engine_ps =
        begins_ps + (w->by_message ? hbm_ps(w, bytes) : cost_engine_ps(&w->times, bytes));
    channel->now_ps = w->engine_ps;
    const bool begins = transfer->passed == 0;
    transfer->passed += bytes;
    const bool ends = transfer->passed >= transfer->put.bytes;
    if (begins && transfer->kind == TRANSFER_PUT) {
        if (!find_way(w, transfer))
            return;
        w->put_to[place_of(w, transfer->put.to).sip] = first + 1;
    }
    if (ends)
        channel->first = next;
    if (begins)
        take_turn(w, turn_of_transfer(first), begins_ps);
    if (ends)
        begin_first(w, number);
    else
        take_turn(w, number, channel->now_ps);
}

/* ---- streams --------------------------------------------------------------------------------- */

/* A stream waits for an operation of this many bytes, which stands for `times` ones in a row. */
static void wait_for_transfer(struct walk *w, uint32_t number, enum transfer_kind kind,
                              uint64_t bytes, uint64_t times)
{
    struct stream *const stream = &w->stream[number];
    stream->now_ps += w->times.issue_ps;
    const int64_t latency_ps = kind == TRANSFER_LOAD    ? w->load_ps
                               : kind == TRANSFER_STORE ? w->store_ps
                                                        : w->copy_ps;
    add_transfer(
        w, (struct transfer){.kind = kind,
                             .stream = number,
                             .ready_ps = stream->now_ps,
                             .extra_ps = (int64_t)(times - 1) * (latency_ps + w->times.issue_ps),
                             .put.bytes = bytes});
}

/* The next part of a reduction: a load, the additions, or the store of a piece. Many pieces are
 * taken as fewer, with the latencies of all. False: it is over. */
static bool continue_reduction(struct walk *w, uint32_t number,
                               const struct cost_reduction *reduction)
{
    struct stream *const stream = &w->stream[number];
    const uint64_t pieces = (reduction->bytes + w->piece_bytes - 1) / w->piece_bytes;
    const uint64_t times = (pieces + PIECES_MAX - 1) / PIECES_MAX;
    const uint64_t first = stream->piece * times * w->piece_bytes;
    if (first >= reduction->bytes) {
        stream->piece = 0;
        return false;
    }
    const uint64_t left = reduction->bytes - first, most = times * w->piece_bytes;
    const uint64_t bytes = left < most ? left : most;
    const uint64_t own = (bytes + w->piece_bytes - 1) / w->piece_bytes;
    if (stream->part < reduction->loads) {
        stream->part++;
        wait_for_transfer(w, number, TRANSFER_LOAD, bytes, own);
    } else if (stream->part == reduction->loads) {
        stream->part++;
        stream->now_ps += (int64_t)(reduction->adds * own) *
                          cost_add_time_ps(&w->times, own > 1 ? w->piece_bytes : bytes);
        take_turn(w, turn_of_stream(w, number), stream->now_ps);
    } else {
        stream->part = 0;
        stream->piece++;
        wait_for_transfer(w, number, TRANSFER_STORE, bytes, own);
    }
    return true;
}

/* The notification has come. False: the stream waits for it. */
static bool has_come(struct walk *w, uint32_t number, uint32_t of)
{
    struct stream *const stream = &w->stream[number];
    struct queue *const queue = &w->queue[of];
    if (queue->first == NONE) {
        queue->waiter = number;
        return false;
    }
    const struct arrival *const arrival = &w->arrival[queue->first];
    stream->now_ps = later(stream->now_ps + w->times.wait_ps, arrival->ps);
    queue->first = arrival->next;
    return true;
}

/* A forked stream has ended; the main one may have waited for it. */
static void end_stream(struct walk *w, const struct stream *stream)
{
    struct stream *const main = &w->stream[0];
    main->ended_ps = later(main->ended_ps, stream->now_ps);
    if (--main->running > 0 || !main->joins)
        return;
    main->joins = false;
    main->now_ps = later(main->now_ps, main->ended_ps);
    take_turn(w, turn_of_stream(w, 0), main->now_ps);
}

static void begin_stream(struct walk *w, const struct step *step)
{
    struct stream *const main = &w->stream[0];
    const uint32_t number = w->streams++;
    w->stream[number] = (struct stream){.at = main->at, .now_ps = main->now_ps};
    main->running++;
    main->at = step->end;
    take_turn(w, turn_of_stream(w, number), main->now_ps);
}

/* One step of a stream, or of its reduction. */
static void continue_stream(struct walk *w, uint32_t number)
{
    struct stream *const stream = &w->stream[number];
    if (stream->at == w->steps->count) {
        w->ended_ps = stream->now_ps;
        return;
    }
    const struct step *const step = &w->steps->step[stream->at];
    struct transfer transfer = {.kind = TRANSFER_PUT, .stream = NONE, .put = step->put};
    bool waits = false; /* another event makes it continue */
    switch (step->op) {
    case OP_COPY:
        stream->at++;
        wait_for_transfer(w, number, TRANSFER_COPY, step->put.bytes, 1);
        return;
    case OP_REDUCE:
        if (continue_reduction(w, number, &step->reduction))
            return;
        break;
    case OP_NOTIFY:
        transfer.kind = TRANSFER_NOTIFY;
        transfer.queue = step->queue;
        /* fallthrough */
    case OP_PUT:
        stream->now_ps += w->times.queue_ps;
        transfer.ready_ps = stream->now_ps;
        add_transfer(w, transfer);
        break;
    case OP_WAIT:
        if (!has_come(w, number, step->queue))
            return;
        break;
    case OP_FORK:
        stream->now_ps += w->times.wait_ps;
        break;
    case OP_STREAM:
        stream->at++;
        begin_stream(w, step);
        take_turn(w, turn_of_stream(w, 0), stream->now_ps);
        return;
    case OP_END:
        end_stream(w, stream);
        return;
    case OP_JOIN:
        stream->now_ps += w->times.wait_ps;
        waits = stream->joins = stream->running > 0;
        stream->now_ps = later(stream->now_ps, waits ? 0 : stream->ended_ps);
        break;
    }
    stream->at++;
    if (!waits)
        take_turn(w, turn_of_stream(w, number), stream->now_ps);
}

/* ---- an estimate ----------------------------------------------------------------------------- */

static bool take_room(struct walk *w)
{
    const struct cost_steps *const steps = w->steps;
    const struct hw_config *const hw = w->call->hw;
    w->transfers = steps->count + steps->streams + 1;
    w->transfer = calloc(w->transfers, sizeof *w->transfer);
    w->stream = calloc(steps->streams + 1, sizeof *w->stream);
    w->queue = calloc(steps->queues + 1, sizeof *w->queue);
    w->arrival = calloc(steps->notifications + 1, sizeof *w->arrival);
    w->link_free_ps = calloc(cost_crossing_classes(hw) + 1, sizeof *w->link_free_ps);
    w->put_to = calloc(hw->sip_count + 1, sizeof *w->put_to);
    w->put_ends_ps = calloc(hw->sip_count + 1, sizeof *w->put_ends_ps);
    w->turns.at = calloc(CHANNELS + w->transfers + steps->streams + 1, sizeof *w->turns.at);
    if (w->transfer == NULL || w->stream == NULL || w->queue == NULL || w->arrival == NULL ||
        w->link_free_ps == NULL || w->put_to == NULL || w->put_ends_ps == NULL ||
        w->turns.at == NULL)
        return false;
    for (uint32_t i = 0; i < w->transfers; i++)
        w->transfer[i].next = i + 1;
    for (uint32_t i = 0; i < steps->queues; i++)
        w->queue[i] = (struct queue){NONE, NONE, NONE};
    for (uint32_t i = 0; i < CHANNELS; i++)
        w->channel[i].first = NONE;
    return true;
}

static void give_room(struct walk *w)
{
    for (uint32_t i = 0; w->transfer != NULL && i < w->transfers; i++)
        free(w->transfer[i].way);
    free(w->transfer);
    free(w->stream);
    free(w->queue);
    free(w->arrival);
    free(w->link_free_ps);
    free(w->put_to);
    free(w->put_ends_ps);
    free(w->turns.at);
}

static void walk(struct walk *w)
{
    w->streams = 1;
    take_turn(w, turn_of_stream(w, 0), 0);
    while (w->turns.count > 0 && !w->failed) {
        const struct cost_turn next = cost_turns_pop(&w->turns);
        if (next.number < CHANNELS)
            pass_part(w, next.number);
        else if (next.number < turn_of_stream(w, 0))
            move_part(w, next.number - CHANNELS, next.ps);
        else
            continue_stream(w, next.number - turn_of_stream(w, 0));
    }
}

int cost_steps_estimate(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                        int64_t *ps, struct cw_error *error)
{
    struct cost_steps steps = {.count = 0};
    struct walk w = {.steps = &steps, .call = call, .times = cost_times_of(call)};
    const struct hw_config *const hw = call->hw;
    const struct hw_place here = {0};
    algorithm->steps(call, &steps);
    w.by_message = hw->contention == HW_CONTENTION_MESSAGE;
    w.piece_bytes = lp_tile_bytes(&call->ccl->queues) / w.times.itemsize * w.times.itemsize;
    w.load_ps = cost_load_latency_ps(&w.times, here, here);
    w.store_ps = cost_store_latency_ps(&w.times, here, here);
    w.copy_ps = cost_copy_latency_ps(&w.times);
    /* there and back to HBM, whose way begins in PE_DMA */
    w.to_put_ps = w.store_ps - hw->overhead_ps[HW_NODE_PE_DMA] + hw->ipcq_wire_ps;
    bool made = !steps.failed && take_room(&w);
    if (made)
        walk(&w);
    made &= !w.failed;
    *ps = w.ended_ps;
    give_room(&w);
    free(steps.step);
    return made ? CW_OK : cw_error_memory(error, "an estimate");
}

/* ---- events ---------------------------------------------------------------------------------- */

static double events_of(const struct ccl_call *call, const struct step *step)
{
    const uint64_t tile = lp_move_bytes(&call->ccl->queues);
    const uint32_t from = ccl_sip_of(&call->ccl->ranks, step->put.from),
                   to = ccl_sip_of(&call->ccl->ranks, step->put.to);
    switch (step->op) {
    case OP_COPY:
        return cost_load_events(call, step->put.bytes);
    case OP_REDUCE: {
        const uint64_t bytes = step->reduction.bytes;
        return (double)((bytes + tile - 1) / tile) *
               (step->reduction.loads * (1 + cost_load_events(call, at_most(bytes, tile))) +
                cost_store_events(call, at_most(bytes, tile)));
    }
    case OP_PUT:
    case OP_NOTIFY: {
        const struct hw_place here = {.sip = from}, there = {.sip = to};
        return cost_send_events(call, cost_hops(call->hw, here, there),
                                step->op == OP_PUT ? step->put.bytes : NOTICE_BYTES);
    }
    default:
        return 1;
    }
}

int cost_steps_events(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                      double *events, struct cw_error *error)
{
    struct cost_steps steps = {.count = 0};
    algorithm->steps(call, &steps);
    *events = 0;
    for (uint32_t i = 0; i < steps.count && !steps.failed; i++)
        *events += events_of(call, &steps.step[i]);
    free(steps.step);
    return steps.failed ? cw_error_memory(error, "an estimate") : CW_OK;
}
