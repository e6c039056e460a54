/*
 * control.h: the host's control messages (hw/HARDWARE.md, "Control plane"): submitted one after the
 * other, and injected together when the machine is drained, each by the worker that owns the IO die
 * of its SIP. Their numbers are given at submission. A SIP's link from the host is reserved message
 * by message in their order, and no other SIP's messages take part in that. So the result does not
 * depend on the workers.
 *
 * Threads: the host's, between drains. While the workers inject, each writes the links of its own
 * SIPs; all else is const.
 */
#ifndef LP_CONTROL_H
#define LP_CONTROL_H

#include "lp/model.h"

struct lp_control_message {
    uint32_t pe, seq, data_bytes;
    uint8_t kind; /* enum lp_transfer_kind */
};

/* Messages that differ in their PE alone: to PEs of one SIP, from `message.pe` on, each `stride`
 * after the one before. */
struct lp_control_run {
    struct lp_control_message message;
    uint32_t count, stride, sip;
    uint64_t first; /* the number of the first one, counted from `next_number` */
};

/* Zero-initialised by its owner; control.c's own. */
struct lp_control {
    struct lp_control_run *runs; /* [run_count] not yet injected */
    size_t run_count, run_capacity;
    uint64_t count;        /* of their messages */
    uint32_t sip_pes;      /* PEs of a SIP */
    uint64_t next_number;  /* of the host's own events: of the first of the messages */
    int64_t *pcie_free_ps; /* [sip] the host's link down to each SIP */
};

/* False: out of memory. */
bool lp_control_init(struct lp_control *control, const struct lp_model *m);
void lp_control_free(struct lp_control *control);

/* False: out of memory. */
bool lp_control_submit(struct lp_control *control, struct lp_control_message message);
/* The same to `count` consecutive PEs of one SIP, from message.pe on. */
bool lp_control_submit_run(struct lp_control *control, struct lp_control_message message,
                           uint32_t count);
/* How long after their submission all these messages have reached their PEs, on a machine without
 * jitter: an upper bound. -1: out of memory. */
int64_t lp_control_way_ps(const struct lp_control *control, const struct lp_model *m);
/* Injects all that have been submitted, at this time. Returns an enum cw_exit. */
int lp_control_inject(struct lp_control *control, const struct lp_model *m, struct cw_sim *sim,
                      int64_t submitted_ps, struct cw_error *error);

#endif
