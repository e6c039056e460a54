/*
 * measured.c: reads tables of measured times (measured.h). Columns are found by their names, since
 * they differ from version to version. All lines that are neither a header nor a row are passed
 * over: libraries log between the rows. But a line that begins as a row does is one, and a fault in
 * it is an error. Several rows of one size, of several runs, count as their mean.
 */
#include "bench/programs/measured.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/nearest_file.h"
#include "collectives/config/input/text.h"

enum { COLUMNS_MAX = 64, SIZES_MAX = 4096, FILE_BYTES_MAX = 64 << 20 };

struct measured_row {
    uint64_t bytes;
    double sum_us;
    uint32_t count;
};

struct measured {
    const char *path;   /* the caller's */
    const char *names;  /* the tests that the file names, of the first collective; NULL: none */
    const char *beside; /* ... of another one; NULL: none */
    enum ccl_collective does; /* the first */
    const char *format;       /* NULL: no table so far */
    const char *place;        /* likewise */
    struct measured_row *rows;
    size_t row_count, capacity;
};

/* A part of a line. */
struct word {
    const char *at;
    size_t bytes;
};

enum table { TABLE_NONE, TABLE_NCCL, TABLE_HCCL };

/* The text being read: the current line, and the table that its last header began. */
struct reader {
    struct measured *measured;
    enum measured_place place;
    struct cw_error *error;
    const char *line; /* its beginning */
    uint32_t line_number;
    enum table table;
    size_t columns, size_column, time_column; /* of the table */
    struct word word[COLUMNS_MAX];            /* of the line */
    size_t words;
};

/* ---- rows ------------------------------------------------------------------------------------ */

static int add_time(struct measured *measured, uint64_t bytes, double us, struct cw_error *error)
{
    size_t i = 0;
    while (i < measured->row_count && measured->rows[i].bytes != bytes)
        i++;
    if (i == SIZES_MAX)
        return cw_error_set(error, CW_USAGE, "%s: more than %d sizes; a table has one row for each",
                            measured->path, SIZES_MAX);
    if (i == measured->capacity) {
        const size_t capacity = measured->capacity > 0 ? 2 * measured->capacity : 64;
        struct measured_row *const rows = realloc(measured->rows, capacity * sizeof *rows);
        if (rows == NULL)
            return cw_error_memory(error, "the measured times");
        measured->rows = rows;
        measured->capacity = capacity;
    }
    if (i == measured->row_count)
        measured->rows[measured->row_count++] = (struct measured_row){.bytes = bytes};
    measured->rows[i].sum_us += us;
    measured->rows[i].count++;
    return CW_OK;
}

/* A time that simulated ones can be compared with: above 0, below 11 days. */
static bool is_time(double us) { return isfinite(us) && us > 0 && us < 1e12; }

/* ---- words of a line ------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool word_is(struct word word, const char *text)
{
    return word.bytes == strlen(text) && memcmp(word.at, text, word.bytes) == 0;
}

static bool word_begins(struct word word, const char *text)
{
    return word.bytes >= strlen(text) && memcmp(word.at, text, strlen(text)) == 0;
}

/* "size(B)" is "size". */
static struct word without_unit(struct word word)
{
    const char *const unit = memchr(word.at, '(', word.bytes);
    if (unit != NULL)
        word.bytes = (size_t)(unit - word.at);
    return word;
}

static bool is_number(struct word word, uint64_t *value)
{
    return word.bytes > 0 && text_whole(word.at, word.bytes, INT64_MAX, value) == word.bytes;
}

static bool is_decimal(struct word word, double *value)
{
    char text[64], *end;
    if (word.bytes == 0 || word.bytes >= sizeof text || is_blank(word.at[0]))
        return false;
    memcpy(text, word.at, word.bytes);
    text[word.bytes] = '\0';
    *value = strtod(text, &end);
    return *end == '\0';
}

/* The prefix of a rank's lines under mpirun: "[1,0]<stdout>:". */
static size_t rank_prefix(const char *line, size_t bytes)
{
    static const char after[] = "]<stdout>:";
    const char *const end = bytes > 0 && line[0] == '[' ? memchr(line, ']', bytes) : NULL;
    const size_t left = end != NULL ? bytes - (size_t)(end - line) : 0;
    if (left < sizeof after - 1 || memcmp(end, after, sizeof after - 1) != 0)
        return 0;
    return (size_t)(end - line) + sizeof after - 1;
}

/* Splits the line: at '|', where there is one, or at blanks; a '#' before all else is no word. */
static void split(struct reader *reader, size_t bytes)
{
    const char *at = reader->line + rank_prefix(reader->line, bytes);
    const char *const end = reader->line + bytes;
    const bool bars = memchr(at, '|', (size_t)(end - at)) != NULL;
    reader->words = 0;
    while (at < end && (is_blank(*at) || *at == '#'))
        at++;
    while (at < end && reader->words < COLUMNS_MAX) {
        const char *next = at;
        while (next < end && (bars ? *next != '|' : !is_blank(*next)))
            next++;
        const char *last = next;
        while (last > at && is_blank(last[-1]))
            last--;
        reader->word[reader->words++] = (struct word){at, (size_t)(last - at)};
        at = next + (bars && next < end);
        while (at < end && is_blank(*at))
            at++;
    }
}

/* "FILE:LINE:COLUMN: TEXT; found 'WORD'". */
static int fault(const struct reader *reader, struct word word, const char *text)
{
    char quoted[TEXT_QUOTE_BYTES];
    return cw_error_set(reader->error, CW_USAGE, "%s:%u:%zu: %s; found %s", reader->measured->path,
                        reader->line_number, (size_t)(word.at - reader->line) + 1, text,
                        text_quote(word.at, word.bytes, quoted));
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* nccl-tests and rccl-tests: "size count type redop root time algbw busbw #wrong", of which the
 * last four appear twice, out of place and in place. */
static bool begin_nccl(struct reader *reader)
{
    size_t times = 0, time[2] = {0};
    if (reader->words < 2 || !word_is(without_unit(reader->word[0]), "size"))
        return false;
    for (size_t i = 1; i < reader->words && times < 2; i++)
        if (word_is(without_unit(reader->word[i]), "time"))
            time[times++] = i;
    if (times == 0)
        return false;
    const bool in_place = times == 2 && reader->place == MEASURED_IN_PLACE;
    reader->table = TABLE_NCCL;
    reader->columns = reader->words;
    reader->size_column = 0;
    reader->time_column = time[in_place];
    reader->measured->format = "nccl-tests";
    reader->measured->place = times == 1 ? "the only time" : in_place ? "in place" : "out of place";
    return true;
}

/* hccl_test: "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:", in any
 * order. */
static bool begin_hccl(struct reader *reader)
{
    size_t size = SIZE_MAX, time = SIZE_MAX;
    for (size_t i = 0; i < reader->words; i++) {
        if (word_begins(reader->word[i], "data_size"))
            size = i;
        else if (word_begins(reader->word[i], "aveg_time") ||
                 word_begins(reader->word[i], "avg_time"))
            time = i;
    }
    if (size == SIZE_MAX || time == SIZE_MAX)
        return false;
    reader->table = TABLE_HCCL;
    reader->columns = reader->words;
    reader->size_column = size;
    reader->time_column = time;
    reader->measured->format = "hccl_test";
    reader->measured->place = "the only time";
    return true;
}

/* The row of size `bytes` in the line at hand. A timestamp at its end may be two words. */
static int add_row(struct reader *reader, uint64_t bytes)
{
    char text[160];
    double us;
    if (reader->words < reader->columns || reader->words > reader->columns + 2) {
        (void)snprintf(text, sizeof text, "a row of %zu columns below a header of %zu",
                       reader->words, reader->columns);
        return fault(reader, reader->word[0], text);
    }
    const struct word time = reader->word[reader->time_column];
    if (word_is(time, "N/A"))
        return CW_OK;
    if (!is_decimal(time, &us) || !is_time(us))
        return fault(reader, time, "expected a time in us, above 0");
    return add_time(reader->measured, bytes, us, reader->error);
}

static int read_line(struct reader *reader, size_t bytes)
{
    uint64_t size;
    split(reader, bytes);
    if (reader->words == 0 || begin_nccl(reader) || begin_hccl(reader))
        return CW_OK;
    if (reader->table == TABLE_NONE || reader->size_column >= reader->words ||
        !is_number(reader->word[reader->size_column], &size))
        return CW_OK;
    return add_row(reader, size);
}

static int read_text(struct measured *measured, const char *text, size_t bytes,
                     enum measured_place place, struct cw_error *error)
{
    struct reader *const reader = calloc(1, sizeof *reader);
    int code = CW_OK;
    if (reader == NULL)
        return cw_error_memory(error, "the measured times");
    *reader = (struct reader){.measured = measured, .place = place, .error = error};
    const char *const end = text + bytes;
    for (const char *line = text; line < end && code == CW_OK;) {
        const char *const feed = memchr(line, '\n', (size_t)(end - line));
        const size_t length = (size_t)((feed != NULL ? feed : end) - line);
        reader->line = line;
        reader->line_number++;
        code = read_line(reader, length);
        line += length + 1;
    }
    free(reader);
    return code;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The time of one result; *us 0: it has none. */
static int time_of(const struct measured *measured, const json_t *result, size_t index,
                   enum measured_place place, double *us, struct cw_error *error)
{
    static const char *const names[] = {
        [MEASURED_IN_PLACE] = "in_place", [MEASURED_OUT_OF_PLACE] = "out_of_place"};
    const json_t *const body = json_object_get(result, names[place]);
    const json_t *time = json_object_get(body, "time");
    *us = 0;
    if (body == NULL || json_is_null(body))
        return CW_OK;
    if (time == NULL)
        time = json_object_get(body, "cpu_time");
    if (json_is_string(time) && strcmp(json_string_value(time), "nan") == 0)
        return CW_OK;
    *us = json_number_value(time);
    if (is_time(*us))
        return CW_OK;
    return cw_error_set(error, CW_USAGE, "%s: results[%zu].%s.time: expected a time in us, above 0",
                        measured->path, index, names[place]);
}

static int add_results(struct measured *measured, const json_t *root, enum measured_place place,
                       struct cw_error *error)
{
    const json_t *const results = json_object_get(root, "results");
    if (!json_is_array(results))
        return cw_error_set(error, CW_USAGE,
                            "%s: results: expected a list, as nccl-tests writes it with -J",
                            measured->path);
    int code = CW_OK;
    for (size_t i = 0; i < json_array_size(results) && code == CW_OK; i++) {
        const json_t *const result = json_array_get(results, i);
        const json_t *const size = json_object_get(result, "size");
        double us;
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return cw_error_set(error, CW_USAGE,
                                "%s: results[%zu].size: expected a whole number of bytes",
                                measured->path, i);
        code = time_of(measured, result, i, place, &us, error);
        if (code == CW_OK && us > 0)
            code = add_time(measured, (uint64_t)json_integer_value(size), us, error);
    }
    measured->format = "nccl-tests' JSON";
    measured->place = place == MEASURED_IN_PLACE ? "in place" : "out of place";
    return code;
}

static int read_json(struct measured *measured, const char *text, size_t bytes,
                     enum measured_place place, struct cw_error *error)
{
    json_error_t wrong;
    json_t *const root = json_loadb(text, bytes, 0, &wrong);
    if (root == NULL)
        return cw_error_set(error, CW_USAGE, "%s:%d:%d: %s", measured->path, wrong.line,
                            wrong.column, wrong.text);
    const int code = add_results(measured, root, place, error);
    json_decref(root);
    return code;
}

/* ---- the collective -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum ccl_collective does;
} tests[] = {
    {"all_reduce_perf", CCL_ALL_REDUCE},         {"all_reduce_test", CCL_ALL_REDUCE},
    {"all_gather_perf", CCL_ALL_GATHER},         {"all_gather_test", CCL_ALL_GATHER},
    {"reduce_scatter_perf", CCL_REDUCE_SCATTER}, {"reduce_scatter_test", CCL_REDUCE_SCATTER},
    {"alltoall_perf", CCL_ALL_TO_ALL},           {"alltoall_test", CCL_ALL_TO_ALL},
    {"broadcast_perf", CCL_BROADCAST},           {"broadcast_test", CCL_BROADCAST}};

static bool has_text(const char *text, size_t bytes, const char *wanted)
{
    const size_t length = strlen(wanted);
    for (const char *at = text, *const end = text + bytes;
         (size_t)(end - at) >= length && (at = memchr(at, wanted[0], (size_t)(end - at))) != NULL;
         at++)
        if ((size_t)(end - at) >= length && memcmp(at, wanted, length) == 0)
            return true;
    return false;
}

/* The tools' command lines, which logs and JSON mostly have, name their test. */
static void find_collective(struct measured *measured, const char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (!has_text(text, bytes, tests[i].name))
            continue;
        if (measured->names == NULL) {
            measured->names = tests[i].name;
            measured->does = tests[i].does;
        } else if (measured->does != tests[i].does) {
            measured->beside = tests[i].name;
        }
    }
}

int measured_check(const struct measured *measured, const char *bench, enum ccl_collective does,
                   struct cw_error *error)
{
    if (measured->names == NULL || measured->beside != NULL || does == CCL_COLLECTIVES ||
        measured->does == does)
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "--measured %s: its times are of %s, which does %s, and %s is a bench of "
                        "%s; legal is a table of the same collective",
                        measured->path, measured->names, ccl_collective_name(measured->does), bench,
                        ccl_collective_name(does));
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The file's bytes, which the caller frees; NULL: *error says why. */
static char *read_file(const char *path, size_t *bytes, struct cw_error *error)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        char meant[NEAREST_FILE_BYTES];
        cw_error_set(error, CW_USAGE, "--measured %s: cannot open it: %s%s", path, strerror(errno),
                     nearest_file_hint(path, NULL, meant));
        return NULL;
    }
    char *text = NULL;
    size_t room = 0;
    *bytes = 0;
    for (size_t got = 1; got > 0 && *bytes <= FILE_BYTES_MAX;) {
        if (*bytes == room) {
            room = room == 0 ? 65536 : 2 * room;
            char *const more = realloc(text, room);
            if (more == NULL) {
                cw_error_memory(error, "the measured times");
                free(text);
                (void)fclose(file);
                return NULL;
            }
            text = more;
        }
        got = fread(text + *bytes, 1, room - *bytes, file);
        *bytes += got;
    }
    if (ferror(file) || *bytes > FILE_BYTES_MAX) {
        cw_error_set(error, CW_USAGE, "--measured %s: %s%s", path,
                     ferror(file) ? "cannot read it: "
                                  : "larger than 64 MiB; expected a table of measured times",
                     ferror(file) ? strerror(errno) : "");
        free(text);
        text = NULL;
    }
    (void)fclose(file);
    return text;
}

int measured_read(const char *path, enum measured_place place, struct measured **measured,
                  struct cw_error *error)
{
    size_t bytes, first = 0;
    struct measured *const all = calloc(1, sizeof *all);
    *measured = NULL;
    if (all == NULL)
        return cw_error_memory(error, "the measured times");
    all->path = path;
    char *const text = read_file(path, &bytes, error);
    int code = text != NULL ? CW_OK : error->exit_code;
    while (text != NULL && first < bytes && (is_blank(text[first]) || text[first] == '\n'))
        first++;
    if (text != NULL)
        find_collective(all, text, bytes);
    if (text != NULL)
        code = first < bytes && text[first] == '{' ? read_json(all, text, bytes, place, error)
                                                   : read_text(all, text, bytes, place, error);
    free(text);
    if (code == CW_OK && all->row_count == 0)
        code = cw_error_set(
            error, CW_USAGE,
            "%s: %s; expected output of nccl-tests, rccl-tests (size ... time) or hccl_test "
            "(data_size | aveg_time), or the JSON of nccl-tests",
            path, all->format == NULL ? "no table of measured times" : "a table without times");
    if (code == CW_OK)
        *measured = all;
    else
        measured_free(all);
    return code;
}

void measured_free(struct measured *measured)
{
    if (measured != NULL)
        free(measured->rows);
    free(measured);
}

void measured_attach(const struct measured *measured, struct result *result)
{
    result->measured = (struct result_measured){
        .path = measured->path, .format = measured->format, .place = measured->place};
    for (size_t i = 0; i < result->row_count; i++) {
        struct result_row *const row = &result->rows[i];
        for (size_t k = 0; k < measured->row_count && row->not_run == NULL; k++)
            if (measured->rows[k].bytes == row->counted_bytes)
                row->measured_ps =
                    llround(1e6 * measured->rows[k].sum_us / measured->rows[k].count);
    }
}
