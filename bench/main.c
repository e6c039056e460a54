/*
 * main.c: the program's entry, and the one file that is built for any x86-64: it says in one line
 * that the processor is too old, where the rest, built for x86-64-v3, would die of an instruction.
 */
#include <cpuid.h>
#include <stdio.h>

#include "bench/cli/cli.h"
#include "core/cw.h"

/* The features of x86-64-v3; __builtin_cpu_supports also asks whether the system saves AVX state.
 */
static const char *missing_feature(void)
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2"))
        return "avx2";
    if (!__builtin_cpu_supports("bmi"))
        return "bmi";
    if (!__builtin_cpu_supports("bmi2"))
        return "bmi2";
    if (!__builtin_cpu_supports("fma"))
        return "fma";
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_F16C) == 0)
        return "f16c";
    if ((ecx & bit_MOVBE) == 0)
        return "movbe";
    if (__get_cpuid(0x80000001u, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_LZCNT) == 0)
        return "lzcnt";
    return NULL;
}

int main(int argc, char **argv)
{
    const char *const feature = missing_feature();
    if (feature != NULL) {
        fprintf(stderr,
                "cubewarp: this processor lacks %s; an x86-64-v3 processor is needed (Intel from "
                "Haswell, AMD from Excavator)\n",
                feature);
        return CW_NO_RESOURCE;
    }
    return cli_main(argc, argv);
}
