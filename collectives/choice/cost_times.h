/*
 * cost_times.h: how long single operations of schedule_kernel take on an idle machine, from the
 * configuration alone (hw/HARDWARE.md, sections 4, 5 and 8), and the links between SIPs that a
 * message crosses. For estimates (cost.h). Pure.
 */
#ifndef COLLECTIVES_COST_TIMES_H
#define COLLECTIVES_COST_TIMES_H

#include "collectives/algorithm.h"

/* Of one call. */
struct cost_times {
    const struct hw_config *hw;
    uint32_t itemsize;
    int64_t wait_ps;   /* a call that waits for a load or a store */
    int64_t issue_ps;  /* a call that begins one */
    int64_t queue_ps;  /* a send or a receive */
    int64_t notice_ps; /* a notification, until the PE that waits for it continues */
};
struct cost_times cost_times_of(const struct ccl_call *call);

/* From PE_DMA to the home's HBM and back to TCM, without bytes; of a store until it is
 * acknowledged. `own`: the PE that loads or stores. */
int64_t cost_load_latency_ps(const struct cost_times *t, struct hw_place own, struct hw_place home);
int64_t cost_store_latency_ps(const struct cost_times *t, struct hw_place own,
                              struct hw_place home);
int64_t cost_copy_latency_ps(const struct cost_times *t); /* within the own HBM */
int64_t cost_add_time_ps(const struct cost_times *t, uint64_t bytes);
/* Of PE_DMA's engine, and of HBM's link. */
int64_t cost_engine_ps(const struct cost_times *t, uint64_t bytes);
int64_t cost_memory_ps(const struct cost_times *t, uint64_t bytes);

/* Slot access (HARDWARE.md): of the write of a tile into its slot, by PE_DMA or by the kernel that
 * sends it, and of its read out of it. */
int64_t cost_slot_write_ps(const struct ccl_call *call, struct hw_place own, uint64_t bytes);
int64_t cost_slot_send_ps(const struct ccl_call *call, struct hw_place own, uint64_t bytes);
int64_t cost_slot_read_ps(const struct ccl_call *call, struct hw_place own, uint64_t bytes);

enum { COST_CROSSINGS_MAX = 64 };
/* The way of messages from one PE to another one's TCM. */
struct cost_route {
    int64_t latency_ps;    /* of an empty message */
    int64_t credit_ps;     /* back again */
    uint32_t hops;         /* cubes, IO dies and switches that it enters: an event each */
    struct hw_rate inside; /* of the slowest link that is not between SIPs */
    uint32_t count; /* of links between SIPs, and between these and cubes; those beyond the first so
                       many are left out */
    uint32_t crossing[COST_CROSSINGS_MAX]; /* below cost_crossings() */
    enum hw_port port[COST_CROSSINGS_MAX]; /* of the cube; HW_PORT_NONE: between SIPs */
    struct hw_rate rate[COST_CROSSINGS_MAX];
};
/* Of a queue: whether it takes the other way (schedule.h, other_way), and its directions, which are
 * in the keys of its routes (hw_route_key()): tiles have the receiver's, credits the sender's. */
struct cost_ends {
    bool other_way;
    enum hw_dir receiver, sender;
};
void cost_route_of(const struct ccl_call *call, struct hw_place from, struct hw_place to,
                   struct cost_ends ends, struct cost_route *route);
/* From a PE through the switches of a tree (hw/topology/trees.h), and back. */
void cost_route_of_tree(const struct ccl_call *call, struct hw_place own, uint32_t tree,
                        struct cost_route *route);
/* The same to the other PE's HBM. */
void cost_route_to_hbm(const struct ccl_call *call, struct hw_place from, struct hw_place to,
                       struct cost_route *route);
/* Links have numbers. Links of the same place in different SIPs, or switches, are of one class. */
uint32_t cost_crossings(const struct hw_config *hw);
uint32_t cost_crossing_classes(const struct hw_config *hw);
uint32_t cost_crossing_class(const struct hw_config *hw, uint32_t crossing);

/* Cubes, IO dies and switches that a message enters on its way to another PE. */
uint32_t cost_hops(const struct hw_config *hw, struct hw_place from, struct hw_place to);

/*
 * Events that the simulator takes for single operations of a kernel, with the one that begins each
 * (QUEUES.md, "PE_DMA"). Where chunks travel as messages of their own, each has its events.
 */
double cost_load_events(const struct ccl_call *call, uint64_t bytes);
double cost_store_events(const struct ccl_call *call, uint64_t bytes);
/* Of a tile with its credit, but for its receive; of a put. */
double cost_send_events(const struct ccl_call *call, uint32_t hops, uint64_t bytes);
/* Of what is launched on a PE, and of its queues' installation: there and back from the host, in
 * the mean over the PEs of a SIP, or of cubes in the column at the host. */
double cost_launch_events(const struct hw_config *hw, bool near);

/* The links between SIPs. */
struct cost_links {
    const struct hw_config *hw;
    int64_t *free_ps; /* of each crossing, or of each class */
    bool by_class;
    const uint32_t *busy; /* [crossing of the route] this many messages of this kind cross the link
                             at once; 0: counted at another crossing. NULL: 1 */
    uint32_t share;       /* ... times this */
    uint32_t share_at[HW_PORTS]; /* at a cube's port: times this */
    int64_t spread_ps; /* the first of these messages sets out so much earlier than the last */
    bool skip_up,
        skip_down; /* of a tree of switches: the message has no bytes on its way up; down */
};
/* When a message of this many bytes arrives whose first byte leaves at `begins`, the last of those
 * that share its links. It takes its turn
 * at all links when it sets out, however long it waits for one of them: others use the time that a
 * link would be kept for it. */
int64_t cost_travel_ps(const struct cost_route *route, const struct cost_links *links,
                       int64_t begins, uint64_t bytes);

/* A message on its way that takes each link when it comes to it. Times leave the latency out. */
struct cost_message {
    uint64_t bytes;
    int64_t slot_ps;          /* the write into its slot, when it has arrived */
    int64_t head_ps, tail_ps; /* the last of those that share its links, at the link `at` */
    int64_t spread_ps;        /* from the first of them to the last */
    uint32_t at;
    bool skip_up, skip_down; /* as in cost_links */
};
/* One whose first byte leaves at `begins`. */
struct cost_message cost_message_of(const struct cost_route *route, const struct cost_links *links,
                                    int64_t begins, uint64_t bytes);
/* Takes the link `at` of the route, and moves on to the next. There must be one. */
void cost_take_link(const struct cost_route *route, const struct cost_links *links,
                    struct cost_message *message);

#endif
