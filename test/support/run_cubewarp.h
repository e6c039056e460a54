/*
 * run_cubewarp.h: runs the built program as a user would, and catches its output.
 */
#ifndef TEST_RUN_CUBEWARP_H
#define TEST_RUN_CUBEWARP_H

#include <jansson.h>

struct run_output {
    int exit_code; /* -1: it was ended by a signal */
    char *out, *err;
};

/* args: NULL-terminated, without the program's name. The program is $CUBEWARP, or build/cubewarp.
 */
struct run_output run_cubewarp(const char *const *args);
void run_output_free(struct run_output *output);

/* The same for a command line in one string, split at blanks. Fails the test on another exit
 * code, printing the program's output; RUN_ANY_CODE: on none. */
enum { RUN_ANY_CODE = -100 };
struct run_output run_line(int exit_code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, with a standard output that takes nothing. */
struct run_output run_to_full_disk(int exit_code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Runs "LINE --json -" and returns the result object. Fails the test on an exit code but 0. */
json_t *run_json(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* results[0].KEY of such an object, in ps. */
long long json_ps(const json_t *root, const char *key);

#endif
