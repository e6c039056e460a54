/*
 * refusal.h: why an algorithm does not carry out a call, as data: the key at fault, the fault, the
 * legal values, advice. The parts are joined to a sentence once, where it is printed; until then
 * each reader takes the parts that it needs. One thread.
 */
#ifndef COLLECTIVES_REFUSAL_H
#define COLLECTIVES_REFUSAL_H

#include <stddef.h>

struct ccl_refusal {
    /* The configuration's key at fault, with its section (`defaults.root`): the message then begins
     * with its place. NULL: the call's own arguments are at fault. */
    const char *key;
    char wrong[512];  /* without an end: no full stop, no advice */
    char legal[512];  /* legal values of the key; empty: not said */
    char advice[256]; /* "use ...": for a user who has named this algorithm; empty: none */
};

/* Fills `key` and `wrong` and empties the rest. All three return CW_USAGE, so that a check() may
 * end with them. */
__attribute__((format(printf, 3, 4))) int ccl_refuse(struct ccl_refusal *refusal, const char *key,
                                                     const char *wrong, ...);
/* Adds to `legal`, to `advice`. */
__attribute__((format(printf, 2, 3))) int ccl_legal(struct ccl_refusal *refusal, const char *format,
                                                    ...);
__attribute__((format(printf, 2, 3))) int ccl_advise(struct ccl_refusal *refusal,
                                                     const char *format, ...);

/* "wrong; legal; advice", without the parts that are empty. */
void ccl_refusal_text(const struct ccl_refusal *refusal, char *text, size_t bytes);

#endif
