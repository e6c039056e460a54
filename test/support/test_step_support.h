/*
 * test_step_support.h: graphs of steps that the tests of workload/ share: pipelines whose times
 * have closed forms.
 */
#ifndef TEST_STEP_SUPPORT_H
#define TEST_STEP_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/graph/graph.h"
#include "workload/run/step.h"

static inline void make_ranks(struct workload_graph *graph, uint32_t ranks)
{
    graph->name = strdup("test");
    graph->file = strdup("test.yaml");
    graph->rank_count = ranks;
    graph->program_of = calloc(ranks, sizeof *graph->program_of);
    assert_non_null(graph->program_of);
}

/* One group of all ranks. */
static inline uint32_t add_world(struct workload_graph *graph, const char *name)
{
    uint32_t ranks[64];
    const uint32_t first[] = {0, graph->rank_count};
    for (uint32_t r = 0; r < graph->rank_count; r++)
        ranks[r] = r;
    return workload_add_set(graph, name, 1, first, ranks);
}

/* An operation after `dep`, unless that is WORKLOAD_NONE. */
static inline uint32_t add_after(struct workload_graph *graph, uint32_t program, const char *stream,
                                 const char *label, struct workload_op op, uint32_t dep)
{
    op.stream = (uint16_t)workload_add_stream(graph, stream);
    op.label = workload_add_label(graph, label);
    op.layer = -1;
    op.kernels = 1;
    op.id = graph->programs[program].op_count + 1;
    const uint32_t index = workload_add_op(graph, program, &op);
    if (dep != WORKLOAD_NONE)
        assert_true(workload_add_dep(graph, program, dep));
    return index;
}

static inline struct workload_op takes_ps(uint64_t time_ps, uint8_t purpose)
{
    return (struct workload_op){
        .kind = WORKLOAD_TIME, .purpose = purpose, .time_ps = time_ps, .microbatch = -1};
}

static inline struct workload_op message(uint8_t kind, uint32_t set, uint32_t peer, uint32_t tag)
{
    return (struct workload_op){.kind = kind,
                                .set = set,
                                .peer = peer,
                                .tag = tag,
                                .bytes = 4096,
                                .dtype = DTYPE_BF16,
                                .microbatch = (int32_t)tag};
}

/* The forward or backward pass of a microbatch on a stage: received, computed, sent on. */
static inline void add_pass(struct workload_graph *graph, uint32_t stage, uint32_t stages,
                            bool forward, uint32_t microbatch, uint64_t time_ps)
{
    const bool first = forward ? stage == 0 : stage == stages - 1;
    const bool last = forward ? stage == stages - 1 : stage == 0;
    uint32_t got = WORKLOAD_NONE;
    if (!first)
        got = add_after(graph, stage, forward ? "receive forward" : "receive backward",
                        forward ? "receive activations" : "receive gradients",
                        message(WORKLOAD_RECV, 0, forward ? stage - 1 : stage + 1, microbatch),
                        WORKLOAD_NONE);
    struct workload_op op = takes_ps(time_ps, forward ? WORKLOAD_FORWARD : WORKLOAD_BACKWARD);
    op.microbatch = (int32_t)microbatch;
    const uint32_t done =
        add_after(graph, stage, "compute", forward ? "forward" : "backward", op, got);
    if (!last)
        (void)add_after(graph, stage, forward ? "send forward" : "send backward",
                        forward ? "send activations" : "send gradients",
                        message(WORKLOAD_SEND, 0, forward ? stage + 1 : stage - 1, microbatch),
                        done);
}

/* A pipeline of as many stages, a rank each: 1F1B, or, if not, GPipe. */
static inline void make_pipeline(struct workload_graph *graph, uint32_t stages,
                                 uint32_t microbatches, uint64_t forward_ps, uint64_t backward_ps,
                                 bool one_f_one_b)
{
    make_ranks(graph, stages);
    (void)add_world(graph, "pp");
    for (uint32_t stage = 0; stage < stages; stage++) {
        char name[32];
        uint32_t ahead = one_f_one_b ? stages - 1 - stage : microbatches;
        snprintf(name, sizeof name, "stage %u", stage);
        graph->program_of[stage] = workload_add_program(graph, name);
        ahead = ahead < microbatches ? ahead : microbatches;
        for (uint32_t i = 0; i < ahead; i++)
            add_pass(graph, stage, stages, true, i, forward_ps);
        for (uint32_t i = 0; i < microbatches; i++) {
            if (i + ahead < microbatches)
                add_pass(graph, stage, stages, true, i + ahead, forward_ps);
            add_pass(graph, stage, stages, false, i, backward_ps);
        }
    }
    struct cw_error error = {.exit_code = CW_OK};
    assert_int_equal(workload_graph_check(graph, &error), CW_OK);
}

#endif
