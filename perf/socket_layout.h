/*
 * socket_layout.h: machines by name: SOCKETSxCORES, such as 1x64 or 8x32, and the assumptions about
 * them: how long a cache line takes between two cores of a socket and of two sockets, and how much
 * memory traffic a socket bears. Workers fill one socket after the other.
 */
#ifndef PERF_SOCKET_LAYOUT_H
#define PERF_SOCKET_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cw.h"

enum { PERF_LAYOUTS_MAX = 16, PERF_LAYOUT_NAME_BYTES = 32 };

/* Stated constants: nothing that this machine could measure. Two cores of one die exchange a line
 * in some 50 ns one way, two dies of one socket in some 110 ns, two sockets in some 250 ns. A
 * socket's twelve channels of DDR5 bear some 400 GB/s. */
#define PERF_LINE_DIE_NS    50.0
#define PERF_LINE_SOCKET_NS 110.0
#define PERF_LINE_FAR_NS    250.0
#define PERF_SOCKET_GBS     400.0
enum { PERF_DIE_CORES = 8 /* which share a cache */ };

struct perf_socket_layout {
    char name[PERF_LAYOUT_NAME_BYTES];
    uint32_t sockets, cores;   /* of each socket */
    double line_s[3];          /* one way: within a die, within a socket, between sockets */
    double socket_bytes_per_s; /* of memory traffic; 0: no limit */
};

/* Reads "2x32". CW_USAGE for anything else, and for more than 1,024 cores. */
int perf_socket_layout_read(const char *text, struct perf_socket_layout *layout,
                            struct cw_error *error);
/* A machine of so many cores that all exchange a line in that time. */
struct perf_socket_layout perf_socket_layout_flat(const char *name, uint32_t cores, double line_s);

/* The time of a line from one core to another, one way. */
static inline double perf_socket_line_s(const struct perf_socket_layout *layout, uint32_t a,
                                        uint32_t b)
{
    if (a / layout->cores != b / layout->cores)
        return layout->line_s[2];
    const uint32_t in_a = a % layout->cores, in_b = b % layout->cores;
    return layout->line_s[in_a / PERF_DIE_CORES != in_b / PERF_DIE_CORES];
}

#endif
