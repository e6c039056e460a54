/*
 * msccl_channels.h: the channels of a schedule's messages in an MSCCL XML file. A queue's messages
 * keep the queue's channel where runtimes have room for that (msccl_limits.h): at most 32 thread
 * blocks of a gpu may send on one channel, and as many receive. Where there are more, queues are
 * spread over channels. A queue of very many messages may be cut into parts, each with a channel,
 * and so a thread block, of its own. Both ends of a queue cut it alike. Used by msccl_write.c
 * alone.
 */
#ifndef COLLECTIVES_MSCCL_CHANNELS_H
#define COLLECTIVES_MSCCL_CHANNELS_H

#include "collectives/schedule/schedule.h"

struct msccl_channels;

/* Each `part` messages of a queue have a channel of their own; UINT32_MAX: all of them have one.
 * NULL: out of memory. */
struct msccl_channels *msccl_channels_create(const struct schedule *schedule, uint32_t part);
void msccl_channels_free(struct msccl_channels *channels); /* accepts NULL */
/* False: there are not enough channels, and each queue has its own in the schedule. */
bool msccl_channels_are_spread(const struct msccl_channels *channels);
uint32_t msccl_channels_longest(const struct msccl_channels *channels); /* messages of a queue */

/* Of the queue that a step sends by, or receives from: the channel of its next message. */
uint8_t msccl_channels_of_send(struct msccl_channels *channels, uint32_t rank,
                               const struct schedule_step *step);
uint8_t msccl_channels_of_recv(struct msccl_channels *channels, uint32_t rank,
                               const struct schedule_step *step);

/* Messages of a step: one has at most so many chunks as a step of a file. */
uint32_t msccl_messages_of(const struct schedule_step *step);

#endif
