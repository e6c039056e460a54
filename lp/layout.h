/*
 * layout.h: sets up a struct lp_model from the machine's and the queues' parameters.
 */
#ifndef LP_LAYOUT_H
#define LP_LAYOUT_H

#include "lp/model.h"

/* Without install plans. `fold` outlives the model; NULL: all SIPs have LPs. The caller frees with
 * lp_layout_free(). */
void lp_layout_init(struct lp_model *m, const struct hw_config *hw, const struct lp_config *config,
                    struct lp_needs needs, const struct hw_fold *fold);
void lp_layout_free(struct lp_model *m);

#endif
