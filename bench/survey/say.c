/*
 * say.c: formats numbers for people, names of axes, and texts for HTML and JSON.
 */
#include "bench/survey/say.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/text.h"

static const double KIB = 1024.0;
enum { DECIMALS = 20 }; /* at most */

/* Puts commas between thousands of the whole part. */
static const char *say_grouped(const char *plain, char text[SAY_BYTES])
{
    const size_t sign = plain[0] == '-';
    const size_t whole = strspn(plain + sign, "0123456789");
    size_t n = 0;
    for (size_t i = 0; plain[i] != '\0' && n + 2 < SAY_BYTES; i++) {
        if (i > sign && i < sign + whole && (sign + whole - i) % 3 == 0)
            text[n++] = ',';
        text[n++] = plain[i];
    }
    text[n] = '\0';
    return text;
}

const char *say_number(double number, char text[SAY_BYTES])
{
    char plain[SAY_BYTES];
    const double size = fabs(number);
    if (isnan(number)) {
        snprintf(text, SAY_BYTES, "–");
        return text;
    }
    const int decimals = size >= 1000 || size == 0 ? 0 : 3 - (int)floor(log10(size));
    snprintf(plain, sizeof plain, "%.*f", decimals > DECIMALS ? DECIMALS : decimals, number);
    if (strchr(plain, '.') != NULL) { /* drops trailing zeros */
        char *end = plain + strlen(plain);
        while (end[-1] == '0')
            *--end = '\0';
        if (end[-1] == '.')
            end[-1] = '\0';
    }
    return say_grouped(plain, text);
}

const char *say_time(double us, char text[SAY_BYTES])
{
    static const struct {
        double from, unit;
        const char *name;
    } units[] = {{1e6, 1e6, "s"}, {1e3, 1e3, "ms"}, {1, 1, "µs"}, {0, 1e-3, "ns"}};
    char number[SAY_BYTES];
    size_t i = 0;
    if (isnan(us))
        return say_number(us, text);
    while (i < 3 && fabs(us) < units[i].from)
        i++;
    say_number(us / units[i].unit, number);
    snprintf(text, SAY_BYTES, "%.30s %s", number, units[i].name);
    return text;
}

const char *say_size(double bytes, char text[SAY_BYTES])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    char number[SAY_BYTES];
    size_t unit = 0;
    double in_unit = bytes;
    if (isnan(bytes))
        return say_number(bytes, text);
    /* the largest unit in which the number is short */
    while (unit < 4 && in_unit >= KIB && fmod(in_unit * 4, KIB) == 0) {
        in_unit /= KIB;
        unit++;
    }
    if (in_unit < 1e5)
        snprintf(number, sizeof number, "%.10g", in_unit);
    else
        say_number(in_unit, number);
    snprintf(text, SAY_BYTES, "%.30s %s", number, units[unit]);
    return text;
}

const char *say_figure(enum survey_figure figure, double number, char text[SAY_BYTES])
{
    char plain[SAY_BYTES];
    const char *const unit = survey_figures[figure].unit;
    if (isnan(number))
        return say_number(number, text);
    if (strcmp(unit, "µs") == 0)
        return say_time(number, text);
    say_number(number, plain);
    snprintf(text, SAY_BYTES, "%.30s%s%s", plain, unit[0] == '\0' ? "" : " ", unit);
    return text;
}

const char *say_value(const struct survey_axis *axis, const struct survey_value *value,
                      char text[SAY_BYTES])
{
    if (value == NULL)
        return axis->kind == AXIS_CHANGED ? "as shipped" : "–";
    return axis->is_bytes ? say_size(value->number, text) : value->text;
}

/* "system.sips.count" is sips.count, "defaults.n_slots" is n_slots. */
static const char *say_key(const char *key)
{
    static const char defaults[] = "defaults.";
    const char *last = strrchr(key, '.');
    if (last == NULL || strchr(key, ' ') != NULL)
        return key;
    if (strncmp(key, defaults, sizeof defaults - 1) == 0)
        return key + sizeof defaults - 1;
    while (last > key && last[-1] != '.')
        last--;
    return last;
}

const char *say_axis(const struct survey_axis *axis)
{
    static const struct {
        const char *name, *label;
    } labels[] = {{"bytes", "bytes per shard"},
                  {"bytes_per_rank", "bytes per rank"},
                  {"shards_per_rank", "shards per rank"},
                  {"redop", "operation"},
                  {"schedule", "algorithm that ran"},
                  {"placement", "placement that auto took"},
                  {"sips", "SIPs"},
                  {"pes", "PEs"},
                  {"config_digest", "configuration"}};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (strcmp(axis->name, labels[i].name) == 0)
            return labels[i].label;
    return say_key(axis->name);
}

const char *say_axis_unit(const struct survey_axis *axis)
{
    static const struct {
        const char *end, *unit;
    } units[] = {{"_gbs", "GB/s"},   {"_ghz", "GHz"}, {"_ns_per_mm", "ns/mm"}, {"_ns", "ns"},
                 {"_mm", "mm"},      {"_kib", "KiB"}, {"_mib", "MiB"},         {"_percent", "%"},
                 {"slot_size", "B"}, {"_bytes", "B"}};
    const size_t bytes = strlen(axis->name);
    for (size_t i = 0; i < sizeof units / sizeof *units && axis->is_numeric; i++) {
        const size_t end = strlen(units[i].end);
        if (bytes > end && strcmp(axis->name + bytes - end, units[i].end) == 0)
            return units[i].unit;
    }
    return "";
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Writes a text, its special characters by `each`. Bytes that are not UTF-8, and control
 * characters, become U+FFFD. */
static void say_escaped(FILE *out, const char *text, const char *special,
                        void (*each)(FILE *out, unsigned char special))
{
    size_t left = strlen(text);
    while (left > 0) {
        const unsigned char c = (unsigned char)*text;
        size_t whole = text_utf8_prefix(text, c < 0x80 ? 1 : left < 4 ? left : 4);
        if (c >= 0x80 && whole > 0) /* only the first character of the prefix */
            whole = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        if (whole == 0 || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
            fputs("\xef\xbf\xbd", out);
            whole = 1;
        } else if (c < 0x80 && (c < 0x20 || strchr(special, c) != NULL)) {
            each(out, c);
        } else {
            fwrite(text, 1, whole, out);
        }
        text += whole;
        left -= whole;
    }
}

static void say_html_character(FILE *out, unsigned char c)
{
    fprintf(out, c == '\n' || c == '\t' ? "%c" : "&#%d;", c);
}

void say_html(FILE *out, const char *text)
{
    if (text != NULL)
        say_escaped(out, text, "<>&\"'`", say_html_character);
}

static void say_json_character(FILE *out, unsigned char c) { fprintf(out, "\\u%04x", c); }

void say_json(FILE *out, const char *text)
{
    if (text == NULL) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    say_escaped(out, text, "<>&\"\\'", say_json_character);
    fputc('"', out);
}

void say_json_number(FILE *out, double number)
{
    if (isfinite(number))
        fprintf(out, "%.10g", number);
    else
        fputs("null", out);
}

void say_json_value(FILE *out, const json_t *value)
{
    const char *key, *comma = "";
    json_t *item;
    size_t i;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        fputc('{', out);
        json_object_foreach((json_t *)(uintptr_t)value, key, item)
        {
            fputs(comma, out);
            say_json(out, key);
            fputc(':', out);
            say_json_value(out, item);
            comma = ",";
        }
        fputc('}', out);
        break;
    case JSON_ARRAY:
        fputc('[', out);
        json_array_foreach(value, i, item)
        {
            fputs(comma, out);
            say_json_value(out, item);
            comma = ",";
        }
        fputc(']', out);
        break;
    case JSON_STRING:
        say_json(out, json_string_value(value));
        break;
    case JSON_INTEGER:
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        fprintf(out, "%.6g", json_real_value(value));
        break;
    default:
        fputs(json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null", out);
    }
}
