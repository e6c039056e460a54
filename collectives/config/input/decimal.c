/*
 * decimal.c: parsing, comparing and rounding decimals in integers. Intermediate values fit
 * in 128 bits by the ranges that the header gives; the schema keeps values inside them.
 */
#include "collectives/config/input/decimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 18u

typedef __int128 wide;

static wide power_of_ten(uint32_t exponent)
{
    wide power = 1;
    for (uint32_t i = 0; i < exponent; i++)
        power *= 10;
    return power;
}

static bool decimal_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads `e[+-]digits` at *at; exponents beyond any decimal are held at 1000. */
static bool parse_exponent(const char *text, size_t bytes, size_t *at, int *exponent)
{
    *exponent = 0;
    if (*at == bytes)
        return true;
    if (text[*at] != 'e' && text[*at] != 'E')
        return false;
    size_t i = *at + 1;
    const bool negative = i < bytes && text[i] == '-';
    if (i < bytes && (text[i] == '-' || text[i] == '+'))
        i++;
    if (i == bytes)
        return false;
    for (; i < bytes; i++) {
        if (!decimal_is_digit(text[i]))
            return false;
        if (*exponent < 1000)
            *exponent = *exponent * 10 + (text[i] - '0');
    }
    if (negative)
        *exponent = -*exponent;
    *at = i;
    return true;
}

/* mantissa * 10^-places -> the normal form. */
static bool normalise(int64_t mantissa, int places, struct decimal *out)
{
    while (places > 0 && mantissa != 0 && mantissa % 10 == 0) {
        mantissa /= 10;
        places--;
    }
    if (mantissa == 0)
        places = 0;
    for (; places < 0; places++) {
        if (mantissa > (int64_t)(power_of_ten(DIGITS_MAX) - 1) / 10)
            return false;
        mantissa *= 10;
    }
    if (places > (int)DIGITS_MAX)
        return false;
    *out = (struct decimal){.mantissa = mantissa, .places = (uint32_t)places};
    return true;
}

/* The digits of a number as written: digits[.digits] is mantissa * 10^-places. */
struct digits {
    size_t bytes; /* read, the point included */
    size_t count; /* of digits */
    int64_t mantissa;
    int places;
};

/* Reads digits[.digits] from the start of text; false if there are more than a decimal holds. */
static bool read_digits(const char *text, size_t bytes, struct digits *read)
{
    bool point = false;
    size_t i = 0;
    *read = (struct digits){0};
    for (; i < bytes && (decimal_is_digit(text[i]) || (text[i] == '.' && !point)); i++) {
        if (text[i] == '.') {
            point = true;
            continue;
        }
        read->count++;
        if (read->mantissa >= (int64_t)(power_of_ten(DIGITS_MAX) / 10)) {
            if (!point || text[i] != '0')
                return false;
            continue; /* a zero after the last place that is kept */
        }
        read->mantissa = read->mantissa * 10 + (text[i] - '0');
        read->places += point ? 1 : 0;
        if (read->places > (int)DIGITS_MAX && read->mantissa != 0)
            return false;
    }
    read->bytes = i;
    if (read->places > 1000)
        read->places = 1000;
    return true;
}

bool decimal_parse(const char *text, size_t bytes, struct decimal *out)
{
    const bool negative = bytes > 0 && text[0] == '-';
    size_t at = bytes > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    struct digits read;
    int exponent;
    if (!read_digits(text + at, bytes - at, &read) || read.count == 0)
        return false;
    at += read.bytes;
    if (!parse_exponent(text, bytes, &at, &exponent) || at != bytes ||
        !normalise(read.mantissa, read.places - exponent, out))
        return false;
    if (negative)
        out->mantissa = -out->mantissa;
    return true;
}

size_t decimal_prefix(const char *text, size_t bytes, struct decimal *out)
{
    struct digits read;
    if (bytes == 0 || !decimal_is_digit(text[0]) || !read_digits(text, bytes, &read) ||
        !normalise(read.mantissa, read.places, out))
        return 0;
    return read.bytes;
}

bool decimal_times(struct decimal value, int64_t unit, int64_t *product)
{
    const wide all = (wide)value.mantissa * unit;
    const wide divisor = power_of_ten(value.places);
    if (all % divisor != 0 || all / divisor > INT64_MAX || all / divisor < INT64_MIN)
        return false;
    *product = (int64_t)(all / divisor);
    return true;
}

struct decimal decimal_literal(const char *text)
{
    struct decimal value;
    if (!decimal_parse(text, strlen(text), &value))
        abort();
    return value;
}

int decimal_compare(struct decimal a, struct decimal b)
{
    const wide left = a.mantissa * power_of_ten(b.places);
    const wide right = b.mantissa * power_of_ten(a.places);
    return (left > right) - (left < right);
}

const char *decimal_print(struct decimal value, char buf[DECIMAL_TEXT_BYTES])
{
    const uint64_t size =
        value.mantissa < 0 ? (uint64_t)0 - (uint64_t)value.mantissa : (uint64_t)value.mantissa;
    const uint64_t unit = (uint64_t)power_of_ten(value.places);
    const char *const sign = value.mantissa < 0 ? "-" : "";
    if (value.places == 0)
        snprintf(buf, DECIMAL_TEXT_BYTES, "%s%" PRIu64, sign, size);
    else
        snprintf(buf, DECIMAL_TEXT_BYTES, "%s%" PRIu64 ".%0*" PRIu64, sign, size / unit,
                 (int)value.places, size % unit);
    return buf;
}

struct decimal decimal_scaled(struct decimal value, struct decimal factor, uint32_t places)
{
    const uint32_t have = value.places + factor.places;
    struct decimal scaled = {0};
    wide product = (wide)value.mantissa * factor.mantissa;
    if (have > places) {
        const wide unit = power_of_ten(have - places);
        product = (product + unit / 2) / unit;
    }
    (void)normalise((int64_t)product, (int)(have > places ? places : have), &scaled);
    return scaled;
}

int64_t decimal_millionths(struct decimal value)
{
    return value.mantissa * (int64_t)power_of_ten(6 - value.places);
}

/* round(mantissa * 1000 / 10^places) of a value that is not negative. */
static int64_t round_thousandfold(wide mantissa, uint32_t places)
{
    const wide unit = power_of_ten(places);
    return (int64_t)((mantissa * 1000 + unit / 2) / unit);
}

int64_t decimal_ps(struct decimal ns) { return round_thousandfold(ns.mantissa, ns.places); }

int64_t decimal_prop_ps(struct decimal distance_mm, struct decimal ns_per_mm,
                        struct decimal latency_ns)
{
    const uint32_t flight_places = distance_mm.places + ns_per_mm.places;
    const uint32_t places = flight_places > latency_ns.places ? flight_places : latency_ns.places;
    const wide flight =
        (wide)distance_mm.mantissa * ns_per_mm.mantissa * power_of_ten(places - flight_places);
    const wide latency = latency_ns.mantissa * power_of_ten(places - latency_ns.places);
    return round_thousandfold(flight + latency, places);
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct hw_rate decimal_rate(struct decimal value)
{
    const uint64_t num = 1000 * (uint64_t)power_of_ten(value.places);
    const uint64_t den = (uint64_t)value.mantissa;
    const uint64_t divisor = greatest_common_divisor(num, den);
    return (struct hw_rate){.num = num / divisor, .den = den / divisor};
}
