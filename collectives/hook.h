/*
 * hook.h: calls a hook of an algorithm, a mapper or a validator so that a fault in it is named: a
 * fault signal (an endless recursion too), abort(), exit(), or a call that does not return. The
 * program then ends with exit code 3, the object and the hook's name, as it does for kernels.
 *
 *     const bool takes = CCL_HOOK("takes_part", algorithm->takes_part, (&call, cube, pe));
 *
 * Built-in hooks are called as they are, until a shared object is loaded.
 */
#ifndef COLLECTIVES_HOOK_H
#define COLLECTIVES_HOOK_H

#include <stdbool.h>
#include <stdint.h>

extern bool ccl_hooks_are_loaded; /* a shared object is there: calls are guarded */

/* Private to the macros here and plugin.c. `path`: of an object that is being loaded; or NULL. */
void ccl_hook_enter(const char *name, uintptr_t function, const char *path);
void ccl_hook_leave(void);

#define CCL_HOOK_ENTER(name, function)                                                             \
    do {                                                                                           \
        if (__builtin_expect(ccl_hooks_are_loaded, 0))                                             \
            ccl_hook_enter((name), (uintptr_t)(function), NULL);                                   \
    } while (0)
#define CCL_HOOK_LEAVE()                                                                           \
    do {                                                                                           \
        if (__builtin_expect(ccl_hooks_are_loaded, 0))                                             \
            ccl_hook_leave();                                                                      \
    } while (0)

/* The hook's result. */
#define CCL_HOOK(name, function, arguments)                                                        \
    __extension__({                                                                                \
        CCL_HOOK_ENTER(name, function);                                                            \
        const __auto_type result_ = (function)arguments;                                           \
        CCL_HOOK_LEAVE();                                                                          \
        result_;                                                                                   \
    })
/* Of a hook without one. */
#define CCL_HOOK_VOID(name, function, arguments)                                                   \
    do {                                                                                           \
        CCL_HOOK_ENTER(name, function);                                                            \
        (function) arguments;                                                                      \
        CCL_HOOK_LEAVE();                                                                          \
    } while (0)

#endif
