/*
 * lp_view.c: what handlers note of writes to a PE's HBM slice, and the failure of an event by
 * something that has come to a PE from elsewhere (lp_view.h). Handlers only.
 */
#include "lp/lp_view.h"

#include <stdarg.h>
#include <stdio.h>

void lp_note_written(struct lp_view *view, const struct lp_pe *pe, uint32_t queue, uint32_t batch)
{
    cw_check(view->ctx, queue < view->m->needs.queues);
    const uint32_t *const written = &lp_pe_queue(view->m, pe, queue)->written;
    if (*written < batch)
        *CW_MUT(view->ctx, written) = batch;
}

void lp_fail_at_pe(const struct lp_view *view, uint32_t pe, uint32_t queue, const char *format, ...)
{
    const struct lp_kernel *const kernel =
        lp_kernel_on(view->m, lp_pe(view->m, view->cube, pe), queue);
    const bool runs = kernel->launch != 0;
    char text[512], at[TL_SOURCE_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cw_fail(view->ctx, CW_PROGRAM_FAILED, "PE %u.%u.%u, %s%s%s%s", view->sip, view->cube_in_sip, pe,
            runs ? "kernel " : "whose kernel has ended",
            runs ? lp_launch_of(view->m, kernel->launch)->kernel->name : "", text,
            tl_source_text(kernel->source, at, sizeof at));
}
