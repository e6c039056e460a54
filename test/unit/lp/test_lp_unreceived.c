/*
 * test_lp_unreceived.c: tiles that are left when all kernels have ended (invariant I1 of
 * lp/QUEUES.md) end the program, with both ends of each queue, and without strict validation.
 */
#include "test/support/test_lp_support.h"

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W

/* The launch fails with exit code 3 and exactly this text. */
static void expect_unreceived(struct machine *m, const struct part *parts, size_t count,
                              const char *text)
{
    assert_int_equal(try_scripts(m, parts, count), CW_PROGRAM_FAILED);
    assert_int_equal(m->error.exit_code, 3);
    assert_string_equal(m->error.text, text);
}
#define EXPECT_UNRECEIVED(m, text, ...)                                                            \
    do {                                                                                           \
        const struct part parts_[] = {__VA_ARGS__};                                                \
        expect_unreceived((m), parts_, COUNT_OF(parts_), text);                                    \
    } while (0)

static const struct line one[] = {SEND(E, 16), DONE};
static const struct line two[] = {SEND(E, 16), SEND(E, 16), DONE};
static const struct line takes_one[] = {RECV(W, 16), DONE};

static struct machine *started(void)
{
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    return m;
}

static void a_tile_that_is_left_is_named_with_both_ends(void **state)
{
    (void)state;
    struct machine *m = started();
    EXPECT_UNRECEIVED(m,
                      "IpcqUnreceived: all kernels have ended, and PE 0.0.1, kernel script, has "
                      "not received 1 tile from direction intra_W that PE 0.0.0, kernel script, "
                      "sent in intra_E. Each send needs a receive on the other side",
                      {0, two}, {1, takes_one});
    machine_free(m);
}

static void a_receiver_may_have_no_kernel(void **state)
{
    (void)state;
    struct machine *m = started();
    EXPECT_UNRECEIVED(m,
                      "IpcqUnreceived: all kernels have ended, and PE 0.0.1, on which no kernel "
                      "ran, has not received 2 tiles from direction intra_W that PE 0.0.0, kernel "
                      "script, sent in intra_E. Each send needs a receive on the other side",
                      {0, two});
    machine_free(m);
}

/* In each mode of waiting, in each memory, and with credits through PE_DMA. */
static void it_is_found_however_queues_work(void **state)
{
    (void)state;
    for (int way = 0; way < 16; way++) {
        struct machine *m = small_machine(1, 1, 1);
        m->config.poll = way & 1;
        m->config.slots = way & 2 ? HW_MEMORY_HBM : HW_MEMORY_TCM;
        m->config.credit_fabric = way & 4;
        m->config.credit_blocks = way & 8;
        machine_start(m);
        RUN(m, {0, one}, {1, takes_one});
        RUN_LEAVING(m, {0, two}, {1, takes_one});
        machine_free(m);
    }
}

static void the_first_queues_are_named_and_the_others_counted(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 2, 1);
    struct part parts[8];
    static const struct line east[] = {SEND(HW_DIR_E, 16), DONE};
    machine_start(m);
    for (uint32_t i = 0; i < 8; i++)
        parts[i] = (struct part){i, east};
    assert_int_equal(try_scripts(m, parts, 8), CW_PROGRAM_FAILED);
    assert_non_null(strstr(m->error.text, "and PE 0.1.0, on which no kernel ran, has"));
    assert_non_null(strstr(m->error.text, "; PE 0.1.1, on which no kernel ran, has"));
    assert_non_null(strstr(m->error.text, "queues more. Each send needs a receive"));
    machine_free(m);
}

/* The tile stays where it is, and is reported until a kernel takes it. */
static void a_later_launch_may_take_the_tile(void **state)
{
    (void)state;
    struct machine *m = started();
    RUN_LEAVING(m, {0, two}, {1, takes_one});
    RUN_LEAVING(m, {0, one}, {1, takes_one});
    RUN(m, {1, takes_one});
    RUN(m, {0, one}, {1, takes_one});
    machine_free(m);
}

static void a_deadlock_goes_first(void **state)
{
    (void)state;
    struct machine *m = started();
    const struct part parts[] = {
        {0, two}, {1, takes_one}, {2, (const struct line[]){RECV(E, 16), DONE}}};
    assert_int_equal(try_scripts(m, parts, COUNT_OF(parts)), CW_PROGRAM_FAILED);
    assert_memory_equal(m->error.text, "IpcqDeadlock: ", 14);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tile_that_is_left_is_named_with_both_ends),
        cmocka_unit_test(a_receiver_may_have_no_kernel),
        cmocka_unit_test(it_is_found_however_queues_work),
        cmocka_unit_test(the_first_queues_are_named_and_the_others_counted),
        cmocka_unit_test(a_later_launch_may_take_the_tile),
        cmocka_unit_test(a_deadlock_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
