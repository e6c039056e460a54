/*
 * schedule_faults.c: keeps the first faults as lines, counts the others, and reports all as one
 * error (schedule_faults.h).
 */
#include "collectives/schedule/schedule_faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void schedule_faults_free(struct schedule_faults *faults)
{
    free(faults->text);
    *faults = (struct schedule_faults){0};
}

/* Room for so many more bytes; NULL: there is none. */
static char *faults_room(struct schedule_faults *faults, size_t bytes)
{
    if (faults->bytes + bytes > faults->capacity) {
        const size_t more = 2 * faults->capacity + bytes + 256;
        char *const bigger = realloc(faults->text, more);
        if (bigger == NULL) {
            faults->no_memory = true;
            return NULL;
        }
        faults->text = bigger;
        faults->capacity = more;
    }
    return faults->text + faults->bytes;
}

void schedule_fault(struct schedule_faults *faults, const char *place, const char *format, ...)
{
    char text[700];
    va_list arguments;
    if (faults->count++ >= SCHEDULE_FAULTS_MAX)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t bytes = strlen(place) + strlen(text) + 4;
    char *const at = faults_room(faults, bytes);
    if (at != NULL)
        faults->bytes +=
            (size_t)snprintf(at, bytes, "%s%s: %s", faults->bytes > 0 ? "\n" : "", place, text);
}

int schedule_faults_report(const struct schedule_faults *faults, struct cw_error *error)
{
    if (faults->no_memory)
        return cw_error_memory(error, "the faults of a schedule");
    if (faults->count == 0)
        return CW_OK;
    if (faults->count <= SCHEDULE_FAULTS_MAX)
        return cw_error_set(error, CW_USAGE, "%s", faults->text);
    return cw_error_set(error, CW_USAGE, "%s\n... and %u more", faults->text,
                        faults->count - SCHEDULE_FAULTS_MAX);
}

/* Where the file has the operation of a step, of a schedule with `place`. */
static const struct schedule_file_place *file_place(const struct schedule *schedule, uint32_t rank,
                                                    uint32_t thread, uint32_t step)
{
    const struct schedule_rank *const of = &schedule->rank[rank];
    return &schedule->place[of->step[of->thread[thread].step_first + step].line - 1];
}

const char *schedule_place_step(const struct schedule *schedule, uint32_t rank, uint32_t thread,
                                uint32_t step, char buf[SCHEDULE_PLACE_BYTES])
{
    const bool file = schedule->file != NULL;
    size_t n = (size_t)snprintf(buf, SCHEDULE_PLACE_BYTES, "%s %u", file ? "gpu" : "rank", rank);
    if (thread != UINT32_MAX)
        n += (size_t)snprintf(buf + n, SCHEDULE_PLACE_BYTES - n, ", %s %u", file ? "tb" : "thread",
                              thread);
    if (thread != UINT32_MAX && step != UINT32_MAX && schedule->place != NULL)
        (void)snprintf(buf + n, SCHEDULE_PLACE_BYTES - n, ", op %u",
                       file_place(schedule, rank, thread, step)->number);
    else if (thread != UINT32_MAX && step != UINT32_MAX)
        (void)snprintf(buf + n, SCHEDULE_PLACE_BYTES - n, ", step %u", step);
    return buf;
}

const char *schedule_place(const struct schedule *schedule, uint32_t rank, uint32_t thread,
                           uint32_t step, char buf[SCHEDULE_PLACE_BYTES])
{
    char own[SCHEDULE_PLACE_BYTES];
    uint32_t line = 0;
    if (schedule->file != NULL && rank < schedule->rank_count && thread != UINT32_MAX) {
        const struct schedule_rank *const of = &schedule->rank[rank];
        line = step != UINT32_MAX ? of->step[of->thread[thread].step_first + step].line
                                  : of->thread[thread].line;
    }
    (void)schedule_place_step(schedule, rank, thread, step, own);
    if (schedule->place != NULL && line != 0) {
        const struct schedule_file_place *const at = step != UINT32_MAX
                                                         ? file_place(schedule, rank, thread, step)
                                                         : &schedule->place[line - 1];
        (void)snprintf(buf, SCHEDULE_PLACE_BYTES, "%.256s:%u:%u: %.80s", schedule->file, at->line,
                       at->column, own);
    } else if (schedule->file == NULL)
        (void)snprintf(buf, SCHEDULE_PLACE_BYTES, "%s: %.80s", schedule->name, own);
    else if (line != 0)
        (void)snprintf(buf, SCHEDULE_PLACE_BYTES, "%.256s:%u: %.80s", schedule->file, line, own);
    else
        (void)snprintf(buf, SCHEDULE_PLACE_BYTES, "%.256s: %.80s", schedule->file, own);
    return buf;
}

const char *schedule_step_name(const struct schedule *schedule, const struct schedule_step *step)
{
    return schedule->place != NULL && step->line != 0
               ? schedule->place[step->line - 1].name
               : schedule_op_name((enum schedule_op)step->op);
}

const char *schedule_chunk_name(const struct schedule *schedule, unsigned buffer, uint32_t chunk,
                                char buf[SCHEDULE_CHUNK_BYTES])
{
    const uint32_t split = schedule->split > 0 ? schedule->split : 1;
    const int n = snprintf(buf, SCHEDULE_CHUNK_BYTES, "%c[%u]", schedule_buffer_letter(buffer),
                           chunk / split);
    if (split > 1)
        (void)snprintf(buf + n, SCHEDULE_CHUNK_BYTES - (size_t)n, " (part %u of %u)", chunk % split,
                       split);
    return buf;
}

char schedule_buffer_letter(unsigned buffer)
{
    return buffer < SCHEDULE_BUFFERS ? "ios"[buffer] : '?';
}
