/*
 * affinity.c: the cores that this process may use (affinity.h). By Linux' system calls, and
 * /proc/cpuinfo.
 */
#define _GNU_SOURCE /* CPU affinity */
#include "core/os/affinity.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

int affinity_cores(int *cores, int room)
{
    cpu_set_t set;
    int count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    for (int core = 0; core < CPU_SETSIZE && count < room; core++)
        if (CPU_ISSET(core, &set))
            cores[count++] = core;
    return count;
}

void affinity_bind(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

void affinity_cpu_name(char *name, size_t bytes)
{
    snprintf(name, bytes, "unknown");
    FILE *const file = fopen("/proc/cpuinfo", "re");
    char line[256];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *const colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, bytes, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (file != NULL)
        fclose(file);
}
