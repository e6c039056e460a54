/*
 * options_calibrate.c: the arguments of `calibrate`, and the checks of its options: a study, or
 * tables with the options that a study would have.
 */
#include "bench/options/options_calibrate.h"

#include <string.h>

#include "bench/options/options_value.h"

enum { STARTS = 3, LIMIT_S = 600 };

void calibrate_options_defaults(struct calibrate_options *calibrate)
{
    *calibrate = (struct calibrate_options){.seed = 1, .starts = STARTS, .limit_s = LIMIT_S};
}

static bool is_study(const char *path)
{
    const char *const dot = strrchr(path, '.');
    return dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

int calibrate_options_argument(struct option_parse *parse, int count, char **rest,
                               struct cw_error *error)
{
    struct calibrate_options *const calibrate = parse->values;
    (void)count;
    if (calibrate->study != NULL || (is_study(rest[0]) && calibrate->table_count > 0)) {
        cw_error_set(error, CW_USAGE,
                     "unexpected argument '%s'; expected one study, which names its tables, or "
                     "tables alone",
                     rest[0]);
        return 0;
    }
    if (is_study(rest[0])) {
        calibrate->study = rest[0];
        return 1;
    }
    if (calibrate->table_count == CALIBRATE_TABLES_MAX) {
        cw_error_set(error, CW_USAGE, "at most %d tables at a time", CALIBRATE_TABLES_MAX);
        return 0;
    }
    calibrate->tables[calibrate->table_count++] = rest[0];
    return 1;
}

int calibrate_options_read_set(struct option_parse *parse, const struct option_row *row,
                               const char *text, struct cw_error *error)
{
    struct calibrate_options *const calibrate = parse->values;
    const char *const equals = strchr(text, '=');
    (void)row;
    if (equals == NULL || equals == text)
        return cw_error_set(error, CW_USAGE, "--set %s: expected KEY=VALUE", text);
    if (calibrate->set_count == CALIBRATE_SETS_MAX)
        return cw_error_set(error, CW_USAGE, "--set: at most %d times", CALIBRATE_SETS_MAX);
    calibrate->sets[calibrate->set_count++] = text;
    return CW_OK;
}

int calibrate_options_finish(struct option_parse *parse, struct cw_error *error)
{
    static const char *const of_tables[] = {"preset", "algorithm",      "dtype",
                                            "set",    "measured-place", "fit"};
    const struct calibrate_options *const calibrate = parse->values;
    if (calibrate->study == NULL && calibrate->table_count == 0)
        return cw_error_set(error, CW_USAGE,
                            "name measured tables, or a study that does: cubewarp calibrate "
                            "MEASURED... --preset P --fit KEY,KEY");
    for (size_t i = 0; i < sizeof of_tables / sizeof *of_tables; i++)
        if (calibrate->study != NULL && options_given(parse, of_tables[i]))
            return cw_error_set(error, CW_USAGE, "--%s: the study says it; drop it, or edit %s",
                                of_tables[i], calibrate->study);
    if (calibrate->study == NULL && calibrate->fit == NULL)
        return cw_error_set(error, CW_USAGE,
                            "name the keys to fit: --fit links.sip_link.bw_gbs,launch_static_ns");
    return CW_OK;
}
