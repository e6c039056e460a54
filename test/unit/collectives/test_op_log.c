/*
 * test_op_log.c: records that are written are read again, executing them ends with the same memory,
 * and files that are no whole op log are refused with their place, whatever is in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "collectives/data/data_pass.h"
#include "collectives/data/op_log_read.h"
#include "collectives/data/op_log_write.h"
#include "collectives/data/op_replay.h"
#include "hw/structure.h"

enum { MEMORY = 65536 };

static struct op_log_header header(void)
{
    struct op_log_header header = {.dtype = DTYPE_BF16, .redop = REDOP_MAX, .seed = 4000000000u};
    strcpy(header.version, "1.2.3");
    strcpy(header.config_digest, "0123456789abcdef");
    strcpy(header.bench, "ccl_allreduce");
    strcpy(header.algorithm, "some \"algorithm\"");
    header.machine = (struct hw_config){.sip_count = 2,
                                        .cube_w = 2,
                                        .cube_h = 1,
                                        .pe_per_corner = 1,
                                        .corner_count = 2,
                                        .tcm_bytes = MEMORY,
                                        .sram_bytes = MEMORY,
                                        .hbm_bytes = MEMORY};
    return header;
}

struct file {
    char *bytes;
    size_t size;
    uint64_t digest;
};

static struct lp_operand in(enum lp_space space, uint32_t at)
{
    return (struct lp_operand){.space = (uint8_t)space, .at = at};
}

static const struct lp_op ops[] = {
    {.kind = LP_OP_LOAD,
     .pe = 7,
     .bytes = 4000,
     .dtype = LP_BF16,
     .t_start_ps = 5,
     .t_end_ps = 9,
     .a = {.space = LP_SPACE_HBM, .at = 100},
     .dst = {.space = LP_SPACE_TCM}},
    {.kind = LP_OP_SEND,
     .pe = 7,
     .bytes = 2000,
     .dtype = LP_BF16,
     .dir = HW_DIR_E,
     .peer = 1,
     .peer_dir = HW_DIR_W,
     .t_start_ps = INT64_MAX,
     .t_end_ps = INT64_MIN,
     .dims = 4,
     .dim = {10 | 20 << 21, 5 << 10}, /* 10 x 20 x 5 x 1 */
     .a = {.space = LP_SPACE_TCM, .at = 2000},
     .dst = {.space = LP_SPACE_SRAM, .at = 8}},
    {.kind = LP_OP_RECV,
     .pe = 1,
     .bytes = 2000,
     .dtype = LP_BF16,
     .dir = HW_DIR_W,
     .peer = 7,
     .peer_dir = HW_DIR_E,
     .dims = 3,
     .dim = {10, 20},
     .a = {.space = LP_SPACE_SRAM, .at = 8}},
    {.kind = LP_OP_MATH,
     .pe = 1,
     .bytes = 2000,
     .dtype = LP_BF16,
     .math = LP_MATH_MAX,
     .a = {.space = LP_SPACE_TILE, .dir = HW_DIR_W, .flags = LP_LAST_USE},
     .b = {.space = LP_SPACE_TCM},
     .dst = {.space = LP_SPACE_TCM, .at = 63536}},
    {.kind = LP_OP_PUT,
     .pe = 1,
     .bytes = 2000,
     .dtype = LP_BF16,
     .math = LP_MATH_SUM,
     .peer = 0,
     .a = {.space = LP_SPACE_TCM, .at = 63536},
     .dst = {.space = LP_SPACE_HBM, .at = 40000}},
    {.kind = LP_OP_LAND,
     .pe = 0,
     .bytes = 2000,
     .dtype = LP_BF16,
     .math = LP_MATH_SUM,
     .peer = 1,
     .dst = {.space = LP_SPACE_HBM, .at = 40000}},
    {.kind = LP_OP_NOTIFY, .pe = 1, .dir = 3, .peer = 0},
    {.kind = LP_OP_WAIT_NOTIFY, .pe = 0, .dir = 3, .peer = 1},
    {.kind = LP_OP_CAST,
     .pe = 0,
     .bytes = 2000,
     .dtype = LP_BF16,
     .math = LP_F32,
     .a = {.space = LP_SPACE_HBM, .at = 40000},
     .dst = {.space = LP_SPACE_HBM, .at = 41000}},
    {.kind = LP_OP_GEMM,
     .pe = 0,
     .bytes = 4 * 20 * 10,
     .dtype = LP_F32,
     .seq = 20,
     .peer = 5,
     .math = LP_MATH_SUM,
     .a = {.space = LP_SPACE_HBM, .at = 41000},
     .b = {.space = LP_SPACE_HBM, .at = 42000},
     .dst = {.space = LP_SPACE_HBM, .at = 0}},
    {.kind = LP_OP_COPY,
     .pe = 0,
     .bytes = 800,
     .a = {.space = LP_SPACE_HBM, .at = 0},
     .dst = {.space = LP_SPACE_SRAM, .at = 1}},
    {.kind = LP_OP_STORE_TO,
     .pe = 0,
     .bytes = 800,
     .peer = 6,
     .seq = 3,
     .a = {.space = LP_SPACE_HBM, .at = 0},
     .dst = {.space = LP_SPACE_SRAM, .at = 801}},
    {.kind = LP_OP_STORED,
     .pe = 6,
     .bytes = 800,
     .peer = 0,
     .seq = 3,
     .dst = {.space = LP_SPACE_SRAM, .at = 801}},
    {.kind = LP_OP_LENT,
     .pe = 0,
     .bytes = 800,
     .peer = 6,
     .seq = 2,
     .a = {.space = LP_SPACE_HBM, .at = 400}},
    {.kind = LP_OP_LOAD_FROM,
     .pe = 6,
     .bytes = 800,
     .peer = 0,
     .seq = 2,
     .dtype = LP_F32,
     .dst = {.space = LP_SPACE_TCM, .at = 804}},
    {.kind = LP_OP_STORE,
     .pe = 3,
     .bytes = 800,
     .a = {.space = LP_SPACE_SRAM, .at = 1},
     .dst = {.space = LP_SPACE_HBM, .at = 8}},
};
#define OPS (sizeof ops / sizeof *ops)

static void apply(struct data_pass *pass, const struct lp_op *op)
{
    struct cw_error error = {0};
    if (data_pass_apply(pass, op, &error))
        fail_msg("%s", error.text);
}

/* A log of every kind of record, with `more` operations behind. */
static struct file write_log(uint32_t more)
{
    struct file file = {0};
    struct cw_error error;
    const struct op_log_header h = header();
    FILE *stream = open_memstream(&file.bytes, &file.size);
    struct data_pass *pass = data_pass_create(&h.machine, 0, 1);
    struct op_log *log = op_log_create(stream, &h, &error);
    uint8_t bytes[10000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 3);
    data_pass_log(pass, log);
    assert_int_equal(
        data_pass_fill_input(pass, 7, 100, DTYPE_BF16, UINT32_MAX, 1ull << 40, 2000, &error), 0);
    assert_int_equal(data_pass_fill(pass, 0, 39000, DTYPE_BF16, -0.5f, 3000, &error), 0);
    assert_int_equal(data_pass_write(pass, 2, 1, bytes, sizeof bytes, &error), 0); /* 3 records */
    for (size_t i = 0; i < OPS; i++)
        apply(pass, &ops[i]);
    data_pass_end_kernel(pass, 1);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < more; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const struct lp_op op = {.kind = LP_OP_MATH,
                                 .math = LP_MATH_PROD,
                                 .dtype = LP_F32,
                                 .t_start_ps = (int64_t)(seed >> 20),
                                 .t_end_ps = (int64_t)(seed >> 10),
                                 .pe = (uint32_t)(seed >> 60) % 8,
                                 .bytes = 16,
                                 .a = in(LP_SPACE_HBM, (uint32_t)(seed >> 50)),
                                 .b = in(LP_SPACE_TCM, (uint32_t)(seed >> 40) % 16384),
                                 .dst = in(LP_SPACE_SRAM, (uint32_t)(seed >> 30) % 16384)};
        apply(pass, &op);
    }
    assert_int_equal(op_log_count(log), 6 + OPS + more);
    file.digest = data_pass_digest(pass);
    assert_int_equal(op_log_finish(log, file.digest, &error), 0);
    op_log_free(log);
    data_pass_free(pass);
    fclose(stream);
    return file;
}

static int replay(const void *bytes, size_t size, struct op_log_replay *result,
                  struct cw_error *error)
{
    FILE *stream = fmemopen((void *)(uintptr_t)bytes, size, "rb");
    assert_non_null(stream);
    *error = (struct cw_error){0};
    const int code = op_log_replay(stream, "f.zst", result, error);
    assert_int_equal(code, error->exit_code);
    fclose(stream);
    return code;
}

/* ---- whole files ---------------------------------------------------------------------------- */

static void replaying_ends_with_the_same_memory(void **state)
{
    (void)state;
    for (uint32_t more = 0; more <= 100000; more += 50000) { /* over many blocks */
        struct file file = write_log(more);
        struct op_log_replay result = {0};
        struct cw_error error;
        if (replay(file.bytes, file.size, &result, &error))
            fail_msg("%s", error.text);
        assert_int_equal(result.digest, file.digest);
        assert_int_equal(result.expected, file.digest);
        assert_int_equal(result.counts[LP_OP_MATH], 1 + more);
        assert_int_equal(result.counts[OP_LOG_WRITE], 3);
        assert_int_equal(result.counts[OP_LOG_KERNEL_ENDED], 1);
        free(file.bytes);
    }
}

static void every_field_comes_back(void **state)
{
    (void)state;
    struct file file = write_log(0);
    struct op_log_header h;
    struct cw_error error = {0};
    struct op_log_record record;
    FILE *stream = fmemopen(file.bytes, file.size, "rb");
    struct op_log_reader *reader = op_log_open(stream, "f", &h, &error);
    if (!reader)
        fail_msg("%s", error.text);
    assert_string_equal(h.version, "1.2.3");
    assert_string_equal(h.config_digest, "0123456789abcdef");
    assert_string_equal(h.bench, "ccl_allreduce");
    assert_string_equal(h.algorithm, "some \"algorithm\"");
    assert_int_equal(h.dtype, DTYPE_BF16);
    assert_int_equal(h.redop, REDOP_MAX);
    assert_int_equal(h.seed, 4000000000u);
    assert_int_equal(hw_pe_count(&h.machine), 8);
    assert_int_equal(hw_cubes(&h.machine), 2);
    assert_int_equal(h.machine.sram_bytes, MEMORY);
    assert_int_equal(op_log_next(reader, &record, &error), CW_OK);
    assert_int_equal(record.kind, OP_LOG_FILL_INPUT);
    assert_int_equal(record.seed, UINT32_MAX);
    assert_int_equal(record.first, 1ull << 40);
    assert_int_equal(record.offset, 100);
    for (int i = 0; i < 4; i++)
        assert_int_equal(op_log_next(reader, &record, &error), CW_OK);
    assert_int_equal(record.kind, OP_LOG_WRITE);
    assert_int_equal(record.offset, 1 + 8192);
    assert_int_equal(record.count, 10000 - 8192);
    for (size_t i = 0; i < OPS; i++) {
        assert_int_equal(op_log_next(reader, &record, &error), CW_OK);
        assert_memory_equal(&record.op, &ops[i], sizeof ops[i]);
    }
    op_log_close(reader);
    op_log_close(NULL);
    fclose(stream);
    free(file.bytes);
}

static void equal_operations_give_equal_files(void **state)
{
    (void)state;
    struct file one = write_log(3000), two = write_log(3000);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.bytes, two.bytes, one.size);
    /* 40 bytes of random numbers in each record; a log of a run is far smaller */
    assert_true(one.size < 3000 * 40);
    free(one.bytes);
    free(two.bytes);
}

/* ---- broken files --------------------------------------------------------------------------- */

static void a_file_that_ends_early_is_refused_wherever_it_ends(void **state)
{
    (void)state;
    struct file file = write_log(300);
    for (size_t size = 1; size < file.size; size += size < 200 ? 1 : 37) {
        struct op_log_replay result = {0};
        struct cw_error error;
        assert_int_equal(replay(file.bytes, size, &result, &error), CW_USAGE);
        assert_non_null(strstr(error.text, "f.zst:"));
    }
    free(file.bytes);
}

static void a_changed_byte_never_goes_unnoticed(void **state)
{
    (void)state;
    struct file file = write_log(100);
    for (size_t at = 0; at < file.size; at++) {
        struct op_log_replay result = {0};
        struct cw_error error;
        file.bytes[at] ^= (char)(1 << at % 8);
        const int code = replay(file.bytes, file.size, &result, &error);
        if (code == CW_OK && (result.digest != file.digest || result.expected != file.digest))
            fail_msg("byte %zu changed: accepted, with another memory", at);
        if (code != CW_OK && code != CW_USAGE)
            fail_msg("byte %zu changed: exit code %d: %s", at, code, error.text);
        file.bytes[at] ^= (char)(1 << at % 8);
    }
    free(file.bytes);
}

/* A log of this content, to be freed. */
static struct file packed(const void *content, size_t bytes)
{
    struct file file = {.size = ZSTD_compressBound(bytes)};
    file.bytes = malloc(file.size);
    file.size = ZSTD_compress(file.bytes, file.size, content, bytes, 1);
    assert_false(ZSTD_isError(file.size));
    return file;
}

#define MACHINE                                                                                    \
    "\"machine\":{\"sips\":1,\"cubes\":1,\"pes\":2,\"tcm_bytes\":4096,\"hbm_bytes\":4096,"         \
    "\"sram_bytes\":4096}"
#define HEADER                                                                                     \
    "cubewarp op log 3\n{\"version\":\"1\",\"config_digest\":\"\",\"bench\":\"\",\"algorithm\":"   \
    "\"\",\"dtype\":\"f16\",\"redop\":\"sum\",\"seed\":1," MACHINE "}\n"

static void refuse(const void *content, size_t bytes, const char *expected)
{
    struct file file = packed(content, bytes);
    struct op_log_replay result = {.bytes_max = 1 << 20};
    struct cw_error error;
    assert_int_equal(replay(file.bytes, file.size, &result, &error), CW_USAGE);
    assert_string_equal(error.text, expected);
    free(file.bytes);
}
#define REFUSE(content, expected) refuse(content, sizeof(content) - 1, expected)

static void what_is_no_header_is_refused_with_what_is_legal(void **state)
{
    (void)state;
    REFUSE("",
           "f.zst:0: this is no op log of version 3: it begins otherwise; run again with --op-log");
    REFUSE("cubewarp op log 1\n{}\n", "f.zst:0: this is no op log of version 3: it begins "
                                      "otherwise; run again with --op-log");
    REFUSE("cubewarp op log 2\n{}\n",
           "f.zst:0: this is no op log of version 3: it begins otherwise; "
           "run again with --op-log");
    REFUSE("cubewarp op log 3\n{}",
           "f.zst:18: header: expected a line of JSON of at most 16384 bytes");
    REFUSE("cubewarp op log 3\n[}\n", "f.zst:20: header: expected a JSON object: unexpected token "
                                      "near '}'");
    REFUSE("cubewarp op log 3\n{}\n",
           "f.zst:18: header: version: expected a string of at most 63 bytes");
    REFUSE("cubewarp op log 3\n{\"version\":\"1\",\"config_digest\":\"\",\"bench\":\"\","
           "\"algorithm\":\"\",\"dtype\":\"f8\",\"redop\":\"sum\",\"seed\":1," MACHINE "}\n",
           "f.zst:18: header: dtype: expected the name of a type, such as f16");
    REFUSE("cubewarp op log 3\n{\"version\":\"1\",\"config_digest\":\"\",\"bench\":\"\","
           "\"algorithm\":\"\",\"dtype\":\"f16\",\"redop\":\"sum\",\"seed\":-1}\n",
           "f.zst:18: header: seed: expected a whole number from 0 to 9223372036854775807");
    REFUSE("cubewarp op log 3\n{\"version\":\"1\",\"config_digest\":\"\",\"bench\":\"\","
           "\"algorithm\":\"\",\"dtype\":\"f16\",\"redop\":\"sum\",\"seed\":1,\"machine\":{"
           "\"sips\":65536,\"cubes\":65536,\"pes\":65536,\"tcm_bytes\":1,\"hbm_bytes\":1,"
           "\"sram_bytes\":1}}\n",
           "f.zst:18: header: machine: 65536 SIPs of 65536 cubes of 65536 PEs; expected at most "
           "1073741824 PEs in all");
    REFUSE("cubewarp op log 3\n{\"version\":\"1\",\"config_digest\":\"\",\"bench\":\"\","
           "\"algorithm\":\"\",\"dtype\":\"f16\",\"redop\":\"sum\",\"seed\":1,\"machine\":{"
           "\"sips\":1,\"cubes\":1,\"pes\":1,\"tcm_bytes\":4294967297}}\n",
           "f.zst:18: header: tcm_bytes: expected a whole number from 0 to 4294967296");
}

/* HEADER has 207 bytes. */
static void impossible_records_are_refused_with_their_number_and_place(void **state)
{
    (void)state;
    _Static_assert(sizeof HEADER - 1 == 207, "the places below count from there");
    REFUSE(HEADER, "f.zst:207: the content ends after 0 records without a trailer: it is "
                   "truncated");
    REFUSE(HEADER "\x11", "f.zst:207: record 0: kind 17; expected 1 to 16, 64 to 67, 127");
    REFUSE(HEADER "\x00", "f.zst:207: record 0: kind 0; expected 1 to 16, 64 to 67, 127");
    REFUSE(HEADER "\x40\x80", "f.zst:207: record 0: kind 64: the content ends in this record");
    REFUSE(HEADER "\x40\x01\x40\x02", "f.zst:209: record 1: there are 2 PEs, not 2");
    REFUSE(HEADER "\x40\x80\x80\x80\x80\x10",
           "f.zst:207: record 0: kind 64: pe: expected less than 2^32");
    REFUSE(HEADER "\x40\x80\x00", /* 0, longer than needed */
           "f.zst:207: record 0: kind 64: pe: expected less than 2^32");
    REFUSE(HEADER "\x43\x00\x00\x00", "f.zst:207: record 0: kind 67: bytes: expected 1 to 4096");
    REFUSE(HEADER "\x43\x00\x00\x81\x20", /* 4097 */
           "f.zst:207: record 0: kind 67: bytes: expected 1 to 4096");
    REFUSE(HEADER "\x43\x00\xff\x1f\x02xx",
           "f.zst:207: record 0: write of 2 bytes at 4095 of PE index 0: there are 2 PEs with 4096 "
           "bytes of HBM each");
    REFUSE(HEADER "\x41\x00\x00\x09\x00\x00\x01",
           "f.zst:207: record 0: kind 65: dtype: expected 1 (f16) to 8 (int32)");
    REFUSE(HEADER "\x41\x00\x00\x03\x00\x00\xff\xff\xff\xff\x0f", /* 2^32 - 1 elements of f32 */
           "f.zst:207: record 0: fill_input of 17179869180 bytes at 0 of PE index 0: there are 2 "
           "PEs with 4096 bytes of HBM each");
    /* kind 3, times 0 0, pe, math, dtype, dir, bytes, seq, peer, peer_dir, a, b, dst */
    REFUSE(HEADER "\x03\x00\x00\x09\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00",
           "f.zst:207: record 0: PE 4.0.1: load of 8 bytes: there are 2 PEs, not 9");
    REFUSE(HEADER "\x03\x00\x00\x00\x00\x01\x00\x08\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00",
           "f.zst:207: record 0: PE 0.0.0: load of 8 bytes: source is in space 7, "
           "direction 0; expected TCM (1), HBM (2), SRAM (3) or a tile (4)");
    REFUSE(HEADER "\x7f\x01"
                  "12345678",
           "f.zst:207: record 0: trailer: it counts 1 records, and there are 0");
    REFUSE(HEADER "\x7f\x00"
                  "1234",
           "f.zst:207: record 0: trailer: the content ends in this record");
    REFUSE(HEADER "\x7f\x00"
                  "12345678x",
           "f.zst:217: there is something after the trailer, which must be the end");
}

/* Sends that nobody receives: the storage that they take is limited, whoever asks for it. */
static void storage_is_limited_whatever_the_file_asks_for(void **state)
{
    (void)state;
    static const char send[] = "\x01\x00\x00\x00\x00\x01\x00\x00"; /* 0 bytes; then its number */
    char content[200000];
    memcpy(content, HEADER, sizeof HEADER - 1);
    size_t used = sizeof HEADER - 1;
    for (uint32_t seq = 0; seq < 16384; seq++) {
        memcpy(content + used, send, 8);
        used += 8;
        if (seq >= 128)
            content[used++] = (char)(seq % 128 + 128);
        content[used++] = (char)(seq >= 128 ? seq / 128 : seq);
        /* peer, dir; a TCM; shape; dst */
        memcpy(content + used, "\x01\x00\x01\x00\x00\x00\x00\x00\x00", 9);
        used += 9;
        if (used + 32 > sizeof content)
            break;
    }
    struct file file = packed(content, used);
    struct op_log_replay result = {.bytes_max = 1 << 18};
    struct cw_error error;
    const int code = replay(file.bytes, file.size, &result, &error);
    if (code != CW_NO_RESOURCE || !strstr(error.text, "of 262144 bytes"))
        fail_msg("%d: %s", code, error.text);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaying_ends_with_the_same_memory),
        cmocka_unit_test(every_field_comes_back),
        cmocka_unit_test(equal_operations_give_equal_files),
        cmocka_unit_test(a_file_that_ends_early_is_refused_wherever_it_ends),
        cmocka_unit_test(a_changed_byte_never_goes_unnoticed),
        cmocka_unit_test(what_is_no_header_is_refused_with_what_is_legal),
        cmocka_unit_test(impossible_records_are_refused_with_their_number_and_place),
        cmocka_unit_test(storage_is_limited_whatever_the_file_asks_for),
    };
    return cmocka_run_group_tests_name("op_log", tests, NULL, NULL);
}
