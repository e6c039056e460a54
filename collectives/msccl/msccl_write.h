/*
 * msccl_write.h: writes schedules as MSCCL XML files (msccl_xml.h), which read as the same
 * schedule, or as one with more threads that does the same.
 *
 * A thread block of such a file has one peer to send to, one to receive from, and one channel. So a
 * thread with more becomes several thread blocks, whose steps wait for each other in the thread's
 * order. A step that receives from one and sends to another of these blocks' peers becomes two
 * steps; chunks that it does not keep go through scratch of its own. A step of a file waits for one
 * step, so further waits are steps of type nop before it, and a nop of the schedule becomes a wait
 * of the step after it, unless others wait for it. Parts are not written: they share the tensor, as
 * they do where a rank has one shard.
 *
 * Runtimes have limits (msccl_limits.h). Queues are spread over channels, and thread blocks and
 * steps cut, so that as many runtimes as can take the file; a comment at its head names them.
 */
#ifndef COLLECTIVES_MSCCL_WRITE_H
#define COLLECTIVES_MSCCL_WRITE_H

#include <stdio.h>

#include "collectives/schedule/schedule.h"

enum { MSCCL_FIT_BYTES = 500 };

/* CW_OK, or CW_NO_RESOURCE: memory, or the stream's error. fit: NULL, or which runtimes take the
 * file, and why others do not: "for RCCL; not for ..., since ...". */
int msccl_write(FILE *stream, const struct schedule *schedule, char fit[MSCCL_FIT_BYTES],
                struct cw_error *error);

#endif
