/*
 * mutate_json.c: see mutate_json.h. A walk draws one container of the tree, each with the same
 * chance, and changes it.
 */
#include "test/fuzz/mutate_json.h"

#include <float.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* One container of the tree, drawn; and another value of the tree, to be put somewhere. */
struct drawn {
    struct fuzz_mutation *mutation;
    json_t *container, *value;
    uint64_t containers, values;
};

/* Each of n candidates stays with the chance 1 / n. */
static void draw_nodes(struct drawn *drawn, json_t *node)
{
    const char *key;
    json_t *child;
    size_t i;
    if (fuzz_draw(drawn->mutation, ++drawn->values) == 0)
        drawn->value = node;
    if (!json_is_object(node) && !json_is_array(node))
        return;
    if ((json_object_size(node) > 0 || json_array_size(node) > 0) &&
        fuzz_draw(drawn->mutation, ++drawn->containers) == 0)
        drawn->container = node;
    json_object_foreach(node, key, child) draw_nodes(drawn, child);
    json_array_foreach(node, i, child) draw_nodes(drawn, child);
}

static json_t *odd_text(struct fuzz_mutation *mutation)
{
    static const char *const texts[] = {"",         "-",        "nan",    "\x1b[31m",
                                        "<script>", "\xc3\xa9", "a,b\"c", "0.1>0.2",
                                        "%s%n",     "../x",     "tiny",   "inf"};
    char long_text[600];
    if (fuzz_draw(mutation, 8) > 0)
        return json_string(texts[fuzz_draw(mutation, sizeof texts / sizeof *texts)]);
    const size_t bytes = fuzz_draw(mutation, sizeof long_text);
    memset(long_text, 'x', bytes);
    return json_stringn(long_text, bytes);
}

static json_t *odd_value(struct fuzz_mutation *mutation)
{
    static const json_int_t wholes[] = {0,          1,         -1,        2,
                                        64,         255,       65536,     INT32_MAX,
                                        UINT32_MAX, INT64_MIN, INT64_MAX, INT64_C(1) << 53,
                                        1000000};
    static const double reals[] = {0.0,   -0.0,    0.5,     -1.5, 1e-300,
                                   1e300, DBL_MAX, DBL_MIN, 9e15, 1e19};
    switch (fuzz_draw(mutation, 8)) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(fuzz_draw(mutation, 2));
    case 2:
        return json_object();
    case 3:
        return json_array();
    case 4:
    case 5:
        return json_integer(wholes[fuzz_draw(mutation, sizeof wholes / sizeof *wholes)]);
    case 6:
        return json_real(reals[fuzz_draw(mutation, sizeof reals / sizeof *reals)]);
    default:
        return odd_text(mutation);
    }
}

/* A number near another one; a text with one character less or more. */
static json_t *near_value(struct fuzz_mutation *mutation, const json_t *value)
{
    if (json_is_integer(value))
        return json_integer(
            (json_int_t)((uint64_t)json_integer_value(value) + fuzz_draw(mutation, 5) - 2));
    if (json_is_real(value))
        return json_real(-json_real_value(value));
    if (!json_is_string(value))
        return odd_value(mutation);
    char text[256] = "";
    strncpy(text, json_string_value(value), sizeof text - 2);
    const size_t bytes = strlen(text);
    if (bytes > 0)
        text[fuzz_draw(mutation, bytes)] = (char)(' ' + fuzz_draw(mutation, 95));
    return json_string(text);
}

static json_t *new_value(struct drawn *drawn, const json_t *old)
{
    switch (fuzz_draw(drawn->mutation, 4)) {
    case 0:
        return json_deep_copy(drawn->value);
    case 1:
    case 2:
        return near_value(drawn->mutation, old);
    default:
        return odd_value(drawn->mutation);
    }
}

static void change_list(struct drawn *drawn)
{
    json_t *const list = drawn->container;
    const size_t at = fuzz_draw(drawn->mutation, json_array_size(list));
    json_t *const value = new_value(drawn, json_array_get(list, at));
    switch (fuzz_draw(drawn->mutation, 4)) {
    case 0:
        (void)json_array_remove(list, at);
        break;
    case 1:
        (void)json_array_insert(list, at, json_array_get(list, at));
        break;
    default:
        (void)json_array_set(list, at, value);
    }
    json_decref(value);
}

static void change_object(struct drawn *drawn)
{
    json_t *const object = drawn->container;
    size_t at = fuzz_draw(drawn->mutation, json_object_size(object));
    void *member = json_object_iter(object);
    for (; at > 0; at--)
        member = json_object_iter_next(object, member);
    char key[128];
    strncpy(key, json_object_iter_key(member), sizeof key - 1);
    key[sizeof key - 1] = '\0';
    json_t *const value = new_value(drawn, json_object_iter_value(member));
    switch (fuzz_draw(drawn->mutation, 6)) {
    case 0:
        (void)json_object_del(object, key);
        break;
    case 1:
        (void)json_object_set(object, "other", value);
        break;
    default:
        (void)json_object_set(object, key, value);
    }
    json_decref(value);
}

size_t mutate_json(struct fuzz_mutation *mutation, uint8_t *data, size_t size, size_t room)
{
    json_t *const root = json_loadb((const char *)data, size, 0, NULL);
    struct drawn drawn = {.mutation = mutation};
    if (root != NULL)
        draw_nodes(&drawn, root);
    if (drawn.container == NULL) {
        json_decref(root);
        return mutation->bytes(data, size, room);
    }
    if (json_is_array(drawn.container))
        change_list(&drawn);
    else
        change_object(&drawn);
    const size_t bytes = json_dumpb(root, (char *)data, room, JSON_COMPACT);
    json_decref(root);
    return bytes <= room ? bytes : size; /* a text that is too long leaves part of itself */
}
