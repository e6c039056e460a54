/*
 * path.h: the critical path of a collective: from the end of the kernel that ended last back
 * through causes to the start of the first kernel.
 *
 * A path is a list of legs. A leg is the delay of one event that was sent, or a part of it:
 *   - an event comes when its sender's handler has run, plus its delay;
 *   - where a transfer has waited for a link, it came late because of the transfer before it on
 *     that link. Then the leg begins at that moment, and the path continues with the other
 * transfer. So each leg begins when the next one ends, and the legs' times sum to
 * the time from the first kernel's start to the last kernel's end. A leg that began before the
 * first start is cut there.
 *
 * path_parts.h divides the legs into parts.
 */
#ifndef BENCH_PATH_H
#define BENCH_PATH_H

#include "bench/explain/cause_log.h"
#include "bench/explain/ways.h"

/* Kinds of parts. `which` is the kind of link or of node. */
enum path_class {
    PATH_SERIAL, /* a link passes bytes of this transfer, */
    PATH_QUEUE,  /* and of one that has waited for another */
    PATH_FLIGHT, /* flight time of a link */
    PATH_NODE,   /* overhead or work of a node or a block */
    PATH_ENGINE, /* the engine of PE_DMA passes bytes, at the rate of pe_noc */
    PATH_REDUCE, /* the reduce unit */
    PATH_CREDIT, /* the way of a credit whose links are not known */
    PATH_SLOT,   /* a tile's way into its slot, or out of it */
    PATH_POLL,
    PATH_LAUNCH, /* launch_static_ns, launch_together */
    PATH_REST,   /* no name: jitter, and waits in a machine with jitter */
    PATH_CLASSES
};

struct path_part {
    uint8_t class, which;
    uint16_t link; /* its number in the LP's state; UINT16_MAX: none */
    uint32_t lp;   /* where */
    uint32_t pe;   /* of a kernel's own time: global index; else UINT32_MAX */
    bool credit;   /* of the way of a credit */
    bool slow;     /* at a place where `jitter` makes this kind slower by so many per cent */
    int64_t ps;
};

struct path_leg {
    struct lp_cause_entry entry;
    uint32_t lp;         /* whose log it is in */
    uint16_t first, end; /* steps [first, end) */
    bool after_link;     /* it begins when the transfer before it has left the link of `first` */
    bool to_link;        /* it ends when the tail has left the link of the last step */
    int64_t from_ps, to_ps;
    /* Filled by path_visit(): the time that its steps give on the model's machine; kinds of nodes,
     * and of links whose flight time, its parts have (bits). */
    int64_t steps_ps;
    uint32_t nodes, flights;
};

struct path {
    struct cause_log *log;
    struct ways ways;     /* steps of legs */
    struct path_leg *leg; /* the last leg first */
    size_t count, capacity;
    int64_t from_ps, to_ps;
    int64_t host_ps;  /* before all legs: launch messages wait for the host's link to the SIP */
    uint32_t host_lp; /* the IO die of that SIP */
    bool whole;       /* it reaches from_ps; else a cause was not found, or there was no memory */
};

/* Walks from the end of the kernel on this PE at `to_ps` to `from_ps`. The path is valid as long as
 * the log stays as it is. */
void path_walk(const struct lp_model *m, struct cause_log *log, uint32_t pe, int64_t from_ps,
               int64_t to_ps, struct path *path);
void path_free(struct path *path);

#endif
