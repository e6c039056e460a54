/*
 * test_traces_chakra.c: Chakra execution traces (workload/STEPS.md, "Traces"): each version by its
 * content, what attributes mean, dependencies, groups, and what is refused. All files are written
 * byte by byte from the published schemas.
 */
#define TEST_SCRATCH "traces"
#include "test/support/scratch_folder.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "test/support/chakra_bytes.h"
#include "workload/traces/trace.h"

enum { METADATA = 1, LOAD, STORE, COMP, SEND, RECV, COLL }; /* since 0.0.3; one less before */

static struct bytes file, node;

static void write_to(const char *path, const void *bytes, size_t count)
{
    FILE *const stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    assert_int_equal(fclose(stream), 0);
}

static void put_node(void) { put_message(&file, &node); }

static void begin_file(const char *version)
{
    file.count = 0;
    put_metadata(&file, version);
}

static void write_rank(const char *prefix, int rank)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%d.et", prefix, rank);
    write_to(in_folder(name), file.at, file.count);
}

/* What was noted, and the message of a refusal. */
static char notes[1000];
static struct cw_error error;

static int read_with(const char *path, struct workload_trace_options options,
                     struct workload_graph *graph)
{
    memset(notes, 0, sizeof notes);
    FILE *const stream = fmemopen(notes, sizeof notes - 1, "w");
    assert_non_null(stream);
    options.notes = stream;
    error = (struct cw_error){.exit_code = CW_OK};
    *graph = (struct workload_graph){0};
    const int code = workload_trace_read(path, &options, graph, &error);
    fclose(stream);
    return code;
}

static struct workload_graph read_good(const char *path, struct workload_trace_options options)
{
    struct workload_graph graph;
    if (read_with(path, options, &graph) != CW_OK)
        fail_msg("%s", error.text);
    return graph;
}

/* Reads what is refused; the message has both texts. */
static void refused(const char *path, const char *text, const char *other)
{
    struct workload_graph graph;
    assert_int_equal(read_with(path, (struct workload_trace_options){.ranks = 2}, &graph),
                     CW_USAGE);
    workload_graph_free(&graph);
    if (strstr(error.text, text) == NULL || strstr(error.text, other) == NULL)
        fail_msg("\"%s\" has not \"%s\" and \"%s\"", error.text, text, other);
}

static const struct workload_op *op_of(const struct workload_graph *graph, uint32_t rank,
                                       uint64_t id)
{
    const struct workload_program *const p = &graph->programs[graph->program_of[rank]];
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].id == id)
            return &p->ops[i];
    fail_msg("no operation has id %d", (int)id);
    return NULL;
}

static uint32_t place_of(const struct workload_graph *graph, uint64_t id)
{
    return (uint32_t)(op_of(graph, 0, id) - graph->programs[graph->program_of[0]].ops);
}

static bool waits(const struct workload_graph *graph, uint64_t id, uint64_t for_id)
{
    const struct workload_program *const p = &graph->programs[graph->program_of[0]];
    const struct workload_op *const op = op_of(graph, 0, id);
    for (uint32_t i = 0; i < op->dep_count; i++)
        if (p->deps[op->first_dep + i] == place_of(graph, for_id))
            return true;
    return false;
}

/* ---- versions -------------------------------------------------------------------------------- */

/* Two nodes that compute, then an all-reduce of 4096 bytes after both. */
static void put_three_of_today(void)
{
    begin_node(&node, 0, "a", COMP);
    put_number(&node, 7, 5);
    put_attr(&node, 10, "is_cpu_op", BOOL_VAL, 0);
    put_node();
    begin_node(&node, 1, "b", COMP);
    put_packed(&node, 5, IDS(0));
    put_number(&node, 7, 7);
    put_node();
    begin_node(&node, 2, "c", COLL);
    put_packed(&node, 5, IDS(0, 1));
    put_attr(&node, 10, "comm_type", INT64_VAL, 0);
    put_attr(&node, 10, "comm_size", UINT64_VAL, 4096);
    put_node();
}

static void expect_three(const struct workload_graph *graph, uint64_t unit_ps)
{
    assert_int_equal(op_of(graph, 0, 0)->time_ps, 5 * unit_ps);
    assert_int_equal(op_of(graph, 0, 1)->time_ps, 7 * unit_ps);
    assert_int_equal(op_of(graph, 0, 2)->kind, WORKLOAD_COLLECTIVE);
    assert_int_equal(op_of(graph, 0, 2)->collective, CCL_ALL_REDUCE);
    assert_int_equal(op_of(graph, 0, 2)->bytes, 4096);
    assert_true(waits(graph, 1, 0));
    assert_true(waits(graph, 2, 0));
    assert_true(waits(graph, 2, 1));
}

/* The same three nodes before attributes had messages of their own, or METADATA a number. */
static void put_three_before(bool attributes, unsigned shift, uint32_t value_field)
{
    for (unsigned id = 0; id < 3; id++) {
        node.count = 0;
        put_number(&node, 1, id);
        put_text(&node, 2, "n");
        put_number(&node, 3, (id < 2 ? COMP : COLL) - shift);
        for (unsigned p = 0; p < id; p++)
            put_number(&node, 4, p);
        if (id < 2 && attributes)
            put_old_attr(&node, "runtime", 2, value_field, id == 0 ? 5 : 7);
        else if (id < 2)
            put_number(&node, 7, id == 0 ? 5 : 7);
        else if (attributes) {
            put_old_attr(&node, "comm_type", 2, value_field, 0);
            put_old_attr(&node, "comm_size", 2, value_field, 4096);
        } else {
            put_number(&node, 13, 1); /* ALL_REDUCE is 1 there */
            put_number(&node, 18, 4096);
        }
        put_node();
    }
}

static void version_0_0_4_has_dependencies_of_two_kinds(void **state)
{
    (void)state;
    begin_file("0.0.4");
    put_three_of_today();
    write_rank("v4", 0);
    struct workload_graph graph =
        read_good(in_folder("v4.0.et"), (struct workload_trace_options){.ranks = 4});
    assert_int_equal(graph.rank_count, 4);
    expect_three(&graph, 1000000);
    workload_graph_free(&graph);
}

/* Its time is in ticks of 1 ns, as ASTRA-sim took it. */
static void version_0_0_1_has_its_attributes_in_fields(void **state)
{
    (void)state;
    file.count = 0;
    put_three_before(false, 1, 0);
    write_rank("v1", 0);
    struct workload_graph graph =
        read_good(in_folder("v1.0.et"), (struct workload_trace_options){.ranks = 4});
    expect_three(&graph, 1000);
    workload_graph_free(&graph);
}

/* Of nodes that compute alone, nothing but the time says what they are. */
static void version_0_0_1_is_known_without_communication(void **state)
{
    (void)state;
    file.count = 0;
    begin_node(&node, 1, "COMP_NODE", 3);
    put_number(&node, 4, 2);
    put_number(&node, 7, 9);
    put_node();
    begin_node(&node, 2, "COMP_NODE", 3);
    put_number(&node, 7, 9);
    put_node();
    write_rank("v1comp", 0);
    struct workload_graph graph =
        read_good(in_folder("v1comp.0.et"), (struct workload_trace_options){0});
    assert_int_equal(op_of(&graph, 0, 1)->time_ps, 9000);
    assert_true(waits(&graph, 1, 2));
    workload_graph_free(&graph);
}

static void versions_0_0_2_and_0_0_3_number_types_differently(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 2; shift++) {
        file.count = 0;
        put_three_before(true, shift, 6);
        write_rank("v23", 0);
        struct workload_graph graph =
            read_good(in_folder("v23.0.et"), (struct workload_trace_options){.ranks = 4});
        expect_three(&graph, 1000);
        workload_graph_free(&graph);
    }
}

/* A metadata message in front, integers in field 7, since UINT has 6. */
static void version_without_a_number_has_metadata_and_parents(void **state)
{
    (void)state;
    static struct bytes attribute, metadata;
    attribute.count = metadata.count = 0;
    put_text(&attribute, 1, "schema");
    put_number(&attribute, 2, 4);
    put_text(&attribute, 8, "1.0.1");
    put_bytes(&metadata, 1, attribute.at, attribute.count);
    file.count = 0;
    put_message(&file, &metadata);
    put_three_before(true, 0, 7);
    write_rank("v3b", 0);
    struct workload_graph graph =
        read_good(in_folder("v3b.0.et"), (struct workload_trace_options){.ranks = 4});
    expect_three(&graph, 1000);
    workload_graph_free(&graph);
}

static void a_stated_version_does_not_count(void **state)
{
    (void)state;
    begin_file("0.0.4");
    put_three_before(true, 0, 6); /* field 4 is `parent`, not ctrl_deps */
    write_rank("lies", 0);
    struct workload_graph graph =
        read_good(in_folder("lies.0.et"), (struct workload_trace_options){.ranks = 4});
    expect_three(&graph, 1000);
    workload_graph_free(&graph);
    begin_file("0.0.1");
    put_three_of_today();
    write_rank("lies", 0);
    graph = read_good(in_folder("lies.0.et"), (struct workload_trace_options){.ranks = 4});
    expect_three(&graph, 1000000);
    workload_graph_free(&graph);
}

static void metadata_may_be_empty_or_have_a_schema(void **state)
{
    (void)state;
    static struct bytes metadata;
    begin_file(NULL);
    put_three_of_today();
    write_rank("bare", 0);
    struct workload_graph graph =
        read_good(in_folder("bare.0.et"), (struct workload_trace_options){.ranks = 4});
    expect_three(&graph, 1000000);
    workload_graph_free(&graph);
    for (uint32_t field = 1; field < 3; field++) { /* where the list of attributes has been */
        file.count = metadata.count = 0;
        put_attr_text(&metadata, field, "schema", "symbolic_tensor_network");
        put_message(&file, &metadata);
        put_three_of_today();
        write_rank("bare", 0);
        graph = read_good(in_folder("bare.0.et"), (struct workload_trace_options){.ranks = 4});
        expect_three(&graph, 1000000);
        workload_graph_free(&graph);
    }
}

static void mixed_versions_are_refused(void **state)
{
    (void)state;
    begin_file("0.0.4");
    put_three_of_today();
    put_three_before(true, 0, 6);
    write_rank("mixed", 0);
    refused(in_folder("mixed.0.et"), "message 4", "another version");
}

/* Collectives of before have other numbers: all-to-all 1, all-gather 2, reduce-scatter 3. */
static void collectives_are_renumbered(void **state)
{
    (void)state;
    static const uint8_t does[] = {CCL_ALL_REDUCE, CCL_ALL_TO_ALL, CCL_ALL_GATHER,
                                   CCL_REDUCE_SCATTER};
    for (unsigned flat = 0; flat < 2; flat++) {
        file.count = 0;
        for (unsigned i = 0; i < 4; i++) {
            begin_node(&node, i + 1, "c", COLL - flat);
            if (flat) {
                put_number(&node, 13, i + 1);
                put_number(&node, 18, 64);
            } else {
                put_old_attr(&node, "comm_type", 2, 6, i);
                put_old_attr(&node, "comm_size", 2, 6, 64);
            }
            put_node();
        }
        write_rank("types", 0);
        struct workload_graph graph =
            read_good(in_folder("types.0.et"), (struct workload_trace_options){.ranks = 2});
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(op_of(&graph, 0, i + 1)->collective, does[i]);
        workload_graph_free(&graph);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static void gzip_is_known_by_its_first_bytes(void **state)
{
    (void)state;
    begin_file("0.0.4");
    put_three_of_today();
    gzFile packed = gzopen(in_folder("packed.et"), "wb"); /* without .gz */
    assert_non_null(packed);
    assert_int_equal(gzwrite(packed, file.at, (unsigned)file.count), file.count);
    assert_int_equal(gzclose(packed), Z_OK);
    assert_true(workload_is_trace(in_folder("packed.et")));
    struct workload_graph graph =
        read_good(in_folder("packed.et"), (struct workload_trace_options){.ranks = 4});
    expect_three(&graph, 1000000);
    workload_graph_free(&graph);
    char *const path = strdup(in_folder("packed.et"));
    assert_int_equal(truncate(path, 40), 0);
    refused(path, "packed.et", "cut off");
    free(path);
}

static void a_set_is_named_by_prefix_file_or_folder(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_folder("set"), 0777), 0);
    for (int rank = 0; rank < 3; rank++) {
        begin_file("0.0.4");
        begin_node(&node, 1, "c", COLL);
        put_attr(&node, 10, "comm_type", INT64_VAL, 0);
        put_attr(&node, 10, "comm_size", UINT64_VAL, 300);
        put_node();
        write_rank("set/x", rank);
    }
    static const char *const names[] = {"set/x", "set/x.0.et", "set/x.2.et", "set"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(workload_is_trace(in_folder(names[i])));
        struct workload_graph graph =
            read_good(in_folder(names[i]), (struct workload_trace_options){0});
        assert_int_equal(graph.rank_count, 3);
        assert_int_equal(op_of(&graph, 2, 1)->bytes, 300);
        workload_graph_free(&graph);
    }
    assert_int_equal(unlink(in_folder("set/x.1.et")), 0);
    refused(in_folder("set"), "x.1.et is missing", "x.2.et");
    refused(in_folder("set/x"), "x.1.et is missing", "x.2.et");
    write_rank("set/x", 1);
    write_rank("set/y", 0);
    refused(in_folder("set"), "more than one set", "name one");
    assert_false(workload_is_trace(in_folder("nothing")));
    write_to(in_folder("w.yaml"), "workload:\n  name: a\n", 20);
    assert_false(workload_is_trace(in_folder("w.yaml")));
    write_to(in_folder("w.yaml"), "# a comment\nworkload: {}\n", 25);
    assert_false(workload_is_trace(in_folder("w.yaml")));
}

/* Python's reader ends at one; a node that says nothing is nothing. */
static void messages_of_no_bytes_end_nothing(void **state)
{
    (void)state;
    begin_file("0.0.4");
    put_three_of_today();
    node.count = 0;
    put_node();
    begin_node(&node, 9, "z", COMP);
    put_number(&node, 7, 1);
    put_node();
    write_rank("empty", 0);
    struct workload_graph graph =
        read_good(in_folder("empty.0.et"), (struct workload_trace_options){.ranks = 4});
    expect_three(&graph, 1000000);
    assert_int_equal(op_of(&graph, 0, 9)->time_ps, 1000000);
    workload_graph_free(&graph);
}

static void damaged_files_are_refused_with_their_message(void **state)
{
    (void)state;
    begin_file("0.0.4");
    put_three_of_today();
    write_to(in_folder("cut.et"), file.at, file.count - 3);
    refused(in_folder("cut.et"), "cut.et: message 3", "cut off");
    write_to(in_folder("none.et"), "", 0);
    refused(in_folder("none.et"), "none.et", "empty");
    begin_file("0.0.4");
    begin_node(&node, 1, "c", COMP);
    put_varint(&node, 6 << 3 | 3); /* a group, which no schema of Chakra has */
    put_node();
    write_rank("group", 0);
    refused(in_folder("group.0.et"), "message 1", "damaged");
}

/* The text converter counts ids through all ranks. */
static void ids_may_run_on_across_ranks(void **state)
{
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        begin_file("0.0.4");
        begin_node(&node, 10 + (uint64_t)rank, "c", COLL);
        put_attr(&node, 10, "comm_type", INT64_VAL, 0);
        put_attr(&node, 10, "comm_size", UINT64_VAL, 64);
        put_node();
        write_rank("ids", rank);
    }
    struct workload_graph graph = read_good(in_folder("ids"), (struct workload_trace_options){0});
    assert_int_equal(op_of(&graph, 1, 10)->bytes, 64);
    assert_int_equal(graph.program_count, 1); /* ranks that do the same share a program */
    assert_string_equal(graph.programs[0].name, "rank 0 and 1 more");
    workload_graph_free(&graph);
}

/* ---- what nodes mean ------------------------------------------------------------------------- */

/* Writes a file of one node, that of `node`. */
static void write_one(const char *prefix)
{
    begin_file("0.0.4");
    put_node();
    write_rank(prefix, 0);
}

/* comm_size: a rank's part of an all-gather, the whole of all others. */
static void comm_size_of_an_all_gather_is_a_rank_s_part(void **state)
{
    (void)state;
    static const struct {
        uint64_t type, bytes;
        uint8_t collective;
    } cases[] = {{0, 1000, CCL_ALL_REDUCE},     {2, 4000, CCL_ALL_GATHER},
                 {6, 1000, CCL_ALL_TO_ALL},     {7, 1000, CCL_REDUCE_SCATTER},
                 {8, 1000, CCL_REDUCE_SCATTER}, {5, 1000, CCL_BROADCAST},
                 {1, 1000, CCL_REDUCE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_node(&node, 1, "c", COLL);
        put_attr(&node, 10, "comm_type", INT64_VAL, cases[i].type);
        put_attr(&node, 10, "comm_size", INT64_VAL, 1000);
        write_one("size");
        struct workload_graph graph =
            read_good(in_folder("size.0.et"), (struct workload_trace_options){.ranks = 4});
        assert_int_equal(op_of(&graph, 0, 1)->collective, cases[i].collective);
        assert_int_equal(op_of(&graph, 0, 1)->bytes, cases[i].bytes);
        workload_graph_free(&graph);
    }
}

static void durations_are_microseconds_and_0_is_a_nanosecond(void **state)
{
    (void)state;
    for (uint64_t micros = 0; micros < 2; micros++) {
        begin_node(&node, 1, "c", COMP);
        if (micros > 0)
            put_number(&node, 7, micros);
        write_one("time");
        struct workload_graph graph =
            read_good(in_folder("time.0.et"), (struct workload_trace_options){0});
        assert_int_equal(op_of(&graph, 0, 1)->time_ps, micros > 0 ? 1000000 : 1000);
        workload_graph_free(&graph);
    }
}

/* The converter wrote a table's cycles of 1 ns into duration_micros. */
static void a_converted_table_s_cycles_are_nanoseconds(void **state)
{
    (void)state;
    static struct bytes metadata;
    begin_node(&node, 1, "COMP_NODE_conv1_FWD", COMP);
    put_number(&node, 7, 500);
    file.count = metadata.count = 0;
    put_attr_text(&metadata, 2, "schema", "1.0.2-chakra.1.0.0");
    put_attr_text(&metadata, 2, "input_file", "DATA\n1\nconv1 -1 500 NONE 0 5 NONE 0 5 NONE 0 5\n");
    put_message(&file, &metadata);
    put_node();
    write_rank("table", 0);
    struct workload_graph graph =
        read_good(in_folder("table.0.et"), (struct workload_trace_options){0});
    assert_int_equal(op_of(&graph, 0, 1)->time_ps, 500000);
    assert_int_equal(op_of(&graph, 0, 1)->purpose, WORKLOAD_FORWARD);
    assert_non_null(strstr(notes, "cycles of a layer table, taken as ns"));
    workload_graph_free(&graph);
    graph =
        read_good(in_folder("table.0.et"), (struct workload_trace_options){.unit = TRACE_UNIT_US});
    assert_int_equal(op_of(&graph, 0, 1)->time_ps, 500000000);
    workload_graph_free(&graph);
}

/* It also writes an all-reduce of 0 bytes where a table has NONE. */
static void collectives_of_no_bytes_are_none(void **state)
{
    (void)state;
    begin_node(&node, 1, "COMM_COLL_NODE_conv1_NONE", COLL);
    put_attr(&node, 10, "comm_type", INT64_VAL, 0);
    put_attr(&node, 10, "comm_size", INT64_VAL, 0);
    write_one("nothing");
    struct workload_graph graph =
        read_good(in_folder("nothing.0.et"), (struct workload_trace_options){.ranks = 2});
    assert_int_equal(op_of(&graph, 0, 1)->kind, WORKLOAD_NOTHING);
    workload_graph_free(&graph);
}

static void nodes_without_a_time_are_computed_by_the_machine(void **state)
{
    (void)state;
    static const struct {
        enum workload_trace_compute compute;
        uint64_t micros, ops, bytes;
        uint8_t kind;
    } cases[] = {{TRACE_AS_RECORDED, 0, 800, 16, WORKLOAD_ROOFLINE},
                 {TRACE_AS_RECORDED, 3, 800, 16, WORKLOAD_TIME},
                 {TRACE_ROOFLINE, 3, 800, 16, WORKLOAD_ROOFLINE},
                 {TRACE_ROOFLINE, 3, 800, 0, WORKLOAD_NOTHING}, /* as ASTRA-sim skips it */
                 {TRACE_REPLAY, 0, 800, 16, WORKLOAD_TIME}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_node(&node, 1, "c", COMP);
        put_number(&node, 7, cases[i].micros);
        put_attr(&node, 10, "num_ops", UINT64_VAL, cases[i].ops);
        put_attr(&node, 10, "tensor_size", UINT64_VAL, cases[i].bytes);
        write_one("roof");
        struct workload_graph graph = read_good(
            in_folder("roof.0.et"), (struct workload_trace_options){.compute = cases[i].compute});
        const struct workload_op *const op = op_of(&graph, 0, 1);
        assert_int_equal(op->kind, cases[i].kind);
        if (op->kind == WORKLOAD_ROOFLINE) {
            assert_int_equal(op->flops, 800);
            assert_int_equal(op->bytes, 16);
            assert_int_equal(op->kernels, 1);
        }
        workload_graph_free(&graph);
    }
    begin_node(&node, 7, "c", COMP);
    put_attr(&node, 10, "num_ops", UINT64_VAL, 5);
    write_one("roof");
    refused(in_folder("roof.0.et"), "node 7: tensor_size", "legal");
}

/* is_cpu_op as int32; attributes that have a name and no value. */
static void symbolic_tensor_graphs_are_read(void **state)
{
    (void)state;
    begin_file("");
    for (uint64_t id = 1; id < 4; id++) {
        static struct bytes bare;
        bare.count = 0;
        put_text(&bare, 1, "inputs");
        begin_node(&node, id, "t", COMP);
        if (id < 3)
            put_packed(&node, 5, IDS(id + 1)); /* a forward reference */
        put_attr(&node, 10, "is_cpu_op", INT32_VAL, 0);
        put_bytes(&node, 10, bare.at, bare.count);
        put_attr(&node, 10, "num_ops", UINT64_VAL, id);
        put_attr(&node, 10, "tensor_size", UINT64_VAL, 8);
        put_node();
    }
    write_rank("stg", 0);
    struct workload_graph graph =
        read_good(in_folder("stg.0.et"), (struct workload_trace_options){0});
    assert_true(waits(&graph, 1, 2));
    assert_true(waits(&graph, 2, 3));
    assert_true(place_of(&graph, 3) < place_of(&graph, 2));
    assert_true(place_of(&graph, 2) < place_of(&graph, 1));
    assert_int_equal(op_of(&graph, 0, 2)->kind, WORKLOAD_ROOFLINE);
    workload_graph_free(&graph);
}

/* Files made of MSCCL have comm_type 5 and 6 on them. */
static void messages_ignore_a_type_of_collective(void **state)
{
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        begin_file("0.0.4");
        begin_node(&node, 1, "COMM_SEND_NODE_tb0_step0", SEND);
        put_attr(&node, 10, "comm_type", INT64_VAL, 5);
        put_attr(&node, 10, "comm_size", INT64_VAL, 64);
        put_attr(&node, 10, "comm_dst", INT32_VAL, (uint64_t)!rank);
        put_attr(&node, 10, "comm_tag", INT32_VAL, 3);
        put_node();
        begin_node(&node, 2, "COMM_RECV_NODE_tb0_step1", RECV);
        put_packed(&node, 5, IDS(1));
        put_attr(&node, 10, "comm_type", INT64_VAL, 6);
        put_attr(&node, 10, "comm_size", INT64_VAL, 64);
        put_attr(&node, 10, "comm_src", INT32_VAL, (uint64_t)!rank);
        put_attr(&node, 10, "comm_tag", INT32_VAL, 3);
        put_node();
        write_rank("msccl", rank);
    }
    struct workload_graph graph = read_good(in_folder("msccl"), (struct workload_trace_options){0});
    assert_int_equal(op_of(&graph, 0, 1)->kind, WORKLOAD_SEND);
    assert_int_equal(op_of(&graph, 0, 1)->peer, 1);
    assert_int_equal(op_of(&graph, 1, 2)->kind, WORKLOAD_RECV);
    assert_int_equal(op_of(&graph, 1, 2)->peer, 0);
    assert_int_equal(op_of(&graph, 1, 2)->tag, 3);
    /* "tb0_step0" and "tb0_step7" are one row of a report */
    assert_string_equal(graph.labels[op_of(&graph, 0, 1)->label], "COMM_SEND_NODE_tb*_step*");
    workload_graph_free(&graph);
}

static void integers_of_all_types_are_read(void **state)
{
    (void)state;
    static const uint32_t fields[] = {INT32_VAL, INT64_VAL, UINT32_VAL, UINT64_VAL};
    for (size_t i = 0; i < 5; i++) {
        begin_node(&node, 1, "c", COLL);
        put_attr(&node, 10, "comm_type", i < 4 ? fields[i] : SINT64_VAL, i < 4 ? 6 : 12);
        put_attr(&node, 10, "comm_size", i < 4 ? fields[i] : SINT64_VAL, i < 4 ? 64 : 128);
        write_one("ints");
        struct workload_graph graph =
            read_good(in_folder("ints.0.et"), (struct workload_trace_options){.ranks = 2});
        assert_int_equal(op_of(&graph, 0, 1)->collective, CCL_ALL_TO_ALL);
        assert_int_equal(op_of(&graph, 0, 1)->bytes, 64);
        workload_graph_free(&graph);
    }
}

static void what_cannot_be_simulated_is_refused(void **state)
{
    (void)state;
    begin_node(&node, 12, "c", COLL);
    put_attr(&node, 10, "comm_type", INT64_VAL, 3);
    put_attr(&node, 10, "comm_size", INT64_VAL, 64);
    write_one("bad");
    refused(in_folder("bad.0.et"), "bad.0.et: node 12: comm_type: 3 (gather)", "legal: 0");
    begin_node(&node, 12, "c", COLL);
    put_attr(&node, 10, "comm_size", INT64_VAL, 64);
    write_one("bad");
    refused(in_folder("bad.0.et"), "node 12: comm_type: missing", "legal: 0");
    begin_node(&node, 12, "c", COLL);
    put_attr(&node, 10, "comm_type", INT64_VAL, 0);
    write_one("bad");
    refused(in_folder("bad.0.et"), "node 12: comm_size: missing", "legal");
    begin_node(&node, 12, "c", COLL);
    put_attr(&node, 10, "comm_type", INT64_VAL, 0);
    put_attr(&node, 10, "comm_size", INT64_VAL, (uint64_t)-1);
    write_one("bad");
    refused(in_folder("bad.0.et"), "node 12: comm_size: -1", "legal: 0");
    begin_node(&node, 12, "c", COLL);
    put_attr(&node, 10, "comm_type", INT64_VAL, 0);
    put_attr_text(&node, 10, "comm_size", "64");
    write_one("bad");
    refused(in_folder("bad.0.et"), "node 12: comm_size", "whole number");
    begin_node(&node, 12, "s", SEND);
    put_attr(&node, 10, "comm_size", INT64_VAL, 64);
    write_one("bad");
    refused(in_folder("bad.0.et"), "node 12: comm_dst: missing", "legal");
    begin_node(&node, 12, "n", 8);
    write_one("bad");
    refused(in_folder("bad.0.et"), "node 12: type: 8", "legal: 0 to 7");
    begin_node(&node, 12, "c", COLL);
    put_attr(&node, 10, "comm_type", INT64_VAL, 0);
    put_attr(&node, 10, "comm_size", INT64_VAL, 64);
    static struct bytes dims, list;
    dims.count = list.count = 0;
    put_number(&list, 1, 1);
    put_number(&list, 1, 0);
    put_text(&dims, 1, "involved_dim");
    put_bytes(&dims, BOOL_LIST, list.at, list.count);
    put_bytes(&node, 10, dims.at, dims.count);
    write_one("bad");
    refused(in_folder("bad.0.et"), "node 12: involved_dim", "legal: all true");
}

/* ---- dependencies ---------------------------------------------------------------------------- */

/* Control dependences are calls in PyTorch's traces: they lead in circles and nowhere. */
static void control_dependences_of_pytorch_are_not_waited_for(void **state)
{
    (void)state;
    begin_file("");
    begin_node(&node, 1, "aten::mm", COMP);
    put_packed(&node, 4, IDS(2, 99)); /* a circle, and a node that is not there */
    put_attr_text(&node, 10, "op_schema", "aten::mm(Tensor self)");
    put_attr(&node, 10, "is_cpu_op", BOOL_VAL, 1);
    put_node();
    begin_node(&node, 2, "aten::add", COMP);
    put_packed(&node, 4, IDS(1));
    put_packed(&node, 5, IDS(1));
    put_attr(&node, 10, "is_cpu_op", BOOL_VAL, 1);
    put_node();
    write_rank("pytorch", 0);
    struct workload_graph graph =
        read_good(in_folder("pytorch.0.et"), (struct workload_trace_options){0});
    assert_int_equal(op_of(&graph, 0, 1)->dep_count, 0);
    assert_int_equal(op_of(&graph, 0, 2)->dep_count, 1);
    assert_non_null(strstr(notes, "data dependences alone"));
    workload_graph_free(&graph);
}

static void control_dependences_count_unless_they_cannot(void **state)
{
    (void)state;
    for (uint64_t back = 0; back < 3; back++) { /* none; a circle; a node that is not there */
        begin_file("0.0.4");
        begin_node(&node, 1, "a", COMP);
        if (back > 0)
            put_packed(&node, 4, IDS(back == 1 ? 2 : 50));
        put_node();
        begin_node(&node, 2, "b", COMP);
        put_packed(&node, 4, IDS(1));
        put_node();
        write_rank("control", 0);
        struct workload_graph graph =
            read_good(in_folder("control.0.et"), (struct workload_trace_options){0});
        assert_int_equal(op_of(&graph, 0, 2)->dep_count, back == 0);
        assert_int_equal(notes[0] != '\0', back > 0);
        workload_graph_free(&graph);
    }
}

static void data_dependences_in_a_circle_or_to_nowhere_are_refused(void **state)
{
    (void)state;
    begin_file("0.0.4");
    begin_node(&node, 3, "a", COMP);
    put_packed(&node, 5, IDS(4));
    put_node();
    begin_node(&node, 4, "b", COMP);
    put_packed(&node, 5, IDS(3));
    put_node();
    write_rank("circle", 0);
    refused(in_folder("circle.0.et"), "circle.0.et: node 3: data_deps", "depends on itself");
    begin_node(&node, 3, "a", COMP);
    put_packed(&node, 5, IDS(5));
    write_one("circle");
    refused(in_folder("circle.0.et"), "node 3: data_deps", "no node 5");
    begin_file("0.0.4");
    for (int i = 0; i < 2; i++) {
        begin_node(&node, 3, "a", COMP);
        put_node();
    }
    write_rank("circle", 0);
    refused(in_folder("circle.0.et"), "node 3: id", "two nodes");
}

/* 14 of 21 collectives of a public trace are the host's side, and say no type. */
static void the_host_s_side_of_a_collective_is_its_time(void **state)
{
    (void)state;
    begin_node(&node, 1, "record_param_comms", COLL);
    put_number(&node, 7, 4);
    put_attr(&node, 10, "is_cpu_op", BOOL_VAL, 1);
    write_one("host");
    struct workload_graph graph =
        read_good(in_folder("host.0.et"), (struct workload_trace_options){0});
    assert_int_equal(graph.rank_count, 1);
    assert_int_equal(op_of(&graph, 0, 1)->kind, WORKLOAD_TIME);
    assert_int_equal(op_of(&graph, 0, 1)->time_ps, 4000000);
    assert_string_equal(graph.streams[op_of(&graph, 0, 1)->stream].name, "cpu");
    workload_graph_free(&graph);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void write_groups(const char *text)
{
    write_to(in_folder("groups.json"), text, strlen(text));
}

/* Four ranks: node 1 is of "1" or "2", node 2 of "3" or "4", node 3 of all. */
static void write_grouped(const char *const name[4][2], bool as_comm_group)
{
    for (int rank = 0; rank < 4; rank++) {
        begin_file("0.0.4");
        for (uint64_t id = 1; id <= 3; id++) {
            begin_node(&node, id, "c", COLL);
            put_attr(&node, 10, "comm_type", INT64_VAL, 0);
            put_attr(&node, 10, "comm_size", INT64_VAL, 64);
            if (id < 3)
                put_attr_text(&node, 10, as_comm_group ? "comm_group" : "pg_name",
                              name[rank][id - 1]);
            put_node();
        }
        write_rank("grouped", rank);
    }
}

static const char *const names_of_four[4][2] = {{"1", "3"}, {"1", "4"}, {"2", "3"}, {"2", "4"}};

static void groups_come_from_a_file(void **state)
{
    (void)state;
    write_groups("{\"1\": [0, 1], \"2\": [2, 3], \"3\": [0, 2], \"4\": [1, 3]}");
    for (int comm_group = 0; comm_group < 2; comm_group++) {
        write_grouped(names_of_four, comm_group != 0);
        char *const groups = strdup(in_folder("groups.json"));
        struct workload_graph graph =
            read_good(in_folder("grouped"), (struct workload_trace_options){.groups = groups});
        free(groups);
        assert_int_equal(graph.set_count, 3); /* disjoint groups together; the world */
        for (uint32_t rank = 0; rank < 4; rank++) {
            const struct workload_set *const first = &graph.sets[op_of(&graph, rank, 1)->set],
                                             *second = &graph.sets[op_of(&graph, rank, 2)->set];
            assert_int_equal(first->groups, 2);
            assert_int_equal(first->group_of[rank], rank / 2);
            assert_int_equal(first->rank_in[rank], rank % 2);
            assert_int_equal(second->group_of[rank], rank % 2);
            assert_int_equal(second->rank_in[rank], rank / 2);
            assert_int_equal(graph.sets[op_of(&graph, rank, 3)->set].first[1], 4);
        }
        workload_graph_free(&graph);
    }
    refused(in_folder("grouped"), "grouped.0.et: node 1: pg_name: there is no group '1'", "legal");
}

static void groups_come_from_metadata_nodes(void **state)
{
    (void)state;
    static struct bytes inputs;
    for (int rank = 0; rank < 2; rank++) {
        begin_file("");
        begin_node(&node, 1, "## process_group:init ##", METADATA);
        inputs.count = 0;
        put_text(&inputs, 1,
                 "['[{\"pg_name\": \"0\", \"pg_desc\": \"default\", \"ranks\": []}, "
                 "{\"pg_name\": \"7\", \"ranks\": [1, 0]}]']");
        put_bytes(&node, 8, inputs.at, inputs.count);
        put_node();
        begin_node(&node, 2, "nccl", COLL);
        put_packed(&node, 5, IDS(1));
        put_attr(&node, 10, "comm_type", INT64_VAL, 2);
        put_attr(&node, 10, "comm_size", INT64_VAL, 10);
        put_attr_text(&node, 10, "pg_name", "7");
        put_node();
        write_rank("meta", rank);
    }
    struct workload_graph graph = read_good(in_folder("meta"), (struct workload_trace_options){0});
    assert_int_equal(op_of(&graph, 0, 2)->bytes, 20);
    assert_int_equal(graph.sets[op_of(&graph, 0, 2)->set].rank_in[0], 1);
    workload_graph_free(&graph);
}

static void files_of_groups_that_are_wrong_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "[]", "{\"1\": [0, 0]}", "{\"1\": 3}", "{\"1\": [-1]}", "{\"1\": []}", "{"};
    write_grouped(names_of_four, false);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct workload_graph graph;
        write_groups(texts[i]);
        char *const groups = strdup(in_folder("groups.json"));
        assert_int_equal(read_with(in_folder("grouped"),
                                   (struct workload_trace_options){.groups = groups}, &graph),
                         CW_USAGE);
        assert_non_null(strstr(error.text, "groups.json"));
        workload_graph_free(&graph);
        free(groups);
    }
    struct workload_graph graph;
    write_groups("{\"1\": [0, 9], \"2\": [2, 3], \"3\": [0, 2], \"4\": [1, 3]}");
    char *const groups = strdup(in_folder("groups.json"));
    assert_int_equal(
        read_with(in_folder("grouped"), (struct workload_trace_options){.groups = groups}, &graph),
        CW_USAGE);
    assert_non_null(strstr(error.text, "legal: 0 to 3"));
    workload_graph_free(&graph);
    free(groups);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void read_json(const char *text, uint64_t unit_ps)
{
    write_to(in_folder("trace.json"), text, strlen(text));
    assert_true(workload_is_trace(in_folder("trace.json")));
    struct workload_graph graph =
        read_good(in_folder("trace.json"), (struct workload_trace_options){.ranks = 4});
    expect_three(&graph, unit_ps);
    workload_graph_free(&graph);
}

static void json_of_both_kinds_is_read(void **state)
{
    (void)state;
    read_json("{\"workload_graph\": [\n"
              " {\"Id\": 0, \"Name\": \"a\", \"NodeType\": 4, \"data_deps\": [], \"runtime\": 5},\n"
              " {\"Id\": 1, \"Name\": \"b\", \"NodeType\": 4, \"data_deps\": [0], \"runtime\": 7,"
              " \"is_cpu_op\": false},\n"
              " {\"Id\": 2, \"Name\": \"c\", \"NodeType\": 7, \"data_deps\": [0, 1],"
              " \"comm_type\": 0, \"comm_size\": 4096}]}",
              1000000);
    read_json("{\"version\": \"0.0.4\"}{\"name\": \"a\", \"type\": \"COMP_NODE\","
              " \"durationMicros\": \"5\"}{\n  \"id\": \"1\", \"name\": \"b\","
              " \"type\": \"COMP_NODE\", \"dataDeps\": [\"0\"], \"durationMicros\": \"7\"\n}"
              "{\"id\": \"2\", \"type\": \"COMM_COLL_NODE\", \"dataDeps\": [\"0\", \"1\"],"
              " \"attr\": [{\"name\": \"comm_type\", \"int64Val\": \"0\"},"
              " {\"name\": \"comm_size\", \"uint64Val\": \"4096\"}]}\n",
              1000000);
    static const char host[] = "{\"schema\": \"1.0.2-chakra.0.0.4\", \"pid\": 1, \"nodes\": []}";
    write_to(in_folder("host.json"), host, strlen(host));
    refused(in_folder("host.json"), "a host trace of PyTorch", "chakra_converter");
    write_to(in_folder("cut.json"), host, 20);
    refused(in_folder("cut.json"), "cut.json:1: not JSON", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_0_0_4_has_dependencies_of_two_kinds),
        cmocka_unit_test(version_0_0_1_has_its_attributes_in_fields),
        cmocka_unit_test(version_0_0_1_is_known_without_communication),
        cmocka_unit_test(versions_0_0_2_and_0_0_3_number_types_differently),
        cmocka_unit_test(version_without_a_number_has_metadata_and_parents),
        cmocka_unit_test(a_stated_version_does_not_count),
        cmocka_unit_test(metadata_may_be_empty_or_have_a_schema),
        cmocka_unit_test(mixed_versions_are_refused),
        cmocka_unit_test(collectives_are_renumbered),
        cmocka_unit_test(gzip_is_known_by_its_first_bytes),
        cmocka_unit_test(a_set_is_named_by_prefix_file_or_folder),
        cmocka_unit_test(messages_of_no_bytes_end_nothing),
        cmocka_unit_test(damaged_files_are_refused_with_their_message),
        cmocka_unit_test(ids_may_run_on_across_ranks),
        cmocka_unit_test(comm_size_of_an_all_gather_is_a_rank_s_part),
        cmocka_unit_test(durations_are_microseconds_and_0_is_a_nanosecond),
        cmocka_unit_test(a_converted_table_s_cycles_are_nanoseconds),
        cmocka_unit_test(collectives_of_no_bytes_are_none),
        cmocka_unit_test(nodes_without_a_time_are_computed_by_the_machine),
        cmocka_unit_test(symbolic_tensor_graphs_are_read),
        cmocka_unit_test(messages_ignore_a_type_of_collective),
        cmocka_unit_test(integers_of_all_types_are_read),
        cmocka_unit_test(what_cannot_be_simulated_is_refused),
        cmocka_unit_test(control_dependences_of_pytorch_are_not_waited_for),
        cmocka_unit_test(control_dependences_count_unless_they_cannot),
        cmocka_unit_test(data_dependences_in_a_circle_or_to_nowhere_are_refused),
        cmocka_unit_test(the_host_s_side_of_a_collective_is_its_time),
        cmocka_unit_test(groups_come_from_a_file),
        cmocka_unit_test(groups_come_from_metadata_nodes),
        cmocka_unit_test(files_of_groups_that_are_wrong_are_refused),
        cmocka_unit_test(json_of_both_kinds_is_read)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
