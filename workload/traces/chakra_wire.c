/*
 * chakra_wire.c: the wire format of protobuf (chakra_wire.h). Groups, which proto3 does not have
 * and no schema of Chakra uses, are broken messages here.
 */
#include "workload/traces/chakra_wire.h"

#include <string.h>

enum wire_result wire_varint(struct wire *wire, uint64_t *value)
{
    *value = 0;
    if (wire->at == wire->end)
        return WIRE_END;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (wire->at == wire->end)
            return WIRE_BROKEN;
        const uint8_t byte = *wire->at++;
        if (shift == 63 && byte > 1)
            return WIRE_BROKEN;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return WIRE_OK;
    }
    return WIRE_BROKEN;
}

static bool take(struct wire *wire, uint64_t count, struct wire *bytes)
{
    if (count > wire_left(wire))
        return false;
    *bytes = (struct wire){wire->at, wire->at + count};
    wire->at += count;
    return true;
}

/* A little-endian number of so many bytes. */
static enum wire_result fixed(struct wire *wire, unsigned count, uint64_t *value)
{
    struct wire bytes;
    *value = 0;
    if (!take(wire, count, &bytes))
        return WIRE_BROKEN;
    for (unsigned i = 0; i < count; i++)
        *value |= (uint64_t)bytes.at[i] << (8 * i);
    return WIRE_OK;
}

enum wire_result wire_next(struct wire *wire, struct wire_field *field)
{
    uint64_t key, length;
    *field = (struct wire_field){0};
    const enum wire_result got = wire_varint(wire, &key);
    if (got != WIRE_OK)
        return got;
    field->type = key & 7;
    field->number = (uint32_t)(key >> 3);
    if (key >> 3 == 0 || key >> 3 >= 1 << 29)
        return WIRE_BROKEN;
    switch (field->type) {
    case WIRE_VARINT:
        return wire_varint(wire, &field->value) == WIRE_OK ? WIRE_OK : WIRE_BROKEN;
    case WIRE_FIXED64:
        return fixed(wire, 8, &field->value);
    case WIRE_FIXED32:
        return fixed(wire, 4, &field->value);
    case WIRE_BYTES:
        return wire_varint(wire, &length) == WIRE_OK && take(wire, length, &field->bytes)
                   ? WIRE_OK
                   : WIRE_BROKEN;
    default:
        return WIRE_BROKEN;
    }
}

enum wire_result wire_message(struct wire *wire, struct wire *message)
{
    uint64_t length;
    const enum wire_result got = wire_varint(wire, &length);
    if (got != WIRE_OK)
        return got;
    return take(wire, length, message) ? WIRE_OK : WIRE_BROKEN;
}

enum wire_result wire_repeated(struct wire_field *field, uint64_t *value)
{
    if (field->type == WIRE_BYTES)
        return wire_varint(&field->bytes, value);
    *value = field->value;
    const bool taken = field->type != WIRE_VARINT;
    field->type = WIRE_FIXED32; /* taken */
    return taken ? WIRE_END : WIRE_OK;
}

bool wire_begins(const uint8_t *bytes, size_t count)
{
    struct wire wire = {bytes, bytes + count};
    struct wire_field field;
    uint64_t length;
    if (wire_varint(&wire, &length) != WIRE_OK)
        return false;
    const bool whole = length <= wire_left(&wire);
    struct wire message = {wire.at, whole ? wire.at + length : wire.end};
    unsigned fields = 0;
    for (;;) {
        const enum wire_result got = wire_next(&message, &field);
        if (got == WIRE_END)
            return whole || fields > 0;
        if (got == WIRE_BROKEN)
            return !whole && fields > 0;
        if (field.number > 64)
            return false;
        fields++;
    }
}
