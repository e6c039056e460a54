/*
 * config_faults.c: the entries of `faults` (config_faults.h). Keys are checked by themselves when
 * the layers are complete; links are looked up once the machine is.
 */
#include "collectives/config/config_faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/config_parts.h"
#include "collectives/config/config_place.h"
#include "collectives/config/config_where.h"
#include "collectives/config/input/text.h"
#include "hw/faults.h"
#include "hw/topology/broken.h"

enum { PATH_BYTES = CCL_NAME_BYTES + 32, TEXT_BYTES = 96 };

/* One entry's values. */
struct fault {
    const char *name;
    char path[PATH_BYTES]; /* "faults.NAME" */
    struct config_place place;
    const struct config_value *links, *nodes, *at, *slower, *bandwidth, *failed, *from;
};

static struct fault fault_of(const struct config_named *named)
{
    struct fault f = {.name = named->name, .place = named->place};
    const struct {
        const char *key;
        const struct config_value **value;
    } keys[] = {{"links", &f.links},   {"nodes", &f.nodes},         {"at", &f.at},
                {"slower", &f.slower}, {"bandwidth", &f.bandwidth}, {"failed", &f.failed},
                {"from_ns", &f.from}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        *keys[i].value = &named->value[config_named_find(CONFIG_FAULTS, keys[i].key)];
    snprintf(f.path, sizeof f.path, "faults.%s", named->name);
    return f;
}

static bool is_wrong(const struct fault *f)
{
    return f->links->wrong || f->nodes->wrong || f->at->wrong || f->slower->wrong ||
           f->bandwidth->wrong || f->failed->wrong || f->from->wrong;
}

static bool has_failed(const struct fault *f)
{
    return config_given(f->failed) && (f->failed->list_count > 0 || f->failed->number.mantissa > 0);
}
static bool is_later(const struct fault *f) { return has_failed(f) && f->failed->list_count > 0; }

/* SIPs fail, or cubes and PEs: no links are named. */
static bool is_of_sips(const struct fault *f)
{
    return config_given(f->at) && !config_given(f->links) && !config_given(f->nodes);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void check_fault(struct config_loader *loader, const struct config_tree *tree,
                        const struct fault *f)
{
    const struct config_where_key at = {f->path, "at", f->at, 3};
    const bool slows = config_given(f->slower) || config_given(f->bandwidth);
    if (!config_check_where(loader, tree, &at))
        return;
    if (!config_given(f->links) && !config_given(f->nodes) && !config_given(f->at))
        config_error(loader, f->place, "%s: it names no parts; legal: links, nodes, at", f->path);
    else if (!slows && !config_given(f->failed))
        config_error(
            loader, f->place,
            "%s: it does not say what is wrong with them; legal: slower, bandwidth, failed",
            f->path);
    else if (has_failed(f) && slows)
        config_error(loader, f->failed->place,
                     "%s.failed: what has failed is not slower; legal: one of failed, slower and "
                     "bandwidth",
                     f->path);
    else if (config_given(f->slower) && config_given(f->bandwidth))
        config_error(loader, f->bandwidth->place,
                     "%s.bandwidth: it is given beside slower; legal: one of the two", f->path);
    else if (config_given(f->bandwidth) && !config_given(f->links))
        config_error(loader, f->bandwidth->place,
                     "%s.bandwidth: only links have one; name them by links", f->path);
    else if (config_given(f->from) && !slows)
        config_error(loader, f->from->place,
                     "%s.from_ns: it is for slower and bandwidth; what fails later has failed: "
                     "{at_ns: T}",
                     f->path);
    else if (has_failed(f) && config_given(f->nodes))
        config_error(loader, f->nodes->place,
                     "%s.nodes: single blocks do not fail; legal: links, or at", f->path);
    else if (has_failed(f) && config_given(f->at) && f->at->list_count > 1)
        config_error(loader, f->at->place,
                     "%s.at: expected SIPs, since cubes and PEs do not fail alone; found %s",
                     f->path, f->at->text);
}

void config_check_faults(struct config_loader *loader, const struct config_tree *tree)
{
    for (const struct config_named *named = tree->named[CONFIG_FAULTS]; named != NULL;
         named = named->next) {
        const struct fault f = fault_of(named);
        if (!is_wrong(&f))
            check_fault(loader, tree, &f);
    }
}

/* ---- SIPs that have failed ------------------------------------------------------------------- */

static uint32_t sips_of(const struct config_tree *tree)
{
    const struct config_value *const count = config_machine_value(tree, "system.sips.count");
    return config_given(count) ? (uint32_t)count->number.mantissa : 0;
}

static bool is_at(const struct hw_where *where, uint32_t sip)
{
    return where->sips != NULL ? hw_jitter_has_sip(where->sips, sip)
                               : where->parts == 0 || where->at[0] == sip;
}

/* Whether an entry fails SIPs from the start. */
static bool fails_sips(const struct fault *f)
{
    return !is_wrong(f) && has_failed(f) && !is_later(f) && is_of_sips(f);
}

const uint64_t *config_failed_bits(struct config_arena *arena, const struct config_tree *tree)
{
    const uint32_t sips = sips_of(tree);
    uint64_t *const bits = config_arena_alloc(arena, hw_jitter_words(sips) * sizeof *bits);
    for (const struct config_named *named = tree->named[CONFIG_FAULTS];
         bits != NULL && named != NULL; named = named->next) {
        const struct fault f = fault_of(named);
        if (!fails_sips(&f))
            continue;
        const struct hw_where where = config_where_of(arena, f.at, sips);
        for (uint32_t sip = 0; sip < sips; sip++)
            bits[sip / 64] |= (uint64_t)is_at(&where, sip) << sip % 64;
    }
    return bits;
}

uint32_t config_failed_sips(const struct config_tree *tree)
{
    struct config_arena scratch = {0};
    uint32_t count = 0;
    bool any = false;
    for (const struct config_named *named = tree->named[CONFIG_FAULTS]; named != NULL;
         named = named->next) {
        const struct fault f = fault_of(named);
        any |= fails_sips(&f);
    }
    const uint64_t *const bits = any ? config_failed_bits(&scratch, tree) : NULL;
    for (uint32_t word = 0; bits != NULL && word < hw_jitter_words(sips_of(tree)); word++)
        count += (uint32_t)__builtin_popcountll(bits[word]);
    config_arena_free(&scratch);
    return count;
}

/* ---- links by their names -------------------------------------------------------------------- */

/* A growing list of links, each one way. */
struct link_list {
    struct hw_failed_link *at;
    uint32_t count, room;
    bool failed; /* out of memory */
};

static void put_link(struct link_list *list, uint32_t stop, uint32_t outlet)
{
    if (list->count == list->room) {
        const uint32_t room = list->room > 0 ? 2 * list->room : 16;
        struct hw_failed_link *const more = realloc(list->at, room * sizeof *more);
        list->failed |= more == NULL;
        if (more == NULL)
            return;
        list->at = more;
        list->room = room;
    }
    list->at[list->count++] = (struct hw_failed_link){stop, outlet};
}

static void put_both_ways(const struct hw_config *hw, struct link_list *list, uint32_t stop,
                          uint32_t outlet)
{
    const struct hw_hop hop = hw_hop(hw, stop, outlet);
    put_link(list, stop, outlet);
    if (hop.back != HW_ONE_WAY)
        put_link(list, hop.to, hop.back);
}

struct making {
    struct config *config;
    struct config_errors *errors;
    const struct fault *f;
};

static void refuse(const struct making *making, const char *key, const char *text)
{
    char path[PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s.%s", making->f->path, key);
    config_error_at(making->errors, making->config, path, "%s", text);
}

/* The switch whose name a text begins with: "switch 0", "switch leaf.1", "leaf.1". */
static bool read_switch(const struct hw_config *hw, const char **text, uint32_t *stop)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < hw_switches(hw); i++) {
        char name[HW_PART_NAME_BYTES];
        const bool in_full = strncmp(*text, "switch ", 7) == 0;
        const char *const own = hw_stop_name(hw, hw->sip_count + i, name) + (in_full ? 0 : 7);
        const size_t bytes = strlen(own);
        if (strncmp(*text, own, bytes) != 0 || strchr(" -", (*text)[bytes]) == NULL ||
            bytes <= longest)
            continue; /* a longer name, as of switch 12 beside switch 1, or of a-b beside a */
        *stop = hw->sip_count + i;
        longest = bytes;
    }
    *text += longest;
    return longest > 0;
}

/* "3", "sip 3", a switch's name at *text, which moves on. */
static bool read_end(const struct hw_config *hw, const char **text, uint32_t *stop)
{
    const char *const at = strncmp(*text, "sip ", 4) == 0 ? *text + 4 : *text;
    uint64_t number;
    const size_t digits = text_whole(at, strlen(at), UINT32_MAX, &number);
    if (digits == 0)
        return read_switch(hw, text, stop);
    if (number >= hw->sip_count)
        return false;
    *stop = (uint32_t)number;
    *text = at + digits;
    return true;
}

static const char *after(const char *text, const char *word)
{
    const size_t bytes = strlen(word);
    return strncmp(text, word, bytes) == 0 ? text + bytes : text;
}

/* The name of a class may begin another's. */
static const char *after_class(const char *text, const char *name)
{
    const char *const rest = after(text, name);
    return rest[0] == ' ' ? rest + strspn(rest, " ") : text;
}

static const char *after_spaces(const char *text) { return text + strspn(text, " "); }

/* The outlets of a stop, as a sentence lists them. */
static void list_outlets(const struct hw_config *hw, uint32_t stop, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t o = 0; o < hw_outlets_of(hw, stop); o++) {
        char name[HW_PART_NAME_BYTES], to[HW_PART_NAME_BYTES];
        const struct hw_hop hop = hw_hop(hw, stop, o);
        if (hop.link == HW_LINK_KINDS || used + 2 * HW_PART_NAME_BYTES > bytes)
            continue;
        used +=
            (size_t)snprintf(text + used, bytes - used, "%s'%s', to %s", used > 0 ? "; " : "",
                             hw_outer_link_name(hw, stop, o, name), hw_stop_name(hw, hop.to, to));
    }
}

/* The outlet of a SIP that a text names: E, or as tables of links have it: io_die sip_link E. */
static bool find_outlet(const struct hw_config *hw, uint32_t sip, const char *text,
                        uint32_t *outlet)
{
    text = after(after_spaces(text), "io_die ");
    for (uint32_t o = 0; o < hw_outlets(hw); o++) {
        char name[HW_OUTLET_NAME_BYTES];
        const struct hw_hop hop = hw_hop(hw, sip, o);
        if (hop.link == HW_LINK_KINDS)
            continue;
        hw_outlet_name(hw, sip, o, name);
        if (strcmp(after_class(text, hw_link_name_of(hw, hop.link)), name) == 0) {
            *outlet = o;
            return true;
        }
    }
    return false;
}

/* All links from one stop to another. */
static uint32_t put_between(const struct hw_config *hw, uint32_t from, uint32_t to,
                            struct link_list *list)
{
    const uint32_t before = list->count;
    for (uint32_t o = 0; o < hw_outlets_of(hw, from); o++) {
        const struct hw_hop hop = hw_hop(hw, from, o);
        if (hop.link < HW_LINK_KINDS && hop.to == to)
            put_link(list, from, o);
    }
    return list->count - before;
}

/* The links that a text names. */
static bool put_named(const struct making *making, const char *text, struct link_list *list)
{
    const struct hw_config *const hw = &making->config->hw;
    char message[700], known[500];
    const char *at = text;
    uint32_t from, to, outlet;
    if (!read_end(hw, &at, &from)) {
        snprintf(message, sizeof message,
                 "'%s' begins with no SIP and no switch of the machine, and is no kind of link; "
                 "legal: 0-1, 0->1, sip 3 E, switch 0 - sip 4",
                 text);
        refuse(making, "links", message);
        return false;
    }
    if (from < hw->sip_count && find_outlet(hw, from, at, &outlet)) {
        put_both_ways(hw, list, from, outlet);
        return true;
    }
    at = after_spaces(at);
    for (uint32_t kind = 0; kind < HW_LINK_KINDS && hw_is_switch(hw, from); kind++)
        if (hw_link_name_of(hw, (enum hw_link_kind)kind) != NULL)
            at = after_class(at, hw_link_name_of(hw, (enum hw_link_kind)kind));
    const bool one_way = strncmp(at, "->", 2) == 0;
    const char *const other = after_spaces(one_way ? at + 2 : after(after(at, "-"), "to "));
    at = other;
    if (other[0] != '\0' && read_end(hw, &at, &to) && *at == '\0' &&
        put_between(hw, from, to, list) + (one_way ? 0 : put_between(hw, to, from, list)) > 0)
        return true;
    list_outlets(hw, from, known, sizeof known);
    snprintf(message, sizeof message, "there is no link '%s'; legal there: %s", text, known);
    refuse(making, "links", message);
    return false;
}

/* The kinds that a word names; levels' links are as sip_link, unless they are named themselves. */
static bool take_kind(const struct hw_config *hw, const char *word, bool kind[HW_PART_KINDS])
{
    bool found = false;
    for (uint32_t link = 0; link < HW_LINK_KINDS; link++) {
        const char *const name = hw_link_name_of(hw, (enum hw_link_kind)link);
        const bool is_level = link >= HW_LINK_KEYED;
        if (name == NULL || (strcmp(word, name) != 0 &&
                             !(is_level && strcmp(word, hw_link_name[HW_LINK_SIP_LINK]) == 0)))
            continue;
        kind[hw_part_of_link((enum hw_link_kind)link)] = true;
        found = true;
    }
    return found;
}

/* ---- what an entry names --------------------------------------------------------------------- */

/* Kinds, by place; and single links. */
struct named_parts {
    bool kind[HW_PART_KINDS];
    bool any_kind;
    struct hw_where where;
    struct link_list list;
};

/* The links that a rule takes of those that leave the place, each with its way back. */
static void take_by_rule(const struct hw_config *hw, const struct config_rule *rule,
                         struct named_parts *parts)
{
    uint32_t i = 0;
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t o = 0; o < hw_outlets_of(hw, stop); o++) {
            const struct hw_hop hop = hw_hop(hw, stop, o);
            if (!hw_hop_counts(&hop, stop) || (stop < hw->sip_count && !is_at(&parts->where, stop)))
                continue;
            if (config_rule_takes(rule, i++))
                put_both_ways(hw, &parts->list, stop, o);
        }
}

static bool take_links(const struct making *making, struct named_parts *parts)
{
    const struct config_value *const links = making->f->links;
    const struct hw_config *const hw = &making->config->hw;
    if (links->rule.kind != CONFIG_RULE_NONE) {
        take_by_rule(hw, &links->rule, parts);
        return true;
    }
    for (uint32_t i = 0; i < links->list_count; i++)
        if (take_kind(hw, links->words[i].text, parts->kind))
            parts->any_kind = true;
        else if (!put_named(making, links->words[i].text, &parts->list))
            return false;
    if (!parts->any_kind || parts->list.count == 0)
        return true;
    refuse(making, "links", "kinds of links and single links are two faults; give each its own");
    return false;
}

static void take_nodes(const struct config_value *nodes, struct named_parts *parts)
{
    for (uint32_t i = 0; i < nodes->list_count; i++)
        for (uint32_t node = 0; node < HW_NODE_KEYED; node++)
            parts->kind[node] |= strcmp(nodes->words[i].text, hw_node_name[node]) == 0;
    parts->any_kind |= nodes->list_count > 0;
}

static bool take_parts(const struct making *making, struct named_parts *parts)
{
    const struct fault *const f = making->f;
    *parts = (struct named_parts){.where = config_where_of(&making->config->tree->arena, f->at,
                                                           making->config->hw.sip_count)};
    if (config_given(f->links) && !take_links(making, parts))
        return false;
    take_nodes(f->nodes, parts);
    if (is_of_sips(f))
        for (uint32_t kind = 0; kind < HW_PART_KINDS; kind++)
            parts->kind[kind] = parts->any_kind = true;
    if (parts->list.count == 0 || !config_given(f->nodes))
        return true;
    refuse(making, "nodes", "blocks and single links are two faults; give each its own");
    return false;
}

/* ---- slow parts ------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* "sip 0 E", "link 0-1" as the file has it, "12 links". */
static const char *links_text(struct config_arena *arena, const struct fault *f, uint32_t links)
{
    char text[TEXT_BYTES];
    if (f->links->list_count == 1)
        snprintf(text, sizeof text, "link %s", f->links->words[0].text);
    else
        snprintf(text, sizeof text, "%" PRIu32 " links", links);
    return config_arena_text(arena, text, strlen(text));
}

/* That a bandwidth is below those of the kinds. */
static bool check_bandwidth(const struct making *making, const struct hw_slow *slow)
{
    const struct hw_config *const hw = &making->config->hw;
    char message[200];
    for (uint32_t kind = 0; kind < HW_LINK_KINDS; kind++) {
        const struct hw_rate rate = hw->link[kind].rate;
        if (!slow->kind[hw_part_of_link((enum hw_link_kind)kind)] || rate.den == 0 ||
            (__uint128_t)slow->rate.num * rate.den >= (__uint128_t)rate.num * slow->rate.den)
            continue;
        snprintf(message, sizeof message,
                 "%s GB/s is above the %.6g of %s; a fault makes slower, legal are at most these",
                 making->f->bandwidth->text, 1000.0 * (double)rate.den / (double)rate.num,
                 hw_link_name_of(hw, (enum hw_link_kind)kind));
        refuse(making, "bandwidth", message);
        return false;
    }
    return true;
}

static bool make_slow(const struct making *making, const struct named_parts *parts,
                      struct hw_slow *slow)
{
    const struct fault *const f = making->f;
    const struct hw_config *const hw = &making->config->hw;
    struct config_arena *const arena = &making->config->tree->arena;
    const uint32_t count = parts->list.count;
    *slow = (struct hw_slow){.name = f->name,
                             .where = parts->where,
                             .percent = (uint32_t)f->slower->number.mantissa,
                             .from_ps = decimal_ps(f->from->number)};
    memcpy(slow->kind, parts->kind, sizeof slow->kind);
    if (config_given(f->bandwidth))
        slow->rate = decimal_rate(f->bandwidth->number);
    uint64_t *const links = count > 0 ? config_arena_alloc(arena, count * sizeof *links) : NULL;
    for (uint32_t i = 0; links != NULL && i < count; i++) {
        const struct hw_failed_link at = parts->list.at[i];
        links[i] = hw_outer_link(at.stop, at.outlet);
        slow->kind[hw_part_of_link(hw_hop(hw, at.stop, at.outlet).link)] = true;
    }
    if (links != NULL) {
        qsort(links, count, sizeof *links, by_number);
        slow->links = links;
        slow->link_count = count;
        slow->links_text = links_text(arena, f, count);
    }
    return !config_given(f->bandwidth) || check_bandwidth(making, slow);
}

/* ---- what has failed ------------------------------------------------------------------------- */

/* What has failed from the start, or at one time. */
struct failing {
    struct link_list list;
    uint32_t *stops;
    uint32_t stop_count;
    const struct fault *first; /* for messages */
};

/* The links of these kinds that leave, or enter, the place. */
static bool fail_kinds(const struct making *making, const struct named_parts *parts,
                       struct failing *failing)
{
    const struct hw_config *const hw = &making->config->hw;
    bool any = false;
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t o = 0; o < hw_outlets_of(hw, stop); o++) {
            const struct hw_hop hop = hw_hop(hw, stop, o);
            if (hop.link == HW_LINK_KINDS || !parts->kind[hw_part_of_link(hop.link)] ||
                (!config_given(making->f->at)
                     ? false
                     : (stop >= hw->sip_count || !is_at(&parts->where, stop)) &&
                           (hop.to >= hw->sip_count || !is_at(&parts->where, hop.to))))
                continue;
            put_link(&failing->list, stop, o);
            any = true;
        }
    if (!any)
        refuse(making, "links", "no such link is between SIPs, and only those can fail");
    return any;
}

static bool fail_sips(const struct making *making, const struct named_parts *parts,
                      struct failing *failing)
{
    const uint32_t sips = making->config->hw.sip_count;
    uint32_t *const more = realloc(failing->stops, (failing->stop_count + sips) * sizeof *more);
    failing->list.failed |= more == NULL;
    if (more == NULL)
        return false;
    failing->stops = more;
    for (uint32_t sip = 0; sip < sips; sip++)
        if (is_at(&parts->where, sip))
            failing->stops[failing->stop_count++] = sip;
    return true;
}

static bool fail_parts(const struct making *making, const struct named_parts *parts,
                       struct failing *failing)
{
    if (failing->first == NULL)
        failing->first = making->f;
    if (is_of_sips(making->f))
        return fail_sips(making, parts, failing);
    for (uint32_t i = 0; i < parts->list.count; i++)
        put_link(&failing->list, parts->list.at[i].stop, parts->list.at[i].outlet);
    return !parts->any_kind || fail_kinds(making, parts, failing);
}

/* What has failed before has failed later, too. */
static void add_failing(struct failing *later, const struct failing *now)
{
    const uint32_t stops = later->stop_count + now->stop_count;
    uint32_t *const more = realloc(later->stops, (stops + 1) * sizeof *more);
    later->list.failed |= more == NULL;
    if (more == NULL)
        return;
    later->stops = more;
    for (uint32_t i = 0; i < now->stop_count; i++)
        more[later->stop_count++] = now->stops[i];
    for (uint32_t i = 0; i < now->list.count; i++)
        put_link(&later->list, now->list.at[i].stop, now->list.at[i].outlet);
}

/* The topology of what is left. */
static struct hw_topology_ops *break_topology(const struct making *making,
                                              const struct hw_config *whole,
                                              const struct failing *failing)
{
    char why[HW_CUT_OFF_BYTES] = "";
    const struct hw_failures failures = {failing->list.at, failing->list.count, failing->stops,
                                         failing->stop_count};
    struct hw_topology_ops *const broken = hw_broken_create(whole, &failures, why);
    if (broken == NULL && why[0] != '\0') {
        const struct making first = {making->config, making->errors, failing->first};
        refuse(&first, "failed", why);
    } else if (broken == NULL) {
        making->config->tree->arena.failed = true;
    }
    return broken;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void make_slow_parts(struct config *config, const struct hw_slow *slow, uint32_t count)
{
    struct hw_faults *const faults = config_arena_alloc(&config->tree->arena, sizeof *faults);
    if (faults == NULL || count == 0)
        return;
    *faults = (struct hw_faults){.slow = slow, .slow_count = count};
    config->hw.faults = faults;
}

/* The machine that is left at once, and the one from the later time on, of which the same has
 * failed, too. */
static void make_broken(struct config *config, struct config_errors *errors,
                        const struct failing *now, struct failing *later)
{
    const struct making making = {config, errors, NULL};
    const struct hw_config whole = config->hw;
    if (now->first != NULL)
        config->broken = break_topology(&making, &whole, now);
    if (config->broken != NULL)
        config->hw.sip_topology = config->broken;
    if (later->first == NULL || (now->first != NULL && config->broken == NULL))
        return;
    add_failing(later, now);
    config->broken_later = break_topology(&making, &whole, later);
    config->later = malloc(sizeof *config->later);
    config->tree->arena.failed |= config->later == NULL;
    if (config->broken_later == NULL || config->later == NULL)
        return;
    *config->later = config->hw;
    config->later->sip_topology = config->broken_later;
    config->hw.later = config->later;
    config->hw.later_ps = decimal_ps(later->first->failed->number);
}

static bool check_time(const struct making *making, const struct failing *later)
{
    char message[160];
    if (later->first == NULL ||
        decimal_compare(later->first->failed->number, making->f->failed->number) == 0)
        return true;
    snprintf(message, sizeof message, "%s: faults.%s has %s; legal: one time for all",
             making->f->failed->text, later->first->name, later->first->failed->text);
    refuse(making, "failed", message);
    return false;
}

/* Coarse tiles keep the order of their queue, and need one way for all. */
static void check_coarse(const struct config *config, struct config_errors *errors)
{
    const struct config_value *const coarse =
        config_ccl_value(config->tree, config->tree->chosen, config_ccl_find("coarse"));
    if (config->hw.later != NULL && config_given(coarse) && coarse->number.mantissa > 0)
        config_error_at(errors, config, "defaults.coarse",
                        "tiles take other ways when links fail during a run (faults); legal: one "
                        "of the two");
}

static void free_failing(struct config *config, struct failing *failing)
{
    config->tree->arena.failed |= failing->list.failed;
    free(failing->list.at);
    free(failing->stops);
}

void config_make_faults(struct config *config, struct config_errors *errors)
{
    struct config_tree *const tree = config->tree;
    struct hw_slow *const slow =
        config_arena_alloc(&tree->arena, (tree->named_count[CONFIG_FAULTS] + 1) * sizeof *slow);
    struct failing now = {0}, later = {0};
    struct fault first[2];
    uint32_t slow_count = 0;
    bool good = slow != NULL;
    for (const struct config_named *named = tree->named[CONFIG_FAULTS]; good && named != NULL;
         named = named->next) {
        const struct fault f = fault_of(named);
        const struct making making = {config, errors, &f};
        struct failing *const failing = is_later(&f) ? &later : &now;
        struct named_parts parts;
        good = take_parts(&making, &parts);
        if (good && has_failed(&f)) {
            good = (!is_later(&f) || check_time(&making, &later)) &&
                   fail_parts(&making, &parts, failing);
            if (failing->first == &f) { /* outlives this entry */
                first[is_later(&f)] = f;
                failing->first = &first[is_later(&f)];
            }
        } else if (good && !config_given(f.failed)) {
            good = make_slow(&making, &parts, &slow[slow_count]);
            slow_count += good && (slow[slow_count].percent > 0 || slow[slow_count].rate.den > 0);
        }
        tree->arena.failed |= parts.list.failed;
        free(parts.list.at);
    }
    if (good) {
        make_slow_parts(config, slow, slow_count);
        make_broken(config, errors, &now, &later);
        check_coarse(config, errors);
    }
    free_failing(config, &now);
    free_failing(config, &later);
}
