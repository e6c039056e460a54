/*
 * study_unused.c: asks of each kind of point which of its settings a run of it would not use
 * (study_unused.h). Points that differ in sizes and speeds alone are of one kind.
 */
#include "bench/study/study_unused.h"

#include <stdlib.h>
#include <string.h>

#include "bench/options/options_run.h"
#include "bench/options/options_unused.h"
#include "bench/result/run_line.h"
#include "bench/study/study_estimate.h"

/* A setting that some point does not use. */
struct unused {
    char *name, *why; /* the first point's reason */
    uint32_t points;  /* that do not use it */
    uint32_t has_it;  /* that have it */
};

struct finding {
    struct unused *list;
    uint32_t count;
    uint32_t alike; /* points of the kind under way */
    bool failed;
};

static struct unused *find(struct finding *finding, const char *name)
{
    for (uint32_t i = 0; i < finding->count; i++)
        if (strcmp(finding->list[i].name, name) == 0)
            return &finding->list[i];
    return NULL;
}

static void note_unused(void *arg, const char *key, const char *place, const char *why)
{
    struct finding *const finding = arg;
    struct unused *unused = find(finding, key);
    (void)place;
    if (unused == NULL) {
        struct unused *const more =
            realloc(finding->list, (finding->count + 1) * sizeof *finding->list);
        finding->failed |= more == NULL;
        if (more == NULL)
            return;
        finding->list = more;
        unused = &more[finding->count++];
        *unused = (struct unused){.name = strdup(key), .why = strdup(why)};
        finding->failed |= unused->name == NULL || unused->why == NULL;
        if (finding->failed)
            return;
    }
    unused->points += finding->alike;
}

/* One point of a kind. One that is not legal has nothing to say: it will be refused. */
static void ask_point(struct finding *finding, const struct study *study, uint32_t point)
{
    struct run_options *const run = malloc(sizeof *run);
    struct option_parse parse = {.command = COMMAND_RUN, .values = run};
    struct config_errors errors = {0};
    struct cw_error ignored;
    struct config *config = NULL;
    struct study_settings settings = study_settings_of(study, point);
    finding->failed |= run == NULL || settings.list == NULL;
    if (!finding->failed) {
        run_options_defaults(run);
        if (study_settings_give(&settings, &parse, &ignored) == CW_OK &&
            run_line_configure(run, run->is_bench_named ? RUN_LINE_BENCH : RUN_LINE_ANY_BENCH,
                               &config, &errors) == CW_OK)
            options_unused_visit(&parse, config, false, note_unused, finding);
        config_free(config);
        config_errors_free(&errors);
    }
    free(settings.list);
    free(run);
}

/* Whether a setting may decide what a run uses, rather than how large or fast it is. */
static bool is_of_kind(const struct study_setting *setting)
{
    static const char *const others[] = {"links.",   "nodes.",     "bytes",  "n-elem",
                                         "minbytes", "iters",      "seed",   "jitter.seed",
                                         "maxbytes", "stepfactor", "warmup", "stepbytes"};
    bool is_other = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_other |= strncmp(setting->name, others[i], strlen(others[i])) == 0;
    return !is_other || strcmp(setting->name, "nodes.pe_math.free_operands") == 0;
}

/* How many of the points have the setting. */
static void count_points(struct finding *finding, const struct study *study, const uint32_t *points,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count && finding->count > 0 && !finding->failed; i++) {
        struct study_settings settings = study_settings_of(study, points[i]);
        finding->failed |= settings.list == NULL;
        for (uint32_t k = 0; k < settings.count && settings.list != NULL; k++) {
            struct unused *const unused = find(finding, settings.list[k].name);
            if (unused != NULL)
                unused->has_it++;
        }
        free(settings.list);
    }
}

static void print_one(FILE *file, const struct unused *unused)
{
    const bool begins = strncmp(unused->why, CONFIG_UNUSED, strlen(CONFIG_UNUSED)) == 0;
    const char *const why = unused->why + (begins ? strlen(CONFIG_UNUSED) : 0);
    if (unused->points >= unused->has_it)
        fprintf(file, "cubewarp sweep: %s: no point uses it; %s\n", unused->name, why);
    else
        fprintf(file, "cubewarp sweep: %s: %u of %u points do not use it; %s\n", unused->name,
                unused->points, unused->has_it, why);
}

bool study_unused_print(FILE *file, const struct study *study, const uint32_t *points,
                        uint32_t count)
{
    struct finding finding = {0};
    uint32_t *const first = malloc(((size_t)count + 1) * sizeof *first);
    uint32_t *const alike = calloc((size_t)count + 1, sizeof *alike);
    finding.failed = first == NULL || alike == NULL ||
                     !study_find_alike(study, points, count, is_of_kind, first);
    for (uint32_t i = 0; i < count && !finding.failed; i++)
        alike[first[i]]++;
    for (uint32_t i = 0; i < count && !finding.failed; i++)
        if (first[i] == i) {
            finding.alike = alike[i];
            ask_point(&finding, study, points[i]);
        }
    count_points(&finding, study, points, count);
    for (uint32_t i = 0; i < finding.count; i++) {
        if (!finding.failed)
            print_one(file, &finding.list[i]);
        free(finding.list[i].name);
        free(finding.list[i].why);
    }
    free(finding.list);
    free(first);
    free(alike);
    return !finding.failed;
}
