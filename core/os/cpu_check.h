/*
 * cpu_check.h: whether this processor has the instructions that the build may use; for bench/main.c
 * alone, which is built for any processor and checks before anything else runs.
 */
#ifndef CORE_CPU_CHECK_H
#define CORE_CPU_CHECK_H

#if defined(__x86_64__)
#include <cpuid.h>

#define CPU_NEEDED "an x86-64-v3 processor is needed (Intel from Haswell, AMD from Excavator)"

/* The features of x86-64-v3; "": it has them all. __builtin_cpu_supports also asks whether the
 * system saves AVX state. */
static inline const char *cpu_missing_feature(void)
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
    return "";
}

#else /* builds for other processors use instructions that all of the kind have */

#define CPU_NEEDED ""
static inline const char *cpu_missing_feature(void) { return ""; }

#endif

#endif
