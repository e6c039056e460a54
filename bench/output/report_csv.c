/*
 * report_csv.c: one line per row, first the options of the run, then the results; no padding.
 * A text with a comma is quoted: not_run always, values of --set and --tag, and the algorithm,
 * where a choice has a name such as `ring_rs_ag, 4 rings`. Threads, mode and partition change no
 * result and have no column: the file is the same to the byte for any of them.
 */
#include "bench/output/report_csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/output/report.h"

/* That machines whose parts have a cost or an energy, runs with --measured, and of groups, have. */
static const char price_columns[] = ",links_built,switches,cost,time_cost_us,watts,joules,"
                                    "joules_per_byte";
static const char measured_columns[] = ",measured_ns,error_percent";
static const char group_columns[] = ",group_set,group_count,group_ranks,group_fastest_ns,"
                                    "group_median_ns,group_begin_ns,group_end_ns,group_alone_ns";
static const char columns[] =
    "bench,collective,algorithm,config_digest,sips,cubes,pes,seed,"
    "dtype,redop,bytes,count,time_ns,host_time_ns,start_skew_ns,algbw_gbs,busbw_gbs,"
    "bound_ns,wrong,data_hash,input,proof,shards_per_rank,bytes_per_rank,credit_wait_ns,"
    "last_pe,last_pe_credit_wait_ns,not_run,ranks_differ,not_finite,"
    "fold,sips_simulated,iterations_simulated,operations_simulated";

static void print_csv_ns(FILE *file, int64_t ps)
{
    char text[REPORT_NUMBER_BYTES];
    fprintf(file, ",%s", report_ns(ps, text));
}

/* Empty where it is not known. */
static void print_csv_count(FILE *file, int64_t count)
{
    if (count >= 0)
        fprintf(file, ",%" PRId64, count);
    else
        fputc(',', file);
}

static void print_simulated(FILE *file, const struct result_simulated *part)
{
    print_csv_count(file, part->of > 0 ? (int64_t)part->done : -1);
}

/* A sentence has commas. */
static void print_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

/* A field of any text after others: an algorithm, a value of --set or --tag. */
static void print_value(FILE *file, const char *text)
{
    fputc(',', file);
    if (strpbrk(text, ",\"\r\n") != NULL)
        print_quoted(file, text);
    else
        fputs(text, file);
}

/* The columns of groups: of a row of all calls empty. */
static void print_groups(FILE *file, const struct result_row *row)
{
    const struct result_groups *const groups = &row->groups;
    const char *const colon = strchr(row->collective, ':');
    if (groups->groups == 0 || colon == NULL) {
        fputs(",,,,,,,,", file);
        return;
    }
    print_value(file, colon + 1);
    fprintf(file, ",%" PRIu32 ",%" PRIu32, groups->groups, groups->ranks);
    print_csv_ns(file, groups->fastest_ps);
    print_csv_ns(file, groups->median_ps);
    print_csv_ns(file, groups->begin_ps);
    print_csv_ns(file, groups->end_ps);
    if (groups->alone_ps > 0)
        print_csv_ns(file, groups->alone_ps);
    else
        fputc(',', file);
}

static bool is_priced(const struct result *result)
{
    return result->built.has_cost || result->built.has_energy;
}

/* Empty where it is not known. */
static void print_real(FILE *file, double value, bool known)
{
    fputc(',', file);
    if (known && !isnan(value))
        fprintf(file, "%.15g", value);
}

static void print_prices(FILE *file, const struct result *result, const struct result_row *row)
{
    const struct result_built *const built = &result->built;
    fprintf(file, ",%" PRIu64 ",%" PRIu64, built->links, built->switches);
    print_real(file, built->cost, built->has_cost);
    print_real(file, report_time_cost_us(result, row), built->has_cost);
    print_real(file, built->watts, built->has_energy);
    print_real(file, row->joules, row->joules > 0);
    print_real(file, report_joules_per_byte(row), true);
}

void report_csv_row(FILE *file, const struct result *result, const struct result_row *row)
{
    fprintf(file, "%s,%s", result->bench, row->collective);
    print_value(file, row->algorithm);
    fprintf(file, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%s,%" PRIu64 ",%" PRIu64,
            result->config_digest, result->sips, result->cubes, result->pes, result->seed,
            row->dtype, row->redop, row->bytes, row->count);
    print_csv_ns(file, row->time_ps);
    print_csv_ns(file, row->host_time_ps);
    print_csv_ns(file, row->start_skew_ps);
    fprintf(file, ",%.15g,%.15g", report_algbw_gbs(row), report_busbw_gbs(row));
    print_csv_ns(file, row->bound_ps);
    print_csv_count(file, row->wrong);
    if (row->has_hash)
        fprintf(file, ",%016" PRIx64, row->data_hash);
    else
        fputc(',', file);
    fprintf(file, ",%s,%s", result->input != NULL ? result->input : "",
            row->wrong >= 0 ? proof_name(row->proof) : "");
    if (row->shards > 0)
        fprintf(file, ",%" PRIu32 ",%" PRIu64, row->shards, row->bytes * row->shards);
    else
        fputs(",,", file);
    print_csv_ns(file, row->credit_longest.ps);
    char place[REPORT_PLACE_BYTES];
    fprintf(file, ",%s", row->done ? report_place(&row->credit_last.place, place) : "");
    print_csv_ns(file, row->credit_last.ps);
    fputc(',', file);
    if (row->not_run != NULL)
        print_quoted(file, row->not_run);
    print_csv_count(file, row->ranks_differ);
    print_csv_count(file, row->not_finite);
    fprintf(file, ",%s", row->shortcuts.fold != NULL ? row->shortcuts.fold : "");
    print_simulated(file, &row->shortcuts.sips);
    print_simulated(file, &row->shortcuts.iterations);
    print_simulated(file, &row->shortcuts.operations);
    if (is_priced(result))
        print_prices(file, result, row);
    if (result->measured.path != NULL && row->measured_ps > 0) {
        print_csv_ns(file, row->measured_ps);
        fprintf(file, ",%.15g", report_error_percent(row));
    } else if (result->measured.path != NULL)
        fputs(",,", file);
    if (result->has_groups)
        print_groups(file, row);
    for (size_t i = 0; i < result->column_count; i++)
        print_value(file, result->columns[i].value);
    fputc('\n', file);
}

static bool names_column(const char *list, const char *name)
{
    const size_t bytes = strlen(name);
    for (const char *at = list; *at != '\0'; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strcspn(at, ",") == bytes && memcmp(at, name, bytes) == 0)
            return true;
    }
    return false;
}

bool report_csv_has_column(const char *name)
{
    return names_column(columns, name) || names_column(price_columns, name) ||
           names_column(measured_columns, name) || names_column(group_columns, name);
}

void report_csv_head(FILE *file, const struct result *result)
{
    fprintf(file, "%s%s%s%s", columns, is_priced(result) ? price_columns : "",
            result->measured.path != NULL ? measured_columns : "",
            result->has_groups ? group_columns : "");
    for (size_t i = 0; i < result->column_count; i++)
        fprintf(file, ",%s", result->columns[i].name);
    fputc('\n', file);
}

void report_csv(FILE *file, const struct result *result)
{
    report_csv_head(file, result);
    for (size_t i = 0; i < result->row_count; i++)
        report_csv_row(file, result, &result->rows[i]);
}
