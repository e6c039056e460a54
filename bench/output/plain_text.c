/*
 * plain_text.c: replaces control characters (plain_text.h). Bytes from 128 on stay: they are
 * UTF-8.
 */
#include "bench/output/plain_text.h"

#include <stddef.h>
#include <string.h>

char *plain_text(char *text, const char *kept)
{
    for (char *at = text; at != NULL && *at != '\0'; at++)
        if (((unsigned char)*at < ' ' || *at == 127) && strchr(kept, *at) == NULL)
            *at = '?';
    return text;
}
