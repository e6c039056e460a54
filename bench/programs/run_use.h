/*
 * run_use.h: the use of the machine, which a run reports beside its rows: --links FILE, --svg FILE,
 * --dot FILE, --gexf FILE, and the member "picture" of the JSON. The listener's functions are
 * called by one thread at a time, in the order of commitment; all else is on the host's thread.
 */
#ifndef BENCH_RUN_USE_H
#define BENCH_RUN_USE_H

#include "bench/draw/link_table.h"
#include "bench/draw/picture.h"
#include "bench/output/atomic_file.h"
#include "bench/output/result.h"
#include "bench/programs/run_options.h"
#include "collectives/config/config.h"

/* Zero-initialised: nothing was asked for. */
struct run_use {
    const struct run_options *options;
    const struct config *config;
    struct machine_use *machine; /* of the current machine */
    struct link_table *table;
    struct atomic_file links_file, drawn_file[PICTURE_FORMATS];
};

/* The cube of each SIP in which all-reduces on cubes meet. */
uint32_t run_root_cube(const struct config *config);
/* Whether the options ask for any of it that needs records. With --explain alone the picture has
 * links, and no cubes. */
bool run_use_is_asked(const struct run_options *options);
/* Opens the files. */
int run_use_open(struct run_use *use, const struct run_options *options,
                 const struct config *config, struct cw_error *error);
/* A machine is there, and nothing has happened in it. */
int run_use_begin(struct run_use *use, const struct lp_model *model, struct cw_error *error);
/* The row's last iteration has ended. Its picture becomes the result's, where there are cubes to
 * draw, or where the result's JSON is wanted. */
int run_use_row(struct run_use *use, struct result *result, const struct result_row *row,
                const struct lp_system *system, const struct lp_times *times,
                struct cw_error *error);
/* Makes the files appear: of the rows that are done; the picture is the result's, and without one
 * there is no drawing. */
int run_use_commit(struct run_use *use, const struct result *result, struct cw_error *error);
void run_use_discard(struct run_use *use); /* after a commit, too */

#endif
