/*
 * broken_kernels.c: algorithms that fail, each in its way; a shared object that test_failures.c
 * builds, has loaded by ccl.yaml and runs. PE 0 of every cube takes part.
 */
#include "collectives/plugin.h"

CCL_PLUGIN;

struct frame {
    uint16_t line, reserved;
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
ALGORITHM(too_large);
ALGORITHM(null_pointer);
