/*
 * measured.c: chooses among the tables of a file (measured.h): those of the bench's collective, the
 * half that is in place or not, and the unit, which a row's own bandwidth confirms. Several rows of
 * one size, of several runs, count as their mean.
 */
#include "bench/measured/measured.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bench/measured/log_text.h"
#include "bench/measured/read_json.h"
#include "bench/measured/read_log.h"
#include "collectives/config/input/nearest_file.h"

enum { SIZES_MAX = 4096, FILE_BYTES_MAX = 64 << 20 };

/* The mean of the rows of one size in one table. */
struct mean {
    size_t table;
    uint64_t bytes;
    double sum_us;
    uint32_t count;
};

struct measured {
    struct tables tables;
    bool *is_used; /* [tables.count] */
    const char *format, *place;
    size_t rows, rows_read, rows_wrong; /* of the tables in use */
    const char *trait[LOG_TRAITS];      /* of the rows that count; "": none says it */
    struct mean *mean;
    size_t means, capacity;
    const char *note[NOTES_MAX];
};

static const char *const place_name[] = {"", "out of place", "in place"};

struct measured_wish measured_wish(const struct run_options *options, enum ccl_collective does)
{
    return (struct measured_wish){.place = (enum measured_place)options->measured_place,
                                  .bench = options->bench,
                                  .does = does,
                                  .type = dtype_name(options->dtype),
                                  .redop = redop_name(options->op)};
}

/* The type that a table calls so: "half", "MPI_FLOAT", "fp32". */
static bool type_of(const char *name, enum dtype *dtype)
{
    char text[LOG_TRAIT_BYTES + 1];
    size_t bytes = 0;
    if (strncasecmp(name, "MPI_", 4) == 0)
        name += 4;
    else if (strncasecmp(name, "torch.", 6) == 0)
        name += 6;
    for (; *name != '\0' && bytes + 1 < sizeof text; name++)
        if (!(*name == 'p' && bytes == 1 && text[0] == 'f' && name[1] != '8'))
            text[bytes++] = (char)(*name >= 'A' && *name <= 'Z' ? *name | 0x20 : *name);
    text[bytes] = '\0';
    return dtype_parse(text, dtype);
}

/* "12", of a log's line, or "results[12]" of JSON. */
static const char *place_of(const struct table *table, uint32_t line, char text[24])
{
    snprintf(text, 24, table->is_json ? "results[%u]" : "%u", line);
    return text;
}

static bool has_rows(const struct table *table) { return table->row_count + table->damaged > 0; }

/* ---- which tables ---------------------------------------------------------------------------- */

/* "reduce_perf, which no bench does, and sendrecv_perf, ..." is said of the first two alone. */
static int refuse_tests(const struct measured *measured, const char *bench,
                        enum ccl_collective does, struct cw_error *error)
{
    const struct log_test *first = NULL, *second = NULL;
    for (size_t i = 0; i < measured->tables.count; i++) {
        const struct log_test *const test = &measured->tables.table[i].test;
        if (!has_rows(&measured->tables.table[i]))
            continue;
        if (first == NULL)
            first = test;
        else if (second == NULL && strcmp(test->name, first->name) != 0)
            second = test;
    }
    if (does == CCL_COLLECTIVES)
        return cw_error_set(error, CW_USAGE,
                            "--measured %s: it has tables of %s and of %s, and %s is a bench of no "
                            "collective; legal is a file with one of them",
                            measured->tables.path, first->name, second->name, bench);
    return cw_error_set(
        error, CW_USAGE,
        "--measured %s: its times are of %s%s%s, which %s %s, and %s is a bench of %s; legal is a "
        "table of the same collective",
        measured->tables.path, first->name, second != NULL ? " and " : "",
        second != NULL ? second->name : "",
        second != NULL                   ? "do"
        : first->does == CCL_COLLECTIVES ? "is"
                                         : "does",
        second != NULL                   ? "other things"
        : first->does == CCL_COLLECTIVES ? "no collective of a bench"
                                         : ccl_collective_name(first->does),
        bench, ccl_collective_name(does));
}

static bool is_of_one_test(const struct tables *tables)
{
    const char *name = NULL;
    for (size_t i = 0; i < tables->count; i++) {
        if (!has_rows(&tables->table[i]))
            continue;
        if (name != NULL && strcmp(name, tables->table[i].test.name) != 0)
            return false;
        name = tables->table[i].test.name;
    }
    return true;
}

/* Marks the tables of the collective; where none is named so, those without a name. */
static bool mark_tables(struct measured *measured, enum ccl_collective does)
{
    const struct tables *const tables = &measured->tables;
    bool any = false;
    for (int named = 1; named >= 0 && !any; named--)
        for (size_t i = 0; i < tables->count; i++) {
            const struct log_test *const test = &tables->table[i].test;
            measured->is_used[i] =
                does == CCL_COLLECTIVES ||
                (named ? test->name[0] != '\0' && test->does == does : test->name[0] == '\0');
            any = any || (measured->is_used[i] && has_rows(&tables->table[i]));
        }
    return any;
}

static int choose_tables(struct measured *measured, const char *bench, enum ccl_collective does,
                         struct cw_error *error)
{
    struct tables *const tables = &measured->tables;
    bool any = false;
    for (size_t i = 0; i < tables->count; i++)
        any = any || has_rows(&tables->table[i]);
    if (!any)
        return CW_OK; /* which is said of the whole file */
    if (!mark_tables(measured, does) || (does == CCL_COLLECTIVES && !is_of_one_test(tables)))
        return refuse_tests(measured, bench, does, error);
    for (size_t i = 0; i < tables->count; i++)
        if (!measured->is_used[i] && has_rows(&tables->table[i]))
            tables_note(tables, "%u: a table of %s: not read", tables->table[i].line,
                        tables->table[i].test.name[0] != '\0' ? tables->table[i].test.name
                                                              : "a test without a name");
    return CW_OK;
}

/* ---- which half, which unit ------------------------------------------------------------------ */

static size_t times_in(const struct table *table, size_t half)
{
    size_t count = 0;
    for (size_t i = 0; i < table->row_count; i++)
        count += table->rows[i].row.half[half].has_time;
    return count;
}

/* The half of the wanted place; the other one, if that has no time at all. */
static size_t choose_half(const struct table *table, enum measured_place place, const char **said)
{
    const enum log_place wanted = place == MEASURED_IN_PLACE ? LOG_IN_PLACE : LOG_OUT_OF_PLACE;
    if (table->halves == 1) {
        *said = table->place[0] == LOG_ANY_PLACE ? "the only time" : place_name[table->place[0]];
        return 0;
    }
    const size_t half = table->place[1] == wanted;
    if (times_in(table, half) > 0 || times_in(table, 1 - half) == 0) {
        *said = place_name[wanted];
        return half;
    }
    *said = wanted == LOG_IN_PLACE ? "out of place, since there is none in place"
                                   : "in place, since there is none out of place";
    return 1 - half;
}

/* By which power of 1000 most times of the table that say it are shorter than us; *sure: any does.
 */
static int power_of(const struct table *table, size_t half, double scale)
{
    enum { LEAST = -2, MOST = 3 };
    size_t votes[MOST - LEAST + 1] = {0}, all = 0;
    const double rate = table->algbw_scale[half] > 0 ? table->algbw_scale[half] : 1;
    for (size_t i = 0; i < table->row_count; i++) {
        struct log_half one = table->rows[i].row.half[half];
        int power;
        one.time *= one.time_scale > 0 ? one.time_scale : scale;
        if (!log_half_power(&one, table->rows[i].row.bytes, rate, &power) || power < LEAST ||
            power > MOST)
            continue;
        votes[power - LEAST]++;
        all++;
    }
    for (int power = LEAST; power <= MOST; power++)
        if (2 * votes[power - LEAST] > all)
            return power;
    return 0;
}

static const char *unit_name(int power)
{
    return power == -1  ? "ns"
           : power == 0 ? "us"
           : power == 1 ? "ms"
           : power == 2 ? "s"
                        : "another unit";
}

/* The factor to us; 0: what the header says and what the bandwidths say do not agree. */
static double choose_scale(struct tables *tables, const struct table *table, size_t half)
{
    const double said = table->time_scale[half];
    const int power = power_of(table, half, said > 0 ? said : 1);
    if (power == 0)
        return said > 0 ? said : 1;
    if (said > 0) {
        tables_note(
            tables,
            "%u: the header says that times are in %s, and size / time is 1000^%d times the "
            "table's own bandwidth: the table is not read",
            table->line, unit_name((int)lround(log10(said) / 3)), power);
        return 0;
    }
    tables_note(tables, "%u: no unit is said; by the table's own bandwidth its times are in %s",
                table->line, unit_name(power));
    return pow(1000, power);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* A time that simulated ones can be compared with: above 0, below 11 days. */
static bool is_time(double us) { return isfinite(us) && us > 0 && us < 1e12; }

static int add_time(struct measured *measured, size_t table, uint64_t bytes, double us,
                    struct cw_error *error)
{
    size_t i = 0;
    while (i < measured->means &&
           (measured->mean[i].bytes != bytes || measured->mean[i].table != table))
        i++;
    if (i == SIZES_MAX)
        return cw_error_set(error, CW_USAGE, "%s: more than %d sizes; a table has one row for each",
                            measured->tables.path, SIZES_MAX);
    if (i == measured->capacity) {
        const size_t capacity = measured->capacity > 0 ? 2 * measured->capacity : 64;
        struct mean *const more = realloc(measured->mean, capacity * sizeof *more);
        if (more == NULL)
            return cw_error_memory(error, "the measured times");
        measured->mean = more;
        measured->capacity = capacity;
    }
    if (i == measured->means)
        measured->mean[measured->means++] = (struct mean){.table = table, .bytes = bytes};
    measured->mean[i].sum_us += us;
    measured->mean[i].count++;
    return CW_OK;
}

static const char *format_of(const struct table *table)
{
    static const char *const formats[] = {"nccl-tests", "hccl_test", "OSU", "IMB", "cells"};
    return table->is_json ? "nccl-tests' JSON" : formats[table->tool];
}

/* ---- rows that differ in more than their size ------------------------------------------------ */

/* "MPI_FLOAT", "fp32", "float" are one type, "sum" and "SUM" one operation. */
static bool is_same_trait(enum log_trait trait, const char *a, const char *b)
{
    enum dtype first, second;
    if (trait != LOG_TRAIT_TYPE || strcasecmp(a, b) == 0)
        return strcasecmp(a, b) == 0;
    return type_of(a, &first) && type_of(b, &second) && first == second;
}

/* The wanted value of a trait, if any row in use has it; else the first that a row has, or "". */
static const char *choose_trait(const struct measured *measured, enum log_trait trait,
                                const char *wanted)
{
    const char *first = "";
    for (size_t i = 0; i < measured->tables.count; i++) {
        const struct table *const table = &measured->tables.table[i];
        for (size_t k = 0; k < table->row_count && measured->is_used[i]; k++) {
            const char *const has = table->rows[k].row.trait[trait];
            if (wanted != NULL && is_same_trait(trait, has, wanted))
                return has;
            if (*first == '\0')
                first = has;
        }
    }
    return first;
}

/* Adds a name to a list of names, once, as long as there is room. */
static void list_name(char *list, size_t room, const char *name)
{
    const size_t bytes = strlen(list);
    const char *const at = strstr(list, name);
    const size_t length = strlen(name);
    if ((at != NULL && (at[length] == ',' || at[length] == '\0')) || bytes + length + 3 > room)
        return;
    snprintf(list + bytes, room - bytes, "%s%s", bytes > 0 ? ", " : "", name);
}

/* Rows that differ from the chosen ones in a trait are not read: says so, and how many. */
static void say_left_out(struct measured *measured, enum log_trait trait)
{
    static const char *const names[LOG_TRAITS] = {"type", "operation", "root"};
    const char *const chosen = measured->trait[trait];
    char others[100] = "";
    char at[24] = "";
    size_t left_out = 0;
    for (size_t i = 0; i < measured->tables.count; i++) {
        const struct table *const table = &measured->tables.table[i];
        for (size_t k = 0; k < table->row_count && measured->is_used[i]; k++) {
            const char *const has = table->rows[k].row.trait[trait];
            if (*has == '\0' || is_same_trait(trait, has, chosen))
                continue;
            if (left_out++ == 0)
                (void)place_of(table, table->rows[k].line, at);
            list_name(others, sizeof others, has);
        }
    }
    if (left_out > 0)
        tables_note(&measured->tables, "%s: %zu row%s of another %s: %s: not read; those of %s are",
                    at, left_out, left_out == 1 ? "" : "s", names[trait], others, chosen);
}

static void choose_traits(struct measured *measured, const struct measured_wish *wish)
{
    const char *const wanted[LOG_TRAITS] = {wish->type, wish->redop, "0"};
    for (int i = 0; i < LOG_TRAITS; i++) {
        measured->trait[i] = choose_trait(measured, i, wanted[i]);
        say_left_out(measured, i);
    }
}

static bool has_chosen_traits(const struct measured *measured, const struct log_row *row)
{
    for (int i = 0; i < LOG_TRAITS; i++)
        if (row->trait[i][0] != '\0' && !is_same_trait(i, row->trait[i], measured->trait[i]))
            return false;
    return true;
}

/* ---- one table ------------------------------------------------------------------------------- */

/* What the rows of a table gave. */
struct tally {
    size_t read, without, wrong, first_wrong;
    bool says_wrong; /* a row says whether its result was right */
};

static void say_rows(struct measured *measured, const struct table *table, size_t half,
                     struct tally *tally)
{
    char at[24];
    if (tally->without > 0)
        tables_note(&measured->tables, "%u: %zu row%s without a time %s", table->line,
                    tally->without, tally->without == 1 ? " is" : "s are",
                    table->halves == 1 ? "that can be read" : place_name[table->place[half]]);
    if (tally->wrong > 0) {
        tables_note(&measured->tables,
                    "%s: the results of %zu row%s wrong on the measured machine, first those of "
                    "%llu bytes",
                    place_of(table, table->rows[tally->first_wrong].line, at), tally->wrong,
                    tally->wrong == 1 ? " were" : "s were",
                    (unsigned long long)table->rows[tally->first_wrong].row.bytes);
    } else if (table->failed_line > 0 && !tally->says_wrong && tally->read > 0) {
        tables_note(&measured->tables,
                    "%u: values out of bounds: results were wrong on the measured machine, and no "
                    "row says which: all %zu of the table count as wrong",
                    table->failed_line, tally->read);
        tally->wrong = tally->read;
    }
}

/* Adds the times of one table. */
static int take_table(struct measured *measured, size_t index, enum measured_place place,
                      struct cw_error *error)
{
    struct table *const table = &measured->tables.table[index];
    struct tally tally = {0};
    const char *said;
    const size_t half = choose_half(table, place, &said);
    const double scale = choose_scale(&measured->tables, table, half);
    int code = CW_OK;
    if (measured->place == NULL || times_in(table, half) > 0) {
        measured->place = said;
        measured->format = format_of(table);
    }
    measured->rows += table->row_count + table->damaged;
    for (size_t i = 0; i < table->row_count && code == CW_OK && scale > 0; i++) {
        const struct log_row *const row = &table->rows[i].row;
        const struct log_half *const one = &row->half[half];
        const double us = one->time * (one->time_scale > 0 ? one->time_scale : scale);
        if (!has_chosen_traits(measured, row))
            continue;
        if (!one->has_time || !is_time(us)) {
            tally.without++;
            continue;
        }
        tally.says_wrong = tally.says_wrong || one->has_wrong;
        if (one->wrong > 0 && tally.wrong++ == 0)
            tally.first_wrong = i;
        tally.read++;
        code = add_time(measured, index, row->bytes, us, error);
    }
    say_rows(measured, table, half, &tally);
    measured->rows_read += tally.read;
    measured->rows_wrong += tally.wrong;
    return code;
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

/* Where a line begins with '{', as JSON after a launcher's words does; `bytes`: none does. */
static size_t json_begins(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '{' && (i == 0 || text[i - 1] == '\n'))
            return i;
    return bytes;
}

static int read_tables(struct tables *tables, struct cw_error *error)
{
    size_t bytes, length, first = 0;
    char *const raw = read_file(tables->path, &bytes, error);
    if (raw == NULL)
        return error->exit_code;
    char *text = log_text(raw, bytes, &length);
    free(raw);
    if (text == NULL)
        return cw_error_memory(error, "the measured times");
    if (json_lines_unwrap(text, &length)) { /* and what was logged has colours of its own */
        char *const logged = log_text(text, length, &length);
        free(text);
        if (logged == NULL)
            return cw_error_memory(error, "the measured times");
        text = logged;
    }
    while (first < length && (log_is_blank(text[first]) || text[first] == '\n'))
        first++;
    bool is_json = first < length && text[first] == '{';
    int code = is_json ? CW_OK : read_log(tables, text, length, error);
    const size_t object = is_json ? first : json_begins(text, length);
    is_json = is_json || (code == CW_OK && tables->count == 0 && object < length);
    if (is_json)
        code = read_json(tables, text + object, length - object, error);
    free(text);
    return code;
}

/* A file without a time: why. */
static int refuse_file(const struct measured *measured, struct cw_error *error)
{
    const struct tables *const tables = &measured->tables;
    if (tables->notes > 0)
        return cw_error_set(error, CW_USAGE, "%s:%s%s", tables->path,
                            strncmp(tables->note[0], "results", 7) == 0 ? " " : "",
                            tables->note[0]);
    return cw_error_set(
        error, CW_USAGE,
        "%s: %s; expected output of nccl-tests, rccl-tests (size ... time), hccl_test (data_size | "
        "aveg_time) or a tool with such a table, or the JSON of nccl-tests",
        tables->path, tables->count == 0 ? "no table of measured times" : "a table without times");
}

int measured_read(const char *path, const struct measured_wish *wish, struct measured **measured,
                  struct cw_error *error)
{
    struct measured *const all = calloc(1, sizeof *all);
    *measured = NULL;
    if (all == NULL)
        return cw_error_memory(error, "the measured times");
    all->tables.path = path;
    int code = read_tables(&all->tables, error);
    if (code == CW_OK) {
        all->is_used = calloc(all->tables.count + 1, sizeof *all->is_used);
        code = all->is_used != NULL ? choose_tables(all, wish->bench, wish->does, error)
                                    : cw_error_memory(error, "the measured times");
    }
    if (code == CW_OK)
        choose_traits(all, wish);
    for (size_t i = 0; i < all->tables.count && code == CW_OK; i++)
        if (all->is_used[i])
            code = take_table(all, i, wish->place, error);
    if (code == CW_OK && all->means == 0)
        code = refuse_file(all, error);
    for (size_t i = 0; i < NOTES_MAX; i++)
        all->note[i] = all->tables.note[i];
    if (code == CW_OK)
        *measured = all;
    else
        measured_free(all);
    return code;
}

void measured_free(struct measured *measured)
{
    if (measured != NULL) {
        tables_free(&measured->tables);
        free(measured->is_used);
        free(measured->mean);
    }
    free(measured);
}

static size_t kept_notes(const struct measured *measured)
{
    return measured->tables.notes < NOTES_MAX ? measured->tables.notes : NOTES_MAX;
}

void measured_say(const struct measured *measured, FILE *file)
{
    const struct tables *const tables = &measured->tables;
    if (file == NULL)
        return;
    for (size_t i = 0; i < kept_notes(measured); i++)
        fprintf(file, "cubewarp: note: %s:%s\n", tables->path, tables->note[i]);
    if (tables->notes > NOTES_MAX)
        fprintf(file, "cubewarp: note: %s: and %zu more remarks\n", tables->path,
                tables->notes - NOTES_MAX);
}

/* ---- beside a result ------------------------------------------------------------------------- */

/* Of tables for several numbers of ranks: the run's own number, else the largest. */
static uint32_t choose_ranks(const struct measured *measured, uint32_t ranks)
{
    uint32_t most = 0;
    for (size_t i = 0; i < measured->tables.count; i++) {
        if (!measured->is_used[i] || !has_rows(&measured->tables.table[i]))
            continue;
        if (measured->tables.table[i].ranks == ranks)
            return ranks;
        if (measured->tables.table[i].ranks > most)
            most = measured->tables.table[i].ranks;
    }
    return most;
}

/* OSU and IMB say how many bytes go to one rank, or come from it, where nccl-tests says all. */
static bool is_per_rank(const struct table *table)
{
    return (table->tool == LOG_OSU || table->tool == LOG_IMB) &&
           (table->test.does == CCL_ALL_GATHER || table->test.does == CCL_ALL_TO_ALL);
}

/* How many times a size of a mean counts in a run; 0: the mean is of other ranks. */
static uint32_t times_of(const struct measured *measured, const struct mean *mean, uint32_t ranks)
{
    const struct table *const table = &measured->tables.table[mean->table];
    if (table->ranks != choose_ranks(measured, ranks))
        return 0;
    return is_per_rank(table) ? (table->ranks > 0 ? table->ranks : ranks) : 1;
}

int64_t measured_time_ps(const struct measured *measured, uint64_t bytes, uint32_t ranks)
{
    double sum_us = 0;
    uint32_t count = 0;
    for (size_t k = 0; k < measured->means; k++) {
        const struct mean *const mean = &measured->mean[k];
        const uint32_t times = times_of(measured, mean, ranks);
        if (times == 0 || mean->bytes != bytes / times || bytes % times != 0)
            continue;
        sum_us += mean->sum_us;
        count += mean->count;
    }
    return count > 0 ? llround(1e6 * sum_us / count) : 0;
}

size_t measured_sizes(const struct measured *measured, uint32_t ranks, uint64_t *sizes, size_t room)
{
    size_t count = 0;
    for (size_t k = 0; k < measured->means; k++) {
        const uint64_t bytes =
            measured->mean[k].bytes * times_of(measured, &measured->mean[k], ranks);
        size_t at = 0;
        while (at < count && sizes[at] < bytes)
            at++;
        if (bytes == 0 || count == room || (at < count && sizes[at] == bytes))
            continue;
        memmove(&sizes[at + 1], &sizes[at], (count - at) * sizeof *sizes);
        sizes[at] = bytes;
        count++;
    }
    return count;
}

void measured_attach(const struct measured *measured, struct result *result)
{
    const uint32_t ranks =
        result->row_count > 0 ? choose_ranks(measured, result->rows[0].ranks) : 0;
    result->measured = (struct result_measured){.path = measured->tables.path,
                                                .format = measured->format,
                                                .place = measured->place,
                                                .rows = measured->rows,
                                                .rows_read = measured->rows_read,
                                                .rows_wrong = measured->rows_wrong,
                                                .ranks = ranks,
                                                .notes = measured->note,
                                                .note_count = kept_notes(measured)};
    for (size_t i = 0; i < result->row_count; i++) {
        struct result_row *const row = &result->rows[i];
        if (row->not_run == NULL)
            row->measured_ps = measured_time_ps(measured, row->counted_bytes, row->ranks);
    }
}
