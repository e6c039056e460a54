/*
 * timeline.c: see timeline.h. Everything is written when its record comes: a phase when the next
 * one begins or the kernel ends, an operation when the next record comes, on the first track of its
 * PE that is free at its start. A store of several tiles is several records of one time: they are
 * one operation here.
 */
#include "bench/output/timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "collectives/data/dtype.h"
#include "collectives/data/op_replay.h"
#include "lp/queues/queue_ends.h"

#define TRACKS 8u /* of a PE: one of phases, the rest of operations */

struct pe_tracks {
    int64_t free_ps[TRACKS]; /* of phases: when the one under way began */
    uint32_t phase;          /* the one under way; UINT32_MAX: none yet */
    uint8_t named;           /* tracks that have been given a name, one bit each */
    bool runs;
};

struct timeline {
    FILE *out;
    const struct lp_model *model;
    struct lp_op op; /* not yet written; kind 0: none */
    struct pe_tracks pe[];
};

struct timeline *timeline_create(FILE *stream, const struct lp_model *model, struct cw_error *error)
{
    const size_t pes = hw_pe_count(&model->hw);
    struct timeline *timeline = calloc(1, sizeof *timeline + pes * sizeof *timeline->pe);
    if (timeline == NULL) {
        cw_error_memory(error, "the timeline");
        return NULL;
    }
    timeline->out = stream;
    timeline->model = model;
    fprintf(stream,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"%s\"},"
            "\"traceEvents\":[",
            CW_VERSION);
    for (uint32_t sip = 0; sip < model->hw.sip_count; sip++)
        fprintf(stream,
                "%s\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu32
                ",\"args\":{\"name\":\"SIP %" PRIu32 "\"}}",
                sip > 0 ? "," : "", sip, sip);
    return timeline;
}

void timeline_free(struct timeline *timeline) { free(timeline); }

/* ---- events --------------------------------------------------------------------------------- */

static void us(FILE *out, const char *key, int64_t ps)
{
    fprintf(out, ",\"%s\":%" PRId64 ".%06" PRId64, key, ps / 1000000, ps % 1000000);
}

/* The common part of an event on a PE's track, which gets its name with its first one. */
static void begin_event(struct timeline *timeline, uint32_t pe, uint32_t track, char type)
{
    const struct hw_place place = hw_place_of(&timeline->model->hw, pe);
    const uint32_t tid = (place.cube * timeline->model->pes + place.pe) * TRACKS + track;
    struct pe_tracks *const tracks = &timeline->pe[pe];
    if ((tracks->named >> track & 1) == 0) {
        tracks->named |= (uint8_t)(1u << track);
        fprintf(timeline->out,
                ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
                ",\"args\":{\"name\":\"cube %" PRIu32 " PE %" PRIu32 " %s\"}}",
                place.sip, tid, place.cube, place.pe, track == 0 ? "phases" : "operations");
        fprintf(timeline->out,
                ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%" PRIu32
                ",\"tid\":%" PRIu32 ",\"args\":{\"sort_index\":%" PRIu32 "}}",
                place.sip, tid, tid);
    }
    fprintf(timeline->out, ",\n{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, type,
            place.sip, tid);
}

static void write_peer(struct timeline *timeline, const char *label, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&timeline->model->hw, pe);
    fprintf(timeline->out, ",\"%s\":\"%" PRIu32 ".%" PRIu32 ".%" PRIu32 "\"", label, place.sip,
            place.cube, place.pe);
}

static void write_args(struct timeline *timeline, const struct lp_op *op)
{
    FILE *const out = timeline->out;
    fprintf(out, ",\"args\":{\"bytes\":%" PRIu32, op->bytes);
    if (dtype_is_known(op->dtype))
        fprintf(out, ",\"dtype\":\"%s\"", dtype_name((enum dtype)op->dtype));
    switch (op->kind) {
    case LP_OP_SEND:
    case LP_OP_PUT:
    case LP_OP_NOTIFY:
    case LP_OP_STORE_TO:
    case LP_OP_LENT:
        write_peer(timeline, "to", op->peer);
        break;
    case LP_OP_LAND:
    case LP_OP_WAIT_NOTIFY:
    case LP_OP_STORED:
    case LP_OP_LOAD_FROM:
        write_peer(timeline, "from", op->peer);
        break;
    case LP_OP_GEMM:
        fprintf(out, ",\"rows\":%" PRIu32 ",\"inner\":%" PRIu32, op->seq, op->peer);
        break;
    default:
        break;
    }
    if (op->kind == LP_OP_SEND || op->kind == LP_OP_RECV || op->kind == LP_OP_PUT ||
        op->kind == LP_OP_LAND)
        fprintf(out, ",\"seq\":%" PRIu32, op->seq);
    fputs("}}", out);
}

/* The track that is free at this time; if none is, the one that is free first. */
static uint32_t track_for(struct pe_tracks *tracks, int64_t start_ps, int64_t end_ps)
{
    uint32_t best = 1;
    for (uint32_t i = 1; i < TRACKS && tracks->free_ps[best] > start_ps; i++)
        if (tracks->free_ps[i] < tracks->free_ps[best])
            best = i;
    if (end_ps > tracks->free_ps[best])
        tracks->free_ps[best] = end_ps;
    return best;
}

/* The end of a receive, in which its kernel waits for the credit to be out; 0: none. */
static int64_t credit_wait_ps(const struct timeline *timeline, const struct lp_op *op)
{
    const struct lp_model *const m = timeline->model;
    if (op->kind != LP_OP_RECV || !m->config.credit_blocks || m->config.credit_fabric ||
        op->dst.space != LP_SPACE_NONE)
        return 0;
    const int64_t ps = lp_credit_ps(m->named, op->pe, (enum hw_dir)op->dir);
    return ps < op->t_end_ps - op->t_start_ps ? ps : 0;
}

/* It is a slice of its own: the one before it is waiting for data. */
static void write_credit(struct timeline *timeline, const struct lp_op *op, uint32_t track,
                         int64_t ps)
{
    begin_event(timeline, op->pe, track, 'X');
    fputs(",\"name\":\"wait for credit\"", timeline->out);
    us(timeline->out, "ts", op->t_end_ps - ps);
    us(timeline->out, "dur", ps);
    fputc('}', timeline->out);
}

static void write_op(struct timeline *timeline)
{
    FILE *const out = timeline->out;
    const struct lp_op *const op = &timeline->op;
    if (op->kind == 0)
        return;
    const bool queue = op->kind == LP_OP_SEND || op->kind == LP_OP_RECV;
    const uint32_t track = track_for(&timeline->pe[op->pe], op->t_start_ps, op->t_end_ps);
    begin_event(timeline, op->pe, track, 'X');
    fprintf(out, ",\"name\":\"%s%s%s\"", op_log_kind_name(op->kind), queue ? " " : "",
            queue ? lp_dir_name(timeline->model->named, op->pe, (enum hw_dir)op->dir) : "");
    us(out, "ts", op->t_start_ps);
    const int64_t credit_ps = credit_wait_ps(timeline, op);
    us(out, "dur", op->t_end_ps - op->t_start_ps - credit_ps);
    write_args(timeline, op);
    if (credit_ps > 0)
        write_credit(timeline, op, track, credit_ps);
}

void timeline_op(struct timeline *timeline, const struct lp_op *op)
{
    struct lp_op *const last = &timeline->op;
    if (op->kind == LP_OP_STORE && last->kind == LP_OP_STORE && op->pe == last->pe &&
        op->t_start_ps == last->t_start_ps && op->t_end_ps == last->t_end_ps &&
        op->bytes <= UINT32_MAX - last->bytes) {
        last->bytes += op->bytes;
        return;
    }
    write_op(timeline);
    *last = *op;
}

static void write_phase(struct timeline *timeline, const struct lp_kernel_record *record)
{
    struct pe_tracks *const tracks = &timeline->pe[record->pe];
    const struct tl_kernel *const kernel = lp_launch_of(timeline->model, record->launch)->kernel;
    const bool known = tracks->phase < kernel->phase_count;
    if (!known && tracks->free_ps[0] == record->t_ps)
        return; /* nothing before the first phase */
    begin_event(timeline, record->pe, 0, 'X');
    fprintf(timeline->out, ",\"name\":\"%s\"", known ? kernel->phase[tracks->phase] : kernel->name);
    us(timeline->out, "ts", tracks->free_ps[0]);
    us(timeline->out, "dur", record->t_ps - tracks->free_ps[0]);
    fprintf(timeline->out, ",\"args\":{\"kernel\":\"%s\"}}", kernel->name);
}

void timeline_kernel(struct timeline *timeline, const struct lp_kernel_record *record)
{
    struct pe_tracks *const tracks = &timeline->pe[record->pe];
    if (record->mark != LP_MARK_START && tracks->runs)
        write_phase(timeline, record);
    tracks->runs = record->mark != LP_MARK_END;
    tracks->free_ps[0] = record->t_ps;
    tracks->phase = record->mark == LP_MARK_PHASE ? record->phase : UINT32_MAX;
}

void timeline_waiting(struct timeline *timeline, const struct lp_waiting *waiting)
{
    FILE *const out = timeline->out;
    write_op(timeline);
    timeline->op.kind = 0;
    begin_event(timeline, waiting->pe, 0, 'i');
    fputs(",\"s\":\"t\",\"name\":\"", out);
    for (const char *at = waiting->state; *at != '\0'; at++)
        fprintf(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    fputc('"', out);
    us(out, "ts", waiting->since_ps);
    fprintf(out, ",\"args\":{\"kernel\":\"%s\"}}", waiting->kernel);
}

void timeline_interrupted(struct timeline *timeline, int64_t now_ps)
{
    write_op(timeline);
    timeline->op.kind = 0;
    begin_event(timeline, 0, 0, 'i');
    fputs(",\"s\":\"g\",\"name\":\"interrupted\"", timeline->out);
    us(timeline->out, "ts", now_ps);
    fputc('}', timeline->out);
}

void timeline_finish(struct timeline *timeline)
{
    write_op(timeline);
    fputs("\n]}\n", timeline->out);
}
