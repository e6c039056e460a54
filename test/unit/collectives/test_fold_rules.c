/*
 * test_fold_rules.c: the rules of kernels for folded machines (struct ccl_algorithm, `folds`) are
 * checked against rehearsals: the kernel of every PE that takes part, on every rank, of machines of
 * all sizes. Where a rule says that a fold is kept, each rank's calls are its representative's,
 * with PEs turned; where it says that it is not, some rank's are not.
 *
 * FOLD_SIZES=N: all sizes up to N, and some up to 4,096 (make nightly); 20 in CI, and some up
 * to 64.
 */
#include "test/support/rehearse_tl.h"
#include "test/support/test_config_support.h"

#include "collectives/fold/fold_rule.h"
#include "collectives/topologies.h"
#include "hw/route.h"

/* A kernel on a machine. */
struct scene {
    struct hw_config hw;
    struct ccl_config ccl;
    const struct ccl_algorithm *algorithm;
    struct logical logical;
    struct ccl_call call;
    bool exact;               /* the rule refuses nothing that is kept */
    struct rehearsal *cached; /* [PEs] rehearsed so far; NULL: too many */
    struct rehearsal own, other;
};

/* ---- rehearsals ------------------------------------------------------------------------------ */

/* The queues of the machine, or of the logical topology. */
static bool leads(void *arg, struct hw_place from, enum hw_dir dir, struct hw_place *to)
{
    const struct scene *const scene = arg;
    struct lp_neighbours map;
    *to = from;
    if (scene->logical.kind == LOGICAL_NONE)
        return dir < HW_DIR_BUILT_IN && hw_dir_neighbour(&scene->hw, from, dir, to);
    logical_neighbours(&scene->logical, from.sip, &map);
    for (uint32_t i = 0; i < map.count; i++)
        if (strcmp(map.at[i].dir, hw_dir_name(dir)) == 0) {
            to->sip = map.at[i].rank;
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
    static const uint32_t large[] = {100, 128, 243, 256, 625, 1000, 1024, 4096};
    uint32_t count = 0;
    const uint32_t all = wanted != NULL ? (uint32_t)atoi(wanted) : 13;
    for (uint32_t n = 1; n <= all; n++)
        sizes[count++] = n;
    for (size_t i = 0; i < COUNT_OF(some); i++)
        if (some[i] > all)
            sizes[count++] = some[i];
    for (size_t i = 0; i < COUNT_OF(large) && wanted != NULL; i++)
        if (large[i] > all)
            sizes[count++] = large[i];
    return count;
}

static void rules_say_what_rehearsals_show(void **state)
{
    (void)state;
    static uint32_t sizes[4200];
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
                                       cmocka_unit_test(rules_know_the_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
