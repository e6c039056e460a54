/*
 * invariant.h: assertions of the engine's named invariants.
 *
 *   CW_INVARIANT("I-MAIL-1", read <= tail, "read %llu, tail %llu", ...);
 *
 * They are checked in the builds that look for bugs: the sanitizers' (CW_SANITIZE), the schedule
 * explorer's (SYNC_EXPLORE), and any build with -DCW_ASSERT. In a release they are nothing. One
 * that fails prints the invariant's name, the place, the condition and the state that the caller
 * names, and aborts. Where the run-time stress mode checks one in every build, a failure ends the
 * run with an error instead (worker_bug()).
 *
 * Any thread. The condition must have no effects.
 */
#ifndef CORE_INVARIANT_H
#define CORE_INVARIANT_H

#if defined(CW_SANITIZE) || defined(SYNC_EXPLORE)
#ifndef CW_ASSERT
#define CW_ASSERT
#endif
#endif

#ifdef CW_ASSERT
#define CW_ASSERTING 1
#else
#define CW_ASSERTING 0
#endif

/* Prints the failure and aborts. */
_Noreturn void invariant_failed(const char *name, const char *file, int line, const char *condition,
                                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A release compiles the condition and the state, so that they cannot rot, and drops them. */
#define CW_INVARIANT(name, condition, ...)                                                         \
    do {                                                                                           \
        if (CW_ASSERTING && !(condition))                                                          \
            invariant_failed((name), __FILE__, __LINE__, #condition, __VA_ARGS__);                 \
    } while (0)

#endif
