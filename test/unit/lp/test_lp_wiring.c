/*
 * test_lp_wiring.c: tables of logical topologies: directions, their names and their other ends;
 * refusals; and queues made from a table, which work between the PEs that it names and nowhere
 * else.
 */
#include "test/support/test_lp_support.h"

#include "collectives/data/data_commit.h"
#include "collectives/data/data_pass.h"
#include "collectives/data/strict_check.h"
#include "hw/route.h"
#include "lp/queues/logical_wiring.h"

/* A neighbour map as a test writes it: one line per direction of a rank. */
struct entry {
    uint32_t rank;
    const char *dir;
    uint32_t to;
    const char *opposite; /* NULL: by the name */
    uint8_t way;
};
struct map {
    const struct entry *entry;
    size_t count;
};
#define MAP(...)                                                                                   \
    &(const struct map)                                                                            \
    {                                                                                              \
        (const struct entry[]){__VA_ARGS__},                                                       \
            sizeof((const struct entry[]){__VA_ARGS__}) / sizeof(struct entry)                     \
    }

static int fill(void *arg, uint32_t rank, struct lp_neighbours *out, struct cw_error *error)
{
    const struct map *map = arg;
    (void)error;
    for (size_t i = 0; i < map->count; i++) {
        const struct entry *entry = &map->entry[i];
        if (entry->rank != rank)
            continue;
        struct lp_neighbour *to = &out->at[out->count++];
        snprintf(to->dir, sizeof to->dir, "%s", entry->dir);
        snprintf(to->opposite, sizeof to->opposite, "%s", entry->opposite ? entry->opposite : "");
        to->rank = entry->to;
        to->way = entry->way;
    }
    return CW_OK;
}

static uint32_t pe_of_rank(const struct hw_config *hw, uint32_t rank)
{
    return rank * hw_cubes(hw) * hw_pes(hw);
}

/* Ranks on PE (0, 0) of the SIPs with their numbers. */
static int try_map(const struct hw_config *hw, uint32_t ranks, const struct map *map,
                   struct lp_wiring **out, struct cw_error *error)
{
    struct map copy = *map;
    uint32_t pe[32];
    assert_true(ranks <= COUNT_OF(pe));
    for (uint32_t rank = 0; rank < ranks; rank++)
        pe[rank] = pe_of_rank(hw, rank);
    const struct lp_wiring_request request = {.hw = hw,
                                              .ranks = ranks,
                                              .lanes = 1,
                                              .pe = pe,
                                              .credit_bytes = 16,
                                              .neighbours = fill,
                                              .arg = &copy};
    return lp_wiring_create(&request, out, error);
}

static struct lp_wiring *create(const struct hw_config *hw, uint32_t ranks, const struct map *map)
{
    struct lp_wiring *wiring;
    struct cw_error error;
    if (try_map(hw, ranks, map, &wiring, &error) != CW_OK)
        fail_msg("%s", error.text);
    return wiring;
}

static const struct map *tree_of_three(void)
{
    static const struct entry entries[] = {{0, "child_left", 1, "parent", 0},
                                           {0, "child_right", 2, "parent", 0},
                                           {1, "parent", 0, "child_left", 0},
                                           {2, "parent", 0, "child_right", 0}};
    static const struct map map = {entries, COUNT_OF(entries)};
    return &map;
}

static void directions_lead_to_the_pe_0_0_of_their_rank(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_ring_1d, 4, 1);
    struct lp_wiring *wiring = create(&hw, 3, tree_of_three());
    const struct lp_wire *right = lp_wiring_at(wiring, 0, HW_DIR_CHILD_RIGHT);
    assert_non_null(right);
    assert_int_equal(right->peer, pe_of_rank(&hw, 2));
    assert_int_equal(right->peer_dir, HW_DIR_PARENT);
    assert_string_equal(lp_wiring_name(wiring, 0, HW_DIR_CHILD_RIGHT), "child_right");
    assert_null(lp_wiring_name(wiring, 0, HW_DIR_PARENT));
    assert_null(lp_wiring_at(wiring, 0, HW_DIR_PARENT));
    assert_null(lp_wiring_at(wiring, 1, HW_DIR_CHILD_LEFT)); /* PE 1 of the same cube */
    assert_null(lp_wiring_at(wiring, pe_of_rank(&hw, 3), HW_DIR_PARENT));
    assert_int_equal(lp_wiring_queue_pairs(wiring), 4);
    assert_int_equal(lp_wiring_rings_max(wiring), 2);
    lp_wiring_free(wiring);
}

static void letters_have_opposites_under_the_same_prefix(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"N", "S"}, {"E", "W"}, {"global_N", "global_S"}, {"mine_E", "mine_W"}};
    char opposite[LP_DIR_NAME_BYTES];
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        assert_true(lp_dir_opposite(pairs[i][0], opposite));
        assert_string_equal(opposite, pairs[i][1]);
        assert_true(lp_dir_opposite(pairs[i][1], opposite));
        assert_string_equal(opposite, pairs[i][0]);
    }
    assert_false(lp_dir_opposite("parent", opposite));
    assert_false(lp_dir_opposite("LINE", opposite)); /* no letter behind a prefix */
    assert_false(lp_dir_opposite("", opposite));
}

/* Sixteen names on one PE, none of them known to another PE. */
static void a_pe_takes_sixteen_names_of_its_own(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_ring_1d, 17, 1);
    static struct entry entries[32];
    static char name[16][8];
    for (uint32_t i = 0; i < 16; i++) {
        snprintf(name[i], sizeof name[i], "to_%u", i + 1);
        entries[2 * i] = (struct entry){0, name[i], i + 1, "from_0", 0};
        entries[2 * i + 1] = (struct entry){i + 1, "from_0", 0, name[i], 0};
    }
    struct lp_wiring *wiring = create(&hw, 17, &(const struct map){entries, COUNT_OF(entries)});
    uint32_t seen = 0;
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        const struct lp_wire *wire = lp_wiring_at(wiring, 0, dir);
        assert_non_null(wire);
        const uint32_t rank = wire->peer / pe_of_rank(&hw, 1);
        assert_string_equal(lp_wiring_name(wiring, 0, dir), name[rank - 1]);
        const struct lp_wire *back = lp_wiring_at(wiring, wire->peer, (enum hw_dir)wire->peer_dir);
        assert_int_equal(back->peer_dir, dir);
        assert_int_equal(back->peer, 0);
        seen |= 1u << (rank - 1);
    }
    assert_int_equal(seen, 0xffff);
    lp_wiring_free(wiring);
}

static void a_credit_s_latency_is_that_of_its_path(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_ring_1d, 5, 1);
    struct lp_wiring *wiring =
        create(&hw, 5,
               MAP({0, "E", 3, "W", 0}, {3, "W", 0, "E", 0}, {0, "global_E", 4, "global_W", 0},
                   {4, "global_W", 0, "global_E", 0}));
    /* as routed: 0 is reached from 3 by two steps east */
    assert_int_equal(lp_wiring_at(wiring, pe_of_rank(&hw, 3), HW_DIR_W)->credit_ps,
                     hw_path_ps(&hw, (struct hw_place){.sip = 3}, (struct hw_place){.sip = 0},
                                HW_MEMORY_NONE, HW_PORT_NONE, HW_DIRS_MAX, 16));
    /* global_W leaves by port W, the long way round: 4, 3, and from there as routed */
    const int64_t by_port = lp_wiring_at(wiring, pe_of_rank(&hw, 4), HW_DIR_GLOBAL_W)->credit_ps;
    assert_int_equal(by_port,
                     hw_path_ps(&hw, (struct hw_place){.sip = 4}, (struct hw_place){.sip = 0},
                                HW_MEMORY_NONE, HW_PORT_W, HW_DIRS_MAX, 16));
    assert_true(by_port > hw_path_ps(&hw, (struct hw_place){.sip = 4}, (struct hw_place){.sip = 0},
                                     HW_MEMORY_NONE, HW_PORT_NONE, HW_DIRS_MAX, 16));
    lp_wiring_free(wiring);
}

/* Two layers of four SIPs: two links join SIP 0 with SIP 4. As routed, tiles take outlet D. */
static void a_name_of_the_third_dimension_leaves_by_its_own_link(void **state)
{
    (void)state;
    struct hw_config hw = sips_of(&hw_torus_3d, 8, 1);
    struct hw_sip_size size;
    struct hw_misfit misfit;
    char name[HW_OUTLET_NAME_BYTES];
    assert_true(hw_torus_3d.fit(8, (struct hw_sip_size){0}, &size, &misfit));
    hw_join_sips(&hw, &hw_torus_3d, &size);
    const uint32_t down = hw_named_outlet(&hw, 0, 'D'), up = hw_named_outlet(&hw, 0, 'U');
    assert_int_equal(hw.sip_dims.at[2].size, 2);
    hw_outlet_name(&hw, 0, down, name);
    assert_string_equal(name, "D");
    assert_int_equal(hw_route_exit(&hw, 0, 4, 0), down);
    assert_int_not_equal(up, down);
    struct lp_wiring *const wiring =
        create(&hw, 8,
               MAP({0, "global_U", 4, "global_D", 0}, {4, "global_D", 0, "global_U", 0},
                   {0, "E", 4, "W", 0}, {4, "W", 0, "E", 0}));
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        const struct lp_wire *const wire = lp_wiring_at(wiring, pe_of_rank(&hw, 0), dir);
        if (wire != NULL)
            assert_int_equal(wire->exit, strcmp(lp_wiring_name(wiring, 0, dir), "global_U") == 0
                                             ? up
                                             : HW_OUTLET_NONE);
    }
    lp_wiring_free(wiring);
    hw = sips_of(&hw_torus_3d, 7, 1); /* no layers */
    assert_int_equal(hw_named_outlet(&hw, 0, 'U'), HW_OUTLET_NONE);
    assert_int_equal(hw_named_outlet(&hw, 0, 'E'), hw_route_exit(&hw, 0, 1, 0));
}

static void what_does_not_lead_back_is_refused(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_ring_1d, 4, 1);
    const struct {
        const struct map *map;
        const char *text;
    } cases[] = {
        {MAP({0, "E", 1, NULL, 0}),
         "I3: direction E of rank 0 leads to rank 1, which has no direction W to lead back"},
        {MAP({0, "E", 1, NULL, 0}, {1, "W", 2, NULL, 0}, {2, "E", 1, NULL, 0}),
         "I3: direction E of rank 0 leads to rank 1, whose direction W leads to rank 2 instead of "
         "back"},
        {MAP({0, "up", 1, "W", 0}, {1, "W", 0, "down", 0}, {0, "down", 1, "W", 0}),
         "I3: direction up of rank 0 and direction W of rank 1 name each other under different "
         "directions"},
        {MAP({0, "up", 1, NULL, 0}),
         "direction up of rank 0 has no opposite by its name, and none is given"},
        {MAP({0, "E", 4, NULL, 0}),
         "direction E of rank 0 leads to rank 4; legal: another one below 4"},
        {MAP({2, "E", 2, NULL, 0}),
         "direction E of rank 2 leads to rank 2; legal: another one below 4"},
        {MAP({0, "E", 1, NULL, 0}, {0, "E", 2, NULL, 0}), "rank 0 has two directions named E"},
        {MAP({0, "the end", 1, NULL, 0}),
         "rank 0 has a direction named 'the end'; a name is 1 to 31 letters, digits and _"},
        {MAP({0, "E", 1, NULL, LP_WAY_OUT}, {1, "W", 0, NULL, LP_WAY_BOTH}),
         "direction E of rank 0 and direction W of rank 1 do not agree on which of them sends"},
        {MAP({0, "global_N", 1, NULL, 0}),
         "direction global_N of rank 0 always leaves by that port of its SIP, which has no link "
         "there; use another name"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_wiring *wiring;
        struct cw_error error;
        assert_int_equal(try_map(&hw, 4, cases[i].map, &wiring, &error), CW_USAGE);
        assert_null(wiring);
        assert_string_equal(error.text, cases[i].text);
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

/* A ring through all ranks: next leads to the next one. */
static int fill_ring(void *arg, uint32_t rank, struct lp_neighbours *out, struct cw_error *error)
{
    const uint32_t ranks = *(const uint32_t *)arg;
    (void)error;
    *out = (struct lp_neighbours){.count = 2,
                                  .at = {{"next", "back", (rank + 1) % ranks, LP_WAY_OUT},
                                         {"back", "next", (rank + ranks - 1) % ranks, LP_WAY_IN}}};
    return CW_OK;
}

static int try_ring(const struct hw_config *hw, uint32_t ranks, uint32_t lanes, const uint32_t *pe,
                    enum lp_wired_pes wired, struct lp_wiring **out, struct cw_error *error)
{
    const struct lp_wiring_request request = {.hw = hw,
                                              .ranks = ranks,
                                              .lanes = lanes,
                                              .pe = pe,
                                              .wired = wired,
                                              .credit_bytes = 16,
                                              .neighbours = fill_ring,
                                              .arg = &ranks};
    return lp_wiring_create(&request, out, error);
}

static struct lp_wiring *ring_of(const struct hw_config *hw, uint32_t ranks, uint32_t lanes,
                                 const uint32_t *pe, enum lp_wired_pes wired)
{
    struct lp_wiring *wiring;
    struct cw_error error;
    if (try_ring(hw, ranks, lanes, pe, wired, &wiring, &error) != CW_OK)
        fail_msg("%s", error.text);
    return wiring;
}

/* Each place's ends lead to its lane's next and last PE, and its one ring is of `back`. */
static void expect_ring(const struct lp_wiring *wiring, const struct hw_config *hw, uint32_t ranks,
                        uint32_t lanes, const uint32_t *pe)
{
    const enum hw_dir next = HW_DIR_INTRA_N, back = HW_DIR_INTRA_S; /* the first free indices */
    for (uint32_t i = 0; i < ranks * lanes; i++) {
        const uint32_t rank = i / lanes, lane = i % lanes;
        const struct lp_wire *const to = lp_wiring_at(wiring, pe[i], next);
        const struct lp_wire *const from = lp_wiring_at(wiring, pe[i], back);
        for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
            assert_true((lp_wiring_at(wiring, pe[i], dir) != NULL) == (dir == next || dir == back));
        assert_int_equal(to->peer, pe[(rank + 1) % ranks * lanes + lane]);
        assert_int_equal(to->peer_dir, back);
        assert_int_equal(to->way, LP_WAY_OUT);
        assert_int_equal(from->peer, pe[(rank + ranks - 1) % ranks * lanes + lane]);
        assert_int_equal(from->peer_dir, next);
        assert_string_equal(lp_wiring_name(wiring, pe[i], next), "next");
        assert_string_equal(lp_wiring_name(wiring, pe[i], back), "back");
        assert_int_equal(to->credit_ps,
                         hw_path_ps(hw, hw_place_of(hw, pe[i]), hw_place_of(hw, to->peer),
                                    HW_MEMORY_NONE, HW_OUTLET_NONE, HW_DIRS_MAX, 16));
        assert_int_equal(lp_wiring_rings(wiring, pe[i], back), 0);
        assert_int_equal(lp_wiring_rings(wiring, pe[i], HW_DIRS_MAX), 1);
    }
    assert_int_equal(lp_wiring_queue_pairs(wiring), 2 * ranks * lanes);
    assert_int_equal(lp_wiring_directions(wiring), 1u << next | 1u << back);
    assert_int_equal(lp_wiring_ranks(wiring), ranks);
    assert_int_equal(lp_wiring_rings_max(wiring), 1);
}

static uint32_t places_on(const struct lp_wiring *wiring, const struct hw_config *hw)
{
    uint32_t places = 0;
    for (uint32_t pe = 0; pe < hw_pe_count(hw); pe++)
        places += lp_wiring_rings(wiring, pe, HW_DIRS_MAX) > 0;
    return places;
}

/* Several on one SIP, none on SIPs before, between and after them, in no order. */
static void places_may_be_on_any_pes_in_any_order(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_ring_1d, 9, 1);
    const uint32_t sip = hw_cubes(&hw) * hw_pes(&hw);
    const uint32_t pe[] = {7 * sip + 3,  2 * sip + sip - 1, 5 * sip,     2 * sip,
                           7 * sip + 17, 2 * sip + 5,       5 * sip + 1, 7 * sip};
    struct lp_wiring *const wiring = ring_of(&hw, COUNT_OF(pe), 1, pe, LP_WIRED_BY_PLAN);
    expect_ring(wiring, &hw, COUNT_OF(pe), 1, pe);
    assert_int_equal(places_on(wiring, &hw), COUNT_OF(pe));
    assert_null(lp_wiring_at(wiring, 0, HW_DIR_INTRA_N));
    assert_null(lp_wiring_at(wiring, 3 * sip, HW_DIR_INTRA_N));
    assert_null(lp_wiring_at(wiring, 8 * sip, HW_DIR_INTRA_N));
    assert_null(lp_wiring_at(wiring, 2 * sip + 4, HW_DIR_INTRA_N));
    assert_null(lp_wiring_at(wiring, 5 * sip, HW_DIR_INTRA_E));
    assert_null(lp_wiring_at(wiring, 5 * sip, HW_DIRS_MAX));
    assert_int_equal(lp_wiring_rings(wiring, 3 * sip, HW_DIRS_MAX), 0);
    lp_wiring_free(wiring);
}

/* Ranks on other PEs of their SIPs than the rank before: more patterns than are compared. */
static void lanes_join_pe_by_pe(void **state)
{
    (void)state;
    enum { RANKS = 40, LANES = 3 };
    const struct hw_config hw = sips_of(&hw_ring_1d, RANKS, 1);
    const uint32_t sip = hw_cubes(&hw) * hw_pes(&hw);
    uint32_t pe[RANKS * LANES];
    for (uint32_t rank = 0; rank < RANKS; rank++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            pe[rank * LANES + lane] = (RANKS - 1 - rank) * sip + (rank + 41 * lane) % sip;
    struct lp_wiring *const wiring = ring_of(&hw, RANKS, LANES, pe, LP_WIRED_BY_PLAN);
    expect_ring(wiring, &hw, RANKS, LANES, pe);
    assert_int_equal(places_on(wiring, &hw), RANKS * LANES);
    lp_wiring_free(wiring);
}

static void many_places_are_found(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_ring_1d, 64, 1);
    const uint32_t count = hw_pe_count(&hw);
    uint32_t *const pe = malloc(count * sizeof *pe);
    assert_non_null(pe);
    for (uint32_t i = 0; i < count; i++)
        pe[i] = (uint32_t)((uint64_t)i * 4099 % count); /* odd, and count is a power of two */
    struct lp_wiring *const wiring = ring_of(&hw, count, 1, pe, LP_WIRED_PLACES);
    expect_ring(wiring, &hw, count, 1, pe);
    lp_wiring_free(wiring);
    free(pe);
}

static void a_place_is_one_pe_of_the_machine(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_ring_1d, 2, 1);
    const uint32_t twice[] = {5, 200, 5}, beyond[] = {0, hw_pe_count(&hw)};
    struct lp_wiring *wiring;
    struct cw_error error;
    assert_int_equal(try_ring(&hw, 3, 1, twice, LP_WIRED_PLACES, &wiring, &error), CW_USAGE);
    assert_string_equal(error.text,
                        "a logical topology joins PE 5 twice; legal: a PE for each place");
    assert_int_equal(try_ring(&hw, 2, 1, beyond, LP_WIRED_PLACES, &wiring, &error), CW_USAGE);
    assert_string_equal(error.text, "a logical topology joins PE 256; legal: PEs below 256");
    assert_int_equal(try_ring(&hw, 257, 1, twice, LP_WIRED_PLACES, &wiring, &error), CW_USAGE);
    assert_string_equal(error.text, "a logical topology joins 257 PEs, and there are 256");
    assert_null(wiring);
}

/* SIPs 1 and 3 of five have places, one on PE 0 of a cube and one not. */
static void pes_are_wired_by_their_sips(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_ring_1d, 5, 1);
    const uint32_t sip = hw_cubes(&hw) * hw_pes(&hw), pe[] = {sip, 3 * sip + 9};
    for (int wired = LP_WIRED_BY_PLAN; wired <= LP_WIRED_PLACES; wired++) {
        struct lp_wiring *const wiring = ring_of(&hw, 2, 1, pe, (enum lp_wired_pes)wired);
        for (uint32_t at = 0; at < hw_pe_count(&hw); at++)
            for (int by_plan = 0; by_plan < 2; by_plan++) {
                const bool is_place = at == pe[0] || at == pe[1];
                const bool with_places = at / sip == 1 || at / sip == 3;
                const bool expected[] = {[LP_WIRED_BY_PLAN] = is_place || (with_places && by_plan),
                                         [LP_WIRED_SIPS] = with_places,
                                         [LP_WIRED_MACHINE] = true,
                                         [LP_WIRED_PLACES] = is_place};
                assert_int_equal(lp_wiring_wires(wiring, at, by_plan), expected[wired]);
            }
        lp_wiring_free(wiring);
    }
}

/* ---- on the machine -------------------------------------------------------------------------- */

static struct machine *machine_of(uint32_t sips, const struct map *map)
{
    struct machine *m = small_machine(sips, 2, 1);
    m->wiring = create(&m->hw, sips, map);
    machine_start(m);
    return m;
}

static void free_machine(struct machine *m)
{
    struct lp_wiring *wiring = (struct lp_wiring *)(uintptr_t)m->wiring;
    machine_free(m);
    lp_wiring_free(wiring);
}

static void only_the_topology_s_own_queues_are_installed(void **state)
{
    (void)state;
    struct machine *m = machine_of(3, tree_of_three());
    assert_int_equal(lp_system_count(m->system).queue_pairs, 4);
    /* an IpcqInitMsg for each PE of each rank's SIP, also one without neighbours */
    assert_int_equal(lp_system_times(m->system)->submitted, 3 * hw_cubes(&m->hw) * hw_pes(&m->hw));
    free_machine(m);
}

static void a_tile_goes_to_the_parent_and_back(void **state)
{
    (void)state;
    static const struct line root[] = {RECV(HW_DIR_CHILD_LEFT, 64), RECV(HW_DIR_CHILD_RIGHT, 64),
                                       SEND(HW_DIR_CHILD_RIGHT, 32), DONE};
    static const struct line leaf[] = {SEND(HW_DIR_PARENT, 64), DONE};
    static const struct line other[] = {SEND(HW_DIR_PARENT, 64), RECV(HW_DIR_PARENT, 32), DONE};
    struct machine *m = machine_of(3, tree_of_three());
    const uint32_t second = pe_of_rank(&m->hw, 2);
    RUN(m, {0, root}, {pe_of_rank(&m->hw, 1), leaf}, {second, other});
    assert_int_equal(queue_of(m, second, HW_DIR_PARENT)->my_tail, 1);
    assert_int_equal(queue_of(m, 0, HW_DIR_CHILD_RIGHT)->my_head, 1);
    const struct lp_op *sent = nth(m, second, LP_OP_SEND, 0);
    assert_int_equal(sent->peer, 0);
    assert_int_equal(sent->peer_dir, HW_DIR_CHILD_RIGHT);
    /* the rings of one PE do not overlap */
    assert_int_equal(sent->dst.at - nth(m, pe_of_rank(&m->hw, 1), LP_OP_SEND, 0)->dst.at,
                     m->config.n_slots * m->config.slot_bytes);
    free_machine(m);
}

static void a_direction_that_the_topology_lacks_is_invalid(void **state)
{
    (void)state;
    static const struct line script[] = {SEND(HW_DIR_E, 64), DONE};
    struct machine *m = machine_of(3, tree_of_three());
    assert_int_equal(try_scripts(m, &(const struct part){0, script}, 1), CW_PROGRAM_FAILED);
    assert_non_null(strstr(m->error.text, "IpcqInvalidDirection: PE 0.0.0, kernel script: send in "
                                          "direction E, which is not installed there; installed: "
                                          "child_left, child_right"));
    free_machine(m);
}

static void a_one_way_queue_is_not_sent_in_from_its_end(void **state)
{
    (void)state;
    static const struct line send[] = {SEND(HW_DIR_E, 64), DONE};
    static const struct line receive[] = {RECV(HW_DIR_W, 64), DONE};
    static const struct line wrong[] = {SEND(HW_DIR_W, 64), DONE};
    const struct map *map = MAP({0, "E", 1, NULL, LP_WAY_OUT}, {1, "W", 0, NULL, LP_WAY_IN});
    struct machine *m = machine_of(2, map);
    const uint32_t end = pe_of_rank(&m->hw, 1);
    RUN(m, {0, send}, {end, receive});
    assert_int_equal(queue_of(m, end, HW_DIR_W)->my_tail, 1);
    assert_int_equal(lp_wiring_rings_max(m->wiring), 1); /* E has no ring */
    assert_int_equal(try_scripts(m, &(const struct part){end, wrong}, 1), CW_PROGRAM_FAILED);
    assert_non_null(strstr(m->error.text, "direction W, which goes the other way only"));
    free_machine(m);
}

/* A kernel finds an invented name by asking. */
static enum tl_status run_named(struct tl *tl, void *state)
{
    uint16_t *line = state;
    TL_BEGIN(line);
    if (tl_args(tl)->rank == 0)
        TL_CALL(line, tl_send(tl, tl_dir(tl, "bridge"), tl_tcm(0), 64));
    else
        TL_CALL(line, tl_recv(tl, tl_dir(tl, "landing"), 64));
    TL_END(line);
}

static void invented_names_are_found_and_named_in_a_deadlock(void **state)
{
    (void)state;
    static const struct tl_kernel kernel = {
        .name = "named", .frame_bytes = sizeof(uint16_t), .run = run_named};
    struct machine *m =
        machine_of(2, MAP({0, "bridge", 1, "landing", 0}, {1, "landing", 0, "bridge", 0}));
    for (uint32_t ranks = 2; ranks > 0; ranks--) {
        assert_int_equal(lp_system_begin_batch(
                             m->system, &(struct lp_batch_options){.kernel = &kernel}, &m->error),
                         CW_OK);
        for (uint32_t rank = 2 - ranks; rank < 2; rank++) {
            const struct tl_args args = {.rank = rank, .dtype = LP_F16, .n_elem = 32};
            assert_int_equal(lp_system_submit_launch(m->system, pe_of_rank(&m->hw, rank), &kernel,
                                                     &args, &m->error),
                             CW_OK);
        }
        const int code = lp_system_drain(m->system, &m->error);
        assert_int_equal(code, ranks == 2 ? CW_OK : CW_PROGRAM_FAILED);
        if (ranks == 2)
            assert_int_equal(lp_system_count(m->system).messages, 1);
    }
    assert_non_null(strstr(m->error.text, "waits for data from landing"));
    free_machine(m);
}

/* Whatever index its directions have got. */
static void a_tile_of_two_sizes_is_told_with_the_names_of_its_directions(void **state)
{
    (void)state;
    static const struct line send[] = {SEND(HW_DIR_INTRA_N, 64), DONE};
    static const struct line receive[] = {RECV(HW_DIR_INTRA_N, 32), DONE};
    struct cw_error error = {0};
    struct cw_event event;
    struct machine *const m = small_machine(2, 1, 1);
    m->wiring =
        create(&m->hw, 2, MAP({0, "bridge", 1, "landing", 0}, {1, "landing", 0, "bridge", 0}));
    m->with_data = true;
    machine_start(m);
    struct strict_check *const strict = strict_check_create(&m->hw, m->config.n_slots, NULL, NULL);
    assert_non_null(strict);
    strict_check_set_plan(strict, m->plan);
    const uint32_t end = pe_of_rank(&m->hw, 1);
    RUN(m, {0, send}, {end, receive});
    assert_int_equal(data_commit_settle(m->data, &(struct data_drain){0}, &event, &error),
                     CW_PROGRAM_FAILED);
    assert_non_null(strstr(error.text, "PE 1.0.0 received tile 0 from direction landing as 32"));
    assert_int_equal(strict_check_op(strict, nth(m, 0, LP_OP_SEND, 0), &error), CW_OK);
    assert_int_equal(strict_check_op(strict, nth(m, end, LP_OP_RECV, 0), &error),
                     CW_PROGRAM_FAILED);
    assert_non_null(strstr(error.text, "PE 0.0.0 sent tile 0 in direction bridge as 64"));
    assert_non_null(strstr(error.text, "PE 1.0.0 received it from direction landing"));
    strict_check_free(strict);
    free_machine(m);
}

/* The machine's SIPs are a ring of five in the dimension of this size. */
static void join_five(struct hw_config *hw, const struct hw_topology_ops *topology, uint32_t layers)
{
    struct hw_sip_size size;
    struct hw_misfit misfit;
    hw->sip_count = 5;
    assert_true(topology->fit(5, (struct hw_sip_size){.w = 5 / layers, .h = 1, .d = layers}, &size,
                              &misfit));
    hw_join_sips(hw, topology, &size);
}

/* From SIP 0 to SIP 4 by the link to SIP 1: from there the shorter way leads through SIP 0. It is a
 * SIP on the way like any other. */
static void a_tile_that_comes_back_to_its_own_sip_crosses_the_io_die(void **state)
{
    (void)state;
    static const struct line send[] = {SEND(HW_DIR_GLOBAL_E, 64), DONE};
    static const struct line receive[] = {RECV(HW_DIR_GLOBAL_W, 64), DONE};
    static const struct line send_down[] = {SEND(HW_DIR_INTRA_N, 64), DONE};
    static const struct line receive_up[] = {RECV(HW_DIR_INTRA_N, 64), DONE};
    const struct {
        const struct hw_topology_ops *topology;
        uint32_t layers;
        char letter;
        const struct map *map;
        const struct line *send, *receive;
    } cases[] = {
        {&hw_ring_1d, 1, 'E', MAP({0, "global_E", 4, NULL, 0}, {4, "global_W", 0, NULL, 0}), send,
         receive},
        {&hw_torus_3d, 5, 'D',
         MAP({0, "global_D", 4, "global_U", 0}, {4, "global_U", 0, "global_D", 0}), send_down,
         receive_up},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct machine *const m = small_machine(5, 1, 1);
        join_five(&m->hw, cases[i].topology, cases[i].layers);
        m->config.credit_blocks = false;
        m->wiring = create(&m->hw, 5, cases[i].map);
        machine_start(m);
        const uint32_t end = pe_of_rank(&m->hw, 4);
        RUN(m, {0, cases[i].send}, {end, cases[i].receive});
        const int64_t way_ps =
            hw_path_ps(&m->hw, (struct hw_place){.sip = 0}, (struct hw_place){.sip = 4},
                       HW_MEMORY_TCM, hw_named_outlet(&m->hw, 0, cases[i].letter), HW_DIRS_MAX, 64);
        assert_int_equal(nth(m, end, LP_OP_RECV, 0)->t_end_ps,
                         nth(m, 0, LP_OP_SEND, 0)->t_end_ps + way_ps + m->hw.ipcq_wire_ps);
        free_machine(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_lead_to_the_pe_0_0_of_their_rank),
        cmocka_unit_test(letters_have_opposites_under_the_same_prefix),
        cmocka_unit_test(a_pe_takes_sixteen_names_of_its_own),
        cmocka_unit_test(a_credit_s_latency_is_that_of_its_path),
        cmocka_unit_test(a_name_of_the_third_dimension_leaves_by_its_own_link),
        cmocka_unit_test(what_does_not_lead_back_is_refused),
        cmocka_unit_test(places_may_be_on_any_pes_in_any_order),
        cmocka_unit_test(lanes_join_pe_by_pe),
        cmocka_unit_test(many_places_are_found),
        cmocka_unit_test(a_place_is_one_pe_of_the_machine),
        cmocka_unit_test(pes_are_wired_by_their_sips),
        cmocka_unit_test(only_the_topology_s_own_queues_are_installed),
        cmocka_unit_test(a_tile_goes_to_the_parent_and_back),
        cmocka_unit_test(a_direction_that_the_topology_lacks_is_invalid),
        cmocka_unit_test(a_one_way_queue_is_not_sent_in_from_its_end),
        cmocka_unit_test(invented_names_are_found_and_named_in_a_deadlock),
        cmocka_unit_test(a_tile_of_two_sizes_is_told_with_the_names_of_its_directions),
        cmocka_unit_test(a_tile_that_comes_back_to_its_own_sip_crosses_the_io_die),
    };
    return cmocka_run_group_tests_name("lp_wiring", tests, NULL, NULL);
}
