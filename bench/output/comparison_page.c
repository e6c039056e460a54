/*
 * comparison_page.c: writes comparisons as text, Markdown, annotations of GitHub's actions and
 * JUnit's XML (comparison_page.h).
 */
#include "bench/output/comparison_page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/output/plain_text.h"

enum { LINE_BYTES = 8192 };

const char *comparison_format_name(size_t format)
{
    static const char *const names[COMPARISON_FORMATS] = {[COMPARISON_TEXT] = "text",
                                                          [COMPARISON_MARKDOWN] = "markdown",
                                                          [COMPARISON_JSON] = "json",
                                                          [COMPARISON_GITHUB] = "github",
                                                          [COMPARISON_JUNIT] = "junit"};
    return format < COMPARISON_FORMATS ? names[format] : NULL;
}

static bool has_tables(const struct comparison_page *page)
{
    return page->format == COMPARISON_TEXT || page->format == COMPARISON_MARKDOWN;
}

/* Writes a text without control characters. `escapes`: pairs of a character, as a text, and the
 * text that stands for it; NULL after the last. */
static void put_escaped(const struct comparison_page *page, const char *text,
                        const char *const *escapes)
{
    for (; *text != '\0'; text++) {
        char one[] = {*text, '\0'};
        const char *written = plain_text(one, "");
        for (size_t i = 0; escapes[i] != NULL; i += 2)
            if (*text == escapes[i][0])
                written = escapes[i + 1];
        fputs(written, page->file);
    }
}

static const char *const no_escapes[] = {NULL};
static const char *const xml_escapes[] = {"&",    "&amp;", "<",      "&lt;", ">",
                                          "&gt;", "\"",    "&quot;", NULL};
static const char *const github_escapes[] = {":", "%3A", ",", "%2C", NULL};

void comparison_page_begin(struct comparison_page *page, const size_t *counts)
{
    if (page->format == COMPARISON_JUNIT)
        fprintf(page->file,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"cubewarp %s\" "
                "tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
                page->command,
                counts[COMPARISON_GOOD] + counts[COMPARISON_BAD] + counts[COMPARISON_SKIPPED],
                counts[COMPARISON_BAD], counts[COMPARISON_SKIPPED]);
}

/* ---- text and Markdown ----------------------------------------------------------------------- */

void comparison_page_say(const struct comparison_page *page, const char *format, ...)
{
    char line[LINE_BYTES]; /* longer ones are cut */
    if (!has_tables(page))
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const bool is_text = page->format == COMPARISON_TEXT;
    fprintf(page->file, is_text ? "# %s\n" : "%s\n\n", plain_text(line, ""));
}

static void put_cell(const struct comparison_page *page, const char *text)
{
    static const char *const markdown_escapes[] = {"|", "\\|", NULL}; /* it would end the cell */
    put_escaped(page, text, page->format == COMPARISON_MARKDOWN ? markdown_escapes : no_escapes);
}

static void put_padded(const struct comparison_page *page, const char *text, int width)
{
    const int room = abs(width) - (int)strnlen(text, COMPARISON_CELL_BYTES);
    if (width > 0)
        fprintf(page->file, "%*s", room > 0 ? room : 0, "");
    put_cell(page, text);
    if (width < 0)
        fprintf(page->file, "%*s", room > 0 ? room : 0, "");
}

void comparison_page_row(const struct comparison_page *page, bool is_note, const char *const *cells)
{
    if (!has_tables(page))
        return;
    const bool is_text = page->format == COMPARISON_TEXT;
    fputc(!is_text ? '|' : is_note ? '#' : ' ', page->file);
    for (size_t i = 0; i < page->cells; i++) {
        if (is_text) {
            fputs(i == 0 ? "" : " ", page->file);
            put_padded(page, cells[i], page->widths[i]);
        } else {
            fputc(' ', page->file);
            put_cell(page, cells[i]);
            fputs(" |", page->file);
        }
    }
    fputc('\n', page->file);
}

void comparison_page_head(struct comparison_page *page, size_t count, const int *widths,
                          const char *const *cells)
{
    page->cells = count;
    for (size_t i = 0; i < count; i++)
        page->widths[i] = widths[i];
    comparison_page_row(page, true, cells);
    if (page->format != COMPARISON_MARKDOWN)
        return;
    fputc('|', page->file);
    for (size_t i = 0; i < count; i++)
        fputs(widths[i] < 0 ? "---|" : "---:|", page->file);
    fputc('\n', page->file);
}

void comparison_page_end_table(const struct comparison_page *page)
{
    if (has_tables(page))
        fputs(page->format == COMPARISON_TEXT ? "#\n" : "\n", page->file);
}

/* ---- GitHub and JUnit ------------------------------------------------------------------------ */

static void put_github_case(const struct comparison_page *page, const char *name,
                            const char *verdict_name, const char *message)
{
    fputs("::error title=", page->file);
    put_escaped(page, name, github_escapes);
    fprintf(page->file, " %s::", verdict_name);
    put_escaped(page, message, no_escapes);
    fputc('\n', page->file);
}

static void put_junit_case(const struct comparison_page *page, const char *name,
                           enum comparison_verdict verdict, const char *verdict_name,
                           const char *message)
{
    fputs("<testcase classname=\"", page->file);
    /* "perf" for `perf compare` */
    fwrite(page->command, 1, strcspn(page->command, " "), page->file);
    fputs("\" name=\"", page->file);
    put_escaped(page, name, xml_escapes);
    if (verdict == COMPARISON_GOOD) {
        fputs("\"/>\n", page->file);
        return;
    }
    if (verdict == COMPARISON_BAD)
        fprintf(page->file, "\"><failure message=\"%s: ", verdict_name);
    else
        fputs("\"><skipped message=\"", page->file);
    put_escaped(page, message, xml_escapes);
    fputs("\"/></testcase>\n", page->file);
}

void comparison_page_case(const struct comparison_page *page, const char *name,
                          enum comparison_verdict verdict, const char *verdict_name,
                          const char *message)
{
    if (page->format == COMPARISON_JUNIT)
        put_junit_case(page, name, verdict, verdict_name, message);
    else if (page->format == COMPARISON_GITHUB && verdict == COMPARISON_BAD)
        put_github_case(page, name, verdict_name, message);
}

/* ---- all ------------------------------------------------------------------------------------- */

void comparison_page_end(const struct comparison_page *page, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (page->format == COMPARISON_GITHUB)
        fprintf(page->file, "::notice title=cubewarp %s::%s\n", page->command,
                plain_text(line, ""));
    else if (page->format == COMPARISON_JUNIT)
        fprintf(page->file, "<system-out>%s</system-out>\n</testsuite>\n", plain_text(line, ""));
    else
        comparison_page_say(page, "%s", line);
}
