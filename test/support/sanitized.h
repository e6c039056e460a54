/*
 * sanitized.h: whether a test is built with a sanitizer, under which it takes some ten times as
 * long. Runs that are only larger than others then find nothing more: they are left to the other
 * variants.
 */
#ifndef TEST_SANITIZED_H
#define TEST_SANITIZED_H

#include <stdbool.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

#endif
