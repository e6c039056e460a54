/*
 * tl_compute.h: the types of places in TCM. A kernel remembers the two latest runs of places that
 * casts have written. A cast that continues where a cast of the same type has ended lengthens its
 * run. Any other write of the kernel there gives the bytes the launch's type again.
 */
#ifndef LP_TL_COMPUTE_H
#define LP_TL_COMPUTE_H

#include "lp/kernel/tl_call.h"

void tl_note_write(struct tl *tl, uint32_t at, uint64_t bytes); /* not by a cast */
void tl_note_cast(struct tl *tl, uint32_t at, uint64_t bytes, enum lp_dtype dtype);
/* Of bytes that one run of casts has written; 0: the launch's. */
enum lp_dtype tl_type_in_tcm(const struct tl *tl, uint32_t at, uint64_t bytes);

#endif
