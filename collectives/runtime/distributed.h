/*
 * distributed.h: the host runtime in one include: a simulated machine with a process group on it,
 * named after torch.distributed (RUNTIME.md). Rank = SIP.
 *
 * A bench's worker reads like a DDP script. Its functions find their world through the running
 * rank:
 *
 *     static void worker(int rank, void *arg)
 *     {
 *         dist_init_process_group("ahbm");
 *         ahbm_set_device(rank);
 *         struct tensor *t = dist_tensor_zeros(n_elem, DTYPE_F16, &policy);
 *         dist_fill_input(t, seed);
 *         dist_all_reduce(t, REDOP_SUM);
 *     }
 *
 * A call that fails ends its worker, and with it all others (mp_fail).
 *
 * The program around the workers creates the world (dist_world.h), is notified of each completed
 * collective, and may launch kernels without a process group's ranks. All calls are made between
 * drains of the engine, on one thread.
 */
#ifndef COLLECTIVES_DISTRIBUTED_H
#define COLLECTIVES_DISTRIBUTED_H

#include "collectives/runtime/dist_call.h"
#include "collectives/runtime/dist_check.h"
#include "collectives/runtime/dist_messages.h"
#include "collectives/runtime/dist_tensor.h"
#include "collectives/runtime/dist_world.h"
#include "collectives/runtime/spawn.h"
#include "collectives/runtime/tensor.h"

#endif
