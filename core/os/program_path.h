/*
 * program_path.h: where the file of the running program is.
 */
#ifndef CORE_PROGRAM_PATH_H
#define CORE_PROGRAM_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the absolute path of the program's file. False: the system does not say, or the path is
 * longer than bytes - 1. */
bool program_path(char *path, size_t bytes);

#endif
