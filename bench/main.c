/*
 * main.c: the program's entry, and the one file that is built for any processor: on a processor
 * that is too old it says so in one line, where the rest, built for x86-64-v3, would be killed by
 * an illegal instruction.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/cli/commands.h"
#include "core/cw.h"
#include "core/os/cpu_check.h"

/* Whether the limit on the address space leaves what the allocator takes at its start; with less,
 * the first allocation would crash. Nothing here allocates. */
static bool has_memory(void)
{
    enum { FIRST_BYTES = 6 << 20, DECIMAL = 10 };
    struct rlimit limit;
    char text[64] = "";
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, text, sizeof text - 1) < 0)
            text[0] = '\0';
        (void)close(file);
    }
    const rlim_t used = (rlim_t)strtoull(text, NULL, DECIMAL) * (rlim_t)sysconf(_SC_PAGESIZE);
    return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur >= used + FIRST_BYTES;
}

int main(int argc, char **argv)
{
    if (!has_memory()) {
        fputs("cubewarp: too little memory: its address space is limited (ulimit -v)\n", stderr);
        return CW_NO_RESOURCE;
    }
    const char *const feature = cpu_missing_feature();
    if (feature[0] != '\0') {
        fprintf(stderr, "cubewarp: this processor lacks %s; %s\n", feature, CPU_NEEDED);
        return CW_NO_RESOURCE;
    }
    return commands_main(argc, argv);
}
