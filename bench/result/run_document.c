/*
 * run_document.c: the steps of `cubewarp run` without its outputs: configuration, bench, judgement,
 * document.
 */
#include "bench/result/run_document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/options_run.h"
#include "bench/output/report_json.h"
#include "bench/programs/bench.h"
#include "bench/measured/measured.h"
#include "bench/result/provenance.h"
#include "bench/result/run_line.h"
#include "collectives/config/config_place.h"
#include "collectives/plugin.h"
#include "core/os/clock.h"
#include "core/os/text_stream.h"
#include "lp/host/wired.h"

struct run_kept {
    struct config *shipped; /* the configuration of a run without options; NULL: not loaded yet */
    /* Of the last run whose configuration follows from the shipped files and its options alone: */
    struct config *config; /* NULL: there was none */
    char *asked;           /* the options that it follows from, as text */
    const char *bench,
        *algorithm;         /* follow from it, too; static names; algorithm NULL: the option's */
    struct lp_wired *wired; /* machines of earlier runs; NULL: none are kept */
};

/* The state of one call. */
struct call {
    struct run_options *options;
    struct config *config;
    bool is_kept; /* the configuration: it is not the call's to free */
    struct run_kept *kept;
    FILE *notes; /* outcome->warnings */
    struct cw_error error;
};

struct run_kept *run_kept_create(uint64_t machine_bytes_max)
{
    struct run_kept *const kept = calloc(1, sizeof *kept);
    if (kept != NULL && machine_bytes_max > 0)
        kept->wired = lp_wired_create(machine_bytes_max); /* without it all is slower, not wrong */
    return kept;
}

void run_kept_free(struct run_kept *kept)
{
    if (kept != NULL) {
        config_free(kept->shipped);
        config_free(kept->config);
        free(kept->asked);
        lp_wired_free(kept->wired);
    }
    free(kept);
}

static void note_warning(void *arg, const char *text)
{
    const struct call *const call = arg;
    if (call->notes != NULL)
        fprintf(call->notes, "cubewarp: warning: %s\n", text);
}

/* ---- the configuration ----------------------------------------------------------------------- */

/* The errors of a configuration as one text. */
static int tell_errors(const struct config_errors *errors, int code, struct cw_error *error)
{
    char *text = NULL;
    size_t bytes;
    FILE *const file = code == CW_USAGE ? text_stream_open(&text, &bytes) : NULL;
    if (file == NULL)
        return cw_error_memory(error, "the configuration");
    config_errors_print(file, errors);
    (void)fclose(file);
    if (text == NULL)
        return cw_error_memory(error, "the errors of the configuration");
    if (bytes > 0)
        text[bytes - 1] = '\0'; /* the last line's end */
    cw_error_set(error, CW_USAGE, "%s", text);
    free(text);
    return CW_USAGE;
}

/*
 * The options that a configuration follows from, as one text, the caller's. NULL: it
 * follows from files that may change between two calls, or there is no memory.
 */
static char *asked_of(const struct run_options *run)
{
    const struct config_request *const request = &run->config;
    const char *const preset = request->preset != NULL ? request->preset : "";
    const char *const algorithm = request->algorithm != NULL ? request->algorithm : "";
    char *text = NULL;
    size_t bytes;
    if (request->topology != NULL || request->components != NULL || request->ccl != NULL ||
        request->no_plugins || strpbrk(preset, "./") != NULL || strpbrk(algorithm, "./") != NULL)
        return NULL;
    FILE *const stream = text_stream_open(&text, &bytes);
    if (stream == NULL)
        return NULL;
    fprintf(stream, "%s\n%s\n%s\n", run->is_bench_named ? run->bench : "", preset, algorithm);
    for (size_t i = 0; i < request->set_count; i++)
        fprintf(stream, "%s\n", request->sets[i]);
    return fclose(stream) == 0 ? text : NULL;
}

/* Takes the configuration that an earlier run has left, if it asked for the same. */
static bool take_kept(struct call *call, const char *asked)
{
    const struct run_kept *const kept = call->kept;
    if (kept == NULL || kept->config == NULL || asked == NULL || strcmp(kept->asked, asked) != 0)
        return false;
    call->config = kept->config;
    call->is_kept = true;
    call->options->bench = kept->bench;
    if (kept->algorithm != NULL)
        call->options->config.algorithm = kept->algorithm;
    return true;
}

/* Leaves the configuration for the next runs. `asked` is taken; `named`: the algorithm that the
 * options name, whose text is the caller's. */
static void keep_config(struct call *call, char *asked, const char *named)
{
    struct run_kept *const kept = call->kept;
    const char *const algorithm = call->options->config.algorithm;
    config_free(kept->config);
    free(kept->asked);
    kept->config = call->config;
    kept->asked = asked;
    kept->bench = call->options->bench;
    kept->algorithm = algorithm != named ? algorithm : NULL;
    call->is_kept = true;
}

static int configure(struct call *call)
{
    struct config_errors errors = {0};
    const enum run_line_bench bench =
        call->options->is_bench_named ? RUN_LINE_BENCH : RUN_LINE_ANY_BENCH;
    const char *const named = call->options->config.algorithm;
    char *asked = call->kept != NULL ? asked_of(call->options) : NULL;
    int code = CW_OK;
    if (!take_kept(call, asked)) {
        code = run_line_configure(call->options, bench, &call->config, &errors);
        if (code == CW_OK && asked != NULL) {
            keep_config(call, asked, named);
            asked = NULL;
        }
    }
    free(asked);
    if (code != CW_OK)
        tell_errors(&errors, code, &call->error);
    else if (call->notes != NULL)
        config_print_unread(call->notes, call->config);
    config_errors_free(&errors);
    return code;
}

static bool is_stdout(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

/* Refuses the options of results that the caller takes as an object. */
static int check_outputs_of(const struct run_options *options, struct cw_error *error)
{
    const char *const refused = options->json != NULL           ? "--json"
                                : options->csv != NULL          ? "--csv"
                                : options->dump_pointers        ? "--dump-pointers"
                                : options->again != NULL        ? "--again"
                                : is_stdout(options->ccl_trace) ? "--ccl-trace -"
                                                                : NULL;
    if (refused == NULL)
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "%s: the result of this run goes to the program that asked for it; drop it",
                        refused);
}

static int prepare(struct call *call, double begun_s)
{
    struct run_options *const options = call->options;
    if (check_outputs_of(options, &call->error) != CW_OK)
        return CW_USAGE;
    options->quiet = true;
    options->warn = note_warning;
    options->warn_arg = call;
    options->wired = call->kept != NULL ? call->kept->wired : NULL;
    options->begun_s = begun_s;
    return configure(call);
}

/* Runs, judges, and makes the document, also of a run that failed on the machine. */
static int run_configured(struct call *call, int argc, char *const *argv,
                          struct run_outcome *outcome)
{
    struct cw_error *const error = &call->error;
    struct result result = {.document = true};
    struct config **const shipped = call->kept != NULL ? &call->kept->shipped : NULL;
    result.provenance = provenance_of_run(argc, argv, call->options, call->config, shipped);
    if (result.provenance == NULL || !provenance_columns(call->options, &result)) {
        result_free(&result);
        return cw_error_memory(error, "the result's provenance");
    }
    struct measured *measured = NULL;
    int code = run_options_check(call->options, &call->config->hw, error);
    const struct measured_wish wish =
        measured_wish(call->options, bench_collective(call->options->bench));
    if (code == CW_OK && call->options->measured != NULL)
        code = measured_read(call->options->measured, &wish, &measured, error);
    if (measured != NULL)
        measured_say(measured, call->notes);
    if (code == CW_OK)
        code = bench_run(call->options, call->config, &result, error);
    if (measured != NULL)
        measured_attach(measured, &result);
    if (code == CW_OK || result.failure != NULL) {
        outcome->document = report_document(&result);
        outcome->digits = report_digits(&result);
    }
    measured_free(measured);
    if (code == CW_OK && outcome->document == NULL)
        code = cw_error_memory(error, "the JSON result");
    if (code == CW_OK)
        code = result_judge(&result, call->config->hw.contention != HW_CONTENTION_NONE,
                            plugin_is_path(call->config->ccl.module), error);
    result_free(&result);
    return code;
}

int run_document(struct run_options *options, int argc, char *const *argv, struct run_kept *kept,
                 struct run_outcome *outcome)
{
    const double begun_s = clock_s();
    struct call call = {.options = options, .kept = kept};
    size_t bytes;
    *outcome = (struct run_outcome){.digits = 15};
    call.notes = text_stream_open(&outcome->warnings, &bytes);
    outcome->exit_code = prepare(&call, begun_s);
    if (outcome->exit_code == CW_OK)
        outcome->exit_code = run_configured(&call, argc, argv, outcome);
    if (outcome->exit_code != CW_OK)
        outcome->message = strdup(cw_error_text(&call.error));
    if (call.notes != NULL && fclose(call.notes) == 0 && bytes == 0) {
        free(outcome->warnings);
        outcome->warnings = NULL;
    }
    if (!call.is_kept)
        config_free(call.config);
    outcome->wall_s = clock_s() - begun_s;
    return outcome->exit_code;
}

void run_outcome_free(struct run_outcome *outcome)
{
    json_decref(outcome->document);
    free(outcome->message);
    free(outcome->warnings);
    *outcome = (struct run_outcome){.exit_code = CW_OK};
}
