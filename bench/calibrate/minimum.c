/*
 * minimum.c: BOBYQA from each start, then Sbplx from the best point; as long as Sbplx finds a
 * better one, BOBYQA continues from there.
 */
#include "bench/calibrate/minimum.h"

#include <math.h>
#include <string.h>

enum { CHECKS_MAX = 3, DRAWN_PART = 4, CHECK_PART = 2 };
/* In the unit cube: a ten-thousandth of a key's range, by its logarithm. */
static const double x_tolerance = 1e-5;
/* What the second algorithm must find less to count as better: a thousandth, and more than a change
 * of a ten-thousandth in every time. */
static const double better_part = 1e-3, better_least = 1e-8;

struct search {
    const struct nlopt_library *library;
    const struct minimum_setup *setup;
    minimum_fn function;
    void *arg;
    struct minimum *best;
    nlopt_opt opt;
    unsigned start;
};

/* For NLopt. */
static double evaluate(unsigned count, const double *x, double *gradient, void *arg)
{
    struct search *const search = arg;
    double value;
    (void)gradient; /* the algorithms need none */
    if (search->best->is_stopped || !search->function(search->arg, x, &value)) {
        search->best->is_stopped = true;
        (void)search->library->force_stop(search->opt);
        return HUGE_VAL;
    }
    if (search->best->evaluations++ == 0 || value < search->best->value) {
        memcpy(search->best->x, x, count * sizeof *x);
        search->best->value = value;
        search->best->start = search->start;
    }
    return value;
}

/* Lets an algorithm search from x. A failure of the algorithm itself, such as round-off at an exact
 * optimum, costs nothing: the best point is kept. */
static int search_by(struct search *search, nlopt_algorithm algorithm, const double *from,
                     double step, unsigned evaluations, struct cw_error *error)
{
    const struct nlopt_library *const library = search->library;
    double x[MINIMUM_DIMENSIONS_MAX], value;
    memcpy(x, from, search->setup->dimensions * sizeof *x);
    search->opt = library->create(algorithm, search->setup->dimensions);
    if (search->opt == NULL)
        return cw_error_memory(error, "the search");
    int result = library->set_objective(search->opt, evaluate, search);
    if (result > 0)
        result = library->set_lower(search->opt, 0);
    if (result > 0)
        result = library->set_upper(search->opt, 1);
    if (result > 0)
        result = library->set_step(search->opt, step);
    if (result > 0)
        result = library->set_x_tolerance(search->opt, x_tolerance);
    if (result > 0)
        result = library->set_evaluations(search->opt, (int)evaluations);
    if (result > 0)
        result = library->optimize(search->opt, x, &value);
    library->destroy(search->opt);
    return result == NLOPT_OUT_OF_MEMORY ? cw_error_memory(error, "the search") : CW_OK;
}

/* From 0 to 1. */
static double draw(struct cw_rng *rng) { return (double)(cw_rng_u64(rng) >> 11) * 0x1p-53; }

/* Whether Sbplx finds nothing better near the best point. */
static bool is_confirmed(struct search *search, struct cw_error *error, int *code)
{
    const double before = search->best->value;
    double from[MINIMUM_DIMENSIONS_MAX];
    memcpy(from, search->best->x, sizeof from);
    *code = search_by(search, NLOPT_LN_SBPLX, from, search->setup->step / 4,
                      search->setup->evaluations / CHECK_PART, error);
    return search->best->value >= before * (1 - better_part) - better_least;
}

/* BOBYQA from the best point. */
static int go_on(struct search *search, struct cw_error *error)
{
    double from[MINIMUM_DIMENSIONS_MAX];
    memcpy(from, search->best->x, sizeof from);
    return search_by(search, NLOPT_LN_BOBYQA, from, search->setup->step / 4,
                     search->setup->evaluations, error);
}

static int check(struct search *search, struct cw_error *error)
{
    int code = CW_OK;
    for (int i = 0; i < CHECKS_MAX && code == CW_OK && !search->best->is_stopped; i++) {
        const bool is_good = is_confirmed(search, error, &code);
        search->best->is_confirmed = is_good && !search->best->is_stopped;
        if (is_good || code != CW_OK)
            break;
        code = go_on(search, error);
    }
    return code;
}

static int search_drawn(struct search *search, struct cw_error *error)
{
    const struct minimum_setup *const setup = search->setup;
    struct cw_rng rng = cw_rng_seeded(setup->seed, 0);
    double from[MINIMUM_DIMENSIONS_MAX];
    int code = CW_OK;
    for (unsigned s = 1; s < setup->starts && code == CW_OK && !search->best->is_stopped; s++) {
        for (unsigned i = 0; i < setup->dimensions; i++)
            from[i] = draw(&rng);
        search->start = s;
        code = search_by(search, NLOPT_LN_BOBYQA, from, setup->step,
                         setup->evaluations / DRAWN_PART, error);
    }
    search->start = search->best->start;
    if (code == CW_OK && search->best->start > 0 && !search->best->is_stopped)
        code = go_on(search, error);
    return code;
}

int minimum_find(const struct nlopt_library *library, const struct minimum_setup *setup,
                 minimum_fn function, void *arg, struct minimum *minimum, struct cw_error *error)
{
    struct search search = {
        .library = library, .setup = setup, .function = function, .arg = arg, .best = minimum};
    *minimum = (struct minimum){.value = HUGE_VAL};
    memcpy(minimum->x, setup->start, setup->dimensions * sizeof *setup->start);
    library->seed((unsigned long)setup->seed);
    int code =
        search_by(&search, NLOPT_LN_BOBYQA, setup->start, setup->step, setup->evaluations, error);
    if (code == CW_OK && !minimum->is_stopped)
        code = search_drawn(&search, error);
    if (code == CW_OK && setup->is_checked && !minimum->is_stopped)
        code = check(&search, error);
    return code;
}
