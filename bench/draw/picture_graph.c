/*
 * picture_graph.c: writes the SIPs, switches and links of a picture as a graph, in the language of
 * Graphviz or as GEXF.
 */
#include "bench/draw/picture_graph.h"

#include <inttypes.h>

#include "bench/draw/picture_pen.h"

/* The name of a node in both formats: "s3", "x2". */
static const char *graph_id(uint32_t node, char text[PICTURE_NODE_BYTES])
{
    snprintf(text, PICTURE_NODE_BYTES, "%c%" PRIu32, picture_is_sip(node) ? 's' : 'x',
             picture_number(node));
    return text;
}

static bool is_edge(const struct picture_link *link) { return link->side == HW_PORT_NONE; }

/* "64 SIPs, torus_2d: all_reduce, ..." */
static void put_title(FILE *out, const struct picture *p, void (*put)(FILE *out, const char *text))
{
    fprintf(out, "%" PRIu32 " SIPs, ", p->sip_count);
    put(out, p->topology);
    if (p->caption[0] != '\0')
        fputs(": ", out);
    put(out, p->caption);
}

/* ---- Graphviz -------------------------------------------------------------------------------- */

/* Inside double quotes, in which only the quote and the backslash need one before them. */
static void put_dot_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

static void put_dot_edge(FILE *out, const struct picture *p, const struct picture_link *link)
{
    const struct picture_kind *const kind = &p->kind[link->kind];
    char from[PICTURE_NODE_BYTES], to[PICTURE_NODE_BYTES];
    fprintf(out, "  %s -> %s [kind=\"", graph_id(link->from, from), graph_id(link->to, to));
    put_dot_text(out, kind->name);
    fprintf(out, "\", gbs=%.6g, latency_ns=%.12g", kind->gbs, (double)kind->latency_ps / 1000);
    if (p->time_ps > 0)
        fprintf(out,
                ", bytes=%" PRIu64 ", busy_ns=%.12g, busy_percent=%.12g, longest_queue_ns=%.12g",
                link->bytes, (double)link->busy_ps / 1000, 100 * picture_busy(p, link),
                (double)link->queue_ps / 1000);
    fprintf(out, ", %scolor=\"%s\"];\n", link->failed ? "failed=true, style=dotted, " : "",
            link->failed     ? PEN_FAILED_COLOUR
            : p->time_ps > 0 ? pen_link_colour[pen_link_class(picture_busy(p, link))]
                             : pen_kind_colour[link->kind % PEN_KIND_COLOURS]);
}

void picture_dot(FILE *out, const struct picture *p)
{
    char id[PICTURE_NODE_BYTES], label[PICTURE_LABEL_BYTES];
    fputs("digraph machine {\n  label=\"", out);
    put_title(out, p, put_dot_text);
    fputs("\";\n  node [shape=box];\n", out);
    for (uint32_t i = 0; i < p->sip_count; i++)
        fprintf(out, "  s%" PRIu32 " [label=\"%" PRIu32 "\", kind=\"sip\"];\n", i, i);
    for (uint32_t i = 0; i < p->switch_count; i++) {
        fprintf(out, "  %s [label=\"", graph_id(picture_switch(i), id));
        put_dot_text(out, picture_switch_label(p, i, label));
        fputs("\", kind=\"switch\", shape=ellipse];\n", out);
    }
    for (size_t i = 0; i < p->link_count; i++)
        if (is_edge(&p->links[i]))
            put_dot_edge(out, p, &p->links[i]);
    fputs("}\n", out);
}

/* ---- GEXF ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *type;
    bool is_use; /* there only where the picture has use */
} edge_attribute[] = {
    {"kind", "string", false},        {"gbs", "double", false},
    {"latency_ns", "double", false},  {"failed", "boolean", false},
    {"bytes", "long", true},          {"busy_ns", "double", true},
    {"busy_percent", "double", true}, {"longest_queue_ns", "double", true},
};
enum { EDGE_ATTRIBUTES = sizeof edge_attribute / sizeof *edge_attribute };

static void put_gexf_attributes(FILE *out, const struct picture *p)
{
    fputs("  <attributes class=\"node\">\n"
          "   <attribute id=\"kind\" title=\"kind\" type=\"string\"/>\n"
          "  </attributes>\n  <attributes class=\"edge\">\n",
          out);
    for (size_t i = 0; i < EDGE_ATTRIBUTES; i++)
        if (!edge_attribute[i].is_use || p->time_ps > 0)
            fprintf(out, "   <attribute id=\"%s\" title=\"%s\" type=\"%s\"/>\n",
                    edge_attribute[i].name, edge_attribute[i].name, edge_attribute[i].type);
    fputs("  </attributes>\n", out);
}

static void put_gexf_node(FILE *out, const struct picture *p, uint32_t node)
{
    char id[PICTURE_NODE_BYTES], label[PICTURE_LABEL_BYTES];
    fprintf(out, "   <node id=\"%s\" label=\"", graph_id(node, id));
    if (picture_is_sip(node))
        fprintf(out, "SIP %" PRIu32, node);
    else
        pen_put_text(out, picture_switch_label(p, picture_number(node), label));
    fprintf(out, "\"><attvalues><attvalue for=\"kind\" value=\"%s\"/></attvalues></node>\n",
            picture_is_sip(node) ? "sip" : "switch");
}

static void put_gexf_value(FILE *out, const char *name, double value)
{
    fprintf(out, "<attvalue for=\"%s\" value=\"%.12g\"/>", name, value);
}

/* Parallel edges of Gephi's differ in their kind. */
static void put_gexf_edge(FILE *out, const struct picture *p, const struct picture_link *link,
                          size_t number)
{
    const struct picture_kind *const kind = &p->kind[link->kind];
    char from[PICTURE_NODE_BYTES], to[PICTURE_NODE_BYTES];
    fprintf(out, "   <edge id=\"%zu\" source=\"%s\" target=\"%s\" weight=\"%.6g\" kind=\"", number,
            graph_id(link->from, from), graph_id(link->to, to), kind->gbs);
    pen_put_text(out, kind->name);
    fputs("\"><attvalues><attvalue for=\"kind\" value=\"", out);
    pen_put_text(out, kind->name);
    fputs("\"/>", out);
    fprintf(out, "<attvalue for=\"gbs\" value=\"%.6g\"/>", kind->gbs);
    put_gexf_value(out, "latency_ns", (double)kind->latency_ps / 1000);
    fprintf(out, "<attvalue for=\"failed\" value=\"%s\"/>", link->failed ? "true" : "false");
    if (p->time_ps > 0) {
        fprintf(out, "<attvalue for=\"bytes\" value=\"%" PRIu64 "\"/>", link->bytes);
        put_gexf_value(out, "busy_ns", (double)link->busy_ps / 1000);
        put_gexf_value(out, "busy_percent", 100 * picture_busy(p, link));
        put_gexf_value(out, "longest_queue_ns", (double)link->queue_ps / 1000);
    }
    fputs("</attvalues></edge>\n", out);
}

void picture_gexf(FILE *out, const struct picture *p)
{
    size_t edges = 0;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n"
          " <meta><creator>cubewarp</creator><description>",
          out);
    put_title(out, p, pen_put_text);
    fputs("</description></meta>\n <graph mode=\"static\" defaultedgetype=\"directed\">\n", out);
    put_gexf_attributes(out, p);
    fputs("  <nodes>\n", out);
    for (uint32_t i = 0; i < p->sip_count; i++)
        put_gexf_node(out, p, picture_sip(i));
    for (uint32_t i = 0; i < p->switch_count; i++)
        put_gexf_node(out, p, picture_switch(i));
    fputs("  </nodes>\n  <edges>\n", out);
    for (size_t i = 0; i < p->link_count; i++)
        if (is_edge(&p->links[i]))
            put_gexf_edge(out, p, &p->links[i], edges++);
    fputs("  </edges>\n </graph>\n</gexf>\n", out);
}
