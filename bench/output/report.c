/*
 * report.c: the table that users of nccl-tests know, with simulated times. Rows stand alone on
 * their lines; all other lines begin with '#', so that scripts that read the output of nccl-tests
 * read it too.
 */
#include "bench/output/report.h"

#include "bench/explain/explain_text.h"
#include "bench/output/step_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static double report_ratio(double a, double b) { return b > 0 ? a / b : 0; }

double report_algbw_gbs(const struct result_row *row)
{
    return report_ratio((double)row->counted_bytes * 1000, (double)row->time_ps);
}

double report_busbw_gbs(const struct result_row *row)
{
    return report_algbw_gbs(row) * row->bus_factor;
}

double report_tflops_per_s(const struct result_row *row)
{
    return report_ratio(row->flops, (double)row->time_ps);
}

double report_time_cost_us(const struct result *result, const struct result_row *row)
{
    return result->built.has_cost && row->not_run == NULL
               ? result->built.cost * ((double)row->time_ps / 1e6)
               : NAN;
}

double report_joules_per_byte(const struct result_row *row)
{
    return row->joules > 0 && row->counted_bytes > 0 ? row->joules / (double)row->counted_bytes
                                                     : NAN;
}

double report_error_percent(const struct result_row *row)
{
    return 100 * ((double)row->time_ps / (double)row->measured_ps - 1);
}

/* The n-th least absolute error of the rows that have a measured time, from 0 on. Rows are few. */
static double nth_error(const struct result *result, size_t n)
{
    for (size_t i = 0; i < result->row_count; i++) {
        size_t less = 0, same = 0;
        if (result->rows[i].measured_ps <= 0)
            continue;
        const double error = fabs(report_error_percent(&result->rows[i]));
        for (size_t k = 0; k < result->row_count; k++)
            if (result->rows[k].measured_ps > 0) {
                const double other = fabs(report_error_percent(&result->rows[k]));
                less += other < error;
                same += other == error;
            }
        if (less <= n && n < less + same)
            return error;
    }
    return 0;
}

size_t report_errors(const struct result *result, double *median, double *largest)
{
    size_t count = 0;
    *median = *largest = 0;
    for (size_t i = 0; i < result->row_count; i++)
        count += result->rows[i].measured_ps > 0;
    if (count > 0) {
        *median = (nth_error(result, (count - 1) / 2) + nth_error(result, count / 2)) / 2;
        *largest = nth_error(result, count - 1);
    }
    return count;
}

double report_efficiency(const struct cw_stats *stats)
{
    return stats->events_processed == 0
               ? 1
               : (double)stats->events_committed / (double)stats->events_processed;
}

double report_rollback_mean(const struct cw_stats *stats)
{
    return report_ratio((double)stats->events_rolled_back, (double)stats->rollbacks);
}

static const char *print_decimals(int64_t value, uint64_t unit, int places,
                                  char buf[REPORT_NUMBER_BYTES])
{
    const uint64_t size = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
    snprintf(buf, REPORT_NUMBER_BYTES, "%s%" PRIu64 ".%0*" PRIu64, value < 0 ? "-" : "",
             size / unit, places, size % unit);
    return buf;
}

const char *report_ns(int64_t ps, char buf[REPORT_NUMBER_BYTES])
{
    return print_decimals(ps, 1000, 3, buf);
}

const char *report_us(int64_t ps, char buf[REPORT_NUMBER_BYTES])
{
    return print_decimals(ps, 1000000, 6, buf);
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

/* A row's size is a shard's; a rank's, where an automatic choice says how many shards it has. */
static uint64_t in_size(const struct result_row *row, uint64_t of_shard)
{
    return of_shard * (row->placement != NULL ? row->shards : 1);
}

static uint64_t size_of(const struct result_row *row) { return in_size(row, row->bytes); }

/* Sizes are a shard's; all rows have as many of them, except rows of single tiles, and rows with a
 * placement of their own. */
static void print_shards(FILE *file, const struct result *result)
{
    uint32_t shards = 0;
    bool together = false;
    if (result->row_count > 0 && result->rows[0].placement != NULL) {
        fputs("# sizes are bytes per rank, on as many PEs as the estimates say\n", file);
        return;
    }
    for (size_t i = 0; i < result->row_count && shards == 0; i++) {
        shards = result->rows[i].shards;
        together = result->rows[i].together;
    }
    if (shards == 1)
        fputs("# sizes are bytes per shard; 1 shard per rank\n", file);
    else if (together)
        fprintf(file,
                "# sizes are bytes per shard; %" PRIu32 " shards per rank: bytes per rank are "
                "%" PRIu32 " times the size\n",
                shards, shards);
    else if (shards > 0)
        fprintf(file,
                "# sizes are bytes per shard; the %" PRIu32
                " shards of a rank are its tensor: bytes "
                "per rank are %" PRIu32 " times the size, and bandwidths count them\n",
                shards, shards);
}

static void print_head(FILE *file, const struct result *result)
{
    fprintf(file,
            "# cubewarp %s: %s%s%s, %" PRIu64 " SIP%s, %" PRIu64 " cube%s, %" PRIu64
            " PE%s%s%s, configuration %s\n",
            CW_VERSION, result->bench, result->algorithm[0] == '\0' ? "" : " ", result->algorithm,
            result->sips, plural(result->sips), result->cubes, plural(result->cubes), result->pes,
            plural(result->pes), result->protocol == NULL ? "" : ", protocol ",
            result->protocol == NULL ? "" : result->protocol, result->config_digest);
    char init[REPORT_NUMBER_BYTES];
    fprintf(file, "# times are simulated; setting up the queues took %s us\n",
            report_us(result->init_time_ps, init));
    if (result->grid[0] != '\0')
        fprintf(file, "# SIPs: %s\n", result->grid);
    print_shards(file, result);
    fprintf(file, "#%15s %15s %6s %6s %15s %12s %12s %15s %7s %8s", "size(B)", "count(elements)",
            "type", "redop", "time(us)", "algbw(GB/s)", "busbw(GB/s)", "bound(us)", "eff(%)",
            "#wrong");
    if (result->measured.path != NULL)
        fprintf(file, " %13s %9s", "measured(us)", "error(%)");
    fputc('\n', file);
}

static const char *or_dash(const char *text) { return text[0] == '\0' ? "-" : text; }

/* The measured time, and the error of the simulated one. */
static void print_measured(FILE *file, const struct result_row *row)
{
    if (row->measured_ps > 0)
        fprintf(file, " %13.3f %+9.2f", (double)row->measured_ps / 1e6, report_error_percent(row));
    else
        fprintf(file, " %13s %9s", "-", "-");
}

static void report_print_row(FILE *file, const struct result_row *row, bool measured)
{
    if (row->not_run != NULL) {
        fprintf(file, "#%15" PRIu64 " %15" PRIu64 " %6s %6s not run: %s\n", size_of(row),
                in_size(row, row->count), or_dash(row->dtype), or_dash(row->redop), row->not_run);
        return;
    }
    char time[REPORT_NUMBER_BYTES];
    char bound[REPORT_NUMBER_BYTES];
    char wrong[REPORT_NUMBER_BYTES] = "N/A";
    if (row->wrong >= 0)
        snprintf(wrong, sizeof wrong, "%" PRId64, row->wrong);
    char eff[REPORT_NUMBER_BYTES] = "-"; /* a custom collective has no bound */
    const bool is_bound = row->bound_ps > 0 || row->time_ps == 0;
    if (is_bound)
        snprintf(eff, sizeof eff, "%.2f",
                 100 * report_ratio((double)row->bound_ps, (double)row->time_ps));
    fprintf(file, " %15" PRIu64 " %15" PRIu64 " %6s %6s %15s %12.3f %12.3f %15s %7s %8s",
            size_of(row), in_size(row, row->count), or_dash(row->dtype), or_dash(row->redop),
            report_us(row->time_ps, time), report_algbw_gbs(row), report_busbw_gbs(row),
            is_bound ? report_us(row->bound_ps, bound) : "-", eff, wrong);
    if (measured)
        print_measured(file, row);
    fputc('\n', file);
}

/* 1048576 as "1,048,576". */
static const char *grouped(double number, char text[REPORT_NUMBER_BYTES])
{
    char digits[REPORT_NUMBER_BYTES];
    const int count = snprintf(digits, sizeof digits, "%.0f", number);
    char *at = text;
    for (int i = 0; i < count && at + 2 < text + REPORT_NUMBER_BYTES; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return text;
}

/* The ranks of a sample, or the first and the last of many. */
static void print_ranks(FILE *file, const struct result_sampled *sampled)
{
    enum { LISTED = 8 };
    char number[REPORT_NUMBER_BYTES];
    for (uint32_t i = 0; i < sampled->ranks; i++) {
        const bool cut = sampled->ranks > LISTED && i == LISTED - 1;
        i = cut ? sampled->ranks - 1 : i;
        fprintf(file, "%s%s",
                cut     ? ", ... "
                : i > 0 ? ", "
                        : "",
                grouped(sample_rank(i, sampled->ranks, sampled->of_ranks), number));
    }
}

/* Rows that are verified by a sample: of which ranks, and how much of their results at least. */
static void print_sample(FILE *file, const struct result *result)
{
    const struct result_row *least = NULL, *faulty = NULL;
    char ranks[REPORT_NUMBER_BYTES], of[REPORT_NUMBER_BYTES];
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *const row = &result->rows[i];
        if (row->wrong < 0 || row->proof != PROOF_SAMPLE)
            continue;
        if (least == NULL || (double)row->sampled.chunks * (double)least->sampled.of_chunks <
                                 (double)least->sampled.chunks * (double)row->sampled.of_chunks)
            least = row;
        faulty = faulty == NULL && row->sampled.fault[0] != '\0' ? row : faulty;
    }
    if (least == NULL)
        return;
    const struct result_sampled *const sampled = &least->sampled;
    fprintf(file, "# %s: %s of %s ranks (", faulty == NULL ? "verified" : "NOT verified",
            grouped(sampled->ranks, ranks), grouped(sampled->of_ranks, of));
    print_ranks(file, sampled);
    fputs(")", file);
    if (sampled->chunks < sampled->of_chunks)
        fprintf(file, ", %s of %s chunks of each result", grouped((double)sampled->chunks, ranks),
                grouped((double)sampled->of_chunks, of));
    fprintf(file, ", %s\n", proof_text(PROOF_SAMPLE));
    fprintf(file, "#   %s of their elements computed, %s\n",
            grouped((double)sampled->elements, ranks), proof_text(sampled->proof));
    if (faulty != NULL)
        fprintf(file, "#   %s\n", faulty->sampled.fault);
}

/* By which proofs the rows are verified, each once; of a bound, the widest and the largest error.
 */
static void print_proofs(FILE *file, const struct result *result)
{
    print_sample(file, result);
    for (enum proof proof = PROOF_ORDER; proof < PROOF_SAMPLE; proof++) {
        double bound = 0, largest = 0;
        bool is_there = false;
        int64_t wrong = 0;
        for (size_t i = 0; i < result->row_count; i++) {
            const struct result_row *const row = &result->rows[i];
            if (row->wrong < 0 || row->proof != proof)
                continue;
            is_there = true;
            wrong += row->wrong;
            bound = row->error_bound > bound ? row->error_bound : bound;
            largest = row->error_largest > largest ? row->error_largest : largest;
        }
        if (!is_there)
            continue;
        if (wrong == 0)
            fprintf(file, "# Verified          : %s\n", proof_text(proof));
        else
            fprintf(file, "# NOT verified      : %" PRId64 " are wrong, compared %s\n", wrong,
                    proof_text(proof));
        if (proof == PROOF_BOUND)
            fprintf(file,
                    "#                     the bound is %.3g of the operands' magnitudes; the "
                    "largest error is %.3g (--input integers: bit for bit)\n",
                    bound, largest);
    }
}

/* Results that are right, and may surprise: each line once, over all sizes. */
static void print_surprises(FILE *file, const struct result *result)
{
    int64_t differ = 0, not_finite = 0;
    size_t sizes = 0;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *const row = &result->rows[i];
        differ += row->ranks_differ > 0 ? row->ranks_differ : 0;
        sizes += row->ranks_differ > 0;
        not_finite += row->not_finite > 0 ? row->not_finite : 0;
    }
    if (differ > 0)
        fprintf(file,
                "# ranks differ: %" PRId64 " element%s (in %zu of %zu rows) end%s with other bits "
                "on some ranks (COMMANDS.md, \"Verification\")\n",
                differ, plural((uint64_t)differ), sizes, result->row_count, differ == 1 ? "s" : "");
    if (not_finite > 0)
        fprintf(file, "# %" PRId64 " result%s not finite though all inputs are\n", not_finite,
                not_finite == 1 ? " is" : "s are");
}

static bool same_bound(const struct result_row *a, const struct result_row *b)
{
    return b->bound_by != NULL && strcmp(a->bound_by, b->bound_by) == 0 &&
           strcmp(a->collective, b->collective) == 0;
}

static bool same_moved(const struct result_row *a, const struct result_row *b)
{
    return a->moved == b->moved && strcmp(a->algorithm, b->algorithm) == 0;
}

/* How often ranks send the tensor, once for neighbouring rows that have the same. An all-reduce
 * that ranks alone carry out has a least. */
static void print_moved(FILE *file, const struct result *result)
{
    for (size_t i = 0, last; i < result->row_count; i = last + 1) {
        const struct result_row *const row = &result->rows[i];
        last = i;
        if (row->moved <= 0 || strcmp(row->collective, "all_reduce") != 0)
            continue;
        while (last + 1 < result->row_count && same_moved(row, &result->rows[last + 1]))
            last++;
        const double least = 2.0 * (row->ranks - 1) / row->ranks; /* where ranks alone reduce */
        fprintf(file, "# Moved per rank    : %.2f x the tensor, by %s; %sthe least is %.2f x\n",
                row->moved, row->algorithm,
                row->moved < least ? "without switches that reduce " : "", least);
    }
}

/* Of rows that compute. */
static void print_flops(FILE *file, const struct result *result)
{
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *const row = &result->rows[i];
        if (row->flops <= 0 || row->not_run != NULL)
            continue;
        fprintf(file, "# Compute per rank  : %.3f TFLOP/s", report_tflops_per_s(row));
        if (result->row_count > 1)
            fprintf(file, " (%s)", row->collective);
        fputc('\n', file);
    }
}

/* The term that decides the bound, once for neighbouring rows that have the same. */
static void print_bounds(FILE *file, const struct result *result)
{
    for (size_t i = 0, last; i < result->row_count; i = last + 1) {
        const struct result_row *const row = &result->rows[i];
        last = i;
        if (row->bound_by == NULL)
            continue;
        while (!result->has_groups && last + 1 < result->row_count &&
               same_bound(row, &result->rows[last + 1]))
            last++;
        fprintf(file, "# Bound by          : %s%s", row->bound_by,
                row->bound_without_metis ? ", without the cuts that METIS would find" : "");
        if (result->has_groups)
            fprintf(file, " (%s)\n", row->collective);
        else if (last > i)
            fprintf(file, " (%" PRIu64 " to %" PRIu64 " bytes)\n", size_of(row),
                    size_of(&result->rows[last]));
        else if (result->row_count > 1)
            fprintf(file, " (%" PRIu64 " bytes)\n", size_of(row));
        else
            fputc('\n', file);
    }
}

/* Why rows are far from their bounds though a link is busy nearly all the time. */
static void print_busiest(FILE *file, const struct result *result)
{
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_busiest *const busiest = &result->rows[i].busiest;
        if (busiest->kind == NULL)
            continue;
        fprintf(file, "# %" PRIu64 " bytes, busiest link: ", result->rows[i].bytes);
        if (busiest->bytes > 0)
            fprintf(file, "%.2f × its share (bytes %.2f ×, uneven %.2f ×), %s\n",
                    busiest->bytes * busiest->uneven, busiest->bytes, busiest->uneven,
                    busiest->kind);
        else
            fprintf(file, "%s, which is in no cut of the bound\n", busiest->kind);
    }
}

static void print_errors(FILE *file, const struct result *result)
{
    double median, largest;
    const size_t count = report_errors(result, &median, &largest);
    fprintf(file, "# Measured          : %s (%s, %s): %zu of %zu sizes", result->measured.path,
            result->measured.format, result->measured.place, count, result->row_count);
    if (count > 0)
        fprintf(file, "; error: median %.2f %%, largest %.2f %%", median, largest);
    fprintf(file, "\n# Measured rows     : %zu of %zu read\n", result->measured.rows_read,
            result->measured.rows);
    if (result->measured.rows_wrong > 0)
        fprintf(file, "# Measured wrong    : %zu of them had wrong results on the real machine\n",
                result->measured.rows_wrong);
    if (result->row_count > 0 && result->measured.ranks > 0 &&
        result->measured.ranks != result->rows[0].ranks)
        fprintf(file, "# Measured ranks    : %u, and the run has %u: not the same work\n",
                result->measured.ranks, result->rows[0].ranks);
}

/* Of many sizes the first and the last are enough; rows with names are all of interest. */
static bool has_details(const struct result *result, size_t row)
{
    enum { ALL_DETAILED = 4 };
    return result->row_count <= ALL_DETAILED || result->rows_named || row == 0 ||
           row + 1 == result->row_count;
}

/* What the machine is built of, and what a call costs, where parts have a cost or an energy. */
static void print_prices(FILE *file, const struct result *result)
{
    const struct result_built *const built = &result->built;
    if (!built->has_cost && !built->has_energy)
        return;
    fputs("# Built             :", file);
    for (size_t i = 0; i < built->kind_count; i++)
        fprintf(file, " %" PRIu64 " %s of %.15g GB/s,", built->kinds[i].links, built->kinds[i].name,
                built->kinds[i].gbs);
    fprintf(file, " %" PRIu64 " switch%s", built->switches, built->switches == 1 ? "" : "es");
    if (built->has_cost)
        fprintf(file, "; cost %.15g", built->cost);
    if (built->has_energy)
        fprintf(file, "; %.15g W", built->watts);
    fputc('\n', file);
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *const row = &result->rows[i];
        if (row->not_run != NULL || !has_details(result, i))
            continue;
        fprintf(file, "# %-18s:", i == 0 ? "A call" : "");
        if (result->rows_named)
            fprintf(file, " %s", row->collective);
        fprintf(file, " %" PRIu64 " bytes", size_of(row));
        if (built->has_cost)
            fprintf(file, "; time x cost %.6g us", report_time_cost_us(result, row));
        if (row->joules > 0)
            fprintf(file, "; %.6g J", row->joules);
        if (!isnan(report_joules_per_byte(row)))
            fprintf(file, ", %.6g pJ per byte", 1e12 * report_joules_per_byte(row));
        fputc('\n', file);
    }
}

/* Times are approximate. */
static void print_coarse(FILE *file, const struct result *result)
{
    if (result->coarse_tiles == 0)
        return;
    fprintf(file, "# Coarse tiles      : of %u tiles; times are approximate", result->coarse_tiles);
    if (result->coarse_doubt != NULL)
        fprintf(file, ", by more than 10 %% for some of %s", result->coarse_doubt);
    fputs(" (perf/results/coarse.md)\n", file);
}

/* Names the defaults that cost much. */
static void print_costs(FILE *file, const struct result *result)
{
    for (size_t i = 0; i < result->cost_count; i++) {
        const struct result_cost *const cost = &result->costs[i];
        fprintf(file,
                "# Costs much        : %s: %s, %.0f %% of the time at %" PRIu64
                " bytes (--set %s=%s)\n",
                cost->key, cost->value, 100 * cost->share, size_of(&result->rows[cost->row]),
                cost->key, cost->other);
    }
}

/* Of several calls together: it has no bytes. */
static bool is_sum(const struct result_row *row) { return row->groups.calls > 0; }

static void print_foot(FILE *file, const struct result *result)
{
    int64_t wrong = 0;
    bool verified = false;
    double busbw = 0;
    size_t ran = 0;
    for (size_t i = 0; i < result->row_count; i++) {
        ran += result->rows[i].not_run == NULL && !is_sum(&result->rows[i]);
        busbw += report_busbw_gbs(&result->rows[i]);
        if (result->rows[i].wrong < 0)
            continue;
        verified = true;
        wrong += result->rows[i].wrong;
    }
    if (verified)
        fprintf(file, "# Wrong values      : %" PRId64 "%s\n", wrong, wrong == 0 ? " OK" : "");
    else
        fputs("# Wrong values      : not verified (--verify-data)\n", file);
    print_proofs(file, result);
    print_surprises(file, result);
    if (result->credit_wait.ps > 0) {
        const struct hw_place *const at = &result->credit_wait.place;
        char us[REPORT_NUMBER_BYTES];
        fprintf(file,
                "# Waited for credits: %s us at most, on PE %" PRIu32 ".%" PRIu32 ".%" PRIu32
                ", in the whole run (recv_blocks_on_credit: true)\n",
                report_us(result->credit_wait.ps, us), at->sip, at->cube, at->pe);
    }
    print_coarse(file, result);
    print_prices(file, result);
    print_costs(file, result);
    fprintf(file, "# Avg bus bandwidth : %.3f\n", report_ratio(busbw, (double)ran));
    if (result->measured.path != NULL)
        print_errors(file, result);
    print_bounds(file, result);
    print_busiest(file, result);
    print_moved(file, result);
    print_flops(file, result);
}

static void print_phases(FILE *file, const struct result_row *row)
{
    fprintf(file, "#\n# %-32s %15s %15s %15s\n", "phase", "min(us)", "mean(us)", "max(us)");
    for (size_t i = 0; i < row->phase_count; i++) {
        const struct result_phase *const phase = &row->phases[i];
        char least[REPORT_NUMBER_BYTES];
        char most[REPORT_NUMBER_BYTES];
        fprintf(file, "# %-32s %15s %15.6f %15s\n", phase->name, report_us(phase->min_ps, least),
                phase->mean_ps / 1e6, report_us(phase->max_ps, most));
    }
}

const char *report_place(const struct hw_place *place, char buf[REPORT_PLACE_BYTES])
{
    snprintf(buf, REPORT_PLACE_BYTES, "%" PRIu32 ".%" PRIu32 ".%" PRIu32, place->sip, place->cube,
             place->pe);
    return buf;
}

/* Waits for credits, of two PEs. */
static void print_credits(FILE *file, const struct result_row *row)
{
    static const char *const which[] = {"longest", "ended last"};
    const struct lp_credit_wait *const waits[] = {&row->credit_longest, &row->credit_last};
    fprintf(file, "#\n# %-32s %15s %15s %15s\n", "waits for credits", "PE", "time(us)", "time(%)");
    for (size_t i = 0; i < 2; i++) {
        char place[REPORT_PLACE_BYTES], us[REPORT_NUMBER_BYTES];
        fprintf(file, "# %-32s %15s %15s %15.2f\n", which[i], report_place(&waits[i]->place, place),
                report_us(waits[i]->ps, us),
                100 * report_ratio((double)waits[i]->ps, (double)row->time_ps));
    }
}

/* Whose bytes a link carried, of calls at once. */
static void print_shares(FILE *file, const struct result_row *row, size_t link)
{
    const char *separator = "#  ";
    uint64_t rest = row->links[link].bytes;
    for (size_t i = 0; i < row->share_count; i++) {
        const struct result_share *const share = &row->shares[i];
        rest -= share->bytes[link];
        if (share->bytes[link] == 0)
            continue;
        fprintf(file, "%s %s %.1f %%", separator, share->call,
                100 * report_ratio((double)share->bytes[link], (double)row->links[link].bytes));
        separator = ",";
    }
    if (row->share_count > 0 && rest > 0) /* no call of a group counts a computation's */
        fprintf(file, "%s computations %.1f %%", separator,
                100 * report_ratio((double)rest, (double)row->links[link].bytes));
    if (row->share_count > 0)
        fputc('\n', file);
}

static void print_links(FILE *file, const struct result_row *row)
{
    fprintf(file, "#\n# %-40s %15s %8s %17s\n", "busiest links", "bytes", "busy(%)",
            "longest queue(us)");
    for (size_t i = 0; i < row->link_count; i++) {
        const struct result_link *const link = &row->links[i];
        char queue[REPORT_NUMBER_BYTES], name[sizeof link->name + 24];
        if (link->alike > 1)
            snprintf(name, sizeof name, "%s, %" PRIu32 " alike", link->name, link->alike);
        else
            snprintf(name, sizeof name, "%s", link->name);
        fprintf(file, "# %-40s %15" PRIu64 " %8.2f %17s\n", name, link->bytes,
                100 * report_ratio((double)link->busy_ps, (double)row->time_ps),
                report_us(link->queue_ps_max, queue));
        print_shares(file, row, i);
    }
}

/* Where the time went; the use of each kind of link is the row's. */
static void print_explanation(FILE *file, const struct result_row *row)
{
    if (row->kind_count > 0)
        fprintf(file, "#\n# %-40s %15s %15s\n", "kinds of links, those in use", "links", "busy(%)");
    for (size_t i = 0; i < row->kind_count; i++) {
        char name[48];
        if (row->kinds[i].built > row->kinds[i].links)
            snprintf(name, sizeof name, "%s, of %" PRIu64, row->kinds[i].name, row->kinds[i].built);
        else
            snprintf(name, sizeof name, "%s", row->kinds[i].name);
        fprintf(file, "# %-40s %15" PRIu64 " %15.2f\n", name, row->kinds[i].links,
                100 * report_ratio((double)row->kinds[i].busy_ps,
                                   (double)row->time_ps * (double)row->kinds[i].links));
    }
    explain_print(file, row->explain);
}

/* One hash of all rows' data; of a single row its data_hash itself. */
static bool result_hash(const struct result *result, uint64_t *hash)
{
    bool any = false;
    *hash = 0;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *const row = &result->rows[i];
        if (row->not_run != NULL || is_sum(row))
            continue;
        if (row->groups.groups > 0 && row->shards == 0) /* barriers and computations have no data */
            continue;
        if (result->step != NULL && i > 0) /* the step's own row has all data */
            continue;
        if (!row->has_hash)
            return false;
        const uint64_t both[2] = {*hash, row->data_hash};
        *hash = !any ? row->data_hash : XXH3_64bits(both, sizeof both);
        any = true;
    }
    return any;
}

/* "3 of 1,000 iterations", after what stands there already. */
static void print_simulated(FILE *file, const struct result_simulated *part, const char *name,
                            bool *any)
{
    char done[REPORT_NUMBER_BYTES], of[REPORT_NUMBER_BYTES];
    if (part->of == 0)
        return;
    fprintf(file, "%s%s of %s %s", *any ? ", " : "", grouped((double)part->done, done),
            grouped((double)part->of, of), name);
    *any = true;
}

static bool same_part(const struct result_simulated *a, const struct result_simulated *b)
{
    return a->of == b->of && a->done == b->done;
}

static bool same_shortcuts(const struct result_shortcuts *a, const struct result_shortcuts *b)
{
    return a->fold == b->fold && same_part(&a->sips, &b->sips) &&
           same_part(&a->iterations, &b->iterations) && same_part(&a->operations, &b->operations);
}

static bool takes_shortcut(const struct result_row *row)
{
    const struct result_shortcuts *const taken = &row->shortcuts;
    return taken->sips.of + taken->iterations.of + taken->operations.of > 0;
}

/* A run of fewer SIPs takes no time worth saving. */
enum { SIPS_WORTH_A_WORD = 64 };

/* What was simulated of each row that ran; rows in line that are alike in it together. And why all
 * SIPs of a step or of a large machine were. */
static void print_shortcuts(FILE *file, const struct result *result)
{
    size_t first = 0, next;
    bool taken = false;
    for (size_t i = 0; i < result->row_count; i++)
        taken |= takes_shortcut(&result->rows[i]);
    while (first < result->row_count && result->rows[first].not_run != NULL)
        first++;
    for (size_t i = first; taken && i < result->row_count; i = next) {
        const struct result_shortcuts *const row = &result->rows[i].shortcuts;
        char factor[REPORT_NUMBER_BYTES];
        bool any = false;
        for (next = i + 1; next < result->row_count; next++)
            if (result->rows[next].not_run == NULL &&
                !same_shortcuts(row, &result->rows[next].shortcuts))
                break;
        fputs("# simulated: ", file);
        if (i > first || next < result->row_count)
            fprintf(file, "of %" PRIu64 " B%s: ", size_of(&result->rows[i]),
                    next - i > 1 ? " and on" : "");
        print_simulated(file, &row->sips, "SIPs", &any);
        if (row->sips.of > 0)
            fprintf(file, " (by %s)", row->fold);
        print_simulated(file, &row->iterations, "iterations", &any);
        print_simulated(file, &row->operations, "operations", &any);
        if (any)
            fprintf(file, ", factor %s\n", grouped(result_shortcut_factor(row), factor));
        else
            fputs("everything\n", file);
        if (row->sips.of > 0 && row->why[0] != '\0')
            fprintf(file, "# not fewer: %s\n", row->why);
    }
    if (first < result->row_count && result->rows[first].shortcuts.sips.of == 0 &&
        result->rows[first].shortcuts.why[0] != '\0' &&
        (result->step != NULL || result->sips >= SIPS_WORTH_A_WORD))
        fprintf(file, "# simulated: all SIPs: %s\n", result->rows[first].shortcuts.why);
}

/* Of the representatives of a folded run alone: no rate of it is the engine's. */
static void print_folded_engine(FILE *file, const struct result *result)
{
    const struct result_engine *const engine = &result->engine;
    fprintf(file,
            "#\n# engine: seed %" PRIu64 ", %s, threads %" PRIu32 ", events %" PRIu64
            ", wall time %.3f s, memory %.1f MiB, result hash none, fold hash %016" PRIx64 "\n",
            result->seed, engine->sync, engine->threads, engine->stats.events_committed,
            engine->setup_s + engine->run_s, (double)engine->peak_rss_bytes / 1048576,
            engine->fold_hash);
}

static void print_engine(FILE *file, const struct result *result)
{
    const struct result_engine *const engine = &result->engine;
    uint64_t hash;
    char data[32] = "none";
    if (result_hash(result, &hash))
        snprintf(data, sizeof data, "%016" PRIx64, hash);
    fprintf(file,
            "#\n# engine: seed %" PRIu64 ", %s, threads %" PRIu32 ", events %" PRIu64
            ", events/s %.4g, IPCQ messages/s %.4g, efficiency %.1f %%, wall time %.3f s, memory "
            "%.1f MiB, result hash %s, trace hash %016" PRIx64 "\n",
            result->seed, engine->sync, engine->threads, engine->stats.events_committed,
            engine->events_per_s, report_ratio((double)engine->ipcq_messages, engine->run_s),
            100 * report_efficiency(&engine->stats), engine->setup_s + engine->run_s,
            (double)engine->peak_rss_bytes / 1048576, data, engine->stats.trace_hash);
}

void report_stress(FILE *file, const struct cw_stats *stats)
{
    if (stats->rollbacks_injected > 0)
        fprintf(file,
                "# stress: %" PRIu64 " rollbacks injected, %" PRIu64 " states moved, %" PRIu64
                " looks at mailboxes held back\n",
                stats->rollbacks_injected, stats->states_moved, stats->looks_held_back);
}

/* The partition: LPs per thread, cut links, lookahead. */
static void print_cut(FILE *file, const struct result_engine *engine)
{
    const struct lp_cut *const cut = &engine->cut;
    char lookahead[REPORT_NUMBER_BYTES];
    fprintf(file, "# partition: %s, LPs per thread %" PRIu32 "..%" PRIu32 ", links cut:",
            engine->partition, cut->lps_min, cut->lps_max);
    const char *separator = "";
    for (int kind = 0; kind < HW_LINK_KINDS; kind++) {
        if (cut->link[kind].all == 0)
            continue;
        fprintf(file, "%s %" PRIu32 " of %" PRIu32 " %s", separator, cut->link[kind].cut,
                cut->link[kind].all, cut->link[kind].name);
        separator = ",";
    }
    if (cut->lookahead_ps == CW_TIME_MAX)
        fputs("; nothing goes from one thread to another", file);
    else
        fprintf(file, "; lookahead %s ns", report_ns(cut->lookahead_ps, lookahead));
    if (cut->idle > 0)
        fprintf(file, "; %" PRIu32 " of %" PRIu32 " threads idle", cut->idle, engine->threads);
    fputs(engine->stats.threads_pinned > 0 ? "; pinned\n" : "; not pinned\n", file);
}

/* A share of the threads' time. */
static const double MOSTLY_IDLE = 0.5;

void report_threads(FILE *file, const struct result_engine *engine)
{
    const struct cw_stats *const stats = &engine->stats;
    if (engine->threads < 2)
        return;
    double timed = 0;
    for (int i = 0; i < CW_ACTIVITIES; i++)
        timed += stats->time_share[i];
    fputs("# time of the threads:", file);
    for (int i = 0; i < CW_ACTIVITIES && timed > 0; i++)
        fprintf(file, "%s %s %.1f %%", i == 0 ? "" : ",", cw_activity_name[i],
                100 * stats->time_share[i]);
    fputs(timed > 0 ? " (sampled)\n" : " the run was too short for a sample\n", file);
    if (stats->time_share[CW_IDLE] > MOSTLY_IDLE)
        fputs("# the threads mostly waited: the model has less to do at a time than they could, or "
              "others keep the cores busy; try --threads 1, or --no-pin\n",
              file);
    fprintf(file,
            "# rollbacks: primary %" PRIu64 ", secondary %" PRIu64
            ", events in one: mean %.1f, most %" PRIu64 "; anti-messages %" PRIu64
            "; window: mean %.0f events; GVT: %" PRIu64 " rounds of %.1f us\n",
            stats->rollbacks_primary, stats->rollbacks_secondary, report_rollback_mean(stats),
            stats->rollback_events_max, stats->anti_messages, stats->window_mean, stats->gvt_rounds,
            1e6 * stats->gvt_round_mean_s);
    if (stats->moves > 0)
        fprintf(file,
                "# balance: %" PRIu64 " moves of %" PRIu64 " parts between threads, %.1f us each\n",
                stats->moves, stats->parts_moved, 1e6 * stats->move_s / (double)stats->moves);
}

/* The groups of a call: those beside the slowest, when they began and ended, what others cost. */
static void print_groups(FILE *file, const struct result_row *row)
{
    const struct result_groups *const groups = &row->groups;
    char number[REPORT_NUMBER_BYTES];
    fprintf(file, "#   %" PRIu32 " group%s of %" PRIu32 " rank%s", groups->groups,
            plural(groups->groups), groups->ranks, plural(groups->ranks));
    if (groups->groups > 1) {
        fprintf(file, ": fastest %s us", report_us(groups->fastest_ps, number));
        fprintf(file, ", median %s us", report_us(groups->median_ps, number));
    }
    fprintf(file, "; from %s", report_us(groups->begin_ps, number));
    fprintf(file, " to %s us", report_us(groups->end_ps, number));
    if (groups->alone_ps > 0)
        fprintf(file, "; alone %s us: %.2f times as long here", report_us(groups->alone_ps, number),
                report_ratio((double)row->time_ps, (double)groups->alone_ps));
    fputc('\n', file);
}

void report_table_row(FILE *file, const struct result *result, size_t row)
{
    if (result->step != NULL) /* all of it is in its tables */
        return;
    if (row == 0)
        print_head(file, result);
    if (result->rows_named)
        fprintf(file, "# %s\n", result->rows[row].collective);
    report_print_row(file, &result->rows[row], result->measured.path != NULL);
    if (result->rows[row].groups.groups > 0)
        print_groups(file, &result->rows[row]);
}

/* Of the sizes between them the limit alone, where it was asked for. */
static void print_limit(FILE *file, const struct result_row *row)
{
    char sentence[EXPLAIN_SENTENCE_BYTES];
    if (row->explain != NULL)
        fprintf(file, "#\n# ---- %" PRIu64 " B: %s\n", size_of(row),
                explain_sentence(row->explain, sentence, sizeof sentence));
}

/* What limits the largest and the smallest size of a run that shows a machine: a link that is busy
 * for most of the time, or latency. */
static void print_closing(FILE *file, const struct result *result)
{
    const struct result_row *first = NULL, *last = NULL;
    for (size_t i = 0; i < result->row_count; i++)
        if (result->rows[i].not_run == NULL) {
            first = first == NULL ? &result->rows[i] : first;
            last = &result->rows[i];
        }
    if (last == NULL)
        return;
    const struct result_link *const busiest = last->link_count > 0 ? &last->links[0] : NULL;
    const double busy =
        busiest != NULL ? report_ratio((double)busiest->busy_ps, (double)last->time_ps) : 0;
    fprintf(file, "#\n# %" PRIu64 " bytes per rank take %.3f times the bound: ",
            last->bytes * last->shards,
            report_ratio((double)last->time_ps, (double)last->bound_ps));
    if (busy >= 0.5)
        fprintf(file, "they are limited by %s, busy for %.0f %% of the time", busiest->name,
                100 * busy);
    else
        fprintf(file,
                "they are limited by latency and by the work of PEs, since no link is busy for "
                "more than %.0f %% of "
                "the time",
                100 * busy);
    if (first != last)
        fprintf(file, "; %" PRIu64 " bytes by latency, %.3f times the bound",
                first->bytes * first->shards,
                report_ratio((double)first->time_ps, (double)first->bound_ps));
    fputs(" (--explain has the parts).\n", file);
}

/* Before a row's details. Barriers and all calls together have no size. */
static void print_title(FILE *file, const struct result_row *row, bool named)
{
    fprintf(file, "#\n# ---- %s", named ? row->collective : "");
    if (!named || row->dtype[0] != '\0')
        fprintf(file, "%s%" PRIu64 " B", named ? ", " : "", size_of(row));
    fputc('\n', file);
}

void report_table_rest(FILE *file, const struct result *result)
{
    size_t left_out = 0;
    if (result->step != NULL)
        step_report_table(file, result->step);
    else
        print_foot(file, result);
    if (result->step != NULL && result->rows[0].explain != NULL)
        explain_print(file, result->rows[0].explain);
    for (size_t i = 0; i < result->row_count && result->step == NULL; i++) {
        const struct result_row *const row = &result->rows[i];
        if (!has_details(result, i)) {
            left_out++;
            print_limit(file, row);
            continue;
        }
        if (left_out > 0)
            fprintf(file, "#\n# ---- %zu sizes between: --json has their phases, waits and links\n",
                    left_out);
        left_out = 0;
        if (result->row_count > 1 &&
            (row->phase_count + row->link_count > 0 || row->explain != NULL))
            print_title(file, row, result->rows_named);
        if (row->phase_count > 0)
            print_phases(file, row);
        if (row->credit_longest.ps > 0)
            print_credits(file, row);
        if (row->link_count > 0)
            print_links(file, row);
        if (row->explain != NULL)
            print_explanation(file, row);
    }
    if (result->engine.folded)
        print_folded_engine(file, result);
    else
        print_engine(file, result);
    print_shortcuts(file, result);
    report_stress(file, &result->engine.stats);
    if (result->engine.has_cut)
        print_cut(file, &result->engine);
    report_threads(file, &result->engine);
    if (!result->shows_machine)
        return;
    if (result->rest != NULL && result->rest[0] != '\0')
        fprintf(file, "#\n# %s\n", result->rest);
    print_closing(file, result);
}

void report_table(FILE *file, const struct result *result)
{
    for (size_t i = 0; i < result->row_count; i++)
        report_table_row(file, result, i);
    report_table_rest(file, result);
}
