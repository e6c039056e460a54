/*
 * host_limits.h: the memory and the cores that this process may use, by the machine, by the
 * control group that it runs in and by its own limits (ulimit); the most memory that it has had.
 * Pure queries; any thread.
 */
#ifndef CORE_HOST_LIMITS_H
#define CORE_HOST_LIMITS_H

#include <stdint.h>

/* Bytes of memory that this process may use; UINT64_MAX if nothing says. */
uint64_t host_limits_memory_bytes(void);

/* Hardware threads that this process may keep busy: those that it may run on, at most as many as
 * its control group's quota of time pays for, rounded up. At least 1. */
uint32_t host_limits_cores(void);
/* The same with another folder in place of "/", which has the control groups' files: for tests. */
uint32_t host_limits_cores_below(const char *root);

/*
 * The most resident memory that this program has had, in bytes; 0 if nothing says. ru_maxrss of
 * getrusage() does not report it: that begins with the memory of the process that started the
 * program.
 */
uint64_t host_limits_peak_resident_bytes(void);
/* Gives memory that is free back to the system. From here on the peak is that of what follows,
 * where the system can forget the earlier one. */
void host_limits_forget_peak(void);

#endif
