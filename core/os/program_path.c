/*
 * program_path.c: the path of the running program, by Linux' link in /proc (program_path.h).
 */
#include "core/os/program_path.h"

#include <unistd.h>

bool program_path(char *path, size_t bytes)
{
    const ssize_t length = readlink("/proc/self/exe", path, bytes);
    if (length <= 0 || (size_t)length >= bytes)
        return false;
    path[length] = '\0';
    return true;
}
