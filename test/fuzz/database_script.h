/*
 * database_script.h: inputs for readers of SQLite databases: a script of SQL that changes a sound
 * database, one statement to a line, so that mutations reach cells and not checksums of pages. Two
 * comments change the file itself: "-- cut BYTES" and "-- byte OFFSET VALUE". An input that begins
 * as a database does is one.
 */
#ifndef TEST_DATABASE_SCRIPT_H
#define TEST_DATABASE_SCRIPT_H

#include "test/fuzz/fuzz.h"

struct database_base {
    char *bytes; /* of the sound database */
    size_t size;
};

/* Takes the file at `path` as the sound database; once for each. */
void database_base_take(struct database_base *base, const char *path);
/* The path of a database `name` that the input makes. */
const char *database_script_run(const struct database_base *base, const char *name,
                                const uint8_t *data, size_t size);
/* As struct fuzz_format's `mutate`, with the tables and columns of the base. */
size_t database_script_mutate(const struct database_base *base, struct fuzz_mutation *mutation,
                              uint8_t *data, size_t size, size_t room);

#endif
