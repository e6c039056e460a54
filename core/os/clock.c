/*
 * clock.c: asks the system whether a thread had its core all the time (clock.h).
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "core/os/clock.h"

#include <sys/resource.h>

uint64_t clock_times_away(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return 0;
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}
