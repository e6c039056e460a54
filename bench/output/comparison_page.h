/*
 * comparison_page.h: the page that `compare` and `perf compare` print: tables as text or Markdown;
 * for CI, annotations for GitHub Actions or JUnit XML. Each command writes its JSON itself.
 *
 * A command makes the same calls for every form: text and Markdown show lines and tables, GitHub
 * and JUnit show cases, and the rest does nothing. Texts may come from any file: control
 * characters, bars, colons and angle brackets in them are escaped or replaced. Callers check the
 * stream for failed writes.
 */
#ifndef BENCH_COMPARISON_PAGE_H
#define BENCH_COMPARISON_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum comparison_format {
    COMPARISON_TEXT,
    COMPARISON_MARKDOWN,
    COMPARISON_JSON,
    COMPARISON_GITHUB,
    COMPARISON_JUNIT,
    COMPARISON_FORMATS,
};
const char *comparison_format_name(size_t format); /* NULL after the last */

/* Of a case. */
enum comparison_verdict {
    COMPARISON_GOOD,
    COMPARISON_BAD,
    COMPARISON_SKIPPED,
    COMPARISON_VERDICTS
};

enum { COMPARISON_CELLS_MAX = 8, COMPARISON_CELL_BYTES = 96 };

struct comparison_page {
    FILE *file;
    enum comparison_format format;    /* not COMPARISON_JSON */
    const char *command;              /* "compare": without the program's name */
    int widths[COMPARISON_CELLS_MAX]; /* of the current table; negative: left */
    size_t cells;
};

/* `counts`: of the cases that will follow, by their verdicts. */
void comparison_page_begin(struct comparison_page *page, const size_t *counts);

/* ---- text and Markdown ----------------------------------------------------------------------- */

/* A line; in text it begins with '#'. */
void comparison_page_say(const struct comparison_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The head of a table of `count` columns. Widths are as in printf(), for text. */
void comparison_page_head(struct comparison_page *page, size_t count, const int *widths,
                          const char *const *cells);
/* `is_note`: in text it begins with '#'. */
void comparison_page_row(const struct comparison_page *page, bool is_note,
                         const char *const *cells);
void comparison_page_end_table(const struct comparison_page *page);

/* ---- GitHub and JUnit ------------------------------------------------------------------------ */

/* GitHub's form shows bad cases only. `message`: why it is bad or skipped. */
void comparison_page_case(const struct comparison_page *page, const char *name,
                          enum comparison_verdict verdict, const char *verdict_name,
                          const char *message);

/* ---- all ------------------------------------------------------------------------------------- */

/* The last line, which sums up. */
void comparison_page_end(const struct comparison_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
