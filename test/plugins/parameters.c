/*
 * parameters.c: an algorithm with parameters: its kernel sends as many tiles as one of them says,
 * a hook
 * refuses one value of another, and a third opens the ring at rank 0 alone. And two that are
 * declared wrong.
 */
#include "collectives/plugin.h"

CCL_PLUGIN;

enum { DEPTH, LIMITED, ROUTE, OPENED };
enum { EAST, BOTH };

struct frame {
    uint16_t line;
    uint32_t i;
};

/* Two calls on one line of the source. */
#define IN_TURN(line, first, second)                                                               \
    do {                                                                                           \
        TL_CALL(line, first);                                                                      \
        TL_CALL(line, second);                                                                     \
    } while (0)

/* Tiles to the east, or to both sides; the collective does not mind the contents. */
static enum tl_status run(struct tl *tl, void *state)
{
    struct frame *const f = state;
    const bool both = tl_parameter(tl, ROUTE) == BOTH;
    TL_BEGIN(&f->line);
    for (f->i = 0; f->i < tl_parameter(tl, DEPTH); f->i++) {
        TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), 16));
        if (both)
            TL_CALL(&f->line, tl_send(tl, HW_DIR_W, tl_tcm(0), 16));
        if (both)
            IN_TURN(&f->line, tl_recv(tl, HW_DIR_W, 16), tl_recv(tl, HW_DIR_E, 16));
        else
            TL_CALL(&f->line, tl_recv(tl, HW_DIR_W, 16));
    }
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {
    .name = "parameters", .frame_bytes = sizeof(struct frame), .run = run};

static const char *const routes[] = {"east", "both", NULL};
static const struct ccl_parameter parameters[] = {
    [DEPTH] =
        {.name = "kernel_depth", .type = CCL_PARAMETER_COUNT, .value = 2, .min = 1, .max = 64},
    [LIMITED] = {.name = "limited", .type = CCL_PARAMETER_BOOL},
    [ROUTE] = {.name = "route", .type = CCL_PARAMETER_CHOICE, .choice = routes},
    [OPENED] = {.name = "opened", .type = CCL_PARAMETER_BOOL}};

static int check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    if (!call->ccl->parameter[LIMITED] || call->ccl->parameter[DEPTH] <= 8)
        return CW_OK;
    (void)ccl_refuse(refusal, "defaults.module", "kernel_depth: %lld is too much where limited",
                     (long long)call->ccl->parameter[DEPTH]);
    return ccl_legal(refusal, "up to 8 is legal");
}

/* Rank 0 has no direction W then, which E of the last rank leads to. */
static enum ccl_neighbors neighbors(uint32_t rank, uint32_t world_size, const int64_t *parameter,
                                    struct lp_neighbours *map)
{
    uint32_t kept = 0;
    (void)world_size;
    for (uint32_t i = 0; i < map->count; i++)
        if (!parameter[OPENED] || rank > 0 || map->at[i].dir[0] != 'W')
            map->at[kept++] = map->at[i];
    map->count = kept;
    return CCL_NEIGHBORS_CHANGED;
}

extern const struct ccl_algorithm tuned, out_of_range, taken;
const struct ccl_algorithm tuned = {.name = "tuned",
                                    .collective = CCL_BARRIER,
                                    .kernel = &kernel,
                                    .machine = {.tcm_bytes = NULL},
                                    .parameters = parameters,
                                    .parameter_count = sizeof parameters / sizeof *parameters,
                                    .check = check,
                                    .neighbors = neighbors};

static const struct ccl_parameter beyond = {
    .name = "beyond", .type = CCL_PARAMETER_COUNT, .value = 9, .min = 1, .max = 8};
const struct ccl_algorithm out_of_range = {.name = "out_of_range",
                                           .collective = CCL_BARRIER,
                                           .kernel = &kernel,
                                           .parameters = &beyond,
                                           .parameter_count = 1};

static const struct ccl_parameter slots = {.name = "n_slots", .type = CCL_PARAMETER_BOOL};
const struct ccl_algorithm taken = {.name = "taken",
                                    .collective = CCL_BARRIER,
                                    .kernel = &kernel,
                                    .parameters = &slots,
                                    .parameter_count = 1};
