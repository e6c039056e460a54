/*
 * msccl_xml.h: reads MSCCL XML files, the format in which synthesised collectives are exchanged,
 * into schedules. A rank is a gpu, a thread is a thread block (tb).
 *
 *     <algo name="ring" proto="Simple" nchannels="1" nchunksperloop="4" ngpus="4" coll="allreduce"
 *           inplace="1" outofplace="0" minBytes="0" maxBytes="0">
 *       <gpu id="0" i_chunks="4" o_chunks="4" s_chunks="0">
 *         <tb id="0" send="1" recv="3" chan="0">
 *           <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1"
 *                 deps="-1" hasdep="0"/>
 *
 * Gpus, thread blocks and steps may come in any order: their numbers count. A step may be an <op
 * step= buf= off=> as well, which names one place for both source and destination. <copy> stands
 * for steps that copy from i to o before all others; a thread after the last one carries them out.
 * The attributes that say nothing about the schedule are passed over. A file with a document type,
 * and so with entities, is refused.
 *
 * The schedule is not checked (schedule_check.h). One thread at a time.
 */
#ifndef COLLECTIVES_MSCCL_XML_H
#define COLLECTIVES_MSCCL_XML_H

#include "collectives/schedule/schedule_faults.h"

struct msccl_file {
    struct schedule *schedule;
    uint64_t contents;            /* XXH3-64 of the file */
    char protocol[16];            /* "Simple", "LL", "LL128"; else "" */
    bool root_by_steps;           /* of a broadcast or a reduce: no attribute names it */
    struct schedule_faults notes; /* what MSCCL would hang at or refuse */
};
/* Its schedule, unless it has been taken (NULL), and its notes. */
void msccl_file_free(struct msccl_file *file);

/* Reads the file at `path`, which outlives the schedule. On failure *error has a line for each of
 * its faults: file:line:column, the fault, and the legal values. */
int msccl_read(const char *path, struct msccl_file *file, struct cw_error *error);
/* The same of a text; `path` is for messages. */
int msccl_read_text(const char *path, const char *text, size_t bytes, struct msccl_file *file,
                    struct cw_error *error);

#endif
