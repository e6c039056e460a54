/*
 * config_print.c: the resolved configuration as one YAML text, in the schema's order and in
 * canonical spelling, so that it is the same for every way of saying the same; its digest; and
 * where values come from.
 */
#define _GNU_SOURCE /* fopencookie */
#include "collectives/config/config_print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <xxhash.h>

#include "collectives/algorithm.h"
#include "collectives/config/config_tree.h"
#include "collectives/config/input/environment.h"
#include "collectives/config/input/text.h"
#include "collectives/plugin.h"
#include "core/cw.h"

#define COMMENT_COLUMN 44
#define PLACE_BYTES    512u

struct printer {
    FILE *file;
    const struct config_tree *tree;
    bool places;
    bool digests;   /* for the digest alone */
    char open[128]; /* path of the mapping that is open */
};

/* "INDENT KEY: VALUE   # PLACE" */
static void print_line(const struct printer *printer, int indent, const char *key, const char *text,
                       struct config_place place, const char *note)
{
    char where[PLACE_BYTES];
    const int bytes = fprintf(printer->file, "%*s%s: %s", indent, "", key, text);
    config_place_text(printer->tree->sources, place, where, sizeof where);
    if (printer->places)
        fprintf(printer->file, "%*s# %s%s", bytes < COMMENT_COLUMN ? COMMENT_COLUMN - bytes : 1, "",
                place.source == 0 ? "" : where, note);
    fputc('\n', printer->file);
}

/* Opens the mappings that lead to a path, closing the others by indentation. */
static int open_groups(struct printer *printer, const char *path)
{
    int indent = 0;
    size_t start = 0;
    const char *dot;
    while ((dot = strchr(path + start, '.')) != NULL) {
        const size_t bytes = (size_t)(dot - path);
        if (strncmp(printer->open, path, bytes) != 0 ||
            (printer->open[bytes] != '.' && printer->open[bytes] != '\0')) {
            fprintf(printer->file, "%*s%.*s:\n", indent, "", (int)(bytes - start), path + start);
            snprintf(printer->open, sizeof printer->open, "%.*s", (int)bytes, path);
        }
        start = bytes + 1;
        indent += 2;
    }
    if (start == 0)
        printer->open[0] = '\0';
    else
        snprintf(printer->open, sizeof printer->open, "%.*s", (int)(start - 1), path);
    return indent;
}

static const char *last_part(const char *path)
{
    const char *const dot = strrchr(path, '.');
    return dot == NULL ? path : dot + 1;
}

/* A link's ns_per_mm and latency_ns when it has none of its own. */
static void print_absent_link_key(struct printer *printer, const char *path)
{
    const struct config_value *const common = config_machine_value(printer->tree, "ns_per_mm");
    if (strcmp(last_part(path), "ns_per_mm") == 0)
        print_line(printer, open_groups(printer, path), "ns_per_mm", common->text, common->place,
                   " (ns_per_mm)");
    else if (strcmp(last_part(path), "latency_ns") == 0)
        print_line(printer, open_groups(printer, path), "latency_ns", "0", (struct config_place){0},
                   "not given");
}

/* w, h and d that the count alone gave. */
static void print_absent_grid(struct printer *printer, const char *path)
{
    char text[16];
    const struct config_tree *const tree = printer->tree;
    const char letter = last_part(path)[0];
    const uint32_t length = letter == 'w'   ? tree->grid.w
                            : letter == 'h' ? tree->grid.h
                                            : tree->grid.d;
    if (length == 0)
        return;
    snprintf(text, sizeof text, "%" PRIu32, length);
    print_line(printer, open_groups(printer, path), last_part(path), text,
               config_machine_value(tree, "system.sips.count")->place,
               tree->grid.d > 0 ? " (the most cubic grid)" : " (the squarest grid)");
}

static void print_machine(struct printer *printer)
{
    for (uint32_t i = 0; i < config_machine_key_count; i++) {
        const char *const path = config_machine_keys[i].path;
        const struct config_value *const value = &printer->tree->machine[i];
        if (config_given(value))
            print_line(printer, open_groups(printer, path), last_part(path),
                       value->graph == NULL ? value->text
                       : printer->digests   ? value->graph->digested
                                            : value->graph->printed,
                       value->place, "");
        if (value->graph != NULL && value->graph->contents != 0)
            fprintf(printer->file, "    # contents of the graph's file: %016" PRIx64 "\n",
                    value->graph->contents);
        if (config_given(value))
            continue;
        if (strncmp(path, "links.", 6) == 0)
            print_absent_link_key(printer, path);
        else if (strncmp(path, "system.sips.", 12) == 0)
            print_absent_grid(printer, path);
    }
}

/* The entry's parameters, then, of one that runs, the defaults of the others. */
static void print_parameters(const struct printer *printer, const struct config_algorithm *entry)
{
    for (const struct config_parameter *own = entry->parameters; own != NULL; own = own->next)
        print_line(printer, 4, own->name, own->value.text, own->value.place, "");
    const struct ccl_algorithm *const algorithm = entry->algorithm;
    if (algorithm == NULL)
        return;
    const uint64_t contents = ccl_algorithm_contents(algorithm);
    if (contents != 0) /* so that the digest covers the file's contents, too */
        fprintf(printer->file, "    # contents of the module's file: %016" PRIx64 "\n", contents);
    for (uint32_t i = 0; i < algorithm->parameter_count; i++) {
        const struct ccl_parameter *const parameter = &algorithm->parameters[i];
        char number[32];
        if (config_parameter_value(entry, parameter->name) != NULL)
            continue;
        snprintf(number, sizeof number, "%" PRId64, parameter->value);
        print_line(printer, 4, parameter->name,
                   parameter->type == CCL_PARAMETER_CHOICE ? parameter->choice[parameter->value]
                   : parameter->type == CCL_PARAMETER_BOOL ? (parameter->value ? "true" : "false")
                                                           : number,
                   (struct config_place){0}, "the algorithm's default");
    }
}

/* An entry that has no part in the digest: it does not run, and it came after files had been made
 * whose digests must stay: a schedule's. */
static bool is_left_out(const struct printer *printer, const struct config_algorithm *entry)
{
    const int module = config_ccl_find("module");
    const struct config_value *const name = config_ccl_value(printer->tree, entry, module);
    const struct ccl_algorithm *const algorithm =
        config_given(name) ? ccl_algorithm_find(name->text) : NULL;
    if (!printer->digests || algorithm == NULL || algorithm->schedule == NULL)
        return false;
    for (const struct config_algorithm *runs = printer->tree->algorithms; runs != NULL;
         runs = runs->next)
        for (const struct config_algorithm *used = runs->runs ? runs : NULL; used != NULL;
             used = used->extends)
            if (used == entry)
                return false;
    return true;
}

static void print_section(const struct printer *printer, enum config_section section)
{
    const struct config_section_row *const row = &config_sections[section];
    if (printer->tree->named[section] != NULL)
        fprintf(printer->file, "%s:\n", row->name);
    for (const struct config_named *named = printer->tree->named[section]; named != NULL;
         named = named->next) {
        bool any = false;
        for (uint32_t i = 0; i < row->key_count; i++)
            any |= config_given(&named->value[i]);
        if (!any)
            print_line(printer, 2, named->name, "{}", named->place, "");
        else
            fprintf(printer->file, "  %s:\n", named->name);
        for (uint32_t i = 0; i < row->key_count; i++)
            if (config_given(&named->value[i]))
                print_line(printer, 4, row->keys[i].path, named->value[i].text,
                           named->value[i].place, "");
    }
}

static void print_ccl(struct printer *printer)
{
    const struct config_tree *const tree = printer->tree;
    fputs("defaults:\n", printer->file);
    for (uint32_t i = 0; i < config_ccl_key_count; i++)
        if (config_given(&tree->defaults[i]))
            print_line(printer, 2, config_ccl_keys[i].path, tree->defaults[i].text,
                       tree->defaults[i].place, "");
    fputs("algorithms:\n", printer->file);
    for (const struct config_algorithm *entry = tree->algorithms; entry != NULL;
         entry = entry->next) {
        if (is_left_out(printer, entry))
            continue;
        fprintf(printer->file, "  %s:\n", entry->name);
        for (uint32_t i = 0; i < config_ccl_key_count; i++)
            if (config_given(&entry->value[i]))
                print_line(printer, 4, config_ccl_keys[i].path, entry->value[i].text,
                           entry->value[i].place, "");
        print_parameters(printer, entry);
    }
}

/* A variable that may be a misspelt one of cubewarp's. */
static void print_unknown(const struct printer *printer, const char *variable, size_t bytes)
{
    const char *const meant = environment_meant(variable);
    char quoted[TEXT_QUOTE_BYTES];
    fprintf(printer->file, "# environment: %s has no meaning", text_quote(variable, bytes, quoted));
    if (meant != NULL)
        fprintf(printer->file, "; did you mean '%s'?", meant);
    fputc('\n', printer->file);
}

/* The variables of cubewarp's own that are set; the digest omits variables that are not values. */
static void print_environment(const struct printer *printer)
{
    for (uint32_t i = 0; i < ENVIRONMENT_NAMES; i++) {
        const char *const value = environment_get((enum environment_name)i);
        char quoted[TEXT_QUOTE_BYTES];
        if (value != NULL && strncmp(environment_variables[i].name, "CUBEWARP_", 9) == 0)
            fprintf(printer->file, "# environment: %s=%s (%s)\n", environment_variables[i].name,
                    text_quote(value, strlen(value), quoted), environment_variables[i].doc);
    }
    const char *unknown;
    for (unsigned i = 0; (unknown = environment_unknown(i)) != NULL; i++)
        print_unknown(printer, unknown, strcspn(unknown, "="));
}

static int print_all(struct printer printer)
{
    print_machine(&printer);
    print_ccl(&printer);
    for (uint32_t section = 0; section < CONFIG_SECTIONS; section++)
        print_section(&printer, (enum config_section)section);
    if (printer.places)
        print_environment(&printer);
    return ferror(printer.file) ? CW_NO_RESOURCE : CW_OK;
}

int config_print(FILE *file, const struct config *config, bool places)
{
    return print_all((struct printer){.file = file, .tree = config->tree, .places = places});
}

/* A stream's write function that hashes: no text in memory that could be cut short. */
static ssize_t hash_write(void *cookie, const char *text, size_t bytes)
{
    return XXH3_64bits_update(cookie, text, bytes) == XXH_OK ? (ssize_t)bytes : 0;
}

/* The module, the mapper or the validator of an entry, if it is in a file; NULL: it is not. */
static const char *loaded_name(const struct config_tree *tree, const struct config_algorithm *entry,
                               uint32_t which)
{
    static const char *const keys[] = {"module", "mapper", "validator"};
    const struct config_value *const value =
        config_ccl_value(tree, entry, config_ccl_find(keys[which]));
    return config_given(value) && (plugin_is_path(value->text) ||
                                   (which == 0 && ccl_is_schedule_file(value->text)))
               ? value->text
               : NULL;
}

static void describe(const char *name, bool is_xml, struct config_loaded *loaded)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const algorithm =
        is_xml ? ccl_algorithm_load(name, &ignored) : NULL;
    loaded->is_xml = is_xml;
    snprintf(loaded->file, sizeof loaded->file, "%.*s",
             (int)(is_xml ? strlen(name) : (size_t)(strrchr(name, ':') - name)), name);
    loaded->contents = !is_xml             ? plugin_contents(name)
                       : algorithm != NULL ? ccl_algorithm_contents(algorithm)
                                           : 0;
}

bool config_loaded_at(const struct config *config, uint32_t i, struct config_loaded *loaded)
{
    enum { NAMES = 3 };
    const struct config_tree *const tree = config->tree;
    const struct config_algorithm *entry = tree->chosen;
    for (bool others = false; entry != NULL;
         entry = others ? entry->next : tree->algorithms, others = true) {
        if (others && (entry == tree->chosen || !entry->runs))
            continue;
        for (uint32_t which = 0; which < NAMES; which++) {
            const char *const name = loaded_name(tree, entry, which);
            if (name == NULL || i-- > 0)
                continue;
            describe(name, which == 0 && ccl_is_schedule_file(name), loaded);
            return true;
        }
    }
    return false;
}

/* So that the digest covers the shared objects, too. An MSCCL file's contents are among the
 * entry's lines. */
static void print_contents(FILE *file, const struct config *config)
{
    struct config_loaded loaded;
    for (uint32_t i = 0; config_loaded_at(config, i, &loaded); i++)
        if (!loaded.is_xml)
            fprintf(file, "# contents of %s: %016" PRIx64 "\n", loaded.file, loaded.contents);
}

int config_digest(struct config *config)
{
    XXH3_state_t *const state = XXH3_createState();
    FILE *file = NULL;
    if (state != NULL && XXH3_64bits_reset(state) == XXH_OK)
        file = fopencookie(state, "w", (cookie_io_functions_t){.write = hash_write});
    int result = CW_NO_RESOURCE;
    if (file != NULL) {
        result = print_all((struct printer){.file = file, .tree = config->tree, .digests = true});
        print_contents(file, config);
        if (fclose(file) != 0)
            result = CW_NO_RESOURCE;
    }
    if (result == CW_OK)
        snprintf(config->digest, sizeof config->digest, "%016" PRIx64, XXH3_64bits_digest(state));
    XXH3_freeState(state);
    return result;
}
