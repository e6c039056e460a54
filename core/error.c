/*
 * error.c: fills a struct cw_error (cw.h): the one helper for errors of all folders.
 *
 * A text that does not fit in the struct is kept here, whole, and found again by a number after
 * what the struct has of it: so the struct stays a plain value that is copied and thrown away. The
 * last KEPT texts are kept, and they are the only state of this file. Any thread may call it: a
 * lock orders all that is done with the kept texts. Texts of such a length come from a host program
 * and between drains; of handlers they come from those alone that fail.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cw.h"

enum {
    KEPT = 64,
    NUMBER_BYTES = sizeof(uint64_t),
    /* for a kept text the struct has this many characters, a 0, and the text's number */
    BEGINNING = sizeof((struct cw_error *)0)->text - 1 - NUMBER_BYTES
};
static struct {
    pthread_mutex_t lock;
    char *text[KEPT]; /* text number n is at n % KEPT; NULL: none */
    uint64_t newest;  /* its number; 0: there is none */
} kept_texts = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Takes the text over, in the place of the oldest one. Returns its number. */
static uint64_t keep_text(char *text)
{
    (void)pthread_mutex_lock(&kept_texts.lock);
    const uint64_t number = ++kept_texts.newest;
    free(kept_texts.text[number % KEPT]);
    kept_texts.text[number % KEPT] = text;
    (void)pthread_mutex_unlock(&kept_texts.lock);
    return number;
}

const char *cw_error_text(const struct cw_error *error)
{
    const char *whole = error->text;
    uint64_t number;
    if (strnlen(error->text, sizeof error->text) != BEGINNING)
        return whole;
    memcpy(&number, error->text + BEGINNING + 1, NUMBER_BYTES);
    (void)pthread_mutex_lock(&kept_texts.lock);
    const char *const kept = kept_texts.text[number % KEPT];
    /* a text that has this length by chance has an arbitrary number: it does not begin as the kept
     * one */
    if (kept != NULL && number <= kept_texts.newest && kept_texts.newest - number < KEPT &&
        strncmp(kept, error->text, BEGINNING) == 0)
        whole = kept;
    (void)pthread_mutex_unlock(&kept_texts.lock);
    return whole;
}

/* A message may quote a file of anybody's: no control character reaches a terminal. */
static void make_plain(char *text)
{
    for (; *text != '\0'; text++)
        if (((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') || *text == 127)
            *text = '?';
}

int cw_error_set_list(struct cw_error *error, enum cw_exit exit_code, const char *format,
                      va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int bytes = vsnprintf(error->text, sizeof error->text, format, arguments);
    make_plain(error->text);
    char *const whole =
        bytes < (int)sizeof error->text ? NULL : malloc((size_t)bytes + 1); /* NULL: it stays cut */
    if (whole != NULL) {
        (void)vsnprintf(whole, (size_t)bytes + 1, format, again);
        make_plain(whole);
        const uint64_t number = keep_text(whole);
        error->text[BEGINNING] = '\0';
        memcpy(error->text + BEGINNING + 1, &number, NUMBER_BYTES);
    } else if (bytes == BEGINNING) {
        memset(error->text + BEGINNING + 1, 0, NUMBER_BYTES);
    }
    va_end(again);
    error->exit_code = (int)exit_code;
    return error->exit_code;
}

int cw_error_set(struct cw_error *error, enum cw_exit exit_code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)cw_error_set_list(error, exit_code, format, arguments);
    va_end(arguments);
    return error->exit_code;
}

int cw_error_memory(struct cw_error *error, const char *purpose)
{
    return cw_error_set(error, CW_NO_RESOURCE, "out of memory for %s", purpose);
}
