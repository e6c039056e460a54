/*
 * version.c: the version that was compiled into the library; a program's headers may be others.
 */
#include "core/cw.h"

const char *cw_version(void) { return CW_VERSION_STRING; }
