/*
 * wrong_kernels.c: all-reduces that beginners may write, each wrong in one way; a shared object
 * that test_wrong_kernels.c builds and runs on two SIPs in a ring. PE 0.0 of each SIP takes part.
 * Each kernel begins at a line number of its own: its first call or statement stands five lines
 * behind.
 */
#include <stdlib.h>

#include "collectives/plugin.h"

CCL_PLUGIN;

struct frame {
    uint16_t line, reserved;
    uint32_t i;
};

#define ALGORITHM(name_, ...)                                                                      \
    extern const struct ccl_algorithm name_;                                                       \
    const struct ccl_algorithm name_ = {                                                           \
        .name = #name_, .collective = CCL_ALL_REDUCE, .kernel = &name_##_kernel}
#define KERNEL(name_)                                                                              \
    static enum tl_status name_##_run(struct tl *tl, void *state);                                 \
    static const struct tl_kernel name_##_kernel = {                                               \
        .name = #name_, .frame_bytes = sizeof(struct frame), .run = name_##_run};                  \
    ALGORITHM(name_);                                                                              \
    static enum tl_status name_##_run(struct tl *tl, void *state)
#define CALL(call_) TL_CALL(&f->line, call_)

static int *volatile nowhere;

#line 100
KERNEL(calls_abort)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    abort();
    TL_END(&f->line);
}

#line 200
KERNEL(calls_exit)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    exit(0);
    TL_END(&f->line);
}

#line 300
KERNEL(sends_where_no_queue_is)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_send(tl, HW_DIR_N, tl_tcm(0), 4096));
    TL_END(&f->line);
}

#line 400
KERNEL(sends_in_no_direction)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_send(tl, (enum hw_dir)77, tl_tcm(0), 4096));
    TL_END(&f->line);
}

#line 500
KERNEL(receives_first)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_recv(tl, HW_DIR_W, 4096));
    CALL(tl_send(tl, HW_DIR_E, tl_tcm(0), 4096));
    TL_END(&f->line);
}

#line 600
KERNEL(leaves_a_tile)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_send(tl, HW_DIR_E, tl_tcm(0), 4096));
    TL_END(&f->line);
}

#line 700
KERNEL(loads_for_ever)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    for (;;)
        CALL(tl_load(tl, 0, tl_shard(tl), 64));
    TL_END(&f->line);
}

#line 800
KERNEL(meets_nobody_for_ever)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    for (;;)
        CALL(tl_barrier(tl));
    TL_END(&f->line);
}

#line 900
KERNEL(counts_outside_of_its_frame)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    int j = 0;
    for (j = 0; j < 3; j++)
        CALL(tl_load(tl, 0, tl_shard(tl), 64));
    TL_END(&f->line);
}

#line 1000
KERNEL(adds_beyond_tcm)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_math(tl, LP_MATH_SUM, 1040000, tl_tcm(0), tl_tcm(0), 9000));
    TL_END(&f->line);
}

#line 1100
KERNEL(waits_without_a_call)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    return TL_WAITING;
    TL_END(&f->line);
}

#line 1200
KERNEL(does_nothing)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    TL_END(&f->line);
}

#line 1300
KERNEL(waits_for_a_stranger)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_wait_notify(tl, 0, 0));
    TL_END(&f->line);
}

#line 1400
KERNEL(receives_on_one_side)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    if (tl_args(tl)->rank == 0)
        CALL(tl_recv(tl, HW_DIR_W, 4096));
    TL_END(&f->line);
}

#line 1500
KERNEL(loads_behind_its_shard)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_load(tl, 0, tl_shard(tl) + 4096, 4096));
    TL_END(&f->line);
}

#line 1600
KERNEL(loads_from_nowhere)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_load(tl, 0, 12345, 4096));
    TL_END(&f->line);
}

#line 1700
KERNEL(loads_behind_its_page)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_load(tl, 0, tl_shard(tl) + 65536, 4096));
    TL_END(&f->line);
}

#line 1800
KERNEL(adds_by_no_operation)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_math(tl, (enum lp_math)0, 4000000, tl_tcm(0), tl_tcm(0), 4096));
    TL_END(&f->line);
}

#line 1900
KERNEL(stores_across_its_shard_s_end)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_store(tl, tl_shard(tl) + 4000, tl_tcm(0), 4096));
    TL_END(&f->line);
}

#line 2000
KERNEL(loads_beyond_tcm)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_load(tl, 2000000, tl_shard(tl), 4096));
    TL_END(&f->line);
}

#line 2100
KERNEL(puts_to_nobody)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_put(tl, 999999, tl_tcm(0), tl_tcm(0), 64));
    TL_END(&f->line);
}

#line 2200
KERNEL(adds_nothing_received)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_math(tl, (enum lp_math)0, 0, tl_tcm(0), tl_received(tl), 16));
    TL_END(&f->line);
}

#line 2300
KERNEL(uses_a_tile_of_no_queue)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_received(tl), 16));
    TL_END(&f->line);
}

#line 2400
KERNEL(loads_up_to_its_rings)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_send(tl, HW_DIR_E, tl_tcm(0), 4096));
    CALL(tl_recv(tl, HW_DIR_W, 4096));
    for (f->i = 0; f->i < 256; f->i++)
        CALL(tl_load(tl, f->i * 4096, tl_shard(tl), 4096));
    TL_END(&f->line);
}

#line 2500
KERNEL(loads_into_a_ring)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_load(tl, 1024 * 1024 - 4096, tl_shard(tl), 4096));
    TL_END(&f->line);
}

#line 2600
KERNEL(writes_to_null)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    *nowhere = 1;
    TL_END(&f->line);
}

#line 2700
KERNEL(spins)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    for (;;)
        __asm__ volatile("");
    TL_END(&f->line);
}

#line 2800
KERNEL(sends_too_large_a_tile)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_send(tl, HW_DIR_E, tl_tcm(0), 8192));
    CALL(tl_recv(tl, HW_DIR_W, 8192));
    TL_END(&f->line);
}

#line 2900
KERNEL(sends_more_than_a_ring_holds)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    for (f->i = 0; f->i < 20; f->i++)
        CALL(tl_send(tl, HW_DIR_E, tl_tcm(0), 4096));
    for (f->i = 0; f->i < 20; f->i++)
        CALL(tl_recv(tl, HW_DIR_W, 4096));
    TL_END(&f->line);
}

#line 3000
KERNEL(loads_twice_in_one_call)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    tl_load(tl, 0, tl_shard(tl), 64);
    CALL(tl_load(tl, 0, tl_shard(tl), 64));
    TL_END(&f->line);
}

#line 3100
KERNEL(waits_for_handle_7)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_wait_dma(tl, 7));
    TL_END(&f->line);
}

#line 3200
KERNEL(sends_half_of_what_is_received)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_send(tl, HW_DIR_E, tl_tcm(0), 2048));
    CALL(tl_recv(tl, HW_DIR_W, 4096));
    TL_END(&f->line);
}

#line 3300
KERNEL(exchanges_empty_tiles)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    CALL(tl_send(tl, HW_DIR_E, tl_tcm(0), 0));
    CALL(tl_recv(tl, HW_DIR_W, 0));
    TL_END(&f->line);
}

#line 3400
KERNEL(sends_a_cast_as_the_launch_s_type)
{
    struct frame *f = state;
    (void)tl;
    TL_BEGIN(&f->line);
    if (tl_args(tl)->rank == 0) {
        CALL(tl_cast(tl, 8192, tl_tcm(0), LP_F16, LP_F32, 16));
        CALL(tl_send(tl, HW_DIR_E, tl_tcm(8192), 64));
    } else {
        CALL(tl_recv(tl, HW_DIR_W, 64));
    }
    CALL(tl_store(tl, tl_shard(tl), tl_tcm(0), 64));
    TL_END(&f->line);
}

struct large_frame {
    uint16_t line;
    char values[200];
};
static const struct tl_kernel large_kernel = {
    .name = "large", .frame_bytes = sizeof(struct large_frame), .run = does_nothing_run};
ALGORITHM(large);
