/*
 * test_lp_rings.c: no kernel reaches a receive ring (lp/kernel/tl_arguments.h), whatever memory it
 * is in: each call that names a place in one faults, and the memory beside them is free.
 */
#include "test/support/test_lp_support.h"

/* One cube; PE 1 receives from its neighbours in the grid of PEs. */
enum { SLOT = 64, SLOTS = 2, RING = SLOT * SLOTS };

static struct machine *machine_of(enum hw_memory slots)
{
    struct machine *m = small_machine(1, 1, 1);
    m->config.slots = slots;
    m->config.slot_bytes = SLOT;
    m->config.n_slots = SLOTS;
    m->needs.peers = 2;
    machine_start(m);
    return m;
}

/* The ring of PE `pe` for this direction. */
static struct lp_operand ring_of(const struct machine *m, uint32_t pe, enum hw_dir dir)
{
    return lp_slot_of(m->plan, pe, dir, 0);
}

static int try_line(struct machine *m, struct line line)
{
    const struct line script[] = {line, DONE};
    const struct part parts[] = {{1, script}};
    return try_scripts(m, parts, 1);
}

/* PE 1 runs this one line; the fault names the ring. Frees the machine. */
static void expect_in_ring(struct machine *m, struct line line, const char *place)
{
    char text[60];
    assert_int_equal(try_line(m, line), CW_PROGRAM_FAILED);
    snprintf(text, sizeof text, " of PE %s, whose receive ring of direction ", place);
    if (strstr(m->error.text, "PE 0.0.1, kernel script: ") != m->error.text ||
        strstr(m->error.text, text) == NULL)
        fail_msg("%s", m->error.text);
    machine_free(m);
}

static struct lp_operand behind(struct lp_operand at, int32_t bytes)
{
    at.at += (uint32_t)bytes;
    return at;
}

static void no_call_reaches_a_ring(void **state)
{
    (void)state;
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++) {
        struct machine *m = machine_of(slots);
        const struct lp_operand own = ring_of(m, 1, HW_DIR_INTRA_W),
                                there = ring_of(m, 2, HW_DIR_INTRA_W);
        const struct line lines[] = {
            LINE(DO_SEND_FROM, .dir = HW_DIR_INTRA_E, .src = own, .n = 2),
            LINE(DO_SEND_FROM, .dir = HW_DIR_INTRA_E, .src = behind(own, RING - 2), .n = 2),
            LINE(DO_RECV_INTO, .dir = HW_DIR_INTRA_E, .dst = own, .n = 2),
            LINE(DO_ADD_FROM, .src = TCM(0), .dst = own, .n = 4)};
        machine_free(m);
        for (size_t i = 0; i < COUNT_OF(lines); i++)
            expect_in_ring(machine_of(slots), lines[i], "0.0.1");
        expect_in_ring(machine_of(slots),
                       (struct line)LINE(DO_PUT, .peer = 2, .dst = there, .src = TCM(0), .n = 2),
                       "0.0.2");
        expect_in_ring(
            machine_of(slots),
            (struct line)LINE(DO_STORE_TO, .peer = 2, .dst = there, .src = TCM(0), .n = 2),
            "0.0.2");
    }
    struct machine *m = machine_of(HW_MEMORY_SRAM); /* of another PE, by an address */
    const uint32_t at = ring_of(m, 2, HW_DIR_INTRA_W).at;
    expect_in_ring(m, (struct line)LOAD(tl_sram_va(at), 2), "0.0.2");
    m = machine_of(HW_MEMORY_TCM);
    const uint32_t tcm = ring_of(m, 1, HW_DIR_INTRA_W).at;
    expect_in_ring(m, (struct line)LINE(DO_CAST, .n = 1, .at = LP_F16, .to = LP_F16, .index = tcm),
                   "0.0.1");
}

/* Right before the rings of a TCM, right behind those of other memories, and in memories without
 * rings. */
static void what_is_beside_the_rings_is_free(void **state)
{
    (void)state;
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++) {
        struct machine *m = machine_of(slots);
        const struct lp_ring_area all = lp_plan_rings(m->plan);
        struct lp_operand at = ring_of(m, 1, HW_DIR_INTRA_W);
        at.at = slots == HW_MEMORY_TCM ? (uint32_t)all.start - 2 : (uint32_t)all.end;
        RUN(m, {1, (const struct line[]){LINE(DO_PUT, .peer = 2, .dst = at, .src = at, .n = 2),
                                         DONE}});
        for (enum hw_memory other = 0; other < HW_MEMORY_NONE; other++) {
            static const uint8_t space[] = {[HW_MEMORY_TCM] = LP_SPACE_TCM,
                                            [HW_MEMORY_HBM] = LP_SPACE_HBM,
                                            [HW_MEMORY_SRAM] = LP_SPACE_SRAM};
            at.space = space[other];
            at.at = other == HW_MEMORY_TCM ? (1 << 20) - 2 : 0;
            if (other != slots)
                RUN(m, {1, (const struct line[]){
                               LINE(DO_PUT, .peer = 2, .dst = at, .src = at, .n = 2), DONE}});
        }
        machine_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_call_reaches_a_ring),
        cmocka_unit_test(what_is_beside_the_rings_is_free),
    };
    return cmocka_run_group_tests_name("lp_rings", tests, NULL, NULL);
}
