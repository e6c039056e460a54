/*
 * line_settings.h: settings of a study as the options of a run, and its configuration.
 */
#ifndef BENCH_LINE_SETTINGS_H
#define BENCH_LINE_SETTINGS_H

#include "bench/programs/run_options.h"
#include "bench/study/study.h"
#include "core/cw.h"

/* Fills *run from its defaults and the settings. CW_OK or CW_USAGE. */
int line_settings_give(const struct study_settings *settings, struct run_options *run,
                       struct cw_error *error);
/* The same, then loads the configuration, the caller's. */
int line_settings_load(const struct study_settings *settings, struct run_options *run,
                       struct config **config, struct cw_error *error);
/* Adds an option, whose texts outlive the list, which has room. */
void line_settings_add(struct study_settings *settings, const char *name, char *option,
                       char *argument);
bool line_settings_have(const struct study_settings *settings, const char *name);

#endif
