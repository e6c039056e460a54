/*
 * decimal.h: decimals as exact rationals, mantissa / 10^places. No double is involved
 * anywhere between a configuration's text and the picoseconds and rates made of it.
 */
#ifndef COLLECTIVES_DECIMAL_H
#define COLLECTIVES_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hw/hw_config.h"

/* mantissa / 10^places, |mantissa| < 10^18, places <= 18, no trailing zero after the point. */
struct decimal {
    int64_t mantissa;
    uint32_t places;
};

#define DECIMAL_TEXT_BYTES 40u

/*
 * Parses [+-]digits[.digits][e[+-]digits], all of the text. False if it is no such number, or has
 * more digits than a decimal holds.
 */
bool decimal_parse(const char *text, size_t bytes, struct decimal *out);
/*
 * Parses digits[.digits] at the start of text, without sign or exponent. Returns how many bytes it
 * has; 0 if text begins with no digit, or with more digits than a decimal holds.
 */
size_t decimal_prefix(const char *text, size_t bytes, struct decimal *out);
/* value * unit, exactly; false if that is not a whole number or does not fit. */
bool decimal_times(struct decimal value, int64_t unit, int64_t *product);
/* A literal of this program; aborts if it is not a decimal. */
struct decimal decimal_literal(const char *text);
/* <0, 0, >0 as a is less than, equal to, greater than b. */
int decimal_compare(struct decimal a, struct decimal b);
/* The shortest text that decimal_parse() reads back, without exponent. Returns buf. */
const char *decimal_print(struct decimal value, char buf[DECIMAL_TEXT_BYTES]);

/* value * factor, rounded half up to so many places. Both >= 0, the product < 10^9, places <= 6. */
struct decimal decimal_scaled(struct decimal value, struct decimal factor, uint32_t places);
/* value * 10^6 of at most 6 places. */
int64_t decimal_millionths(struct decimal value);
/* round(ns * 1000), half away from zero. 0 <= ns <= 10^9. */
int64_t decimal_ps(struct decimal ns);
/* round((distance_mm * ns_per_mm + latency_ns) * 1000); 0 <= each, places <= 9, distance <= 10^6,
 * ns_per_mm <= 10^3, latency <= 10^9. */
int64_t decimal_prop_ps(struct decimal distance_mm, struct decimal ns_per_mm,
                        struct decimal latency_ns);
/* 1000 / value as a reduced fraction: ps per byte of GB/s, ps per cycle of GHz. value > 0,
 * places <= 6. */
struct hw_rate decimal_rate(struct decimal value);

#endif
