/*
 * parameters.h: the keys that a calibration moves: their bounds, starts and values as texts. A
 * fitted key is a coordinate from 0 to 1, by its logarithm where its lower bound is above 0.
 */
#ifndef BENCH_PARAMETERS_H
#define BENCH_PARAMETERS_H

#include "bench/study/study.h"
#include "collectives/config/config.h"
#include "core/cw.h"

enum { PARAMETERS_MAX = 32, PARAMETER_TEXT_BYTES = 320 };

struct parameter {
    const char *name;
    const struct study_settings *values; /* that it is swept over; NULL: it is fitted */
    double before;                       /* in the configuration, fitted ones; NAN: it has none */
    double least, most, start;
};

/* The fitted ones come first. */
struct parameters {
    struct parameter list[PARAMETERS_MAX];
    uint32_t count, fitted;
    const struct study *study;
};

/* The values of all keys: of fitted ones a coordinate, of swept ones an index of the list. */
struct assignment {
    double x[PARAMETERS_MAX];        /* [fitted] */
    uint32_t chosen[PARAMETERS_MAX]; /* [count], from `fitted` on */
};

/* Takes the keys of the study's fit; where it has no bounds or no start, the configuration's value
 * gives them: a start at it, bounds at an eighth and eight times. CW_OK or CW_USAGE. */
int parameters_read(const struct study *study, const struct config *config,
                    struct parameters *parameters, struct cw_error *error);

double parameter_value(const struct parameter *parameter, double x);
double parameter_coordinate(const struct parameter *parameter, double value);
/* "KEY=VALUE", for --set: six significant digits, at most six decimal places. Returns text. */
const char *parameter_text(const struct parameters *parameters, uint32_t index,
                           const struct assignment *assignment, char text[PARAMETER_TEXT_BYTES]);

#endif
