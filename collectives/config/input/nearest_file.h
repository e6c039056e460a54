/*
 * nearest_file.h: which file may have been meant by a path that leads to none, for the message that
 * says so. Any thread.
 */
#ifndef COLLECTIVES_NEAREST_FILE_H
#define COLLECTIVES_NEAREST_FILE_H

#include "collectives/config/input/text.h"

enum { NEAREST_FILE_BYTES = TEXT_QUOTE_BYTES + 20 };

/*
 * "; did you mean 'study.yaml'?", with the nearest name of a file in the folder of the path; "" if
 * none is near, or if the file that could not be opened is there. `suffix` limits the
 * files that may be meant, NULL: any. Returns meant; errno stays.
 */
const char *nearest_file_hint(const char *path, const char *suffix, char meant[NEAREST_FILE_BYTES]);

#endif
