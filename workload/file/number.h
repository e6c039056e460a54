/*
 * number.h: the numbers of expressions. They are exact fractions of whole numbers of 127 bits, as
 * long as they are rational and fit; else the nearest double. So bytes and operations up to 2^63
 * are exact, and a division that leaves no remainder gives a whole number.
 */
#ifndef WORKLOAD_FILE_NUMBER_H
#define WORKLOAD_FILE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 number_int;

struct number {
    number_int n, d; /* reduced, d > 0; d = 0: not exact, and `real` counts */
    double real;
};

enum number_operator {
    NUMBER_ADD,
    NUMBER_SUB,
    NUMBER_MUL,
    NUMBER_DIV,
    NUMBER_FLOOR_DIV,
    NUMBER_MOD, /* has the sign of the divisor: a - b * floor(a / b) */
    NUMBER_POW,
    NUMBER_LT,
    NUMBER_LE,
    NUMBER_GT,
    NUMBER_GE,
    NUMBER_EQ,
    NUMBER_NE,
    NUMBER_AND, /* comparisons, `and` and `or` give 1 or 0 */
    NUMBER_OR,
    NUMBER_OPERATORS
};

struct number number_of(int64_t value);
double number_real(struct number a);
bool number_is_zero(struct number a);
/* <0, 0, >0 as a is less than, equal to, greater than b. */
int number_compare(struct number a, struct number b);

/* NULL: *result is a op b. Else what is wrong: "division by 0". */
const char *number_combine(enum number_operator op, struct number a, struct number b,
                           struct number *result);
struct number number_minus(struct number a);
struct number number_floor(struct number a);
struct number number_ceil(struct number a);
struct number number_round(struct number a); /* to nearest, halves away from 0 */
/* NULL, or what is wrong. Of a power of 2, or of a square, it is exact. */
const char *number_log2(struct number a, struct number *result);
const char *number_sqrt(struct number a, struct number *result);

/* Parses digits[.digits][e[+-]digits][unit] at the start of text. Returns how many bytes it has; 0
 * with *wrong: what is wrong. */
size_t number_parse(const char *text, size_t bytes, struct number *result, const char **wrong);

/* True if it is a whole number from 0 to max. */
bool number_whole(struct number a, uint64_t max, uint64_t *whole);

/* "24", "2.5", "1/3" as 0.3333333333. Returns text. */
enum { NUMBER_TEXT_BYTES = 48 };
const char *number_print(struct number a, char text[NUMBER_TEXT_BYTES]);

#endif
