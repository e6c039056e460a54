/*
 * op_log_read.c: reads op logs (op_log.h), which may be anything: every number is bounded before it
 * is used, no number in a file decides how much is allocated, and the window that a Zstandard
 * frame may ask for is limited.
 */
#include "collectives/data/op_log_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <zstd.h>

#include "hw/structure.h"

#define INPUT_BYTES      ((size_t)1 << 17)
#define CONTENT_BYTES    ((size_t)1 << 18)
#define WINDOW_LOG_MAX   23 /* 8 MiB; the writer's is 2 MiB */
#define OP_KINDS         "1 to 16, 64 to 67, 127"
#define PES_MAX          (UINT64_C(1) << 30)
#define MEMORY_BYTES_MAX (UINT64_C(1) << 32)

struct op_log_reader {
    FILE *stream;
    const char *name;
    ZSTD_DCtx *zstd;
    size_t begin, end;              /* of the content in the buffer that has not been read */
    uint64_t offset;                /* of content[begin] */
    uint64_t count;                 /* records read */
    uint64_t record, record_offset; /* the one read last: its number, its place */
    size_t input_begin, input_end;
    size_t expected; /* the decompressor's last hint: 0, a frame has ended */
    bool input_over;
    int64_t last_start_ps;
    uint8_t input[INPUT_BYTES], content[CONTENT_BYTES];
};

static int refuse_at(const struct op_log_reader *reader, uint64_t offset, struct cw_error *error,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
static int refuse_at(const struct op_log_reader *reader, uint64_t offset, struct cw_error *error,
                     const char *format, ...)
{
    char what[700];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return cw_error_set(error, CW_USAGE, "%.200s:%llu: %s", reader->name,
                        (unsigned long long)offset, what);
}

int op_log_refuse(const struct op_log_reader *reader, struct cw_error *error, const char *format,
                  ...)
{
    char what[700];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return refuse_at(reader, reader->record_offset, error, "record %llu: %s",
                     (unsigned long long)reader->record, what);
}

/* ---- content --------------------------------------------------------------------------------- */

static int read_input(struct op_log_reader *reader, struct cw_error *error)
{
    reader->input_begin = 0;
    reader->input_end = fread(reader->input, 1, sizeof reader->input, reader->stream);
    reader->input_over = reader->input_end == 0;
    if (!ferror(reader->stream))
        return CW_OK;
    return cw_error_set(error, CW_USAGE, "%.200s: cannot be read: %s", reader->name,
                        strerror(errno));
}

/* Decompresses until the buffer has `want` bytes, or the file is over. */
static int op_log_read_fill(struct op_log_reader *reader, size_t want, struct cw_error *error)
{
    memmove(reader->content, reader->content + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
    while (reader->end < want) {
        if (reader->input_begin == reader->input_end && !reader->input_over &&
            read_input(reader, error) != CW_OK)
            return error->exit_code;
        ZSTD_inBuffer in = {reader->input, reader->input_end, reader->input_begin};
        ZSTD_outBuffer out = {reader->content, sizeof reader->content, reader->end};
        if (reader->input_over && reader->expected == 0)
            return CW_OK;
        const size_t left = ZSTD_decompressStream(reader->zstd, &out, &in);
        const bool foreign =
            reader->offset == 0 && reader->end == 0 &&
            (reader->input_end < 4 || memcmp(reader->input, "\x28\xb5\x2f\xfd", 4) != 0);
        const uint64_t content_end = reader->offset + (out.pos - reader->begin);
        if (ZSTD_isError(left))
            return refuse_at(reader, content_end, error,
                             "%s (%s); expected an op log, a Zstandard stream with a window of at "
                             "most %u MiB, as cubewarp run --op-log writes it",
                             foreign ? "this is no op log"
                                     : "the compressed data is damaged after this point",
                             ZSTD_getErrorName(left), 1u << (WINDOW_LOG_MAX - 20));
        if (reader->input_over && out.pos == reader->end)
            return refuse_at(reader, content_end, error,
                             "the file ends in the middle of a Zstandard frame: it is truncated");
        reader->expected = left;
        reader->input_begin = in.pos;
        reader->end = out.pos;
    }
    return CW_OK;
}

/* At least `want` bytes are there, or the file is over. */
static int ensure(struct op_log_reader *reader, size_t want, struct cw_error *error)
{
    return reader->end - reader->begin >= want ? CW_OK : op_log_read_fill(reader, want, error);
}

static void consume_content(struct op_log_reader *reader, size_t bytes)
{
    reader->begin += bytes;
    reader->offset += bytes;
}

/* ---- the header ------------------------------------------------------------------------------ */

struct header_reader {
    const struct op_log_reader *reader;
    uint64_t offset;
    struct cw_error *error;
};

static int need_text(const struct header_reader *h, json_t *object, const char *key,
                     char text[OP_LOG_NAME_BYTES])
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value) || json_string_length(value) >= OP_LOG_NAME_BYTES ||
        strlen(json_string_value(value)) != json_string_length(value))
        return refuse_at(h->reader, h->offset, h->error,
                         "header: %s: expected a string of at most %u bytes", key,
                         OP_LOG_NAME_BYTES - 1);
    memcpy(text, json_string_value(value), json_string_length(value) + 1);
    return CW_OK;
}

static int need_count(const struct header_reader *h, json_t *object, const char *key,
                      uint64_t least, uint64_t most, uint64_t *count)
{
    const json_t *value = json_object_get(object, key);
    const json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < 0 || (uint64_t)n < least || (uint64_t)n > most)
        return refuse_at(h->reader, h->offset, h->error,
                         "header: %s: expected a whole number from %llu to %llu", key,
                         (unsigned long long)least, (unsigned long long)most);
    *count = (uint64_t)n;
    return CW_OK;
}

static int need_machine(const struct header_reader *h, json_t *object, struct hw_config *hw)
{
    json_t *machine = json_object_get(object, "machine");
    uint64_t sips, cubes, pes;
    if (need_count(h, machine, "sips", 1, PES_MAX, &sips) ||
        need_count(h, machine, "cubes", 1, PES_MAX, &cubes) ||
        need_count(h, machine, "pes", 1, PES_MAX, &pes) ||
        need_count(h, machine, "tcm_bytes", 0, MEMORY_BYTES_MAX, &hw->tcm_bytes) ||
        need_count(h, machine, "hbm_bytes", 0, MEMORY_BYTES_MAX, &hw->hbm_bytes) ||
        need_count(h, machine, "sram_bytes", 0, MEMORY_BYTES_MAX, &hw->sram_bytes))
        return h->error->exit_code;
    if (sips > PES_MAX / cubes || sips * cubes > PES_MAX / pes)
        return refuse_at(h->reader, h->offset, h->error,
                         "header: machine: %llu SIPs of %llu cubes of %llu PEs; expected at most "
                         "%llu PEs in all",
                         (unsigned long long)sips, (unsigned long long)cubes,
                         (unsigned long long)pes, (unsigned long long)PES_MAX);
    hw->sip_count = (uint32_t)sips;
    hw->cube_w = (uint32_t)cubes;
    hw->cube_h = 1;
    hw->pe_per_corner = (uint32_t)pes;
    hw->corner_count = 1;
    return CW_OK;
}

/* A member that is there with this value, or not at all. */
static int read_choice(const struct header_reader *h, json_t *object, const char *key,
                       const char *text, bool *given)
{
    const json_t *const value = json_object_get(object, key);
    *given = value != NULL;
    if (value == NULL || (json_is_string(value) && strcmp(json_string_value(value), text) == 0))
        return CW_OK;
    return refuse_at(h->reader, h->offset, h->error, "header: %s: expected \"%s\", or no such key",
                     key, text);
}

static int read_header(const struct header_reader *h, json_t *object, struct op_log_header *header)
{
    char dtype[OP_LOG_NAME_BYTES], redop[OP_LOG_NAME_BYTES];
    bool given, given_f32;
    *header = (struct op_log_header){0};
    if (need_text(h, object, "version", header->version) ||
        need_text(h, object, "config_digest", header->config_digest) ||
        need_text(h, object, "bench", header->bench) ||
        need_text(h, object, "algorithm", header->algorithm) ||
        need_text(h, object, "dtype", dtype) || need_text(h, object, "redop", redop) ||
        need_count(h, object, "seed", 0, INT64_MAX, &header->seed) ||
        need_machine(h, object, &header->machine))
        return h->error->exit_code;
    if (!dtype_parse(dtype, &header->dtype))
        return refuse_at(h->reader, h->offset, h->error,
                         "header: dtype: expected the name of a type, such as f16");
    if (!redop_parse(redop, &header->redop))
        return refuse_at(h->reader, h->offset, h->error,
                         "header: redop: expected the name of an operation, such as sum");
    if (read_choice(h, object, "fp8_overflow", "infinity", &given) != CW_OK ||
        read_choice(h, object, "accumulate", "f32", &given_f32) != CW_OK)
        return h->error->exit_code;
    header->arithmetic.accumulate = given_f32 ? CCL_ACCUMULATE_F32 : CCL_ACCUMULATE_OWN;
    header->arithmetic.fp8_overflow = given ? CCL_FP8_INFINITY : CCL_FP8_SATURATE;
    return CW_OK;
}

static int open_content(struct op_log_reader *reader, struct op_log_header *header,
                        struct cw_error *error)
{
    const size_t magic_bytes = strlen(OP_LOG_MAGIC);
    if (ensure(reader, magic_bytes, error) != CW_OK)
        return error->exit_code;
    if (reader->end - reader->begin < magic_bytes ||
        memcmp(reader->content + reader->begin, OP_LOG_MAGIC, magic_bytes) != 0)
        return refuse_at(
            reader, 0, error,
            "this is no op log of version 3: it begins otherwise; run again with --op-log");
    consume_content(reader, magic_bytes);
    if (ensure(reader, OP_LOG_HEADER_BYTES_MAX, error) != CW_OK)
        return error->exit_code;
    const char *text = (const char *)reader->content + reader->begin;
    const size_t there = reader->end - reader->begin;
    const char *end =
        memchr(text, '\n', there < OP_LOG_HEADER_BYTES_MAX ? there : OP_LOG_HEADER_BYTES_MAX);
    if (end == NULL)
        return refuse_at(reader, reader->offset, error,
                         "header: expected a line of JSON of at most %u bytes",
                         OP_LOG_HEADER_BYTES_MAX);
    json_error_t wrong;
    json_t *object = json_loadb(text, (size_t)(end - text), JSON_REJECT_DUPLICATES, &wrong);
    if (object == NULL)
        return refuse_at(reader, reader->offset + (uint64_t)wrong.position, error,
                         "header: expected a JSON object: %s", wrong.text);
    const struct header_reader h = {reader, reader->offset, error};
    const int code = read_header(&h, object, header);
    json_decref(object);
    consume_content(reader, (size_t)(end - text) + 1);
    return code;
}

/* ---- records --------------------------------------------------------------------------------- */

/* A record's bytes; it is known that its largest form is there, or that the file ends before. */
struct cursor {
    const uint8_t *at, *end;
    const char *wrong; /* NULL: nothing so far */
};

static uint64_t number(struct cursor *cursor, uint64_t most, const char *wrong)
{
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (cursor->at == cursor->end) {
            cursor->wrong = cursor->wrong ? cursor->wrong : "the content ends in this record";
            return 0;
        }
        const uint8_t byte = *cursor->at++;
        if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0))
            break; /* more than 64 bits; longer than needed */
        n |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            if (n <= most)
                return n;
            break;
        }
    }
    cursor->wrong = cursor->wrong ? cursor->wrong : wrong;
    return 0;
}

static int64_t signed_number(struct cursor *cursor)
{
    const uint64_t n = number(cursor, UINT64_MAX, "a time is no number of at most 64 bits");
    return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

static uint32_t u32(struct cursor *cursor, const char *wrong)
{
    return (uint32_t)number(cursor, UINT32_MAX, wrong);
}
static uint8_t u8(struct cursor *cursor, const char *wrong)
{
    return (uint8_t)number(cursor, UINT8_MAX, wrong);
}

static void raw(struct cursor *cursor, void *dst, size_t bytes)
{
    if ((size_t)(cursor->end - cursor->at) < bytes) {
        cursor->wrong = cursor->wrong ? cursor->wrong : "the content ends in this record";
        return;
    }
    memcpy(dst, cursor->at, bytes);
    cursor->at += bytes;
}

static struct lp_operand operand(struct cursor *cursor)
{
    struct lp_operand it = {0};
    const uint32_t tag = u8(cursor, "an operand's space and flags: expected at most 255");
    if (tag == 0)
        return it;
    it.space = tag & 7;
    it.flags = (uint8_t)(tag >> 3);
    it.dir = u8(cursor, "an operand's direction: expected at most 255");
    it.at = u32(cursor, "an operand's place: expected less than 2^32");
    return it;
}

static void read_op(struct op_log_reader *reader, struct cursor *c, struct lp_op *op)
{
    const uint64_t start = (uint64_t)reader->last_start_ps + (uint64_t)signed_number(c);
    op->t_start_ps = reader->last_start_ps = (int64_t)start;
    op->t_end_ps = (int64_t)(start + (uint64_t)signed_number(c));
    op->pe = u32(c, "pe: expected less than 2^32");
    op->math = u8(c, "math: expected at most 255");
    op->dtype = u8(c, "dtype: expected at most 255");
    op->dir = u8(c, "dir: expected at most 255");
    op->bytes = u32(c, "bytes: expected less than 2^32");
    op->seq = u32(c, "seq: expected less than 2^32");
    op->peer = u32(c, "peer: expected less than 2^32");
    op->peer_dir = u8(c, "peer_dir: expected at most 255");
    op->a = operand(c);
    if (!lp_op_is_tile(op)) {
        op->b = operand(c);
    } else {
        op->dims = (uint8_t)number(c, LP_DIMS_MAX, "dimensions: expected at most 4");
        op->dim[0] = u32(c, "a dimension: expected less than 2^32");
        op->dim[1] = u32(c, "a dimension: expected less than 2^32");
        uint32_t size[LP_DIMS_MAX];
        lp_shape_of(op->dims, op->dim, op->bytes, size);
        for (uint32_t i = 0; c->wrong == NULL && i + 1 < op->dims; i++)
            if (size[i] == 0)
                c->wrong = "dimensions: expected at least 1 element each";
    }
    op->dst = operand(c);
}

static void read_host(struct cursor *c, struct op_log_record *record)
{
    record->pe = u32(c, "pe: expected less than 2^32");
    if (record->kind == OP_LOG_KERNEL_ENDED)
        return;
    record->offset = number(c, UINT32_MAX, "offset: expected less than 2^32");
    if (record->kind == OP_LOG_WRITE) {
        record->count = number(c, OP_LOG_WRITE_BYTES_MAX, "bytes: expected 1 to 4096");
        if (record->count == 0 && c->wrong == NULL)
            c->wrong = "bytes: expected 1 to 4096";
        raw(c, record->bytes, record->count);
        return;
    }
    const uint8_t dtype = u8(c, "dtype: expected 1 (f16) to 8 (int32)");
    if (!dtype_is_known(dtype) && c->wrong == NULL)
        c->wrong = "dtype: expected 1 (f16) to 8 (int32)";
    record->dtype = (enum dtype)dtype;
    if (record->kind == OP_LOG_FILL_INPUT) {
        record->seed = number(c, UINT64_MAX, "seed: expected less than 2^64");
        record->first = number(c, UINT64_MAX, "first: expected less than 2^64");
    }
    record->count = number(c, UINT32_MAX, "count: expected less than 2^32");
    if (record->kind == OP_LOG_FILL)
        raw(c, &record->value, sizeof record->value);
}

static int read_trailer(struct op_log_reader *reader, struct cursor *c,
                        struct op_log_record *record, struct cw_error *error)
{
    record->count = number(c, UINT64_MAX, "count: expected less than 2^64");
    raw(c, &record->digest, sizeof record->digest);
    if (c->wrong != NULL)
        return op_log_refuse(reader, error, "trailer: %s", c->wrong);
    if (record->count != reader->count)
        return op_log_refuse(reader, error, "trailer: it counts %llu records, and there are %llu",
                             (unsigned long long)record->count, (unsigned long long)reader->count);
    consume_content(reader, (size_t)(c->at - (reader->content + reader->begin)));
    if (ensure(reader, 1, error) != CW_OK)
        return error->exit_code;
    if (reader->end != reader->begin)
        return refuse_at(reader, reader->offset, error,
                         "there is something after the trailer, which must be the end");
    return CW_OK;
}

int op_log_next(struct op_log_reader *reader, struct op_log_record *record, struct cw_error *error)
{
    /* 24 numbers of at most 10 bytes, or a write */
    if (ensure(reader, OP_LOG_WRITE_BYTES_MAX + 256, error) != CW_OK)
        return error->exit_code;
    const uint8_t *const begin = reader->content + reader->begin;
    struct cursor cursor = {begin, reader->content + reader->end, NULL};
    reader->record_offset = reader->offset;
    reader->record = reader->count;
    if (cursor.at == cursor.end)
        return refuse_at(reader, reader->offset, error,
                         "the content ends after %llu records without a trailer: it is truncated",
                         (unsigned long long)reader->count);
    record->kind = *cursor.at++;
    if (record->kind == OP_LOG_TRAILER)
        return read_trailer(reader, &cursor, record, error);
    record->op = (struct lp_op){.kind = (uint8_t)record->kind};
    if (record->kind >= 1 && record->kind <= LP_OP_LOAD_FROM)
        read_op(reader, &cursor, &record->op);
    else if (record->kind >= OP_LOG_KERNEL_ENDED && record->kind <= OP_LOG_WRITE)
        read_host(&cursor, record);
    else
        return op_log_refuse(reader, error, "kind %u; expected %s", record->kind, OP_KINDS);
    if (cursor.wrong != NULL)
        return op_log_refuse(reader, error, "kind %u: %s", record->kind, cursor.wrong);
    consume_content(reader, (size_t)(cursor.at - begin));
    reader->count++;
    return CW_OK;
}

/* ---- a reader -------------------------------------------------------------------------------- */

struct op_log_reader *op_log_open(FILE *stream, const char *name, struct op_log_header *header,
                                  struct cw_error *error)
{
    struct op_log_reader *reader = malloc(sizeof *reader);
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    if (reader == NULL || zstd == NULL) {
        free(reader);
        ZSTD_freeDCtx(zstd);
        (void)cw_error_memory(error, "reading the op log");
        return NULL;
    }
    memset(reader, 0, offsetof(struct op_log_reader, input));
    reader->stream = stream;
    reader->name = name;
    reader->zstd = zstd;
    (void)ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    if (open_content(reader, header, error) == CW_OK)
        return reader;
    op_log_close(reader);
    return NULL;
}

void op_log_close(struct op_log_reader *reader)
{
    if (reader == NULL)
        return;
    ZSTD_freeDCtx(reader->zstd);
    free(reader);
}
