/*
 * msccl_algorithm.c: the files that were read, and the hooks of their algorithms
 * (msccl_algorithm.h).
 */
#include "collectives/msccl/msccl_algorithm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectives/config/input/nearest_file.h"
#include "collectives/msccl/msccl_file.h"
#include "collectives/schedule/schedule_check.h"
#include "collectives/schedule/schedule_faults.h"
#include "collectives/schedule/schedule_kernel.h"
#include "collectives/schedule/schedule_rings.h"

struct loaded {
    struct ccl_algorithm algorithm;
    struct stat stat; /* of the file when it was read */
    uint64_t contents;
    enum lp_protocol protocol;
    uint32_t slots_for, slots; /* the latest answer of msccl_algorithm_slots() */
    bool reported;             /* its hazards, and its notes */
    bool root_by_steps;
    bool by_size; /* its steps depend on the size of the tensors */
    struct schedule_faults notes;
    struct schedule *schedule;
    uint32_t sound_for; /* the slots for which the schedule was last found to be without faults */
    bool sound_strictly;
    char *path, *name;
    struct loaded *next;
};

/* The latest first. Never freed: results and messages name their algorithms until the end. */
static struct loaded *all_loaded;

static const struct ccl_algorithm *msccl_algorithm(const char *path, struct cw_error *error);

static struct loaded *find_loaded(const struct ccl_algorithm *algorithm)
{
    struct loaded *at = all_loaded;
    while (at != NULL && &at->algorithm != algorithm)
        at = at->next;
    return at;
}

/* The first of these, a line each. */
static void report_some(const struct schedule_faults *hazards, const char *what)
{
    enum { LINES_MAX = 5 };
    const char *line = hazards->text;
    uint32_t lines = 0;
    for (; line != NULL && *line != '\0' && lines < LINES_MAX; lines++) {
        const size_t bytes = strcspn(line, "\n");
        fprintf(stderr, "cubewarp: note: %.*s\n", (int)bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
    if (hazards->count > lines)
        fprintf(stderr, "cubewarp: note: and %u more %s\n", hazards->count - lines, what);
}

/* Hazards are reported once, and refused under strict validation only: results may be right with
 * them. */
static int check_file(struct loaded *loaded, const struct ccl_config *ccl, struct cw_error *error)
{
    struct schedule_faults hazards = {0};
    if (loaded->sound_for == ccl->queues.n_slots &&
        loaded->sound_strictly == ccl->strict_validation)
        return CW_OK;
    const int code = schedule_check(loaded->schedule, ccl->queues.n_slots, NULL,
                                    ccl->strict_validation ? NULL : &hazards, error);
    loaded->sound_for = code == CW_OK ? ccl->queues.n_slots : 0;
    loaded->sound_strictly = ccl->strict_validation;
    if (code == CW_OK && !loaded->reported) {
        if (loaded->root_by_steps)
            fprintf(stderr, "cubewarp: note: %s: the root is gpu %u, by its steps\n", loaded->path,
                    loaded->schedule->root);
        report_some(&hazards, "hazards");
        if (hazards.count > 0 && loaded->schedule->collective == CCL_CUSTOM)
            fprintf(stderr,
                    "cubewarp: note: %s: its result may depend on which of these steps comes "
                    "first; data are compared with one order of them\n",
                    loaded->path);
        report_some(&loaded->notes, "such steps");
        loaded->reported = true;
    }
    schedule_faults_free(&hazards);
    return code;
}

/* The schedule for calls of the size that is expected, of a file whose steps depend on it. */
static struct schedule *schedule_for(struct loaded *loaded, const struct ccl_call *call,
                                     struct cw_error *error)
{
    struct msccl_file file;
    if (loaded->schedule->collective == CCL_CUSTOM) /* whose chunks have one size */
        return schedule_share(loaded->schedule);
    const bool gathers = loaded->schedule->collective == CCL_ALL_GATHER;
    const uint64_t bytes =
        call->n_elem * tl_itemsize(call->dtype) * (gathers ? loaded->schedule->rank_count : 1);
    if (msccl_read_for(loaded->path, bytes, &file, error) != CW_OK)
        return NULL;
    struct schedule *const schedule = file.schedule;
    file.schedule = NULL;
    msccl_file_free(&file);
    return schedule;
}

/* The schedule hook: the file that is configured. */
static struct schedule *msccl_schedule(const struct ccl_call *call, struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = msccl_algorithm(call->ccl->module, error);
    if (algorithm == NULL)
        return NULL;
    struct loaded *const loaded = find_loaded(algorithm);
    if (loaded->schedule->rank_count != call->world_size)
        (void)cw_error_set(error, CW_USAGE,
                           "%.300s is for %u gpus, and there are %u ranks; legal is world_size %u, "
                           "or as many SIPs",
                           loaded->path, loaded->schedule->rank_count, call->world_size,
                           loaded->schedule->rank_count);
    else if (check_file(loaded, call->ccl, error) == CW_OK)
        return loaded->by_size ? schedule_for(loaded, call, error)
                               : schedule_share(loaded->schedule);
    return NULL;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* "ring" of dir/ring.xml, on the heap. */
static char *name_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const base = slash != NULL ? slash + 1 : path;
    const char *const dot = strrchr(base, '.');
    return strndup(base, dot > base ? (size_t)(dot - base) : strlen(base));
}

static enum lp_protocol protocol_of(const char *name)
{
    return strcmp(name, "LL") == 0 ? LP_LL : strcmp(name, "LL128") == 0 ? LP_LL128 : LP_SIMPLE;
}

static const struct ccl_algorithm *load_file(const char *path, const struct stat *stat,
                                             struct cw_error *error)
{
    struct msccl_file file = {0};
    struct loaded *const loaded = calloc(1, sizeof *loaded);
    char *const kept = strdup(path), *const name = name_of(path);
    const bool made = loaded != NULL && kept != NULL && name != NULL;
    if (!made)
        (void)cw_error_memory(error, "a file with a schedule");
    if (!made || msccl_read(kept, &file, error) != CW_OK) {
        free(loaded);
        free(kept);
        free(name);
        return NULL;
    }
    *loaded = (struct loaded){
        .algorithm = {.name = name,
                      .collective = file.schedule->collective,
                      .kernel = &schedule_kernel,
                      .machine = {.tcm_bytes = file.schedule->reaches ? schedule_reach_tcm_bytes
                                                                      : schedule_tcm_bytes},
                      .schedule = msccl_schedule},
        .stat = *stat,
        .contents = file.contents,
        .protocol = protocol_of(file.protocol),
        .schedule = file.schedule,
        .root_by_steps = file.root_by_steps,
        .by_size = file.by_size,
        .notes = file.notes,
        .path = kept,
        .name = name,
        .next = all_loaded};
    all_loaded = loaded;
    return &loaded->algorithm;
}

static const struct ccl_algorithm *msccl_algorithm(const char *path, struct cw_error *error)
{
    struct stat now;
    if (stat(path, &now) != 0) {
        for (const struct loaded *at = all_loaded; at != NULL; at = at->next)
            if (strcmp(at->path, path) == 0)
                return &at->algorithm; /* the last that was read: a run continues with it */
        char meant[NEAREST_FILE_BYTES];
        (void)cw_error_set(
            error, CW_USAGE,
            "%.300s cannot be read: %s; legal is an MSCCL XML file or an MSCCL++ plan%s", path,
            strerror(errno), nearest_file_hint(path, NULL, meant));
        return NULL;
    }
    if (S_ISDIR(now.st_mode)) {
        (void)cw_error_set(error, CW_USAGE,
                           "%.300s is a folder; legal is an MSCCL XML file or an MSCCL++ plan",
                           path);
        return NULL;
    }
    for (const struct loaded *at = all_loaded; at != NULL; at = at->next)
        if (strcmp(at->path, path) == 0 && same_file(&at->stat, &now))
            return &at->algorithm;
    return load_file(path, &now, error);
}

/* The least number of slots that will do; n_slots: none will. */
static uint32_t slots_of(const struct schedule *schedule, uint32_t n_slots)
{
    enum { SLOTS_MAX = 65536 };
    struct schedule_faults faults = {0};
    struct schedule_graph *const graph = schedule_graph_create(schedule, &faults);
    uint32_t slots = n_slots;
    if (graph != NULL && graph->ordered == graph->steps)
        while (slots <= SLOTS_MAX && schedule_rings_tiles(graph, slots, NULL) == 0)
            slots *= 2;
    schedule_graph_free(graph);
    schedule_faults_free(&faults);
    return slots <= SLOTS_MAX ? slots : n_slots;
}

static uint32_t msccl_algorithm_slots(const struct ccl_algorithm *algorithm, uint32_t n_slots)
{
    struct loaded *const at = find_loaded(algorithm);
    if (at == NULL)
        return n_slots;
    if (at->slots_for != n_slots) {
        struct schedule_faults hazards = {0};
        struct cw_error ignored;
        const bool sound = schedule_check(at->schedule, 0, NULL, &hazards, &ignored) == CW_OK;
        schedule_faults_free(&hazards);
        at->slots = sound ? slots_of(at->schedule, n_slots) : n_slots;
        at->slots_for = n_slots;
    }
    return at->slots;
}

static uint64_t msccl_algorithm_contents(const struct ccl_algorithm *algorithm)
{
    for (const struct loaded *at = all_loaded; at != NULL; at = at->next)
        if (&at->algorithm == algorithm)
            return at->contents;
    return 0;
}

static enum lp_protocol msccl_algorithm_protocol(const struct ccl_algorithm *algorithm)
{
    const struct loaded *const loaded = find_loaded(algorithm);
    return loaded != NULL ? loaded->protocol : LP_SIMPLE;
}

/* Chunks of a custom file move from one place to another, so they have one size. */
static struct ccl_fixed msccl_algorithm_fixed(const struct ccl_algorithm *algorithm)
{
    const struct loaded *const loaded = find_loaded(algorithm);
    const enum ccl_collective collective = algorithm->collective;
    return (struct ccl_fixed){
        .root =
            loaded != NULL && schedule_has_root(collective) ? loaded->schedule->root : UINT32_MAX,
        .multiple = loaded != NULL && collective == CCL_CUSTOM ? loaded->schedule->loop_chunks : 1};
}

const struct ccl_algorithm_files ccl_msccl = {.load = msccl_algorithm,
                                              .slots = msccl_algorithm_slots,
                                              .contents = msccl_algorithm_contents,
                                              .protocol = msccl_algorithm_protocol,
                                              .fixed = msccl_algorithm_fixed};
