/*
 * fold_rule.c: what turns of a fold keep (fold_rule.h).
 *
 * The turns of a digit of size n, stride s and step t add multiples of t to it, modulo n. They
 * leave its value modulo t as it is. So they are the turns, by one, of a digit of size n / t and
 * stride s t.
 */
#include "collectives/fold/fold_rule.h"

#include <stdarg.h>
#include <stdio.h>

#include "collectives/plugin.h"

struct turn {
    uint64_t stride;
    uint32_t size;
};

/* False: the fold does not turn the digit. */
static bool turn_of(const struct hw_fold *fold, uint32_t d, struct turn *turn)
{
    const struct hw_fold_digit *const digit = &fold->digit[d];
    *turn = (struct turn){(uint64_t)digit->stride * digit->step, digit->size / digit->step};
    return turn->size > 1;
}

/* The turn acts on all that is above the coordinate, or on what is below it, or is a shift of the
 * whole coordinate by multiples of turn.stride / stride: its digit is then the coordinate's
 * highest, so that nothing is carried. */
static bool keeps_ring(struct turn turn, uint64_t stride, uint32_t size)
{
    const uint64_t end = stride * size, turn_end = turn.stride * turn.size;
    return turn.stride % end == 0 || stride % turn_end == 0 ||
           (turn.stride % stride == 0 && turn_end == end);
}

bool fold_keeps_ring(const struct hw_fold *fold, uint32_t stride, uint32_t size)
{
    struct turn turn;
    for (uint32_t d = 0; size > 1 && d < fold->count; d++)
        if (turn_of(fold, d, &turn) && !keeps_ring(turn, stride, size))
            return false;
    return true;
}

bool fold_keeps_bits(const struct hw_fold *fold)
{
    struct turn turn;
    for (uint32_t d = 0; d < fold->count; d++)
        if (turn_of(fold, d, &turn) && (turn.size != 2 || (turn.stride & (turn.stride - 1)) != 0))
            return false;
    return true;
}

bool fold_turns_below(const struct hw_fold *fold, uint32_t stride)
{
    struct turn turn;
    for (uint32_t d = 0; d < fold->count; d++)
        if (turn_of(fold, d, &turn) && stride % (turn.stride * turn.size) != 0)
            return false;
    return true;
}

/* Operands in slots are loaded first, unless slots are in TCM (lp/kernel/tl_steps.c): then all take
 * the same time. */
bool fold_allows_order(const struct ccl_call *call, char why[CCL_FOLD_WHY_BYTES])
{
    return call->ccl->queues.slots == HW_MEMORY_TCM ||
           fold_refuse(why, "tensors are taken in the order of ranks, the own one from TCM and the "
                            "others from slots elsewhere");
}

bool fold_refuse(char why[CCL_FOLD_WHY_BYTES], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(why, CCL_FOLD_WHY_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

bool fold_asks_built_in(const struct ccl_config *ccl, char why[CCL_FOLD_WHY_BYTES])
{
    if (plugin_is_path(ccl->mapper))
        return fold_refuse(why, "the mapper %s is of a shared object", ccl->mapper);
    if (plugin_is_path(ccl->validator))
        return fold_refuse(why, "the validator %s is of a shared object", ccl->validator);
    return true;
}
