/*
 * relay_barrier.c: no rank's PE (0, 0) continues before every rank's has begun: a tile of four
 * bytes from all children, then to the parent of a spanning tree (relay.h); when the root has heard
 * of all, the same way down.
 */
#include "collectives/algorithm.h"
#include "collectives/relay.h"

enum scalar { PARENT, CHILDREN };
enum phase { UP, DOWN };
static const char *const phase_name[] = {"up", "down"};
enum { TOKEN_BYTES = 4 };

struct frame {
    uint16_t line;
    uint32_t dir;
};

static bool is_child(const struct tl *tl, uint32_t dir)
{
    return tl_args(tl)->scalar[CHILDREN] >> dir & 1;
}

static enum tl_status relay_barrier_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    const enum hw_dir parent = (enum hw_dir)tl_args(tl)->scalar[PARENT];
    TL_BEGIN(&f->line);
    tl_phase(tl, UP);
    for (f->dir = 0; f->dir < HW_DIRS_MAX; f->dir++)
        if (is_child(tl, f->dir))
            TL_CALL(&f->line, tl_recv(tl, (enum hw_dir)f->dir, TOKEN_BYTES));
    if (parent != HW_DIRS_MAX)
        TL_CALL(&f->line, tl_send(tl, parent, tl_tcm(0), TOKEN_BYTES));
    tl_phase(tl, DOWN);
    if (parent != HW_DIRS_MAX)
        TL_CALL(&f->line, tl_recv(tl, parent, TOKEN_BYTES));
    for (f->dir = 0; f->dir < HW_DIRS_MAX; f->dir++)
        if (is_child(tl, f->dir))
            TL_CALL(&f->line, tl_send(tl, (enum hw_dir)f->dir, tl_tcm(0), TOKEN_BYTES));
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "relay_barrier",
                                        .frame_bytes = sizeof(struct frame),
                                        .run = relay_barrier_run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

static void relay_barrier_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    int64_t *const s = args->scalar;
    s[PARENT] = call->relay->parent[call->rank];
    s[CHILDREN] = call->relay->children[call->rank];
}

const struct ccl_algorithm ccl_relay_barrier = {
    .name = "relay_barrier",
    .collective = CCL_BARRIER,
    .kernel = &kernel,
    .machine = {.mappers = CCL_MAPPER_LEADER_ONLY, .relay = CCL_RELAY_BOTH},
    .kernel_args = relay_barrier_kernel_args,
    .check = relay_check,
    .folds = relay_folds};
