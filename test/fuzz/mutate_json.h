/*
 * mutate_json.h: mutations of JSON texts that stay JSON: values and members are changed, dropped,
 * repeated and exchanged.
 */
#ifndef TEST_MUTATE_JSON_H
#define TEST_MUTATE_JSON_H

#include "test/fuzz/fuzz.h"

/* As struct fuzz_format's `mutate`. A text that is no JSON is changed byte by byte. */
size_t mutate_json(struct fuzz_mutation *mutation, uint8_t *data, size_t size, size_t room);

#endif
