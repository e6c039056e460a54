/*
 * stats.h: the figures that the host is told of a run: while it lasts (cw_tuning.progress and
 * each_round), and after a drain (cw_sim_stats() in cw.h).
 *
 * Each figure is written by the worker that owns it, in its own cache lines. Others read it in that
 * worker's report (gvt_slot.h), or after the drain.
 *
 * I-STAT-1: a report is written before its worker's second cut is published, and worker 0 reads it
 * before it enters the next first cut (I-GVT-2).
 */
#ifndef CORE_STATS_H
#define CORE_STATS_H

#include "core/cw.h"

struct stats_report;
struct timewarp;

/* Fills this worker's report with its figures of this moment. */
void stats_report(const struct timewarp *tw, struct stats_report *report);
/* Worker 0, likewise: the events that all workers have committed. */
uint64_t stats_committed(const struct cw_sim *sim);
/* Worker 0, after a round that does not end the run: tells the host the sum of all reports. */
void stats_tell_round(struct timewarp *tw);
/* Sequential mode, now and then: tells the host how far the run is. */
void stats_tell_sequential(struct cw_sim *sim);
/* The host's thread, after a drain: tells the last row of its rounds. */
void stats_tell_drained(struct cw_sim *sim);

#endif
