/*
 * cmd_report.h: the command `cubewarp report`.
 */
#ifndef BENCH_CMD_REPORT_H
#define BENCH_CMD_REPORT_H

/* argv[0] is "report". Returns an exit code, having printed the reason of a failure. */
int report_main(int argc, char **argv);

#endif
