/*
 * plain_locale.c: gives the calling thread a C locale of its own (plain_locale.h).
 */
#define _GNU_SOURCE /* newlocale(), uselocale() */
#include "core/os/plain_locale.h"

#include <locale.h>

void plain_locale_use(void)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* takes no memory: static */
    if (plain != (locale_t)0)
        (void)uselocale(plain);
}
