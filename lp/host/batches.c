/*
 * batches.c: a list of batches, oldest first, and the table of their launches (batches.h). A batch
 * leaves the list when all its launches are answered and another one begins; so the table shrinks
 * from its beginning.
 */
#include "lp/host/batches.h"

#include <Judy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lp_batch *batch_create(const struct lp_batches *batches, int64_t now_ps)
{
    struct lp_batch *const batch = calloc(1, sizeof *batch);
    if (batch == NULL)
        return NULL;
    if (!lp_batch_times_init(&batch->times, batches->worker_count, batches->phase_of)) {
        free(batch);
        return NULL;
    }
    lp_batch_times_reset(&batch->times, now_ps);
    return batch;
}

static void batch_free(struct lp_batch *batch)
{
    lp_batch_times_free(&batch->times);
    free(batch->whose);
    free(batch->name);
    free(batch);
}

bool lp_batches_init(struct lp_batches *batches, uint32_t worker_count, struct lp_model *m)
{
    const size_t queues = (size_t)lp_pe_count(m) * m->needs.queues;
    *batches = (struct lp_batches){.worker_count = worker_count, .phase_of = malloc(queues)};
    if (batches->phase_of == NULL)
        return false;
    memset(batches->phase_of, 255, queues);
    return lp_batches_begin(batches, m, 0, false);
}

void lp_batches_free(struct lp_batches *batches)
{
    for (struct lp_batch *at = batches->first, *next; at != NULL; at = next) {
        next = at->next;
        batch_free(at);
    }
    JudyLFreeArray(&batches->by_number, PJE0);
    free(batches->phase_of);
}

static bool is_answered(const struct lp_batch *batch) { return batch->answers == batch->kernels; }

bool lp_batches_are_in_flight(const struct lp_batches *batches)
{
    for (const struct lp_batch *at = batches->first; at != NULL; at = at->next)
        if (!is_answered(at))
            return true;
    return false;
}

/* Drops the launches before the first one of the oldest batch of launches. */
static void drop_launches(const struct lp_batches *batches, struct lp_launches *launches)
{
    const struct lp_batch *oldest = batches->first;
    while (oldest != NULL && oldest->number == 0)
        oldest = oldest->next;
    const uint32_t kept_from = oldest != NULL ? oldest->first_launch : launches->last + 1;
    const uint32_t gone = kept_from - 1 - launches->dropped;
    if (gone == 0)
        return;
    memmove(launches->at, launches->at + gone,
            (launches->last - launches->dropped - gone) * sizeof *launches->at);
    launches->dropped += gone;
}

static bool is_over(const struct lp_batch *batch) { return is_answered(batch) && !batch->held; }

/* Takes a batch that is over from the list. */
static void end_batch(struct lp_batches *batches, struct lp_batch **at)
{
    struct lp_batch *const old = *at;
    *at = old->next;
    batches->count--;
    (void)JudyLDel(&batches->by_number, old->number, PJE0);
    batch_free(old);
}

/* Those that are over end: the first ones at once, the others when the list has doubled. */
static void end_batches(struct lp_batches *batches)
{
    enum { LEAST = 16 };
    while (batches->first != NULL && is_over(batches->first))
        end_batch(batches, &batches->first);
    if (batches->count >= batches->looked_at && batches->count >= LEAST) {
        for (struct lp_batch **at = &batches->first; *at != NULL;)
            if (is_over(*at))
                end_batch(batches, at);
            else
                at = &(batches->last = *at)->next;
        batches->looked_at = 2 * batches->count;
    }
}

bool lp_batches_begin(struct lp_batches *batches, struct lp_model *m, int64_t now_ps, bool launches)
{
    struct lp_batch *const batch = batch_create(batches, now_ps);
    if (batch == NULL)
        return false;
    const bool is_idle = !lp_batches_are_in_flight(batches);
    end_batches(batches);
    if (launches) {
        void **const known = (void **)JudyLIns(&batches->by_number, batches->begun + 1, PJE0);
        if (known == NULL || known == PPJERR) {
            batch_free(batch);
            return false;
        }
        *known = batch;
        batch->number = ++batches->begun;
        m->first_batch = is_idle ? batch->number : m->first_batch;
        batch->first_launch = m->launches.last + 1;
    }
    if (batches->first == NULL)
        batches->first = batch;
    else
        batches->last->next = batch;
    batches->last = batches->current = batch;
    batches->count++;
    drop_launches(batches, &m->launches);
    return true;
}

bool lp_batches_name(const struct lp_batches *batches, const char *whose, const char *name)
{
    struct lp_batch *const batch = batches->current;
    batch->whose = whose != NULL ? strdup(whose) : NULL;
    batch->name = name != NULL ? strdup(name) : NULL;
    return (batch->whose != NULL || whose == NULL) && (batch->name != NULL || name == NULL);
}

bool lp_batches_count(const struct lp_batches *batches, struct lp_model *m, uint32_t account)
{
    const uint32_t at = batches->current->number - m->first_batch;
    if (m->accounts.row_words == 0)
        return true;
    if ((at & (at - 1)) == 0) { /* the table has doubled when its length is a power of two */
        uint32_t *const more =
            realloc(m->accounts.of_batch, (at > 0 ? 2 * (size_t)at : 1) * sizeof *more);
        if (more == NULL)
            return false;
        m->accounts.of_batch = more;
    }
    m->accounts.of_batch[at] = account <= m->needs.accounts ? account : 0;
    return true;
}

struct lp_batch *lp_batches_find(const struct lp_batches *batches, uint32_t number)
{
    void **const at = number > 0 ? JudyLGet(batches->by_number, number, PJE0) : NULL;
    return at != NULL ? *at : NULL;
}

uint32_t lp_batches_add_launch(struct lp_batches *batches, struct lp_model *m,
                               const struct tl_kernel *kernel, const struct tl_args *args,
                               uint32_t op)
{
    struct lp_launches *const launches = &m->launches;
    struct lp_batch *const batch = batches->current;
    const uint32_t count = launches->last - launches->dropped;
    if (count > 0) {
        const struct lp_launch *const last = &launches->at[count - 1];
        if (last->of == batch && last->start_ps == INT64_MAX && last->kernel == kernel &&
            last->op == op && memcmp(&last->args, args, sizeof *args) == 0)
            return launches->last;
    }
    if (count == launches->capacity) {
        const uint32_t capacity = launches->capacity ? 2 * launches->capacity : 64;
        struct lp_launch *const at = realloc(launches->at, capacity * sizeof *at);
        if (at == NULL)
            return 0;
        launches->at = at;
        launches->capacity = capacity;
    }
    launches->at[count] = (struct lp_launch){.kernel = kernel,
                                             .args = *args,
                                             .batch = batch->number,
                                             .op = op,
                                             .queue = batch->queue,
                                             .cuts_streams = batch->cuts_streams,
                                             .start_ps = INT64_MAX,
                                             .dirs = batch->dirs,
                                             .of = batch};
    return ++launches->last;
}

const char *lp_launch_whose(const struct lp_launch *launch) { return launch->of->whose; }
const char *lp_launch_call(const struct lp_launch *launch) { return launch->of->name; }

const char *lp_launch_name(const struct lp_launch *launch, char text[LP_LAUNCH_NAME_BYTES])
{
    const struct lp_batch *const batch = launch->of;
    char number[24];
    (void)snprintf(number, sizeof number, "batch %u", launch->batch);
    (void)snprintf(text, LP_LAUNCH_NAME_BYTES, "kernel %.64s of %.64s%s%.64s, rank %u",
                   launch->kernel->name, batch->whose != NULL ? batch->whose : "",
                   batch->whose != NULL ? ", " : "", batch->name != NULL ? batch->name : number,
                   launch->args.rank);
    return text;
}
