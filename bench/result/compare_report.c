/*
 * compare_report.c: prints a comparison of two results (compare_report.h). All forms but JSON are
 * one walk over the comparison (bench/output/comparison_page.h).
 */
#include "bench/result/compare_report.h"

#include <inttypes.h>
#include <math.h>

#include "bench/output/comparison_page.h"
#include "bench/output/report.h"
#include "bench/output/report_json.h"

enum { CELL_BYTES = COMPARISON_CELL_BYTES };

static const char *us_text(const struct document_row *row, int64_t time_ps, char buf[CELL_BYTES])
{
    if (row == NULL || row->not_run != NULL)
        return "-";
    return report_us(time_ps, buf);
}

static const char *text_or_nothing(const char *text) { return text != NULL ? text : ""; }

/* "+4.20"; "0": the same to the ps. */
const char *compare_report_percent(double percent, char buf[CELL_BYTES])
{
    snprintf(buf, CELL_BYTES,
             percent == 0            ? "%.0f"
             : fabs(percent) < 0.005 ? "%+.2g"
                                     : "%+.2f",
             percent);
    return buf;
}

static double change_percent(double a, double b)
{
    return a == b ? 0 : a == 0 ? INFINITY : 100 * (b / a - 1);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void put_side(const struct comparison_page *page, char letter,
                     const struct result_document *side)
{
    const char *const date = result_document_provenance(side, "date");
    comparison_page_say(page, "%c: %s (%s%s%s, %s, %" PRId64 " SIP%s, configuration %s%s%s)%s%s",
                        letter, side->name, text_or_nothing(side->bench),
                        side->algorithm != NULL ? " " : "", text_or_nothing(side->algorithm),
                        text_or_nothing(side->version), side->sips > 0 ? side->sips : 0,
                        side->sips == 1 ? "" : "s", text_or_nothing(side->config_digest),
                        date[0] != '\0' ? ", " : "", date, side->interrupted ? "; interrupted" : "",
                        side->failure != NULL ? "; failed" : "");
}

void compare_report_values(struct comparison_page *page,
                           const struct comparison_of_documents *comparison)
{
    if (comparison->value_count == 0) {
        comparison_page_say(page, "one configuration");
        return;
    }
    comparison_page_head(page, 3, (const int[]){-40, -24, -24},
                         (const char *const[]){"value that differs", "A", "B"});
    for (size_t i = 0; i < comparison->value_count; i++) {
        const struct compared_value *const value = &comparison->values[i];
        comparison_page_row(page, true, (const char *const[]){value->key, value->a, value->b});
    }
    comparison_page_end_table(page);
}

static const char *verdict_text(const struct compared_row *row)
{
    return row->why != NULL         ? row->why
           : row->flaw != NULL      ? row->flaw
           : row->hash_differs      ? "OTHER BITS"
           : row->differs           ? "DIFFERS"
           : row->a_ps != row->b_ps ? "within"
                                    : "same";
}

void compare_report_head(struct comparison_page *page, const char *more)
{
    comparison_page_head(page, more != NULL ? 8 : 7, (const int[]){15, -16, 17, 17, 9, 9, -10, -1},
                         (const char *const[]){"size(B)", "collective", "A(us)", "B(us)", "B/A",
                                               "change(%)", "verdict", more});
}

void compare_report_row(const struct comparison_page *page, const struct compared_row *row,
                        const char *more)
{
    const struct document_row *const any = row->a != NULL ? row->a : row->b;
    char bytes[CELL_BYTES], a[CELL_BYTES], b[CELL_BYTES], ratio[CELL_BYTES] = "-";
    char percent[CELL_BYTES] = "-";
    snprintf(bytes, sizeof bytes, "%" PRId64, row->size);
    if (row->why == NULL && row->a_ps > 0)
        snprintf(ratio, sizeof ratio, "%.4f", (double)row->b_ps / (double)row->a_ps);
    comparison_page_row(
        page, false,
        (const char *const[]){
            bytes, text_or_nothing(any->collective), us_text(row->a, row->a_ps, a),
            us_text(row->b, row->b_ps, b), ratio,
            row->why == NULL ? compare_report_percent(compared_row_percent(row), percent) : "-",
            verdict_text(row), more});
}

enum comparison_verdict compare_report_verdict(const struct compared_row *row)
{
    return row->differs ? COMPARISON_BAD : row->why != NULL ? COMPARISON_SKIPPED : COMPARISON_GOOD;
}

/* Shares are printed with 15 digits, of which the last need not come back. */
static bool any_part_changed(const struct compared_row *row)
{
    bool changed = false;
    for (size_t i = 0; i < row->phase_count; i++)
        changed |= row->phases[i].a != row->phases[i].b;
    for (size_t i = 0; i < row->kind_count; i++)
        changed |= row->kinds[i].a != row->kinds[i].b ||
                   fabs(row->kinds[i].busy_a - row->kinds[i].busy_b) > 1e-9;
    return changed;
}

static const char *part_verdict(const struct compared_part *part)
{
    return part->differs ? "DIFFERS" : part->a != part->b ? "within" : "same";
}

static void put_phases(const struct comparison_page *page, const struct compared_row *row)
{
    for (size_t i = 0; i < row->phase_count; i++) {
        const struct compared_part *const phase = &row->phases[i];
        char a[CELL_BYTES], b[CELL_BYTES], percent[CELL_BYTES];
        snprintf(a, sizeof a, "%.6f us", phase->a / 1000);
        snprintf(b, sizeof b, "%.6f us", phase->b / 1000);
        comparison_page_row(page, true,
                            (const char *const[]){
                                phase->name, a, b,
                                compare_report_percent(change_percent(phase->a, phase->b), percent),
                                part_verdict(phase)});
    }
}

static void put_kinds(const struct comparison_page *page, const struct compared_row *row)
{
    for (size_t i = 0; i < row->kind_count; i++) {
        const struct compared_part *const kind = &row->kinds[i];
        char a[CELL_BYTES], b[CELL_BYTES], percent[CELL_BYTES];
        snprintf(a, sizeof a, "%.0f B, %.2f %% busy", kind->a, 100 * kind->busy_a);
        snprintf(b, sizeof b, "%.0f B, %.2f %% busy", kind->b, 100 * kind->busy_b);
        comparison_page_row(
            page, true,
            (const char *const[]){kind->name, a, b,
                                  compare_report_percent(change_percent(kind->a, kind->b), percent),
                                  part_verdict(kind)});
    }
}

/* The phases and the kinds of links of each size in which they are others. */
static void put_details(struct comparison_page *page,
                        const struct comparison_of_documents *comparison)
{
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct compared_row *const row = &comparison->rows[i];
        if (row->why != NULL || !any_part_changed(row))
            continue;
        if (page->format == COMPARISON_MARKDOWN)
            comparison_page_say(page, "**%s, %" PRId64 " B**", text_or_nothing(row->a->collective),
                                row->size);
        else
            comparison_page_say(page, "---- %s, %" PRId64 " B", text_or_nothing(row->a->collective),
                                row->size);
        comparison_page_head(
            page, 5, (const int[]){-32, 28, 28, 9, -7},
            (const char *const[]){"phase, kind of link", "A", "B", "change(%)", ""});
        put_phases(page, row);
        put_kinds(page, row);
        comparison_page_end_table(page);
    }
}

void compare_report_case(const struct comparison_page *page, const char *point,
                         const struct compared_row *row)
{
    const struct document_row *const any = row->a != NULL ? row->a : row->b;
    char name[4 * CELL_BYTES], message[2 * CELL_BYTES] = "", a[CELL_BYTES], b[CELL_BYTES];
    snprintf(name, sizeof name, "%s%s%s %" PRId64 " B", point, point[0] != '\0' ? ": " : "",
             text_or_nothing(any->collective), row->size);
    if (row->why == NULL)
        snprintf(message, sizeof message, "%s us, then %s us", us_text(row->a, row->a_ps, a),
                 us_text(row->b, row->b_ps, b));
    comparison_page_case(page, name, compare_report_verdict(row),
                         row->why != NULL ? "DIFFERS" : verdict_text(row),
                         row->why != NULL ? row->why : message);
}

static void put_summary(const struct comparison_page *page,
                        const struct comparison_of_documents *comparison)
{
    char percent[CELL_BYTES];
    (void)compare_report_percent(comparison->largest_percent, percent);
    if (comparison->differing == 0)
        comparison_page_end(page,
                            "the same within %g %%: %zu size%s; the largest change of a "
                            "time: %s %%",
                            comparison->tolerance_percent, comparison->row_count,
                            comparison->row_count == 1 ? "" : "s", percent);
    else
        comparison_page_end(page,
                            "%zu of %zu sizes differ by more than %g %%; the largest change "
                            "of a time: %s %%",
                            comparison->differing, comparison->row_count,
                            comparison->tolerance_percent, percent);
}

static void put_page(FILE *file, enum comparison_format format, const struct result_document *a,
                     const struct result_document *b,
                     const struct comparison_of_documents *comparison)
{
    struct comparison_page page = {.file = file, .format = format, .command = "compare"};
    size_t counts[COMPARISON_VERDICTS] = {0};
    for (size_t i = 0; i < comparison->row_count; i++)
        counts[compare_report_verdict(&comparison->rows[i])]++;
    comparison_page_begin(&page, counts);
    put_side(&page, 'A', a);
    put_side(&page, 'B', b);
    compare_report_values(&page, comparison);
    if (comparison->per_rank)
        comparison_page_say(&page, "sizes are bytes per rank");
    compare_report_head(&page, NULL);
    for (size_t i = 0; i < comparison->row_count; i++)
        compare_report_row(&page, &comparison->rows[i], NULL);
    comparison_page_end_table(&page);
    put_details(&page, comparison);
    for (size_t i = 0; i < comparison->row_count; i++) /* for CI */
        compare_report_case(&page, "", &comparison->rows[i]);
    put_summary(&page, comparison);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* A value that JSON has: an infinite ratio is null. */
json_t *compare_report_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *parts_json(const struct compared_part *parts, size_t count, const char *name,
                          const char *figure, bool busy)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && list != NULL; i++) {
        const struct compared_part *const part = &parts[i];
        char a[CELL_BYTES], b[CELL_BYTES];
        snprintf(a, sizeof a, "%s_a", figure);
        snprintf(b, sizeof b, "%s_b", figure);
        json_t *object = json_pack("{s:o, s:f, s:f, s:o, s:b}", name, report_text(part->name), a,
                                   part->a, b, part->b, "ratio",
                                   compare_report_real(part->a == part->b ? 1
                                                       : part->a > 0      ? part->b / part->a
                                                                          : INFINITY),
                                   "differs", part->differs);
        if (busy) {
            report_put(&object, "busy_a", json_real(part->busy_a));
            report_put(&object, "busy_b", json_real(part->busy_b));
        }
        report_append(&list, object);
    }
    return list;
}

static json_t *time_json_of(const struct document_row *row, int64_t time_ps)
{
    return row == NULL || row->not_run != NULL ? json_null() : json_real((double)time_ps / 1000);
}

json_t *compare_report_row_json(const struct compared_row *row)
{
    const struct document_row *const any = row->a != NULL ? row->a : row->b;
    const double ratio = row->why != NULL         ? INFINITY
                         : row->a_ps == row->b_ps ? 1
                                                  : (double)row->b_ps / (double)row->a_ps;
    return json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:b, s:b, s:s?, s:s?, s:o, s:o}", "collective",
                     text_or_nothing(any->collective), "bytes", (json_int_t)any->bytes, "size",
                     (json_int_t)row->size, "time_ns_a", time_json_of(row->a, row->a_ps),
                     "time_ns_b", time_json_of(row->b, row->b_ps), "ratio",
                     compare_report_real(ratio), "differs", row->differs, "other_bits",
                     row->hash_differs, "flaw", row->flaw, "not_compared", row->why, "phases",
                     parts_json(row->phases, row->phase_count, "name", "mean_ns", false),
                     "link_kinds", parts_json(row->kinds, row->kind_count, "kind", "bytes", true));
}

static int put_json(FILE *file, const struct result_document *a, const struct result_document *b,
                    const struct comparison_of_documents *comparison, struct cw_error *error)
{
    json_t *rows = json_array(), *values = json_array();
    for (size_t i = 0; i < comparison->row_count; i++)
        report_append(&rows, compare_report_row_json(&comparison->rows[i]));
    for (size_t i = 0; i < comparison->value_count; i++) {
        const struct compared_value *const value = &comparison->values[i];
        report_append(
            &values, json_pack("{s:s, s:s, s:s}", "key", value->key, "a", value->a, "b", value->b));
    }
    json_t *const object = json_pack(
        "{s:s, s:o, s:o, s:f, s:b, s:I, s:o, s:o, s:o}", "schema", "cubewarp.compare/1", "a",
        report_text(a->name), "b", report_text(b->name), "tolerance_percent",
        comparison->tolerance_percent, "same", comparison->differing == 0, "differing",
        (json_int_t)comparison->differing, "largest_percent",
        compare_report_real(comparison->largest_percent), "values", values, "results", rows);
    return report_json_object(file, object, 15, error);
}

int compare_report(FILE *file, enum comparison_format format, const struct result_document *a,
                   const struct result_document *b,
                   const struct comparison_of_documents *comparison, struct cw_error *error)
{
    if (format == COMPARISON_JSON)
        return put_json(file, a, b, comparison, error);
    put_page(file, format, a, b, comparison);
    return CW_OK;
}
