/*
 * test_replay_support.h: a step with and without replay, and what differs.
 */
#ifndef TEST_REPLAY_SUPPORT_H
#define TEST_REPLAY_SUPPORT_H

#include <xxhash.h>

#include "lp/coarse.h"
#include "lp/host/system.h"
#include "test/support/test_step_support.h"

static inline void add_to(uint64_t *hash, const void *bytes, size_t count)
{
    *hash = XXH3_64bits_withSeed(bytes, count, *hash);
}

/* Of links, with coarse tiles. */
static inline void add_idle_times(uint64_t *hash, const struct lp_model *m, enum lp_link_owner kind,
                                  const struct hw_link *link)
{
    for (uint32_t i = 0; m->accounts.idle_words > 0 && i < m->links.count[kind]; i++)
        add_to(hash, lp_link_idle(m, kind, &link[i], i), sizeof(int64_t));
}

/* All that a machine has counted and reserved, of times, bytes, tiles and events. */
static inline int note_machine(void *arg, struct dist *machine, int code, struct cw_error *error)
{
    struct lp_system *const system = dist_system(machine);
    const struct lp_model *const m = lp_system_model(system);
    uint64_t *const hash = arg;
    (void)error;
    for (uint32_t sip = 0; code == CW_OK && sip < m->hw.sip_count; sip++) {
        const struct lp_io_die *const die = cw_state(lp_system_sim(system), lp_of_io_die(m, sip));
        add_to(hash, die, sizeof *die + m->links.count[LP_OF_IO_DIE] * sizeof *die->link);
        add_idle_times(hash, m, LP_OF_IO_DIE, die->link);
        for (uint32_t c = 0; c < m->cubes; c++) {
            const struct lp_cube *const cube = lp_system_cube(system, sip, c);
            add_to(hash, cube, sizeof *cube + m->links.count[LP_OF_CUBE] * sizeof *cube->link);
            add_idle_times(hash, m, LP_OF_CUBE, cube->link);
            for (uint32_t pe = 0; pe < m->pes; pe++) {
                const struct lp_pe *const p = lp_pe(m, cube, pe);
                add_to(hash, p->queue, sizeof p->queue);
                add_to(hash, &p->dma, sizeof p->dma);
                if (lp_is_coarse(&m->config))
                    add_to(hash, &lp_coarse_of(m, p)->engine_idle_ps, sizeof(int64_t));
                add_to(hash, &p->next_number, sizeof p->next_number);
                add_to(hash, lp_pe_queue(m, p, 0), m->needs.queues * sizeof(struct lp_pe_queue));
                for (uint32_t q = 0; m->needs.launches > 0 && q < m->needs.queues; q++)
                    add_to(hash, lp_backlog(m, p, q), sizeof(struct lp_backlog));
            }
        }
    }
    return code;
}

struct replayed {
    int code; /* of both runs */
    char text[512];
    const char *difference; /* NULL: none */
    struct lp_replay_counts counts;
};

static inline void run_both(const struct config *config, const struct workload_graph *graph,
                            struct step_modes modes, struct replayed *got)
{
    struct step_result result[2];
    uint64_t hash[2] = {0, 0};
    int code[2];
    *got = (struct replayed){.code = CW_OK};
    for (int on = 0; on < 2; on++) {
        struct cw_error error = {.exit_code = CW_OK};
        const struct step_options options = {
            .config = config,
            .graph = graph,
            .modes = modes,
            .dist = {.machine = {.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1},
                                 .replay = on > 0},
                     .arg = &hash[on]},
            .ends = note_machine};
        code[on] = step_run(&options, &result[on], &error);
        if (code[on] != CW_OK)
            snprintf(got->text, sizeof got->text, "%.500s", cw_error_text(&error));
    }
    got->code = code[0];
    got->counts = result[1].replay;
    if (code[0] != code[1])
        got->difference = got->text;
    if (code[0] != CW_OK || code[1] != CW_OK)
        return;
    const uint64_t spans = result[0].first_span[graph->rank_count];
    if (memcmp(result[0].spans, result[1].spans, spans * sizeof *result[0].spans) != 0)
        got->difference = "other times";
    else if (hash[0] != hash[1])
        got->difference = "another machine";
    step_result_free(&result[0]);
    step_result_free(&result[1]);
}

#endif
