/*
 * config_load.c: loads a configuration: finds the files, applies them in the order of the layers
 * (config.h), has the rules checked and the structures filled. One call, one thread, no state of
 * its own; all memory hangs off the configuration.
 */
#include "collectives/config/config_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algorithm.h"
#include "collectives/config/config_apply.h"
#include "collectives/config/config_faults.h"
#include "collectives/config/config_orders.h"
#include "collectives/config/config_fill.h"
#include "collectives/config/config_find.h"
#include "collectives/config/config_place.h"
#include "collectives/config/input/config_parse.h"
#include "collectives/config/config_print.h"
#include "collectives/config/config_rings.h"
#include "collectives/config/config_rules.h"
#include "collectives/config/config_tree.h"
#include "collectives/config/config_value.h"
#include "collectives/config/input/environment.h"
#include "collectives/config/input/text.h"
#include "core/cw.h"
#include "hw/topology/broken.h"

#define OPTION_BYTES 200u

struct load {
    struct config_loader loader;
    struct config_tree *tree;
    const struct config_request *request;
    const char *configs_dir; /* NULL: not found */
};

/* Whether a path is a file in configs/ of the working directory. */
static bool is_found_there(const struct load *load, const char *path)
{
    const size_t bytes = strlen(CONFIG_WORKING_FOLDER);
    return load->configs_dir == CONFIG_WORKING_FOLDER &&
           strncmp(path, CONFIG_WORKING_FOLDER, bytes) == 0 && path[bytes] == '/';
}

/* Reads, parses and applies one file. `is_found`: the user has not named it. */
static void load_file(struct load *load, const char *path, enum config_file file, bool any_key,
                      bool is_found)
{
    const uint32_t source = config_source_add(
        &load->loader,
        &(struct config_source){
            .name = path, .is_file = true, .is_found = is_found, .any_key = any_key, .file = file});
    if (source == 0)
        return;
    size_t bytes = 0;
    char *const text = config_file_read(&load->loader, source, path, &bytes);
    if (text == NULL)
        return;
    const struct config_node *const root = config_parse(&load->loader, source, text, bytes);
    free(text); /* nodes have copies */
    if (root != NULL)
        config_apply_file(&load->loader, load->tree, source, root);
}

/* Parses and applies a text that the program has compiled in. */
static void load_builtin(struct load *load, const struct builtin_file *builtin,
                         enum config_file file, bool any_key)
{
    char name[OPTION_BYTES];
    snprintf(name, sizeof name, "%s %s", CONFIG_BUILT_IN, builtin->name);
    const char *const copy = config_arena_text(load->loader.arena, name, strlen(name));
    if (copy == NULL)
        return;
    const uint32_t source = config_source_add(
        &load->loader,
        &(struct config_source){.name = copy, .is_file = true, .any_key = any_key, .file = file});
    if (source == 0)
        return;
    const struct config_node *const root =
        config_parse(&load->loader, source, (const char *)builtin->text, builtin->bytes);
    if (root != NULL)
        config_apply_file(&load->loader, load->tree, source, root);
}

static const char *config_join(struct load *load, const char *folder, const char *name)
{
    const size_t room = strlen(folder) + strlen(name) + 2;
    char *const path = config_arena_alloc(load->loader.arena, room);
    if (path != NULL)
        snprintf(path, room, "%s/%s", folder, name);
    return path;
}

static void load_shipped(struct load *load, const char *name, enum config_file file)
{
    if (load->configs_dir == NULL)
        return;
    const char *const path =
        load->configs_dir == CONFIG_BUILT_IN ? NULL : config_join(load, load->configs_dir, name);
    const uint32_t before = load->loader.source_count;
    if (load->configs_dir == CONFIG_BUILT_IN)
        load_builtin(load, builtin_file_find(name), file, false);
    else if (path != NULL)
        load_file(load, path, file, false, is_found_there(load, path));
    if (load->loader.source_count > before)
        load->loader.sources[before].is_shipped = true;
}

/* Whether the shipped files' values, before any other layer, are the values of a line without
 * options. */
static bool keeps_shipped(const struct config_request *request)
{
    return request->keep_shipped && request->configs_dir == NULL && request->topology == NULL &&
           request->components == NULL && request->ccl == NULL &&
           environment_answer(ENVIRONMENT_BIRS_ENABLE) == ENVIRONMENT_UNSET;
}

static void load_preset(struct load *load, const char *name)
{
    const struct builtin_file *builtin = NULL;
    const char *const path = config_find_preset(&load->loader, load->configs_dir,
                                                load->request->configs_dir, name, &builtin);
    if (builtin != NULL)
        load_builtin(load, builtin, CONFIG_TOPOLOGY, true);
    else if (path != NULL)
        load_file(load, path, CONFIG_TOPOLOGY, true,
                  strcmp(path, name) != 0 && is_found_there(load, path));
}

static void load_files(struct load *load)
{
    static const char *const names[CONFIG_FILES] = {"topology.yaml", "components.yaml", "ccl.yaml"};
    const struct config_request *const request = load->request;
    const char *const given[CONFIG_FILES] = {request->topology, request->components, request->ccl};
    for (uint32_t i = 0; i < CONFIG_FILES; i++) {
        load_shipped(load, names[i], (enum config_file)i);
        if (given[i] != NULL)
            load_file(load, given[i], (enum config_file)i, false, false);
    }
    if (keeps_shipped(request))
        load->tree->shipped = config_tree_copy(load->loader.arena, load->tree);
    for (size_t i = 0; i < request->presets_before_count; i++)
        load_preset(load, request->presets_before[i]);
    if (request->preset != NULL)
        load_preset(load, request->preset);
}

static bool is_printable(const char *text)
{
    const size_t bytes = strlen(text);
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7f)
            return false;
    return true;
}

/* A source for an option of the command line, named as it was written if that is fit to print. */
static uint32_t add_option(struct load *load, const char *option, const char *text)
{
    char name[OPTION_BYTES];
    char quoted[TEXT_QUOTE_BYTES];
    const size_t bytes = strlen(text);
    const bool plain = bytes + 16 < sizeof name && is_printable(text);
    snprintf(name, sizeof name, "%s %s", option, plain ? text : text_quote(text, bytes, quoted));
    const char *const copy = config_arena_text(load->loader.arena, name, strlen(name));
    return copy == NULL ? 0
                        : config_source_add(&load->loader,
                                            &(struct config_source){.name = copy, .any_key = true});
}

/* Whether a text stands for itself between single quotes in YAML. */
static bool is_quotable(const char *text)
{
    const size_t bytes = strlen(text);
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f || *at == '\'' ||
            strncmp(at, "\xc2\x85", 2) == 0 || strncmp(at, "\xe2\x80\xa8", 3) == 0 ||
            strncmp(at, "\xe2\x80\xa9", 3) == 0) /* three line breaks beyond ASCII */
            return false;
    return text_utf8_prefix(text, bytes) == bytes;
}

/* The entry of a file with a schedule that an option names, as ccl.yaml would have it: a/ring.xml
 * is called ring_xml. */
static void apply_schedule_option(struct load *load, uint32_t source, const char *path)
{
    char name[CCL_NAME_BYTES], text[2048];
    const char *const slash = strrchr(path, '/');
    size_t n = 0;
    for (const char *at = slash != NULL ? slash + 1 : path; *at != '\0' && n + 1 < sizeof name;
         at++)
        name[n++] = strchr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-", *at)
                        ? *at
                        : '_';
    name[n] = '\0';
    n = (size_t)snprintf(text, sizeof text,
                         "{defaults: {algorithm: %s}, algorithms: {%s: {module: '%s', topology: "
                         "none, mapper: leader_only, validator: single_shard_per_rank}}}",
                         name, name, path);
    const struct config_node *const root =
        n < sizeof text && is_quotable(path) ? config_parse(&load->loader, source, text, n) : NULL;
    if (root != NULL)
        config_apply_file(&load->loader, load->tree, source, root);
    else
        config_error(&load->loader, (struct config_place){.source = source},
                     "expected a path of up to 1,800 bytes in UTF-8, without control characters "
                     "and without '");
}

static void apply_algorithm_option(struct load *load, const char *name)
{
    const uint32_t source = add_option(load, "--algorithm", name);
    if (source == 0)
        return;
    if (ccl_is_schedule_file(name)) {
        apply_schedule_option(load, source, name);
        return;
    }
    if (strpbrk(name, "/.") != NULL) { /* no entry has such a name */
        config_error(&load->loader, (struct config_place){.source = source},
                     "expected an entry of ccl.yaml, whose module may be a shared object, or the "
                     "path of an MSCCL XML file or an MSCCL++ plan, whose name ends with .xml or "
                     ".json");
        return;
    }
    const struct config_node node = {
        .kind = CONFIG_SCALAR, .place = {.source = source}, .text = name, .bytes = strlen(name)};
    config_apply_path(&load->loader, load->tree, source, "defaults.algorithm", &node);
}

static void apply_set(struct load *load, const char *algorithm, const char *text)
{
    const uint32_t source = add_option(load, "--set", text);
    if (source == 0)
        return;
    const char *const equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        config_error(&load->loader, (struct config_place){.source = source},
                     "expected KEY=VALUE, as in system.sips.count=64");
        return;
    }
    const char *const path = config_arena_text(load->loader.arena, text, (size_t)(equals - text));
    if (path == NULL)
        return;
    if (algorithm != NULL && strcmp(path, "defaults.algorithm") == 0 &&
        strcmp(equals + 1, algorithm) != 0)
        config_error(&load->loader, (struct config_place){.source = source},
                     "--algorithm %s names the algorithm already; give one of the two", algorithm);
    const struct config_node *const node =
        config_parse(&load->loader, source, equals + 1, strlen(equals + 1));
    if (node != NULL)
        config_apply_path(&load->loader, load->tree, source, path, node);
}

/* CUBEWARP_BIRS_ENABLE as the place of a value, with the text that it is set to unless that is
 * wrong; 0: no memory. */
static uint32_t environment_source(struct load *load, const char *text, bool is_right)
{
    char name[64] = "CUBEWARP_BIRS_ENABLE";
    if (is_right)
        snprintf(name, sizeof name, "CUBEWARP_BIRS_ENABLE=%.8s", text);
    const char *const kept = config_arena_text(load->loader.arena, name, strlen(name));
    return kept == NULL
               ? 0
               : config_source_add(&load->loader, &(struct config_source){.name = kept,
                                                                          .any_key = true,
                                                                          .is_environment = true});
}

/*
 * The environment as the last layer. CUBEWARP_BIRS_ENABLE overrides every birs_enable,
 * also in an algorithm's entry: it enables or disables birs, whatever files and options say.
 */
static void apply_environment(struct load *load)
{
    const enum environment_answer answer = environment_answer(ENVIRONMENT_BIRS_ENABLE);
    if (answer == ENVIRONMENT_UNSET)
        return;
    const char *const given = environment_get(ENVIRONMENT_BIRS_ENABLE);
    const uint32_t source = environment_source(load, given, answer != ENVIRONMENT_NEITHER);
    if (source == 0)
        return;
    if (answer == ENVIRONMENT_NEITHER) {
        char quoted[TEXT_QUOTE_BYTES];
        config_error(&load->loader, (struct config_place){.source = source},
                     "expected " ENVIRONMENT_ANSWERS "; found %s",
                     text_quote(given, strlen(given), quoted));
        return;
    }
    const char *const text = answer == ENVIRONMENT_YES ? "true" : "false";
    const struct config_node node = {.kind = CONFIG_SCALAR,
                                     .plain = true,
                                     .place = {.source = source},
                                     .text = text,
                                     .bytes = strlen(text)};
    const int key = config_ccl_find("birs_enable");
    config_apply_path(&load->loader, load->tree, source, "defaults.birs_enable", &node);
    for (struct config_algorithm *entry = load->tree->algorithms; entry != NULL;
         entry = entry->next)
        if (config_given(&entry->value[key]))
            config_value_read(&load->loader, &config_ccl_keys[key], "birs_enable", &node,
                              &entry->value[key]);
}

/* Whether a value is the user's, rather than of the shipped ccl.yaml. */
static bool is_of_user(const struct load *load, const struct config_value *value)
{
    return config_given(value) && !load->loader.sources[value->place.source - 1].is_shipped;
}

/* `auto` stands for an entry of its collective: the values that the user has set for `auto` hold
 * there, but for those that say which algorithm it is. */
static void take_over_values(struct load *load)
{
    const struct config_request *const request = load->request;
    if (request->instead_of == NULL || request->algorithm == NULL)
        return;
    const struct config_algorithm *const named =
        config_algorithm_find(load->tree, request->instead_of);
    struct config_algorithm *const entry = config_algorithm_find(load->tree, request->algorithm);
    if (named == NULL || entry == NULL)
        return;
    for (uint32_t i = 0; i < config_ccl_key_count; i++) {
        const char *const key = config_ccl_keys[i].path;
        if (strcmp(key, "module") != 0 && strcmp(key, "extends") != 0 &&
            strcmp(key, "topology") != 0 && is_of_user(load, &named->value[i]) &&
            !is_of_user(load, &entry->value[i]))
            entry->value[i] = named->value[i];
    }
}

/* Code is loaded only if a configuration file says so, and never against --no-plugins. */
static void check_plugins(struct load *load, const struct config_algorithm *entry)
{
    static const char *const keys[] = {"module", "mapper", "validator"};
    for (uint32_t i = 0; i < 3; i++) {
        const struct config_value *const value =
            config_ccl_value(load->tree, entry, config_ccl_find(keys[i]));
        if (!config_given(value) || strchr(value->text, ':') == NULL)
            continue;
        if (load->request->no_plugins)
            config_error(&load->loader, value->place,
                         "%s: %.200s is loaded from a file, which --no-plugins forbids", keys[i],
                         value->text);
        else if (!load->loader.sources[value->place.source - 1].is_file)
            config_error(&load->loader, value->place,
                         "%s: %.200s would load code, which only a configuration file may ask for: "
                         "write it in ccl.yaml and give --ccl",
                         keys[i], value->text);
        else if (load->loader.sources[value->place.source - 1].is_found)
            config_error(&load->loader, value->place,
                         "%s: %.200s would load code, and nobody has named this file: it was found "
                         "in the working directory; give it by --ccl, or name its folder by "
                         "CUBEWARP_CONFIGS",
                         keys[i], value->text);
    }
}

/* Refuses a parameter that could never be set, because every entry has a key of that name. */
static void check_names(struct load *load, const struct ccl_algorithm *algorithm,
                        struct config_place place)
{
    for (uint32_t i = 0; i < algorithm->parameter_count; i++)
        if (config_ccl_find(algorithm->parameters[i].name) >= 0)
            config_error(&load->loader, place,
                         "module: %s declares a parameter '%s', which is a key of every entry; "
                         "give it another name",
                         algorithm->name, algorithm->parameters[i].name);
}

/* Refuses a name that no built-in algorithm has, whether the entry runs or not. A module of the
 * design records, which begins with `kernbench.`, is refused where it runs. */
static void check_module(struct load *load, const struct config_value *own)
{
    struct cw_error error;
    if (!config_given(own) ||
        strncmp(own->text, CONFIG_RECORDS_ROOT, strlen(CONFIG_RECORDS_ROOT)) == 0 ||
        strchr(own->text, ':') != NULL || ccl_is_schedule_file(own->text) ||
        ccl_algorithm_find(own->text) != NULL)
        return;
    (void)ccl_algorithm_load(own->text, &error);
    config_error(&load->loader, own->place, "%s", error.text);
}

/* The algorithm of an entry that runs and has this module; NULL: none does. */
static const struct ccl_algorithm *running_module(const struct config_tree *tree,
                                                  const struct config_value *module)
{
    const int key = config_ccl_find("module");
    for (const struct config_algorithm *entry = tree->algorithms;
         entry != NULL && config_given(module); entry = entry->next)
        if (entry->algorithm != NULL &&
            strcmp(config_ccl_value(tree, entry, key)->text, module->text) == 0)
            return entry->algorithm;
    return NULL;
}

/*
 * The entries' own keys against the algorithms that declare them. Code is loaded for entries that
 * run alone, and only if nothing else is wrong: then the keys of such an entry, and of entries with
 * the same module, are known.
 */
static void apply_parameters(struct load *load)
{
    const int module = config_ccl_find("module");
    const bool loads = load->loader.errors->count == 0;
    struct cw_error error;
    for (struct config_algorithm *entry = load->tree->algorithms; entry != NULL && loads;
         entry = entry->next) {
        const struct config_value *const own = config_ccl_value(load->tree, entry, module);
        if (!entry->runs || !config_given(own))
            continue;
        entry->algorithm = ccl_algorithm_load(own->text, &error); /* NULL: the run will say why */
        if (entry->algorithm != NULL)
            check_names(load, entry->algorithm, own->place);
    }
    for (struct config_algorithm *entry = load->tree->algorithms; entry != NULL;
         entry = entry->next) {
        const struct config_value *const own = config_ccl_value(load->tree, entry, module);
        const struct ccl_algorithm *const running = running_module(load->tree, own);
        const struct ccl_algorithm *const algorithm =
            running == NULL && config_given(own) ? ccl_algorithm_find(own->text) : running;
        const bool plugin = config_given(own) && strchr(own->text, ':') != NULL;
        check_module(load, &entry->value[module]);
        config_apply_parameters(&load->loader, load->tree, entry, algorithm,
                                running != NULL || !plugin);
    }
}

static void check_layers(struct load *load)
{
    config_check_algorithms(&load->loader, load->tree);
    config_check_machine(&load->loader, load->tree);
    for (const struct config_algorithm *entry = load->tree->algorithms; entry != NULL;
         entry = entry->next)
        if (entry->runs)
            check_plugins(load, entry);
    apply_parameters(load);
}

/* The shipped files alone, as a line without options has them. If they are wrong by themselves,
 * or name code that --no-plugins forbids, there is no such line. */
static void check_shipped(struct load *load)
{
    const struct config_request nothing = {.no_plugins = load->request->no_plugins};
    struct config_errors errors = {0};
    struct load shipped = *load;
    shipped.loader.errors = &errors;
    shipped.tree = load->tree->shipped;
    shipped.request = &nothing;
    check_layers(&shipped);
    if (errors.count + errors.dropped > 0)
        load->tree->shipped = NULL;
    config_errors_free(&errors);
}

/* The layers, then the rules. */
static void load_layers(struct load *load)
{
    const struct config_request *const request = load->request;
    const bool all_given =
        request->topology != NULL && request->components != NULL && request->ccl != NULL;
    struct config_errors quiet = {0};
    struct config_errors *const errors = load->loader.errors;
    /* Without the shipped files a user's own three may still be complete. */
    if (all_given)
        load->loader.errors = &quiet;
    load->configs_dir = config_find_shipped(&load->loader, request->configs_dir);
    load->loader.errors = errors;
    config_errors_free(&quiet);
    if (load->configs_dir == NULL && !all_given)
        return; /* reported; nothing that follows could be complete */
    load_files(load);
    if (request->algorithm != NULL)
        apply_algorithm_option(load, request->algorithm);
    for (size_t i = 0; i < request->set_count; i++)
        apply_set(load, request->algorithm, request->sets[i]);
    apply_environment(load);
    take_over_values(load);
    check_layers(load);
    if (load->tree->shipped != NULL && errors->count + errors->dropped == 0)
        check_shipped(load);
    load->tree->sources = load->loader.sources;
    load->tree->source_count = load->loader.source_count;
}

static struct config *config_create(void)
{
    struct config *const config = calloc(1, sizeof *config);
    struct config_tree *const tree = calloc(1, sizeof *tree);
    if (config == NULL || tree == NULL) {
        free(config);
        free(tree);
        return NULL;
    }
    config->tree = tree;
    return config;
}

/* The steps of a file may send more chunks than rings have slots before they receive.
 * Then the bytes of a ring are cut into more slots; a ring of the smallest slots takes more. */
static void cut_rings(struct ccl_config *ccl, const struct ccl_algorithm *running)
{
    enum { SLOT_BYTES_MIN = 4 };
    const struct ccl_algorithm *const algorithm =
        ccl_is_schedule_file(ccl->module) ? running : NULL;
    const uint32_t needed = algorithm != NULL ? ccl_algorithm_slots(algorithm, ccl->queues.n_slots)
                                              : ccl->queues.n_slots;
    const uint64_t slot_bytes = (uint64_t)ccl->queues.n_slots * ccl->queues.slot_bytes / needed /
                                SLOT_BYTES_MIN * SLOT_BYTES_MIN;
    if (needed == ccl->queues.n_slots)
        return;
    ccl->slots_asked = ccl->queues.n_slots;
    ccl->queues.n_slots = needed;
    ccl->queues.slot_bytes = slot_bytes > 0 ? (uint32_t)slot_bytes : SLOT_BYTES_MIN;
}

/* A run without a size has as many elements as the steps of a custom file divide. */
static void fit_elements(struct config *config)
{
    const struct ccl_algorithm *const algorithm =
        ccl_is_schedule_file(config->ccl.module) ? config_running(config->tree) : NULL;
    const uint32_t multiple = algorithm != NULL ? ccl_algorithm_fixed(algorithm).multiple : 1;
    const uint64_t rest = config->ccl.n_elem % multiple;
    if (rest > 0 && !config_is_from_option(config, "defaults.n_elem"))
        config->ccl.n_elem += multiple - rest;
}

static void take_if_given(int64_t *setting, int64_t of_protocol)
{
    if (of_protocol > 0)
        *setting = of_protocol;
}

/* The protocol of a file with a schedule is the file's, and the key `protocol` is for all else. */
static void apply_protocol(struct config *config)
{
    struct ccl_config *const ccl = &config->ccl;
    struct hw_config *const hw = &config->hw;
    const struct ccl_algorithm *const algorithm =
        ccl_is_schedule_file(ccl->module) ? config_running(config->tree) : NULL;
    if (algorithm != NULL)
        ccl->queues.protocol = ccl_algorithm_protocol(algorithm);
    if (ccl->queues.protocol == LP_SIMPLE)
        return;
    const bool is_ll = ccl->queues.protocol == LP_LL;
    const struct ccl_lines *const lines = is_ll ? &ccl->ll : &ccl->ll128;
    ccl->queues.n_slots = lines->n_slots > 0 ? lines->n_slots : ccl->queues.n_slots;
    ccl->queues.slot_bytes = lines->slot_bytes > 0 ? lines->slot_bytes : ccl->queues.slot_bytes;
    ccl->piece_bytes = lines->piece_bytes > 0 ? lines->piece_bytes : ccl->piece_bytes;
    take_if_given(&hw->ipcq_wire_ps, hw->ipcq_ll_wire_ps);
    take_if_given(&hw->launch_static_ps, is_ll ? 0 : hw->ll128_launch_static_ps);
    for (uint32_t m = 0; m < HW_SLOT_MEMORIES; m++)
        take_if_given(&hw->slot_access[m].overhead_ps, is_ll
                                                           ? hw->slot_access[m].ll_overhead_ps
                                                           : hw->slot_access[m].ll128_overhead_ps);
}

/* What the algorithm that runs changes in its own settings. */
static void fit_algorithm(struct config *config)
{
    apply_protocol(config);
    cut_rings(&config->ccl, config_running(config->tree));
    config->ccl.queues.coarse = config->ccl.coarse_bytes / config->ccl.queues.slot_bytes;
    /* Parameters, protocol and slots are then not the file's. */
    config->ccl.module_unread = config_running(config->tree) == NULL;
}

void config_entry(const struct config *config, const char *entry, struct ccl_config *ccl)
{
    struct config_tree tree = *config->tree;
    struct config other = *config;
    struct config_algorithm own =
        *(entry[0] != '\0' ? config_algorithm_find(&tree, entry) : tree.chosen);
    const struct config_value *const module =
        config_ccl_value(&tree, &own, config_ccl_find("module"));
    if (own.algorithm == NULL && config_given(module))
        own.algorithm = ccl_algorithm_find(module->text);
    tree.chosen = &own;
    other.tree = &tree;
    config_fill_ccl(&other);
    fit_algorithm(&other);
    snprintf(other.ccl.algorithm, sizeof other.ccl.algorithm, "%s", own.name);
    *ccl = other.ccl;
}

/* A coarse tile is whole tiles, and as many of them as a kernel keeps have addresses in TCM. */
static void check_coarse(const struct config *config, struct config_errors *errors)
{
    const struct ccl_config *const ccl = &config->ccl;
    const uint32_t slot = ccl->queues.slot_bytes;
    const uint64_t room = ((uint64_t)1 << 32) / config->hw.tcm_bytes,
                   most = (room < UINT16_MAX ? room : UINT16_MAX) * slot;
    if (ccl->coarse_bytes == 0)
        return;
    if (ccl->queues.whole_tensor)
        config_error_at(errors, config, "defaults.coarse",
                        "a tensor is one tile already (defaults.whole_tensor); legal: one of the "
                        "two");
    else if (ccl->coarse_bytes % slot != 0 || ccl->coarse_bytes > most)
        config_error_at(errors, config, "defaults.coarse",
                        "%" PRIu32 " bytes; legal: a multiple of a tile's %" PRIu32
                        " bytes (defaults.slot_size), at most %" PRIu64,
                        ccl->coarse_bytes, slot, most);
}

int config_load(const struct config_request *request, struct config **out,
                struct config_errors *errors)
{
    *out = NULL;
    struct config *const config = config_create();
    if (config == NULL)
        return CW_NO_RESOURCE;
    struct config_arena scratch = {0};
    struct load load = {
        .loader = {.arena = &config->tree->arena, .scratch = &scratch, .errors = errors},
        .tree = config->tree,
        .request = request};
    load_layers(&load);
    const bool no_memory = config->tree->arena.failed || scratch.failed;
    config_arena_free(&scratch);
    int result = CW_OK;
    if (errors->count + errors->dropped == 0 && !no_memory) {
        config_fill(config);
        config_make_faults(config, errors);
        if (errors->count + errors->dropped == 0)
            config_find_orders(config);
        fit_algorithm(config);
        fit_elements(config);
        config_check_rings(config, errors);
        check_coarse(config, errors);
        result = config_digest(config);
        if (config->tree->arena.failed)
            result = CW_NO_RESOURCE;
    }
    config_errors_sort(errors);
    if (no_memory)
        result = CW_NO_RESOURCE;
    else if (errors->count + errors->dropped > 0)
        result = CW_USAGE;
    if (result != CW_OK)
        config_free(config);
    else
        *out = config;
    return result;
}

void config_free(struct config *config)
{
    if (config == NULL)
        return;
    hw_broken_free(config->broken);
    hw_broken_free(config->broken_later);
    free(config->later);
    hw_graph_free(config->tree->graph);
    config_arena_free(&config->tree->arena);
    free(config->tree);
    free(config);
}
