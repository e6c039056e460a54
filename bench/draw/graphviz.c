/*
 * graphviz.c: writes the boxes, switches and links of a picture in Graphviz' language, runs the
 * program that suits them, and reads the places from its plain output.
 */
#include "bench/draw/graphviz.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/os/child.h"
#include "core/os/text_stream.h"

enum { DOT_SIPS_MAX = 128, DOT_MAX = 400, CIRCO_MAX = 16, NEATO_MAX = 500, NO_LEVEL = UINT32_MAX };

#define PX_PER_INCH   72.0
#define FARTHEST_PX   1e6
#define CIRCLE_SPREAD 1.3 /* a circle of boxes that touch each other hides their links */

/* Nodes are boxes, then switches. */
struct edge {
    uint32_t a, b; /* a < b */
};
struct graph {
    const struct picture *p;
    const struct graphviz_sizes *sizes;
    uint32_t nodes;
    struct edge *edges; /* in ascending order, each pair once */
    size_t edge_count;
    uint32_t *level; /* [nodes] links to the nearest SIP */
    bool is_layered; /* for dot: small, with switches, and every link joins two levels */
};

static uint32_t node_of(const struct graph *g, uint32_t end)
{
    return picture_is_sip(end) ? end : g->p->sip_count + picture_number(end);
}

static int by_nodes(const void *left, const void *right)
{
    const struct edge *const x = left, *const y = right;
    return x->a != y->a ? (x->a < y->a ? -1 : 1) : x->b < y->b ? -1 : x->b > y->b;
}

static void gather_edges(struct graph *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->p->link_count; i++) {
        const struct picture_link *const link = &g->p->links[i];
        if (link->side != HW_PORT_NONE || link->from == link->to)
            continue;
        const uint32_t from = node_of(g, link->from), to = node_of(g, link->to);
        g->edges[g->edge_count++] = from < to ? (struct edge){from, to} : (struct edge){to, from};
    }
    if (g->edge_count > 0)
        qsort(g->edges, g->edge_count, sizeof *g->edges, by_nodes);
    for (size_t i = 0; i < g->edge_count; i++)
        if (kept == 0 || by_nodes(&g->edges[kept - 1], &g->edges[i]) != 0)
            g->edges[kept++] = g->edges[i];
    g->edge_count = kept;
}

/* Levels are few, so each is found by a look at all edges. */
static void find_levels(struct graph *g)
{
    bool more = true;
    for (uint32_t node = 0; node < g->nodes; node++)
        g->level[node] = node < g->p->sip_count ? 0 : NO_LEVEL;
    for (uint32_t level = 0; more; level++) {
        more = false;
        for (size_t i = 0; i < g->edge_count; i++) {
            const uint32_t a = g->edges[i].a, b = g->edges[i].b;
            if (g->level[a] == level && g->level[b] == NO_LEVEL) {
                g->level[b] = level + 1;
                more = true;
            } else if (g->level[b] == level && g->level[a] == NO_LEVEL) {
                g->level[a] = level + 1;
                more = true;
            }
        }
    }
    g->is_layered =
        g->p->switch_count > 0 && g->p->sip_count <= DOT_SIPS_MAX && g->nodes <= DOT_MAX;
    for (size_t i = 0; i < g->edge_count; i++)
        g->is_layered = g->is_layered && g->level[g->edges[i].a] != g->level[g->edges[i].b];
}

static const char *program_for(const struct graph *g)
{
    if (g->is_layered)
        return "dot";
    if (g->p->switch_count == 0 && g->nodes <= CIRCO_MAX)
        return "circo";
    return g->nodes < NEATO_MAX ? "neato" : "sfdp";
}

/* ---- the graph as a text --------------------------------------------------------------------- */

static void write_graph(FILE *out, const struct graph *g)
{
    const double w = g->sizes->box_w / PX_PER_INCH, h = g->sizes->box_h / PX_PER_INCH;
    const double apart = 1.5 * hypot(w, h), wide = 0.05 * g->p->sip_count * w;
    fprintf(out,
            "graph machine {\n"
            "graph [overlap=prism sep=\"+8\" splines=false nodesep=%.4g ranksep=%.4g K=%.4g];\n"
            "node [label=\"\" shape=box fixedsize=true width=%.4g height=%.4g];\n"
            "edge [len=%.4g];\n",
            0.3 * w, fmin(fmax(wide, 0.9 * h), 8 * h), apart, w, h, apart);
    for (uint32_t node = 0; node < g->p->sip_count; node++)
        fprintf(out, "%" PRIu32 ";\n", node);
    fprintf(out, "node [width=%.4g height=%.4g];\n", g->sizes->switch_w / PX_PER_INCH,
            g->sizes->switch_h / PX_PER_INCH);
    for (uint32_t node = g->p->sip_count; node < g->nodes; node++)
        fprintf(out, "%" PRIu32 ";\n", node);
    for (size_t i = 0; i < g->edge_count; i++) {
        const struct edge *const edge = &g->edges[i];
        const bool upwards = g->is_layered && g->level[edge->a] < g->level[edge->b];
        fprintf(out, "%" PRIu32 " -- %" PRIu32 ";\n", upwards ? edge->b : edge->a,
                upwards ? edge->a : edge->b);
    }
    if (g->is_layered) {
        fputs("{ rank=max; edge [style=invis]; 0", out); /* SIPs in the order of their numbers */
        for (uint32_t node = 1; node < g->p->sip_count; node++)
            fprintf(out, " -- %" PRIu32, node);
        fputs("; }\n", out);
    }
    fputs("}\n", out);
}

/* ---- its places ------------------------------------------------------------------------------ */

/* "node 12 3.4 5.6 ..." in inches, y upwards. False: it is no such line, or of no node. */
static bool read_place(const char *line, const struct graph *g, struct picture_point *places,
                       uint32_t *found)
{
    char *end;
    const unsigned long node = strtoul(line, &end, 10);
    if (end == line || *end != ' ' || node >= g->nodes || !isnan(places[node].x))
        return false;
    const double x = strtod(end, &end) * PX_PER_INCH;
    if (*end != ' ')
        return false;
    const double y = -strtod(end, &end) * PX_PER_INCH;
    if (*end != ' ' || !(fabs(x) < FARTHEST_PX) || !(fabs(y) < FARTHEST_PX))
        return false;
    places[node] = (struct picture_point){x, y};
    ++*found;
    return true;
}

/* Whether every node has one place, and the text its end. */
static bool read_places(const char *text, const struct graph *g, struct picture_point *places)
{
    static const char head[] = "node ", last[] = "stop\n";
    uint32_t found = 0;
    for (uint32_t node = 0; node < g->nodes; node++)
        places[node].x = places[node].y = NAN;
    for (const char *line = text; *line != '\0';) {
        const char *const end = strchr(line, '\n');
        if (end == NULL)
            return false;
        if (strcmp(line, last) == 0)
            return found == g->nodes;
        if (strncmp(line, head, sizeof head - 1) == 0 &&
            !read_place(line + sizeof head - 1, g, places, &found))
            return false;
        line = end + 1;
    }
    return false;
}

static const char *reason_of(enum child_end end)
{
    switch (end) {
    case CHILD_ABSENT:
        return "is not there; its Debian package is graphviz";
    case CHILD_LATE:
        return "took too long";
    case CHILD_REFUSED:
        return "cannot be run";
    default:
        return "failed";
    }
}

static void spread_places(const struct graph *g, struct picture_point *places)
{
    for (uint32_t node = 0; node < g->nodes; node++) {
        places[node].x *= CIRCLE_SPREAD;
        places[node].y *= CIRCLE_SPREAD;
    }
}

static bool run_graphviz(const struct graph *g, int limit_ms, struct picture_point *places,
                         char note[GRAPHVIZ_NOTE_BYTES])
{
    char program[8], plain[] = "-Tplain";
    char *const argv[] = {program, plain, NULL};
    char *text = NULL;
    size_t bytes = 0;
    snprintf(program, sizeof program, "%s", program_for(g));
    FILE *const out = text_stream_open(&text, &bytes);
    if (out != NULL)
        write_graph(out, g);
    if (out == NULL || fclose(out) != 0) {
        snprintf(note, GRAPHVIZ_NOTE_BYTES, "out of memory for Graphviz");
        return false;
    }
    struct child child = {
        .argv = argv, .in = text, .in_bytes = bytes, .limit_ms = limit_ms, .quiet = true};
    const enum child_end end = child_run(&child);
    const bool fine = end == CHILD_DONE && read_places(child.out, g, places);
    if (!fine)
        snprintf(note, GRAPHVIZ_NOTE_BYTES, "Graphviz' program %s %s", program,
                 end == CHILD_DONE ? "wrote something else than all places" : reason_of(end));
    if (fine && strcmp(program, "circo") == 0)
        spread_places(g, places);
    free(child.out);
    free(text);
    return fine;
}

struct picture_point *graphviz_places(const struct picture *picture,
                                      const struct graphviz_sizes *sizes, int limit_ms,
                                      bool *in_layers, char note[GRAPHVIZ_NOTE_BYTES])
{
    struct graph g = {
        .p = picture, .sizes = sizes, .nodes = picture->sip_count + picture->switch_count};
    struct picture_point *places = calloc(g.nodes + 1, sizeof *places);
    g.edges = calloc(picture->link_count + 1, sizeof *g.edges);
    g.level = calloc(g.nodes + 1, sizeof *g.level);
    bool fine = places != NULL && g.edges != NULL && g.level != NULL;
    note[0] = '\0';
    if (!fine)
        snprintf(note, GRAPHVIZ_NOTE_BYTES, "out of memory for Graphviz");
    if (fine) {
        gather_edges(&g);
        find_levels(&g);
        *in_layers = g.is_layered;
        fine = g.edge_count > 0 && run_graphviz(&g, limit_ms, places, note);
    }
    free(g.edges);
    free(g.level);
    if (fine)
        return places;
    free(places);
    return NULL;
}
