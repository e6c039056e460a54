/*
 * chakra_bytes.h: writes Chakra execution traces byte by byte, as each version of the format has
 * them: messages after their lengths, fields of protobuf's wire format.
 */
#ifndef TEST_CHAKRA_BYTES_H
#define TEST_CHAKRA_BYTES_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct bytes {
    size_t count;
    uint8_t at[1 << 16];
};

static inline void put(struct bytes *to, const void *from, size_t count)
{
    if (to->count + count > sizeof to->at)
        count = sizeof to->at - to->count;
    memcpy(to->at + to->count, from, count);
    to->count += count;
}

static inline void put_varint(struct bytes *to, uint64_t value)
{
    do {
        const uint8_t byte = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        put(to, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static inline void put_number(struct bytes *to, uint32_t field, uint64_t value)
{
    put_varint(to, field << 3);
    put_varint(to, value);
}

static inline void put_bytes(struct bytes *to, uint32_t field, const void *from, size_t count)
{
    put_varint(to, field << 3 | 2);
    put_varint(to, count);
    put(to, from, count);
}

static inline void put_text(struct bytes *to, uint32_t field, const char *text)
{
    put_bytes(to, field, text, strlen(text));
}

/* A message in a file. */
static inline void put_message(struct bytes *to, const struct bytes *message)
{
    put_varint(to, message->count);
    put(to, message->at, message->count);
}

/* An attribute of 0.0.4: its value in the field of its type. */
enum {
    INT32_VAL = 7,
    INT64_VAL = 9,
    UINT32_VAL = 11,
    UINT64_VAL = 13,
    SINT64_VAL = 17,
    BOOL_VAL = 27,
    BOOL_LIST = 28,
    STRING_VAL = 29
};

static inline void put_attr(struct bytes *node, uint32_t in_field, const char *name,
                            uint32_t value_field, uint64_t value)
{
    static struct bytes attribute;
    attribute.count = 0;
    put_text(&attribute, 1, name);
    put_number(&attribute, value_field, value);
    put_bytes(node, in_field, attribute.at, attribute.count);
}

static inline void put_attr_text(struct bytes *node, uint32_t in_field, const char *name,
                                 const char *value)
{
    static struct bytes attribute;
    attribute.count = 0;
    put_text(&attribute, 1, name);
    put_text(&attribute, STRING_VAL, value);
    put_bytes(node, in_field, attribute.at, attribute.count);
}

/* An attribute until 0.0.3: its type in field 2, an integer's value in field 6 (7 with UINT). */
static inline void put_old_attr(struct bytes *node, const char *name, uint32_t type,
                                uint32_t value_field, uint64_t value)
{
    static struct bytes attribute;
    attribute.count = 0;
    put_text(&attribute, 1, name);
    put_number(&attribute, 2, type);
    put_number(&attribute, value_field, value);
    put_bytes(node, 11, attribute.at, attribute.count);
}

/* A list of ids in one field, as proto3 packs it; ends with UINT64_MAX. */
static inline void put_packed(struct bytes *node, uint32_t field, const uint64_t *ids)
{
    static struct bytes list;
    list.count = 0;
    for (; *ids != UINT64_MAX; ids++)
        put_varint(&list, *ids);
    put_bytes(node, field, list.at, list.count);
}
#define IDS(...) ((const uint64_t[]){__VA_ARGS__, UINT64_MAX})

/* Begins a node with its id, name and type. */
static inline void begin_node(struct bytes *node, uint64_t id, const char *name, uint64_t type)
{
    node->count = 0;
    if (id > 0)
        put_number(node, 1, id);
    put_text(node, 2, name);
    put_number(node, 3, type);
}

/* The metadata of 0.0.4 that states a version. */
static inline void put_metadata(struct bytes *file, const char *version)
{
    static struct bytes message;
    message.count = 0;
    if (version != NULL)
        put_text(&message, 1, version);
    put_message(file, &message);
}

#endif
