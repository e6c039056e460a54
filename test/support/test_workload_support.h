/*
 * test_workload_support.h: workload files in tests: as texts, with the graph that they make or the
 * mistakes that they have.
 */
#ifndef TEST_WORKLOAD_SUPPORT_H
#define TEST_WORKLOAD_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "workload/file/workload_file.h"

static inline int read_workload(const char *text, const char *setting, struct workload_graph *graph,
                                struct cw_error *error)
{
    const struct workload_file_request request = {.path = "w.yaml",
                                                  .text = text,
                                                  .bytes = strlen(text),
                                                  .settings = &setting,
                                                  .setting_count = setting != NULL,
                                                  .sip_w = 4,
                                                  .sip_h = 4};
    *error = (struct cw_error){.exit_code = CW_OK};
    return workload_file_read(&request, graph, error);
}

static inline struct workload_graph good_workload_with(const char *text, const char *setting)
{
    struct workload_graph graph;
    struct cw_error error;
    if (read_workload(text, setting, &graph, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    return graph;
}

static inline struct workload_graph good_workload(const char *text)
{
    return good_workload_with(text, NULL);
}

/* Each expected line begins a line of the message, in order, and there are no more. */
static inline void bad_workload(const char *text, const char *setting, const char *const *expected,
                                size_t count)
{
    struct workload_graph graph;
    struct cw_error error;
    assert_int_equal(read_workload(text, setting, &graph, &error), CW_USAGE);
    assert_null(graph.programs);
    const char *line = cw_error_text(&error);
    for (size_t i = 0; i < count; i++) {
        if (line == NULL || strncmp(line, expected[i], strlen(expected[i])) != 0)
            fail_msg("\n%s\ninstead of\n%s", line != NULL ? line : "nothing", expected[i]);
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    if (line != NULL)
        fail_msg("one more: %s", line);
}

#endif
