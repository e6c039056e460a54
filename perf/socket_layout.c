/*
 * socket_layout.c: see socket_layout.h.
 */
#include "perf/socket_layout.h"

#include <stdio.h>
#include <string.h>

enum { CORES_MAX = 1024 };

int perf_socket_layout_read(const char *text, struct perf_socket_layout *layout,
                            struct cw_error *error)
{
    unsigned sockets = 0, cores = 0;
    int used = 0;
    const int read = sscanf(text, "%4ux%4u%n", &sockets, &cores, &used);
    if (read != 2 || strspn(text, "0123456789x") != strlen(text) || text[used] != '\0' ||
        sockets == 0 || cores == 0 || (uint64_t)sockets * cores > CORES_MAX)
        return cw_error_set(error, CW_USAGE,
                            "--layout '%.80s': expected sockets x cores, such as 1x64 or 8x32, at "
                            "most %d cores together",
                            text, CORES_MAX);
    *layout = (struct perf_socket_layout){
        .sockets = sockets,
        .cores = cores,
        .line_s = {PERF_LINE_DIE_NS * 1e-9, PERF_LINE_SOCKET_NS * 1e-9, PERF_LINE_FAR_NS * 1e-9},
        .socket_bytes_per_s = PERF_SOCKET_GBS * 1e9};
    snprintf(layout->name, sizeof layout->name, "%ux%u", sockets, cores);
    return CW_OK;
}

struct perf_socket_layout perf_socket_layout_flat(const char *name, uint32_t cores, double line_s)
{
    struct perf_socket_layout layout = {
        .sockets = 1, .cores = cores, .line_s = {line_s, line_s, line_s}};
    snprintf(layout.name, sizeof layout.name, "%s", name);
    return layout;
}
