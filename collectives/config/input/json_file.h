/*
 * json_file.h: JSON out of a file, with the system's reason where the file cannot be read. Any
 * thread.
 */
#ifndef COLLECTIVES_JSON_FILE_H
#define COLLECTIVES_JSON_FILE_H

#include <jansson.h>
#include <stddef.h>

/*
 * Reads the file, or standard input for "-". The caller's, for json_decref(). NULL: *number is the
 * errno of a file that cannot be opened or read (a folder, say), or 0, and then *wrong says why its
 * text is not JSON.
 */
json_t *json_file_read(const char *path, size_t flags, json_error_t *wrong, int *number);

/*
 * A figure of a file that may be somebody else's. NAN: the value is not a number (nor is NULL), or
 * its size is not between 1e-30 and 1e30, nor 0, which no run gives. Sums and ratios of the others
 * are finite.
 */
double json_file_figure(const json_t *value);

#endif
