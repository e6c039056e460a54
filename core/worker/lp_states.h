/*
 * lp_states.h: the logical processes: where each one's state and trace hash are.
 *
 * The engine's own few bytes sit right before the state, so that both come with one cache line.
 * A block belongs to the worker that owns its LP.
 *
 * Each worker's blocks lie in an area of their own, and the areas far apart. Events often go over
 * the LPs in even steps: the same cube of one SIP after the other. A processor learns such a step,
 * and fetches several steps ahead. At the end of an area it then fetches lines beyond it. If these
 * were the next worker's states, they would leave that worker's cache again and again: where the
 * cores are far apart its events took twice as long (perf/README.md, "Slow minutes"). An LP that
 * moves to another worker stays in the area of its first one.
 *
 * That takes 16 MiB of addresses for each worker. Where the system grants fewer (RLIMIT_AS), the
 * areas are adjacent; only speed depends on it.
 */
#ifndef CORE_LP_STATES_H
#define CORE_LP_STATES_H

#include "core/cw.h"
#include "core/os/memory.h"

struct lp_block {
    uint64_t hash; /* of the committed events (trace_hash.h) */
    uint64_t state_bytes;
    uint8_t state[]; /* aligned to 16 */
};
_Static_assert(offsetof(struct lp_block, state) == 16, "the state is aligned as the block is");

/* The blocks of one worker's LPs, in the LPs' order. */
struct lp_area {
    size_t begin, bytes; /* in the arena */
};

struct lp_states {
    struct memory *memory;
    struct lp_block **blocks;
    uint8_t *arena;
    uint8_t *other; /* a second place for each block, laid out as the arena is; NULL: none moves */
    struct lp_area *areas; /* [area_count] */
    size_t arena_bytes;    /* from the first area to the last one's end; of them, those */
    size_t used_bytes;     /* in areas */
    bool is_apart;         /* the areas are */
    size_t blocks_bytes;   /* of all blocks, one after the other in the LPs' order */
    uint32_t count, area_count;
    size_t state_bytes_max;
    uint32_t *sizes; /* of the states; NULL: all states are initialised */
};

/* The worker that owns each LP. */
struct lp_owners {
    const uint32_t *lp_worker; /* [LP]; NULL: worker 0 owns all */
    uint32_t workers;
};

/* Lays out all states, without touching them: each worker's in an area of its own. are_movable:
 * each block has a second place (lp_states_move()). Returns an enum cw_exit. */
int lp_states_create(struct lp_states *states, struct memory *memory, const struct cw_model *model,
                     const struct lp_owners *owners, bool are_movable, struct cw_error *error);
/* Initialises the states of the LPs of one worker; lp_worker NULL: all states. For different
 * workers at the same time, each on its own thread: the thread that touches memory first decides
 * which cores it is near to. */
void lp_states_init(struct lp_states *states, const struct cw_model *model,
                    const uint32_t *lp_worker, uint32_t worker);
/* When all have been initialised. */
void lp_states_ready(struct lp_states *states);
/* Gives back the memory of one worker's area: its states are lost. For different workers at the
 * same time. The states take at least PAGES_HUGE_BYTES. */
void lp_states_drop(struct lp_states *states, uint32_t worker);
void lp_states_free(struct lp_states *states);

/* Copies the blocks of one worker's LPs, hashes and states, to `to`, which has blocks_bytes, or
 * from there; lp_worker NULL: all blocks. A block's place there depends on the sizes of the states
 * alone, not on the owners. */
void lp_states_save(const struct lp_states *states, const uint32_t *lp_worker, uint32_t worker,
                    uint8_t *to);
void lp_states_load(struct lp_states *states, const uint32_t *lp_worker, uint32_t worker,
                    const uint8_t *from);
/* Whether this many bytes, saved from as many LPs, belong to states of the same sizes. */
bool lp_states_are_alike(const struct lp_states *states, const uint8_t *saved, size_t bytes);

/* Moves the LP's block to its other place. The one that it leaves is filled with LP_STATES_STALE,
 * and AddressSanitizer reports any access to it. */
void lp_states_move(struct lp_states *states, uint32_t lp);
#define LP_STATES_STALE 0xA5

#endif
