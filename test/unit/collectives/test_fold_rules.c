/*
 * test_fold_rules.c: the rules of kernels for folded machines (struct ccl_algorithm, `folds`) are
 * checked against rehearsals: the kernel of every PE that takes part, on every rank, of machines of
 * all sizes. Where a rule says that a fold is kept, each rank's calls are its representative's,
 * with PEs turned; where it says that it is not, some rank's are not.
 *
 * At larger sizes, up to 4,096, a fold that is kept is checked on ranks at the ends and in the
 * middle of each class, and on some that are drawn by the size; where few sizes are tried, on all.
 * Calls are hashed there, not listed. So are the rules of schedules: the parts of those ranks alone
 * are made, and compared step by step.
 *
 * FOLD_SIZES=N: all ranks and folds of all sizes up to N, and all sizes up to 4,096 (make nightly);
 * 13 in CI, and some up to 64, and a few up to 4,096.
 */
#include "test/support/rehearse_tl.h"
#include "test/support/test_config_support.h"

#include "collectives/fold/fold_rule.h"
#include "collectives/schedule/schedule.h"
#include "collectives/topologies.h"
#include "hw/route.h"
#include <time.h>

/* A kernel on a machine. */
struct scene {
    struct hw_config hw;
    struct ccl_config ccl;
    const struct ccl_algorithm *algorithm;
    struct logical logical;
    struct lp_neighbours known; /* of this SIP, in the logical topology */
    uint32_t known_sip;
    struct ccl_call call;
    bool exact;               /* the rule refuses nothing that is kept */
    struct rehearsal *cached; /* [PEs] rehearsed so far; NULL: too many */
    struct rehearsal own, other;
    const struct hw_fold *fold; /* of a digest; and the rank whose turn moves PEs */
    uint32_t turned;
};

/* ---- rehearsals ------------------------------------------------------------------------------ */

/* The queues of the machine, or of the logical topology. */
static bool leads(void *arg, struct hw_place from, enum hw_dir dir, struct hw_place *to)
{
    struct scene *const scene = arg;
    *to = from;
    if (scene->logical.kind == LOGICAL_NONE)
        return dir < HW_DIR_BUILT_IN && hw_dir_neighbour(&scene->hw, from, dir, to);
    if (scene->known_sip != from.sip) {
        logical_neighbours(&scene->logical, from.sip, &scene->known);
        scene->known_sip = from.sip;
    }
    for (uint32_t i = 0; i < scene->known.count; i++)
        if (strcmp(scene->known.at[i].dir, hw_dir_name(dir)) == 0) {
            to->sip = scene->known.at[i].rank;
            return true;
        }
    return false;
}

static bool takes_part(const struct scene *scene, uint32_t cube, uint32_t pe)
{
    return scene->algorithm->takes_part != NULL
               ? scene->algorithm->takes_part(&scene->call, cube, pe)
               : cube == 0 && pe == 0;
}

static void rehearse_at(struct scene *scene, struct rehearsal *r, struct hw_place place)
{
    struct ccl_call call = scene->call;
    const uint32_t itemsize = tl_itemsize(call.dtype);
    call.rank = place.sip;
    r->hw = &scene->hw;
    r->place = place;
    r->slot_bytes = scene->ccl.queues.slot_bytes;
    r->slots_in_tcm = scene->ccl.queues.slots == HW_MEMORY_TCM;
    r->leads = leads;
    r->arg = scene;
    r->args = (struct tl_args){.n_elem = call.n_elem,
                               .shard_bytes = call.n_elem * itemsize,
                               .rank = place.sip,
                               .dtype = (uint8_t)call.dtype,
                               .math = (uint8_t)call.math};
    r->args.region[0] = r->args.region[1] = (struct tl_region){1, 1, 1};
    if (scene->algorithm->kernel_args != NULL)
        scene->algorithm->kernel_args(&call, &r->args);
    rehearse(r, scene->algorithm->kernel);
}

/* The calls at a place, in `spare` or as they were rehearsed before. */
static const struct rehearsal *calls_at(struct scene *scene, struct rehearsal *spare,
                                        struct hw_place place)
{
    struct rehearsal *const r =
        scene->cached != NULL ? &scene->cached[hw_pe_index(&scene->hw, place)] : spare;
    if (r == spare || r->count == 0)
        rehearse_at(scene, r, place);
    return r;
}

/* The calls at both places are the same, but for the turn that takes x to its representative. */
static bool is_turned(const struct scene *scene, const struct hw_fold *fold, uint32_t x,
                      const struct rehearsal *own, const struct rehearsal *other)
{
    const uint32_t pitch = hw_cubes(&scene->hw) * hw_pes(&scene->hw);
    if (own->count != other->count)
        return false;
    for (size_t i = 0; i < own->count; i++) {
        const struct rehearsal_note *const a = &own->note[i];
        struct rehearsal_note b = other->note[i];
        if (b.peer != UINT32_MAX)
            b.peer = hw_fold_moved(fold, x, b.peer / pitch) * pitch + b.peer % pitch;
        if (memcmp(a, &b, sizeof b) != 0)
            return false;
    }
    return true;
}

/* All ranks' calls are their representatives'. */
static bool all_are_turned(struct scene *scene, const struct hw_fold *fold)
{
    for (uint32_t index = 0; index < fold->sips; index++)
        for (uint32_t cube = 0; cube < hw_cubes(&scene->hw); cube++)
            for (uint32_t pe = 0; pe < hw_pes(&scene->hw); pe++) {
                const uint32_t r = hw_fold_sip(fold, index);
                if (!takes_part(scene, cube, pe))
                    continue;
                const struct rehearsal *const own =
                    calls_at(scene, &scene->own, (struct hw_place){r, cube, pe});
                for (uint32_t k = 1; k < hw_fold_alike(fold); k++) {
                    const uint32_t x = hw_fold_member(fold, r, k);
                    const struct rehearsal *const other =
                        calls_at(scene, &scene->other, (struct hw_place){x, cube, pe});
                    if (!is_turned(scene, fold, x, own, other))
                        return false;
                }
            }
    return true;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static uint64_t kept, refused;

static bool rule_keeps(void *arg, const struct hw_fold *fold)
{
    struct scene *const scene = arg;
    char why[CCL_FOLD_WHY_BYTES] = "";
    return fold->sips == fold->of || scene->algorithm->folds(&scene->call, fold, why);
}

static void check_rule(struct scene *scene, const struct hw_fold *fold)
{
    char why[CCL_FOLD_WHY_BYTES] = "";
    if (fold->sips == fold->of)
        return;
    const bool says = scene->algorithm->folds(&scene->call, fold, why);
    const bool is = all_are_turned(scene, fold);
    if (says ? !is : is && scene->exact)
        fail_msg("%s on %s of %u (%u x %u), fold to %u: the rule says %s, a rehearsal %s: %s",
                 scene->algorithm->name, scene->hw.sip_topology->name, scene->hw.sip_count,
                 scene->hw.sip_w, scene->hw.sip_h, fold->sips, says ? "yes" : "no",
                 is ? "yes" : "no", why);
    kept += is && fold->sips < fold->of;
    refused += !is;
}

/* Each digit's turns alone, and the fold that the rule allows. */
static void check_candidate(struct scene *scene, struct hw_fold fold)
{
    struct hw_fold one = fold;
    for (uint32_t d = 0; d < fold.count; d++)
        hw_fold_set_step(&one, d, fold.digit[d].size);
    for (uint32_t d = 0; scene->cached != NULL && d < fold.count; d++) {
        for (uint32_t step = fold.digit[d].step; step < fold.digit[d].size; step++)
            if (fold.digit[d].size % step == 0 && step % fold.digit[d].step == 0) {
                hw_fold_set_step(&one, d, step);
                check_rule(scene, &one);
            }
        hw_fold_set_step(&one, d, fold.digit[d].size);
    }
    hw_fold_narrow(&fold, rule_keeps, scene);
    check_rule(scene, &fold);
}

enum { MANY = 96 }; /* of more SIPs, few of the machines */

static bool has_cache(const struct scene *scene) { return scene->hw.sip_count <= MANY; }

static void check_scene(struct scene *scene)
{
    struct ccl_refusal refusal;
    struct cw_error error;
    struct hw_fold fold;
    char why[HW_FOLD_WHY_BYTES];
    const uint32_t pes = hw_pe_count(&scene->hw);
    scene->known_sip = UINT32_MAX;
    scene->call = (struct ccl_call){.hw = &scene->hw,
                                    .ccl = &scene->ccl,
                                    .collective = scene->algorithm->collective,
                                    .world_size = scene->hw.sip_count,
                                    .n_elem = scene->hw.sip_count * 4ull,
                                    .dtype = LP_F16,
                                    .math = LP_MATH_SUM};
    if (logical_find(scene->ccl.topology, scene->hw.sip_count, &scene->hw, &scene->logical,
                     &error) != CW_OK ||
        (scene->algorithm->check != NULL &&
         scene->algorithm->check(&scene->call, &refusal) != CW_OK))
        return;
    scene->cached = has_cache(scene) ? calloc(pes, sizeof *scene->cached) : NULL;
    for (uint32_t number = 0; number < 4 && hw_fold_candidate(&scene->hw, number, &fold); number++)
        if (hw_fold_keeps(&scene->hw, &fold, why))
            check_candidate(scene, fold);
    for (uint32_t i = 0; scene->cached != NULL && i < pes; i++)
        rehearsal_free(&scene->cached[i]);
    free(scene->cached);
}

/* ---- machines -------------------------------------------------------------------------------- */

/* The machine with other SIPs; false: the topology does not join so many. */
static bool join(struct scene *scene, const struct config *config, const char *topology,
                 struct hw_sip_size given, uint32_t sips)
{
    struct hw_sip_size size;
    struct hw_misfit misfit;
    const struct hw_topology_ops *const ops = hw_topology_find(topology);
    scene->hw = config->hw;
    scene->ccl = config->ccl;
    scene->hw.sip_count = sips;
    if (!ops->fit(sips, given, &size, &misfit))
        return false;
    hw_join_sips(&scene->hw, ops, &size);
    return true;
}

static void check_size(struct scene *scene, const struct config *config, uint32_t sips)
{
    const bool one_cube = hw_cubes(&config->hw) == 1;
    static const char *const rows[] = {"ring_1d", "switch", "fully_connected"};
    if (one_cube && join(scene, config, "pair_switch", (struct hw_sip_size){0}, sips))
        check_scene(scene);
    for (size_t i = 0; i < COUNT_OF(rows) && !one_cube; i++)
        if (join(scene, config, rows[i], (struct hw_sip_size){0}, sips))
            check_scene(scene);
    for (uint32_t w = 2; w < sips && !one_cube; w++)
        if (sips % w == 0 && (sips <= MANY || (w * w <= sips && 4 * w * w >= sips)) &&
            join(scene, config, "torus_2d", (struct hw_sip_size){.w = w, .h = sips / w}, sips))
            check_scene(scene);
    for (uint32_t w = 2; w * w * w <= sips && sips <= MANY && !one_cube; w++)
        if (sips % (w * w) == 0 &&
            join(scene, config, "torus_3d", (struct hw_sip_size){.w = w, .h = w, .d = sips / w / w},
                 sips))
            check_scene(scene);
}

/* Kernels that go by themselves: a spanning tree is made by the runtime, and never folds. */
static bool is_rehearsed(const struct ccl_algorithm *algorithm)
{
    return algorithm->schedule == NULL && algorithm->choose == NULL &&
           algorithm->machine.relay == CCL_RELAY_NONE;
}

/* birs_inter refuses turns of packages altogether; where their number is a power of two, some of
 * them keep its tree. */
static bool is_exact(const struct ccl_algorithm *algorithm)
{
    return strcmp(algorithm->name, "birs_inter") != 0;
}

/* ---- all sizes ------------------------------------------------------------------------------- */

enum { LARGEST = 4096, DRAWN = 2 };

/* The number of a member of a class, the i-th that is looked at; 0: there are no more. */
static uint32_t member_at(const struct hw_fold *fold, uint32_t i, bool all)
{
    const uint32_t alike = hw_fold_alike(fold);
    const uint32_t near[] = {1, alike / 2, alike - 1};
    if (all || alike <= COUNT_OF(near) + DRAWN)
        return i + 1 < alike ? i + 1 : 0;
    if (i < COUNT_OF(near))
        return near[i];
    return i < COUNT_OF(near) + DRAWN
               ? 1 + (uint32_t)(hw_mix((uint64_t)fold->of << 8 | i) % (alike - 1))
               : 0;
}

/* The representatives that are looked at, likewise; UINT32_MAX: there are no more. */
static uint32_t representative_at(const struct hw_fold *fold, uint32_t i, bool all)
{
    const uint32_t near[] = {0, fold->sips / 2, fold->sips - 1};
    if (all || fold->sips <= COUNT_OF(near))
        return i < fold->sips ? hw_fold_sip(fold, i) : UINT32_MAX;
    return i < COUNT_OF(near) ? hw_fold_sip(fold, near[i]) : UINT32_MAX;
}

static uint32_t moved_pe(void *arg, uint32_t pe)
{
    const struct scene *const scene = arg;
    const uint32_t pitch = hw_cubes(&scene->hw) * hw_pes(&scene->hw);
    return hw_fold_moved(scene->fold, scene->turned, pe / pitch) * pitch + pe % pitch;
}

/* A hash of a rank's calls, with PEs turned to where its representative is. */
static uint64_t digest_at(struct scene *scene, struct hw_place place)
{
    scene->other.moved = moved_pe;
    scene->turned = place.sip;
    rehearse_at(scene, &scene->other, place);
    return scene->other.digest;
}

static void check_digests(struct scene *scene, uint32_t r, bool all)
{
    const struct hw_fold *const fold = scene->fold;
    for (uint32_t pe = 0; pe < hw_cubes(&scene->hw) * hw_pes(&scene->hw); pe++) {
        struct hw_place place = {r, pe / hw_pes(&scene->hw), pe % hw_pes(&scene->hw)};
        if (!takes_part(scene, place.cube, place.pe))
            continue;
        const uint64_t own = digest_at(scene, place);
        for (uint32_t i = 0, k; (k = member_at(fold, i, all)) > 0; i++) {
            place.sip = hw_fold_member(fold, r, k);
            if (digest_at(scene, place) != own)
                fail_msg("%s on %s of %u, fold to %u: rank %u differs from rank %u",
                         scene->algorithm->name, scene->hw.sip_topology->name, scene->hw.sip_count,
                         fold->sips, place.sip, r);
        }
    }
}

/* Who writes a chunk: any step of the rank; the thread whose steps are looked at, so far. */
struct written {
    bool ever, so_far;
};

/* A schedule's parts of two ranks, and their chunks. */
struct parts {
    const struct scene *scene;
    const struct schedule *schedule;
    uint32_t x;
    bool alone; /* each part has one thread, which is the only one that writes its chunks */
    struct written *own[SCHEDULE_BUFFERS], *other[SCHEDULE_BUFFERS];
};

static struct written *written_at(const struct parts *p, struct written *const *written,
                                  struct schedule_chunks chunks)
{
    const bool is_output = p->schedule->in_place && chunks.buffer == SCHEDULE_INPUT;
    return &written[is_output ? SCHEDULE_OUTPUT : chunks.buffer][chunks.at];
}

/* Whether some chunk of a step's source is written, as far as a load of it may have to wait. */
static struct written reads_written(const struct parts *p, struct written *const *written,
                                    const struct schedule_step *step)
{
    struct written any = {false, false};
    const struct written *const at = written_at(p, written, step->src);
    for (uint32_t i = 0; schedule_op_reads((enum schedule_op)step->op) && i < step->count; i++) {
        any.ever |= at[i].ever;
        any.so_far |= at[i].so_far;
    }
    return any;
}

static void note_written(const struct parts *p, struct written *const *written,
                         const struct schedule_step *step, bool so_far)
{
    struct written *const at = written_at(p, written, step->dst);
    for (uint32_t i = 0; schedule_op_writes((enum schedule_op)step->op) && i < step->count; i++)
        at[i] = (struct written){true, so_far};
}

static void note_all(const struct parts *p, struct written *const *written,
                     const struct schedule_rank *rank)
{
    for (uint32_t i = 0; i < rank->step_count; i++)
        note_written(p, written, &rank->step[i], false);
}

static bool is_moved_rank(const struct parts *p, uint32_t own, uint32_t other)
{
    return other == SCHEDULE_NO_RANK ? own == other
                                     : own == hw_fold_moved(p->scene->fold, p->x, other);
}

static bool is_same_step(const struct parts *p, const struct schedule_step *a,
                         const struct schedule_step *b)
{
    const enum schedule_op op = (enum schedule_op)a->op;
    const struct written mine = reads_written(p, p->own, a), theirs = reads_written(p, p->other, b);
    return a->op == b->op && a->channel == b->channel && a->count == b->count &&
           a->joined == b->joined && a->awaited == b->awaited && a->wait_first == b->wait_first &&
           a->wait_count == b->wait_count && is_moved_rank(p, a->send_to, b->send_to) &&
           is_moved_rank(p, a->recv_from, b->recv_from) &&
           (!schedule_op_reads(op) || a->src.buffer == b->src.buffer) &&
           (!schedule_op_writes(op) || a->dst.buffer == b->dst.buffer) &&
           mine.ever == theirs.ever && (!p->alone || mine.so_far == theirs.so_far);
}

static bool is_same_thread(const struct parts *p, const struct schedule_rank *a,
                           const struct schedule_rank *b, uint32_t t)
{
    if (memcmp(&a->thread[t], &b->thread[t], sizeof a->thread[t]) != 0)
        return false;
    note_all(p, p->own, a);
    note_all(p, p->other, b);
    for (uint32_t k = 0; k < a->thread[t].step_count; k++) {
        const uint32_t i = a->thread[t].step_first + k;
        if (!is_same_step(p, &a->step[i], &b->step[i]))
            return false;
        note_written(p, p->own, &a->step[i], true);
        note_written(p, p->other, &b->step[i], true);
    }
    return true;
}

static bool is_same_part(struct parts *p, const struct schedule_rank *a,
                         const struct schedule_rank *b)
{
    if (a->thread_count != b->thread_count || a->step_count != b->step_count ||
        a->wait_count != b->wait_count || memcmp(a->chunks, b->chunks, sizeof a->chunks) != 0 ||
        memcmp(a->wait, b->wait, a->wait_count * sizeof *a->wait) != 0)
        return false;
    for (unsigned buffer = 0; buffer < SCHEDULE_BUFFERS; buffer++) {
        p->own[buffer] = calloc(a->chunks[buffer] + 1u, sizeof **p->own);
        p->other[buffer] = calloc(a->chunks[buffer] + 1u, sizeof **p->other);
    }
    bool same = true;
    p->alone = a->thread_count == p->schedule->parts;
    for (uint32_t t = 0; same && t < a->thread_count; t++)
        same = is_same_thread(p, a, b, t);
    for (unsigned buffer = 0; buffer < SCHEDULE_BUFFERS; buffer++) {
        free(p->own[buffer]);
        free(p->other[buffer]);
    }
    return same;
}

static void check_parts(struct scene *scene, uint32_t r, bool all)
{
    struct ccl_call call = scene->call;
    struct cw_error error;
    for (uint32_t i = 0, k = 1; k > 0;) {
        uint32_t wanted[16] = {r};
        call.wanted = wanted;
        for (call.wanted_count = 1; call.wanted_count < COUNT_OF(wanted); i++) {
            k = member_at(scene->fold, i, all);
            if (k == 0)
                break;
            wanted[call.wanted_count++] = hw_fold_member(scene->fold, r, k);
        }
        struct schedule *const made = schedule_ask(scene->algorithm, &call, &error);
        assert_non_null(made);
        assert_true(made->partial);
        for (uint32_t x = 1; x < made->rank_count; x++) {
            struct parts parts = {.scene = scene, .schedule = made, .x = wanted[x]};
            if (!is_same_part(&parts, &made->rank[0], &made->rank[x]))
                fail_msg("%s on %s of %u, fold to %u: rank %u differs from rank %u",
                         scene->algorithm->name, scene->hw.sip_topology->name, scene->hw.sip_count,
                         scene->fold->sips, wanted[x], r);
        }
        schedule_free(made);
    }
}

/* The fold that the rule allows on a machine, if it allows one. */
static void check_large(struct scene *scene, bool all)
{
    struct ccl_refusal refusal;
    struct cw_error error;
    struct hw_fold fold;
    scene->known_sip = UINT32_MAX;
    scene->call = (struct ccl_call){.hw = &scene->hw,
                                    .ccl = &scene->ccl,
                                    .collective = scene->algorithm->collective,
                                    .world_size = scene->hw.sip_count,
                                    .n_elem = scene->hw.sip_count * UINT64_C(240),
                                    .dtype = LP_F16,
                                    .math = LP_MATH_SUM};
    if (scene->algorithm->schedule == NULL) /* slices of all ranks, or one tile */
        scene->call.n_elem = scene->algorithm->collective == CCL_REDUCE_SCATTER
                                 ? scene->hw.sip_count * UINT64_C(4)
                                 : 20;
    if (logical_find(scene->ccl.topology, scene->hw.sip_count, &scene->hw, &scene->logical,
                     &error) != CW_OK ||
        (scene->algorithm->check != NULL &&
         scene->algorithm->check(&scene->call, &refusal) != CW_OK))
        return;
    assert_true(hw_fold_candidate(&scene->hw, 0, &fold));
    if (!rule_keeps(scene, &fold))
        hw_fold_narrow(&fold, rule_keeps, scene);
    if (fold.sips == fold.of) {
        refused++;
        return;
    }
    assert_true(rule_keeps(scene, &fold));
    kept++;
    scene->fold = &fold;
    for (uint32_t i = 0, rank; (rank = representative_at(&fold, i, all)) != UINT32_MAX; i++)
        if (scene->algorithm->schedule != NULL)
            check_parts(scene, rank, all);
        else
            check_digests(scene, rank, all);
}

/* The largest divisor of a number that is at most `most`. */
static uint32_t divisor(uint32_t of, uint32_t most)
{
    while (of % most != 0)
        most--;
    return most;
}

/* One row of SIPs, a torus of two and one of three dimensions; on one cube pairs of dies. */
static void check_large_size(struct scene *scene, const struct config *config, uint32_t sips,
                             bool all)
{
    static const char *const rows[] = {"ring_1d", "switch", "fully_connected"};
    uint32_t w = 1, d = 1;
    while ((w + 1) * (w + 1) <= sips)
        w++;
    while ((d + 1) * (d + 1) * (d + 1) <= sips)
        d++;
    w = divisor(sips, w);
    d = divisor(sips, d);
    const uint32_t rest = sips / d;
    uint32_t h = 1;
    while ((h + 1) * (h + 1) <= rest)
        h++;
    h = divisor(rest, h);
    if (hw_cubes(&config->hw) == 1) {
        if (join(scene, config, "pair_switch", (struct hw_sip_size){0}, sips))
            check_large(scene, all);
        return;
    }
    if (join(scene, config, rows[sips % COUNT_OF(rows)], (struct hw_sip_size){0}, sips))
        check_large(scene, all);
    if (w > 1 && join(scene, config, "torus_2d", (struct hw_sip_size){.w = sips / w, .h = w}, sips))
        check_large(scene, all);
    if (d > 1 && h > 1 &&
        join(scene, config, "torus_3d", (struct hw_sip_size){.w = rest / h, .h = h, .d = d}, sips))
        check_large(scene, all);
}

/* All ranks are looked at. */
static bool is_whole(uint32_t sips)
{
    static const uint32_t whole[] = {243, 256, 625, 1000, 1024, 2048, 4096};
    for (size_t i = 0; i < COUNT_OF(whole); i++)
        if (sips == whole[i])
            return getenv("FOLD_SIZES") != NULL;
    return false;
}

static void check_large_sizes(const struct ccl_algorithm *algorithm, uint32_t cubes)
{
    static const uint32_t some[] = {97, 128, 255, 600, 2048, LARGEST - 1, LARGEST};
    const bool every = getenv("FOLD_SIZES") != NULL;
    char named[80], width[40], height[40];
    snprintf(named, sizeof named, "defaults.algorithm=%s", algorithm->name);
    snprintf(width, sizeof width, "sip.cube_mesh.w=%u", cubes);
    snprintf(height, sizeof height, "sip.cube_mesh.h=%u", cubes);
    const char *const sets[] = {named, width, height, "defaults.slot_size=64"};
    struct config *const config = load_with("tiny", sets, COUNT_OF(sets));
    struct scene scene = {.algorithm = algorithm};
    for (uint32_t i = 0; i < (every ? LARGEST - MANY : COUNT_OF(some)); i++) {
        const uint32_t sips = every ? MANY + 1 + i : some[i];
        check_large_size(&scene, config, sips, is_whole(sips));
    }
    rehearsal_free(&scene.own);
    rehearsal_free(&scene.other);
    config_free(config);
}

static void check_algorithm(const struct ccl_algorithm *algorithm, const char *set,
                            const uint32_t *sizes, size_t count)
{
    for (uint32_t cubes = 1; cubes <= 2; cubes++) {
        char named[80], width[40], height[40];
        snprintf(named, sizeof named, "defaults.algorithm=%s", algorithm->name);
        snprintf(width, sizeof width, "sip.cube_mesh.w=%u", cubes);
        snprintf(height, sizeof height, "sip.cube_mesh.h=%u", cubes);
        const char *const sets[] = {named, width, height, "defaults.slot_size=64", set};
        struct config *const config = load_with("tiny", sets, set != NULL ? 5 : 4);
        struct scene scene = {.algorithm = algorithm, .exact = set == NULL && is_exact(algorithm)};
        for (size_t i = 0; i < count; i++)
            check_size(&scene, config, sizes[i]);
        rehearsal_free(&scene.own);
        rehearsal_free(&scene.other);
        config_free(config);
    }
}

static uint32_t sizes_up_to(uint32_t *sizes)
{
    const char *const wanted = getenv("FOLD_SIZES");
    static const uint32_t some[] = {16, 18, 24, 27, 36, 64};
    uint32_t count = 0;
    const uint32_t all = wanted != NULL ? (uint32_t)atoi(wanted) : 13;
    for (uint32_t n = 1; n <= all; n++)
        sizes[count++] = n;
    for (size_t i = 0; i < COUNT_OF(some); i++)
        if (some[i] > all)
            sizes[count++] = some[i];
    return count;
}

static void rules_say_what_rehearsals_show(void **state)
{
    (void)state;
    static uint32_t sizes[MANY + 8];
    const uint32_t count = sizes_up_to(sizes);
    for (uint32_t i = 0; ccl_algorithm_at(i) != NULL; i++)
        if (is_rehearsed(ccl_algorithm_at(i))) {
            kept = refused = 0;
            check_algorithm(ccl_algorithm_at(i), NULL, sizes, count);
            print_message("%s: %llu folds kept, %llu not\n", ccl_algorithm_at(i)->name,
                          (unsigned long long)kept, (unsigned long long)refused);
            assert_true(kept + refused > 0);
        }
}

static void rules_hold_at_all_sizes(void **state)
{
    (void)state;
    for (uint32_t i = 0; ccl_algorithm_at(i) != NULL; i++) {
        const struct ccl_algorithm *const algorithm = ccl_algorithm_at(i);
        if (!is_rehearsed(algorithm) && (algorithm->schedule == NULL || algorithm->folds == NULL))
            continue;
        kept = refused = 0;
        const clock_t begun = clock();
        for (uint32_t cubes = 1; cubes <= 2; cubes++)
            check_large_sizes(algorithm, cubes);
        print_message("%s: %llu machines fold, %llu do not, %.1f s\n", algorithm->name,
                      (unsigned long long)kept, (unsigned long long)refused,
                      (double)(clock() - begun) / CLOCKS_PER_SEC);
    }
}

/* Options that change which tensors are taken when. */
static void rules_know_the_options(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {2, 3, 4, 6, 9, 12, 16};
    static const struct {
        const char *name, *set;
    } options[] = {
        {"lrab_hierarchical_allreduce", "defaults.rank_invariant=true"},
        {"lrab_pipelined_allreduce", "defaults.overlap_exchange=true"},
        {"pe_hierarchical_allreduce", "defaults.root=corner"},
        {"ring_all_gather", "defaults.buffer_kind=sram"},
        {"ring_allreduce", "defaults.buffer_kind=hbm"},
    };
    for (size_t i = 0; i < COUNT_OF(options); i++)
        check_algorithm(ccl_algorithm_find(options[i].name), options[i].set, sizes,
                        COUNT_OF(sizes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules_say_what_rehearsals_show),
                                       cmocka_unit_test(rules_hold_at_all_sizes),
                                       cmocka_unit_test(rules_know_the_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
