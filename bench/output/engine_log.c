/*
 * engine_log.c: writes the rows of --engine-log (engine_log.h). Runs on the thread that drains.
 * The file remembers a failed write.
 */
#include "bench/output/engine_log.h"

#include <inttypes.h>

int engine_log_open(struct atomic_file *file, const char *path, struct cw_error *error)
{
    const int code = atomic_file_open(file, path, error);
    if (code == CW_OK)
        fputs("round,wall_s,gvt_ps,safe_ps,events_committed,events_processed,rolled_back_events,"
              "window_events,history_events,ahead_ps,memory_bytes,idle_share\n",
              file->stream);
    return code;
}

void engine_log_row(struct atomic_file *file, const struct cw_progress *progress)
{
    if (file->stream == NULL)
        return;
    fprintf(file->stream, "%" PRIu64 ",%.6f,%" PRId64 ",", progress->round, progress->run_s,
            progress->gvt_ps);
    if (progress->safe_ps != CW_TIME_MAX)
        fprintf(file->stream, "%" PRId64, progress->safe_ps);
    fprintf(file->stream,
            ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64
            ",%.4f\n",
            progress->events_committed, progress->events_processed, progress->events_rolled_back,
            progress->window_events, progress->history_events, progress->ahead_ps,
            progress->memory_bytes, progress->idle_share);
}
