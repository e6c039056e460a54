/*
 * format_op_log.c: op logs: whatever the bytes are, the reader and the data pass neither crash nor
 * hang nor take more memory than they may. The first byte says what the rest is: 0, a whole file;
 * 1, the content of one, which is read but not executed, since its header may describe a machine on
 * which one record is hours of work; else records for a small machine, which are executed. Content
 * is compressed here: no mutation finds a checksum.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "collectives/data/op_log_read.h"
#include "collectives/data/op_replay.h"
#include "test/fuzz/fuzz.h"

#define MACHINE                                                                                    \
    "\"machine\":{\"sips\":1,\"cubes\":2,\"pes\":4,\"tcm_bytes\":8192,\"hbm_bytes\":16384,"        \
    "\"sram_bytes\":4096}"
static const char head[] =
    OP_LOG_MAGIC "{\"version\":\"1\",\"config_digest\":\"\",\"bench\":\"\",\"algorithm\":"
                 "\"\",\"dtype\":\"f16\",\"redop\":\"sum\",\"seed\":1," MACHINE "}\n";

#define CONTENT_BYTES_MAX ((size_t)1 << 16)

static void read_all(FILE *stream)
{
    struct op_log_header header;
    struct op_log_record record;
    struct cw_error error;
    struct op_log_reader *reader = op_log_open(stream, "fuzz", &header, &error);
    while (reader != NULL && op_log_next(reader, &record, &error) == CW_OK &&
           record.kind != OP_LOG_TRAILER)
        ;
    op_log_close(reader);
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
