/*
 * compare_documents.c: pairs the rows of two results, and measures their differences
 * (compare_documents.h).
 */
#include "bench/result/compare_documents.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures --------------------------------------------------------------------------------- */

double compared_row_percent(const struct compared_row *row)
{
    if (row->why != NULL || row->a_ps == row->b_ps)
        return 0;
    if (row->a_ps == 0)
        return INFINITY;
    return 100 * ((double)row->b_ps / (double)row->a_ps - 1);
}

/* Whether b differs from a by more than this percentage of `whole`. */
static bool beyond(double a, double b, double whole, double tolerance_percent)
{
    return a != b && 100 * fabs(b - a) > tolerance_percent * whole;
}

/* The part of that name, which is added if there is room. NULL: there is none. */
static struct compared_part *part_of(struct compared_part *parts, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strncmp(parts[i].name, name, sizeof parts[i].name - 1) == 0)
            return &parts[i];
    if (*count == COMPARED_PARTS_MAX)
        return NULL;
    struct compared_part *const part = &parts[(*count)++];
    *part = (struct compared_part){.a = 0};
    snprintf(part->name, sizeof part->name, "%s", name);
    return part;
}

/* Adds a figure to one side of the part of that name; an unknown one is 0. */
static void add_part(struct compared_part *parts, size_t *count, bool is_b, const char *name,
                     double figure, double busy)
{
    struct compared_part *const part = part_of(parts, count, name);
    if (part == NULL)
        return;
    *(is_b ? &part->b : &part->a) += isnan(figure) ? 0 : figure;
    *(is_b ? &part->busy_b : &part->busy_a) = isnan(busy) ? 0 : busy;
}

static void add_parts(struct compared_row *row, bool is_b)
{
    const struct document_row *const side = is_b ? row->b : row->a;
    for (size_t i = 0; i < side->phase_count; i++)
        add_part(row->phases, &row->phase_count, is_b, side->phases[i].name,
                 side->phases[i].mean_ns, 0);
    for (size_t i = 0; i < side->kind_count; i++)
        add_part(row->kinds, &row->kind_count, is_b, side->kinds[i].kind, side->kinds[i].bytes,
                 side->kinds[i].busy);
}

static void compare_parts(struct compared_row *row, double tolerance_percent)
{
    const double time_ns = (double)row->a_ps / 1000;
    add_parts(row, false);
    add_parts(row, true);
    for (size_t i = 0; i < row->phase_count; i++) {
        struct compared_part *const phase = &row->phases[i];
        phase->differs = beyond(phase->a, phase->b, time_ns, tolerance_percent);
        row->differs |= phase->differs;
    }
    for (size_t i = 0; i < row->kind_count; i++) {
        struct compared_part *const kind = &row->kinds[i];
        kind->differs = beyond(kind->a, kind->b, kind->a, tolerance_percent);
        row->differs |= kind->differs;
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Why a row's figures mean nothing; NULL: they do. */
static const char *no_figures(const struct compared_row *row)
{
    if (row->b == NULL)
        return "not in B";
    if (row->a == NULL)
        return "not in A";
    const bool runs_a = row->a->not_run == NULL, runs_b = row->b->not_run == NULL;
    return !runs_a && !runs_b ? "not run in A and B"
           : !runs_a          ? "not run in A"
           : !runs_b          ? "not run in B"
                              : NULL;
}

/* What is wrong with the data of b alone, the worst first; NULL: nothing. */
static const char *new_flaw(const struct document_row *a, const struct document_row *b)
{
    return b->wrong > 0 && a->wrong <= 0                 ? "WRONG DATA"
           : b->ranks_differ > 0 && a->ranks_differ <= 0 ? "RANKS DIFFER"
           : b->not_finite > 0 && a->not_finite <= 0     ? "NOT FINITE"
                                                         : NULL;
}

static void compare_row(struct comparison_of_documents *comparison, const struct document_row *a,
                        const struct document_row *b, bool same_input)
{
    struct compared_row *const row = &comparison->rows[comparison->row_count++];
    *row = (struct compared_row){
        .a = a, .b = b, .size = document_row_size(a != NULL ? a : b, comparison->per_rank)};
    row->a_ps = a != NULL ? document_row_time_ps(a) : 0;
    row->b_ps = b != NULL ? document_row_time_ps(b) : 0;
    row->why = no_figures(row);
    if (row->why != NULL) {
        row->differs = a == NULL   ? !comparison->a_is_cut
                       : b == NULL ? true
                                   : !document_text_same(a->not_run, b->not_run);
    } else {
        const double tolerance = comparison->tolerance_percent;
        const double percent = compared_row_percent(row);
        row->differs = beyond((double)row->a_ps, (double)row->b_ps, (double)row->a_ps, tolerance);
        row->hash_differs = same_input && !document_text_same(a->data_hash, b->data_hash);
        row->flaw = new_flaw(a, b);
        row->differs |= row->hash_differs || row->flaw != NULL;
        compare_parts(row, tolerance);
        if (fabs(percent) > fabs(comparison->largest_percent))
            comparison->largest_percent = percent;
    }
    comparison->differing += row->differs;
}

/* The row of the other result that stands for the i-th of this one: of equal ones the one with as
 * many before it. */
static const struct document_row *counterpart(const struct result_document *document, size_t i,
                                              const struct result_document *other, bool per_rank)
{
    const struct document_row *const rows = document->rows;
    const int64_t size = document_row_size(&rows[i], per_rank);
    size_t before = 0;
    for (size_t k = 0; k < i; k++)
        before += document_row_size(&rows[k], per_rank) == size &&
                  document_text_same(rows[k].collective, rows[i].collective);
    return result_document_row(other, rows[i].collective, size, per_rank, before);
}

static bool has_placements(const struct result_document *document)
{
    for (size_t i = 0; i < document->row_count; i++)
        if (document->rows[i].placement != NULL)
            return true;
    return false;
}

static bool sizes_are_ranks(const struct result_document *a, const struct result_document *b)
{
    size_t common[2] = {0};
    for (size_t i = 0; i < a->row_count; i++)
        for (int per_rank = 0; per_rank < 2; per_rank++)
            common[per_rank] += counterpart(a, i, b, per_rank) != NULL;
    return has_placements(a) || has_placements(b) || common[1] > common[0];
}

/* Whether the two should have the same bits. */
static bool have_same_input(const struct result_document *a, const struct result_document *b)
{
    return document_text_same(a->config_digest, b->config_digest) && a->has_seed == b->has_seed &&
           a->seed == b->seed && document_text_same(a->input, b->input) &&
           document_text_same(a->bench, b->bench);
}

static void compare_rows(const struct result_document *a, const struct result_document *b,
                         struct comparison_of_documents *comparison)
{
    const bool same_input = have_same_input(a, b);
    comparison->per_rank = sizes_are_ranks(a, b);
    for (size_t i = 0; i < a->row_count; i++) {
        const struct document_row *const row = &a->rows[i];
        const struct document_row *const other = counterpart(a, i, b, comparison->per_rank);
        compare_row(comparison, row, other,
                    same_input && other != NULL && document_text_same(row->dtype, other->dtype) &&
                        document_text_same(row->redop, other->redop));
    }
    for (size_t i = 0; i < b->row_count; i++)
        if (counterpart(b, i, a, comparison->per_rank) == NULL)
            compare_row(comparison, NULL, &b->rows[i], false);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void add_difference(struct comparison_of_documents *comparison, const char *key,
                           const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        comparison->values[comparison->value_count++] = (struct compared_value){key, a, b};
}

/* The text of a value that one of two results has changed: NULL in JSON is a value that is taken
 * away. The other result of the same program names the shipped value. */
static const char *changed_text(const struct result_document *document,
                                const struct result_document *other, const char *key)
{
    const json_t *const changed = json_object_get(document->provenance, "changed");
    const json_t *value = json_object_get(changed, key);
    if (value == NULL && strcmp(result_document_provenance(document, "commit"),
                                result_document_provenance(other, "commit")) == 0)
        value = json_object_get(json_object_get(other->provenance, "shipped"), key);
    return value == NULL ? "as shipped" : json_is_string(value) ? json_string_value(value) : "none";
}

static const char *text_or_none(const char *text) { return text != NULL ? text : "none"; }

static void compare_values(const struct result_document *a, const struct result_document *b,
                           struct comparison_of_documents *comparison)
{
    static const struct document_row no_row;
    const struct document_row *const row_a = a->row_count > 0 ? a->rows : &no_row;
    const struct document_row *const row_b = b->row_count > 0 ? b->rows : &no_row;
    const struct {
        const char *key, *a, *b;
    } texts[] = {{"version", a->version, b->version},       {"bench", a->bench, b->bench},
                 {"algorithm", a->algorithm, b->algorithm}, {"input", a->input, b->input},
                 {"dtype", row_a->dtype, row_b->dtype},     {"redop", row_a->redop, row_b->redop}};
    const json_t *const changed_a = json_object_get(a->provenance, "changed");
    const json_t *const changed_b = json_object_get(b->provenance, "changed");
    const char *key;
    json_t *value;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_difference(comparison, texts[i].key, text_or_none(texts[i].a),
                       text_or_none(texts[i].b));
    snprintf(comparison->seeds[0], sizeof comparison->seeds[0], "%" PRIu64, (uint64_t)a->seed);
    snprintf(comparison->seeds[1], sizeof comparison->seeds[1], "%" PRIu64, (uint64_t)b->seed);
    add_difference(comparison, "seed", comparison->seeds[0], comparison->seeds[1]);
    add_difference(comparison, "commit", result_document_provenance(a, "commit"),
                   result_document_provenance(b, "commit"));
    json_object_foreach((json_t *)(uintptr_t)changed_a, key, value)
    {
        add_difference(comparison, key, changed_text(a, b, key), changed_text(b, a, key));
    }
    json_object_foreach((json_t *)(uintptr_t)changed_b, key, value)
    {
        if (json_object_get(changed_a, key) == NULL)
            add_difference(comparison, key, changed_text(a, b, key), changed_text(b, a, key));
    }
    add_difference(comparison, "configuration's digest", text_or_none(a->config_digest),
                   text_or_none(b->config_digest));
}

int compare_documents(const struct result_document *a, const struct result_document *b,
                      double tolerance_percent, struct comparison_of_documents *comparison,
                      struct cw_error *error)
{
    enum { HEAD_VALUES = 16 };
    const size_t values = HEAD_VALUES +
                          json_object_size(json_object_get(a->provenance, "changed")) +
                          json_object_size(json_object_get(b->provenance, "changed"));
    *comparison = (struct comparison_of_documents){
        .tolerance_percent = tolerance_percent,
        .a_is_cut = a->interrupted || a->failure != NULL,
        .rows = calloc(a->row_count + b->row_count + 1, sizeof *comparison->rows),
        .values = calloc(values, sizeof *comparison->values)};
    if (comparison->rows == NULL || comparison->values == NULL) {
        comparison_of_documents_free(comparison);
        return cw_error_memory(error, "the comparison");
    }
    compare_rows(a, b, comparison);
    compare_values(a, b, comparison);
    return CW_OK;
}

void comparison_of_documents_free(struct comparison_of_documents *comparison)
{
    free(comparison->rows);
    free(comparison->values);
    *comparison = (struct comparison_of_documents){.tolerance_percent = 0};
}
