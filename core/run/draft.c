/*
 * draft.c: moves parts on paper, from the busiest worker to the idlest (draft.h).
 */
#include "core/run/draft.h"

#include "core/cw.h"

enum { PAIRS_MAX = 4096 }; /* of workers that one draft looks at */

#define REST_MIN    0.05
#define PAYBACK_S   1.0
#define S_PER_EVENT 100e-9 /* to undo, copy and queue one that moves */

double draft_loads(const struct draft *draft, const uint32_t *part_worker, double *mean)
{
    double most = 0, sum = 0;
    for (uint32_t i = 0; i < draft->worker_count; i++)
        draft->load[i] = 0;
    for (uint32_t part = 0; part < draft->part_count; part++) {
        double *const load = &draft->load[part_worker[part]];
        *load += draft->part_work[part];
        sum += draft->part_work[part];
        most = *load > most ? *load : most;
    }
    *mean = sum / draft->worker_count;
    return most;
}

/* Whether the last parts of worker `from` are the ones nearest to `to`'s. */
static bool goes_backwards(const struct draft *draft, const uint32_t *part_worker, uint32_t from,
                           uint32_t to)
{
    uint64_t places_from = 0, count_from = 1, places_to = 0, count_to = 1;
    for (uint32_t part = 0; part < draft->part_count; part++) {
        places_from += part_worker[part] == from ? part : 0;
        count_from += part_worker[part] == from;
        places_to += part_worker[part] == to ? part : 0;
        count_to += part_worker[part] == to;
    }
    return places_to * count_from > places_from * count_to;
}

/* Parts of worker `from` go to worker `to` until the two are even. A part that would leave `to`
 * with more than `from` goes only if that halves the gap at least. Returns whether any went. */
static bool even_pair(const struct draft *draft, uint32_t *part_worker, uint32_t from, uint32_t to)
{
    const bool backwards = goes_backwards(draft, part_worker, from, to);
    bool any = false;
    for (uint32_t i = 0; i < draft->part_count; i++) {
        const uint32_t part = backwards ? draft->part_count - 1 - i : i;
        const double gap = draft->load[from] - draft->load[to];
        const double work = draft->part_work[part];
        if (part_worker[part] != from || work <= 0 || 2 * work > gap * 1.5)
            continue;
        part_worker[part] = to;
        draft->load[from] -= work;
        draft->load[to] += work;
        any = true;
    }
    return any;
}

double draft_even_out(const struct draft *draft, uint32_t *part_worker)
{
    double mean;
    const double before = draft_loads(draft, part_worker, &mean);
    double after = before;
    for (unsigned i = 0; i < PAIRS_MAX; i++) {
        uint32_t most = 0, least = 0;
        for (uint32_t worker = 1; worker < draft->worker_count; worker++) {
            most = draft->load[worker] > draft->load[most] ? worker : most;
            least = draft->load[worker] < draft->load[least] ? worker : least;
        }
        after = draft->load[most];
        if (most == least || !even_pair(draft, part_worker, most, least))
            break;
    }
    return before > 0 ? 1 - after / before : 0;
}

double draft_gain(const struct draft_cost *cost)
{
    const double busy = cost->busy < 1 ? cost->busy : 1;
    const double rest = 1 - busy > REST_MIN ? 1 - busy : REST_MIN;
    double windows = 1; /* this many times as many */
    if (cost->after_ps < cost->before_ps) {
        if (cost->after_ps <= 0 || cost->before_ps == CW_TIME_MAX)
            return 0;
        windows = (double)cost->before_ps / (double)cost->after_ps;
    }
    const double gain = 1 - busy * (1 - cost->off) - rest * windows;
    return gain * PAYBACK_S > S_PER_EVENT * cost->moved ? gain : 0;
}
