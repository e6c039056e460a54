/*
 * row_work.h: the work of a collective's row, by the definition in bench/COMMANDS.md ("Bytes and
 * bandwidths"): its shards, the bytes that its bandwidths count, the factor of busbw, and its lower
 * bound. All benches take them from here.
 */
#ifndef BENCH_ROW_WORK_H
#define BENCH_ROW_WORK_H

#include "bench/programs/bench_program.h"

/* Of tensors with this policy: shards with contents of their own. */
uint32_t bench_parts(const struct hw_config *hw, const struct dp_policy *policy);
/* Shards of each rank's tensor, by the plans that the run will make; 0: the program has no tensors.
 * 1 where the plans cannot be made, which the run will say. */
uint32_t row_work_shards(const struct bench_session *session);

/* How the program's tensors are laid out for a kernel that the plans are not made for, a
 * reduce-scatter's: a shard on PE 0 of each cube. NULL: as the plans say. */
const struct dp_policy *row_work_layout(const struct bench_session *session);

/*
 * Adds the row of a call of this collective with n_elem elements in a shard, of which a rank has
 * session->shards. `name` is the row's. Valid until the next row is added; NULL: out of memory.
 */
struct result_row *row_work_add(struct bench_session *session, const char *name,
                                enum ccl_collective collective, uint64_t n_elem,
                                struct cw_error *error);

/* What the machine is built of, into the session's result. */
void row_work_built(const struct bench_session *session);
/* Of a row with its links and its time: counts the links that the machine has, of each kind between
 * SIPs that carried something, and adds up the energy. */
void row_work_count_links(const struct bench_session *session, struct result_row *row);
/* Finds out, of a row with its links and its time, why it is far from its bound (struct
 * result_busiest). */
void row_work_busiest(const struct bench_session *session, struct result_row *row);

#endif
