/*
 * schedule_faults.h: the faults of a schedule, a line each: all of them are reported at once. The
 * first ones are kept, the others are counted. Used by the reader (msccl_xml.h) and the check
 * (schedule_check.h). One thread at a time.
 */
#ifndef COLLECTIVES_SCHEDULE_FAULTS_H
#define COLLECTIVES_SCHEDULE_FAULTS_H

#include "collectives/schedule/schedule.h"

enum { SCHEDULE_FAULTS_MAX = 40 };

/* Zero-initialised by its owner, released with schedule_faults_free(). */
struct schedule_faults {
    char *text; /* lines, with newlines between them; NULL: none */
    size_t bytes, capacity;
    uint32_t count;
    bool no_memory;
};
void schedule_faults_free(struct schedule_faults *faults);

/* Adds a line: the place, and the text after a colon. */
void schedule_fault(struct schedule_faults *faults, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* CW_OK: there are none. Otherwise *error has all lines: CW_USAGE, or CW_NO_RESOURCE. */
int schedule_faults_report(const struct schedule_faults *faults, struct cw_error *error);

enum { SCHEDULE_PLACE_BYTES = 400 };
/*
 * A step in the terms of its origin: "ring.xml:12: gpu 3, tb 2, step 5" of a file, and "ring: rank
 * 3, thread 2, step 5" of an algorithm. thread, step UINT32_MAX: the rank, or the thread, as such.
 * _step: without the file. Return buf.
 */
const char *schedule_place(const struct schedule *schedule, uint32_t rank, uint32_t thread,
                           uint32_t step, char buf[SCHEDULE_PLACE_BYTES]);
const char *schedule_place_step(const struct schedule *schedule, uint32_t rank, uint32_t thread,
                                uint32_t step, char buf[SCHEDULE_PLACE_BYTES]);
/* The name of a step's operation, as its file has it: "rrcs". */
const char *schedule_step_name(const struct schedule *schedule, const struct schedule_step *step);
/* "s[3]"; of a file whose chunks are cut, "s[3] (part 0 of 4)". Returns buf. */
enum { SCHEDULE_CHUNK_BYTES = 64 };
const char *schedule_chunk_name(const struct schedule *schedule, unsigned buffer, uint32_t chunk,
                                char buf[SCHEDULE_CHUNK_BYTES]);
/* The letter of a buffer in files: i, o, s. */
char schedule_buffer_letter(unsigned buffer);

#endif
