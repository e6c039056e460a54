/*
 * msccl_limits.c: compares the figures of a file with what each runtime has room for
 * (msccl_limits.h).
 */
#include "collectives/msccl/msccl_limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    ELEMENTS_MAX = 4096, /* the algo, all gpus, and the gpu's thread blocks and steps */
    AWAITED_TB_MAX = 127 /* its number is a signed byte */
};

static const struct runtime {
    const char *name;
    uint32_t steps, tbs; /* of a thread block; of a gpu */
    bool is_first;       /* microsoft/msccl, which has names of its own for collectives */
} runtimes[MSCCL_RUNTIMES] = {{"microsoft/msccl", 256, 216, true},
                              {"RCCL", 64, 64, false},
                              {"msccl-executor-nccl", 64, 1024, false}};

void msccl_note_most(struct msccl_most *most, uint32_t count, uint32_t gpu, uint32_t tb)
{
    if (count > most->count)
        *most = (struct msccl_most){count, gpu, tb};
}

/* The collective's own name in the file is none of the runtime's. */
static bool has_no_name(const struct runtime *runtime, enum ccl_collective collective)
{
    return runtime->is_first ? collective == CCL_REDUCE_SCATTER : collective == CCL_CUSTOM;
}

__attribute__((format(printf, 2, 3))) static void set_why(char why[160], const char *format, ...)
{
    va_list arguments;
    if (why[0] != '\0')
        return;
    va_start(arguments, format);
    (void)vsnprintf(why, 160, format, arguments);
    va_end(arguments);
}

static void fit_one(const struct runtime *runtime, const struct schedule *s,
                    const struct msccl_figures *f, char why[160])
{
    why[0] = '\0';
    if (s->collective == CCL_REDUCE_SCATTER && has_no_name(runtime, s->collective))
        set_why(why, "coll must be \"reduce_scatter\" there");
    else if (has_no_name(runtime, s->collective))
        set_why(why, "there is no coll=\"custom\" there");
    if (f->steps.count > runtime->steps)
        set_why(why, "gpu %u, tb %u has %u steps, of at most %u", f->steps.gpu, f->steps.tb,
                f->steps.count, runtime->steps);
    if (f->tbs.count > runtime->tbs)
        set_why(why, "gpu %u has %u thread blocks, of at most %u", f->tbs.gpu, f->tbs.count,
                runtime->tbs);
    if (f->sends.count > MSCCL_PEERS_MAX)
        set_why(why, "gpu %u sends to %u on one channel, of at most %d", f->sends.gpu,
                f->sends.count, MSCCL_PEERS_MAX);
    if (f->recvs.count > MSCCL_PEERS_MAX)
        set_why(why, "gpu %u receives from %u on one channel, of at most %d", f->recvs.gpu,
                f->recvs.count, MSCCL_PEERS_MAX);
    if (f->channels > MSCCL_CHANNELS_MAX)
        set_why(why, "there are %u channels, of at most %d", f->channels, MSCCL_CHANNELS_MAX);
    if (f->chunks.count > MSCCL_COUNT_MAX)
        set_why(why, "gpu %u, tb %u has a step of %u chunks, of at most %d", f->chunks.gpu,
                f->chunks.tb, f->chunks.count, MSCCL_COUNT_MAX);
    if (f->elements.count > ELEMENTS_MAX)
        set_why(why, "gpu %u has %u elements, of at most %d", f->elements.gpu, f->elements.count,
                ELEMENTS_MAX);
    if (f->awaited_tb.count > AWAITED_TB_MAX)
        set_why(why, "gpu %u has waits for tb %u, of at most %d", f->awaited_tb.gpu,
                f->awaited_tb.count, AWAITED_TB_MAX);
    if (f->awaited_nop.count > 0)
        set_why(why, "gpu %u, tb %u has a nop that others wait for", f->awaited_nop.gpu,
                f->awaited_nop.tb);
}

void msccl_fit(const struct schedule *schedule, const struct msccl_figures *figures,
               struct msccl_fit *fit)
{
    for (unsigned i = 0; i < MSCCL_RUNTIMES; i++)
        fit_one(&runtimes[i], schedule, figures, fit->why[i]);
}

uint32_t msccl_fit_count(const struct msccl_fit *fit)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < MSCCL_RUNTIMES; i++)
        count += fit->why[i][0] == '\0';
    return count;
}

uint32_t msccl_fit_count_most(const struct schedule *schedule)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < MSCCL_RUNTIMES; i++)
        count += !has_no_name(&runtimes[i], schedule->collective);
    return count;
}

const char *msccl_fit_text(const struct msccl_fit *fit, char *buf, size_t size)
{
    const uint32_t count = msccl_fit_count(fit);
    uint32_t listed = 0;
    size_t n = 0;
    buf[0] = '\0';
    for (unsigned i = 0; i < MSCCL_RUNTIMES && n < size; i++)
        if (fit->why[i][0] == '\0') {
            const char *const between = listed == 0 ? "for " : listed + 1 == count ? " and " : ", ";
            n += (size_t)snprintf(buf + n, size - n, "%s%s", between, runtimes[i].name);
            listed++;
        }
    for (unsigned i = 0; i < MSCCL_RUNTIMES && n < size; i++) {
        const bool takes = fit->why[i][0] == '\0';
        const bool is_next = i > 0 && strcmp(fit->why[i], fit->why[i - 1]) == 0;
        const bool is_last = i + 1 == MSCCL_RUNTIMES || strcmp(fit->why[i], fit->why[i + 1]) != 0;
        if (!takes && n < size)
            n += (size_t)snprintf(buf + n, size - n, "%s%s",
                                  is_next        ? " and "
                                  : listed++ > 0 ? "; not for "
                                                 : "not for ",
                                  runtimes[i].name);
        if (!takes && is_last && n < size)
            n += (size_t)snprintf(buf + n, size - n, ", since %s", fit->why[i]);
    }
    return buf;
}
