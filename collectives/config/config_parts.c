/*
 * config_parts.c: reads the values of a fault's keys (config_parts.h).
 */
#include "collectives/config/config_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collectives/config/input/text.h"
#include "hw/arithmetic.h"

enum { WORDS_MAX = 1024, WORD_BYTES = 64, SHARE_ONE = 1000000000 };

static enum config_found wrong_at(struct config_wrong *wrong, const struct config_node *node,
                                  const char *hint)
{
    *wrong = (struct config_wrong){node, hint};
    return CONFIG_WRONG;
}

/* The value's text; NULL: out of memory. */
static enum config_found with_text(struct config_arena *arena, struct config_value *value,
                                   const char *text, struct config_wrong *wrong)
{
    value->text = config_arena_text(arena, text, strlen(text));
    return value->text != NULL ? CONFIG_FOUND : wrong_at(wrong, NULL, "");
}

static bool is_scalar(const struct config_node *node, const char *text)
{
    return node->kind == CONFIG_SCALAR && strcmp(node->text, text) == 0;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* "st", "nd", "rd", "th" after a number, or nothing. */
static const char *ordinal(uint64_t number)
{
    const uint64_t ten = number % 100 / 10, one = number % 10;
    return ten == 1 ? "th" : one == 1 ? "st" : one == 2 ? "nd" : one == 3 ? "rd" : "th";
}

static enum config_found read_every(struct config_arena *arena, const struct config_node *node,
                                    struct config_value *value, struct config_wrong *wrong)
{
    static const char word[] = "every ";
    char text[40];
    uint64_t every = 0;
    if (strncmp(node->text, word, sizeof word - 1) != 0)
        return CONFIG_NOT_ONE;
    const char *const number = node->text + sizeof word - 1;
    const size_t digits = text_whole(number, strlen(number), UINT32_MAX, &every);
    const char *const rest = number + digits;
    if (digits == 0 || every == 0 || (rest[0] != '\0' && strcmp(rest, ordinal(every)) != 0))
        return wrong_at(wrong, node, "; such a rule is 'every 7th'");
    value->rule = (struct config_rule){.kind = CONFIG_RULE_EVERY, .every = (uint32_t)every};
    snprintf(text, sizeof text, "every %" PRIu64 "%s", every, ordinal(every));
    return with_text(arena, value, text, wrong);
}

/* 0.05, or 5%. */
static bool read_share(const struct config_node *node, uint32_t *ppb)
{
    struct decimal share;
    int64_t whole;
    if (node->kind != CONFIG_SCALAR || node->bytes == 0)
        return false;
    const bool percent = node->text[node->bytes - 1] == '%';
    if (!decimal_parse(node->text, node->bytes - percent, &share) || share.mantissa < 0 ||
        !decimal_times(share, percent ? SHARE_ONE / 100 : SHARE_ONE, &whole) || whole > SHARE_ONE)
        return false;
    *ppb = (uint32_t)whole;
    return true;
}

static enum config_found read_random(struct config_arena *arena, const struct config_node *node,
                                     struct config_value *value, struct config_wrong *wrong)
{
    static const char hint[] = "; such a rule is {random: {share: 5%, seed: 3}}";
    bool has_share = false, has_seed = false;
    char text[100], share[DECIMAL_TEXT_BYTES];
    const struct config_node *const key = node->first;
    if (key == NULL || key->next != NULL || !is_scalar(key, "random"))
        return CONFIG_NOT_ONE;
    if (key->value->kind != CONFIG_MAPPING)
        return wrong_at(wrong, key->value, hint);
    value->rule = (struct config_rule){.kind = CONFIG_RULE_RANDOM};
    for (const struct config_node *at = key->value->first; at != NULL; at = at->next) {
        const struct config_node *const given = at->value;
        if (is_scalar(at, "share"))
            has_share = read_share(given, &value->rule.share_ppb);
        else if (is_scalar(at, "seed"))
            has_seed =
                given->kind == CONFIG_SCALAR && given->bytes > 0 &&
                text_whole(given->text, given->bytes, INT64_MAX, &value->rule.seed) == given->bytes;
        else
            return wrong_at(wrong, at, hint);
        if (!(is_scalar(at, "share") ? has_share : has_seed))
            return wrong_at(wrong, given, hint);
    }
    if (!has_share || !has_seed)
        return wrong_at(wrong, key->value, hint);
    struct decimal ppb = {value->rule.share_ppb, 9};
    while (ppb.places > 0 && ppb.mantissa % 10 == 0) {
        ppb.mantissa /= 10;
        ppb.places--;
    }
    snprintf(text, sizeof text, "{random: {share: %s, seed: %" PRIu64 "}}",
             decimal_print(ppb, share), value->rule.seed);
    return with_text(arena, value, text, wrong);
}

enum config_found config_rule_read(struct config_arena *arena, const struct config_node *node,
                                   struct config_value *value, struct config_wrong *wrong)
{
    if (node->kind == CONFIG_SCALAR)
        return read_every(arena, node, value, wrong);
    return node->kind == CONFIG_MAPPING ? read_random(arena, node, value, wrong) : CONFIG_NOT_ONE;
}

bool config_rule_takes(const struct config_rule *rule, uint32_t i)
{
    return rule->kind == CONFIG_RULE_EVERY
               ? i % rule->every == 0
               : hw_mix(hw_mix(rule->seed) + i) % SHARE_ONE < rule->share_ppb;
}

/* ---- words ----------------------------------------------------------------------------------- */

enum config_found config_words_read(struct config_arena *arena, const struct config_node *node,
                                    struct config_value *value, struct config_wrong *wrong)
{
    static const char legal[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+> /";
    const bool is_list = node->kind == CONFIG_SEQUENCE;
    uint32_t count = is_list ? 0 : 1;
    for (const struct config_node *item = is_list ? node->first : NULL; item != NULL;
         item = item->next)
        count++;
    if (node->kind == CONFIG_MAPPING || count == 0)
        return CONFIG_NOT_ONE;
    if (count > WORDS_MAX)
        return wrong_at(wrong, node, ", which has more than 1024 entries");
    const size_t room = count * (WORD_BYTES + 4) + 3;
    struct config_node *const words = config_arena_alloc(arena, count * sizeof *words);
    char *const text = config_arena_alloc(arena, room);
    size_t used = 0;
    if (words == NULL || text == NULL)
        return wrong_at(wrong, NULL, "");
    const struct config_node *item = is_list ? node->first : node;
    for (uint32_t i = 0; i < count; i++, item = item->next) {
        if (item->kind != CONFIG_SCALAR || item->bytes == 0 || item->bytes > WORD_BYTES ||
            strspn(item->text, legal) != item->bytes)
            return wrong_at(wrong, item, "");
        words[i] = (struct config_node){.kind = CONFIG_SCALAR,
                                        .place = item->place,
                                        .bytes = item->bytes,
                                        .text = config_arena_text(arena, item->text, item->bytes)};
        if (words[i].text == NULL)
            return wrong_at(wrong, NULL, "");
        used += (size_t)snprintf(text + used, room - used, "%s'%s'",
                                 i > 0       ? ", "
                                 : count > 1 ? "["
                                             : "",
                                 words[i].text);
    }
    if (count > 1)
        snprintf(text + used, room - used, "]");
    value->words = words;
    value->list_count = count;
    value->text = text;
    return CONFIG_FOUND;
}

/* ---- how much, and when ---------------------------------------------------------------------- */

enum config_found config_slower_read(struct config_arena *arena, const struct config_node *node,
                                     struct config_value *value, struct config_wrong *wrong)
{
    struct decimal number;
    char text[DECIMAL_TEXT_BYTES];
    int64_t millionths;
    if (node->kind != CONFIG_SCALAR || node->bytes < 1)
        return CONFIG_NOT_ONE;
    const char last = node->text[node->bytes - 1];
    const bool is_factor = last == 'x', is_percent = last == '%';
    if (!decimal_parse(node->text, node->bytes - (is_factor || is_percent), &number))
        return CONFIG_NOT_ONE;
    /* in millionths of a per cent */
    if (number.places > 4 || !decimal_times(number, is_factor ? 100000000 : 1000000, &millionths))
        return wrong_at(wrong, node, "; at most four decimal places are legal");
    if (is_factor)
        millionths -= 100000000;
    if (millionths < 0)
        return wrong_at(wrong, node, is_factor ? "; a factor is at least 1x" : "");
    if (millionths % 1000000 != 0)
        return wrong_at(wrong, node, "; a whole percentage is legal, or a factor such as 1.25x");
    value->number = (struct decimal){millionths / 1000000, 0};
    return with_text(arena, value, decimal_print(value->number, text), wrong);
}

enum config_found config_failed_read(struct config_arena *arena, const struct config_node *node,
                                     struct config_value *value, struct config_wrong *wrong)
{
    char text[80], number[DECIMAL_TEXT_BYTES];
    const struct config_node *const key = node->kind == CONFIG_MAPPING ? node->first : NULL;
    if (is_scalar(node, "true") || is_scalar(node, "false")) {
        value->number.mantissa = is_scalar(node, "true");
        return with_text(arena, value, node->text, wrong);
    }
    if (key == NULL || key->next != NULL || !is_scalar(key, "at_ns"))
        return CONFIG_NOT_ONE;
    const struct config_node *const at = key->value;
    if (at->kind != CONFIG_SCALAR || !decimal_parse(at->text, at->bytes, &value->number) ||
        value->number.mantissa < 0 || value->number.places > 3 ||
        decimal_compare(value->number, decimal_literal("1000000000")) > 0)
        return wrong_at(wrong, at, "; at_ns is a number of ns from 0 to 1000000000");
    value->list_count = 1;
    snprintf(text, sizeof text, "{at_ns: %s}", decimal_print(value->number, number));
    return with_text(arena, value, text, wrong);
}
