/*
 * page_step.c: the section of steps, and its data (page_step.h). Plans that do not fit stand last,
 * and are never the best.
 */
#include "bench/report/page_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/survey/say.h"

static const json_t *step_of(const struct survey *survey, size_t point)
{
    const json_t *const step = json_object_get(survey->points[point].document, "step");
    return json_is_object(step) ? step : NULL;
}

static double number_of(const json_t *step, const char *key)
{
    const json_t *const value = json_object_get(step, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool fits(const json_t *step) { return !json_is_false(json_object_get(step, "fits")); }

bool page_has_steps(const struct survey *survey)
{
    for (size_t i = 0; i < survey->point_count; i++)
        if (step_of(survey, i) != NULL)
            return true;
    return false;
}

/* ---- the order of plans ---------------------------------------------------------------------- */

struct plan {
    size_t point;
    bool fits;
    double step_ns;
};

static int by_rank(const void *a, const void *b)
{
    const struct plan *const x = a, *const y = b;
    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    if (x->step_ns != y->step_ns)
        return x->step_ns < y->step_ns ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

/* The plans in order; the caller frees them. NULL: no memory, or none. */
static struct plan *plans_of(const struct survey *survey, size_t *count)
{
    struct plan *const plans = calloc(survey->point_count + 1, sizeof *plans);
    *count = 0;
    for (size_t i = 0; plans != NULL && i < survey->point_count; i++) {
        const json_t *const step = step_of(survey, i);
        if (step != NULL && isfinite(number_of(step, "step_ns")))
            plans[(*count)++] = (struct plan){i, fits(step), number_of(step, "step_ns")};
    }
    if (plans != NULL)
        qsort(plans, *count, sizeof *plans, by_rank);
    return plans;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void put_number(FILE *out, double number, const char *unit)
{
    char text[SAY_BYTES];
    fprintf(out, "<td class=\"n\">%s%s</td>", say_number(number, text),
            isfinite(number) ? unit : "");
}

/* A point's label without the common beginning of its keys: "parallel.tp=4". */
static void put_label(FILE *out, const struct survey *survey, size_t point)
{
    static const char prefix[] = "workload.";
    const char *at = survey->points[point].label;
    char part[256];
    while (*at != '\0') {
        const char *const next = strstr(at, prefix);
        const size_t bytes = next != NULL ? (size_t)(next - at) : strlen(at);
        const size_t taken = bytes < sizeof part ? bytes : sizeof part - 1;
        snprintf(part, sizeof part, "%.*s", (int)taken, at);
        say_html(out, part);
        at += taken;
        if (at == next)
            at += sizeof prefix - 1;
    }
}

static void put_plan(FILE *out, const struct survey *survey, const struct plan *plan)
{
    static const char *const parts[] = {"compute_ns", "exposed_ns", "waiting_ns", "bubble_ns",
                                        "hidden_ns"};
    const json_t *const step = step_of(survey, plan->point);
    const json_t *const means = json_object_get(step, "means");
    const json_t *const path = json_object_get(step, "critical_path");
    const char *const limit = json_string_value(json_object_get(path, "limited_by"));
    char text[SAY_BYTES];
    fputs("<tr><th scope=\"row\">", out);
    put_label(out, survey, plan->point);
    fprintf(out, "</th><td class=\"n\">%s</td>", say_time(plan->step_ns / 1000, text));
    put_number(out, number_of(step, "tokens_per_s"), "");
    put_number(out, 100 * number_of(step, "utilisation"), " %");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        put_number(out, 100 * number_of(means, parts[i]) / plan->step_ns, " %");
    put_number(out, number_of(step, "memory_bytes") / (1024.0 * 1024 * 1024), "");
    fprintf(out, "<td>%s</td><td>",
            json_is_null(json_object_get(step, "fits")) ? "not known"
            : plan->fits                                ? "yes"
                                                        : "<strong>no</strong>");
    say_html(out, limit != NULL ? limit : "–");
    fputs("</td></tr>\n", out);
}

static void put_best(FILE *out, const struct survey *survey, const struct plan *plans, size_t count)
{
    size_t without = 0;
    char text[SAY_BYTES];
    for (size_t i = 0; i < count; i++)
        without += !plans[i].fits;
    if (count < 2)
        return;
    fputs("<p class=\"best-plan\">", out);
    if (plans[0].fits) {
        fputs("The best plan that fits: <strong>", out);
        put_label(out, survey, plans[0].point);
        fprintf(out, "</strong>, %s.", say_time(plans[0].step_ns / 1000, text));
    } else {
        fputs("No plan fits.", out);
    }
    if (without > 0)
        fprintf(out, " %zu of %zu plans do not fit their HBM.", without, count);
    fputs("</p>\n", out);
}

void page_write_steps(FILE *out, struct survey *survey)
{
    size_t count;
    struct plan *const plans = plans_of(survey, &count);
    if (plans == NULL) {
        survey->no_memory = true;
        return;
    }
    put_best(out, survey, plans, count);
    fputs("<div id=\"steps-view\"></div>\n<div class=\"scroll\"><table><thead><tr>"
          "<th scope=\"col\">plan</th><th scope=\"col\">step</th><th scope=\"col\">tokens/s</th>"
          "<th scope=\"col\">model FLOPs</th><th scope=\"col\">computing</th>"
          "<th scope=\"col\">exposed</th><th scope=\"col\">waiting</th>"
          "<th scope=\"col\">bubble</th><th scope=\"col\">hidden</th>"
          "<th scope=\"col\">memory<small>GiB</small></th><th scope=\"col\">fits</th>"
          "<th scope=\"col\">limited by</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < count && i < PAGE_PLANS; i++)
        put_plan(out, survey, &plans[i]);
    fputs("</tbody></table></div>\n", out);
    if (count > PAGE_PLANS)
        fprintf(out, "<p class=\"note\">%d of %zu plans are shown, the fastest.</p>\n", PAGE_PLANS,
                count);
    free(plans);
}

/* ---- data ------------------------------------------------------------------------------------ */

static void put_step(FILE *out, const json_t *step, size_t point)
{
    const char *key;
    json_t *value;
    fprintf(out, "{\"point\":%zu", point);
    json_object_foreach((json_t *)(uintptr_t)step, key, value)
    {
        if (strcmp(key, "operations") == 0 || strcmp(key, "chart") == 0)
            continue;
        fputc(',', out);
        say_json(out, key);
        fputc(':', out);
        say_json_value(out, value);
    }
    fputc('}', out);
}

void page_write_step_data(FILE *out, const struct survey *survey)
{
    size_t count, charts = 0;
    struct plan *const plans = plans_of(survey, &count);
    fputs("\"steps\":[", out);
    for (size_t i = 0; plans != NULL && i < count; i++) {
        fputs(i > 0 ? ",\n" : "", out);
        put_step(out, step_of(survey, plans[i].point), plans[i].point);
    }
    fputs("],\"charts\":[", out);
    for (size_t i = 0; plans != NULL && i < count && charts < PAGE_CHARTS; i++) {
        const json_t *const chart = json_object_get(step_of(survey, plans[i].point), "chart");
        if (!json_is_object(chart))
            continue;
        fprintf(out, "%s{\"point\":%zu,\"chart\":", charts++ > 0 ? "," : "", plans[i].point);
        say_json_value(out, chart);
        fputc('}', out);
    }
    fputs("],\n", out);
    free(plans);
}
