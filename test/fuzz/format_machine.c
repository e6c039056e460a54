/*
 * format_machine.c: machines: graphs in YAML, hosts of NCCL and RCCL in XML, networks of ASTRA-sim.
 * Whatever a file says, it becomes a list of SIPs, switches and links that is sound, or is refused
 * with a place; a small one becomes a graph, or a reason says why it cannot.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/config/input/config_parse.h"
#include "collectives/config/input/graph_read.h"
#include "test/fuzz/fuzz.h"

enum { STOPS_MAX = 300 };

/* All ends and classes are there. */
static void demand_sound(const struct graph_list *list)
{
    FUZZ_DEMAND(!list->failed && list->why == NULL);
    FUZZ_DEMAND(list->sips > 0 && list->sips <= HW_UNFOLDED_SIPS_MAX);
    FUZZ_DEMAND(list->classes <= HW_CLASSES_MAX && list->kinds <= HW_SWITCH_KINDS);
    for (uint32_t i = 0; i < list->links; i++) {
        const struct hw_graph_link *const link = &list->link[i];
        FUZZ_DEMAND(link->from.stop < list->sips + list->switches);
        FUZZ_DEMAND(link->to.stop < list->sips + list->switches);
        FUZZ_DEMAND(link->link == HW_LINK_SIP_LINK ||
                    (uint32_t)link->link - HW_LINK_CLASS_1 < list->classes);
        FUZZ_DEMAND(link->back == HW_LINK_SIP_LINK ||
                    (uint32_t)link->back - HW_LINK_CLASS_1 < list->classes);
    }
    uint32_t switches = 0;
    for (uint32_t k = 0; k < list->kinds; k++) {
        FUZZ_DEMAND(list->kind[k].first == switches && list->kind[k].count > 0);
        switches += list->kind[k].count;
    }
    FUZZ_DEMAND(switches == list->switches);
}

static void build(const struct graph_list *list)
{
    char why[HW_GRAPH_WHY_BYTES];
    struct hw_graph_given given = {.sips = list->sips,
                                   .switches = list->switches,
                                   .links = list->link,
                                   .link_count = list->links,
                                   .ends = list->ends,
                                   .policy = list->routes,
                                   .lines = list->lines,
                                   .dims = list->dims};
    if (list->sips + list->switches > STOPS_MAX)
        return;
    memcpy(given.dim, list->dim, sizeof given.dim);
    struct hw_topology_ops *const graph = hw_graph_create(&given, why);
    FUZZ_DEMAND(graph != NULL || why[0] != '\0');
    hw_graph_free(graph);
}

static void read_machine(const uint8_t *data, size_t size)
{
    struct config_arena arena = {0};
    struct config_errors errors = {0};
    struct config_loader loader = {.arena = &arena, .scratch = &arena, .errors = &errors};
    /* XML is NCCL's, a list of topologies ASTRA-sim's */
    const bool is_xml = size > 0 && data[0] == '<';
    const bool is_astra =
        size > 4 && (memcmp(data, "topo", 4) == 0 || memcmp(data, "{\"to", 4) == 0);
    const char *const path = fuzz_file("fuzz.machine", data, size);
    char text[600];
    snprintf(text, sizeof text, "{%s: \"%s\"%s}",
             is_xml     ? "nccl"
             : is_astra ? "astra"
                        : "graph",
             path, is_xml && size % 2 != 0 ? ", nodes: 2" : "");
    const uint32_t source =
        config_source_add(&loader, &(struct config_source){.name = "--set", .is_file = false});
    const struct config_node *const root = config_parse(&loader, source, text, strlen(text));
    const struct graph_source *const graph =
        root != NULL ? graph_read(&loader, "graph", root) : NULL;
    FUZZ_DEMAND(graph != NULL || errors.count > 0);
    for (size_t i = 0; i < errors.count; i++)
        FUZZ_DEMAND(strpbrk(errors.list[i].text, "\n\r\t\033") == NULL);
    if (graph != NULL) {
        demand_sound(&graph->list);
        build(&graph->list);
    }
    config_errors_free(&errors);
    config_arena_free(&arena);
    fuzz_clear();
}

const struct fuzz_format fuzz_machine = {.name = "machine", .once = read_machine};
