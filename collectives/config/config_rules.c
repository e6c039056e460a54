/*
 * config_rules.c: the rules between several values, checked when all layers are in place:
 * required keys, `extends`, the chosen algorithm, grids of SIPs, cubes and PEs, the root cube. A
 * rule whose values are missing, because they were wrong, is silent: that error is already there.
 */
#include "collectives/config/config_rules.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "collectives/algorithm.h"
#include "collectives/config/builtin_files.h"
#include "collectives/config/config_faults.h"
#include "collectives/config/config_groups.h"
#include "collectives/config/config_jitter.h"
#include "collectives/config/config_ranks.h"
#include "collectives/config/config_value.h"
#include "collectives/config/input/meaning.h"
#include "collectives/config/input/text.h"
#include "hw/topology/topology.h"

#define LIST_BYTES 800u

/* Whether one of the words between '_' of a name is this one. */
static bool has_part(const char *name, const char *word)
{
    const size_t bytes = strlen(word);
    for (const char *at = name; *at != '\0'; at += strcspn(at, "_"), at += *at == '_')
        if (bytes > 0 && strncasecmp(at, word, bytes) == 0 &&
            (at[bytes] == '_' || at[bytes] == '\0'))
            return true;
    return false;
}

static bool is_preset(const char *word)
{
    char name[NAME_MAX + 1];
    snprintf(name, sizeof name, "presets/%.200s.yaml", word);
    for (size_t i = 0; i < builtin_file_count; i++)
        if (strcmp(builtin_files[i].name, name) == 0)
            return true;
    return false;
}

/* "did you mean 'a', 'b' or 'c'? ": the entries with such a word in their name, else the nearest by
 * spelling, else an answer by meaning. */
static void guess_algorithm(const struct config_tree *tree, const char *word, char hint[LIST_BYTES])
{
    enum { SHOWN_MAX = 6 };
    struct text_nearest nearest = {0};
    const char *found[SHOWN_MAX];
    size_t count = 0, n = 0;
    for (const struct config_algorithm *entry = tree->algorithms; entry != NULL;
         entry = entry->next) {
        if (strcmp(entry->name, word) == 0)
            continue; /* an option has just made it */
        text_nearest_try(&nearest, word, entry->name);
        if (count < SHOWN_MAX && has_part(entry->name, word))
            found[count++] = entry->name;
    }
    char text[MEANING_BYTES];
    const char *const meaning = meaning_of(word, strlen(word), text);
    if (count == 0 && nearest.best != NULL && nearest.distance < 3 && !is_preset(word))
        found[count++] = nearest.best;
    hint[0] = '\0';
    for (size_t i = 0; i < count; i++)
        n += (size_t)snprintf(hint + n, LIST_BYTES - n, "%s'%s'",
                              i == 0           ? "did you mean "
                              : i + 1 == count ? " or "
                                               : ", ",
                              found[i]);
    if (count > 0)
        snprintf(hint + n, LIST_BYTES - n, "? ");
    else if (meaning != NULL)
        snprintf(hint, LIST_BYTES, "that is %s; ", meaning);
    else if (is_preset(word))
        snprintf(hint, LIST_BYTES, "that is a preset: --preset %.60s; ", word);
    else if (strncmp(word, "ccl_", 4) == 0)
        snprintf(hint, LIST_BYTES, "that is a bench: --bench %.40s; ", word);
    else if (nearest.best != NULL)
        snprintf(hint, LIST_BYTES, "did you mean '%s'? ", nearest.best);
}

void config_unknown_algorithm(struct config_loader *loader, const struct config_tree *tree,
                              const char *path, const struct config_value *value)
{
    char hint[LIST_BYTES];
    guess_algorithm(tree, value->text, hint);
    config_error(loader, value->place,
                 "%s: no algorithm '%s'; %s`cubewarp list algorithms` lists them", path,
                 value->text, hint);
}

/* Links `extends` of every entry to the entry it names. */
static void resolve_extends(struct config_loader *loader, struct config_tree *tree, int extends)
{
    for (struct config_algorithm *entry = tree->algorithms; entry != NULL; entry = entry->next) {
        const struct config_value *const value = &entry->value[extends];
        if (!config_given(value))
            continue;
        char path[CCL_NAME_BYTES + 32];
        snprintf(path, sizeof path, "algorithms.%s.extends", entry->name);
        entry->extends = config_algorithm_find(tree, value->text);
        if (entry->extends == NULL)
            config_unknown_algorithm(loader, tree, path, value);
    }
}

/* Reports each cycle once, at the entry in it that comes first, and cuts every entry in it. */
static void cut_cycles(struct config_loader *loader, struct config_tree *tree, int extends)
{
    for (struct config_algorithm *entry = tree->algorithms; entry != NULL; entry = entry->next) {
        char chain[LIST_BYTES];
        snprintf(chain, sizeof chain, "%s", entry->name);
        struct config_algorithm *other = entry->extends;
        for (uint32_t steps = 0; other != NULL && other != entry && steps < tree->algorithm_count;
             steps++) {
            const size_t used = strlen(chain);
            snprintf(chain + used, sizeof chain - used, " -> %s", other->name);
            other = other->extends;
        }
        if (other != entry)
            continue;
        config_error(loader, entry->value[extends].place,
                     "algorithms.%s.extends: a cycle: %s -> %s; an entry must not inherit from "
                     "itself",
                     entry->name, chain, entry->name);
        for (other = entry; other != NULL;) {
            struct config_algorithm *const next = other->extends;
            other->extends = NULL;
            other = next;
        }
    }
}

static void require_key(struct config_loader *loader, const struct config_tree *tree,
                        const struct config_algorithm *entry, const char *name)
{
    const int key = config_ccl_find(name);
    if (config_given(config_ccl_value(tree, entry, key)))
        return;
    const int extends = config_ccl_find("extends");
    for (const struct config_algorithm *from = entry; from != NULL; from = from->extends)
        if (from->value[key].wrong || from->value[extends].wrong)
            return;
    if (!loader->sources[entry->place.source - 1].is_file) { /* options override entries of files */
        char guess[LIST_BYTES];
        guess_algorithm(tree, entry->name, guess);
        if (strcmp(name, "module") == 0)
            config_error(loader, entry->place,
                         "no algorithm '%s'; %s`cubewarp list algorithms` lists them", entry->name,
                         guess);
        return;
    }
    char legal[400], hint[CCL_NAME_BYTES + 32] = "";
    struct text_nearest nearest = {0};
    for (const struct config_algorithm *other = tree->algorithms; other != NULL;
         other = other->next)
        if (other != entry)
            text_nearest_try(&nearest, entry->name, other->name);
    if (nearest.best != NULL)
        snprintf(hint, sizeof hint, "; did you mean '%s'?", nearest.best);
    config_error(loader, entry->place, "algorithms.%s: missing key '%s'; expected %s%s",
                 entry->name, name,
                 config_legal(&config_ccl_keys[config_ccl_find(name)], legal, sizeof legal), hint);
}

void config_check_algorithms(struct config_loader *loader, struct config_tree *tree)
{
    const int extends = config_ccl_find("extends");
    const size_t errors_before = loader->errors->count;
    resolve_extends(loader, tree, extends);
    cut_cycles(loader, tree, extends);
    if (loader->errors->count == errors_before) {
        for (const struct config_algorithm *entry = tree->algorithms; entry != NULL;
             entry = entry->next) {
            require_key(loader, tree, entry, "module");
            require_key(loader, tree, entry, "topology");
        }
    }
    const struct config_value *const chosen = &tree->defaults[config_ccl_find("algorithm")];
    if (!config_given(chosen))
        return;
    tree->chosen = config_algorithm_find(tree, chosen->text);
    if (tree->chosen == NULL)
        config_unknown_algorithm(loader, tree, "defaults.algorithm", chosen);
    else
        tree->chosen->runs = true;
}

/* A whole number of the machine; 0 if it was not given, or given wrong. */
static uint32_t machine_count(const struct config_tree *tree, const char *path)
{
    const struct config_value *const value = config_machine_value(tree, path);
    return config_given(value) ? (uint32_t)value->number.mantissa : 0;
}

static const char *stop_name(const void *list, uint32_t stop, char *text, size_t bytes)
{
    return graph_list_stop_name(list, stop, text, bytes);
}

/* Makes the topology of a graph, whose number of SIPs is the machine's. */
static void join_graph(struct config_loader *loader, struct config_tree *tree,
                       const struct config_value *topology)
{
    const struct graph_list *const list = &topology->graph->list;
    struct config_value *const count = &tree->machine[config_machine_find("system.sips.count")];
    char why[HW_GRAPH_WHY_BYTES], text[16];
    uint8_t *const kinds = config_arena_alloc(loader->arena, list->switches + 1);
    snprintf(text, sizeof text, "%" PRIu32, list->sips);
    const bool is_given = config_given(count) && count->place.source > 0 &&
                          !loader->sources[count->place.source - 1].is_shipped &&
                          (count->place.source >= topology->place.source ||
                           !loader->sources[count->place.source - 1].is_file);
    if (is_given && (uint64_t)count->number.mantissa != list->sips)
        config_error(loader, count->place, "system.sips.count: %s; the graph has %s SIPs",
                     count->text, text);
    count->number = (struct decimal){.mantissa = list->sips};
    count->text = config_arena_text(loader->arena, text, strlen(text));
    count->place = topology->place;
    if (kinds == NULL)
        return;
    for (uint32_t k = 0; k < list->kinds; k++)
        memset(kinds + list->kind[k].first, (int)k, list->kind[k].count);
    struct hw_graph_given given = {.sips = list->sips,
                                   .switches = list->switches,
                                   .links = list->link,
                                   .link_count = list->links,
                                   .switch_kind = kinds,
                                   .ends = list->ends,
                                   .policy = list->routes,
                                   .seed = list->seed,
                                   .stop_name = stop_name,
                                   .names = list,
                                   .lines = list->lines,
                                   .dims = list->dims};
    memcpy(given.dim, list->dim, sizeof given.dim);
    tree->graph = hw_graph_create(&given, why);
    tree->grid = (struct hw_sip_size){.w = list->dims > 1 ? list->dim[0] : 0};
    if (tree->graph == NULL && why[0] != '\0')
        config_error(loader, topology->place, "system.sips.topology: %s", why);
    else if (tree->graph == NULL)
        loader->arena->failed = true;
}

/* The topology's own rule of how many SIPs, in a grid of which size, it joins. */
static void config_rules_check_sips(struct config_loader *loader, struct config_tree *tree)
{
    static const char *const keys[HW_SIP_KEYS] = {[HW_SIP_KEY_COUNT] = "system.sips.count",
                                                  [HW_SIP_KEY_W] = "system.sips.w",
                                                  [HW_SIP_KEY_H] = "system.sips.h",
                                                  [HW_SIP_KEY_D] = "system.sips.d",
                                                  [HW_SIP_KEY_TOPOLOGY] = "system.sips.topology"};
    const struct config_value *const topology = config_machine_value(tree, "system.sips.topology");
    const struct config_value *const count = config_machine_value(tree, keys[HW_SIP_KEY_COUNT]);
    if (!config_given(topology) || !config_given(count))
        return;
    if (topology->graph != NULL) {
        join_graph(loader, tree, topology);
        return;
    }
    struct hw_sip_size given = {.w = machine_count(tree, keys[HW_SIP_KEY_W]),
                                .h = machine_count(tree, keys[HW_SIP_KEY_H]),
                                .d = machine_count(tree, keys[HW_SIP_KEY_D])};
    struct hw_misfit misfit;
    if (topology->levels != NULL)
        given.dims = topology->levels->dims;
    if (!config_topology(tree)->fit((uint32_t)count->number.mantissa, given, &tree->grid, &misfit))
        config_error(loader, config_machine_value(tree, keys[misfit.key])->place, "%s: %s",
                     keys[misfit.key], misfit.text);
}

/* The room of an address: 10 bits of cube, 6 bits of PE (hw/HARDWARE.md, "Physical
 * addresses"). A PE's number in the machine has 32 bits. */
static void check_address_limits(struct config_loader *loader, const struct config_tree *tree)
{
    const uint32_t cubes =
        machine_count(tree, "sip.cube_mesh.w") * machine_count(tree, "sip.cube_mesh.h");
    if (cubes > 1024)
        config_error(loader, config_machine_value(tree, "sip.cube_mesh.w")->place,
                     "sip.cube_mesh.w: w x h is %" PRIu32
                     " cubes; a physical address has room for 1024 per SIP",
                     cubes);
    const struct config_value *const corners = config_machine_value(tree, "cube.pe_layout.corners");
    const uint32_t pes = machine_count(tree, "cube.pe_layout.pe_per_corner") * corners->list_count;
    if (pes > 64)
        config_error(loader, config_machine_value(tree, "cube.pe_layout.pe_per_corner")->place,
                     "cube.pe_layout.pe_per_corner: %" PRIu32 " PEs in %" PRIu32
                     " corners; a physical address has room for 64 per cube",
                     pes, corners->list_count);
    const struct config_value *const count = config_machine_value(tree, "system.sips.count");
    const uint64_t of_sip = (uint64_t)cubes * pes;
    if (cubes <= 1024 && pes <= 64 && config_given(count) && of_sip > 0 &&
        (uint64_t)count->number.mantissa * of_sip > UINT32_MAX)
        config_error(loader, count->place,
                     "system.sips.count: %s SIPs of %" PRIu64
                     " PEs; a machine has fewer than 2^32 PEs, so at most %" PRIu64 " such SIPs",
                     count->text, of_sip, UINT32_MAX / of_sip);
}

/* There are as many places as ranks: SIPs, or PEs. */
static void check_rank_places(struct config_loader *loader, const struct config_tree *tree,
                              const struct config_value *world, uint32_t sips)
{
    const bool are_pes = config_ranks_are_pes(tree);
    const uint64_t pes = (uint64_t)sips * config_pes_of_sip(tree), places = are_pes ? pes : sips;
    const struct config_value *mate = config_ccl_value(tree, tree->chosen, config_ccl_find("mate"));
    if (!config_given(mate))
        mate = config_ccl_value(tree, tree->chosen, config_ccl_find("package"));
    if (are_pes && config_given(mate))
        config_error(loader, mate->place,
                     "mate, package: they place ranks on SIPs, and here ranks are PEs; leave them "
                     "out, or the mapper " CCL_RANK_PER_PE " and ranks beyond the SIPs");
    if (!config_given(world) || places == 0 || (uint64_t)world->number.mantissa <= places)
        return;
    if (are_pes)
        config_error(loader, world->place,
                     "world_size: %s ranks, but a rank is a PE and there are %" PRIu64
                     "; legal: 1 to %" PRIu64,
                     world->text, places, places);
    else
        config_error(loader, world->place,
                     "world_size: %s ranks, but a rank is a SIP and there are %" PRIu64
                     "; legal: 1 to %" PRIu64 ", or to %" PRIu64
                     " in a logical topology with mapper: " CCL_RANK_PER_PE,
                     world->text, places, places, pes);
}

/* The chosen algorithm on this machine. */
static void check_algorithm_fits(struct config_loader *loader, const struct config_tree *tree)
{
    const struct config_value *const root =
        config_ccl_value(tree, tree->chosen, config_ccl_find("root"));
    const uint32_t w = machine_count(tree, "sip.cube_mesh.w");
    const uint32_t h = machine_count(tree, "sip.cube_mesh.h");
    if (config_given(root) && root->list_count == 2 && w > 0 && h > 0 &&
        (root->list[0] >= w || root->list[1] >= h))
        config_error(loader, root->place,
                     "root: cube %" PRIu32 ",%" PRIu32 " is outside the %" PRIu32 " x %" PRIu32
                     " cube mesh; x from 0 to %" PRIu32 ", y from 0 to %" PRIu32,
                     root->list[0], root->list[1], w, h, w - 1, h - 1);
    const struct config_value *const root_cube =
        config_ccl_value(tree, tree->chosen, config_ccl_find("root_cube"));
    if (config_given(root_cube) && w > 0 && h > 0 && (uint64_t)root_cube->number.mantissa >= w * h)
        config_error(loader, root_cube->place,
                     "root_cube: %s, where a SIP has %" PRIu32 " x %" PRIu32
                     " cubes; legal: 0 to %" PRIu32,
                     root_cube->text, w, h, w * h - 1);
    const struct config_value *const topology = config_machine_value(tree, "system.sips.topology");
    const struct config_value *const invariant =
        config_ccl_value(tree, tree->chosen, config_ccl_find("rank_invariant"));
    const struct config_value *const logical =
        config_ccl_value(tree, tree->chosen, config_ccl_find("topology"));
    const bool by_machine = config_given(logical) && strcmp(logical->text, "none") == 0;
    char ringed[LIST_BYTES];
    if (by_machine && config_given(invariant) && invariant->number.mantissa != 0 &&
        config_given(topology) && config_topology(tree) != NULL &&
        config_topology(tree)->lines == HW_SIP_LINES_OPEN &&
        machine_count(tree, "system.sips.count") > 1)
        config_error(loader, invariant->place,
                     "rank_invariant: not offered on %s; legal on %s, or set it to false",
                     topology->text,
                     hw_topology_list(hw_topology_is_ringed, "and", ringed, sizeof ringed));
    const struct config_value *const world =
        config_ccl_value(tree, tree->chosen, config_ccl_find("world_size"));
    const uint32_t sips = machine_count(tree, "system.sips.count");
    check_rank_places(loader, tree, world, sips);
}

/* Keys that no layer gave. A folder of configs that was cut short, or none found. */
static void require_all(struct config_loader *loader, const struct config_tree *tree)
{
    const struct config_place nowhere = {0};
    char legal[400];
    for (uint32_t i = 0; i < config_machine_key_count; i++) {
        const struct config_key *const key = &config_machine_keys[i];
        if ((key->flags & CONFIG_OPTIONAL) == 0 && !config_given(&tree->machine[i]))
            config_error(loader, nowhere, "missing key '%s'; expected %s", key->path,
                         config_legal(key, legal, sizeof legal));
    }
    for (uint32_t i = 0; i < config_ccl_key_count; i++) {
        const struct config_key *const key = &config_ccl_keys[i];
        if ((key->flags & (CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS)) == 0 &&
            !config_given(&tree->defaults[i]))
            config_error(loader, nowhere, "missing key 'defaults.%s'; expected %s", key->path,
                         config_legal(key, legal, sizeof legal));
    }
}

static bool is_true(const struct config_value *value)
{
    return config_given(value) && value->number.mantissa != 0;
}

/* The other keys of the access to slots mean nothing without the rate; and an access is a write, or
 * a read, or both. */
static void check_slot_access(struct config_loader *loader, const struct config_tree *tree)
{
    static const char *const memories[] = {"tcm", "sram", "hbm"};
    static const char *const keys[] = {"overhead_ns", "write_only",     "read_only",
                                       "by_sender",   "ll_overhead_ns", "ll128_overhead_ns"};
    enum { KEYS = sizeof keys / sizeof *keys, MEMORIES = sizeof memories / sizeof *memories };
    for (uint32_t i = 0; i < MEMORIES; i++) {
        char path[KEYS][40], rate[40];
        (void)snprintf(rate, sizeof rate, "slot_access.%s.bw_gbs", memories[i]);
        const struct config_value *const beside = config_machine_value(tree, rate);
        const struct config_value *given[KEYS];
        for (uint32_t k = 0; k < KEYS; k++) {
            (void)snprintf(path[k], sizeof path[k], "slot_access.%s.%s", memories[i], keys[k]);
            given[k] = config_machine_value(tree, path[k]);
            if (config_given(given[k]) && !config_given(beside) && !beside->wrong)
                config_error(loader, given[k]->place,
                             "%s: without %s slots have no cost of access; give both, or neither",
                             path[k], rate);
        }
        if (is_true(given[1]) && is_true(given[2]))
            config_error(loader, given[2]->place,
                         "%s beside %s: then slots have no cost of access; give one of them",
                         path[2], path[1]);
        if (is_true(given[2]) && is_true(given[3]))
            config_error(loader, given[3]->place,
                         "%s beside %s: then writes cost nothing; give one of them", path[3],
                         path[2]);
    }
}

/* A bandwidth of links outside SIPs stays legal when it is scaled. `given`: where the scale is. */
static bool check_scaled(struct config_loader *loader, const char *name, struct decimal bw_gbs,
                         struct decimal scale, struct config_place given)
{
    char text[2][DECIMAL_TEXT_BYTES];
    const bool fits =
        decimal_compare(scale, decimal_literal("0.001")) >= 0 &&
        decimal_compare(scale, decimal_literal("1000")) <= 0 &&
        decimal_compare(decimal_scaled(bw_gbs, scale, 6), decimal_literal("0.001")) >= 0 &&
        decimal_compare(decimal_scaled(bw_gbs, scale, 6), decimal_literal("1000000")) <= 0;
    if (!fits)
        config_error(loader, given,
                     "links.scale: %s has %s GB/s and a scale of %s in all; a scale is from 0.001 "
                     "to 1000, and scaled links have 0.001 to 1000000 GB/s",
                     name, decimal_print(bw_gbs, text[0]), decimal_print(scale, text[1]));
    return fits;
}

static void check_scales(struct config_loader *loader, const struct config_tree *tree)
{
    const struct config_value *const topology = config_machine_value(tree, "system.sips.topology");
    const struct levels *const levels = topology->levels;
    const struct graph_list *const graph = topology->graph != NULL ? &topology->graph->list : NULL;
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KEYED; kind++) {
        char path[2][64];
        const struct config_value *const all = config_machine_value(tree, "links.scale");
        if (!hw_link_is_outer(kind))
            continue;
        snprintf(path[0], sizeof path[0], "links.%s.scale", hw_link_name[kind]);
        snprintf(path[1], sizeof path[1], "links.%s.bw_gbs", hw_link_name[kind]);
        const struct config_value *const own = config_machine_value(tree, path[0]);
        const struct config_place given = config_given(all) ? all->place : own->place;
        const struct decimal scale = config_link_scale(tree, kind);
        if (!config_given(all) && !config_given(own))
            continue;
        if (!check_scaled(loader, hw_link_name[kind], config_machine_value(tree, path[1])->number,
                          scale, given))
            return;
        for (uint32_t i = 0; kind == HW_LINK_SIP_LINK && levels != NULL && i < levels->count; i++)
            if (levels->at[i].given[LEVEL_BW_GBS] &&
                !check_scaled(loader, "a level", levels->at[i].number[LEVEL_BW_GBS], scale, given))
                return;
        for (uint32_t i = 0; kind == HW_LINK_SIP_LINK && graph != NULL && i < graph->classes; i++)
            if (graph->class[i].figures.given[LEVEL_BW_GBS] &&
                !check_scaled(loader, graph->class[i].name,
                              graph->class[i].figures.number[LEVEL_BW_GBS], scale, given))
                return;
    }
}

/* The rates of a compute model are there together, or none of its keys is. */
static void check_compute_model(struct config_loader *loader, const struct config_tree *tree)
{
    static const char *const keys[] = {"memory_gbs", "matrix_tflops", "vector_tflops", "kernel_ns"};
    enum { KEYS = sizeof keys / sizeof *keys, RATES = 2 };
    char path[KEYS][40];
    const struct config_value *value[KEYS];
    for (uint32_t k = 0; k < KEYS; k++) {
        (void)snprintf(path[k], sizeof path[k], "compute_model.%s", keys[k]);
        value[k] = config_machine_value(tree, path[k]);
    }
    for (uint32_t k = 0; k < KEYS; k++)
        for (uint32_t rate = 0; rate < RATES; rate++)
            if (config_given(value[k]) && !config_given(value[rate]) && !value[rate]->wrong) {
                config_error(loader, value[k]->place,
                             "%s: without %s there is no compute model; give both, or neither",
                             path[k], path[rate]);
                return;
            }
}

void config_check_machine(struct config_loader *loader, struct config_tree *tree)
{
    if (loader->errors->count == 0)
        require_all(loader, tree);
    config_rules_check_sips(loader, tree);
    check_address_limits(loader, tree);
    config_check_jitter(loader, tree);
    config_check_faults(loader, tree);
    check_slot_access(loader, tree);
    check_compute_model(loader, tree);
    check_scales(loader, tree);
    if (tree->chosen != NULL) {
        check_algorithm_fits(loader, tree);
        config_check_ranks(loader, tree);
        config_check_groups(loader, tree);
    }
}
