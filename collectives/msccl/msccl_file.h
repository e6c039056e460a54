/*
 * msccl_file.h: files with schedules: MSCCL XML (msccl_xml.h) and MSCCL++ execution plans (plan.h),
 * told apart by their contents: a plan begins with a brace or a bracket. Either becomes a schedule,
 * which is not checked (schedule_check.h). One thread at a time.
 */
#ifndef COLLECTIVES_MSCCL_FILE_H
#define COLLECTIVES_MSCCL_FILE_H

#include "collectives/schedule/schedule_faults.h"

struct msccl_file {
    struct schedule *schedule;
    uint64_t contents;  /* XXH3-64 of the file */
    char protocol[16];  /* "Simple", "LL", "LL128"; else "" */
    bool root_by_steps; /* of a broadcast or a reduce: no attribute names it */
    bool by_size;       /* its steps depend on the size of the tensors (msccl_read_for()) */
    struct schedule_faults notes; /* what MSCCL or MSCCL++ would hang at or refuse, hazards there */
};
/* Its schedule, unless it has been taken (NULL), and its notes. */
void msccl_file_free(struct msccl_file *file);

/* Reads the file at `path`, which outlives the schedule. On failure *error has a line for each of
 * its faults: file:line:column, the fault, and the legal values. */
int msccl_read(const char *path, struct msccl_file *file, struct cw_error *error);
/* The same for calls of which the larger of input and output has so many bytes; 0: not known. */
int msccl_read_for(const char *path, uint64_t tensor_bytes, struct msccl_file *file,
                   struct cw_error *error);
/* The same of a text; `path` is for messages. */
int msccl_read_text(const char *path, const char *text, size_t bytes, struct msccl_file *file,
                    struct cw_error *error);

/* ---- for the readers ------------------------------------------------------------------------- */

/* The collective of this name in files. False: there is none. */
bool msccl_collective_of(const char *name, enum ccl_collective *collective);

/* Makes the schedule of a file as one of a collective. */
struct msccl_maker {
    const char *path;
    enum ccl_collective collective; /* CCL_CUSTOM: the file does not say it */
    uint32_t root;                  /* UINT32_MAX: the steps say it */
    bool empty;                     /* there are no steps */
    struct schedule *(*make)(void *arg, enum ccl_collective collective,
                             struct schedule_faults *faults, struct cw_error *error);
    void *arg;
};
/* Fills file->schedule and root_by_steps, and adds notes. NULL: faults, or *error. */
void msccl_make(const struct msccl_maker *maker, struct msccl_file *file,
                struct schedule_faults *faults, struct cw_error *error);

#endif
