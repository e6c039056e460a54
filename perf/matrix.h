/*
 * matrix.h: the models of the matrix: over which range more threads must never be slower than one.
 * PHOLD by LPs, events, lookahead and remote share; PHOLD with hot LPs; all-reduce by SIPs and
 * elements.
 */
#ifndef PERF_MATRIX_H
#define PERF_MATRIX_H

#include <stdbool.h>

/* A name without a slash, and the arguments of a command without mode and threads. */
typedef void (*perf_matrix_fn)(void *arg, const char *name, const char *command);

/* Calls `fn` for each model of the matrix, or for a dozen from its corners and its middle. */
void perf_matrix_each(bool whole, perf_matrix_fn fn, void *arg);

#endif
