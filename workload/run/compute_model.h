/*
 * compute_model.h: how long a roofline takes on a machine with a compute model (workload/STEPS.md,
 * "Compute model"): compute_model.* in components.yaml. On other machines its PEs carry it out.
 */
#ifndef WORKLOAD_COMPUTE_MODEL_H
#define WORKLOAD_COMPUTE_MODEL_H

#include "hw/hw_config.h"
#include "workload/graph/graph.h"

static inline bool workload_has_compute_model(const struct hw_config *hw)
{
    return hw->compute.memory.den > 0;
}

/* Of a WORKLOAD_ROOFLINE, with the launches of its kernels. */
int64_t workload_compute_ps(const struct hw_config *hw, const struct workload_op *op);

#endif
