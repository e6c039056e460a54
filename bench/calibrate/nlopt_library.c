/*
 * nlopt_library.c: loads NLopt and finds its functions. The library's name is of the interface of
 * the header that this file is compiled with. Any thread.
 */
#include "bench/calibrate/nlopt_library.h"

#include <dlfcn.h>
#include <string.h>

#define NLOPT_NAME "libnlopt.so.0"

/* ISO C has no conversion from an object's address to a function's. */
static bool find(const struct nlopt_library *library, const char *name, void *function)
{
    void *const address = dlsym(library->object, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

int nlopt_library_open(struct nlopt_library *library, struct cw_error *error)
{
    *library = (struct nlopt_library){.object = dlopen(NLOPT_NAME, RTLD_NOW | RTLD_LOCAL)};
    if (library->object != NULL && find(library, "nlopt_create", &library->create) &&
        find(library, "nlopt_destroy", &library->destroy) &&
        find(library, "nlopt_set_min_objective", &library->set_objective) &&
        find(library, "nlopt_set_lower_bounds1", &library->set_lower) &&
        find(library, "nlopt_set_upper_bounds1", &library->set_upper) &&
        find(library, "nlopt_set_initial_step1", &library->set_step) &&
        find(library, "nlopt_set_xtol_abs1", &library->set_x_tolerance) &&
        find(library, "nlopt_set_maxeval", &library->set_evaluations) &&
        find(library, "nlopt_force_stop", &library->force_stop) &&
        find(library, "nlopt_optimize", &library->optimize) &&
        find(library, "nlopt_srand", &library->seed))
        return CW_OK;
    const char *const reason = dlerror(); /* the library's closing may end the text */
    const int code = cw_error_set(error, CW_NO_RESOURCE,
                                  NLOPT_NAME " does not load: %.200s; calibrate needs it (Debian: "
                                             "libnlopt0)",
                                  reason != NULL ? reason : "no reason is given");
    nlopt_library_close(library);
    return code;
}

void nlopt_library_close(struct nlopt_library *library)
{
    if (library->object != NULL)
        (void)dlclose(library->object);
    library->object = NULL;
}
