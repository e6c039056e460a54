/*
 * test_core_recorder.c: the recorder (core/exchange/recorder.h): the sink is called beside the
 * workers, in the same order as by a sequential run; workers wait for it when memory is tight,
 * instead of failing; with one thread there is no recorder; of equal events the one that was
 * handled first comes first.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "core/exchange/commit_records.h"
#include "core/cw.h"
#include "core/exchange/recorder.h"

enum { LPS = 8, TOKENS = 1600, EMITS = 8, RECORD_BYTES = 64, STALL_AT = 500 };

static size_t state_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct cw_rng);
}

static void init(const void *data, uint32_t lp, void *state)
{
    (void)data;
    *(struct cw_rng *)state = cw_rng_seeded(1, lp);
}

/* Passes a token to a random LP, and emits records. */
static void handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    struct cw_rng *const rng = CW_MUT(ctx, (const struct cw_rng *)state);
    uint64_t record[RECORD_BYTES / 8] = {0};
    for (uint64_t i = 0; i < EMITS; i++) {
        record[0] = cw_rng_u64(rng);
        cw_emit(ctx, (uint16_t)i, record, sizeof record);
    }
    if (event->number < TOKENS)
        cw_send(ctx, cw_rng_below(rng, LPS), 1000 + cw_rng_below(rng, 500), 0, event->entity,
                event->number + 1, NULL, 0);
}

/* The records that the sink has seen. The simulation's calls order its accesses. */
struct heard {
    uint64_t records, digest;
    uint64_t elsewhere;   /* calls on another thread than the host's */
    uint64_t pause_every; /* 0: never */
    uint64_t stall_at;    /* 0: never */
    pthread_t host;
};

static void hear(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                 uint16_t bytes)
{
    struct heard *const heard = arg;
    uint64_t word;
    assert_int_equal(bytes, RECORD_BYTES);
    memcpy(&word, record, sizeof word);
    const uint64_t parts[] = {(uint64_t)event->time_ps, event->lp, event->number, kind, word};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        heard->digest = (heard->digest ^ parts[i]) * UINT64_C(0x9E3779B97F4A7C15) + i;
    heard->records++;
    heard->elsewhere += !pthread_equal(heard->host, pthread_self());
    if (heard->pause_every > 0 && heard->records % heard->pause_every == 0)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    if (heard->records == heard->stall_at)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
}

static struct heard run(enum cw_sync sync, uint32_t workers, uint32_t threads, uint64_t memory,
                        uint64_t pause_every)
{
    const struct cw_model model = {.name = "tokens",
                                   .lp_count = LPS,
                                   .state_bytes = state_bytes,
                                   .init = init,
                                   .handle = handle};
    int64_t delays[LPS * LPS];
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++)
        delays[i] = 1000;
    struct heard heard = {
        .host = pthread_self(), .pause_every = pause_every, .stall_at = memory > 0 ? STALL_AT : 0};
    const struct cw_config config = {.sync = sync,
                                     .worker_count = workers,
                                     .tuning.thread_count = threads,
                                     .least_delay_ps = delays,
                                     .end_ps = CW_TIME_MAX,
                                     .record = hear,
                                     .record_arg = &heard,
                                     .memory_bytes_max = memory};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    for (int drain = 0; drain < 2; drain++) {
        for (uint32_t i = 0; i < 16; i++)
            assert_int_equal(cw_inject(sim, i % LPS, cw_sim_now(sim) + i, 0, i, 0, NULL, 0, &error),
                             CW_OK);
        if (cw_drain(sim, &error) != CW_OK)
            fail_msg("%s on %u workers: %s", cw_sync_name[sync], (unsigned)workers, error.text);
    }
    cw_sim_free(sim);
    assert_int_equal(heard.records, 2 * 16 * (TOKENS + 1) * EMITS);
    return heard;
}

static void the_sink_hears_the_order_of_a_sequential_run_in_every_mode(void **state)
{
    (void)state;
    const uint64_t expected = run(CW_SEQUENTIAL, 1, 1, 0, 0).digest;
    for (enum cw_sync sync = CW_CONSERVATIVE; sync < CW_SYNCS; sync++)
        for (uint32_t workers = 1; workers <= LPS; workers += 1 + workers / 3)
            assert_true(run(sync, workers, 0, 0, 0).digest == expected);
}

/* The same with a slow sink, in a mode that begins a round for its logs, not only at the end. */
static void most_records_are_delivered_beside_the_workers(void **state)
{
    (void)state;
    const struct heard heard = run(CW_OPTIMISTIC, 3, 3, 0, 2000);
    assert_true(heard.elsewhere > 0);
}

static void with_one_thread_all_calls_are_on_the_hosts(void **state)
{
    (void)state;
    assert_int_equal(run(CW_SEQUENTIAL, 1, 1, 0, 0).elsewhere, 0);
    assert_int_equal(run(CW_ADAPTIVE, 1, 1, 0, 0).elsewhere, 0);
    assert_int_equal(run(CW_OPTIMISTIC, 4, 1, 0, 0).elsewhere, 0);
}

/* The records of a drain take some 20 MiB. The sink stalls for long enough that the workers would
 * emit more than there is room for. I-REC-3: they wait. */
static void workers_wait_for_a_slow_sink_rather_than_run_out_of_memory(void **state)
{
    (void)state;
    const uint64_t expected = run(CW_SEQUENTIAL, 1, 1, 0, 0).digest;
    for (uint32_t workers = 2; workers <= 3; workers++) {
        const struct heard heard = run(CW_ADAPTIVE, workers, workers, 12 << 20, 2000);
        assert_true(heard.digest == expected);
    }
}

/* ---- equal events ---------------------------------------------------------------------------- */

enum { WORDS_MAX = 8 };

/* The first words of the records, as they are delivered. */
struct words {
    uint64_t word[WORDS_MAX];
    size_t count;
};

static void note_word(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                      uint16_t bytes)
{
    struct words *const words = arg;
    (void)event, (void)kind;
    assert_int_equal(bytes, sizeof *words->word);
    assert_in_range(words->count, 0, WORDS_MAX - 1);
    memcpy(&words->word[words->count++], record, bytes);
}

static void add_word(struct record_outbox *outbox, uint64_t word)
{
    struct cw_event event = {.time_ps = 1000};
    struct commit_records records;
    commit_records_init(&records, outbox->memory);
    assert_true(commit_records_add(&records, 0, &word, sizeof word));
    uint8_t *const at = record_outbox_add(outbox, &event, records.used);
    assert_non_null(at);
    memcpy(at, records.bytes, records.used);
    commit_records_free(&records);
}

/* I-REC-4. An LP handles four events that are equal in the total order, and changes its worker
 * before the third one, and again before the fourth. */
static void equal_events_come_in_the_order_in_which_they_were_handled(void **state)
{
    enum { WORKERS = 2 };
    (void)state;
    for (uint32_t first = 0; first < WORKERS; first++) {
        struct memory memory = {.bytes_max = 1 << 24};
        struct record_outbox outboxes[WORKERS];
        struct recorder *const recorder =
            aligned_alloc(_Alignof(struct recorder), sizeof *recorder);
        struct words words = {.count = 0};
        assert_non_null(recorder);
        assert_true(recorder_init(recorder, &memory, WORKERS, false, note_word, &words));
        recorder_begin(recorder);
        for (uint32_t i = 0; i < WORKERS; i++)
            record_outbox_init(&outboxes[i], &memory, recorder_lane(recorder, i), i, WORKERS);
        for (uint64_t word = 0; word < 4; word++) {
            for (uint32_t i = 0; i < WORKERS && word >= 2; i++)
                record_outbox_change_lanes(&outboxes[i]);
            add_word(&outboxes[word == 2 ? 1 - first : first], word);
        }
        for (uint32_t i = 0; i < WORKERS; i++)
            (void)record_outbox_publish(&outboxes[i]);
        assert_true(recorder_finish(recorder, KEY_NEVER, NULL));
        assert_int_equal(words.count, 4);
        for (uint64_t word = 0; word < 4; word++)
            assert_int_equal(words.word[word], word);
        for (uint32_t i = 0; i < WORKERS; i++)
            record_outbox_free(&outboxes[i]);
        recorder_free(recorder);
        free(recorder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sink_hears_the_order_of_a_sequential_run_in_every_mode),
        cmocka_unit_test(most_records_are_delivered_beside_the_workers),
        cmocka_unit_test(with_one_thread_all_calls_are_on_the_hosts),
        cmocka_unit_test(equal_events_come_in_the_order_in_which_they_were_handled),
        cmocka_unit_test(workers_wait_for_a_slow_sink_rather_than_run_out_of_memory),
    };
    return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
