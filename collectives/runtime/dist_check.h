/*
 * dist_check.h: the calls of collectives that this machine cannot carry out are refused before
 * anything runs, with the place of the value at fault. Pure.
 */
#ifndef COLLECTIVES_DIST_CHECK_H
#define COLLECTIVES_DIST_CHECK_H

#include "collectives/algorithm.h"
#include "collectives/config/config.h"

/* Bytes that a PE's receive rings take in a memory of this kind; 0 if they are elsewhere. */
uint64_t dist_ring_bytes(const struct config *config, enum hw_memory memory);

/* Puts the place of the value at fault before an error's text. Returns CW_USAGE. */
int dist_refuse(const struct config *config, const char *key, struct cw_error *error);
/* Refuses a call that the algorithm or the machine's memories cannot carry out, with the place of
 * the value at fault. */
int dist_check_call(const struct config *config, const struct ccl_call *call,
                    struct cw_error *error);
/* The same. *choice: the algorithm that carries the call out, and why; set if the result is CW_OK.
 */
int dist_check_choice(const struct config *config, const struct ccl_call *call,
                      struct ccl_choice *choice, struct cw_error *error);
/* Refuses n_elem elements that are not a multiple of the ranks, in a collective whose shards are
 * made of a block for each rank. */
int dist_check_blocks(enum ccl_collective collective, uint64_t n_elem, uint32_t ranks,
                      struct cw_error *error);
/* Refuses a call whose kernels have no room in TCM beside the receive rings that a PE has in the
 * algorithm's own topology; the rings themselves fit (dist_check_rings()). */
int dist_check_own_rings(const struct config *config, const struct ccl_algorithm *algorithm,
                         const struct ccl_call *call, uint32_t rings, struct cw_error *error);
/* Refuses a matrix product on ranks that have no SIP of their own. */
int dist_check_product(const struct config *config, struct cw_error *error);
/* The receive rings that a PE has in an algorithm's own topology fit in their memory; `pes`: PEs of
 * a cube, up to the last one that has rings. */
int dist_check_rings(const struct config *config, uint32_t rings, uint32_t pes,
                     struct cw_error *error);
/* A program of kernels alone goes by the machine's own queues, and has room for them and one more,
 * which joins a pair of PEs; pair[0] == pair[1]: there is none. */
int dist_check_kernels_only(const struct config *config, const uint32_t pair[2],
                            struct cw_error *error);

#endif
