/*
 * test_diagnostics.c: the state of its queues that a run shows (QUEUES.md, "Failures", last
 * paragraph): the trace of sends and receives, and the pointers at the end; and that the two agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

/* 2 x 2 cubes, three tiles: the last has one element. */
#define MACHINE "--preset tiny --n-elem 4097"

enum { CUBES = 4, DIRS = 4 };
static const char dir_letter[DIRS + 1] = "NSEW";

/* Tiles and bytes that each cube's PE 0 sent and received, by direction. */
struct traffic {
    unsigned sends[CUBES][DIRS], recvs[CUBES][DIRS];
    unsigned long long sent_bytes[CUBES][DIRS], received_bytes[CUBES][DIRS];
};

static void read_line(const char *line, struct traffic *traffic)
{
    unsigned rank, sip, cube, pe, bytes, ns, ps;
    char kind[8], dir[16];
    const int read = sscanf(line, "rank %u, t %u.%3u ns, %7s %15[^,], %u bytes, PE %u.%u.%u", &rank,
                            &ns, &ps, kind, dir, &bytes, &sip, &cube, &pe);
    if (read != 9)
        fail_msg("not a line of the trace: %.80s", line);
    const char *letter = strchr(dir_letter, dir[0]);
    assert_non_null(letter);
    assert_true(rank == 0 && sip == 0 && cube < CUBES && pe == 0 && dir[1] == '\0');
    const bool send = strcmp(kind, "send") == 0;
    assert_true(send || strcmp(kind, "recv") == 0);
    (send ? traffic->sends : traffic->recvs)[cube][letter - dir_letter]++;
    (send ? traffic->sent_bytes : traffic->received_bytes)[cube][letter - dir_letter] += bytes;
}

static struct traffic read_trace(const char *text)
{
    struct traffic traffic = {0};
    while (text != NULL && *text != '\0') {
        if (strncmp(text, "rank ", 5) == 0)
            read_line(text, &traffic);
        text = strchr(text, '\n');
        text += text != NULL;
    }
    return traffic;
}

/* Each send has exactly one receive: at the neighbour, from the opposite direction. */
static void every_send_has_one_receive(void **state)
{
    (void)state;
    static const int neighbour[CUBES][DIRS] = {
        {-1, 2, 1, -1}, {-1, 3, -1, 0}, {0, -1, 3, -1}, {1, -1, -1, 2}};
    struct run_output output = run_line(0, "run --quiet " MACHINE " --ccl-trace -");
    const struct traffic traffic = read_trace(output.out);
    unsigned sends = 0;
    for (int cube = 0; cube < CUBES; cube++)
        for (int dir = 0; dir < DIRS; dir++) {
            const int to = neighbour[cube][dir];
            sends += traffic.sends[cube][dir];
            if (to < 0) {
                assert_int_equal(traffic.sends[cube][dir] + traffic.recvs[cube][dir], 0);
                continue;
            }
            assert_int_equal(traffic.sends[cube][dir], traffic.recvs[to][dir ^ 1]);
            assert_int_equal(traffic.sent_bytes[cube][dir], traffic.received_bytes[to][dir ^ 1]);
        }
    assert_int_equal(sends, 3 * 2 * 3); /* three tiles, up and down a tree of four cubes */
    run_output_free(&output);
}

static void the_environment_asks_for_the_trace_too(void **state)
{
    (void)state;
    struct run_output option = run_line(0, "run --quiet " MACHINE " --ccl-trace -");
    setenv("CUBEWARP_CCL_TRACE", "1", 1);
    struct run_output variable = run_line(0, "run --quiet " MACHINE);
    unsetenv("CUBEWARP_CCL_TRACE");
    struct run_output neither = run_line(0, "run --quiet " MACHINE);
    const struct traffic a = read_trace(option.out), b = read_trace(variable.out);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(strncmp(option.out, "rank 0, t ", 10), 0);
    assert_null(strstr(neither.out, "rank 0, t "));
    run_output_free(&option);
    run_output_free(&variable);
    run_output_free(&neither);
}

/* my_head counts sends, my_tail receives; at the end the peer knows both. A PE without a kernel has
 * its queues, too. */
static void the_pointers_at_the_end_count_what_was_sent(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "run --quiet " MACHINE " --ccl-trace - --dump-pointers "
                                           "--set defaults.n_slots=2");
    const struct traffic traffic = read_trace(output.out);
    unsigned queues = 0;
    for (unsigned cube = 0; cube < CUBES; cube++)
        for (unsigned dir = 0; dir < DIRS; dir++) {
            const unsigned sent = traffic.sends[cube][dir], received = traffic.recvs[cube][dir];
            char line[120];
            snprintf(line, sizeof line,
                     "\n0.%u.0 %c my_head=%u my_tail=%u peer_head_cache=%u peer_tail_cache=%u\n",
                     cube, dir_letter[dir], sent, received, received, sent);
            if (strstr(output.out, line) != NULL)
                queues++;
            else if (sent + received > 0)
                fail_msg("no line%s", line);
        }
    assert_int_equal(queues, 2 * CUBES);
    assert_non_null(strstr(output.out, "\n0.3.7 intra_W my_head=0 my_tail=0 peer_head_cache=0 "
                                       "peer_tail_cache=0\n"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_send_has_one_receive),
        cmocka_unit_test(the_environment_asks_for_the_trace_too),
        cmocka_unit_test(the_pointers_at_the_end_count_what_was_sent),
    };
    return cmocka_run_group_tests_name("diagnostics", tests, NULL, NULL);
}
