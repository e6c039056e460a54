/*
 * test_traces_goal.c: GOAL schedules, as text and binary (workload/STEPS.md, "Traces"): the
 * grammar, dependencies at ends and starts, senders that a receive leaves open, and what is
 * refused, with its place.
 */
#define TEST_SCRATCH "goal"
#include "test/support/scratch_folder.h"

#include <string.h>

#include "workload/traces/trace.h"

static struct cw_error error;

static int read_bytes(const void *bytes, size_t count, struct workload_graph *graph)
{
    FILE *const stream = fopen(in_folder("schedule"), "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    assert_int_equal(fclose(stream), 0);
    error = (struct cw_error){.exit_code = CW_OK};
    *graph = (struct workload_graph){0};
    assert_true(workload_is_trace(in_folder("schedule")));
    return workload_trace_read(in_folder("schedule"), NULL, graph, &error);
}

static struct workload_graph read_good(const char *text)
{
    struct workload_graph graph;
    if (read_bytes(text, strlen(text), &graph) != CW_OK)
        fail_msg("%s", error.text);
    return graph;
}

/* The message begins with the place after the file's path, and has the other text. */
static void refused(const char *text, const char *place, const char *other)
{
    struct workload_graph graph;
    assert_int_equal(read_bytes(text, strlen(text), &graph), CW_USAGE);
    workload_graph_free(&graph);
    const char *const path = in_folder("schedule");
    if (strncmp(error.text, path, strlen(path)) != 0 ||
        strncmp(error.text + strlen(path), place, strlen(place)) != 0 ||
        strstr(error.text, other) == NULL)
        fail_msg("\"%s\" is not \"%s%s ... %s\"", error.text, path, place, other);
}

static const struct workload_op *op_at(const struct workload_graph *graph, uint32_t rank,
                                       uint32_t i)
{
    return &graph->programs[graph->program_of[rank]].ops[i];
}

static uint32_t dep_at(const struct workload_graph *graph, uint32_t rank, uint32_t op, uint32_t i)
{
    return graph->programs[graph->program_of[rank]].deps[op_at(graph, rank, op)->first_dep + i];
}

/* ---- text ------------------------------------------------------------------------------------ */

static void operations_have_their_sizes_and_places(void **state)
{
    (void)state;
    struct workload_graph graph = read_good("// a schedule\nnum_ranks 2\n\n"
                                            "rank 0 {\n"
                                            "\tl1: calc 100 cpu 3\r\n"
                                            "  l2: send 10b to 1 tag 5 cpu 1 nic 2 /* so */\n"
                                            "calc 7 /* two\n lines */\n"
                                            "l2 requires l1\n"
                                            "l3: recv 4 b from 1\n"
                                            "l3 irequires l2\n"
                                            "}\n"
                                            "rank 1 {\nr: recv 10b from 0 tag 5 nic 1\n"
                                            "send 4b to 0\n}");
    assert_int_equal(graph.rank_count, 2);
    assert_int_equal(graph.programs[graph.program_of[0]].op_count, 4);
    assert_int_equal(op_at(&graph, 0, 0)->kind, WORKLOAD_TIME);
    assert_int_equal(op_at(&graph, 0, 0)->time_ps, 100000);
    assert_string_equal(graph.streams[op_at(&graph, 0, 0)->stream].name, "cpu 3");
    assert_int_equal(op_at(&graph, 0, 0)->id, 5);
    assert_int_equal(op_at(&graph, 0, 1)->kind, WORKLOAD_SEND);
    assert_int_equal(op_at(&graph, 0, 1)->bytes, 10);
    assert_int_equal(op_at(&graph, 0, 1)->peer, 1);
    assert_int_equal(op_at(&graph, 0, 1)->tag, 5);
    assert_int_equal(op_at(&graph, 0, 2)->time_ps, 7000);
    assert_int_equal(dep_at(&graph, 0, 1, 0), 0);
    assert_int_equal(dep_at(&graph, 0, 3, 0), 1 | WORKLOAD_AFTER_START);
    assert_int_equal(op_at(&graph, 1, 0)->kind, WORKLOAD_RECV);
    assert_int_equal(op_at(&graph, 1, 0)->peer, 0);
    assert_int_equal(graph.streams[op_at(&graph, 1, 0)->stream].order, WORKLOAD_AT_ONCE);
    workload_graph_free(&graph);
}

static void the_order_of_options_is_fixed(void **state)
{
    (void)state;
    refused("num_ranks 2\nrank 0 {\nsend 1b to 1 cpu 0 tag 1\n}\nrank 1 {\n}\n",
            ":3:20: unexpected", "in this order");
    refused("num_ranks 1\nrank 0 {\ncalc 1 nic 0\n}\n", ":3:8: unexpected 'nic'", "calc");
    refused("num_ranks 1\nrank 0 {\ncalc 1 tag 0\n}\n", ":3:8: unexpected 'tag'", "calc");
}

static void labels_are_of_one_rank_and_come_first(void **state)
{
    (void)state;
    refused("num_ranks 1\nrank 0 {\na: calc 1\na requires b\nb: calc 1\n}\n",
            ":4:12: no operation before", "same rank");
    refused("num_ranks 2\nrank 0 {\na: calc 1\n}\nrank 1 {\nb: calc 1\nb requires a\n}\n",
            ":7:12: no operation before", "same rank");
    refused("num_ranks 1\nrank 0 {\na: calc 1\na: calc 1\n}\n", ":4:1: the rank has already",
            "another");
    struct workload_graph graph =
        read_good("num_ranks 2\nrank 0 {\na: calc 1\n}\nrank 1 {\na: calc 1\n}\n");
    workload_graph_free(&graph);
}

static void mistakes_have_their_places(void **state)
{
    (void)state;
    refused("num_ranks 0\n", ":1:12", "num_ranks 1");
    refused("num_ranks x\n", ":1:11: expected a number, found 'x'", "legal");
    refused("num_ranks 1\nrank 1 {\n}\n", ":2:1: a rank above num_ranks", "once");
    refused("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n", ":4:1: a second time", "once");
    refused("num_ranks 2\nrank 0 {\n}\n", ": rank 1 is missing", "0 to 1");
    refused("num_ranks 1\nrank 0\n", ":2:7: expected \"{\"", "rank 0 {");
    refused("num_ranks 1\nrank 0 {\ncalc 1\n", ":4:1: expected \"}\"", "legal");
    refused("num_ranks 1\nrank 0 {\nsend 1 to 1\n}\n", ":3:8: expected \"b\"", "10b");
    refused("num_ranks 2\nrank 0 {\nsend 1b from 1\n}\nrank 1 {\n}\n", ":3:9: expected \"to\"",
            "send 10b to 1");
    refused("num_ranks 1\nrank 0 {\nwait 1\n}\n", ":3:6: expected an operation", "requires");
    refused("num_ranks 1\nrank 0 {\ncalc 1 2\n}\n", ":3:8: unexpected '2'", "legal");
    refused("num_ranks 1\nrank 0 {\n/* calc 1\n}\n", ":3:1: a comment without an end", "*/");
    refused("num_ranks 2\nrank 0 {\nsend 1b to 0\n}\nrank 1 {\n}\n", ": rank 0, 3: its other end",
            "another rank than 0");
    refused("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\n}\n", ": rank 0, 3",
            "no rank receives");
    refused("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
            ": rank 0, 3", "depends on itself");
}

/* From -1 and tag -1: where only one sender and tag is left, it is that one. */
static void a_receive_from_anybody_has_one_possible_sender(void **state)
{
    (void)state;
    struct workload_graph graph = read_good(
        "num_ranks 3\n"
        "rank 0 {\nrecv 8b from -1 tag -1\nrecv 8b from 2 tag 4\nrecv 8b from -1 tag 9\n}\n"
        "rank 1 {\nsend 8b to 0 tag 9\nsend 8b to 0 tag 9\n}\n"
        "rank 2 {\nsend 8b to 0 tag 4\n}\n");
    assert_int_equal(op_at(&graph, 0, 0)->peer, 1);
    assert_int_equal(op_at(&graph, 0, 0)->tag, 9);
    assert_int_equal(op_at(&graph, 0, 2)->peer, 1);
    workload_graph_free(&graph);
    refused("num_ranks 3\nrank 0 {\nrecv 8b from -1\nrecv 8b from -1\n}\n"
            "rank 1 {\nsend 8b to 0\n}\nrank 2 {\nsend 8b to 0\n}\n",
            ": rank 0, 3: a receive from -1", "their times decide");
    refused("num_ranks 2\nrank 0 {\nrecv 8b from -1\n}\nrank 1 {\n}\n", ": rank 0, 3",
            "no rank sends");
}

/* The reader of LogGOPSim takes 2^32 + 1 for 1. */
static void tags_beyond_32_bits_stay_apart(void **state)
{
    (void)state;
    struct workload_graph graph =
        read_good("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\nsend 9b to 1 tag 4294967297\n}\n"
                  "rank 1 {\nrecv 9b from 0 tag 4294967297\nrecv 8b from 0 tag 1\n}\n");
    assert_int_not_equal(op_at(&graph, 0, 0)->tag, op_at(&graph, 0, 1)->tag);
    assert_int_equal(op_at(&graph, 0, 0)->tag, op_at(&graph, 1, 1)->tag);
    workload_graph_free(&graph);
}

static void messages_of_no_bytes_are_messages(void **state)
{
    (void)state;
    struct workload_graph graph =
        read_good("num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\ncalc 0\n}\n");
    assert_int_equal(op_at(&graph, 0, 0)->kind, WORKLOAD_SEND);
    assert_int_equal(op_at(&graph, 0, 0)->bytes, 0);
    assert_int_equal(op_at(&graph, 1, 1)->kind, WORKLOAD_NOTHING);
    workload_graph_free(&graph);
}

/* ---- binary ---------------------------------------------------------------------------------- */

struct binary {
    uint8_t at[1024];
    size_t count;
};

static void put(struct binary *b, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        b->at[b->count++] = (uint8_t)(value >> (8 * i));
}

static void put_node(struct binary *b, uint32_t waits, uint8_t type, uint32_t peer, uint64_t size,
                     uint32_t tag, uint8_t cpu, const uint32_t requires_irequires[4])
{
    put(b, waits, 4);
    put(b, type, 1);
    put(b, peer, 4);
    put(b, size, 8);
    put(b, tag, 4);
    put(b, cpu, 1);
    put(b, 0, 1);
    for (int i = 0; i < 4; i++)
        put(b, requires_irequires[i], 4);
}

/* Two ranks: 0 computes, then sends, and computes once the send has begun; 1 receives from any. */
static struct binary two_ranks(void)
{
    static const uint32_t none[4] = {0}, to_send[4] = {1, 0, 0, 1}, at_start[4] = {0, 1, 1, 1};
    struct binary b = {.count = 0};
    const uint64_t head = 4 + 1 + 1 + 2 * 16, first = 8 + 4 + 3 * 39 + 2 * 4, second = 8 + 4 + 39;
    put(&b, 4223, 8);
    put(&b, 2, 4);
    put(&b, 2, 1);
    put(&b, 0, 1);
    put(&b, head, 8); /* counted from byte 8 */
    put(&b, head + first, 8);
    put(&b, head + first, 8);
    put(&b, head + first + second, 8);
    put(&b, 3, 4); /* nodes */
    put(&b, 1, 4); /* roots */
    put(&b, 0, 4);
    put_node(&b, 0, 3, 0, 100, 0, 2, to_send);
    put_node(&b, 1, 1, 1, 64, 7, 0, at_start);
    put_node(&b, 1, 3, 0, 5, 0, 0, none);
    put(&b, 1, 4);
    put(&b, 2, 4);
    put(&b, 1, 4);
    put(&b, 1, 4);
    put(&b, 0, 4);
    put_node(&b, 0, 2, UINT32_MAX, 64, UINT32_MAX, 0, none);
    return b;
}

static void binary_counts_from_byte_8(void **state)
{
    (void)state;
    const struct binary b = two_ranks();
    struct workload_graph graph;
    if (read_bytes(b.at, b.count, &graph) != CW_OK)
        fail_msg("%s", error.text);
    assert_int_equal(graph.rank_count, 2);
    assert_int_equal(op_at(&graph, 0, 0)->time_ps, 100000);
    assert_string_equal(graph.streams[op_at(&graph, 0, 0)->stream].name, "cpu 2");
    assert_int_equal(op_at(&graph, 0, 1)->kind, WORKLOAD_SEND);
    assert_int_equal(op_at(&graph, 0, 1)->bytes, 64);
    assert_int_equal(dep_at(&graph, 0, 1, 0), 0);
    assert_int_equal(dep_at(&graph, 0, 2, 0), 1 | WORKLOAD_AFTER_START);
    assert_int_equal(op_at(&graph, 1, 0)->peer, 0);
    assert_int_equal(op_at(&graph, 1, 0)->tag, 7);
    workload_graph_free(&graph);
}

static void damaged_binary_is_refused(void **state)
{
    (void)state;
    struct workload_graph graph;
    const struct binary good = two_ranks();
    static const struct {
        size_t at;
        uint8_t value;
        const char *text;
    } cases[] = {{8, 0, "without ranks"},
                 {8, 200, "cut off"},
                 {14, 1, "outside of the file"},              /* rank 0 begins within the table */
                 {46, 200, "no room"},                        /* its nodes */
                 {58 + 4, 9, "type 9"},                       /* of its first one */
                 {58, 1, "waits for 1 nodes"},                /* which waits for none */
                 {58 + 3 * 39, 9, "no node"},                 /* a dependent */
                 {58 + 27, 9, "outside of the rank's list"}}; /* the place of its dependents */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct binary bad = good;
        bad.at[cases[i].at] = cases[i].value;
        assert_int_equal(read_bytes(bad.at, bad.count, &graph), CW_USAGE);
        if (strstr(error.text, cases[i].text) == NULL)
            fail_msg("case %zu: %s", i, error.text);
        workload_graph_free(&graph);
    }
    for (size_t count = 8; count < good.count; count++) {
        assert_int_equal(read_bytes(good.at, count, &graph), CW_USAGE);
        workload_graph_free(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_have_their_sizes_and_places),
        cmocka_unit_test(the_order_of_options_is_fixed),
        cmocka_unit_test(labels_are_of_one_rank_and_come_first),
        cmocka_unit_test(mistakes_have_their_places),
        cmocka_unit_test(a_receive_from_anybody_has_one_possible_sender),
        cmocka_unit_test(tags_beyond_32_bits_stay_apart),
        cmocka_unit_test(messages_of_no_bytes_are_messages),
        cmocka_unit_test(binary_counts_from_byte_8),
        cmocka_unit_test(damaged_binary_is_refused)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
