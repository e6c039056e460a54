/*
 * completion.h: completion of command lines for shells, made from the tables of commands and
 * options.
 */
#ifndef BENCH_COMPLETION_H
#define BENCH_COMPLETION_H

#include <stdio.h>

/* The i-th shell's name; NULL after the last. */
const char *completion_shell(size_t i);
/* Prints the script for that shell. */
void completion_print(FILE *file, size_t shell);

#endif
