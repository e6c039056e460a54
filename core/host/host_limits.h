/*
 * host_limits.h: the memory and the cores that this process may use, by the machine and by the
 * control group that it runs in. Pure queries; any thread.
 */
#ifndef CORE_HOST_LIMITS_H
#define CORE_HOST_LIMITS_H

#include <stdint.h>

/* Bytes of memory that this process may use; UINT64_MAX if nothing says. */
uint64_t host_limits_memory_bytes(void);

/* Hardware threads that this process may run on; at least 1. */
uint32_t host_limits_cores(void);

#endif
