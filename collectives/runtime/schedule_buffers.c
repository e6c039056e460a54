/*
 * schedule_buffers.c: allocates the buffers that a schedule needs beside its call's tensors, and
 * moves values between the two (schedule_buffers.h).
 */
#include "collectives/runtime/schedule_buffers.h"

#include <stdlib.h>

#include "collectives/schedule/schedule_program.h"

enum { COPY_BYTES = 1 << 20 };

/* Bytes of a PE's HBM to another place there. */
static int copy_range(struct dist *dist, uint32_t pe, uint64_t from, uint64_t to, uint64_t bytes,
                      struct cw_error *error)
{
    uint8_t *const part = malloc(COPY_BYTES);
    int code = part != NULL ? CW_OK : dist_no_memory(error);
    for (uint64_t done = 0; done < bytes && code == CW_OK; done += COPY_BYTES) {
        const size_t n = bytes - done < COPY_BYTES ? bytes - done : COPY_BYTES;
        data_pass_read(dist->data, pe, from + done, part, n);
        code = data_pass_write(dist->data, pe, to + done, part, n, error);
    }
    free(part);
    return code;
}

/* Of each shard of a rank, bytes from `from` on to `to`, both counted from the shard's own place of
 * a tensor. */
struct move {
    const struct tensor *from, *to;
    uint64_t from_byte, to_byte, bytes;
};
static int move_shards(struct dist *dist, const struct move *move, struct cw_error *error)
{
    int code = CW_OK;
    for (uint32_t i = 0; i < move->from->shard_count && code == CW_OK; i++)
        code = copy_range(dist, move->from->shard[i].pe_index,
                          move->from->hbm_offset + move->from_byte,
                          move->to->hbm_offset + move->to_byte, move->bytes, error);
    return code;
}

/* The move before the launch; bytes 0: none. */
static struct move move_before(const struct dist_work *work, const struct schedule_program *program,
                               uint32_t rank)
{
    const struct tensor *const in = dist_of(work, rank)->submission.in, *const out =
                                                                            dist_of(work, rank)
                                                                                ->submission.out;
    struct move move = {.from = in, .to = out, .bytes = in->shard_bytes};
    switch (schedule_program_layout(program)) {
    case PROGRAM_APART:
        if (in == out) {
            move.to = dist_of(work, rank)->scratch;
            move.to_byte = move.to->shard_bytes - in->shard_bytes;
            return move;
        }
        break;
    case PROGRAM_SAME:
        if (in != out)
            return move;
        break;
    case PROGRAM_INPUT_INSIDE:
        move.to_byte = rank * in->shard_bytes;
        return move;
    case PROGRAM_OUTPUT_INSIDE:
        break;
    }
    move.bytes = 0;
    return move;
}

int dist_fill_buffers(struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    struct dist *const dist = work->dist;
    const struct schedule_program *const program = install_plans_program(work->group->plans);
    if (work->algorithm->schedule == NULL || dist->data == NULL ||
        dist_of(work, rank)->submission.messages != NULL)
        return CW_OK;
    const struct move move = move_before(work, program, rank);
    if (move.bytes == 0)
        return CW_OK;
    const int code = contents_settle(&dist->contents, lp_system_sim(dist->system), error);
    return code == CW_OK ? move_shards(dist, &move, error) : code;
}

int dist_take_results(struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    struct dist *const dist = work->dist;
    const struct schedule_program *const program = install_plans_program(work->group->plans);
    const struct submission *const submission = &dist_of(work, rank)->submission;
    if (work->algorithm->schedule == NULL || dist->data == NULL ||
        schedule_program_layout(program) != PROGRAM_OUTPUT_INSIDE)
        return CW_OK;
    const struct move move = {.from = submission->in,
                              .to = submission->out,
                              .from_byte = rank * submission->out->shard_bytes,
                              .bytes = submission->out->shard_bytes};
    return move_shards(dist, &move, error);
}
