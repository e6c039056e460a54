/*
 * msccl_channels.c: gives each part of a queue the first channel that both its ends have room on
 * (msccl_channels.h). Parts take their turns by channel, by part, and by the distance from sender
 * to receiver, so that gpus that do alike get like channels.
 */
#include "collectives/msccl/msccl_channels.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/msccl/msccl_limits.h"

struct file_queue {
    uint32_t from, to;
    uint8_t channel;
    uint32_t messages, first; /* first: its parts in channel[] */
    uint32_t sent, received;
};

struct msccl_channels {
    const struct schedule *schedule;
    struct file_queue *queue; /* [queues] by from, to, channel */
    uint32_t queues, part, longest;
    uint8_t *channel; /* [parts] */
    uint32_t parts;
    bool spread;
};

uint32_t msccl_messages_of(const struct schedule_step *step)
{
    return (step->count + MSCCL_COUNT_MAX - 1) / MSCCL_COUNT_MAX;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static int by_ends(const void *a, const void *b)
{
    const struct file_queue *const x = a, *const y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->channel < y->channel ? -1 : x->channel > y->channel;
}

/* One entry for each step that sends, then one for each queue. False: out of memory. */
static bool find_queues(struct msccl_channels *c)
{
    const struct schedule *const s = c->schedule;
    uint64_t sends = 0;
    for (uint32_t r = 0; r < s->rank_count; r++)
        for (uint32_t i = 0; i < s->rank[r].step_count; i++)
            sends += schedule_op_sends((enum schedule_op)s->rank[r].step[i].op);
    c->queue = malloc((sends + 1) * sizeof *c->queue);
    if (c->queue == NULL || sends >= UINT32_MAX)
        return false;
    uint32_t count = 0;
    for (uint32_t r = 0; r < s->rank_count; r++)
        for (uint32_t i = 0; i < s->rank[r].step_count; i++) {
            const struct schedule_step *const step = &s->rank[r].step[i];
            if (schedule_op_sends((enum schedule_op)step->op))
                c->queue[count++] = (struct file_queue){.from = r,
                                                        .to = step->send_to,
                                                        .channel = step->channel,
                                                        .messages = msccl_messages_of(step)};
        }
    if (count > 1)
        qsort(c->queue, count, sizeof *c->queue, by_ends);
    for (uint32_t i = 0; i < count; i++)
        if (c->queues > 0 && by_ends(&c->queue[c->queues - 1], &c->queue[i]) == 0)
            c->queue[c->queues - 1].messages += c->queue[i].messages;
        else
            c->queue[c->queues++] = c->queue[i];
    return true;
}

/* False: out of memory. */
static bool cut_queues(struct msccl_channels *c)
{
    uint64_t parts = 0;
    for (uint32_t i = 0; i < c->queues; i++) {
        struct file_queue *const q = &c->queue[i];
        q->first = (uint32_t)parts;
        parts += q->messages / c->part + (q->messages % c->part > 0);
        c->longest = q->messages > c->longest ? q->messages : c->longest;
    }
    c->channel = malloc(parts + 1);
    c->parts = (uint32_t)parts;
    return c->channel != NULL && parts < UINT32_MAX;
}

static void keep_channels(struct msccl_channels *c)
{
    for (uint32_t i = 0; i < c->queues; i++) {
        const uint32_t end = i + 1 < c->queues ? c->queue[i + 1].first : c->parts;
        memset(c->channel + c->queue[i].first, c->queue[i].channel, end - c->queue[i].first);
    }
}

/* ---- room ------------------------------------------------------------------------------------ */

/* Queues of a rank on each channel, which has room for MSCCL_PEERS_MAX. */
struct taken {
    uint8_t (*sends)[MSCCL_CHANNELS_MAX], (*recvs)[MSCCL_CHANNELS_MAX]; /* [ranks] */
};

/* Takes a place at both ends; false: one has none. */
static bool take_channel(struct taken *taken, const struct file_queue *q, uint32_t channel)
{
    if (channel >= MSCCL_CHANNELS_MAX || taken->sends[q->from][channel] == MSCCL_PEERS_MAX ||
        taken->recvs[q->to][channel] == MSCCL_PEERS_MAX)
        return false;
    taken->sends[q->from][channel]++;
    taken->recvs[q->to][channel]++;
    return true;
}

/* All queues have room on their own channels. */
static bool have_room(const struct msccl_channels *c, struct taken *taken)
{
    bool fit = true;
    for (uint32_t i = 0; i < c->queues && fit; i++)
        fit = take_channel(taken, &c->queue[i], c->queue[i].channel);
    return fit;
}

/* A part of a queue that waits for its channel. */
struct file_part {
    uint32_t queue, number, distance;
    uint8_t channel;
};

static int by_turn(const void *a, const void *b)
{
    const struct file_part *const x = a, *const y = b;
    if (x->channel != y->channel)
        return x->channel < y->channel ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->queue < y->queue ? -1 : x->queue > y->queue;
}

/* The first queue of the same two ranks: its place in pair_channels[]. */
static uint32_t pair_of(const struct msccl_channels *c, uint32_t queue)
{
    while (queue > 0 && c->queue[queue - 1].from == c->queue[queue].from &&
           c->queue[queue - 1].to == c->queue[queue].to)
        queue--;
    return queue;
}

/* Two parts between the same ranks have different channels. False: there are not enough. */
static bool give_channels(struct msccl_channels *c, const struct file_part *part,
                          struct taken *taken, uint32_t *pair_channels)
{
    for (uint32_t i = 0; i < c->parts; i++) {
        const struct file_queue *const q = &c->queue[part[i].queue];
        uint32_t *const used = &pair_channels[pair_of(c, part[i].queue)];
        const uint64_t wanted = q->channel + (uint64_t)part[i].number * c->schedule->channels;
        uint32_t tries = 0, channel = (uint32_t)(wanted % MSCCL_CHANNELS_MAX);
        while (tries < MSCCL_CHANNELS_MAX &&
               ((*used >> channel & 1) != 0 || !take_channel(taken, q, channel))) {
            channel = (channel + 1) % MSCCL_CHANNELS_MAX;
            tries++;
        }
        if (tries == MSCCL_CHANNELS_MAX)
            return false;
        *used |= UINT32_C(1) << channel;
        c->channel[q->first + part[i].number] = (uint8_t)channel;
    }
    return true;
}

/* Of both queues between two ranks alike, so that they get one channel, and may share a thread
 * block at each end. */
static uint32_t distance_of(const struct file_queue *q, uint32_t ranks)
{
    const uint32_t apart = (q->to + ranks - q->from) % ranks;
    return apart < ranks - apart ? apart : ranks - apart;
}

static bool spread(struct msccl_channels *c, struct taken *taken, bool *no_memory)
{
    struct file_part *const part = malloc(((size_t)c->parts + 1) * sizeof *part);
    uint32_t *const pair_channels = calloc((size_t)c->queues + 1, sizeof *pair_channels);
    bool given = false;
    uint32_t count = 0;
    *no_memory = part == NULL || pair_channels == NULL;
    for (uint32_t i = 0; i < c->queues && !*no_memory; i++) {
        const struct file_queue *const q = &c->queue[i];
        const uint32_t ranks = c->schedule->rank_count,
                       end = i + 1 < c->queues ? q[1].first : c->parts;
        for (uint32_t k = 0; k < end - q->first; k++)
            part[count++] = (struct file_part){i, k, distance_of(q, ranks), q->channel};
    }
    if (!*no_memory) {
        if (count > 1)
            qsort(part, count, sizeof *part, by_turn);
        given = give_channels(c, part, taken, pair_channels);
    }
    free(part);
    free(pair_channels);
    return given;
}

/* False: out of memory. */
static bool choose_channels(struct msccl_channels *c)
{
    const size_t bytes = (size_t)c->schedule->rank_count * MSCCL_CHANNELS_MAX;
    struct taken taken = {calloc(bytes, 1), calloc(bytes, 1)};
    bool no_memory = taken.sends == NULL || taken.recvs == NULL;
    keep_channels(c);
    c->spread = !no_memory && c->parts == c->queues && have_room(c, &taken);
    if (!no_memory && !c->spread) {
        memset(taken.sends, 0, bytes);
        memset(taken.recvs, 0, bytes);
        c->spread = spread(c, &taken, &no_memory);
        if (!c->spread)
            keep_channels(c);
    }
    free(taken.sends);
    free(taken.recvs);
    return !no_memory;
}

/* ---- all of it ------------------------------------------------------------------------------- */

struct msccl_channels *msccl_channels_create(const struct schedule *schedule, uint32_t part)
{
    struct msccl_channels *const c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->schedule = schedule;
    c->part = part;
    if (find_queues(c) && cut_queues(c) && choose_channels(c))
        return c;
    msccl_channels_free(c);
    return NULL;
}

void msccl_channels_free(struct msccl_channels *channels)
{
    if (channels == NULL)
        return;
    free(channels->queue);
    free(channels->channel);
    free(channels);
}

bool msccl_channels_are_spread(const struct msccl_channels *channels) { return channels->spread; }

uint32_t msccl_channels_longest(const struct msccl_channels *channels) { return channels->longest; }

/* NULL: no step sends by it, which the check of the schedule refuses. */
static struct file_queue *queue_of(struct msccl_channels *c, uint32_t from, uint32_t to,
                                   uint8_t channel)
{
    const struct file_queue key = {.from = from, .to = to, .channel = channel};
    return bsearch(&key, c->queue, c->queues, sizeof key, by_ends);
}

/* The channel of a queue's `number`-th message. */
static uint8_t channel_at(const struct msccl_channels *c, const struct file_queue *q,
                          uint32_t number, uint8_t otherwise)
{
    return q != NULL && number < q->messages ? c->channel[q->first + number / c->part] : otherwise;
}

uint8_t msccl_channels_of_send(struct msccl_channels *channels, uint32_t rank,
                               const struct schedule_step *step)
{
    struct file_queue *const q = queue_of(channels, rank, step->send_to, step->channel);
    return channel_at(channels, q, q != NULL ? q->sent++ : 0, step->channel);
}

uint8_t msccl_channels_of_recv(struct msccl_channels *channels, uint32_t rank,
                               const struct schedule_step *step)
{
    struct file_queue *const q = queue_of(channels, step->recv_from, rank, step->channel);
    return channel_at(channels, q, q != NULL ? q->received++ : 0, step->channel);
}
