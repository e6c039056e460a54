/*
 * parameter.h: a parameter of an algorithm: a key of its own, which its entry in ccl.yaml may set
 * like any other key. Declared as an array in struct ccl_algorithm; const.
 */
#ifndef COLLECTIVES_PARAMETER_H
#define COLLECTIVES_PARAMETER_H

#include <stdint.h>

enum ccl_parameter_type {
    CCL_PARAMETER_COUNT, /* a whole number from `min` to `max` */
    CCL_PARAMETER_BOOL,  /* true or false: 1 or 0 */
    CCL_PARAMETER_CHOICE /* one of `choice`: its index */
};

struct ccl_parameter {
    const char *name; /* letters, digits, _ and -; no key that every entry has */
    enum ccl_parameter_type type;
    int64_t value;             /* the default */
    int64_t min, max;          /* of a count; inclusive, less than 10^18 in size */
    const char *const *choice; /* names, then NULL */
};

#endif
