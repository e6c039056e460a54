/*
 * page_machine.c: draws machines from the results' own data (bench/draw), those of the fastest and
 * of the slowest points first. If a picture cannot be drawn, a note says why.
 */
#include "bench/report/page_machine.h"

#include <stdlib.h>

#include "bench/draw/picture_json.h"
#include "bench/draw/picture_svg.h"
#include "bench/survey/say.h"
#include "bench/survey/winners.h"
#include "bench/survey/words.h"

enum { PREFIX_BYTES = 24 };

bool page_has_machine(const struct survey *survey)
{
    for (size_t i = 0; i < survey->point_count; i++)
        if (survey->points[i].picture != NULL)
            return true;
    return false;
}

static const char *picture_prefix(size_t number, char prefix[PREFIX_BYTES])
{
    snprintf(prefix, PREFIX_BYTES, "m%zu-", number);
    return prefix;
}

static void put_picture(FILE *out, const struct survey_point *point, size_t number)
{
    struct cw_error error = {.exit_code = CW_OK};
    char prefix[PREFIX_BYTES], note[GRAPHVIZ_NOTE_BYTES]; /* the drawing says it */
    struct picture *const picture = picture_from_json(point->picture, &error);
    if (picture == NULL) {
        fputs("<p class=\"note\">No picture: ", out);
        say_html(out, cw_error_text(&error));
        fputs("</p>\n", out);
        return;
    }
    fputs("<div class=\"machine\">", out);
    if (picture_svg(out, picture, picture_prefix(number, prefix), note, &error) != CW_OK)
        fputs("<p class=\"note\">No picture: out of memory</p>", out);
    fputs("</div>\n", out);
    picture_free(picture);
}

/* Whether two pictures show the same kind of machine. */
static bool picture_alike(const json_t *a, const json_t *b)
{
    static const char *const members[] = {"topology", "sips", "switches", "dims", "switch_kinds"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *const of_a = json_object_get(a, members[i]);
        const json_t *const of_b = json_object_get(b, members[i]);
        if (of_a != of_b && !json_equal(of_a, of_b)) /* both may lack it */
            return false;
    }
    return true;
}

/* The points whose pictures are shown, each with the reason. */
struct page_pictures {
    struct {
        size_t point;
        const char *why; /* "": none */
    } list[PAGE_PICTURES];
    size_t count;
};

/* Adds a point that has a picture, unless it is there, or there is no room. */
static void add_picture(const struct survey *survey, struct page_pictures *pictures, size_t point,
                        const char *why)
{
    if (survey->points[point].picture == NULL || pictures->count == PAGE_PICTURES)
        return;
    for (size_t i = 0; i < pictures->count; i++)
        if (pictures->list[i].point == point)
            return;
    pictures->list[pictures->count].point = point;
    pictures->list[pictures->count++].why = why != NULL ? why : "";
}

static const char *why_fastest(struct survey *survey, const struct survey_row *row)
{
    const struct survey_axis *const axis = &survey->axes[survey->x];
    char x[SAY_BYTES];
    return survey_print(survey, "the fastest at %s%s%s, with the busiest links",
                        axis->is_bytes ? "" : say_axis(axis), axis->is_bytes ? "" : " ",
                        say_value(axis, survey_value_of(survey, row->axis, (size_t)survey->x), x));
}

/* The share of the time of the busiest link that is drawn; 0: unknown. */
static double busy_of(const json_t *picture)
{
    double most = 0;
    size_t i;
    json_t *link;
    json_array_foreach(json_object_get(picture, "links"), i, link)
    {
        const double busy = json_number_value(json_object_get(link, "busy_share"));
        most = busy > most ? busy : most;
    }
    return most;
}

/* Of the fastest in each case the one with the busiest links, which is shown first; and the one
 * furthest from its bound. */
static void add_winners(struct survey *survey, struct page_pictures *pictures)
{
    struct winners winners;
    const struct survey_row *first = NULL;
    double most = 0;
    winners_of(survey, &winners);
    for (size_t i = 0; i < winners.count; i++) {
        const struct survey_row *const row = winners.cases[i].row;
        const json_t *const picture = row == NULL ? NULL : survey->points[row->point].picture;
        if (picture == NULL || (first != NULL && busy_of(picture) < most))
            continue;
        first = row;
        most = busy_of(picture);
    }
    if (first != NULL)
        add_picture(survey, pictures, first->point, why_fastest(survey, first));
    size_t slowest[1];
    if (words_slowest(survey, slowest, 1) > 0)
        add_picture(survey, pictures, survey->rows[slowest[0]].point,
                    survey_has(survey, FIGURE_EFFICIENCY) ? "the furthest from its bound"
                                                          : "the slowest");
}

/* One of each kind of machine. */
static void add_kinds(const struct survey *survey, struct page_pictures *pictures)
{
    for (size_t i = 0; i < survey->point_count; i++) {
        const json_t *const picture = survey->points[i].picture;
        bool is_new = picture != NULL;
        for (size_t k = 0; k < pictures->count && is_new; k++)
            is_new = !picture_alike(picture, survey->points[pictures->list[k].point].picture);
        if (is_new)
            add_picture(survey, pictures, i, "");
    }
}

static void put_pictures(FILE *out, struct survey *survey, const struct page_pictures *pictures)
{
    for (size_t i = 0; i < pictures->count; i++) {
        const struct survey_point *const point = &survey->points[pictures->list[i].point];
        const char *const why = pictures->list[i].why;
        fprintf(out, "<div class=\"machine-of\" data-point=\"%zu\">", pictures->list[i].point);
        if (survey->point_count > 1) {
            fputs("<h3>", out);
            say_html(out, point->label);
            if (why[0] != '\0') {
                fputs("<small>: ", out);
                say_html(out, why);
                fputs("</small>", out);
            }
            fputs("</h3>\n", out);
        }
        put_picture(out, point, i);
        fputs("</div>\n", out);
    }
}

void page_write_machine(FILE *out, struct survey *survey)
{
    struct page_pictures pictures = {.count = 0};
    size_t all = 0;
    fputs("<div id=\"machine-view\"></div>\n", out);
    add_winners(survey, &pictures);
    add_kinds(survey, &pictures);
    for (size_t i = 0; i < survey->point_count; i++) {
        add_picture(survey, &pictures, i, "");
        all += survey->points[i].picture != NULL;
    }
    put_pictures(out, survey, &pictures);
    if (all > pictures.count)
        fprintf(out,
                "<p class=\"note\">%zu of %zu points with a machine are drawn here; a result that "
                "is reported alone shows its own.</p>\n",
                pictures.count, all);
}
