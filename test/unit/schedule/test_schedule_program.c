/*
 * test_schedule_program.c: schedules laid on a machine (schedule_program.h): which PE has which
 * thread, the lengths of values, notifications, early loads, tiles of a step.
 */
#include "test/support/test_config_support.h"

#include "collectives/schedule/schedule_builder.h"
#include "collectives/schedule/schedule_program.h"
#include "collectives/schedule/schedule_rings.h"

static struct config *machine(void)
{
    static const char *const sets[] = {"system.sips.count=2"};
    return load_with("tiny", sets, 1);
}

static struct schedule_step step(enum schedule_op op, uint32_t src, uint32_t dst, uint32_t peer)
{
    return (struct schedule_step){.op = op,
                                  .count = 1,
                                  .src = {.at = src, .buffer = SCHEDULE_INPUT},
                                  .dst = {.at = dst, .buffer = SCHEDULE_INPUT},
                                  .send_to = peer,
                                  .recv_from = peer};
}

static struct schedule *built(struct schedule_builder *b)
{
    struct cw_error error;
    struct schedule *const s = schedule_build(b, &error);
    if (s == NULL)
        fail_msg("%s", error.text);
    return s;
}

static struct schedule_program *laid(const struct config *config, const struct schedule *s,
                                     uint32_t lanes, uint32_t apart)
{
    struct cw_error error;
    const struct program_request request = {.schedule = s,
                                            .hw = &config->hw,
                                            .ccl = &config->ccl,
                                            .lanes = lanes,
                                            .lanes_apart = apart};
    struct schedule_program *const p = schedule_program_create(&request, &error);
    if (p == NULL)
        fail_msg("%s", error.text);
    return p;
}

/* Two ranks exchange a chunk each way in each of two parts. */
static struct schedule *two_parts(void)
{
    struct schedule_builder *const b = schedule_builder_create("two", CCL_ALL_REDUCE, 2, 2);
    schedule_builder_head(b)->in_place = true;
    for (uint32_t r = 0; r < 2; r++) {
        schedule_chunks_of(b, r, 4, 4, 0);
        for (uint32_t p = 0; p < 2; p++) {
            const uint32_t t = schedule_thread(b, r, p), own = 2 * p + r, other = 2 * p + 1 - r;
            struct schedule_step s = step(SCHEDULE_SEND, other, 0, 1 - r);
            s.channel = (uint8_t)p;
            (void)schedule_add(b, r, t, s);
            s = step(SCHEDULE_RECV_REDUCE_COPY_SEND, own, own, 1 - r);
            s.channel = (uint8_t)p;
            (void)schedule_add(b, r, t, s);
            s = step(SCHEDULE_RECV, 0, other, 1 - r);
            s.channel = (uint8_t)p;
            (void)schedule_add(b, r, t, s);
        }
    }
    return built(b);
}

/* A lane's PE has the thread of its part, and sees the chunks of that part alone. */
static void lanes_take_turns_with_the_parts(void **state)
{
    (void)state;
    struct config *const config = machine();
    struct schedule *const s = two_parts();
    struct schedule_program *const p = laid(config, s, 4, 8);
    assert_int_equal(p->chunks[SCHEDULE_INPUT], 2);
    for (uint32_t pe = 0; pe < p->pes_of_sip; pe++)
        assert_int_equal(schedule_program_thread(p, 1, pe), pe % 8 != 0 ? UINT32_MAX : pe / 8 % 2);
    for (uint32_t t = 0; t < 2; t++) {
        const struct program_step *const steps = &p->rank[0].step[p->rank[0].thread[t].step_first];
        assert_int_equal(steps[0].src, 1);
        assert_int_equal(steps[1].src, 0);
        assert_int_equal(p->rank[0].size[steps[0].size_first], 1);
        assert_int_equal(p->rank[0].size[steps[1].size_first], 0);
    }
    struct lp_neighbours map = {0};
    uint32_t pe[8];
    assert_int_equal(schedule_program_places(p, NULL), 8);
    assert_int_equal(schedule_program_places(p, pe), 8);
    for (uint32_t place = 0; place < 8; place++)
        assert_int_equal(pe[place], place / 4 * p->pes_of_sip + place % 4 * 8);
    schedule_program_neighbours(p, 5, &map);
    assert_int_equal(map.count, 1);
    assert_int_equal(map.at[0].rank, 1); /* the same lane of the other SIP */
    assert_int_equal(map.at[0].way, LP_WAY_BOTH);
    schedule_program_free(p);
    schedule_free(s);
    config_free(config);
}

/* A value that is kept elsewhere is as long as the chunk that it came from. */
static void values_keep_their_lengths(void **state)
{
    (void)state;
    struct config *const config = machine();
    struct schedule_builder *const b = schedule_builder_create("keep", CCL_ALL_GATHER, 2, 1);
    for (uint32_t r = 0; r < 2; r++) {
        schedule_chunks_of(b, r, 3, 6, 2);
        const uint32_t t = schedule_thread(b, r, 0);
        struct schedule_step s = step(SCHEDULE_SEND, 2, 0, 1 - r);
        (void)schedule_add(b, r, t, s);
        s = step(SCHEDULE_RECV, 0, 1, 1 - r);
        s.dst.buffer = SCHEDULE_SCRATCH;
        (void)schedule_add(b, r, t, s);
        s = step(SCHEDULE_COPY, 1, 5 - 3 * r, 0);
        s.src.buffer = SCHEDULE_SCRATCH;
        s.dst.buffer = SCHEDULE_OUTPUT;
        (void)schedule_add(b, r, t, s);
    }
    struct schedule *const s = built(b);
    struct schedule_program *const p = laid(config, s, 0, 0);
    assert_int_equal(p->blocks[SCHEDULE_OUTPUT], 2);
    assert_int_equal(p->chunks[SCHEDULE_OUTPUT], 3);
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(p->rank[1].size[p->rank[1].step[k].size_first], 2);
    const struct ccl_call call = {.n_elem = 100, .dtype = LP_F16, .collective = CCL_ALL_GATHER};
    assert_int_equal(schedule_program_scratch(p, &call), 2 * 34 * 2);
    schedule_program_free(p);
    schedule_free(s);
    config_free(config);
}

/* Thread 1 waits for steps 0, 2 and 2 again of thread 0: two notifications, each taken once. */
static void each_step_is_notified_once(void **state)
{
    (void)state;
    struct config *const config = machine();
    struct schedule_builder *const b = schedule_builder_create("wait", CCL_ALL_REDUCE, 1, 1);
    schedule_builder_head(b)->in_place = true;
    schedule_chunks_of(b, 0, 8, 8, 0);
    const uint32_t t = schedule_thread(b, 0, 0), u = schedule_thread(b, 0, 0);
    for (uint32_t k = 0; k < 3; k++)
        (void)schedule_add(b, 0, t, step(SCHEDULE_COPY, k, k + 4, 0));
    for (uint32_t k = 0; k < 3; k++) {
        (void)schedule_add(b, 0, u, step(SCHEDULE_COPY, k + 4, 7, 0));
        static const uint32_t awaited[] = {2, 0, 2};
        schedule_wait_for(b, 0, u, (struct schedule_wait){.thread = t, .step = awaited[k]});
    }
    struct schedule *const s = built(b);
    s->rank[0].thread_count = 2;
    struct notified {
        uint32_t notices, waits, times;
    } found = {0};
    struct cw_error error;
    const struct program_request request = {.schedule = s, .hw = &config->hw, .ccl = &config->ccl};
    struct schedule_program *const p = schedule_program_create(&request, &error);
    if (p == NULL)
        fail_msg("%s", error.text);
    for (uint32_t k = 0; k < 6; k++) {
        found.notices += p->rank[0].step[k].notify_count;
        for (uint32_t i = 0; i < p->rank[0].step[k].wait_count; i++) {
            found.waits++;
            found.times += p->rank[0].wait[p->rank[0].step[k].wait_first + i].times;
        }
    }
    assert_int_equal(found.notices, 2);
    assert_int_equal(found.waits, 1); /* the second notification says that both steps are done */
    assert_int_equal(found.times, 2);
    assert_int_equal(p->peers, 1);
    assert_int_equal(p->rank[0].step[1].notify_count, 0);
    schedule_program_free(p);
    schedule_free(s);
    config_free(config);
}

/* A source that an earlier step has written is not loaded early; the input is. */
static void loads_are_early_where_nothing_is_written(void **state)
{
    (void)state;
    struct config *const config = machine();
    struct schedule *const s = two_parts();
    struct schedule_program *const p = laid(config, s, 4, 8);
    assert_int_equal(p->rank[0].step[0].flags & PROGRAM_EARLY,
                     1); /* its chunk is written later, by step 2 */
    assert_int_equal(p->rank[0].step[1].flags & PROGRAM_EARLY, 1);
    schedule_program_free(p);
    schedule_free(s);

    struct schedule_builder *const b = schedule_builder_create("late", CCL_ALL_REDUCE, 1, 1);
    schedule_builder_head(b)->in_place = true;
    schedule_chunks_of(b, 0, 3, 3, 0);
    const uint32_t t = schedule_thread(b, 0, 0);
    (void)schedule_add(b, 0, t, step(SCHEDULE_COPY, 0, 1, 0));
    (void)schedule_add(b, 0, t, step(SCHEDULE_COPY, 1, 2, 0));
    struct schedule *const late = built(b);
    struct schedule_program *const q = laid(config, late, 0, 0);
    assert_int_equal(q->rank[0].step[0].flags & PROGRAM_EARLY, 1);
    assert_int_equal(q->rank[0].step[1].flags & PROGRAM_EARLY, 0);
    schedule_program_free(q);
    schedule_free(late);
    config_free(config);
}

/* Both ranks send `sends` chunks before they receive any. */
static struct schedule *senders_first(uint32_t sends)
{
    struct schedule_builder *const b = schedule_builder_create("first", CCL_ALL_GATHER, 2, 1);
    for (uint32_t r = 0; r < 2; r++) {
        schedule_chunks_of(b, r, sends, 2 * sends, 0);
        const uint32_t t = schedule_thread(b, r, 0);
        for (uint32_t k = 0; k < sends; k++)
            (void)schedule_add(b, r, t, step(SCHEDULE_SEND, k, 0, 1 - r));
        for (uint32_t k = 0; k < sends; k++) {
            struct schedule_step s = step(SCHEDULE_RECV, 0, (1 - r) * sends + k, 1 - r);
            s.dst.buffer = SCHEDULE_OUTPUT;
            (void)schedule_add(b, r, t, s);
        }
    }
    return built(b);
}

static void rings_never_fill_up_for_ever(void **state)
{
    (void)state;
    static const struct {
        uint32_t sends, slots, tiles;
    } expected[] = {{1, 8, 8}, {1, 1, 1}, {2, 8, 4}, {3, 8, 2}, {8, 8, 1}, {9, 8, 0}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct schedule *const s = senders_first(expected[i].sends);
        struct schedule_faults faults = {0};
        struct schedule_graph *const graph = schedule_graph_create(s, &faults);
        assert_non_null(graph);
        assert_int_equal(schedule_rings_tiles(graph, expected[i].slots, NULL), expected[i].tiles);
        schedule_graph_free(graph);
        schedule_free(s);
    }
}

/* A piece has `piece_size` bytes at most, and a tile at least; a message that is smaller than a
 * piece has as many tiles as a piece, none of them smaller than the least. */
static void pieces_and_tiles_have_the_sizes_that_are_given(void **state)
{
    (void)state;
    struct ccl_config ccl = {.queues = {.slot_bytes = 512}};
    assert_int_equal(program_piece_tiles(&ccl, 8), 8);
    ccl.piece_bytes = 2048;
    assert_int_equal(program_piece_tiles(&ccl, 8), 4);
    assert_int_equal(program_piece_tiles(&ccl, 2), 2);
    ccl.piece_bytes = 100;
    assert_int_equal(program_piece_tiles(&ccl, 8), 1);
    static const struct {
        uint64_t message;
        uint32_t least, tile; /* in pieces of 4 tiles of 128 elements */
    } rows[] = {{512, 16, 128}, {9999, 16, 128}, {500, 16, 125}, {401, 16, 101}, {64, 16, 16},
                {40, 16, 16},   {1, 16, 16},     {64, 0, 128},   {64, 128, 128}, {64, 200, 128}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(program_tile_elems(rows[i].message, 4, 128, rows[i].least), rows[i].tile);
}

static void refused(const struct config *config, struct schedule *s, uint32_t lanes,
                    const char *text)
{
    struct cw_error error = {0};
    const struct program_request request = {
        .schedule = s, .hw = &config->hw, .ccl = &config->ccl, .lanes = lanes, .lanes_apart = 1};
    assert_null(schedule_program_create(&request, &error));
    assert_int_equal(error.exit_code, CW_USAGE);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' says nothing of '%s'", error.text, text);
    schedule_free(s);
}

static void impossible_schedules_are_refused(void **state)
{
    (void)state;
    struct config *const config = machine();
    struct schedule_builder *b = schedule_builder_create("lost", CCL_ALL_REDUCE, 2, 1);
    for (uint32_t r = 0; r < 2; r++) {
        schedule_chunks_of(b, r, 1, 1, 0);
        (void)schedule_add(b, r, schedule_thread(b, r, 0), step(SCHEDULE_SEND, 0, 0, 1 - r));
    }
    refused(config, built(b), 0, "receives no such message");

    b = schedule_builder_create("more", CCL_ALL_REDUCE, 2, 1);
    schedule_builder_head(b)->in_place = true;
    for (uint32_t r = 0; r < 2; r++)
        schedule_chunks_of(b, r, 1, 1, 0);
    uint32_t t = schedule_thread(b, 0, 0);
    (void)schedule_add(b, 0, t, step(SCHEDULE_SEND, 0, 0, 1));
    t = schedule_thread(b, 1, 0);
    (void)schedule_add(b, 1, t, step(SCHEDULE_RECV, 0, 0, 0));
    (void)schedule_add(b, 1, t, step(SCHEDULE_RECV, 0, 0, 0));
    refused(config, built(b), 0, "no such message");

    b = schedule_builder_create("round", CCL_ALL_REDUCE, 2, 1);
    schedule_builder_head(b)->in_place = true;
    for (uint32_t r = 0; r < 2; r++) {
        schedule_chunks_of(b, r, 2, 2, 0);
        t = schedule_thread(b, r, 0);
        (void)schedule_add(b, r, t, step(SCHEDULE_RECV, 0, 0, 1 - r));
        (void)schedule_add(b, r, t, step(SCHEDULE_SEND, 1, 0, 1 - r));
    }
    refused(config, built(b), 0, "circle");
    refused(config, senders_first(9), 0, "rings of 8 slots fill up forever");
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_take_turns_with_the_parts),
        cmocka_unit_test(values_keep_their_lengths),
        cmocka_unit_test(each_step_is_notified_once),
        cmocka_unit_test(loads_are_early_where_nothing_is_written),
        cmocka_unit_test(rings_never_fill_up_for_ever),
        cmocka_unit_test(pieces_and_tiles_have_the_sizes_that_are_given),
        cmocka_unit_test(impossible_schedules_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
