/*
 * metis_library.h: METIS, loaded by the partitioner that needs it. Every other run starts without
 * it: to find, map and bind it takes a quarter of a millisecond.
 */
#ifndef PARTITION_METIS_LIBRARY_H
#define PARTITION_METIS_LIBRARY_H

#include <metis.h>

#include "core/cw.h"

/* METIS_PartGraphRecursive() and METIS_PartGraphKway() */
typedef int (*metis_fn)(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *,
                        real_t *, real_t *, idx_t *, idx_t *, idx_t *);

struct metis_library {
    void *object;
    int (*set_defaults)(idx_t *options);
    metis_fn recursive, kway;
};

/* CW_NO_RESOURCE: it is not there. Then *library needs no close. */
int metis_library_open(struct metis_library *library, struct cw_error *error);
void metis_library_close(struct metis_library *library);

#endif
