/*
 * scratch_folder.h: the folder of a test program for its files: made before its tests, removed
 * after them, with all that is in it. Its name follows from TEST_SCRATCH, which the program defines
 * before it includes this header.
 */
#ifndef TEST_SCRATCH_FOLDER_H
#define TEST_SCRATCH_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/support/file_text.h"

static char folder[] = "/tmp/cubewarp-" TEST_SCRATCH "-XXXXXX";

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[sizeof folder + 10];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* "<folder>/name"; one of four buffers in turn. */
static inline const char *in_folder(const char *name)
{
    static char paths[4][128];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
}

#endif
