/*
 * schedule_walk.h: the formula of one output chunk of one rank, found backwards: from the step that
 * writes it to the steps that sent what it got, and so on to the inputs. Of each rank on the way
 * the steps on this one chunk are made when they are needed, and forgotten. So schedules of a
 * million ranks can be looked at that no memory would hold.
 *
 * An algorithm that makes parts of its schedule alone (struct ccl_algorithm, `folds`) makes such
 * steps, too: its hook schedule() is called with ccl_call.walk, and calls walk->look() instead of
 * making a schedule. A walk does not see whether threads wait for each other as they must, nor the
 * windows and tiles in which chunks travel.
 *
 * A value is what one place of the tensors holds while it travels, whatever the chunk is called in
 * each buffer. Its number is that of its chunk in the larger of input and output. Host side; one
 * thread.
 */
#ifndef COLLECTIVES_SCHEDULE_WALK_H
#define COLLECTIVES_SCHEDULE_WALK_H

#include "collectives/schedule/schedule_values.h"

/* The steps of a rank on one value, each of one chunk, in an order in which its threads may take
 * them. Kept between calls, for its memory. */
struct schedule_walk_steps {
    struct schedule_step *step;
    uint32_t count, room;
    bool no_memory;
};
void schedule_walk_add(struct schedule_walk_steps *steps, struct schedule_step step);

/* Makes them, for an all-reduce, a reduce-scatter or an all-gather. */
struct schedule_walk_maker {
    const char *name;
    enum ccl_collective collective;
    uint32_t ranks, parts;
    uint32_t values; /* chunks of the larger buffer */
    void (*make)(void *arg, uint32_t rank, uint32_t value, struct schedule_walk_steps *steps);
    void *arg;
};

/* Who asks. look() is called once, while the maker is there; its exit code is handed on. */
struct schedule_walk {
    int (*look)(void *arg, const struct schedule_walk_maker *maker, struct cw_error *error);
    void *arg;
};

/*
 * One value in the outputs of `count` ranks that must have it: their formulas, of one input chunk
 * and one output chunk, with leaf r for rank r's. Faults: a step that reads what is not there, a
 * message that nobody sends, steps that wait for each other; and ranks whose formulas are not the
 * collective's result, which wrong[i] says of rank[i] (NULL: not wanted). NULL: memory has run out
 * (faults->no_memory), or the formula of some rank is not known because of a fault. The caller
 * frees.
 */
struct schedule_values *schedule_walk_value(const struct schedule_walk_maker *maker, uint32_t value,
                                            const uint32_t *rank, uint32_t count, bool *wrong,
                                            struct schedule_faults *faults);

#endif
