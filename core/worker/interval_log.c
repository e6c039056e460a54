/*
 * interval_log.c: appends intervals, and joins them when the memory is full (interval_log.h).
 *
 * Records lie in the order in which their intervals ended; joining makes an exception to that.
 * Intervals of the first level lie in the order of their times.
 */
#include "core/worker/interval_log.h"

#include "core/invariant.h"
#include "core/os/clock.h"

/* A turn adds at most two intervals of the first level, and has few parts; others inside it are
 * left out if the room does not suffice. */
enum { ROOM_FOR_TURN = 64, ROOM_FOR_FIRST_LEVEL = 8 };
/* While operations on data take less than DATA_GRAINS grains, only one in DATA_UNTIMED + 1 is
 * timed, on average. */
enum { DATA_GRAINS = 16, DATA_UNTIMED = 15 };

struct interval_log *interval_log_create(struct memory *memory, size_t bytes, uint64_t read_cost)
{
    struct interval_log *const log = memory_take(memory, sizeof *log);
    if (log == NULL)
        return NULL;
    const size_t capacity = bytes / sizeof *log->records;
    log->memory = memory;
    log->capacity = capacity < INTERVALS_MIN ? INTERVALS_MIN : capacity;
    log->grain = (read_cost > 0 ? read_cost : 1) * GRAIN_READS;
    log->records = memory_take(memory, log->capacity * sizeof *log->records);
    if (log->records != NULL)
        return log;
    memory_give(memory, log, sizeof *log);
    return NULL;
}

void interval_log_free(struct interval_log *log)
{
    if (log == NULL)
        return;
    memory_give(log->memory, log->records, log->capacity * sizeof *log->records);
    memory_give(log->memory, log, sizeof *log);
}

/* ---- thinning out ---------------------------------------------------------------------------- */

static bool is_first_level(const struct interval_record *record)
{
    return record->kind < CW_INTERVAL_PART;
}

static bool has_its_turn(const struct interval_log *log, uint32_t number)
{
    return (number & ((UINT32_C(1) << log->halvings) - 1)) == 0;
}

static uint64_t ticks_of(const struct interval_record *record)
{
    return record->end - record->begin;
}

/* Joins an interval with the next one. The result is work or a wait, as most of its time; of
 * several waits it names the other worker of the longest. */
static void join(struct interval_record *into, const struct interval_record *next)
{
    const bool a_waits = into->kind != CW_INTERVAL_WORK, b_waits = next->kind != CW_INTERVAL_WORK;
    const uint64_t waited =
        (a_waits ? ticks_of(into) : into->waited) + (b_waits ? ticks_of(next) : next->waited);
    const struct interval_record *const longer =
        b_waits && (!a_waits || ticks_of(next) > ticks_of(into)) ? next : into;
    const uint8_t wait_kind = longer->kind;
    const uint16_t other = longer->other;
    into->end = next->end;
    into->value[0] += next->value[0];
    into->value[1] += next->value[1];
    const bool waits = (a_waits || b_waits) && waited > ticks_of(into) / 2;
    into->kind = waits ? wait_kind : CW_INTERVAL_WORK;
    into->other = waits ? other : 0;
    into->waited = waits ? 0 : waited;
}

static bool is_by_itself(const struct interval_record *record)
{
    return record->kind == CW_INTERVAL_TURN || record->kind == CW_INTERVAL_HOST;
}

/* Whether two neighbours are to be one. */
static bool may_join(const struct interval_log *log, const struct interval_record *last,
                     const struct interval_record *next)
{
    return last != NULL && !is_by_itself(last) && !is_by_itself(next) &&
           next->begin - last->end < log->grain &&
           (ticks_of(last) < log->grain || ticks_of(next) < log->grain);
}

/* Whether an interval stays that joins no other. */
static bool is_kept(const struct interval_log *log, const struct interval_record *record)
{
    if (is_first_level(record) && record->kind != CW_INTERVAL_HOST)
        return true;
    if (record->kind == CW_INTERVAL_PART)
        return has_its_turn(log, record->number);
    if (record->kind == CW_INTERVAL_ROUND && has_its_turn(log, record->number))
        return true;
    return ticks_of(record) >= log->grain;
}

static void halve(struct interval_log *log)
{
    struct interval_record *last = NULL;
    size_t kept = 0;
    log->grain *= 2;
    log->halvings += log->halvings < 31;
    for (size_t i = 0; i < log->count; i++) {
        struct interval_record record = log->records[i];
        if (!is_kept(log, &record))
            continue;
        if (!is_first_level(&record)) {
            log->records[kept++] = record;
            continue;
        }
        if (record.kind == CW_INTERVAL_TURN && !has_its_turn(log, record.number))
            record.kind = CW_INTERVAL_WORK;
        if (may_join(log, last, &record)) {
            join(last, &record);
        } else {
            last = &log->records[kept];
            log->records[kept++] = record;
        }
    }
    log->count = kept;
}

/* Makes room for a turn. It ends, since at last the grain is longer than the run. */
static void make_way(struct interval_log *log)
{
    if (log->count + ROOM_FOR_TURN <= log->capacity)
        return;
    do
        halve(log);
    while (log->count > log->capacity / 4 * 3 && log->halvings < 31);
}

/* ---- the first level ------------------------------------------------------------------------- */

/* The counter of a thread does not go back; the counter of another core may lag. */
static uint64_t moment(struct interval_log *log, uint64_t now)
{
    if (now > log->latest)
        log->latest = now;
    return log->latest;
}

/* The current interval ends at `end`. The next one begins there. */
static void end_interval(struct interval_log *log, enum cw_interval_kind kind, uint64_t end,
                         struct interval_counts counts)
{
    if (!log->in_turn) /* a turn made room for itself, and its records must stay where they are */
        make_way(log);
    CW_INVARIANT("I-LOG-1", log->open && end >= log->since,
                 "an interval of kind %u ends at %llu, the one before it at %llu", (unsigned)kind,
                 (unsigned long long)end, (unsigned long long)log->since);
    if (log->count == log->capacity)
        return;
    log->records[log->count++] = (struct interval_record){
        .begin = log->since,
        .end = end,
        .value = {counts.committed - log->counts.committed, counts.undone - log->counts.undone},
        .waited = log->waited < end - log->since ? log->waited : end - log->since,
        .number = kind == CW_INTERVAL_TURN ? log->turns - 1 : 0,
        .other = kind == CW_INTERVAL_WAIT ? log->other : 0,
        .kind = (uint8_t)kind,
    };
    log->since = end;
    log->waited = 0;
    log->counts = counts;
}

/* Work that went on until `end` becomes an interval, if there was any. */
static void end_work(struct interval_log *log, uint64_t end, struct interval_counts counts)
{
    if (end > log->since)
        end_interval(log, CW_INTERVAL_WORK, end, counts);
}

/* The current wait becomes an interval that ends at `end`. Events committed in a wait count for
 * the interval after it. */
static void end_wait(struct interval_log *log, uint64_t end)
{
    end_work(log, log->wait_begun, log->counts_at_wait);
    if (end > log->since)
        end_interval(log, CW_INTERVAL_WAIT, end, log->counts);
    log->wait_begun = end;
    log->counts_at_wait = log->counts;
}

/* The same if it is long, or the rest of a long one; otherwise it is a part of the work. */
static void end_wait_if_long(struct interval_log *log, uint64_t end)
{
    if (end - log->wait_begun >= log->grain || log->wait_begun == log->since)
        end_wait(log, end);
    else
        log->waited += end - log->wait_begun;
    log->waiting = false;
}

void interval_log_open(struct interval_log *log, uint64_t now, struct interval_counts counts)
{
    log->since = moment(log, now);
    log->counts = counts;
    log->waited = 0;
    log->waiting = log->in_turn = false;
    log->open = true;
}

void interval_log_close(struct interval_log *log, uint64_t now, struct interval_counts counts)
{
    if (!log->open)
        return;
    interval_log_turn_cut(log);
    now = moment(log, now);
    if (log->waiting)
        end_wait_if_long(log, now);
    if (now > log->since || counts.committed != log->counts.committed ||
        counts.undone != log->counts.undone)
        end_interval(log, CW_INTERVAL_WORK, now, counts);
    log->open = false;
}

void interval_log_wait(struct interval_log *log, uint64_t now, uint32_t other,
                       struct interval_counts counts)
{
    now = moment(log, now);
    if (!log->waiting) {
        log->waiting = true;
        log->wait_begun = now;
        log->counts_at_wait = counts;
    } else if (other != log->other && now - log->wait_begun >= log->grain) {
        end_wait(log, now);
    }
    log->other = (uint16_t)other;
}

void interval_log_parked(struct interval_log *log, uint64_t begin, uint64_t end,
                         struct interval_counts counts)
{
    begin = moment(log, begin);
    if (log->waiting)
        end_wait_if_long(log, begin);
    end_work(log, begin, counts);
    end_interval(log, CW_INTERVAL_PARKED, moment(log, end), counts);
}

void interval_log_host(struct interval_log *log, uint64_t begin, uint64_t end)
{
    interval_log_open(log, begin, log->counts);
    end_interval(log, CW_INTERVAL_HOST, moment(log, end), log->counts);
    log->open = false;
}

/* ---- sampled turns --------------------------------------------------------------------------- */

/* Of the parts of the current turn, cuts off everything before `begin`. */
static void cut_parts(struct interval_log *log, uint64_t begin)
{
    size_t kept = log->turn_first;
    for (size_t i = kept; i < log->count; i++) {
        struct interval_record record = log->records[i];
        if (record.kind == CW_INTERVAL_PART && record.begin < begin)
            record.begin = begin;
        if (record.kind != CW_INTERVAL_PART || record.end > record.begin)
            log->records[kept++] = record;
    }
    log->count = kept;
}

void interval_log_work(struct interval_log *log)
{
    end_wait_if_long(log, log->looked > log->wait_begun ? log->looked : log->wait_begun);
    if (!log->in_turn || log->turn_begun >= log->since)
        return;
    log->turn_begun = log->since;
    log->counts_at_turn = log->counts;
    cut_parts(log, log->since);
}

void interval_log_turn(struct interval_log *log, uint64_t now, struct interval_counts counts)
{
    make_way(log);
    log->in_turn = has_its_turn(log, log->turns++);
    log->turn_begun = moment(log, now);
    log->turn_first = log->count;
    log->counts_at_turn = counts;
}

void interval_log_turn_cut(struct interval_log *log)
{
    if (log->in_turn)
        cut_parts(log, UINT64_MAX);
    log->in_turn = false;
}

void interval_log_turn_end(struct interval_log *log, uint64_t now, struct interval_counts counts)
{
    if (log->waiting || !log->in_turn) {
        interval_log_turn_cut(log);
        return;
    }
    end_work(log, log->turn_begun, log->counts_at_turn);
    end_interval(log, CW_INTERVAL_TURN, moment(log, now), counts);
    log->in_turn = false;
}

/* ---- inside the first level, and beside it --------------------------------------------------- */

static void add_record(struct interval_log *log, struct interval_record record)
{
    if (log->open && log->count + ROOM_FOR_FIRST_LEVEL <= log->capacity)
        log->records[log->count++] = record;
}

void interval_log_part(struct interval_log *log, uint64_t begin, uint64_t end, unsigned activity)
{
    const uint32_t number = log->turns - 1;
    const uint8_t as = activity == CW_QUEUE || activity >= CW_ACTIVITIES ? (uint8_t)CW_HANDLING
                                                                         : (uint8_t)activity;
    if (!log->in_turn)
        return;
    begin = begin > log->turn_begun ? begin : log->turn_begun;
    end = moment(log, end);
    if (log->count > log->turn_first) {
        struct interval_record *const last = &log->records[log->count - 1];
        if (last->kind == CW_INTERVAL_PART && last->activity == as && last->end >= begin) {
            last->end = end;
            return;
        }
    }
    if (end > begin)
        add_record(log, (struct interval_record){.begin = begin,
                                                 .end = end,
                                                 .number = number,
                                                 .kind = CW_INTERVAL_PART,
                                                 .activity = as});
}

void interval_log_round(struct interval_log *log, uint64_t begin, uint64_t end, uint64_t window,
                        uint64_t memory_bytes)
{
    struct interval_record record = {.begin = begin > log->round_end ? begin : log->round_end,
                                     .end = moment(log, end),
                                     .value = {window, memory_bytes},
                                     .number = log->rounds++,
                                     .kind = CW_INTERVAL_ROUND};
    log->round_end = record.end;
    if (is_kept(log, &record) && record.begin <= record.end)
        add_record(log, record);
}

void interval_log_long(struct interval_log *log, enum cw_interval_kind kind, uint64_t begin,
                       uint64_t end, uint32_t other, uint64_t count)
{
    const uint64_t least = log->waiting ? log->wait_begun : log->since;
    const struct interval_record record = {.begin = begin > least ? begin : least,
                                           .end = moment(log, end),
                                           .value = {count},
                                           .other = (uint16_t)other,
                                           .kind = (uint8_t)kind};
    if (record.end >= record.begin + log->grain)
        add_record(log, record);
}

bool interval_log_wants_data(struct interval_log *log)
{
    if (log->in_turn || log->data_left == 0)
        return true;
    log->data_left--;
    return false;
}

void interval_log_data(struct interval_log *log, uint64_t begin, uint64_t end)
{
    const bool is_long = end > begin + log->grain * DATA_GRAINS;
    log->data_left =
        is_long ? 0 : (uint32_t)(sample_draw(log->data_samples++) % (2 * DATA_UNTIMED + 1));
    if (is_long || log->in_turn)
        interval_log_long(log, CW_INTERVAL_DATA, begin, end, 0, 1);
}

void interval_log_rollback(struct interval_log *log, uint64_t now, uint64_t undone)
{
    log->undo_begun = now;
    log->undone_before = undone;
}

void interval_log_rollback_end(struct interval_log *log, uint64_t now, uint64_t undone)
{
    if (!log->in_turn) /* there it is a part */
        interval_log_long(log, CW_INTERVAL_ROLLBACK, log->undo_begun, now, 0,
                          undone - log->undone_before);
}
