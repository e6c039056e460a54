/*
 * odd_names.c: a barrier whose kernel and phase have names that JSON does not take as they stand; a
 * shared object that test_timeline.c builds and runs.
 */
#include "collectives/plugin.h"

CCL_PLUGIN;

struct frame {
    uint16_t line;
};

static enum tl_status run(struct tl *tl, void *state)
{
    struct frame *const f = state;
    TL_BEGIN(&f->line);
    tl_phase(tl, 0);
    TL_CALL(&f->line, tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_tcm(0), 64));
    TL_END(&f->line);
}

static const char *const phases[] = {"of \xff bytes"};
static const struct tl_kernel kernel = {.name = "a \"kernel\"\n\\ of lines",
                                        .frame_bytes = sizeof(struct frame),
                                        .run = run,
                                        .phase = phases,
                                        .phase_count = 1};

extern const struct ccl_algorithm odd_names;
const struct ccl_algorithm odd_names = {
    .name = "odd_names", .collective = CCL_BARRIER, .kernel = &kernel};
