/*
 * plain_locale.h: how numbers are written and read. A shared object that the program loads may call
 * setlocale(), which would put the decimal commas of some country into every file.
 */
#ifndef CORE_PLAIN_LOCALE_H
#define CORE_PLAIN_LOCALE_H

/* From here on the calling thread, and the engine's threads that it starts, write and read as in
 * the C locale, whatever setlocale() is told. */
void plain_locale_use(void);

#endif
