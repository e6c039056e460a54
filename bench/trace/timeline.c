/*
 * timeline.c: writes the slices, kernels and instants of a timeline (timeline.h). An operation
 * is written when the next record comes, on the first track of its PE that is free at its start.
 * A store of several tiles is several records of one time: they are one operation here. A
 * kernel's slice begins when it starts, or when the time that is asked for begins.
 */
#include "bench/trace/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/trace/timeline_arrows.h"
#include "bench/trace/timeline_calls.h"
#include "bench/trace/timeline_links.h"
#include "collectives/data/dtype.h"
#include "collectives/data/op_replay.h"
#include "lp/host/batches.h"
#include "lp/kernel/tl_call.h"
#include "lp/queues/queue_ends.h"

enum {
    NS_PS = 1000,
    WAITS_MAX = 16 /* of a PE, that are kept until their operation comes */
};

/* A stretch for which an operation waited. */
struct wait_span {
    int64_t begin_ps, end_ps;
    struct lp_waited waited;
};

/* The track of the kernels of a PE's hardware queue, which is its number. */
struct kernel_track {
    bool runs;
    bool is_open;           /* the kernel's slice has begun in the file */
    bool named;             /* the track is */
    int64_t start_ps;       /* of the kernel */
    int64_t phase_ps;       /* the current phase began */
    uint32_t phase, launch; /* UINT32_MAX: none yet */
};

/* A PE that is shown. */
struct pe_tracks {
    uint32_t pe;
    uint32_t tracks, room; /* of operations, after those of kernels */
    int64_t *free_ps;      /* [tracks] */
    struct wait_span wait[WAITS_MAX];
    uint32_t waits;
    struct kernel_track kernel[]; /* [hardware queues of a PE] */
};

struct timeline {
    struct timeline_events events;
    struct timeline_calls calls;
    struct timeline_arrows arrows;
    struct timeline_links *links; /* NULL: not asked for */
    uint32_t pe_count;
    struct pe_tracks **pe; /* [PE]; NULL: nothing so far */
    struct lp_op op;       /* not yet written; kind 0: none */
    bool out_of_memory;
};

struct timeline *timeline_create(FILE *stream, const struct lp_model *model,
                                 const struct timeline_options *options, struct cw_error *error)
{
    struct timeline *const t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->pe_count = hw_pe_count(&model->hw);
        t->pe = calloc(hw_pe_count(&model->hw), sizeof(struct pe_tracks *));
        t->events.sip_named = calloc(model->hw.sip_count, sizeof *t->events.sip_named);
        t->links = options->links ? timeline_links_create(model) : NULL;
    }
    if (t == NULL || t->pe == NULL || t->events.sip_named == NULL ||
        (options->links && t->links == NULL)) {
        timeline_free(t);
        cw_error_memory(error, "the timeline");
        return NULL;
    }
    t->events.out = stream;
    t->events.model = model;
    t->events.filter = options->filter;
    t->calls.collective = options->collective;
    t->calls.warmup = options->warmup;
    fprintf(stream,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"%s\"},"
            "\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu32
            ",\"args\":{\"name\":\"calls\"}},\n{\"ph\":\"M\",\"name\":\"process_sort_index\","
            "\"pid\":%" PRIu32 ",\"args\":{\"sort_index\":-1}}",
            CW_VERSION, model->hw.sip_count, model->hw.sip_count);
    return t;
}

void timeline_free(struct timeline *t)
{
    if (t == NULL)
        return;
    for (uint32_t i = 0; t->pe != NULL && i < t->pe_count; i++)
        if (t->pe[i] != NULL) {
            free(t->pe[i]->free_ps);
            free(t->pe[i]);
        }
    timeline_calls_free(&t->calls);
    timeline_links_free(t->links);
    timeline_arrows_free(&t->arrows);
    free(t->pe);
    free(t->events.sip_named);
    free(t);
}

/* ---- events --------------------------------------------------------------------------------- */

/* NULL: the PE is not shown, or there is no memory. */
static struct pe_tracks *tracks_of(struct timeline *t, uint32_t pe)
{
    if (t->pe[pe] != NULL)
        return t->pe[pe];
    if (!timeline_filter_has(&t->events.filter, hw_place_of(&t->events.model->hw, pe)))
        return NULL;
    t->pe[pe] =
        calloc(1, sizeof **t->pe + t->events.model->needs.queues * sizeof(struct kernel_track));
    if (t->pe[pe] == NULL)
        t->out_of_memory = true;
    else
        t->pe[pe]->pe = pe;
    return t->pe[pe];
}

/* ---- operations ----------------------------------------------------------------------------- */

static void write_peer(struct timeline *t, const char *label, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&t->events.model->hw, pe);
    fprintf(t->events.out, ",\"%s\":\"%" PRIu32 ".%" PRIu32 ".%" PRIu32 "\"", label, place.sip,
            place.cube, place.pe);
}

/* The other end is named where no arrow leads to it. wait: at the end of the slice; NULL: none. */
static void write_args(struct timeline *t, const struct lp_op *op, bool has_arrow,
                       const struct wait_span *wait)
{
    fprintf(t->events.out, ",\"args\":{\"bytes\":%" PRIu32, op->bytes);
    if (dtype_is_known(op->dtype))
        fprintf(t->events.out, ",\"dtype\":\"%s\"", dtype_name((enum dtype)op->dtype));
    switch (has_arrow ? (enum lp_op_kind)0 : (enum lp_op_kind)op->kind) {
    case LP_OP_SEND:
    case LP_OP_PUT:
    case LP_OP_NOTIFY:
    case LP_OP_STORE_TO:
    case LP_OP_LENT:
        write_peer(t, "to", op->peer);
        break;
    case LP_OP_LAND:
    case LP_OP_WAIT_NOTIFY:
    case LP_OP_STORED:
    case LP_OP_LOAD_FROM:
    case LP_OP_RECV:
        write_peer(t, "from", op->peer);
        break;
    case LP_OP_GEMM:
        fprintf(t->events.out, ",\"rows\":%" PRIu32 ",\"inner\":%" PRIu32, op->seq, op->peer);
        break;
    default:
        break;
    }
    if (op->kind == LP_OP_SEND || op->kind == LP_OP_RECV || op->kind == LP_OP_PUT ||
        op->kind == LP_OP_LAND)
        fprintf(t->events.out, ",\"seq\":%" PRIu32, op->seq);
    if (wait != NULL)
        fprintf(t->events.out, ",\"waited_us\":%" PRId64 ".%06" PRId64,
                (wait->end_ps - wait->begin_ps) / 1000000,
                (wait->end_ps - wait->begin_ps) % 1000000);
    fputc('}', t->events.out);
}

/* The first track that is free at this time, after those of kernels; it is taken until end_ps. 0:
 * no memory. */
static uint32_t take_track(struct timeline *t, struct pe_tracks *tracks, int64_t begin_ps,
                           int64_t end_ps)
{
    uint32_t at = 0;
    while (at < tracks->tracks && tracks->free_ps[at] > begin_ps)
        at++;
    if (at == tracks->room) {
        const uint32_t room = at == 0 ? 4 : 2 * at;
        int64_t *const more = realloc(tracks->free_ps, room * sizeof *more);
        t->out_of_memory = t->out_of_memory || more == NULL;
        if (more == NULL)
            return 0;
        tracks->free_ps = more;
        tracks->room = room;
    }
    if (at == tracks->tracks) {
        tracks->tracks++;
        trace_name_track(&t->events, tracks->pe, t->events.model->needs.queues + at);
    }
    tracks->free_ps[at] = end_ps;
    return t->events.model->needs.queues + at;
}

/* The end of a receive, in which its kernel waits for the credit to be out; 0: none. */
static int64_t credit_wait_ps(const struct timeline *t, const struct lp_op *op)
{
    const struct lp_model *const m = t->events.model;
    if (op->kind != LP_OP_RECV || !m->config.credit_blocks || m->config.credit_fabric ||
        op->dst.space != LP_SPACE_NONE)
        return 0;
    const int64_t ps = lp_credit_ps(m->named, op->pe, (enum hw_dir)op->dir);
    return ps < op->t_end_ps - op->t_start_ps ? ps : 0;
}

/* Whether an operation of this kind waits for that. */
static bool may_wait(const struct lp_op *op, const struct lp_waited *waited)
{
    const bool any =
        waited->call == CALL_RECV_ANY || waited->call == CALL_RECV_ALL || waited->call == CALL_WAIT;
    switch ((enum lp_wait)waited->wait) {
    case LP_WAIT_DATA:
        return op->kind == LP_OP_RECV && (any || waited->dir == op->dir);
    case LP_WAIT_CREDIT:
        return op->kind == LP_OP_SEND && waited->dir == op->dir;
    case LP_WAIT_NOTIFY:
        return op->kind == LP_OP_WAIT_NOTIFY;
    case LP_WAIT_CHANNEL:
        return op->kind != LP_OP_RECV;
    default:
        return false;
    }
}

/* "wait for data from W" */
static void write_cause(struct timeline *t, uint32_t pe, const struct lp_waited *waited)
{
    const char *const dir =
        lp_dir_name(t->events.model->named, pe, (enum hw_dir)(waited->dir % HW_DIRS_MAX));
    const bool any =
        waited->call == CALL_RECV_ANY || waited->call == CALL_RECV_ALL || waited->call == CALL_WAIT;
    switch ((enum lp_wait)waited->wait) {
    case LP_WAIT_DATA:
        fprintf(t->events.out, "wait for data%s%s", any ? "" : " from ", any ? "" : dir);
        break;
    case LP_WAIT_CREDIT:
        fprintf(t->events.out, "wait for room at %s", dir);
        break;
    case LP_WAIT_CHANNEL:
        fputs("wait for PE_DMA", t->events.out);
        break;
    case LP_WAIT_NOTIFY:
        fputs("wait for a notification", t->events.out);
        break;
    case LP_WAIT_PE:
        fputs("wait for the PE", t->events.out);
        break;
    default:
        fputs("wait for streams", t->events.out);
    }
}

/* Of a kernel: its rank and, of a process group, its call. */
static void write_kernel_args(struct timeline *t, const struct lp_launch *launch)
{
    const char *const whose = lp_launch_whose(launch), *const call = lp_launch_call(launch);
    fprintf(t->events.out, "\"rank\":%" PRIu32, launch->args.rank);
    if (whose == NULL)
        return;
    fputs(",\"of\":\"", t->events.out);
    trace_text(&t->events, whose);
    if (call != NULL) {
        fputs("\",\"call\":\"", t->events.out);
        trace_text(&t->events, call);
    }
    fputc('"', t->events.out);
}

static void write_wait(struct timeline *t, uint32_t pe, uint32_t track,
                       const struct wait_span *wait)
{
    trace_begin_leaf(&t->events, wait->begin_ps, wait->end_ps);
    fputs(",\"name\":\"", t->events.out);
    write_cause(t, pe, &wait->waited);
    fputc('"', t->events.out);
    if (wait->waited.wait == LP_WAIT_PE) {
        const struct lp_launch *const launch = lp_launch_of(t->events.model, wait->waited.launch);
        fputs(",\"args\":{\"kernel\":\"", t->events.out);
        trace_text(&t->events, launch->kernel->name);
        fputs("\",", t->events.out);
        write_kernel_args(t, launch);
        fputc('}', t->events.out);
    }
    trace_end_on_track(&t->events, pe, track, wait->begin_ps);
}

/* Takes the waits inside the operation from the kept waits. They follow each other, within
 * [begin_ps, end_ps]. Returns how many. */
static uint32_t take_waits(struct pe_tracks *tracks, const struct lp_op *op, int64_t begin_ps,
                           int64_t end_ps, struct wait_span taken[WAITS_MAX])
{
    uint32_t kept = 0, count = 0;
    for (uint32_t i = 0; i < tracks->waits; i++) {
        struct wait_span wait = tracks->wait[i];
        if (wait.begin_ps < op->t_start_ps || wait.end_ps > op->t_end_ps ||
            !may_wait(op, &wait.waited)) {
            tracks->wait[kept++] = wait;
            continue;
        }
        wait.begin_ps = wait.begin_ps > begin_ps ? wait.begin_ps : begin_ps;
        wait.end_ps = wait.end_ps < end_ps ? wait.end_ps : end_ps;
        if (wait.begin_ps >= wait.end_ps)
            continue;
        taken[count++] = wait;
        begin_ps = wait.end_ps;
    }
    tracks->waits = kept;
    return count;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* The kernel's slice begins, if its time has come. */
static void open_kernel(struct timeline *t, struct pe_tracks *tracks, uint32_t queue,
                        int64_t now_ps)
{
    const struct timeline_filter *const filter = &t->events.filter;
    struct kernel_track *const kernel = &tracks->kernel[queue];
    const bool has_come = kernel->start_ps >= filter->from_ps || now_ps > filter->from_ps;
    if (!kernel->runs || kernel->is_open || !has_come || kernel->start_ps >= filter->to_ps)
        return;
    if (!kernel->named)
        trace_name_track(&t->events, tracks->pe, queue);
    kernel->named = true;
    kernel->is_open = true;
    trace_begin(&t->events, "B");
    const struct lp_launch *const launch = lp_launch_of(t->events.model, kernel->launch);
    fputs(",\"name\":\"", t->events.out);
    trace_text(&t->events, launch->kernel->name);
    fputs("\",\"args\":{", t->events.out);
    write_kernel_args(t, launch);
    fprintf(t->events.out, ",\"elements\":%" PRIu64 "}", launch->args.n_elem);
    trace_end_on_track(&t->events, tracks->pe, queue, trace_clip(&t->events, kernel->start_ps));
}

static void write_phase(struct timeline *t, const struct pe_tracks *tracks, uint32_t queue,
                        int64_t end_ps)
{
    const struct kernel_track *const track = &tracks->kernel[queue];
    const struct tl_kernel *const kernel = lp_launch_of(t->events.model, track->launch)->kernel;
    if (track->phase >= kernel->phase_count || !trace_in_time(&t->events, track->phase_ps, end_ps))
        return;
    trace_begin_leaf(&t->events, trace_clip(&t->events, track->phase_ps),
                     trace_clip(&t->events, end_ps));
    fputs(",\"name\":\"", t->events.out);
    trace_text(&t->events, kernel->phase[track->phase]);
    fputc('"', t->events.out);
    trace_end_on_track(&t->events, tracks->pe, queue, trace_clip(&t->events, track->phase_ps));
}

/* ---- records -------------------------------------------------------------------------------- */

/* A time inside a slice of one event, for a reader that keeps whole ns of its begin and of its
 * duration, too. It is at most 2 ns before the slice's end. */
static int64_t inside_leaf_ps(int64_t begin_ps, int64_t end_ps)
{
    return (begin_ps / NS_PS + (end_ps - begin_ps) / NS_PS) * NS_PS - 1;
}

/* The slice of an operation from begin to end: one event, or a pair of them round its waits. A wait
 * for all of it is shown in its name; so is a wait at the end of a receive, whose args say for how
 * long. An arrow ends where its receive does: in the slice of one event, just before. */
static void write_slice(struct timeline *t, struct pe_tracks *tracks, uint32_t track,
                        int64_t begin_ps, int64_t end_ps)
{
    const struct lp_op *const op = &t->op;
    struct wait_span wait[WAITS_MAX];
    const bool queue = op->kind == LP_OP_SEND || op->kind == LP_OP_RECV;
    uint32_t waits = take_waits(tracks, op, begin_ps, end_ps, wait);
    const bool whole = waits == 1 && wait[0].end_ps == end_ps &&
                       (wait[0].begin_ps == begin_ps || op->kind == LP_OP_RECV);
    waits -= whole;
    const bool leaf = waits == 0 && end_ps > begin_ps &&
                      (op->kind != LP_OP_RECV || end_ps - begin_ps >= 2 * NS_PS);
    const uint64_t arrow = timeline_arrow_of(&t->arrows, &t->events, op);
    const bool arrives = op->kind == LP_OP_RECV || op->kind == LP_OP_LAND;
    if (leaf)
        trace_begin_leaf(&t->events, begin_ps, end_ps);
    else
        trace_begin(&t->events, "B");
    fprintf(t->events.out, ",\"name\":\"%s%s%s%s", op_log_kind_name(op->kind), queue ? " " : "",
            queue ? lp_dir_name(t->events.model->named, op->pe, (enum hw_dir)op->dir) : "",
            whole ? ", " : "");
    if (whole)
        write_cause(t, op->pe, &wait[0].waited);
    fputc('"', t->events.out);
    write_args(t, op, arrow > 0, whole && wait[0].begin_ps > begin_ps ? &wait[0] : NULL);
    trace_end_on_track(&t->events, op->pe, track, begin_ps);
    if (arrow > 0 && !arrives)
        timeline_arrow_write(&t->events, op->pe, track, begin_ps, arrow, true);
    for (uint32_t i = 0; i < waits; i++)
        write_wait(t, op->pe, track, &wait[i]);
    if (arrow > 0 && arrives)
        timeline_arrow_write(&t->events, op->pe, track,
                             leaf ? inside_leaf_ps(begin_ps, end_ps) : end_ps, arrow, false);
    if (!leaf)
        trace_end_slice(&t->events, op->pe, track, end_ps);
}

static void write_op(struct timeline *t)
{
    struct lp_op *const op = &t->op;
    struct pe_tracks *const tracks = op->kind == 0 ? NULL : tracks_of(t, op->pe);
    const bool shown = tracks != NULL && trace_in_time(&t->events, op->t_start_ps, op->t_end_ps);
    const uint32_t track = shown ? take_track(t, tracks, op->t_start_ps, op->t_end_ps) : 0;
    if (track > 0) {
        const int64_t data_ps = trace_clip(&t->events, op->t_end_ps - credit_wait_ps(t, op));
        const int64_t end_ps = trace_clip(&t->events, op->t_end_ps);
        write_slice(t, tracks, track, trace_clip(&t->events, op->t_start_ps), data_ps);
        if (data_ps < end_ps) {
            trace_begin_leaf(&t->events, data_ps, end_ps);
            fputs(",\"name\":\"wait for credit\"", t->events.out);
            trace_end_on_track(&t->events, op->pe, track, data_ps);
        }
    }
    op->kind = 0;
}

void timeline_op(struct timeline *t, const struct lp_op *op)
{
    struct lp_op *const last = &t->op;
    if (op->kind == LP_OP_SEND || op->kind == LP_OP_PUT)
        timeline_counters_tile(&t->calls.counters, op->t_end_ps, 1);
    if (op->kind == LP_OP_LAND)
        timeline_counters_tile(&t->calls.counters, op->t_end_ps, -1);
    if (op->kind == LP_OP_STORE && last->kind == LP_OP_STORE && op->pe == last->pe &&
        op->t_start_ps == last->t_start_ps && op->t_end_ps == last->t_end_ps &&
        op->bytes <= UINT32_MAX - last->bytes) {
        last->bytes += op->bytes;
        return;
    }
    write_op(t);
    *last = *op;
}

/* A kernel begins on the queue: the waits that are kept of those before it are over. */
static void drop_waits(const struct timeline *t, struct pe_tracks *tracks, uint32_t queue)
{
    const struct lp_model *const m = t->events.model;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tracks->waits; i++)
        if (lp_has_launch(m, tracks->wait[i].waited.launch) &&
            lp_launch_of(m, tracks->wait[i].waited.launch)->queue != queue)
            tracks->wait[kept++] = tracks->wait[i];
    tracks->waits = kept;
}

void timeline_kernel(struct timeline *t, const struct lp_kernel_record *record)
{
    write_op(t);
    if (!timeline_calls_note(&t->calls, &t->events, record))
        t->out_of_memory = true;
    struct pe_tracks *const tracks = tracks_of(t, record->pe);
    if (tracks == NULL)
        return;
    const uint32_t queue = lp_launch_of(t->events.model, record->launch)->queue;
    struct kernel_track *const kernel = &tracks->kernel[queue];
    if (record->mark == LP_MARK_START) {
        kernel->runs = true;
        kernel->is_open = false;
        kernel->start_ps = record->t_ps;
        kernel->launch = record->launch;
        drop_waits(t, tracks, queue);
        open_kernel(t, tracks, queue, record->t_ps);
    } else if (kernel->runs) {
        open_kernel(t, tracks, queue, record->t_ps);
        write_phase(t, tracks, queue, record->t_ps);
    }
    kernel->phase_ps = record->t_ps;
    kernel->phase = record->mark == LP_MARK_PHASE ? record->phase : UINT32_MAX;
    if (record->mark != LP_MARK_END)
        return;
    if (kernel->is_open)
        trace_end_slice(&t->events, record->pe, queue, trace_clip(&t->events, record->t_ps));
    kernel->runs = kernel->is_open = false;
}

void timeline_arrival(struct timeline *t, const struct lp_arrival *arrival)
{
    timeline_counters_tile(&t->calls.counters, arrival->t_ps, -1);
}

void timeline_crossed(struct timeline *t, const struct lp_crossed *crossed)
{
    if (t->calls.open_count == 0 || crossed->batch < t->calls.first_batch)
        return;
    timeline_counters_crossed(&t->calls.counters, t->events.model, crossed);
    if (t->links != NULL &&
        !timeline_links_crossed(t->links, t->events.out, &t->events.filter, crossed))
        t->out_of_memory = true;
}

void timeline_waited(struct timeline *t, int64_t now_ps, const struct lp_waited *waited)
{
    struct pe_tracks *const tracks = tracks_of(t, waited->pe);
    if (tracks == NULL || waited->wait == LP_WAIT_DMA || waited->wait == LP_WAIT_START ||
        now_ps <= waited->since_ps)
        return;
    const struct wait_span span = {waited->since_ps, now_ps, *waited};
    if (waited->wait == LP_WAIT_JOIN || waited->wait == LP_WAIT_BARRIER ||
        waited->wait == LP_WAIT_PE) {
        const uint32_t track = trace_in_time(&t->events, span.begin_ps, now_ps)
                                   ? take_track(t, tracks, span.begin_ps, now_ps)
                                   : 0;
        if (track > 0)
            write_wait(t, waited->pe, track,
                       &(struct wait_span){trace_clip(&t->events, span.begin_ps),
                                           trace_clip(&t->events, now_ps), *waited});
        return;
    }
    if (tracks->waits == WAITS_MAX)
        memmove(tracks->wait, tracks->wait + 1, --tracks->waits * sizeof *tracks->wait);
    tracks->wait[tracks->waits++] = span;
}

/* ---- the end -------------------------------------------------------------------------------- */

static void write_instant(struct timeline *t, const char *text)
{
    fputs(",\"name\":\"", t->events.out);
    trace_text(&t->events, text);
    fputc('"', t->events.out);
}

void timeline_waiting(struct timeline *t, const struct lp_waiting *waiting)
{
    struct pe_tracks *const tracks = tracks_of(t, waiting->pe);
    write_op(t);
    if (tracks == NULL)
        return;
    open_kernel(t, tracks, waiting->queue, INT64_MAX);
    trace_begin(&t->events, "i");
    fputs(",\"s\":\"t\"", t->events.out);
    write_instant(t, waiting->state);
    fputs(",\"args\":{\"kernel\":\"", t->events.out);
    trace_text(&t->events, waiting->kernel);
    fputs("\"}", t->events.out);
    trace_end_on_track(&t->events, waiting->pe, waiting->queue, waiting->since_ps);
}

void timeline_interrupted(struct timeline *t, int64_t now_ps)
{
    write_op(t);
    trace_begin(&t->events, "i");
    fputs(",\"s\":\"g\"", t->events.out);
    write_instant(t, "interrupted");
    trace_end(&t->events, t->events.model->hw.sip_count, 0, now_ps);
}

int timeline_finish(struct timeline *t, struct cw_error *error)
{
    write_op(t);
    const uint32_t queues = t->events.model->needs.queues;
    for (uint32_t i = 0; i < hw_pe_count(&t->events.model->hw) * queues; i++) {
        const struct pe_tracks *const tracks = t->pe[i / queues];
        if (tracks != NULL && tracks->kernel[i % queues].is_open) { /* of a run that failed */
            write_phase(t, tracks, i % queues, t->events.last_ps);
            trace_end_slice(&t->events, i / queues, i % queues, t->events.last_ps);
        }
    }
    timeline_calls_write(&t->calls, &t->events);
    fputs("\n]}\n", t->events.out);
    return t->out_of_memory || t->arrows.out_of_memory ? cw_error_memory(error, "the timeline")
                                                       : CW_OK;
}
