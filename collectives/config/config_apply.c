/*
 * config_apply.c: applies one source to the tree. A node is either at a key, whose value it
 * becomes, or above keys, and then it is a mapping whose own keys lead to them. A later source
 * replaces values one by one; a wrong value leaves an error, and no value in force.
 */
#include "collectives/config/config_apply.h"

#include <stdio.h>
#include <string.h>

#include "collectives/algorithm.h"
#include "collectives/config/config_value.h"
#include "collectives/config/input/meaning.h"
#include "collectives/config/input/text.h"

#define PATH_BYTES  256u
#define KNOWN_BYTES 700u

struct apply {
    struct config_loader *loader;
    struct config_tree *tree;
    const struct config_source *source;
    const struct ccl_algorithm *algorithm; /* whose parameters are keys, too; NULL: none's */
};

/* Calls `visit` with every path that a configuration may have. Collectives' keys are under
 * defaults, and under algorithms.<name> if that is given. */
typedef void (*path_visitor)(void *arg, const char *path, const struct config_key *key);

static void visit_paths(const char *algorithm, path_visitor visit, void *arg)
{
    static const char group[] = "defaults.";
    char path[PATH_BYTES], default_path[PATH_BYTES];
    memcpy(default_path, group, sizeof group);
    for (uint32_t i = 0; i < config_machine_key_count; i++)
        visit(arg, config_machine_keys[i].path, &config_machine_keys[i]);
    for (uint32_t i = 0; i < config_ccl_key_count; i++) {
        const struct config_key *const key = &config_ccl_keys[i];
        if ((key->flags & CONFIG_NOT_IN_DEFAULTS) == 0) {
            /* by a copy: this loop has most of the time that a configuration takes */
            memcpy(default_path + sizeof group - 1, key->path, strlen(key->path) + 1);
            visit(arg, default_path, key);
        }
        if (algorithm != NULL && (key->flags & CONFIG_NOT_IN_ALGORITHM) == 0) {
            snprintf(path, sizeof path, "algorithms.%s.%s", algorithm, key->path);
            visit(arg, path, key);
        }
    }
}

/* Collects the names that may be directly under a path. */
struct children {
    const char *prefix;
    size_t prefix_bytes;
    bool any_file;
    enum config_file file;
    char known[KNOWN_BYTES]; /* "a, b, c" */
    char last[PATH_BYTES];
    const char *wanted; /* for the nearest */
    char best[PATH_BYTES];
    unsigned distance;
    uint32_t count;
};

static void children_add(struct children *children, const char *name)
{
    if (strcmp(children->last, name) == 0)
        return;
    snprintf(children->last, sizeof children->last, "%s", name);
    const size_t used = strlen(children->known);
    snprintf(children->known + used, sizeof children->known - used, "%s%s", used == 0 ? "" : ", ",
             name);
    children->count++;
    struct text_nearest nearest = {0};
    if (children->wanted != NULL)
        text_nearest_try(&nearest, children->wanted, name);
    if (nearest.best != NULL &&
        (children->best[0] == '\0' || nearest.distance < children->distance)) {
        snprintf(children->best, sizeof children->best, "%s", name);
        children->distance = nearest.distance;
    }
}

static bool children_has(const struct children *children, const char *path,
                         const struct config_key *key)
{
    return (children->any_file || children->file == key->file) &&
           strncmp(path, children->prefix, children->prefix_bytes) == 0;
}

static void children_visit(void *arg, const char *path, const struct config_key *key)
{
    struct children *const children = arg;
    if (!children_has(children, path, key))
        return;
    const char *const rest = path + children->prefix_bytes;
    char name[PATH_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(rest, "."), rest);
    children_add(children, name);
}

/* Counts the keys alone. */
static void children_count(void *arg, const char *path, const struct config_key *key)
{
    struct children *const children = arg;
    children->count += children_has(children, path, key);
}

static bool has_section(const struct config_source *source, const struct config_section_row *row)
{
    return source->any_key || (row->files >> source->file & 1) != 0;
}

/* The keys that may be under `path` ("" for the top); `wanted`: a name to find the nearest. */
static void children_of(const struct apply *apply, const char *path, const char *algorithm,
                        const char *wanted, struct children *children)
{
    char prefix[PATH_BYTES + 1];
    snprintf(prefix, sizeof prefix, "%s%s", path, path[0] == '\0' ? "" : ".");
    *children = (struct children){.prefix = prefix,
                                  .prefix_bytes = strlen(prefix),
                                  .any_file = apply->source->any_key,
                                  .file = apply->source->file,
                                  .wanted = wanted};
    visit_paths(algorithm, children_visit, children);
    if (path[0] == '\0' && (children->any_file || children->file == CONFIG_CCL)) {
        children_add(children, "algorithms");
    }
    for (uint32_t i = 0; path[0] == '\0' && i < CONFIG_SECTIONS; i++)
        if (has_section(apply->source, &config_sections[i]))
            children_add(children, config_sections[i].name);
    const char *rest;
    const enum config_section section = config_section_of(path, &rest);
    for (uint32_t i = 0; section < CONFIG_SECTIONS && i < config_sections[section].key_count; i++)
        children_add(children, config_sections[section].keys[i].path);
}

static const char *const file_names[CONFIG_FILES] = {"topology.yaml", "components.yaml",
                                                     "ccl.yaml"};

static void find_file(void *arg, const char *path, const struct config_key *key)
{
    struct children *const children = arg;
    if (strncmp(path, children->wanted, strlen(children->wanted)) == 0 &&
        path[strlen(children->wanted)] == '.')
        children->file = key->file;
}

/* For a top-level key that is legal in another file. */
static const char *belongs_elsewhere(const char *name)
{
    struct children children = {.wanted = name, .file = CONFIG_FILES};
    visit_paths(NULL, find_file, &children);
    if (strcmp(name, "algorithms") == 0)
        children.file = CONFIG_CCL;
    for (uint32_t i = 0; i < CONFIG_SECTIONS; i++)
        if (strcmp(name, config_sections[i].name) == 0)
            children.file = (enum config_file)__builtin_ctz(config_sections[i].files);
    return children.file < CONFIG_FILES ? file_names[children.file] : NULL;
}

/* Whether a name is among the keys that may be there. */
static bool knows(const struct children *children, const char *name, size_t bytes)
{
    for (const char *at = children->known; *at != '\0'; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ",");
        if (length == bytes && memcmp(at, name, bytes) == 0)
            return true;
        at += length;
    }
    return false;
}

/* A key of constant slowness, which `jitter` had. */
static bool refuse_moved(const struct apply *apply, const char *path, struct config_place place)
{
    const char *const group = strncmp(path, "jitter.", 7) == 0 ? path + 7 : "";
    const size_t bytes = strcspn(group, ".");
    const char *const kind = group[bytes] == '.' ? group + bytes + 1 : "";
    const size_t kind_bytes = strcspn(kind, ".");
    if (strncmp(kind + kind_bytes, ".slower", 7) != 0)
        return false;
    config_error(apply->loader, place,
                 "%s: what is always slower is a fault: faults.NAME.%.*s=%.*s with "
                 "faults.NAME.slower=PERCENT, and faults.NAME.at where `only` was",
                 path, (int)bytes, group, (int)kind_bytes, kind);
    return true;
}

static void unknown_key(const struct apply *apply, const char *path, const char *algorithm,
                        const struct config_node *key)
{
    char full[PATH_BYTES];
    struct children children;
    char quoted[TEXT_QUOTE_BYTES];
    char meant[PATH_BYTES + 24] = "";
    if (apply->loader->errors->count >= CONFIG_ERRORS_MAX) {
        apply->loader->errors->dropped++; /* cheaply, however many */
        return;
    }
    snprintf(full, sizeof full, "%s.%s", path, key->text);
    if (refuse_moved(apply, full, key->place))
        return;
    children_of(apply, path, algorithm, key->text, &children);
    for (uint32_t i = 0; apply->algorithm != NULL && i < apply->algorithm->parameter_count; i++)
        children_add(&children, apply->algorithm->parameters[i].name);
    text_quote_key(key->text, key->bytes, quoted);
    const size_t name_bytes = strcspn(key->text, ":");
    if (key->text[name_bytes] == ':' && knows(&children, key->text, name_bytes)) {
        config_error(apply->loader, key->place,
                     "%s: a space is missing after the colon: write %.*s: VALUE", path,
                     (int)name_bytes, key->text);
        return;
    }
    if (children.best[0] != '\0')
        snprintf(meant, sizeof meant, "did you mean '%s'? ", children.best);
    const char *const file = path[0] == '\0' ? belongs_elsewhere(key->text) : NULL;
    if (file != NULL)
        config_error(apply->loader, key->place, "key %s belongs in %s; known here: %s", quoted,
                     file, children.known);
    else if (path[0] == '\0')
        config_error(apply->loader, key->place, "unknown key %s; %sknown here: %s", quoted, meant,
                     children.known);
    else
        config_error(apply->loader, key->place, "unknown key %s in %s; %sknown here: %s", quoted,
                     path, meant, children.known);
}

static void set_value(const struct apply *apply, const struct config_key *key, const char *path,
                      const struct config_node *node, struct config_value *value)
{
    config_value_read(apply->loader, key, path, node, value);
}

static bool expect_mapping(const struct apply *apply, const char *path, const char *algorithm,
                           const struct config_node *node)
{
    if (node->kind == CONFIG_MAPPING)
        return true;
    struct children children;
    char quoted[TEXT_QUOTE_BYTES];
    children_of(apply, path, algorithm, NULL, &children);
    const char *hint = "";
    if (node->kind == CONFIG_SCALAR && node->bytes == 0)
        hint = "; its keys stand below it, indented further";
    else if (node->kind == CONFIG_SCALAR && knows(&children, node->text, strcspn(node->text, ":")))
        hint = "; a space is missing after the colon";
    config_error(apply->loader, node->place, "%s%sexpected a mapping with keys of %s; found %s%s",
                 path, path[0] == '\0' ? "" : ": ", children.known, config_quote_node(node, quoted),
                 hint);
    return false;
}

/* Whether path + '.' begins a key's path in one of the source's files. */
static bool is_group(const struct apply *apply, const char *path)
{
    char prefix[PATH_BYTES + 1];
    struct children children;
    snprintf(prefix, sizeof prefix, "%s.", path);
    children.prefix = prefix;
    children.prefix_bytes = strlen(prefix);
    children.any_file = apply->source->any_key;
    children.file = apply->source->file;
    children.count = 0;
    visit_paths(NULL, children_count, &children);
    return children.count > 0;
}

/* The key at a full path outside `algorithms`, with its value; NULL if there is none. */
static const struct config_key *find_key(const struct apply *apply, const char *path,
                                         struct config_value **value)
{
    const struct config_key *key = NULL;
    const int machine = config_machine_find(path);
    if (machine >= 0) {
        key = &config_machine_keys[machine];
        *value = &apply->tree->machine[machine];
    } else if (strncmp(path, "defaults.", 9) == 0) {
        const int ccl = config_ccl_find(path + 9);
        if (ccl >= 0 && (config_ccl_keys[ccl].flags & CONFIG_NOT_IN_DEFAULTS) == 0) {
            key = &config_ccl_keys[ccl];
            *value = &apply->tree->defaults[ccl];
        }
    }
    if (key != NULL && !apply->source->any_key && key->file != apply->source->file)
        return NULL;
    return key;
}

static void apply_mapping(const struct apply *apply, const char *path,
                          const struct config_node *node);

/* A node at a path that is known to be a key or a group; false if it is neither. */
static bool apply_node(const struct apply *apply, const char *path, const struct config_node *node)
{
    struct config_value *value;
    const struct config_key *const key = find_key(apply, path, &value);
    if (key != NULL) {
        set_value(apply, key, path, node, value);
        return true;
    }
    if (!is_group(apply, path))
        return false;
    apply_mapping(apply, path, node);
    return true;
}

/* The entry with this name, made if need be; NULL if the name is none or there is no room. */
static struct config_algorithm *algorithm_at(const struct apply *apply, const char *text,
                                             size_t bytes, struct config_place place)
{
    const char *const name = config_arena_text(apply->loader->arena, text, bytes);
    if (name == NULL)
        return NULL;
    const struct config_node node = {
        .kind = CONFIG_SCALAR, .text = name, .bytes = bytes, .place = place};
    const struct config_key *const key = &config_ccl_keys[config_ccl_find("extends")];
    struct config_value value = {0};
    if (!config_value_read(apply->loader, key, "algorithms", &node, &value))
        return NULL;
    struct config_algorithm **tail = &apply->tree->algorithms;
    for (; *tail != NULL; tail = &(*tail)->next)
        if (strcmp((*tail)->name, value.text) == 0)
            return *tail;
    if (apply->tree->algorithm_count == CONFIG_ALGORITHMS_MAX) {
        config_error(apply->loader, place, "algorithms: more than %u entries",
                     CONFIG_ALGORITHMS_MAX);
        return NULL;
    }
    struct config_algorithm *const entry = config_arena_alloc(apply->loader->arena, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->name = value.text;
    entry->place = place;
    apply->tree->algorithm_count++;
    *tail = entry;
    return entry;
}

/* Keeps a key that may be a parameter of the entry's algorithm, until that is known. */
static void keep_parameter(const struct apply *apply, struct config_algorithm *entry,
                           const struct config_node *key, const struct config_node *node)
{
    struct config_arena *const arena = apply->loader->arena;
    struct config_parameter **at = &entry->parameters;
    /* The key may be the caller's own variable; the node lives as long as the loader. */
    while (*at != NULL && strcmp((*at)->name, key->text) != 0)
        at = &(*at)->next;
    if (*at == NULL) {
        *at = config_arena_alloc(arena, sizeof **at);
        const char *const name = config_arena_text(arena, key->text, key->bytes);
        if (*at == NULL || name == NULL)
            return;
        (*at)->name = name;
    }
    struct config_node *const copy = config_arena_alloc(apply->loader->scratch, sizeof *copy);
    if (copy == NULL)
        return;
    *copy = *key;
    (*at)->key = copy;
    (*at)->node = node;
    (*at)->value.place = node->place;
}

static void apply_algorithm_key(const struct apply *apply, struct config_algorithm *entry,
                                const struct config_node *key_node, const struct config_node *value)
{
    char path[PATH_BYTES];
    const int key = config_ccl_find(key_node->text);
    snprintf(path, sizeof path, "algorithms.%s", entry->name);
    if (key >= 0 && (config_ccl_keys[key].flags & CONFIG_NOT_IN_ALGORITHM) != 0) {
        unknown_key(apply, path, entry->name, key_node);
        return;
    }
    if (key < 0) {
        keep_parameter(apply, entry, key_node, value);
        return;
    }
    snprintf(path, sizeof path, "algorithms.%s.%s", entry->name, config_ccl_keys[key].path);
    set_value(apply, &config_ccl_keys[key], path, value, &entry->value[key]);
}

/* Applies the keys under algorithms.<name>. */
static void apply_algorithm(const struct apply *apply, const char *name, size_t bytes,
                            struct config_place place, const struct config_node *node)
{
    struct config_algorithm *const entry = algorithm_at(apply, name, bytes, place);
    if (entry == NULL)
        return;
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "algorithms.%s", entry->name);
    if (!expect_mapping(apply, path, entry->name, node))
        return;
    for (const struct config_node *key = node->first; key != NULL; key = key->next)
        apply_algorithm_key(apply, entry, key, key->value);
}

/* ---- names of the user's --------------------------------------------------------------------- */

/* A name begins with a letter, so that nobody takes "0-8" for one, and is not that of all ranks. */
static bool is_name(const char *text, size_t bytes)
{
    const bool is_letter = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
    return is_letter && bytes < CCL_NAME_BYTES && strcmp(text, CCL_WORLD) != 0 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
               bytes;
}

/* What has this name in a section, made if need be; NULL if the name is none or there is no room.
 */
static struct config_named *named_at(const struct apply *apply, enum config_section section,
                                     const char *text, size_t bytes, struct config_place place)
{
    const struct config_section_row *const row = &config_sections[section];
    struct config_arena *const arena = apply->loader->arena;
    const char *const name = config_arena_text(arena, text, bytes);
    char quoted[TEXT_QUOTE_BYTES];
    if (name == NULL)
        return NULL;
    if (!is_name(name, bytes)) {
        config_error(apply->loader, place,
                     "%s: expected a name of up to 63 letters, digits, '_' and '-' that begins "
                     "with a letter and is not '" CCL_WORLD "'; found %s",
                     row->name, text_quote_key(name, bytes, quoted));
        return NULL;
    }
    struct config_named **tail = &apply->tree->named[section];
    for (; *tail != NULL; tail = &(*tail)->next)
        if (strcmp((*tail)->name, name) == 0)
            return *tail;
    if (apply->tree->named_count[section] == CONFIG_NAMED_MAX) {
        config_error(apply->loader, place, "%s: more than %u %ss", row->name, CONFIG_NAMED_MAX,
                     row->item);
        return NULL;
    }
    struct config_named *const named = config_arena_alloc(arena, sizeof *named);
    if (named == NULL)
        return NULL;
    *named = (struct config_named){.name = name, .place = place};
    apply->tree->named_count[section]++;
    *tail = named;
    return named;
}

static void apply_named_key(const struct apply *apply, enum config_section section,
                            struct config_named *named, const struct config_node *key_node,
                            const struct config_node *value)
{
    const struct config_section_row *const row = &config_sections[section];
    char path[PATH_BYTES];
    const int key = config_named_find(section, key_node->text);
    snprintf(path, sizeof path, "%s.%s", row->name, named->name);
    if (key < 0) {
        unknown_key(apply, path, NULL, key_node);
        return;
    }
    snprintf(path, sizeof path, "%s.%s.%s", row->name, named->name, row->keys[key].path);
    set_value(apply, &row->keys[key], path, value, &named->value[key]);
}

/* Applies the keys under SECTION.NAME. */
static void apply_item(const struct apply *apply, enum config_section section, const char *name,
                       size_t bytes, struct config_place place, const struct config_node *node)
{
    struct config_named *const named = named_at(apply, section, name, bytes, place);
    char path[PATH_BYTES];
    if (named == NULL)
        return;
    snprintf(path, sizeof path, "%s.%s", config_sections[section].name, named->name);
    if (!expect_mapping(apply, path, NULL, node))
        return;
    for (const struct config_node *key = node->first; key != NULL; key = key->next)
        apply_named_key(apply, section, named, key, key->value);
}

static void apply_group(const struct apply *apply, const char *name, size_t bytes,
                        struct config_place place, const struct config_node *node)
{
    apply_item(apply, CONFIG_GROUPS, name, bytes, place, node);
}

static void apply_fault(const struct apply *apply, const char *name, size_t bytes,
                        struct config_place place, const struct config_node *node)
{
    apply_item(apply, CONFIG_FAULTS, name, bytes, place, node);
}

/* A mapping from names of the user's: to entries of algorithms, to sets of groups, to faults. */
static const struct named {
    const char *key, *holds;
    uint32_t files;
    void (*apply)(const struct apply *apply, const char *name, size_t bytes,
                  struct config_place place, const struct config_node *node);
} nameds[] = {{"algorithms", "entries", 1u << CONFIG_CCL, apply_algorithm},
              {"groups", "sets of groups", 1u << CONFIG_CCL, apply_group},
              {"faults", "faults", 1u << CONFIG_COMPONENTS | 1u << CONFIG_TOPOLOGY, apply_fault}};
enum { NAMEDS = sizeof nameds / sizeof *nameds };

static const struct named *find_named(const char *text, size_t bytes)
{
    for (size_t i = 0; i < NAMEDS; i++)
        if (strlen(nameds[i].key) == bytes && memcmp(nameds[i].key, text, bytes) == 0)
            return &nameds[i];
    return NULL;
}

static void apply_named(const struct apply *apply, const struct named *named,
                        const struct config_node *node)
{
    char quoted[TEXT_QUOTE_BYTES];
    if (node->kind != CONFIG_MAPPING) {
        config_error(apply->loader, node->place,
                     "%s: expected a mapping from names to %s; found %s", named->key, named->holds,
                     config_quote_node(node, quoted));
        return;
    }
    for (const struct config_node *key = node->first; key != NULL; key = key->next)
        named->apply(apply, key->text, key->bytes, key->place, key->value);
}

static void apply_mapping(const struct apply *apply, const char *path,
                          const struct config_node *node)
{
    if (!expect_mapping(apply, path, NULL, node))
        return;
    const bool is_top = path[0] == '\0';
    for (const struct config_node *key = node->first; key != NULL; key = key->next) {
        char below[PATH_BYTES];
        const int bytes =
            snprintf(below, sizeof below, "%s%s%s", path, path[0] == '\0' ? "" : ".", key->text);
        const struct named *const named = is_top ? find_named(key->text, key->bytes) : NULL;
        if (named != NULL &&
            (apply->source->any_key || (named->files >> apply->source->file & 1) != 0))
            apply_named(apply, named, key->value);
        else if (bytes >= (int)sizeof below || strchr(key->text, '.') != NULL ||
                 !apply_node(apply, below, key->value))
            unknown_key(apply, path, NULL, key);
    }
}

void config_apply_file(struct config_loader *loader, struct config_tree *tree, uint32_t source,
                       const struct config_node *root)
{
    const struct apply apply = {
        .loader = loader, .tree = tree, .source = &loader->sources[source - 1]};
    apply_mapping(&apply, "", root);
}

/* NAME, or NAME.KEY, below `algorithms`, `groups` or `faults`: as a file has them. */
static void apply_below(const struct apply *apply, const struct named *named, const char *name,
                        const struct config_node *node, struct config_place place)
{
    const size_t bytes = strcspn(name, ".");
    struct config_node key = {.kind = CONFIG_SCALAR, .place = place};
    const struct config_node mapping = {.kind = CONFIG_MAPPING, .place = place, .first = &key};
    if (name[bytes] == '\0') {
        named->apply(apply, name, bytes, place, node);
        return;
    }
    key.text = name + bytes + 1;
    key.bytes = strlen(key.text);
    key.value = config_arena_alloc(apply->loader->scratch, sizeof *key.value);
    if (key.value == NULL)
        return;
    *key.value = *node; /* a parameter's is kept until its algorithm is known */
    named->apply(apply, name, bytes, place, &mapping);
}

struct nearest_path {
    const char *path;
    char best[PATH_BYTES];
    unsigned distance;
    unsigned alike; /* keys at that distance */
};

static void nearest_visit(void *arg, const char *path, const struct config_key *key)
{
    (void)key;
    struct nearest_path *const found = arg;
    struct text_nearest nearest = {0};
    text_nearest_try(&nearest, found->path, path);
    found->alike += nearest.best != NULL && nearest.distance == found->distance;
    if (nearest.best == NULL || (found->best[0] != '\0' && nearest.distance >= found->distance))
        return;
    found->alike = 1;
    snprintf(found->best, sizeof found->best, "%s", path);
    found->distance = nearest.distance;
}

/* More keys than that are as near: none of them is meant more than the others. */
enum { ALIKE_MAX = 2 };

static void unknown_path(const struct apply *apply, const char *path, struct config_place place)
{
    char quoted[TEXT_QUOTE_BYTES];
    struct nearest_path found = {.path = path};
    struct children top, inner;
    char parent[PATH_BYTES];
    const char *const dot = strrchr(path, '.');
    char text[MEANING_BYTES];
    const char *const meaning = meaning_of(path, strlen(path), text);
    if (refuse_moved(apply, path, place))
        return;
    visit_paths(NULL, nearest_visit, &found);
    children_of(apply, "", NULL, NULL, &top);
    snprintf(parent, sizeof parent, "%.*s", dot != NULL ? (int)(dot - path) : 0, path);
    children_of(apply, parent[0] != '\0' ? parent : ".", NULL, NULL, &inner); /* no key has ".." */
    text_quote(path, strlen(path), quoted);
    const int of_entries = strncmp(path, "defaults.", 9) == 0 ? config_ccl_find(path + 9) : -1;
    if (of_entries >= 0)
        config_error(apply->loader, place,
                     "unknown key %s; each entry has its own: "
                     "algorithms.NAME.%s",
                     quoted, path + 9);
    else if (found.best[0] != '\0' && found.alike <= ALIKE_MAX)
        config_error(apply->loader, place, "unknown key %s; did you mean '%s'?", quoted,
                     found.best);
    else if (inner.known[0] != '\0')
        config_error(apply->loader, place, "unknown key %s; known in %s: %s", quoted, parent,
                     inner.known);
    else
        config_error(apply->loader, place, "unknown key %s; %s%s%skeys begin with %s", quoted,
                     meaning != NULL ? "that is " : "", meaning != NULL ? meaning : "",
                     meaning != NULL ? "; " : "", top.known);
}

void config_apply_path(struct config_loader *loader, struct config_tree *tree, uint32_t source,
                       const char *path, const struct config_node *node)
{
    const struct apply apply = {
        .loader = loader, .tree = tree, .source = &loader->sources[source - 1]};
    const struct config_place place = {.source = source};
    const struct named *const named = find_named(path, strcspn(path, "."));
    const char *const name = named != NULL ? path + strlen(named->key) : path;
    if (named != NULL && *name == '\0') {
        apply_named(&apply, named, node);
    } else if (named != NULL) {
        apply_below(&apply, named, name + 1, node, place);
    } else if (strlen(path) >= PATH_BYTES || path[0] == '\0' || !apply_node(&apply, path, node)) {
        unknown_path(&apply, path, place);
    }
}

/* ---- parameters of algorithms ---------------------------------------------------------------- */

static const struct ccl_parameter *declared(const struct ccl_algorithm *algorithm, const char *name)
{
    for (uint32_t i = 0; i < algorithm->parameter_count; i++)
        if (strcmp(algorithm->parameters[i].name, name) == 0)
            return &algorithm->parameters[i];
    return NULL;
}

static bool read_choice(struct config_loader *loader, const struct ccl_parameter *parameter,
                        const char *path, const struct config_node *node,
                        struct config_value *value)
{
    char known[KNOWN_BYTES] = "", quoted[TEXT_QUOTE_BYTES];
    for (int64_t i = 0; parameter->choice[i] != NULL; i++) {
        if (node->kind == CONFIG_SCALAR && strcmp(node->text, parameter->choice[i]) == 0) {
            value->number.mantissa = i;
            value->text = parameter->choice[i];
            value->place = node->place;
            return true;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                 parameter->choice[i]);
    }
    config_error(loader, node->place, "%s: expected one of %s; found %s", path, known,
                 config_quote_node(node, quoted));
    return false;
}

/* A value against its declaration, as against a key of the schema. */
static bool read_parameter(struct config_loader *loader, const struct ccl_parameter *parameter,
                           const char *path, const struct config_node *node,
                           struct config_value *value)
{
    char min[32], max[32];
    if (parameter->type == CCL_PARAMETER_CHOICE)
        return read_choice(loader, parameter, path, node, value);
    snprintf(min, sizeof min, "%lld", (long long)parameter->min);
    snprintf(max, sizeof max, "%lld", (long long)parameter->max);
    const struct config_key key = {.path = parameter->name,
                                   .type = parameter->type == CCL_PARAMETER_BOOL ? CONFIG_BOOL
                                                                                 : CONFIG_COUNT,
                                   .min = min,
                                   .max = max};
    return config_value_read(loader, &key, path, node, value);
}

/* Of a shared object that this run does not load: kept unchanged. */
static void keep_text(struct config_loader *loader, struct config_parameter *parameter,
                      const char *path)
{
    static const struct config_key word = {.type = CONFIG_NAME};
    (void)config_value_read(loader, &word, path, parameter->node, &parameter->value);
}

void config_apply_parameters(struct config_loader *loader, struct config_tree *tree,
                             struct config_algorithm *entry, const struct ccl_algorithm *algorithm,
                             bool is_known)
{
    for (struct config_parameter *own = entry->parameters; own != NULL && own->key != NULL;
         own = own->next) { /* no key: no memory, which ends the load */
        char path[PATH_BYTES];
        const struct ccl_parameter *const parameter =
            algorithm != NULL ? declared(algorithm, own->name) : NULL;
        const struct apply apply = {.loader = loader,
                                    .tree = tree,
                                    .source = &loader->sources[own->key->place.source - 1],
                                    .algorithm = algorithm};
        snprintf(path, sizeof path, "algorithms.%s", entry->name);
        if (parameter == NULL && is_known) {
            unknown_key(&apply, path, entry->name, own->key);
            continue;
        }
        snprintf(path, sizeof path, "algorithms.%s.%s", entry->name, own->name);
        own->is_declared = parameter != NULL;
        if (parameter != NULL)
            (void)read_parameter(loader, parameter, path, own->node, &own->value);
        else
            keep_text(loader, own, path);
    }
}
