/*
 * test_lp_endpoint.c: the other ends of queues, and their slots (lp/QUEUES.md, "Queue pair", and
 * invariant I3): each queue's other end names it, receive rings lie apart, and tile i of a queue
 * goes to slot i mod n_slots of its ring.
 */
#include "test/support/test_lp_support.h"

#include "hw/phys_addr.h"
#include "lp/queues/queue_ends.h"

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W

static const enum hw_memory memories[] = {HW_MEMORY_TCM, HW_MEMORY_HBM, HW_MEMORY_SRAM};

/* Two SIPs of 2 x 2 cubes of 8 PEs: every kind of direction is there. */
static struct machine *machine_of_all_directions(enum hw_memory slots)
{
    struct machine *m = small_machine(2, 2, 2);
    m->config.slots = slots;
    m->config.n_slots = 3;
    m->config.slot_bytes = 1024;
    m->hw.sram_bytes = 16u << 20;
    machine_start(m);
    return m;
}

static void each_queue_s_other_end_names_it(void **state)
{
    (void)state;
    struct machine *m = machine_of_all_directions(HW_MEMORY_TCM);
    const struct lp_plan *plan = m->plan;
    uint32_t queues = 0;
    for (uint32_t pe = 0; pe < hw_pe_count(&m->hw); pe++)
        for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
            uint32_t peer = 0, back = 0;
            enum hw_dir peer_dir = HW_DIRS_MAX, back_dir = HW_DIRS_MAX;
            const bool installed = lp_directions(plan, pe) >> dir & 1;
            assert_int_equal(lp_queue_peer(plan, pe, dir, &peer, &peer_dir), installed);
            if (!installed)
                continue;
            queues++;
            assert_true(lp_directions(plan, peer) >> peer_dir & 1);
            assert_true(lp_queue_peer(plan, peer, peer_dir, &back, &back_dir));
            assert_int_equal(back, pe);
            assert_int_equal(back_dir, dir);
        }
    assert_true(queues > 0);
    assert_int_equal(queues, lp_system_count(m->system).queue_pairs);
    machine_free(m);
}

struct ring {
    struct hw_phys_addr base;
    uint32_t bytes;
};

static bool overlap(const struct ring *a, const struct ring *b)
{
    return memcmp(&a->base.place, &b->base.place, sizeof a->base.place) == 0 &&
           a->base.offset < b->base.offset + b->bytes && b->base.offset < a->base.offset + a->bytes;
}

static void an_endpoint_says_where_its_ring_is(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(memories); k++) {
        struct machine *m = machine_of_all_directions(memories[k]);
        const struct lp_plan *plan = m->plan;
        struct ring ring[8 * HW_DIRS_MAX]; /* of cube 0 of SIP 0 */
        uint32_t count = 0;
        for (uint32_t pe = 0; pe < 8; pe++)
            for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
                if (!(lp_directions(plan, pe) >> dir & 1))
                    continue;
                const struct lp_endpoint endpoint = lp_endpoint_of(plan, pe, dir);
                struct ring *r = &ring[count++];
                assert_int_equal(endpoint.place.sip, 0);
                assert_int_equal(endpoint.place.cube, 0);
                assert_int_equal(endpoint.place.pe, pe);
                assert_int_equal(endpoint.buffer_kind, memories[k]);
                assert_int_equal(endpoint.n_slots, 3);
                assert_int_equal(endpoint.slot_size, 1024);
                assert_true(hw_pa_decode(endpoint.rx_base_pa, &r->base));
                assert_int_equal(r->base.kind, memories[k]);
                assert_int_equal(r->base.place.pe, memories[k] == HW_MEMORY_SRAM ? 0 : pe);
                assert_int_equal(r->base.offset, endpoint.rx_base_offset);
                assert_true(
                    endpoint.rx_base_va ==
                    (memories[k] == HW_MEMORY_SRAM ? tl_sram_va(endpoint.rx_base_offset) : 0));
                r->bytes = endpoint.n_slots * endpoint.slot_size;
                for (uint32_t i = 0; i + 1 < count; i++)
                    assert_false(overlap(&ring[i], r));
            }
        assert_int_equal(count, 20 + 8 * (2 + 2)); /* the PE grid's edges; E, S; both globals */
        machine_free(m);
    }
}

/* Two plans on the same SIPs, as two groups have them: each PE has the directions of both. */
static void plans_on_the_same_sips_have_queues_of_their_own(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(memories); k++) {
        struct machine *m = small_machine(2, 1, 1);
        m->config.slots = memories[k];
        m->config.n_slots = 3;
        m->config.slot_bytes = 1024;
        m->hw.sram_bytes = 16u << 20;
        machine_start(m);
        const struct lp_plan_part parts[] = {{m->plan, NULL, 2, 0}, {m->plan, NULL, 2, 0}};
        struct lp_plan *const both = lp_plan_create_composed(m->plan, NULL);
        uint32_t fits, count = 0;
        struct ring ring[8 * HW_DIRS_MAX]; /* of SIP 0 */
        assert_non_null(both);
        assert_int_equal(lp_plan_add(both, parts, 2, &fits), CW_OK);
        for (uint32_t part = 0; part < 2; part++)
            for (uint32_t pe = 0; pe < hw_pe_count(&m->hw); pe++)
                for (uint32_t left = lp_directions(m->plan, pe); left != 0; left &= left - 1) {
                    const enum hw_dir own = (enum hw_dir)__builtin_ctz(left);
                    const struct lp_dirs *const dirs = lp_plan_dirs(both, part);
                    struct lp_wire alone, end;
                    assert_true(lp_queue_end(m->plan, pe, own, &alone));
                    assert_true(lp_queue_end(both, pe, dirs->of_pe[own], &end));
                    assert_int_equal(end.peer, alone.peer);
                    assert_int_equal(end.peer_dir, dirs->of_pe[alone.peer_dir]);
                    const struct lp_endpoint place = lp_endpoint_of(both, pe, dirs->of_pe[own]);
                    if (place.place.sip > 0)
                        continue;
                    struct ring *const r = &ring[count];
                    assert_true(hw_pa_decode(place.rx_base_pa, &r->base));
                    r->bytes = place.n_slots * place.slot_size;
                    for (uint32_t i = 0; i < count; i++)
                        assert_false(overlap(&ring[i], r));
                    count++;
                }
        assert_int_equal(count, 2 * (20 + 8 * 2)); /* the PE grid's edges; both globals */
        lp_plan_free(both);
        machine_free(m);
    }
}

static void a_tile_goes_to_the_slot_of_its_number(void **state)
{
    (void)state;
    static const struct line sender[] = {SEND(E, 16), SEND(E, 16), SEND(E, 16),
                                         SEND(E, 16), SEND(E, 16), DONE},
                             receiver[] = {RECV(W, 16), RECV(W, 16), RECV(W, 16),
                                           RECV(W, 16), RECV(W, 16), DONE};
    static const uint8_t space[] = {LP_SPACE_TCM, LP_SPACE_HBM, LP_SPACE_SRAM};
    for (size_t k = 0; k < COUNT_OF(memories); k++) {
        struct machine *m = machine_of_all_directions(memories[k]);
        const struct lp_endpoint peer = lp_endpoint_of(m->plan, 1, W);
        RUN(m, {0, sender}, {1, receiver});
        for (uint32_t i = 0; i < 5; i++) {
            const struct lp_op *send = nth(m, 0, LP_OP_SEND, i);
            assert_int_equal(send->seq, i);
            assert_int_equal(send->dst.space, space[k]);
            assert_int_equal(send->dst.at, peer.rx_base_offset + i % 3 * 1024);
        }
        machine_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_queue_s_other_end_names_it),
        cmocka_unit_test(an_endpoint_says_where_its_ring_is),
        cmocka_unit_test(plans_on_the_same_sips_have_queues_of_their_own),
        cmocka_unit_test(a_tile_goes_to_the_slot_of_its_number),
    };
    return cmocka_run_group_tests_name("lp_endpoint", tests, NULL, NULL);
}
