/*
 * timeline_links.h: tracks of links in a timeline (--trace-links): a slice for each stretch in
 * which a link passes bytes of a call. The links between a PE and its router are PE_DMA's,
 * whose engine is busy for as long as they are. Links of cubes and IO dies are in their SIP's
 * process, links of switches in processes of their own. Where slices of a link overlap, it has as
 * many tracks as pass at once. Under fabric.contention: none no link is in use. One thread.
 */
#ifndef BENCH_TIMELINE_LINKS_H
#define BENCH_TIMELINE_LINKS_H

#include <stdio.h>

#include "bench/trace/timeline_filter.h"
#include "lp/model.h"

struct timeline_links;

/* The model outlives all slices. NULL: no memory. */
struct timeline_links *timeline_links_create(const struct lp_model *model);
void timeline_links_free(struct timeline_links *links); /* accepts NULL */
/* Writes the slice, as far as the filter wants it, and before it the name of a track that is new.
 * False: no memory. */
bool timeline_links_crossed(struct timeline_links *links, FILE *out,
                            const struct timeline_filter *filter, const struct lp_crossed *crossed);

#endif
