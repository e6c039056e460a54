/*
 * fit.c: which rows a fit has, and the search for the keys' values (fit.h).
 */
#include "bench/calibrate/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/calibrate/fit_point.h"
#include "bench/calibrate/line_settings.h"
#include "core/os/clock.h"

enum {
    ROWS_PER_KEY = 5,
    CHOICES_MAX = 1000,
    EVENTS_JUDGED_MAX = 16000000, /* of a row: two seconds */
    EVENTS_FITTED_MAX = 2000000,  /* of all rows of a point of the fit: a quarter of a second */
    EVALUATIONS_LEAST = 30,       /* of an algorithm, and so many more for each key */
    EVALUATIONS_EACH = 15,
};
/* The part of the time limit that the search may take. */
static const double search_share = 0.6;
static const double first_step = 0.1;

/* ---- which rows ------------------------------------------------------------------------------ */

/* Events of a row by those of the size before it. */
static double expected_events(const struct curves *curves, uint32_t row)
{
    if (row == curves->list[curves->rows[row].curve].first)
        return 0;
    const struct curve_row *const before = &curves->rows[row - 1];
    return (double)before->events * (double)curves->rows[row].bytes / (double)before->bytes;
}

static void leave_out(struct curve_row *row, const char *why)
{
    row->use = ROW_OUT;
    snprintf(row->why, sizeof row->why, "%s", why);
}

/* The row and all larger ones of its curve. */
static void leave_out_rest(struct curves *curves, uint32_t first)
{
    const struct curve *const curve = &curves->list[curves->rows[first].curve];
    for (uint32_t i = first; i < curve->first + curve->count; i++)
        leave_out(&curves->rows[i], "more than 16 million events");
}

/* The rows of one rank in their curves, the i-th smallest of each, without those that would take
 * too many events. Returns how many. */
static uint32_t rows_of_rank(struct fit *fit, uint32_t rank, uint32_t *rows)
{
    struct curves *const curves = &fit->curves;
    uint32_t count = 0;
    for (uint32_t c = 0; c < curves->count; c++) {
        const uint32_t index = curves->list[c].first + rank;
        struct curve_row *const row = &curves->rows[index];
        if (rank >= curves->list[c].count)
            continue;
        if (expected_events(curves, index) > EVENTS_JUDGED_MAX)
            leave_out_rest(curves, index);
        else if (row->use != ROW_OUT)
            rows[count++] = index;
    }
    return count;
}

/* Simulates rows of the configuration as it is. */
static int simulate_before(struct fit *fit, const uint32_t *rows, uint32_t count,
                           struct cw_error *error)
{
    const int code = simulate_rows(&fit->simulator, rows, count, NULL, 0, fit->before, error);
    if (code == CW_INTERRUPTED)
        return cw_error_set(error, CW_USAGE,
                            "--limit: the time is over before each row was simulated once; allow "
                            "more, or name fewer sizes in the study");
    return code;
}

/* Rows that refuse their size as a rank's are asked for it as a shard's. */
static int simulate_shards(struct fit *fit, const uint32_t *rows, uint32_t count,
                           struct cw_error *error)
{
    struct row_answer *const kept = fit->scratch;
    uint32_t *const again = calloc(count + 1, sizeof *again);
    uint32_t asked = 0;
    if (again == NULL)
        return cw_error_memory(error, "the rows of the tables");
    for (uint32_t i = 0; i < count; i++)
        if (fit->before[rows[i]].exit_code == CW_USAGE) {
            again[asked++] = rows[i];
            kept[rows[i]] = fit->before[rows[i]];
            fit->curves.rows[rows[i]].is_shard = true;
        }
    const int code = asked > 0 ? simulate_before(fit, again, asked, error) : CW_OK;
    for (uint32_t i = 0; i < asked; i++)
        if (fit->before[again[i]].exit_code != CW_OK)
            fit->before[again[i]] = kept[again[i]];
    free(again);
    return code;
}

static int simulate_rank(struct fit *fit, uint32_t rank, uint32_t *rows, struct cw_error *error)
{
    const uint32_t count = rows_of_rank(fit, rank, rows);
    int code = simulate_before(fit, rows, count, error);
    if (code == CW_OK)
        code = simulate_shards(fit, rows, count, error);
    for (uint32_t i = 0; i < count && code == CW_OK; i++) {
        struct curve_row *const row = &fit->curves.rows[rows[i]];
        const struct row_answer *const answer = &fit->before[rows[i]];
        if (answer->exit_code != CW_OK)
            leave_out(row, answer->message);
        else
            row->events = answer->events;
    }
    return code;
}

/* For sorting rows, which qsort() gives no argument. */
struct cost {
    uint32_t row, curve;
    uint64_t events;
    double of_curve;
};

static int compare_events(const void *a, const void *b)
{
    const struct cost *const first = a, *const second = b;
    if (first->events != second->events)
        return first->events < second->events ? -1 : 1;
    return first->row < second->row ? -1 : 1;
}

/* Curve after curve, since a process keeps a curve's configuration, the longest first. */
static int compare_order(const void *a, const void *b)
{
    const struct cost *const first = a, *const second = b;
    if (first->of_curve != second->of_curve)
        return first->of_curve > second->of_curve ? -1 : 1;
    if (first->curve != second->curve)
        return first->curve < second->curve ? -1 : 1;
    return -compare_events(a, b);
}

/* Puts the rows with the fewest events, as many as a point of the fit may have, before the others,
 * and each of the two lists into the order in which they run. */
static void order_rows(struct fit *fit, struct cost *costs, uint32_t count)
{
    uint64_t events = 0;
    const uint32_t least = ROWS_PER_KEY * fit->parameters.count;
    qsort(costs, count, sizeof *costs, compare_events);
    while (fit->fitted_rows < count) {
        events += costs[fit->fitted_rows].events;
        if (events > EVENTS_FITTED_MAX && fit->fitted_rows >= least)
            break;
        fit->fitted_rows++;
    }
    fit->judged_rows = count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++)
            if (costs[k].curve == costs[i].curve)
                costs[i].of_curve += (double)costs[k].events;
    qsort(costs, fit->fitted_rows, sizeof *costs, compare_order);
    qsort(costs + fit->fitted_rows, count - fit->fitted_rows, sizeof *costs, compare_order);
    for (uint32_t i = 0; i < count; i++) {
        fit->rows[i] = costs[i].row;
        fit->curves.rows[costs[i].row].use = i < fit->fitted_rows ? ROW_FITTED : ROW_JUDGED;
    }
}

static int choose_rows(struct fit *fit, struct cw_error *error)
{
    const struct curves *const curves = &fit->curves;
    struct cost *const costs = calloc(curves->row_count + 1, sizeof *costs);
    uint32_t count = 0;
    if (costs == NULL)
        return cw_error_memory(error, "the rows of the tables");
    for (uint32_t i = 0; i < curves->row_count; i++)
        if (curves->rows[i].use != ROW_OUT)
            costs[count++] = (struct cost){
                .row = i, .curve = curves->rows[i].curve, .events = curves->rows[i].events};
    order_rows(fit, costs, count);
    free(costs);
    return CW_OK;
}

/* Why no row of the tables can be simulated, or too few. */
static int check_rows(const struct fit *fit, struct cw_error *error)
{
    const struct curves *const curves = &fit->curves;
    const uint32_t needed = ROWS_PER_KEY * fit->parameters.count;
    for (uint32_t c = 0; c < curves->count; c++) {
        const struct curve *const curve = &curves->list[c];
        uint32_t used = 0;
        for (uint32_t i = 0; i < curve->count; i++)
            used += curves->rows[curve->first + i].use != ROW_OUT;
        if (used == 0)
            return cw_error_set(error, CW_USAGE, "%s: no row can be simulated: %llu bytes: %s",
                                curve->label, (unsigned long long)curves->rows[curve->first].bytes,
                                curves->rows[curve->first].why);
    }
    if (fit->fitted_rows < needed)
        return cw_error_set(error, CW_USAGE,
                            "%u keys for %u rows; at most one key for %d rows is legal: name fewer "
                            "keys, or more tables",
                            fit->parameters.count, fit->fitted_rows, ROWS_PER_KEY);
    return CW_OK;
}

static int simulate_all(struct fit *fit, struct cw_error *error)
{
    const struct curves *const curves = &fit->curves;
    uint32_t ranks = 0;
    for (uint32_t c = 0; c < curves->count; c++)
        ranks = curves->list[c].count > ranks ? curves->list[c].count : ranks;
    uint32_t *const rows = calloc(curves->count, sizeof *rows);
    int code = rows != NULL ? CW_OK : cw_error_memory(error, "the rows of the tables");
    for (uint32_t rank = 0; rank < ranks && code == CW_OK; rank++)
        code = simulate_rank(fit, rank, rows, error);
    free(rows);
    return code;
}

/* ---- what is fitted -------------------------------------------------------------------------- */

/* The keys' values before, from the configuration of the first curve. */
static int read_parameters(struct fit *fit, const struct study *study, struct cw_error *error)
{
    struct run_options *const run = malloc(sizeof *run);
    struct config *config = NULL;
    int code = run != NULL ? line_settings_load(&fit->curves.list[0].settings, run, &config, error)
                           : cw_error_memory(error, "the configuration");
    if (code == CW_OK)
        code = parameters_read(study, config, &fit->parameters, error);
    config_free(config);
    free(run);
    if (code != CW_OK)
        return code;
    if (fit->parameters.count == 0)
        return cw_error_set(error, CW_USAGE,
                            "name the keys to fit: --fit KEY,KEY, or fit: in the study");
    fit->of_choices = 1;
    for (uint32_t i = fit->parameters.fitted; i < fit->parameters.count; i++) {
        fit->of_choices *= fit->parameters.list[i].values->count;
        if (fit->of_choices > CHOICES_MAX)
            return cw_error_set(
                error, CW_USAGE,
                "the lists in fit have more than %d combinations; name fewer values", CHOICES_MAX);
    }
    return CW_OK;
}

int fit_prepare(struct fit *fit, const struct study *study, const struct fit_setup *setup,
                struct cw_error *error)
{
    *fit = (struct fit){.setup = *setup, .begun_s = clock_s()};
    int code = curves_read(study, &fit->curves, error);
    if (code == CW_OK)
        code = read_parameters(fit, study, error);
    if (code == CW_OK)
        code = simulator_init(&fit->simulator, &fit->curves, setup->jobs, error);
    if (code != CW_OK)
        return code;
    const size_t count = fit->curves.row_count;
    fit->rows = calloc(count, sizeof *fit->rows);
    fit->before = calloc(count, sizeof *fit->before);
    fit->after = calloc(count, sizeof *fit->after);
    fit->crossed = calloc(count, sizeof *fit->crossed);
    fit->scratch = calloc(count, sizeof *fit->scratch);
    if (fit->rows == NULL || fit->before == NULL || fit->after == NULL || fit->crossed == NULL ||
        fit->scratch == NULL)
        return cw_error_memory(error, "the rows of the tables");
    fit->simulator.deadline_s = fit->begun_s + setup->limit_s;
    code = simulate_all(fit, error);
    if (code == CW_OK)
        code = choose_rows(fit, error);
    return code == CW_OK ? check_rows(fit, error) : code;
}

void fit_free(struct fit *fit)
{
    simulator_free(&fit->simulator);
    curves_free(&fit->curves);
    free(fit->rows);
    free(fit->before);
    free(fit->after);
    free(fit->crossed);
    free(fit->scratch);
}

/* ---- the search ------------------------------------------------------------------------------ */

static void start_of(const struct fit *fit, double *x)
{
    for (uint32_t i = 0; i < fit->parameters.fitted; i++)
        x[i] = parameter_coordinate(&fit->parameters.list[i], fit->parameters.list[i].start);
}

/* The number-th combination of the swept keys. */
static void choose(const struct fit *fit, uint32_t number, struct assignment *assignment)
{
    for (uint32_t i = fit->parameters.count; i-- > fit->parameters.fitted;) {
        const uint32_t count = fit->parameters.list[i].values->count;
        assignment->chosen[i] = number % count;
        number /= count;
    }
}

/* Searches with one combination. With nothing to fit it is one point. */
static int search(struct fit_point *point, const struct nlopt_library *library, const double *x,
                  uint32_t starts, bool is_checked, struct minimum *minimum)
{
    const uint32_t fitted = point->fit->parameters.fitted;
    const struct minimum_setup setup = {.dimensions = fitted,
                                        .start = x,
                                        .starts = starts,
                                        .evaluations =
                                            EVALUATIONS_LEAST + EVALUATIONS_EACH * fitted,
                                        .step = first_step,
                                        .seed = point->fit->setup.seed,
                                        .is_checked = is_checked};
    int code;
    if (fitted > 0) {
        code = minimum_find(library, &setup, fit_point_value, point, minimum, point->error);
    } else {
        *minimum = (struct minimum){.value = HUGE_VAL, .is_confirmed = true};
        minimum->is_stopped = !fit_point_value(point, x, &minimum->value);
        minimum->evaluations = !minimum->is_stopped;
        code = CW_OK;
    }
    if (minimum->is_stopped && point->code != CW_INTERRUPTED)
        code = point->code;
    point->fit->is_late |= minimum->is_stopped;
    return code;
}

/* Fits each combination of the swept keys from the start; leaves the best in fit->best. */
static int search_choices(struct fit_point *point, const struct nlopt_library *library,
                          const double *start)
{
    struct fit *const fit = point->fit;
    struct minimum minimum;
    int code = CW_OK;
    fit->minimum = (struct minimum){.value = HUGE_VAL};
    while (fit->choices < fit->of_choices && code == CW_OK && !fit->is_late) {
        choose(fit, fit->choices++, &point->assignment);
        code = search(point, library, start, 1, false, &minimum);
        if (code != CW_OK || minimum.evaluations == 0 || minimum.value >= fit->minimum.value)
            continue;
        fit->minimum = minimum;
        fit->best = point->assignment;
        memcpy(fit->best.x, minimum.x, sizeof fit->best.x);
    }
    return code;
}

int fit_search(struct fit *fit, const struct nlopt_library *library, struct cw_error *error)
{
    struct fit_point point = {.fit = fit,
                              .rows = fit->rows,
                              .row_count = fit->fitted_rows,
                              .phase = "search",
                              .error = error};
    double start[PARAMETERS_MAX] = {0};
    int code = CW_OK;
    start_of(fit, start);
    fit->simulator.deadline_s = fit->begun_s + search_share * fit->setup.limit_s;
    if (fit->of_choices > 1)
        code = search_choices(&point, library, start);
    if (code != CW_OK)
        return code;
    if (!fit->is_late) {
        const bool goes_on = fit->of_choices > 1;
        point.assignment = fit->best;
        code = search(&point, library, goes_on ? fit->best.x : start, fit->setup.starts, true,
                      &fit->minimum);
        memcpy(fit->best.x, fit->minimum.x, sizeof fit->best.x);
    }
    if (code == CW_OK && fit->minimum.value == HUGE_VAL)
        code = cw_error_set(error, CW_USAGE,
                            "--limit: the time is over before the first point of the fit; allow "
                            "more");
    if (code != CW_OK)
        return code;
    point.assignment = fit->best;
    point.row_count = fit->judged_rows;
    fit->simulator.deadline_s = 0; /* the errors after the fit are always known */
    return fit_point_simulate(&point, fit->after);
}
