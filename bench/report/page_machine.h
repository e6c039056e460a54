/*
 * page_machine.h: the pictures of machines in a page. The script needs no other data: each link has
 * its numbers in its title.
 */
#ifndef BENCH_PAGE_MACHINE_H
#define BENCH_PAGE_MACHINE_H

#include <stdio.h>

#include "bench/survey/survey.h"

enum { PAGE_PICTURES = 8 }; /* at most, in one page */

bool page_has_machine(const struct survey *survey);
void page_write_machine(FILE *out, struct survey *survey);

#endif
