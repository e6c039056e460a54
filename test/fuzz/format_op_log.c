/*
 * format_op_log.c: op logs: whatever the bytes are, the reader and the data pass neither crash nor
 * hang nor take more memory than they may. The first byte says how to read the rest: 0, as a whole
 * file; 1, as the content of one, which is read but not executed, since its header may describe a
 * machine on which one record is hours of work; else as records for a small machine, which are
 * executed. Content is compressed here: no mutation finds a checksum.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "collectives/data/op_log_read.h"
#include "collectives/data/op_log_write.h"
#include "collectives/data/op_replay.h"
#include "test/fuzz/fuzz.h"

#define MACHINE                                                                                    \
    "\"machine\":{\"sips\":1,\"cubes\":2,\"pes\":4,\"tcm_bytes\":8192,\"hbm_bytes\":16384,"        \
    "\"sram_bytes\":4096}"
static const char head[] =
    OP_LOG_MAGIC "{\"version\":\"1\",\"config_digest\":\"\",\"bench\":\"\",\"algorithm\":"
                 "\"\",\"dtype\":\"f16\",\"redop\":\"sum\",\"seed\":1," MACHINE "}\n";

#define CONTENT_BYTES_MAX ((size_t)1 << 16)

/* Writes a record as the run that was read would have. */
static void write_record(struct op_log *log, const struct op_log_record *record)
{
    if (record->kind <= OP_LOG_OP_LAST)
        op_log_op(log, &record->op);
    else if (record->kind == OP_LOG_KERNEL_ENDED)
        op_log_kernel_ended(log, record->pe);
    else if (record->kind == OP_LOG_FILL_INPUT)
        op_log_fill_input(log, record->pe, record->offset, record->dtype, record->seed,
                          record->first, record->count);
    else if (record->kind == OP_LOG_FILL)
        op_log_fill(log, record->pe, record->offset, record->dtype, record->value, record->count);
    else
        op_log_write(log, record->pe, record->offset, record->bytes, record->count);
}

/* The content of a log, without compression; the caller frees it. */
static char *unpack(const char *packed, size_t packed_bytes, size_t *bytes)
{
    enum { ROOM = 1 << 20 };
    char *const text = malloc(ROOM);
    FUZZ_DEMAND(text != NULL);
    ZSTD_inBuffer in = {packed, packed_bytes, 0};
    ZSTD_outBuffer out = {text, ROOM, 0};
    ZSTD_DStream *const stream = ZSTD_createDStream();
    while (in.pos < in.size)
        FUZZ_DEMAND(!ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)));
    ZSTD_freeDStream(stream);
    *bytes = out.pos;
    return text;
}

/* Reads records up to the trailer, or the first fault, and writes them. The writer's content
 * behind the header, which the caller frees; NULL: there was a fault. */
static char *copy(FILE *stream, size_t *bytes)
{
    struct op_log_header header;
    struct op_log_record record;
    struct cw_error error = {.exit_code = CW_OK};
    char *packed = NULL, *text = NULL;
    size_t packed_bytes;
    struct op_log_reader *const reader = op_log_open(stream, "fuzz", &header, &error);
    FILE *const copied = open_memstream(&packed, &packed_bytes);
    FUZZ_DEMAND(copied != NULL);
    if (reader != NULL) {
        struct op_log *const log = op_log_create(copied, &header, &error);
        FUZZ_DEMAND(log != NULL);
        while (op_log_next(reader, &record, &error) == CW_OK && record.kind != OP_LOG_TRAILER)
            write_record(log, &record);
        if (error.exit_code == CW_OK)
            FUZZ_DEMAND(op_log_finish(log, record.digest, &error) == CW_OK);
        op_log_free(log);
        op_log_close(reader);
    }
    fuzz_demand_error(error.exit_code, &error);
    FUZZ_DEMAND(fclose(copied) == 0);
    if (error.exit_code == CW_OK)
        text = unpack(packed, packed_bytes, bytes);
    free(packed);
    return text;
}

/* A log that is whole is written as one that is written alike. */
static void read_all(FILE *stream)
{
    static char packed[CONTENT_BYTES_MAX * 32];
    size_t bytes, again_bytes;
    char *const text = copy(stream, &bytes);
    if (text == NULL)
        return;
    const size_t packed_bytes = ZSTD_compress(packed, sizeof packed, text, bytes, 1);
    FILE *const again_stream = fmemopen(packed, packed_bytes, "rb");
    FUZZ_DEMAND(again_stream != NULL);
    char *const again = copy(again_stream, &again_bytes);
    FUZZ_DEMAND(again != NULL && again_bytes == bytes && memcmp(text, again, bytes) == 0);
    fclose(again_stream);
    free(again);
    free(text);
}

static void execute(FILE *stream)
{
    struct op_log_replay replay = {.bytes_max = 1 << 20};
    struct cw_error error = {.exit_code = CW_OK};
    replay.listing = fopen("/dev/null", "we");
    const int code = op_log_replay(stream, "fuzz", &replay, &error);
    fuzz_demand_error(code, &error);
    if (replay.listing != NULL)
        fclose(replay.listing);
}

static void read_op_log(const uint8_t *data, size_t size)
{
    static uint8_t content[CONTENT_BYTES_MAX], packed[CONTENT_BYTES_MAX * 2];
    if (size < 2 || size > CONTENT_BYTES_MAX - sizeof head)
        return;
    const size_t begin = data[0] < 2 ? 0 : sizeof head - 1;
    memcpy(content, head, begin);
    memcpy(content + begin, data + 1, size - 1);
    const size_t bytes = begin + size - 1;
    const size_t written =
        data[0] == 0 ? bytes : ZSTD_compress(packed, sizeof packed, content, bytes, 1);
    FILE *stream = fmemopen(data[0] == 0 ? content : packed, written, "rb");
    if (stream == NULL)
        return;
    if (data[0] < 2)
        read_all(stream);
    else
        execute(stream);
    fclose(stream);
}

const struct fuzz_format fuzz_op_log = {.name = "op_log", .once = read_op_log};
