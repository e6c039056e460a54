/*
 * record_script.h: random lists of committed data records in a valid total order: moves, sums,
 * casts, products, tiles that are sent, forwarded and received, puts, raw stores and loans that
 * land in any order, ends of kernels. Each record has the event that emitted it.
 */
#ifndef TEST_RECORD_SCRIPT_H
#define TEST_RECORD_SCRIPT_H

#include "core/cw.h"
#include "hw/hw_config.h"
#include "lp/record.h"

enum { SCRIPT_MEMORY = 8192, SCRIPT_PES = 2, SCRIPT_CUBES = 6, SCRIPT_SIPS = 2 };
enum {
    SCRIPT_ALL_CUBES = SCRIPT_CUBES * SCRIPT_SIPS,
    SCRIPT_PE_COUNT = SCRIPT_PES * SCRIPT_ALL_CUBES
};

/* One record; op.kind 0: the kernels of op.pe end. */
struct script_step {
    struct cw_event event;
    struct lp_op op; /* with all that landing.h fills in */
};

struct script {
    struct script_step *step; /* [count], in the total order */
    uint32_t count;
    uint64_t tiles; /* that are left at the end */
};

struct hw_config script_machine(void);

/* `count` records; then, if `finish`, records that land, receive and drop all tiles under way. */
struct script script_draw(uint64_t seed, uint32_t count, bool finish);
void script_free(struct script *script);

/* The record as its handler emits it: without the fields that landing.h fills in. */
struct lp_op script_emitted(const struct script_step *step);

#endif
