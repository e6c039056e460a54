/*
 * study_cost.c: reads `equal_cost` of a study, and finds each point's scale of its links: a
 * machine's cost is a fixed part, and one that grows with the scale.
 */
#include "bench/study/study_cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/options_run.h"
#include "bench/study/study_estimate.h"
#include "bench/study/study_points.h"
#include "bench/study/study_setting.h"
#include "collectives/config/config_load.h"
#include "collectives/config/config_tree.h"
#include "hw/topology/built.h"

/* Legal values of a scale, as in the schema. */
static const double scale_min = 0.001, scale_max = 1000;

struct equal_cost {
    struct config_loader *loader;
    struct study *study;
    struct config_place place;
    const char *knob;       /* the key: "links.scale" */
    enum hw_link_kind kind; /* of the links that it scales; HW_LINK_KINDS: all between SIPs */
    double budget;          /* NAN: that of the point with these values on these axes */
    uint32_t *of;           /* [axis_count] values; UINT32_MAX: the point's own */
};

/* ---- the mapping ----------------------------------------------------------------------------- */

static bool is_knob(const char *name, enum hw_link_kind *kind)
{
    char key[64];
    *kind = HW_LINK_KINDS;
    if (strcmp(name, "links.scale") == 0)
        return true;
    for (enum hw_link_kind k = 0; k < HW_LINK_KEYED; k++) {
        snprintf(key, sizeof key, "links.%s.scale", hw_link_name[k]);
        if (hw_link_is_outer(k) && strcmp(name, key) == 0) {
            *kind = k;
            return true;
        }
    }
    return false;
}

static void read_knob(struct equal_cost *equal, const struct config_node *node)
{
    char quoted[TEXT_QUOTE_BYTES];
    if (node->kind != CONFIG_SCALAR || !is_knob(node->text, &equal->kind)) {
        config_error(equal->loader, node->place,
                     "equal_cost: knob: expected links.scale, links.sip_link.scale, "
                     "links.sio.scale or links.hccs.scale, which scale bandwidth, cost and watts "
                     "together; found %s",
                     config_quote_node(node, quoted));
        return;
    }
    equal->knob = config_arena_text(equal->loader->arena, node->text, node->bytes);
}

static void read_budget(struct equal_cost *equal, const struct config_node *node)
{
    struct decimal budget;
    char quoted[TEXT_QUOTE_BYTES];
    if (node->kind == CONFIG_SCALAR && decimal_parse(node->text, node->bytes, &budget) &&
        budget.mantissa > 0)
        equal->budget = (double)budget.mantissa / pow(10, budget.places);
    else
        config_error(equal->loader, node->place,
                     "equal_cost: budget: expected a number above 0; found %s",
                     config_quote_node(node, quoted));
}

/* Axes that advance together stay together. */
static void take_value(struct equal_cost *equal, uint32_t axis, uint32_t value)
{
    for (uint32_t a = 0; a < equal->study->axis_count; a++)
        if (equal->study->axes[a].leader == equal->study->axes[axis].leader)
            equal->of[a] = value;
}

static void read_of(struct equal_cost *equal, const struct config_node *node)
{
    const struct study *const study = equal->study;
    char quoted[TEXT_QUOTE_BYTES];
    equal->of =
        config_arena_alloc(equal->loader->scratch, (study->axis_count + 1) * sizeof *equal->of);
    for (uint32_t a = 0; a < study->axis_count && equal->of != NULL; a++)
        equal->of[a] = UINT32_MAX;
    if (node->kind != CONFIG_MAPPING || node->first == NULL) {
        config_error(equal->loader, node->place,
                     "equal_cost: of: expected a mapping from axes to values, such as {machine: "
                     "torus}; found %s",
                     config_quote_node(node, quoted));
        return;
    }
    for (const struct config_node *at = node->first; at != NULL && equal->of != NULL;
         at = at->next) {
        const int axis = study_axis_find(equal->loader, study, at);
        const int value =
            axis < 0 ? -1 : study_value_find(equal->loader, &study->axes[axis], at->value);
        if (value >= 0)
            take_value(equal, (uint32_t)axis, (uint32_t)value);
    }
}

static bool read_mapping(struct equal_cost *equal, const struct config_node *node)
{
    const size_t errors = equal->loader->errors->count;
    char quoted[TEXT_QUOTE_BYTES];
    for (const struct config_node *at = node->first; at != NULL; at = at->next)
        if (strcmp(at->text, "knob") == 0)
            read_knob(equal, at->value);
        else if (strcmp(at->text, "budget") == 0)
            read_budget(equal, at->value);
        else if (strcmp(at->text, "of") == 0)
            read_of(equal, at->value);
        else
            config_error(equal->loader, at->place,
                         "equal_cost: unknown key %s; legal are budget, of, knob",
                         text_quote_key(at->text, at->bytes, quoted));
    if (equal->loader->errors->count == errors && isnan(equal->budget) == (equal->of == NULL))
        config_error(equal->loader, node->place,
                     "equal_cost: expected one of budget: NUMBER and of: {AXIS: VALUE}");
    for (uint32_t a = 0; a < equal->study->axis_count; a++)
        if (strcmp(equal->study->axes[a].name, equal->knob) == 0)
            config_error(equal->loader, equal->study->axes[a].place,
                         "%s is an axis, and equal_cost sets it for each point", equal->knob);
    return equal->loader->errors->count == errors;
}

/* ---- costs ----------------------------------------------------------------------------------- */

struct machine_cost {
    bool known;
    double all, scaled; /* `scaled`: of the links that the knob scales, */
    double scale;       /* by this now */
};

static bool is_scaled(const struct equal_cost *equal, enum hw_link_kind kind)
{
    return equal->kind == HW_LINK_KINDS || equal->kind == kind ||
           (equal->kind == HW_LINK_SIP_LINK && kind >= HW_LINK_CLASS_1);
}

static struct machine_cost cost_of(const struct equal_cost *equal, const struct config *config)
{
    const struct hw_built built = hw_built_of(&config->hw);
    const struct config_value *const scale = config_machine_value(config->tree, equal->knob);
    struct machine_cost cost = {.known = true, .all = built.cost, .scale = 1};
    if (config_given(scale))
        cost.scale = (double)scale->number.mantissa / pow(10, scale->number.places);
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        if (is_scaled(equal, kind))
            cost.scaled +=
                (double)built.links[kind] * (double)config->hw.link_price[kind].cost / 1e6;
    return cost;
}

/* Of the machine with these values on the axes. */
static struct machine_cost cost_at(struct equal_cost *equal, const uint32_t *at)
{
    struct run_options *const run = malloc(sizeof *run);
    struct option_parse parse = {.command = COMMAND_RUN, .values = run};
    struct study_settings settings = study_settings_at(equal->study, at);
    struct config_errors errors = {0};
    struct config *config = NULL;
    struct machine_cost cost = {0};
    struct cw_error ignored;
    if (run == NULL || settings.list == NULL) {
        equal->loader->arena->failed = true;
    } else {
        run_options_defaults(run);
        if (study_settings_give(&settings, &parse, &ignored) == CW_OK &&
            config_load(&run->config, &config, &errors) == CW_OK)
            cost = cost_of(equal, config);
    }
    config_errors_free(&errors);
    config_free(config);
    free(settings.list);
    free(run);
    return cost;
}

/* ---- points ---------------------------------------------------------------------------------- */

static void fail_point(struct equal_cost *equal, uint32_t point, const char *why)
{
    char *const label = study_label(equal->study, point);
    config_error(equal->loader, equal->place, "equal_cost: %s (point %s)", why,
                 label != NULL ? label : "");
    free(label);
}

/* What the point is to cost; NAN: an error was reported. */
static double budget_of(struct equal_cost *equal, uint32_t point)
{
    const struct study *const study = equal->study;
    if (equal->of == NULL)
        return equal->budget;
    uint32_t *const at =
        config_arena_alloc(equal->loader->scratch, (study->axis_count + 1) * sizeof *at);
    for (uint32_t a = 0; a < study->axis_count && at != NULL; a++)
        at[a] = equal->of[a] != UINT32_MAX ? equal->of[a] : study->points[point].at[a];
    struct machine_cost cost = {0};
    if (at != NULL)
        cost = cost_at(equal, at);
    if (cost.known && cost.all > 0)
        return cost.all;
    fail_point(equal, point,
               cost.known ? "the machine of `of` costs nothing; give its links a cost"
                          : "the configuration of `of` is not legal");
    return NAN;
}

/* The scale at which the point costs the budget; 0: there is none, which may have been reported. */
static double scale_of(struct equal_cost *equal, uint32_t point)
{
    const struct machine_cost cost = cost_at(equal, equal->study->points[point].at);
    char why[300];
    if (!cost.known)
        return 0;
    const double budget = budget_of(equal, point), fixed = cost.all - cost.scaled;
    if (isnan(budget))
        return 0;
    if (cost.scaled <= 0) {
        snprintf(why, sizeof why, "the machine's cost does not depend on %s; give its links a cost",
                 equal->knob);
        fail_point(equal, point, why);
        return 0;
    }
    const double scale = cost.scale * (budget - fixed) / cost.scaled;
    if (scale >= scale_min && scale <= scale_max)
        return scale;
    snprintf(why, sizeof why,
             "the budget is %.15g, and the machine costs %.15g without the links that %s scales "
             "and %.15g with them; a scale is from %g to %g",
             budget, fixed, equal->knob, cost.all, scale_min, scale_max);
    fail_point(equal, point, why);
    return 0;
}

/* "links.scale=1.25" */
static void set_knob(struct equal_cost *equal, struct study_point *point, double scale)
{
    static char option[] = "--set";
    struct config_arena *const arena = &equal->study->arena;
    char text[96];
    size_t bytes = (size_t)snprintf(text, sizeof text, "%s=%.6f", equal->knob, scale);
    while (text[bytes - 1] == '0')
        bytes--;
    bytes -= text[bytes - 1] == '.';
    struct study_setting *const knob = config_arena_alloc(arena, sizeof *knob);
    if (knob == NULL)
        return;
    *knob = (struct study_setting){.name = equal->knob,
                                   .row = study_option("set"),
                                   .option = option,
                                   .argument = config_arena_text(arena, text, bytes),
                                   .place = equal->place};
    point->knob = knob->argument != NULL ? knob : NULL;
}

/* Whether a setting may change what a machine costs. */
static bool is_of_machine(const struct study_setting *setting)
{
    static const char *const options[] = {"preset", "topology", "components"};
    static const char *const keys[] = {"system.", "sip.", "links.", "nodes."};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(setting->name, options[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strncmp(setting->name, keys[i], strlen(keys[i])) == 0)
            return true;
    return false;
}

static void set_knobs(struct equal_cost *equal)
{
    struct study *const study = equal->study;
    const uint32_t count = study->point_count;
    uint32_t *const points = calloc((size_t)count + 1, sizeof *points);
    uint32_t *const first = calloc((size_t)count + 1, sizeof *first);
    double *const scale = calloc((size_t)count + 1, sizeof *scale);
    const size_t errors = equal->loader->errors->count;
    for (uint32_t i = 0; i < count && points != NULL; i++)
        points[i] = i;
    if (points == NULL || first == NULL || scale == NULL ||
        !study_find_alike(study, points, count, is_of_machine, first)) {
        study->arena.failed = true;
    } else {
        for (uint32_t i = 0; i < count && equal->loader->errors->count == errors; i++) {
            scale[i] = first[i] < i ? scale[first[i]] : scale_of(equal, i);
            if (scale[i] > 0)
                set_knob(equal, &study->points[i], scale[i]);
        }
    }
    free(points);
    free(first);
    free(scale);
}

void study_equal_cost(struct config_loader *loader, struct study *study,
                      const struct config_node *equal_cost)
{
    struct equal_cost equal = {.loader = loader,
                               .study = study,
                               .place = equal_cost->place,
                               .knob = "links.scale",
                               .kind = HW_LINK_KINDS,
                               .budget = NAN};
    if (read_mapping(&equal, equal_cost))
        set_knobs(&equal);
}
