/*
 * timeline.c: see timeline.h. An operation is written when the next record comes, on the first
 * track of its PE that is free at its start. A store of several tiles is several records of one
 * time: they are one operation here. A kernel's slice begins when it starts, or when the time that
 * is asked for begins.
 */
#include "bench/trace/timeline.h"

#define JUDYERROR_NOTEST 1 /* else Judy ends the program when it has no memory */
#include <Judy.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/trace/timeline_counters.h"
#include "bench/trace/timeline_links.h"
#include "collectives/data/dtype.h"
#include "collectives/data/op_replay.h"
#include "lp/kernel/tl_call.h"
#include "lp/queues/queue_ends.h"

enum {
    NS_PS = 1000,
    TRACKS_MAX = 1024, /* of a PE: one of kernels, the rest of operations */
    WAITS_MAX = 16     /* of a PE, that are kept until their operation comes */
};

/* A stretch for which an operation waited. */
struct wait_span {
    int64_t begin_ps, end_ps;
    struct lp_waited waited;
};

/* A PE that is shown. */
struct pe_tracks {
    uint32_t pe;
    bool runs;
    bool is_open;           /* the kernel's slice has begun in the file */
    int64_t start_ps;       /* of the kernel */
    int64_t phase_ps;       /* the phase under way began */
    uint32_t phase, launch; /* UINT32_MAX: none yet */
    uint32_t tracks, room;  /* of operations */
    int64_t *free_ps;       /* [tracks] */
    bool named;
    struct wait_span wait[WAITS_MAX];
    uint32_t waits;
};

/* The calls: batches of launches. */
struct call_slice {
    uint32_t batch; /* 0: none yet */
    int64_t begin_ps, end_ps;
    char kernel[64]; /* its name */
    uint64_t n_elem;
    uint8_t dtype;
    uint32_t number; /* among those of its kernel and size, from 0 */
};

struct timeline {
    FILE *out;
    const struct lp_model *model; /* not for freeing: it may be gone then */
    uint32_t pe_count;
    struct timeline_options options;
    struct lp_op op; /* not yet written; kind 0: none */
    struct call_slice call;
    struct timeline_counters counters;
    struct timeline_links *links; /* NULL: not asked for */
    Pvoid_t flows;                /* JudyL: tiles and puts on their way to their arrows' numbers */
    Word_t flow;                  /* the latest number */
    int64_t last_ps;
    bool out_of_memory;
    bool *sip_named;       /* [SIP] */
    struct pe_tracks **pe; /* [PE]; NULL: nothing so far */
};

struct timeline *timeline_create(FILE *stream, const struct lp_model *model,
                                 const struct timeline_options *options, struct cw_error *error)
{
    struct timeline *const t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->pe_count = hw_pe_count(&model->hw);
        t->pe = calloc(hw_pe_count(&model->hw), sizeof(struct pe_tracks *));
        t->sip_named = calloc(model->hw.sip_count, sizeof *t->sip_named);
        t->links = options->links ? timeline_links_create(model) : NULL;
    }
    if (t == NULL || t->pe == NULL || t->sip_named == NULL ||
        (options->links && t->links == NULL)) {
        timeline_free(t);
        cw_error_memory(error, "the timeline");
        return NULL;
    }
    t->out = stream;
    t->model = model;
    t->options = *options;
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
    timeline_links_free(t->links);
    (void)JudyLFreeArray(&t->flows, PJE0); /* the macro compares signs, which clang refuses */
    free(t->pe);
    free(t->sip_named);
    free(t);
}

/* ---- events --------------------------------------------------------------------------------- */

/* The end of an event. The members that differ most come last: the events of PEs that do the same
 * at the same time differ by their last numbers alone, which compresses well. */
static void put_time(struct timeline *t, uint32_t tid, int64_t ps)
{
    fprintf(t->out, ",\"tid\":%" PRIu32 ",\"ts\":%" PRId64 ".%06" PRId64 "1", tid, ps / 1000000,
            ps % 1000000);
    t->last_ps = ps > t->last_ps ? ps : t->last_ps;
}
static void end_event(struct timeline *t, uint32_t pid, uint32_t tid, int64_t ps)
{
    put_time(t, tid, ps);
    fprintf(t->out, ",\"pid\":%" PRIu32 "}", pid);
}

static int64_t clip(const struct timeline *t, int64_t ps)
{
    const struct timeline_filter *const filter = &t->options.filter;
    return ps < filter->from_ps ? filter->from_ps : ps > filter->to_ps ? filter->to_ps : ps;
}

/* Whether a slice has a part in the time that is asked for. */
static bool in_time(const struct timeline *t, int64_t begin_ps, int64_t end_ps)
{
    const struct timeline_filter *const filter = &t->options.filter;
    return begin_ps < filter->to_ps &&
           (end_ps > filter->from_ps || (begin_ps == end_ps && begin_ps >= filter->from_ps));
}

/* NULL: the PE is not shown, or there is no memory. */
static struct pe_tracks *tracks_of(struct timeline *t, uint32_t pe)
{
    if (t->pe[pe] != NULL)
        return t->pe[pe];
    if (!timeline_filter_has(&t->options.filter, hw_place_of(&t->model->hw, pe)))
        return NULL;
    t->pe[pe] = calloc(1, sizeof **t->pe);
    if (t->pe[pe] == NULL)
        t->out_of_memory = true;
    else
        t->pe[pe]->pe = pe;
    return t->pe[pe];
}

static uint32_t tid_of(const struct timeline *t, uint32_t pe, uint32_t track)
{
    const struct hw_place place = hw_place_of(&t->model->hw, pe);
    return (place.cube * t->model->pes + place.pe) * TRACKS_MAX + track;
}

static void name_track(struct timeline *t, uint32_t pe, uint32_t track)
{
    const struct hw_place place = hw_place_of(&t->model->hw, pe);
    const uint32_t tid = tid_of(t, pe, track);
    if (!t->sip_named[place.sip])
        fprintf(t->out,
                ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu32
                ",\"args\":{\"name\":\"SIP %" PRIu32 "\"}}",
                place.sip, place.sip);
    t->sip_named[place.sip] = true;
    fprintf(t->out,
            ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"args\":{\"name\":\"cube %" PRIu32 " PE %" PRIu32 " %s\"}}"
            ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"args\":{\"sort_index\":%" PRIu32 "}}",
            place.sip, tid, place.cube, place.pe, track == 0 ? "kernels" : "operations", place.sip,
            tid, tid);
}

/* An event on a PE's track begins with its type, and ends with its place. */
static void begin_event(struct timeline *t, const char *type)
{
    fprintf(t->out, ",\n{\"ph\":\"%s\"", type);
}
static void end_on_track(struct timeline *t, uint32_t pe, uint32_t track, int64_t ps)
{
    end_event(t, hw_place_of(&t->model->hw, pe).sip, tid_of(t, pe, track), ps);
}

/* A slice without others inside: its duration stands in its own event. */
static void begin_leaf(struct timeline *t, int64_t begin_ps, int64_t end_ps)
{
    const int64_t ps = end_ps - begin_ps;
    begin_event(t, "X");
    fprintf(t->out, ",\"dur\":%" PRId64 ".%06" PRId64, ps / 1000000, ps % 1000000);
    t->last_ps = end_ps > t->last_ps ? end_ps : t->last_ps;
}

static void end_slice(struct timeline *t, uint32_t pe, uint32_t track, int64_t ps)
{
    begin_event(t, "E");
    end_on_track(t, pe, track, ps);
}

/* ---- operations ----------------------------------------------------------------------------- */

static void write_peer(struct timeline *t, const char *label, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&t->model->hw, pe);
    fprintf(t->out, ",\"%s\":\"%" PRIu32 ".%" PRIu32 ".%" PRIu32 "\"", label, place.sip, place.cube,
            place.pe);
}

/* The other end is told where no arrow leads to it. wait: at the end of the slice; NULL: none. */
static void write_args(struct timeline *t, const struct lp_op *op, bool has_arrow,
                       const struct wait_span *wait)
{
    fprintf(t->out, ",\"args\":{\"bytes\":%" PRIu32, op->bytes);
    if (dtype_is_known(op->dtype))
        fprintf(t->out, ",\"dtype\":\"%s\"", dtype_name((enum dtype)op->dtype));
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
        fprintf(t->out, ",\"rows\":%" PRIu32 ",\"inner\":%" PRIu32, op->seq, op->peer);
        break;
    default:
        break;
    }
    if (op->kind == LP_OP_SEND || op->kind == LP_OP_RECV || op->kind == LP_OP_PUT ||
        op->kind == LP_OP_LAND)
        fprintf(t->out, ",\"seq\":%" PRIu32, op->seq);
    if (wait != NULL)
        fprintf(t->out, ",\"waited_us\":%" PRId64 ".%06" PRId64,
                (wait->end_ps - wait->begin_ps) / 1000000,
                (wait->end_ps - wait->begin_ps) % 1000000);
    fputc('}', t->out);
}

/* The first track that is free at this time, from 1 on; it is taken until end_ps. 0: no memory. */
static uint32_t take_track(struct timeline *t, struct pe_tracks *tracks, int64_t begin_ps,
                           int64_t end_ps)
{
    uint32_t at = 0;
    while (at < tracks->tracks && tracks->free_ps[at] > begin_ps)
        at++;
    if (at == tracks->room) {
        const uint32_t room = at == 0 ? 4 : 2 * at;
        int64_t *const more =
            room < TRACKS_MAX ? realloc(tracks->free_ps, room * sizeof *more) : NULL;
        t->out_of_memory = t->out_of_memory || more == NULL;
        if (more == NULL)
            return 0;
        tracks->free_ps = more;
        tracks->room = room;
    }
    if (at == tracks->tracks) {
        tracks->tracks++;
        name_track(t, tracks->pe, at + 1);
    }
    tracks->free_ps[at] = end_ps;
    return at + 1;
}

/* The end of a receive, in which its kernel waits for the credit to be out; 0: none. */
static int64_t credit_wait_ps(const struct timeline *t, const struct lp_op *op)
{
    const struct lp_model *const m = t->model;
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
        lp_dir_name(t->model->named, pe, (enum hw_dir)(waited->dir % HW_DIRS_MAX));
    const bool any =
        waited->call == CALL_RECV_ANY || waited->call == CALL_RECV_ALL || waited->call == CALL_WAIT;
    switch ((enum lp_wait)waited->wait) {
    case LP_WAIT_DATA:
        fprintf(t->out, "wait for data%s%s", any ? "" : " from ", any ? "" : dir);
        break;
    case LP_WAIT_CREDIT:
        fprintf(t->out, "wait for room at %s", dir);
        break;
    case LP_WAIT_CHANNEL:
        fputs("wait for PE_DMA", t->out);
        break;
    case LP_WAIT_NOTIFY:
        fputs("wait for a notification", t->out);
        break;
    default:
        fputs("wait for streams", t->out);
    }
}

static void write_wait(struct timeline *t, uint32_t pe, uint32_t track,
                       const struct wait_span *wait)
{
    begin_leaf(t, wait->begin_ps, wait->end_ps);
    fputs(",\"name\":\"", t->out);
    write_cause(t, pe, &wait->waited);
    fputc('"', t->out);
    end_on_track(t, pe, track, wait->begin_ps);
}

/* Takes the waits inside the operation from those that are kept. They follow each other, within
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

/* ---- arrows --------------------------------------------------------------------------------- */

static void write_arrow(struct timeline *t, uint32_t pe, uint32_t track, int64_t ps, Word_t number,
                        bool begins)
{
    begin_event(t, begins ? "s" : "f");
    fprintf(t->out, "%s,\"cat\":\"tile\",\"name\":\"tile\"", begins ? "" : ",\"bp\":\"e\"");
    put_time(t, tid_of(t, pe, track), ps);
    fprintf(t->out, ",\"id\":%" PRIu64 ",\"pid\":%" PRIu32 "}", (uint64_t)number,
            hw_place_of(&t->model->hw, pe).sip);
}

static Word_t queue_key(uint32_t pe, uint32_t dir, uint32_t seq)
{
    return ((Word_t)pe * HW_DIRS_MAX + dir) << 32 | seq;
}
static Word_t put_key(uint32_t pe, uint32_t seq)
{
    return (Word_t)1 << 63 | (Word_t)pe << 32 | seq;
}

/* Of an operation in whose slice an arrow begins, or ends. */
static Word_t arrow_key(const struct lp_op *op)
{
    switch (op->kind) {
    case LP_OP_SEND:
        return queue_key(op->peer, op->peer_dir, op->seq);
    case LP_OP_RECV:
        return queue_key(op->pe, op->dir, op->seq);
    default:
        return put_key(op->kind == LP_OP_PUT ? op->pe : op->peer, op->seq);
    }
}

/* The number of the arrow that begins in the slice of a send or a put, whose other end is shown, or
 * that ends in the slice of a receive or a landing; 0: there is none. */
static Word_t arrow_of(struct timeline *t, const struct lp_op *op)
{
    PWord_t number;
    int was_there = 0;
    const Word_t key = arrow_key(op);
    if (op->kind == LP_OP_RECV || op->kind == LP_OP_LAND) {
        JLG(number, t->flows, key);
        const Word_t found = number == NULL ? 0 : *number;
        if (found > 0)
            JLD(was_there, t->flows, key);
        t->out_of_memory = t->out_of_memory || was_there == JERR;
        return found;
    }
    if ((op->kind != LP_OP_SEND && op->kind != LP_OP_PUT) ||
        !timeline_filter_has(&t->options.filter, hw_place_of(&t->model->hw, op->peer)))
        return 0;
    JLI(number, t->flows, key);
    t->out_of_memory = t->out_of_memory || number == PJERR;
    if (number == PJERR)
        return 0;
    return *number = ++t->flow;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* The kernel's slice begins, if its time has come. */
static void open_kernel(struct timeline *t, struct pe_tracks *tracks, int64_t now_ps)
{
    const struct timeline_filter *const filter = &t->options.filter;
    const bool has_come = tracks->start_ps >= filter->from_ps || now_ps > filter->from_ps;
    if (!tracks->runs || tracks->is_open || !has_come || tracks->start_ps >= filter->to_ps)
        return;
    if (!tracks->named)
        name_track(t, tracks->pe, 0);
    tracks->named = true;
    tracks->is_open = true;
    begin_event(t, "B");
    const struct lp_launch *const launch = lp_launch_of(t->model, tracks->launch);
    fprintf(t->out, ",\"name\":\"%s\",\"args\":{\"rank\":%" PRIu32 ",\"elements\":%" PRIu64 "}",
            launch->kernel->name, launch->args.rank, launch->args.n_elem);
    end_on_track(t, tracks->pe, 0, clip(t, tracks->start_ps));
}

static void write_phase(struct timeline *t, struct pe_tracks *tracks, int64_t end_ps)
{
    const struct tl_kernel *const kernel = lp_launch_of(t->model, tracks->launch)->kernel;
    if (tracks->phase >= kernel->phase_count || !in_time(t, tracks->phase_ps, end_ps))
        return;
    begin_leaf(t, clip(t, tracks->phase_ps), clip(t, end_ps));
    fprintf(t->out, ",\"name\":\"%s\"", kernel->phase[tracks->phase]);
    end_on_track(t, tracks->pe, 0, clip(t, tracks->phase_ps));
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void write_counters(struct timeline *t)
{
    static const char *const name[COUNTERS] = {"tiles on their way", "busy links between SIPs",
                                               "busy links between cubes",
                                               "busy links inside cubes"};
    const struct timeline_counters *const c = &t->counters;
    for (int k = 0; k < COUNTERS; k++)
        for (int64_t i = 0, last = 0; i < COUNTER_BINS; i++) {
            const int64_t ps = c->begin_ps + i * c->bin_ps, mean = c->bin[k][i] * 1000 / c->bin_ps;
            if (ps > t->call.end_ps + c->bin_ps)
                break;
            if ((mean == last && i > 0) || !in_time(t, ps, ps))
                continue;
            begin_event(t, "C");
            fprintf(t->out, ",\"name\":\"%s\",\"args\":{\"count\":%" PRId64 ".%03" PRId64 "}",
                    name[k], mean / 1000, mean % 1000);
            end_event(t, t->model->hw.sip_count, 0, ps);
            last = mean;
        }
}

/* The call that is over. */
static void write_call(struct timeline *t)
{
    const struct call_slice *const call = &t->call;
    if (call->batch == 0)
        return;
    timeline_counters_tile(&t->counters, call->end_ps, 0);
    write_counters(t);
    if (!in_time(t, call->begin_ps, call->end_ps))
        return;
    const uint32_t warmup = t->options.warmup;
    const bool known = dtype_is_known(call->dtype);
    const uint64_t bytes = known ? call->n_elem * dtype_bytes((enum dtype)call->dtype) : 0;
    begin_leaf(t, clip(t, call->begin_ps), clip(t, call->end_ps));
    fprintf(t->out, ",\"name\":\"%s %" PRIu64 " bytes, %s %" PRIu32 "\"", call->kernel, bytes,
            call->number < warmup ? "warm-up" : "iteration",
            1 + (call->number < warmup ? call->number : call->number - warmup));
    fprintf(t->out,
            ",\"args\":{\"bench\":\"%s\",\"bytes\":%" PRIu64 ",\"elements\":%" PRIu64
            ",\"dtype\":\"%s\",\"call\":%" PRIu32 ",\"timed\":%s}",
            t->options.collective, bytes, call->n_elem,
            known ? dtype_name((enum dtype)call->dtype) : "", call->number + 1,
            call->number < warmup ? "false" : "true");
    end_event(t, t->model->hw.sip_count, 0, clip(t, call->begin_ps));
}

static void note_call(struct timeline *t, const struct lp_kernel_record *record)
{
    const struct lp_launch *const launch = lp_launch_of(t->model, record->launch);
    struct call_slice *const call = &t->call;
    if (launch->batch == call->batch) {
        call->end_ps = record->t_ps > call->end_ps ? record->t_ps : call->end_ps;
        return;
    }
    write_call(t);
    const bool alike = call->batch > 0 && strcmp(call->kernel, launch->kernel->name) == 0 &&
                       call->n_elem == launch->args.n_elem;
    *call = (struct call_slice){.batch = launch->batch,
                                .begin_ps = record->t_ps,
                                .end_ps = record->t_ps,
                                .n_elem = launch->args.n_elem,
                                .dtype = launch->args.dtype,
                                .number = alike ? call->number + 1 : 0};
    snprintf(call->kernel, sizeof call->kernel, "%s", launch->kernel->name);
    timeline_counters_begin(&t->counters, record->t_ps);
}

/* ---- records -------------------------------------------------------------------------------- */

/* A time inside a slice of one event, for a reader that keeps whole ns of its begin and of its
 * duration, too. It is at most 2 ns before the slice's end. */
static int64_t inside_leaf_ps(int64_t begin_ps, int64_t end_ps)
{
    return (begin_ps / NS_PS + (end_ps - begin_ps) / NS_PS) * NS_PS - 1;
}

/* The slice of an operation from begin to end: one event, or a pair of them round its waits. A wait
 * for all of it stands in its name; so does a wait at the end of a receive, whose args say for how
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
    const Word_t arrow = arrow_of(t, op);
    const bool arrives = op->kind == LP_OP_RECV || op->kind == LP_OP_LAND;
    if (leaf)
        begin_leaf(t, begin_ps, end_ps);
    else
        begin_event(t, "B");
    fprintf(t->out, ",\"name\":\"%s%s%s%s", op_log_kind_name(op->kind), queue ? " " : "",
            queue ? lp_dir_name(t->model->named, op->pe, (enum hw_dir)op->dir) : "",
            whole ? ", " : "");
    if (whole)
        write_cause(t, op->pe, &wait[0].waited);
    fputc('"', t->out);
    write_args(t, op, arrow > 0, whole && wait[0].begin_ps > begin_ps ? &wait[0] : NULL);
    end_on_track(t, op->pe, track, begin_ps);
    if (arrow > 0 && !arrives)
        write_arrow(t, op->pe, track, begin_ps, arrow, true);
    for (uint32_t i = 0; i < waits; i++)
        write_wait(t, op->pe, track, &wait[i]);
    if (arrow > 0 && arrives)
        write_arrow(t, op->pe, track, leaf ? inside_leaf_ps(begin_ps, end_ps) : end_ps, arrow,
                    false);
    if (!leaf)
        end_slice(t, op->pe, track, end_ps);
}

static void write_op(struct timeline *t)
{
    struct lp_op *const op = &t->op;
    struct pe_tracks *const tracks = op->kind == 0 ? NULL : tracks_of(t, op->pe);
    const bool shown = tracks != NULL && in_time(t, op->t_start_ps, op->t_end_ps);
    const uint32_t track = shown ? take_track(t, tracks, op->t_start_ps, op->t_end_ps) : 0;
    if (track > 0) {
        const int64_t data_ps = clip(t, op->t_end_ps - credit_wait_ps(t, op));
        const int64_t end_ps = clip(t, op->t_end_ps);
        write_slice(t, tracks, track, clip(t, op->t_start_ps), data_ps);
        if (data_ps < end_ps) {
            begin_leaf(t, data_ps, end_ps);
            fputs(",\"name\":\"wait for credit\"", t->out);
            end_on_track(t, op->pe, track, data_ps);
        }
    }
    op->kind = 0;
}

void timeline_op(struct timeline *t, const struct lp_op *op)
{
    struct lp_op *const last = &t->op;
    if (op->kind == LP_OP_SEND || op->kind == LP_OP_PUT)
        timeline_counters_tile(&t->counters, op->t_end_ps, 1);
    if (op->kind == LP_OP_LAND)
        timeline_counters_tile(&t->counters, op->t_end_ps, -1);
    if (op->kind == LP_OP_STORE && last->kind == LP_OP_STORE && op->pe == last->pe &&
        op->t_start_ps == last->t_start_ps && op->t_end_ps == last->t_end_ps &&
        op->bytes <= UINT32_MAX - last->bytes) {
        last->bytes += op->bytes;
        return;
    }
    write_op(t);
    *last = *op;
}

void timeline_kernel(struct timeline *t, const struct lp_kernel_record *record)
{
    write_op(t);
    note_call(t, record);
    struct pe_tracks *const tracks = tracks_of(t, record->pe);
    if (tracks == NULL)
        return;
    if (record->mark == LP_MARK_START) {
        tracks->runs = true;
        tracks->is_open = false;
        tracks->start_ps = record->t_ps;
        tracks->launch = record->launch;
        tracks->waits = 0;
        open_kernel(t, tracks, record->t_ps);
    } else if (tracks->runs) {
        open_kernel(t, tracks, record->t_ps);
        write_phase(t, tracks, record->t_ps);
    }
    tracks->phase_ps = record->t_ps;
    tracks->phase = record->mark == LP_MARK_PHASE ? record->phase : UINT32_MAX;
    if (record->mark != LP_MARK_END)
        return;
    if (tracks->is_open)
        end_slice(t, record->pe, 0, clip(t, record->t_ps));
    tracks->runs = tracks->is_open = false;
}

void timeline_arrival(struct timeline *t, const struct lp_arrival *arrival)
{
    timeline_counters_tile(&t->counters, arrival->t_ps, -1);
}

void timeline_crossed(struct timeline *t, const struct lp_crossed *crossed)
{
    if (crossed->batch != t->call.batch)
        return;
    timeline_counters_crossed(&t->counters, t->model, crossed);
    if (t->links != NULL && !timeline_links_crossed(t->links, t->out, &t->options.filter, crossed))
        t->out_of_memory = true;
}

void timeline_waited(struct timeline *t, int64_t now_ps, const struct lp_waited *waited)
{
    struct pe_tracks *const tracks = tracks_of(t, waited->pe);
    if (tracks == NULL || waited->wait == LP_WAIT_DMA || waited->wait == LP_WAIT_START ||
        now_ps <= waited->since_ps)
        return;
    const struct wait_span span = {waited->since_ps, now_ps, *waited};
    if (waited->wait == LP_WAIT_JOIN || waited->wait == LP_WAIT_BARRIER) {
        const uint32_t track =
            in_time(t, span.begin_ps, now_ps) ? take_track(t, tracks, span.begin_ps, now_ps) : 0;
        if (track > 0)
            write_wait(t, waited->pe, track,
                       &(struct wait_span){clip(t, span.begin_ps), clip(t, now_ps), *waited});
        return;
    }
    if (tracks->waits == WAITS_MAX)
        memmove(tracks->wait, tracks->wait + 1, --tracks->waits * sizeof *tracks->wait);
    tracks->wait[tracks->waits++] = span;
}

/* ---- the end -------------------------------------------------------------------------------- */

static void write_instant(struct timeline *t, const char *text)
{
    fputs(",\"name\":\"", t->out);
    for (const char *at = text; *at != '\0'; at++)
        fprintf(t->out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    fputc('"', t->out);
}

void timeline_waiting(struct timeline *t, const struct lp_waiting *waiting)
{
    struct pe_tracks *const tracks = tracks_of(t, waiting->pe);
    write_op(t);
    if (tracks == NULL)
        return;
    open_kernel(t, tracks, INT64_MAX);
    begin_event(t, "i");
    fputs(",\"s\":\"t\"", t->out);
    write_instant(t, waiting->state);
    fprintf(t->out, ",\"args\":{\"kernel\":\"%s\"}", waiting->kernel);
    end_on_track(t, waiting->pe, 0, waiting->since_ps);
}

void timeline_interrupted(struct timeline *t, int64_t now_ps)
{
    write_op(t);
    begin_event(t, "i");
    fputs(",\"s\":\"g\"", t->out);
    write_instant(t, "interrupted");
    end_event(t, t->model->hw.sip_count, 0, now_ps);
}

int timeline_finish(struct timeline *t, struct cw_error *error)
{
    write_op(t);
    for (uint32_t i = 0; i < hw_pe_count(&t->model->hw); i++)
        if (t->pe[i] != NULL && t->pe[i]->is_open) { /* of a run that failed */
            write_phase(t, t->pe[i], t->last_ps);
            end_slice(t, i, 0, t->last_ps);
        }
    write_call(t);
    fputs("\n]}\n", t->out);
    return t->out_of_memory ? cw_error_memory(error, "the timeline") : CW_OK;
}
