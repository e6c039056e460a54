/*
 * sets.c: the tables (sets.h).
 */
#include "perf/sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cw.h"
#include "perf/matrix.h"

#define LRAB_ALGORITHM "--algorithm lrab_hierarchical_allreduce "

/* ---- models ---------------------------------------------------------------------------------- */

/* Each takes a quarter to half a second on one thread. */
static const struct model {
    const char *name, *command;
    const char *bare; /* arguments of the bare loops; NULL: they do not run this model */
} models[] = {
    {"phold-10", "phold --remote 10% --end 150", NULL},
    {"phold-25", "phold --remote 25% --end 150", "random 4096 16 100"},
    {"phold-50", "phold --remote 50% --end 150", NULL},
    {"phold-1m", "phold --lps 65536 --end 8", "random 65536 16 4"},
    {"phold-16m", "phold --lps 1048576 --end 2", NULL},
    {"phold-sparse", "phold --lps 256 --population 1 --end 20000", NULL},
    {"phold-short", "phold --lookahead 0.0001 --end 150", NULL},
    {"phold-zero", "phold --lookahead 0 --end 150", NULL},
    {"mesh", "phold --traffic mesh --end 8", "mesh 4096 16 4"},
    {"lrab-64", "run --preset pod64 " LRAB_ALGORITHM "--no-data --n-elem 8192 --iters 30", NULL},
    {"lrab-64-pe0",
     "run --preset pod64 " LRAB_ALGORITHM
     "--set defaults.wiring=pe0 --no-data --n-elem 8192 --iters 30",
     NULL},
    {"lrab-1024", "run --preset pod1024 " LRAB_ALGORITHM "--no-data --n-elem 8192", NULL},
    {"lrab-1024-pe0",
     "run --preset pod1024 " LRAB_ALGORITHM "--set defaults.wiring=pe0 --no-data --n-elem 8192",
     NULL},
    {"self-test", "phold --lps 16 --population 4 --end 20", NULL},
};

/* ---- modes ----------------------------------------------------------------------------------- */

enum {
    CALENDAR = 1,
    HEAP = 2,
    SEQ = 4,
    CONS = 8,
    OPT = 16,
    ADAPT = 32,
    PARALLEL = CONS | OPT | ADAPT
};

static const struct mode {
    unsigned bit;
    const char *name, *bare;
} modes[] = {
    {CALENDAR, "calendar", "calendar"}, {HEAP, "heap", "heap"},    {SEQ, "sequential", NULL},
    {CONS, "conservative", NULL},       {OPT, "optimistic", NULL}, {ADAPT, "adaptive", NULL},
};

/* ---- sets ------------------------------------------------------------------------------------ */

enum {
    QUICK = 1,
    PHOLD = 2,
    LRAB = 4,
    BARE = 8,
    NIGHTLY = 16,
    SELF_TEST = 32,
    MATRIX = 64,
    MATRIX_SHORT = 128
};

static const struct {
    unsigned bit;
    const char *name, *help;
} sets[] = {
    {QUICK, "quick", "the cases in which most changes of speed show, in a minute"},
    {PHOLD, "phold", "PHOLD at remote 10, 25 and 50 %, one thread and all, each mode"},
    {LRAB, "lrab", "all-reduce on pod64 and pod1024, queues on PE 0 or on all PEs, each mode"},
    {BARE, "bare", "the sequential engine against bare loops over a calendar queue and a heap"},
    {NIGHTLY, "nightly", "all of these, every number of threads, short lookaheads, a million LPs"},
    {MATRIX_SHORT, "matrix-short", "a dozen models of the matrix"},
    {MATRIX, "matrix",
     "PHOLD of 16 to 65,536 LPs, all-reduce on 2 to 64 SIPs: threads never lose; half an hour"},
    {SELF_TEST, "self-test", "next to nothing: whether the harness works"},
};
#define SETS (sizeof sets / sizeof *sets)

/* Which sets take a model, and in which modes on one thread and on several. */
static const struct row {
    unsigned sets;
    const char *model;
    unsigned one, several;
} rows[] = {
    {QUICK, "phold-25", CALENDAR | SEQ | OPT | ADAPT, PARALLEL},
    {QUICK, "phold-10", SEQ, ADAPT},
    {QUICK, "phold-50", SEQ, ADAPT},
    {QUICK, "phold-1m", SEQ, 0},
    {QUICK, "mesh", SEQ, 0},
    {QUICK, "lrab-64", SEQ, ADAPT},
    {QUICK, "lrab-64-pe0", SEQ, 0},
    {QUICK, "lrab-1024", SEQ, ADAPT},
    {PHOLD | NIGHTLY, "phold-10", SEQ | PARALLEL, PARALLEL},
    {PHOLD | NIGHTLY, "phold-25", SEQ | PARALLEL, PARALLEL},
    {PHOLD | NIGHTLY, "phold-50", SEQ | PARALLEL, PARALLEL},
    {LRAB | NIGHTLY, "lrab-64", SEQ | PARALLEL, PARALLEL},
    {LRAB | NIGHTLY, "lrab-64-pe0", SEQ | PARALLEL, PARALLEL},
    {LRAB | NIGHTLY, "lrab-1024", SEQ | PARALLEL, PARALLEL},
    {LRAB | NIGHTLY, "lrab-1024-pe0", SEQ | PARALLEL, PARALLEL},
    {BARE, "phold-25", CALENDAR | HEAP | SEQ, 0},
    {BARE, "phold-1m", CALENDAR | HEAP | SEQ, 0},
    {BARE, "mesh", HEAP | SEQ, 0},
    {NIGHTLY, "phold-25", CALENDAR | HEAP, 0},
    {NIGHTLY, "phold-1m", CALENDAR | HEAP | SEQ, PARALLEL},
    {NIGHTLY, "phold-16m", SEQ, ADAPT},
    {NIGHTLY, "phold-sparse", SEQ, CONS | ADAPT},
    {NIGHTLY, "phold-short", SEQ, CONS | ADAPT},
    {NIGHTLY, "phold-zero", SEQ, ADAPT},
    {NIGHTLY, "mesh", HEAP | SEQ, CONS | ADAPT},
    {SELF_TEST, "self-test", SEQ, ADAPT},
};
#define ROWS (sizeof rows / sizeof *rows)

/* ---- goals ----------------------------------------------------------------------------------- */

#define MIB (UINT64_C(1) << 20)

static const struct perf_goal goals[] = {
    {.name = "phold-25/sequential/1", .events_per_s = 25e6},
    {.name = "phold-25/sequential/1",
     .to = "phold-25/calendar/1",
     .ratio_near = 1.2,
     .ratio_far = 1.2},
    {.name = "phold-1m/sequential/1", .events_per_s = 11e6},
    {.name = "mesh/sequential/1", .events_per_s = 18e6},
    {.name = "phold-25/optimistic/1", .ratio_near = 0.72, .ratio_far = 0.72},
    {.name = "phold-25/conservative/1", .ratio_near = 0.93, .ratio_far = 0.93},
    {.name = "phold-25/adaptive/1", .ratio_near = 0.93, .ratio_far = 0.93},
    {.name = "phold-10/adaptive/2", .ratio_near = 1.8, .ratio_far = 1.6, .efficiency = 0.5},
    {.name = "phold-25/adaptive/2",
     .ratio_near = 1.7,
     .ratio_far = 1.55,
     .efficiency = 0.5,
     .rss_bytes_max = 32 * MIB},
    {.name = "phold-50/adaptive/2", .ratio_near = 1.65, .ratio_far = 1.5, .efficiency = 0.5},
    {.name = "phold-25/optimistic/2", .ratio_near = 1.4, .ratio_far = 1.25},
    {.name = "phold-short/adaptive/2", .ratio_near = 1.3, .ratio_far = 1.3, .efficiency = 0.5},
    {.name = "phold-zero/adaptive/2", .ratio_near = 1.3, .ratio_far = 1.3, .efficiency = 0.5},
    {.name = "phold-1m/adaptive/2", .efficiency = 0.5, .rss_bytes_max = 256 * MIB},
    {.name = "phold-16m/sequential/1", .rss_bytes_max = 8192 * MIB},
    {.name = "phold-16m/adaptive/2", .efficiency = 0.5, .rss_bytes_max = 8192 * MIB},
    {.name = "phold-sparse/adaptive/2", .efficiency = 0.5},
    {.name = "mesh/adaptive/2", .efficiency = 0.5},
    {.name = "lrab-64/adaptive/2", .efficiency = 0.5},
    {.name = "lrab-64-pe0/adaptive/2", .efficiency = 0.5},
    {.name = "lrab-1024/adaptive/2", .efficiency = 0.5},
    {.name = "lrab-1024-pe0/adaptive/2", .efficiency = 0.5},
};

/* Of each model of the matrix: more threads are nowhere slower than one. */
static const struct perf_goal matrix_goal = {.ratio_near = 0.95, .ratio_far = 0.95};

const struct perf_goal *perf_goal_of(const char *name, size_t i)
{
    if (strncmp(name, "matrix-", 7) == 0)
        return i == 0 && strstr(name, "/adaptive/") != NULL ? &matrix_goal : NULL;
    for (size_t k = 0; k < sizeof goals / sizeof *goals; k++)
        if (strcmp(goals[k].name, name) == 0 && i-- == 0)
            return &goals[k];
    return NULL;
}

bool perf_is_bare(const char *name)
{
    const char *const mode = name + strcspn(name, "/");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (modes[i].bare != NULL && *mode == '/' &&
            strncmp(mode + 1, modes[i].name, strlen(modes[i].name)) == 0)
            return true;
    return false;
}

void perf_reference_of(const char *name, char reference[PERF_NAME_BYTES])
{
    snprintf(reference, PERF_NAME_BYTES, "%.*s/sequential/1", (int)strcspn(name, "/"), name);
}

/* ---- from the tables to cases ---------------------------------------------------------------- */

const char *perf_set_name(size_t i) { return i < SETS ? sets[i].name : NULL; }
const char *perf_set_help(size_t i) { return i < SETS ? sets[i].help : NULL; }

static const struct model *model_of(const char *name)
{
    size_t i = 0;
    while (strcmp(models[i].name, name) != 0)
        i++;
    return &models[i];
}

struct cases {
    struct perf_case *cases;
    size_t count;
    bool out_of_memory;
};

static bool has(const struct cases *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->cases[i].name, name) == 0)
            return true;
    return false;
}

static void sets_add(struct cases *list, const struct model *model, const struct mode *mode,
                     uint32_t threads)
{
    struct perf_case one = {.threads = threads,
                            .program = mode->bare != NULL ? PERF_BARE : PERF_CUBEWARP};
    snprintf(one.name, sizeof one.name, "%s/%s/%u", model->name, mode->name, (unsigned)threads);
    if (mode->bare != NULL)
        snprintf(one.command, sizeof one.command, "%s %s", mode->bare, model->bare);
    else
        snprintf(one.command, sizeof one.command, "%s --sync %s --threads %u", model->command,
                 mode->name, (unsigned)threads);
    if (has(list, one.name))
        return;
    struct perf_case *const cases = realloc(list->cases, (list->count + 1) * sizeof *cases);
    if (cases == NULL) {
        list->out_of_memory = true;
        return;
    }
    list->cases = cases;
    cases[list->count++] = one;
}

/* All modes of a row on one number of threads. */
static void add_modes(struct cases *list, const struct row *row, uint32_t threads)
{
    const unsigned wanted = threads == 1 ? row->one : row->several;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (wanted & modes[i].bit)
            sets_add(list, model_of(row->model), &modes[i], threads);
}

/* A model of the matrix on one thread and on two. */
static void add_of_matrix(void *arg, const char *name, const char *command)
{
    const struct model model = {name, command, NULL};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (modes[i].bit & (SEQ | ADAPT))
            sets_add(arg, &model, &modes[i], modes[i].bit == SEQ ? 1 : 2);
}

int perf_set_cases(const char *set, uint32_t cores, struct perf_case **cases, size_t *count,
                   struct cw_error *error)
{
    unsigned bit = 0;
    for (size_t i = 0; i < SETS; i++)
        if (strcmp(sets[i].name, set) == 0)
            bit = sets[i].bit;
    if (bit == 0) {
        char names[160] = "";
        for (size_t i = 0; i < SETS; i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? ", " : "",
                     sets[i].name);
        return cw_error_set(error, CW_USAGE, "--set %.80s: no such set; there are: %s", set, names);
    }
    struct cases list = {.count = 0};
    const uint32_t all = cores > 1 ? cores : 2; /* on one core two threads still must be right */
    if (bit & (MATRIX | MATRIX_SHORT))
        perf_matrix_each(bit == MATRIX, add_of_matrix, &list);
    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].sets & bit) == 0)
            continue;
        add_modes(&list, &rows[i], 1);
        for (uint32_t threads = 2; bit == NIGHTLY && threads < all; threads *= 2)
            add_modes(&list, &rows[i], threads);
        add_modes(&list, &rows[i], all);
    }
    *cases = list.cases;
    *count = list.count;
    if (!list.out_of_memory)
        return CW_OK;
    return cw_error_memory(error, "the cases of a set");
}
