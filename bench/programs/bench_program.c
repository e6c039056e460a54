/*
 * bench_program.c: the functions that bench programs share (bench_program.h): the sizes asked for,
 * rows of the result with their phases and links, benches of single tiles.
 */
#include "bench/programs/bench_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "bench/programs/bench_algorithm.h"
#include "bench/programs/row_work.h"
#include "bench/programs/shortcuts.h"
#include "collectives/runtime/dist_check.h"
#include "core/os/clock.h"

size_t bench_size_count(const struct bench_session *session)
{
    return session->options->size_count ? session->options->size_count : 1;
}

uint64_t bench_size(const struct bench_session *session, size_t i)
{
    const struct run_options *const options = session->options;
    const struct bench_program *const program = session->program;
    const enum ccl_collective collective =
        program->collective && !program->no_algorithm ? program->does : CCL_COLLECTIVES;
    if (options->size_count == 0)
        return session->n_elem;
    return bench_whole_size(options, session->config, collective, i,
                            options->sizes_per_rank ? bench_shards(session, i) : 1);
}

/* That a custom file cuts a shard into. */
static uint32_t chunks_of_file(const struct config *config)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, &ignored);
    return algorithm != NULL ? ccl_algorithm_fixed(algorithm).multiple : 1;
}

uint64_t bench_whole_size(const struct run_options *options, const struct config *config,
                          enum ccl_collective collective, size_t i, uint32_t shards)
{
    const uint64_t elems = options->n_elem[i] / shards;
    const bool is_divided = collective == CCL_REDUCE_SCATTER || collective == CCL_ALL_GATHER ||
                            collective == CCL_ALL_TO_ALL;
    const uint64_t rest = is_divided                 ? elems % dist_world_size_for(config)
                          : collective == CCL_CUSTOM ? elems % chunks_of_file(config)
                                                     : 0;
    return options->sizes_rounded && rest < elems ? elems - rest : elems;
}

/* Says once that sizes are smaller than they were asked for. */
static void say_rounded(const struct bench_session *session)
{
    const struct run_options *const options = session->options;
    const bool is_custom = session->program->does == CCL_CUSTOM;
    size_t rounded = 0, first = 0;
    for (size_t i = options->size_count; i-- > 0;)
        if (session->refused[i] == NULL &&
            bench_size(session, i) * (options->sizes_per_rank ? bench_shards(session, i) : 1) !=
                options->n_elem[i]) {
            rounded++;
            first = i;
        }
    if (rounded > 0)
        fprintf(stderr,
                "cubewarp: %zu of %zu sizes are rounded down to what %u %s%s divide, as in "
                "nccl-tests: %llu elements of a shard for %llu asked for, first\n",
                rounded, options->size_count,
                is_custom ? chunks_of_file(session->config) : dist_world_size_for(session->config),
                is_custom ? "chunks" : "ranks", options->sizes_per_rank ? " and their shards" : "",
                (unsigned long long)bench_size(session, first),
                (unsigned long long)options->n_elem[first]);
}

uint32_t bench_shards(const struct bench_session *session, size_t i)
{
    return session->placements != NULL ? session->placements[i].shards : session->shards;
}

/* The parts of a size that an option names for a rank. */
static int check_per_rank(const struct bench_session *session, size_t i, struct cw_error *error)
{
    const struct run_options *const options = session->options;
    const uint32_t shards = options->sizes_per_rank ? bench_shards(session, i) : 1;
    const bool is_there = bench_size(session, i) > 0 || options->n_elem[i] == 0;
    if (options->n_elem[i] % shards == 0 || (options->sizes_rounded && is_there))
        return bench_size(session, i) <= (uint64_t)1 << 31
                   ? CW_OK
                   : cw_error_set(error, CW_USAGE,
                                  "a shard has from 1 to 2147483648 elements; found %llu",
                                  (unsigned long long)bench_size(session, i));
    return cw_error_set(error, CW_USAGE,
                        "%llu elements are no multiple of the %u shards that a rank has",
                        (unsigned long long)options->n_elem[i], bench_shards(session, i));
}

int bench_check_hbm(const struct bench_session *session, uint64_t bytes, struct cw_error *error)
{
    const uint64_t rings = dist_ring_bytes(session->config, HW_MEMORY_HBM);
    const uint64_t all = session->config->hw.hbm_bytes;
    if (bytes <= all - rings)
        return CW_OK;
    (void)cw_error_set(error, CW_NO_RESOURCE,
                       "HBM: the tensors need %llu bytes in a PE's slice, where %llu of %llu are "
                       "free (memory.hbm_mib)",
                       (unsigned long long)bytes, (unsigned long long)(all - rings),
                       (unsigned long long)all);
    return error->exit_code;
}

int bench_check_sizes(struct bench_session *session,
                      int (*check)(const struct bench_session *session, uint64_t n_elem,
                                   struct cw_error *error),
                      struct cw_error *error)
{
    size_t refused = 0, empty = 0; /* rows of 0 bytes need nothing */
    for (size_t i = 0; i < bench_size_count(session); i++) {
        struct cw_error own = {.exit_code = CW_OK};
        bench_expect(session, i);
        int code = session->options->size_count > 0 ? check_per_rank(session, i, &own) : CW_OK;
        if (code == CW_OK && bench_size(session, i) > 0)
            code = check(session, bench_size(session, i), &own);
        if (code == CW_OK) {
            empty += bench_size(session, i) == 0;
            continue;
        }
        if (refused++ == 0)
            *error = own;
        session->refused[i] = strdup(own.text);
        if (session->refused[i] == NULL)
            return cw_error_memory(error, "the results");
    }
    if (refused > 0 && refused + empty == bench_size_count(session))
        return error->exit_code;
    error->exit_code = CW_OK;
    say_rounded(session);
    return CW_OK;
}

/* A row for a size that is not run. */
static struct result_row *add_row_of(struct bench_session *session, size_t i,
                                     struct cw_error *error)
{
    const struct bench_program *const program = session->program;
    const uint64_t n_elem = bench_size(session, i);
    return session->shards > 0 ? row_work_add(session, ccl_collective_name(program->does),
                                              program->does, n_elem, error)
                               : bench_add_row(session, program->name, n_elem, error);
}

/* It takes the sentence over. */
static int add_refused(struct bench_session *session, size_t i, struct cw_error *error)
{
    struct result_row *const row = add_row_of(session, i, error);
    if (row == NULL)
        return error->exit_code;
    row->not_run = session->refused[i];
    session->refused[i] = NULL;
    return CW_OK;
}

/* A collective of nothing launches nothing: no time, and nothing is wrong. */
static int add_empty(struct bench_session *session, size_t i, struct cw_error *error)
{
    const struct run_options *const options = session->options;
    struct result_row *const row = add_row_of(session, i, error);
    if (row == NULL)
        return error->exit_code;
    bench_set_bound(row, (struct hw_bound){.by = NULL});
    if (session->program->does == CCL_ALL_REDUCE || session->program->does == CCL_REDUCE_SCATTER ||
        session->program->does == CCL_REDUCE || session->program->does == CCL_CUSTOM)
        snprintf(row->redop, sizeof row->redop, "%s", redop_name(options->op));
    row->wrong = options->verify_data ? 0 : -1;
    row->has_hash = !options->no_data;
    row->data_hash = XXH3_64bits("", 0);
    return CW_OK;
}

int bench_run_sizes(struct bench_session *session,
                    int (*run)(struct bench_session *session, uint64_t n_elem,
                               struct cw_error *error),
                    struct cw_error *error)
{
    int code = CW_OK;
    for (size_t i = session->first_size; i < session->end_size && code == CW_OK; i++) {
        bench_size_begin(session, i);
        const uint64_t n_elem = bench_size(session, i);
        code = session->refused[i] != NULL ? add_refused(session, i, error)
               : n_elem == 0               ? add_empty(session, i, error)
                                           : run(session, n_elem, error);
        if (code == CW_OK)
            bench_size_end(session);
    }
    return code;
}

/* ---- progress -------------------------------------------------------------------------------- */

static uint64_t events_so_far(const struct bench_session *session)
{
    struct cw_stats stats;
    cw_sim_stats(lp_system_sim(dist_system(session->dist)), &stats);
    return stats.events_committed;
}

static double tiles_of_size(const struct bench_session *session, size_t i)
{
    const uint64_t bytes = bench_size(session, i) * dtype_bytes(session->options->dtype);
    const uint64_t tile = lp_tile_bytes(&session->config->ccl.queues),
                   tiles = (bytes + tile - 1) / tile;
    return (double)tiles;
}

/* The events of all sizes after the current one. */
static double expect_rest(const struct bench_session *session,
                          const struct event_estimate *estimate)
{
    double events = 0;
    for (size_t i = session->size + 1; i < bench_size_count(session); i++)
        if (session->refused[i] == NULL)
            events += event_estimate_of(estimate, tiles_of_size(session, i));
    return events;
}

void bench_progress_wired(struct bench_session *session)
{
    session->progress.begun = events_so_far(session);
    session->progress.begun_s = clock_s();
}

/* All calls of a size have as many events as each other. */
void bench_progress_called(struct bench_session *session)
{
    struct progress_line *const line = &session->progress;
    const uint32_t calls = repeat_simulated(&session->repeat);
    session->calls++;
    if (session->program->rows_named || session->calls >= calls)
        return;
    struct event_estimate known = session->estimate;
    line->expected =
        (double)(events_so_far(session) - line->begun) / session->calls * (double)calls;
    event_estimate_note(&known, tiles_of_size(session, session->size), line->expected);
    line->expected_rest = expect_rest(session, &known);
}

void bench_size_begin(struct bench_session *session, size_t i)
{
    session->size = i;
    session->calls = 0;
    if (session->explainer != NULL) {
        const uint32_t calls = session->options->warmup + session->options->iterations;
        explainer_expect(session->explainer, session->program->rows_named ? 1 : calls);
    }
    bench_progress_wired(session);
    if (!session->shows_progress)
        return;
    const double tiles = tiles_of_size(session, i);
    session->progress.size = i + 1;
    session->progress.sizes = bench_size_count(session);
    session->progress.expected = event_estimate_of(&session->estimate, tiles);
    session->progress.expected_rest = expect_rest(session, &session->estimate);
}

void bench_size_end(struct bench_session *session)
{
    const uint64_t events =
        session->shows_progress ? events_so_far(session) - session->progress.begun : 0;
    if (events > 0) /* a refused size has none */
        event_estimate_note(&session->estimate, tiles_of_size(session, session->size),
                            (double)events);
    if (!session->folded || session->fold_holds_so_far(session))
        bench_report_rows(session);
}

void bench_report_rows(struct bench_session *session)
{
    struct result *const result = session->result;
    if (result->row_done == NULL)
        return;
    if (session->dist != NULL)
        bench_fill_result(session);
    while (result->reported < result->row_count) {
        result->row_done(result->row_arg, result, result->reported);
        result->reported++;
    }
}

struct result_row *bench_add_row(struct bench_session *session, const char *collective,
                                 uint64_t n_elem, struct cw_error *error)
{
    struct result *result = session->result;
    struct result_row *rows = realloc(result->rows, (result->row_count + 1) * sizeof *result->rows);
    if (rows == NULL) {
        cw_error_memory(error, "the results");
        return NULL;
    }
    result->rows = rows;
    struct result_row *row = &rows[result->row_count++];
    const uint64_t bytes = n_elem * dtype_bytes(session->options->dtype);
    *row = (struct result_row){
        .count = n_elem,
        .bytes = bytes,
        .counted_bytes = bytes,
        .ranks = session->dist != NULL ? dist_facts(session->dist)->world_size : 0,
        .bus_factor = 1,
        .wrong = -1,
        .ranks_differ = -1,
        .not_finite = -1};
    snprintf(row->collective, sizeof row->collective, "%s", collective);
    snprintf(row->dtype, sizeof row->dtype, "%s", dtype_name(session->options->dtype));
    return row;
}

/* Sums for now; bench_row_finish() divides. */
void bench_row_sample(struct result_row *row, const struct lp_times *times, uint32_t weight)
{
    row->time_ps += weight * (times->last_end_ps - times->first_start_ps);
    row->host_time_ps += weight * (times->host_ps - times->submitted_ps);
    row->start_skew_ps += weight * (times->last_start_ps - times->first_start_ps);
}

/* Adds to the figures of a kind of link. */
static void add_kind(struct result_row *row, struct result_link_kind more)
{
    size_t at = 0;
    while (at < row->kind_count && row->kinds[at].name != more.name)
        at++;
    if (at == RESULT_LINK_KINDS_MAX)
        return;
    if (at == row->kind_count)
        row->kinds[row->kind_count++] = (struct result_link_kind){.name = more.name};
    row->kinds[at].links += more.links;
    row->kinds[at].bytes += more.bytes;
    row->kinds[at].busy_ps += more.busy_ps;
}

/* The busier link first; equally busy links by their place and their figures. 0: alike. An order
 * of all links, so the first five are the same from whichever part one looks at them. */
static int compare_links(const struct result_link *a, const struct result_link *b)
{
    if (a->busy_ps != b->busy_ps)
        return a->busy_ps > b->busy_ps ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->queue_ps_max != b->queue_ps_max ? (a->queue_ps_max > b->queue_ps_max ? -1 : 1) : 0;
}

/* The place among the five busiest of a link, whose name is not needed. NULL: it is none of them,
 * or it has been counted as alike to one. */
static struct result_link *take_place(struct result_row *row, const struct result_link *link)
{
    const size_t room = sizeof row->links / sizeof *row->links;
    size_t at = row->link_count;
    while (at > 0 && compare_links(link, &row->links[at - 1]) < 0)
        at--;
    if (at > 0 && compare_links(link, &row->links[at - 1]) == 0) {
        row->links[at - 1].alike += link->alike;
        return NULL;
    }
    if (at >= room)
        return NULL;
    if (row->link_count < room)
        row->link_count++;
    memmove(&row->links[at + 1], &row->links[at], (row->link_count - 1 - at) * sizeof *row->links);
    return &row->links[at];
}

/* SIPs have links at the same places; each switch has places of its own. */
static uint64_t place_in_sip(const struct lp_link_use *use)
{
    const uint64_t owner = lp_link_row[use->group].owner;
    const uint64_t which = owner == LP_OF_CUBE ? use->cube : owner == LP_OF_SWITCH ? use->sip : 0;
    return owner << 62 | which << 32 | (owner == LP_OF_SWITCH ? use->unit : use->index);
}

/* The links of the machine, or of those SIPs of it that are simulated, as they are visited. */
struct link_keeping {
    const struct lp_model *model;
    struct result_row *row;
};

/* Links with the same place in their SIPs. */
static void keep_among_busiest(struct result_row *row, const struct lp_link_use *use)
{
    const struct result_link kept = {.alike = use->alike,
                                     .place = place_in_sip(use),
                                     .bytes = use->bytes,
                                     .busy_ps = use->busy_ps,
                                     .queue_ps_max = use->queue_ps_max,
                                     .lp = use->lp,
                                     .index = use->index,
                                     .kind = use->kind};
    struct result_link *const link = take_place(row, &kept);
    if (link == NULL)
        return;
    *link = kept;
    lp_link_name(use, link->name, sizeof link->name);
}

/* Links of switches that are alike are at different places. More than this many are not listed. */
enum { MEMBERS_MAX = 16384 };

static void keep_link(void *arg, const struct lp_link_use *use)
{
    const struct link_keeping *const keeping = arg;
    struct result_row *const row = keeping->row;
    if (use->queue_ps_max > row->queue_ps_max)
        row->queue_ps_max = use->queue_ps_max;
    if (lp_link_row[use->group].owner == LP_OF_SWITCH)
        row->switched_bytes[hw_switch_number(
            hw_node_at(&keeping->model->hw, keeping->model->hw.sip_count + use->sip))] +=
            use->bytes * use->alike;
    add_kind(row, (struct result_link_kind){.name = use->kind,
                                            .links = use->alike,
                                            .bytes = use->bytes * use->alike,
                                            .busy_ps = use->busy_ps * use->alike});
    if (use->alike == 1 || lp_link_row[use->group].owner != LP_OF_SWITCH) {
        keep_among_busiest(row, use);
        return;
    }
    for (uint32_t k = 0; k < use->alike && k < MEMBERS_MAX; k++) {
        char place[LP_LINK_PLACE_BYTES];
        const struct lp_link_use member = lp_link_member(keeping->model, use, k, place);
        keep_among_busiest(row, &member);
    }
}

/* The links of the machine, of which each worker looks at a part. */
struct link_survey {
    const struct lp_system *system;
    uint32_t workers, account;
    struct result_row *rows; /* [workers] the links of each part */
};

static void survey_part(void *arg, uint32_t worker)
{
    const struct link_survey *const survey = arg;
    struct link_keeping keeping = {lp_system_model(survey->system), &survey->rows[worker]};
    lp_system_visit_links(survey->system,
                          (struct lp_machine_part){.index = worker,
                                                   .parts = survey->workers,
                                                   .account = survey->account},
                          keep_link, &keeping);
}

/* The parts come in the order of one visit to all links, so the result is the same as from such a
 * visit. */
static void survey_links(struct lp_system *system, uint32_t account, struct result_row *row)
{
    const uint32_t workers = cw_sim_worker_count(lp_system_sim(system));
    struct link_survey survey = {system, workers, account, NULL};
    row->link_count = 0;
    row->kind_count = 0;
    memset(row->switched_bytes, 0, sizeof row->switched_bytes);
    survey.rows = calloc(workers, sizeof *survey.rows);
    if (survey.rows == NULL) {
        struct link_keeping keeping = {lp_system_model(system), row};
        lp_system_visit_links(system, (struct lp_machine_part){.parts = 1, .account = account},
                              keep_link, &keeping);
        return;
    }
    cw_each_worker(lp_system_sim(system), survey_part, &survey);
    for (uint32_t i = 0; i < workers; i++) {
        const struct result_row *const part = &survey.rows[i];
        if (part->queue_ps_max > row->queue_ps_max)
            row->queue_ps_max = part->queue_ps_max;
        for (size_t k = 0; k < HW_SWITCH_KINDS; k++)
            row->switched_bytes[k] += part->switched_bytes[k];
        for (size_t k = 0; k < part->kind_count; k++)
            add_kind(row, part->kinds[k]);
        for (size_t k = 0; k < part->link_count; k++) {
            struct result_link *const link = take_place(row, &part->links[k]);
            if (link != NULL)
                *link = part->links[k];
        }
    }
    free(survey.rows);
}

/* Time that each phase adds to a rank: from the last leaving of the phases before it to its own.
 * So a rank's phases sum to its time. */
static int fill_phases(struct bench_session *session, struct result_row *row, uint32_t batch,
                       struct cw_error *error)
{
    const struct lp_phases *phases = lp_system_phases_of(dist_system(session->dist), batch);
    const uint32_t ranks = phases->ranks;
    free(row->phases);
    row->phase_count = 0;
    row->phases = calloc(phases->count + 1, sizeof *row->phases);
    int64_t *const since_ps = calloc(ranks + 1, sizeof *since_ps);
    if (row->phases == NULL || since_ps == NULL) {
        free(since_ps);
        return cw_error_memory(error, "the results");
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
        since_ps[rank] = phases->start_ps[rank];
    for (uint32_t i = 0; i < phases->count; i++) {
        struct result_phase phase = {.min_ps = INT64_MAX};
        uint32_t in_it = 0;
        for (uint32_t rank = 0; rank < ranks; rank++) {
            const int64_t exit_ps = phases->exit_ps[(size_t)rank * phases->count + i];
            if (exit_ps < 0)
                continue;
            const int64_t ps = exit_ps > since_ps[rank] ? exit_ps - since_ps[rank] : 0;
            since_ps[rank] += ps;
            phase.min_ps = ps < phase.min_ps ? ps : phase.min_ps;
            phase.max_ps = ps > phase.max_ps ? ps : phase.max_ps;
            phase.mean_ps += (double)ps;
            in_it++;
        }
        if (in_it == 0)
            continue;
        phase.mean_ps /= in_it;
        snprintf(phase.name, sizeof phase.name, "%s", phases->name[i]);
        row->phases[row->phase_count++] = phase;
    }
    free(since_ps);
    return CW_OK;
}

/* The waits for credits since the row before, as means over all calls, warm-up included: a call
 * receives as many tiles as any other. */
static int fill_credit_waits(struct bench_session *session, struct result_row *row, uint32_t batch,
                             struct cw_error *error)
{
    struct lp_system *const system = dist_system(session->dist);
    const struct lp_model *const m = lp_system_model(system);
    const uint32_t calls = repeat_simulated(&session->repeat);
    if (session->credit_waited == NULL)
        session->credit_waited = calloc(lp_pe_count(m), sizeof *session->credit_waited);
    if (session->credit_waited == NULL)
        return cw_error_memory(error, "the results");
    const struct lp_credit_waits waits = lp_credit_waits_since(
        m, lp_system_sim(system), lp_system_times_of(system, batch)->last_end_pe,
        (struct lp_credit_calls){calls, session->repeat.calls - calls}, session->credit_waited);
    row->credit_longest = waits.longest;
    row->credit_last = waits.last;
    row->credit_longest.ps = result_mean_ps(waits.longest.ps, calls);
    row->credit_last.ps = result_mean_ps(waits.last.ps, calls);
    session->result->credit_wait = waits.in_all;
    return CW_OK;
}

void bench_row_links(const struct bench_session *session, struct result_row *row, uint32_t account)
{
    survey_links(dist_system(session->dist), account, row);
    row_work_count_links(session, row);
    row_work_busiest(session, row);
}

struct share_finder {
    const struct result_row *row;
    struct result_share *share;
};

static void find_share(void *arg, const struct lp_link_use *use)
{
    const struct share_finder *const finder = arg;
    for (size_t i = 0; i < finder->row->link_count; i++)
        if (finder->row->links[i].lp == use->lp && finder->row->links[i].index == use->index)
            finder->share->bytes[i] = use->bytes;
}

void bench_find_share(const struct bench_session *session, const struct result_row *row,
                      uint32_t account, struct result_share *share)
{
    struct share_finder finder = {row, share};
    lp_system_visit_links(dist_system(session->dist),
                          (struct lp_machine_part){.parts = 1, .account = account}, find_share,
                          &finder);
}

/* The kernels' times of a batch, by rank. */
static void hash_ranks(XXH3_state_t *state, const struct lp_phases *phases, int64_t from_ps)
{
    for (uint32_t rank = 0; rank < phases->ranks; rank++) {
        if (phases->start_ps[rank] < 0)
            continue;
        const int64_t start_ps = phases->start_ps[rank] - from_ps;
        (void)XXH3_64bits_update(state, &start_ps, sizeof start_ps);
        for (uint32_t i = 0; i < phases->count; i++) {
            const int64_t exit_ps = phases->exit_ps[(size_t)rank * phases->count + i];
            const int64_t since_ps = exit_ps < 0 ? -1 : exit_ps - from_ps;
            (void)XXH3_64bits_update(state, &since_ps, sizeof since_ps);
        }
    }
}

/* Adds the times of a row (bench/FORMATS.md, "Engine object"). False: no memory. */
static bool add_to_fold_hash(struct bench_session *session, const struct result_row *row,
                             uint32_t batch)
{
    struct lp_system *const system = dist_system(session->dist);
    if (!shortcut_is_open(SHORTCUT_FOLD, session->options, session->config))
        return true;
    const int64_t head[] = {(int64_t)session->fold_hash, row->time_ps, row->host_time_ps,
                            row->start_skew_ps};
    XXH3_state_t *const state = XXH3_createState();
    if (state == NULL)
        return false;
    (void)XXH3_64bits_reset(state);
    (void)XXH3_64bits_update(state, head, sizeof head);
    hash_ranks(state, lp_system_phases_of(system, batch),
               lp_system_times_of(system, batch)->first_start_ps);
    session->fold_hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return true;
}

void bench_calls_begin(struct bench_session *session)
{
    const struct run_options *const options = session->options;
    repeat_begin(&session->repeat, options->warmup, options->iterations,
                 shortcut_is_open(SHORTCUT_REPEAT, options, session->config));
}

void bench_called(struct bench_session *session)
{
    struct lp_system *const system = dist_system(session->dist);
    const int64_t now_ps = lp_system_idle_machine(system).now_ps;
    repeat_called(&session->repeat, system,
                  session->program->collective ? dist_host_ps(session->dist) - now_ps : 0);
}

void bench_note_repeat(const struct bench_session *session, struct result_row *row)
{
    if (repeat_simulated(&session->repeat) < session->repeat.calls)
        row->shortcuts.iterations =
            (struct result_simulated){session->repeat.calls, repeat_simulated(&session->repeat)};
}

int bench_row_finish(struct bench_session *session, struct result_row *row, uint32_t batch,
                     uint32_t iterations, struct cw_error *error)
{
    row->time_ps = result_mean_ps(row->time_ps, iterations);
    row->host_time_ps = result_mean_ps(row->host_time_ps, iterations);
    row->start_skew_ps = result_mean_ps(row->start_skew_ps, iterations);
    bench_row_links(session, row, 0);
    if (session->explainer != NULL) {
        free(row->explain);
        row->explain = explain_collective(session->explainer, dist_system(session->dist), batch);
        if (row->explain == NULL)
            return cw_error_memory(error, "the explanation");
    }
    row->events = events_so_far(session) - session->progress.begun;
    bench_note_repeat(session, row);
    bench_note_algorithm(session, row);
    int code = run_use_row(&session->use, session->result, row, dist_system(session->dist),
                           lp_system_times_of(dist_system(session->dist), batch), error);
    if (code == CW_OK)
        code = fill_credit_waits(session, row, batch, error);
    if (code == CW_OK)
        code = fill_phases(session, row, batch, error);
    if (code == CW_OK && !add_to_fold_hash(session, row, batch))
        code = cw_error_memory(error, "the fold hash");
    row->done = code == CW_OK; /* a row that lacks figures is none */
    return code;
}

int bench_check_tile(const struct bench_session *session, uint64_t n_elem, struct cw_error *error)
{
    const uint64_t bytes = n_elem * dtype_bytes(session->options->dtype);
    if (bytes <= lp_tile_bytes(&session->config->ccl.queues))
        return CW_OK;
    return cw_error_set(
        error, CW_USAGE, "%s sends single tiles: %llu bytes do not fit in %s of %u (%s)",
        session->program->name, (unsigned long long)bytes,
        session->config->ccl.queues.whole_tensor ? "a tile" : "a slot",
        lp_tile_bytes(&session->config->ccl.queues),
        session->config->ccl.queues.whole_tensor ? "defaults.whole_tensor" : "defaults.slot_size");
}

void bench_set_bound(struct result_row *row, struct hw_bound bound)
{
    row->bound_ps = bound.ps;
    row->bound_by = bound.by;
    row->bound_without_metis = bound.without_metis;
    memcpy(row->class_ps, bound.class_ps, sizeof row->class_ps);
}

/* Tiles that go one after the other, in a bench that takes --tiles. */
static uint32_t tiles_of(const struct bench_session *session)
{
    for (const char *const *takes = session->program->takes; *takes != NULL; takes++)
        if (strcmp(*takes, "tiles") == 0)
            return session->options->tiles;
    return 1;
}

/* One row of a bench that sends single tiles. */
static int
run_tile_size(struct bench_session *session, uint64_t n_elem,
              int (*once)(struct bench_session *session, uint64_t n_elem, struct cw_error *error),
              struct hw_bound (*bound)(const struct bench_session *session, uint64_t bytes),
              struct cw_error *error)
{
    const uint64_t bytes = n_elem * dtype_bytes(session->options->dtype);
    struct result_row *row = bench_add_row(session, session->program->name, n_elem, error);
    if (row == NULL)
        return error->exit_code;
    row->counted_bytes = bytes * tiles_of(session);
    bench_calls_begin(session);
    for (uint32_t i = 0; repeat_goes_on(&session->repeat, i); i++) {
        const int code = once(session, n_elem, error);
        if (code != CW_OK)
            return code;
        bench_row_sample(row, lp_system_times(dist_system(session->dist)),
                         repeat_weight(&session->repeat));
        bench_called(session);
    }
    bench_set_bound(row, bound(session, bytes));
    return bench_row_finish(session, row, lp_system_current_batch(dist_system(session->dist)),
                            session->options->iterations, error);
}

int bench_run_tiles(struct bench_session *session,
                    int (*once)(struct bench_session *session, uint64_t n_elem,
                                struct cw_error *error),
                    struct hw_bound (*bound)(const struct bench_session *session, uint64_t bytes),
                    struct cw_error *error)
{
    int code = dist_install(session->dist, error);
    for (size_t i = 0; i < bench_size_count(session) && code == CW_OK; i++) {
        bench_size_begin(session, i);
        code = session->refused[i] != NULL
                   ? add_refused(session, i, error)
                   : run_tile_size(session, bench_size(session, i), once, bound, error);
        if (code == CW_OK)
            bench_size_end(session);
    }
    return code;
}
