/*
 * refusal.c: filling and printing refusals (refusal.h).
 */
#include "collectives/refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/cw.h"

int ccl_refuse(struct ccl_refusal *refusal, const char *key, const char *wrong, ...)
{
    va_list args;
    va_start(args, wrong);
    vsnprintf(refusal->wrong, sizeof refusal->wrong, wrong, args);
    va_end(args);
    refusal->key = key;
    refusal->legal[0] = refusal->advice[0] = '\0';
    return CW_USAGE;
}

/* Appends to the text. */
__attribute__((format(printf, 3, 0))) static void append(char *text, size_t bytes,
                                                         const char *format, va_list args)
{
    const size_t used = strlen(text);
    vsnprintf(text + used, bytes - used, format, args);
}

int ccl_legal(struct ccl_refusal *refusal, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(refusal->legal, sizeof refusal->legal, format, args);
    va_end(args);
    return CW_USAGE;
}

int ccl_advise(struct ccl_refusal *refusal, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(refusal->advice, sizeof refusal->advice, format, args);
    va_end(args);
    return CW_USAGE;
}

void ccl_refusal_text(const struct ccl_refusal *refusal, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s%s%s%s%s", refusal->wrong, refusal->legal[0] != '\0' ? "; " : "",
             refusal->legal, refusal->advice[0] != '\0' ? "; " : "", refusal->advice);
}
