/*
 * affinity.h: this machine's cores one by one, for measurements. Workers are placed by pin.h.
 */
#ifndef CORE_AFFINITY_H
#define CORE_AFFINITY_H

#include <stddef.h>
#include <stdint.h>

/* The first cores that the process may use, at most `room`; returns how many there are. */
int affinity_cores(int *cores, int room);
/* Binds the calling thread to a core. A wish. */
void affinity_bind(int core);
/* The processor's name as the system knows it, or "unknown". */
void affinity_cpu_name(char *name, size_t bytes);

#endif
