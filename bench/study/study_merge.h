/*
 * study_merge.h: `cubewarp sweep merge`: the databases of a study's parts as one.
 */
#ifndef BENCH_STUDY_MERGE_H
#define BENCH_STUDY_MERGE_H

#include <stddef.h>

#include "core/cw.h"

struct study_merged {
    uint32_t points, ended, done; /* of the study; in the database; of these with a result */
    uint32_t wrong;               /* of those: with wrong data */
};

/*
 * Adds the points of all inputs to the database `path`, which is created if missing. If several
 * have a point, a result beats a failure, and otherwise the first counts. Each input is added
 * completely. CW_USAGE if an input is not a database of a study, or is another study's; then
 * nothing is added.
 */
int study_merge(const char *path, const char *const *inputs, size_t count,
                struct study_merged *merged, struct cw_error *error);

#endif
