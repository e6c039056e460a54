/*
 * test_msccl_plan.c: the reader of MSCCL++ execution plans: the operations of both schemas as steps
 * that load, add and store; what waits for what; parts and units of chunks; one line for every
 * fault, and notes of what MSCCL++ would stumble over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/msccl/msccl_file.h"
#include "collectives/schedule/schedule_check.h"

/* Single quotes stand for double ones. */
static const char *json(const char *text)
{
    static char buf[20000];
    snprintf(buf, sizeof buf, "%s", text);
    for (char *at = buf; *at != '\0'; at++)
        *at = *at == '\'' ? '"' : *at;
    return buf;
}

static struct msccl_file read_good(const char *text)
{
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    const char *const made = json(text);
    if (msccl_read_text("p.json", made, strlen(made), &file, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    assert_non_null(file.schedule);
    return file;
}

static void read_bad(const char *text, const char *lines)
{
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    const char *const made = json(text);
    assert_int_equal(msccl_read_text("p.json", made, strlen(made), &file, &error), CW_USAGE);
    assert_null(file.schedule);
    assert_string_equal(cw_error_text(&error), lines);
    msccl_file_free(&file);
}

/* The schedule is sound, and its outputs are right; hazards are counted. */
static uint32_t check_sound(const struct schedule *schedule)
{
    struct schedule_faults hazards = {0};
    struct cw_error error = {.exit_code = CW_OK};
    if (schedule_check(schedule, 8, NULL, &hazards, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    const uint32_t count = hazards.count;
    schedule_faults_free(&hazards);
    return count;
}

#define HEAD(collective, protocol)                                                                 \
    "{'name': 'p', 'collective': '" collective "', 'protocol': '" protocol "', 'inplace': true,\n" \
    "'gpus': [\n"
#define GPU(id, in, out, scratch)                                                                  \
    "{'id': " #id ", 'input_chunks': " #in ", 'output_chunks': " #out                              \
    ", 'scratch_chunks': " #scratch ", 'threadblocks': [\n"
#define TB(id, ops)                                                                                \
    "{'id': " #id ", 'ops': [\n" ops                                                               \
    "], 'channels': [{'channel_type': 'memory', 'channel_ids': [0]}], "                            \
    "'remote_buffer_refs': [{'access_channel_type': 'memory', 'remote_buffer_ids': [0]}]}"
#define PEER(peer, buffer)                                                                         \
    "], 'channels': [{'channel_type': 'memory', 'connected_to': [" #peer "]}], "                   \
    "'remote_buffers': [{'rank': " #peer ", 'type': '" buffer                                      \
    "', 'access_channel_types': ['memory']}], "                                                    \
    "'semaphores': [{'init_value': 1}, {'init_value': 0}]}"
#define NOP    "{'name': 'nop'},\n"
#define SIGNAL "{'name': 'signal', 'channel_ids': [0], 'channel_type': 'memory'},\n"
#define WAIT   "{'name': 'wait', 'channel_ids': [0], 'channel_type': 'memory'},\n"
#define LAST   "{'name': 'nop'}\n"
#define PUT(from, chunk)                                                                           \
    "{'name': 'put', 'channel_type': 'memory', 'channel_ids': [0],\n"                              \
    "'src_buff': [{'type': '" from "', 'index': " #chunk ", 'size': 1}],\n"                        \
    "'dst_buff': [{'buffer_id': 0, 'index': " #chunk ", 'size': 1}]},\n"
#define COPY(from, at, to, there)                                                                  \
    "{'name': 'copy', 'src_buff': [{'type': '" from "', 'index': " #at ", 'size': 1}],\n"          \
    "'dst_buff': [{'type': '" to "', 'index': " #there ", 'size': 1}]},\n"

/* Each of two gpus puts its block into the other's output. */
#define GATHER                                                                                     \
    HEAD("allgather", "Simple")                                                                    \
    GPU(0, 1, 2, 0)                                                                                \
    TB(0, PUT("o", 0) NOP SIGNAL NOP WAIT LAST)                                                    \
    PEER(1, "o")                                                                                   \
    ",\n" GPU(1, 1, 2, 0) TB(0, PUT("o", 1) NOP SIGNAL NOP WAIT LAST) PEER(0, "o") "]}\n"

static void puts_and_signals_become_stores_and_waits(void **state)
{
    (void)state;
    struct msccl_file file = read_good(GATHER);
    const struct schedule *const s = file.schedule;
    assert_int_equal(s->collective, CCL_ALL_GATHER);
    assert_true(s->in_place && s->reaches);
    assert_string_equal(file.protocol, "Simple");
    assert_int_equal(file.notes.count, 0);
    for (uint32_t r = 0; r < 2; r++) {
        const struct schedule_rank *const rank = &s->rank[r];
        const struct schedule_step *const step = rank->step;
        assert_int_equal(rank->thread_count, 1);
        assert_int_equal(rank->step_count, 4); /* load, store, signal, wait */
        assert_int_equal(step[0].op, SCHEDULE_LOAD);
        assert_int_equal(step[0].recv_from, SCHEDULE_NO_RANK);
        assert_int_equal(step[0].src.at, r);
        assert_int_equal(step[1].op, SCHEDULE_STORE);
        assert_int_equal(step[1].joined, SCHEDULE_JOINED);
        assert_int_equal(step[1].send_to, 1 - r);
        assert_int_equal(step[2].op, SCHEDULE_NOP);
        assert_int_equal(step[2].awaited, SCHEDULE_AWAITED);
        assert_int_equal(step[3].wait_count, 1);
        assert_int_equal(rank->wait[0].other, 1 + 1 - r);
        assert_int_equal(rank->wait[0].step, 2);
    }
    assert_int_equal(check_sound(s), 0);
    /* The put is at line 5; each operation ends with a line. */
    char place[SCHEDULE_PLACE_BYTES];
    assert_string_equal(schedule_place(s, 0, 0, 1, place), "p.json:5:1: gpu 0, tb 0, op 0");
    assert_string_equal(schedule_place(s, 0, 0, 3, place), "p.json:11:1: gpu 0, tb 0, op 4");
    msccl_file_free(&file);
}

#define PACKETS(name, sources, destinations)                                                       \
    "{'name': '" name "', 'channel_type': 'memory', 'src_buff': [" sources                         \
    "], 'dst_buff': [" destinations "]},\n"
#define OWN(buffer, at) "{'type': '" buffer "', 'index': " #at ", 'size': 1}"
#define PEERS(at)       "{'buffer_id': 0, 'index': " #at ", 'size': 1}"

#define TWICE NOP SIGNAL NOP WAIT NOP SIGNAL NOP WAIT LAST

/* The k-th wait on a channel is for the k-th signal. */
static void signals_are_counted(void **state)
{
    (void)state;
    struct msccl_file file = read_good(
        HEAD("allgather", "Simple") GPU(0, 1, 2, 0) TB(0, PUT("o", 0) TWICE)
            PEER(1, "o") ",\n" GPU(1, 1, 2, 0) TB(0, PUT("o", 1) TWICE) PEER(0, "o") "]}\n");
    const struct schedule_rank *const rank = &file.schedule->rank[0];
    assert_int_equal(rank->step_count, 6); /* load, store, and twice a signal and a wait */
    assert_int_equal(rank->wait[rank->step[3].wait_first].step, 2);
    assert_int_equal(rank->wait[rank->step[5].wait_first].step, 4);
    msccl_file_free(&file);
}

/* Two gpus: each sends the other's half as packets, adds what it gets before its own half, and
 * sends the sum as packets. Of sums and packets, the first source is added last. */
static void packets_are_waited_for_and_own_data_are_added_last(void **state)
{
    (void)state;
    struct msccl_file file = read_good(
        HEAD("allreduce", "LL") GPU(0, 2, 2, 4)
            TB(0, PACKETS("ppkt", OWN("i", 1), PEERS(0))
                      PACKETS("respkt", OWN("i", 0) ", " OWN("s", 0), OWN("i", 0) ", " PEERS(1))
                          PACKETS("upkt", OWN("s", 1), OWN("i", 1))
                              LAST) PEER(1, "s") ",\n" GPU(1, 2, 2, 4)
                TB(0, PACKETS("ppkt", OWN("i", 0), PEERS(0))
                          PACKETS("respkt", OWN("i", 1) ", " OWN("s", 0), OWN("i", 1) ", " PEERS(1))
                              PACKETS("upkt", OWN("s", 1), OWN("i", 0)) LAST) PEER(0, "s") "]}\n");
    const struct schedule *const s = file.schedule;
    const struct schedule_step *const step = s->rank[0].step;
    /* Packets are data and flags: two stores. */
    static const uint8_t ops[] = {SCHEDULE_LOAD, SCHEDULE_STORE, SCHEDULE_STORE, SCHEDULE_LOAD,
                                  SCHEDULE_ADD,  SCHEDULE_STORE, SCHEDULE_STORE, SCHEDULE_STORE,
                                  SCHEDULE_LOAD, SCHEDULE_STORE};
    assert_int_equal(s->rank[0].step_count, 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(step[i].op, ops[i]);
    assert_int_equal(step[1].dst.at, 0);
    assert_int_equal(step[2].dst.at, 4);                    /* after the four chunks of data */
    assert_int_equal(step[3].src.buffer, SCHEDULE_SCRATCH); /* the packets first */
    assert_int_equal(step[4].src.buffer, SCHEDULE_INPUT);
    assert_int_equal(step[3].wait_count, 1);
    assert_int_equal(s->rank[0].wait[step[3].wait_first].other, 2);
    assert_int_equal(s->rank[0].wait[step[3].wait_first].step, 2);
    assert_int_equal(s->rank[0].wait[step[8].wait_first].step, 7); /* the sum's last store */
    assert_int_equal(s->rank[0].chunks[SCHEDULE_SCRATCH], 8);      /* data and flags */
    assert_string_equal(file.protocol, "LL");
    assert_int_equal(check_sound(s), 0);
    msccl_file_free(&file);
}

#define HALF(part) "'tbg_info': {'tb_id': " #part ", 'tbg_size': 2}, "
#define SHARED(part)                                                                               \
    "{'name': 'put', 'channel_type': 'memory', " HALF(part) "'src_buff': [" OWN(                   \
        "o", 0) "], 'dst_buff': [" PEERS(0) "]},\n"

/* Thread blocks that share an operation move a part each. */
static void shared_operations_have_parts(void **state)
{
    (void)state;
    struct msccl_file file =
        read_good(HEAD("allgather", "Simple") GPU(0, 1, 2, 0) TB(0, SHARED(0) LAST) ",\n" TB(
            1, SHARED(1) LAST) PEER(1, "o") ",\n" GPU(1, 1, 2, 0) TB(0, LAST) PEER(0, "o") "]}\n");
    const struct schedule *const s = file.schedule;
    assert_int_equal(s->split, 2);
    assert_int_equal(s->rank[0].chunks[SCHEDULE_OUTPUT], 4);
    for (uint32_t t = 0; t < 2; t++) {
        const struct schedule_step *const step = &s->rank[0].step[s->rank[0].thread[t].step_first];
        assert_int_equal(step[0].src.at, t);
        assert_int_equal(step[0].count, 1);
        assert_int_equal(step[1].dst.at, t);
    }
    msccl_file_free(&file);
}

#define SEMAPHORE(name, number) "{'name': 'sem_" name "', 'semaphore_ids': [" #number "]},\n"
#define PIPELINE(ops)                                                                              \
    "{'name': 'pipeline', 'iter_context': {'unit_size': 64, 'num_chunks': 1}, 'ops': [\n" ops      \
    "]},\n"
#define LONE(id, ops) "{'id': " #id ", 'ops': [\n" ops "]}"
#define ALONE                                                                                      \
    "], 'channels': [], 'remote_buffers': [], "                                                    \
    "'semaphores': [{'init_value': 1}, {'init_value': 0}]}]}\n"
#define STAGE(acquired, from, to, released)                                                        \
    PIPELINE(SEMAPHORE("acquire", acquired) NOP COPY(from, 0, to, 0)                               \
                 NOP SEMAPHORE("release", released) LAST)
#define STAGES                                                                                     \
    HEAD("allreduce", "Simple")                                                                    \
    GPU(0, 1, 1, 1)                                                                                \
    LONE(0, STAGE(0, "i", "s", 1) LAST) ",\n" LONE(1, STAGE(1, "s", "i", 0) LAST) ALONE

static struct schedule *read_for(const char *text, uint64_t bytes)
{
    static const char path[] = "build/test_msccl_plan.json";
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    FILE *const stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(json(text), stream);
    assert_int_equal(fclose(stream), 0);
    if (msccl_read_for(path, bytes, &file, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    assert_true(file.by_size);
    struct schedule *const schedule = file.schedule;
    file.schedule = NULL;
    msccl_file_free(&file);
    remove(path);
    return schedule;
}

/* A pipeline goes unit by unit; the semaphore's initial value says how far one stage is ahead. */
static void pipelines_go_unit_by_unit(void **state)
{
    (void)state;
    struct schedule *s = read_for(STAGES, 250); /* of 64 bytes: four units */
    assert_int_equal(s->split, 4);
    assert_int_equal(s->rank[0].thread[0].step_count, 4 * 4); /* acquire, load, store, release */
    assert_int_equal(check_sound(s), 0);
    const struct schedule_rank *const rank = &s->rank[0];
    assert_int_equal(rank->step[0].wait_count, 0); /* the initial value */
    assert_int_equal(rank->step[4].wait_count, 1);
    assert_int_equal(rank->wait[rank->step[4].wait_first].thread, 1);
    assert_int_equal(rank->wait[rank->step[4].wait_first].step, 3); /* the first release */
    assert_int_equal(rank->step[5].src.at, 1);
    schedule_free(s);
    s = read_for(STAGES, 0);
    assert_int_equal(s->split, 1);
    schedule_free(s);
}

#define BARRIER(count) "{'name': 'barrier', 'barrier_id': 0, 'num_threadblocks': " #count "},\n"
#define MEETING(count)                                                                             \
    HEAD("allreduce", "Simple")                                                                    \
    GPU(0, 1, 1, 1)                                                                                \
    LONE(0, COPY("i", 0, "s", 0) BARRIER(count) LAST)                                              \
    ",\n" LONE(1, BARRIER(count) COPY("s", 0, "i", 0) LAST) ALONE

static void thread_blocks_meet_at_barriers(void **state)
{
    (void)state;
    struct msccl_file file = read_good(MEETING(2));
    assert_int_equal(check_sound(file.schedule), 0);
    assert_int_equal(file.schedule->rank[0].wait_count, 2);
    msccl_file_free(&file);
    read_bad(MEETING(3), "p.json:7:1: gpu 0: barrier 0 is for 3 thread blocks, and 2 come to it, 2 "
                         "times in all; legal is each of them as often");
}

/* The older schema: channels lead from a buffer to a buffer. */
static void the_older_schema_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "{'name': 'p', 'colletive': 'allreduce', 'protocol': 'LL', 'inplace': true, 'gpus': [\n"
        "{'id': 0, 'inputChunks': 2, 'outputChunks': 0, 'scratchChunks': 2, 'chunkGroups': 1, "
        "'threadblocks': [{'id': 0, 'ops': [\n"
        "{'name': 'ppkt', 'o_buff': {'src': 'i', 'dst': 's'}, 'o_cids': [{'id': 0, 'off': 0}], "
        "'srcs': [{'buff': 'i', 'off': 1}], 'ctype': 'sm', 'cnt': 1},\n"
        "{'name': 'rspkt', 'o_buff': {'src': 'i', 'dst': 's'}, 'o_cids': [{'id': 0, 'off': 1}], "
        "'srcs': [{'buff': 's', 'off': 0}], 'srcbuff': 'i', 'srcoff': 0, 'dstbuff': 'i', "
        "'dstoff': 0, 'ctype': 'sm', 'cnt': 1},\n"
        "{'name': 'cpkt', 'srcbuff': 's', 'srcoff': 1, 'dstbuff': 'i', 'dstoff': 1, 'ctype': "
        "'none', 'cnt': 1}],\n"
        "'channels': [{'src': 'i', 'dst': 's', 'ctype': 'sm', 'cids': [0]}]}],\n"
        "'channels': [{'srcbuff': 'i', 'dstbuff': 's', 'type': 'sm', 'connectedTo': [1]}]},\n"
        "{'id': 1, 'inputChunks': 2, 'outputChunks': 0, 'scratchChunks': 2, 'chunkGroups': 1, "
        "'threadblocks': [{'id': 0, 'ops': [\n"
        "{'name': 'ppkt', 'o_buff': {'src': 'i', 'dst': 's'}, 'o_cids': [{'id': 0, 'off': 0}], "
        "'srcs': [{'buff': 'i', 'off': 0}], 'ctype': 'sm', 'cnt': 1},\n"
        "{'name': 'rspkt', 'o_buff': {'src': 'i', 'dst': 's'}, 'o_cids': [{'id': 0, 'off': 1}], "
        "'srcs': [{'buff': 's', 'off': 0}], 'srcbuff': 'i', 'srcoff': 1, 'dstbuff': 'i', "
        "'dstoff': 1, 'ctype': 'sm', 'cnt': 1},\n"
        "{'name': 'cpkt', 'srcbuff': 's', 'srcoff': 1, 'dstbuff': 'i', 'dstoff': 0, 'ctype': "
        "'none', 'cnt': 1}],\n"
        "'channels': [{'src': 'i', 'dst': 's', 'ctype': 'sm', 'cids': [0]}]}],\n"
        "'channels': [{'srcbuff': 'i', 'dstbuff': 's', 'type': 'sm', 'connectedTo': [0]}]}]}\n";
    struct msccl_file file = read_good(text);
    assert_int_equal(file.schedule->collective, CCL_ALL_REDUCE);
    assert_int_equal(file.schedule->rank[0].chunks[SCHEDULE_SCRATCH], 2 * 2 * 2);
    assert_int_equal(check_sound(file.schedule), 0);
    msccl_file_free(&file);
}

static void faults_have_places(void **state)
{
    (void)state;
    static const struct {
        const char *text, *lines;
    } faults[] = {
        {"{'gpus': [\n{'id': 0,,}]}",
         "p.json:2:10: not JSON: did not find expected node content (while parsing a flow node)"},
        {"[1]", "p.json:1:1: legal is an execution plan: an object with gpus"},
        {"{}", "p.json:1:1: there are no gpus; legal is a list of them"},
        {"{'gpus': []}", "p.json:1:10: there are 0 gpus; legal is 1 to 65536"},
        {"{'gpus': [{'id': 1}]}", "p.json:1:18: id is '1'; legal is 0 to 0"},
        {"{'protocol': 'LL128', 'gpus': [{'id': 0}]}",
         "p.json:1:14: protocol is 'LL128'; legal is Simple or LL"},
        {"{'gpus': [{'id': 0, 'input_chunk': 1}]}",
         "p.json:1:21: there is no key 'input_chunk'; did you mean 'input_chunks'?"},
        {HEAD("allreduce", "Simple") GPU(0, 1, 1, 0) LONE(0, "{'name': 'rrx'}\n") ALONE,
         "p.json:5:10: operation 'rrx'; legal are nop, barrier, put, pws, pwsf, get, copy, signal, "
         "rlxsignal, wait, rlxwait, flush, re, res, rs, rre, rrc, rres, rrcs, ppkt, rppkt, cpkt, "
         "upkt, tpkt, repkt, rpkt, respkt, rspkt, recpkt, recspkt, sem_acquire, sem_release, "
         "pipeline, glres, gstore"},
        {HEAD("allgather", "Simple") GPU(0, 1, 2, 0) TB(0, PUT("o", 0) LAST)
             PEER(1, "o") ",\n" GPU(1, 1, 2, 0) TB(0, WAIT LAST) PEER(0, "o") "]}\n",
         "p.json:12:1: gpu 1, tb 0, op 0 waits for signal 1 from gpu 0 on its channel 0 to it, "
         "which gpu 0 does not give: it never ends"},
        {HEAD("allgather", "LL") GPU(0, 1, 2, 1)
             TB(0, PACKETS("upkt", OWN("s", 0), OWN("o", 1)) LAST)
                 PEER(1, "o") ",\n" GPU(1, 1, 2, 0) TB(0, LAST) PEER(0, "o") "]}\n",
         "p.json:5:57: gpu 0, tb 0, op 0 (upkt) reads packets of s[0], which nobody writes: it "
         "waits forever"},
        {HEAD("allreduce", "Simple") GPU(0, 1, 1, 0)
             TB(0, "{'name': 'glres', 'channel_type': 'switch'}\n")
                 PEER(1, "i") ",\n" GPU(1, 1, 1, 0) TB(0, LAST) PEER(0, "i") "]}\n",
         "p.json:5:1: glres goes through a switch channel (NVLS): a plan cannot ask the machine's "
         "switches to reduce or to send to all; legal are put, get and the operations of memory "
         "and port channels"},
        {HEAD("allgather", "Simple") GPU(0, 1, 2, 0) TB(0, SIGNAL LAST) ",\n" TB(1, SIGNAL LAST)
             PEER(1, "o") ",\n" GPU(1, 1, 2, 0) TB(0, WAIT WAIT LAST) PEER(0, "o") "]}\n",
         "p.json:9:1: gpu 0: tb 0 and tb 1 both signal on one channel: which comes first is not "
         "known; legal is one of them"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        read_bad(faults[i].text, faults[i].lines);
}

static void notes_name_what_mscclpp_would_stumble_over(void **state)
{
    (void)state;
    struct msccl_file file =
        read_good(HEAD("allgather", "Simple") GPU(0, 1, 2, 0) TB(0, PUT("o", 0) SIGNAL WAIT LAST)
                      PEER(1, "o") ",\n" GPU(1, 1, 2, 0)
                          TB(0, PUT("o", 1) NOP SIGNAL SIGNAL WAIT COPY("o", 0, "o", 0) LAST)
                              PEER(0, "o") "]}\n");
    assert_string_equal(
        file.notes.text,
        "p.json:19:1: hazard: gpu 1, tb 0, op 3 signals, and of 2 such signals 1 are waited for: "
        "in "
        "MSCCL++ the next launch takes the others\n"
        "p.json:8:1: hazard: gpu 0, tb 0, op 1 (signal) follows op 0 (put) without a nop: in "
        "MSCCL++ the signal may come before other threads of the block have written\n"
        "p.json:21:1: hazard: gpu 1, tb 0, op 5 (copy) follows the wait of op 4 without a nop: in "
        "MSCCL++ threads that do not wait may begin before it ends");
    msccl_file_free(&file);
    /* The second thread block reads what the first writes, and waits for nothing. */
    file = read_good(HEAD("allreduce", "Simple") GPU(0, 1, 1, 3) LONE(
        0, COPY("i", 0, "s", 0) LAST) ",\n" LONE(1, COPY("i", 0, "s", 1) COPY("s", 0, "s", 2) LAST)
                         ALONE);
    assert_int_equal(check_sound(file.schedule), 1);
    msccl_file_free(&file);
    /* Gpu 0 reads what gpu 1 puts there, and waits for nothing. */
    file = read_good(HEAD("allgather", "Simple") GPU(0, 1, 2, 2)
                         TB(0, PUT("o", 0) NOP SIGNAL NOP WAIT LAST) ",\n" LONE(
                             1, COPY("o", 0, "s", 0) COPY("o", 1, "s", 1) LAST)
                             PEER(1, "o") ",\n" GPU(1, 1, 2, 0)
                                 TB(0, PUT("o", 1) NOP SIGNAL NOP WAIT LAST) PEER(0, "o") "]}\n");
    assert_int_equal(check_sound(file.schedule), 1);
    msccl_file_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_and_signals_become_stores_and_waits),
        cmocka_unit_test(signals_are_counted),
        cmocka_unit_test(packets_are_waited_for_and_own_data_are_added_last),
        cmocka_unit_test(shared_operations_have_parts),
        cmocka_unit_test(pipelines_go_unit_by_unit),
        cmocka_unit_test(thread_blocks_meet_at_barriers),
        cmocka_unit_test(the_older_schema_is_read),
        cmocka_unit_test(faults_have_places),
        cmocka_unit_test(notes_name_what_mscclpp_would_stumble_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
