/*
 * engine_trace.c: writes --engine-trace (engine_trace.h). All intervals are copied, each
 * worker's are sorted so that an interval comes before those inside it, and written in that
 * order.
 */
#include "bench/output/engine_trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { BYTES_ALL = 16 << 20, BYTES_MAX = 1 << 20, BYTES_MIN = 64 << 10 };
enum { BINS_MAX = 1000, BIN_MIN_NS = 100000, INTERVALS_AT_FIRST = 1024 };

size_t engine_trace_bytes(uint32_t workers)
{
    const size_t bytes = BYTES_ALL / workers;
    return bytes < BYTES_MIN ? BYTES_MIN : bytes > BYTES_MAX ? BYTES_MAX : bytes;
}

/* ---- intervals ------------------------------------------------------------------------------- */

struct slice {
    int64_t begin_ns, end_ns;
    uint32_t worker;
    struct cw_interval interval;
};

struct slices {
    struct slice *items; /* [capacity] */
    size_t count, capacity;
    int64_t end_ns; /* the latest */
    bool out_of_memory;
};

static void add_slice(void *arg, uint32_t worker, const struct cw_interval *interval)
{
    struct slices *const slices = arg;
    if (slices->count == slices->capacity) {
        const size_t capacity = slices->capacity == 0 ? INTERVALS_AT_FIRST : slices->capacity * 2;
        struct slice *const items = realloc(slices->items, capacity * sizeof *items);
        if (items == NULL) {
            slices->out_of_memory = true;
            return;
        }
        slices->items = items;
        slices->capacity = capacity;
    }
    struct slice *const slice = &slices->items[slices->count++];
    *slice = (struct slice){.begin_ns = llround(interval->begin_s * 1e9),
                            .end_ns = llround(interval->end_s * 1e9),
                            .worker = worker,
                            .interval = *interval};
    slices->end_ns = slice->end_ns > slices->end_ns ? slice->end_ns : slices->end_ns;
}

/* By worker, then begin; an interval before those inside it, which are of later kinds. */
static int compare_slices(const void *left, const void *right)
{
    const struct slice *const a = left, *const b = right;
    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return (int)a->interval.kind - (int)b->interval.kind;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void write_us(FILE *out, const char *key, int64_t ns)
{
    fprintf(out, ",\"%s\":%" PRId64 ".%03" PRId64, key, ns / 1000, ns % 1000);
}

static void write_track(FILE *out, uint32_t track, uint32_t worker, const char *of)
{
    fprintf(out,
            ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":%" PRIu32
            ",\"args\":{\"name\":\"worker %" PRIu32 "%s\"}}",
            track, worker, of);
    fprintf(out,
            ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":0,\"tid\":%" PRIu32
            ",\"args\":{\"sort_index\":%" PRIu32 "}}",
            track, track);
}

static void write_name(FILE *out, const struct slice *slice)
{
    const struct cw_interval *const interval = &slice->interval;
    const bool of_batch = interval->kind == CW_INTERVAL_PART && interval->activity == CW_HANDLING;
    if (of_batch)
        fputs("batch", out);
    else if (interval->kind == CW_INTERVAL_PART)
        fputs(cw_activity_name[interval->activity], out);
    else if (interval->kind == CW_INTERVAL_WAIT && interval->other != slice->worker)
        fprintf(out, "wait for worker %" PRIu32, interval->other);
    else
        fputs(cw_interval_name[interval->kind], out);
}

/* One number of an event's "args". */
static void write_number(FILE *out, bool *any, const char *key, double value)
{
    fprintf(out, "%s\"%s\":%.17g", *any ? "," : "", key, value);
    *any = true;
}

static void write_interval_args(FILE *out, const struct cw_interval *interval)
{
    bool any = false;
    fputs(",\"args\":{", out);
    if (interval->kind == CW_INTERVAL_HOST) {
        /* its name says all */
    } else if (interval->kind < CW_INTERVAL_PART) {
        write_number(out, &any, "events committed", (double)interval->events_committed);
        if (interval->events_rolled_back > 0)
            write_number(out, &any, "events rolled back", (double)interval->events_rolled_back);
        if (interval->waited_s > 0)
            write_number(out, &any, "short waits (us)", interval->waited_s * 1e6);
    } else if (interval->kind == CW_INTERVAL_ROUND) {
        write_number(out, &any, "window", (double)interval->window_events);
    } else if (interval->kind != CW_INTERVAL_PART) {
        write_number(out, &any, "count", (double)interval->count);
        if (interval->kind == CW_INTERVAL_MOVE)
            write_number(out, &any, "other worker", interval->other);
    }
    fputs("}}", out);
}

static void write_slice(FILE *out, const struct slice *slice)
{
    const bool round = slice->interval.kind == CW_INTERVAL_ROUND;
    fprintf(out, ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":%" PRIu32 ",\"name\":\"",
            2 * slice->worker + round);
    write_name(out, slice);
    fputc('"', out);
    write_us(out, "ts", slice->begin_ns);
    write_us(out, "dur", slice->end_ns - slice->begin_ns);
    write_interval_args(out, &slice->interval);
}

/* ---- counters -------------------------------------------------------------------------------- */

/* `worker` UINT32_MAX: of all. */
static void write_counter(FILE *out, const char *name, uint32_t worker, int64_t ns, double value)
{
    fprintf(out, ",\n{\"ph\":\"C\",\"pid\":0,\"name\":\"%s", name);
    if (worker != UINT32_MAX)
        fprintf(out, ", worker %" PRIu32, worker);
    fputc('"', out);
    write_us(out, "ts", ns);
    fprintf(out, ",\"args\":{\"value\":%.6g}}", value);
}

/* Events per second in steps of time. An interval's events are spread evenly over it. */
struct rates {
    double of_one[BINS_MAX + 1], of_all[BINS_MAX + 1]; /* events in each step */
    int64_t step_ns;
};

static void spread_events(struct rates *rates, const struct slice *slice)
{
    const double events = (double)slice->interval.events_committed;
    const int64_t length_ns = slice->end_ns - slice->begin_ns;
    for (int64_t bin = slice->begin_ns / rates->step_ns; bin * rates->step_ns <= slice->end_ns;
         bin++) {
        const int64_t begin_ns = bin * rates->step_ns, end_ns = begin_ns + rates->step_ns;
        const int64_t from_ns = begin_ns > slice->begin_ns ? begin_ns : slice->begin_ns;
        const int64_t to_ns = end_ns < slice->end_ns ? end_ns : slice->end_ns;
        const double share = length_ns > 0 ? (double)(to_ns - from_ns) / (double)length_ns : 1;
        rates->of_one[bin] += events * share;
        rates->of_all[bin] += events * share;
    }
}

/* Writes a rate where it changes, and clears it. */
static void write_rate(FILE *out, double *events, uint32_t worker, int64_t step_ns)
{
    double last = -1;
    for (int64_t bin = 0; bin <= BINS_MAX; bin++) {
        const double rate = events[bin] / ((double)step_ns * 1e-9);
        if (rate != last)
            write_counter(out, "events/s", worker, bin * step_ns, rate);
        last = rate;
        events[bin] = 0;
    }
}

static void write_round_counters(FILE *out, const struct slice *slice)
{
    const struct cw_interval *const interval = &slice->interval;
    write_counter(out, "window", slice->worker, slice->end_ns, (double)interval->window_events);
    if (interval->memory_bytes > 0)
        write_counter(out, "memory (bytes)", UINT32_MAX, slice->end_ns,
                      (double)interval->memory_bytes);
}

static void write_counters(FILE *out, const struct slices *slices, struct rates *rates)
{
    const int64_t step_ns = slices->end_ns / BINS_MAX + 1;
    rates->step_ns = step_ns < BIN_MIN_NS ? BIN_MIN_NS : step_ns;
    for (size_t i = 0; i < slices->count; i++) {
        const struct slice *const slice = &slices->items[i];
        if (slice->interval.kind == CW_INTERVAL_ROUND)
            write_round_counters(out, slice);
        else if (slice->interval.kind < CW_INTERVAL_PART)
            spread_events(rates, slice);
        if (i + 1 == slices->count || slices->items[i + 1].worker != slice->worker)
            write_rate(out, rates->of_one, slice->worker, rates->step_ns);
    }
    write_rate(out, rates->of_all, UINT32_MAX, rates->step_ns);
}

static void write_all(FILE *out, const struct cw_sim *sim, const struct slices *slices,
                      struct rates *rates)
{
    fprintf(out,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"%s\"},\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"engine\"}}",
            CW_VERSION);
    for (uint32_t i = 0; i < cw_sim_worker_count(sim); i++) {
        write_track(out, 2 * i, i, "");
        write_track(out, 2 * i + 1, i, ", GVT");
    }
    for (size_t i = 0; i < slices->count; i++)
        write_slice(out, &slices->items[i]);
    write_counters(out, slices, rates);
    fputs("\n]}\n", out);
}

int engine_trace_write(struct atomic_file *file, const struct cw_sim *sim, struct cw_error *error)
{
    struct slices slices = {0};
    struct rates *const rates = calloc(1, sizeof *rates);
    cw_sim_intervals(sim, add_slice, &slices);
    int code = CW_OK;
    if (rates == NULL || slices.out_of_memory) {
        code = cw_error_memory(error, "the engine's trace");
    } else {
        if (slices.count > 0)
            qsort(slices.items, slices.count, sizeof *slices.items, compare_slices);
        write_all(file->stream, sim, &slices, rates);
        code = atomic_file_commit(file, error);
    }
    free(slices.items);
    free(rates);
    return code;
}
