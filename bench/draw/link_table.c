/*
 * link_table.c: gathers the use of links and PEs, joins equal ones, and writes them as JSON or CSV.
 */
#include "bench/draw/link_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/draw/place_text.h"
#include "hw/topology/broken.h"

/* The figures of a link or a PE; equal ones are joined. */
enum link_figure {
    FIGURE_BYTES, /* of a PE: sent */
    FIGURE_BUSY,  /* of a PE: at work */
    FIGURE_QUEUE,
    FIGURE_RECEIVED,
    FIGURE_RECEIVING,
    FIGURE_SENDING,
    FIGURE_START,
    FIGURE_END,
    LINK_FIGURES
};

struct table_entry {
    bool is_pe;
    uint8_t group, port; /* enum lp_links, enum hw_port */
    uint32_t unit, number;
    const char *kind; /* as struct lp_link_use has it; "pe" */
    char name[48];
    struct place_of place;
    uint8_t parts;       /* of the place */
    uint32_t alike, run; /* links or PEs that it stands for; SIPs, from its place on */
    int64_t figure[LINK_FIGURES];
    const int64_t *bins; /* [USE_BINS], of struct machine_use */
};

/* Equal links, or PEs. */
struct table_row {
    struct table_entry like; /* without bins */
    int64_t bins[USE_BINS];
    char *at; /* the places */
    uint32_t count;
};

struct table_size {
    char collective[32], algorithm[64];
    uint64_t bytes;
    int64_t time_ps, bin_ps;
    struct table_row *rows;
    size_t row_count;
};

struct link_table {
    struct table_size *sizes;
    size_t size_count;
};

struct link_table *link_table_create(void) { return calloc(1, sizeof(struct link_table)); }

void link_table_free(struct link_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->size_count; i++) {
        for (size_t k = 0; k < table->sizes[i].row_count; k++)
            free(table->sizes[i].rows[k].at);
        free(table->sizes[i].rows);
    }
    free(table->sizes);
    free(table);
}

/* ---- gathering ------------------------------------------------------------------------------- */

struct table_filling {
    const struct lp_model *model;
    const struct machine_use *use;
    /* Of a machine of more SIPs than unfolded ones have: an entry is one of a representative, and
     * stands for all that are alike. NULL: entries are of the whole machine. */
    const struct hw_fold *classes;
    struct table_entry *entries;
    size_t count, room;
    bool failed;
};

static const int64_t no_bins[USE_BINS];

static struct table_entry *next_entry(struct table_filling *f)
{
    if (f->count == f->room) {
        f->room = f->room == 0 ? 1024 : 2 * f->room;
        struct table_entry *const more = realloc(f->entries, f->room * sizeof *more);
        if (more == NULL) {
            f->failed = true;
            f->room = f->count;
            return NULL;
        }
        f->entries = more;
    }
    struct table_entry *const entry = &f->entries[f->count++];
    memset(entry, 0, sizeof *entry);
    entry->alike = entry->run = 1;
    return entry;
}

static void fill_link(struct table_filling *f, const struct lp_link_use *link)
{
    struct table_entry *const entry = f->failed ? NULL : next_entry(f);
    if (entry == NULL)
        return;
    entry->group = (uint8_t)link->group;
    entry->port = (uint8_t)link->port;
    entry->unit = link->unit;
    entry->number = link->number;
    entry->kind = link->kind;
    lp_link_own_name(link, entry->name, sizeof entry->name);
    entry->parts = (uint8_t)(link->cube != UINT32_MAX ? 2 : 1);
    entry->place.part[0] = link->sip;
    entry->place.part[1] = link->cube != UINT32_MAX ? link->cube : 0;
    entry->figure[FIGURE_BYTES] = (int64_t)link->bytes;
    entry->figure[FIGURE_BUSY] = link->busy_ps;
    entry->figure[FIGURE_QUEUE] = link->queue_ps_max;
    const int64_t *const bins = machine_use_link(f->use, link->lp, link->index);
    entry->bins = bins != NULL ? bins : no_bins;
}

/* The switches of one dimension, of which `number` is one. */
static uint32_t switches_like(const struct hw_fold *fold, uint32_t number)
{
    for (uint32_t k = 0; k < fold->dims.count; k++) {
        const struct hw_sip_dim *const dim = &fold->dims.at[k];
        const uint32_t count = dim->joint == HW_SIP_SWITCH ? fold->of / dim->size : 0;
        if (number < count)
            return count;
        number -= count;
    }
    return 1;
}

/* All links that a representative's stands for, in one entry. Where one SIP stands for all, the
 * entry names them all. */
static void fill_class(struct table_filling *f, const struct lp_link_use *link)
{
    const size_t before = f->count;
    fill_link(f, link);
    if (f->count == before)
        return;
    struct table_entry *const entry = &f->entries[before];
    const size_t used = strlen(entry->name);
    const bool to_sips = link->group == LP_LINKS_TO_SIP;
    entry->alike = link->alike;
    if (f->classes->sips > 1)
        return;
    entry->run = to_sips ? switches_like(f->classes, link->sip) : f->classes->of;
    if (to_sips)
        snprintf(entry->name + used, sizeof entry->name - used, "-%" PRIu32, f->classes->of - 1);
}

static void fill_links(void *arg, const struct lp_link_use *link)
{
    struct table_filling *const f = arg;
    if (f->classes != NULL) {
        fill_class(f, link);
        return;
    }
    if (link->alike == 1) {
        fill_link(f, link);
        return;
    }
    for (uint32_t k = 0; k < link->alike; k++) {
        char place[LP_LINK_PLACE_BYTES];
        const struct lp_link_use member = lp_link_member(f->model, link, k, place);
        fill_link(f, &member);
    }
}

static void fill_pes(struct table_filling *f)
{
    const struct hw_fold *const classes = f->classes;
    const uint32_t pes = (uint32_t)hw_pe_count(&f->model->hw),
                   of_sip = pes / f->model->hw.sip_count;
    for (uint32_t i = 0; i < (classes != NULL ? classes->sips * of_sip : pes) && !f->failed; i++) {
        const uint32_t pe =
            classes != NULL ? hw_fold_sip(classes, i / of_sip) * of_sip + i % of_sip : i;
        const struct pe_use *const use = machine_use_pe(f->use, pe);
        struct table_entry *const entry = use->bins == NULL ? NULL : next_entry(f);
        if (entry == NULL)
            continue;
        const struct hw_place place = hw_place_of(&f->model->hw, pe);
        entry->is_pe = true;
        entry->alike = classes != NULL ? hw_fold_alike(classes) : 1;
        entry->run = classes != NULL && classes->sips == 1 ? classes->of : 1;
        entry->kind = "pe";
        entry->parts = 3;
        entry->place = (struct place_of){{place.sip, place.cube, place.pe}};
        entry->figure[FIGURE_BYTES] = (int64_t)use->sent_bytes;
        entry->figure[FIGURE_BUSY] = use->work_ps;
        entry->figure[FIGURE_RECEIVED] = (int64_t)use->received_bytes;
        entry->figure[FIGURE_RECEIVING] = use->recv_ps;
        entry->figure[FIGURE_SENDING] = use->send_ps;
        entry->figure[FIGURE_START] = use->start_ps;
        entry->figure[FIGURE_END] = use->end_ps;
        entry->bins = use->bins;
    }
}

/* ---- equal ones ------------------------------------------------------------------------------ */

static int compare_i64(const int64_t *a, const int64_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* PEs after links; the busiest first; then by name; then equal ones together. */
static int by_likeness(const struct table_entry *a, const struct table_entry *b)
{
    const int64_t x[] = {a->is_pe, -a->figure[FIGURE_BUSY], a->group, a->unit, a->port, a->number};
    const int64_t y[] = {b->is_pe, -b->figure[FIGURE_BUSY], b->group, b->unit, b->port, b->number};
    const int first = compare_i64(x, y, sizeof x / sizeof *x);
    if (first != 0)
        return first;
    const int names = strcmp(a->name, b->name);
    if (names != 0)
        return names;
    const int figures = compare_i64(a->figure, b->figure, LINK_FIGURES);
    return figures != 0 ? figures : compare_i64(a->bins, b->bins, USE_BINS);
}

static int by_likeness_and_place(const void *left, const void *right)
{
    const struct table_entry *const a = left, *const b = right;
    const int like = by_likeness(a, b);
    return like != 0 ? like : place_compare(&a->place, &b->place);
}

static bool fold_rows(struct table_size *size, const struct table_filling *f)
{
    struct place_of *const places = calloc(f->count + 1, sizeof *places);
    size->rows = calloc(f->count + 1, sizeof *size->rows);
    bool fine = places != NULL && size->rows != NULL;
    for (size_t i = 0, end; fine && i < f->count; i = end) {
        struct table_row *const row = &size->rows[size->row_count];
        for (end = i; end < f->count && by_likeness(&f->entries[i], &f->entries[end]) == 0; end++) {
            places[end - i] = f->entries[end].place;
            row->count += f->entries[end].alike;
        }
        row->like = f->entries[i];
        row->like.bins = NULL;
        memcpy(row->bins, f->entries[i].bins, sizeof row->bins);
        row->at = place_text(places, end - i, row->like.parts,
                             row->like.group == LP_LINKS_TO_SIP && !row->like.is_pe ? "x" : "",
                             row->like.run);
        fine = row->at != NULL;
        size->row_count += fine;
    }
    free(places);
    return fine;
}

int link_table_add(struct link_table *table, const struct link_table_head *head,
                   const struct lp_system *system, struct machine_use *use, struct cw_error *error)
{
    const struct lp_model *const model = lp_system_model(system);
    const bool is_large = model->hw.sip_count > HW_UNFOLDED_SIPS_MAX;
    struct table_filling f = {.model = model, .use = use, .classes = is_large ? model->fold : NULL};
    struct table_size *const more =
        realloc(table->sizes, (table->size_count + 1) * sizeof *table->sizes);
    if (more != NULL)
        table->sizes = more;
    if (more == NULL || !machine_use_finish(use))
        return cw_error_memory(error, "the table of links");
    struct table_size *const size = &more[table->size_count++];
    *size = (struct table_size){
        .bytes = head->bytes, .time_ps = head->time_ps, .bin_ps = machine_use_bin_ps(use)};
    snprintf(size->collective, sizeof size->collective, "%s", head->collective);
    snprintf(size->algorithm, sizeof size->algorithm, "%s", head->algorithm);
    lp_system_visit_links(system, (struct lp_machine_part){.parts = 1}, fill_links, &f);
    fill_pes(&f);
    if (f.count > 0)
        qsort(f.entries, f.count, sizeof *f.entries, by_likeness_and_place);
    const bool fine = !f.failed && fold_rows(size, &f);
    free(f.entries);
    return fine ? CW_OK : cw_error_memory(error, "the table of links");
}

/* ---- writing --------------------------------------------------------------------------------- */

/* ns with all decimals. */
static void write_ns(FILE *out, int64_t ps)
{
    fprintf(out, "%" PRId64 ".%03" PRId64, ps / 1000, ps % 1000);
}

static void write_share(FILE *out, int64_t part_ps, int64_t all_ps)
{
    fprintf(out, "%.6f", all_ps > 0 ? (double)part_ps / (double)all_ps : 0);
}

/* Bins up to the end of the collective, at least one. */
static int bins_used(const struct table_size *size)
{
    const int64_t bins = (size->time_ps + size->bin_ps - 1) / size->bin_ps;
    return bins < 1 ? 1 : bins > USE_BINS ? USE_BINS : (int)bins;
}

/* A text inside quotes, for JSON and CSV; `quote` says how a quote is written. */
static void write_quoted(FILE *out, const char *text, const char *quote, bool json)
{
    fputc('"', out);
    for (; *text != '\0'; text++)
        if (*text == '"')
            fputs(quote, out);
        else if (json && (*text == '\\' || (unsigned char)*text < ' '))
            fprintf(out, "\\u%04x", (unsigned char)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

/* "name": time */
static void json_time(FILE *out, const char *name, int64_t ps)
{
    fprintf(out, ",\"%s\":", name);
    write_ns(out, ps);
}

static void json_row(FILE *out, const struct table_size *size, const struct table_row *row)
{
    const int64_t *const figure = row->like.figure;
    if (row->like.is_pe) {
        fprintf(out, "{\"at\":\"%s\",\"count\":%" PRIu32, row->at, row->count);
        json_time(out, "start_ns", figure[FIGURE_START]);
        json_time(out, "end_ns", figure[FIGURE_END]);
        json_time(out, "work_ns", figure[FIGURE_BUSY]);
        fputs(",\"work_share\":", out);
        write_share(out, figure[FIGURE_BUSY], size->time_ps);
        json_time(out, "receiving_ns", figure[FIGURE_RECEIVING]);
        json_time(out, "sending_ns", figure[FIGURE_SENDING]);
        fprintf(out, ",\"sent_bytes\":%" PRId64 ",\"received_bytes\":%" PRId64,
                figure[FIGURE_BYTES], figure[FIGURE_RECEIVED]);
    } else {
        fprintf(out,
                "{\"kind\":\"%s\",\"name\":\"%s\",\"at\":\"%s\",\"count\":%" PRIu32
                ",\"bytes\":%" PRId64,
                row->like.kind, row->like.name, row->at, row->count, figure[FIGURE_BYTES]);
        json_time(out, "busy_ns", figure[FIGURE_BUSY]);
        fputs(",\"busy_share\":", out);
        write_share(out, figure[FIGURE_BUSY], size->time_ps);
        json_time(out, "longest_queue_ns", figure[FIGURE_QUEUE]);
    }
    fputs(row->like.is_pe ? ",\"work_bins\":[" : ",\"busy_bins\":[", out);
    for (int i = 0; i < bins_used(size); i++) {
        fputs(i > 0 ? "," : "", out);
        write_share(out, row->bins[i], size->bin_ps);
    }
    fputs("]}", out);
}

static void json_rows(FILE *out, const struct table_size *size, bool pes)
{
    const char *gap = "\n";
    for (size_t i = 0; i < size->row_count; i++) {
        if (size->rows[i].like.is_pe != pes)
            continue;
        fputs(gap, out);
        json_row(out, size, &size->rows[i]);
        gap = ",\n";
    }
}

void link_table_json(FILE *out, const struct link_table *table)
{
    fputs("{\"schema\":\"cubewarp.links/1\",\"sizes\":[", out);
    for (size_t i = 0; i < table->size_count; i++) {
        const struct table_size *const size = &table->sizes[i];
        fputs(i > 0 ? ",\n{\"collective\":" : "\n{\"collective\":", out);
        write_quoted(out, size->collective, "\\\"", true);
        fputs(",\"algorithm\":", out);
        write_quoted(out, size->algorithm, "\\\"", true);
        fprintf(out, ",\"bytes\":%" PRIu64, size->bytes);
        json_time(out, "time_ns", size->time_ps);
        json_time(out, "bin_ns", size->bin_ps);
        fputs(",\"links\":[", out);
        json_rows(out, size, false);
        fputs("],\n\"pes\":[", out);
        json_rows(out, size, true);
        fputs("]}", out);
    }
    fputs("]}\n", out);
}

static void csv_row(FILE *out, const struct table_size *size, const struct table_row *row)
{
    const int64_t *const figure = row->like.figure;
    write_quoted(out, size->collective, "\"\"", false);
    fputc(',', out);
    write_quoted(out, size->algorithm, "\"\"", false);
    fprintf(out, ",%" PRIu64 ",", size->bytes);
    write_ns(out, size->time_ps);
    fprintf(out, ",%s,\"%s\",\"%s\",%" PRIu32 ",%" PRId64 ",", row->like.kind, row->like.name,
            row->at, row->count, figure[FIGURE_BYTES]);
    write_ns(out, figure[FIGURE_BUSY]);
    fputc(',', out);
    write_share(out, figure[FIGURE_BUSY], size->time_ps);
    for (int i = FIGURE_QUEUE; i < LINK_FIGURES; i++) {
        const bool is_shown = row->like.is_pe != (i == FIGURE_QUEUE);
        fputc(',', out);
        if (is_shown && i == FIGURE_RECEIVED)
            fprintf(out, "%" PRId64, figure[i]);
        else if (is_shown)
            write_ns(out, figure[i]);
    }
    fputc(',', out);
    write_ns(out, size->bin_ps);
    for (int i = 0; i < USE_BINS; i++) {
        fputc(',', out);
        if (i < bins_used(size))
            write_share(out, row->bins[i], size->bin_ps);
    }
    fputc('\n', out);
}

static void csv_failed(FILE *out, const struct table_size *size, const struct hw_config *hw)
{
    const struct hw_config *const whole = hw_whole(hw);
    for (uint32_t stop = 0; stop < (whole != hw ? hw_stops(hw) : 0); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(whole, stop, outlet);
            char name[HW_PART_NAME_BYTES];
            if (hop.link == HW_LINK_KINDS || hw_hop(hw, stop, outlet).link < HW_LINK_KINDS)
                continue;
            char at[HW_PART_NAME_BYTES];
            hw_outer_link_name(hw, stop, outlet, name);
            struct table_row row = {.like = {.kind = "failed"}, .count = 1, .at = at};
            snprintf(row.like.name, sizeof row.like.name, "%.47s", name);
            snprintf(at, sizeof at, "%s%" PRIu32, hw_is_switch(hw, stop) ? "x" : "",
                     hw_is_switch(hw, stop) ? stop - hw->sip_count : stop);
            csv_row(out, size, &row);
        }
}

void link_table_csv(FILE *out, const struct link_table *table, const struct hw_config *hw)
{
    fputs("collective,algorithm,bytes,time_ns,kind,name,at,count,link_bytes,busy_ns,busy_share,"
          "longest_queue_ns,received_bytes,receiving_ns,sending_ns,start_ns,end_ns,bin_ns",
          out);
    for (int i = 0; i < USE_BINS; i++)
        fprintf(out, ",bin_%d", i);
    fputc('\n', out);
    for (size_t i = 0; i < table->size_count; i++)
        for (size_t k = 0; k < table->sizes[i].row_count; k++)
            csv_row(out, &table->sizes[i], &table->sizes[i].rows[k]);
    for (size_t i = 0; i < table->size_count; i++)
        csv_failed(out, &table->sizes[i], hw);
}
