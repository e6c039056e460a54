/*
 * survey_result.c: see survey_result.h. Times in the documents are ns; figures here are µs.
 */
#include "bench/survey/survey_result.h"

#include <math.h>
#include <string.h>

#include "collectives/config/input/json_file.h"

static const double NS_PER_US = 1e3, BYTES_PER_MIB = 1048576.0;

/* A figure; NAN: it is absent or null, or none that a run gives. */
static double member_number(const json_t *object, const char *key)
{
    return json_file_figure(json_object_get(object, key));
}

/* A text; NULL: it is absent or null. It lives as long as the document. */
static const char *member_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static const json_t *member_object(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    return json_is_object(value) ? value : NULL;
}

static const json_t *member_list(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    return json_is_array(value) ? value : NULL;
}

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

static void survey_read_phases(struct survey *survey, struct survey_row *row, const json_t *list)
{
    const size_t count = json_array_size(list);
    row->phases = count == 0 ? NULL : survey_alloc(survey, count * sizeof *row->phases);
    for (size_t i = 0; row->phases != NULL && i < count; i++) {
        const json_t *const item = json_array_get(list, i);
        if (member_text(item, "name") == NULL)
            continue;
        row->phases[row->phase_count++] = (struct survey_phase){
            member_text(item, "name"), member_number(item, "min_ns") / NS_PER_US,
            member_number(item, "mean_ns") / NS_PER_US, member_number(item, "max_ns") / NS_PER_US};
    }
}

static void survey_read_kinds(struct survey *survey, struct survey_row *row, const json_t *list)
{
    const size_t count = json_array_size(list);
    row->kinds = count == 0 ? NULL : survey_alloc(survey, count * sizeof *row->kinds);
    for (size_t i = 0; row->kinds != NULL && i < count; i++) {
        const json_t *const item = json_array_get(list, i);
        if (member_text(item, "kind") == NULL)
            continue;
        row->kinds[row->kind_count++] =
            (struct survey_link_kind){member_text(item, "kind"), member_number(item, "links"),
                                      member_number(item, "bytes"), member_number(item, "busy")};
    }
}

/* The figures of one size. */
static void survey_read_figures(struct survey_row *row, const json_t *item)
{
    double *const figure = row->figure;
    figure[FIGURE_TIME] = member_number(item, "time_ns") / NS_PER_US;
    figure[FIGURE_ALGBW] = member_number(item, "algbw_gbs");
    figure[FIGURE_BUSBW] = member_number(item, "busbw_gbs");
    figure[FIGURE_BOUND] = member_number(item, "bound_ns") / NS_PER_US;
    if (!(figure[FIGURE_BOUND] > 0))
        figure[FIGURE_BOUND] = NAN;
    if (figure[FIGURE_TIME] > 0)
        figure[FIGURE_EFFICIENCY] = 100 * figure[FIGURE_BOUND] / figure[FIGURE_TIME];
    figure[FIGURE_MEASURED] = member_number(item, "measured_ns") / NS_PER_US;
    figure[FIGURE_ERROR] = member_number(item, "error_percent");
    figure[FIGURE_CREDIT_WAIT] = member_number(item, "credit_wait_ns") / NS_PER_US;
    figure[FIGURE_HOST_TIME] = member_number(item, "host_time_ns") / NS_PER_US;
    figure[FIGURE_MOVED] = member_number(item, "moved_per_rank");
    const double wrong = member_number(item, "wrong");
    row->wrong = wrong >= 0 && wrong < 1e18 ? (int64_t)wrong : -1;
}

static void survey_read_row(struct survey *survey, const json_t *item, const double *of_point)
{
    static const char *const texts[] = {"collective", "dtype", "redop"};
    struct survey_row *const row = survey_row_add(survey);
    if (row == NULL)
        return;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        survey_put(survey, row->axis, texts[i], AXIS_RESULT, member_text(item, texts[i]));
    survey_put(survey, row->axis, "schedule", AXIS_RESULT, member_text(item, "algorithm"));
    survey_put_number(survey, row->axis, "bytes", AXIS_SIZE, member_number(item, "bytes"));
    survey_put_number(survey, row->axis, "bytes_per_rank", AXIS_SIZE,
                      member_number(item, "bytes_per_rank"));
    survey_put_number(survey, row->axis, "shards_per_rank", AXIS_MACHINE,
                      member_number(item, "shards_per_rank"));
    row->not_run = member_text(item, "not_run");
    row->bound_by = member_text(item, "bound_by");
    if (row->not_run == NULL)
        survey_read_figures(row, item);
    memcpy(&row->figure[FIGURE_EVENTS], of_point,
           (SURVEY_FIGURES - FIGURE_EVENTS) * sizeof *of_point);
    survey_read_phases(survey, row, member_list(item, "phases"));
    survey_read_kinds(survey, row, member_list(item, "link_kinds"));
    row->explain = member_object(item, "explain");
}

/* ---- points ---------------------------------------------------------------------------------- */

/* The figures from FIGURE_EVENTS on. */
static void survey_read_engine(const json_t *engine, double *of_point)
{
    enum {
        EVENTS,
        RATE = FIGURE_EVENT_RATE - FIGURE_EVENTS,
        WALL = FIGURE_WALL - FIGURE_EVENTS,
        MEMORY = FIGURE_MEMORY - FIGURE_EVENTS
    };
    of_point[EVENTS] = member_number(engine, "events_committed");
    of_point[RATE] = member_number(engine, "committed_events_per_s");
    of_point[WALL] = member_number(engine, "setup_s") + member_number(engine, "run_s");
    of_point[MEMORY] = member_number(engine, "peak_rss_bytes") / BYTES_PER_MIB;
}

/* A failure is a text, or an object with a message. */
static void survey_read_state(struct survey *survey, struct survey_point *point,
                              const json_t *document)
{
    const json_t *const error = json_object_get(document, "error");
    if (json_is_true(json_object_get(document, "interrupted"))) {
        point->state = STATE_INTERRUPTED;
        point->message = "interrupted: the sizes that were done are here";
    }
    if (json_is_object(error) || json_is_string(error)) {
        point->state = STATE_FAILED;
        point->message = survey_text(survey, json_is_string(error) ? json_string_value(error)
                                                                   : member_text(error, "message"));
    }
}

static void survey_read_provenance(struct survey *survey, struct survey_point *point)
{
    const json_t *const provenance = point->provenance;
    survey_put_members(survey, point->axis, member_object(provenance, "tags"), AXIS_TAG);
    survey_put_members(survey, point->axis, member_object(provenance, "changed"), AXIS_CHANGED);
    const json_t *const preset = json_object_get(provenance, "preset");
    if (json_is_string(preset))
        survey_put(survey, point->axis, "preset", AXIS_RESULT, json_string_value(preset));
}

/* The algorithm that was asked for. Which of its schedules ran is told by each row. */
static void survey_read_algorithm(struct survey *survey, struct survey_point *point,
                                  const json_t *document)
{
    const char *name = member_text(json_object_get(point->provenance, "changed"), algorithm_key);
    if (name == NULL)
        name = member_text(document, "algorithm");
    survey_put(survey, point->axis, "algorithm", AXIS_RESULT, name);
}

static void survey_read_run(struct survey *survey, struct survey_point *point,
                            const json_t *document)
{
    static const char *const counts[] = {"sips", "cubes", "pes"};
    double of_point[SURVEY_FIGURES - FIGURE_EVENTS];
    const json_t *const topology = member_object(document, "topology");
    const json_t *const engine = member_object(document, "engine");
    const json_t *const list = member_list(document, "results");
    survey_put(survey, point->axis, "bench", AXIS_RESULT, member_text(document, "bench"));
    survey_read_algorithm(survey, point, document);
    survey_put(survey, point->axis, "input", AXIS_RESULT, member_text(document, "input"));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        survey_put_number(survey, point->axis, counts[i], AXIS_MACHINE,
                          member_number(topology, counts[i]));
    survey_put_number(survey, point->axis, "threads", AXIS_MACHINE,
                      member_number(engine, "threads"));
    survey_put(survey, point->axis, "sync", AXIS_MACHINE, member_text(engine, "sync"));
    survey_put(survey, point->axis, "config_digest", AXIS_SOURCE,
               member_text(document, "config_digest"));
    survey_read_engine(engine, of_point);
    for (size_t i = 0; i < json_array_size(list); i++)
        survey_read_row(survey, json_array_get(list, i), of_point);
}

/* One row, of the engine's figures; the options are axes. */
static void survey_read_phold(struct survey *survey, struct survey_point *point,
                              const json_t *document)
{
    const json_t *const engine = member_object(document, "engine");
    survey_put(survey, point->axis, "bench", AXIS_RESULT, "phold");
    survey_put_members(survey, point->axis, member_object(document, "phold"), AXIS_RESULT);
    survey_put_number(survey, point->axis, "threads", AXIS_MACHINE,
                      member_number(engine, "threads"));
    survey_put(survey, point->axis, "sync", AXIS_MACHINE, member_text(engine, "sync"));
    struct survey_row *const row = survey_row_add(survey);
    if (row != NULL)
        survey_read_engine(engine, &row->figure[FIGURE_EVENTS]);
}

int survey_result_fill(struct survey *survey, struct survey_point *point, const json_t *document,
                       struct cw_error *error)
{
    const char *const schema = member_text(document, "schema");
    const bool is_run = schema != NULL && strcmp(schema, "cubewarp.run/1") == 0;
    const bool is_phold = schema != NULL && strcmp(schema, "cubewarp.phold/1") == 0;
    if (!is_run && !is_phold)
        return cw_error_set(error, CW_USAGE,
                            "%.300s: no result; expected the schema cubewarp.run/1 or "
                            "cubewarp.phold/1, as run --json and phold --json write them",
                            point->source);
    point->document = document;
    point->provenance = member_object(document, "provenance");
    point->picture = member_object(document, "picture");
    survey_read_state(survey, point, document);
    survey_read_provenance(survey, point);
    if (is_run)
        survey_read_run(survey, point, document);
    else
        survey_read_phold(survey, point, document);
    if (point->row_count > 0)
        point->seconds = survey->rows[point->first_row].figure[FIGURE_WALL];
    return CW_OK;
}

int survey_result_read(struct survey *survey, const char *path, const char *label,
                       struct cw_error *error)
{
    json_error_t fault;
    int number;
    json_t *document = json_file_read(path, 0, &fault, &number);
    if (document == NULL && number != 0)
        return cw_error_set(error, CW_USAGE, "cannot read %.300s: %s", path, strerror(number));
    if (document == NULL)
        return cw_error_set(error, CW_USAGE, "%.300s:%d:%d: %.150s", path, fault.line, fault.column,
                            fault.text);
    document = survey_keep(survey, document);
    struct survey_point *const point =
        document == NULL ? NULL : survey_point_add(survey, label, path);
    if (point == NULL)
        return cw_error_memory(error, "the results");
    return survey_result_fill(survey, point, document, error);
}
