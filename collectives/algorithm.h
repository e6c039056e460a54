/*
 * algorithm.h: a collective algorithm, as the runtime sees it (RUNTIME.md, "Algorithm modules").
 * One `const struct ccl_algorithm ccl_...` in one file under algorithms/, and one row in
 * algorithms/registry.h; or one object of a shared object (plugin.h). Which algorithm runs, with
 * which options, says ccl.yaml.
 */
#ifndef COLLECTIVES_ALGORITHM_H
#define COLLECTIVES_ALGORITHM_H

#include "collectives/config/ccl_config.h"
#include "collectives/order.h"
#include "collectives/parameter.h"
#include "collectives/refusal.h"
#include "core/cw.h"
#include "lp/kernel/tl.h"
#include "lp/queues/logical_wiring.h"

enum ccl_collective {
    CCL_ALL_REDUCE,
    CCL_REDUCE_SCATTER,
    CCL_ALL_GATHER,
    CCL_BROADCAST,
    CCL_BARRIER,
    CCL_ALL_TO_ALL, /* block s of rank r's output is block r of rank s's input */
    CCL_MATMUL,     /* no collective: each cube's own matrix product (matmul.h) */
    CCL_REDUCE,     /* rank `root` has the sum; what the others end with, the algorithm says */
    CCL_CUSTOM,     /* what an MSCCL XML file's steps give, which is none of the others */
    CCL_SEND_RECV,  /* no collective: sends and receives of one rank (dist_messages.h) */
    CCL_COMPUTE,    /* no collective: what one rank computes by itself (compute_call.h) */
    CCL_COLLECTIVES
};
const char *ccl_collective_name(enum ccl_collective collective); /* "all_reduce" */

struct cost_steps;    /* choice/cost_steps.h */
struct hw_fold;       /* hw/topology/fold.h */
struct relay;         /* relay.h */
struct schedule;      /* schedule/schedule.h */
struct schedule_walk; /* schedule/schedule_walk.h */

/* A call of a collective, as the host sees it. */
struct ccl_call {
    const struct hw_config *hw;
    const struct ccl_config *ccl;
    enum ccl_collective collective;
    uint32_t rank, world_size;
    uint32_t root;             /* rank whose tensor a broadcast sends, or that has a reduce's sum */
    const struct relay *relay; /* for kernel_args() of an algorithm that asks for it; else NULL */
    uint64_t n_elem;           /* per shard of the input */
    enum lp_dtype dtype;
    enum lp_math math;
    bool sketch; /* of a schedule: one for an estimate will do (schedule.h, `sketch`) */
    /* Of a schedule: set to the number of its steps if memory has no room for them. NULL: not
     * wanted. */
    uint64_t *no_room;
    /* [wanted_count] Of a schedule whose algorithm has a rule for folds: the ranks whose parts are
     * wanted, in the order of the schedule's (schedule.h, `partial`). NULL: all. */
    const uint32_t *wanted;
    uint32_t wanted_count;
    /* Of such a schedule: who looks at single chunks of it instead of having it made; the hook then
     * returns NULL, with the exit code in *error. NULL: nobody. */
    const struct schedule_walk *walk;
};

/* The result of a neighbors() hook. */
enum ccl_neighbors { CCL_NEIGHBORS_KEPT, CCL_NEIGHBORS_CHANGED };

/* A spanning tree over the ranks, from the call's root: tiles go down only, or up, too. */
enum ccl_relay { CCL_RELAY_NONE, CCL_RELAY_DOWN, CCL_RELAY_BOTH };

/* The built-in mappers (mapper.h), as a set. */
enum ccl_mappers {
    CCL_MAPPER_LEADER_ONLY = 1,
    CCL_MAPPER_ALL_PES = 2,
    CCL_MAPPER_PE0_ALL_CUBES = 4
};

/* Options in ccl.yaml that the hooks of only some algorithms read, as a set. */
enum ccl_reads {
    CCL_READS_ROOT = 1,
    CCL_READS_RANK_INVARIANT = 2,
    CCL_READS_OVERLAP = 4,
    CCL_READS_BIRS_ENABLE = 8,
    CCL_READS_MESH_MAX = 16,
    CCL_READS_SLICE_ALIGN = 32
};

struct ccl_algorithm;

/* The algorithm that carries out a call, and why. */
struct ccl_choice {
    const struct ccl_algorithm *algorithm;
    char why[512];    /* in a few words; empty: the algorithm was not chosen, but named */
    char advice[256]; /* of the refusal that `why` ends in: for a report of the choice */
};

/* The needs of an algorithm; all zero: nothing but the kernel's frame and a shard in TCM. The
 * functions may be NULL where they say so. */
struct ccl_machine {
    uint32_t mappers; /* enum ccl_mappers: those whose PEs the kernel can run on; 0: any */
    bool by_sip;      /* on the machine's own queues rank r must be SIP r, and all SIPs ranks */
    bool lanes; /* runs on each PE that holds a shard, each for itself, whatever the mapper says */
    bool pe_shards;       /* reduces a shard of each PE, else one of each cube, at its PE 0 */
    bool members;         /* a schedule whose ranks are members of SIPs: PEs or cubes, as the mapper
                             says, each with a shard (schedule.h) */
    enum ccl_relay relay; /* a spanning tree for kernel_args() */
    uint32_t reads;       /* enum ccl_reads: one from a shared object may read any */
    /* Bytes of TCM that the kernel uses beside the rings. NULL: the bytes of a shard. */
    uint64_t (*tcm_bytes)(const struct ccl_call *call);
    /* Bytes of HBM beside the tensors in the slice of each rank's PE 0, region 1 of the launch;
     * region 0 is then the rank's result. NULL: none. */
    uint64_t (*scratch_bytes)(const struct ccl_call *call);
    /* Most PEs with which one exchanges puts and notifications, of all calls on this machine;
     * NULL: none. The call gives hw, ccl and world_size only. */
    uint32_t (*peers)(const struct ccl_call *call);
};

enum { CCL_FOLD_WHY_BYTES = 400 }; /* of a reason for which a machine does not fold */

/*
 * An algorithm: its result, its needs, and hooks, which run on the host between drains and are
 * pure. A hook may be NULL where it says so.
 */
struct ccl_algorithm {
    const char *name;
    enum ccl_collective collective;
    const struct tl_kernel *kernel;
    const struct ccl_order *order; /* of additions, for --verify-data; NULL: none is promised */

    struct ccl_machine machine;

    /* Keys of its own, at most CCL_PARAMETERS_MAX. Hooks that get a call read the i-th one's value
     * in call->ccl->parameter[i], neighbors() in parameter[i], kernels with tl_parameter(). */
    const struct ccl_parameter *parameters;
    uint32_t parameter_count;

    /* Refuses calls that the algorithm cannot run: CW_OK, or CW_USAGE with *refusal filled
     * (ccl_refuse()). NULL: none is refused. */
    int (*check)(const struct ccl_call *call, struct ccl_refusal *refusal);
    /* Fills args->scalar, the scalars that follow the tensor pointer, and args->more, if the kernel
     * reads such. They come zeroed; the rest of args is the runtime's. NULL: none. */
    void (*kernel_args)(const struct ccl_call *call, struct tl_args *args);
    /* The PE takes part, unless ccl.yaml names a mapper. NULL: leader_only. */
    bool (*takes_part)(const struct ccl_call *call, uint32_t cube, uint32_t pe);
    /* Changes the directions that the logical topology gives a rank, or replaces them, and says so;
     * or keeps them. With `topology: none` there are none to begin with. NULL: keeps them, and
     * `none` is the wiring of the machine. */
    enum ccl_neighbors (*neighbors)(uint32_t rank, uint32_t world_size, const int64_t *parameter,
                                    struct lp_neighbours *map);
    /*
     * The algorithm is a schedule: made once per process group, before its queues are installed, by
     * this function; the caller frees it. The call gives hw, ccl, collective and world_size, and in
     * n_elem, dtype and math the call that is expected. NULL with *error filled: CW_USAGE,
     * CW_NO_RESOURCE. A schedule's `kernel` is one of schedule_kernel.h; it has no neighbors(),
     * kernel_args(), takes_part(), nor scratch_bytes() of its own. The hook itself NULL: the
     * algorithm is none.
     */
    struct schedule *(*schedule)(const struct ccl_call *call, struct cw_error *error);
    /* How often a rank of an all-reduce sends a shard's bytes to other ranks, in the mean. NULL:
     * not known, or a schedule of nearly 2, whose steps say it. */
    double (*moved)(const struct ccl_call *call);
    /* What a kernel does that is not a schedule, for estimates (choice/cost_steps.h): of its time,
     * if it is a candidate of a choice, and of its events. NULL: its events follow from `moved`. */
    void (*steps)(const struct ccl_call *call, struct cost_steps *steps);
    /* Fills the choice, which comes empty; its algorithm is NULL where there is no memory. NULL:
     * this algorithm carries out all its calls. An algorithm that chooses leaves all hooks but this
     * and peers to those it chooses; its `kernel` is the one of them with most streams. */
    void (*choose)(const struct ccl_call *call, struct ccl_choice *choice);
    /*
     * The rule of a kernel, or of a schedule of more than FOLD_COMPARED_MAX ranks, for folded
     * machines (fold/fold_find.h). Rank r is SIP r, and all SIPs are ranks. True: each turn of the
     * fold maps the calls of every rank's kernels onto those of the turned rank: the same calls, of
     * the same bytes and memories, in the same order, with PEs, directions and peers turned;
     * addresses may differ. So are the queues. The proof is beside the hook: what the kernel uses
     * its rank and place for. False: `why` says what differs. NULL: it is not known. Of smaller
     * schedules, which are compared, and of shared objects it is not asked.
     */
    bool (*folds)(const struct ccl_call *call, const struct hw_fold *fold,
                  char why[CCL_FOLD_WHY_BYTES]);
};

/* What the steps of a file demand of its calls. */
struct ccl_fixed {
    uint32_t root;     /* of a broadcast or a reduce; UINT32_MAX: any */
    uint32_t multiple; /* that the elements of a shard are a multiple of; 1: any number */
};

/*
 * A kind of files that algorithms are made from, with a row in algorithms/registry.h. Algorithms
 * that were given out stay. The process's, one thread at a time.
 */
struct ccl_algorithm_files {
    /* NULL: CW_USAGE with the faults of the file's text, CW_NO_RESOURCE. */
    const struct ccl_algorithm *(*load)(const char *path, struct cw_error *error);
    /* As the functions ccl_algorithm_...() below, of an algorithm of these files; of any other
     * n_slots, 0, false, and nothing fixed. */
    uint32_t (*slots)(const struct ccl_algorithm *algorithm, uint32_t n_slots);
    uint64_t (*contents)(const struct ccl_algorithm *algorithm);
    enum lp_protocol (*protocol)(const struct ccl_algorithm *algorithm);
    struct ccl_fixed (*fixed)(const struct ccl_algorithm *algorithm);
};

/* A module is a file with a schedule: MSCCL XML, whose name ends with .xml, or an MSCCL++ execution
 * plan, .json. Its contents say which of the two. */
bool ccl_is_schedule_file(const char *module);
/* The registered algorithm with this module name; NULL: unknown. */
const struct ccl_algorithm *ccl_algorithm_find(const char *module);
/* The same, or from a shared object (./file.so:symbol), or a file with a schedule. NULL: CW_USAGE,
 * with the names of the registered ones. */
const struct ccl_algorithm *ccl_algorithm_load(const char *module, struct cw_error *error);
/* The one for a collective: the configured module if it does that, else the first registered one
 * that does. NULL: CW_USAGE, there is none, or the module is unknown. */
const struct ccl_algorithm *ccl_algorithm_for(const struct ccl_config *ccl,
                                              enum ccl_collective collective,
                                              struct cw_error *error);
/* ... that carries out a call, and why if it was chosen; choice may be NULL. NULL: as above. */
const struct ccl_algorithm *ccl_algorithm_of(const struct ccl_call *call, struct ccl_choice *choice,
                                             struct cw_error *error);
/* Slots of a ring that a schedule needs, at least n_slots and in powers of two times it; n_slots,
 * if no number suffices, or the algorithm is not a file. */
uint32_t ccl_algorithm_slots(const struct ccl_algorithm *algorithm, uint32_t n_slots);
/* The protocol that the file names that the algorithm was made of. */
enum lp_protocol ccl_algorithm_protocol(const struct ccl_algorithm *algorithm);
/* What the file that the algorithm was made of demands of calls. */
struct ccl_fixed ccl_algorithm_fixed(const struct ccl_algorithm *algorithm);
/* XXH3-64 of the MSCCL XML file that it was made of; 0: of none. */
uint64_t ccl_algorithm_contents(const struct ccl_algorithm *algorithm);
/* The queues are the machine's own: no logical topology, no neighbors() hook. */
bool ccl_goes_by_machine(const struct ccl_config *ccl);
/* All shards of a rank are added together, and with those of the other ranks; else each is reduced
 * or moved for itself. */
bool ccl_adds_all_shards(const struct ccl_algorithm *algorithm);
/* Its name in results and messages: its entry's if it is the configured algorithm, else its own. */
const char *ccl_algorithm_label(const struct ccl_config *ccl,
                                const struct ccl_algorithm *algorithm);
/* The answers of algorithm->machine for a call, or their defaults. */
uint64_t ccl_algorithm_tcm_bytes(const struct ccl_algorithm *algorithm,
                                 const struct ccl_call *call);
uint32_t ccl_algorithm_peers(const struct ccl_algorithm *algorithm, const struct ccl_call *call);
/* For messages: the i-th registered one, NULL after the last. */
const struct ccl_algorithm *ccl_algorithm_at(uint32_t i);

#endif
