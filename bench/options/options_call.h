/*
 * options_call.h: --call, a call of the bench `concurrent`.
 */
#ifndef BENCH_OPTIONS_CALL_H
#define BENCH_OPTIONS_CALL_H

#include "bench/options/option.h"
#include "bench/programs/run_options.h"

/* COLLECTIVE:GROUPS:SIZE@START, or several with commas between them, added to those that there are.
 * GROUPS is the name of a set of groups, of one of its groups, or "world"; send:0-8:SIZE is from
 * rank 0 to rank 8; a barrier has no size; without @START a call begins at once. */
int run_options_read_call(struct option_parse *parse, const struct option_row *row,
                          const char *text, struct cw_error *error);

/* The one call that a text says; returns what is wrong with it, or NULL. */
const char *options_parse_call(const char *text, struct run_call *call);

#endif
