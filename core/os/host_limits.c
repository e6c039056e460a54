/*
 * host_limits.c: reads the memory and the cores that this process may use (host_limits.h). Control
 * groups come in two versions, and both nest: the least limit of a group and all groups above it
 * holds. In a container the path of the group may be the host's, of which only the root is visible,
 * so the root's own file is asked as well. A process may have limits of its own beside these.
 */
#define _GNU_SOURCE
#include "core/os/host_limits.h"

#include <malloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t host_limits_least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- control groups -------------------------------------------------------------------------- */

/* The limit that a folder of a control group sets; UINT64_MAX: none. */
typedef uint64_t (*group_limit_fn)(const char *folder);

/* The first two numbers of a file; returns how many it has. "max", and -1, are none. */
static int read_numbers(const char *folder, const char *name, unsigned long long numbers[2])
{
    char path[1200], line[80] = "";
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
    if (file == NULL)
        return 0;
    const bool is_read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (!is_read || strchr(line, '-') != NULL)
        return 0;
    const int count = sscanf(line, "%llu %llu", &numbers[0], &numbers[1]);
    return count > 0 ? count : 0;
}

static uint64_t memory_of_number(const char *folder, const char *name)
{
    unsigned long long bytes[2];
    return read_numbers(folder, name, bytes) > 0 && bytes[0] > 0 ? bytes[0] : UINT64_MAX;
}

static uint64_t memory_v1(const char *folder)
{
    return memory_of_number(folder, "memory.limit_in_bytes");
}

static uint64_t memory_v2(const char *folder) { return memory_of_number(folder, "memory.max"); }

/* A quota of the time of each period, as whole cores, rounded up. */
static uint64_t whole_cores(unsigned long long quota, unsigned long long period)
{
    return quota > 0 && period > 0 ? (quota - 1) / period + 1 : UINT64_MAX;
}

static uint64_t cores_v1(const char *folder)
{
    unsigned long long quota[2], period[2];
    return read_numbers(folder, "cpu.cfs_quota_us", quota) > 0 &&
                   read_numbers(folder, "cpu.cfs_period_us", period) > 0
               ? whole_cores(quota[0], period[0])
               : UINT64_MAX;
}

static uint64_t cores_v2(const char *folder)
{
    unsigned long long both[2];
    return read_numbers(folder, "cpu.max", both) == 2 ? whole_cores(both[0], both[1]) : UINT64_MAX;
}

/* A controller: where version 1 mounts it, and what its files say in each version. */
struct controller {
    const char *name;      /* in the list of /proc/self/cgroup */
    const char *mounts[2]; /* below /sys/fs/cgroup */
    group_limit_fn limit_v1, limit_v2;
};

/* The least limit of the group and those above it, below a mount. */
static uint64_t least_above(const char *root, const char *mount, const char *group,
                            group_limit_fn limit_of)
{
    uint64_t limit = UINT64_MAX;
    char folder[1100];
    const int length = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s", root, mount, group);
    if (length < 0 || (size_t)length >= sizeof folder)
        return limit;
    const size_t fixed = strlen(folder) - strlen(group);
    for (;;) {
        limit = host_limits_least(limit, limit_of(folder));
        char *const slash = strrchr(folder + fixed, '/');
        if (slash == NULL)
            return limit;
        *slash = '\0';
    }
}

/* Whether a list such as "cpu,cpuacct" has the name. */
static bool is_listed(const char *list, const char *name)
{
    const size_t bytes = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, bytes) == 0 && (at[bytes] == ',' || at[bytes] == '\0'))
            return true;
    }
    return false;
}

/* Lines of /proc/self/cgroup read "ID:CONTROLLERS:PATH"; version 2 has the ID 0 and no list. */
static uint64_t groups_limit(const char *root, const struct controller *controller)
{
    uint64_t limit = UINT64_MAX;
    char line[1024];
    (void)snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *const file = fopen(line, "re");
    if (file == NULL)
        return limit;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *const controllers = strchr(line, ':');
        char *const group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL)
            continue;
        *group = '\0';
        if (strcmp(line, "0:") == 0)
            limit =
                host_limits_least(limit, least_above(root, "", group + 1, controller->limit_v2));
        else if (is_listed(controllers + 1, controller->name))
            for (size_t i = 0; i < 2 && controller->mounts[i] != NULL; i++)
                limit = host_limits_least(limit, least_above(root, controller->mounts[i], group + 1,
                                                             controller->limit_v1));
    }
    fclose(file);
    return limit;
}

/* ---- memory ---------------------------------------------------------------------------------- */

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
    static const struct controller memory = {"memory", {"/memory"}, memory_v1, memory_v2};
    uint64_t bytes = host_limits_least(groups_limit("", &memory), process_limit());
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

void host_limits_forget_peak(void)
{
    malloc_trim(0);
    FILE *const file = fopen("/proc/self/clear_refs", "we");
    if (file == NULL)
        return;
    fputs("5", file); /* the peak alone: proc(5) */
    fclose(file);
}

/* ---- cores ----------------------------------------------------------------------------------- */

static uint64_t cores_of_process(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint64_t)CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than a cpu_set_t has room for */
    return online > 0 ? (uint64_t)online : 1;
}

uint32_t host_limits_cores_below(const char *root)
{
    static const struct controller cpu = {"cpu", {"/cpu", "/cpu,cpuacct"}, cores_v1, cores_v2};
    return (uint32_t)host_limits_least(cores_of_process(), groups_limit(root, &cpu));
}

uint32_t host_limits_cores(void) { return host_limits_cores_below(""); }
