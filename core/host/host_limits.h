/*
 * host_limits.h: what the machine, and the control group that this process runs in, grant.
 */
#ifndef CORE_MACHINE_H
#define CORE_MACHINE_H

#include <stdint.h>

/* Bytes of memory that this process may use; UINT64_MAX if nothing says. */
uint64_t machine_memory_bytes(void);

/* Hardware threads that this process may run on; at least 1. */
uint32_t machine_cores(void);

#endif
