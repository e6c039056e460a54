/*
 * io_die.h: the LPs around the cubes: a SIP's IO die, a switch between SIPs, the host.
 */
#ifndef LP_IO_DIE_H
#define LP_IO_DIE_H

#include "lp/model.h"

extern const struct lp_ops lp_host_ops, lp_io_die_ops, lp_switch_ops;

#endif
