/*
 * run_line.h: a line of a command that has a configuration, between the reading of its options and
 * its run: the configuration, and the bench and the algorithm that follow from it. Prints nothing.
 */
#ifndef BENCH_RUN_LINE_H
#define BENCH_RUN_LINE_H

#include "bench/programs/run_options.h"
#include "collectives/config/config_load.h"

/* Whether a line names the bench. */
enum run_line_bench {
    RUN_LINE_NO_BENCH,  /* its command has no such option */
    RUN_LINE_ANY_BENCH, /* no option names it */
    RUN_LINE_BENCH      /* an option does */
};

/*
 * Loads the configuration that *run asks for into *config, the caller's, and completes *run: the
 * bench where no option names one, the algorithm where the bench needs another, or where it is
 * `auto` (bench_automatic()).
 * CW_OK, or an exit code with *errors filled and *config NULL; CW_NO_RESOURCE has no error there.
 */
int run_line_configure(struct run_options *run, enum run_line_bench bench, struct config **config,
                       struct config_errors *errors);

#endif
