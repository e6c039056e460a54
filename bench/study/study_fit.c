/*
 * study_fit.c: reads the keys of `fit`: nothing (default bounds), a mapping of bounds and a start,
 * or a list of values. A number that may have decimals is fitted; whatever else a key may be, a
 * count, a size, a name, has a list.
 */
#include "bench/study/study_fit.h"

#include <math.h>
#include <string.h>

#include "bench/study/study_setting.h"
#include "collectives/config/config_schema.h"

enum bound { BOUND_FROM, BOUND_TO, BOUND_START, BOUNDS };
static const char *const bounds[BOUNDS] = {"from", "to", "start"};

static double number_of(struct decimal value)
{
    return (double)value.mantissa / pow(10, value.places);
}

/* Reads one bound of a key, as a setting of it would be read. False: refused. */
static bool read_bound(struct config_loader *loader, const struct config_node *name,
                       const struct config_node *value, double *bound)
{
    struct study_setting setting;
    struct decimal number;
    if (!study_setting_read(loader, name, value, &setting))
        return false;
    *bound = decimal_parse(value->text, value->bytes, &number) ? number_of(number) : NAN;
    return !isnan(*bound);
}

static int bound_named(struct config_loader *loader, const char *key,
                       const struct config_node *name)
{
    char quoted[TEXT_QUOTE_BYTES];
    for (int i = 0; i < BOUNDS; i++)
        if (strcmp(name->text, bounds[i]) == 0)
            return i;
    config_error(loader, name->place, "%s: unknown key %s of a fit; legal are from, to, start", key,
                 text_quote_key(name->text, name->bytes, quoted));
    return -1;
}

static void read_bounds(struct config_loader *loader, const struct config_node *name,
                        struct study_fit *fit)
{
    double read[BOUNDS] = {NAN, NAN, NAN};
    for (const struct config_node *at = name->value->first; at != NULL; at = at->next) {
        const int bound = bound_named(loader, fit->name, at);
        if (bound < 0 || !read_bound(loader, name, at->value, &read[bound]))
            return;
    }
    fit->least = read[BOUND_FROM];
    fit->most = read[BOUND_TO];
    fit->start = read[BOUND_START];
    if (isnan(fit->least) != isnan(fit->most))
        config_error(loader, name->value->place,
                     "%s: expected both bounds, as in {from: 10, to: 100}; found one", fit->name);
    else if (fit->least >= fit->most)
        config_error(loader, name->value->place, "%s: expected from below to; found %g and %g",
                     fit->name, fit->least, fit->most);
    else if (fit->start < fit->least || fit->start > fit->most)
        config_error(loader, name->value->place,
                     "%s: expected a start between its bounds, %g to %g; found %g", fit->name,
                     fit->least, fit->most, fit->start);
}

static void read_list(struct config_loader *loader, const struct config_node *name,
                      struct study_fit *fit)
{
    uint32_t count = 0;
    for (const struct config_node *at = name->value->first; at != NULL; at = at->next)
        count++;
    if (count < 2) {
        config_error(loader, name->value->place,
                     "%s: expected a list of two values or more to choose from; found %u",
                     fit->name, count);
        return;
    }
    fit->values.list = config_arena_alloc(loader->arena, count * sizeof *fit->values.list);
    for (const struct config_node *at = name->value->first; at != NULL && fit->values.list != NULL;
         at = at->next)
        fit->values.count +=
            study_setting_read(loader, name, at, &fit->values.list[fit->values.count]);
}

static bool is_nothing(const struct config_node *node)
{
    return node->kind == CONFIG_SCALAR && node->bytes == 0;
}

static bool is_fitted(const struct config_key *key)
{
    return key != NULL && (key->type == CONFIG_DECIMAL || key->type == CONFIG_RATE);
}

/* Whether the name is of a key, and of one that the value's form suits. */
static bool suits(struct config_loader *loader, const struct config_node *name)
{
    const struct config_node *const value = name->value;
    const struct config_key *key = NULL;
    char quoted[TEXT_QUOTE_BYTES];
    if (!study_setting_key(loader, name, &key))
        return false;
    if (value->kind == CONFIG_SEQUENCE)
        return true;
    if (!is_fitted(key)) {
        config_error(loader, value->place,
                     "%s: not a number with decimals, so it is not fitted; expected a list of "
                     "values to choose from, as in [2, 4, 8]",
                     name->text);
        return false;
    }
    if (value->kind != CONFIG_MAPPING && !is_nothing(value)) {
        config_error(loader, value->place,
                     "%s: expected {from: A, to: B, start: C}, a list of values, or nothing; found "
                     "%s",
                     name->text, config_quote_node(value, quoted));
        return false;
    }
    return true;
}

static bool sets(const struct study_settings *settings, const char *name)
{
    for (uint32_t i = 0; i < settings->count; i++)
        if (strcmp(settings->list[i].name, name) == 0)
            return true;
    return false;
}

/* A key that an axis sets has another value at each point. */
static bool is_of_axis(const struct study *study, const char *name)
{
    for (uint32_t a = 0; a < study->axis_count; a++)
        for (uint32_t v = 0; v < study->axes[a].count; v++)
            if (sets(&study->axes[a].values[v].settings, name))
                return true;
    return false;
}

static bool stands_before(const struct study *study, const char *name)
{
    for (uint32_t i = 0; i < study->fit_count; i++)
        if (strcmp(study->fits[i].name, name) == 0)
            return true;
    return false;
}

static void read_fit(struct config_loader *loader, struct study *study,
                     const struct config_node *name)
{
    struct study_fit *const fit = &study->fits[study->fit_count];
    if (!suits(loader, name))
        return;
    *fit = (struct study_fit){.place = name->place, .least = NAN, .most = NAN, .start = NAN};
    fit->name = config_arena_text(loader->arena, name->text, name->bytes);
    if (fit->name == NULL)
        return;
    if (is_of_axis(study, fit->name))
        config_error(loader, name->place, "%s is set by an axis; expected a key that no axis sets",
                     fit->name);
    else if (stands_before(study, fit->name))
        config_error(loader, name->place, "%s stands twice in fit", fit->name);
    else if (name->value->kind == CONFIG_SEQUENCE)
        read_list(loader, name, fit);
    else if (name->value->kind == CONFIG_MAPPING)
        read_bounds(loader, name, fit);
    study->fit_count++;
}

void study_fits_read(struct config_loader *loader, struct study *study,
                     const struct config_node *node)
{
    uint32_t count = 0;
    for (const struct config_node *at = node->first; at != NULL; at = at->next)
        count++;
    if (count > STUDY_FITS_MAX) {
        config_error(loader, node->place, "fit: %u keys; at most %d are legal", count,
                     STUDY_FITS_MAX);
        return;
    }
    study->fits = config_arena_alloc(loader->arena, (count + 1) * sizeof *study->fits);
    for (const struct config_node *at = node->first; at != NULL && study->fits != NULL;
         at = at->next)
        read_fit(loader, study, at);
}
