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
    bool has_time = false;
    for (size_t i = 0; i < 2; i++) {
        if (!read_half(result, i, &row)) {
            snprintf(fault, sizeof fault, "results[%u].%s.time: expected a time in us, above 0",
                     index, places[i]);
            tables_note(tables, "%s", fault);
        }
        has_time = has_time || row.half[i].has_time;
    }
    (void)has_time;
    return tables_add_row(tables, index, &row, error);
}

int read_json(struct tables *tables, const char *text, size_t bytes, struct cw_error *error)
{
    json_error_t wrong;
    json_t *const root = json_loadb(text, bytes, 0, &wrong);
    if (root == NULL)
        return cw_error_set(error, CW_USAGE, "%s:%d:%d: %s", tables->path, wrong.line, wrong.column,
                            wrong.text);
    const json_t *const results = json_object_get(root, "results");
    int code = CW_OK;
    if (!json_is_array(results))
        code = cw_error_set(error, CW_USAGE,
                            "%s: results: expected a list, as nccl-tests writes it with -J",
                            tables->path);
    if (code == CW_OK)
        code = tables_begin(tables, error);
    if (code == CW_OK) {
        struct table *const table = &tables->table[tables->count - 1];
        table->is_json = true;
        table->halves = 2;
        table->place[0] = LOG_OUT_OF_PLACE;
        table->place[1] = LOG_IN_PLACE;
        for (size_t i = 0; i < 2; i++)
            table->time_scale[i] = table->algbw_scale[i] = 1;
        (void)log_test_read(text, bytes, &table->test);
    }
    for (size_t i = 0; code == CW_OK && i < json_array_size(results); i++)
        code = read_result(tables, json_array_get(results, i), (uint32_t)i, error);
    json_decref(root);
    return code;
}
