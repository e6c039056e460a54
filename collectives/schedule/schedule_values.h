/*
 * schedule_values.h: the value of every chunk that a schedule leaves in the outputs, as a formula
 * over the inputs. It is found by carrying out the schedule with formulas instead of numbers, step
 * by step, by an interpreter of its own: no kernel, no queue and no memory of the machine has a
 * part in it.
 *
 * Formulas are nodes: a leaf is a chunk of a rank's input, any other node the sum of two nodes with
 * smaller numbers. Equal formulas are one node. So are a + b and b + a, since every operation gives
 * the same bits both ways (dtype.h).
 *
 * Const once made; shared by the threads that evaluate it.
 */
#ifndef COLLECTIVES_SCHEDULE_VALUES_H
#define COLLECTIVES_SCHEDULE_VALUES_H

#include "collectives/schedule/schedule_graph.h"

#define VALUE_NONE UINT32_MAX /* nothing has been written */

struct value_node {
    uint32_t a, b; /* the sum's nodes */
};

enum value_wide { VALUE_WIDE_A = 1, VALUE_WIDE_B = 2 };

struct schedule_values {
    uint32_t ranks;
    uint32_t inputs;  /* chunks of each rank's input: node r * inputs + c is its chunk c */
    uint32_t outputs; /* chunks of each rank's output */
    uint32_t nodes, leaves;
    enum ccl_collective collective;       /* that messages name */
    uint32_t input_number, output_number; /* of chunk 0 of each, in messages */
    struct value_node *node;              /* [nodes]; leaves have none */
    uint8_t *wide; /* [nodes] enum value_wide: operands that are sums which PE_MATH still has; NULL:
                      none is */
    uint32_t *output; /* [ranks * outputs]: nodes, or VALUE_NONE */
};

/*
 * Faults: a step reads a chunk that nothing has been written to, or adds chunks of different places
 * in the tensor. NULL: there are faults, or memory has run out (faults->no_memory). All the graph's
 * steps are ordered.
 */
struct schedule_values *schedule_values_create(const struct schedule_graph *graph,
                                               struct schedule_faults *faults);
void schedule_values_free(struct schedule_values *values); /* accepts NULL */

/* The rank that is the root of a broadcast or a reduce, by its outputs. UINT32_MAX: none is. */
uint32_t schedule_values_root(const struct schedule_values *values,
                              const struct schedule *schedule);

/* Every output chunk holds the collective's result, each contribution once: else a fault for
 * each chunk, with its contents. Nothing is demanded of a custom collective, nor of a reduce's
 * ranks beside the root. */
void schedule_values_check(const struct schedule_values *values, const struct schedule *schedule,
                           struct schedule_faults *faults);

/* The same of `count` ranks alone. wrong: [count * outputs], which chunks have faults; NULL: not
 * wanted. */
void schedule_values_check_some(const struct schedule_values *values,
                                const struct schedule *schedule, const uint32_t *rank,
                                uint32_t count, bool *wrong, struct schedule_faults *faults);

/* Chunks of the rank at a place in rank[], as locations in its memory: input and output share some
 * if they are one buffer. And how many locations there are. */
uint32_t schedule_location(const struct schedule *schedule, uint32_t place, unsigned buffer,
                           uint32_t chunk);
uint32_t schedule_locations(const struct schedule *schedule, uint32_t place);

#endif
