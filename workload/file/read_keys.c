/*
 * read_keys.c: looks up keys, and reports unknown ones with the nearest that is known
 * (read_keys.h).
 */
#include "workload/file/read_keys.h"

#include <stdio.h>
#include <string.h>

enum { LEGAL_BYTES = 400 };

const struct config_node *key_value(const struct config_node *mapping, const char *key)
{
    for (const struct config_node *at = mapping->first; at != NULL; at = at->next)
        if (strcmp(at->text, key) == 0)
            return at->value;
    return NULL;
}

static void append(char legal[LEGAL_BYTES], const char *text)
{
    const size_t used = strlen(legal);
    snprintf(legal + used, LEGAL_BYTES - used, "%s%s", used > 0 ? ", " : "", text);
}

void keys_check(struct config_loader *loader, const struct config_node *mapping, const char *of,
                const char *const *legal, size_t count)
{
    for (const struct config_node *key = mapping->first; key != NULL; key = key->next) {
        struct text_nearest nearest = {0};
        char quoted[TEXT_QUOTE_BYTES], list[LEGAL_BYTES] = "";
        size_t i = 0;
        while (i < count && strcmp(legal[i], key->text) != 0)
            i++;
        if (i < count)
            continue;
        for (i = 0; i < count; i++) {
            text_nearest_try(&nearest, key->text, legal[i]);
            append(list, legal[i]);
        }
        config_error(loader, key->place, "unknown key %s %s; %s%s%slegal are %s",
                     text_quote_key(key->text, key->bytes, quoted), of,
                     nearest.best != NULL ? "did you mean '" : "",
                     nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'? " : "",
                     list);
    }
}

bool is_kind(struct config_loader *loader, const struct config_node *node,
             enum config_node_kind kind, const char *expected)
{
    char quoted[TEXT_QUOTE_BYTES];
    if (node->kind == kind)
        return true;
    config_error(loader, node->place, "expected %s; found %s", expected,
                 config_quote_node(node, quoted));
    return false;
}

const char *text_value(struct config_loader *loader, const struct config_node *node,
                       const char *expected)
{
    if (!is_kind(loader, node, CONFIG_SCALAR, expected))
        return NULL;
    char quoted[TEXT_QUOTE_BYTES];
    bool plain = node->bytes > 0 && node->bytes <= 64 &&
                 text_utf8_prefix(node->text, node->bytes) == node->bytes;
    for (size_t i = 0; i < node->bytes && plain; i++)
        plain = (unsigned char)node->text[i] >= ' ' && node->text[i] != 127;
    if (plain)
        return node->text;
    config_error(loader, node->place, "expected %s, of 1 to 64 printable characters; found %s",
                 expected, config_quote_node(node, quoted));
    return NULL;
}

bool truth_value(struct config_loader *loader, const struct config_node *node, bool *value)
{
    char quoted[TEXT_QUOTE_BYTES];
    *value = node->kind == CONFIG_SCALAR && strcmp(node->text, "true") == 0;
    if (*value || (node->kind == CONFIG_SCALAR && strcmp(node->text, "false") == 0))
        return true;
    config_error(loader, node->place, "expected true or false; found %s",
                 config_quote_node(node, quoted));
    return false;
}

int word_value(struct config_loader *loader, const struct config_node *node, const char *of,
               const char *(*word)(uint32_t i))
{
    struct text_nearest nearest = {0};
    char quoted[TEXT_QUOTE_BYTES], list[LEGAL_BYTES] = "";
    for (uint32_t i = 0; word(i) != NULL; i++) {
        if (node->kind == CONFIG_SCALAR && strcmp(node->text, word(i)) == 0)
            return (int)i;
        if (node->kind == CONFIG_SCALAR)
            text_nearest_try(&nearest, node->text, word(i));
        append(list, word(i));
    }
    config_error(loader, node->place, "%s is no %s; %s%s%slegal are %s",
                 config_quote_node(node, quoted), of, nearest.best != NULL ? "did you mean '" : "",
                 nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'? " : "", list);
    return -1;
}
