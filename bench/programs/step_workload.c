/*
 * step_workload.c: tells traces from workload files (step_workload.h): traces are known by their
 * content, and all else is a workload file.
 */
#include "bench/programs/step_workload.h"

#include "workload/traces/trace.h"

/* The first option that is for traces alone; NULL: none is given. */
static const char *given(const struct workload_trace_options *trace)
{
    return trace->groups != NULL                 ? "groups"
           : trace->ranks > 0                    ? "trace-ranks"
           : trace->first_dimension > 0          ? "first-dimension"
           : trace->compute != TRACE_AS_RECORDED ? "compute"
           : trace->unit != TRACE_UNIT_AUTO      ? "time-unit"
                                                 : NULL;
}

int workload_or_trace_read(const struct workload_file_request *request,
                           const struct workload_trace_options *trace, uint32_t ranks,
                           struct workload_graph *graph, struct cw_error *error)
{
    *graph = (struct workload_graph){0};
    if (request->text == NULL && workload_is_trace(request->path)) {
        struct workload_trace_options options = *trace;
        if (request->setting_count > 0)
            return cw_error_set(error, CW_USAGE,
                                "--set %s: keys are of workload files, and %s is a trace",
                                request->settings[0], request->path);
        if (options.ranks == 0)
            options.ranks = ranks;
        const int code = workload_trace_read(request->path, &options, graph, error);
        if (code != CW_OK)
            workload_graph_free(graph);
        return code;
    }
    if (given(trace) != NULL)
        return cw_error_set(error, CW_USAGE, "--%s is for traces, and %s is none", given(trace),
                            request->path);
    return workload_file_read(request, graph, error);
}
