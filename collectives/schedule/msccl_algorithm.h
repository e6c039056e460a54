/*
 * msccl_algorithm.h: an MSCCL XML file as an algorithm: the collective is the file's, the number of
 * ranks its gpus. Files are read when they are first asked for, and again when they have changed;
 * algorithms that were given out stay. The process's, one thread at a time.
 */
#ifndef COLLECTIVES_MSCCL_ALGORITHM_H
#define COLLECTIVES_MSCCL_ALGORITHM_H

#include "collectives/algorithm.h"

/* NULL: CW_USAGE with the faults of the file's text, CW_NO_RESOURCE. */
const struct ccl_algorithm *msccl_algorithm(const char *path, struct cw_error *error);
/* As ccl_algorithm_slots(). */
uint32_t msccl_algorithm_slots(const struct ccl_algorithm *algorithm, uint32_t n_slots);
/* XXH3-64 of the file that it was made of; 0: of none. */
uint64_t msccl_algorithm_contents(const struct ccl_algorithm *algorithm);

#endif
