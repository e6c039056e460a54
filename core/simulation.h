/*
 * simulation.h: a simulation's insides, for the engine's own files.
 *
 * Everything hangs off struct cw_sim; the configuration is const after creation. One thread, the
 * host's, enters between drains.
 */
#ifndef CORE_SIMULATION_H
#define CORE_SIMULATION_H

#include "core/worker.h"

struct cw_sim {
    struct cw_config config; /* its arrays are copies of the caller's */
    struct cw_model model;
    struct memory memory;
    struct lps lps;
    struct worker worker;
    struct cw_error failure; /* of the drain that failed; exit_code CW_OK: none did */
    double run_s;
};

/* Runs until no event before the end is left (sequential.c). Returns an enum cw_exit. */
int sequential_drain(struct cw_sim *sim, struct cw_error *error);

/* Fills `error`. Returns exit_code. */
int error_set(struct cw_error *error, enum cw_exit exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
