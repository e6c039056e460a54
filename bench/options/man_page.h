/*
 * man_page.h: manual pages in man(7), made from the tables of commands and options.
 */
#ifndef BENCH_MAN_PAGE_H
#define BENCH_MAN_PAGE_H

#include <stdio.h>

#include "bench/options/options.h"

/* The page of the program, cubewarp(1). */
void man_page_program(FILE *file);
/* The page of one command: cubewarp-run(1), cubewarp-perf-run(1). */
void man_page_command(FILE *file, const struct command_row *command);

#endif
