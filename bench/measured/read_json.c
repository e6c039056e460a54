/*
 * read_json.c: reads nccl-tests' JSON (read_json.h): "results" is a list of objects with "size",
 * and "out_of_place" and "in_place", which have "time" or "cpu_time", "alg_bw" and "nwrong".
 */
#include "bench/measured/read_json.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const places[] = {"out_of_place", "in_place"};

/* Fills half `which` from the result; false: its time is wrong. */
static bool read_half(const json_t *result, size_t which, struct log_row *row)
{
    struct log_half *const half = &row->half[which];
    const json_t *const body = json_object_get(result, places[which]);
    const json_t *time = json_object_get(body, "time");
    if (body == NULL || json_is_null(body))
        return true;
    if (time == NULL)
        time = json_object_get(body, "cpu_time");
    if (json_is_string(time) && strcmp(json_string_value(time), "nan") == 0)
        return true;
    half->time = json_number_value(time);
    half->has_time = isfinite(half->time) && half->time > 0 && half->time < 1e12;
    half->algbw = json_number_value(json_object_get(body, "alg_bw"));
    half->algbw_step = half->algbw / 1e3;
    half->has_wrong = json_is_number(json_object_get(body, "nwrong"));
    half->wrong = json_number_value(json_object_get(body, "nwrong"));
    return half->has_time;
}

static int read_result(struct tables *tables, const json_t *result, uint32_t index,
                       struct cw_error *error)
{
    const json_t *const size = json_object_get(result, "size");
    struct log_row row = {.is_full = true};
    char fault[NOTE_BYTES];
    if (!json_is_integer(size) || json_integer_value(size) < 0) {
        snprintf(fault, sizeof fault, "results[%u].size: expected a whole number of bytes", index);
        tables_add_damaged(tables, fault);
        return CW_OK;
    }
    row.bytes = (uint64_t)json_integer_value(size);
    for (int i = 0; i < LOG_TRAITS; i++) {
        static const char *const names[LOG_TRAITS] = {"type", "redop", "root"};
        const char *const text = json_string_value(json_object_get(result, names[i]));
        if (text != NULL)
            log_row_keep(&row, i, text, strlen(text));
    }
    for (size_t i = 0; i < 2; i++) {
        if (!read_half(result, i, &row)) {
            snprintf(fault, sizeof fault, "results[%u].%s.time: expected a time in us, above 0",
                     index, places[i]);
            tables_note(tables, "%s", fault);
        }
    }
    return tables_add_row(tables, index, &row, error);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* "config" has the processes that wrote a device each, and what each has. */
static uint32_t ranks_of(const json_t *root)
{
    const json_t *const config = json_object_get(root, "config");
    const json_int_t threads = json_integer_value(json_object_get(config, "nthreads")),
                     gpus = json_integer_value(json_object_get(config, "ngpus"));
    const size_t processes = json_array_size(json_object_get(config, "devices"));
    if (threads < 1 || gpus < 1 || threads > 1 << 8 || gpus > 1 << 8 || processes > 1 << 12)
        return 0;
    return (uint32_t)(threads * gpus) * (uint32_t)(processes > 0 ? processes : 1);
}

static int begin_table(struct tables *tables, const char *text, size_t bytes,
                       struct cw_error *error)
{
    const int code = tables_begin(tables, error);
    if (code != CW_OK)
        return code;
    struct table *const table = &tables->table[tables->count - 1];
    table->is_json = true;
    table->halves = 2;
    table->place[0] = LOG_OUT_OF_PLACE;
    table->place[1] = LOG_IN_PLACE;
    for (size_t i = 0; i < 2; i++)
        table->time_scale[i] = table->algbw_scale[i] = 1;
    (void)log_test_read(text, bytes, &table->test);
    return CW_OK;
}

/* Whether a result begins at `at`: an object whose first key is "size". */
static bool begins_result(const char *at, const char *end)
{
    static const char key[] = "\"size\"";
    if (*at != '{')
        return false;
    for (at++; at < end && (log_is_blank(*at) || *at == '\n'); at++)
        ;
    return (size_t)(end - at) >= sizeof key - 1 && memcmp(at, key, sizeof key - 1) == 0;
}

static uint32_t line_of(const char *text, const char *at)
{
    uint32_t line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* The results of a text that is no whole JSON, each for itself. */
static int read_pieces(struct tables *tables, const char *text, size_t bytes,
                       struct cw_error *error)
{
    const char *const end = text + bytes;
    uint32_t index = 0;
    int code = CW_OK;
    for (const char *at = text; at < end && code == CW_OK; at++) {
        json_error_t wrong;
        if (!begins_result(at, end))
            continue;
        json_t *const result = json_loadb(at, (size_t)(end - at), JSON_DISABLE_EOF_CHECK, &wrong);
        if (result != NULL) {
            code = read_result(tables, result, index, error);
        } else {
            char fault[NOTE_BYTES];
            snprintf(fault, sizeof fault, "%u: results[%u] is not whole: %s", line_of(text, at),
                     index, wrong.text);
            tables_add_damaged(tables, fault);
        }
        json_decref(result);
        index++;
    }
    return code;
}

static int read_whole(struct tables *tables, const json_t *root, struct cw_error *error)
{
    const json_t *const results = json_object_get(root, "results");
    const json_t *const bounds = json_object_get(root, "out_of_bounds");
    struct table *const table = &tables->table[tables->count - 1];
    int code = CW_OK;
    table->ranks = ranks_of(root);
    if (json_integer_value(json_object_get(bounds, "count")) > 0)
        table->failed_line = 1;
    if (!json_is_array(results))
        code = cw_error_set(error, CW_USAGE,
                            "%s: results: expected a list, as nccl-tests writes it with -J",
                            tables->path);
    for (size_t i = 0; code == CW_OK && i < json_array_size(results); i++)
        code = read_result(tables, json_array_get(results, i), (uint32_t)i, error);
    return code;
}

int read_json(struct tables *tables, const char *text, size_t bytes, struct cw_error *error)
{
    json_error_t wrong;
    json_t *const root = json_loadb(text, bytes, JSON_DISABLE_EOF_CHECK, &wrong);
    int code = begin_table(tables, text, bytes, error);
    if (code == CW_OK)
        code = root != NULL ? read_whole(tables, root, error)
                            : read_pieces(tables, text, bytes, error);
    const struct table *const table = &tables->table[tables->count - 1];
    if (code == CW_OK && root == NULL && table->row_count == 0)
        code = cw_error_set(error, CW_USAGE, "%s:%d:%d: %s", tables->path, wrong.line, wrong.column,
                            wrong.text);
    else if (code == CW_OK && root == NULL)
        tables_note(tables, "%d:%d: %s: each result is read for itself", wrong.line, wrong.column,
                    wrong.text);
    json_decref(root);
    return code;
}

/* What a record of Docker, Loki, systemd or a cloud's log says. */
static const char *logged_in(const json_t *record)
{
    static const char *const names[] = {"log", "line", "message", "MESSAGE", "msg", "textPayload"};
    const char *logged = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && logged == NULL; i++)
        logged = json_string_value(json_object_get(record, names[i]));
    return logged;
}

bool json_lines_unwrap(char *text, size_t *bytes)
{
    const char *const end = text + *bytes;
    size_t kept = 0;
    for (const char *line = text; line < end;) {
        const char *const feed = memchr(line, '\n', (size_t)(end - line));
        const size_t length = (size_t)((feed != NULL ? feed : end) - line);
        json_t *const object = json_loadb(line, length, 0, NULL);
        const char *const logged = logged_in(object);
        const size_t logged_bytes = logged != NULL ? strcspn(logged, "\n") : 0;
        if (logged == NULL && line == text) {
            json_decref(object);
            return false;
        }
        if (logged_bytes > 0)
            memmove(text + kept, logged, logged_bytes);
        kept += logged_bytes;
        text[kept++] = '\n';
        line += length + 1;
        json_decref(object);
    }
    *bytes = kept;
    return true;
}
