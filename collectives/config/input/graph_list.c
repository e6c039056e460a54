/*
 * graph_list.c: adds SIPs' links, switches and classes to the list of a machine (graph_list.h).
 */
#include "collectives/config/input/graph_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void graph_list_free(struct graph_list *list)
{
    free(list->link);
    free(list->ends);
    list->link = NULL;
    list->ends = NULL;
}

static uint32_t graph_list_full(struct graph_list *list, const char *why)
{
    if (list->why == NULL)
        list->why = why;
    return GRAPH_LIST_FULL;
}

uint32_t graph_list_class(struct graph_list *list, const char *name, const struct level *figures)
{
    for (uint32_t i = 0; i < list->classes; i++)
        if (strcmp(list->class[i].name, name) == 0)
            return i;
    if (list->classes == HW_CLASSES_MAX)
        return graph_list_full(list, "more than 48 classes of links");
    struct graph_class *const added = &list->class[list->classes];
    snprintf(added->name, sizeof added->name, "%s", name);
    added->figures = figures != NULL ? *figures : (struct level){.given = {false}};
    return list->classes++;
}

uint32_t graph_list_kind(struct graph_list *list, const char *name, uint32_t count)
{
    if (list->kinds == HW_SWITCH_KINDS)
        return graph_list_full(list, "more than 8 kinds of switches");
    struct graph_kind *const added = &list->kind[list->kinds];
    *added = (struct graph_kind){.first = list->switches, .count = count};
    snprintf(added->name, sizeof added->name, "%s", name);
    list->switches += count;
    return list->kinds++;
}

uint32_t graph_list_switch(const struct graph_list *list, uint32_t kind, uint32_t index)
{
    return list->sips + list->kind[kind].first + index;
}

uint32_t graph_list_add(struct graph_list *list, const struct hw_graph_link *link, uint32_t cables)
{
    const uint32_t first = list->links;
    for (uint32_t i = 0; i < cables; i++) {
        if (list->links == HW_GRAPH_LINKS_MAX)
            return graph_list_full(list, "more than 2,000,000 links");
        if (list->links == list->room) {
            const uint32_t room = 2 * list->room + 64;
            struct hw_graph_link *const more = realloc(list->link, room * sizeof *more);
            if (more == NULL) {
                list->failed = true;
                return GRAPH_LIST_FULL;
            }
            list->link = more;
            list->room = room;
        }
        list->link[list->links++] = *link;
    }
    return first;
}

uint32_t graph_list_join(struct graph_list *list, uint32_t from, uint32_t to, uint32_t class,
                         uint32_t cables)
{
    const enum hw_link_kind kind = graph_list_link_kind(class);
    const struct hw_graph_link link = {.from = {.stop = from, .port = HW_PORT_NONE},
                                       .to = {.stop = to, .port = HW_PORT_NONE},
                                       .link = kind,
                                       .back = kind};
    return graph_list_add(list, &link, cables);
}

void graph_list_end(struct graph_list *list, uint32_t sip)
{
    if (list->ends == NULL)
        list->ends = calloc(list->sips, sizeof *list->ends);
    if (list->ends == NULL)
        list->failed = true;
    else
        list->ends[sip] = true;
}

const char *graph_list_stop_name(const struct graph_list *list, uint32_t stop, char *text,
                                 size_t bytes)
{
    uint32_t kind = 0;
    if (stop < list->sips) {
        snprintf(text, bytes, "sip %" PRIu32, stop);
        return text;
    }
    while (kind + 1 < list->kinds && stop - list->sips >= list->kind[kind + 1].first)
        kind++;
    if (list->kind[kind].count == 1)
        snprintf(text, bytes, "%s", list->kind[kind].name);
    else
        snprintf(text, bytes, "%s.%" PRIu32, list->kind[kind].name,
                 stop - list->sips - list->kind[kind].first);
    return text;
}
