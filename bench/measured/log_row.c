/*
 * log_row.c: rows of tables in logs (log_row.h). Words are put below the columns of the header in
 * their order, at the least cost: a word that a column cannot have costs much, a distance on the
 * screen something, a column that is left blank little. Cells have their columns already.
 */
#include "bench/measured/log_row.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char expected_time[] = "expected a time above 0";

enum { NO_COLUMN = LOG_COLUMNS_MAX, AGREES_FROM_STEPS = 10, SURE_WORDS = 4 };

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_unit_or_nothing(struct log_word word)
{
    return word.bytes == 0 || log_time_unit(word.at, word.bytes) > 0 ||
           log_rate_unit(word.at, word.bytes) > 0;
}

static bool is_number(struct log_word word)
{
    struct log_number number;
    return log_is_absent(word) ||
           (log_number_read(word, &number) && is_unit_or_nothing(number.rest));
}

static bool is_letters_first(struct log_word word)
{
    return word.bytes > 0 && isalpha((unsigned char)*word.at) != 0;
}

/* "success", "failed", "NULL" of hccl_test. */
static bool is_verdict(struct log_word word)
{
    static const char *const verdicts[] = {"success", "failed", "fail",  "passed",
                                           "pass",    "null",   "ok",    "true",
                                           "false",   "wrong",  "error", "correct"};
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        if (word.bytes == strlen(verdicts[i]) && strncasecmp(word.at, verdicts[i], word.bytes) == 0)
            return true;
    return false;
}

/* Whether a column of this kind may have the word. */
static bool fits(enum log_kind kind, struct log_word word)
{
    uint64_t bytes;
    struct log_number number;
    switch (kind) {
    case LOG_SIZE:
        return log_size_read(word, &bytes) ||
               (log_number_read(word, &number) && number.value >= 0 && number.rest.bytes == 0);
    case LOG_COUNT:
        return log_size_read(word, &bytes) || log_is_absent(word);
    case LOG_TYPE:
    case LOG_REDOP:
    case LOG_TEST:
        return is_letters_first(word) || log_is_absent(word);
    case LOG_RANKS:
    case LOG_ROOT:
        return log_is_absent(word) ||
               (log_number_read(word, &number) && number.rest.bytes == 0 && number.step >= 1 &&
                memchr(word.at, '.', word.bytes) == NULL);
    case LOG_TIME:
    case LOG_ALGBW:
    case LOG_BUSBW:
        return is_number(word) || (word.bytes == 3 && strncasecmp(word.at, "inf", 3) == 0);
    case LOG_WRONG:
        return is_number(word) || is_verdict(word);
    default:
        return true;
    }
}

static bool is_measure(enum log_kind kind)
{
    return kind == LOG_TIME || kind == LOG_ALGBW || kind == LOG_BUSBW || kind == LOG_WRONG;
}

/* ---- words below columns --------------------------------------------------------------------- */

/* The words of a line, and the column of each. */
struct fitting {
    struct log_word word[LOG_WORDS_MAX];
    size_t words;
    size_t column[LOG_WORDS_MAX]; /* NO_COLUMN: behind the last */
};

enum { COST_MISFIT = 400, COST_FAR_MAX = 150, COST_EXTRA = 500 };

static int distance(size_t a, size_t b) { return (int)(a < b ? b - a : a - b); }

static int cost_of(const struct log_column *column, struct log_word word)
{
    const int left = distance(column->left, word.left), right = distance(column->right, word.right);
    const int far = 4 * (left < right ? left : right);
    return (far < COST_FAR_MAX ? far : COST_FAR_MAX) + (fits(column->kind, word) ? 0 : COST_MISFIT);
}

static int cost_of_blank(const struct log_column *column)
{
    return column->kind == LOG_SIZE || column->kind == LOG_COUNT ? 1 << 20
           : is_measure(column->kind)                            ? 12
                                                                 : 4;
}

/* Columns that are blank because the line is over cost nothing; words behind the last column cost
 * much, but those of a time stamp. */
static void fit_words(const struct log_header *header, struct fitting *fitting)
{
    int cost[LOG_WORDS_MAX + 1][LOG_COLUMNS_MAX + 1];
    const size_t words = fitting->words, columns = header->columns;
    for (size_t i = 0; i <= words; i++)
        for (size_t j = 0; j <= columns; j++) {
            const int skip = j == 0       ? 1 << 24
                             : i == words ? cost[i][j - 1]
                                          : cost[i][j - 1] + cost_of_blank(&header->column[j - 1]);
            const int put = i == 0 || j == 0 ? 1 << 24
                                             : cost[i - 1][j - 1] + cost_of(&header->column[j - 1],
                                                                            fitting->word[i - 1]);
            cost[i][j] = i == 0 && j == 0 ? 0 : skip < put ? skip : put;
        }
    size_t used = words;
    for (size_t i = 1; i < words; i++)
        if (cost[i][columns] + (int)(words - i) * COST_EXTRA <
            cost[used][columns] + (int)(words - used) * COST_EXTRA)
            used = i;
    for (size_t i = used; i < words; i++)
        fitting->column[i] = NO_COLUMN;
    for (size_t i = used, j = columns; i > 0; j--) {
        const bool is_put =
            j > 0 && cost[i][j] ==
                         cost[i - 1][j - 1] + cost_of(&header->column[j - 1], fitting->word[i - 1]);
        if (j == 0)
            break;
        if (is_put)
            fitting->column[--i] = j - 1;
    }
}

static void fit_cells(const struct log_header *header, struct fitting *fitting)
{
    for (size_t i = 0; i < fitting->words; i++)
        fitting->column[i] = i < header->columns ? i : NO_COLUMN;
}

/* ---- the row --------------------------------------------------------------------------------- */

/* What the words are, counted. */
struct tally {
    size_t words, fit, fit_first, extra; /* not blank; the first ones that fit; after the last */
    const struct log_word *misfit;       /* the first; NULL: none */
    enum log_kind misfit_kind;
    bool is_full; /* every column has its word */
};

static struct tally tally_of(const struct log_header *header, const struct fitting *fitting)
{
    struct tally tally = {0};
    for (size_t i = 0; i < fitting->words; i++) {
        const struct log_word *const word = &fitting->word[i];
        if (word->bytes == 0)
            continue;
        tally.words++;
        if (fitting->column[i] == NO_COLUMN) {
            tally.extra++;
            continue;
        }
        const enum log_kind kind = header->column[fitting->column[i]].kind;
        if (fits(kind, *word)) {
            tally.fit++;
            tally.fit_first += tally.misfit == NULL;
        } else if (tally.misfit == NULL) {
            tally.misfit = word;
            tally.misfit_kind = kind;
        }
    }
    const bool is_stamped = header->column[header->columns - 1].kind == LOG_STAMP;
    if (is_stamped && tally.extra <= 2)
        tally.extra = 0;
    tally.is_full =
        tally.words >= header->columns - is_stamped && tally.misfit == NULL && tally.extra == 0;
    return tally;
}

/* Digits after the point. */
static int decimals_of(struct log_word word)
{
    const char *const point = memchr(word.at, '.', word.bytes);
    int digits = 0;
    for (const char *at = point; at != NULL && at + 1 < word.at + word.bytes; at++)
        digits += isdigit((unsigned char)at[1]) != 0;
    return digits;
}

void log_row_keep(struct log_row *row, enum log_trait trait, const char *text, size_t bytes)
{
    while (bytes > 0 && log_is_blank(*text))
        text++, bytes--;
    snprintf(row->trait[trait], LOG_TRAIT_BYTES, "%.*s", (int)(bytes < 64 ? bytes : 64), text);
}

/* A column named "op" may have the collective instead of an operation. */
static void take_trait(enum log_kind kind, struct log_word word, struct log_row *row)
{
    if (kind == LOG_REDOP && log_test_named(word.at, word.bytes, &row->test))
        return;
    if (kind == LOG_TYPE || kind == LOG_REDOP || kind == LOG_ROOT)
        log_row_keep(row,
                     kind == LOG_TYPE    ? LOG_TRAIT_TYPE
                     : kind == LOG_REDOP ? LOG_TRAIT_REDOP
                                         : LOG_TRAIT_ROOT,
                     word.at, log_is_absent(word) ? 0 : word.bytes);
}

static void take_value(const struct log_column *column, struct log_word word, struct log_row *row)
{
    struct log_half *const half = &row->half[column->half];
    struct log_number number;
    const bool is_there = !log_is_absent(word) && log_number_read(word, &number);
    if (column->kind == LOG_SIZE) {
        const double size =
            is_there ? log_size_of(number.value, column->scale > 0 ? column->scale : 1) : 0;
        if (column->scale > 1 || !log_size_read(word, &row->bytes))
            row->bytes = size < 9e18 ? (uint64_t)llround(size) : 0;
    } else if (column->kind == LOG_TIME && is_there) {
        half->has_time = true;
        half->time = number.value;
        half->time_scale = log_time_unit(number.rest.at, number.rest.bytes);
    } else if (column->kind == LOG_ALGBW && is_there) {
        half->algbw = number.value;
        half->algbw_step = number.step;
    } else if (column->kind == LOG_WRONG) {
        half->has_wrong = is_there || (is_verdict(word) && !log_is_absent(word));
        half->wrong =
            is_there ? number.value : is_verdict(word) && strchr("fFwWeE", *word.at) != NULL;
    } else if (column->kind == LOG_ERROR && word.bytes > 1 && word.at[word.bytes - 1] == '*') {
        half->has_wrong = true;
        half->wrong = 1;
    } else if (column->kind == LOG_RANKS && is_there && number.value < 1 << 24) {
        row->ranks = (uint32_t)number.value;
    } else if (column->kind == LOG_TEST) {
        (void)log_test_named(word.at, word.bytes, &row->test);
    } else {
        take_trait(column->kind, word, row);
    }
}

/* Whether the words end where a half with this time would go on: the number may be cut off. */
static bool ends_too_soon(const struct log_header *header, const struct fitting *fitting, size_t at)
{
    const size_t column = fitting->column[at];
    return header->separator == ' ' && at + 1 == fitting->words && column + 1 < header->columns &&
           header->column[column + 1].half == header->column[column].half &&
           header->column[column + 1].kind != LOG_STAT;
}

/* Takes the values; false: a time is wrong, or cut off, or there is none. */
static bool take_values(const struct log_header *header, const struct fitting *fitting,
                        int decimals, struct log_row *row, struct log_fault *fault)
{
    bool has_time = false;
    for (size_t i = 0; i < fitting->words; i++) {
        if (fitting->column[i] == NO_COLUMN ||
            (fitting->word[i].bytes == 0 && header->separator == ' '))
            continue;
        const struct log_column *const column = &header->column[fitting->column[i]];
        const bool is_cut =
            column->kind == LOG_TIME &&
            (ends_too_soon(header, fitting, i) || (decimals >= 0 && i + 1 == fitting->words &&
                                                   decimals_of(fitting->word[i]) != decimals));
        if (is_cut) {
            *fault =
                (struct log_fault){.why = "the row ends inside a time", .word = fitting->word[i]};
            continue;
        }
        take_value(column, fitting->word[i], row);
        if (column->kind != LOG_TIME)
            continue;
        const struct log_half *const half = &row->half[column->half];
        has_time = has_time || half->has_time || log_is_absent(fitting->word[i]);
        if (half->has_time ? !(half->time > 0 && half->time < 1e18) : fitting->word[i].bytes == 0) {
            *fault = (struct log_fault){.why = expected_time, .word = fitting->word[i]};
            row->half[column->half].has_time = false;
            has_time = false;
        }
    }
    if (!has_time && fault->why == NULL)
        *fault =
            (struct log_fault){.why = "the row ends before its time", .word = fitting->word[0]};
    return has_time;
}

/* Whether the time and the bandwidth of a row confirm each other, whatever the unit. */
static bool is_confirmed(const struct log_row *row)
{
    int power;
    for (size_t i = 0; i < 2; i++)
        if (log_half_power(&row->half[i], row->bytes, 1, &power))
            return true;
    return false;
}

bool log_half_power(const struct log_half *half, uint64_t bytes, double algbw_scale, int *power)
{
    if (!half->has_time || half->time <= 0 || half->algbw < AGREES_FROM_STEPS * half->algbw_step ||
        bytes == 0)
        return false;
    const double gbs = (double)bytes / 1e3 / half->time;
    const double decades = log10(gbs / (half->algbw * algbw_scale));
    const double nearest = 3 * round(decades / 3);
    if (!isfinite(decades) || fabs(decades - nearest) > 0.1)
        return false;
    *power = (int)(nearest / 3);
    return true;
}

static struct log_word size_word(const struct log_header *header, const struct fitting *fitting)
{
    for (size_t i = 0; i < fitting->words; i++)
        if (fitting->column[i] != NO_COLUMN && header->column[fitting->column[i]].kind == LOG_SIZE)
            return fitting->word[i];
    return (struct log_word){.at = ""};
}

/* Numbers alone, below a header that has a type, are no beginning of a row. */
static bool skips_type(const struct log_header *header, const struct fitting *fitting)
{
    bool has_type = false, has_word = false;
    size_t last = 0;
    for (size_t i = 0; i < fitting->words; i++)
        if (fitting->column[i] != NO_COLUMN) {
            last = fitting->column[i];
            has_word = has_word || header->column[last].kind == LOG_TYPE;
        }
    for (size_t i = 0; i < last; i++)
        has_type = has_type || header->column[i].kind == LOG_TYPE;
    return has_type && !has_word;
}

/* Whether the words look like a row, though something is wrong in it. */
static bool is_nearly_a_row(const struct log_header *header, const struct tally *tally)
{
    const bool is_short = header->columns < SURE_WORDS;
    if (tally->misfit == NULL && tally->extra == 0)
        return tally->words > 1;
    if (is_short)
        return tally->words == header->columns && tally->misfit != NULL &&
               isdigit((unsigned char)*tally->misfit->at) != 0;
    return tally->fit_first >= SURE_WORDS - 1 ||
           (4 * tally->fit >= 3 * tally->words && 2 * tally->words >= header->columns);
}

enum log_answer log_row_read(const struct log_header *header, const char *line, size_t bytes,
                             int decimals, struct log_row *row, struct log_fault *fault)
{
    struct fitting fitting;
    *row = (struct log_row){.bytes = 0};
    *fault = (struct log_fault){.why = NULL};
    fitting.words = log_split(line, bytes, header->separator, fitting.word);
    if (fitting.words == 0 || fitting.words > LOG_WORDS_MAX || *fitting.word[0].at == '#')
        return LOG_NO_ROW;
    if (header->separator == ' ')
        fitting.words = log_join_units(fitting.word, fitting.words);
    if (header->separator == ' ')
        fit_words(header, &fitting);
    else
        fit_cells(header, &fitting);
    if (!fits(LOG_SIZE, size_word(header, &fitting)))
        return LOG_NO_ROW;
    const struct tally tally = tally_of(header, &fitting);
    if (!is_nearly_a_row(header, &tally))
        return LOG_NO_ROW;
    const struct log_word *const last = &fitting.word[fitting.words - 1];
    const size_t last_column = fitting.column[fitting.words - 1];
    row->is_full = tally.is_full;
    row->last_decimals = last_column != NO_COLUMN && header->column[last_column].kind == LOG_TIME
                             ? decimals_of(*last)
                             : -1;
    const bool has_time = take_values(header, &fitting, decimals, row, fault);
    if (tally.misfit == NULL && tally.extra == 0)
        return has_time ? LOG_ROW : skips_type(header, &fitting) ? LOG_NO_ROW : LOG_DAMAGED;
    if (has_time && is_confirmed(row) && tally.misfit_kind != LOG_TIME)
        return LOG_ROW;
    if (tally.misfit != NULL)
        *fault = (struct log_fault){tally.misfit_kind == LOG_TIME ? expected_time
                                                                  : "expected another value",
                                    *tally.misfit, true};
    else
        *fault = (struct log_fault){"more words than the header has columns",
                                    fitting.word[fitting.words - tally.extra], true};
    return LOG_DAMAGED;
}
