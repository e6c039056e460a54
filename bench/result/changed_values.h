/*
 * changed_values.h: in which values a configuration differs from another, such as the shipped one.
 */
#ifndef BENCH_CHANGED_VALUES_H
#define BENCH_CHANGED_VALUES_H

#include <stdbool.h>

#include "collectives/config/config.h"

/* path: as --set takes it; value, shipped: of the two configurations, in canonical spelling, NULL:
 * the other configuration alone has one. All are valid during the call. */
typedef void (*changed_value_fn)(void *arg, const char *path, const char *value,
                                 const char *shipped);

/* Whether the loader has kept the shipped values beside this configuration's. */
bool changed_values_are_known(const struct config *config);

/*
 * Calls `changed` for each value of `config` that differs in `shipped`, in the schema's order: the
 * machine's, those under `defaults`, and, of the algorithm that runs, the values of its entry and
 * of the entries that it extends, each with the name of the algorithm that runs. shipped NULL: the
 * values that the loader has kept.
 */
void changed_values_visit(const struct config *config, const struct config *shipped,
                          changed_value_fn changed, void *arg);

#endif
