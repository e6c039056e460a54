/*
 * op_log_write.c: writes op logs (op_log.h). Records are gathered in a block of a fixed size and
 * compressed when it is full, so that the file's bytes depend on the records alone.
 */
#include "collectives/data/op_log_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <zstd.h>

#include "hw/structure.h"

#define BLOCK_BYTES      ((size_t)1 << 18)
#define RECORD_BYTES_MAX (OP_LOG_WRITE_BYTES_MAX + 256u) /* 23 numbers of at most 10 bytes */
#define LEVEL            3

struct op_log {
    FILE *stream;
    ZSTD_CCtx *zstd;
    uint64_t count;
    int64_t last_start_ps; /* of the operation before */
    size_t used;
    bool failed; /* the compressor did */
    uint8_t block[BLOCK_BYTES], packed[BLOCK_BYTES];
};

static void compress(struct op_log *log, ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = {log->block, log->used, 0};
    size_t left = 1;
    while (!log->failed && (how == ZSTD_e_continue ? in.pos < in.size : left > 0)) {
        ZSTD_outBuffer out = {log->packed, sizeof log->packed, 0};
        left = ZSTD_compressStream2(log->zstd, &out, &in, how);
        log->failed = ZSTD_isError(left) != 0;
        (void)fwrite(log->packed, 1, out.pos, log->stream);
    }
    log->used = 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void put_bytes(struct op_log *log, const void *src, size_t bytes)
{
    memcpy(log->block + log->used, src, bytes);
    log->used += bytes;
}

static void put_number(struct op_log *log, uint64_t n)
{
    for (; n >= 128; n >>= 7)
        log->block[log->used++] = (uint8_t)(n | 128);
    log->block[log->used++] = (uint8_t)n;
}

static void put_signed(struct op_log *log, int64_t n)
{
    put_number(log, (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0));
}

static void put_operand(struct op_log *log, const struct lp_operand *operand)
{
    const uint32_t tag = operand->space + 8u * operand->flags;
    put_number(log, tag);
    if (!tag)
        return;
    put_number(log, operand->dir);
    put_number(log, operand->at);
}

static void begin(struct op_log *log, uint8_t kind)
{
    if (log->used + RECORD_BYTES_MAX > sizeof log->block)
        compress(log, ZSTD_e_continue);
    log->block[log->used++] = kind;
    log->count++;
}

/* ---- records --------------------------------------------------------------------------------- */

void op_log_op(struct op_log *log, const struct lp_op *op)
{
    assert(op->kind >= 1 && op->kind <= OP_LOG_OP_LAST);
    begin(log, op->kind);
    put_signed(log, (int64_t)((uint64_t)op->t_start_ps - (uint64_t)log->last_start_ps));
    put_signed(log, (int64_t)((uint64_t)op->t_end_ps - (uint64_t)op->t_start_ps));
    log->last_start_ps = op->t_start_ps;
    put_number(log, op->pe);
    put_number(log, op->math);
    put_number(log, op->dtype);
    put_number(log, op->dir);
    put_number(log, op->bytes);
    put_number(log, op->seq);
    put_number(log, op->peer);
    put_number(log, op->peer_dir);
    put_operand(log, &op->a);
    if (lp_op_is_tile(op)) {
        put_number(log, op->dims);
        put_number(log, op->dim[0]);
        put_number(log, op->dim[1]);
    } else {
        put_operand(log, &op->b);
    }
    put_operand(log, &op->dst);
}

void op_log_kernel_ended(struct op_log *log, uint32_t pe)
{
    begin(log, OP_LOG_KERNEL_ENDED);
    put_number(log, pe);
}

void op_log_fill_input(struct op_log *log, uint32_t pe, uint64_t offset, enum dtype dtype,
                       uint64_t seed, uint64_t first, uint64_t count)
{
    begin(log, OP_LOG_FILL_INPUT);
    put_number(log, pe);
    put_number(log, offset);
    put_number(log, dtype);
    put_number(log, seed);
    put_number(log, first);
    put_number(log, count);
}

void op_log_fill(struct op_log *log, uint32_t pe, uint64_t offset, enum dtype dtype, float value,
                 uint64_t count)
{
    begin(log, OP_LOG_FILL);
    put_number(log, pe);
    put_number(log, offset);
    put_number(log, dtype);
    put_number(log, count);
    put_bytes(log, &value, sizeof value);
}

void op_log_write(struct op_log *log, uint32_t pe, uint64_t offset, const void *src, size_t bytes)
{
    const uint8_t *from = src;
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < OP_LOG_WRITE_BYTES_MAX ? bytes - done : OP_LOG_WRITE_BYTES_MAX;
        begin(log, OP_LOG_WRITE);
        put_number(log, pe);
        put_number(log, offset + done);
        put_number(log, n);
        put_bytes(log, from + done, n);
    }
}

/* ---- a log ----------------------------------------------------------------------------------- */

static char *header_text(const struct op_log_header *header)
{
    const struct hw_config *hw = &header->machine;
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:I, s:{s:I, s:I, s:I, s:I, s:I, s:I}}",
                  "version", header->version, "config_digest", header->config_digest, "bench",
                  header->bench, "algorithm", header->algorithm, "dtype", dtype_name(header->dtype),
                  "itemsize", (json_int_t)dtype_bytes(header->dtype), "redop",
                  redop_name(header->redop), "seed", (json_int_t)header->seed, "machine", "sips",
                  (json_int_t)hw->sip_count, "cubes", (json_int_t)hw_cubes(hw), "pes",
                  (json_int_t)hw_pes(hw), "tcm_bytes", (json_int_t)hw->tcm_bytes, "hbm_bytes",
                  (json_int_t)hw->hbm_bytes, "sram_bytes", (json_int_t)hw->sram_bytes);
    if (header->arithmetic.fp8_overflow == CCL_FP8_INFINITY)
        (void)json_object_set_new(object, "fp8_overflow", json_string("infinity"));
    if (header->arithmetic.accumulate == CCL_ACCUMULATE_F32)
        (void)json_object_set_new(object, "accumulate", json_string("f32"));
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

struct op_log *op_log_create(FILE *stream, const struct op_log_header *header,
                             struct cw_error *error)
{
    struct op_log *log = malloc(sizeof *log);
    char *text = header_text(header);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    if (log == NULL || text == NULL || zstd == NULL) {
        free(log);
        free(text);
        ZSTD_freeCCtx(zstd);
        (void)cw_error_memory(error, "the op log");
        return NULL;
    }
    log->stream = stream;
    log->zstd = zstd;
    log->count = 0;
    log->last_start_ps = 0;
    log->used = 0;
    log->failed = ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL)) ||
                  ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1));
    put_bytes(log, OP_LOG_MAGIC, strlen(OP_LOG_MAGIC));
    assert(strlen(text) < OP_LOG_HEADER_BYTES_MAX);
    put_bytes(log, text, strlen(text));
    put_bytes(log, "\n", 1);
    free(text);
    return log;
}

void op_log_free(struct op_log *log)
{
    if (log == NULL)
        return;
    ZSTD_freeCCtx(log->zstd);
    free(log);
}

int op_log_finish(struct op_log *log, uint64_t digest, struct cw_error *error)
{
    begin(log, OP_LOG_TRAILER);
    put_number(log, --log->count);
    put_bytes(log, &digest, sizeof digest);
    compress(log, ZSTD_e_end);
    if (!log->failed)
        return CW_OK;
    return cw_error_set(error, CW_NO_RESOURCE, "out of memory while compressing the op log");
}

uint64_t op_log_count(const struct op_log *log) { return log->count; }
