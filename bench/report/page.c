/*
 * page.c: writes the page: head, sections, data, script. Style, script and d3 are compiled in
 * (page_files.inc, made by .ci/embed.sh from page/ and d3's modules).
 */
#include "bench/report/page.h"

#include <string.h>
#include <time.h>

#include "bench/report/page_data.h"
#include "bench/report/page_machine.h"
#include "bench/report/page_step.h"
#include "bench/report/page_tables.h"
#include "bench/report/pareto.h"
#include "bench/survey/say.h"
#include "bench/survey/words.h"

static const struct page_file {
    const char *name;
    const unsigned char *text;
    size_t bytes;
} page_files[] = {
#include "page_files.inc"
};

static void put_file(FILE *out, const char *name)
{
    for (size_t i = 0; i < sizeof page_files / sizeof *page_files; i++)
        if (strcmp(page_files[i].name, name) == 0)
            fwrite(page_files[i].text, 1, page_files[i].bytes, out);
}

/* ---- sections -------------------------------------------------------------------------------- */

static bool has_curves(const struct survey *survey)
{
    return survey->x >= 0 && survey->row_count > 1 && survey_has(survey, FIGURE_TIME);
}

static void write_curves(FILE *out, struct survey *survey)
{
    (void)survey;
    fputs("<div id=\"curves-view\"></div><p class=\"static note\">The page's script draws the "
          "curves; their figures are in the tables below.</p>\n",
          out);
}

static const struct page_section sections[] = {
    {"verdicts", "Verdicts", page_has_verdicts, page_write_verdicts},
    {"steps", "Steps", page_has_steps, page_write_steps},
    {"curves", "Time and bandwidth", has_curves, write_curves},
    {"cost", "Time and cost", page_has_pareto, page_write_pareto},
    {"compare", "Any two axes", page_has_matrix, page_write_matrix},
    {"phases", "Where time goes", page_has_phases, page_write_phases},
    {"machine", "The machine", page_has_machine, page_write_machine},
    {"slowest", "Slowest", page_has_slowest, page_write_slowest},
    {"failures", "Failures", page_has_failures, page_write_failures},
    {"rows", "All results", page_has_rows, page_write_rows},
    {"engine", "The simulator", page_has_engine, page_write_engine},
    {"history", "Throughput over runs", page_has_history, page_write_history},
    {"provenance", "Provenance", page_has_provenance, page_write_provenance},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

/* ---- the page -------------------------------------------------------------------------------- */

static void write_head(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en-GB\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'sha256-",
          out);
    put_file(out, "script.sha256");
    fputs("'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out);
    say_html(out, title);
    fputs(" – cubewarp</title>\n<style>\n", out);
    put_file(out, "page.css");
    fputs("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the results</a>\n", out);
}

static void write_top(FILE *out, struct survey *survey, const char *title)
{
    fputs("<header><p class=\"brand\">cubewarp report</p><h1>", out);
    say_html(out, title);
    fputs("</h1></header>\n<nav aria-label=\"Sections\"><ul>", out);
    for (size_t i = 0; i < SECTIONS; i++)
        if (sections[i].has(survey))
            fprintf(out, "<li><a href=\"#%s\">%s</a></li>", sections[i].id, sections[i].title);
    fputs("</ul></nav>\n<main id=\"main\">\n", out);
}

static void write_summary(FILE *out, struct survey *survey)
{
    const char *sentences[WORDS_MAX];
    const size_t count = words_of_survey(survey, sentences);
    const char *const about = words_about(survey);
    size_t i = 0;
    fputs("<section id=\"summary\" aria-label=\"Summary\">", out);
    if (about != NULL && count > 0 && strcmp(sentences[0], about) == 0) {
        fputs("<p class=\"about\">", out);
        say_html(out, sentences[i++]);
        fputs("</p>\n", out);
    }
    page_write_winners(out, survey);
    fputs("<ul class=\"words\">", out);
    for (; i < count; i++) {
        fputs("<li>", out);
        say_html(out, sentences[i]);
        fputs("</li>", out);
    }
    fputs("</ul></section>\n", out);
}

int page_write(FILE *out, struct survey *survey, struct cw_error *error)
{
    const char *const title = words_title(survey);
    const time_t now = time(NULL);
    struct tm utc;
    char date[40] = "";
    if (title == NULL)
        return cw_error_memory(error, "the page");
    if (gmtime_r(&now, &utc) != NULL)
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    write_head(out, title);
    write_top(out, survey, title);
    write_summary(out, survey);
    for (size_t i = 0; i < SECTIONS; i++) {
        if (!sections[i].has(survey))
            continue;
        fprintf(out,
                "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
                sections[i].id, sections[i].id, sections[i].id, sections[i].title);
        sections[i].write(out, survey);
        fputs("</section>\n", out);
    }
    fprintf(out,
            "</main>\n<footer>Written by cubewarp %s on %s. All times of calls are simulated. "
            "This file loads nothing from anywhere.</footer>\n",
            CW_VERSION, date);
    fputs("<div id=\"tip\" role=\"status\" aria-live=\"polite\"></div>\n"
          "<script type=\"application/json\" id=\"cw-data\">",
          out);
    page_write_data(out, survey, title);
    fputs("</script>\n<script>", out);
    put_file(out, "script.js");
    fputs("</script>\n</body>\n</html>\n", out);
    return survey->no_memory ? cw_error_memory(error, "the page") : CW_OK;
}
