/*
 * tl_check.c: checks a kernel before its launch. Pure. A file of its own, because tests replace
 * tl_start.c and tl_queries.c with a mock.
 */
#include "lp/kernel/tl_check.h"

int tl_kernel_check(const struct tl_kernel *kernel, struct cw_error *error)
{
    if (kernel->name == NULL)
        return cw_error_set(error, CW_USAGE, "a kernel has no name");
    if (kernel->run == NULL)
        return cw_error_set(error, CW_USAGE,
                            "kernel %.64s has no function to run: its `run` is NULL", kernel->name);
    if (kernel->frame_bytes < sizeof(uint16_t) || kernel->frame_bytes > TL_FRAME_BYTES)
        return cw_error_set(error, CW_USAGE,
                            "kernel %.64s has a frame of %u bytes; legal: %zu (its line) to %u "
                            "(TL_FRAME_BYTES)",
                            kernel->name, kernel->frame_bytes, sizeof(uint16_t), TL_FRAME_BYTES);
    if (kernel->phase_count > 0 && kernel->phase == NULL)
        return cw_error_set(error, CW_USAGE,
                            "kernel %.64s has %u phases, and no names of them: its `phase` is NULL",
                            kernel->name, kernel->phase_count);
    if (kernel->stream_count >= TL_CONTEXTS_MAX)
        return cw_error_set(error, CW_USAGE, "kernel %.64s has %u streams; legal: 0 to %d",
                            kernel->name, kernel->stream_count, TL_CONTEXTS_MAX - 1);
    for (uint32_t i = 0; i < kernel->stream_count; i++)
        if (kernel->stream == NULL || kernel->stream[i] == NULL)
            return cw_error_set(error, CW_USAGE,
                                "kernel %.64s has %u streams, and no function of stream %u",
                                kernel->name, kernel->stream_count, i);
    return CW_OK;
}
