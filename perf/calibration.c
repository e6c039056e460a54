/*
 * calibration.c: the loops and the ping-pong (calibration.h).
 *
 * The loop is eight chains of shifts and additions side by side: it uses no memory, but all of a
 * core's arithmetic, so that it shows whether its core was its own, and how fast it ran. (A virtual
 * machine's two cores may be two hardware threads of one: a single chain, which leaves most of the
 * core idle, then gains 2 where events gain 1.5.) Alone it counts by the better of two trials;
 * together by the only one. The ping-pong's figure is the median of batches: a thread that loses
 * its core spoils one batch, a machine in its slow state all of them.
 */
#include "perf/calibration.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/os/affinity.h"
#include "core/os/host_limits.h"
#include "core/os/clock.h"
#include "core/os/sync.h"
#include "perf/statistics.h"

enum { LOOP_ROUNDS = 2000000, CHAINS = 8, TRIPS = 500, BATCHES = 9, CORES_TRIED = 2 };

const char *const perf_state_name[PERF_STATES] = {"one core", "near", "far", "mixed"};

/* ---- threads, two at a time ------------------------------------------------------------------ */

/* The line that goes from core to core, alone on its pair of lines. */
struct line {
    _Alignas(128) struct sync_u64 turn;
    uint8_t rest[128 - sizeof(struct sync_u64)];
};

struct side {
    int core;
    int index; /* 0 or 1 */
    pthread_barrier_t *start;
    struct line *line;
    bool is_alone;           /* its partner could not be started: give up */
    double took_s;           /* of the loop */
    double batch_s[BATCHES]; /* side 0's */
};

static double time_loop(void)
{
    const double start_s = clock_s();
    uint64_t x[CHAINS] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (uint64_t i = 0; i < LOOP_ROUNDS; i++)
        for (int k = 0; k < CHAINS; k++) {
            x[k] = (x[k] ^ x[k] << 3) + i;
            __asm__ volatile("" : "+r"(x[k])); /* one by one: no vectors */
        }
    return clock_s() - start_s;
}

static void *loop_alone(void *arg)
{
    struct side *const side = arg;
    affinity_bind(side->core);
    const double first_s = time_loop(), second_s = time_loop();
    side->took_s = fmin(first_s, second_s);
    return NULL;
}

static void *loop_together(void *arg)
{
    struct side *const side = arg;
    affinity_bind(side->core);
    pthread_barrier_wait(side->start);
    if (!side->is_alone)
        side->took_s = time_loop();
    return NULL;
}

static void *ping_pong(void *arg)
{
    struct side *const side = arg;
    affinity_bind(side->core);
    pthread_barrier_wait(side->start);
    uint64_t turn = (uint64_t)side->index;
    for (int batch = 0; batch < BATCHES && !side->is_alone; batch++) {
        const double start_s = clock_s();
        for (int trip = 0; trip < TRIPS; trip++, turn += 2) {
            while (sync_load_acquire(&side->line->turn) != turn)
                ; /* both cores are this pair's own */
            sync_store_release(&side->line->turn, turn + 1);
        }
        side->batch_s[batch] = clock_s() - start_s;
    }
    return NULL;
}

static int no_thread(int number, struct cw_error *error)
{
    return cw_error_set(error, CW_NO_RESOURCE, "no thread for a calibration: %s", strerror(number));
}

/* Runs `body` on as many sides as there are, at once. */
static int run_sides(void *(*body)(void *arg), struct side *sides, int count,
                     struct cw_error *error)
{
    pthread_t threads[CORES_TRIED];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, (unsigned)count);
    struct line line = {.turn = {0}};
    int started = 0, number = 0;
    while (started < count) {
        sides[started].index = started;
        sides[started].start = &start;
        sides[started].line = &line;
        number = pthread_create(&threads[started], NULL, body, &sides[started]);
        if (number != 0)
            break;
        started++;
    }
    if (started == 1 && count == 2) { /* it waits at the barrier for its partner */
        sides[0].is_alone = true;
        pthread_barrier_wait(&start);
    }
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    return number == 0 ? CW_OK : no_thread(number, error);
}

/* ---- the calibration ------------------------------------------------------------------------- */

uint32_t perf_cores(void) { return host_limits_cores(); }

int perf_calibrate(struct perf_calibration *calibration, struct cw_error *error)
{
    int cores[CORES_TRIED] = {0};
    const int count = affinity_cores(cores, perf_cores() < CORES_TRIED ? 1 : CORES_TRIED);
    struct side sides[CORES_TRIED] = {{.core = cores[0]}, {.core = cores[1]}};
    double alone_s[CORES_TRIED] = {0};
    int result = CW_OK;
    for (int i = 0; i < (count > 0 ? count : 1) && result == CW_OK; i++) {
        result = run_sides(loop_alone, &sides[i], 1, error);
        alone_s[i] = sides[i].took_s;
    }
    *calibration = (struct perf_calibration){.loop_ns = alone_s[0] * 1e9 / LOOP_ROUNDS, .gain = 1};
    if (count < 2 || result != CW_OK)
        return result;
    calibration->loop_ns = fmax(alone_s[0], alone_s[1]) * 1e9 / LOOP_ROUNDS;
    result = run_sides(loop_together, sides, 2, error);
    if (result != CW_OK)
        return result;
    calibration->gain = alone_s[0] / sides[0].took_s + alone_s[1] / sides[1].took_s;
    result = run_sides(ping_pong, sides, 2, error);
    calibration->line_ns = perf_median(sides[0].batch_s, BATCHES) * 1e9 / (2 * TRIPS);
    return result;
}

enum perf_state perf_state_of(const struct perf_calibration *calibration)
{
    if (calibration->line_ns <= 0)
        return PERF_ONE_CORE;
    return calibration->line_ns < PERF_FAR_FROM_NS ? PERF_NEAR : PERF_FAR;
}

static bool is_steady(double before, double after)
{
    return fabs(after - before) <= PERF_STEADY * fmax(before, after);
}

const char *perf_disturbance(const struct perf_calibration *before,
                             const struct perf_calibration *after)
{
    if (perf_state_of(before) != perf_state_of(after))
        return "the cache line's state changed";
    if (!is_steady(before->gain, after->gain))
        return "what two cores gain changed";
    if (!is_steady(before->loop_ns, after->loop_ns))
        return "the bare loop's speed changed";
    return NULL;
}
