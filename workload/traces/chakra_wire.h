/*
 * chakra_wire.h: reads protobuf's wire format: fields of four types in a message, and messages
 * that each have their length in front. Nothing is copied. Pure.
 */
#ifndef WORKLOAD_CHAKRA_WIRE_H
#define WORKLOAD_CHAKRA_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* Bytes still to be read. */
struct wire {
    const uint8_t *at, *end;
};

struct wire_field {
    uint32_t number; /* at least 1 */
    uint8_t type;    /* enum wire_type */
    uint64_t value;  /* of all but WIRE_BYTES */
    struct wire bytes;
};

enum wire_result { WIRE_OK, WIRE_END, WIRE_BROKEN };

enum wire_result wire_varint(struct wire *wire, uint64_t *value);
/* The next field; WIRE_END: there is none. */
enum wire_result wire_next(struct wire *wire, struct wire_field *field);
/* The next message, without its length. WIRE_BROKEN: its length is none, or reaches beyond the
 * end. */
enum wire_result wire_message(struct wire *wire, struct wire *message);

/* The next of a repeated integer's values, which a field has one of, or many without tags. */
enum wire_result wire_repeated(struct wire_field *field, uint64_t *value);

/* Whether bytes begin with a message whose fields can be read. A beginning that is cut off counts
 * as far as it goes. */
bool wire_begins(const uint8_t *bytes, size_t count);

static inline size_t wire_left(const struct wire *wire) { return (size_t)(wire->end - wire->at); }

#endif
