/*
 * sweep_worker.h: a process that runs points of a study one after the other, and answers over a
 * socket. It is forked before its parent has any thread, and knows the study from the fork; a
 * request is the number of a point. If the process ends, for whatever reason, only the points that
 * it has not answered are lost.
 *
 * Only the parent writes requests, and only the process writes answers. A request is written at
 * once. An answer is a header, two texts and the packed rows of a result.
 */
#ifndef BENCH_SWEEP_WORKER_H
#define BENCH_SWEEP_WORKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "bench/study/study.h"
#include "bench/study/study_db.h"

/* Points that a worker may hold unanswered, so that it need not wait for its parent between two
 * short ones. */
enum { SWEEP_AHEAD_MAX = 2 };

struct sweep_worker {
    pid_t process; /* 0: there is none */
    int channel;   /* the parent's end of the socket */
    int notes;     /* a file in memory: the process's standard error during its point */
    uint32_t points[SWEEP_AHEAD_MAX], point_count;
    double begun_s; /* start of points[0] (clock_s()) */
    char *answer;   /* its bytes so far */
    size_t answer_bytes, answer_capacity;
};

/* How points run: the same for all of a sweep. */
struct sweep_setup {
    const struct study *study;
    struct study_db *db;    /* which the process does not use */
    uint32_t threads;       /* of each point, unless the study says; 0: leave it to the point */
    uint64_t machine_bytes; /* of each process, for machines that it keeps */
};

struct sweep_answer {
    uint32_t point;
    struct study_outcome outcome;
    char *message, *result, *rows; /* the outcome's; freed by sweep_answer_free() */
    uint64_t rss_bytes;            /* most resident memory of the process so far */
    bool is_killed; /* SIGKILL or SIGTERM from outside ended its process during the point */
};

/* Forks the process. CW_NO_RESOURCE if there is none to be had. */
int sweep_worker_start(struct sweep_worker *worker, const struct sweep_setup *setup,
                       struct cw_error *error);
/* Gives it a point. False: the process has ended. */
bool sweep_worker_send(struct sweep_worker *worker, uint32_t point);
/* Takes the bytes that have arrived. 1: *answer is filled; 0: no answer is complete; -1: the
 * process has ended or is ending, and sweep_worker_end() is next; SWEEP_NO_MEMORY. */
enum { SWEEP_NO_MEMORY = -2 };
int sweep_worker_receive(struct sweep_worker *worker, struct sweep_answer *answer);
/* Frees the memory of the process's messages except the last ones, if there are many: a plug-in
 * may print endlessly. */
void sweep_worker_forget(const struct sweep_worker *worker);
/*
 * Waits for the process to end, and releases the worker; the caller has copied its points before.
 * *answer says how points[0] has ended, if there was one. `timeout_s` above 0: the process is
 * killed because it took this long. `answer` NULL: it is killed, but is not at fault.
 */
void sweep_worker_end(struct sweep_worker *worker, double timeout_s, struct sweep_answer *answer);
void sweep_answer_free(struct sweep_answer *answer);

#endif
