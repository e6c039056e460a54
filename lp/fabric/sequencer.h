/*
 * sequencer.h: io_cpu's part in a program (lp/program.h; hw/HARDWARE.md, "Programs"): it begins
 * operations whose needs are met, launches their kernels, and takes their completions. Its state is
 * part of the IO die's. Handlers only.
 */
#ifndef LP_SEQUENCER_H
#define LP_SEQUENCER_H

#include "lp/model.h"

/* Of the state of an IO die. */
size_t lp_sequencer_bytes(const struct lp_needs *needs);

/* A message of the kinds LP_TRANSFER_BEGIN and LP_TRANSFER_SIGNAL, or the completion of a kernel of
 * the program, has been served by io_cpu of this SIP. */
void lp_sequencer_message(struct cw_ctx *ctx, const struct lp_io_die *die, uint32_t sip,
                          const struct lp_transfer *transfer);
/* Whether a completion belongs to the program, and not to the host. */
static inline bool lp_is_of_program(const struct lp_model *m, const struct lp_transfer *transfer)
{
    return __builtin_expect(m->program != NULL, 0) && transfer->kind == LP_TRANSFER_DONE &&
           lp_launch_of(m, transfer->seq)->op != 0;
}

/* Between drains: how many operations are not over, and when one was carried out. */
uint32_t lp_sequencer_left(const struct lp_model *m, const struct lp_io_die *die);
struct lp_program_times lp_sequencer_times(const struct lp_model *m, const struct lp_io_die *die,
                                           uint32_t op);
int64_t lp_sequencer_begun_ps(const struct lp_model *m, const struct lp_io_die *die);

/* The same, to change: the number of the sequencer's next message, and the kernels of an operation
 * that have not ended. */
uint64_t *lp_sequencer_number(const struct lp_model *m, struct lp_io_die *die);
uint32_t *lp_sequencer_kernels(const struct lp_model *m, struct lp_io_die *die, uint32_t op);

#endif
