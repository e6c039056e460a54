/*
 * tl_source.c: see tl_source.h. tl_here is each thread's own.
 */
#include "lp/kernel/tl_source.h"

#include <stdio.h>
#include <string.h>

__thread const struct tl_source *volatile tl_here;

const char *tl_source_text(const struct tl_source *source, char *text, size_t size)
{
    const size_t most = size - 40; /* of the file's name: its end tells more */
    text[0] = '\0';
    if (source == NULL)
        return text;
    const size_t length = strlen(source->file);
    (void)snprintf(text, size, " (at %s%s:%llu)", length > most ? "..." : "",
                   source->file + (length > most ? length - most : 0),
                   (unsigned long long)source->line);
    return text;
}
