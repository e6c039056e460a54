/*
 * explain_text.c: prints an explanation as text, and makes it JSON (explain_text.h).
 */
#include "bench/explain/explain_text.h"

#include "bench/explain/limits.h"

#include <string.h>

static double percent_of(double ps, double of_ps) { return of_ps > 0 ? 100.0 * ps / of_ps : 0; }

static double percent(int64_t ps, int64_t of_ps) { return percent_of((double)ps, (double)of_ps); }

static double in_us(int64_t ps) { return (double)ps / 1e6; }

/* ---- text ------------------------------------------------------------------------------------ */

static void print_share(FILE *file, const struct explain *explain, const char *name,
                        int64_t slowest_ps, int64_t mean_ps)
{
    if (slowest_ps == 0 && mean_ps == 0)
        return;
    fprintf(file, "# %-40s %15.6f %7.2f %15.6f %7.2f\n", name, in_us(slowest_ps),
            percent(slowest_ps, explain->slowest.ps), in_us(mean_ps),
            percent(mean_ps, explain->mean.ps));
}

static void print_shares(FILE *file, const struct explain *explain)
{
    char title[80];
    snprintf(title, sizeof title, "time of kernels; the last to end: %s", explain->slowest_place);
    fprintf(file, "#\n# %-40s %15s %7s %15s %7s\n", title, "last(us)", "(%)", "mean(us)", "(%)");
    for (uint32_t share = 0; share < EXPLAIN_SHARES; share++) {
        print_share(file, explain, explain_share_name[share], explain->slowest.share_ps[share],
                    explain->mean.share_ps[share]);
        for (enum hw_dir dir = 0; share == EXPLAIN_DATA && dir < HW_DIRS_MAX; dir++) {
            char name[48];
            snprintf(name, sizeof name, "  from %s", explain->dir_name[dir]);
            if (explain->slowest.data_ps[dir] > 0)
                print_share(file, explain, name, explain->slowest.data_ps[dir],
                            explain->mean.data_ps[dir]);
        }
    }
    print_share(file, explain, "sum", explain->slowest.ps, explain->mean.ps);
}

static void print_blocks(FILE *file, const struct explain *explain)
{
    fprintf(file, "#\n# %-40s %15s %15s\n", "blocks of PEs with a kernel", "busy(%)", "busiest(%)");
    for (uint32_t i = 0; i < EXPLAIN_BLOCKS; i++) {
        const struct explain_block *const block = &explain->block[i];
        if (block->busy_ps > 0)
            fprintf(file, "# %-40s %15.2f %15.2f\n", hw_node_name[block->node],
                    percent_of(block->busy_ps, (double)explain->time_ps * explain->kernels),
                    percent(block->busy_ps_max, explain->time_ps));
    }
}

enum { PARTS_SHOWN = 12, PLACES_SHOWN = 6 };

static void print_path(FILE *file, const struct explain *explain)
{
    char name[64];
    int64_t rest_ps = 0;
    fprintf(file, "#\n# %-40s %15s %7s\n", "critical path, by part", "time(us)", "(%)");
    for (size_t i = 0; i < explain->part_count; i++) {
        const struct explain_part *const part = &explain->part[i];
        if (i >= PARTS_SHOWN)
            rest_ps += part->ps;
        else
            fprintf(file, "# %-40s %15.6f %7.2f\n", explain_part_name(part, name, sizeof name),
                    in_us(part->ps), percent(part->ps, explain->time_ps));
    }
    if (rest_ps > 0)
        fprintf(file, "# %-40s %15.6f %7.2f\n", "others", in_us(rest_ps),
                percent(rest_ps, explain->time_ps));
    fprintf(file, "# %-40s %15.6f %7.2f\n", "sum", in_us(explain->time_ps), 100.0);
    if (explain->credit_ps > 0)
        fprintf(file, "# %-40s %15.6f %7.2f\n", "of which, credits in flight",
                in_us(explain->credit_ps), percent(explain->credit_ps, explain->time_ps));
    fprintf(file, "#\n# %-40s %15s %7s\n", "critical path, by place", "time(us)", "(%)");
    for (size_t i = 0; i < explain->place_count && i < PLACES_SHOWN; i++)
        fprintf(file, "# %-40s %15.6f %7.2f\n", explain->place[i].name, in_us(explain->place[i].ps),
                percent(explain->place[i].ps, explain->time_ps));
}

const char *explain_sentence(const struct explain *explain, char *text, size_t bytes)
{
    const struct explain_limit *const limit = explain->limit;
    if (!explain->has_path) {
        snprintf(text, bytes, "no critical path: %s", explain->lost);
        return text;
    }
    if (explain->limit_count == 0) {
        snprintf(text, bytes, "limited by nothing that has a speed");
        return text;
    }
    const bool slow = limit->slow[0] != '\0';
    const int length = snprintf(
        text, bytes, "limited by %s, %.1f %% of the time (%s%s: %.1f %% less by this path)",
        limit->name, percent(limit->ps, explain->time_ps), limit->slow,
        slow ? "; with half the slowness" : "twice as fast",
        percent(explain->time_ps - limit->faster_ps, explain->time_ps));
    /* of the limits after the first, what is slow is named before what is not */
    const struct explain_limit *next = limit + 1;
    while (!slow && next < limit + explain->limit_count && next->slow[0] == '\0')
        next++;
    if (next >= limit + explain->limit_count)
        next = limit + 1;
    if (explain->limit_count > 1 && length > 0 && (size_t)length < bytes)
        snprintf(text + length, bytes - (size_t)length, "; next %s, %.1f %%%s%s", next->name,
                 percent(next->ps, explain->time_ps), next->slow[0] != '\0' ? ", " : "",
                 next->slow);
    return text;
}

void explain_print(FILE *file, const struct explain *explain)
{
    char sentence[EXPLAIN_SENTENCE_BYTES];
    if (explain->kernels > 0) {
        print_shares(file, explain);
        print_blocks(file, explain);
    }
    if (explain->has_path)
        print_path(file, explain);
    fprintf(file, "#\n# %s\n", explain_sentence(explain, sentence, sizeof sentence));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) == 0) /* without an object it frees the value */
        return;
    json_decref(*object);
    *object = NULL;
}

static void append(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value) == 0)
        return;
    json_decref(*list);
    *list = NULL;
}

static json_t *ns(int64_t ps) { return json_real((double)ps / 1000); }

static json_t *kernel_json(const struct explain *explain, const struct explain_kernel *kernel)
{
    json_t *object = json_object(), *shares = json_object(), *data = json_object();
    for (uint32_t share = 0; share < EXPLAIN_SHARES; share++)
        put(&shares, explain_share_name[share], ns(kernel->share_ps[share]));
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
        if (explain->dir_name[dir][0] != '\0')
            put(&data, explain->dir_name[dir], ns(kernel->data_ps[dir]));
    put(&object, "time_ns", ns(kernel->ps));
    put(&object, "shares_ns", shares);
    put(&object, "data_ns", data);
    return object;
}

static json_t *blocks_json(const struct explain *explain)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < EXPLAIN_BLOCKS; i++) {
        const struct explain_block *const block = &explain->block[i];
        const double time_ps = (double)explain->time_ps;
        json_t *one = json_object();
        put(&one, "busy_share",
            json_real(time_ps > 0 && explain->kernels > 0
                          ? block->busy_ps / (time_ps * explain->kernels)
                          : 0));
        put(&one, "busy_share_max",
            json_real(time_ps > 0 ? (double)block->busy_ps_max / time_ps : 0));
        put(&object, hw_node_name[block->node], one);
    }
    return object;
}

static json_t *parts_json(const struct explain *explain)
{
    json_t *list = json_array();
    for (size_t i = 0; i < explain->part_count; i++) {
        char name[64];
        json_t *one = json_object();
        put(&one, "part", json_string(explain_part_name(&explain->part[i], name, sizeof name)));
        put(&one, "time_ns", ns(explain->part[i].ps));
        append(&list, one);
    }
    return list;
}

static json_t *places_json(const struct explain *explain)
{
    json_t *list = json_array();
    for (size_t i = 0; i < explain->place_count; i++) {
        json_t *one = json_object();
        put(&one, "place", json_string(explain->place[i].name));
        put(&one, "time_ns", ns(explain->place[i].ps));
        append(&list, one);
    }
    return list;
}

static json_t *limits_json(const struct explain *explain)
{
    json_t *list = json_array();
    for (size_t i = 0; i < explain->limit_count; i++) {
        const struct explain_limit *const limit = &explain->limit[i];
        json_t *one = json_object();
        put(&one, "limit", json_string(limit->name));
        put(&one, "slow", limit->slow[0] != '\0' ? json_string(limit->slow) : json_null());
        put(&one, "time_ns", ns(limit->ps));
        put(&one, "twice_as_fast_ns", ns(limit->faster_ps));
        put(&one, "twice_as_fast_set",
            limit->settings[0] != '\0' ? json_string(limit->settings) : json_null());
        append(&list, one);
    }
    return list;
}

json_t *explain_json(const struct explain *explain)
{
    char sentence[EXPLAIN_SENTENCE_BYTES];
    json_t *object = json_object(), *path = json_null();
    put(&object, "time_ns", ns(explain->time_ps));
    put(&object, "sentence", json_string(explain_sentence(explain, sentence, sizeof sentence)));
    put(&object, "kernels", json_integer(explain->kernels));
    if (explain->kernels > 0) {
        put(&object, "slowest_pe", json_string(explain->slowest_place));
        put(&object, "slowest", kernel_json(explain, &explain->slowest));
        put(&object, "mean", kernel_json(explain, &explain->mean));
        put(&object, "blocks", blocks_json(explain));
    }
    if (explain->has_path) {
        path = json_object();
        put(&path, "legs", json_integer((json_int_t)explain->leg_count));
        put(&path, "parts", parts_json(explain));
        put(&path, "credits_ns", ns(explain->credit_ps));
        put(&path, "places", places_json(explain));
        put(&path, "limits", limits_json(explain));
    }
    put(&object, "path", path);
    return object;
}
