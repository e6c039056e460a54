/*
 * config_unused.c: finds the keys that a run does not use, by their readers (config_unused.h). A
 * key of an entry must also be in force: of the entry that runs, or of one that it extends, and not
 * overridden there.
 */
#include "collectives/config/config_unused.h"

#include <stdio.h>
#include <string.h>

#include "collectives/config/config_tree.h"
#include "hw/structure.h"
#include "hw/topology/topology.h"

enum { WHY_BYTES = 600 };

struct search {
    const struct config *config;
    const struct config_tree *tree;
    const struct config_work *work;
    bool files;
    config_unused_fn fn;
    void *arg;
};

/* ---- readers: NULL, or what would read the key ----------------------------------------------- */

/* The links of the kind, outside SIPs, are there. */
static bool has_outer_links(const struct hw_config *hw, enum hw_link_kind kind)
{
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    if (hw->class_name != NULL) /* a graph's classes take what they do not give from sip_link */
        return kind == HW_LINK_SIP_LINK;
    for (uint32_t k = 0; k < dims.count; k++)
        if (dims.at[k].link == kind)
            return true;
    return false;
}

/* Levels take what they do not say themselves from sip_link. */
static bool a_level_takes(const struct search *search, const char *key)
{
    const struct levels *const levels =
        config_machine_value(search->tree, "system.sips.topology")->levels;
    const char *const last = strrchr(key, '.') + 1;
    for (uint32_t i = 0; levels != NULL && i < LEVEL_NUMBERS; i++)
        for (uint32_t level = 0; strcmp(level_number_name[i], last) == 0 && level < levels->count;
             level++)
            if (!levels->at[level].given[i])
                return true;
    return levels != NULL && strcmp(last, "scale") == 0;
}

/* NULL, or what would have such links, outside SIPs. */
static const char *built_needs(const struct search *search, enum hw_link_kind kind, const char *key)
{
    const struct hw_config *const hw = &search->config->hw;
    const bool is_level =
        config_machine_value(search->tree, "system.sips.topology")->levels != NULL;
    if (is_level && kind == HW_LINK_SIP_LINK && strncmp(key, "links.", 6) == 0) {
        if (!a_level_takes(search, key))
            return "a level of system.sips.topology that does not give its own";
    } else if (!has_outer_links(hw, kind))
        return kind == HW_LINK_SIP_LINK ? "SIPs that are no paired dies, without levels"
                                        : "paired dies (system.sips.topology=pair_switch)";
    return NULL;
}

static const char *outer_link_needs(const struct search *search, enum hw_link_kind kind,
                                    const char *key)
{
    const char *const needs = built_needs(search, kind, key);
    if (needs != NULL)
        return needs;
    return search->work->crosses ? NULL : "data that crosses from SIP to SIP";
}

static const char *const needs_switch = "a switch between SIPs (system.sips.topology)";

static const char *memory_needs(const struct search *search, enum hw_memory memory)
{
    static const char *const why[] = {
        [HW_MEMORY_TCM] = "tiles of queues with slots in TCM (defaults.buffer_kind=tcm)",
        [HW_MEMORY_HBM] = "tiles of queues with slots in HBM (defaults.buffer_kind=hbm)",
        [HW_MEMORY_SRAM] = "tiles of queues with slots in SRAM (defaults.buffer_kind=sram)"};
    return search->work->tiles && search->config->ccl.queues.slots == memory ? NULL : why[memory];
}

static const char *link_needs(const struct search *search, enum hw_link_kind kind, const char *key)
{
    const struct hw_config *const hw = &search->config->hw;
    if (hw_link_is_outer(kind))
        return outer_link_needs(search, kind, key);
    if (kind == HW_LINK_NOC)
        return hw->noc_w * hw->noc_h > 1 ? NULL : "a NoC of several routers (cube.noc)";
    if (kind == HW_LINK_SRAM)
        return search->work->is_unknown ? NULL : memory_needs(search, HW_MEMORY_SRAM);
    if (kind == HW_LINK_HBM && !search->work->tensors)
        return search->work->is_unknown || memory_needs(search, HW_MEMORY_HBM) == NULL
                   ? NULL
                   : "tensors, or slots in HBM (defaults.buffer_kind=hbm)";
    return NULL;
}

static const char *sending_needs(const struct config_work *work)
{
    return work->alone ? "a run of several ranks" : "kernels that send and receive";
}

static const char *node_needs(const struct search *search, enum hw_node_kind kind)
{
    const struct config_work *const work = search->work;
    const struct hw_config *const hw = &search->config->hw;
    switch (kind) {
    case HW_NODE_SWITCH:
        return hw_switches(hw) == 0 ? needs_switch
               : work->crosses      ? NULL
                                    : "data that crosses from SIP to SIP";
    case HW_NODE_SRAM:
        return link_needs(search, HW_LINK_SRAM, "");
    case HW_NODE_HBM:
        return link_needs(search, HW_LINK_HBM, "");
    case HW_NODE_PE_SCHEDULER:
    case HW_NODE_PE_MMU:
        return work->is_unknown || work->tensors || work->stores
                   ? NULL
                   : "kernels that load, store or compute";
    case HW_NODE_PE_IPCQ:
        return work->is_unknown || work->waits ? NULL : sending_needs(work);
    case HW_NODE_PE_FETCH_STORE:
        return work->is_unknown || (work->adds && !hw->math_free_operands) || work->multiplies
                   ? NULL
               : work->adds ? "nodes.pe_math.free_operands=false"
                            : "kernels that add or multiply";
    case HW_NODE_PE_MATH:
        return work->is_unknown || work->adds ? NULL
               : work->alone                  ? sending_needs(work)
                                              : "a bench that reduces";
    case HW_NODE_PE_GEMM:
        return work->is_unknown || work->multiplies ? NULL : "the bench gemm or gemm_allreduce";
    default:
        return NULL;
    }
}

/* Of a node that takes longer than its own time. */
static const char *late_node_needs(const struct search *search, enum hw_node_kind kind)
{
    return kind == HW_NODE_PE_MMU && search->config->hw.overhead_ps[kind] == 0
               ? "nodes.pe_mmu.overhead_ns above 0"
               : node_needs(search, kind);
}

static bool draws_at_random(const struct hw_jitter_kind *kind)
{
    return kind->active && kind->distribution > HW_JITTER_FIXED;
}

static const char *draws_need(const struct hw_config *hw)
{
    for (uint32_t kind = 0; kind < HW_NODE_KINDS; kind++)
        if (draws_at_random(&hw->node_jitter[kind]))
            return NULL;
    for (uint32_t kind = 0; kind < HW_LINK_KINDS; kind++)
        if (draws_at_random(&hw->link_jitter[kind]))
            return NULL;
    return "a random distribution (jitter.nodes.KIND.distribution, jitter.links.KIND.distribution)";
}

/* The algorithms whose hooks read an option. */
static const char *option_needs(const struct search *search, uint32_t option, char why[WHY_BYTES])
{
    const struct ccl_algorithm *const own = search->work->algorithm;
    const struct ccl_algorithm *other;
    if (search->work->is_unknown || (own != NULL && (own->machine.reads & option) != 0))
        return NULL;
    size_t n = (size_t)snprintf(why, WHY_BYTES, "one of the algorithms");
    for (uint32_t i = 0; (other = ccl_algorithm_at(i)) != NULL && n < WHY_BYTES; i++)
        if ((other->machine.reads & option) != 0)
            n += (size_t)snprintf(why + n, WHY_BYTES - n, " %s,", other->name);
    why[n < WHY_BYTES ? n - 1 : WHY_BYTES - 1] = '\0';
    return why;
}

/* Tiles, or the pieces in which kernels add what was put. */
static bool cuts(const struct config_work *work)
{
    return work->tiles || (work->waits && work->tensors);
}

static bool cuts_of_ll(const struct config_key *key)
{
    return strstr(key->path, "_slot_size") != NULL;
}

/* The key is one of those that the protocol reads: ll_wire_ns holds for both kinds of lines. */
static bool of_protocol(const struct config_key *key, enum lp_protocol protocol)
{
    if (strcmp(key->path, "nodes.pe_ipcq.ll_wire_ns") == 0)
        return protocol != LP_SIMPLE;
    return protocol == (strstr(key->path, "ll128_") != NULL ? LP_LL128 : LP_LL);
}

/* The configured algorithm is the one that runs, on each PE that holds a shard. */
static bool chooses_own_pes(const struct search *search)
{
    const struct ccl_algorithm *const own = search->work->algorithm;
    return own != NULL && own->machine.lanes && strcmp(own->name, search->config->ccl.module) == 0;
}

/* NULL: the run has the reader of the key. */
static const char *reader_needs(const struct search *search, const struct config_key *key,
                                char why[WHY_BYTES])
{
    const struct config_work *const work = search->work;
    const struct hw_config *const hw = &search->config->hw;
    const struct ccl_config *const ccl = &search->config->ccl;
    const bool any = work->is_unknown;
    switch ((enum config_reader)key->reader) {
    case CONFIG_READ_BY_NOBODY_YET:
    case CONFIG_READ_ALWAYS:
    case CONFIG_READ_AS_LIMIT:
        return NULL;
    case CONFIG_READ_BY_GRID:
        return hw->sip_topology->is_grid && hw->sip_dims.count == 0 ? NULL
               : hw->sip_topology->is_3d || hw->sip_topology->is_grid
                   ? NULL
                   : "a grid of SIPs (system.sips.topology torus_2d, torus_3d, mesh_2d_no_wrap)";
    case CONFIG_READ_BY_CUBOID:
        return hw->sip_topology->is_3d ? NULL : "SIPs in a torus_3d (system.sips.topology)";
    case CONFIG_READ_BY_FAULT: /* fault_needs() */
        return NULL;
    case CONFIG_READ_BY_NODE:
        return strncmp(key->path, "jitter.", 7) == 0
                   ? late_node_needs(search, (enum hw_node_kind)key->of)
                   : node_needs(search, (enum hw_node_kind)key->of);
    case CONFIG_READ_BY_LINK:
        return link_needs(search, (enum hw_link_kind)key->of, key->path);
    case CONFIG_READ_BY_BUILT:
        return key->of < HW_LINK_KINDS ? built_needs(search, (enum hw_link_kind)key->of, key->path)
               : hw_switches(hw) == 0  ? needs_switch
                                       : NULL;
    case CONFIG_READ_BY_DRAWS:
        return draws_need(hw);
    case CONFIG_READ_BY_SLOTS:
        return memory_needs(search, (enum hw_memory)key->of);
    case CONFIG_READ_BY_REDUCING_PUTS:
        return any || (work->algorithm != NULL && work->algorithm->machine.peers != NULL)
                   ? NULL
                   : "an algorithm that reduces by puts (birs, birs_inter, rhd)";
    case CONFIG_READ_BY_SUMS_OF_SWITCHES:
        return hw->reduce[0].mode == HW_REDUCE_NONE
                   ? "switches that reduce (nodes.switch.reduce=push or pull)"
               : any || (work->algorithm != NULL && work->algorithm->schedule != NULL)
                   ? NULL
                   : "an algorithm through switches (switch_all_reduce, ...)";
    case CONFIG_READ_BY_POLLING:
        return ccl->queues.poll && (any || work->waits)
                   ? NULL
                   : "kernels that poll (defaults.backpressure=poll)";
    case CONFIG_READ_BY_LL:
        return !of_protocol(key, ccl->queues.protocol)
                   ? strstr(key->path, "ll128_") != NULL
                         ? "the protocol ll128 (defaults.protocol=ll128)"
                         : "the protocol ll (defaults.protocol=ll)"
               : strcmp(key->path, "ll128_launch_static_ns") == 0      ? NULL
               : any || work->tiles || (cuts(work) && cuts_of_ll(key)) ? NULL
                                                                       : "kernels that send tiles";
    case CONFIG_READ_BY_WAITS:
        return any || work->waits ? NULL : sending_needs(work);
    case CONFIG_READ_BY_TILES:
        return any || work->tiles ? NULL
               : work->alone      ? sending_needs(work)
                                  : "kernels that send tiles through queues";
    case CONFIG_READ_BY_CUTS:
        return any || cuts(work) ? NULL
               : work->alone     ? sending_needs(work)
                                 : "kernels that send tiles or add pieces";
    case CONFIG_READ_BY_TENSOR_CUTS:
        return any || (cuts(work) && work->tensors) ? NULL
               : work->alone                        ? sending_needs(work)
                                                    : "kernels that send tensors as tiles";
    case CONFIG_READ_BY_ANY_RECV:
        return any ? NULL : "a kernel that receives from any direction, as no built-in one does,";
    case CONFIG_READ_BY_CHANNELS:
        if (!any && !(work->waits && work->tensors))
            return "kernels that load or store beside what they send";
        return strcmp(key->path, "vc_weights") == 0 && ccl->queues.single_vc
                   ? "two channels (defaults.vc=dual)"
                   : NULL;
    case CONFIG_READ_BY_WIRING:
        return any || work->algorithm == NULL || work->algorithm->schedule == NULL
                   ? NULL
                   : "an algorithm that goes by the machine's own queues, not by a schedule,";
    case CONFIG_READ_BY_ALGORITHM:
        return work->algorithm != NULL || any ? NULL : "a bench of a collective";
    case CONFIG_READ_BY_MAPPED:
        return work->algorithm == NULL && !any ? "a bench of a collective"
               : any || !chooses_own_pes(search)
                   ? NULL
                   : "an algorithm that runs on the PEs of its mapper";
    case CONFIG_READ_BY_TENSORS:
        return any || work->tensors ? NULL : "a bench with tensors";
    case CONFIG_READ_BY_OPTION:
        return option_needs(search, key->of, why);
    case CONFIG_READ_BY_FP8:
        return work->fp8 && (any || work->adds || work->multiplies) ? NULL
                                                                    : "a bench that reduces fp8";
    case CONFIG_READ_BY_NARROW:
        return work->narrow && (any || work->adds)
                   ? NULL
                   : "a bench that reduces a type narrower than f32 (--dtype)";
    case CONFIG_READ_BY_NO_SIZE:
        return work->sized ? "a run of one size that no option names" : NULL;
    case CONFIG_READ_BY_GROUPS:
        return work->groups ? NULL : "a call of the bench concurrent (--call)";
    case CONFIG_READ_BY_STEPS:
        return any ? NULL : "a step (cubewarp step)";
    }
    return NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Whether the value is one that is asked for. */
static bool is_looked_at(const struct search *search, const struct config_value *value)
{
    if (!config_given(value))
        return false;
    const struct config_source *const source = &search->tree->sources[value->place.source - 1];
    return source->is_file ? search->files && !source->is_shipped : !source->is_environment;
}

static void say(const struct search *search, const char *key, const struct config_value *value,
                const char *why)
{
    char where[512];
    search->fn(search->arg, key,
               config_place_text(search->tree->sources, value->place, where, sizeof where), why);
}

/* What says how much of a TCM is free. */
static bool is_of_free_tcm(const char *path)
{
    static const char *const paths[] = {"memory.tcm_kib", "defaults.buffer_kind",
                                        "defaults.n_slots", "defaults.slot_size"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(path, paths[i]) == 0)
            return true;
    return false;
}

static void look_at(const struct search *search, const struct config_key *key, const char *path,
                    const struct config_value *value)
{
    char needs[WHY_BYTES], why[WHY_BYTES + 80];
    if (!is_looked_at(search, value) || (search->work->fills_tcm && is_of_free_tcm(path)))
        return;
    if (key->reader == CONFIG_READ_AS_LIMIT) {
        say(search, path, value, "it is a limit on what fits, and changes no time");
        return;
    }
    const char *const wanted = reader_needs(search, key, needs);
    if (wanted == NULL)
        return;
    snprintf(why, sizeof why, CONFIG_UNUSED "%s would", wanted);
    say(search, path, value, why);
}

static void visit_machine(const struct search *search)
{
    for (uint32_t i = 0; i < config_machine_key_count; i++)
        look_at(search, &config_machine_keys[i], config_machine_keys[i].path,
                &search->tree->machine[i]);
}

/* A value of an entry, or of `defaults`, beside the one in force. */
static void look_at_ccl(const struct search *search, int key, const char *path,
                        const struct config_value *value)
{
    const struct config_tree *const tree = search->tree;
    const struct config_value *const used = config_ccl_value(tree, tree->chosen, key);
    char why[300], where[200];
    if (!is_looked_at(search, value))
        return;
    if (used == value || used->place.source == value->place.source || tree->chosen == NULL) {
        look_at(search, &config_ccl_keys[key], path, value);
        return;
    }
    if (config_given(used) && strcmp(used->text, value->text) == 0)
        return;
    if (strncmp(path, "defaults.", 9) == 0)
        snprintf(why, sizeof why,
                 "it has no effect, since the entry of the algorithm has its own %s, %s (%s); "
                 "`algorithms.%s.%s` sets that",
                 config_ccl_keys[key].path, used->text,
                 config_place_text(tree->sources, used->place, where, sizeof where),
                 tree->chosen->name, config_ccl_keys[key].path);
    else
        snprintf(why, sizeof why,
                 "it has no effect, since the entry that runs is %s; `algorithms.%s.%s` sets that",
                 tree->chosen->name, tree->chosen->name, config_ccl_keys[key].path);
    say(search, path, value, why);
}

static bool inherits(const struct config_algorithm *runs, const struct config_algorithm *entry)
{
    while (runs != NULL && runs != entry)
        runs = runs->extends;
    return runs != NULL;
}

/* A set of groups names the entry, or one that inherits from it. */
static bool is_of_groups(const struct search *search, const struct config_algorithm *entry)
{
    const struct config_algorithm *runs = search->work->groups ? search->tree->algorithms : NULL;
    while (runs != NULL && !(runs->runs && runs != search->tree->chosen && inherits(runs, entry)))
        runs = runs->next;
    return runs != NULL;
}

static void visit_entry(const struct search *search, const struct config_algorithm *entry)
{
    const char *const runs = search->tree->chosen != NULL ? search->tree->chosen->name : "none";
    char path[200], why[300];
    if (is_of_groups(search, entry))
        return;
    for (uint32_t i = 0; i < config_ccl_key_count; i++) {
        snprintf(path, sizeof path, "algorithms.%s.%s", entry->name, config_ccl_keys[i].path);
        look_at_ccl(search, (int)i, path, &entry->value[i]);
    }
    for (const struct config_parameter *at = entry->parameters; at != NULL; at = at->next) {
        if (inherits(search->tree->chosen, entry) || !is_looked_at(search, &at->value))
            continue;
        snprintf(path, sizeof path, "algorithms.%s.%s", entry->name, at->name);
        snprintf(why, sizeof why,
                 "it has no effect, since the entry that runs is %s; --algorithm %s runs this one",
                 runs, entry->name);
        say(search, path, &at->value, why);
    }
}

/* Of a fault's kinds; NULL: one of them is used, or the word is no kind. */
static const char *kind_needs(const struct search *search, const char *word, bool of_links)
{
    for (uint32_t kind = 0; of_links && kind < HW_LINK_KEYED; kind++)
        if (strcmp(word, hw_link_name[kind]) == 0)
            return link_needs(search, (enum hw_link_kind)kind, "faults.");
    for (uint32_t kind = 0; !of_links && kind < HW_NODE_KEYED; kind++)
        if (strcmp(word, hw_node_name[kind]) == 0)
            return late_node_needs(search, (enum hw_node_kind)kind);
    return NULL;
}

static void visit_fault(const struct search *search, const struct config_named *named)
{
    static const char *const keys[] = {"nodes", "links"};
    for (uint32_t k = 0; k < 2; k++) {
        const struct config_value *const value =
            &named->value[config_named_find(CONFIG_FAULTS, keys[k])];
        const char *wanted = NULL;
        char path[200], why[WHY_BYTES + 80];
        bool used = false;
        if (!is_looked_at(search, value))
            continue;
        for (uint32_t i = 0; i < value->list_count; i++) {
            const char *const needs = kind_needs(search, value->words[i].text, k == 1);
            used |= needs == NULL;
            wanted = wanted == NULL ? needs : wanted;
        }
        if (used || wanted == NULL)
            continue;
        snprintf(path, sizeof path, "faults.%s.%s", named->name, keys[k]);
        snprintf(why, sizeof why, CONFIG_UNUSED "%s would", wanted);
        say(search, path, value, why);
    }
}

static void visit_named(const struct search *search, const struct config_section_row *row,
                        const struct config_named *named)
{
    char path[200];
    for (uint32_t i = 0; i < row->key_count; i++) {
        snprintf(path, sizeof path, "%s.%s.%s", row->name, named->name, row->keys[i].path);
        look_at(search, &row->keys[i], path, &named->value[i]);
    }
}

void config_unused_visit(const struct config *config, const struct config_work *work, bool files,
                         config_unused_fn fn, void *arg)
{
    const struct search search = {config, config->tree, work, files, fn, arg};
    visit_machine(&search);
    for (uint32_t i = 0; i < config_ccl_key_count; i++) {
        char path[100];
        snprintf(path, sizeof path, "defaults.%s", config_ccl_keys[i].path);
        look_at_ccl(&search, (int)i, path, &search.tree->defaults[i]);
    }
    for (const struct config_algorithm *entry = search.tree->algorithms; entry != NULL;
         entry = entry->next)
        visit_entry(&search, entry);
    for (uint32_t section = 0; section < CONFIG_SECTIONS; section++)
        for (const struct config_named *named = search.tree->named[section]; named != NULL;
             named = named->next)
            if (section == CONFIG_FAULTS)
                visit_fault(&search, named);
            else
                visit_named(&search, &config_sections[section], named);
}
