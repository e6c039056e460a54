/*
 * cli.h: the beginning and the end that all commands share. Functions return exit codes (enum
 * cw_exit), having printed the reason of a failure.
 */
#ifndef BENCH_CLI_H
#define BENCH_CLI_H

#include "bench/options/option.h"
#include "bench/programs/run_options.h"
#include "collectives/config/config.h"
#include "core/cw.h"

/*
 * The command line of any command. False: the command is at its end and returns *code, because the
 * line was refused, or asked for --help; that is printed.
 */
bool cli_read(struct option_parse *parse, int argc, char **argv, int *code);
/*
 * The beginning of the commands that have a configuration: reads the line, loads the configuration.
 * CW_OK with *config NULL: --help was printed, return CW_OK. Otherwise an exit code, the reason
 * printed.
 */
int cli_begin(struct run_options *run, enum command command, int argc, char **argv,
              struct config **config);
/* "Try 'cubewarp COMMAND --help'.", on standard error. */
void cli_hint(const char *command);
/* Prints "cubewarp COMMAND: TEXT" on standard error, and asks to report a bug; returns the exit
 * code. */
int cli_fail(const char *command, const struct cw_error *error);
/* Watches for signals (interrupt.h), for a command that keeps nothing when it is in a long stretch
 * without a drain. `command`: a constant. */
void cli_watch(const char *command);
/* Ends the process after a signal, with that signal's exit code, when all files are written. */
_Noreturn void cli_end_interrupted(const char *command);
/* Flushes standard output: `result`. If the output could not be written, CW_NO_RESOURCE, unless
 * `result` is a failure itself. */
int cli_end(const char *command, int result);
/* The same, and prints the error after it, if there is one. */
int cli_end_with(const char *command, int result, const struct cw_error *error);

#endif
