/*
 * host_limits.c: reads the memory that this process may use (host_limits.h). Control groups come in
 * two versions, and both nest: the least limit of a group and all groups above it holds. In a
 * container the path of the group may be the host's, of which only the root is visible, so the
 * root's own file is asked as well. A process may have limits of its own beside these.
 */
#define _GNU_SOURCE
#include "core/os/host_limits.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t host_limits_least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The number that a file starts with; UINT64_MAX if there is no such file, or it says "max". */
static uint64_t read_limit(const char *path)
{
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return UINT64_MAX;
    unsigned long long limit = 0;
    const bool found = fscanf(file, "%llu", &limit) == 1;
    fclose(file);
    return found && limit > 0 ? limit : UINT64_MAX;
}

/* The least limit of the group and those above it. Cuts `group` short. */
static uint64_t group_limit(const char *mount, char *group, const char *file)
{
    uint64_t limit = UINT64_MAX;
    for (;;) {
        char path[1200];
        const int length = snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
        if (length > 0 && (size_t)length < sizeof path)
            limit = host_limits_least(limit, read_limit(path));
        char *const slash = strrchr(group, '/');
        if (slash == NULL)
            return limit;
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup read "ID:CONTROLLERS:PATH"; version 2 has the ID 0 and no list. */
static uint64_t groups_limit(void)
{
    FILE *const file = fopen("/proc/self/cgroup", "re");
    if (file == NULL)
        return UINT64_MAX;
    uint64_t limit = UINT64_MAX;
    char line[1024];
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *const controllers = strchr(line, ':');
        char *const group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL)
            continue;
        *group = '\0';
        if (strcmp(line, "0:") == 0)
            limit =
                host_limits_least(limit, group_limit("/sys/fs/cgroup", group + 1, "memory.max"));
        else if (strcmp(controllers, ":memory") == 0)
            limit = host_limits_least(
                limit, group_limit("/sys/fs/cgroup/memory", group + 1, "memory.limit_in_bytes"));
    }
    fclose(file);
    return limit;
}

/* What `ulimit -v` and `ulimit -d` leave: no process has more memory than addresses. */
static uint64_t process_limit(void)
{
    const __rlimit_resource_t resources[] = {RLIMIT_AS, RLIMIT_DATA};
    uint64_t bytes = UINT64_MAX;
    struct rlimit limit;
    for (int i = 0; i < 2; i++)
        if (getrlimit(resources[i], &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
            bytes = host_limits_least(bytes, (uint64_t)limit.rlim_cur);
    return bytes;
}

uint64_t host_limits_memory_bytes(void)
{
    uint64_t bytes = host_limits_least(groups_limit(), process_limit());
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0)
        bytes = host_limits_least(bytes, (uint64_t)pages * (uint64_t)page_bytes);
    return bytes;
}

uint64_t host_limits_peak_resident_bytes(void)
{
    FILE *const file = fopen("/proc/self/status", "re");
    unsigned long long kib = 0;
    char line[256];
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL)
        (void)sscanf(line, "VmHWM: %llu", &kib);
    if (file != NULL)
        fclose(file);
    struct rusage usage;
    if (kib == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        kib = (unsigned long long)usage.ru_maxrss;
    return kib * 1024;
}

uint32_t host_limits_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than a cpu_set_t has room for */
    return online > 0 ? (uint32_t)online : 1;
}
