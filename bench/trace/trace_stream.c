/*
 * trace_stream.c: compresses a stream by its file name (trace_stream.h). The text passes a
 * stream of the C library whose write function packs it.
 */
#define _GNU_SOURCE /* fopencookie() */
#include "bench/trace/trace_stream.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* gzip's memory level bounds a block, which has one table of codes: short blocks fit the similar
 * parts of a timeline best, and 4 packs one by 5 to 10 % better than 9. */
enum {
    PACKED_BYTES = 1 << 16,
    ZSTD_LEVEL = 9,
    GZIP_LEVEL = 9,
    GZIP_MEMORY = 4,
    GZIP_WINDOW = 15 + 16
};

struct trace_packer {
    FILE *file;
    ZSTD_CCtx *zstd; /* one of the two */
    z_stream gzip;
    bool is_gzip, failed;
    unsigned char packed[PACKED_BYTES];
};

static void pack_zstd(struct trace_packer *packer, const char *text, size_t bytes, bool last)
{
    ZSTD_inBuffer in = {text, bytes, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {packer->packed, PACKED_BYTES, 0};
        left = ZSTD_compressStream2(packer->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        packer->failed = packer->failed || ZSTD_isError(left);
        fwrite(packer->packed, 1, out.pos, packer->file);
    } while (!packer->failed && (last ? left > 0 : in.pos < in.size));
}

static void pack_gzip(struct trace_packer *packer, const char *text, size_t bytes, bool last)
{
    z_stream *const gzip = &packer->gzip;
    gzip->next_in = (unsigned char *)(uintptr_t)text; /* zlib does not change it */
    gzip->avail_in = (unsigned)bytes;
    int code;
    do {
        gzip->next_out = packer->packed;
        gzip->avail_out = PACKED_BYTES;
        code = deflate(gzip, last ? Z_FINISH : Z_NO_FLUSH);
        packer->failed = packer->failed || code == Z_STREAM_ERROR;
        fwrite(packer->packed, 1, PACKED_BYTES - gzip->avail_out, packer->file);
    } while (!packer->failed && (last ? code != Z_STREAM_END : gzip->avail_in > 0));
}

static ssize_t pack_text(void *cookie, const char *text, size_t bytes)
{
    struct trace_packer *const packer = cookie;
    if (packer->is_gzip)
        pack_gzip(packer, text, bytes, false);
    else
        pack_zstd(packer, text, bytes, false);
    return packer->failed ? 0 : (ssize_t)bytes;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static void free_packer(struct trace_packer *packer)
{
    if (packer != NULL && packer->is_gzip)
        (void)deflateEnd(&packer->gzip);
    if (packer != NULL)
        ZSTD_freeCCtx(packer->zstd);
    free(packer);
}

static struct trace_packer *new_packer(FILE *file, bool is_gzip)
{
    struct trace_packer *const packer = calloc(1, sizeof *packer);
    if (packer == NULL)
        return NULL;
    packer->file = file;
    packer->is_gzip = is_gzip && deflateInit2(&packer->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW,
                                              GZIP_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
    packer->zstd = is_gzip ? NULL : ZSTD_createCCtx();
    if (packer->is_gzip ||
        (packer->zstd != NULL &&
         !ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL))))
        return packer;
    free_packer(packer);
    return NULL;
}

int trace_stream_open(struct trace_stream *stream, FILE *file, const char *name,
                      struct cw_error *error)
{
    const bool gzip = ends_with(name, ".gz");
    *stream = (struct trace_stream){.text = file, .file = file};
    if (!gzip && !ends_with(name, ".zst"))
        return CW_OK;
    stream->packer = new_packer(file, gzip);
    stream->text =
        stream->packer == NULL
            ? NULL
            : fopencookie(stream->packer, "w", (cookie_io_functions_t){.write = pack_text});
    if (stream->text != NULL) {
        (void)setvbuf(stream->text, NULL, _IOFBF, PACKED_BYTES);
        return CW_OK;
    }
    free_packer(stream->packer);
    *stream = (struct trace_stream){0};
    return cw_error_memory(error, "the trace");
}

int trace_stream_close(struct trace_stream *stream, struct cw_error *error)
{
    struct trace_packer *const packer = stream->packer;
    int code = CW_OK;
    if (packer != NULL) {
        packer->failed = fclose(stream->text) != 0 || packer->failed;
        if (!packer->failed && packer->is_gzip)
            pack_gzip(packer, "", 0, true);
        else if (!packer->failed)
            pack_zstd(packer, "", 0, true);
        if (packer->failed)
            code = cw_error_set(error, CW_NO_RESOURCE, "--trace: compressing it failed");
        free_packer(packer);
    }
    *stream = (struct trace_stream){0};
    return code;
}
