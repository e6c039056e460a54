/*
 * sweep_worker.h: one process that runs points of a study, one after the other, and answers over a
 * socket. The process is forked before its parent has any thread. It knows the study from the fork;
 * a request is the number of a point. If the process ends, however it does, its parent loses the
 * points that it had not answered, and nothing else.
 *
 * The parent alone writes requests, the process alone writes answers. A request is written whole.
 * An answer is a header, two texts and the packed rows of a result.
 */
#ifndef BENCH_SWEEP_WORKER_H
#define BENCH_SWEEP_WORKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "bench/study/study.h"
#include "bench/study/study_db.h"

/* Points that a worker has been given and not answered, at most: it need not wait for its parent
 * between two short ones. */
enum { SWEEP_AHEAD_MAX = 2 };

struct sweep_worker {
    pid_t process; /* 0: there is none */
    int channel;   /* the parent's end of the socket */
    int notes;     /* a file in memory: the process' standard error, of its point alone */
    uint32_t points[SWEEP_AHEAD_MAX], point_count;
    double begun_s; /* since when points[0] runs (clock_s()) */
    char *answer;   /* bytes of it that have come */
    size_t answer_bytes, answer_capacity;
};

/* How the points run: the same for all of a sweep. */
struct sweep_setup {
    const struct study *study;
    struct study_db *db;    /* which the process lets go */
    uint32_t threads;       /* of each point, unless the study says; 0: leave it to the point */
    uint64_t machine_bytes; /* of each process, for machines that it keeps */
};

struct sweep_answer {
    uint32_t point;
    struct study_outcome outcome;
    char *message, *result, *rows; /* the outcome's; freed by sweep_answer_free() */
    uint64_t rss_bytes;            /* most resident memory of the process so far */
    bool is_killed; /* its process got SIGKILL or SIGTERM from outside, within the point */
};

/* Forks the process. CW_NO_RESOURCE if there is none to be had. */
int sweep_worker_start(struct sweep_worker *worker, const struct sweep_setup *setup,
                       struct cw_error *error);
/* Gives it a point. False: the process has ended. */
bool sweep_worker_send(struct sweep_worker *worker, uint32_t point);
/* Takes the bytes that have come. 1: an answer, and *answer is filled; 0: none is whole; -1: the
 * process has ended or is ending, and sweep_worker_end() is next; SWEEP_NO_MEMORY. */
enum { SWEEP_NO_MEMORY = -2 };
int sweep_worker_receive(struct sweep_worker *worker, struct sweep_answer *answer);
/* Gives back the memory of the process' messages but the last of them, where there are many: a
 * plug-in may print without an end. */
void sweep_worker_forget(const struct sweep_worker *worker);
/*
 * Waits for the end of the process, and releases the worker: its points are the caller's again,
 * copied before. *answer tells how points[0] has ended, if there was one. `timeout_s` above 0: the
 * process is killed because it ran so long. `answer` NULL: it is killed for no fault of its own.
 */
void sweep_worker_end(struct sweep_worker *worker, double timeout_s, struct sweep_answer *answer);
void sweep_answer_free(struct sweep_answer *answer);

#endif
