/*
 * parameters.c: takes the keys to be moved from a study and its configuration (parameters.h).
 */
#include "bench/calibrate/parameters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectives/config/config_tree.h"

enum { BOUND_FACTOR = 8, DIGITS = 6, PLACES_MAX = 6 };

static double number_of(struct decimal value)
{
    return (double)value.mantissa / pow(10, value.places);
}

/* The value in force of a key, and its row in the schema; NULL: not given. */
static const struct config_value *value_in_force(const struct config_tree *tree, const char *name,
                                                 const struct config_key **key)
{
    static const char defaults[] = "defaults.", algorithms[] = "algorithms.";
    const int machine = config_machine_find(name);
    char entry[CCL_NAME_BYTES] = "";
    if (machine >= 0) {
        *key = &config_machine_keys[machine];
        return &tree->machine[machine];
    }
    const char *rest = NULL;
    if (strncmp(name, defaults, strlen(defaults)) == 0)
        rest = name + strlen(defaults);
    if (strncmp(name, algorithms, strlen(algorithms)) == 0) {
        const char *const from = name + strlen(algorithms), *const dot = strchr(from, '.');
        snprintf(entry, sizeof entry, "%.*s", (int)(dot - from), from);
        rest = dot + 1;
    }
    const int found = rest != NULL ? config_ccl_find(rest) : -1;
    if (found < 0)
        return NULL;
    *key = &config_ccl_keys[found];
    return entry[0] != '\0' ? config_ccl_value(tree, config_algorithm_find(tree, entry), found)
                            : &tree->defaults[found];
}

/* Names the place of a fit's key in an error. */
static int refuse(const struct parameters *parameters, const struct study_fit *fit,
                  struct cw_error *error, const char *text)
{
    char place[300];
    return cw_error_set(
        error, CW_USAGE, "%s: %s: %s",
        config_place_text(parameters->study->sources, fit->place, place, sizeof place), fit->name,
        text);
}

/* Bounds around the start, no wider than what is legal for the key. */
static void default_bounds(struct parameter *parameter, const struct config_key *key)
{
    const double least = key->min != NULL ? number_of(decimal_literal(key->min)) : 0;
    const double most = key->max != NULL ? number_of(decimal_literal(key->max)) : HUGE_VAL;
    parameter->least = fmax(parameter->start / BOUND_FACTOR, least);
    parameter->most = fmin(parameter->start * BOUND_FACTOR, most);
}

static int read_fitted(struct parameters *parameters, const struct study_fit *fit,
                       const struct config_tree *tree, struct cw_error *error)
{
    struct parameter *const parameter = &parameters->list[parameters->count];
    const struct config_key *key = NULL;
    const struct config_value *const value = value_in_force(tree, fit->name, &key);
    const bool is_given = value != NULL && config_given(value);
    *parameter = (struct parameter){.name = fit->name,
                                    .before = is_given ? number_of(value->number) : NAN,
                                    .least = fit->least,
                                    .most = fit->most,
                                    .start = fit->start};
    if (isnan(parameter->start))
        parameter->start = parameter->before;
    if (isnan(parameter->start))
        return refuse(parameters, fit, error,
                      "the configuration has no value of it; expected a start in the study's fit");
    if (isnan(parameter->least) && parameter->start == 0)
        return refuse(parameters, fit, error,
                      "its value is 0, from which no bounds follow; expected {from: A, to: B} in "
                      "the study's fit");
    if (isnan(parameter->least))
        default_bounds(parameter, key);
    if (parameter->start < parameter->least || parameter->start > parameter->most)
        return refuse(parameters, fit, error,
                      "the configuration's value is not between its bounds; expected a start that "
                      "is");
    parameters->count++;
    return CW_OK;
}

int parameters_read(const struct study *study, const struct config *config,
                    struct parameters *parameters, struct cw_error *error)
{
    int code = CW_OK;
    *parameters = (struct parameters){.study = study};
    for (uint32_t i = 0; i < study->fit_count && code == CW_OK; i++)
        if (study->fits[i].values.count == 0)
            code = read_fitted(parameters, &study->fits[i], config->tree, error);
    parameters->fitted = parameters->count;
    for (uint32_t i = 0; i < study->fit_count && code == CW_OK; i++)
        if (study->fits[i].values.count > 0)
            parameters->list[parameters->count++] = (struct parameter){
                .name = study->fits[i].name, .values = &study->fits[i].values, .before = NAN};
    return code;
}

double parameter_value(const struct parameter *parameter, double x)
{
    if (parameter->least > 0)
        return parameter->least * pow(parameter->most / parameter->least, x);
    return parameter->least + x * (parameter->most - parameter->least);
}

double parameter_coordinate(const struct parameter *parameter, double value)
{
    if (parameter->least > 0)
        return log(value / parameter->least) / log(parameter->most / parameter->least);
    return (value - parameter->least) / (parameter->most - parameter->least);
}

const char *parameter_text(const struct parameters *parameters, uint32_t index,
                           const struct assignment *assignment, char text[PARAMETER_TEXT_BYTES])
{
    const struct parameter *const parameter = &parameters->list[index];
    if (parameter->values != NULL) {
        const uint32_t chosen = assignment->chosen[index];
        snprintf(text, PARAMETER_TEXT_BYTES, "%s", parameter->values->list[chosen].argument);
        return text;
    }
    const double value = parameter_value(parameter, assignment->x[index]);
    const int places = value > 0 ? DIGITS - 1 - (int)floor(log10(value)) : 0;
    snprintf(text, PARAMETER_TEXT_BYTES, "%s=%.*f", parameter->name,
             places < 0            ? 0
             : places > PLACES_MAX ? PLACES_MAX
                                   : places,
             value);
    return text;
}
