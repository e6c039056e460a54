/*
 * estimate_text.c: see estimate_text.h.
 */
#include "bench/study/estimate_text.h"

#include <stddef.h>
#include <stdio.h>

enum { UNIT_STEP = 1024 };

const char *estimate_number_text(double number, char text[ESTIMATE_TEXT_BYTES])
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;
    for (; number >= 1000 && unit < 4; unit++)
        number /= 1000;
    snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g%s", number, units[unit]);
    return text;
}

const char *estimate_bytes_text(double bytes, char text[ESTIMATE_TEXT_BYTES])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= UNIT_STEP && unit < 4; unit++)
        bytes /= UNIT_STEP;
    snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g %s", bytes, units[unit]);
    return text;
}

const char *estimate_seconds_text(double seconds, char text[ESTIMATE_TEXT_BYTES])
{
    if (seconds < 1)
        snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g ms", seconds * 1e3);
    else if (seconds < 120)
        snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g s", seconds);
    else if (seconds < 7200)
        snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g min", seconds / 60);
    else
        snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g h", seconds / 3600);
    return text;
}
