/*
 * msccl_file.c: reads a file and gives it to its reader (msccl_file.h); finds the collective of
 * files that do not say it, and the root of a broadcast or a reduce.
 */
#include "collectives/msccl/msccl_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "collectives/msccl/msccl_xml.h"
#include "collectives/msccl/plan.h"
#include "collectives/schedule/schedule_check.h"
#include "collectives/schedule/schedule_values.h"

enum { FILE_BYTES_MAX = 1 << 30 };

void msccl_file_free(struct msccl_file *file)
{
    schedule_free(file->schedule);
    schedule_faults_free(&file->notes);
}

/* ---- collectives ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum ccl_collective collective;
} collectives[] = {{"allreduce", CCL_ALL_REDUCE},
                   {"allgather", CCL_ALL_GATHER},
                   {"reducescatter", CCL_REDUCE_SCATTER},
                   {"reduce_scatter", CCL_REDUCE_SCATTER},
                   {"alltoall", CCL_ALL_TO_ALL},
                   {"broadcast", CCL_BROADCAST},
                   {"reduce", CCL_REDUCE}};
enum { COLLECTIVES = sizeof collectives / sizeof collectives[0] };

bool msccl_collective_of(const char *name, enum ccl_collective *collective)
{
    for (size_t i = 0; i < COLLECTIVES; i++)
        if (strcmp(collectives[i].name, name) == 0) {
            *collective = collectives[i].collective;
            return true;
        }
    return false;
}

/* The schedule; a broadcast's or a reduce's root is the file's, or else the one of its steps. */
static struct schedule *make_as(const struct msccl_maker *maker, enum ccl_collective collective,
                                struct schedule_faults *faults, struct cw_error *error)
{
    struct schedule *const schedule = maker->make(maker->arg, collective, faults, error);
    if (schedule == NULL || !schedule_has_root(schedule->collective))
        return schedule;
    const uint32_t by_steps =
        maker->root == UINT32_MAX ? schedule_root_by_steps(schedule) : maker->root;
    schedule->root = by_steps != UINT32_MAX ? by_steps : 0; /* 0: the check says what it lacks */
    return schedule;
}

/* Steps that nothing orders touch one chunk, or the steps are not sound. */
static bool has_races(const struct schedule *schedule)
{
    struct schedule_faults hazards = {0};
    struct cw_error ignored;
    const bool sound = schedule_check(schedule, 0, NULL, &hazards, &ignored) == CW_OK;
    const bool races = !sound || hazards.count > 0;
    schedule_faults_free(&hazards);
    return races;
}

/* A custom file may say that it works in place and still send an input while others write to the
 * output: then these are two buffers, with a note. */
static void take_apart(const struct msccl_maker *maker, struct schedule *schedule,
                       struct schedule_faults *notes)
{
    if (!schedule->in_place || !has_races(schedule))
        return;
    schedule->in_place = false;
    const bool apart = !has_races(schedule);
    schedule->in_place = !apart;
    if (apart)
        schedule_fault(notes, maker->path,
                       "inplace=\"1\", and in one buffer its steps would race: input and "
                       "output are taken as two");
}

/* The schedule of a file that does not say its collective: of the collectives, the one that its
 * steps do; else a custom one. NULL: it cannot be, which is reported, or *error. */
static struct schedule *make_custom(const struct msccl_maker *maker, struct schedule_faults *faults,
                                    struct schedule_faults *notes, struct cw_error *error)
{
    for (size_t i = 0; i < COLLECTIVES; i++) {
        struct schedule_faults wrong = {0};
        struct cw_error ignored;
        struct schedule *const schedule = make_as(maker, collectives[i].collective, &wrong, error);
        struct schedule_values *const values =
            schedule != NULL ? schedule_formulas(schedule, &ignored) : NULL;
        faults->no_memory |= wrong.no_memory;
        schedule_faults_free(&wrong);
        schedule_values_free(values);
        if (values != NULL)
            return schedule;
        schedule_free(schedule);
    }
    if (maker->empty)
        schedule_fault(faults, maker->path, "there are no steps; legal is one at least");
    struct schedule *const schedule =
        faults->count == 0 ? make_as(maker, CCL_CUSTOM, faults, error) : NULL;
    if (schedule != NULL)
        take_apart(maker, schedule, notes);
    return schedule;
}

void msccl_make(const struct msccl_maker *maker, struct msccl_file *file,
                struct schedule_faults *faults, struct cw_error *error)
{
    file->schedule = maker->collective == CCL_CUSTOM
                         ? make_custom(maker, faults, &file->notes, error)
                         : make_as(maker, maker->collective, faults, error);
    file->root_by_steps = file->schedule != NULL && maker->root == UINT32_MAX &&
                          schedule_has_root(file->schedule->collective);
}

/* ---- plans ----------------------------------------------------------------------------------- */

struct plan_making {
    struct plan *plan;
    uint64_t tensor_bytes;
};

static struct schedule *make_of_plan(void *arg, enum ccl_collective collective,
                                     struct schedule_faults *faults, struct cw_error *error)
{
    const struct plan_making *const making = arg;
    struct plan *const plan = making->plan;
    struct schedule_faults *const own = plan->faults;
    plan->collective = collective;
    plan->faults = faults;
    struct schedule *const schedule = plan_build(plan, making->tensor_bytes, error);
    plan->faults = own;
    return schedule;
}

static int read_plan(const char *path, const char *text, size_t bytes, uint64_t tensor_bytes,
                     struct msccl_file *file, struct cw_error *error)
{
    struct schedule_faults faults = {0};
    struct plan plan = {.path = path, .faults = &faults, .notes = &file->notes};
    struct plan_making making = {&plan, tensor_bytes};
    plan_read(&plan, text, bytes);
    const struct msccl_maker maker = {.path = path,
                                      .collective = plan.collective,
                                      .root = UINT32_MAX,
                                      .make = make_of_plan,
                                      .arg = &making};
    if (faults.count == 0 && !faults.no_memory)
        msccl_make(&maker, file, &faults, error);
    if (file->schedule != NULL)
        plan_note(&plan);
    file->by_size = plan.pipelines;
    snprintf(file->protocol, sizeof file->protocol, "%s", plan.packets ? "LL" : "Simple");
    const int code = schedule_faults_report(&faults, error);
    config_arena_free(&plan.arena);
    schedule_faults_free(&faults);
    return code != CW_OK ? code : file->schedule == NULL ? error->exit_code : CW_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int read_text(const char *path, const char *text, size_t bytes, uint64_t tensor_bytes,
                     struct msccl_file *file, struct cw_error *error)
{
    size_t at = 0;
    *file = (struct msccl_file){.contents = XXH3_64bits(text, bytes)};
    error->exit_code = CW_OK;
    while (at < bytes && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0')
        at++;
    return at < bytes && strchr("{[", text[at]) != NULL && text[at] != '\0'
               ? read_plan(path, text, bytes, tensor_bytes, file, error)
               : msccl_xml_read(path, text, bytes, file, error);
}

int msccl_read_text(const char *path, const char *text, size_t bytes, struct msccl_file *file,
                    struct cw_error *error)
{
    return read_text(path, text, bytes, 0, file, error);
}

int msccl_read_for(const char *path, uint64_t tensor_bytes, struct msccl_file *file,
                   struct cw_error *error)
{
    FILE *const stream = fopen(path, "rb");
    char *text = NULL;
    size_t bytes = 0, capacity = 0, got;
    *file = (struct msccl_file){0};
    if (stream == NULL)
        return cw_error_set(error, CW_USAGE, "%.300s cannot be read: %s", path, strerror(errno));
    do {
        capacity = 2 * capacity + (1u << 16);
        char *const bigger = capacity <= FILE_BYTES_MAX ? realloc(text, capacity) : NULL;
        if (bigger == NULL)
            break;
        text = bigger;
        bytes += got = fread(text + bytes, 1, capacity - bytes, stream);
    } while (bytes == capacity);
    const bool whole = feof(stream) && !ferror(stream);
    const int cause = errno;
    fclose(stream);
    int code = CW_OK;
    if (!whole)
        code = cw_error_set(error, CW_USAGE,
                            "%.300s cannot be read whole: %s; legal is up to %d "
                            "bytes",
                            path, strerror(cause), FILE_BYTES_MAX);
    else
        code = read_text(path, text, bytes, tensor_bytes, file, error);
    free(text);
    return code;
}

int msccl_read(const char *path, struct msccl_file *file, struct cw_error *error)
{
    return msccl_read_for(path, 0, file, error);
}
