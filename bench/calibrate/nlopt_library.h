/*
 * nlopt_library.h: NLopt, loaded by `calibrate` alone. Every other command starts without it.
 */
#ifndef BENCH_NLOPT_LIBRARY_H
#define BENCH_NLOPT_LIBRARY_H

#include <nlopt.h>

#include "core/cw.h"

struct nlopt_library {
    void *object;
    nlopt_opt (*create)(nlopt_algorithm algorithm, unsigned count);
    void (*destroy)(nlopt_opt opt);
    nlopt_result (*set_objective)(nlopt_opt opt, nlopt_func function, void *arg);
    nlopt_result (*set_lower)(nlopt_opt opt, double bound);
    nlopt_result (*set_upper)(nlopt_opt opt, double bound);
    nlopt_result (*set_step)(nlopt_opt opt, double step);
    nlopt_result (*set_x_tolerance)(nlopt_opt opt, double tolerance);
    nlopt_result (*set_evaluations)(nlopt_opt opt, int count);
    nlopt_result (*force_stop)(nlopt_opt opt);
    nlopt_result (*optimize)(nlopt_opt opt, double *x, double *value);
    void (*seed)(unsigned long seed);
};

/* CW_NO_RESOURCE: it is not there. Then *library needs no close. */
int nlopt_library_open(struct nlopt_library *library, struct cw_error *error);
void nlopt_library_close(struct nlopt_library *library);

#endif
