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
 * A kernel that has waited for its PE began when the kernel before it ended. The path of its batch
 * does not lead into that kernel: its leg is the wait, and begins when its own launch was there.
 *
 * A leg's end may have had a second cause, which was there earlier: a rival. It decides if the path
 * gets faster and the rival does not:
 *   - a transfer that has waited for a link had come there by itself;
 *   - a load or a copy has two parts, of which the other one was complete;
 *   - the last kernel of the other SIPs had ended, which counts for the end of the path.
 * A rival is a leg, too. Legs before it lead back to a leg that is known, or to a launch message.
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
    PATH_KERNEL, /* a kernel waits for its PE, which runs another one */
    PATH_TIME,   /* an operation of a program that takes a time */
    PATH_REST,   /* no name: jitter, and waits in a machine with jitter */
    PATH_CLASSES
};

struct path_part {
    uint8_t class, which;
    uint16_t link; /* its number in the LP's state; UINT16_MAX: none */
    uint32_t lp;   /* where */
    uint32_t pe;   /* of a kernel's own time: global index; else UINT32_MAX */
    bool credit;   /* of the way of a credit */
    uint16_t slow; /* 1 + the number of the slow part that it is (hw_slow_at()); 0: none */
    int64_t ps;
};

#define PATH_NO_LEG  UINT32_MAX
#define PATH_UNKNOWN (UINT32_MAX - 1)

struct path_leg {
    struct lp_cause_entry entry;
    uint32_t lp;         /* whose log it is in */
    uint16_t first, end; /* steps [first, end) */
    bool after_link;     /* it begins when the transfer before it has left the link of `first` */
    bool to_link;        /* it ends when the tail has left the link of the last step */
    int64_t from_ps, to_ps;
    uint32_t before;  /* the leg at whose end it begins; PATH_NO_LEG: it begins at the start */
    uint32_t rival;   /* PATH_NO_LEG: it has none; PATH_UNKNOWN: nobody has looked for it */
    int64_t rival_ps; /* when it would have ended by its rival alone */
    int64_t steps_ps; /* that its steps give on the model's machine; filled by path_visit() */
};

struct path {
    struct cause_log *log;
    struct ways ways;       /* steps of legs */
    struct path_leg *leg;   /* the last leg first */
    size_t count, capacity; /* legs of the path; room for so many legs */
    int64_t from_ps, to_ps;
    int64_t host_ps;  /* before all legs: launch messages wait for the host's link to the SIP */
    uint32_t host_lp; /* the IO die of that SIP */
    bool whole;       /* it reaches from_ps; else a cause was not found, or there was no memory */
    size_t legs, legs_max; /* those after the first `count` are rivals, and what leads to them */
    uint32_t *leg_at;      /* [leg_places] a hash table: 1 + the leg that ends at a moment */
    size_t leg_places;     /* 0: nobody has asked for a rival */
    uint32_t start;      /* the leg that ends with the first kernel's start, by path_find_ends() */
    int64_t injected_ps; /* when that kernel's launch message came from the host */
};

/* A kernel's launch or end. */
struct path_end {
    uint32_t pe;
    int64_t ps; /* INT64_MIN: there is no such kernel */
};
/* Walks from the end of this kernel to `from_ps`. The path is valid as long as the log stays as it
 * is. */
void path_walk(const struct lp_model *m, struct cause_log *log, struct path_end last,
               int64_t from_ps, struct path *path);
/* Continues the path to launch messages, before the first kernel's launch, which on a faster
 * machine is earlier, too; and leads to the end of the kernel that ended last in the other SIPs.
 * False: out of memory. */
bool path_find_ends(const struct lp_model *m, struct path *path, struct path_end first_start,
                    struct path_end other_end);
/* Looks for the rival of a leg; after path_find_ends(). Legs move. */
void path_find_rival(const struct lp_model *m, struct path *path, uint32_t leg);
/* Walks from the last event of the SIPs' programs, at to_ps, to their begin. False: as above. */
bool path_walk_program(const struct lp_model *m, struct cause_log *log, int64_t from_ps,
                       int64_t to_ps, struct path *path);
void path_free(struct path *path);

#endif
