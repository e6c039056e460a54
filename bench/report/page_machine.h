/*
 * page_machine.h: the pictures of machines in a page: drawn, and as data for the script.
 */
#ifndef BENCH_PAGE_MACHINE_H
#define BENCH_PAGE_MACHINE_H

#include <stdio.h>

#include "bench/report/survey.h"

enum { PAGE_PICTURES = 6 }; /* at most, in one page */

bool page_has_machine(const struct survey *survey);
void page_write_machine(FILE *out, struct survey *survey);
/* A member "pictures", and a comma. */
void page_machine_data(FILE *out, const struct survey *survey);

#endif
