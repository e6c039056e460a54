/*
 * replay.c: follows operations from their begin to their end, records what they do, finds earlier
 * equal ones, and puts those in place or undoes it (replay.h).
 */
#include "lp/host/replay.h"

#include <Judy.h>
#include <string.h>

#include "lp/fabric/sequencer.h"
#include "lp/host/replay_parts.h"
#include "lp/program.h"

/* ---- cells ----------------------------------------------------------------------------------- */

static void free_cell(const struct lp_model *m, struct cell *cell)
{
    for (uint32_t i = 0; cell->sip != NULL && i < cell->sips; i++) {
        replay_free_moment(&cell->sip[i].begin);
        replay_free_states(m, &cell->sip[i]);
    }
    if (cell->stage == CELL_RECORDS)
        replay_free_episode(cell->episode);
    free(cell->sip);
    free(cell->marks);
    free(cell->old);
    free(cell->replaced.at);
    free(cell->put.at);
    free(cell);
}

static struct batch_of *batch_at(const struct lp_replay *replay, uint32_t batch)
{
    return &replay->batches[batch - replay->m->first_batch];
}

static void drop_cell(struct lp_replay *replay, struct cell *cell)
{
    struct cell **at = &replay->cells;
    while (*at != cell)
        at = &(*at)->next;
    *at = cell->next;
    for (uint32_t i = 0; i < cell->sips; i++)
        if (replay_in_cell(replay, cell->sip[i].sip)->cell == cell)
            replay_in_cell(replay, cell->sip[i].sip)->cell = NULL;
    if (batch_at(replay, cell->batch)->cell == cell)
        batch_at(replay, cell->batch)->cell = NULL;
    free_cell(replay->m, cell);
}

/* The replay's end is past: nothing undoes it any more. */
static void close_replay(struct lp_replay *replay, struct cell *cell)
{
    for (size_t i = 0; i < cell->episode->mark_count; i++) {
        const struct episode_mark *const mark = &cell->episode->marks[i];
        struct cell_sip *const sip = &cell->sip[mark->sip];
        struct lp_kernel_record record = mark->record;
        if (sip->heard > 0) { /* before the replay, which has begun with the last SIP */
            sip->heard--;
            continue;
        }
        record.t_ps += sip->begin.now_ps;
        record.launch = sip->begin.launches[record.launch];
        replay->mark(replay->mark_arg, &record);
    }
    drop_cell(replay, cell);
}

/* NULL: out of memory. */
static struct cell *add_cell(struct lp_replay *replay, uint32_t batch)
{
    struct batch_of *const of = batch_at(replay, batch);
    struct cell *const cell = calloc(1, sizeof *cell);
    if (cell == NULL)
        return NULL;
    cell->sip = calloc(of->size, sizeof *cell->sip);
    if (cell->sip == NULL) {
        free(cell);
        return NULL;
    }
    cell->batch = batch;
    cell->sips = of->size;
    cell->first_ps = replay->now_ps;
    for (uint32_t i = 0; i < of->size; i++) {
        cell->sip[i].sip = replay->places[of->first + i].sip;
        cell->sip[i].op = replay->places[of->first + i].op;
    }
    cell->next = replay->cells;
    replay->cells = cell;
    of->cell = cell;
    return cell;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Whether no control message can cut the idle time, at the episode's begin or now. */
static bool is_uncut(const struct episode *e, const struct used_idle *used,
                     const struct moment *now, int64_t idle_ps)
{
    const int64_t busy_ps = now->now_ps - idle_ps,
                  way_ps = e->duration_ps + now->now_ps - now->sigma_min_ps;
    if (e->changes[used->change].kind == CHANGE_VALUE) /* less is left than they leave */
        return !used->is_early && now->sigma_min_ps >= 2 * e->duration_ps;
    return (used->is_uncut && busy_ps >= used->least_busy_ps) ||
           (busy_ps >= way_ps && used->least_busy_ps >= way_ps);
}

/* Whether the same follows from an idle time. */
static bool is_as_good(const struct episode *e, const struct used_idle *used,
                       const struct moment *now, int64_t past_ps)
{
    const struct lp_age *const at = &now->state.age[used->index];
    const int64_t idle_ps = at->ps + at->apart, endless_ps = 2 * e->duration_ps;
    if (!is_uncut(e, used, now, idle_ps))
        return false;
    if (at->ps == used->at.ps && at->apart == used->at.apart)
        return true;
    if (at->ps < past_ps || used->at.ps < past_ps)
        return false; /* it was used so late that a message may find that */
    if (idle_ps == used->at.ps + used->at.apart)
        return true;
    if (!used->is_known)
        return at->ps >= endless_ps && used->at.ps >= endless_ps;
    return idle_ps >= used->least_ps && (idle_ps <= used->most_ps || used->least_ps >= endless_ps ||
                                         e->changes[used->change].kind == CHANGE_VALUE);
}

static bool are_idle_times_as_good(const struct lp_replay *replay, const struct episode *e,
                                   const struct cell *cell)
{
    bool good = true;
    for (size_t i = 0; i < e->idle_count && good; i++)
        good = is_as_good(e, &e->idle[i], &cell->sip[e->idle[i].sip].begin,
                          lp_idle_state_before_ps(replay->m));
    return good;
}

/* The key of an operation: each SIP's begin, as an offset from the first one and by its words. */
static bool make_key(const struct cell *cell, struct lp_idle_state *key)
{
    for (uint32_t i = 0; i < cell->sips; i++) {
        const struct moment *const begin = &cell->sip[i].begin;
        lp_idle_state_put(key, cell->sip[i].sip);
        lp_idle_state_put(key, (uint64_t)(begin->now_ps - cell->first_ps));
        lp_idle_state_put(key, begin->state.count);
        for (size_t k = 0; k < begin->state.count; k++)
            lp_idle_state_put(key, begin->state.word[k]);
    }
    return lp_idle_state_end(key);
}

static bool begins_alike(const struct episode *e, const uint64_t *word, size_t words)
{
    return e->words == words && memcmp(e->word, word, words * sizeof *word) == 0;
}

static struct episode *find(const struct lp_replay *replay, const struct cell *cell,
                            const struct lp_idle_state *key)
{
    void *const *const first = (void *const *)JudyLGet(replay->episodes, key->digest, PJE0);
    for (struct episode *e = first != NULL ? *first : NULL; e != NULL; e = e->next)
        if (begins_alike(e, key->word, key->count) && are_idle_times_as_good(replay, e, cell))
            return e;
    return NULL;
}

static bool add_episode(struct lp_replay *replay, struct episode *e)
{
    void **const first = (void **)JudyLIns(&replay->episodes, e->digest, PJE0);
    if (first == NULL || first == PPJERR)
        return false;
    for (struct episode *other = *first; other != NULL; other = other->next)
        if (begins_alike(other, e->word, e->words) && replay_join_episodes(other, e)) {
            replay_free_episode(e);
            return true;
        }
    e->next = *first;
    *first = e;
    return true;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static bool begin_recording(struct lp_replay *replay, struct cell *cell,
                            const struct lp_idle_state *key)
{
    cell->stage = CELL_RECORDS;
    replay->recorded++;
    cell->episode = replay_begin_episode(cell, key->digest, key->word, key->count);
    bool good = cell->episode != NULL;
    for (uint32_t i = 0; i < cell->sips && good; i++)
        good = cell->sip[i].states != NULL || replay_keep_states(replay, &cell->sip[i]);
    return good;
}

/* The operation has begun on all its SIPs. */
static int record_or_replay(struct lp_replay *replay, struct cell *cell, struct cw_error *error)
{
    struct lp_idle_state key = {0};
    int code = CW_OK;
    batch_at(replay, cell->batch)->cell = NULL;
    struct episode *const e = make_key(cell, &key) ? find(replay, cell, &key) : NULL;
    if (e != NULL) {
        cell->stage = CELL_REPLAYED;
        cell->episode = e;
        replay->counts.replayed++;
        replay->counts.replayed_begins += cell->sips;
        code = replay_put_in_place(replay, cell, error);
    } else if (key.out_of_memory || !begin_recording(replay, cell, &key)) {
        code = cw_error_memory(error, "the replay of operations");
    }
    lp_idle_state_free(&key);
    return code;
}

/* Steps whose operations hardly ever begin alike are simulated: to record them takes time, too. */
static bool pays(const struct lp_replay *replay)
{
    enum { AT_FIRST = 100, FOR_EACH = 4 };
    return replay->recorded <= AT_FIRST + FOR_EACH * replay->counts.replayed;
}

/* An operation has begun on a SIP. */
static int begin_on(struct lp_replay *replay, struct place at, uint32_t batch,
                    struct cw_error *error)
{
    struct batch_of *const of = batch_at(replay, batch);
    struct sip_in_cell *const in = replay_in_cell(replay, at.sip);
    bool suits = in->cell == NULL && pays(replay) && (of->come > 0) == (of->cell != NULL);
    struct cell *const cell = suits && of->cell == NULL ? add_cell(replay, batch) : of->cell;
    const bool is_last = ++of->come == of->size;
    if (in->cell != NULL && in->cell->stage != CELL_REPLAYED)
        in->cell->is_broken = true;
    if (cell == NULL)
        return suits ? cw_error_memory(error, "the replay of operations") : CW_OK;
    for (uint32_t i = 0; i < cell->sips && suits; i++) {
        struct cell_sip *const sip = &cell->sip[i];
        if (sip->sip != at.sip || sip->op != at.op)
            continue;
        *in = (struct sip_in_cell){cell, i};
        const int code = replay_take_moment(replay, cell, sip, &suits, error);
        if (code != CW_OK)
            return code;
        sip->left = sip->begin.kernels;
        if (suits && !is_last && !replay_keep_states(replay, sip))
            return cw_error_memory(error, "the replay of operations");
    }
    if (!suits)
        cell->is_broken = true;
    if (cell->is_broken) {
        drop_cell(replay, cell);
        return CW_OK;
    }
    return is_last ? record_or_replay(replay, cell, error) : CW_OK;
}

static int begin_those_due(struct lp_replay *replay, struct cw_error *error)
{
    int code = CW_OK;
    for (size_t i = 0; i < replay->due_count && code == CW_OK; i++) {
        const struct lp_program_of_sip *const own =
            &replay->m->program->sip[lp_sip_index(replay->m, replay->due[i].sip)];
        const uint32_t launch = own->runs[own->ops[replay->due[i].op].first_run].launch;
        code = begin_on(replay, replay->due[i], lp_launch_of(replay->m, launch)->batch, error);
    }
    replay->due_count = 0;
    return code;
}

/* A recording that has ended becomes an episode, if it is one. */
static int end_recording(struct lp_replay *replay, struct cell *cell, struct cw_error *error)
{
    struct episode *const e = cell->episode;
    bool is_episode;
    const int code = replay_end_episode(replay, cell, &is_episode, error);
    if (code != CW_OK || !is_episode)
        return code;
    if (!add_episode(replay, e))
        return cw_error_memory(error, "the replay of operations");
    cell->episode = NULL;
    return CW_OK;
}

/* Those that have ended or are broken. */
static int look_at_cells(struct lp_replay *replay, struct cw_error *error)
{
    int code = CW_OK;
    for (struct cell *cell = replay->cells, *next; cell != NULL && code == CW_OK; cell = next) {
        next = cell->next;
        if (!cell->is_broken && !cell->has_ended)
            continue;
        if (cell->is_broken && cell->stage == CELL_REPLAYED) {
            replay->counts.replayed--;
            replay->counts.replayed_begins -= cell->sips;
            replay->counts.undone++;
            code = replay_undo(replay, cell, error);
        } else if (!cell->is_broken) {
            code = end_recording(replay, cell, error);
        }
        drop_cell(replay, cell);
    }
    return code;
}

int lp_replay_turn(struct lp_replay *replay, bool *again, struct cw_error *error)
{
    *again = false;
    if (replay->sim == NULL)
        return CW_OK;
    if (replay->out_of_memory)
        return cw_error_memory(error, "the replay of operations");
    *again = replay->turn_is_due;
    replay->turn_is_due = false;
    int code = look_at_cells(replay, error);
    if (code == CW_OK)
        code = begin_those_due(replay, error);
    if (*again || code != CW_OK)
        return code;
    for (struct cell *cell = replay->cells, *next; cell != NULL; cell = next) {
        next = cell->next;
        if (cell->stage == CELL_REPLAYED)
            close_replay(replay, cell);
        else
            drop_cell(replay, cell);
    }
    return CW_OK;
}

/* ---- in handlers ----------------------------------------------------------------------------- */

static void ask_for_turn(struct lp_replay *replay, struct cw_ctx *ctx)
{
    replay->turn_is_due = true;
    replay->now_ps = cw_now(ctx);
    cw_pause(ctx);
}

static bool is_watched(const struct cell *cell)
{
    return cell != NULL && cell->stage != CELL_REPLAYED;
}

static void op_begins(void *arg, struct cw_ctx *ctx, uint32_t sip, uint32_t op)
{
    struct lp_replay *const replay = arg;
    struct cell *const cell = replay_in_cell(replay, sip)->cell;
    replay->counts.operations++;
    if (is_watched(cell))
        cell->is_broken = true;
    else if (cell != NULL && cw_now(ctx) >= cell->end_ps)
        close_replay(replay, cell);
    struct place *const at =
        replay_grown(replay->due, replay->due_count, &replay->due_capacity, sizeof *at);
    replay->out_of_memory |= at == NULL;
    if (at == NULL)
        return;
    replay->due = at;
    at[replay->due_count++] = (struct place){sip, op};
    ask_for_turn(replay, ctx);
}

static void kernel_completed(void *arg, struct cw_ctx *ctx, uint32_t sip, uint32_t op)
{
    struct lp_replay *const replay = arg;
    const struct sip_in_cell *const in = replay_in_cell(replay, sip);
    struct cell *const cell = in->cell;
    if (!is_watched(cell) || cell->is_broken || cell->has_ended)
        return;
    struct cell_sip *const at = &cell->sip[in->number];
    if (at->op != op || at->left == 0) {
        cell->is_broken = true;
        return;
    }
    if (--at->left > 0)
        return;
    if (cell->stage == CELL_RECORDS)
        cell->has_ended = true;
    else
        cell->is_broken = true;
    ask_for_turn(replay, ctx);
}

static void takes_idle(void *arg, uint32_t sip, int64_t amount)
{
    const struct lp_replay *const replay = arg;
    struct cell *const cell = replay_in_cell(replay, sip)->cell;
    if (!is_watched(cell))
        return;
    cell->taken = (cell->taken + (uint64_t)amount + 1) * UINT64_C(0x9e3779b97f4a7c15);
    cell->taken ^= cell->taken >> 29;
}

static void event_crosses(void *arg, struct cw_ctx *ctx, uint32_t from, uint32_t to, int64_t at_ps)
{
    struct lp_replay *const replay = arg;
    struct cell *const left = from != LP_AT_SWITCH ? replay_in_cell(replay, from)->cell : NULL,
                       *const entered =
                           to != LP_AT_SWITCH ? replay_in_cell(replay, to)->cell : NULL;
    if (left == entered)
        return;
    if (left != NULL && left->stage == CELL_RECORDS)
        left->is_broken = true;
    if (is_watched(entered)) {
        entered->is_broken = true;
    } else if (entered != NULL && at_ps <= entered->end_ps && !entered->is_broken) {
        entered->is_broken = true;
        ask_for_turn(replay, ctx);
    }
}

void lp_replay_hears(struct lp_replay *replay, const struct lp_kernel_record *record)
{
    if (replay->sim == NULL)
        return;
    const struct sip_in_cell *const in = replay_in_cell(replay, lp_sip_of(replay->m, record->pe));
    struct cell *const cell = in->cell;
    if (!is_watched(cell) || cell->is_broken)
        return;
    struct cell_sip *const sip = &cell->sip[in->number];
    struct episode_mark *const at =
        replay_grown(cell->marks, cell->mark_count, &cell->mark_capacity, sizeof *at);
    const uint32_t place = replay_place_of_launch(&sip->begin, record->launch);
    if (at == NULL || place == UINT32_MAX) {
        replay->out_of_memory = true;
        return;
    }
    cell->marks = at;
    at[cell->mark_count] = (struct episode_mark){in->number, *record};
    at[cell->mark_count].record.launch = place;
    at[cell->mark_count++].record.t_ps -= sip->begin.now_ps;
    sip->heard += cell->stage == CELL_BEGINS;
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct lp_replay *lp_replay_create(struct lp_model *m, const struct lp_control *control,
                                   void (*mark)(void *arg, const struct lp_kernel_record *record),
                                   void *mark_arg)
{
    struct lp_replay *const replay = calloc(1, sizeof *replay);
    if (replay == NULL)
        return NULL;
    *replay = (struct lp_replay){.m = m, .control = control, .mark = mark, .mark_arg = mark_arg};
    replay->watch = (struct lp_replay_watch){.arg = replay,
                                             .begins = op_begins,
                                             .completed = kernel_completed,
                                             .crosses = event_crosses,
                                             .takes_idle = takes_idle};
    return replay;
}

void lp_replay_free(struct lp_replay *replay)
{
    if (replay == NULL)
        return;
    while (replay->cells != NULL)
        drop_cell(replay, replay->cells);
    Word_t digest = 0;
    for (void **first = (void **)JudyLFirst(replay->episodes, &digest, PJE0); first != NULL;
         first = (void **)JudyLNext(replay->episodes, &digest, PJE0))
        for (struct episode *e = *first, *next; e != NULL; e = next) {
            next = e->next;
            replay_free_episode(e);
        }
    JudyLFreeArray(&replay->episodes, PJE0);
    free(replay->batches);
    free(replay->places);
    free(replay->of_sip);
    free(replay->due);
    free(replay);
}

/* The batch of an operation's launches; UINT32_MAX: it has none. */
static uint32_t batch_of_op(const struct lp_model *m, uint32_t sip, uint32_t op)
{
    const struct lp_program_of_sip *const own = &m->program->sip[lp_sip_index(m, sip)];
    return own->ops[op].run_count > 0
               ? lp_launch_of(m, own->runs[own->ops[op].first_run].launch)->batch
               : UINT32_MAX;
}

/* Which SIPs' operations belong together: those whose launches are of one batch. */
static bool name_batches(struct lp_replay *replay)
{
    const struct lp_model *const m = replay->m;
    uint32_t last = m->first_batch, count = 0;
    for (uint32_t i = 0; i < m->sips; i++)
        for (uint32_t op = 0; op < m->program->sip[i].count; op++) {
            const uint32_t batch = batch_of_op(m, lp_sip_at(m, i), op);
            last = batch != UINT32_MAX && batch > last ? batch : last;
            count += batch != UINT32_MAX;
        }
    replay->batch_count = last - m->first_batch + 1;
    replay->batches = calloc(replay->batch_count + 1, sizeof *replay->batches);
    replay->places = malloc((count + 1) * sizeof *replay->places);
    replay->of_sip = calloc(m->sips, sizeof *replay->of_sip);
    if (replay->batches == NULL || replay->places == NULL || replay->of_sip == NULL)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < m->sips; i++)
            for (uint32_t op = 0; op < m->program->sip[i].count; op++) {
                const uint32_t sip = lp_sip_at(m, i), batch = batch_of_op(m, sip, op);
                if (batch == UINT32_MAX)
                    continue;
                struct batch_of *const of = &replay->batches[batch - m->first_batch];
                if (pass > 0)
                    replay->places[of->first + of->size] = (struct place){sip, op};
                of->size++;
            }
        for (uint32_t i = 0, first = 0; pass == 0 && i < replay->batch_count; i++) {
            replay->batches[i].first = first;
            first += replay->batches[i].size;
            replay->batches[i].size = 0;
        }
    }
    return true;
}

bool lp_replay_begin(struct lp_replay *replay, struct cw_sim *sim)
{
    if (!name_batches(replay))
        return false;
    replay->sim = sim;
    replay->m->replay = &replay->watch;
    return true;
}

struct lp_replay_counts lp_replay_count(const struct lp_replay *replay) { return replay->counts; }
