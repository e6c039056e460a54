/*
 * tl_check.c: what a kernel says of itself, looked at before it runs (tl.h): a frame that is larger
 * than its place in the LP's state would overwrite what follows. Pure; on the host only.
 */
#include "lp/kernel/tl.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 2, 3))) static int tl_check_refuse(struct cw_error *error,
                                                                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return error->exit_code = CW_USAGE;
}

int tl_kernel_check(const struct tl_kernel *kernel, struct cw_error *error)
{
    if (kernel->name == NULL)
        return tl_check_refuse(error, "a kernel has no name");
    if (kernel->run == NULL)
        return tl_check_refuse(error, "kernel %.64s has no function to run: its `run` is NULL",
                               kernel->name);
    if (kernel->frame_bytes < sizeof(uint16_t) || kernel->frame_bytes > TL_FRAME_BYTES)
        return tl_check_refuse(error,
                               "kernel %.64s has a frame of %u bytes; legal: %zu (its line) to %u "
                               "(TL_FRAME_BYTES)",
                               kernel->name, kernel->frame_bytes, sizeof(uint16_t), TL_FRAME_BYTES);
    if (kernel->phase_count > 0 && kernel->phase == NULL)
        return tl_check_refuse(
            error, "kernel %.64s has %u phases, and no names of them: its `phase` is NULL",
            kernel->name, kernel->phase_count);
    if (kernel->stream_count >= TL_CONTEXTS_MAX)
        return tl_check_refuse(error, "kernel %.64s has %u streams; legal: 0 to %d", kernel->name,
                               kernel->stream_count, TL_CONTEXTS_MAX - 1);
    for (uint32_t i = 0; i < kernel->stream_count; i++)
        if (kernel->stream == NULL || kernel->stream[i] == NULL)
            return tl_check_refuse(error,
                                   "kernel %.64s has %u streams, and no function of stream %u",
                                   kernel->name, kernel->stream_count, i);
    return CW_OK;
}
