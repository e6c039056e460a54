/*
 * timeline_links.c: writes the tracks of links (timeline_links.h). Tracks have the numbers from
 * LINK_TRACKS on, in the order in which links are first in use.
 */
#include "bench/trace/timeline_links.h"

#include <Judy.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lp/host/link_use.h"

enum { LINK_TRACKS = 1 << 30, LINK_NAME_BYTES = 160 };

/* A track of a link. */
struct link_track {
    struct link_track *next;
    int64_t free_ps; /* the end of its last slice */
    uint32_t tid;
};

struct timeline_links {
    const struct lp_model *model;
    Pvoid_t tracks;       /* JudyL: a link to its first track */
    Pvoid_t switch_named; /* Judy1 */
    uint32_t next_tid;
};

struct timeline_links *timeline_links_create(const struct lp_model *model)
{
    struct timeline_links *const links = calloc(1, sizeof *links);
    if (links != NULL) {
        links->model = model;
        links->next_tid = LINK_TRACKS;
    }
    return links;
}

void timeline_links_free(struct timeline_links *links)
{
    Word_t key = 0;
    PWord_t first;
    if (links == NULL)
        return;
    JLF(first, links->tracks, key);
    while (first != NULL) {
        struct link_track *track = (struct link_track *)*first;
        while (track != NULL) {
            struct link_track *const next = track->next;
            free(track);
            track = next;
        }
        JLN(first, links->tracks, key);
    }
    (void)JudyLFreeArray(&links->tracks, PJE0);
    (void)Judy1FreeArray(&links->switch_named, PJE0);
    free(links);
}

/* Whether the link's owner is asked for: a cube that has a PE which is, an IO die whose SIP has
 * one, a switch if nothing is left out. */
static bool is_asked_for(const struct timeline_links *links, const struct timeline_filter *filter,
                         uint32_t lp)
{
    const struct lp_model *const m = links->model;
    if (filter->places == 0 || lp >= m->lps.first_switch)
        return filter->places == 0;
    const bool is_cube = lp < m->lps.first_io_die;
    const uint32_t sip = is_cube ? (lp - 1) / m->cubes : lp - m->lps.first_io_die;
    const uint32_t cube = is_cube ? (lp - 1) % m->cubes : 0;
    for (size_t i = 0; i < filter->places; i++) {
        const struct filter_place *const one = &filter->place[i];
        if (one->first[0] <= sip && sip <= one->last[0] &&
            (!is_cube || (one->first[1] <= cube && cube <= one->last[1])))
            return true;
    }
    return false;
}

/* The process of a link: its SIP's, or its switch's, which comes after the one of the calls. */
static uint32_t process_of(const struct timeline_links *links, uint32_t lp)
{
    const struct lp_model *const m = links->model;
    return lp >= m->lps.first_switch   ? m->hw.sip_count + 1 + (lp - m->lps.first_switch)
           : lp >= m->lps.first_io_die ? lp - m->lps.first_io_die
                                       : (lp - 1) / m->cubes;
}

static void name_link_track(struct timeline_links *links, FILE *out,
                            const struct lp_crossed *crossed, uint32_t tid)
{
    const struct lp_model *const m = links->model;
    const uint32_t pid = process_of(links, crossed->lp);
    char name[LINK_NAME_BYTES], at[HW_SWITCH_TEXT_BYTES];
    int is_new = 0;
    if (crossed->lp >= m->lps.first_switch)
        J1S(is_new, links->switch_named, pid);
    if (is_new == 1)
        fprintf(out,
                ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu32
                ",\"args\":{\"name\":\"%s\"}}",
                pid, hw_switch_text(&m->hw, crossed->lp - m->lps.first_switch, at));
    lp_link_name_of(m, crossed->lp, crossed->index, name, sizeof name);
    fprintf(out,
            ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"args\":{\"name\":\"%s%s\"}}",
            pid, tid, name, strstr(name, " pe_noc ") != NULL ? ", PE_DMA" : "");
}

/* The link's first track that is free at this time. NULL: no memory. */
static struct link_track *take_link_track(struct timeline_links *links, FILE *out,
                                          const struct lp_crossed *crossed, int64_t begin_ps)
{
    PWord_t first;
    const Word_t key = (Word_t)crossed->lp << 32 | crossed->index;
    JLI(first, links->tracks, key);
    if (first == PJERR)
        return NULL;
    struct link_track *track = (struct link_track *)*first, *last = NULL;
    for (; track != NULL && track->free_ps > begin_ps; track = track->next)
        last = track;
    if (track != NULL)
        return track;
    track = calloc(1, sizeof *track);
    if (track == NULL)
        return NULL;
    track->tid = links->next_tid++;
    if (last != NULL)
        last->next = track;
    else
        *first = (Word_t)track;
    name_link_track(links, out, crossed, track->tid);
    return track;
}

bool timeline_links_crossed(struct timeline_links *links, FILE *out,
                            const struct timeline_filter *filter, const struct lp_crossed *crossed)
{
    const int64_t whole_ps = crossed->end_ps - crossed->busy_ps;
    const int64_t begin_ps = whole_ps > filter->from_ps ? whole_ps : filter->from_ps;
    const int64_t end_ps = crossed->end_ps < filter->to_ps ? crossed->end_ps : filter->to_ps;
    if (begin_ps >= end_ps || !is_asked_for(links, filter, crossed->lp))
        return true;
    struct link_track *const track = take_link_track(links, out, crossed, begin_ps);
    if (track == NULL)
        return false;
    const int64_t ps = end_ps - begin_ps;
    track->free_ps = end_ps;
    fprintf(out,
            ",\n{\"ph\":\"X\",\"dur\":%" PRId64 ".%06" PRId64 ",\"name\":\"%" PRIu32
            " bytes\",\"tid\":%" PRIu32 ",\"ts\":%" PRId64 ".%06" PRId64 "1,\"pid\":%" PRIu32 "}",
            ps / 1000000, ps % 1000000, crossed->bytes, track->tid, begin_ps / 1000000,
            begin_ps % 1000000, process_of(links, crossed->lp));
    return true;
}
