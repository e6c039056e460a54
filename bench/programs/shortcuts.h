/*
 * shortcuts.h: which of the exact shortcuts a run may take: --fold, --repeat, --replay
 * (COMMANDS.md, "Shortcuts"). Here are the reasons that options and configuration give. Whether the
 * machine and the program allow one is found out later: collectives/fold, lp/host.
 */
#ifndef BENCH_SHORTCUTS_H
#define BENCH_SHORTCUTS_H

#include <stdbool.h>

#include "bench/programs/run_options.h"
#include "collectives/config/config.h"
#include "core/cw.h"

enum shortcut { SHORTCUT_FOLD, SHORTCUT_REPEAT, SHORTCUT_REPLAY, SHORTCUTS };

/* Why such a run never takes a shortcut, in words without a capital or a full stop; NULL: it may.
 */
const char *shortcut_why_not(enum shortcut which, const struct run_options *options,
                             const struct config *config);
/* Whether it may, and no option says off. */
bool shortcut_is_open(enum shortcut which, const struct run_options *options,
                      const struct config *config);
/* Refuses a shortcut that an option asks for and that the run never takes. */
int shortcuts_check(const struct run_options *options, const struct config *config,
                    struct cw_error *error);
/* Takes none: every measurement of the engine, and what compares committed events. */
void shortcuts_off(struct run_options *options);

#endif
