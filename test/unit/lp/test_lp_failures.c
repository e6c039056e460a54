/*
 * test_lp_failures.c: the errors that end a simulated program with exit code 3. Each names its
 * place, the fault and the remedy (lp/QUEUES.md, "Failures"; hw/HARDWARE.md, "Blocks of a PE").
 */
#include "test/support/test_lp_support.h"

#include "lp/host/deadlock.h"

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W
#define S HW_DIR_INTRA_S
#define N HW_DIR_INTRA_N

/* The launch fails with exit code 3 and exactly this text. */
#define EXPECT_FAILURE(m, text_, ...)                                                              \
    do {                                                                                           \
        const struct part parts_[] = {__VA_ARGS__};                                                \
        assert_int_equal(try_scripts((m), parts_, COUNT_OF(parts_)), CW_PROGRAM_FAILED);           \
        assert_int_equal((m)->error.exit_code, 3);                                                 \
        assert_string_equal(first_line_of_error(m), text_);                                        \
    } while (0)

/* ---- calls that cannot be carried out -------------------------------------------------------- */

static void a_direction_that_is_not_installed_is_named_with_those_that_are(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    EXPECT_FAILURE(m,
                   "IpcqInvalidDirection: PE 0.0.0, kernel script: send in direction N, which is "
                   "not installed there; installed: intra_S, intra_E",
                   {0, (const struct line[]){SEND(HW_DIR_N, 16), DONE}});
    machine_free(m);
}

static void every_call_that_names_a_direction_checks_it(void **state)
{
    (void)state;
    static const struct line recv[] = {RECV(HW_DIR_GLOBAL_E, 16), DONE},
                             recv_async[] = {RECV_ASYNC(0, HW_DIR_GLOBAL_E, 16), DONE};
    static const struct {
        const struct line *script;
        const char *call;
    } cases[] = {{recv, "recv"}, {recv_async, "recv_async"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct machine *m = small_machine(1, 2, 1);
        char text[200];
        machine_start(m);
        snprintf(text, sizeof text,
                 "IpcqInvalidDirection: PE 0.1.6, kernel script: %s in direction global_E, which "
                 "is not installed there; installed: W, intra_N, intra_E, intra_W",
                 cases[i].call);
        EXPECT_FAILURE(m, text, {14, cases[i].script});
        machine_free(m);
    }
}

static void a_pe_without_queues_has_none_installed(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->pe0_alone = true;
    machine_start(m);
    EXPECT_FAILURE(m,
                   "IpcqInvalidDirection: PE 0.0.1, kernel script: send in direction intra_W, "
                   "which is not installed there; installed: none",
                   {1, (const struct line[]){SEND(W, 16), DONE}});
    machine_free(m);
}

static void a_tile_larger_than_a_slot_names_both_sizes(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    const struct part parts[] = {{0, (const struct line[]){SEND(E, 4098), DONE}}};
    assert_int_equal(try_scripts(m, parts, 1), CW_PROGRAM_FAILED);
    assert_non_null(strstr(m->error.text, "PE 0.0.0"));
    assert_non_null(strstr(m->error.text, "kernel script"));
    assert_non_null(strstr(m->error.text, "4098"));
    assert_non_null(strstr(m->error.text, "4096"));
    machine_free(m);
}

/* The first number before 0 is that of no tile. */
static enum tl_status run_too_early(struct tl *tl, void *state)
{
    uint16_t *line = state;
    TL_BEGIN(line);
    TL_CALL(line, tl_send(tl, E, tl_received_from(tl, W), 16));
    TL_END(line);
}

static void a_tile_of_a_direction_that_has_received_none_is_no_operand(void **state)
{
    (void)state;
    static const struct tl_kernel kernel = {
        .name = "early", .frame_bytes = sizeof(uint16_t), .run = run_too_early};
    const struct tl_args args = {.dtype = LP_F16, .n_elem = 8};
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    assert_int_equal(
        lp_system_begin_batch(m->system, &(struct lp_batch_options){.kernel = &kernel}, &m->error),
        CW_OK);
    assert_int_equal(lp_system_submit_launch(m->system, 1, &kernel, &args, &m->error), CW_OK);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_PROGRAM_FAILED);
    assert_non_null(strstr(m->error.text,
                           "PE 0.0.1, kernel early: send of 16 bytes of tile 4294967295 of "
                           "direction intra_W, which has received 0 tiles (at "));
    machine_free(m);
}

static void the_largest_tile_that_fits_is_sent(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 4096), DONE}},
        {1, (const struct line[]){RECV(W, 4096), DONE}});
    machine_free(m);
}

static void a_second_install_on_a_pe_is_an_error(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    assert_int_equal(lp_system_submit_install(m->system, 0, &m->error), CW_OK);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_PROGRAM_FAILED);
    assert_non_null(strstr(m->error.text, "IpcqDuplicateInstall: PE 0.0.0"));
    machine_free(m);
}

/* 4096 bytes take 512 over a link between cubes of 8 GB/s; of the short tiles behind them, one
 * every 4, the 65th has arrived before them. */
static void as_many_tiles_as_there_are_slots_may_overtake_one(void **state)
{
    (void)state;
    enum { SENDS = 1000 };
    static struct line send[SENDS + 1], recv[SENDS + 1];
    send[0] = (struct line)SEND(HW_DIR_E, 4096);
    recv[0] = (struct line)RECV(HW_DIR_W, 4096);
    for (uint32_t i = 1; i < SENDS; i++) {
        send[i] = (struct line)SEND(HW_DIR_E, 2);
        recv[i] = (struct line)RECV(HW_DIR_W, 2);
    }
    for (uint32_t n_slots = 65; n_slots <= 1000; n_slots += 935) {
        struct machine *m = small_machine(1, 2, 1);
        m->hw.contention = HW_CONTENTION_NONE;
        m->hw.link[HW_LINK_UCIE] = link_class(20, 1);
        m->config.n_slots = n_slots;
        machine_start(m);
        RUN(m, {0, send}, {8, recv});
        assert_int_equal(queue_of(m, 8, HW_DIR_W)->my_tail, SENDS);
        assert_int_equal(queue_of(m, 8, HW_DIR_W)->early, 0);
        machine_free(m);
    }
}

/* ---- page faults ----------------------------------------------------------------------------- */

static void expect_page_fault(const struct line *script, const char *op, const char *address)
{
    struct machine *m = small_machine(1, 2, 1);
    const struct part parts[] = {{11, script}};
    machine_start(m);
    assert_int_equal(try_scripts(m, parts, 1), CW_PROGRAM_FAILED);
    if (strstr(m->error.text, "PE 0.1.3") == NULL || strstr(m->error.text, op) == NULL ||
        strstr(m->error.text, address) == NULL || strstr(m->error.text, "PageFault") == NULL)
        fail_msg("\"%s\" does not name the PE, %s and %s", m->error.text, op, address);
    machine_free(m);
}

/* The shard of cube 1 is 0x20000 to 0x30000: one page of 64 KiB. */
static void an_unmapped_address_names_pe_address_and_operation(void **state)
{
    (void)state;
    static const struct line below[] = {LOAD(0x1ffff, 1), DONE},
                             behind[] = {STORE(0x30000, 2), DONE},
                             across[] = {LOAD(0x2fffe, 4), DONE}, nowhere[] = {STORE(0, 16), DONE},
                             far[] = {LOAD(UINT64_MAX, 16), DONE},
                             huge[] = {LOAD(0x20000, UINT32_MAX), DONE};
    expect_page_fault(below, "load", "0x1ffff");
    expect_page_fault(behind, "store", "0x30000");
    expect_page_fault(across, "load", "0x2fffe");
    expect_page_fault(nowhere, "store", "0x0");
    expect_page_fault(far, "load", "0xffffffffffffffff");
    expect_page_fault(huge, "load", "0x20000");
}

static void the_first_and_the_last_byte_of_a_page_are_mapped(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 2, 1);
    machine_start(m);
    RUN(m, {8, (const struct line[]){LOAD(0x20000, 2), STORE(0x2fffe, 2), DONE}});
    assert_int_equal(nth(m, 8, LP_OP_LOAD, 0)->a.at, TENSOR_PA);
    assert_int_equal(nth(m, 8, LP_OP_STORE, 0)->dst.at, TENSOR_PA + 0xfffe);
    machine_free(m);
}

/* ---- deadlock -------------------------------------------------------------------------------- */

static const struct line receive_from_west[] = {RECV(HW_DIR_GLOBAL_W, 16), DONE};

/* In a ring of three SIPs every PE receives first. Elsewhere four PEs wait in a circle, two wait
 * for each other's room, one for a finished PE. */
static void the_shortest_cycle_comes_first(void **state)
{
    (void)state;
    struct machine *m = small_machine(3, 1, 1);
    machine_start(m);
    const struct part parts[] = {
        {0, receive_from_west},
        {8, receive_from_west},
        {16, receive_from_west},
        /* 1 2 over 5 6 in SIP 0: 1 <- 2 <- 6 <- 5 <- 1 */
        {1, (const struct line[]){RECV(E, 16), DONE}},
        {2, (const struct line[]){RECV(S, 16), DONE}},
        {6, (const struct line[]){RECV(W, 16), DONE}},
        {5, (const struct line[]){RECV(N, 16), DONE}},
        /* a PE that ends without having sent */
        {9, (const struct line[]){RECV(E, 16), DONE}},
        {10, (const struct line[]){DONE}},
    };
    assert_int_equal(try_scripts(m, parts, COUNT_OF(parts)), CW_PROGRAM_FAILED);
    assert_string_equal(
        first_line_of_error(m),
        "IpcqDeadlock: 8 kernels wait and nothing is left to happen: a cycle of 3: PE 0.0.0 waits "
        "for data from global_W, PE 2.0.0 waits for data from global_W, PE 1.0.0 waits for data "
        "from global_W, back to PE 0.0.0. Each send needs a receive on the other side, in the "
        "opposite direction");
    machine_free(m);
}

static void two_that_wait_for_room_in_each_other_are_a_cycle_of_two(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.n_slots = 1;
    machine_start(m);
    EXPECT_FAILURE(m,
                   "IpcqDeadlock: 2 kernels wait and nothing is left to happen: a cycle of 2: PE "
                   "0.0.0 waits for room in intra_E, PE 0.0.1 waits for room in intra_W, back to "
                   "PE 0.0.0. Each send needs a receive on the other side, in the opposite "
                   "direction",
                   {0, (const struct line[]){SEND(E, 16), SEND(E, 16), RECV(E, 16), DONE}},
                   {1, (const struct line[]){SEND(W, 16), SEND(W, 16), RECV(W, 16), DONE}});
    machine_free(m);
}

static void a_wait_for_a_finished_peer_says_so(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    EXPECT_FAILURE(m,
                   "IpcqDeadlock: 1 kernel waits and nothing is left to happen: PE 0.0.1 waits for "
                   "data from intra_W: its peer, PE 0.0.0, has finished. Each send needs a receive "
                   "on the other side, in the opposite direction",
                   {0, (const struct line[]){SEND(E, 16), DONE}},
                   {1, (const struct line[]){RECV(W, 16), RECV(W, 16), DONE}});
    machine_free(m);
}

static void a_wait_for_a_peer_without_a_kernel_says_so(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.n_slots = 1;
    machine_start(m);
    EXPECT_FAILURE(m,
                   "IpcqDeadlock: 1 kernel waits and nothing is left to happen: PE 0.0.1 waits for "
                   "room in intra_W: its peer, PE 0.0.0, runs no kernel. Each send needs a receive "
                   "on the other side, in the opposite direction",
                   {1, (const struct line[]){SEND(W, 16), SEND(W, 16), DONE}});
    machine_free(m);
}

static void a_wait_for_any_direction_is_named(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    const struct part parts[] = {{3, (const struct line[]){RECV_ANY(16), DONE}}};
    assert_int_equal(try_scripts(m, parts, 1), CW_PROGRAM_FAILED);
    assert_non_null(strstr(m->error.text, "IpcqDeadlock"));
    assert_non_null(strstr(m->error.text, "PE 0.0.3 waits for data from any direction"));
    /* the pointers of each of its queues: N and W in a corner of 4 x 2 PEs */
    assert_non_null(strstr(m->error.text, "\n0.0.3 intra_S my_head=0 my_tail=0 peer_head_cache=0 "
                                          "peer_tail_cache=0\n"));
    assert_non_null(strstr(m->error.text, "\n0.0.3 intra_W my_head=0 "));
    machine_free(m);
}

/* PE 0.0.0 waits for PE 1.0.0, which ends, and for PE 2.0.0, which waits for it: the circle goes
 * through the direction that is the second to be missing. */
static void each_missing_direction_of_a_receive_from_several_is_an_edge(void **state)
{
    (void)state;
    const uint32_t both = 1u << HW_DIR_GLOBAL_E | 1u << HW_DIR_GLOBAL_W;
    struct machine *m = small_machine(3, 1, 1);
    machine_start(m);
    EXPECT_FAILURE(
        m,
        "IpcqDeadlock: 2 kernels wait and nothing is left to happen: a cycle of 2: PE "
        "0.0.0 waits for data from global_W, PE 2.0.0 waits for data from global_E, back "
        "to PE 0.0.0. Each send needs a receive on the other side, in the opposite "
        "direction",
        {0, (const struct line[]){RECV_ALL(both, 16), DONE}}, {8, (const struct line[]){DONE}},
        {16, (const struct line[]){RECV(HW_DIR_GLOBAL_E, 16), DONE}});
    assert_non_null(strstr(m->error.text, "\n0.0.0 global_E my_head=0 "));
    assert_non_null(strstr(m->error.text, "\n0.0.0 global_W my_head=0 "));
    assert_non_null(strstr(m->error.text, "\n2.0.0 global_E my_head=0 "));
    machine_free(m);
}

static void a_receive_that_no_direction_can_serve_is_refused(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->pe0_alone = true;
    machine_start(m);
    EXPECT_FAILURE(m,
                   "IpcqInvalidDirection: PE 0.0.1, kernel script: recv_any on a PE where no "
                   "direction is installed",
                   {1, (const struct line[]){RECV_ANY(16), DONE}});
    machine_free(m);
    m = small_machine(1, 1, 1);
    machine_start(m);
    EXPECT_FAILURE(m,
                   "IpcqInvalidDirection: PE 0.0.0, kernel script: recv_all of the set 0x20002; a "
                   "set has a bit for each of the directions 0 to 15",
                   {0, (const struct line[]){RECV_ALL(0x20002u, 16), DONE}});
    machine_free(m);
    m = small_machine(1, 1, 1);
    machine_start(m);
    EXPECT_FAILURE(m,
                   "IpcqInvalidDirection: PE 0.0.0, kernel script: send in direction 16 (tl_dir() "
                   "finds no such name), which is not installed there; installed: intra_S, intra_E",
                   {0, (const struct line[]){SEND(HW_DIRS_MAX, 16), DONE}});
    machine_free(m);
}

/* ---- on several workers ---------------------------------------------------------------------- */

/* A speculative failure may never have been; the one that stands is the least in the total order:
 * PE 0.0.0's, which comes after its exchange with SIP 1 and before the other failing calls. */
static void the_failure_that_stands_is_the_same_in_every_mode(void **state)
{
    (void)state;
    static const struct line first[] = {SEND(HW_DIR_GLOBAL_E, 16), RECV(HW_DIR_GLOBAL_E, 16),
                                        SEND(HW_DIR_N, 16), DONE},
                             second[] = {RECV(HW_DIR_GLOBAL_W, 16), SEND(HW_DIR_GLOBAL_W, 16),
                                         DELAY(5000), SEND(HW_DIR_S, 16), DONE},
                             third[] = {DELAY(9000), SEND(HW_DIR_N, 16), DONE};
    static const uint32_t cube_worker[] = {0, 1, 2};
    for (enum cw_sync sync = CW_SEQUENTIAL; sync <= CW_STRESS; sync++) {
        struct machine *m = small_machine(3, 1, 1);
        m->engine.sync = sync;
        m->engine.worker_count = 3;
        m->cube_worker = cube_worker;
        m->engine.tuning.stress_seed = 1;
        m->engine.tuning.stress_rate_p32 = 1ull << 29;
        machine_start(m);
        EXPECT_FAILURE(m,
                       "IpcqInvalidDirection: PE 0.0.0, kernel script: send in direction N, which "
                       "is not installed there; installed: global_E, global_W, intra_S, intra_E",
                       {0, first}, {8, second}, {16, third});
        machine_free(m);
    }
}

static void a_deadlock_is_found_in_every_mode(void **state)
{
    (void)state;
    static const uint32_t cube_worker[] = {0, 1, 1};
    for (enum cw_sync sync = CW_SEQUENTIAL; sync <= CW_STRESS; sync++) {
        struct machine *m = small_machine(3, 1, 1);
        m->engine.sync = sync;
        m->engine.worker_count = 2;
        m->cube_worker = cube_worker;
        m->engine.tuning.stress_rate_p32 = 1ull << 29;
        machine_start(m);
        const struct part parts[] = {
            {0, receive_from_west}, {8, receive_from_west}, {16, receive_from_west}};
        assert_int_equal(try_scripts(m, parts, COUNT_OF(parts)), CW_PROGRAM_FAILED);
        assert_non_null(strstr(m->error.text, "IpcqDeadlock: 3 kernels wait"));
        assert_non_null(strstr(m->error.text, "a cycle of 3"));
        machine_free(m);
    }
}

/* ---- pointer dump ---------------------------------------------------------------------------- */

static char *dump(const struct machine *m, size_t lines_max)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    assert_non_null(file);
    lp_pointer_dump(lp_system_model(m->system), lp_system_sim(m->system), lines_max, file);
    fclose(file);
    return text;
}

static void the_dump_shows_both_ends_of_each_queue_that_is_not_idle(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    /* three sent, one received: two tiles wait in PE 1's ring */
    RUN_LEAVING(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), SEND(E, 16), DONE}},
                {1, (const struct line[]){RECV(W, 16), DONE}},
                {5, (const struct line[]){SEND(E, 16), DONE}},
                {6, (const struct line[]){RECV(W, 16), DONE}});
    char *text = dump(m, 64);
    assert_string_equal(text,
                        "0.0.0 intra_E my_head=3 my_tail=0 peer_head_cache=0 peer_tail_cache=1\n"
                        "0.0.1 intra_W my_head=0 my_tail=1 peer_head_cache=3 peer_tail_cache=0\n");
    free(text);
    machine_free(m);
}

static void a_queue_that_a_kernel_waits_for_is_not_idle(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    const struct part parts[] = {{1, (const struct line[]){RECV(W, 16), DONE}}};
    assert_int_equal(try_scripts(m, parts, 1), CW_PROGRAM_FAILED);
    char *text = dump(m, 64);
    assert_string_equal(text,
                        "0.0.1 intra_W my_head=0 my_tail=0 peer_head_cache=0 peer_tail_cache=0\n");
    free(text);
    machine_free(m);
}

static void the_dump_counts_what_does_not_fit(void **state)
{
    (void)state;
    static const struct line send_one[] = {SEND(HW_DIR_E, 16), DONE};
    struct machine *m = small_machine(1, 4, 2);
    struct part parts[48];
    machine_start(m);
    for (uint32_t i = 0; i < 48; i++) /* all PEs of the six cubes that have an eastern neighbour */
        parts[i] = (struct part){(i / 24 * 4 + i / 8 % 3) * 8 + i % 8, send_one};
    assert_int_equal(try_scripts(m, parts, 48), CW_PROGRAM_FAILED);
    char *text = dump(m, 64);
    size_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, 64 + 1);
    assert_non_null(strstr(text, "\n... and 32 more queues\n")); /* 2 x 48 - 64 */
    free(text);
    text = dump(m, 96);
    assert_null(strstr(text, "more"));
    free(text);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_direction_that_is_not_installed_is_named_with_those_that_are),
        cmocka_unit_test(every_call_that_names_a_direction_checks_it),
        cmocka_unit_test(a_pe_without_queues_has_none_installed),
        cmocka_unit_test(a_tile_larger_than_a_slot_names_both_sizes),
        cmocka_unit_test(a_tile_of_a_direction_that_has_received_none_is_no_operand),
        cmocka_unit_test(the_largest_tile_that_fits_is_sent),
        cmocka_unit_test(as_many_tiles_as_there_are_slots_may_overtake_one),
        cmocka_unit_test(a_second_install_on_a_pe_is_an_error),
        cmocka_unit_test(an_unmapped_address_names_pe_address_and_operation),
        cmocka_unit_test(the_first_and_the_last_byte_of_a_page_are_mapped),
        cmocka_unit_test(the_shortest_cycle_comes_first),
        cmocka_unit_test(two_that_wait_for_room_in_each_other_are_a_cycle_of_two),
        cmocka_unit_test(a_wait_for_a_finished_peer_says_so),
        cmocka_unit_test(a_wait_for_a_peer_without_a_kernel_says_so),
        cmocka_unit_test(a_wait_for_any_direction_is_named),
        cmocka_unit_test(each_missing_direction_of_a_receive_from_several_is_an_edge),
        cmocka_unit_test(a_receive_that_no_direction_can_serve_is_refused),
        cmocka_unit_test(the_failure_that_stands_is_the_same_in_every_mode),
        cmocka_unit_test(a_deadlock_is_found_in_every_mode),
        cmocka_unit_test(the_dump_shows_both_ends_of_each_queue_that_is_not_idle),
        cmocka_unit_test(a_queue_that_a_kernel_waits_for_is_not_idle),
        cmocka_unit_test(the_dump_counts_what_does_not_fit),
    };
    return cmocka_run_group_tests_name("lp_failures", tests, NULL, NULL);
}
