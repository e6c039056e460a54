/*
 * system.h: the simulated machine as the host sees it: build it, install its queues, launch
 * kernels, run it, read its times and states (hw/HARDWARE.md, "Control plane"). Every action of the
 * host on the machine is a control message through the engine, and takes simulated time.
 */
#ifndef LP_SYSTEM_H
#define LP_SYSTEM_H

#include "lp/causes.h"
#include "lp/host/batch_times.h"
#include "lp/host/idle_state.h"
#include "lp/host/link_use.h"
#include "lp/host/machine_count.h"
#include "lp/host/placement.h"
#include "lp/host/replay.h"
#include "lp/host/wired.h"
#include "lp/maps.h"
#include "lp/program.h"

/*
 * Receives why each event comes when it comes: struct lp_cause and struct lp_waited (lp/causes.h),
 * as commit records of kind `kind`, on the worker that owns the LP of the event that emitted them.
 * The records of one LP come in the total order. `begin` is called before each batch of launches
 * that begins on an idle machine, on the host's thread. It returns whether causes are wanted of
 * this batch and of all that begin before the machine is idle again.
 */
struct lp_cause_sink {
    bool (*begin)(void *arg, const struct lp_model *m);
    void (*record)(void *arg, uint32_t worker, const struct cw_event *event, uint16_t kind,
                   const void *record, uint16_t bytes);
    void *arg;
    /* The same past the engine's records, from handlers of events that are final. It outlives the
     * machine. NULL: all as records. */
    struct lp_cause_direct *direct;
};

enum { LP_LISTENERS = 2 };

struct lp_system_options {
    const struct hw_config *hw;
    const struct lp_config *queues;
    struct lp_needs needs;
    const struct lp_plan *plan[LP_PLANS]; /* that IpcqInitMsgs may name; they outlive the machine */
    /* What the SIPs' io_cpus carry out by themselves; it outlives the machine, which adds launches.
     * needs.operations is its longest program's. NULL: nothing. */
    struct lp_program *program;
    /* The machine is folded (hw/topology/fold.h): only representatives are simulated, and nothing
     * may be submitted for other SIPs. One that does not translate runs on one thread, whatever
     * `engine` says. Copied. NULL: all SIPs are simulated. */
    const struct hw_fold *fold;
    bool replay; /* the program's operations may be replayed (replay.h), where that is exact */
    bool grows;  /* plans may get more queues between drains: the lookahead allows for any */
    /* Passed on to the engine. The machine itself sets the workers of LPs, the least delays, the
     * receiver of records. end_ps: 0, or the end of simulated time; a run that would continue then
     * fails. */
    struct cw_config engine;
    const uint32_t *cube_worker; /* [lp_model.sips * cubes] partition.h; NULL with one worker */
    struct lp_listener listener[LP_LISTENERS]; /* called in this order */
    struct lp_worker_listener on_workers;
    struct lp_cause_sink causes; /* record NULL: not wanted */
    /* A completion of a kernel of this batch (lp_batch_options.of) and rank is at the host. In
     * order of their times, while the machine runs, on the thread that drains. NULL: not wanted. */
    void (*answered)(void *arg, void *of, uint32_t rank, int64_t t_ps);
    void *answered_arg;
    /* Machines that were installed before this one, of which it may take over the states, and to
     * which it is added. It outlives the machine. NULL: none. */
    struct lp_wired *wired;
};

struct lp_system;

struct lp_system *lp_system_create(const struct lp_system_options *options, struct cw_error *error);
void lp_system_free(struct lp_system *system); /* accepts NULL */

/* Submits an IpcqInitMsg that names the plan of this index, for every PE that the plan wires, in
 * order of (sip, cube, pe). A PE has no queues before its message takes effect. The states of a
 * machine that was installed alike (lp_system_options.wired) may replace the messages; then the
 * drain finds nothing to do. */
int lp_system_submit_install(struct lp_system *system, uint32_t plan, struct cw_error *error);

/* The same for those PEs of these SIPs that have some of these directions (lp_plan_dirs()): queues
 * that the plan has got since. */
int lp_system_submit_more_queues(struct lp_system *system, uint32_t plan, const uint32_t *sip,
                                 uint32_t sip_count, const struct lp_dirs *dirs,
                                 struct cw_error *error);

/* Adds a map to the host's table, between drains. PEs reach it when their MmuMapMsgs have taken
 * effect; at once, if it names no message. */
int lp_system_map(struct lp_system *system, const struct lp_map *map, struct cw_error *error);
/* Holds the current batch: its times can be read by its number, until it is released. Returns the
 * number. Other batches end, once all their kernels have answered, when another one begins. */
uint32_t lp_system_hold_batch(struct lp_system *system);
void lp_system_release_batch(struct lp_system *system, uint32_t batch);
/* What is submitted from here on belongs to this batch, which is held. */
void lp_system_return_to_batch(struct lp_system *system, uint32_t batch);
/* The latest batch; it ends when another one begins, unless it is held. */
uint32_t lp_system_current_batch(const struct lp_system *system);
/* The times and phases of a batch that has not ended. Between drains. */
const struct lp_times *lp_system_times_of(struct lp_system *system, uint32_t batch);
const struct lp_phases *lp_system_phases_of(struct lp_system *system, uint32_t batch);
/* From here on no PE reaches the map that begins at this address. */
void lp_system_unmap(struct lp_system *system, uint32_t sip, uint64_t va);

/*
 * The host's copies: begin, then an MmuMapMsg (named by the maps of this number and of lower
 * ones), or a MemoryWriteMsg with its data, per PE, all submitted at this moment, in order of
 * (sip, cube, pe). Each is acknowledged when it has taken effect at the PE's pe_cpu. A write is
 * timing only: contents are the host's tables.
 */
int lp_system_begin_copy(struct lp_system *system, struct cw_error *error);
int lp_system_submit_map(struct lp_system *system, uint32_t pe, uint32_t message,
                         struct cw_error *error);
int lp_system_submit_write(struct lp_system *system, uint32_t pe, uint64_t data_bytes,
                           struct cw_error *error);

/* A batch of launches. */
struct lp_batch_options {
    const struct tl_kernel *kernel; /* whose phases the batch's kernels mark */
    /* With contention `message`: loads, stores and copies of its kernels' streams travel in chunks.
     * These are products beside communication, whose tiles are not to lock a link. */
    bool cuts_streams;
    uint32_t
        queue; /* the hardware queue of its PEs that its kernels run on, below lp_needs.queues */
    /* The directions of its kernels (lp_plan_dirs()), which outlive it. NULL: the PE's. */
    const struct lp_dirs *dirs;
    void *of;       /* what the host knows it by, for lp_system_options.answered */
    uint32_t ranks; /* above the greatest of its launches' ranks; 0: as many as the machine has. In
                       a folded machine these are the ranks that are simulated */
    /* [rank] in a folded machine, its number among these; outlives the batch. NULL: rank r is SIP r
     */
    const uint32_t *slots;
    /* For reports, copied: "group tp0", and "call 3 (all_reduce)". NULL: none. */
    const char *whose, *name;
    uint32_t account; /* under which links count its bytes, up to lp_needs.accounts; 0: none */
};
/*
 * Starts a batch of launches, all submitted at this moment. Then submits one KernelLaunchMsg per
 * call, in order of (sip, cube, pe). Launches that differ are numbered with 32 bits: a machine
 * whose numbers may end within the batch is refused.
 */
int lp_system_begin_batch(struct lp_system *system, const struct lp_batch_options *options,
                          struct cw_error *error);
int lp_system_submit_launch(struct lp_system *system, uint32_t pe, const struct tl_kernel *kernel,
                            const struct tl_args *args, struct cw_error *error);
/* The same for several PEs, in this order. */
int lp_system_submit_launches(struct lp_system *system, const uint32_t *pe, uint32_t count,
                              const struct tl_kernel *kernel, const struct tl_args *args,
                              struct cw_error *error);

/*
 * Launches of a program (lp_system_options.program):
 *   lp_system_launch_from()    from here on, launches that are submitted are of this operation, on
 *                              this hardware queue of their PEs: the SIP's io_cpu will send them.
 * Launches of one operation come one after the other. UINT32_MAX: they are the host's again
 *   lp_system_begin_program()  submits the message to each io_cpu that begins its program. After
 *                              the next lp_system_drain() all operations are over, and their
 *                              kernels have been answered, in order of their times
 *   lp_system_program_times()  of an operation, counted from the program's begin
 */
void lp_system_launch_from(struct lp_system *system, uint32_t op, uint32_t queue);
int lp_system_begin_program(struct lp_system *system, struct cw_error *error);
int64_t lp_system_program_begun_ps(const struct lp_system *system, uint32_t sip);
struct lp_program_times lp_system_program_times(const struct lp_system *system, uint32_t sip,
                                                uint32_t op);

/*
 * A host that reacts while the machine runs: submits at times of its own, and runs in steps.
 *   lp_system_set_now()       the host's time, at which messages are submitted from here on: not
 *                             before the last one, and at most lp_system_reaction_ps() before the
 *                             end of the last step. After lp_system_drain() it is the machine's
 *   lp_system_reaction_ps()   from a submission to the first event that it can cause, at least
 *   lp_system_next_ps()       when the machine has something to do next, of what has been injected;
 *                             CW_TIME_MAX: nothing
 *   lp_system_inject()        the messages submitted at the host's time are under way
 *   lp_system_run_until()     runs until nothing is left to do before this time; where that
 *                             leaves work beyond engine.end_ps alone, CW_PROGRAM_FAILED
 */
void lp_system_set_now(struct lp_system *system, int64_t now_ps);
int64_t lp_system_reaction_ps(const struct lp_system *system);
/* Of each TCM, in front of the receive rings that have been named there: for a kernel, so with
 * several hardware queues one's share. */
uint64_t lp_system_free_tcm(const struct lp_system *system);
int64_t lp_system_next_ps(const struct lp_system *system);
int lp_system_inject(struct lp_system *system, struct cw_error *error);
int lp_system_run_until(struct lp_system *system, int64_t end_ps, struct cw_error *error);

/*
 * The state of the idle machine, relative to its time and to its counters (idle_state.h), with the
 * launches that have brought it about since the machine was idle before, and the host's maps.
 *   lp_system_is_idle()       no event is pending, every launch is answered, and nothing has been
 *                             submitted
 *   lp_system_idle_machine()  for the words of some LPs alone, at the host's time
 *   lp_system_idle_state()    of all LPs. False: the machine is not idle, or memory is short
 */
bool lp_system_is_idle(const struct lp_system *system);
struct lp_idle_machine lp_system_idle_machine(const struct lp_system *system);
bool lp_system_idle_state(const struct lp_system *system, struct lp_idle_state *state);

/* Runs until nothing is left to do. Kernels that then still wait: CW_PROGRAM_FAILED, with the
 * report of deadlock.h. Tiles that nobody has received: the same, with the report of unreceived.h.
 */
int lp_system_drain(struct lp_system *system, struct cw_error *error);
/* The states are committed ones: no speculative drain has failed. */
bool lp_system_has_committed_states(const struct lp_system *system);
/* The last drain has failed, and at no event: records of later events may be missing. */
bool lp_system_is_cut_short(const struct lp_system *system);

const struct lp_model *lp_system_model(const struct lp_system *system);
struct cw_sim *lp_system_sim(struct lp_system *system);
const struct lp_cut *lp_system_cut(const struct lp_system *system); /* NULL: one thread */
/* Of the last batch and the host's messages beside it, up to now. Between drains. */
const struct lp_times *lp_system_times(struct lp_system *system);
const struct lp_cube *lp_system_cube(const struct lp_system *system, uint32_t sip, uint32_t cube);
/* A kernel of this batch was the latest on its queue of the PE, and no kernel of the batch has
 * written into the PE's HBM slice; *at then is the line that the kernel reached last, NULL: none.
 * False where a kernel of a later batch hides it. Between drains. */
bool lp_system_has_written_nothing(const struct lp_system *system, uint32_t batch,
                                   struct hw_place place, const struct tl_source **at);
/* The times of a folded machine so far are those of the whole one: always, if its fold translates
 * (hw/topology/fold.h). */
bool lp_system_fold_is_exact(const struct lp_system *system);
/* Where and when they cease to be: "the io_die of SIP 0, at 12.345 ns"; "": nowhere so far. */
enum { LP_TIE_BYTES = 80 };
const char *lp_system_fold_tie(const struct lp_system *system, char text[LP_TIE_BYTES]);
/* Between drains. */
/* Why operations are not replayed in spite of lp_system_options.replay; NULL: they are. */
const char *lp_system_refuses_replay(const struct lp_system *system);
/* What was replayed; zeros without lp_system_options.replay. */
struct lp_replay_counts lp_system_replayed(const struct lp_system *system);
struct lp_counts lp_system_count(const struct lp_system *system);

/* Visits every link of one part of the machine that carried something in the last batch, and in
 * those in flight with it since the machine was idle. The parts one after the other are the whole,
 * in order; workers may visit them at the same time. Nothing is reserved, hence nothing counted,
 * with contention `none`. */
struct lp_machine_part {
    uint32_t index, parts;
    uint32_t groups;  /* of links: bit g asks for group g; 0: all */
    uint32_t account; /* bytes of its batches (lp_batch_options.account); 0: of all batches */
};
void lp_system_visit_links(const struct lp_system *system, struct lp_machine_part part,
                           void (*visit)(void *arg, const struct lp_link_use *use), void *arg);

#endif
