/*
 * hook.c: what a hook's fault ends the program with (hook.h). The state is each thread's own: the
 * hook that it is in.
 */
#define _GNU_SOURCE /* dladdr() */
#include "collectives/hook.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/cw.h"
#include "core/os/fault_guard.h"

bool ccl_hooks_are_loaded;

static __thread struct hook {
    const char *name, *path;
    uintptr_t function;
} hook_here;

/* Called in a signal handler, or instead of exit(). Memory may be damaged, so nothing else is
 * written. */
static void tell_hook_fault(void *arg, const char *fault)
{
    const struct hook *const hook = arg;
    const char *path = hook->path;
    Dl_info info = {.dli_fname = NULL};
    if (path == NULL && dladdr((const void *)hook->function, &info) != 0)
        path = info.dli_fname;
    (void)fflush(stdout);
    (void)fprintf(stderr, "cubewarp: %s, in its %s: %s%s\n",
                  path != NULL ? path : "an algorithm's module", hook->name, fault,
                  strcmp(fault, "exit()") == 0 ? "; legal: a hook returns" : "");
    _exit(CW_PROGRAM_FAILED);
}

void ccl_hook_enter(const char *name, uintptr_t function, const char *path)
{
    hook_here = (struct hook){name, path, function};
    fault_guard_here.patient = strcmp(name, "schedule()") == 0 || strcmp(name, "choose()") == 0;
    fault_guard_enter(tell_hook_fault, &hook_here);
}

void ccl_hook_leave(void)
{
    fault_guard_leave();
    fault_guard_here.patient = false;
}
