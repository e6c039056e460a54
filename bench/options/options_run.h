/*
 * options_run.h: the command line of `run`, `verify`, `check`, `config` and `topo`: defaults, the
 * values that only these commands have, and checks of several options together.
 */
#ifndef BENCH_OPTIONS_RUN_H
#define BENCH_OPTIONS_RUN_H

#include "bench/options/option.h"
#include "bench/programs/run_options.h"

/* The values before any option is read. */
void run_options_defaults(struct run_options *options);
/* Checks --from and --to against the machine. */
int run_options_check(const struct run_options *options, const struct hw_config *hw,
                      struct cw_error *error);

/* For the table: checks several options together, and expands sizes. */
int batch_options_finish(struct option_parse *parse, struct cw_error *error);
int step_options_finish(struct option_parse *parse, struct cw_error *error);
int run_options_finish(struct option_parse *parse, struct cw_error *error);
int topo_options_finish(struct option_parse *parse, struct cw_error *error);
/* For the table: the second PE of `topo --path A B`. */
int topo_options_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error);
/* For the table: the file of `step`. */
int step_options_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error);
/* For the table: what `list` lists. */
int list_options_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error);
int list_options_finish(struct option_parse *parse, struct cw_error *error);
/* For the table: readers of single values. */
int run_options_read_preset(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error);
int run_options_read_set(struct option_parse *parse, const struct option_row *row, const char *text,
                         struct cw_error *error);
int run_options_read_coarse(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error);
int run_options_read_tag(struct option_parse *parse, const struct option_row *row, const char *text,
                         struct cw_error *error);
int run_options_read_scalar(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error);
int run_options_read_op(struct option_parse *parse, const struct option_row *row, const char *text,
                        struct cw_error *error);
int run_options_read_dtype(struct option_parse *parse, const struct option_row *row,
                           const char *text, struct cw_error *error);
int run_options_read_verify(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error);
int run_options_read_place(struct option_parse *parse, const struct option_row *row,
                           const char *text, struct cw_error *error);
int run_options_read_gemm(struct option_parse *parse, const struct option_row *row,
                          const char *text, struct cw_error *error);

/* The engine's options before any is read, for `run` and `phold`; sync is CW_SYNCS, no mode yet. */
struct cw_config engine_options_defaults(void);
/* Chooses the mode where no option did. CW_USAGE if the engine's options do not go together. */
int engine_options_finish(struct cw_config *engine, struct cw_error *error);

#endif
