/*
 * output_path.c: looks whether a path may be written (output_path.h).
 */
#include "core/os/output_path.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_path_check(const char *path, struct cw_error *error)
{
    enum { WRITE_BITS = S_IWUSR | S_IWGRP | S_IWOTH };
    struct stat link, file;
    if (lstat(path, &link) != 0)
        return CW_OK; /* nothing is there, or opening it will say why not */
    if (stat(path, &file) != 0) {
        if (!S_ISLNK(link.st_mode))
            return CW_OK;
        if (errno != ENOENT)
            return cw_error_set(error, CW_NO_RESOURCE,
                                "cannot write %.800s: it is a symbolic link that cannot be "
                                "followed (%s); remove the link, or name another file",
                                path, strerror(errno));
        return cw_error_set(error, CW_NO_RESOURCE,
                            "cannot write %.800s: it is a symbolic link to a file that is not "
                            "there; remove the link, or name another file",
                            path);
    }
    if (!S_ISREG(file.st_mode) || ((file.st_mode & WRITE_BITS) != 0 && access(path, W_OK) == 0))
        return CW_OK;
    return cw_error_set(error, CW_NO_RESOURCE,
                        "cannot write %.800s: the file is there and read-only; remove it, or name "
                        "another file",
                        path);
}
