/*
 * config_value.c: one value against one key: its kind, spelling, range and unit. An accepted value
 * is rewritten in one canonical spelling, so that equal configurations have equal texts and
 * digests.
 */
#include "collectives/config/config_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "collectives/algorithm.h"
#include "collectives/config/ccl_config.h"
#include "collectives/config/config_parts.h"
#include "collectives/config/input/text.h"
#include "hw/topology/topology.h"

#define LEGAL_BYTES 600u
#define PLACES_MAX  9u
#define RATE_PLACES 6u
#define PLACE_MAX   16777215u

/* The key that a value is read for, and the load that reads it. */
struct reader {
    struct config_loader *loader;
    const struct config_key *key;
    const char *path;
};

static void config_value_append(char *buf, size_t size, const char *text)
{
    const size_t used = strlen(buf);
    snprintf(buf + used, size - used, "%s", text);
}

static bool is_levels(const char *name) { return strcmp(name, hw_levels.name) == 0; }

static void append_choices(const struct config_key *key, char *buf, size_t size)
{
    for (uint32_t i = 0; key->choice != NULL && key->choice(i) != NULL; i++) {
        if (key->type == CONFIG_SIPS && is_levels(key->choice(i)))
            continue; /* written as a list */
        config_value_append(buf, size, i == 0 ? "" : ", ");
        config_value_append(buf, size, key->choice(i));
    }
}

const char *config_legal(const struct config_key *key, char *buf, size_t size)
{
    const char *const of = key->unit == NULL ? "" : " of ";
    const char *const unit = key->unit == NULL ? "" : key->unit;
    switch ((enum config_type)key->type) {
    case CONFIG_COUNT:
        snprintf(buf, size, "a whole number%s%s from %s to %s", of, unit, key->min, key->max);
        break;
    case CONFIG_DECIMAL:
    case CONFIG_RATE:
        snprintf(buf, size, "a number%s%s from %s to %s with at most %u decimal places", of, unit,
                 key->min, key->max, key->type == CONFIG_RATE ? RATE_PLACES : PLACES_MAX);
        break;
    case CONFIG_BOOL:
        snprintf(buf, size, "true or false");
        break;
    case CONFIG_CHOICE:
        snprintf(buf, size, "one of ");
        append_choices(key, buf, size);
        break;
    case CONFIG_NAME:
        snprintf(buf, size, "a name of up to 63 letters, digits, '_' and '-'");
        break;
    case CONFIG_PLUGIN:
        snprintf(buf, size, "%s",
                 key->choice != NULL ? "one of " : "a built-in name, FILE.xml, FILE.json");
        append_choices(key, buf, size);
        config_value_append(buf, size, ", or ./file.so:symbol");

        break;
    case CONFIG_ROOT:
        snprintf(buf, size, "center, corner or x,y (a cube's column and row)");
        break;
    case CONFIG_CORNERS:
        snprintf(buf, size, "a list of 1 to 4 different corners of ");
        append_choices(key, buf, size);
        break;
    case CONFIG_WEIGHTS:
        snprintf(buf, size, "a list of two whole numbers from %s to %s: [compute, comm]", key->min,
                 key->max);
        break;
    case CONFIG_RANKS:
        snprintf(buf, size, "a list of at most %u whole numbers from %s to %s, one per rank",
                 CCL_RANKS_MAX, key->min, key->max);
        break;
    case CONFIG_SIPS:
        snprintf(buf, size, "one of ");
        append_choices(key, buf, size);
        config_value_append(buf, size,
                            ", or a list of levels such as " LEVELS_EXAMPLE
                            ", or a graph: " GRAPH_EXAMPLE);
        break;
    case CONFIG_PLACE:
        snprintf(
            buf, size,
            "a place: sip, sip.cube or sip.cube.pe, as in 0.5.0; or SIPs: numbers and ranges of "
            "them, such as 0-15, or [1, 3, 5-7, 8-31/2]");
        break;
    case CONFIG_PARTS:
        snprintf(buf, size,
                 "a place: sip, sip.cube or sip.cube.pe, as in 0.5.0; SIPs: numbers and ranges of "
                 "them, such as 0-15, or [1, 3, 5-7, 8-31/2]; or a rule: every 7th, {random: "
                 "{share: 5%%, seed: 3}}");
        break;
    case CONFIG_KINDS:
        snprintf(buf, size, "one or a list of ");
        append_choices(key, buf, size);
        break;
    case CONFIG_LINKS:
        snprintf(buf, size,
                 "links: a kind, such as sip_link; two ends, 0-1, or 0->1 for one way; an outlet, "
                 "sip 3 E; a list of these; or a rule: every 7th, {random: {share: 5%%, seed: 3}}");
        break;
    case CONFIG_SLOWER:
        snprintf(buf, size,
                 "a whole percentage from %s to %s, such as 60 or 60%%, or a factor, such as 1.6x",
                 key->min, key->max);
        break;
    case CONFIG_FAILED:
        snprintf(buf, size, "true, false or {at_ns: T}");
        break;
    case CONFIG_RANGES:
        snprintf(buf, size,
                 "numbers from %s to %s and ranges of them, such as 0-15, or [1, 3, 5-7, 8-31/2]",
                 key->min, key->max);
        break;
    case CONFIG_CALLS:
        snprintf(buf, size,
                 "a list of calls, such as ['all_reduce:tp:1MiB', 'send:0-8:64KiB@5us']");
        break;
    case CONFIG_RANGE:
        snprintf(buf, size, "a number from %s to %s or a range of them, such as 0-15", key->min,
                 key->max);
        break;
    }
    return buf;
}

/* "PATH: expected LEGAL; found 'TEXT'HINT"; always false. */
static bool config_value_reject(const struct reader *reader, const struct config_node *node,
                                const char *hint)
{
    char legal[LEGAL_BYTES];
    char quoted[TEXT_QUOTE_BYTES];
    config_error(reader->loader, node->place, "%s: expected %s; found %s%s", reader->path,
                 config_legal(reader->key, legal, sizeof legal), config_quote_node(node, quoted),
                 hint);
    return false;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool config_value_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Why this text is not a number, although it looks like one. */
static const char *number_hint(const struct config_node *node)
{
    if (node->kind != CONFIG_SCALAR)
        return "";
    if (!node->plain)
        return " in quotes, which is a text";
    if (node->bytes > 2 && node->text[0] == '0' && (node->text[1] | 32) == 'x')
        return "; write it with decimal digits";
    size_t number = 0;
    while (config_value_is_digit(node->text[0]) && number < node->bytes &&
           (config_value_is_digit(node->text[number]) || node->text[number] == '.'))
        number++;
    size_t rest = number;
    while (rest < node->bytes && node->text[rest] == ' ')
        rest++;
    if (number > 0 && rest < node->bytes &&
        (is_letter(node->text[rest]) || node->text[rest] == '%'))
        return "; the unit is fixed: write the number alone";
    return "";
}

/* A number in the key's range, with at most `places` decimal places. */
static bool read_number(const struct reader *reader, const struct config_node *node,
                        uint32_t places, struct decimal *number)
{
    if (node->kind != CONFIG_SCALAR || !node->plain ||
        !decimal_parse(node->text, node->bytes, number))
        return config_value_reject(reader, node, number_hint(node));
    const size_t sign = node->bytes > 0 && (node->text[0] == '-' || node->text[0] == '+') ? 1 : 0;
    if (node->bytes - sign > 1 && node->text[sign] == '0' &&
        config_value_is_digit(node->text[sign + 1]))
        return config_value_reject(reader, node,
                                   "; a leading zero may mean another base: leave it out");
    if (number->places > places ||
        (places == 0 && strcspn(node->text, ".eE") != node->bytes)) /* 4.0 is not whole */
        return config_value_reject(reader, node, places == 0 ? "; write it with digits alone" : "");
    if (decimal_compare(*number, decimal_literal(reader->key->min)) < 0 ||
        decimal_compare(*number, decimal_literal(reader->key->max)) > 0)
        return config_value_reject(reader, node, "");
    return true;
}

static bool store_text(const struct reader *reader, struct config_value *value, const char *text)
{
    value->text = config_arena_text(reader->loader->arena, text, strlen(text));
    return value->text != NULL;
}

static bool read_decimal(const struct reader *reader, const struct config_node *node,
                         uint32_t places, struct config_value *value)
{
    char text[DECIMAL_TEXT_BYTES];
    return read_number(reader, node, places, &value->number) &&
           store_text(reader, value, decimal_print(value->number, text));
}

static bool is_text(const struct config_node *node, const char *text)
{
    return node->kind == CONFIG_SCALAR && strcmp(node->text, text) == 0;
}

/* Words of other languages, and of YAML 1.1. */
static const char *bool_hint(const struct config_node *node)
{
    static const char *const yes[] = {"true", "yes", "on", "y", "1"}, *const no[] = {"false", "no",
                                                                                     "off", "n",
                                                                                     "0"};
    for (size_t i = 0; node->kind == CONFIG_SCALAR && i < sizeof yes / sizeof *yes; i++) {
        if (strcasecmp(node->text, yes[i]) == 0)
            return "; did you mean 'true'?";
        if (strcasecmp(node->text, no[i]) == 0)
            return "; did you mean 'false'?";
    }
    return "";
}

static bool read_bool(const struct reader *reader, const struct config_node *node,
                      struct config_value *value)
{
    const bool yes = is_text(node, "true");
    if (!yes && !is_text(node, "false"))
        return config_value_reject(reader, node, bool_hint(node));
    if (!node->plain)
        return config_value_reject(reader, node, " in quotes, which is a text");
    value->number = (struct decimal){.mantissa = yes ? 1 : 0};
    return store_text(reader, value, yes ? "true" : "false");
}

/* Index of the choice that the node spells, or -1. */
static int find_choice(const struct config_key *key, const struct config_node *node)
{
    for (uint32_t i = 0; key->choice(i) != NULL; i++)
        if (is_text(node, key->choice(i)))
            return (int)i;
    return -1;
}

static bool reject_choice(const struct reader *reader, const struct config_node *node)
{
    struct text_nearest nearest = {0};
    char hint[TEXT_QUOTE_BYTES + 32] = "";
    if (node->kind == CONFIG_SCALAR)
        for (uint32_t i = 0; reader->key->choice(i) != NULL; i++)
            text_nearest_try(&nearest, node->text, reader->key->choice(i));
    if (nearest.best != NULL)
        snprintf(hint, sizeof hint, "; did you mean '%s'?", nearest.best);
    return config_value_reject(reader, node, hint);
}

static bool read_choice(const struct reader *reader, const struct config_node *node,
                        struct config_value *value)
{
    const int choice = find_choice(reader->key, node);
    if (choice < 0)
        return reject_choice(reader, node);
    value->number = (struct decimal){.mantissa = choice};
    return store_text(reader, value, reader->key->choice((uint32_t)choice));
}

/* A topology by its name, a list of levels, or a graph. */
static bool read_sips(const struct reader *reader, const struct config_node *node,
                      struct config_value *value)
{
    if (node->kind == CONFIG_MAPPING) {
        value->graph = graph_read(reader->loader, reader->path, node);
        value->text = value->graph != NULL ? value->graph->text : NULL;
        return value->graph != NULL;
    }
    if (node->kind != CONFIG_SEQUENCE)
        return is_text(node, hw_levels.name) ? config_value_reject(reader, node, "")
                                             : read_choice(reader, node, value);
    value->levels = levels_read(reader->loader, reader->path, node);
    if (value->levels == NULL)
        return false;
    uint32_t choice = 0;
    while (!is_levels(reader->key->choice(choice)))
        choice++;
    value->number = (struct decimal){.mantissa = choice};
    value->text = value->levels->text;
    return true;
}

static bool config_value_is_name(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!is_letter(text[i]) && !config_value_is_digit(text[i]) && text[i] != '_' &&
            text[i] != '-')
            return false;
    return bytes > 0 && bytes < CCL_NAME_BYTES && strcmp(text, "null") != 0;
}

static bool read_name(const struct reader *reader, const struct config_node *node,
                      struct config_value *value)
{
    if (node->kind != CONFIG_SCALAR || !config_value_is_name(node->text, node->bytes))
        return config_value_reject(reader, node, "");
    return store_text(reader, value, node->text);
}

/* A path that names a folder, a colon and a C identifier; plain enough to be printed as it is. */
static bool is_plugin(const char *text, size_t bytes, size_t room)
{
    const char *const colon = strrchr(text, ':');
    if (!is_letter(text[0]) && !config_value_is_digit(text[0]) && strchr("._/", text[0]) == NULL)
        return false; /* would not be a plain YAML scalar */
    if (bytes >= room || colon == NULL || memchr(text, '/', (size_t)(colon - text)) == NULL)
        return false;
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == '"' || text[i] == '\\' || text[i] == 0x7f)
            return false;
    const char *const symbol = colon + 1;
    for (size_t i = 0; symbol[i] != '\0'; i++)
        if (!is_letter(symbol[i]) && symbol[i] != '_' &&
            (i == 0 || !config_value_is_digit(symbol[i])))
            return false;
    return symbol[0] != '\0';
}

/* The name at the end of a dotted path below `kernbench`, as the design records write the modules
 * that are built in here; else the whole text. */
static size_t dotted_prefix(const struct config_node *node)
{
    static const char root[] = CONFIG_RECORDS_ROOT;
    const char *const last = strrchr(node->text, '.');
    if (strncmp(node->text, root, sizeof root - 1) != 0 || ccl_is_schedule_file(node->text))
        return 0;
    for (const char *at = node->text; *at != '\0'; at++)
        if (!is_letter(*at) && !config_value_is_digit(*at) && *at != '_' &&
            !(*at == '.' && at[1] != '.'))
            return 0;
    return (size_t)(last + 1 - node->text);
}

/* A path of a file with a schedule, likewise plain. */
static bool is_xml(const char *text, size_t bytes, size_t room)
{
    if (!is_letter(text[0]) && !config_value_is_digit(text[0]) && (unsigned char)text[0] < 0x80 &&
        strchr("._/", text[0]) == NULL)
        return false;
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)text[i] < ' ' || strchr("\"\\\x7f:#,[]{}", text[i]) != NULL)
            return false;
    return bytes < room && ccl_is_schedule_file(text);
}

/* What a shared object's name lacks. */
static const char *plugin_hint(const struct config_node *node)
{
    const char *const so = strstr(node->text, ".so");
    if (so == NULL)
        return "";
    return node->text[0] == '~'              ? "; write the path itself for ~"
           : strchr(node->text, '/') == NULL ? "; a file's path has a folder: ./file.so"
           : so[3] == '\0' || so[4] == '\0'  ? "; the name of what the file exports is missing: "
                                               "./file.so:symbol"
                                             : "";
}

static bool read_plugin(const struct reader *reader, const struct config_node *written,
                        struct config_value *value)
{
    if (written->kind != CONFIG_SCALAR)
        return config_value_reject(reader, written, "");
    struct config_node name = *written;
    const size_t prefix = dotted_prefix(written);
    name.text += prefix;
    name.bytes -= prefix;
    const struct config_node *const node = &name;
    const bool is_file = strchr(node->text, ':') != NULL;
    if (is_file && !is_plugin(node->text, node->bytes, reader->key->scale))
        return config_value_reject(reader, node, plugin_hint(node));
    if (!is_file && reader->key->choice != NULL)
        return read_choice(reader, node, value);
    if (!is_file && !config_value_is_name(node->text, node->bytes) &&
        !is_xml(node->text, node->bytes, reader->key->scale))
        return config_value_reject(reader, node, plugin_hint(node));
    const bool is_built_in = prefix == 0 || ccl_algorithm_find(node->text) != NULL;
    return store_text(reader, value, is_built_in ? node->text : written->text);
}

static bool read_root(const struct reader *reader, const struct config_node *node,
                      struct config_value *value)
{
    const int choice = find_choice(reader->key, node);
    if (choice >= 0)
        return read_choice(reader, node, value);
    if (node->kind != CONFIG_SCALAR || strchr(node->text, ',') == NULL)
        return reject_choice(reader, node);
    const size_t comma = (size_t)(strchr(node->text, ',') - node->text);
    struct decimal x, y;
    size_t skip = comma + 1;
    while (skip < node->bytes && node->text[skip] == ' ')
        skip++;
    if (!decimal_parse(node->text, comma, &x) ||
        !decimal_parse(node->text + skip, node->bytes - skip, &y) || x.places != 0 ||
        y.places != 0 || x.mantissa < 0 || y.mantissa < 0 || x.mantissa > 1023 || y.mantissa > 1023)
        return config_value_reject(reader, node, "");
    char text[32];
    value->list[0] = (uint32_t)x.mantissa;
    value->list[1] = (uint32_t)y.mantissa;
    value->list_count = 2;
    snprintf(text, sizeof text, "\"%" PRIu32 ",%" PRIu32 "\"", value->list[0], value->list[1]);
    return store_text(reader, value, text);
}

static bool read_corners(const struct reader *reader, const struct config_node *node,
                         struct config_value *value)
{
    if (node->kind != CONFIG_SEQUENCE || node->first == NULL)
        return config_value_reject(reader, node, "");
    uint32_t seen = 0;
    char text[64] = "[";
    for (const struct config_node *item = node->first; item != NULL; item = item->next) {
        const int choice = find_choice(reader->key, item);
        if (choice < 0)
            return reject_choice(reader, item);
        if ((seen >> choice & 1) != 0)
            return config_value_reject(reader, item, " twice");
        seen |= 1u << choice;
        config_value_append(text, sizeof text, value->list_count == 0 ? "" : ", ");
        config_value_append(text, sizeof text, reader->key->choice((uint32_t)choice));
        value->list[value->list_count++] = (uint32_t)choice;
    }
    config_value_append(text, sizeof text, "]");
    return store_text(reader, value, text);
}

static bool read_weights(const struct reader *reader, const struct config_node *node,
                         struct config_value *value)
{
    if (node->kind != CONFIG_SEQUENCE || node->first == NULL || node->first->next == NULL ||
        node->first->next->next != NULL)
        return config_value_reject(reader, node, "");
    for (const struct config_node *item = node->first; item != NULL; item = item->next) {
        struct decimal number;
        if (!read_number(reader, item, 0, &number))
            return false;
        value->list[value->list_count++] = (uint32_t)number.mantissa;
    }
    char text[32];
    snprintf(text, sizeof text, "[%" PRIu32 ", %" PRIu32 "]", value->list[0], value->list[1]);
    return store_text(reader, value, text);
}

static bool read_ranks(const struct reader *reader, const struct config_node *node,
                       struct config_value *value)
{
    char text[8 * CCL_RANKS_MAX] = "[";
    uint16_t *const ranks =
        config_arena_alloc(reader->loader->arena, CCL_RANKS_MAX * sizeof *ranks);
    if (node->kind != CONFIG_SEQUENCE || node->first == NULL || ranks == NULL)
        return config_value_reject(reader, node, "");
    for (const struct config_node *item = node->first; item != NULL; item = item->next) {
        struct decimal number;
        if (value->list_count == CCL_RANKS_MAX)
            return config_value_reject(reader, node, "");
        if (!read_number(reader, item, 0, &number))
            return false;
        char digits[16];
        snprintf(digits, sizeof digits, "%s%u", value->list_count == 0 ? "" : ", ",
                 (unsigned)number.mantissa);
        config_value_append(text, sizeof text, digits);
        ranks[value->list_count++] = (uint16_t)number.mantissa;
    }
    config_value_append(text, sizeof text, "]");
    value->ranks = ranks;
    return store_text(reader, value, text);
}

static bool read_ranges(const struct reader *reader, const struct config_node *node,
                        struct config_value *value)
{
    const uint32_t max = (uint32_t)decimal_literal(reader->key->max).mantissa;
    const struct config_node *wrong;
    const char *hint;
    value->ranges = config_ranges_read(reader->loader->arena, node, max,
                                       reader->key->type == CONFIG_RANGE, &wrong, &hint);
    if (value->ranges != NULL)
        value->text = value->ranges->text;
    else if (wrong != NULL)
        return config_value_reject(reader, wrong, hint);
    return value->ranges != NULL;
}

/* Words of a call: whether it is one, the bench says. */
static bool read_calls(const struct reader *reader, const struct config_node *node,
                       struct config_value *value)
{
    enum { CALLS_MAX = 64, CALL_BYTES = 100 };
    static const char legal[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:@-";
    char text[CALLS_MAX * (CALL_BYTES + 4) + 3] = "[";
    struct config_arena *const arena = reader->loader->arena;
    struct config_node *const words = config_arena_alloc(arena, CALLS_MAX * sizeof *words);
    if (node->kind != CONFIG_SEQUENCE || node->first == NULL || words == NULL)
        return config_value_reject(reader, node, "");
    for (const struct config_node *item = node->first; item != NULL; item = item->next) {
        if (item->kind != CONFIG_SCALAR || item->bytes == 0 || item->bytes > CALL_BYTES ||
            strspn(item->text, legal) != item->bytes)
            return config_value_reject(reader, item, "");
        if (value->list_count == CALLS_MAX)
            return config_value_reject(reader, item, ", the 65th: at most 64 are legal");
        struct config_node *const word = &words[value->list_count++];
        *word = (struct config_node){.kind = CONFIG_SCALAR,
                                     .place = item->place,
                                     .bytes = item->bytes,
                                     .text = config_arena_text(arena, item->text, item->bytes)};
        if (word->text == NULL)
            return false;
        config_value_append(text, sizeof text, value->list_count == 1 ? "'" : ", '");
        config_value_append(text, sizeof text, item->text);
        config_value_append(text, sizeof text, "'");
    }
    config_value_append(text, sizeof text, "]");
    value->words = words;
    return store_text(reader, value, text);
}

/* SIPs; one alone is as any place. */
static bool read_places(const struct reader *reader, const struct config_node *node,
                        struct config_value *value)
{
    const struct config_node *wrong;
    const char *hint;
    value->ranges =
        config_ranges_read(reader->loader->arena, node, PLACE_MAX, false, &wrong, &hint);
    if (value->ranges == NULL)
        return wrong != NULL && config_value_reject(reader, wrong, hint);
    value->text = value->ranges->text;
    if (value->ranges->count > 1 || value->ranges->at->last > value->ranges->at->first)
        return true;
    char text[16];
    snprintf(text, sizeof text, "\"%s\"", value->text);
    value->list[value->list_count++] = value->ranges->at->first;
    value->ranges = NULL;
    return store_text(reader, value, text);
}

/* "0", "0.5" or "0.5.0"; or SIPs. */
static bool config_value_read_place(const struct reader *reader, const struct config_node *node,
                                    struct config_value *value)
{
    if (node->kind != CONFIG_SCALAR || memchr(node->text, '-', node->bytes) != NULL)
        return read_places(reader, node, value);
    const char *at = node->text;
    char text[40] = "\"";
    while (value->list_count < 3 && config_value_is_digit(*at)) {
        uint32_t part = 0;
        for (; config_value_is_digit(*at); at++) {
            part = part * 10 + (uint32_t)(*at - '0');
            if (part > PLACE_MAX)
                return config_value_reject(reader, node, "");
        }
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%" PRIu32,
                 value->list_count == 0 ? "" : ".", part);
        value->list[value->list_count++] = part;
        if (*at != '.' || !config_value_is_digit(at[1]))
            break;
        at++;
    }
    if (value->list_count == 0 || at != node->text + node->bytes)
        return config_value_reject(reader, node, "");
    config_value_append(text, sizeof text, "\"");
    return store_text(reader, value, text);
}

/* What a reader of config_parts.h found, as an error where it is nothing legal. */
static bool is_found(const struct reader *reader, const struct config_node *node,
                     enum config_found found, const struct config_wrong *wrong)
{
    if (found == CONFIG_FOUND)
        return true;
    return found == CONFIG_NOT_ONE
               ? config_value_reject(reader, node, "")
               : wrong->node != NULL && config_value_reject(reader, wrong->node, wrong->hint);
}

static bool read_parts(const struct reader *reader, const struct config_node *node,
                       struct config_value *value)
{
    struct config_wrong wrong;
    const enum config_found found = config_rule_read(reader->loader->arena, node, value, &wrong);
    return found == CONFIG_NOT_ONE ? config_value_read_place(reader, node, value)
                                   : is_found(reader, node, found, &wrong);
}

static bool read_links(const struct reader *reader, const struct config_node *node,
                       struct config_value *value)
{
    struct config_wrong wrong;
    enum config_found found = config_rule_read(reader->loader->arena, node, value, &wrong);
    if (found == CONFIG_NOT_ONE)
        found = config_words_read(reader->loader->arena, node, value, &wrong);
    return is_found(reader, node, found, &wrong);
}

static bool read_kinds(const struct reader *reader, const struct config_node *node,
                       struct config_value *value)
{
    struct config_wrong wrong;
    if (!is_found(reader, node, config_words_read(reader->loader->arena, node, value, &wrong),
                  &wrong))
        return false;
    for (uint32_t i = 0; i < value->list_count; i++)
        if (find_choice(reader->key, &value->words[i]) < 0)
            return reject_choice(reader, &value->words[i]);
    return true;
}

static bool read_slower(const struct reader *reader, const struct config_node *node,
                        struct config_value *value)
{
    struct config_wrong wrong;
    return is_found(reader, node, config_slower_read(reader->loader->arena, node, value, &wrong),
                    &wrong) &&
           (decimal_compare(value->number, decimal_literal(reader->key->max)) <= 0 ||
            config_value_reject(reader, node, ""));
}

static bool read_failed(const struct reader *reader, const struct config_node *node,
                        struct config_value *value)
{
    struct config_wrong wrong;
    return is_found(reader, node, config_failed_read(reader->loader->arena, node, value, &wrong),
                    &wrong);
}

static bool read_any(const struct reader *reader, const struct config_node *node,
                     struct config_value *value)
{
    switch ((enum config_type)reader->key->type) {
    case CONFIG_COUNT:
        return read_decimal(reader, node, 0, value);
    case CONFIG_DECIMAL:
        return read_decimal(reader, node, PLACES_MAX, value);
    case CONFIG_RATE:
        return read_decimal(reader, node, RATE_PLACES, value);
    case CONFIG_BOOL:
        return read_bool(reader, node, value);
    case CONFIG_CHOICE:
        return read_choice(reader, node, value);
    case CONFIG_NAME:
        return read_name(reader, node, value);
    case CONFIG_PLUGIN:
        return read_plugin(reader, node, value);
    case CONFIG_ROOT:
        return read_root(reader, node, value);
    case CONFIG_CORNERS:
        return read_corners(reader, node, value);
    case CONFIG_WEIGHTS:
        return read_weights(reader, node, value);
    case CONFIG_RANKS:
        return read_ranks(reader, node, value);
    case CONFIG_PLACE:
        return config_value_read_place(reader, node, value);
    case CONFIG_PARTS:
        return read_parts(reader, node, value);
    case CONFIG_KINDS:
        return read_kinds(reader, node, value);
    case CONFIG_LINKS:
        return read_links(reader, node, value);
    case CONFIG_SLOWER:
        return read_slower(reader, node, value);
    case CONFIG_FAILED:
        return read_failed(reader, node, value);
    case CONFIG_SIPS:
        return read_sips(reader, node, value);
    case CONFIG_CALLS:
        return read_calls(reader, node, value);
    case CONFIG_RANGES:
    case CONFIG_RANGE:
        return read_ranges(reader, node, value);
    }
    return false;
}

bool config_value_read(struct config_loader *loader, const struct config_key *key, const char *path,
                       const struct config_node *node, struct config_value *value)
{
    const struct reader reader = {.loader = loader, .key = key, .path = path};
    struct config_value read = {.place = node->place};
    /* null takes back the value of an earlier layer, where a key may be absent */
    if ((key->flags & CONFIG_OPTIONAL) != 0 && node->kind == CONFIG_SCALAR && node->plain &&
        (is_text(node, "null") || is_text(node, "~"))) {
        *value = (struct config_value){0};
        return true;
    }
    if (read_any(&reader, node, &read)) {
        *value = read;
        return true;
    }
    *value = (struct config_value){.wrong = true};
    return false;
}
