/*
 * phys_addr.c: packing of physical addresses (phys_addr.h).
 */
#include "hw/phys_addr.h"

enum {
    PE_SHIFT = HW_PA_OFFSET_BITS,
    CUBE_SHIFT = PE_SHIFT + HW_PA_PE_BITS,
    SIP_SHIFT = CUBE_SHIFT + HW_PA_CUBE_BITS,
    KIND_SHIFT = SIP_SHIFT + HW_PA_SIP_BITS,
};
_Static_assert(KIND_SHIFT == 62, "the fields fill 64 bits");

static uint64_t mask(int bits) { return (UINT64_C(1) << bits) - 1; }

bool hw_pa_encode(const struct hw_phys_addr *a, uint64_t *packed)
{
    if ((unsigned)a->kind >= HW_MEMORY_NONE || a->place.sip > mask(HW_PA_SIP_BITS) ||
        a->place.cube > mask(HW_PA_CUBE_BITS) || a->place.pe > mask(HW_PA_PE_BITS) ||
        a->offset > mask(HW_PA_OFFSET_BITS))
        return false;
    *packed = (uint64_t)a->kind << KIND_SHIFT | (uint64_t)a->place.sip << SIP_SHIFT |
              (uint64_t)a->place.cube << CUBE_SHIFT | (uint64_t)a->place.pe << PE_SHIFT | a->offset;
    return true;
}

bool hw_pa_decode(uint64_t packed, struct hw_phys_addr *a)
{
    if (packed >> KIND_SHIFT >= HW_MEMORY_NONE)
        return false;
    a->kind = (enum hw_memory)(packed >> KIND_SHIFT);
    a->place.sip = (uint32_t)(packed >> SIP_SHIFT & mask(HW_PA_SIP_BITS));
    a->place.cube = (uint32_t)(packed >> CUBE_SHIFT & mask(HW_PA_CUBE_BITS));
    a->place.pe = (uint32_t)(packed >> PE_SHIFT & mask(HW_PA_PE_BITS));
    a->offset = packed & mask(HW_PA_OFFSET_BITS);
    return true;
}
