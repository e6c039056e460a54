/*
 * error.c: fills a struct cw_error (cw.h): the one helper for errors of all folders. Keeps no
 * state; any thread may call it.
 */
#include <stdio.h>

#include "core/cw.h"

int cw_error_set_list(struct cw_error *error, enum cw_exit exit_code, const char *format,
                      va_list arguments)
{
    vsnprintf(error->text, sizeof error->text, format, arguments);
    error->exit_code = (int)exit_code;
    return error->exit_code;
}

int cw_error_set(struct cw_error *error, enum cw_exit exit_code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)cw_error_set_list(error, exit_code, format, arguments);
    va_end(arguments);
    return error->exit_code;
}

int cw_error_memory(struct cw_error *error, const char *purpose)
{
    return cw_error_set(error, CW_NO_RESOURCE, "out of memory for %s", purpose);
}
