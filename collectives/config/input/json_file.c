/*
 * json_file.c: reads JSON from a file (json_file.h). Jansson takes an error while it reads for the
 * end of the text.
 */
#include "collectives/config/input/json_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

json_t *json_file_read(const char *path, size_t flags, json_error_t *wrong, int *number)
{
    FILE *const file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    *number = file == NULL ? errno : 0;
    if (file == NULL)
        return NULL;
    errno = 0;
    json_t *const json = json_loadf(file, flags, wrong);
    if (json == NULL && ferror(file))
        *number = errno != 0 ? errno : EIO;
    if (file != stdin)
        fclose(file);
    return json;
}

double json_file_figure(const json_t *value)
{
    const double least = 1e-30, most = 1e30;
    const double number = json_is_number(value) ? json_number_value(value) : NAN;
    const double size = fabs(number);
    return size == 0 || (size >= least && size <= most) ? number : NAN;
}
