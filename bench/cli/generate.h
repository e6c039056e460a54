/*
 * generate.h: `cubewarp --generate`, which `make install` calls: manual pages and completions from
 * the tables of commands and options.
 */
#ifndef BENCH_GENERATE_H
#define BENCH_GENERATE_H

/* argv[0] is "--generate"; argv[1] is "man" or a shell. Returns an exit code, having printed the
 * reason of a failure. */
int generate_main(int argc, char **argv);

#endif
