/*
 * bench_algorithm.h: the algorithm that a bench program runs: whether it fits the program, and
 * its name.
 */
#ifndef BENCH_ALGORITHM_H
#define BENCH_ALGORITHM_H

#include <stdio.h>

#include "bench/programs/bench_program.h"

/* Refuses an algorithm that an option names and that does another collective than `does`, which
 * the bench or command `name` needs. */
int bench_algorithm_fits(const struct config *config, enum ccl_collective does, const char *name,
                         struct cw_error *error);
/* The same of a session's program. */
int bench_algorithm_check(const struct bench_session *session, struct cw_error *error);
/* The name of the program's algorithm: the configured one, or the one that carries out the
 * collective in its place. "" for a program without, and where sizes differ in it. */
void bench_algorithm_name(const struct bench_session *session, char *buf, size_t size);
/* The program's algorithm is a schedule, which a machine is made for: then sizes have machines of
 * their own. */
bool bench_is_scheduled(const struct bench_session *session);
/* Sizes of a run that is a schedule have machines of their own, unless a file goes through all of
 * them. */
bool bench_sizes_apart(const struct run_options *options);
/* Sets the call that a run's schedule is made for, if the algorithm is a schedule: this many bytes,
 * and whether no call is larger. */
void bench_expect_call(const struct run_options *options, const struct ccl_call *call,
                       struct ccl_config *ccl);
/* Where an automatic choice takes the placement, too: chooses it for each size; all sizes of one
 * machine have the first one's. */
int bench_place(struct bench_session *session, struct cw_error *error);
/* The same for a size of this many elements of all shards of a rank. */
int bench_place_size(const struct run_options *options, const struct config *config,
                     enum ccl_collective collective, uint64_t n_elem,
                     struct dist_placement *placement, struct cw_error *error);
/* The configuration of the current size: a schedule expects the i-th one, on its placement. */
void bench_expect(struct bench_session *session, size_t i);
/* Fills in which schedule was chosen, and how often the tensor was moved. */
void bench_note_algorithm(const struct bench_session *session, struct result_row *row);
/* The root of a bench's broadcast or reduce: the one that its file's steps give, else rank 0. */
uint32_t bench_root(const struct config *config, enum ccl_collective collective);
/* What an automatic choice took for a size. */
struct bench_choice {
    char algorithm[64];
    const char *placement; /* a mapper's name; NULL: none was chosen */
    uint64_t bytes;        /* of a shard, or of a rank */
    char left_out[256];    /* which algorithms were not candidates, and why; "": all were */
};
/* Keeps that of a reason (struct chosen). */
void bench_keep_left_out(struct bench_choice *choice, const char *why);
/* Elements of a shard in the i-th size that the options ask for; of sizes that are rounded, a
 * multiple of the ranks where the collective divides shards among them, or of a custom file's
 * chunks, unless nothing were left. */
uint64_t bench_whole_size(const struct run_options *options, const struct config *config,
                          enum ccl_collective collective, size_t i, uint32_t shards);
/* Ends a line with them, neighbouring sizes with the same choice together. */
void bench_print_choices(FILE *file, const struct bench_choice *choices, size_t count,
                         bool by_rank);
/* Says on standard error, in a line, what an automatic choice took for the sizes of a run, and
 * which algorithms were left out. */
void bench_say_choices(const struct bench_session *session);
/* The module whose order of additions a verification follows (struct expect_request). */
const char *bench_order(const struct bench_session *session, const struct ccl_algorithm *ran);

#endif
