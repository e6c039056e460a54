/*
 * picture_json.c: writes pictures as JSON, and reads them. Everything read is checked: numbers must
 * lie within the machine that the same text describes, and lists must have the right length.
 */
#include "bench/draw/picture_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/os/text_stream.h"

static const char *const joint_name[] = {[HW_SIP_RING] = "ring",
                                         [HW_SIP_LINE] = "line",
                                         [HW_SIP_FULL] = "full",
                                         [HW_SIP_SWITCH] = "switch",
                                         [HW_SIP_OTHER] = "other"};
enum { JOINTS = sizeof joint_name / sizeof *joint_name };

/* ---- writing --------------------------------------------------------------------------------- */

/* Takes over the value. False: out of memory. */
static bool put_in(json_t *list, json_t *value)
{
    return value != NULL && json_array_append_new(list, value) == 0;
}

/* The value; NULL if it lacks parts for want of memory. */
static json_t *if_fine(json_t *value, bool fine)
{
    if (fine)
        return value;
    json_decref(value);
    return NULL;
}

static json_t *dims_json(const struct picture *p)
{
    json_t *const list = json_array();
    bool fine = list != NULL;
    for (uint32_t k = 0; fine && k < p->dim_count; k++)
        fine = put_in(list, json_pack("{s:s,s:I}", "joint", joint_name[p->dim[k].joint], "size",
                                      (json_int_t)p->dim[k].size));
    return if_fine(list, fine);
}

static json_t *kinds_json(const struct picture *p)
{
    json_t *const list = json_array();
    bool fine = list != NULL;
    for (uint32_t k = 0; fine && k < p->kind_count; k++)
        fine =
            put_in(list, json_pack("{s:s,s:f,s:f}", "kind", p->kind[k].name, "gbs", p->kind[k].gbs,
                                   "latency_ns", (double)p->kind[k].latency_ps / 1000));
    return if_fine(list, fine);
}

static int by_use(const void *left, const void *right)
{
    const struct picture_link *const a = *(const struct picture_link *const *)left;
    const struct picture_link *const b = *(const struct picture_link *const *)right;
    const int64_t x[] = {a->kind, a->count, (int64_t)a->bytes, a->busy_ps, a->queue_ps, a->failed};
    const int64_t y[] = {b->kind, b->count, (int64_t)b->bytes, b->busy_ps, b->queue_ps, b->failed};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Equal links keep their order. */
static int by_use_and_place(const void *left, const void *right)
{
    const struct picture_link *const a = *(const struct picture_link *const *)left;
    const struct picture_link *const b = *(const struct picture_link *const *)right;
    const int use = by_use(left, right);
    return use != 0 ? use : a < b ? -1 : a > b;
}

static json_t *alike_json(const struct picture *p, const struct picture_link *const *links,
                          size_t count)
{
    char *text = NULL, from[PICTURE_NODE_BYTES], to[PICTURE_NODE_BYTES];
    size_t bytes;
    const struct picture_link *const first = links[0];
    FILE *const at = text_stream_open(&text, &bytes);
    if (at == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        fprintf(at, "%s%s>%s", i > 0 ? " " : "", picture_node_name(p, links[i]->from, from),
                picture_node_name(p, links[i]->to, to));
        if (links[i]->side < HW_PORTS)
            fputc(hw_port_letter[links[i]->side], at);
    }
    json_t *const object =
        fclose(at) != 0
            ? NULL
            : json_pack("{s:s,s:I,s:I,s:f,s:f,s:f,s:s}", "kind", p->kind[first->kind].name, "count",
                        (json_int_t)first->count, "bytes", (json_int_t)first->bytes, "busy_ns",
                        (double)first->busy_ps / 1000, "busy_share", picture_busy(p, first),
                        "longest_queue_ns", (double)first->queue_ps / 1000, "at", text);
    free(text);
    return first->failed && object != NULL
               ? if_fine(object, json_object_set_new(object, "failed", json_true()) == 0)
               : object;
}

static json_t *links_json(const struct picture *p)
{
    json_t *const list = json_array();
    const struct picture_link **const order = calloc(p->link_count + 1, sizeof *order);
    bool fine = list != NULL && order != NULL;
    for (size_t i = 0; fine && i < p->link_count; i++)
        order[i] = &p->links[i];
    if (fine && p->link_count > 0)
        qsort(order, p->link_count, sizeof *order, by_use_and_place);
    for (size_t i = 0, end; fine && i < p->link_count; i = end) {
        for (end = i + 1; end < p->link_count && by_use(&order[i], &order[end]) == 0;)
            end++;
        fine = put_in(list, alike_json(p, order + i, end - i));
    }
    free(order);
    return if_fine(list, fine);
}

/* "0-3 7": the SIPs from `first` on with the cubes of `first`; marks them. */
static void write_alike_sips(FILE *out, const struct picture *p, uint32_t first, bool *done)
{
    const size_t cubes = (size_t)p->cube_w * p->cube_h;
    const struct picture_cube *const own = &p->cubes[first * cubes];
    const char *gap = "";
    for (uint32_t sip = first; sip < p->sip_count; sip++) {
        uint32_t end = sip;
        while (end < p->sip_count && !done[end] &&
               memcmp(own, &p->cubes[end * cubes], cubes * sizeof *own) == 0)
            done[end++] = true;
        if (end == sip)
            continue;
        fprintf(out, end == sip + 1 ? "%s%u" : "%s%u-%u", gap, sip, end - 1);
        gap = " ";
        sip = end;
    }
}

static json_t *cube_times_json(const struct picture_cube *cubes, uint32_t count, bool ends)
{
    json_t *const list = json_array();
    bool fine = list != NULL;
    for (uint32_t i = 0; fine && i < count; i++)
        fine = put_in(list, json_real((double)(ends ? cubes[i].end_ps : cubes[i].work_ps) / 1000));
    return if_fine(list, fine);
}

static json_t *alike_sips_json(const struct picture *p, uint32_t first, bool *done)
{
    const uint32_t cubes = p->cube_w * p->cube_h;
    const struct picture_cube *const own = &p->cubes[(size_t)first * cubes];
    char *text = NULL;
    size_t bytes;
    FILE *const sips = text_stream_open(&text, &bytes);
    if (sips == NULL)
        return NULL;
    write_alike_sips(sips, p, first, done);
    json_t *const object = fclose(sips) != 0
                               ? NULL
                               : json_pack("{s:s,s:o,s:o}", "sips", text, "work_ns",
                                           cube_times_json(own, cubes, false), "end_ns",
                                           cube_times_json(own, cubes, true));
    free(text);
    return object;
}

static json_t *cubes_json(const struct picture *p)
{
    json_t *const list = json_array();
    bool *const done = calloc(p->sip_count, sizeof *done);
    bool fine = list != NULL && done != NULL;
    for (uint32_t sip = 0; fine && sip < p->sip_count; sip++)
        if (!done[sip])
            fine = put_in(list, alike_sips_json(p, sip, done));
    free(done);
    return if_fine(list, fine);
}

static json_t *switch_kinds_json(const struct picture *p)
{
    json_t *const list = json_array();
    bool fine = list != NULL;
    for (uint32_t k = 0; fine && k < p->switch_kind_count; k++)
        fine = put_in(list, json_pack("{s:s,s:I}", "kind", p->switch_kind[k].name, "count",
                                      (json_int_t)p->switch_kind[k].count));
    return if_fine(list, fine);
}

json_t *picture_json(const struct picture *p)
{
    json_t *object = json_pack(
        "{s:s,s:s,s:s,s:I,s:I,s:b,s:o,s:[I,I],s:I,s:I,s:f,s:o,s:o}", "topology", p->topology,
        "caption", p->caption, "directions", p->directions, "sips", (json_int_t)p->sip_count,
        "switches", (json_int_t)p->switch_count, "paired", p->paired, "dims", dims_json(p),
        "cube_grid", (json_int_t)p->cube_w, (json_int_t)p->cube_h, "root", (json_int_t)p->root,
        "pes", (json_int_t)p->pes, "time_ns", (double)p->time_ps / 1000, "kinds", kinds_json(p),
        "links", links_json(p));
    if (object != NULL && p->switch_kind_count > 0) {
        json_t *const kinds = switch_kinds_json(p);
        object = if_fine(object,
                         kinds != NULL && json_object_set_new(object, "switch_kinds", kinds) == 0);
    }
    if (object == NULL || p->cubes == NULL)
        return object;
    json_t *const cubes = cubes_json(p);
    return if_fine(object, cubes != NULL && json_object_set_new(object, "cubes", cubes) == 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct json_reading {
    struct picture *picture;
    struct cw_error *error;
    int code;
    size_t room; /* links */
};

/* Notes the first fault. Returns false. */
static bool fault_at(struct json_reading *r, const char *member, const char *legal)
{
    if (r->code == CW_OK)
        r->code = cw_error_set(r->error, CW_USAGE, "picture: %s: expected %s", member, legal);
    return false;
}

static bool no_room(struct json_reading *r)
{
    if (r->code == CW_OK)
        r->code = cw_error_memory(r->error, "the drawing");
    return false;
}

/* A whole number from `least` to `most`. */
static bool read_count(struct json_reading *r, const json_t *value, const char *member,
                       int64_t least, int64_t most, uint32_t *count)
{
    char legal[64];
    const json_int_t found = json_integer_value(value);
    snprintf(legal, sizeof legal, "a whole number from %lld to %lld", (long long)least,
             (long long)most);
    if (!json_is_integer(value) || found < least || found > most)
        return fault_at(r, member, legal);
    *count = (uint32_t)found;
    return true;
}

/* Nanoseconds, at least 0. */
static bool read_time(struct json_reading *r, const json_t *value, const char *member, int64_t *ps)
{
    const double ns = json_number_value(value);
    if (!json_is_number(value) || !(ns >= 0 && ns < 9e15))
        return fault_at(r, member, "a time in ns, at least 0");
    *ps = llround(ns * 1000);
    return true;
}

static bool read_words(struct json_reading *r, const json_t *value, const char *member, char *text,
                       size_t bytes)
{
    const char *const found = json_string_value(value);
    if (found == NULL || strlen(found) >= bytes)
        return fault_at(r, member, "a short text");
    memcpy(text, found, strlen(found) + 1);
    return true;
}

static bool read_dims(struct json_reading *r, const json_t *list)
{
    struct picture *const p = r->picture;
    uint64_t product = 1;
    if (!json_is_array(list) || json_array_size(list) == 0 ||
        json_array_size(list) > HW_SIP_DIMS_MAX)
        return fault_at(r, "dims", "a list of 1 to 12 dimensions");
    for (p->dim_count = 0; p->dim_count < json_array_size(list); p->dim_count++) {
        const json_t *const one = json_array_get(list, p->dim_count);
        struct picture_dim *const dim = &p->dim[p->dim_count];
        const char *const joint = json_string_value(json_object_get(one, "joint"));
        size_t at = 0;
        while (joint != NULL && at < JOINTS && strcmp(joint, joint_name[at]) != 0)
            at++;
        if (joint == NULL || at == JOINTS)
            return fault_at(r, "dims", "joints ring, line, full, switch or other");
        dim->joint = (enum hw_sip_joint)at;
        if (!read_count(r, json_object_get(one, "size"), "dims: size", 1, PICTURE_SIPS_MAX,
                        &dim->size))
            return false;
        product *= dim->size;
        if (product > PICTURE_SIPS_MAX)
            break;
    }
    return product == p->sip_count || fault_at(r, "dims", "sizes whose product is sips");
}

static bool read_kinds(struct json_reading *r, const json_t *list)
{
    struct picture *const p = r->picture;
    if (!json_is_array(list) || json_array_size(list) > PICTURE_KINDS)
        return fault_at(r, "kinds", "a list of at most 64 kinds of links");
    for (p->kind_count = 0; p->kind_count < json_array_size(list); p->kind_count++) {
        const json_t *const one = json_array_get(list, p->kind_count);
        struct picture_kind *const kind = &p->kind[p->kind_count];
        kind->gbs = json_number_value(json_object_get(one, "gbs"));
        if (!read_words(r, json_object_get(one, "kind"), "kinds: kind", kind->name,
                        sizeof kind->name) ||
            !(kind->gbs >= 0))
            return fault_at(r, "kinds", "kind and gbs");
        const json_t *const latency = json_object_get(one, "latency_ns");
        if (latency != NULL && !read_time(r, latency, "kinds: latency_ns", &kind->latency_ps))
            return false;
    }
    return true;
}

static bool read_switch_kinds(struct json_reading *r, const json_t *list)
{
    struct picture *const p = r->picture;
    uint32_t switches = 0;
    if (list == NULL)
        return true;
    if (!json_is_array(list) || json_array_size(list) > HW_SWITCH_KINDS)
        return fault_at(r, "switch_kinds", "a list of at most 8 kinds of switches");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const one = json_array_get(list, i);
        struct picture_switches *const of = &p->switch_kind[p->switch_kind_count++];
        if (!read_words(r, json_object_get(one, "kind"), "switch_kinds: kind", of->name,
                        sizeof of->name) ||
            !read_count(r, json_object_get(one, "count"), "switch_kinds: count", 1,
                        PICTURE_SIPS_MAX, &of->count))
            return false;
        switches += of->count;
    }
    return switches == p->switch_count ||
           fault_at(r, "switch_kinds", "counts whose sum is switches");
}

static bool read_machine(struct json_reading *r, const json_t *object)
{
    struct picture *const p = r->picture;
    const json_t *const grid = json_object_get(object, "cube_grid");
    bool fine =
        read_words(r, json_object_get(object, "topology"), "topology", p->topology,
                   sizeof p->topology) &&
        read_words(r, json_object_get(object, "caption"), "caption", p->caption,
                   sizeof p->caption) &&
        read_words(r, json_object_get(object, "directions"), "directions", p->directions,
                   sizeof p->directions) &&
        read_count(r, json_object_get(object, "sips"), "sips", 1, PICTURE_SIPS_MAX,
                   &p->sip_count) &&
        read_count(r, json_object_get(object, "switches"), "switches", 0, PICTURE_SIPS_MAX,
                   &p->switch_count) &&
        read_count(r, json_array_get(grid, 0), "cube_grid", 1, PICTURE_CUBES_MAX, &p->cube_w) &&
        read_count(r, json_array_get(grid, 1), "cube_grid", 1, PICTURE_CUBES_MAX / p->cube_w,
                   &p->cube_h) &&
        read_count(r, json_object_get(object, "root"), "root", 0, p->cube_w * p->cube_h - 1,
                   &p->root) &&
        read_count(r, json_object_get(object, "pes"), "pes", 1, 1 << 16, &p->pes) &&
        read_time(r, json_object_get(object, "time_ns"), "time_ns", &p->time_ps) &&
        read_dims(r, json_object_get(object, "dims")) &&
        read_kinds(r, json_object_get(object, "kinds"));
    p->unfolded = p->sip_count;
    p->all_switches = p->switch_count;
    fine = fine && read_switch_kinds(r, json_object_get(object, "switch_kinds"));
    p->paired =
        json_is_true(json_object_get(object, "paired")) && p->dim_count == 2 && p->dim[0].size == 2;
    return fine;
}

/* "3", "3.5", "x2" at *at, which advances. False: it is none of these, or there is no such node. */
static bool read_node(const struct picture *p, const char **at, uint32_t *node)
{
    const bool is_switch = **at == 'x';
    uint32_t numbers[2] = {0, 0}, count = 0;
    *at += is_switch;
    do {
        const char *const begin = *at + (count > 0);
        char *end;
        if (*begin < '0' || *begin > '9')
            return false;
        const unsigned long number = strtoul(begin, &end, 10);
        if (number > PICTURE_SIPS_MAX)
            return false;
        numbers[count++] = (uint32_t)number;
        *at = end;
    } while (**at == '.' && count == 1 && !is_switch);
    if (is_switch) {
        *node = picture_switch(numbers[0]);
        return numbers[0] < p->switch_count;
    }
    *node = count == 1 ? picture_sip(numbers[0]) : picture_cube(p, numbers[0], numbers[1]);
    return numbers[0] < p->sip_count && numbers[1] < p->cube_w * p->cube_h;
}

static bool add_read_link(struct json_reading *r, struct picture_link link)
{
    struct picture *const p = r->picture;
    if (p->link_count == r->room) {
        r->room = r->room == 0 ? 256 : 2 * r->room;
        struct picture_link *const more = realloc(p->links, r->room * sizeof *more);
        if (more == NULL)
            return no_room(r);
        p->links = more;
    }
    p->links[p->link_count++] = link;
    return true;
}

/* The links of one object: `link` with the ends that its text names. */
static bool read_places(struct json_reading *r, const char *at, struct picture_link link)
{
    static const char legal[] = "sender>receiver of the machine's SIPs, cubes (3.5) and switches "
                                "(x2), separated by spaces";
    if (at == NULL)
        return fault_at(r, "links: at", legal);
    while (*at != '\0') {
        at += *at == ' ';
        if (!read_node(r->picture, &at, &link.from) || *at++ != '>' ||
            !read_node(r->picture, &at, &link.to))
            return fault_at(r, "links: at", legal);
        const char *const side =
            *at == '\0' ? NULL : memchr(hw_port_letter, *at, sizeof hw_port_letter);
        link.side = (uint8_t)(side != NULL ? side - hw_port_letter : HW_PORT_NONE);
        at += side != NULL;
        if (((link.from | link.to) & PICTURE_CUBE_BIT) != 0 && side == NULL)
            return fault_at(r, "links: at", "the side of the cube, N, S, E or W, after its link");
        if ((*at != ' ' && *at != '\0') || !add_read_link(r, link))
            return fault_at(r, "links: at", legal);
    }
    return true;
}

static bool read_links(struct json_reading *r, const json_t *list)
{
    struct picture *const p = r->picture;
    if (!json_is_array(list))
        return fault_at(r, "links", "a list");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const one = json_array_get(list, i);
        const char *const name = json_string_value(json_object_get(one, "kind"));
        struct picture_link link = {.bytes =
                                        (uint64_t)json_integer_value(json_object_get(one, "bytes")),
                                    .failed = json_is_true(json_object_get(one, "failed"))};
        uint32_t kind = 0;
        while (name != NULL && kind < p->kind_count && strcmp(name, p->kind[kind].name) != 0)
            kind++;
        if (name == NULL || kind == p->kind_count)
            return fault_at(r, "links: kind", "one of kinds");
        link.kind = (uint8_t)kind;
        if (!read_count(r, json_object_get(one, "count"), "links: count", 1, 1 << 30,
                        &link.count) ||
            !read_time(r, json_object_get(one, "busy_ns"), "links: busy_ns", &link.busy_ps) ||
            !read_time(r, json_object_get(one, "longest_queue_ns"), "links: longest_queue_ns",
                       &link.queue_ps) ||
            !read_places(r, json_string_value(json_object_get(one, "at")), link))
            return false;
    }
    return true;
}

static bool read_cube_times(struct json_reading *r, const json_t *one, struct picture_cube *cubes,
                            uint32_t count)
{
    const json_t *const work = json_object_get(one, "work_ns"), *const ends =
                                                                    json_object_get(one, "end_ns");
    if (json_array_size(work) != count || json_array_size(ends) != count)
        return fault_at(r, "cubes", "a time in work_ns and in end_ns for each cube of a SIP");
    for (uint32_t i = 0; i < count; i++)
        if (!read_time(r, json_array_get(work, i), "cubes: work_ns", &cubes[i].work_ps) ||
            !read_time(r, json_array_get(ends, i), "cubes: end_ns", &cubes[i].end_ps))
            return false;
    return true;
}

/* "0-3 7": the cubes of all these SIPs. */
static bool read_cube_sips(struct json_reading *r, const char *sips,
                           const struct picture_cube *cubes)
{
    struct picture *const p = r->picture;
    const size_t count = (size_t)p->cube_w * p->cube_h;
    while (sips != NULL && *sips != '\0') {
        char *end;
        const unsigned long first = strtoul(sips, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        if (end == sips || first > last || last >= p->sip_count || (*end != ' ' && *end != '\0'))
            return fault_at(r, "cubes: sips", "numbers and ranges of SIPs, such as 0-3 7");
        for (unsigned long sip = first; sip <= last; sip++)
            memcpy(&p->cubes[sip * count], cubes, count * sizeof *cubes);
        sips = end + (*end == ' ');
    }
    return sips != NULL || fault_at(r, "cubes: sips", "a text");
}

static bool read_cubes(struct json_reading *r, const json_t *list)
{
    struct picture *const p = r->picture;
    const uint32_t count = p->cube_w * p->cube_h;
    if (list == NULL)
        return true;
    struct picture_cube *const cubes = calloc(count, sizeof *cubes);
    p->cubes = calloc((size_t)p->sip_count * count, sizeof *p->cubes);
    bool fine = (cubes != NULL && p->cubes != NULL) || no_room(r);
    for (size_t i = 0; fine && i < json_array_size(list); i++) {
        const json_t *const one = json_array_get(list, i);
        fine = read_cube_times(r, one, cubes, count) &&
               read_cube_sips(r, json_string_value(json_object_get(one, "sips")), cubes);
    }
    free(cubes);
    return fine;
}

static int by_read_ends(const void *left, const void *right)
{
    const struct picture_link *const a = left, *const b = right;
    const uint64_t x = (uint64_t)a->from << 32 | a->to, y = (uint64_t)b->from << 32 | b->to;
    return x != y ? (x < y ? -1 : 1) : a->side < b->side ? -1 : a->side > b->side;
}

struct picture *picture_from_json(const json_t *object, struct cw_error *error)
{
    struct json_reading r = {
        .picture = calloc(1, sizeof *r.picture), .error = error, .code = CW_OK};
    if (r.picture == NULL) {
        (void)cw_error_memory(error, "the drawing");
        return NULL;
    }
    if (!json_is_object(object))
        (void)fault_at(&r, "the member", "an object");
    else if (read_machine(&r, object) && read_links(&r, json_object_get(object, "links")) &&
             read_cubes(&r, json_object_get(object, "cubes")) && r.picture->link_count > 0)
        qsort(r.picture->links, r.picture->link_count, sizeof *r.picture->links, by_read_ends);
    if (r.code == CW_OK)
        return r.picture;
    picture_free(r.picture);
    return NULL;
}
