/*
 * cmd_plugin.h: the command `cubewarp plugin new NAME`.
 */
#ifndef BENCH_CMD_PLUGIN_H
#define BENCH_CMD_PLUGIN_H

/* argv[0] is "plugin". Returns an exit code, having printed the error, if any. */
int plugin_main(int argc, char **argv);

#endif
