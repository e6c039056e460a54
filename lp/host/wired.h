/*
 * wired.h: machines as they were when their queues had just been installed, kept for later machines
 * that are installed alike. Such a machine takes the states over instead of the events of its
 * IpcqInitMsgs. Except for the wall time, it cannot be distinguished from a machine that has had
 * these events (hw/HARDWARE.md, "Control plane").
 *
 * Two machines are installed alike if these agree:
 *   1. the hardware (struct hw_config), the set-up of the queues, and what kernels need of each PE;
 *   2. the directions that the plan installs on each PE, and the plan's index. An IpcqInitMsg
 * leaves nothing else in a PE's state (lp_ipcq_install()), and the way of control messages depends
 * on the hardware alone;
 *   3. of the engine: the worker of each cube, and the whole struct cw_config but for the host's
 *      functions.
 *
 * Where records of the installation's events are wanted, nothing is kept and nothing is taken: they
 * come from handlers.
 *
 * Threads: the host's, between drains. One store may serve many machines, one after the other.
 */
#ifndef LP_WIRED_H
#define LP_WIRED_H

#include "lp/host/control.h"

struct lp_wired; /* the store */

/* A store of at most this many bytes. The machine that was used least recently is dropped first.
 * NULL: out of memory. */
struct lp_wired *lp_wired_create(uint64_t bytes_max);
void lp_wired_free(struct lp_wired *wired); /* accepts NULL */

/* A machine before its installation: its plan is known, and no control message was submitted. */
struct lp_wired_machine {
    const struct lp_model *m;
    uint32_t plan; /* its index */
    const struct cw_config *engine;
    struct cw_sim *sim;
    struct lp_control *control;
};

/* Makes it the machine that was kept, as it was after its installation, and returns the number of
 * its IpcqInitMsgs. 0: none was kept that is installed alike, and nothing has changed. */
uint32_t lp_wired_restore(struct lp_wired *wired, const struct lp_wired_machine *machine);
/* Keeps the machine that lp_wired_restore() did not find, after its installation with this many
 * IpcqInitMsgs. Does nothing for any other machine, or if memory is short. */
void lp_wired_keep(struct lp_wired *wired, struct cw_sim *sim, uint32_t messages);

#endif
