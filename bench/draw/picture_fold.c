/*
 * picture_fold.c: joins runs of SIPs into boxes. Dimensions are folded in order, each completely
 * before the next, so a box is a run of SIPs without gaps, and neighbours stay neighbours.
 */
#include "bench/draw/picture_fold.h"

#include <stdio.h>
#include <stdlib.h>

/* For each dimension: the SIPs in one box, and the boxes. */
struct folding {
    const struct picture *picture;
    uint32_t fold[HW_SIP_DIMS_MAX], size[HW_SIP_DIMS_MAX];
    uint32_t boxes;
    uint32_t switch_fold; /* switches in one box */
};

static uint32_t rounded_up(uint32_t count, uint32_t each) { return (count + each - 1) / each; }

static void fold_dim(struct folding *f, uint32_t k, uint32_t fold)
{
    f->fold[k] = fold;
    f->size[k] = rounded_up(f->picture->dim[k].size, fold);
    f->boxes = 1;
    for (uint32_t i = 0; i < f->picture->dim_count; i++)
        f->boxes *= f->size[i];
}

static struct folding folding_of(const struct picture *picture, uint32_t boxes)
{
    struct folding f = {.picture = picture, .switch_fold = 1};
    for (uint32_t k = 0; k < picture->dim_count; k++)
        f.fold[k] = f.size[k] = 1;
    for (uint32_t k = 0; k < picture->dim_count; k++)
        fold_dim(&f, k, 1);
    if (!picture_is_product(picture)) {
        if (f.boxes > boxes)
            fold_dim(&f, 0, rounded_up(f.boxes, boxes));
        if (picture->switch_count > boxes)
            f.switch_fold = rounded_up(picture->switch_count, boxes);
    }
    for (uint32_t k = 0; k < picture->dim_count && f.boxes > boxes;)
        if (f.size[k] > 1)
            fold_dim(&f, k, 2 * f.fold[k]);
        else
            k++;
    return f;
}

static uint32_t box_of(const struct folding *f, uint32_t sip)
{
    uint32_t box = 0, stride = 1;
    for (uint32_t k = 0; k < f->picture->dim_count; k++) {
        box += sip % f->picture->dim[k].size / f->fold[k] * stride;
        sip /= f->picture->dim[k].size;
        stride *= f->size[k];
    }
    return box;
}

static void fold_cubes(const struct folding *f, struct picture *folded)
{
    const uint32_t cubes = f->picture->cube_w * f->picture->cube_h;
    const uint32_t kept = folded->cube_w * folded->cube_h;
    for (uint32_t sip = 0; sip < f->picture->sip_count; sip++)
        for (uint32_t cube = 0; cube < cubes; cube++) {
            const struct picture_cube *const one = &f->picture->cubes[sip * cubes + cube];
            struct picture_cube *const sum = &folded->cubes[box_of(f, sip) * kept + cube % kept];
            sum->work_ps = one->work_ps > sum->work_ps ? one->work_ps : sum->work_ps;
            sum->end_ps = one->end_ps > sum->end_ps ? one->end_ps : sum->end_ps;
        }
}

static int by_boxes(const void *left, const void *right)
{
    const struct picture_link *const a = left, *const b = right;
    const int order = picture_link_compare(a, b);
    if (order != 0)
        return order;
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : a->failed - b->failed;
}

/* Links in order: equal links become one. */
static void merge_links(struct picture *folded)
{
    size_t kept = 0;
    for (size_t i = 0; i < folded->link_count; i++) {
        const struct picture_link more = folded->links[i];
        if (kept == 0 || by_boxes(&folded->links[kept - 1], &more) != 0) {
            folded->links[kept++] = more;
            continue;
        }
        struct picture_link *const sum = &folded->links[kept - 1];
        sum->count += more.count;
        sum->bytes += more.bytes;
        sum->busy_ps = more.busy_ps > sum->busy_ps ? more.busy_ps : sum->busy_ps;
        sum->queue_ps = more.queue_ps > sum->queue_ps ? more.queue_ps : sum->queue_ps;
    }
    folded->link_count = kept;
}

/* Ends of links inside a SIP stay: they are there only where nothing is folded. */
static uint32_t end_of(const struct folding *f, uint32_t node)
{
    if ((node & PICTURE_CUBE_BIT) != 0)
        return node;
    return picture_is_sip(node) ? box_of(f, node)
                                : picture_switch(picture_number(node) / f->switch_fold);
}

static void fold_links(const struct folding *f, struct picture *folded)
{
    const bool apart = f->boxes == f->picture->sip_count;
    for (size_t i = 0; i < f->picture->link_count; i++) {
        struct picture_link link = f->picture->links[i];
        if (link.side != HW_PORT_NONE && !apart)
            continue;
        link.from = end_of(f, link.from);
        link.to = end_of(f, link.to);
        link.outlet = 0;
        folded->links[folded->link_count++] = link;
    }
    if (folded->link_count > 0)
        qsort(folded->links, folded->link_count, sizeof *folded->links, by_boxes);
    merge_links(folded);
}

static struct picture *fold_into(const struct picture *picture, uint32_t boxes,
                                 struct cw_error *error)
{
    const struct folding f = folding_of(picture, boxes);
    const bool apart = f.boxes == picture->sip_count;
    struct picture *const folded = calloc(1, sizeof *folded);
    if (folded == NULL) {
        (void)cw_error_memory(error, "the drawing");
        return NULL;
    }
    *folded = *picture;
    folded->sip_count = f.boxes;
    folded->link_count = 0;
    if (f.switch_fold > 1) {
        folded->switch_count = rounded_up(picture->switch_count, f.switch_fold);
        folded->switch_fold = f.switch_fold;
    }
    for (uint32_t k = 0; k < picture->dim_count; k++)
        folded->dim[k].size = f.size[k];
    if (!apart)
        folded->cube_w = folded->cube_h = 1;
    folded->paired = picture->paired && f.fold[0] == 1;
    const size_t cubes = (size_t)f.boxes * folded->cube_w * folded->cube_h;
    folded->links = calloc(picture->link_count + 1, sizeof *folded->links);
    folded->cubes = picture->cubes == NULL ? NULL : calloc(cubes + 1, sizeof *folded->cubes);
    folded->first_sip = apart ? NULL : calloc(f.boxes + 1, sizeof *folded->first_sip);
    if (folded->links == NULL || (picture->cubes != NULL && folded->cubes == NULL) ||
        (!apart && folded->first_sip == NULL)) {
        (void)cw_error_memory(error, "the drawing");
        picture_free(folded);
        return NULL;
    }
    for (uint32_t sip = picture->sip_count; !apart && sip-- > 0;)
        folded->first_sip[box_of(&f, sip)] = sip;
    if (folded->cubes != NULL)
        fold_cubes(&f, folded);
    fold_links(&f, folded);
    return folded;
}

struct picture *picture_fold(const struct picture *picture, uint32_t boxes, size_t lines,
                             struct cw_error *error)
{
    struct picture *folded = fold_into(picture, boxes, error);
    while (folded != NULL && !picture_is_product(picture) && boxes / 2 >= FOLD_BOXES_MIN &&
           picture_lines(folded) > lines) {
        picture_free(folded);
        folded = fold_into(picture, boxes /= 2, error);
    }
    return folded;
}

size_t picture_lines(const struct picture *picture)
{
    size_t lines = 0;
    for (size_t i = 0; i < picture->link_count; i++)
        lines += picture->links[i].side == HW_PORT_NONE &&
                 picture->links[i].from != picture->links[i].to;
    return lines;
}

const char *picture_switch_name(const struct picture *picture, uint32_t box,
                                char text[PICTURE_NODE_BYTES])
{
    const uint32_t each = picture->switch_fold > 0 ? picture->switch_fold : 1;
    const uint32_t first = box * each, end = first + each;
    if (each == 1)
        snprintf(text, PICTURE_NODE_BYTES, "x%u", first);
    else
        snprintf(text, PICTURE_NODE_BYTES, "x%u-%u", first,
                 (end < picture->all_switches ? end : picture->all_switches) - 1);
    return text;
}

const char *picture_box_name(const struct picture *picture, uint32_t box,
                             char text[PICTURE_NODE_BYTES])
{
    const uint32_t first = picture->first_sip == NULL ? box : picture->first_sip[box];
    const uint32_t end = picture->first_sip == NULL     ? box + 1
                         : box + 1 < picture->sip_count ? picture->first_sip[box + 1]
                                                        : picture->unfolded;
    if (first + 1 == end)
        snprintf(text, PICTURE_NODE_BYTES, "%u", first);
    else
        snprintf(text, PICTURE_NODE_BYTES, "%u-%u", first, end - 1);
    return text;
}

const char *picture_switch_label(const struct picture *picture, uint32_t box,
                                 char text[PICTURE_LABEL_BYTES])
{
    char name[PICTURE_NODE_BYTES];
    uint32_t number = box;
    for (uint32_t kind = 0; picture->switch_fold <= 1 && kind < picture->switch_kind_count;
         kind++) {
        const struct picture_switches *const of = &picture->switch_kind[kind];
        if (number < of->count) {
            if (of->count == 1)
                snprintf(text, PICTURE_LABEL_BYTES, "%s", of->name);
            else
                snprintf(text, PICTURE_LABEL_BYTES, "%s.%u", of->name, number);
            return text;
        }
        number -= of->count;
    }
    snprintf(text, PICTURE_LABEL_BYTES, "%s", picture_switch_name(picture, box, name));
    return text;
}
