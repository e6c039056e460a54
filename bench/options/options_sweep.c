/*
 * options_sweep.c: the arguments of `sweep`, and the checks of its options (options_sweep.h).
 */
#include "bench/options/options_sweep.h"

#include <string.h>

#include "bench/options/options_value.h"
#include "collectives/config/input/decimal.h"
#include "collectives/config/input/text.h"

int sweep_options_argument(struct option_parse *parse, int count, char **rest,
                           struct cw_error *error)
{
    struct sweep_options *const sweep = parse->values;
    char quoted[TEXT_QUOTE_BYTES];
    (void)count;
    if (!sweep->merge && sweep->study == NULL && strcmp(rest[0], "merge") == 0) {
        sweep->merge = true;
        return 1;
    }
    if (sweep->merge && sweep->input_count < SWEEP_INPUTS_MAX) {
        sweep->inputs[sweep->input_count++] = rest[0];
        return 1;
    }
    if (!sweep->merge && sweep->study == NULL) {
        sweep->study = rest[0];
        return 1;
    }
    struct text_nearest nearest = {0};
    if (!sweep->merge)
        text_nearest_try(&nearest, sweep->study, "merge");
    cw_error_set(error, CW_USAGE, "unexpected argument %s; %s%s",
                 text_quote(rest[0], strlen(rest[0]), quoted),
                 sweep->merge ? "at most 1024 databases at a time" : "one study at a time",
                 nearest.best != NULL ? "; did you mean 'sweep merge'?" : "");
    return 0;
}

int sweep_options_finish(struct option_parse *parse, struct cw_error *error)
{
    static const char *const not_merge[] = {"resume",  "extend",        "retry",      "jobs",
                                            "threads", "point-timeout", "max-memory", "shard",
                                            "emit",    "tasks",         "dry-run",    "quiet"};
    const struct sweep_options *const sweep = parse->values;
    if (sweep->merge && sweep->input_count == 0)
        return cw_error_set(error, CW_USAGE,
                            "name the databases: cubewarp sweep merge --db ALL.sqlite PART...");
    if (sweep->merge && sweep->db == NULL)
        return cw_error_set(error, CW_USAGE,
                            "name the database to make: cubewarp sweep merge --db ALL.sqlite "
                            "PART...");
    if (sweep->emit != SWEEP_HERE && sweep->db != NULL)
        return cw_error_set(error, CW_USAGE,
                            "--emit: each task has a database of its own, named after the study; "
                            "drop --db");
    for (size_t i = 0; i < sizeof not_merge / sizeof *not_merge; i++)
        if (sweep->merge && options_given(parse, not_merge[i]))
            return cw_error_set(error, CW_USAGE, "--%s: merge runs nothing, and takes --db alone",
                                not_merge[i]);
    if (sweep->extend && (sweep->dry_run || sweep->emit != SWEEP_HERE))
        return cw_error_set(error, CW_USAGE,
                            "--extend changes the database, and %s runs nothing; without --extend "
                            "it says how many points agree",
                            sweep->dry_run ? "--dry-run" : "--emit");
    if (sweep->emit != SWEEP_HERE && (sweep->resume || sweep->retry || sweep->dry_run))
        return cw_error_set(error, CW_USAGE,
                            "--emit: its tasks run the points that are open; drop --%s",
                            sweep->resume  ? "resume"
                            : sweep->retry ? "retry"
                                           : "dry-run");
    if (!sweep->merge && sweep->study == NULL)
        return cw_error_set(error, CW_USAGE, "name a study: cubewarp sweep STUDY.yaml");
    return CW_OK;
}
