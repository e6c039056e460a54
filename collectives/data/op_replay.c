/*
 * op_replay.c: executes an op log again (op_log.h), with a data pass of its own, and lists the
 * records. A record that the data pass finds impossible is the file's fault here, and is named by
 * its place.
 */
#include "collectives/data/op_replay.h"

#include <inttypes.h>
#include <string.h>

#include "collectives/data/data_pass.h"
#include "collectives/data/op_log_read.h"
#include "hw/structure.h"

/* ---- records as text ------------------------------------------------------------------------- */

static const char *const kind_name[] = {[LP_OP_SEND] = "ipcq_send",
                                        [LP_OP_RECV] = "ipcq_recv",
                                        [LP_OP_LOAD] = "dma_load",
                                        [LP_OP_STORE] = "dma_store",
                                        [LP_OP_COPY] = "copy",
                                        [LP_OP_MATH] = "math",
                                        [LP_OP_PUT] = "put",
                                        [LP_OP_LAND] = "land",
                                        [LP_OP_NOTIFY] = "notify",
                                        [LP_OP_CAST] = "cast",
                                        [LP_OP_WAIT_NOTIFY] = "wait_notify",
                                        [LP_OP_GEMM] = "gemm",
                                        [LP_OP_STORE_TO] = "store_to",
                                        [LP_OP_STORED] = "stored",
                                        [LP_OP_LENT] = "lent",
                                        [LP_OP_LOAD_FROM] = "load_from"};

const char *op_log_kind_name(uint32_t kind)
{
    switch (kind) {
    case OP_LOG_KERNEL_ENDED:
        return "kernel_ended";
    case OP_LOG_FILL_INPUT:
        return "fill_input";
    case OP_LOG_FILL:
        return "fill";
    case OP_LOG_WRITE:
        return "write";
    default:
        return kind < sizeof kind_name / sizeof *kind_name ? kind_name[kind] : NULL;
    }
}

static void list_pe(FILE *out, const struct hw_config *hw, const char *label, uint32_t pe)
{
    const struct hw_place place = hw_place_of(hw, pe);
    fprintf(out, " %s %u.%u.%u", label, place.sip, place.cube, place.pe);
}

static void list_operand(FILE *out, const char *label, const struct lp_operand *operand)
{
    static const char *const space[] = {"none", "tcm", "hbm", "sram", "tile"};
    if (operand->space == LP_SPACE_NONE || operand->space > LP_SPACE_TILE)
        return; /* not this kind's operand: nothing has looked at it */
    if (operand->space == LP_SPACE_TILE)
        fprintf(out, " %s tile %s %u%s", label, hw_dir_name((enum hw_dir)operand->dir), operand->at,
                operand->flags & LP_LAST_USE ? " last" : "");
    else
        fprintf(out, " %s %s 0x%x", label, space[operand->space], operand->at);
}

static void list_shape(FILE *out, const struct lp_op *op)
{
    const size_t itemsize = dtype_is_known(op->dtype) ? dtype_bytes((enum dtype)op->dtype) : 1;
    uint32_t size[LP_DIMS_MAX];
    lp_shape_of(op->dims, op->dim, op->bytes / itemsize, size);
    fputs(" shape ", out);
    for (uint32_t i = 0; i < op->dims; i++)
        fprintf(out, "%s%u", i > 0 ? "x" : "", size[i]);
}

static void list_op(FILE *out, const struct hw_config *hw, const struct lp_op *op)
{
    const bool tile = op->kind == LP_OP_SEND || op->kind == LP_OP_RECV;
    const bool notify = op->kind == LP_OP_NOTIFY || op->kind == LP_OP_WAIT_NOTIFY;
    const bool peer = tile || notify || op->kind == LP_OP_PUT || op->kind == LP_OP_LAND ||
                      (op->kind >= LP_OP_STORE_TO && op->kind <= LP_OP_LOAD_FROM);
    fprintf(out, "%s %" PRId64 " %" PRId64, op_log_kind_name(op->kind), op->t_start_ps,
            op->t_end_ps);
    list_pe(out, hw, "pe", op->pe);
    fprintf(out, " bytes %u", op->bytes);
    if (dtype_is_known(op->dtype))
        fprintf(out, " dtype %s", dtype_name((enum dtype)op->dtype));
    if (op->kind == LP_OP_CAST)
        fprintf(out, " to %s", dtype_name((enum dtype)op->math));
    else if (redop_is_known(op->math))
        fprintf(out, " op %s", redop_name((enum redop)op->math));
    if (tile)
        fprintf(out, " dir %s", hw_dir_name((enum hw_dir)op->dir));
    if (notify)
        fprintf(out, " tag %u", op->dir);
    if (op->kind == LP_OP_GEMM)
        fprintf(out, " rows %u inner %u%s%s", op->seq, op->peer,
                op->dir & LP_SUMS_FROM_F32 ? " from f32" : "",
                op->dir & LP_SUMS_TO_F32 ? " to f32" : "");
    else if (peer)
        fprintf(out, " seq %u", op->seq);
    if (peer)
        list_pe(out, hw, "peer", op->peer);
    if (tile)
        list_shape(out, op);
    if (tile)
        fprintf(out, " peer_dir %s", hw_dir_name((enum hw_dir)op->peer_dir));
    if (op->kind == LP_OP_RECV)
        fprintf(out, " recv_mode %s",
                op->dst.space == LP_SPACE_NONE ? "return_slot" : "copy_to_dst");
    list_operand(out, "a", &op->a);
    if (lp_op_reads_b(op))
        list_operand(out, "b", &op->b);
    list_operand(out, "dst", &op->dst);
    fputc('\n', out);
}

/* A record that has been executed, so that its numbers are known to be in range. */
static void list(FILE *out, const struct hw_config *hw, const struct op_log_record *record)
{
    if (record->kind <= OP_LOG_OP_LAST) {
        list_op(out, hw, &record->op);
        return;
    }
    fputs(op_log_kind_name(record->kind), out);
    list_pe(out, hw, "pe", record->pe);
    if (record->kind != OP_LOG_KERNEL_ENDED)
        fprintf(out, " hbm 0x%" PRIx64 " count %" PRIu64, record->offset, record->count);
    if (record->kind == OP_LOG_FILL_INPUT)
        fprintf(out, " dtype %s seed %" PRIu64 " first %" PRIu64, dtype_name(record->dtype),
                record->seed, record->first);
    if (record->kind == OP_LOG_FILL)
        fprintf(out, " dtype %s value %.9g", dtype_name(record->dtype), (double)record->value);
    fputc('\n', out);
}

/* ---- execution ------------------------------------------------------------------------------- */

static int apply_host(struct data_pass *pass, const struct op_log_reader *reader,
                      const struct op_log_record *record, const struct hw_config *hw,
                      struct cw_error *error)
{
    const uint64_t bytes =
        record->count * (record->kind == OP_LOG_WRITE ? 1 : dtype_bytes(record->dtype));
    if (!data_pass_in_hbm(pass, record->pe, record->offset, bytes))
        return op_log_refuse(reader, error,
                             "%s of %" PRIu64 " bytes at %" PRIu64 " of PE index %u: there are %u "
                             "PEs with %" PRIu64 " bytes of HBM each",
                             op_log_kind_name(record->kind), bytes, record->offset, record->pe,
                             hw_pe_count(hw), hw->hbm_bytes);
    switch (record->kind) {
    case OP_LOG_FILL_INPUT:
        return data_pass_fill_input(pass, record->pe, record->offset, record->dtype, record->seed,
                                    record->first, record->count, error);
    case OP_LOG_FILL:
        return data_pass_fill(pass, record->pe, record->offset, record->dtype, record->value,
                              record->count, error);
    default:
        return data_pass_write(pass, record->pe, record->offset, record->bytes, record->count,
                               error);
    }
}

static int apply_record(struct data_pass *pass, const struct op_log_reader *reader,
                        const struct op_log_record *record, const struct hw_config *hw,
                        struct cw_error *error)
{
    if (record->kind > OP_LOG_OP_LAST && record->kind != OP_LOG_KERNEL_ENDED)
        return apply_host(pass, reader, record, hw, error);
    if (record->kind == OP_LOG_KERNEL_ENDED) {
        if (record->pe >= hw_pe_count(hw))
            return op_log_refuse(reader, error, "there are %u PEs, not %u", hw_pe_count(hw),
                                 record->pe);
        data_pass_end_kernel(pass, record->pe);
        return CW_OK;
    }
    const int code = data_pass_apply(pass, &record->op, error);
    if (code != CW_BUG && code != CW_PROGRAM_FAILED) /* a run that failed leaves no log */
        return code;
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    static const char who[] = "data pass: ";
    const bool led = strncmp(text, who, sizeof who - 1) == 0;
    return op_log_refuse(reader, error, "%s", text + (led ? sizeof who - 1 : 0));
}

static int replay_records(struct op_log_reader *reader, struct op_log_replay *replay,
                          struct data_pass *pass, struct cw_error *error)
{
    const struct hw_config *hw = &replay->header.machine;
    struct op_log_record record;
    for (;;) {
        int code = op_log_next(reader, &record, error);
        if (code != CW_OK)
            return code;
        replay->counts[record.kind]++;
        if (record.kind == OP_LOG_TRAILER)
            break;
        code = apply_record(pass, reader, &record, hw, error);
        if (code != CW_OK)
            return code;
        if (replay->listing != NULL)
            list(replay->listing, hw, &record);
    }
    replay->expected = record.digest;
    replay->digest = data_pass_digest(pass);
    return CW_OK;
}

int op_log_replay(FILE *stream, const char *name, struct op_log_replay *replay,
                  struct cw_error *error)
{
    struct op_log_reader *reader = op_log_open(stream, name, &replay->header, error);
    if (reader == NULL)
        return error->exit_code;
    struct data_pass *pass = data_pass_create(&replay->header.machine, replay->bytes_max, 1);
    if (pass != NULL)
        data_pass_set_arithmetic(pass, replay->header.arithmetic);
    const int code = pass != NULL ? replay_records(reader, replay, pass, error)
                                  : cw_error_memory(error, "replaying the op log");
    error->exit_code = code;
    data_pass_free(pass);
    op_log_close(reader);
    return code;
}
