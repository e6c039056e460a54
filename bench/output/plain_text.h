/*
 * plain_text.h: texts of anybody's on their way to a terminal. An escape in a study's label would
 * move the cursor, or worse. Pure.
 */
#ifndef BENCH_PLAIN_TEXT_H
#define BENCH_PLAIN_TEXT_H

/* Replaces each control character, but for those in `kept`, by a question mark. Returns `text`;
 * NULL stays NULL. */
char *plain_text(char *text, const char *kept);

#endif
