/*
 * test_schedule_check.c: faults that make a schedule wrong are found before it runs, and told in
 * its own terms: structure, circles, full rings, hazards, wrong results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/msccl/msccl_file.h"
#include "collectives/schedule/schedule_builder.h"
#include "collectives/schedule/schedule_check.h"
#include "collectives/schedule/schedule_values.h"

#define ALGO(coll, place)                                                                          \
    "<algo name='a' nchannels='1' nchunksperloop='2' ngpus='2' coll='" coll "' inplace='" place    \
    "' outofplace='1' minBytes='0' maxBytes='0'>\n"
#define GPU(id, i, o, s)   "<gpu id='" id "' i_chunks='" i "' o_chunks='" o "' s_chunks='" s "'>\n"
#define TB(id, send, recv) "<tb id='" id "' send='" send "' recv='" recv "' chan='0'>\n"
#define MOVE(s, type, from, at, to, place, more)                                                   \
    "<step s='" s "' type='" type "' srcbuf='" from "' srcoff='" at "' dstbuf='" to                \
    "' dstoff='" place "' cnt='1' " more "/>\n"
#define WAIT(depid, deps) "depid='" depid "' deps='" deps "'"
#define END_TB            "</tb>\n"
#define END_GPU           "</gpu>\n"

/* Reads and checks; *lines: the faults. */
static int check_text(const char *text, uint32_t slots, struct cw_error *error)
{
    struct msccl_file file;
    error->exit_code = CW_OK;
    error->text[0] = '\0';
    int code = msccl_read_text("a.xml", text, strlen(text), &file, error);
    if (code == CW_OK)
        code = schedule_check(file.schedule, slots, NULL, NULL, error);
    msccl_file_free(&file);
    return code;
}

static void check_good(const char *text, uint32_t slots)
{
    struct cw_error error;
    if (check_text(text, slots, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
}

static void check_bad(const char *text, uint32_t slots, const char *lines)
{
    struct cw_error error;
    assert_int_equal(check_text(text, slots, &error), CW_USAGE);
    assert_string_equal(cw_error_text(&error), lines);
}

/* Two gpus, two chunks: each reduces one and sends it back. */
#define PAIR_GPU(own, peer)                                                                        \
    MOVE("0", "s", "i", peer, "o", peer, "")                                                       \
    MOVE("1", "rrc", "i", own, "o", own, "")                                                       \
    MOVE("2", "s", "o", own, "o", own, "")                                                         \
    MOVE("3", "r", "o", peer, "o", peer, "")
#define PAIR(place)                                                                                \
    ALGO("allreduce", place)                                                                       \
    GPU("0", "2", "2", "0")                                                                        \
    TB("0", "1", "1")                                                                              \
    PAIR_GPU("0", "1")                                                                             \
    END_TB END_GPU GPU("1", "2", "2", "0") TB("0", "0", "0") PAIR_GPU("1", "0") END_TB END_GPU     \
        "</algo>"

static void test_good(void **state)
{
    (void)state;
    check_good(PAIR("0"), 0);
    check_good(PAIR("1"), 0);
    check_good(PAIR("0"), 1);
}

static void test_structure(void **state)
{
    (void)state;
#define ONE(step)                                                                                  \
    ALGO("allreduce", "0")                                                                         \
    GPU("0", "2", "2", "0")                                                                        \
    TB("0", "1", "-1") step END_TB END_GPU GPU("1", "2", "2", "0") END_GPU "</algo>"
    static const struct {
        const char *text, *lines;
    } faults[] = {
        {ONE(MOVE("0", "r", "i", "0", "o", "0", "")),
         "a.xml:4: gpu 0, tb 0, step 0: r receives from no peer; legal is a peer of 0 to 1, but "
         "not 0"},
        {ONE(MOVE("0", "s", "i", "2", "o", "0", "")),
         "a.xml:4: gpu 0, tb 0, step 0: s has chunks i[2] to i[2]; legal is up to i[1]"},
        {ONE(MOVE("0", "s", "s", "0", "o", "0", "")),
         "a.xml:4: gpu 0, tb 0, step 0: s has chunks s[0] to s[0]; legal is up to s[-1]"},
        {ONE(MOVE("0", "s", "i", "0", "o", "0", "")),
         "a.xml:4: gpu 0, tb 0, step 0: s sends to 1 on channel 0, which receives no such message; "
         "legal is a receive for each send, on one channel"},
        {ALGO("allreduce", "0") GPU("0", "2", "2", "0") TB("0", "0", "-1")
             MOVE("0", "s", "i", "0", "o", "0", "") END_TB TB("1", "9", "-1")
                 MOVE("0", "s", "i", "0", "o", "0", "") END_TB END_GPU GPU("1", "2", "2", "0")
                     END_GPU "</algo>",
         "a.xml:4: gpu 0, tb 0, step 0: s sends to 0; legal is 0 to 1, but not 0\n"
         "a.xml:7: gpu 0, tb 1, step 0: s sends to 9; legal is 0 to 1, but not 0"},
        {ALGO("allreduce", "0") GPU("0", "2", "2", "0") TB("0", "1", "-1")
             MOVE("0", "s", "i", "0", "o", "0", "") END_TB TB("1", "1", "-1")
                 MOVE("0", "s", "i", "0", "o", "0", "") END_TB END_GPU GPU("1", "2", "2", "0")
                     END_GPU "</algo>",
         "a.xml:7: gpu 0, tb 1, step 0: sends to 1 on channel 0, as gpu 0, tb 0, step 0 does; "
         "legal "
         "is one thread for each peer and channel"},
        {ALGO("allreduce", "0") GPU("0", "2", "2", "0") TB(
             "0", "1", "-1") "<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' "
                             "cnt='2'/>\n" END_TB END_GPU GPU("1", "2", "2", "0") TB("0", "-1", "0")
                                 MOVE("0", "r", "i", "0", "o", "0", "") END_TB END_GPU "</algo>",
         "a.xml:9: gpu 1, tb 0, step 0: receives 1 chunks, of which gpu 0, tb 0, step 0 sends 2; "
         "legal is the same count"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        check_bad(faults[i].text, 0, faults[i].lines);
}

static void test_circles(void **state)
{
    (void)state;
    check_bad(ALGO("allreduce", "0") GPU("0", "2", "2", "0") TB("0", "-1", "-1")
                  MOVE("0", "cpy", "i", "0", "o", "0", WAIT("1", "1")) END_TB TB("1", "-1", "-1")
                      MOVE("0", "cpy", "i", "1", "o", "1", WAIT("0", "0"))
                          MOVE("1", "nop", "i", "0", "o", "0", "")
                              END_TB END_GPU GPU("1", "2", "2", "0") END_GPU "</algo>",
              0,
              "a.xml:4: gpu 0, tb 0, step 0: deadlock: waits for gpu 0, tb 1, step 1, which comes "
              "after gpu 0, tb 1, step 0, which waits for gpu 0, tb 0, step 0; legal are waits and "
              "messages without a circle");
    /* Both receive first. */
    check_bad(ALGO("allreduce", "0") GPU("0", "2", "2", "0") TB("0", "1", "1")
                  MOVE("0", "r", "i", "0", "o", "0", "") MOVE("1", "s", "i", "0", "o", "0", "")
                      END_TB END_GPU GPU("1", "2", "2", "0") TB("0", "0", "0")
                          MOVE("0", "r", "i", "0", "o", "0", "")
                              MOVE("1", "s", "i", "0", "o", "0", "") END_TB END_GPU "</algo>",
              0,
              "a.xml:4: gpu 0, tb 0, step 0: deadlock: receives from gpu 1, tb 0, step 1, which "
              "comes after gpu 1, tb 0, step 0, which receives from gpu 0, tb 0, step 1, which "
              "comes after gpu 0, tb 0, step 0; legal are waits and messages without a circle");
}

/* Both send two chunks before they receive: too many for a ring of one slot. */
static void test_full_rings(void **state)
{
    (void)state;
#define BOTH(own)                                                                                  \
    "<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='s' dstoff='0' cnt='2'/>\n"                 \
    "<step s='1' type='r' srcbuf='i' srcoff='0' dstbuf='s' dstoff='0' cnt='2'/>\n"                 \
    "<step s='2' type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='2'/>\n"               \
    "<step s='3' type='re' srcbuf='s' srcoff='0' dstbuf='o' dstoff='0' cnt='2'/>\n"
    static const char text[] = ALGO("allreduce", "0") GPU("0", "2", "2", "2") TB("0", "1", "1")
        BOTH("0") END_TB END_GPU GPU("1", "2", "2", "2") TB("0", "0", "0") BOTH("1") END_TB END_GPU
        "</algo>";
    check_good(text, 2);
    check_bad(
        text, 1,
        "a.xml:4: gpu 0, tb 0, step 0: deadlock: sends to 1 on channel 0, whose ring is full "
        "with 1 tiles, and which is at gpu 1, tb 0, step 0; more slots are legal (n_slots)\n"
        "a.xml:12: gpu 1, tb 0, step 0: deadlock: sends to 0 on channel 0, whose ring is full "
        "with 1 tiles, and which is at gpu 0, tb 0, step 0; more slots are legal (n_slots)");
}

/* Gpu 0 copies its own chunk, and a thread of its own adds the other's. */
#define TWO_THREADS(first, second)                                                                 \
    ALGO("allreduce", "0")                                                                         \
    GPU("0", "2", "2", "2")                                                                        \
    TB("0", "-1", "-1")                                                                            \
    "<step s='0' type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='2' " first            \
    "/>\n" END_TB TB("1", "1",                                                                     \
                     "1") "<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='s' dstoff='0' "      \
                          "cnt='2'/>\n"                                                            \
                          "<step s='1' type='rrc' srcbuf='o' srcoff='0' dstbuf='o' dstoff='0' "    \
                          "cnt='2' " second "/>\n" END_TB END_GPU GPU("1", "2", "2", "2")          \
                              TB("0", "0", "0") "<step s='0' type='s' srcbuf='i' srcoff='0' "      \
                                                "dstbuf='s' dstoff='0' cnt='2'/>\n"                \
                                                "<step s='1' type='rrc' srcbuf='i' srcoff='0' "    \
                                                "dstbuf='o' dstoff='0' cnt='2'/>\n" END_TB END_GPU \
                                                "</algo>"

static void test_hazards(void **state)
{
    (void)state;
    check_good(TWO_THREADS("", WAIT("0", "0")), 0);
    check_bad(TWO_THREADS("", ""), 0,
              "a.xml:8: gpu 0, tb 1, step 1: hazard: rrc reads o[0], which gpu 0, tb 0, step 0 "
              "(cpy) writes, and nothing orders the two; legal is that one waits for the other, or "
              "for a message that comes of it");
}

/* All reads before a write count, not a thread's first alone; and two writes. */
static void test_hazards_of_writes(void **state)
{
    (void)state;
#define WRITER(steps, wait)                                                                        \
    ALGO("allreduce", "0")                                                                         \
    GPU("0", "2", "2", "2")                                                                        \
    TB("0", "-1", "-1")                                                                            \
    steps END_TB TB("1", "-1", "-1") MOVE("0", "cpy", "i", "1", "o", "0", wait)                    \
        END_TB END_GPU GPU("1", "2", "2", "2") END_GPU "</algo>"
    check_bad(
        WRITER(MOVE("0", "cpy", "o", "0", "s", "0", "") MOVE("1", "cpy", "o", "0", "s", "1", ""),
               WAIT("0", "0")),
        0,
        "a.xml:8: gpu 0, tb 1, step 0: hazard: cpy writes o[0], which gpu 0, tb 0, step 1 "
        "(cpy) reads, "
        "and nothing orders the two; legal is that one waits for the other, or for a message that "
        "comes of it");
    check_bad(
        WRITER(MOVE("0", "cpy", "i", "0", "o", "0", ""), ""), 0,
        "a.xml:7: gpu 0, tb 1, step 0: hazard: cpy writes o[0], which gpu 0, tb 0, step 0 "
        "(cpy) writes, "
        "and nothing orders the two; legal is that one waits for the other, or for a message that "
        "comes of it");
}

/* Both gpus have two threads that only messages could order, and do not. */
static void test_hazards_of_two_ranks(void **state)
{
    (void)state;
#define TWO_WAYS(own, peer)                                                                        \
    GPU(own, "0", "2", "0")                                                                        \
    TB("0", peer, "-1")                                                                            \
    MOVE("0", "s", "o", own, "o", own, "")                                                         \
    MOVE("1", "s", "o", own, "o", own, "")                                                         \
    END_TB TB("1", "-1", peer) MOVE("0", "r", "o", peer, "o", peer, "")                            \
        MOVE("1", "r", "o", own, "o", own, "") END_TB END_GPU
    check_bad(
        ALGO("allgather", "1") TWO_WAYS("0", "1") TWO_WAYS("1", "0") "</algo>", 0,
        "a.xml:9: gpu 0, tb 1, step 1: hazard: r writes o[0], which gpu 0, tb 0, step 1 (s) "
        "reads, "
        "and nothing orders the two; legal is that one waits for the other, or for a message that "
        "comes of it\n"
        "a.xml:19: gpu 1, tb 1, step 1: hazard: r writes o[1], which gpu 1, tb 0, step 1 (s) "
        "reads, "
        "and nothing orders the two; legal is that one waits for the other, or for a message that "
        "comes of it");
}

/* Two threads of gpu 0 whose steps are ordered by messages to gpu 1 and back. */
static void test_order_through_messages(void **state)
{
    (void)state;
#define ROUND(back)                                                                                \
    ALGO("allgather", "1")                                                                         \
    GPU("0", "0", "2", "1")                                                                        \
    TB("0", "1", "-1")                                                                             \
    MOVE("0", "s", "o", "0", "o", "0", "")                                                         \
    END_TB TB("1", "-1", "1") MOVE("0", "r", "o", "1", "o", "1", "")                               \
        MOVE("1", "r", "o", "0", "o", "0", "") END_TB END_GPU GPU("1", "0", "2", "1")              \
            TB("0", "0", "0") back END_TB END_GPU "</algo>"
    /* Gpu 1 returns chunk 0, which it has received: gpu 0 has read it then. */
    check_good(ROUND(MOVE("0", "s", "o", "1", "o", "1", "") MOVE("1", "r", "o", "0", "o", "0", "")
                         MOVE("2", "s", "o", "0", "o", "0", "")),
               0);
    /* Gpu 1 sends its own into gpu 0's chunk 0 before. */
    check_bad(ROUND(MOVE("0", "s", "o", "1", "o", "1", "") MOVE("1", "s", "o", "1", "o", "1", "")
                        MOVE("2", "r", "o", "0", "o", "0", "")),
              0,
              "a.xml:8: gpu 0, tb 1, step 1: hazard: r writes o[0], which gpu 0, tb 0, step 0 (s) "
              "reads, and nothing orders the two; legal is that one waits for the other, or for a "
              "message that comes of it");
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *text, *lines;
    } faults[] = {
        /* Nothing at all. */
        {ALGO("allgather", "1") GPU("0", "0", "2", "0") END_GPU GPU("1", "0", "2", "0") END_GPU
         "</algo>",
         "a.xml: gpu 0: nothing writes to o[1]; all_gather demands chunk 0 of gpu 1\n"
         "a.xml: gpu 1: nothing writes to o[0]; all_gather demands chunk 0 of gpu 0"},
        /* One contribution is missing, one is there twice, and one is not. */
        {ALGO("allreduce", "0") GPU("0", "2", "2", "0") TB("0", "-1", "-1")
             MOVE("0", "cpy", "i", "0", "o", "0", "") MOVE("1", "cpy", "i", "1", "o", "1", "")
                 MOVE("2", "re", "i", "1", "o", "1", "") END_TB END_GPU GPU("1", "2", "2", "0")
                     END_GPU "</algo>",
         "a.xml: gpu 0: o[0] has chunk 0 of gpu 1 not at all; all_reduce demands chunk 0 of each "
         "gpu, once\n"
         "a.xml: gpu 0: o[1] has chunk 1 of gpu 0 2 times, chunk 1 of gpu 1 not at all; all_reduce "
         "demands chunk 1 of each gpu, once\n"
         "a.xml: gpu 1: nothing writes to o[0]; all_reduce demands chunk 0 of each gpu, once\n"
         "a.xml: gpu 1: nothing writes to o[1]; all_reduce demands chunk 1 of each gpu, once"},
        /* A chunk of a buffer that nothing has written to. */
        {ALGO("allreduce", "0") GPU("0", "2", "2", "1") TB("0", "-1", "-1")
             MOVE("0", "cpy", "s", "0", "o", "0", "") END_TB END_GPU GPU("1", "2", "2", "0") END_GPU
         "</algo>",
         "a.xml:4: gpu 0, tb 0, step 0: cpy reads s[0], which nothing has been written to; legal "
         "is "
         "a chunk of the input, or one that a step before it writes"},
        /* Chunks of two places. */
        {ALGO("allreduce", "0") GPU("0", "2", "2", "1") TB("0", "-1", "-1")
             MOVE("0", "cpy", "i", "0", "o", "0", "") MOVE("1", "re", "i", "1", "o", "0", "")
                 END_TB END_GPU GPU("1", "2", "2", "0") END_GPU "</algo>",
         "a.xml:5: gpu 0, tb 0, step 1: re adds chunk 0 of a rank's input to chunk 1 of another's; "
         "legal are chunks of one number"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        check_bad(faults[i].text, 0, faults[i].lines);
}

/* An algorithm's own, by the builder: its faults are told in ranks and threads. */
static void test_builder_terms(void **state)
{
    (void)state;
    struct cw_error error = {.exit_code = CW_OK};
    struct schedule_builder *const b = schedule_builder_create("pairs", CCL_ALL_REDUCE, 2, 2);
    for (uint32_t r = 0; r < 2; r++)
        schedule_chunks_of(b, r, 2, 2, 0);
    (void)schedule_thread(b, 0, 1);
    (void)schedule_add(b, 0, 0,
                       (struct schedule_step){.op = SCHEDULE_COPY,
                                              .count = 2,
                                              .src = {0, SCHEDULE_INPUT, false, {0}},
                                              .dst = {0, SCHEDULE_OUTPUT, false, {0}}});
    struct schedule *const s = schedule_build(b, &error);
    assert_int_equal(schedule_check(s, 0, NULL, NULL, &error), CW_USAGE);
    assert_string_equal(error.text,
                        "pairs: rank 0, thread 0, step 0: cpy has chunk i[0], which is of part 0; "
                        "legal is part 1, its thread's\n"
                        "pairs: rank 0, thread 0, step 0: cpy has chunk o[0], which is of part 0; "
                        "legal is part 1, its thread's");
    schedule_free(s);
}

/* A thread waits for threads of its own part. */
static void test_waits_of_parts(void **state)
{
    (void)state;
    struct cw_error error = {.exit_code = CW_OK};
    struct schedule_builder *const b = schedule_builder_create("pairs", CCL_ALL_REDUCE, 2, 2);
    for (uint32_t r = 0; r < 2; r++)
        schedule_chunks_of(b, r, 2, 2, 0);
    for (uint32_t part = 0; part < 2; part++) {
        (void)schedule_thread(b, 0, part);
        (void)schedule_add(b, 0, part,
                           (struct schedule_step){.op = SCHEDULE_COPY,
                                                  .count = 1,
                                                  .src = {part, SCHEDULE_INPUT, false, {0}},
                                                  .dst = {part, SCHEDULE_OUTPUT, false, {0}}});
    }
    schedule_wait_for(b, 0, 1, (struct schedule_wait){.thread = 0, .step = 0});
    struct schedule *const s = schedule_build(b, &error);
    assert_int_equal(schedule_check(s, 0, NULL, NULL, &error), CW_USAGE);
    assert_string_equal(error.text,
                        "pairs: rank 0, thread 1, step 0: is of part 1, and waits for thread 0, of "
                        "part 0; legal is one part");
    schedule_free(s);
}

/* Waits of two threads' steps, added in turn, stay with their steps. */
static void test_waits_in_turn(void **state)
{
    static const uint32_t waiter[] = {0, 1, 0, 1, 0};
    (void)state;
    struct cw_error error = {.exit_code = CW_OK};
    struct schedule_builder *const b = schedule_builder_create("turns", CCL_ALL_REDUCE, 1, 1);
    for (uint32_t t = 0; t < 3; t++) {
        (void)schedule_thread(b, 0, 0);
        for (uint32_t k = 0; k < 5; k++)
            if (t == 2 || k == 0)
                (void)schedule_add(b, 0, t, (struct schedule_step){.op = SCHEDULE_NOP});
    }
    for (uint32_t i = 0; i < 5; i++)
        schedule_wait_for(b, 0, waiter[i], (struct schedule_wait){.thread = 2, .step = i});
    struct schedule *const s = schedule_build(b, &error);
    const struct schedule_rank *const r = &s->rank[0];
    for (uint32_t t = 0; t < 2; t++) {
        const struct schedule_step *const step = &r->step[r->thread[t].step_first];
        assert_int_equal(step->wait_count, 3 - t);
        for (uint32_t i = 0; i < step->wait_count; i++)
            assert_int_equal(r->wait[step->wait_first + i].step, 2 * i + t);
    }
    schedule_free(s);
}

/* Of a block of several chunks, each has its place. */
static void test_chunks_of_blocks(void **state)
{
    (void)state;
    static const char text[] =
        "<algo nchunksperloop='4' ngpus='2' coll='alltoall' inplace='0'>"
        "<gpu id='0' i_chunks='4' o_chunks='4' s_chunks='0'><tb id='0' send='1' recv='1' chan='0'>"
        "<step s='0' type='s' srcbuf='i' srcoff='2' cnt='2'/>"
        "<step s='1' type='r' dstbuf='o' dstoff='2' cnt='2'/>"
        "<step s='2' type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='1'/>"
        "<step s='3' type='cpy' srcbuf='i' srcoff='1' dstbuf='o' dstoff='0'/></tb></gpu>"
        "<gpu id='1' i_chunks='4' o_chunks='4' s_chunks='0'><tb id='0' send='0' recv='0' chan='0'>"
        "<step s='0' type='s' srcbuf='i' srcoff='0' cnt='2'/>"
        "<step s='1' type='r' dstbuf='o' dstoff='0' cnt='2'/>"
        "<step s='2' type='cpy' srcbuf='i' srcoff='2' dstbuf='o' dstoff='2' cnt='2'/></tb></gpu>"
        "</algo>";
    check_bad(text, 0,
              "a.xml: gpu 0: o[0] has chunk 0 of gpu 0 not at all, chunk 1 of gpu 0 once; "
              "all_to_all demands chunk 0 of gpu 0\n"
              "a.xml: gpu 0: o[1] has chunk 0 of gpu 0 once, chunk 1 of gpu 0 not at all; "
              "all_to_all demands chunk 1 of gpu 0");
}

/* The formulas of a pair: one node for both, since a sum has the same bits both ways. */
static void test_formulas(void **state)
{
    (void)state;
    struct msccl_file file;
    struct schedule_values *values;
    struct cw_error error = {.exit_code = CW_OK};
    static const char text[] = PAIR("0");
    assert_int_equal(msccl_read_text("a.xml", text, strlen(text), &file, &error), CW_OK);
    assert_int_equal(schedule_check(file.schedule, 0, &values, NULL, &error), CW_OK);
    assert_int_equal(values->leaves, 4);
    assert_int_equal(values->nodes, 6);
    assert_int_equal(values->output[0], values->output[2]);
    assert_int_equal(values->output[1], values->output[3]);
    assert_int_equal(values->node[values->output[0]].a, 0);
    assert_int_equal(values->node[values->output[0]].b, 2);
    schedule_values_free(values);
    msccl_file_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good),
                                       cmocka_unit_test(test_structure),
                                       cmocka_unit_test(test_circles),
                                       cmocka_unit_test(test_full_rings),
                                       cmocka_unit_test(test_hazards),
                                       cmocka_unit_test(test_order_through_messages),
                                       cmocka_unit_test(test_hazards_of_writes),
                                       cmocka_unit_test(test_hazards_of_two_ranks),
                                       cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_builder_terms),
                                       cmocka_unit_test(test_waits_of_parts),
                                       cmocka_unit_test(test_waits_in_turn),
                                       cmocka_unit_test(test_chunks_of_blocks),
                                       cmocka_unit_test(test_formulas)};
    return cmocka_run_group_tests_name("schedule_check", tests, NULL, NULL);
}
