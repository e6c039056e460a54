/*
 * sheet.c: writes a survey as CSV and as Markdown.
 */
#include "bench/report/sheet.h"

#include <math.h>
#include <string.h>

#include "bench/survey/say.h"
#include "bench/survey/winners.h"
#include "bench/survey/words.h"

static void csv_cell(FILE *out, const char *text)
{
    if (text == NULL)
        return;
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

int sheet_csv(FILE *out, struct survey *survey, struct cw_error *error)
{
    (void)error;
    bool has[SURVEY_FIGURES];
    for (int f = 0; f < SURVEY_FIGURES; f++)
        has[f] = survey_has(survey, (enum survey_figure)f);
    fputs("point,state,file", out);
    for (size_t a = 0; a < survey->axis_count; a++) {
        fputc(',', out);
        csv_cell(out, survey->axes[a].name);
    }
    for (int f = 0; f < SURVEY_FIGURES; f++)
        if (has[f])
            fprintf(out, ",%s", survey_figures[f].key);
    fputs(",bound_by,not_run,data\n", out);
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        const struct survey_point *const point = &survey->points[row->point];
        csv_cell(out, point->label);
        fprintf(out, ",%s,", survey_state_names[point->state]);
        csv_cell(out, point->source);
        for (size_t a = 0; a < survey->axis_count; a++) {
            const struct survey_value *const value = survey_value_of(survey, row->axis, a);
            fputc(',', out);
            csv_cell(out, value != NULL ? value->text : NULL);
        }
        for (int f = 0; f < SURVEY_FIGURES; f++) {
            if (!has[f])
                continue;
            fputc(',', out);
            if (!isnan(row->figure[f]))
                fprintf(out, "%.12g", row->figure[f]);
        }
        fputc(',', out);
        csv_cell(out, row->bound_by);
        fputc(',', out);
        csv_cell(out, row->not_run);
        fputc(',', out);
        csv_cell(out, words_flaw(row) != NULL ? words_flaws(survey, row) : NULL);
        fputc('\n', out);
    }
    return CW_OK;
}

/* ---- Markdown -------------------------------------------------------------------------------- */

/* Escapes Markdown's special characters; line breaks become spaces. */
static void put_markdown(FILE *out, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        if (strchr("\\`*_{}[]<>|#&", *text) != NULL)
            fputc('\\', out);
        fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    }
}

static const enum survey_figure sheet_figures[] = {
    FIGURE_TIME,     FIGURE_ALGBW, FIGURE_BUSBW, FIGURE_BOUND,     FIGURE_EFFICIENCY,
    FIGURE_MEASURED, FIGURE_ERROR, FIGURE_COST,  FIGURE_TIME_COST, FIGURE_JOULES_PER_BYTE};
enum { SHEET_FIGURES = sizeof sheet_figures / sizeof *sheet_figures };

static bool sheet_shows(const struct survey *survey, size_t axis)
{
    return (int)axis == survey->x || survey->axes[axis].is_series;
}

/* has[f]: whether any row has sheet_figures[f]. */
static void markdown_head(FILE *out, const struct survey *survey, const bool has[SHEET_FIGURES])
{
    size_t texts = 0, numbers = 0;
    fputc('|', out);
    for (int is_numeric = 0; is_numeric < 2; is_numeric++)
        for (size_t a = 0; a < survey->axis_count; a++)
            if (sheet_shows(survey, a) && survey->axes[a].is_numeric == (is_numeric == 1)) {
                fputc(' ', out);
                put_markdown(out, say_axis(&survey->axes[a]));
                fputs(" |", out);
                *(is_numeric == 1 ? &numbers : &texts) += 1;
            }
    for (size_t f = 0; f < SHEET_FIGURES; f++)
        if (has[f]) {
            const struct survey_figure_row *const figure = &survey_figures[sheet_figures[f]];
            fprintf(out, figure->unit[0] != '\0' ? " %s (%s) |" : " %s%s |", figure->label,
                    figure->unit);
            numbers++;
        }
    fputs("\n|", out);
    while (texts-- > 0)
        fputs("---|", out);
    while (numbers-- > 0)
        fputs("---:|", out);
    fputc('\n', out);
}

static void markdown_row(FILE *out, const struct survey *survey, const struct survey_row *row,
                         const bool has[SHEET_FIGURES])
{
    char text[SAY_BYTES];
    fputc('|', out);
    for (int is_numeric = 0; is_numeric < 2; is_numeric++)
        for (size_t a = 0; a < survey->axis_count; a++)
            if (sheet_shows(survey, a) && survey->axes[a].is_numeric == (is_numeric == 1)) {
                fputc(' ', out);
                put_markdown(
                    out, say_value(&survey->axes[a], survey_value_of(survey, row->axis, a), text));
                fputs(" |", out);
            }
    bool is_first = true;
    for (size_t f = 0; f < SHEET_FIGURES; f++) {
        if (!has[f])
            continue;
        fputc(' ', out);
        if (row->not_run == NULL)
            fprintf(out, "%s%s%s", say_number(row->figure[sheet_figures[f]], text),
                    is_first && words_flaw(row) != NULL ? ", " : "",
                    is_first && words_flaw(row) != NULL ? words_flaw(row) : "");
        else if (is_first)
            put_markdown(out, row->not_run);
        fputs(" |", out);
        is_first = false;
    }
    fputc('\n', out);
}

/* The fastest in each case. */
static void markdown_winners(FILE *out, struct survey *survey)
{
    struct winner_table table;
    if (!winners_table(survey, &table))
        return;
    fprintf(out, "\n%s:\n\n|", table.caption);
    for (size_t c = 0; c < table.columns; c++) {
        fputc(' ', out);
        put_markdown(out, table.heads[c]);
        fputs(" |", out);
    }
    fputs("\n|", out);
    for (size_t c = 0; c < table.columns; c++)
        fputs(table.is_number[c] ? "---:|" : "---|", out);
    for (size_t i = 0; i < table.rows * table.columns; i++) {
        fputs(i % table.columns == 0 ? "\n| " : " ", out);
        put_markdown(out, table.cells[i]);
        fputs(" |", out);
    }
    fputc('\n', out);
}

int sheet_markdown(FILE *out, struct survey *survey, struct cw_error *error)
{
    const char *sentences[WORDS_MAX];
    const char *const title = words_title(survey);
    const size_t count = words_of_survey(survey, sentences);
    fputs("# ", out);
    put_markdown(out, title);
    fputs("\n\n", out);
    for (size_t i = 0; i < count; i++) {
        fputs("- ", out);
        put_markdown(out, sentences[i]);
        fputc('\n', out);
    }
    markdown_winners(out, survey);
    if (survey->row_count > 0) {
        fputs("\n## Results\n\n", out);
        bool has[SHEET_FIGURES];
        for (size_t f = 0; f < SHEET_FIGURES; f++)
            has[f] = survey_has(survey, sheet_figures[f]);
        markdown_head(out, survey, has);
        for (size_t i = 0; i < survey->row_count; i++)
            markdown_row(out, survey, &survey->rows[i], has);
    }
    bool any = false;
    for (size_t i = 0; i < survey->point_count; i++) {
        const struct survey_point *const point = &survey->points[i];
        if (point->state == STATE_DONE)
            continue;
        fputs(any ? "" : "\n## Failures\n\n| point | state | message |\n|---|---|---|\n", out);
        any = true;
        fputs("| ", out);
        put_markdown(out, point->label);
        fprintf(out, " | %s | ", survey_state_names[point->state]);
        put_markdown(out, point->message);
        fputs(" |\n", out);
    }
    return survey->no_memory ? cw_error_memory(error, "the tables") : CW_OK;
}
