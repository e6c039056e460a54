/*
 * fault_calls.h: the functions of fault_shim.so that stand before those of the C library, as they
 * are written: FAIL_IF() counts the call and may end it, REAL() calls the function behind. Private
 * to the library.
 */
#ifndef TEST_FAULTS_FAULT_CALLS_H
#define TEST_FAULTS_FAULT_CALLS_H

#include <errno.h>
#include <stdbool.h>

#include "test/faults/fault_shim.h"

#define PUBLIC __attribute__((visibility("default")))

extern struct fault_counts *fault_counted;
/* Calls made while one of them is not 0 do not count: the shim itself calls; it looks up a name. */
extern _Thread_local int fault_inside, fault_looking;
extern bool fault_has_begun; /* main() has */

/* The next definition of a name. */
void *fault_real(const char *name);
#define REAL(name)                                                                                 \
    ({                                                                                             \
        static __typeof__(&(name)) function_;                                                      \
        if (function_ == NULL)                                                                     \
            function_ = (__typeof__(&(name)))fault_real(#name);                                    \
        function_;                                                                                 \
    })

/* Counts a call; whether it has to fail. */
bool fault_comes(enum fault_kind kind);
#define FAIL_IF(kind, number, result)                                                              \
    if (fault_comes(kind)) {                                                                       \
        errno = (number);                                                                          \
        return result;                                                                             \
    }

/* The result of a call whose own calls do not count. */
#define UNCOUNTED(call)                                                                            \
    ({                                                                                             \
        fault_inside++;                                                                            \
        __auto_type const result_ = (call);                                                        \
        fault_inside--;                                                                            \
        result_;                                                                                   \
    })

#endif
