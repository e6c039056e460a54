/*
 * survey_result.c: makes points and rows of a survey from result documents (survey_result.h). Times
 * in the documents are ns; figures here are µs.
 */
#include "bench/survey/survey_result.h"

#include <math.h>
#include <string.h>

#include "bench/result/result_document.h"

static const double NS_PER_US = 1e3, BYTES_PER_MIB = 1048576.0, PJ_PER_J = 1e12;

static double number_of_count(int64_t count) { return count >= 0 ? (double)count : NAN; }

/* Any value as the text of an axis. */
static char *survey_json_text(struct survey *survey, const json_t *value)
{
    if (json_is_string(value))
        return survey_text(survey, json_string_value(value));
    if (json_is_real(value))
        return survey_print(survey, "%.15g", json_real_value(value));
    char *const dump = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    char *const text = dump == NULL ? NULL : survey_text(survey, dump);
    free(dump);
    if (text == NULL)
        survey->no_memory = true;
    return text;
}

/* The key of the algorithm, which is an axis of its own. */
static const char algorithm_key[] = "defaults.algorithm";

static void survey_put_members(struct survey *survey, uint32_t *axis, const json_t *object,
                               enum survey_axis_kind kind)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) if (!json_is_null(value))
        survey_put(survey, axis, key, kind, survey_json_text(survey, value));
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void take_phases(struct survey *survey, struct survey_row *row,
                        const struct document_row *from)
{
    if (from->phase_count == 0)
        return;
    row->phases = survey_alloc(survey, from->phase_count * sizeof *row->phases);
    for (size_t i = 0; row->phases != NULL && i < from->phase_count; i++) {
        const struct document_phase *const phase = &from->phases[i];
        row->phases[row->phase_count++] =
            (struct survey_phase){phase->name, phase->min_ns / NS_PER_US,
                                  phase->mean_ns / NS_PER_US, phase->max_ns / NS_PER_US};
    }
}

static void take_kinds(struct survey *survey, struct survey_row *row,
                       const struct document_row *from)
{
    if (from->kind_count == 0)
        return;
    row->kinds = survey_alloc(survey, from->kind_count * sizeof *row->kinds);
    for (size_t i = 0; row->kinds != NULL && i < from->kind_count; i++) {
        const struct document_link_kind *const kind = &from->kinds[i];
        row->kinds[row->kind_count++] = (struct survey_link_kind){
            kind->kind, number_of_count(kind->links), kind->bytes, kind->busy};
    }
}

/* The figures of one size. */
static void take_figures(struct survey_row *row, const struct document_row *from)
{
    double *const figure = row->figure;
    figure[FIGURE_TIME] = from->time_ns / NS_PER_US;
    figure[FIGURE_ALGBW] = from->algbw_gbs;
    figure[FIGURE_BUSBW] = from->busbw_gbs;
    figure[FIGURE_BOUND] = from->bound_ns > 0 ? from->bound_ns / NS_PER_US : NAN;
    if (figure[FIGURE_TIME] > 0)
        figure[FIGURE_EFFICIENCY] = 100 * figure[FIGURE_BOUND] / figure[FIGURE_TIME];
    figure[FIGURE_MEASURED] = from->measured_ns / NS_PER_US;
    figure[FIGURE_ERROR] = from->error_percent;
    figure[FIGURE_CREDIT_WAIT] = from->credit_wait_ns / NS_PER_US;
    figure[FIGURE_HOST_TIME] = from->host_time_ns / NS_PER_US;
    figure[FIGURE_MOVED] = from->moved_per_rank;
    figure[FIGURE_TIME_COST] = from->time_cost_us;
    figure[FIGURE_JOULES] = from->joules;
    figure[FIGURE_JOULES_PER_BYTE] = PJ_PER_J * from->joules_per_byte;
    row->wrong = from->wrong;
    row->ranks_differ = from->ranks_differ;
    row->not_finite = from->not_finite;
}

/* The figures from FIGURE_EVENTS on. The memory is the process's, which in a sweep has run other
 * points, too. */
static void take_engine(const struct document_engine *engine, double *figure)
{
    figure[FIGURE_EVENTS] = engine->events;
    figure[FIGURE_EVENT_RATE] = engine->events_per_s;
    figure[FIGURE_WALL] = engine->setup_s + engine->run_s;
    figure[FIGURE_MEMORY] = engine->peak_rss_bytes / BYTES_PER_MIB;
}

static void take_row(struct survey *survey, const struct result_document *document,
                     const struct document_row *from)
{
    struct survey_row *const row = survey_row_add(survey);
    if (row == NULL)
        return;
    survey_put(survey, row->axis, "collective", AXIS_RESULT, from->collective);
    survey_put(survey, row->axis, "dtype", AXIS_RESULT, from->dtype);
    survey_put(survey, row->axis, "redop", AXIS_RESULT, from->redop);
    survey_put(survey, row->axis, "schedule", AXIS_RESULT, from->algorithm);
    survey_put(survey, row->axis, "placement", AXIS_RESULT, from->placement);
    const bool is_step = from->collective != NULL && strcmp(from->collective, "step") == 0;
    if (!is_step) /* which has no size */
        survey_put_number(survey, row->axis, "bytes", AXIS_SIZE, number_of_count(from->bytes));
    survey_put_number(survey, row->axis, "bytes_per_rank", AXIS_SIZE,
                      number_of_count(from->bytes_per_rank));
    survey_put_number(survey, row->axis, "shards_per_rank", AXIS_MACHINE,
                      number_of_count(from->shards_per_rank));
    row->not_run = from->not_run;
    row->bound_by = from->bound_by;
    if (row->not_run == NULL)
        take_figures(row, from);
    row->figure[FIGURE_LINKS] = number_of_count(document->links_built);
    row->figure[FIGURE_COST] = document->cost;
    row->figure[FIGURE_WATTS] = document->watts;
    take_engine(&document->engine, row->figure);
    take_phases(survey, row, from);
    take_kinds(survey, row, from);
    row->explain = from->explain;
}

/* ---- points ---------------------------------------------------------------------------------- */

static void take_state(struct survey *survey, struct survey_point *point,
                       const struct result_document *document)
{
    if (document->interrupted) {
        point->state = STATE_INTERRUPTED;
        point->message = "interrupted: the sizes that were done are here";
    }
    if (document->failure != NULL) {
        point->state = STATE_FAILED;
        point->message =
            document->failure[0] != '\0' ? survey_text(survey, document->failure) : NULL;
    }
}

static void take_provenance(struct survey *survey, struct survey_point *point)
{
    const json_t *const provenance = point->provenance;
    survey_put_members(survey, point->axis, json_object_get(provenance, "tags"), AXIS_TAG);
    survey_put_members(survey, point->axis, json_object_get(provenance, "changed"), AXIS_CHANGED);
    const json_t *const preset = json_object_get(provenance, "preset");
    if (json_is_string(preset))
        survey_put(survey, point->axis, "preset", AXIS_RESULT, json_string_value(preset));
}

/* The algorithm that was asked for. Each row says which of its schedules ran. */
static void take_algorithm(struct survey *survey, struct survey_point *point,
                           const struct result_document *document)
{
    const char *const asked = json_string_value(
        json_object_get(json_object_get(point->provenance, "changed"), algorithm_key));
    survey_put(survey, point->axis, "algorithm", AXIS_RESULT,
               asked != NULL ? asked : document->algorithm);
}

static void take_run(struct survey *survey, struct survey_point *point,
                     const struct result_document *document)
{
    survey_put(survey, point->axis, "bench", AXIS_RESULT, document->bench);
    take_algorithm(survey, point, document);
    survey_put(survey, point->axis, "input", AXIS_RESULT, document->input);
    survey_put_number(survey, point->axis, "sips", AXIS_MACHINE, number_of_count(document->sips));
    survey_put_number(survey, point->axis, "cubes", AXIS_MACHINE, number_of_count(document->cubes));
    survey_put_number(survey, point->axis, "pes", AXIS_MACHINE, number_of_count(document->pes));
}

static void take_threads(struct survey *survey, struct survey_point *point,
                         const struct document_engine *engine)
{
    survey_put_number(survey, point->axis, "threads", AXIS_MACHINE,
                      number_of_count(engine->threads));
    survey_put(survey, point->axis, "sync", AXIS_MACHINE, engine->sync);
}

/* A plan that does not fit is no candidate for anything. */
static const char *no_room(struct survey *survey, const json_t *step)
{
    static const double GIB = 1024.0 * 1024 * 1024;
    return survey_print(survey, "does not fit: %.1f GiB of a rank, %.1f GiB of HBM",
                        json_number_value(json_object_get(step, "memory_bytes")) / GIB,
                        json_number_value(json_object_get(step, "hbm_bytes")) / GIB);
}

static void take_document(struct survey *survey, struct survey_point *point,
                          const struct result_document *document)
{
    point->document = document->json;
    point->provenance = document->provenance;
    point->picture = document->picture;
    take_state(survey, point, document);
    take_provenance(survey, point);
    if (document->is_run) {
        take_run(survey, point, document);
        take_threads(survey, point, &document->engine);
        survey_put(survey, point->axis, "config_digest", AXIS_SOURCE, document->config_digest);
        const json_t *const step = json_object_get(document->json, "step");
        /* Of a step its first row: the others are parts of it. */
        for (size_t i = 0; i < document->row_count && (i == 0 || step == NULL); i++)
            take_row(survey, document, &document->rows[i]);
        if (json_is_false(json_object_get(step, "fits")) && point->row_count > 0)
            survey->rows[point->first_row].not_run = no_room(survey, step);
    } else { /* one row, of the engine's figures; the options are axes */
        survey_put(survey, point->axis, "bench", AXIS_RESULT, "phold");
        survey_put_members(survey, point->axis, document->phold, AXIS_RESULT);
        take_threads(survey, point, &document->engine);
        struct survey_row *const row = survey_row_add(survey);
        if (row != NULL)
            take_engine(&document->engine, row->figure);
    }
    if (point->row_count > 0)
        point->seconds = survey->rows[point->first_row].figure[FIGURE_WALL];
}

int survey_result_fill(struct survey *survey, struct survey_point *point, json_t *json,
                       struct cw_error *error)
{
    struct result_document document;
    if (point->source == NULL) /* there was no memory for it */
        return cw_error_memory(error, "the results");
    const int code = result_document_of(json, point->source, &document, error);
    if (code != CW_OK)
        return code;
    take_document(survey, point, &document);
    result_document_free(&document);
    return CW_OK;
}

int survey_result_read(struct survey *survey, const char *path, const char *label,
                       struct cw_error *error)
{
    struct result_document document;
    const int code = result_document_read(path, &document, error);
    if (code != CW_OK)
        return code;
    struct survey_point *const point = survey_keep(survey, json_incref(document.json)) == NULL
                                           ? NULL
                                           : survey_point_add(survey, label, path);
    if (point != NULL)
        take_document(survey, point, &document);
    result_document_free(&document);
    return point != NULL ? CW_OK : cw_error_memory(error, "the results");
}
