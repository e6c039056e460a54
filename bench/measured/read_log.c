/*
 * read_log.c: goes through the lines of a log (read_log.h). A line is a header, a title above or
 * units below one, the name of a test, or perhaps a row. What libraries log in the middle of a row
 * is cut out; the row's beginning is held until its rest comes.
 */
#include "bench/measured/read_log.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/text.h"

enum { HELD_BYTES = 4096, HELD_LINES = 64 };

/* The beginning of a row: its rest may come on a later line. */
struct held {
    char text[HELD_BYTES];
    size_t bytes; /* 0: nothing is held */
    uint32_t line, age;
    enum log_answer answer; /* of the text, as it is */
    struct log_row row;
    char fault[NOTE_BYTES];
};

struct reader {
    struct tables *tables;
    struct cw_error *error;
    uint32_t line_number;
    const char *next, *end; /* the line after this one; the text's end */
    bool is_last_line_cut;  /* the file ends without a line feed, and this is its last line */
    bool has_table;
    struct log_header header; /* of the last table */
    struct log_test test;     /* the last that was named */
    enum log_place title[2];  /* of the last title that no header followed; LOG_ANY_PLACE: none */
    uint32_t ranks;           /* as lines before the next table say */
    uint32_t ranks_here;      /* ... of one process */
    int decimals;             /* of the last row's time that ended its line; -1: none */
    struct held held;
};

/* ---- records of libraries -------------------------------------------------------------------- */

static size_t digits_before(const char *line, size_t end)
{
    size_t start = end;
    while (start > 0 && isdigit((unsigned char)line[start - 1]) != 0)
        start--;
    return end - start;
}

/* Where the host of "HOST:PID:TID [0] NCCL INFO" begins, whose '[' is at `bracket`; else SIZE_MAX.
 * A number glued to it belongs to the row. */
static size_t host_start(const char *line, size_t bracket)
{
    size_t at = bracket;
    while (at > 0 && line[at - 1] == ' ')
        at--;
    for (int i = 0; i < 2; i++) {
        const size_t digits = digits_before(line, at);
        if (digits == 0 || at == digits || line[at - digits - 1] != ':')
            return SIZE_MAX;
        at -= digits + 1;
    }
    size_t start = at;
    while (start > 0 &&
           (isalnum((unsigned char)line[start - 1]) != 0 || strchr("-_.", line[start - 1]) != NULL))
        start--;
    size_t number = start + (line[start] == '-');
    while (number < at && (isdigit((unsigned char)line[number]) != 0 || line[number] == '.'))
        number++;
    const bool is_glued = start > 0 || number > start;
    return is_glued && number > start && number < at && isalpha((unsigned char)line[number]) != 0
               ? number
               : start;
}

/* Where a record of NCCL or RCCL begins in the line; `bytes`: it has none. */
static size_t record_start(const char *line, size_t bytes)
{
    static const char name[] = " NCCL ";
    for (size_t i = 0; i + sizeof name - 1 <= bytes; i++) {
        if (memcmp(line + i, name, sizeof name - 1) != 0)
            continue;
        for (size_t bracket = i; bracket > 0; bracket--)
            if (line[bracket - 1] == '[' && isdigit((unsigned char)line[bracket]) != 0) {
                const size_t start = host_start(line, bracket - 1);
                if (start != SIZE_MAX)
                    return start;
            }
    }
    return bytes;
}

/* What is left before a record, without the prefix that the record had. */
static size_t before_record(const struct log_header *header, const char *line, size_t bytes)
{
    for (size_t i = 1; i < bytes; i++)
        if (!log_is_blank(line[i]) && log_prefix(header, line + i, bytes - i) == bytes - i)
            return i;
    return bytes;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void describe(const struct log_fault *fault, const char *line, uint32_t line_number,
                     char text[NOTE_BYTES])
{
    char quoted[TEXT_QUOTE_BYTES];
    snprintf(text, NOTE_BYTES, "%u:%zu: %s; found %s", line_number,
             (size_t)(fault->word.at - line) + 1, fault->why,
             text_quote(fault->word.at, fault->word.bytes, quoted));
}

/* Nothing more will come of what is held. */
static int release(struct reader *reader)
{
    struct held *const held = &reader->held;
    int code = CW_OK;
    if (held->bytes > 0 && held->answer == LOG_ROW)
        code = tables_add_row(reader->tables, held->line, &held->row, reader->error);
    else if (held->bytes > 0 && held->answer == LOG_DAMAGED)
        tables_add_damaged(reader->tables, held->fault);
    held->bytes = 0;
    return code;
}

/* Holds a beginning, unless it is too long to be one. */
static void hold(struct reader *reader, const char *text, size_t bytes, enum log_answer answer,
                 const struct log_row *row, const struct log_fault *fault, const char *line)
{
    struct held *const held = &reader->held;
    if (bytes > HELD_BYTES)
        bytes = HELD_BYTES;
    held->answer = answer;
    held->row = *row;
    held->line = reader->line_number;
    held->age = 0;
    if (answer == LOG_DAMAGED)
        describe(fault, line, reader->line_number, held->fault);
    memmove(held->text, text, bytes);
    held->bytes = bytes;
}

/* The bytes up to a word that something is glued to, and the number that this begins with. */
static size_t row_part(const struct log_fault *fault, const char *text, size_t bytes)
{
    if (!fault->is_misfit)
        return bytes;
    const char *at = fault->word.at;
    const char *const end = at + fault->word.bytes;
    at += at < end && *at == '-';
    while (at < end && (isdigit((unsigned char)*at) != 0 || *at == '.'))
        at++;
    return (size_t)(at - text);
}

/* Tries the line as the rest of what is held. */
static bool is_rest(struct reader *reader, const char *text, size_t bytes, bool is_cut)
{
    struct held *const held = &reader->held;
    const uint32_t line = held->line;
    char *const joined = malloc(HELD_BYTES + bytes);
    struct log_row row;
    struct log_fault fault;
    bool is_one = false;
    if (joined == NULL)
        return false;
    memcpy(joined, held->text, held->bytes);
    memcpy(joined + held->bytes, text, bytes);
    const size_t all = held->bytes + bytes;
    const enum log_answer answer = log_row_read(&reader->header, joined, all, -1, &row, &fault);
    if (answer == LOG_ROW && (row.is_full || is_cut)) {
        hold(reader, joined, all, answer, &row, &fault, joined);
        held->line = line;
        is_one = true;
    }
    free(joined);
    return is_one;
}

/* How many bytes of a line stand before a row that its header's prefix does not explain: another
 * prefix, or the number of the row, as pandas prints it. 0: there is none. */
static size_t odd_prefix(const struct reader *reader, const char *text, size_t bytes)
{
    enum { EXTRA_MAX = 8, COLUMNS_MIN = 6 };
    const struct table *const table = &reader->tables->table[reader->tables->count - 1];
    const struct log_header *const header = &reader->header;
    struct log_word word[LOG_WORDS_MAX];
    struct log_row row;
    struct log_fault fault;
    char number[24];
    if (header->separator != ' ')
        return 0;
    const size_t words = log_split(text, bytes, ' ', word);
    const size_t stamped = header->column[header->columns - 1].kind == LOG_STAMP;
    const size_t extra = words - header->columns - stamped;
    if (words > LOG_WORDS_MAX || words <= header->columns + stamped || extra > EXTRA_MAX)
        return 0;
    snprintf(number, sizeof number, "%zu", table->row_count);
    if (header->columns < COLUMNS_MIN && !(extra == 1 && log_word_is(word[0], number)))
        return 0;
    const size_t at = (size_t)(word[extra].at - text);
    const bool is_row =
        log_row_read(header, text + at, bytes - at, -1, &row, &fault) == LOG_ROW && row.is_full;
    return is_row ? at : 0;
}

static int read_row(struct reader *reader, const char *line, size_t bytes, bool is_cut)
{
    struct log_row row;
    struct log_fault fault;
    const size_t prefix = log_prefix(&reader->header, line, bytes);
    const char *const text = line + prefix;
    size_t length = bytes - prefix;
    if (is_cut)
        length = before_record(&reader->header, text, length);
    size_t blanks = 0;
    while (blanks < length && log_is_blank(text[blanks]))
        blanks++;
    if (blanks == length)
        return CW_OK;
    if (reader->held.bytes > 0 && is_rest(reader, text, length, is_cut))
        return reader->held.row.is_full ? release(reader) : CW_OK;
    enum log_answer answer =
        log_row_read(&reader->header, text, length,
                     reader->is_last_line_cut ? reader->decimals : -1, &row, &fault);
    const size_t odd =
        answer == LOG_ROW && row.is_full ? 0 : odd_prefix(reader, text + blanks, length - blanks);
    if (odd > 0)
        answer = log_row_read(&reader->header, text + blanks + odd, length - blanks - odd, -1, &row,
                              &fault);
    if (answer == LOG_NO_ROW && !(is_cut && isdigit((unsigned char)text[blanks]) != 0)) {
        const bool is_old = reader->held.bytes > 0 && ++reader->held.age > HELD_LINES;
        return is_old ? release(reader) : CW_OK;
    }
    const int code = release(reader);
    if (code != CW_OK)
        return code;
    if (answer == LOG_ROW && row.is_full) {
        reader->decimals = row.last_decimals;
        return tables_add_row(reader->tables, reader->line_number, &row, reader->error);
    }
    hold(reader, text, answer == LOG_DAMAGED && !is_cut ? row_part(&fault, text, length) : length,
         answer, &row, &fault, line);
    return CW_OK;
}

/* ---- other lines ----------------------------------------------------------------------------- */

static void take_header(struct table *table, const struct log_header *header)
{
    table->tool = header->tool;
    table->halves = header->halves;
    for (size_t i = 0; i < header->columns; i++) {
        const struct log_column *const column = &header->column[i];
        if (column->kind == LOG_TIME)
            table->time_scale[column->half] = column->scale;
        else if (column->kind == LOG_ALGBW)
            table->algbw_scale[column->half] = column->scale;
    }
}

/* Whether the numbers of the rows below have decimal commas. Rows begin with a digit, perhaps after
 * a prefix. */
static bool have_decimal_commas(const struct log_header *header, const char *at, const char *end)
{
    enum { LOOK_LINES = 200 };
    size_t commas = 0, points = 0;
    struct log_header next;
    if (header->separator == ',')
        return false;
    for (int i = 0; i < LOOK_LINES && at < end; i++) {
        const char *const feed = memchr(at, '\n', (size_t)(end - at));
        const size_t bytes = (size_t)((feed != NULL ? feed : end) - at);
        size_t start = log_prefix(header, at, bytes);
        if (log_header_read(at, bytes, &next))
            break;
        while (start < bytes && (log_is_blank(at[start]) || at[start] == header->separator))
            start++;
        if (start < bytes && isdigit((unsigned char)at[start]) != 0)
            log_count_decimals(at + start, bytes - start, &commas, &points);
        at += bytes + 1;
    }
    return commas > 0 && points == 0;
}

static int begin_table(struct reader *reader, const struct log_header *header)
{
    int code = reader->has_table ? release(reader) : CW_OK;
    if (code == CW_OK)
        code = tables_begin(reader->tables, reader->error);
    if (code != CW_OK)
        return code;
    struct table *const table = &reader->tables->table[reader->tables->count - 1];
    reader->header = *header;
    reader->header.has_decimal_commas = have_decimal_commas(header, reader->next, reader->end);
    reader->has_table = true;
    reader->decimals = -1;
    take_header(table, header);
    for (size_t i = 0; i < header->halves; i++) {
        const enum log_place usual = header->halves == 1 ? LOG_ANY_PLACE
                                     : i == 0            ? LOG_OUT_OF_PLACE
                                                         : LOG_IN_PLACE;
        table->place[i] = header->place[i] != LOG_ANY_PLACE   ? header->place[i]
                          : reader->title[i] != LOG_ANY_PLACE ? reader->title[i]
                                                              : usual;
    }
    table->line = reader->line_number;
    table->test = reader->test;
    table->ranks = reader->ranks > 0        ? reader->ranks
                   : reader->ranks_here > 1 ? reader->ranks_here
                                            : 0;
    reader->ranks = reader->ranks_here = 0;
    reader->title[0] = reader->title[1] = LOG_ANY_PLACE;
    return CW_OK;
}

/* "#  Rank  3 Group  0 Pid ..." and "# nThread 1 nGpus 8" of nccl-tests, "# #processes = 8" of IMB.
 * Threads and GPUs are those of one process: they count where no rank is named. */
static void read_ranks(struct reader *reader, const char *line, size_t bytes)
{
    struct log_word word[LOG_WORDS_MAX];
    uint64_t value, gpus;
    if (bytes > 256)
        return;
    const size_t words = log_split(line, bytes, ' ', word);
    for (size_t i = 0; i + 2 < words && words <= LOG_WORDS_MAX; i++) {
        if (log_word_is(word[i], "Rank") && log_size_read(word[i + 1], &value) && value < 1 << 24 &&
            value + 1 > reader->ranks)
            reader->ranks = (uint32_t)value + 1;
        else if (log_word_is(word[i], "#processes") && log_word_is(word[i + 1], "=") &&
                 log_size_read(word[i + 2], &value) && value < 1 << 24)
            reader->ranks = (uint32_t)value;
        else if (log_word_is(word[i], "nThread") && i + 3 < words &&
                 log_word_is(word[i + 2], "nGpus") && log_size_read(word[i + 1], &value) &&
                 log_size_read(word[i + 3], &gpus) && value < 1 << 12 && gpus < 1 << 12)
            reader->ranks_here = (uint32_t)(value * gpus);
    }
}

/* "Out of bounds values : 1 FAILED", below a table. */
static void read_failed(const struct reader *reader, const char *line, size_t bytes)
{
    static const char name[] = "Out of bounds values";
    const size_t length = sizeof name - 1;
    for (size_t i = 0; i + length <= bytes && reader->has_table; i++) {
        if (memcmp(line + i, name, length) != 0)
            continue;
        for (i += length; i < bytes && (log_is_blank(line[i]) || line[i] == ':'); i++)
            ;
        if (i < bytes && line[i] >= '1' && line[i] <= '9')
            for (size_t k = reader->tables->count; k > 0; k--)
                if (reader->tables->table[k - 1].line ==
                    reader->tables->table[reader->tables->count - 1].line)
                    reader->tables->table[k - 1].failed_line = reader->line_number;
        return;
    }
}

static int read_line(struct reader *reader, char *line, size_t bytes)
{
    struct log_header header;
    struct log_test test;
    enum log_place title[2];
    const size_t start = record_start(line, bytes);
    const bool is_cut = start < bytes;
    bytes = start;
    if (bytes == 0)
        return CW_OK;
    if (log_header_read(line, bytes, &header))
        return begin_table(reader, &header);
    struct table *const table =
        reader->has_table ? &reader->tables->table[reader->tables->count - 1] : NULL;
    if (table != NULL && table->row_count + table->damaged == 0 && reader->held.bytes == 0 &&
        log_units_read(&reader->header, line, bytes)) {
        take_header(table, &reader->header);
        return CW_OK;
    }
    if (log_title_read(line, bytes, title)) {
        memcpy(reader->title, title, sizeof title);
        return CW_OK;
    }
    if (log_test_read(line, bytes, &test))
        reader->test = test;
    read_ranks(reader, line, bytes);
    read_failed(reader, line, bytes);
    if (reader->has_table && reader->header.has_decimal_commas)
        log_point_decimals(line, bytes);
    return reader->has_table ? read_row(reader, line, bytes, is_cut) : CW_OK;
}

/* A test that the file names once, wherever, is that of tables before which none was named. */
static void name_tables(struct tables *tables, const struct log_test *only)
{
    for (size_t i = 0; i < tables->count && only->name[0] != '\0'; i++)
        if (tables->table[i].test.name[0] == '\0')
            tables->table[i].test = *only;
}

int read_log(struct tables *tables, char *text, size_t bytes, struct cw_error *error)
{
    struct reader *const reader = calloc(1, sizeof *reader);
    int code = CW_OK;
    if (reader == NULL)
        return cw_error_memory(error, "the measured times");
    reader->tables = tables;
    reader->error = error;
    struct log_test only = {.does = CCL_COLLECTIVES};
    bool is_only = true;
    char *const end = text + bytes;
    reader->end = end;
    for (char *line = text; line < end && code == CW_OK;) {
        const char *const feed = memchr(line, '\n', (size_t)(end - line));
        const size_t length = (size_t)((feed != NULL ? feed : end) - line);
        reader->next = feed != NULL ? feed + 1 : end;
        reader->line_number++;
        reader->is_last_line_cut = feed == NULL;
        code = read_line(reader, line, length);
        if (reader->test.name[0] != '\0' && only.name[0] == '\0')
            only = reader->test;
        is_only = is_only && strcmp(only.name, reader->test.name) == 0;
        line += length + 1;
    }
    if (code == CW_OK && reader->has_table)
        code = release(reader);
    if (is_only)
        name_tables(tables, &only);
    free(reader);
    return code;
}
