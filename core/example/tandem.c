/*
 * tandem.c: jobs pass a line of 64 stations, each with one server and a queue before it. A whole
 * model against cw.h alone, in C17 and C++17; core/README.md explains it line by line.
 *
 *   cc -O2 -o tandem tandem.c $(pkg-config --cflags --libs cubewarp-engine)
 *   ./tandem adaptive 4
 */
#include <cubewarp/cw.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATIONS = 64, LPS = STATIONS + 1, JOBS = 4000, THREADS_MAX = 64 };
enum { ARRIVAL_PS = 2000000, SERVICE_PS = 1000000, WALK_PS = 500000 };

struct station {
    struct cw_rng rng;
    int64_t free_ps;  /* when the server will have served all jobs that are here */
    uint64_t jobs;    /* sent on so far */
    uint64_t stay_ps; /* of all those jobs */
};

static size_t state_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct station);
}

static void init(const void *data, uint32_t lp, void *state)
{
    ((struct station *)state)->rng = cw_rng_seeded(*(const uint64_t *)data, lp);
}

/* LP 0 is the door through which jobs come; LPs 1 to STATIONS are the stations. */
static void handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    struct station *const s = CW_MUT(ctx, (const struct station *)state);
    int64_t stay_ps = 0;
    s->jobs++;
    if (event->lp == 0 && s->jobs < JOBS)
        cw_send(ctx, 0, cw_rng_exp_ps(&s->rng, ARRIVAL_PS), 0, LPS, s->jobs, NULL, 0);
    if (event->lp > 0) {
        const int64_t begin_ps = s->free_ps > cw_now(ctx) ? s->free_ps : cw_now(ctx);
        s->free_ps = begin_ps + cw_rng_exp_ps(&s->rng, SERVICE_PS);
        stay_ps = s->free_ps - cw_now(ctx);
        s->stay_ps += (uint64_t)stay_ps;
    }
    if (event->lp < STATIONS)
        cw_send(ctx, event->lp + 1, stay_ps + WALK_PS, 0, event->lp, s->jobs, NULL, 0);
}

static void partition(uint32_t workers, uint32_t *lp_worker, int64_t *least_delay_ps)
{
    for (uint32_t lp = 0; lp < LPS; lp++)
        lp_worker[lp] = lp * workers / LPS;
    for (uint32_t from = 0; from < workers; from++)
        for (uint32_t to = 0; to < workers; to++)
            least_delay_ps[from * workers + to] = from == to       ? 0
                                                  : from + 1 == to ? (int64_t)WALK_PS
                                                                   : CW_TIME_MAX;
}

static void report(const struct cw_sim *sim)
{
    struct cw_stats stats;
    uint64_t stay_ps = 0;
    for (uint32_t lp = 1; lp < LPS; lp++)
        stay_ps += ((const struct station *)cw_state(sim, lp))->stay_ps;
    cw_sim_stats(sim, &stats);
    printf("trace hash %016" PRIx64 ", mean time at a station %.3f us\n", stats.trace_hash,
           (double)stay_ps / JOBS / STATIONS * 1e-6);
}

int main(int argc, char **argv)
{
    static uint32_t lp_worker[LPS];
    static int64_t least_delay_ps[THREADS_MAX * THREADS_MAX];
    const uint64_t seed = 1;
    const struct cw_model model = {"tandem", &seed, LPS, state_bytes, init, handle, NULL};
    const uint32_t threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    struct cw_error error;
    struct cw_config config;
    int sync = 0;
    while (argc > 1 && sync < CW_SYNCS && strcmp(argv[1], cw_sync_name[sync]) != 0)
        sync++;
    if (sync == CW_SYNCS || threads < 1 || threads > THREADS_MAX) {
        fputs("usage: tandem [sequential|conservative|optimistic|adaptive|stress [THREADS]]\n",
              stderr);
        return CW_USAGE;
    }
    partition(threads, lp_worker, least_delay_ps);
    memset(&config, 0, sizeof config);
    config.sync = (enum cw_sync)sync;
    config.worker_count = threads;
    config.lp_worker = lp_worker;
    config.least_delay_ps = least_delay_ps;
    config.end_ps = CW_TIME_MAX;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    int code = sim == NULL ? error.exit_code : CW_OK;
    if (code == CW_OK)
        code = cw_inject(sim, 0, 0, 0, LPS, 0, NULL, 0, &error);
    if (code == CW_OK)
        code = cw_drain(sim, &error);
    if (code == CW_OK)
        report(sim);
    else
        fprintf(stderr, "tandem: %s\n", error.text);
    cw_sim_free(sim);
    return code;
}
