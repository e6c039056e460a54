/*
 * assume.h: included before each source that the analyzers of gcc and clang read, to tell them
 * across files: these functions return the code that they are given, which is never CW_OK. Not for
 * core/error.c, which defines them.
 */
#ifndef TEST_ANALYZE_ASSUME_H
#define TEST_ANALYZE_ASSUME_H

#define _GNU_SOURCE /* sources that ask for it do so later than this file */

#include "core/cw.h"

#define cw_error_memory(error, thing) ((void)cw_error_memory((error), (thing)), CW_NO_RESOURCE)
#define cw_error_set(error, code, ...)                                                             \
    ((void)cw_error_set((error), (code), __VA_ARGS__), (code) != 0 ? (code) : CW_USAGE)

#endif
