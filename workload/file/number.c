/*
 * number.c: arithmetic on exact fractions, with doubles where a result is none or does not fit
 * (number.h).
 */
#include "workload/file/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POWER_EXACT_MAX = 127, EXPONENT_MAX = 300 };
/* It has no negative: not used. */
#define LEAST ((number_int)((unsigned __int128)1 << 127))

static struct number fraction(number_int n, number_int d)
{
    return (struct number){.n = n, .d = d};
}

static struct number real(double value) { return (struct number){.real = value}; }

struct number number_of(int64_t value) { return fraction(value, 1); }

double number_real(struct number a) { return a.d > 0 ? (double)a.n / (double)a.d : a.real; }

bool number_is_zero(struct number a) { return a.d > 0 ? a.n == 0 : a.real == 0; }

static number_int common_divisor(number_int a, number_int b)
{
    a = a < 0 ? -a : a;
    while (b != 0) {
        const number_int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- exact ----------------------------------------------------------------------------------- */

/* Products overflow late if common factors go first. */
static bool multiply(struct number a, struct number b, struct number *result)
{
    if (a.n == 0 || b.n == 0) {
        *result = number_of(0);
        return true;
    }
    const number_int left = a.d > 1 || b.d > 1 ? common_divisor(a.n, b.d) : 1,
                     right = a.d > 1 || b.d > 1 ? common_divisor(b.n, a.d) : 1;
    struct number product;
    if (__builtin_mul_overflow(a.n / left, b.n / right, &product.n) ||
        __builtin_mul_overflow(a.d / right, b.d / left, &product.d) || product.n == LEAST)
        return false;
    *result = fraction(product.n, product.d);
    return true;
}

static struct number inverse(struct number a)
{
    return a.n > 0 ? fraction(a.d, a.n) : fraction(-a.d, -a.n);
}

static bool add(struct number a, struct number b, struct number *result)
{
    const number_int common = a.d > 1 && b.d > 1 ? common_divisor(a.d, b.d) : 1;
    number_int left, right, sum, divisor;
    if (__builtin_mul_overflow(a.n, b.d / common, &left) ||
        __builtin_mul_overflow(b.n, a.d / common, &right) ||
        __builtin_add_overflow(left, right, &sum) ||
        __builtin_mul_overflow(a.d, b.d / common, &divisor) || sum == LEAST)
        return false;
    const number_int reduce = divisor > 1 ? common_divisor(sum, divisor) : 1;
    *result = fraction(sum / reduce, divisor / reduce);
    return true;
}

static bool power(struct number a, uint64_t exponent, struct number *result)
{
    struct number product = number_of(1);
    for (uint64_t i = 0; i < exponent; i++)
        if (!multiply(product, a, &product))
            return false;
    *result = product;
    return true;
}

static number_int floor_of(struct number a)
{
    const number_int quotient = a.n / a.d;
    return quotient - (a.n % a.d < 0 ? 1 : 0);
}

/* ---- operators ------------------------------------------------------------------------------- */

int number_compare(struct number a, struct number b)
{
    struct number difference;
    if (a.d > 0 && b.d > 0 && a.n == b.n && a.d == b.d)
        return 0;
    if (a.d > 0 && b.d > 0 && add(a, number_minus(b), &difference))
        return difference.n < 0 ? -1 : difference.n > 0;
    const double x = number_real(a), y = number_real(b);
    return x < y ? -1 : x > y;
}

static bool compares(enum number_operator op, struct number a, struct number b)
{
    const int order = number_compare(a, b);
    switch (op) {
    case NUMBER_LT:
        return order < 0;
    case NUMBER_LE:
        return order <= 0;
    case NUMBER_GT:
        return order > 0;
    case NUMBER_GE:
        return order >= 0;
    case NUMBER_EQ:
        return order == 0;
    case NUMBER_NE:
        return order != 0;
    case NUMBER_AND:
        return !number_is_zero(a) && !number_is_zero(b);
    default:
        return !number_is_zero(a) || !number_is_zero(b);
    }
}

/* False: not exact, or without room. */
static bool combine_exact(enum number_operator op, struct number a, struct number b,
                          struct number *result)
{
    uint64_t exponent;
    struct number quotient;
    if (a.d == 0 || b.d == 0)
        return false;
    switch (op) {
    case NUMBER_ADD:
        return add(a, b, result);
    case NUMBER_SUB:
        return add(a, number_minus(b), result);
    case NUMBER_MUL:
        return multiply(a, b, result);
    case NUMBER_DIV:
        return multiply(a, inverse(b), result);
    case NUMBER_FLOOR_DIV:
        if (!multiply(a, inverse(b), &quotient))
            return false;
        *result = fraction(floor_of(quotient), 1);
        return true;
    case NUMBER_MOD:
        return multiply(a, inverse(b), &quotient) &&
               multiply(b, fraction(floor_of(quotient), 1), &quotient) &&
               add(a, number_minus(quotient), result);
    default:
        if (!number_whole(b.n < 0 ? number_minus(b) : b, POWER_EXACT_MAX, &exponent) ||
            !power(a, exponent, result))
            return false;
        if (b.n < 0)
            *result = inverse(*result);
        return true;
    }
}

static double combine_real(enum number_operator op, double a, double b)
{
    switch (op) {
    case NUMBER_ADD:
        return a + b;
    case NUMBER_SUB:
        return a - b;
    case NUMBER_MUL:
        return a * b;
    case NUMBER_DIV:
        return a / b;
    case NUMBER_FLOOR_DIV:
        return floor(a / b);
    case NUMBER_MOD:
        return a - b * floor(a / b);
    default:
        return pow(a, b);
    }
}

const char *number_combine(enum number_operator op, struct number a, struct number b,
                           struct number *result)
{
    if (op >= NUMBER_LT) {
        *result = number_of(compares(op, a, b));
        return NULL;
    }
    const bool divides = op == NUMBER_DIV || op == NUMBER_FLOOR_DIV || op == NUMBER_MOD;
    if ((divides && number_is_zero(b)) ||
        (op == NUMBER_POW && number_is_zero(a) && number_real(b) < 0))
        return "a division by 0";
    if (combine_exact(op, a, b, result))
        return NULL;
    *result = real(combine_real(op, number_real(a), number_real(b)));
    return isnan(result->real)   ? "no number: a root of a negative one"
           : isinf(result->real) ? "a number beyond 10^308"
                                 : NULL;
}

struct number number_minus(struct number a)
{
    return a.d > 0 ? fraction(-a.n, a.d) : real(-a.real);
}

struct number number_floor(struct number a)
{
    return a.d > 0 ? fraction(floor_of(a), 1) : real(floor(a.real));
}

struct number number_ceil(struct number a) { return number_minus(number_floor(number_minus(a))); }

struct number number_round(struct number a)
{
    struct number sum;
    const bool negative = a.d > 0 ? a.n < 0 : a.real < 0;
    if (negative)
        return number_minus(number_round(number_minus(a)));
    return number_combine(NUMBER_ADD, a, fraction(1, 2), &sum) == NULL ? number_floor(sum) : a;
}

const char *number_log2(struct number a, struct number *result)
{
    if (number_compare(a, number_of(0)) <= 0)
        return "log2 of a number that is not above 0";
    int exponent = 0;
    number_int n = a.n, d = a.d;
    for (; n > 1 && n % 2 == 0; n /= 2)
        exponent++;
    for (; d > 1 && d % 2 == 0; d /= 2)
        exponent--;
    *result = n == 1 && d == 1 ? number_of(exponent) : real(log2(number_real(a)));
    return NULL;
}

const char *number_sqrt(struct number a, struct number *result)
{
    const double root = sqrt(number_real(a));
    struct number square;
    if (number_compare(a, number_of(0)) < 0)
        return "sqrt of a negative number";
    *result = real(root);
    if (root < 0x1p53 && root == floor(root)) {
        const struct number whole = number_of((int64_t)root);
        if (number_combine(NUMBER_MUL, whole, whole, &square) == NULL &&
            number_compare(square, a) == 0)
            *result = whole;
    }
    return NULL;
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_digit(const char *text, size_t bytes, size_t i)
{
    return i < bytes && text[i] >= '0' && text[i] <= '9';
}

/* The unit at the start of text, as a factor. False: there is none of this name. */
static bool parse_unit(const char *text, size_t bytes, struct number *factor)
{
    static const struct {
        const char *name;
        int64_t n, d;
    } units[] = {{"B", 1, 1},
                 {"KiB", INT64_C(1) << 10, 1},
                 {"MiB", INT64_C(1) << 20, 1},
                 {"GiB", INT64_C(1) << 30, 1},
                 {"TiB", INT64_C(1) << 40, 1},
                 {"KB", 1000, 1},
                 {"kB", 1000, 1},
                 {"MB", 1000000, 1},
                 {"GB", 1000000000, 1},
                 {"TB", 1000000000000, 1},
                 {"MFLOP", 1000000, 1},
                 {"GFLOP", 1000000000, 1},
                 {"TFLOP", 1000000000000, 1},
                 {"PFLOP", 1000000000000000, 1},
                 {"T", 1000000000000, 1},
                 {"P", 1000000000000000, 1},
                 {"ps", 1, 1000},
                 {"ns", 1, 1},
                 {"us", 1000, 1},
                 {"ms", 1000000, 1},
                 {"s", 1000000000, 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == bytes && memcmp(units[i].name, text, bytes) == 0) {
            *factor = fraction(units[i].n, units[i].d);
            return true;
        }
    return false;
}

/* The exponent of "e-12" at text[*i]; *i stays where there is none. */
static int parse_exponent(const char *text, size_t bytes, size_t *i)
{
    size_t at = *i;
    if (at >= bytes || (text[at] | 32) != 'e')
        return 0;
    const bool negative = ++at < bytes && text[at] == '-';
    if (at < bytes && (text[at] == '-' || text[at] == '+'))
        at++;
    if (!is_digit(text, bytes, at))
        return 0;
    int exponent = 0;
    for (; is_digit(text, bytes, at); at++)
        if (exponent <= EXPONENT_MAX)
            exponent = exponent * 10 + (text[at] - '0');
    *i = at;
    return negative ? -exponent : exponent;
}

size_t number_parse(const char *text, size_t bytes, struct number *result, const char **wrong)
{
    struct number value = number_of(0), scale, factor;
    size_t i = 0;
    int places = 0;
    bool point = false;
    *wrong = "a number with more digits than fit";
    for (; is_digit(text, bytes, i) || (!point && is_digit(text, bytes, i + 1) && text[i] == '.');
         i++) {
        if (text[i] == '.') {
            point = true;
            continue;
        }
        places += point;
        if (value.n > INT64_MAX / 10)
            return 0;
        value.n = value.n * 10 + (text[i] - '0');
    }
    const int exponent = parse_exponent(text, bytes, &i) - places;
    if (exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX ||
        number_combine(NUMBER_POW, number_of(10), number_of(exponent), &scale) != NULL ||
        number_combine(NUMBER_MUL, value, scale, &value) != NULL)
        return 0;
    size_t end = i;
    while (end < bytes && ((text[end] | 32) >= 'a' && (text[end] | 32) <= 'z'))
        end++;
    if (end > i) {
        *wrong = "no such unit; legal are KiB, MiB, GiB, TiB (of 1024), KB, MB, GB, TB (of 1000), "
                 "MFLOP, GFLOP, TFLOP, PFLOP, T, P, and ps, ns, us, ms, s";
        if (!parse_unit(text + i, end - i, &factor) ||
            number_combine(NUMBER_MUL, value, factor, &value) != NULL)
            return 0;
    }
    *result = value;
    return end;
}

bool number_whole(struct number a, uint64_t max, uint64_t *whole)
{
    if (a.d == 0) {
        if (!(a.real >= 0 && a.real < 0x1p63) || a.real != floor(a.real))
            return false;
        a = fraction((number_int)a.real, 1);
    }
    if (a.d != 1 || a.n < 0 || a.n > (number_int)max)
        return false;
    *whole = (uint64_t)a.n;
    return true;
}

const char *number_print(struct number a, char text[NUMBER_TEXT_BYTES])
{
    const bool whole = a.d == 1 && a.n <= INT64_MAX && a.n >= -INT64_MAX;
    if (whole)
        snprintf(text, NUMBER_TEXT_BYTES, "%lld", (long long)a.n);
    else
        snprintf(text, NUMBER_TEXT_BYTES, "%.10g", number_real(a));
    return text;
}
