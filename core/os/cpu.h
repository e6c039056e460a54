/*
 * cpu.h: the parts that differ from one kind of processor to another: the counter that stats read,
 * the instructions that the build asks for, the order of a number's bytes. x86-64 and aarch64 are
 * known; any other processor runs, with a slower counter.
 */
#ifndef CORE_CPU_H
#define CORE_CPU_H

#include <stdint.h>
#include <time.h>

/* Events are hashed in place, tensors are hashed and logged as they are in memory, and a futex is
 * the first half of a word: all of that is the same on every machine only in this order. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a number's low bytes come first");

/* The processor's counter: cheap to read, and of no known unit. Never set back on one core. */
static inline uint64_t cpu_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

/* About how far the stack of this thread reaches. __builtin_frame_address() would cost each
 * function that asks a register and two instructions. */
static inline uintptr_t cpu_stack_pointer(void)
{
#ifdef __x86_64__
    uintptr_t pointer;
    __asm__("mov %%rsp, %0" : "=r"(pointer));
    return pointer;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

#endif
