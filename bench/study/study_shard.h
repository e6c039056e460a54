/*
 * study_shard.h: which part of a study a sweep runs: as given on the command line, or by the job
 * array that this process is a task of.
 */
#ifndef BENCH_STUDY_SHARD_H
#define BENCH_STUDY_SHARD_H

#include "bench/study/study_db.h"
#include "core/cw.h"

enum { STUDY_SHARDS_MAX = 100000 };

/*
 * "I/N"; "array": task and tasks by the variables of Slurm, LSF or Grid Engine; "array/N": the task
 * by these or PBS' variable, of N tasks that are numbered from 1. NULL: the whole study. CW_USAGE
 * if the text is none of these, or no array has such a task.
 */
int study_shard_read(const char *text, struct study_shard *shard, struct cw_error *error);

/* Whether a point belongs to a part. */
bool study_shard_has(struct study_shard shard, uint32_t point);

#endif
