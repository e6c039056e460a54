/*
 * stray_kernels.c: kernels that end the program, never end, or call the kernel API wrongly; a
 * shared object that test_stray_kernels.c builds and runs. PE 0 of every cube takes part. The line
 * of the fault is a line of its own in each.
 */
#include <stdlib.h>

#include "collectives/plugin.h"

CCL_PLUGIN;

struct frame {
    uint16_t line, reserved;
    uint32_t i;
};

#define KERNEL(name_)                                                                              \
    static enum tl_status name_##_run(struct tl *tl, void *state);                                 \
    static const struct tl_kernel name_##_kernel = {                                               \
        .name = #name_, .frame_bytes = sizeof(struct frame), .run = name_##_run};                  \
    extern const struct ccl_algorithm name_;                                                       \
    const struct ccl_algorithm name_ = {.name = #name_,                                            \
                                        .collective = CCL_ALL_REDUCE,                              \
                                        .kernel = &name_##_kernel,                                 \
                                        .takes_part = takes_part};                                 \
    static enum tl_status name_##_run(struct tl *tl, void *state)

static bool takes_part(const struct ccl_call *call, uint32_t cube, uint32_t pe)
{
    (void)call, (void)cube;
    return pe == 0;
}

static int *volatile nowhere;
static volatile int zero;

#line 100
KERNEL(writes_to_null)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), 16)); /* 104 */
    *nowhere = 1;
    TL_END(&f->line);
}

#line 200
KERNEL(divides_by_zero)
{
    struct frame *f = state;
    TL_BEGIN(&f->line); /* 203 */
    f->i = (uint32_t)(100 / zero);
    TL_END(&f->line);
}

#line 300
static int deep(volatile int *depth)
{
    volatile char room[4096];
    room[0] = (char)++*depth;
    return deep(depth) + room[0];
}
#line 350
KERNEL(recurses_for_ever)
{
    struct frame *f = state;
    volatile int depth = 0;
    TL_BEGIN(&f->line); /* 354 */
    f->i = (uint32_t)deep(&depth);
    TL_END(&f->line);
}

#line 400
KERNEL(aborts)
{
    struct frame *f = state;
    TL_BEGIN(&f->line); /* 403 */
    if (tl_place(tl).sip == 0)
        abort();
    TL_END(&f->line);
}

#line 500
KERNEL(exits)
{
    struct frame *f = state;
    TL_BEGIN(&f->line); /* 503 */
    if (tl_place(tl).sip == 0)
        exit(0);
    TL_END(&f->line);
}

#line 600
KERNEL(spins)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), 16)); /* 604 */
    for (;;)
        __asm__ volatile("");
    TL_END(&f->line);
}

#line 700
KERNEL(waits_for_nothing)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line); /* 704 */
    return TL_WAITING;
    TL_END(&f->line);
}

#line 800
KERNEL(loads_outside_a_call)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    tl_load(tl, 0, tl_shard(tl), 16);
    TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), 16)); /* 805 */
    TL_END(&f->line);
}

#line 900
KERNEL(ends_behind_a_load)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    tl_load(tl, 0, tl_shard(tl), 16);
    TL_END(&f->line); /* 905 */
}

#line 1000
KERNEL(loads_for_ever)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (;;)
        TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), 16)); /* 1005 */
    TL_END(&f->line);
}

/* A period of 1,000 calls. */
#line 1100
KERNEL(loads_in_turn_for_ever)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (;;)
        for (f->i = 0; f->i < 1000; f->i++)
            TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), 16)); /* 1106 */
    TL_END(&f->line);
}

#line 1200
KERNEL(adds_for_ever)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (;;)
        TL_CALL(&f->line, tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_tcm(0), 1)); /* 1205 */
    TL_END(&f->line);
}

#line 1300
KERNEL(barriers_for_ever)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (;;)
        TL_CALL(&f->line, tl_barrier(tl)); /* 1305 */
    TL_END(&f->line);
}

/* Its counter is not in the frame: each time it goes on behind the call, it is a new one. */
#line 1400
KERNEL(counts_outside_the_frame)
{
    struct frame *f = state;
    volatile int counter = 0;
    TL_BEGIN(&f->line);
    for (counter = 0; counter < 3; counter++)
        TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), 16)); /* 1406 */
    TL_END(&f->line);
}

/* No frame comes twice. */
#line 1500
KERNEL(counts_for_ever)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (f->i = 0;; f->i++)
        TL_CALL(&f->line, tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_tcm(0), 1)); /* 1505 */
    TL_END(&f->line);
}

/* It may take no time. */
#line 1700
KERNEL(counts_barriers_for_ever)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (f->i = 0;; f->i++)
        TL_CALL(&f->line, tl_barrier(tl)); /* 1705 */
    TL_END(&f->line);
}

/* Legal: 200,000 private calls. */
#line 1600
KERNEL(counts_long)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (f->i = 0; f->i < 200000; f->i++)
        TL_CALL(&f->line, tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_tcm(0), 1));
    TL_CALL(&f->line, tl_store(tl, tl_shard(tl), tl_tcm(0), 2));
    TL_END(&f->line);
}
