/*
 * msccl_algorithm.h: an MSCCL XML file as an algorithm: the collective is the file's, the number of
 * ranks its gpus. Files are read when they are first asked for, and again when they have changed;
 * one that cannot be asked for any more stays as it was read. Algorithms that were given out stay.
 * The process's, one thread at a time.
 */
#ifndef COLLECTIVES_MSCCL_ALGORITHM_H
#define COLLECTIVES_MSCCL_ALGORITHM_H

#include "collectives/algorithm.h"

extern const struct ccl_algorithm_files ccl_msccl;

#endif
