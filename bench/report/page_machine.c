/*
 * page_machine.c: draws machines from the results' own data (bench/draw). If a picture cannot be
 * drawn, a note says why.
 */
#include "bench/report/page_machine.h"

#include <stdlib.h>

#include "bench/draw/picture_json.h"
#include "bench/draw/picture_svg.h"
#include "bench/survey/say.h"

enum { PREFIX_BYTES = 16 };

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
    char prefix[PREFIX_BYTES];
    struct picture *const picture = picture_from_json(point->picture, &error);
    if (picture == NULL) {
        fputs("<p class=\"note\">No picture: ", out);
        say_html(out, cw_error_text(&error));
        fputs("</p>\n", out);
        return;
    }
    fputs("<div class=\"machine\">", out);
    if (picture_svg(out, picture, picture_prefix(number, prefix), &error) != CW_OK)
        fputs("<p class=\"note\">No picture: out of memory</p>", out);
    fputs("</div>\n", out);
    picture_free(picture);
}

/* Whether two pictures show the same kind of machine. */
static bool picture_alike(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "topology"), json_object_get(b, "topology")) &&
           json_equal(json_object_get(a, "sips"), json_object_get(b, "sips"));
}

/* The points whose pictures are shown, at most PAGE_PICTURES: one of each kind of machine, or,
 * if there is only one kind, the first ones. Returns how many. */
static size_t page_pictures(const struct survey *survey, size_t points[PAGE_PICTURES])
{
    size_t count = 0;
    for (int round = 0; round < 2 && count < 2; round++)
        for (size_t i = 0; i < survey->point_count && count < PAGE_PICTURES; i++) {
            const json_t *const picture = survey->points[i].picture;
            bool is_new = picture != NULL;
            for (size_t k = 0; k < count && is_new; k++)
                is_new = points[k] != i &&
                         (round == 1 || !picture_alike(picture, survey->points[points[k]].picture));
            if (is_new)
                points[count++] = i;
        }
    return count;
}

void page_write_machine(FILE *out, struct survey *survey)
{
    size_t points[PAGE_PICTURES], pictures = 0;
    const size_t count = page_pictures(survey, points);
    fputs("<div id=\"machine-view\"></div>\n", out);
    for (size_t i = 0; i < count; i++) {
        const struct survey_point *const point = &survey->points[points[i]];
        if (survey->point_count > 1) {
            fputs("<h3>", out);
            say_html(out, point->label);
            fputs("</h3>\n", out);
        }
        put_picture(out, point, i);
    }
    for (size_t i = 0; i < survey->point_count; i++)
        pictures += survey->points[i].picture != NULL;
    if (pictures > count)
        fprintf(out, "<p class=\"note\">%zu more points have pictures: report them alone.</p>\n",
                pictures - count);
}
