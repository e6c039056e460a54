/*
 * tl_check.h: the check of a kernel before it is launched: a frame that is larger than its place in
 * the LP's state would overwrite the members after it. Host side.
 */
#ifndef LP_TL_CHECK_H
#define LP_TL_CHECK_H

#include "lp/kernel/tl.h"

/* Whether the kernel has a name and functions to run, and its frame and streams keep to the limits.
 * CW_OK, or CW_USAGE with *error filled. Every launched kernel has passed it. */
int tl_kernel_check(const struct tl_kernel *kernel, struct cw_error *error);

#endif
