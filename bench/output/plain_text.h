/*
 * plain_text.h: texts from files of others on their way to a terminal: an escape in a study's label
 * would move the cursor, or worse. Pure.
 */
#ifndef BENCH_PLAIN_TEXT_H
#define BENCH_PLAIN_TEXT_H

/* Replaces each control character by a question mark, except those in `kept`. Returns `text`;
 * NULL stays NULL. */
char *plain_text(char *text, const char *kept);

#endif
