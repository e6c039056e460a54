/*
 * graph_nccl_rings.c: the first ring of a file that NCCL_GRAPH_DUMP_FILE wrote: `<graphs><graph
 * pattern="4"><channel><gpu>`, GPUs by `rank` in newer dumps and by `dev` in older ones
 * (graph_sources.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/graph_sources.h"
#include "collectives/config/input/xml_file.h"

#define RING_PATTERN "4" /* NCCL_TOPO_PATTERN_RING */

struct ring_reading {
    struct config_loader *loader;
    uint32_t gpus;
    const int64_t *rank, *dev;
    uint32_t *place;
};

static bool ring_fault(const struct ring_reading *r, const struct xml_element *element,
                       const char *why)
{
    config_error(r->loader, element->place, "<%.20s>: %s", element->name, why);
    return false;
}

static const struct xml_element *next_named(const struct xml_element *element, const char *name)
{
    while (element != NULL && strcmp(element->name, name) != 0)
        element = element->next;
    return element;
}

/* The GPU of an element; `gpus`: there is none. */
static uint32_t gpu_named(const struct ring_reading *r, const struct xml_element *element)
{
    const char *const by_rank = xml_attribute(element, "rank"), *const by_dev =
                                                                    xml_attribute(element, "dev");
    const char *const text = by_rank != NULL ? by_rank : by_dev;
    uint64_t number = 0;
    uint32_t i = 0;
    if (text == NULL || text_whole(text, strlen(text), INT32_MAX, &number) != strlen(text) ||
        *text == '\0')
        return r->gpus;
    while (i < r->gpus && (by_rank != NULL ? r->rank : r->dev)[i] != (int64_t)number)
        i++;
    return i;
}

/* Each GPU of the host has one place in the channel. */
static bool read_channel(const struct ring_reading *r, const struct xml_element *channel)
{
    uint32_t count = 0;
    memset(r->place, 0xff, r->gpus * sizeof *r->place);
    for (const struct xml_element *gpu = next_named(channel->first, "gpu"); gpu != NULL;
         gpu = next_named(gpu->next, "gpu")) {
        const uint32_t i = gpu_named(r, gpu);
        if (i == r->gpus)
            return ring_fault(r, gpu, "legal: the rank or the dev of a GPU of the topology");
        if (r->place[i] != UINT32_MAX)
            return ring_fault(r, gpu, "this GPU is in the ring already");
        r->place[i] = count++;
    }
    return count == r->gpus ||
           ring_fault(r, channel, "a ring has every GPU of the topology once; some are missing");
}

static bool read_graphs(const struct ring_reading *r, const struct xml_element *root,
                        const char **about)
{
    const struct xml_element *graph = next_named(root->first, "graph");
    const char *pattern, *speed;
    uint32_t channels = 0;
    char text[120];
    if (strcmp(root->name, "graphs") != 0)
        return ring_fault(r, root, "legal: <graphs>, as of NCCL_GRAPH_DUMP_FILE");
    while (graph != NULL && ((pattern = xml_attribute(graph, "pattern")) == NULL ||
                             strcmp(pattern, RING_PATTERN) != 0))
        graph = next_named(graph->next, "graph");
    const struct xml_element *const first =
        graph != NULL ? next_named(graph->first, "channel") : NULL;
    if (first == NULL)
        return ring_fault(r, root, "no ring; legal: <graph pattern=\"4\"> with a <channel>");
    for (const struct xml_element *each = first; each != NULL;
         each = next_named(each->next, "channel"))
        channels++;
    if (!read_channel(r, first))
        return false;
    speed = xml_attribute(graph, "speedintra");
    snprintf(text, sizeof text,
             "numbered along ring 1 of %" PRIu32 ", for which NCCL expects %.20s GB/s", channels,
             speed != NULL ? speed : "unknown");
    *about = config_arena_text(r->loader->arena, text, strlen(text));
    return *about != NULL;
}

bool graph_nccl_rings(const struct graph_file *file, const struct config_node *rings, uint32_t gpus,
                      const int64_t *rank, const int64_t *dev, uint32_t *place, const char **about)
{
    const struct ring_reading r = {file->loader, gpus, rank, dev, place};
    char quoted[TEXT_QUOTE_BYTES];
    uint32_t source, count;
    size_t bytes;
    if (rings->kind != CONFIG_SCALAR || rings->bytes == 0) {
        config_error(file->loader, rings->place, "%s: expected rings: a file; found %s", file->path,
                     config_quote_node(rings, quoted));
        return false;
    }
    char *const text = graph_file_text(file->loader, rings->text, &source, &bytes, file->contents);
    const struct xml_element *const root =
        text != NULL ? xml_parse(file->loader, source, text, bytes, &count) : NULL;
    free(text);
    return root != NULL && read_graphs(&r, root, about);
}
