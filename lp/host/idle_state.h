/*
 * idle_state.h: the state of an idle machine relative to its time and to its counters. Two such
 * states that are equal have the same future, as far as simulated times go: the same launches at
 * the same time after them lead to the same events, each as much later. The state is a list of
 * words for each LP, in an order of its own (idle_state.c says of each member of lp/model.h's
 * structs whether and how it counts), their digest, and ages: times since something was used last,
 * which count as long as they are short.
 *
 * A machine is idle when no event is pending; an LP, when it is in the midst of nothing. The words
 * of an idle LP can be asked for while other LPs are busy.
 *
 * Host side, between drains; changes nothing in the machine.
 */
#ifndef LP_IDLE_STATE_H
#define LP_IDLE_STATE_H

#include "lp/host/control.h"
#include "lp/model.h"

/* How long ago something was used, and what it is like apart from that. */
struct lp_age {
    int64_t ps, apart;
};

struct lp_idle_state {
    int64_t now_ps;     /* when it was taken */
    uint64_t digest;    /* of the words; lp_idle_state_end() fills it */
    uint64_t *word;     /* [count] */
    struct lp_age *age; /* [age_count], with coarse tiles alone */
    size_t count, capacity, age_count, age_capacity;
    uint64_t counter_max; /* of the counters with 32 bits, which do not count here, the greatest */
    bool out_of_memory;
};

/* The machine of which states are taken, at the host's time. */
struct lp_idle_machine {
    const struct lp_model *m;
    const struct cw_sim *sim;
    const struct lp_control *control; /* its messages are injected */
    int64_t now_ps;
    bool in_program; /* the states of sequencers are the caller's to compare */
};

/*
 *   lp_idle_state_begin()  empties the state; it is all zero before its first use
 *   lp_idle_state_add()    appends the words of an LP. False: the LP is not idle
 *   lp_idle_state_put()    appends a word of the caller's
 *   lp_idle_state_count_up()   another of those counters
 *   lp_idle_state_end()    the digest. False: out of memory, the state is of no use
 *   lp_idle_state_free()   its memory
 */
void lp_idle_state_begin(struct lp_idle_state *state, int64_t now_ps);
bool lp_idle_state_add(struct lp_idle_state *state, const struct lp_idle_machine *machine,
                       uint32_t lp);
void lp_idle_state_put(struct lp_idle_state *state, uint64_t word);
void lp_idle_state_count_up(struct lp_idle_state *state, uint64_t counter);
bool lp_idle_state_end(struct lp_idle_state *state);
void lp_idle_state_free(struct lp_idle_state *state);
uint64_t lp_idle_state_bytes(const struct lp_idle_state *state); /* of its memory */

/* How long before a message's begin a link must be free, so that it does not matter since when. */
int64_t lp_idle_state_before_ps(const struct lp_model *m);

/* Whether the later state is the earlier one again: all words, and each age. What lies between them
 * will then come again. */
bool lp_idle_state_equal(const struct lp_idle_state *earlier, const struct lp_idle_state *later);

#endif
