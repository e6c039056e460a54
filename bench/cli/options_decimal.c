/*
 * options_decimal.c: decimal fractions on the command line: times, probabilities, rates. Exact, by
 * whole numbers: what is asked for is what every machine and compiler takes.
 */
#include <string.h>

#include "bench/cli/options.h"

const char *options_decimal(const char *text, int64_t unit, int64_t *value)
{
    if (*text < '0' || *text > '9')
        return NULL;
    int64_t sum = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *text - '0', &sum))
            return NULL;
    if (__builtin_mul_overflow(sum, unit, &sum))
        return NULL;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++) {
            if (unit < 10 && *text != '0')
                return NULL;
            unit /= 10;
            if (__builtin_add_overflow(sum, (*text - '0') * unit, &sum))
                return NULL;
        }
    *value = sum;
    return text;
}

static bool read_probability(const char *text, uint64_t *p32)
{
    const size_t length = strlen(text);
    const int64_t billion = 1000000000;
    const bool percent = length > 0 && text[length - 1] == '%';
    int64_t billionths = 0; /* of a per cent, or of 1 */
    const char *const end = options_decimal(text, billion, &billionths);
    const int64_t whole = percent ? 100 * billion : billion;
    if (end != text + length - percent || billionths > whole)
        return false;
    *p32 = (uint64_t)(((unsigned __int128)billionths << 32) / (unsigned __int128)whole);
    return true;
}

int options_probability(struct cw_error *error, const char *name, const char *text, uint64_t *p32)
{
    if (!read_probability(text, p32))
        return options_usage(error, "--%s %s: a probability is needed: 0 to 1, or 0%% to 100%%",
                             name, text);
    return CW_OK;
}

int options_stress_rate(struct cw_error *error, const char *name, const char *text, uint64_t *p32)
{
    uint64_t rate_p32 = 0;
    if (!read_probability(text, &rate_p32) || rate_p32 == 0)
        return options_reject(error, name, text,
                              "expected a share above 0, up to 1 or 100%; a stress run that undoes "
                              "nothing proves nothing");
    *p32 = rate_p32;
    return CW_OK;
}
