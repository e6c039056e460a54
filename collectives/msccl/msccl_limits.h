/*
 * msccl_limits.h: which runtimes take an MSCCL XML file: microsoft/msccl, RCCL and
 * msccl-executor-nccl. Each has arrays of fixed sizes, names for collectives, and parsers that
 * refuse what does not fit (src/graph/topo.cc and src/include/msccl.h of the first,
 * src/misc/msccl/msccl_parser.cc and src/include/msccl/msccl_struct.h of the others). Used by
 * msccl_write.c, and for a note by msccl_build.c.
 */
#ifndef COLLECTIVES_MSCCL_LIMITS_H
#define COLLECTIVES_MSCCL_LIMITS_H

#include "collectives/schedule/schedule.h"

enum {
    MSCCL_RUNTIMES = 3,
    MSCCL_CHANNELS_MAX = 32,
    MSCCL_PEERS_MAX = 32, /* thread blocks of a gpu and a channel that send, or that receive */
    MSCCL_COUNT_MAX = 71  /* chunks of a step */
};

/* The largest number of something, and the first gpu, and its thread block, that has so many. */
struct msccl_most {
    uint32_t count, gpu, tb;
};

struct msccl_figures {
    struct msccl_most steps, tbs, sends, recvs; /* the last two: of a channel */
    struct msccl_most elements;                 /* that the parser keeps for a gpu */
    struct msccl_most awaited_tb;               /* its number */
    struct msccl_most awaited_nop;              /* count 0: none */
    struct msccl_most chunks;                   /* of a step */
    uint32_t channels;
};
void msccl_note_most(struct msccl_most *most, uint32_t count, uint32_t gpu, uint32_t tb);

/* Why a runtime does not take the file; empty: it does. */
struct msccl_fit {
    char why[MSCCL_RUNTIMES][160];
};
void msccl_fit(const struct schedule *schedule, const struct msccl_figures *figures,
               struct msccl_fit *fit);
uint32_t msccl_fit_count(const struct msccl_fit *fit); /* runtimes that take it */
/* How many take the schedule's collective, whatever the steps. */
uint32_t msccl_fit_count_most(const struct schedule *schedule);
/* "for microsoft/msccl and RCCL; not for msccl-executor-nccl, since ...". Returns buf. */
const char *msccl_fit_text(const struct msccl_fit *fit, char *buf, size_t size);

#endif
