/*
 * phys_addr.h: physical addresses (HARDWARE.md): the kind of memory, where it is, and a byte
 * offset in it, packed into 64 bits.
 *
 *   63 62 | 61 .. 48 | 47 .. 38 | 37 .. 32 | 31 .. 0
 *   kind  | sip      | cube     | pe       | byte offset
 */
#ifndef HW_PHYS_ADDR_H
#define HW_PHYS_ADDR_H

#include "hw/route.h"

enum {
    HW_PA_SIP_BITS = 14,
    HW_PA_CUBE_BITS = 10,
    HW_PA_PE_BITS = 6,
    HW_PA_OFFSET_BITS = 32,
};

struct hw_phys_addr {
    enum hw_memory kind;   /* HW_MEMORY_TCM, HW_MEMORY_HBM or HW_MEMORY_SRAM */
    struct hw_place place; /* pe is 0 for SRAM, which is the cube's */
    uint64_t offset;
};

/* False: a field is out of its range, and *packed is untouched. */
bool hw_pa_encode(const struct hw_phys_addr *address, uint64_t *packed);
/* False: the kind's bits name no memory. */
bool hw_pa_decode(uint64_t packed, struct hw_phys_addr *address);

#endif
