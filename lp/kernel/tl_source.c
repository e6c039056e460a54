/*
 * tl_source.c: the line that a kernel has reached, and numbers of lines (tl_source.h). tl_here is
 * each thread's own.
 *
 * Numbers. All threads share a table of lines, in which a line is found by hashing. A place is
 * claimed once, from 0 to the line's address, and never changes again. So a line that a thread
 * finds there keeps its number forever, and threads that add the same line at once meet at the same
 * place: the first to claim it adds it for all. The table has more places than programs have
 * kernels' lines; a line that finds no place near its own has no number, and reports omit it.
 */
#include "lp/kernel/tl_source.h"

#include "core/os/sync.h"

#include <stdio.h>
#include <string.h>

__thread const struct tl_source *volatile tl_here;

const char *tl_source_text(const struct tl_source *source, char *text, size_t size)
{
    const size_t most = size - 40; /* of the file's name, whose end matters most */
    text[0] = '\0';
    if (source == NULL)
        return text;
    const size_t length = strlen(source->file);
    (void)snprintf(text, size, " (at %s%s:%llu)", length > most ? "..." : "",
                   source->file + (length > most ? length - most : 0),
                   (unsigned long long)source->line);
    return text;
}

enum { NUMBER_BITS = 13, NUMBERS = 1 << NUMBER_BITS, NUMBER_PROBES = 64 };
static struct sync_u64 numbered[NUMBERS]; /* the address of a line; 0: free */

uint16_t tl_source_number(const struct tl_source *source)
{
    const uint64_t address = (uint64_t)(uintptr_t)source;
    const uint64_t first = address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - NUMBER_BITS);
    for (uint64_t i = first; address != 0 && i < first + NUMBER_PROBES; i++) {
        struct sync_u64 *const place = &numbered[i % NUMBERS];
        uint64_t there = sync_load_acquire(place);
        if (there == 0)
            there = sync_claim(place, address) ? address : sync_load_acquire(place);
        if (there == address)
            return (uint16_t)(i % NUMBERS + 1);
    }
    return 0;
}

const struct tl_source *tl_source_numbered(uint16_t number)
{
    return number > 0 && number <= NUMBERS
               ? (const struct tl_source *)(uintptr_t)sync_load_acquire(&numbered[number - 1])
               : NULL;
}
