/*
 * output_path.h: whether a file may be written at a path: a file that belongs to somebody else, or
 * was protected, is not replaced in silence. No threads.
 */
#ifndef CORE_OUTPUT_PATH_H
#define CORE_OUTPUT_PATH_H

#include "core/cw.h"

/* CW_OK: nothing is there, or something that may be written. CW_NO_RESOURCE with *error filled: the
 * path is a symbolic link that leads nowhere, or a file without permission to write, also for the
 * superuser where no one has it. */
int output_path_check(const char *path, struct cw_error *error);

#endif
