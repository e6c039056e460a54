/*
 * compute_model.c: the time of a roofline by the machine's compute model (compute_model.h). Whole
 * numbers alone: every machine gives the same times.
 */
#include "workload/run/compute_model.h"

typedef unsigned __int128 wide;

/* Far above any step. */
#define MOST_PS ((wide)1 << 62)

static wide most(wide ps) { return ps < MOST_PS ? ps : MOST_PS; }

/* Units of `unit` flops or bytes each, rounded up to whole ps; a rate that is not given takes no
 * time. */
static wide rate_ps(struct hw_rate rate, uint64_t amount, uint32_t unit)
{
    if (rate.den == 0)
        return 0;
    const wide den = (wide)rate.den * unit;
    return most(((wide)amount * rate.num + den - 1) / den);
}

int64_t workload_compute_ps(const struct hw_config *hw, const struct workload_op *op)
{
    const struct hw_compute_model *const model = &hw->compute;
    const uint32_t kernels = op->kernels > 0 ? op->kernels : 1;
    const wide launches = (wide)kernels * (wide)model->kernel_ps;
    const wide work = most(rate_ps(op->matrix ? model->matrix : model->vector, op->flops, 1000) +
                           rate_ps(model->memory, op->bytes, 1));
    const wide longer = work > launches ? work : launches;
    return longer < INT64_MAX ? (int64_t)longer : INT64_MAX;
}
