/*
 * metis_library.c: loads METIS and finds its functions. The library's name is the interface's of
 * the header that this file is compiled with. Any thread.
 */
#include "partition/metis_library.h"

#include <dlfcn.h>
#include <string.h>

#define METIS_NAME "libmetis.so.5"
_Static_assert(METIS_VER_MAJOR == 5, "the library's name says which interface it has");

/* ISO C has no conversion from an object's address to a function's. */
static bool find(const struct metis_library *library, const char *name, void *function)
{
    void *const address = dlsym(library->object, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

int metis_library_open(struct metis_library *library, struct cw_error *error)
{
    *library = (struct metis_library){.object = dlopen(METIS_NAME, RTLD_NOW | RTLD_LOCAL)};
    if (library->object != NULL &&
        find(library, "METIS_SetDefaultOptions", &library->set_defaults) &&
        find(library, "METIS_PartGraphRecursive", &library->recursive) &&
        find(library, "METIS_PartGraphKway", &library->kway))
        return CW_OK;
    const char *const reason = dlerror(); /* the library's closing may end the text */
    const int code = cw_error_set(
        error, CW_NO_RESOURCE, METIS_NAME " does not load: %.200s; --partition sip does without it",
        reason != NULL ? reason : "no reason is given");
    metis_library_close(library);
    return code;
}

void metis_library_close(struct metis_library *library)
{
    if (library->object != NULL)
        (void)dlclose(library->object);
    library->object = NULL;
}
