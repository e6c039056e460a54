/*
 * log_header.c: finds the headers of tables by the names of their columns, which differ from tool
 * to tool and from version to version (log_header.h). A new name is a row of `names`.
 */
#include "bench/measured/log_header.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { STEM_BYTES = 48, KNOWN_MIN = 4, MERGED_MAX = 3 };

static const char separators[] = "|&,; \t";

/* ---- names ----------------------------------------------------------------------------------- */

/* A name without its unit, in lower case, with '_' for all that is no letter or digit. */
struct stem {
    char text[STEM_BYTES];
    const char *unit; /* in the name; NULL: none */
    size_t unit_bytes;
};

static const struct {
    const char *stem;
    enum log_kind kind;
    enum log_tool tool;
} names[] = {
    {"size", LOG_SIZE, 0},
    {"bytes", LOG_SIZE, 0},
    {"nbytes", LOG_SIZE, 0},
    {"data_size", LOG_SIZE, 0},
    {"datasize", LOG_SIZE, 0},
    {"msg_size", LOG_SIZE, 0},
    {"message_size", LOG_SIZE, 0},
    {"size_bytes", LOG_SIZE, 0},
    {"size_in_bytes", LOG_SIZE, 0},
    {"total_size", LOG_SIZE, 0},
    {"message_bytes", LOG_SIZE, 0},
    {"msg_bytes", LOG_SIZE, 0},
    {"count", LOG_COUNT, 0},
    {"n", LOG_COUNT, 0},
    {"elements", LOG_COUNT, 0},
    {"nelementsperrank", LOG_COUNT, 0},
    {"num_elements", LOG_COUNT, 0},
    {"numel", LOG_COUNT, 0},
    {"type", LOG_TYPE, 0},
    {"dtype", LOG_TYPE, 0},
    {"datatype", LOG_TYPE, 0},
    {"redop", LOG_REDOP, 0},
    {"op", LOG_REDOP, 0},
    {"root", LOG_ROOT, 0},
    {"time", LOG_TIME, 0},
    {"cputime", LOG_TIME, 0},
    {"cpu_time", LOG_TIME, 0},
    {"latency", LOG_TIME, LOG_OSU},
    {"lat", LOG_TIME, LOG_OSU},
    {"pure_comm", LOG_TIME, LOG_OSU},
    {"t", LOG_TIME, LOG_IMB},
    {"duration", LOG_TIME, 0},
    {"algbw", LOG_ALGBW, 0},
    {"alg_bw", LOG_ALGBW, 0},
    {"alg_bandwidth", LOG_ALGBW, LOG_HCCL_TEST},
    {"busbw", LOG_BUSBW, 0},
    {"bus_bw", LOG_BUSBW, 0},
    {"bus_bandwidth", LOG_BUSBW, 0},
    {"wrong", LOG_WRONG, 0},
    {"nwrong", LOG_WRONG, 0},
    {"check_result", LOG_WRONG, LOG_HCCL_TEST},
    {"validation", LOG_WRONG, LOG_OSU},
    {"correctness", LOG_WRONG, 0},
    {"correct", LOG_WRONG, 0},
    {"collective", LOG_TEST, 0},
    {"coll", LOG_TEST, 0},
    {"primitive", LOG_TEST, 0},
    {"test", LOG_TEST, 0},
    {"test_name", LOG_TEST, 0},
    {"ranks", LOG_RANKS, 0},
    {"nranks", LOG_RANKS, 0},
    {"world_size", LOG_RANKS, 0},
    {"gpus", LOG_RANKS, 0},
    {"ngpus", LOG_RANKS, 0},
    {"num_gpus", LOG_RANKS, 0},
    {"nprocs", LOG_RANKS, 0},
    {"np", LOG_RANKS, 0},
    {"timestamp", LOG_STAMP, 0},
    {"time_stamp", LOG_STAMP, 0},
    {"error", LOG_ERROR, 0},
    {"bitdiff", LOG_STAT, 0},
    {"i_min", LOG_STAT, 0},
    {"i_max", LOG_STAT, 0},
    {"i_cv", LOG_STAT, 0},
    {"throughput", LOG_STAT, 0},
    {"bandwidth", LOG_STAT, 0},
    {"bw", LOG_STAT, 0},
    {"description", LOG_STAT, 0},
    {"speedup", LOG_STAT, 0},
    {"speed_up", LOG_STAT, 0},
    {"res", LOG_STAT, 0},
    {"bound", LOG_STAT, 0},
    {"eff", LOG_STAT, 0},
    {"iterations", LOG_STAT, 0},
    {"repetitions", LOG_STAT, LOG_IMB},
    {"overall", LOG_STAT, LOG_OSU},
    {"compute", LOG_STAT, LOG_OSU},
    {"overlap", LOG_STAT, LOG_OSU},
    {"t_ovrl", LOG_STAT, LOG_IMB},
    {"mbytes_sec", LOG_STAT, LOG_IMB},
};

static bool is_alnum(char c) { return isalnum((unsigned char)c) != 0 && (unsigned char)c < 0x80; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

/* What follows the unit of a name: "Latency(us):p50" says more of it. False: these are two names.
 */
static bool take_rest(struct stem *stem, const char *at, const char *end, size_t *length)
{
    const bool is_more = at < end && *at == ':';
    for (; at < end; at++) {
        if (*at == '|' || (is_alnum(*at) && !is_more) || *length + 2 >= sizeof stem->text)
            return false;
        if (is_alnum(*at))
            stem->text[(*length)++] = lower(*at);
        else if (is_more && *length > 0 && stem->text[*length - 1] != '_')
            stem->text[(*length)++] = '_';
    }
    return true;
}

/* False: it is too long to be a name. */
static bool stem_of(const char *name, size_t bytes, struct stem *stem)
{
    size_t length = 0;
    *stem = (struct stem){.unit = NULL};
    for (size_t i = 0; i < bytes; i++) {
        if (strchr("|,;", name[i]) != NULL)
            return false;
        if (name[i] == '(' || name[i] == '[') {
            const char *const closing = memchr(name + i, name[i] == '(' ? ')' : ']', bytes - i);
            if (closing == NULL)
                return false;
            stem->unit = name + i + 1;
            stem->unit_bytes = (size_t)(closing - stem->unit);
            if (!take_rest(stem, closing + 1, name + bytes, &length))
                return false;
            break;
        }
        if (length + 1 >= sizeof stem->text)
            return false;
        if (is_alnum(name[i]))
            stem->text[length++] = lower(name[i]);
        else if (length > 0 && stem->text[length - 1] != '_')
            stem->text[length++] = '_';
    }
    while (length > 0 && stem->text[length - 1] == '_')
        length--;
    stem->text[length] = '\0';
    return true;
}

/* Takes a whole part out of the stem: "time" and "in_place" make up "time_in_place". */
static bool take(struct stem *stem, const char *part)
{
    char *const text = stem->text;
    char *const at = strstr(text, part);
    if (at == NULL)
        return false;
    char *rest = at + strlen(part);
    if ((at > text && at[-1] != '_') || (*rest != '\0' && *rest != '_'))
        return false;
    if (at == text && *rest == '_')
        rest++;
    memmove(at > text ? at - 1 : at, rest, strlen(rest) + 1);
    return true;
}

static enum log_place take_place(struct stem *stem)
{
    if (take(stem, "out_of_place") || take(stem, "oop"))
        return LOG_OUT_OF_PLACE;
    return take(stem, "in_place") || take(stem, "inplace") || take(stem, "ip") ? LOG_IN_PLACE
                                                                               : LOG_ANY_PLACE;
}

/* "avg_latency", "time_avg", "p50_tail_lat": takes out what is said of the times. */
static int take_statistics(struct stem *stem)
{
    static const char *const means[] = {"avg", "aveg", "average", "mean"};
    static const char *const others[] = {"min", "max", "p50", "p90", "p95", "p99", "p100", "tail"};
    int rank = 0;
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        rank = take(stem, means[i]) ? 1 : rank;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        rank = take(stem, others[i]) ? -1 : rank;
    return rank;
}

/* "time_us": takes out a unit at the end of the name. Returns its factor, or 0. */
static double take_unit(struct stem *stem)
{
    char *const dash = strrchr(stem->text, '_');
    const char *const last = dash != NULL ? dash + 1 : stem->text;
    const size_t bytes = strlen(last);
    double factor = bytes > 1 || dash != NULL ? log_time_unit(last, bytes) : 0;
    if (factor == 0 && dash != NULL)
        factor = strcmp(last, "gbs") == 0 ? 1 : log_size_unit(last, bytes);
    if (factor > 0)
        *(dash != NULL ? dash : stem->text) = '\0';
    return factor;
}

static double scale_of(enum log_kind kind, const char *unit, size_t bytes)
{
    return kind == LOG_TIME    ? log_time_unit(unit, bytes)
           : kind == LOG_SIZE  ? log_size_unit(unit, bytes)
           : kind == LOG_ALGBW ? log_rate_unit(unit, bytes)
                               : 0;
}

static bool look_up(const char *stem, struct log_column *column)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (*names[i].stem != *stem || strcmp(names[i].stem, stem) != 0)
            continue;
        column->kind = names[i].kind;
        column->tool = names[i].tool;
        return true;
    }
    return false;
}

/* Fills the column by its name; false: the name is not known. */
static bool name_read(const char *name, size_t bytes, struct log_column *column)
{
    struct stem stem;
    *column = (struct log_column){.kind = LOG_OTHER};
    if (!stem_of(name, bytes, &stem))
        return false;
    bool is_known = look_up(stem.text, column);
    if (!is_known) {
        column->place = take_place(&stem);
        column->scale = take_unit(&stem);
        column->rank = take_statistics(&stem);
        is_known = look_up(stem.text, column);
    }
    if (!is_known && stem.text[0] == '\0' && (column->scale > 0 || stem.unit != NULL) &&
        (column->scale > 0 || column->place != LOG_ANY_PLACE || column->rank != 0)) {
        column->kind = LOG_TIME; /* "in_place_us", "avg(us)" */
        is_known = true;
    }
    if (!is_known && stem.text[0] == '\0' && column->rank != 0) {
        column->kind = LOG_STAT; /* "p75", "Min" */
        is_known = true;
    }
    if (is_known && stem.unit != NULL)
        column->scale = scale_of(column->kind, stem.unit, stem.unit_bytes);
    return is_known;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* How many words, from the first on, stand near enough together to be one name. */
static size_t merging(const struct log_word *word, size_t words)
{
    size_t merged = 1;
    while (merged < words && merged < MERGED_MAX && word[merged].left <= word[merged - 1].right + 2)
        merged++;
    return merged;
}

static size_t name_bytes(const struct log_word *word, size_t merged)
{
    return (size_t)(word[merged - 1].at + word[merged - 1].bytes - word->at);
}

/* The columns that words of a line name: up to three words, "Avg Latency (us)", are one name. */
static size_t columns_of_words(const struct log_word *word, size_t words, struct log_header *header)
{
    size_t known = 0;
    for (size_t i = 0, merged; i < words && header->columns < LOG_COLUMNS_MAX; i += merged) {
        struct log_column column;
        bool is_known = false;
        if (log_word_is(word[i], "|"))
            return 0; /* cells, not words */
        merged = merging(word + i, words - i);
        while (merged > 0) {
            is_known = name_read(word[i].at, name_bytes(word + i, merged), &column);
            if (is_known)
                break;
            merged--;
        }
        merged = is_known ? merged : 1;
        if (!is_known && header->columns == 0 && *word[i].at != '#')
            return 0;
        if (!is_known && word[i].bytes == 1 && *word[i].at == '#')
            continue;
        column.left = word[i].left;
        column.right = word[i + merged - 1].right;
        header->column[header->columns++] = column;
        known += is_known;
    }
    return known;
}

/* ... that cells name; *blank: how many name none. */
static size_t columns_of_cells(const struct log_word *word, size_t words, struct log_header *header,
                               size_t *blank)
{
    size_t known = 0;
    for (size_t i = 0; i < words && i < LOG_COLUMNS_MAX; i++) {
        struct log_column *const column = &header->column[header->columns++];
        *blank += word[i].bytes == 0;
        known += name_read(word[i].at, word[i].bytes, column);
        column->left = word[i].left;
        column->right = word[i].right;
    }
    return known;
}

/* Keeps one size and the best times, at most two, and says to which half each column belongs.
 * False: a size or a time is missing. */
static bool settle_columns(struct log_header *header)
{
    int rank = -1;
    bool has_size = false;
    for (size_t i = 0; i < header->columns; i++)
        if (header->column[i].kind == LOG_TIME && header->column[i].rank > rank)
            rank = header->column[i].rank;
    for (size_t i = 0; i < header->columns; i++) {
        struct log_column *const column = &header->column[i];
        if ((column->kind == LOG_SIZE && has_size) ||
            (column->kind == LOG_TIME && (column->rank != rank || header->halves == 2)))
            column->kind = LOG_STAT;
        has_size = has_size || column->kind == LOG_SIZE;
        if (column->kind == LOG_TIME)
            header->place[header->halves++] = column->place;
        if (column->tool != LOG_NCCL_TESTS)
            header->tool = column->tool;
        column->half = header->halves == 2;
        if (header->halves == 2 && column->place == header->place[0] &&
            column->place != LOG_ANY_PLACE)
            column->half = 0;
    }
    return has_size && header->halves > 0;
}

/* ---- headers --------------------------------------------------------------------------------- */

/* Prose before a header with few columns means that it is prose, too. */
static bool is_prose(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        size_t letters = 0, all = 0;
        for (; i < bytes && log_is_blank(text[i]); i++)
            ;
        for (; i < bytes && !log_is_blank(text[i]); i++, all++)
            letters += isalpha((unsigned char)text[i]) != 0;
        if (all > 0 && letters == all)
            return true;
    }
    return false;
}

static bool keep_prefix(struct log_header *header, const char *line, size_t bytes)
{
    while (bytes > 0 && (log_is_blank(line[bytes - 1]) || line[bytes - 1] == '#'))
        bytes--;
    if (bytes >= sizeof header->prefix)
        return false;
    memcpy(header->prefix, line, bytes);
    header->prefix[bytes] = '\0';
    return true;
}

/* Columns are counted from the prefix on. */
static size_t prefix_width(const char *line, size_t start)
{
    while (start > 0 && (log_is_blank(line[start - 1]) || line[start - 1] == '#'))
        start--;
    return start;
}

static bool header_from(const char *line, size_t bytes, size_t start, char separator,
                        struct log_header *header)
{
    struct log_word word[LOG_WORDS_MAX];
    const size_t cut = prefix_width(line, start);
    *header = (struct log_header){.separator = separator};
    if (!keep_prefix(header, line, start) ||
        (separator != ' ' && memchr(line + start, separator, bytes - start) == NULL))
        return false;
    size_t words = log_split(line + cut, bytes - cut, separator, word);
    if (words > LOG_WORDS_MAX)
        return false;
    size_t blank = 0;
    const size_t known = separator == ' ' ? columns_of_words(word, words, header)
                                          : columns_of_cells(word, words, header, &blank);
    if (!settle_columns(header))
        return false;
    if (separator != ' ' && header->tool != LOG_HCCL_TEST)
        header->tool = LOG_CELLS;
    if (separator != ' ')
        return known >= KNOWN_MIN || 2 * known >= header->columns - blank;
    return known >= KNOWN_MIN ? 2 * known >= header->columns
                              : known == header->columns && !is_prose(line, start);
}

/* Where a header may begin: at a word, or after the signs that end a prefix. */
static bool may_begin(const char *line, size_t at)
{
    return (is_alnum(line[at]) || strchr("\"'`*", line[at]) != NULL) &&
           (at == 0 || log_is_blank(line[at - 1]) || strchr(":]>#|", line[at - 1]) != NULL);
}

/* Most lines are no headers, which is soon seen: the name of a size has one of two words in it. */
static bool names_a_size(const char *line, size_t bytes)
{
    for (size_t i = 0; i + 4 <= bytes; i++)
        if ((lower(line[i]) == 's' || lower(line[i]) == 'b') &&
            (strncasecmp(line + i, "size", 4) == 0 || strncasecmp(line + i, "byte", 4) == 0))
            return true;
    return false;
}

/* The header that begins at `start`, with one separator or another. */
static bool header_at(const char *line, size_t bytes, size_t start, struct log_header *header)
{
    for (const char *separator = separators; *separator != '\0'; separator++)
        if ((*separator == ' ' || memchr(line, *separator, start) == NULL) &&
            header_from(line, bytes, start, *separator, header) &&
            header->column[0].kind != LOG_OTHER)
            return true;
    return false;
}

bool log_header_read(const char *line, size_t bytes, struct log_header *header)
{
    enum { LINE_BYTES_MAX = 4096, NAME_BYTES = 20 };
    if (bytes > LINE_BYTES_MAX || !names_a_size(line, bytes))
        return false;
    /* A table begins with a size, mostly; or with another name that is known; or with any cell. */
    for (size_t start = 0; start < bytes; start++)
        if (may_begin(line, start) &&
            names_a_size(line + start, bytes - start < NAME_BYTES ? bytes - start : NAME_BYTES) &&
            header_at(line, bytes, start, header) && header->column[0].kind == LOG_SIZE)
            return true;
    for (size_t start = 0; start < bytes; start++)
        if (may_begin(line, start) && header_at(line, bytes, start, header))
            return true;
    for (const char *separator = separators; *separator != '\0'; separator++)
        if (*separator != ' ')
            if (header_from(line, bytes, 0, *separator, header))
                return true;
    return false;
}

/* ---- lines around it ------------------------------------------------------------------------- */

static size_t run_of_alnum(const char *text, size_t bytes)
{
    size_t length = 0;
    while (length < bytes && (is_alnum(text[length]) || text[length] == '_'))
        length++;
    return length;
}

static size_t run_of_blanks(const char *text, size_t bytes)
{
    size_t length = 0;
    while (length < bytes && log_is_blank(text[length]))
        length++;
    return length;
}

/* Whether a run of letters and digits may stand for another one: a bare word only for one that also
 * begins with a letter, or also with a digit. */
static bool may_stand_for(const char *prefix, size_t at, size_t length, const char *run)
{
    const bool is_bare = (at == 0 || log_is_blank(prefix[at - 1])) &&
                         (prefix[at + length] == '\0' || log_is_blank(prefix[at + length]));
    return !is_bare ||
           (isdigit((unsigned char)prefix[at]) != 0) == (isdigit((unsigned char)*run) != 0);
}

size_t log_prefix(const struct log_header *header, const char *line, size_t bytes)
{
    const char *const prefix = header->prefix;
    const size_t length = strlen(prefix);
    size_t at = run_of_blanks(prefix, length), to = run_of_blanks(line, bytes);
    while (at < length) {
        const size_t blanks = run_of_blanks(prefix + at, length - at);
        const size_t run = run_of_alnum(prefix + at, length - at);
        const size_t found = blanks > 0 ? run_of_blanks(line + to, bytes - to)
                             : run > 0  ? run_of_alnum(line + to, bytes - to)
                                        : to < bytes && line[to] == prefix[at];
        if (found == 0 || (run > 0 && !may_stand_for(prefix, at, run, line + to)))
            return 0;
        at += blanks > 0 ? blanks : run > 0 ? run : 1;
        to += found;
    }
    return length > 0 ? to : 0;
}

/* The place that is named at `at`; *length becomes its bytes. */
static enum log_place place_at(const char *at, size_t bytes, size_t *length)
{
    static const struct {
        const char *name;
        enum log_place place;
    } places[] = {{"out-of-place", LOG_OUT_OF_PLACE}, {"out_of_place", LOG_OUT_OF_PLACE},
                  {"out of place", LOG_OUT_OF_PLACE}, {"in-place", LOG_IN_PLACE},
                  {"in_place", LOG_IN_PLACE},         {"in place", LOG_IN_PLACE},
                  {"inplace", LOG_IN_PLACE}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        *length = strlen(places[i].name);
        if (*length <= bytes && strncasecmp(at, places[i].name, *length) == 0)
            return places[i].place;
    }
    return LOG_ANY_PLACE;
}

bool log_title_read(const char *line, size_t bytes, enum log_place place[2])
{
    size_t found = 0, length;
    place[0] = place[1] = LOG_ANY_PLACE;
    for (size_t i = 0; i < bytes;) {
        const enum log_place here = place_at(line + i, bytes - i, &length);
        if (here != LOG_ANY_PLACE) {
            if (found == 2 || (found == 0 && is_prose(line, i)))
                return false;
            place[found++] = here;
            i += length;
        } else {
            if (found > 0 && is_alnum(line[i]))
                return false;
            i++;
        }
    }
    return found > 0;
}

bool log_units_read(struct log_header *header, const char *line, size_t bytes)
{
    struct log_word word[LOG_WORDS_MAX];
    size_t start = log_prefix(header, line, bytes), next = 0;
    while (start < bytes && (log_is_blank(line[start]) || line[start] == '#'))
        start++;
    const size_t words = log_split(line + start, bytes - start, header->separator, word);
    if (words == 0 || words > LOG_WORDS_MAX)
        return false;
    for (size_t i = 0; i < words; i++)
        if (word[i].bytes > 0 &&
            (word[i].bytes < 3 || *word[i].at != '(' || word[i].at[word[i].bytes - 1] != ')'))
            return false;
    for (size_t i = 0; i < words; i++) {
        double scale = 0;
        size_t column = next;
        for (; column < header->columns && scale == 0 && word[i].bytes > 0; column++)
            scale = scale_of(header->column[column].kind, word[i].at + 1, word[i].bytes - 2);
        if (scale > 0) {
            header->column[column - 1].scale = scale;
            next = column;
        }
    }
    return true;
}
