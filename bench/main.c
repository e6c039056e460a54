/*
 * main.c: the program's entry, and the one file that is built for any processor: it says in one
 * line that the processor is too old, where the rest, built for x86-64-v3, would die of an
 * instruction.
 */
#include <stdio.h>

#include "bench/cli/commands.h"
#include "core/cw.h"
#include "core/host/cpu_check.h"

int main(int argc, char **argv)
{
    const char *const feature = cpu_missing_feature();
    if (feature[0] != '\0') {
        fprintf(stderr, "cubewarp: this processor lacks %s; %s\n", feature, CPU_NEEDED);
        return CW_NO_RESOURCE;
    }
    return commands_main(argc, argv);
}
