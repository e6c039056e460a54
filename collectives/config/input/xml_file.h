/*
 * xml_file.h: a small XML text as a tree of elements that know their place; bounded whatever the
 * text: the number of elements and their depth; a document type, and with it entities, is refused.
 */
#ifndef COLLECTIVES_XML_FILE_H
#define COLLECTIVES_XML_FILE_H

#include <expat.h>

#include "collectives/config/input/config_source.h"

/* Expat 2.9 renamed the functions that return a position. */
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
#define XML_LINE_NOW   XML_GetCurrentLineNumber64
#define XML_COLUMN_NOW XML_GetCurrentColumnNumber64
#else
#define XML_LINE_NOW   XML_GetCurrentLineNumber
#define XML_COLUMN_NOW XML_GetCurrentColumnNumber
#endif

enum { XML_ELEMENTS_MAX = 20000, XML_DEPTH_MAX = 64 };

struct xml_attribute {
    const char *name, *value;
    const struct xml_attribute *next;
};
struct xml_element {
    const char *name;
    struct config_place place;
    uint32_t number; /* in the order of the text, from 0 on */
    const struct xml_attribute *attributes;
    const struct xml_element *parent;
    struct xml_element *first, *next;
};

/* The tree, in the loader's scratch memory; NULL, with an error reported or without memory. *count:
 * the elements. */
const struct xml_element *xml_parse(struct config_loader *loader, uint32_t source, const char *text,
                                    size_t bytes, uint32_t *count);
/* The value of an attribute; NULL: there is none. */
const char *xml_attribute(const struct xml_element *element, const char *name);
/* The element after this one in the order of the text; NULL: it is the last. */
const struct xml_element *xml_after(const struct xml_element *element);

#endif
