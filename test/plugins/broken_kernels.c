/*
 * broken_kernels.c: algorithms that fail, each in its way; a shared object that test_failures.c
 * builds, has loaded by ccl.yaml and runs. PE 0 of every cube takes part.
 */
#include "collectives/plugin.h"

CCL_PLUGIN;

struct frame {
    uint16_t line, part;
    uint32_t i;
};

/* F1. */
static enum tl_status wrong_direction_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_send(tl, HW_DIR_GLOBAL_E, tl_tcm(0), 16));
    TL_END(&f->line);
}

/* F2, with strict_validation: cube 1 expects fewer bytes than cube 0 sends. */
static enum tl_status wrong_size_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    if (tl_place(tl).cube == 0)
        TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), 16));
    if (tl_place(tl).cube == 1)
        TL_CALL(&f->line, tl_recv(tl, HW_DIR_W, 8));
    TL_END(&f->line);
}

/* F3: cubes 0, 1, 3, 2 in a circle, and each receives before it sends. */
static enum tl_status everybody_receives_run(struct tl *tl, void *state)
{
    static const enum hw_dir from[] = {HW_DIR_E, HW_DIR_S, HW_DIR_N, HW_DIR_W};
    struct frame *f = state;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_recv(tl, from[tl_place(tl).cube], 16));
    TL_END(&f->line);
}

/* F5: cube 0 sends more than the ring holds, and nobody takes it. */
static enum tl_status nobody_receives_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (f->i = 0; tl_place(tl).cube == 0 && f->i < 100; f->i++)
        TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), 16));
    TL_END(&f->line);
}

/* I1: cube 0 sends two tiles, and cube 1 takes one. */
static enum tl_status leaves_a_tile_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (f->i = 0; tl_place(tl).cube == 0 && f->i < 2; f->i++)
        TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), 16));
    if (tl_place(tl).cube == 1)
        TL_CALL(&f->line, tl_recv(tl, HW_DIR_W, 16));
    TL_END(&f->line);
}

static enum tl_status too_large_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    if (tl_place(tl).cube == 0)
        TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), tl_slot_bytes(tl) + 2));
    TL_END(&f->line);
}

static enum tl_status null_pointer_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_load(tl, 0, 0, 16));
    TL_END(&f->line);
}

/* One call each with an illegal value; `tcm`: more than any has. */
enum { TCM = 1 << 30 };
#define CALLS(name_, call_)                                                                        \
    static enum tl_status name_##_run(struct tl *tl, void *state)                                  \
    {                                                                                              \
        struct frame *f = state;                                                                   \
        TL_BEGIN(&f->line);                                                                        \
        TL_CALL(&f->line, call_);                                                                  \
        TL_END(&f->line);                                                                          \
    }
CALLS(notify_tag, tl_notify(tl, 0, TL_TAGS))
CALLS(wait_notify_tag, tl_wait_notify(tl, 0, 77))
CALLS(put_operation, tl_put_reduce(tl, 0, (enum lp_math)5, tl_tcm(0), tl_tcm(0), 16))
CALLS(store_to_peer, tl_store_to(tl, 1u << 30, tl_tcm(0), tl_tcm(0), 16))
CALLS(math_operation, tl_math(tl, (enum lp_math)0, 0, tl_tcm(0), tl_tcm(0), 8))
CALLS(math_range, tl_math(tl, LP_MATH_SUM, TCM, tl_tcm(0), tl_tcm(0), 8))
CALLS(cast_from, tl_cast(tl, 0, tl_tcm(0), (enum lp_dtype)9, LP_F32, 8))
CALLS(cast_to, tl_cast(tl, 0, tl_tcm(0), LP_F32, (enum lp_dtype)0, 8))
CALLS(dot_no_rows, tl_dot(tl, 0, tl_tcm(0), tl_tcm(0), 0, 8, 8, false))
CALLS(dot_many_rows, tl_dot(tl, 0, tl_tcm(0), tl_tcm(0), 1u << 31, 2, 1, false))
CALLS(dot_range, tl_dot(tl, 0, tl_tcm(0), tl_tcm(0), 1u << 20, 1u << 20, 1, false))
CALLS(load_range, tl_load(tl, TCM, tl_shard(tl), 16))
CALLS(send_range, tl_send(tl, HW_DIR_E, tl_tcm(TCM), 16))
CALLS(into_range, tl_recv_into(tl, HW_DIR_E, tl_sram(TCM), 16))
static enum tl_status received_from_run(struct tl *tl, void *state)
{
    (void)state;
    (void)tl_received_from(tl, HW_DIR_GLOBAL_E);
    return TL_ENDED;
}
static enum tl_status nothing_run(struct tl *tl, void *state)
{
    (void)tl, (void)state;
    return TL_ENDED;
}

CALLS(stores_alone, tl_store(tl, tl_shard(tl), tl_tcm(0), 16))
CALLS(load_alone, tl_load(tl, 0, tl_shard(tl), 16))

static enum tl_status never_waited_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_recv_async(tl, HW_DIR_E, 16));
    TL_END(&f->line);
}
CALLS(waits_for_nothing, tl_wait(tl, (struct tl_future){0}))

/* F2: cube 0 sends 4 x 2 elements of f32, and cube 1 receives. */
static enum tl_status send_4_by_2(struct tl *tl, struct frame *f,
                                  enum tl_status (*receive)(struct tl *tl, struct frame *f))
{
    TL_BEGIN(&f->line);
    if (tl_place(tl).cube == 0)
        TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), 32, .dtype = LP_F32, .dim = {4, 2}));
    if (tl_place(tl).cube == 1)
        TL_RUN(&f->line, receive(tl, f));
    TL_CALL(&f->line, tl_store(tl, tl_shard(tl), tl_tcm(0), 4));
    TL_END(&f->line);
}
#define RECEIVES_AS(name_, ...)                                                                    \
    static enum tl_status name_##_receive(struct tl *tl, struct frame *f)                          \
    {                                                                                              \
        TL_BEGIN(&f->part);                                                                        \
        TL_CALL(&f->part, tl_recv(tl, HW_DIR_W, __VA_ARGS__));                                     \
        TL_END(&f->part);                                                                          \
    }                                                                                              \
    static enum tl_status name_##_run(struct tl *tl, void *state)                                  \
    {                                                                                              \
        return send_4_by_2(tl, state, name_##_receive);                                            \
    }
RECEIVES_AS(wrong_type, 32)
RECEIVES_AS(wrong_shape, 32, .dtype = LP_F32, .dim = {2, 4})
RECEIVES_AS(right_shape, 32, .dtype = LP_F32, .dim = {4, 2})

static bool takes_part(const struct ccl_call *call, uint32_t cube, uint32_t pe)
{
    (void)call, (void)cube;
    return pe == 0;
}

#define ALGORITHM(name_)                                                                           \
    static const struct tl_kernel name_##_kernel = {                                               \
        .name = #name_, .frame_bytes = sizeof(struct frame), .run = name_##_run};                  \
    extern const struct ccl_algorithm name_;                                                       \
    const struct ccl_algorithm name_ = {.name = #name_,                                            \
                                        .collective = CCL_ALL_REDUCE,                              \
                                        .kernel = &name_##_kernel,                                 \
                                        .takes_part = takes_part}
ALGORITHM(wrong_direction);
ALGORITHM(wrong_size);
ALGORITHM(everybody_receives);
ALGORITHM(nobody_receives);
ALGORITHM(leaves_a_tile);
ALGORITHM(too_large);
ALGORITHM(null_pointer);
ALGORITHM(notify_tag);
ALGORITHM(wait_notify_tag);
ALGORITHM(put_operation);
ALGORITHM(store_to_peer);
ALGORITHM(math_operation);
ALGORITHM(math_range);
ALGORITHM(cast_from);
ALGORITHM(cast_to);
ALGORITHM(dot_no_rows);
ALGORITHM(dot_many_rows);
ALGORITHM(dot_range);
ALGORITHM(load_range);
ALGORITHM(wrong_type);
ALGORITHM(wrong_shape);
ALGORITHM(right_shape);
ALGORITHM(never_waited);
ALGORITHM(waits_for_nothing);
ALGORITHM(send_range);
ALGORITHM(into_range);
ALGORITHM(received_from);
ALGORITHM(nothing);
ALGORITHM(stores_alone);
ALGORITHM(load_alone);

/* The figures that an author gives of a kernel are checked before it runs. */
struct large_frame {
    uint16_t line;
    uint8_t rest[TL_FRAME_BYTES];
};
#define REFUSED(name_, ...)                                                                        \
    static const struct tl_kernel name_##_kernel = {.name = #name_, __VA_ARGS__};                  \
    extern const struct ccl_algorithm name_;                                                       \
    const struct ccl_algorithm name_ = {                                                           \
        .name = #name_, .collective = CCL_ALL_REDUCE, .kernel = &name_##_kernel}
REFUSED(large_frame, .frame_bytes = sizeof(struct large_frame), .run = nothing_run);
REFUSED(frame_just_too_large, .frame_bytes = TL_FRAME_BYTES + 1, .run = nothing_run);
REFUSED(frame_just_right, .frame_bytes = TL_FRAME_BYTES, .run = nothing_run);
REFUSED(no_frame, .run = nothing_run);
REFUSED(no_function, .frame_bytes = 2);
REFUSED(many_streams, .frame_bytes = 2, .run = nothing_run, .stream_count = TL_CONTEXTS_MAX);
REFUSED(no_stream, .frame_bytes = 2, .run = nothing_run, .stream_count = 1);
REFUSED(no_phases, .frame_bytes = 2, .run = nothing_run, .phase_count = 1);

extern const struct ccl_algorithm no_kernel, no_name, no_collective;
const struct ccl_algorithm no_kernel = {.name = "no_kernel"};
const struct ccl_algorithm no_name = {.kernel = &no_phases_kernel};
const struct ccl_algorithm no_collective = {
    .name = "x", .kernel = &frame_just_right_kernel, .collective = CCL_COLLECTIVES};

static int says_nothing(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    (void)call;
    refusal->key = "defaults.module";
    return CW_USAGE;
}
extern const struct ccl_algorithm silent;
const struct ccl_algorithm silent = {.name = "silent",
                                     .collective = CCL_ALL_REDUCE,
                                     .kernel = &nothing_kernel,
                                     .check = says_nothing};

void a_function(void);
void a_function(void) {}
extern const int small_object;
const int small_object = 1;
extern __thread int of_a_thread;
__thread int of_a_thread = 1;
