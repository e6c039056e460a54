/*
 * page_machine.c: see page_machine.h. A picture is drawn from the result's own data (bench/draw). A
 * result whose picture is none that can be drawn is told by a note.
 */
#include "bench/report/page_machine.h"

#include <stdlib.h>

#include "bench/draw/picture_json.h"
#include "bench/draw/picture_svg.h"
#include "bench/report/say.h"

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
    fprintf(out, "<div class=\"machine\" data-picture=\"%zu\">", number);
    if (picture_svg(out, picture, picture_prefix(number, prefix), &error) != CW_OK)
        fputs("<p class=\"note\">No picture: out of memory</p>", out);
    fputs("</div>\n", out);
    picture_free(picture);
}

void page_write_machine(FILE *out, struct survey *survey)
{
    size_t number = 0, left_out = 0;
    fputs("<div id=\"machine-view\"></div>\n", out);
    for (size_t i = 0; i < survey->point_count; i++) {
        const struct survey_point *const point = &survey->points[i];
        if (point->picture == NULL)
            continue;
        if (number == PAGE_PICTURES) {
            left_out++;
            continue;
        }
        if (survey->point_count > 1) {
            fputs("<h3>", out);
            say_html(out, point->label);
            fputs("</h3>\n", out);
        }
        put_picture(out, point, number++);
    }
    if (left_out > 0)
        fprintf(out, "<p class=\"note\">%zu more points have pictures: report them alone.</p>\n",
                left_out);
}

void page_machine_data(FILE *out, const struct survey *survey)
{
    size_t number = 0;
    char prefix[PREFIX_BYTES];
    fputs("\"pictures\":[", out);
    for (size_t i = 0; i < survey->point_count && number < PAGE_PICTURES; i++) {
        const json_t *const picture = survey->points[i].picture;
        if (picture == NULL)
            continue;
        fprintf(out, "%s{\"prefix\":\"%s\",\"point\":%zu,\"picture\":", number == 0 ? "" : ",",
                picture_prefix(number, prefix), i);
        number++;
        if (json_dumpb(picture, NULL, 0, JSON_COMPACT) <= PAGE_PICTURE_BYTES)
            say_json_value(out, picture);
        else
            fputs("null", out);
        fputc('}', out);
    }
    fputs("],\n", out);
}
