/*
 * progress.h: the figures of a run that the host gets while it lasts (cw_tuning.progress and
 * each_round).
 *
 * Each figure is written by the worker that owns it, in its own cache lines. Others read it in that
 * worker's report (gvt_slot.h).
 *
 * I-STAT-1: a report is written before its worker's second cut is published, and worker 0 reads it
 * before it enters the next first cut (I-GVT-2).
 */
#ifndef CORE_PROGRESS_H
#define CORE_PROGRESS_H

#include "core/cw.h"

struct timewarp;

/* Worker 0, after a round: the events that all workers have committed, by their reports. */
uint64_t progress_committed(const struct cw_sim *sim);
/* Worker 0, after a round that does not end the run: passes the sum of all reports to the host. */
void progress_report_round(struct timewarp *tw);
/* Sequential mode, now and then: likewise. */
void progress_report_sequential(struct cw_sim *sim);
/* The host's thread, after a drain: the last row of its rounds. */
void progress_report_drained(struct cw_sim *sim);

#endif
