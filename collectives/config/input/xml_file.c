/*
 * xml_file.c: builds a tree of elements with Expat (xml_file.h). Text between elements is passed
 * over.
 */
#include "collectives/config/input/xml_file.h"

#include <stdio.h>
#include <string.h>

struct xml_reading {
    struct config_loader *loader;
    uint32_t source, count, depth;
    XML_Parser parser;
    struct xml_element *root, *open;             /* the innermost open one */
    struct xml_element *last[XML_DEPTH_MAX + 1]; /* child so far, by depth */
    bool stopped;
};

static void xml_stop(struct xml_reading *r, const char *why)
{
    const struct config_place place = {r->source, (uint32_t)XML_LINE_NOW(r->parser),
                                       (uint32_t)XML_COLUMN_NOW(r->parser) + 1};
    if (why != NULL && !r->stopped)
        config_error(r->loader, place, "%s", why);
    r->stopped = true;
    (void)XML_StopParser(r->parser, XML_FALSE);
}

static const char *xml_text(struct xml_reading *r, const char *text)
{
    return config_arena_text(r->loader->scratch, text, strlen(text));
}

/* The attributes of an element, as many as there are; false: no memory. */
static bool xml_attributes(struct xml_reading *r, struct xml_element *element, const char **given)
{
    const struct xml_attribute **end = &element->attributes;
    for (; *given != NULL; given += 2) {
        struct xml_attribute *const attribute =
            config_arena_alloc(r->loader->scratch, sizeof *attribute);
        if (attribute == NULL)
            return false;
        attribute->name = xml_text(r, given[0]);
        attribute->value = xml_text(r, given[1]);
        if (attribute->name == NULL || attribute->value == NULL)
            return false;
        *end = attribute;
        end = &attribute->next;
    }
    return true;
}

static void xml_open(void *arg, const char *name, const char **given)
{
    struct xml_reading *const r = arg;
    if (r->stopped)
        return;
    if (r->count == XML_ELEMENTS_MAX || r->depth == XML_DEPTH_MAX) {
        xml_stop(r, r->count == XML_ELEMENTS_MAX ? "more than 20000 elements"
                                                 : "more than 64 elements inside each other");
        return;
    }
    struct xml_element *const element = config_arena_alloc(r->loader->scratch, sizeof *element);
    if (element == NULL) {
        xml_stop(r, NULL);
        return;
    }
    element->name = xml_text(r, name);
    element->place = (struct config_place){r->source, (uint32_t)XML_LINE_NOW(r->parser),
                                           (uint32_t)XML_COLUMN_NOW(r->parser) + 1};
    element->number = r->count++;
    element->parent = r->open;
    if (element->name == NULL || !xml_attributes(r, element, given)) {
        xml_stop(r, NULL);
        return;
    }
    if (r->open == NULL)
        r->root = element;
    else if (r->last[r->depth] == NULL)
        r->open->first = element;
    else
        r->last[r->depth]->next = element;
    r->last[r->depth] = element;
    r->open = element;
    r->last[++r->depth] = NULL;
}

static void xml_close(void *arg, const char *name)
{
    struct xml_reading *const r = arg;
    (void)name;
    if (r->stopped)
        return;
    r->depth--;
    r->open = r->depth > 0 ? r->last[r->depth - 1] : NULL;
}

static void xml_doctype(void *arg, const char *name, const char *system, const char *public,
                        int own)
{
    (void)name, (void)system, (void)public, (void)own;
    xml_stop(arg, "a document type is declared; legal is a file without <!DOCTYPE> and entities");
}

/* A copy whose comments have no dashes inside: some files have lines of them, which Expat rejects.
 * Places stay. NULL: no memory.
 */
static char *xml_plain_comments(struct config_loader *loader, const char *text, size_t bytes)
{
    char *const plain = config_arena_text(loader->scratch, text, bytes);
    char *at = plain, *end;
    while (at != NULL && (at = strstr(at, "<!--")) != NULL) {
        at += 4;
        if ((end = strstr(at, "-->")) == NULL)
            break;
        for (; at < end; at++)
            if (*at == '-')
                *at = ' ';
    }
    return plain;
}

const struct xml_element *xml_parse(struct config_loader *loader, uint32_t source, const char *text,
                                    size_t bytes, uint32_t *count)
{
    const char *const plain = xml_plain_comments(loader, text, bytes);
    struct xml_reading r = {.loader = loader, .source = source};
    r.parser = plain != NULL ? XML_ParserCreate(NULL) : NULL;
    if (r.parser == NULL) {
        loader->arena->failed = true;
        return NULL;
    }
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, xml_open, xml_close);
    XML_SetStartDoctypeDeclHandler(r.parser, xml_doctype);
    const bool parsed = XML_Parse(r.parser, plain, (int)bytes, 1) == XML_STATUS_OK && !r.stopped;
    const enum XML_Error code = XML_GetErrorCode(r.parser);
    if (!parsed && !r.stopped && code == XML_ERROR_NO_MEMORY)
        loader->arena->failed = true;
    else if (!parsed && !r.stopped) {
        char why[120];
        snprintf(why, sizeof why, "%s; legal is XML", XML_ErrorString(code));
        xml_stop(&r, why);
    }
    loader->arena->failed |= loader->scratch->failed;
    XML_ParserFree(r.parser);
    *count = r.count;
    return parsed ? r.root : NULL;
}

const char *xml_attribute(const struct xml_element *element, const char *name)
{
    for (const struct xml_attribute *a = element->attributes; a != NULL; a = a->next)
        if (strcmp(a->name, name) == 0)
            return a->value;
    return NULL;
}

const struct xml_element *xml_after(const struct xml_element *element)
{
    if (element->first != NULL)
        return element->first;
    while (element != NULL && element->next == NULL)
        element = element->parent;
    return element != NULL ? element->next : NULL;
}
