/*
 * pair.h: the parts that benches between two PEs, --from and --to, share: the queue between them,
 * and the time that a tile takes on an empty fabric.
 */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include "bench/programs/bench_program.h"

/* The installed direction that leads from one end to the other (of several, the one a route would
 * take: E, S, W, N), or `peer`: such a pair gets a queue of its own. */
enum hw_dir pair_direction(const struct config *config, struct hw_place from, struct hw_place to);

/* Events of a tile's way there and back, by estimate; of the launches of both ends' kernels. */
double pair_events(const struct run_options *options, const struct config *config);
double pair_launch_events(const struct config *config);

/* A program's prepare(): refuses options that name no pair; adds a queue `peer` where the machine
 * has none between the two. */
int pair_prepare(struct bench_session *session, struct dist_options *dist, struct cw_error *error);

/* An empty fabric's time for a tile there and back, by the routes that the queues take. */
struct hw_bound pair_bound(const struct bench_session *session, uint64_t bytes);

#endif
