/*
 * perf_run.c: keeping and summing up measurements (perf_run.h).
 */
#include "perf/perf_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "collectives/config/input/text.h"
#include "core/os/affinity.h"

/* Given to the program, and to it alone, by its build; absent in a test. */
extern const char cw_build_commit[] __attribute__((weak));

void perf_run_free(struct perf_run *run)
{
    for (size_t i = 0; i < run->case_count; i++)
        free(run->cases[i].samples);
    free(run->cases);
    *run = (struct perf_run){.case_count = 0};
}

static void put_underscores(char *text, const char *others)
{
    const bool is_utf8 = text_utf8_prefix(text, strlen(text)) == strlen(text);
    for (char *at = text; *at != '\0'; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (byte < 0x20 || byte == 0x7f || strchr(others, byte) != NULL ||
            (byte >= 0x80 && !is_utf8))
            *at = '_';
    }
}

void perf_name_clean(char *name) { put_underscores(name, "<>&\"|,"); }

void perf_run_clean(struct perf_run *run)
{
    perf_name_clean(run->started);
    perf_name_clean(run->commit);
    char *const compared[] = {run->version, run->set, run->machine.host, run->machine.cpu,
                              run->machine.kernel};
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        put_underscores(compared[i], "");
}

struct perf_case_run *perf_run_add(struct perf_run *run, const char *name, const char *command,
                                   uint32_t threads)
{
    struct perf_case_run *const cases =
        realloc(run->cases, (run->case_count + 1) * sizeof *run->cases);
    if (cases == NULL)
        return NULL;
    run->cases = cases;
    struct perf_case_run *const added = &cases[run->case_count++];
    *added = (struct perf_case_run){.threads = threads};
    snprintf(added->name, sizeof added->name, "%s", name);
    snprintf(added->command, sizeof added->command, "%s", command);
    return added;
}

void perf_run_keep(struct perf_run *run, size_t count)
{
    while (run->case_count > count)
        free(run->cases[--run->case_count].samples);
}

const struct perf_case_run *perf_run_find(const struct perf_run *run, const char *name)
{
    for (size_t i = 0; i < run->case_count; i++)
        if (strcmp(run->cases[i].name, name) == 0)
            return &run->cases[i];
    return NULL;
}

bool perf_sample_is_sound(const struct perf_sample *sample)
{
    const double figures[] = {sample->events_per_s, sample->run_s,          sample->setup_s,
                              sample->cpu_s,        sample->efficiency,     sample->before.loop_ns,
                              sample->before.gain,  sample->before.line_ns, sample->after.loop_ns,
                              sample->after.gain,   sample->after.line_ns};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!(figures[i] >= 0 && figures[i] <= 1e15))
            return false;
    return true;
}

bool perf_case_add(struct perf_case_run *measured, const struct perf_sample *sample)
{
    struct perf_sample *const samples =
        realloc(measured->samples, (measured->sample_count + 1) * sizeof *samples);
    if (samples == NULL)
        return false;
    measured->samples = samples;
    samples[measured->sample_count++] = *sample;
    return true;
}

/* ---- summing up ------------------------------------------------------------------------------ */

/* A list of figures that grows as far as it was made for. */
struct figures {
    double *figure;
    size_t count;
};

static struct figures figures_of(size_t room)
{
    return (struct figures){.figure = perf_figures_alloc(room)};
}

static double gain_of(const struct perf_sample *sample)
{
    return (sample->before.gain + sample->after.gain) / 2;
}

static enum perf_state state_of(const struct perf_sample *sample)
{
    const enum perf_state state = perf_state_of(&sample->before);
    return perf_state_of(&sample->after) == state ? state : PERF_MIXED;
}

static bool is_in(const struct perf_sample *sample, enum perf_state state)
{
    return state == PERF_MIXED || state_of(sample) == state;
}

static void count_rounds(struct perf_summary *summary, const struct perf_case_run *measured,
                         enum perf_state state)
{
    for (size_t i = 0; i < measured->sample_count; i++) {
        const struct perf_sample *const sample = &measured->samples[i];
        if (!is_in(sample, state))
            continue;
        const enum perf_state own = state_of(sample);
        summary->state = summary->rounds == 0 || summary->state == own ? own : PERF_MIXED;
        summary->rounds++;
        summary->disturbed += sample->disturbed;
        summary->repeats += sample->repeats;
        if (sample->rss_bytes > summary->rss_bytes)
            summary->rss_bytes = sample->rss_bytes;
    }
}

struct perf_summary perf_summary_of(const struct perf_case_run *measured, enum perf_state state)
{
    struct perf_summary summary = {.state = state};
    const size_t room = measured->sample_count;
    struct figures rates = figures_of(room), efficiencies = figures_of(room),
                   gains = figures_of(room);
    count_rounds(&summary, measured, state);
    const bool all = 2 * summary.disturbed >= summary.rounds;
    for (size_t i = 0; i < measured->sample_count; i++) {
        const struct perf_sample *const sample = &measured->samples[i];
        if (!is_in(sample, state) || (sample->disturbed && !all))
            continue;
        rates.figure[rates.count++] = sample->events_per_s;
        efficiencies.figure[efficiencies.count++] = sample->efficiency;
        gains.figure[gains.count++] = gain_of(sample);
    }
    summary.events_per_s = perf_spread_of(rates.figure, rates.count);
    summary.efficiency = perf_median(efficiencies.figure, efficiencies.count);
    summary.gain = perf_median(gains.figure, gains.count);
    free(gains.figure);
    free(efficiencies.figure);
    free(rates.figure);
    return summary;
}

static const struct perf_sample *sample_of_round(const struct perf_case_run *measured,
                                                 uint32_t round)
{
    for (size_t i = 0; i < measured->sample_count; i++)
        if (measured->samples[i].round == round)
            return &measured->samples[i];
    return NULL;
}

struct perf_spread perf_ratio_of(const struct perf_case_run *measured,
                                 const struct perf_case_run *to, bool scaled, enum perf_state state)
{
    struct figures calm = figures_of(measured->sample_count);
    struct figures any = figures_of(measured->sample_count);
    for (size_t i = 0; i < measured->sample_count; i++) {
        const struct perf_sample *const mine = &measured->samples[i];
        const struct perf_sample *const other = sample_of_round(to, mine->round);
        if (!is_in(mine, state) || other == NULL || other->events_per_s <= 0)
            continue;
        const bool scales = scaled && measured->threads > 1 && state_of(mine) != PERF_ONE_CORE;
        const double scale = scales ? 2 / gain_of(mine) : 1;
        any.figure[any.count++] = mine->events_per_s / other->events_per_s * scale;
        if (!mine->disturbed && !other->disturbed)
            calm.figure[calm.count++] = any.figure[any.count - 1];
    }
    const struct figures *const used = 2 * calm.count > any.count ? &calm : &any;
    const struct perf_spread spread = perf_spread_of(used->figure, used->count);
    free(calm.figure);
    free(any.figure);
    return spread;
}

/* ---- where and when -------------------------------------------------------------------------- */

void perf_run_begin(struct perf_run *run, const char *set)
{
    *run = (struct perf_run){.machine = {.cores = perf_cores()}};
    struct utsname name;
    if (uname(&name) == 0) {
        snprintf(run->machine.host, sizeof run->machine.host, "%.90s", name.nodename);
        snprintf(run->machine.kernel, sizeof run->machine.kernel, "%.30s %.60s", name.sysname,
                 name.release);
    }
    affinity_cpu_name(run->machine.cpu, sizeof run->machine.cpu);
    const char *volatile const commit = cw_build_commit; /* may be absent, whatever its type says */
    snprintf(run->commit, sizeof run->commit, "%s", commit != NULL ? commit : "unknown");
    snprintf(run->version, sizeof run->version, "%s", CW_VERSION);
    snprintf(run->set, sizeof run->set, "%s", set);
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL)
        strftime(run->started, sizeof run->started, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
