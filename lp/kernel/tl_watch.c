/*
 * tl_watch.c: the failures of kernels that break the rules of tl.h, and the search for kernels that
 * repeat themselves (tl_watch.h).
 *
 * A kernel that repeats itself forever: a kernel is a function of its frame, of its arguments, and
 * of the tiles that it has received (their directions and numbers); no query returns anything else
 * that changes. So a kernel that comes to an operation with the frame that it had at an earlier
 * one, and has received nothing in between, will come there again and again. Its frame is compared
 * with one that is kept, as a digest of 64 bits. After each power of two of calls the digest of
 * that moment is kept instead, so that a period of any length is found (Brent, 1980). Correct
 * kernels seldom make this many calls without a receive; those that do pay one comparison per call.
 */
#include "lp/kernel/tl_watch.h"

#include <string.h>

void tl_fail_at_fault(void *arg, const char *fault)
{
    const struct tl *const tl = arg;
    tl_fail(tl, "", ": %s, between the line named here and the kernel's next call", fault);
}

void tl_check_operations(struct tl *tl, enum tl_status status, uint32_t made)
{
    const char *const name = tl_call_name[tl->kernel->call.kind];
    if (status == TL_WAITING && made == 0)
        tl_fail(tl, "",
                ": it returns TL_WAITING without an operation; a kernel waits by TL_CALL alone");
    if (status == TL_WAITING && made > 1)
        tl_fail(tl, "",
                ": %u operations before it waits, the last of them %s; each operation is one "
                "TL_CALL",
                made, name);
    if (status == TL_ENDED && made > 0)
        tl_fail(tl, "", ": it ends after an operation, %s, that is in no TL_CALL", name);
}

static uint64_t frame_digest(const struct tl *tl)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < TL_FRAME_BYTES; i += sizeof digest) {
        uint64_t word;
        memcpy(&word, tl->kernel->frame + i, sizeof word);
        digest = (digest ^ word) * 0x9E3779B97F4A7C15u;
        digest ^= digest >> 29;
        digest = digest * 0xBF58476D1CE4E5B9u;
        digest ^= digest >> 32;
    }
    return digest;
}

void tl_check_repetition(struct tl *tl)
{
    struct lp_kernel *const kernel = tl->kernel;
    const uint32_t calls = kernel->calls - kernel->calls_received;
    const uint64_t digest = frame_digest(tl);
    if ((calls & (calls - 1)) == 0)
        kernel->kept_digest = digest;
    else if (kernel->kept_digest == digest)
        tl_fail(tl, "",
                ": %s, forever: after %u calls without a receive the frame is one that it had "
                "before; a variable that changes is a member of the frame",
                tl_call_name[kernel->call.kind], calls);
}

void tl_rest(struct tl *tl)
{
    const struct cw_event *const event = tl->view->ctx->event;
    const int64_t delay_ps = tl->local_ps - event->time_ps;
    if (delay_ps == 0 && event->depth >= TL_DEPTH_MAX)
        tl_fail(tl, "", ": it continues without simulated time passing, by %u calls and more",
                TL_DEPTH_MAX * TL_ENTRIES_PER_EVENT);
    const struct lp_signal signal = {.pe = tl->pe, .context = (uint8_t)tl->context};
    const struct lp_sender sender = lp_next_sender(tl->view, tl->pe);
    if (lp_traces_causes(tl->view->m))
        lp_cause_kernel_sent(tl->view->ctx, tl->context, sender, tl->local_ps);
    lp_send_signal(tl->view->ctx, tl->view->lp, delay_ps, LP_EVENT_KERNEL, sender, &signal);
}
