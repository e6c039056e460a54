/*
 * test_msccl_xml.c: the reader of MSCCL XML files: every step type, numbers in any order, and one
 * line for every fault, with its place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/msccl/msccl_file.h"

#define ALGO                                                                                       \
    "<algo name='a' proto='Simple' nchannels='1' nchunksperloop='2' ngpus='2' coll='allreduce' "   \
    "inplace='0' outofplace='1' minBytes='0' maxBytes='65536'>\n"
#define GPU0 "<gpu id='0' i_chunks='2' o_chunks='2' s_chunks='1'>\n"
#define GPU1 "<gpu id='1' i_chunks='2' o_chunks='2' s_chunks='1'>\n"
#define TB0  "<tb id='0' send='1' recv='1' chan='0'>\n"
#define STEP "<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='1'/>\n"
#define END  "</tb></gpu></algo>\n"

static struct schedule *read_good(const char *text)
{
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    const int code = msccl_read_text("a.xml", text, strlen(text), &file, &error);
    if (code != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    assert_non_null(file.schedule);
    schedule_faults_free(&file.notes);
    return file.schedule;
}

/* The text is refused with these lines. */
static void read_bad(const char *text, const char *lines)
{
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    assert_int_equal(msccl_read_text("a.xml", text, strlen(text), &file, &error), CW_USAGE);
    assert_null(file.schedule);
    assert_string_equal(cw_error_text(&error), lines);
}

static void test_every_type(void **state)
{
    (void)state;
    static const char text[] = ALGO GPU1
        "</gpu>" GPU0 "<tb id='1' send='-1' recv='-1' chan='0'/>\n"
        "<tb id='0' send='1' recv='1' chan='3'>\n"
        "<step s='8' type='re' srcbuf='s' srcoff='0' dstbuf='o' dstoff='1' cnt='1' depid='-1' "
        "deps='-1' hasdep='1'/>"
        "<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='2'/>"
        "<step s='1' type='r' srcbuf='i' srcoff='0' dstbuf='o' dstoff='1' cnt='1'/>"
        "<step s='2' type='rcs' srcbuf='i' srcoff='0' dstbuf='s' dstoff='0' cnt='1'/>"
        "<step s='3' type='rrc' srcbuf='i' srcoff='1' dstbuf='o' dstoff='1' cnt='1'/>"
        "<step s='4' type='rrs' srcbuf='i' srcoff='1' dstbuf='o' dstoff='-1' cnt='1'/>"
        "<op step='5' type='rrcs' buf='o' off='1'/>"
        "<step s='7' type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='1'/>"
        "<step s='9' type='nop' srcbuf='i' srcoff='-1' dstbuf='o' dstoff='-1' cnt='0' depid='0' "
        "deps='2' hasdep='0'/>" END;
    static const enum schedule_op ops[] = {SCHEDULE_SEND,
                                           SCHEDULE_RECV,
                                           SCHEDULE_RECV_COPY_SEND,
                                           SCHEDULE_RECV_REDUCE_COPY,
                                           SCHEDULE_RECV_REDUCE_SEND,
                                           SCHEDULE_RECV_REDUCE_COPY_SEND,
                                           SCHEDULE_NOP,
                                           SCHEDULE_COPY,
                                           SCHEDULE_REDUCE,
                                           SCHEDULE_NOP};
    struct schedule *const s = read_good(text);
    const struct schedule_rank *const rank = &s->rank[0];
    assert_int_equal(s->rank_count, 2);
    assert_int_equal(s->collective, CCL_ALL_REDUCE);
    assert_int_equal(s->loop_chunks, 2);
    assert_int_equal(s->channels, 4);
    assert_int_equal(s->max_bytes, 65536);
    assert_false(s->in_place);
    assert_int_equal(rank->thread_count, 2);
    assert_int_equal(rank->thread[0].step_count, 10);
    for (uint32_t i = 0; i < 10; i++) {
        const struct schedule_step *const step = &rank->step[i];
        const enum schedule_op op = (enum schedule_op)step->op;
        assert_int_equal(op, ops[i]);
        assert_int_equal(step->send_to, schedule_op_sends(op) ? 1 : SCHEDULE_NO_RANK);
        assert_int_equal(step->recv_from, schedule_op_receives(op) ? 1 : SCHEDULE_NO_RANK);
    }
    assert_int_equal(rank->step[0].count, 2);
    assert_int_equal(rank->step[5].src.buffer, SCHEDULE_OUTPUT); /* of <op>: both */
    assert_int_equal(rank->step[5].dst.at, 1);
    assert_int_equal(rank->wait_count, 0); /* of the own thread: it is before anyway */
    schedule_free(s);
}

static void test_waits_and_copies(void **state)
{
    (void)state;
    static const char text[] =
        ALGO GPU0 "<copy i_off='0' o_off='1'/>"
                  "<tb id='0' send='-1' recv='-1' chan='0'>"
                  "<step s='0' type='nop' depid='1' deps='0'/></tb>"
                  "<tb id='1' send='-1' recv='-1' chan='0'><step s='0' type='nop'/></tb></gpu>" GPU1
                  "</gpu></algo>";
    struct schedule *const s = read_good(text);
    const struct schedule_rank *const rank = &s->rank[0];
    assert_int_equal(rank->thread_count, 3);
    assert_int_equal(rank->step[0].wait_count, 2);
    assert_int_equal(rank->wait[0].thread, 1);
    assert_int_equal(rank->wait[1].thread, 2); /* the copy */
    assert_int_equal(rank->step[1].awaited, 1);
    assert_int_equal(rank->step[2].op, SCHEDULE_COPY);
    assert_int_equal(rank->step[2].dst.at, 1);
    schedule_free(s);
}

/* Buffers that no step names may be missing; attributes that say nothing may be there. */
static void test_all_gather_in_place(void **state)
{
    (void)state;
    static const char text[] =
        "<!-- a comment -->\n<algo name='g' nchannels='1' nchunksperloop='4' ngpus='2' "
        "coll='allgather' inplace='1' outofplace='0' maxcount='1' nthreadblocks='24' redop='nop' "
        "minBytes='0' maxBytes='9223372036854775807'>"
        "<gpu id='0' i_chunks='0' o_chunks='4' s_chunks='0'/>"
        "<gpu id='1' i_chunks='0' o_chunks='4' s_chunks='0' comment='none'>"
        "<tb id='0' rid='1' send='-1' recv='-1' chan='0'>"
        "<step s='0' type='nop' netdepid='1' netdeps='0'/></tb></gpu></algo>";
    struct schedule *const s = read_good(text);
    assert_true(s->in_place);
    assert_int_equal(s->rank[1].chunks[SCHEDULE_INPUT], 2);
    assert_int_equal(s->rank[1].chunks[SCHEDULE_OUTPUT], 4);
    schedule_free(s);
    /* A file that says so does not work in place, though a buffer is missing. */
    struct schedule *const apart =
        read_good("<algo nchunksperloop='2' ngpus='2' coll='allreduce' inplace='0'>"
                  "<gpu id='0' i_chunks='2' o_chunks='0' s_chunks='0'/>"
                  "<gpu id='1' i_chunks='2' o_chunks='0' s_chunks='0'/></algo>");
    assert_false(apart->in_place);
    schedule_free(apart);
}

struct fault {
    const char *text, *lines;
};

static void test_faults(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {"", "a.xml:1:1: no element found; legal is XML"},
        {"<algo", "a.xml:1:1: unclosed token; legal is XML"},
        {"<gpu/>", "a.xml:1:1: <gpu> is out of place; legal is <algo>, with <gpu>, with <copy> and "
                   "<tb>, with <step> or <op>\na.xml:1:7: there is no <algo>"},
        {"<!DOCTYPE a [<!ENTITY b 'cccc'>]>\n<algo name='&b;'/>",
         "a.xml:1:13: a document type is declared; legal is a file without <!DOCTYPE> and "
         "entities"},
        {"<algo coll='allreduce'/>", "a.xml:1:1: algo has no ngpus; legal is 1 to 65536"},
        {"<algo ngpus='2' coll='gather'/>",
         "a.xml:1:1: coll=\"gather\"; legal are allreduce, reducescatter, allgather, alltoall, "
         "broadcast, reduce, custom"},
        {"<algo ngpus='2' coll='reduce' root='2'/>", "a.xml:1:1: root=\"2\"; legal is 0 to 1"},
        {"<algo ngpus='2000000000000000000000' coll='allreduce'/>",
         "a.xml:1:1: ngpus=\"2000000000000000000000\"; legal is 1 to 65536"},
        {"<algo ngpus='' coll='allreduce'/>", "a.xml:1:1: ngpus=\"\"; legal is 1 to 65536"},
        {"<algo ngpus='2' maxBytes='9223372036854775808' coll='allreduce'/>",
         "a.xml:1:1: maxBytes=\"9223372036854775808\"; legal is 0 to 9223372036854775807"},
        {"<algo ngpus='1' nchunksperloop='1' coll='allreduce'/>", "a.xml: gpu 0 of 1 is missing"},
        {ALGO GPU0 "</gpu>" GPU0 "</gpu></algo>",
         "a.xml:3:7: gpu 0 is there already; legal is each gpu once"},
        {ALGO GPU1 "</gpu></algo>", "a.xml:2:1: gpu 0 is missing, before gpu 1"},
        {ALGO "<gpu id='2' i_chunks='2' o_chunks='2' s_chunks='1'/></algo>",
         "a.xml:2:1: gpu 2 of 2; legal is 0 to 1"},
        {ALGO "<gpu id='0' i_chunks='2' o_chunks='2'/></algo>",
         "a.xml:2:1: gpu has no s_chunks; legal is 0 to 1048576"},
        {ALGO "<gpu id='0' i_chunks='3' o_chunks='2' s_chunks='0'/>" GPU1 "</gpu></algo>",
         "a.xml:2:1: gpu 0 has i_chunks=\"3\"; legal is up to 2, of nchunksperloop 2"},
        {ALGO GPU0 TB0 "</tb>" TB0 "</tb></gpu>" GPU1 "</gpu></algo>",
         "a.xml:4:6: gpu 0 has tb 0 twice; legal are 0 to 1, each once"},
        {ALGO GPU0 "<tb id='1' send='1' recv='1' chan='0'/></gpu>" GPU1 "</gpu></algo>",
         "a.xml:3:1: gpu 0 has tb 1 without those before it; legal are 0 to 0, each once"},
        {ALGO GPU0 "<tb id='0' send='1' recv='-2' chan='0'/></gpu></algo>",
         "a.xml:3:1: gpu 0: recv=\"-2\"; legal is -1 to 65535"},
        {ALGO GPU0 TB0 STEP STEP "</tb></gpu>" GPU1 "</gpu></algo>",
         "a.xml:5:1: gpu 0, tb 0: step 0 is there already; legal is each step once"},
        {"<algo ngpus='2' coll='allreduce' proto='LL256'/>",
         "a.xml:1:1: proto=\"LL256\"; legal are Simple, LL, LL128"},
        {ALGO GPU0 TB0 "<step s='0' type='nop' cntt='2'/>" END,
         "a.xml:4:1: gpu 0, tb 0: step has an unknown attribute cntt; did you mean cnt?"},
        {ALGO GPU0 TB0 "<step s='0' type='nop' deepid='1'/>" END,
         "a.xml:4:1: gpu 0, tb 0: step has an unknown attribute deepid; did you mean depid?"},
        {ALGO GPU0 "<tb id='0' send='1' recv='1' chan='0' chann='2'/></gpu></algo>",
         "a.xml:3:1: gpu 0: tb has an unknown attribute chann; did you mean chan?"},
        {ALGO GPU0 TB0 "<step s='0' type='x'/>" END,
         "a.xml:4:1: gpu 0, tb 0: step 0 has type=\"x\"; legal are s, r, rcs, rrc, rrs, rrcs, cpy, "
         "re, nop"},
        {ALGO GPU0 TB0 "<step s='0' type='s' srcbuf='o' srcoff='-1'/>" END,
         "a.xml:4:1: gpu 0, tb 0: step 0: s needs srcbuf and srcoff, and has \"o\" and -1; legal "
         "are i, o, s, and 0 on"},
        {ALGO GPU0 TB0 "<step s='0' type='s' srcbuf='o' srcoff='1' cnt='-1'/>" END,
         "a.xml:4:1: gpu 0, tb 0: cnt=\"-1\"; legal is 0 to 65535"},
        {ALGO GPU0 TB0 "<step s='0' type='s' srcbuf='o' srcoff='1' cnt='0'/>" END,
         "a.xml:4:1: gpu 0, tb 0: step 0: s has cnt=\"0\"; legal is 1 to 65535"},
        {ALGO GPU0 TB0 "<step s='1000' type='nop'/></tb></gpu>" GPU1 "</gpu></algo>",
         "a.xml:4:1: gpu 0, tb 0: step 1000 is one of 1; legal is up to 68"},
        {ALGO GPU0 TB0 "<step s='0' type='nop' depid='7' deps='0'/></tb></gpu>" GPU1
                       "</gpu></algo>",
         "a.xml:4:1: gpu 0, tb 0, step 0 waits for tb 7; legal is 0 to 0"},
        {ALGO GPU0 TB0 "<step s='0' type='nop' depid='0' deps='5'/></tb></gpu>" GPU1
                       "</gpu></algo>",
         "a.xml:4:1: gpu 0, tb 0, step 0 waits for step 5 of tb 0, which has 1 steps; legal is "
         "less"},
        {ALGO GPU0 TB0 "<step s='0' type='nop' depid='0' deps='0'/></tb></gpu>" GPU1
                       "</gpu></algo>",
         "a.xml:4:1: gpu 0, tb 0, step 0 waits for step 0 of its own thread block; legal is a step "
         "before it"},
        {ALGO GPU0 TB0 "<step s='0' type='nop' depid='0'/>" END,
         "a.xml:4:1: gpu 0, tb 0: step 0 waits for tb 0, and names no step of it in deps; legal is "
         "0 on"},
        {ALGO GPU0 "<step s='0'/></gpu></algo>",
         "a.xml:3:1: gpu 0: <step> is out of place; legal is <algo>, with <gpu>, with <copy> and "
         "<tb>, with <step> or <op>"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        read_bad(faults[i].text, faults[i].lines);
}

/* A gpu of two thread blocks: the second waits, with step `wait`, for steps of the first. */
#define HASDEP(s, type, hasdep)                                                                    \
    "<step s='" s "' type='" type "' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='1' "         \
    "depid='-1' deps='-1' hasdep='" hasdep "'/>\n"
#define NOP_FOR(s, deps) "<step s='" s "' type='nop' depid='0' deps='" deps "' hasdep='0'/>\n"
#define CPY_FOR(s, deps)                                                                           \
    "<step s='" s "' type='cpy' srcbuf='i' srcoff='0' dstbuf='s' dstoff='0' cnt='1' depid='0' "    \
    "deps='" deps "' hasdep='0'/>\n"
#define OWN_TB(id) "<tb id='" id "' send='-1' recv='-1' chan='0'>\n"

static void notes_are(const char *steps_of_0, const char *steps_of_1, const char *lines)
{
    char text[2000];
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    snprintf(text, sizeof text, ALGO GPU1 "</gpu>" GPU0 OWN_TB("0") "%s</tb>" OWN_TB("1") "%s" END,
             steps_of_0, steps_of_1);
    if (msccl_read_text("a.xml", text, strlen(text), &file, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    if (lines == NULL)
        assert_null(file.notes.text);
    else
        assert_string_equal(file.notes.text, lines);
    msccl_file_free(&file);
}

/* MSCCL waits for numbers that only steps with hasdep="1" publish, and no nop does. */
static void test_waits_that_do_not_end_in_msccl(void **state)
{
    (void)state;
    notes_are(HASDEP("0", "cpy", "1"), CPY_FOR("0", "0"), NULL);
    notes_are("<step s='0' type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0'/>\n",
              CPY_FOR("0", "0"), NULL); /* it says nothing */
    notes_are(HASDEP("0", "cpy", "0"), CPY_FOR("0", "0"),
              "a.xml:7:1: gpu 0, tb 1, step 0 waits for step 0 of tb 0, which has hasdep=\"0\": in "
              "MSCCL, that wait never ends");
    notes_are(HASDEP("0", "cpy", "0") HASDEP("1", "cpy", "0") HASDEP("2", "cpy", "1"),
              CPY_FOR("0", "0"),
              "a.xml:9:1: gpu 0, tb 1, step 0 waits for step 0 of tb 0, which has hasdep=\"0\": in "
              "MSCCL, that wait ends with its step 2");
    notes_are(HASDEP("0", "cpy", "1") HASDEP("1", "nop", "1"), CPY_FOR("0", "1"),
              "a.xml:8:1: gpu 0, tb 1, step 0 waits for step 1 of tb 0, which is a nop: in MSCCL, "
              "that wait never ends");
    notes_are(HASDEP("0", "cpy", "0"), NOP_FOR("0", "0") CPY_FOR("1", "0"),
              "a.xml:7:1: gpu 0, tb 1, step 0 waits for step 0 of tb 0, which has hasdep=\"0\": in "
              "MSCCL, that wait never ends\n"
              "a.xml:8:1: gpu 0, tb 1, step 1 waits for step 0 of tb 0, which has hasdep=\"0\": in "
              "MSCCL, that wait never ends");
}

/* The waits of nops belong to the step after them, which must have one, too. */
static void test_chains_that_msccl_refuses(void **state)
{
    (void)state;
    static const char done[] = HASDEP("0", "cpy", "1") HASDEP("1", "cpy", "1");
    notes_are(done, NOP_FOR("0", "0") CPY_FOR("1", "1"), NULL);
    notes_are(done, NOP_FOR("0", "0"), NULL); /* nothing comes after it */
    notes_are(done, HASDEP("0", "nop", "0") HASDEP("1", "cpy", "0"), NULL); /* it does not wait */
    notes_are(done, NOP_FOR("0", "0") NOP_FOR("1", "1") HASDEP("2", "cpy", "0"),
              "a.xml:9:1: gpu 0, tb 1, step 1 is a nop that waits, and step 2 after it has "
              "depid=\"-1\": MSCCL refuses such a \"chain of dependences\"");
    notes_are(done, NOP_FOR("0", "0") HASDEP("1", "nop", "0") HASDEP("2", "cpy", "0"),
              "a.xml:8:1: gpu 0, tb 1, step 0 is a nop that waits, and step 2 after it has "
              "depid=\"-1\": MSCCL refuses such a \"chain of dependences\"");
}

static struct schedule *read_custom(const char *head, const char *steps_of_0,
                                    const char *steps_of_1)
{
    char text[2000];
    snprintf(text, sizeof text,
             "<algo ngpus='2' nchunksperloop='2' %s>" GPU0 TB0 "%s</tb></gpu>" GPU1
             "<tb id='0' send='0' recv='0' chan='0'>%s" END,
             head, steps_of_0, steps_of_1);
    return read_good(text);
}

#define SEND(s, at) "<step s='" s "' type='s' srcbuf='i' srcoff='" at "' cnt='1'/>\n"
#define INTO(s, type, at)                                                                          \
    "<step s='" s "' type='" type "' srcbuf='i' srcoff='" at "' dstbuf='o' dstoff='" at            \
    "' cnt='1'/>\n"

/* Too many chunks in a step, or steps in a thread block, for all runtimes. */
static void test_files_that_no_runtime_takes(void **state)
{
    (void)state;
    static const struct {
        unsigned chunks, steps;
        const char *line;
    } files[] = {{71, 256, NULL},
                 {72, 1,
                  "a.xml: no runtime takes the file, microsoft/msccl since gpu 0, tb 0 has a step "
                  "of 72 chunks, of at most 71; topo --xml cuts it"},
                 {1, 257,
                  "a.xml: no runtime takes the file, microsoft/msccl since gpu 0, tb 0 has 257 "
                  "steps, of at most 256; topo --xml cuts it"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        static char text[40000];
        struct msccl_file file;
        struct cw_error error = {.exit_code = CW_OK};
        int n = snprintf(text, sizeof text,
                         "<algo ngpus='1' nchunksperloop='80' coll='allreduce' inplace='0'>"
                         "<gpu id='0' i_chunks='80' o_chunks='80' s_chunks='0'>" OWN_TB("0"));
        for (unsigned k = 0; k < files[i].steps; k++)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "<step s='%u' type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' "
                          "cnt='%u'/>",
                          k, files[i].chunks);
        snprintf(text + n, sizeof text - (size_t)n, END);
        if (msccl_read_text("a.xml", text, strlen(text), &file, &error) != CW_OK)
            fail_msg("%s", cw_error_text(&error));
        if (files[i].line == NULL)
            assert_null(file.notes.text);
        else
            assert_string_equal(file.notes.text, files[i].line);
        msccl_file_free(&file);
    }
}

/* A file that does not say its collective does one that is known, or its own. */
static void test_steps_say_the_collective(void **state)
{
    (void)state;
    static const struct {
        const char *of_0, *of_1;
        enum ccl_collective collective;
        uint32_t root;
    } files[] = {
        {SEND("0", "0") INTO("1", "rrc", "0") SEND("2", "1") INTO("3", "rrc", "1"),
         SEND("0", "0") INTO("1", "rrc", "0") SEND("2", "1") INTO("3", "rrc", "1"), CCL_ALL_REDUCE,
         0},
        {INTO("0", "r", "0") INTO("1", "r", "1"),
         SEND("0", "0") SEND("1", "1") INTO("2", "cpy", "0") INTO("3", "cpy", "1"), CCL_BROADCAST,
         1},
        {SEND("0", "0") SEND("1", "1"), INTO("0", "rrc", "0") INTO("1", "rrc", "1"), CCL_REDUCE, 1},
        /* gpu 0 has the sum of one chunk, gpu 1 of all */
        {SEND("0", "0") SEND("1", "1") INTO("2", "r", "0"),
         INTO("0", "rrc", "0")
             INTO("1", "rrc", "1") "<step s='2' type='s' srcbuf='o' srcoff='0' cnt='1'/>\n",
         CCL_REDUCE, 1},
        /* chunk 0 to gpu 1, chunk 1 to gpu 0: nothing that has a name */
        {SEND("0", "0") INTO("1", "r", "1"), INTO("0", "r", "0") SEND("1", "1"), CCL_CUSTOM, 0}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct schedule *const s = read_custom(
            i % 2 == 0 ? "coll='custom' inplace='0'" : "inplace='0'", files[i].of_0, files[i].of_1);
        assert_int_equal(s->collective, files[i].collective);
        assert_int_equal(s->root, files[i].root);
        schedule_free(s);
    }
    /* A root that the file names is the root, whatever its steps do. */
    struct schedule *const s =
        read_custom("coll='reduce' root='0' inplace='0'", files[2].of_0, files[2].of_1);
    assert_int_equal(s->root, 0);
    schedule_free(s);
    read_bad("<algo ngpus='2' nchunksperloop='2' inplace='0'>"
             "<gpu id='0' i_chunks='2' o_chunks='2' s_chunks='0'/>"
             "<gpu id='1' i_chunks='2' o_chunks='2' s_chunks='0'/></algo>",
             "a.xml: there are no steps; legal is one at least");
}

/* All faults of a file are told, up to a bound. */
static void test_many_faults(void **state)
{
    (void)state;
    char text[8192] = ALGO GPU0 TB0;
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    for (int i = 0; i < 50; i++)
        strcat(text, "<step s='0' type='?'/>\n");
    strcat(text, END);
    assert_int_equal(msccl_read_text("a.xml", text, strlen(text), &file, &error), CW_USAGE);
    const char *const told = cw_error_text(&error);
    assert_non_null(strstr(told, "a.xml:43:1: gpu 0, tb 0: step 0 has type"));
    assert_non_null(strstr(told, "\n... and 10 more"));
}

static void test_no_file(void **state)
{
    (void)state;
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    assert_int_equal(msccl_read("/no/such.xml", &file, &error), CW_USAGE);
    assert_string_equal(error.text, "/no/such.xml cannot be read: No such file or directory");
    assert_int_equal(msccl_read("/", &file, &error), CW_USAGE);
    assert_non_null(strstr(error.text, "/ cannot be read whole"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_type),
                                       cmocka_unit_test(test_waits_and_copies),
                                       cmocka_unit_test(test_all_gather_in_place),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_waits_that_do_not_end_in_msccl),
                                       cmocka_unit_test(test_chains_that_msccl_refuses),
                                       cmocka_unit_test(test_files_that_no_runtime_takes),
                                       cmocka_unit_test(test_steps_say_the_collective),
                                       cmocka_unit_test(test_many_faults),
                                       cmocka_unit_test(test_no_file)};
    return cmocka_run_group_tests_name("msccl_xml", tests, NULL, NULL);
}
