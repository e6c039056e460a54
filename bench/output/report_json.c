/*
 * report_json.c: schema cubewarp.run/1. Numbers with decimals are doubles in JSON; a time below
 * 10^15 ps has at most 15 digits, and printing 15 digits of its nearest double gives them back
 * without noise. A result with a longer time is printed with 17 digits, whose third decimal is
 * exact up to 2^43 ns (2.4 hours).
 */
#include "bench/output/report_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/draw/picture_json.h"
#include "bench/explain/explain_text.h"
#include "bench/output/report.h"
#include "bench/output/step_report.h"

#define DIGITS_EXACT_PS 1000000000000000 /* 10^15 */

json_t *report_text(const char *text)
{
    json_t *const exact = json_string(text);
    if (exact != NULL)
        return exact;
    char *const copy = strdup(text);
    for (char *at = copy; at != NULL && *at != '\0'; at++)
        if ((unsigned char)*at > 126)
            *at = '?';
    json_t *const repaired = copy != NULL ? json_string(copy) : NULL;
    free(copy);
    return repaired;
}

static json_t *text_or_null(const char *text)
{
    return text[0] == '\0' ? json_null() : report_text(text);
}

json_t *report_hash_or_null(bool given, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    return given ? json_string(text) : json_null();
}

static json_t *json_ns(int64_t ps) { return json_real((double)ps / 1000); }

static json_t *json_u64(uint64_t value) { return json_integer((json_int_t)value); }

static json_t *real_or_null(double value) { return isnan(value) ? json_null() : json_real(value); }

void report_put(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) == 0) /* without an object it frees the value */
        return;
    json_decref(*object);
    *object = NULL;
}

void report_append(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value) == 0) /* likewise */
        return;
    json_decref(*list);
    *list = NULL;
}

/* The same for a member that a comparison leaves out: one that follows from others, or that the
 * configuration alone decides. */
static void put_unless_exact(bool exact, json_t **object, const char *key, json_t *value)
{
    if (exact)
        json_decref(value);
    else
        report_put(object, key, value);
}

static json_t *phases_json(const struct result_row *row, bool exact)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < row->phase_count && list != NULL; i++) {
        const struct result_phase *const phase = &row->phases[i];
        json_t *object = json_object();
        report_put(&object, "name", report_text(phase->name));
        report_put(&object, "min_ns", json_ns(phase->min_ps));
        put_unless_exact(exact, &object, "mean_ns", json_ns(llround(phase->mean_ps)));
        if (exact)
            report_put(&object, "mean_ps", json_real(phase->mean_ps));
        report_put(&object, "max_ns", json_ns(phase->max_ps));
        if (object == NULL || json_array_append_new(list, object) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* `busy`: mean share of the time that a link of this kind was busy, over links with any traffic. */
static json_t *link_kinds_json(const struct result_row *row, bool exact)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < row->kind_count && list != NULL; i++) {
        const struct result_link_kind *const kind = &row->kinds[i];
        const double busy_ps = (double)kind->busy_ps / (double)kind->links;
        json_t *object = json_object();
        report_put(&object, "kind", report_text(kind->name));
        report_put(&object, "links", json_u64(kind->links));
        report_put(&object, "built", kind->built > 0 ? json_u64(kind->built) : json_null());
        report_put(&object, "bytes", json_u64(kind->bytes));
        put_unless_exact(exact, &object, "busy",
                         json_real(row->time_ps > 0 ? busy_ps / (double)row->time_ps : 0));
        if (exact)
            report_put(&object, "busy_ns", json_ns(kind->busy_ps));
        if (object == NULL || json_array_append_new(list, object) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *busiest_json(const struct result_row *row)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < row->link_count && list != NULL; i++) {
        const struct result_link *const link = &row->links[i];
        json_t *object = json_object();
        report_put(&object, "name", report_text(link->name));
        report_put(&object, "bytes", json_u64(link->bytes));
        report_put(&object, "busy_ns", json_ns(link->busy_ps));
        report_put(&object, "longest queue_ns", json_ns(link->queue_ps_max));
        if (object == NULL || json_array_append_new(list, object) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Whose bytes a link carried. */
static json_t *calls_json(const struct result_row *row, size_t link)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < row->share_count && list != NULL; i++) {
        const struct result_share *const share = &row->shares[i];
        json_t *object = json_object();
        report_put(&object, "call", report_text(share->call));
        report_put(&object, "bytes", json_u64(share->bytes[link]));
        if (object == NULL || json_array_append_new(list, object) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The busiest links of calls at once. */
static json_t *shares_json(const struct result_row *row)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < row->link_count && list != NULL; i++) {
        const struct result_link *const link = &row->links[i];
        json_t *object = json_object();
        report_put(&object, "link", report_text(link->name));
        report_put(&object, "alike", json_u64(link->alike));
        report_put(&object, "bytes", json_u64(link->bytes));
        report_put(&object, "busy_ns", json_ns(row->links[i].busy_ps));
        report_put(&object, "calls", calls_json(row, i));
        if (object == NULL || json_array_append_new(list, object) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* "0.10.0" */
static json_t *place_json(const struct lp_credit_wait *wait)
{
    char text[REPORT_PLACE_BYTES];
    return json_string(report_place(&wait->place, text));
}

static json_t *groups_json(const struct result_groups *groups, bool exact)
{
    json_t *object = json_object();
    put_unless_exact(exact, &object, "count", json_u64(groups->groups));
    put_unless_exact(exact, &object, "ranks", json_u64(groups->ranks));
    report_put(&object, "fastest_ns", json_ns(groups->fastest_ps));
    report_put(&object, "median_ns", json_ns(groups->median_ps));
    report_put(&object, "begin_ns", json_ns(groups->begin_ps));
    report_put(&object, "end_ns", json_ns(groups->end_ps));
    report_put(&object, "alone_ns", groups->alone_ps > 0 ? json_ns(groups->alone_ps) : json_null());
    return object;
}

static json_t *simulated_json(const struct result_simulated *part)
{
    return part->of > 0 ? json_u64(part->done) : json_null();
}

static json_t *shortcuts_json(const struct result_shortcuts *taken)
{
    json_t *object = json_object();
    report_put(&object, "fold", text_or_null(taken->fold != NULL ? taken->fold : ""));
    report_put(&object, "why_not", text_or_null(taken->why));
    report_put(&object, "sips_simulated", simulated_json(&taken->sips));
    report_put(&object, "iterations_simulated", simulated_json(&taken->iterations));
    report_put(&object, "operations_simulated", simulated_json(&taken->operations));
    report_put(&object, "factor", json_real(result_shortcut_factor(taken)));
    return object;
}

static json_t *sampled_json(const struct result_sampled *sampled)
{
    json_t *object = json_object();
    json_t *const list = json_array();
    for (uint32_t i = 0; list != NULL && i < sampled->ranks; i++)
        (void)json_array_append_new(
            list, json_integer(sample_rank(i, sampled->ranks, sampled->of_ranks)));
    report_put(&object, "ranks", json_u64(sampled->ranks));
    report_put(&object, "of_ranks", json_u64(sampled->of_ranks));
    report_put(&object, "which", list);
    report_put(&object, "chunks", json_u64(sampled->chunks));
    report_put(&object, "of_chunks", json_u64(sampled->of_chunks));
    report_put(&object, "elements", json_u64(sampled->elements));
    report_put(&object, "elements_proof", json_string(proof_name(sampled->proof)));
    report_put(&object, "fault", text_or_null(sampled->fault));
    return object;
}

/* exact: for a comparison; as struct result has them, and no member twice in two forms. */
static json_t *row_json(const struct result *result, const struct result_row *row, bool exact)
{
    json_t *object = json_object();
    put_unless_exact(exact, &object, "collective", text_or_null(row->collective));
    put_unless_exact(exact, &object, "algorithm", text_or_null(row->algorithm));
    put_unless_exact(exact, &object, "choice", text_or_null(row->choice));
    if (row->placement != NULL)
        put_unless_exact(exact, &object, "placement", json_string(row->placement));
    report_put(&object, "bytes", json_u64(row->bytes));
    put_unless_exact(exact, &object, "count", json_u64(row->count));
    put_unless_exact(exact, &object, "shards_per_rank",
                     row->shards > 0 ? json_u64(row->shards) : json_null());
    put_unless_exact(exact, &object, "bytes_per_rank",
                     row->shards > 0 ? json_u64(row->bytes * row->shards) : json_null());
    put_unless_exact(exact, &object, "dtype", text_or_null(row->dtype));
    put_unless_exact(exact, &object, "redop", text_or_null(row->redop));
    report_put(&object, "time_ns", json_ns(row->time_ps));
    report_put(&object, "host_time_ns", json_ns(row->host_time_ps));
    report_put(&object, "start_skew_ns", json_ns(row->start_skew_ps));
    put_unless_exact(exact, &object, "algbw_gbs", json_real(report_algbw_gbs(row)));
    put_unless_exact(exact, &object, "busbw_gbs", json_real(report_busbw_gbs(row)));
    if (row->flops > 0) {
        report_put(&object, "flops", json_real(row->flops));
        put_unless_exact(exact, &object, "tflops_per_s", json_real(report_tflops_per_s(row)));
    }
    if (result->built.has_cost)
        put_unless_exact(exact, &object, "time_cost_us",
                         real_or_null(report_time_cost_us(result, row)));
    if (result->built.has_energy) {
        put_unless_exact(exact, &object, "joules",
                         real_or_null(row->joules > 0 ? row->joules : NAN));
        put_unless_exact(exact, &object, "joules_per_byte",
                         real_or_null(report_joules_per_byte(row)));
    }
    report_put(&object, "bound_ns", json_ns(row->bound_ps));
    put_unless_exact(exact, &object, "moved_per_rank",
                     row->moved > 0 ? json_real(row->moved) : json_null());
    put_unless_exact(exact, &object, "bound_by",
                     text_or_null(row->bound_by == NULL ? "" : row->bound_by));
    report_put(&object, "wrong", row->wrong < 0 ? json_null() : json_integer(row->wrong));
    put_unless_exact(exact, &object, "proof",
                     text_or_null(row->wrong < 0 ? "" : proof_name(row->proof)));
    if (row->proof == PROOF_BOUND) {
        report_put(&object, "error_bound", json_real(row->error_bound));
        report_put(&object, "error_largest", json_real(row->error_largest));
    }
    if (row->sampled.of_ranks > 0)
        put_unless_exact(exact, &object, "sampled", sampled_json(&row->sampled));
    report_put(&object, "ranks_differ",
               row->ranks_differ < 0 ? json_null() : json_integer(row->ranks_differ));
    report_put(&object, "not_finite",
               row->not_finite < 0 ? json_null() : json_integer(row->not_finite));
    report_put(&object, "data_hash", report_hash_or_null(row->has_hash, row->data_hash));
    report_put(&object, "credit_wait_ns", json_ns(row->credit_longest.ps));
    report_put(&object, "credit_wait_pe",
               row->credit_longest.ps > 0 ? place_json(&row->credit_longest) : json_null());
    report_put(&object, "last_pe", row->done ? place_json(&row->credit_last) : json_null());
    report_put(&object, "last_pe_credit_wait_ns", json_ns(row->credit_last.ps));
    report_put(&object, "not_run", text_or_null(row->not_run != NULL ? row->not_run : ""));
    if (result->measured.path != NULL) {
        const bool is_known = row->measured_ps > 0;
        report_put(&object, "measured_ns", is_known ? json_ns(row->measured_ps) : json_null());
        report_put(&object, "error_percent",
                   is_known ? json_real(report_error_percent(row)) : json_null());
    }
    if (row->groups.groups > 0)
        report_put(&object, "groups", groups_json(&row->groups, exact));
    report_put(&object, "phases", phases_json(row, exact));
    report_put(&object, "link_kinds", link_kinds_json(row, exact));
    put_unless_exact(exact, &object, "shortcuts", shortcuts_json(&row->shortcuts));
    if (row->share_count > 0 && !exact)
        report_put(&object, "shared_links", shares_json(row));
    if (row->explain != NULL && !exact)
        report_put(&object, "explain", explain_json(row->explain));
    if (exact)
        report_put(&object, "busiest links", busiest_json(row));
    return object;
}

static json_t *rows_json(const struct result *result, bool exact)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < result->row_count && list != NULL; i++) {
        json_t *const object = row_json(result, &result->rows[i], exact);
        if (object == NULL || json_array_append_new(list, object) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *notes_json(const struct result_measured *measured)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < measured->note_count && list != NULL; i++)
        if (json_array_append_new(list, json_string(measured->notes[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *measured_json(const struct result *result)
{
    double median, largest;
    const size_t count = report_errors(result, &median, &largest);
    json_t *object = json_object();
    report_put(&object, "file", text_or_null(result->measured.path));
    report_put(&object, "format", json_string(result->measured.format));
    report_put(&object, "place", json_string(result->measured.place));
    report_put(&object, "sizes", json_u64(count));
    report_put(&object, "rows", json_u64(result->measured.rows));
    report_put(&object, "rows_read", json_u64(result->measured.rows_read));
    report_put(&object, "rows_wrong", json_u64(result->measured.rows_wrong));
    if (result->measured.ranks > 0)
        report_put(&object, "ranks", json_u64(result->measured.ranks));
    report_put(&object, "notes", notes_json(&result->measured));
    report_put(&object, "error_percent_median", count > 0 ? json_real(median) : json_null());
    report_put(&object, "error_percent_largest", count > 0 ? json_real(largest) : json_null());
    return object;
}

static json_t *built_json(const struct result_built *built)
{
    json_t *list = json_array();
    for (size_t i = 0; i < built->kind_count; i++) {
        json_t *object = json_object();
        report_put(&object, "kind", report_text(built->kinds[i].name));
        report_put(&object, "built", json_u64(built->kinds[i].links));
        report_put(&object, "bw_gbs", json_real(built->kinds[i].gbs));
        report_append(&list, object);
    }
    return list;
}

static json_t *topology_json(const struct result *result)
{
    json_t *object = json_object();
    const struct result_built *const built = &result->built;
    report_put(&object, "sips", json_u64(result->sips));
    report_put(&object, "cubes", json_u64(result->cubes));
    report_put(&object, "pes", json_u64(result->pes));
    report_put(&object, "links", built_json(built));
    report_put(&object, "switches", json_u64(built->switches));
    if (built->has_cost)
        report_put(&object, "cost", json_real(built->cost));
    if (built->has_energy)
        report_put(&object, "watts", json_real(built->watts));
    report_put(&object, "ipcq_queue_pairs", json_u64(result->queue_pairs));
    report_put(&object, "lps", json_u64(result->lps));
    return object;
}

/* Where there are several threads. */
static void put_cut(json_t **object, const struct result_engine *engine)
{
    uint64_t cut = 0, all = 0;
    for (int kind = 0; kind < HW_LINK_KINDS; kind++) {
        cut += engine->cut.link[kind].cut;
        all += engine->cut.link[kind].all;
    }
    report_put(object, "lps_per_thread_min", json_u64(engine->cut.lps_min));
    report_put(object, "lps_per_thread_max", json_u64(engine->cut.lps_max));
    report_put(object, "idle_threads", json_u64(engine->cut.idle));
    report_put(object, "links", json_u64(all));
    report_put(object, "cut_links", json_u64(cut));
    if (engine->cut.lookahead_ps != CW_TIME_MAX)
        report_put(object, "lookahead_ns", json_ns(engine->cut.lookahead_ps));
    report_put(object, "pinned", json_boolean(engine->stats.threads_pinned > 0));
}

static json_t *time_json(const struct cw_stats *stats)
{
    json_t *object = json_object();
    for (int i = 0; i < CW_ACTIVITIES; i++)
        report_put(&object, cw_activity_name[i], json_real(stats->time_share[i]));
    return object;
}

/* The counts that are written for each worker and for all together. */
static void put_counts(json_t **object, const struct cw_stats *stats)
{
    report_put(object, "rollbacks_primary", json_u64(stats->rollbacks_primary));
    report_put(object, "rollbacks_secondary", json_u64(stats->rollbacks_secondary));
    report_put(object, "rollback_events_mean", json_real(report_rollback_mean(stats)));
    report_put(object, "rollback_events_max", json_u64(stats->rollback_events_max));
    report_put(object, "messages_sent", json_u64(stats->messages_sent));
    report_put(object, "turns", json_u64(stats->turns));
    report_put(object, "turns_idle", json_u64(stats->turns_idle));
    report_put(object, "promises_raised", json_u64(stats->promises_raised));
    report_put(object, "window_first", json_u64(stats->window_first));
    report_put(object, "window_last", json_u64(stats->window_last));
    report_put(object, "window_mean", json_real(stats->window_mean));
    report_put(object, "gvt_round_mean_us", json_real(1e6 * stats->gvt_round_mean_s));
    report_put(object, "time_share", time_json(stats));
}

static json_t *worker_json(const struct cw_stats *stats)
{
    json_t *object = json_object();
    report_put(&object, "events_committed", json_u64(stats->events_committed));
    report_put(&object, "events_processed", json_u64(stats->events_processed));
    report_put(&object, "rolled_back_events", json_u64(stats->events_rolled_back));
    report_put(&object, "anti_messages", json_u64(stats->anti_messages));
    report_put(&object, "undo_bytes", json_u64(stats->undo_bytes));
    report_put(&object, "safe_events", json_u64(stats->safe_events));
    report_put(&object, "peak_events", json_u64(stats->events_alive_max));
    put_counts(&object, stats);
    return object;
}

static json_t *workers_json(const struct result_engine *engine)
{
    json_t *const list = json_array();
    for (uint32_t i = 0; i < engine->worker_count && list != NULL; i++) {
        json_t *const object = worker_json(&engine->workers[i]);
        if (object == NULL || json_array_append_new(list, object) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The phases of the process, in order. */
static json_t *process_json(const struct process_phases *phases)
{
    json_t *const list = json_array();
    for (size_t i = 0; list != NULL && i < phases->count; i++) {
        const struct process_phase *const phase = &phases->list[i];
        json_t *const one = json_pack(
            "{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:I}", "phase", phase->name, "wall_s",
            phase->wall_s, "engine_s", phase->times.run_s, "workers_s", phase->times.host_s,
            "work_s", phase->times.work_s, "longest_s", phase->times.longest_s, "serial_s",
            process_phase_serial_s(phase), "calls", (json_int_t)phase->times.host_calls);
        if (json_array_append_new(list, one) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

json_t *report_engine_json(const struct result_engine *engine)
{
    const struct cw_stats *const stats = &engine->stats;
    json_t *object = json_object();
    report_put(&object, "sync", json_string(engine->sync));
    report_put(&object, "threads", json_u64(engine->threads));
    report_put(&object, "partition", json_string(engine->partition));
    if (engine->cancellation != NULL) {
        report_put(&object, "cancellation", json_string(engine->cancellation));
        report_put(&object, "sends_reused", json_u64(stats->sends_reused));
    }
    report_put(&object, "events_committed", json_u64(stats->events_committed));
    report_put(&object, "events_processed", json_u64(stats->events_processed));
    report_put(&object, "rollbacks", json_u64(stats->rollbacks));
    report_put(&object, "rolled_back_events", json_u64(stats->events_rolled_back));
    report_put(&object, "rollbacks_injected", json_u64(stats->rollbacks_injected));
    report_put(&object, "anti_messages", json_u64(stats->anti_messages));
    report_put(&object, "efficiency", json_real(report_efficiency(stats)));
    report_put(&object, "gvt_rounds", json_u64(stats->gvt_rounds));
    report_put(&object, "moves", json_u64(stats->moves));
    report_put(&object, "parts_moved", json_u64(stats->parts_moved));
    report_put(&object, "move_s", json_real(stats->move_s));
    report_put(&object, "undo_bytes", json_u64(stats->undo_bytes));
    report_put(&object, "safe_events", json_u64(stats->safe_events));
    report_put(&object, "gathered_events", json_u64(stats->gathered_events));
    report_put(&object, "peak_events", json_u64(stats->events_alive_max));
    report_put(&object, "peak_rss_bytes", json_u64(engine->peak_rss_bytes));
    report_put(&object, "setup_s", json_real(engine->setup_s));
    report_put(&object, "run_s", json_real(engine->run_s));
    report_put(&object, "host_s", json_real(stats->host_s));
    if (engine->phases != NULL)
        report_put(&object, "process", process_json(engine->phases));
    report_put(&object, "committed_events_per_s",
               engine->folded ? json_null() : json_real(engine->events_per_s));
    report_put(&object, "ipcq_messages", json_u64(engine->ipcq_messages));
    report_put(&object, "trace_hash", report_hash_or_null(!engine->folded, stats->trace_hash));
    if (engine->folded)
        report_put(&object, "fold_hash", report_hash_or_null(true, engine->fold_hash));
    put_counts(&object, stats);
    report_put(&object, "workers", workers_json(engine));
    if (engine->has_cut)
        put_cut(&object, engine);
    return object;
}

/* The lines of a text, as strings. */
static json_t *lines_json(const char *text)
{
    json_t *const list = json_array();
    for (size_t length; list != NULL && text != NULL && *text != '\0'; text += length) {
        length = strcspn(text, "\n");
        char *const line = strndup(text, length);
        json_t *const value = line != NULL ? report_text(line) : NULL;
        free(line);
        if (json_array_append_new(list, value) != 0) {
            json_decref(list);
            return NULL;
        }
        length += text[length] == '\n';
    }
    return list;
}

static json_t *waiting_json(const struct result *result)
{
    json_t *const list = json_array();
    for (size_t i = 0; list != NULL && i < result->waiting_count; i++) {
        const struct result_waiting *const waiting = &result->waiting[i];
        json_t *object = json_object();
        report_put(&object, "pe", json_string(waiting->pe));
        report_put(&object, "rank", json_u64(waiting->rank));
        report_put(&object, "kernel", report_text(waiting->kernel));
        report_put(&object, "state", report_text(waiting->state)); /* it names a source file */
        report_put(&object, "since_ns", json_ns(waiting->since_ps));
        if (object == NULL || json_array_append_new(list, object) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *failure_json(const struct result *result)
{
    json_t *object = json_object();
    report_put(&object, "exit_code", json_u64((uint64_t)result->failure_code));
    report_put(&object, "message", report_text(result->failure));
    report_put(&object, "waiting", waiting_json(result));
    report_put(&object, "pointers", lines_json(result->pointers));
    return object;
}

json_t *report_document_with(const struct result *result, json_t *rows)
{
    json_t *object = json_object();
    report_put(&object, "schema", json_string("cubewarp.run/1"));
    report_put(&object, "version", json_string(CW_VERSION));
    report_put(&object, "command", json_string("run"));
    report_put(&object, "bench", text_or_null(result->bench));
    report_put(&object, "algorithm", text_or_null(result->algorithm));
    report_put(&object, "config_digest", json_string(result->config_digest));
    report_put(&object, "seed", json_u64(result->seed));
    report_put(&object, "input", text_or_null(result->input != NULL ? result->input : ""));
    report_put(&object, "topology", topology_json(result));
    report_put(&object, "engine", report_engine_json(&result->engine));
    if (result->measured.path != NULL)
        report_put(&object, "measured", measured_json(result));
    report_put(&object, "results", rows);
    report_put(&object, "sim_time_ns", json_ns(result->sim_time_ps));
    report_put(&object, "init_time_ns", json_ns(result->init_time_ps));
    report_put(&object, "credit_wait_ns", json_ns(result->credit_wait.ps));
    if (result->interrupted)
        report_put(&object, "interrupted", json_true());
    if (result->unfinished.bytes > 0)
        report_put(&object, "bytes_under_way", json_u64(result->unfinished.bytes));
    if (result->failure != NULL)
        report_put(&object, "error", failure_json(result));
    if (result->step != NULL)
        report_put(&object, "step", step_report_json(result->step));
    if (result->picture != NULL)
        report_put(&object, "picture", picture_json(result->picture));
    if (result->provenance != NULL)
        report_put(&object, "provenance", json_incref(result->provenance));
    return object;
}

json_t *report_document(const struct result *result)
{
    return report_document_with(result, rows_json(result, false));
}

json_t *report_row_json(const struct result *result, size_t row)
{
    return row_json(result, &result->rows[row], false);
}

json_t *report_comparison_json(const struct result *result)
{
    const struct cw_stats *const stats = &result->engine.stats;
    json_t *object = json_object();
    report_put(&object, "trace_hash", report_hash_or_null(true, stats->trace_hash));
    report_put(&object, "events_committed", json_u64(stats->events_committed));
    report_put(&object, "sim_time_ns", json_ns(result->sim_time_ps));
    report_put(&object, "init_time_ns", json_ns(result->init_time_ps));
    report_put(&object, "algorithm", json_string(result->algorithm));
    report_put(&object, "ipcq_messages", json_u64(result->engine.ipcq_messages));
    report_put(&object, "results", rows_json(result, true));
    return object;
}

int report_json_object(FILE *file, json_t *object, size_t digits, struct cw_error *error)
{
    const bool written =
        object != NULL &&
        json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(digits)) == 0 &&
        fputc('\n', file) != EOF;
    json_decref(object);
    if (written || ferror(file))
        return CW_OK;
    return cw_error_memory(error, "the JSON result");
}

/* Whether every time has at most 15 digits; all times of a row lie within the simulated time. */
static bool times_are_short(const struct result *result)
{
    bool are_short =
        result->sim_time_ps < DIGITS_EXACT_PS && result->init_time_ps < DIGITS_EXACT_PS;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *const row = &result->rows[i];
        are_short = are_short && row->time_ps < DIGITS_EXACT_PS &&
                    row->host_time_ps < DIGITS_EXACT_PS && row->bound_ps < DIGITS_EXACT_PS;
    }
    return are_short;
}

int report_digits(const struct result *result) { return times_are_short(result) ? 15 : 17; }

int report_json(FILE *file, const struct result *result, struct cw_error *error)
{
    return report_json_object(file, report_document(result), (size_t)report_digits(result), error);
}
