/*
 * msccl_build.h: makes the schedule of an MSCCL XML file's elements. Used by msccl_xml.c alone.
 */
#ifndef COLLECTIVES_MSCCL_BUILD_H
#define COLLECTIVES_MSCCL_BUILD_H

#include "collectives/msccl/msccl_lists.h"

/* Of sorted lists; `path` outlives the schedule. NULL: faults, or out of memory. */
struct schedule *msccl_build(const struct msccl_lists *lists, const char *path,
                             struct schedule_faults *faults, struct cw_error *error);
/* Of lists that a schedule was made of: a line for each step that MSCCL would hang at or refuse,
 * though its order is clear. */
void msccl_note_waits(const struct msccl_lists *lists, const char *path,
                      struct schedule_faults *notes);
/* A line where the file is too large for every runtime (msccl_limits.h). */
void msccl_note_size(const struct msccl_lists *lists, const struct schedule *schedule,
                     struct schedule_faults *notes);

#endif
