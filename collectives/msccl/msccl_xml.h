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
 * Used by msccl_file.c alone. One thread at a time.
 */
#ifndef COLLECTIVES_MSCCL_XML_H
#define COLLECTIVES_MSCCL_XML_H

#include "collectives/msccl/msccl_file.h"

/* As msccl_read_text(): *file is zeroed but for `contents`. */
int msccl_xml_read(const char *path, const char *text, size_t bytes, struct msccl_file *file,
                   struct cw_error *error);

#endif
