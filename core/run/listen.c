/*
 * listen.c: keeps the listener's events in a list on each worker; at the end of a drain the threads
 * sort and merge the lists, and one thread handles the result (listen.h).
 */
#include "core/run/listen.h"

#include "core/worker/commit.h"
#include "core/os/clock.h"
#include "core/os/fault_guard.h"
#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/speculation/timewarp.h"

enum {
    ENTRIES_MIN = 256,
    SHARED_EVENTS_MIN = 4096, /* fewer are not worth waking the threads */
    STRETCHES_MAX = 64,
    SAMPLES = 16,     /* of each worker's events, to cut the order into stretches */
    HANDLE_AHEAD = 16 /* events are fetched this many places before their turn */
};

/* The events of one worker in a stretch that are not merged yet: [at .. end). */
struct lane {
    const struct entry *at, *end;
};

/* The end of a drain. The host's thread writes the arrays, except for the parts that each worker
 * owns in steps 1 and 2. */
struct listening {
    struct cw_sim *sim;
    uint32_t workers, stretches;
    struct entry *merged;  /* [capacity] result of step 2; in step 1 its parts are scratch space */
    size_t *first;         /* [workers] the part of each */
    struct entry *samples; /* [workers * SAMPLES] sorted; every so many samples a stretch begins */
    size_t sample_count;
    struct lane *lanes; /* [stretches * workers] */
    size_t capacity, count, handled;
};

/* ---- lists ----------------------------------------------------------------------------------- */

/* Frees the cancelled events. */
static void drop_cancelled_sends(struct worker *worker)
{
    struct listened *const listened = &worker->listened;
    size_t kept = 0;
    for (size_t i = 0; i < listened->count; i++) {
        const struct entry entry = listened->entries[i];
        if (entry.event->reserved & EVENT_CANCELLED)
            event_pool_put(&worker->pool, entry.event);
        else
            listened->entries[kept++] = entry;
    }
    listened->count = kept;
}

bool listen_make_room(struct worker *worker)
{
    struct listened *const listened = &worker->listened;
    drop_cancelled_sends(worker);
    return listened->count < listened->capacity / 2 ||
           memory_grow(&worker->sim->memory, &listened->entries, &listened->capacity,
                       listened->count, 2 * listened->count + 1, sizeof *listened->entries,
                       ENTRIES_MIN);
}

struct cw_event *listen_send(struct worker *worker, const struct event_header *header,
                             const void *payload)
{
    if (!listen_reserve(worker))
        worker_out_of_memory(worker);
    struct cw_event *const event =
        worker_need_in_handler(worker, event_pool_get(&worker->pool, header->payload_bytes));
    event_write(event, header);
    payload_copy(event->payload, payload, header->payload_bytes);
    listen_add(worker, entry_of(header, event));
    return event;
}

void listen_free(struct worker *worker)
{
    struct listened *const listened = &worker->listened;
    memory_give(&worker->sim->memory, listened->entries,
                listened->capacity * sizeof *listened->entries);
    *listened = (struct listened){0};
}

/* ---- 1. sorting ------------------------------------------------------------------------------ */

/* Merges [from .. middle) and [middle .. end), each in order, into one order. */
static void merge_halves(struct entry *entries, struct entry *scratch, size_t from, size_t middle,
                         size_t end)
{
    size_t a = from, b = middle, to = 0;
    if (!entry_before(&entries[middle], &entries[middle - 1]))
        return;
    while (a < middle && b < end)
        scratch[to++] = entry_before(&entries[b], &entries[a]) ? entries[b++] : entries[a++];
    memmove(entries + from + to, entries + a, (middle - a) * sizeof *entries);
    memcpy(entries + from, scratch, to * sizeof *entries);
}

/* A worker's events are nearly sorted, so this finds sorted runs first. */
static void sort_entries(struct entry *entries, struct entry *scratch, size_t from, size_t end)
{
    size_t run = from + 1;
    while (run < end && !entry_before(&entries[run], &entries[run - 1]))
        run++;
    if (run >= end)
        return;
    const size_t half = from + (end - from) / 2, middle = run > half ? run : half;
    sort_entries(entries, scratch, from, middle);
    sort_entries(entries, scratch, middle, end);
    merge_halves(entries, scratch, from, middle, end);
}

/* The place of the first entry that does not come before `bound`. */
static size_t place_of_bound(const struct entry *entries, size_t count, const struct entry *bound)
{
    size_t first = 0;
    while (count > 0) {
        const size_t half = count / 2;
        if (entry_before(&entries[first + half], bound)) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

static void sort_own(void *arg, uint32_t index)
{
    const struct listening *const listening = arg;
    struct worker *const worker = &listening->sim->workers[index];
    drop_cancelled_sends(worker);
    sort_entries(worker->listened.entries, listening->merged + listening->first[index], 0,
                 worker->listened.count);
}

/* ---- 2. merging ------------------------------------------------------------------------------ */

/* Takes samples at equal distances, and sorts them. So stretches have about equally many events
 * where all workers' events are spread alike over time. */
static void take_samples(struct listening *listening)
{
    struct entry *const samples = listening->samples;
    for (uint32_t i = 0; i < listening->workers && listening->stretches > 1; i++) {
        const struct listened *const listened = &listening->sim->workers[i].listened;
        for (size_t k = 0; k < SAMPLES && listened->count > 0; k++)
            samples[listening->sample_count++] = listened->entries[listened->count * k / SAMPLES];
    }
    sort_entries(samples, listening->merged, 0, listening->sample_count);
}

/* Where a stretch begins; NULL: at the first event of all, or after the last. */
static const struct entry *begin_of(const struct listening *listening, uint32_t stretch)
{
    if (stretch == 0 || stretch == listening->stretches)
        return NULL;
    return &listening->samples[listening->sample_count * stretch / listening->stretches];
}

static bool lane_before(const struct lane *a, const struct lane *b)
{
    return entry_before(a->at, b->at);
}

/* Restores the heap order below `place`; the lane with the least event is first. */
static void sink_lane(struct lane *heap, size_t count, size_t place)
{
    const struct lane lane = heap[place];
    for (size_t child; (child = 2 * place + 1) < count; place = child) {
        child += child + 1 < count && lane_before(&heap[child + 1], &heap[child]);
        if (!lane_before(&heap[child], &lane))
            break;
        heap[place] = heap[child];
    }
    heap[place] = lane;
}

/* Merges the stretch of this index from all workers' lists to its place, after all earlier events.
 */
static void merge_stretch(void *arg, uint32_t index)
{
    const struct listening *const listening = arg;
    if (index >= listening->stretches)
        return;
    struct lane *const heap = &listening->lanes[(size_t)index * listening->workers];
    const struct entry *const begin = begin_of(listening, index);
    const struct entry *const end = begin_of(listening, index + 1);
    size_t to = 0, count = 0;
    for (uint32_t i = 0; i < listening->workers; i++) {
        const struct listened *const own = &listening->sim->workers[i].listened;
        const size_t from = begin == NULL ? 0 : place_of_bound(own->entries, own->count, begin);
        const size_t until =
            end == NULL ? own->count : place_of_bound(own->entries, own->count, end);
        to += from;
        if (from < until)
            heap[count++] = (struct lane){own->entries + from, own->entries + until};
    }
    for (size_t i = count / 2; i-- > 0;)
        sink_lane(heap, count, i);
    while (count > 0) {
        listening->merged[to++] = *heap[0].at++;
        if (heap[0].at == heap[0].end)
            heap[0] = heap[--count];
        sink_lane(heap, count, 0);
    }
}

/* ---- 3. handling ----------------------------------------------------------------------------- */

/* Calls the handler of an event. Returns only if it did not fail. */
static void handle_listened(struct worker *worker, struct lp_block *block,
                            const struct cw_event *event)
{
    worker_set_context(worker, block, event, 0);
    if (worker->change_check.before != NULL)
        change_check_begin(&worker->change_check, block->state, block->state_bytes);
    worker->sim->model.handle(&worker->ctx, block->state, event);
    if (worker->change_check.before != NULL)
        worker_check_changes(worker, block);
    worker->ctx.event = NULL;
}

/* Handles merged events until the end of the drain, or until `failed`. */
static void handle_merged(struct listening *listening, const struct cw_event *failed)
{
    struct cw_sim *const sim = listening->sim;
    struct worker *const worker = &sim->workers[0];
    struct lp_block *const block = sim->lp_states.blocks[worker->listener];
    worker->ctx.keep = worker->change_check.before != NULL;
    worker->ctx.undo = NULL;
    for (size_t i = 0; i < listening->count; i++) {
        const struct entry *const entry = &listening->merged[i];
        const struct cw_event *const ahead =
            listening->merged[i + HANDLE_AHEAD < listening->count ? i + HANDLE_AHEAD : i].event;
        __builtin_prefetch(ahead);
        __builtin_prefetch((const uint8_t *)ahead + 64);
        if (entry->time_ps >= sim->end_ps ||
            (failed != NULL && !cw_event_before(entry->event, failed)))
            break;
        CW_INVARIANT("I-LISTEN-1",
                     entry->event->reserved == 0 &&
                         (i == 0 || !entry_before(entry, &listening->merged[i - 1])),
                     "an event of LP %u at %lld ps is handled with the notes %u",
                     (unsigned)worker->listener, (long long)entry->time_ps,
                     (unsigned)entry->event->reserved);
        handle_listened(worker, block, entry->event);
        commit_hash(worker, block, entry->event);
        commit_count(worker, 1, entry->time_ps);
        worker->processed++;
        worker->timewarp->safe++;
        listening->handled = i + 1;
    }
}

/* The same, on the draining thread. A failing handler jumps here. */
static int handle_watched(struct listening *listening, const struct cw_event *failed,
                          struct cw_error *error)
{
    struct worker *const worker = &listening->sim->workers[0];
    if (setjmp(worker->failed) != 0) {
        fault_guard_leave(); /* of a function that was jumped out of */
        worker_leave_engine(worker);
        worker_watch(NULL);
        *error = worker->failure;
        if (worker->ctx.event != NULL)
            simulation_failed_at(listening->sim, worker->ctx.event);
        worker->ctx.event = NULL;
        return error->exit_code;
    }
    worker_watch(worker);
    handle_merged(listening, failed);
    worker_watch(NULL);
    return CW_OK;
}

/* ---- 4. freeing ------------------------------------------------------------------------------ */

static void free_handled(void *arg, uint32_t index)
{
    const struct listening *const listening = arg;
    struct worker *const worker = &listening->sim->workers[index];
    struct listened *const own = &worker->listened;
    const size_t handled =
        listening->handled == listening->count
            ? own->count
            : place_of_bound(own->entries, own->count, &listening->merged[listening->handled]);
    for (size_t i = 0; i < handled; i++)
        event_pool_put(&worker->pool, own->entries[i].event);
    own->count -= handled;
    if (own->count > 0)
        memmove(own->entries, own->entries + handled, own->count * sizeof *own->entries);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void all_on_this_thread(struct cw_sim *sim, cw_worker_fn fn, void *arg)
{
    for (uint32_t i = 0; i < sim->worker_count; i++)
        fn(arg, i);
}

/* False: out of memory. */
static bool begin_listening(struct listening *listening)
{
    struct memory *const memory = &listening->sim->memory;
    const size_t samples = (size_t)listening->workers * SAMPLES;
    /* `merged` is also the scratch space for sorting the samples */
    listening->capacity = listening->capacity > samples ? listening->capacity : samples;
    listening->merged = memory_take(memory, listening->capacity * sizeof *listening->merged);
    listening->first = memory_take(memory, listening->workers * sizeof *listening->first);
    listening->samples = memory_take(memory, samples * sizeof *listening->samples);
    listening->lanes = memory_take(memory, (size_t)listening->stretches * listening->workers *
                                               sizeof *listening->lanes);
    if (listening->merged == NULL || listening->first == NULL || listening->samples == NULL ||
        listening->lanes == NULL)
        return false;
    for (uint32_t i = 1; i < listening->workers; i++)
        listening->first[i] =
            listening->first[i - 1] + listening->sim->workers[i - 1].listened.count;
    return true;
}

static void end_listening(struct listening *listening)
{
    struct memory *const memory = &listening->sim->memory;
    memory_give(memory, listening->merged, listening->capacity * sizeof *listening->merged);
    memory_give(memory, listening->first, listening->workers * sizeof *listening->first);
    memory_give(memory, listening->samples,
                (size_t)listening->workers * SAMPLES * sizeof *listening->samples);
    memory_give(memory, listening->lanes,
                (size_t)listening->stretches * listening->workers * sizeof *listening->lanes);
}

static uint64_t count_listened(const struct cw_sim *sim)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        count += sim->workers[i].listened.count;
    return count;
}

int listen_handle(struct cw_sim *sim, listen_each_fn each, const struct cw_event *failed,
                  struct cw_error *error)
{
    const uint32_t workers = sim->worker_count;
    const uint64_t events = count_listened(sim);
    const bool shared = events >= SHARED_EVENTS_MIN && workers > 1;
    struct listening listening = {.sim = sim,
                                  .workers = workers,
                                  .stretches = !shared                   ? 1
                                               : workers < STRETCHES_MAX ? workers
                                                                         : STRETCHES_MAX,
                                  .capacity = events};
    if (events == 0)
        return CW_OK;
    if (!shared)
        each = all_on_this_thread;
    const double begin_s = clock_s();
    int code = CW_OK;
    if (!begin_listening(&listening))
        code = memory_error(&sim->memory, error);
    if (code == CW_OK) {
        each(sim, sort_own, &listening);
        take_samples(&listening);
        listening.count = count_listened(sim); /* without the cancelled events */
        each(sim, merge_stretch, &listening);
        const double merged_s = clock_s();
        code = handle_watched(&listening, failed, error);
        const double handled_s = clock_s();
        each(sim, free_handled, &listening);
        sim->listen.events += listening.handled;
        sim->listen.serial_s += handled_s - merged_s;
        sim->listen.shared_s += clock_s() - handled_s + merged_s - begin_s;
    }
    end_listening(&listening);
    return code;
}
