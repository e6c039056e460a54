/*
 * page_machine.h: the pictures of machines in a page: drawn, and as data for the script.
 */
#ifndef BENCH_PAGE_MACHINE_H
#define BENCH_PAGE_MACHINE_H

#include <stdio.h>

#include "bench/report/survey.h"

/* At most so many pictures are in one page, the first ones; and each has at most so many bytes of
 * data for the script. The drawing's titles have the numbers of links in any case. */
enum { PAGE_PICTURES = 4, PAGE_PICTURE_BYTES = 1 << 20 };

bool page_has_machine(const struct survey *survey);
void page_write_machine(FILE *out, struct survey *survey);
/* A member "pictures" with the prefix of the ids of each and the picture itself, and a comma. */
void page_machine_data(FILE *out, const struct survey *survey);

#endif
