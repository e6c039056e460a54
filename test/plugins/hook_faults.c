/*
 * hook_faults.c: an algorithm, a mapper and a validator whose hooks fail in the way that the
 * environment asks for, for test_hook_faults.c: CUBEWARP_TEST_HOOK names the hook, and
 * CUBEWARP_TEST_FAULT the fault. And an algorithm whose kernel compares what the runtime adds to
 * its arguments with what the host knows.
 */
#include <stdlib.h>
#include <string.h>

#include "collectives/plugin.h"
#include "collectives/runtime/mapper.h"

CCL_PLUGIN;

static int recurse(volatile int *depth)
{
    volatile int here[64] = {*depth + 1};
    return recurse(here) + here[1];
}

/* The hook is the one that is to fail. */
static void fail_in(const char *hook)
{
    const char *const wanted = getenv("CUBEWARP_TEST_HOOK"), *fault = getenv("CUBEWARP_TEST_FAULT");
    volatile int zero = 0;
    if (wanted == NULL || fault == NULL || strcmp(wanted, hook) != 0)
        return;
    if (strcmp(fault, "null") == 0)
        *(volatile int *)(uintptr_t)zero = 1;
    else if (strcmp(fault, "exit") == 0)
        exit(7);
    else if (strcmp(fault, "abort") == 0)
        abort();
    else if (strcmp(fault, "divide") == 0)
        zero = 100 / zero;
    else if (strcmp(fault, "recursion") == 0)
        (void)recurse(&zero);
    else
        while (zero == 0)
            ;
}

__attribute__((constructor)) static void begin(void) { fail_in("constructors"); }

struct frame {
    uint16_t line;
};

static enum tl_status run(struct tl *tl, void *state)
{
    struct frame *const f = state;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), 16));
    TL_CALL(&f->line, tl_store(tl, tl_shard(tl), tl_tcm(0), 16));
    TL_END(&f->line);
}
static const struct tl_kernel kernel = {
    .name = "faulty", .frame_bytes = sizeof(struct frame), .run = run};

static int check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    (void)call, (void)refusal;
    fail_in("check()");
    return CW_OK;
}

static void kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    (void)call, (void)args;
    fail_in("kernel_args()");
}

static bool takes_part(const struct ccl_call *call, uint32_t cube, uint32_t pe)
{
    (void)call;
    fail_in("takes_part()");
    return cube == 0 && pe == 0;
}

static enum ccl_neighbors neighbors(uint32_t rank, uint32_t world_size, const int64_t *parameter,
                                    struct lp_neighbours *map)
{
    (void)rank, (void)world_size, (void)parameter, (void)map;
    fail_in("neighbors()");
    return CCL_NEIGHBORS_KEPT;
}

static uint64_t tcm_bytes(const struct ccl_call *call)
{
    (void)call;
    fail_in("tcm_bytes()");
    return 16;
}

static uint64_t scratch_bytes(const struct ccl_call *call)
{
    (void)call;
    fail_in("scratch_bytes()");
    return 0;
}

static double moved(const struct ccl_call *call)
{
    (void)call;
    fail_in("moved()");
    return 1;
}

static uint32_t peers(const struct ccl_call *call)
{
    (void)call;
    fail_in("peers()");
    return 0;
}

static uint32_t operand(uint32_t rank, uint32_t n, uint32_t k)
{
    (void)rank, (void)n;
    fail_in("order.operand()");
    return k;
}
static const struct ccl_order order = {.operand = operand};

static uint32_t tree(uint32_t rank, uint32_t part, uint32_t n, uint32_t k)
{
    (void)rank, (void)part, (void)n;
    fail_in("order.tree()");
    return k == 0 ? 0 : k % 2 == 1 ? k / 2 + 1 : CCL_ADD;
}
static uint32_t parts(uint32_t n)
{
    (void)n;
    fail_in("order.parts()");
    return 1;
}
static const struct ccl_order by_tree = {.tree = tree, .parts = parts};

static struct schedule *make_schedule(const struct ccl_call *call, struct cw_error *error)
{
    (void)call;
    fail_in("schedule()");
    (void)cw_error_set(error, CW_USAGE, "no schedule");
    return NULL;
}

static void choose(const struct ccl_call *call, struct ccl_choice *choice)
{
    (void)call, (void)choice;
    fail_in("choose()");
}

extern const struct ccl_algorithm faulty, faulty_tree, faulty_schedule, faulty_choice, places;
const struct ccl_algorithm faulty = {
    .name = "faulty",
    .collective = CCL_ALL_REDUCE,
    .kernel = &kernel,
    .order = &order,
    .machine = {.tcm_bytes = tcm_bytes, .scratch_bytes = scratch_bytes, .peers = peers},
    .check = check,
    .kernel_args = kernel_args,
    .takes_part = takes_part,
    .neighbors = neighbors,
    .moved = moved};
const struct ccl_algorithm faulty_tree = {
    .name = "faulty", .collective = CCL_ALL_REDUCE, .kernel = &kernel, .order = &by_tree};
const struct ccl_algorithm faulty_schedule = {
    .name = "faulty", .collective = CCL_ALL_REDUCE, .kernel = &kernel, .schedule = make_schedule};
const struct ccl_algorithm faulty_choice = {
    .name = "faulty", .collective = CCL_ALL_REDUCE, .kernel = &kernel, .choose = choose};

bool mapper(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
bool mapper(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw, (void)rank;
    fail_in("mapper");
    return cube == 0 && pe == 0;
}

int validator(const struct tensor_group *group, const struct hw_config *hw, struct cw_error *error);
int validator(const struct tensor_group *group, const struct hw_config *hw, struct cw_error *error)
{
    (void)group, (void)hw, (void)error;
    fail_in("validator");
    return CW_OK;
}

/* ---- arguments ------------------------------------------------------------------------------- */

enum { KIND, WIDTH, HEIGHT };
static const struct ccl_parameter wanted[] = {
    [KIND] = {.name = "kind", .type = CCL_PARAMETER_COUNT, .min = 0, .max = 3},
    [WIDTH] = {.name = "width", .type = CCL_PARAMETER_COUNT, .min = 0, .max = 64},
    [HEIGHT] = {.name = "height", .type = CCL_PARAMETER_COUNT, .min = 0, .max = 64}};

/* A kernel that finds another place than the parameters say sends where there is no queue. */
static enum tl_status places_run(struct tl *tl, void *state)
{
    struct frame *const f = state;
    const struct tl_args *const args = tl_args(tl);
    const bool right = args->rank == tl_place(tl).sip && args->topology == tl_parameter(tl, KIND) &&
                       args->sip_w == tl_parameter(tl, WIDTH) &&
                       args->sip_h == tl_parameter(tl, HEIGHT) && args->scalar[0] == 77;
    TL_BEGIN(&f->line);
    if (!right)
        TL_CALL(&f->line, tl_send(tl, HW_DIR_PARENT, tl_tcm(0), 16));
    TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), 16));
    TL_CALL(&f->line, tl_recv(tl, HW_DIR_W, 16));
    TL_END(&f->line);
}
static const struct tl_kernel places_kernel = {
    .name = "places", .frame_bytes = sizeof(struct frame), .run = places_run};

static void places_args(const struct ccl_call *call, struct tl_args *args)
{
    (void)call;
    args->scalar[0] = 77;
}

const struct ccl_algorithm places = {.name = "places",
                                     .collective = CCL_BARRIER,
                                     .kernel = &places_kernel,
                                     .kernel_args = places_args,
                                     .parameters = wanted,
                                     .parameter_count = 3};
