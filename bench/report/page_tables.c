/*
 * page_tables.c: writes the sections of a page that are tables and lists.
 */
#include "bench/report/page_tables.h"

#include <math.h>
#include <string.h>

#include "bench/survey/say.h"
#include "bench/survey/survey_log.h"
#include "bench/survey/winners.h"
#include "bench/survey/words.h"
#include "collectives/config/input/json_file.h"

enum { HEAT_STEPS = 9 };

/* ---- the fastest ----------------------------------------------------------------------------- */

void page_write_winners(FILE *out, struct survey *survey)
{
    struct winner_table table;
    if (!winners_table(survey, &table))
        return;
    fprintf(out, "<div class=\"scroll\"><table id=\"winners\"><caption>%s</caption><thead><tr>",
            table.caption);
    for (size_t c = 0; c < table.columns; c++) {
        fprintf(out, "<th scope=\"col\"%s>", table.is_number[c] ? " class=\"n\"" : "");
        say_html(out, table.heads[c]);
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t r = 0; r < table.rows; r++) {
        fputs("<tr>", out);
        for (size_t c = 0; c < table.columns; c++) {
            const char *const cell = table.cells[r * table.columns + c];
            fprintf(out, "<td%s>", table.is_number[c] ? " class=\"n\"" : "");
            say_html(out, cell != NULL ? cell : "");
            fputs("</td>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* ---- series by x ----------------------------------------------------------------------------- */

/* The largest value of a figure or, with sign -1, the smallest; NAN: no row has it. */
static double page_extreme(const struct survey *survey, enum survey_figure figure, int sign)
{
    double best = NAN;
    for (size_t i = 0; i < survey->row_count; i++) {
        const double value = survey->rows[i].figure[figure];
        if (survey->rows[i].not_run == NULL && !isnan(value) &&
            (isnan(best) || sign * value > sign * best))
            best = value;
    }
    return best;
}

bool page_has_matrix(const struct survey *survey)
{
    return survey->x >= 0 && survey->axes[survey->x].count > 0 && survey_has(survey, FIGURE_TIME) &&
           survey->row_count > 1;
}

static void put_matrix_row(FILE *out, const struct survey *survey, size_t s, double least,
                           double most)
{
    const struct survey_axis *const axis = &survey->axes[survey->x];
    char text[SAY_BYTES];
    fputs("<tr><th scope=\"row\">", out);
    say_html(out, survey->series[s].name[0] != '\0' ? survey->series[s].name : "time");
    fputs("</th>", out);
    for (uint32_t v = 0; v < axis->count; v++) {
        double time = NAN;
        for (size_t i = 0; i < survey->series[s].count && isnan(time); i++) {
            const struct survey_row *const row = &survey->rows[survey->series[s].rows[i]];
            if (row->axis[survey->x] == v + 1)
                time = row->figure[FIGURE_TIME];
        }
        if (isnan(time)) {
            fputs("<td></td>", out);
            continue;
        }
        const bool is_shaded = least > 0 && most > least; /* a file may have negative times */
        const double share = is_shaded ? log(time / least) / log(most / least) : 0.0;
        fprintf(out, "<td class=\"n h%d\">%s</td>", (int)(share * (HEAT_STEPS - 1) + 0.5),
                say_number(time, text));
    }
    fputs("</tr>\n", out);
}

void page_write_matrix(FILE *out, struct survey *survey)
{
    const struct survey_axis *const axis = &survey->axes[survey->x];
    const double least = page_extreme(survey, FIGURE_TIME, -1);
    const double most = page_extreme(survey, FIGURE_TIME, 1);
    const size_t count = survey->series_count < PAGE_MATRIX ? survey->series_count : PAGE_MATRIX;
    char text[SAY_BYTES];
    fputs("<div id=\"compare-view\"></div><div class=\"static scroll\"><table class=\"heat\">"
          "<caption>Time of a call in µs, by ",
          out);
    say_html(out, say_axis(axis));
    fputs("; darker is longer</caption><thead><tr><th></th>", out);
    for (uint32_t v = 0; v < axis->count; v++) {
        fputs("<th scope=\"col\" class=\"n\">", out);
        say_html(out, say_value(axis, &axis->values[v], text));
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t s = 0; s < count; s++)
        put_matrix_row(out, survey, s, least, most);
    fputs("</tbody></table>", out);
    if (count < survey->series_count)
        fprintf(out, "<p class=\"note\">%zu more series are in --csv.</p>",
                survey->series_count - count);
    fputs("</div>\n", out);
}

/* ---- where time goes ------------------------------------------------------------------------- */

/* A part of a row's time. */
struct part {
    const char *name;
    double us;
};
enum { PARTS = 64 };
typedef size_t (*part_reader)(const struct survey_row *row, struct part parts[PARTS]);

static size_t parts_of_phases(const struct survey_row *row, struct part parts[PARTS])
{
    size_t count = 0;
    for (; count < row->phase_count && count < PARTS; count++)
        parts[count] = (struct part){row->phases[count].name, row->phases[count].mean_us};
    return count;
}

/* The time of the kernel that ended last, by use. */
static size_t parts_of_kernel(const struct survey_row *row, struct part parts[PARTS])
{
    const json_t *const shares =
        json_object_get(json_object_get(row->explain, "slowest"), "shares_ns");
    const char *key;
    json_t *value;
    size_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)shares, key,
                        value) if (count < PARTS && json_file_figure(value) > 0) parts[count++] =
        (struct part){key, json_file_figure(value) / 1e3};
    return count;
}

/* The critical path by part, the longest first. */
static size_t parts_of_path(const struct survey_row *row, struct part parts[PARTS])
{
    const json_t *const list = json_object_get(json_object_get(row->explain, "path"), "parts");
    size_t count = 0, i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *const name = json_string_value(json_object_get(item, "part"));
        if (name != NULL && count < PARTS)
            parts[count++] =
                (struct part){name, json_file_figure(json_object_get(item, "time_ns")) / 1e3};
    }
    return count;
}

/* The parts of a series's last row that has any: the one of the largest size. NULL: none has. */
static const struct survey_row *parts_of_series(const struct survey *survey, size_t s,
                                                part_reader read, struct part parts[PARTS],
                                                size_t *count)
{
    for (size_t i = survey->series[s].count; i-- > 0;) {
        const struct survey_row *const row = &survey->rows[survey->series[s].rows[i]];
        *count = read(row, parts);
        if (*count > 0)
            return row;
    }
    return NULL;
}

static size_t part_find(const struct part *parts, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(parts[i].name, name) != 0)
        i++;
    return i;
}

/* The names of the parts of all series shown, in order of appearance. */
static size_t part_names(const struct survey *survey, size_t shown, part_reader read,
                         struct part names[PARTS])
{
    struct part parts[PARTS];
    size_t count = 0, own;
    for (size_t s = 0; s < shown; s++) {
        if (parts_of_series(survey, s, read, parts, &own) == NULL)
            continue;
        for (size_t i = 0; i < own && count < PARTS; i++)
            if (part_find(names, count, parts[i].name) == count)
                names[count++] = parts[i];
    }
    return count;
}

static void put_parts_head(FILE *out, const char *title, const struct part *names, size_t count)
{
    fprintf(out, "<table><caption>%s, in µs</caption><thead><tr><th></th>", title);
    for (size_t i = 0; i < count; i++) {
        fputs("<th scope=\"col\" class=\"n\">", out);
        say_html(out, names[i].name);
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
}

static void put_parts_row(FILE *out, const struct survey *survey, const struct survey_row *row,
                          const struct part *parts, size_t own, const struct part *names,
                          size_t count)
{
    char text[SAY_BYTES];
    const char *const series = survey->series[row->series].name;
    fputs("<tr><th scope=\"row\">", out);
    say_html(out, series);
    if (survey->x >= 0) {
        const struct survey_axis *const axis = &survey->axes[survey->x];
        fputs(series[0] != '\0' ? ", " : "", out);
        say_html(out, say_value(axis, survey_value_of(survey, row->axis, (size_t)survey->x), text));
    }
    fputs("</th>", out);
    for (size_t i = 0; i < count; i++) {
        const size_t part = part_find(parts, own, names[i].name);
        fprintf(out, "<td class=\"n\">%s</td>", part < own ? say_number(parts[part].us, text) : "");
    }
    fputs("</tr>\n", out);
}

static void put_parts(FILE *out, const struct survey *survey, const char *title, part_reader read)
{
    struct part names[PARTS], parts[PARTS];
    const size_t shown = survey->series_count < PAGE_MATRIX ? survey->series_count : PAGE_MATRIX;
    const size_t count = part_names(survey, shown, read, names);
    size_t own;
    if (count == 0)
        return;
    put_parts_head(out, title, names, count);
    for (size_t s = 0; s < shown; s++) {
        const struct survey_row *const row = parts_of_series(survey, s, read, parts, &own);
        if (row != NULL)
            put_parts_row(out, survey, row, parts, own, names, count);
    }
    fputs("</tbody></table>\n", out);
}

bool page_has_phases(const struct survey *survey)
{
    for (size_t i = 0; i < survey->row_count; i++)
        if (survey->rows[i].phase_count > 0 || survey->rows[i].explain != NULL)
            return true;
    return false;
}

void page_write_phases(FILE *out, struct survey *survey)
{
    fputs("<div id=\"phases-view\"></div><div class=\"static scroll\">", out);
    put_parts(out, survey, "The kernel that ended last: its time by use", parts_of_kernel);
    put_parts(out, survey, "The critical path by part", parts_of_path);
    put_parts(out, survey, "Phases of a call's last iteration, mean over the ranks",
              parts_of_phases);
    fputs("</div>\n", out);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const enum survey_figure row_figures[] = {FIGURE_TIME,  FIGURE_ALGBW,      FIGURE_BUSBW,
                                                 FIGURE_BOUND, FIGURE_EFFICIENCY, FIGURE_MEASURED,
                                                 FIGURE_ERROR};
enum { ROW_FIGURES = sizeof row_figures / sizeof *row_figures };

static bool page_shows_axis(const struct survey *survey, size_t index)
{
    const struct survey_axis *const axis = &survey->axes[index];
    return (int)index == survey->x || axis->is_series;
}

static void put_rows_head(FILE *out, const struct survey *survey)
{
    fputs("<thead><tr>", out);
    for (size_t a = 0; a < survey->axis_count; a++)
        if (page_shows_axis(survey, a)) {
            fprintf(out, "<th scope=\"col\"%s>", survey->axes[a].is_numeric ? " class=\"n\"" : "");
            say_html(out, say_axis(&survey->axes[a]));
            fputs("</th>", out);
        }
    for (size_t f = 0; f < ROW_FIGURES; f++)
        if (survey_has(survey, row_figures[f]))
            fprintf(out, "<th scope=\"col\" class=\"n\">%s<small>%s</small></th>",
                    survey_figures[row_figures[f]].label, survey_figures[row_figures[f]].unit);
    fputs("</tr></thead>", out);
}

static void put_row(FILE *out, const struct survey *survey, const struct survey_row *row)
{
    char text[SAY_BYTES];
    size_t figures = 0;
    fputs("<tr>", out);
    for (size_t a = 0; a < survey->axis_count; a++)
        if (page_shows_axis(survey, a)) {
            fputs(survey->axes[a].is_numeric ? "<td class=\"n\">" : "<td>", out);
            say_html(out, say_value(&survey->axes[a], survey_value_of(survey, row->axis, a), text));
            fputs("</td>", out);
        }
    for (size_t f = 0; f < ROW_FIGURES; f++) {
        if (!survey_has(survey, row_figures[f]))
            continue;
        figures++;
        if (row->not_run == NULL)
            fprintf(out, "<td class=\"n\">%s</td>", say_number(row->figure[row_figures[f]], text));
    }
    if (row->not_run != NULL && figures > 0) {
        fprintf(out, "<td colspan=\"%zu\" class=\"note\">not run: ", figures);
        say_html(out, row->not_run);
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

bool page_has_rows(const struct survey *survey) { return survey->row_count > 0; }

void page_write_rows(FILE *out, struct survey *survey)
{
    const size_t count = survey->row_count < PAGE_ROWS ? survey->row_count : PAGE_ROWS;
    fputs("<div id=\"rows-view\"></div><div class=\"static scroll\"><table>", out);
    put_rows_head(out, survey);
    fputs("<tbody>\n", out);
    for (size_t i = 0; i < count; i++)
        put_row(out, survey, &survey->rows[i]);
    fputs("</tbody></table>", out);
    if (count < survey->row_count)
        fprintf(out, "<p class=\"note\">%zu more rows are in --csv.</p>",
                survey->row_count - count);
    fputs("</div>\n", out);
}

bool page_has_slowest(const struct survey *survey)
{
    size_t rows[1];
    return survey->row_count > 1 && words_slowest(survey, rows, 1) > 0;
}

void page_write_slowest(FILE *out, struct survey *survey)
{
    size_t rows[PAGE_SLOWEST];
    const size_t count = words_slowest(survey, rows, PAGE_SLOWEST);
    fprintf(out, "<p>%s</p><div class=\"scroll\"><table>",
            survey_has(survey, FIGURE_EFFICIENCY)
                ? "Lowest efficiency (lower bound / time) first: the furthest from their bounds."
                : "Longest time first.");
    put_rows_head(out, survey);
    fputs("<tbody>\n", out);
    for (size_t i = 0; i < count; i++)
        put_row(out, survey, &survey->rows[rows[i]]);
    fputs("</tbody></table></div>\n", out);
}

bool page_has_failures(const struct survey *survey)
{
    for (size_t i = 0; i < survey->point_count; i++)
        if (survey->points[i].state != STATE_DONE)
            return true;
    for (size_t i = 0; i < survey->row_count; i++)
        if (survey->rows[i].not_run != NULL || words_flaw(&survey->rows[i]) != NULL)
            return true;
    return false;
}

static void put_failure(FILE *out, const char *label, const char *state, const char *message,
                        const char *command)
{
    fputs("<tr><th scope=\"row\">", out);
    say_html(out, label);
    fprintf(out, "</th><td><span class=\"state\">%s</span></td><td>", state);
    say_html(out, message);
    if (command != NULL && command[0] != '\0') {
        fputs("<br><code>", out);
        say_html(out, command);
        fputs("</code>", out);
    }
    fputs("</td></tr>\n", out);
}

void page_write_failures(FILE *out, struct survey *survey)
{
    char text[SAY_BYTES];
    fputs("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">point</th><th "
          "scope=\"col\">state</th><th scope=\"col\">message</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < survey->point_count; i++) {
        const struct survey_point *const point = &survey->points[i];
        if (point->state != STATE_DONE)
            put_failure(out, point->label, survey_state_names[point->state], point->message,
                        point->command);
    }
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        if (row->not_run == NULL && words_flaw(row) == NULL)
            continue;
        const int bytes = survey_axis_find(survey, "bytes");
        const struct survey_value *const value =
            bytes < 0 ? NULL : survey_value_of(survey, row->axis, (size_t)bytes);
        const char *const label =
            survey_print(survey, "%s, %s", survey->points[row->point].label,
                         value != NULL ? say_size(value->number, text) : "one size");
        put_failure(out, label, row->not_run != NULL ? "not run" : words_flaw(row),
                    row->not_run != NULL ? row->not_run : words_flaws(survey, row), NULL);
    }
    fputs("</tbody></table></div>\n", out);
}

/* ---- the simulator --------------------------------------------------------------------------- */

bool page_has_engine(const struct survey *survey) { return survey->log_count > 0; }

void page_write_engine(FILE *out, struct survey *survey)
{
    char text[SAY_BYTES];
    fputs("<div id=\"engine-view\"></div><table class=\"small\"><thead><tr><th "
          "scope=\"col\">engine log</th><th class=\"n\">rounds</th><th class=\"n\">wall "
          "time<small>s</small></th>"
          "<th class=\"n\">events</th><th class=\"n\">committed / handled</th>"
          "<th class=\"n\">peak memory<small>MiB</small></th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < survey->log_count; i++) {
        const struct survey_log *const log = &survey->logs[i];
        const double *const last =
            log->count == 0 ? NULL : &log->values[(log->count - 1) * LOG_COLUMNS];
        double memory = 0;
        for (size_t r = 0; r < log->count; r++)
            memory = fmax(memory, log->values[r * LOG_COLUMNS + LOG_MEMORY]);
        fputs("<tr><th scope=\"row\">", out);
        say_html(out, log->source);
        fprintf(out, "</th><td class=\"n\">%zu</td>", log->count);
        fprintf(out, "<td class=\"n\">%s</td>", say_number(last ? last[LOG_WALL] : NAN, text));
        fprintf(out, "<td class=\"n\">%s</td>", say_number(last ? last[LOG_COMMITTED] : NAN, text));
        fprintf(out, "<td class=\"n\">%s %%</td>",
                say_number(last ? 100 * last[LOG_COMMITTED] / last[LOG_PROCESSED] : NAN, text));
        fprintf(out, "<td class=\"n\">%s</td></tr>\n", say_number(memory / 1048576, text));
    }
    fputs("</tbody></table>\n", out);
}

bool page_has_verdicts(const struct survey *survey) { return survey->verdict_count > 0; }

static void put_verdict(FILE *out, const struct survey_verdict *verdict)
{
    char text[SAY_BYTES];
    fputs("<tr><th scope=\"row\">", out);
    say_html(out, verdict->name);
    fprintf(out, "</th><td%s>%s</td>", verdict->kind <= VERDICT_DISTURBED ? " class=\"state\"" : "",
            survey_verdict_names[verdict->kind]);
    fprintf(out, "<td class=\"n\">%s</td>", say_number(verdict->median * 1e-6, text));
    fprintf(out, "<td class=\"n\">%s", say_number(verdict->least * 1e-6, text));
    fprintf(out, " to %s</td>", say_number(verdict->most * 1e-6, text));
    fprintf(out, "<td class=\"n\">%zu of %zu</td><td class=\"n\">%zu</td><td>", verdict->disturbed,
            verdict->rounds, verdict->runs);
    say_html(out, verdict->why);
    fputs(verdict->goals[0] != '\0' ? "; " : "", out);
    say_html(out, verdict->goals);
    fputs("</td></tr>\n", out);
}

void page_write_verdicts(FILE *out, struct survey *survey)
{
    for (size_t i = 0; i < survey->night_count; i++) {
        const struct survey_night *const night = &survey->nights[i];
        if (night->count == 0)
            continue;
        fputs("<div class=\"scroll\"><table class=\"verdicts\"><caption>The newest run of set ",
              out);
        say_html(out, night->set);
        fputs(" on ", out);
        say_html(out, night->host);
        fputs(": ", out);
        say_html(out, night->started);
        fputs(", commit ", out);
        say_html(out, night->commit);
        fputs("; the worst first</caption><thead><tr><th scope=\"col\">case</th><th "
              "scope=\"col\">verdict</th><th class=\"n\">median<small>M events/s</small></th><th "
              "class=\"n\">rounds</th><th class=\"n\">disturbed</th><th class=\"n\">runs</th><th "
              "scope=\"col\">why, and goals</th></tr></thead><tbody>\n",
              out);
        for (size_t v = 0; v < night->count; v++)
            put_verdict(out, &survey->verdicts[night->first + v]);
        fputs("</tbody></table></div>\n", out);
    }
}

bool page_has_history(const struct survey *survey) { return survey->case_count > 0; }

void page_write_history(FILE *out, struct survey *survey)
{
    char text[SAY_BYTES];
    bool has_changes = false, has_curves = false, has_disturbed = false;
    for (size_t i = 0; i < survey->case_count; i++) {
        const struct survey_case *const one = &survey->cases[i];
        has_changes |= survey_last_change(one, NULL) != NULL;
        has_curves |= one->count > 1;
        for (size_t m = 0; m < one->count; m++)
            has_disturbed |= one->measures[m].disturbed;
    }
    fputs("<div id=\"history-view\"></div>", out);
    if (!has_curves)
        fputs("<p class=\"note\">Each case has one run: its curve begins with the second.</p>\n",
              out);
    if (has_disturbed && has_curves)
        fputs("<p class=\"note\">A dotted mark: at least half of the rounds were "
              "disturbed.</p>\n",
              out);
    if (has_changes)
        fputs("<p class=\"note\">A hollow mark: the simulated results (events, times, hashes) are "
              "others than in the run before.</p>",
              out);
    fputs(
        "<div class=\"scroll\"><table "
        "class=\"small\"><caption>Events "
        "per second, median of the rounds of a run</caption><thead><tr><th scope=\"col\">case</th>"
        "<th scope=\"col\">host</th><th class=\"n\">runs</th><th class=\"n\">first</th><th "
        "class=\"n\">last</th><th class=\"n\">last / first</th><th scope=\"col\">results "
        "changed</th></tr></thead><tbody>\n",
        out);
    for (size_t i = 0; i < survey->case_count; i++) {
        const struct survey_case *const one = &survey->cases[i];
        const double first = one->count > 0 ? one->measures[0].median : NAN;
        const double last = one->count > 0 ? one->measures[one->count - 1].median : NAN;
        fputs("<tr><th scope=\"row\">", out);
        say_html(out, one->name);
        fputs("</th><td>", out);
        say_html(out, one->host);
        fprintf(out, "</td><td class=\"n\">%zu</td>", one->count);
        fprintf(out, "<td class=\"n\">%s</td>", say_number(first, text));
        fprintf(out, "<td class=\"n\">%s</td>", say_number(last, text));
        if (one->count > 1)
            fprintf(out, "<td class=\"n\">%.3f</td><td>", last / first);
        else
            fputs("<td class=\"n\">–</td><td>", out);
        const struct survey_measure *const change = survey_last_change(one, NULL);
        if (change != NULL) {
            fputs("<span class=\"state\">with commit ", out);
            say_html(out, change->commit);
            fputs("</span>", out);
        } else {
            fputs(one->count > 1 ? "no" : "–", out);
        }
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* ---- provenance ------------------------------------------------------------------------------ */

bool page_has_provenance(const struct survey *survey)
{
    return survey->point_count > 0 || survey->study_count > 0;
}

static void put_fact(FILE *out, const char *name, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return;
    fprintf(out, "<dt>%s</dt><dd>", name);
    say_html(out, text);
    fputs("</dd>", out);
}

static void say_words(FILE *stream, const json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) if (json_is_string(item))
        fprintf(stream, "%s%s", i == 0 ? "" : " ", json_string_value(item));
}

static void say_members(FILE *stream, const json_t *object)
{
    const char *key, *between = "";
    json_t *item;
    json_object_foreach((json_t *)(uintptr_t)object, key, item)
    {
        char *const dump = json_dumps(item, JSON_COMPACT | JSON_ENCODE_ANY);
        fprintf(stream, "%s%s = %s", between, key, dump != NULL ? dump : "");
        free(dump);
        between = "; ";
    }
}

/* A member of a provenance: a text, a list of words as a line, an object as "key = value; ..". */
static void put_member(FILE *out, struct survey *survey, const json_t *value, const char *name)
{
    char *text = NULL;
    size_t bytes;
    FILE *const stream = open_memstream(&text, &bytes);
    if (stream != NULL && json_is_string(value))
        fputs(json_string_value(value), stream);
    else if (stream != NULL && json_is_array(value))
        say_words(stream, value);
    else if (stream != NULL && json_is_object(value))
        say_members(stream, value);
    const bool is_whole = stream != NULL && fclose(stream) == 0;
    if (is_whole)
        put_fact(out, name, text);
    survey->no_memory |= !is_whole;
    free(text);
}

static void put_point_provenance(FILE *out, struct survey *survey, const struct survey_point *point)
{
    static const struct {
        const char *member, *name;
    } facts[] = {{"command_line", "command line"},
                 {"version", "version"},
                 {"commit", "commit"},
                 {"compiler", "compiler"},
                 {"host", "host"},
                 {"date", "date"},
                 {"preset", "preset"},
                 {"tags", "tags"},
                 {"changed", "differs from the shipped configuration"}};
    const json_t *const document = point->document;
    fputs("<details><summary>", out);
    say_html(out, point->label);
    fputs("</summary><dl>", out);
    put_fact(out, "file", point->source);
    put_fact(out, "command", point->command);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        put_member(out, survey, json_object_get(point->provenance, facts[i].member), facts[i].name);
    if (point->provenance == NULL)
        put_fact(out, "version", json_string_value(json_object_get(document, "version")));
    put_fact(out, "configuration", json_string_value(json_object_get(document, "config_digest")));
    put_fact(out, "trace hash",
             json_string_value(json_object_get(json_object_get(document, "engine"), "trace_hash")));
    fputs("</dl></details>\n", out);
}

void page_write_provenance(FILE *out, struct survey *survey)
{
    for (size_t i = 0; i < survey->study_count; i++) {
        const struct survey_study *const study = &survey->studies[i];
        fputs("<dl>", out);
        put_fact(out, "study", study->name);
        put_fact(out, "database", study->source);
        put_fact(out, "created", study->created);
        put_fact(out, "version", study->version);
        put_fact(out, "commit", study->commit);
        fputs("</dl>\n", out);
    }
    const bool are_many = survey->point_count > PAGE_POINTS_OPEN;
    if (are_many)
        fputs("<details><summary>The points, one by one</summary>\n", out);
    for (size_t i = 0; i < survey->point_count && i < PAGE_PROVENANCE; i++)
        put_point_provenance(out, survey, &survey->points[i]);
    if (are_many)
        fputs("</details>\n", out);
    if (survey->point_count > PAGE_PROVENANCE)
        fprintf(out, "<p class=\"note\">%zu more points are in the database.</p>\n",
                survey->point_count - PAGE_PROVENANCE);
}
