/*
 * invariant.c: reports an invariant that does not hold, and aborts (invariant.h).
 */
#include "core/invariant.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void invariant_failed(const char *name, const char *file, int line, const char *condition,
                      const char *format, ...)
{
    char state[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(state, sizeof state, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s:%d: %s does not hold: %s; %s\n", file, line, name, condition, state);
    abort();
}
