/*
 * study_compare.c: reads the points of two databases, pairs them, and walks over the pairs: once to
 * count, once to print. Results are read when their pair is reached, so that large studies take
 * little memory.
 */
#include "bench/study/study_compare.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "bench/output/report.h"
#include "bench/output/report_json.h"
#include "bench/result/compare_report.h"
#include "bench/study/study_file.h"

struct side_point {
    char *digest, *label, *state;
    int64_t id;
    bool is_paired;
};

struct side {
    const char *path;
    sqlite3 *db;
    sqlite3_stmt *result; /* of the point whose id is bound */
    char *name, *created, *version, *commit;
    int64_t planned; /* points, of this part */
    struct side_point *points;
    size_t count;
};

/* Not both NULL. */
struct point_pair {
    const struct side_point *a, *b;
    bool by_label; /* their settings differ, or a file that they name */
};

struct study_comparison {
    struct side a, b;
    double tolerance_percent;
    struct point_pair *pairs; /* A's, in order, then those that B alone has */
    size_t pair_count;
    struct cw_error *error;
    /* counted by the first walk */
    size_t cases[COMPARISON_VERDICTS];
    size_t sizes, sizes_differing, points_differing, missing, fresh, by_label;
    double largest_percent;
    const char *largest_label; /* NULL: no time has changed */
};

/* What a walk meets: a pair whose sizes can be compared, or, with `why`, one that cannot. */
struct visit {
    const struct point_pair *pair;
    const char *label;
    const struct comparison_of_documents *documents; /* NULL: see `why` */
    const char *why;
    enum comparison_verdict verdict; /* where there is a `why` */
};
typedef void (*visitor)(struct study_comparison *comparison, const struct visit *visit,
                        void *context);

/* ---- reading --------------------------------------------------------------------------------- */

static char *column_copy(sqlite3_stmt *row, int at)
{
    const char *const text = (const char *)sqlite3_column_text(row, at);
    return strdup(text != NULL ? text : "");
}

static int read_head(struct side *side, struct cw_error *error)
{
    sqlite3_stmt *row = NULL;
    int code = CW_OK;
    if (sqlite3_prepare_v2(side->db,
                           "SELECT name, created, version, commit_id, points, shard, shards"
                           " FROM study",
                           -1, &row, NULL) != SQLITE_OK ||
        sqlite3_step(row) != SQLITE_ROW) {
        code = study_file_fail(side->path, side->db, error);
    } else {
        side->name = column_copy(row, 0);
        side->created = column_copy(row, 1);
        side->version = column_copy(row, 2);
        side->commit = column_copy(row, 3);
        side->planned =
            study_file_points(sqlite3_column_int64(row, 4), sqlite3_column_int64(row, 5),
                              sqlite3_column_int64(row, 6));
        if (side->name == NULL || side->created == NULL || side->version == NULL ||
            side->commit == NULL)
            code = cw_error_memory(error, "the study");
    }
    sqlite3_finalize(row);
    return code;
}

/* False: no memory. */
static bool add_point(struct side *side, size_t *room, sqlite3_stmt *row)
{
    if (side->count == *room) {
        const size_t more = *room == 0 ? 64 : 2 * *room;
        struct side_point *const larger = realloc(side->points, more * sizeof *larger);
        if (larger == NULL)
            return false;
        side->points = larger;
        *room = more;
    }
    struct side_point *const point = &side->points[side->count++];
    *point = (struct side_point){.digest = column_copy(row, 0),
                                 .label = column_copy(row, 1),
                                 .state = column_copy(row, 2),
                                 .id = sqlite3_column_int64(row, 3)};
    return point->digest != NULL && point->label != NULL && point->state != NULL;
}

static int read_points(struct side *side, struct cw_error *error)
{
    sqlite3_stmt *row = NULL;
    size_t room = 0;
    int code = CW_OK, step = SQLITE_ERROR;
    if (sqlite3_prepare_v2(side->db, "SELECT digest, label, state, id FROM point ORDER BY ordinal",
                           -1, &row, NULL) == SQLITE_OK)
        while (code == CW_OK && (step = sqlite3_step(row)) == SQLITE_ROW)
            if (!add_point(side, &room, row))
                code = cw_error_memory(error, "the points");
    if (code == CW_OK && step != SQLITE_DONE)
        code = study_file_fail(side->path, side->db, error);
    sqlite3_finalize(row);
    return code;
}

static int read_side(struct side *side, struct cw_error *error)
{
    int code = study_file_open(side->path, &side->db, error);
    if (code == CW_OK)
        code = read_head(side, error);
    if (code == CW_OK)
        code = read_points(side, error);
    if (code == CW_OK && sqlite3_prepare_v2(side->db, "SELECT result FROM point WHERE id = ?1", -1,
                                            &side->result, NULL) != SQLITE_OK)
        code = study_file_fail(side->path, side->db, error);
    return code;
}

static void free_side(struct side *side)
{
    for (size_t i = 0; i < side->count; i++) {
        free(side->points[i].digest);
        free(side->points[i].label);
        free(side->points[i].state);
    }
    free(side->points);
    free(side->name);
    free(side->created);
    free(side->version);
    free(side->commit);
    sqlite3_finalize(side->result);
    sqlite3_close(side->db);
}

/* ---- pairing --------------------------------------------------------------------------------- */

static int compare_digests(const void *a, const void *b)
{
    const struct side_point *const *const x = a, *const *const y = b;
    return strcmp((*x)->digest, (*y)->digest);
}

static int compare_labels(const void *a, const void *b)
{
    const struct side_point *const *const x = a, *const *const y = b;
    return strcmp((*x)->label, (*y)->label);
}

/* Pairs the points of A that have no partner with those of B that have none and are equal. */
static void pair_by(struct study_comparison *comparison, struct side_point **order, bool by_label)
{
    int (*const compare)(const void *, const void *) = by_label ? compare_labels : compare_digests;
    size_t free_count = 0;
    for (size_t i = 0; i < comparison->b.count; i++)
        if (!comparison->b.points[i].is_paired)
            order[free_count++] = &comparison->b.points[i];
    if (free_count > 0)
        qsort(order, free_count, sizeof *order, compare);
    for (size_t i = 0; i < comparison->a.count && free_count > 0; i++) {
        struct point_pair *const pair = &comparison->pairs[i];
        if (pair->b != NULL)
            continue;
        struct side_point **const found =
            bsearch(&pair->a, order, free_count, sizeof *order, compare);
        if (found == NULL || (*found)->is_paired)
            continue;
        (*found)->is_paired = true;
        pair->b = *found;
        pair->by_label = by_label;
        comparison->by_label += by_label;
    }
}

static int pair_points(struct study_comparison *comparison)
{
    const size_t room = comparison->a.count + comparison->b.count + 1;
    struct side_point **const order = calloc(room, sizeof *order);
    comparison->pairs = calloc(room, sizeof *comparison->pairs);
    if (order == NULL || comparison->pairs == NULL) {
        free(order);
        return cw_error_memory(comparison->error, "the comparison");
    }
    for (size_t i = 0; i < comparison->a.count; i++)
        comparison->pairs[comparison->pair_count++].a = &comparison->a.points[i];
    pair_by(comparison, order, false);
    pair_by(comparison, order, true);
    for (size_t i = 0; i < comparison->b.count; i++)
        if (!comparison->b.points[i].is_paired)
            comparison->pairs[comparison->pair_count++].b = &comparison->b.points[i];
    free(order);
    return CW_OK;
}

/* ---- walking --------------------------------------------------------------------------------- */

/* The caller frees *document. */
static int load(const struct side *side, const struct side_point *point,
                struct result_document *document, struct cw_error *error)
{
    char name[512];
    json_error_t fault;
    snprintf(name, sizeof name, "%.200s, point %.280s", side->path, point->label);
    sqlite3_reset(side->result);
    sqlite3_bind_int64(side->result, 1, point->id);
    const int step = sqlite3_step(side->result);
    const char *const text =
        step == SQLITE_ROW ? (const char *)sqlite3_column_text(side->result, 0) : NULL;
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        return study_file_fail(side->path, side->db, error);
    json_t *const json = text == NULL ? NULL : json_loads(text, 0, &fault);
    sqlite3_reset(side->result);
    if (json == NULL)
        return cw_error_set(error, CW_USAGE, "%s: the database has no whole result of it", name);
    int code = result_document_of(json, name, document, error);
    json_decref(json);
    if (code == CW_OK)
        code = result_document_check(document, error);
    return code;
}

static bool is_done(const struct side_point *point) { return strcmp(point->state, "done") == 0; }

/* Why the sizes of a pair cannot be compared; NULL: they can. */
static const char *no_sizes(const struct study_comparison *comparison,
                            const struct point_pair *pair, enum comparison_verdict *verdict,
                            char text[COMPARISON_CELL_BYTES])
{
    *verdict = COMPARISON_BAD;
    if (pair->b == NULL)
        return "not in B";
    if (pair->a == NULL) {
        if ((int64_t)comparison->a.count < comparison->a.planned)
            *verdict = COMPARISON_SKIPPED;
        return "not in A";
    }
    if (is_done(pair->a) && is_done(pair->b))
        return NULL;
    const bool is_alike = strcmp(pair->a->state, pair->b->state) == 0;
    if (is_alike || is_done(pair->b))
        *verdict = COMPARISON_SKIPPED;
    if (is_alike)
        snprintf(text, COMPARISON_CELL_BYTES, "%.20s in A and B", pair->a->state);
    else
        snprintf(text, COMPARISON_CELL_BYTES, "%.20s in A, %.20s in B", pair->a->state,
                 pair->b->state);
    return text;
}

static int walk_pair(struct study_comparison *comparison, const struct point_pair *pair,
                     visitor visit, void *context)
{
    char text[COMPARISON_CELL_BYTES];
    struct result_document a = {.json = NULL}, b = {.json = NULL};
    struct comparison_of_documents documents;
    struct visit met = {.pair = pair, .label = pair->a != NULL ? pair->a->label : pair->b->label};
    met.why = no_sizes(comparison, pair, &met.verdict, text);
    if (met.why != NULL) {
        visit(comparison, &met, context);
        return CW_OK;
    }
    int code = load(&comparison->a, pair->a, &a, comparison->error);
    if (code == CW_OK)
        code = load(&comparison->b, pair->b, &b, comparison->error);
    if (code == CW_OK)
        code =
            compare_documents(&a, &b, comparison->tolerance_percent, &documents, comparison->error);
    if (code == CW_OK) {
        met.documents = &documents;
        visit(comparison, &met, context);
        comparison_of_documents_free(&documents);
    }
    result_document_free(&a);
    result_document_free(&b);
    return code;
}

static int walk(struct study_comparison *comparison, visitor visit, void *context)
{
    int code = CW_OK;
    for (size_t i = 0; i < comparison->pair_count && code == CW_OK; i++)
        code = walk_pair(comparison, &comparison->pairs[i], visit, context);
    return code;
}

/* ---- visitors -------------------------------------------------------------------------------- */

static void count_visit(struct study_comparison *comparison, const struct visit *visit,
                        void *unused)
{
    (void)unused;
    comparison->missing += visit->pair->b == NULL;
    comparison->fresh += visit->pair->a == NULL;
    if (visit->documents == NULL) {
        comparison->cases[visit->verdict]++;
        comparison->points_differing += visit->verdict == COMPARISON_BAD;
        return;
    }
    for (size_t i = 0; i < visit->documents->row_count; i++)
        comparison->cases[compare_report_verdict(&visit->documents->rows[i])]++;
    comparison->sizes += visit->documents->row_count;
    comparison->sizes_differing += visit->documents->differing;
    comparison->points_differing += visit->documents->differing > 0;
    if (fabs(visit->documents->largest_percent) > fabs(comparison->largest_percent)) {
        comparison->largest_percent = visit->documents->largest_percent;
        comparison->largest_label = visit->label;
    }
}

/* In which values the first pair whose settings differ does so. */
static void values_visit(struct study_comparison *comparison, const struct visit *visit,
                         void *context)
{
    struct comparison_page **const page = context;
    (void)comparison;
    if (*page == NULL || visit->documents == NULL || !visit->pair->by_label)
        return;
    compare_report_values(*page, visit->documents);
    *page = NULL;
}

static void table_visit(struct study_comparison *comparison, const struct visit *visit,
                        void *context)
{
    const struct comparison_page *const page = context;
    (void)comparison;
    if (visit->documents == NULL)
        comparison_page_row(
            page, false,
            (const char *const[]){"-", "-", "-", "-", "-", "-", visit->why, visit->label});
    for (size_t i = 0; visit->documents != NULL && i < visit->documents->row_count; i++)
        if (visit->documents->rows[i].differs)
            compare_report_row(page, &visit->documents->rows[i], visit->label);
}

static void case_visit(struct study_comparison *comparison, const struct visit *visit,
                       void *context)
{
    const struct comparison_page *const page = context;
    (void)comparison;
    if (visit->documents == NULL)
        comparison_page_case(page, visit->label, visit->verdict, "DIFFERS", visit->why);
    for (size_t i = 0; visit->documents != NULL && i < visit->documents->row_count; i++)
        compare_report_case(page, visit->label, &visit->documents->rows[i]);
}

static json_t *state_json(const struct side_point *point)
{
    return point != NULL ? report_text(point->state) : json_null();
}

static void json_visit(struct study_comparison *comparison, const struct visit *visit,
                       void *context)
{
    json_t **const points = context;
    json_t *rows = json_array();
    bool differs = visit->documents == NULL && visit->verdict == COMPARISON_BAD;
    (void)comparison;
    for (size_t i = 0; visit->documents != NULL && i < visit->documents->row_count; i++) {
        report_append(&rows, compare_report_row_json(&visit->documents->rows[i]));
        differs |= visit->documents->rows[i].differs;
    }
    report_append(points,
                  json_pack("{s:o, s:o, s:o, s:b, s:s?, s:b, s:o}", "label",
                            report_text(visit->label), "state_a", state_json(visit->pair->a),
                            "state_b", state_json(visit->pair->b), "other_settings",
                            visit->pair->by_label, "not_compared", visit->why, "differs", differs,
                            "results", rows));
}

/* ---- printing -------------------------------------------------------------------------------- */

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

static void put_side(const struct comparison_page *page, char letter, const struct side *side)
{
    comparison_page_say(page, "%c: %s (study %s, %zu of %" PRId64 " point%s, %s %s, %s)", letter,
                        side->path, side->name, side->count, side->planned,
                        plural((size_t)side->planned), side->version, side->commit, side->created);
}

static void put_summary(const struct comparison_page *page,
                        const struct study_comparison *comparison)
{
    char percent[COMPARISON_CELL_BYTES], largest[512] = "none";
    const size_t paired = comparison->pair_count - comparison->missing - comparison->fresh;
    if (comparison->largest_label != NULL)
        snprintf(largest, sizeof largest, "%s %% (%.400s)",
                 compare_report_percent(comparison->largest_percent, percent),
                 comparison->largest_label);
    comparison_page_end(page,
                        "%s: %zu point%s of both, %zu missing in B, %zu new in B; %zu of %zu "
                        "size%s differ%s by more than %g %%; the largest change of a time: %s",
                        comparison->points_differing == 0 ? "the same" : "they differ", paired,
                        plural(paired), comparison->missing, comparison->fresh,
                        comparison->sizes_differing, comparison->sizes, plural(comparison->sizes),
                        comparison->sizes_differing == 1 ? "s" : "", comparison->tolerance_percent,
                        largest);
}

static int put_page(FILE *file, enum comparison_format format, struct study_comparison *comparison)
{
    struct comparison_page page = {.file = file, .format = format, .command = "compare"};
    struct comparison_page *values = &page;
    int code = CW_OK;
    comparison_page_begin(&page, comparison->cases);
    put_side(&page, 'A', &comparison->a);
    put_side(&page, 'B', &comparison->b);
    if (comparison->by_label > 0) {
        comparison_page_say(&page,
                            "%zu point%s paired by label: base, or a file that it names, is "
                            "another in B; in the first of them:",
                            comparison->by_label, comparison->by_label == 1 ? " is" : "s are");
        code = walk(comparison, values_visit, &values);
    }
    if (comparison->cases[COMPARISON_BAD] + comparison->cases[COMPARISON_SKIPPED] > 0) {
        compare_report_head(&page, "point");
        if (code == CW_OK)
            code = walk(comparison, table_visit, &page);
        comparison_page_end_table(&page);
    }
    if (code == CW_OK)
        code = walk(comparison, case_visit, &page);
    put_summary(&page, comparison);
    return code;
}

static int put_json(FILE *file, struct study_comparison *comparison)
{
    json_t *points = json_array();
    const int code = walk(comparison, json_visit, &points);
    if (code != CW_OK) {
        json_decref(points);
        return code;
    }
    json_t *const object = json_pack(
        "{s:s, s:o, s:o, s:f, s:b, s:I, s:I, s:I, s:I, s:o, s:o}", "schema",
        "cubewarp.compare-study/1", "a", report_text(comparison->a.path), "b",
        report_text(comparison->b.path), "tolerance_percent", comparison->tolerance_percent, "same",
        comparison->points_differing == 0, "differing", (json_int_t)comparison->points_differing,
        "missing", (json_int_t)comparison->missing, "new", (json_int_t)comparison->fresh,
        "sizes_differing", (json_int_t)comparison->sizes_differing, "largest_percent",
        compare_report_real(comparison->largest_percent), "points", points);
    return report_json_object(file, object, 15, comparison->error);
}

int study_compare(FILE *file, enum comparison_format format, const char *path_a, const char *path_b,
                  double tolerance_percent, struct cw_error *error)
{
    struct study_comparison comparison = {.a = {.path = path_a},
                                          .b = {.path = path_b},
                                          .tolerance_percent = tolerance_percent,
                                          .error = error};
    int code = read_side(&comparison.a, error);
    if (code == CW_OK)
        code = read_side(&comparison.b, error);
    if (code == CW_OK)
        code = pair_points(&comparison);
    if (code == CW_OK)
        code = walk(&comparison, count_visit, NULL);
    if (code == CW_OK)
        code = format == COMPARISON_JSON ? put_json(file, &comparison)
                                         : put_page(file, format, &comparison);
    if (code == CW_OK && comparison.points_differing > 0)
        code = CW_DATA_WRONG;
    free(comparison.pairs);
    free_side(&comparison.a);
    free_side(&comparison.b);
    return code;
}
