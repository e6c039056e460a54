/*
 * page.h: a survey as one HTML file that loads nothing: style, script, library and data are in it.
 *
 * Without scripts it shows tables and the machine. The script (page/page.js) reads the data from
 * the element "cw-data", draws all charts, and replaces static tables by ones to sort and search.
 * The page's content security policy admits this script by its hash and nothing else, so that no
 * text from a file can ever run.
 */
#ifndef BENCH_PAGE_H
#define BENCH_PAGE_H

#include <stdio.h>

#include "bench/survey/survey.h"

/* A section with a heading of its own; omitted if it has nothing to show. */
struct page_section {
    const char *id, *title;
    bool (*has)(const struct survey *survey);
    void (*write)(FILE *out, struct survey *survey);
};

/* CW_OK, or out of memory with *error filled. Write errors stay in the stream. */
int page_write(FILE *out, struct survey *survey, struct cw_error *error);

#endif
