/*
 * fitted_preset.h: the configuration that a fit has found, as a preset.
 */
#ifndef BENCH_FITTED_PRESET_H
#define BENCH_FITTED_PRESET_H

#include "bench/calibrate/fit.h"

/* Writes what the curves have in common, under the fitted values, whole or not at all; a comment
 * says where it comes from. `line`: the command. CW_OK, CW_USAGE or CW_NO_RESOURCE. */
int fitted_preset_write(const char *path, const struct fit *fit, const char *line,
                        struct cw_error *error);

#endif
