/*
 * test_result_document.c: a line run inside this process gives the document that `run --json`
 * writes, again and again in one process; failures and refusals come back as texts; a document is
 * read back with its rows, and a text that is none is refused with its place.
 */
#include "test/support/test_config_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/options/options.h"
#include "bench/options/options_run.h"
#include "bench/result/changed_values.h"
#include "bench/result/result_document.h"
#include "bench/result/run_document.h"
#include "collectives/config/config_load.h"
#include "core/os/text_stream.h"

enum { WORDS_MAX = 24 };

/* Runs "run" with these words behind it. */
static int run_words(struct run_kept *kept, struct run_outcome *outcome, const char *words)
{
    char text[512], *argv[WORDS_MAX] = {"run"};
    int argc = 1;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok(text, " "); word != NULL && argc < WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    static struct run_options run;
    struct option_parse parse = {.command = COMMAND_RUN, .values = &run};
    struct cw_error error;
    run_options_defaults(&run);
    assert_int_equal(options_read(&parse, argc, argv, &error), CW_OK);
    return run_document(&run, argc, argv, kept, outcome);
}

static const json_t *provenance_member(const struct run_outcome *outcome, const char *key)
{
    return json_object_get(json_object_get(outcome->document, "provenance"), key);
}

static void test_same_line_same_rows(void **state)
{
    (void)state;
    struct run_kept *const kept = run_kept_create(64 << 20);
    json_t *first = NULL;
    assert_non_null(kept);
    for (int i = 0; i < 3; i++) {
        struct run_outcome outcome;
        assert_int_equal(run_words(kept, &outcome, "--preset tiny --bytes 1KiB:4KiB"), CW_OK);
        assert_null(outcome.message);
        assert_null(outcome.warnings);
        json_t *const rows = json_object_get(outcome.document, "results");
        assert_int_equal(json_array_size(rows), 3);
        if (first == NULL)
            first = json_incref(rows);
        assert_true(json_equal(first, rows));
        run_outcome_free(&outcome);
    }
    json_decref(first);
    run_kept_free(kept);
}

static void test_provenance_says_what_was_simulated(void **state)
{
    (void)state;
    struct run_outcome outcome;
    assert_int_equal(run_words(NULL, &outcome,
                               "--preset tiny --set links.ucie.bw_gbs=64 --algorithm "
                               "ring_allreduce --tag night=7 --no-data --n-elem 64"),
                     CW_OK);
    const json_t *const changed = provenance_member(&outcome, "changed");
    assert_string_equal(json_string_value(json_object_get(changed, "links.ucie.bw_gbs")), "64");
    assert_string_equal(json_string_value(json_object_get(changed, "system.sips.count")), "1");
    assert_string_equal(json_string_value(json_object_get(changed, "defaults.algorithm")),
                        "ring_allreduce");
    assert_null(json_object_get(changed, "links.ucie.latency_ns"));
    const json_t *const shipped = provenance_member(&outcome, "shipped");
    assert_int_equal(json_object_size(shipped), json_object_size(changed));
    assert_string_equal(json_string_value(json_object_get(shipped, "system.sips.count")), "4");
    assert_string_equal(json_string_value(json_object_get(shipped, "defaults.algorithm")),
                        "lrab_hierarchical_allreduce");
    assert_string_equal(json_string_value(provenance_member(&outcome, "preset")), "tiny");
    assert_string_equal(
        json_string_value(json_object_get(provenance_member(&outcome, "tags"), "night")), "7");
    assert_int_equal(json_array_size(provenance_member(&outcome, "command_line")), 12);
    assert_int_equal(json_array_size(provenance_member(&outcome, "loaded")), 0);
    run_outcome_free(&outcome);
}

/* Nothing differs: no member. */
static void test_a_line_without_options_changes_nothing(void **state)
{
    (void)state;
    struct run_outcome outcome;
    assert_int_equal(run_words(NULL, &outcome, "--n-elem 16 --no-data"), CW_OK);
    assert_int_equal(json_object_size(provenance_member(&outcome, "changed")), 0);
    run_outcome_free(&outcome);
}

/* The reason stands in the row, where a sweep keeps it. */
static void test_a_chosen_algorithm_has_its_reason(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--preset tiny --set system.sips.count=4 --algorithm auto --no-data --n-elem 512",
        "--preset tiny --set system.sips.count=4 --algorithm ring_rs_ag --no-data --n-elem 512"};
    for (size_t i = 0; i < 2; i++) {
        struct run_outcome outcome;
        assert_int_equal(run_words(NULL, &outcome, lines[i]), CW_OK);
        const json_t *const row = json_array_get(json_object_get(outcome.document, "results"), 0);
        const char *const choice = json_string_value(json_object_get(row, "choice"));
        assert_int_equal(choice != NULL, i == 0);
        assert_true(i > 0 || strstr(choice, "1024 bytes per shard; estimates: ") != NULL);
        run_outcome_free(&outcome);
    }
}

static void test_refusals_are_texts(void **state)
{
    (void)state;
    static const struct {
        const char *words, *text;
        int code;
    } refused[] = {
        {"--set links.ucie.bw_gbs=fast", "links.ucie.bw_gbs", CW_USAGE},
        {"--preset nowhere", "nowhere", CW_USAGE},
        {"--json -", "--json: the result of this run goes to the program that asked", CW_USAGE},
        {"--csv x.csv", "--csv: ", CW_USAGE},
        {"--preset tiny --bench gemm --bytes 4", "--bytes", CW_USAGE},
        {"--preset tiny --max-events 100", "100", CW_PROGRAM_FAILED},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct run_outcome outcome;
        assert_int_equal(run_words(NULL, &outcome, refused[i].words), refused[i].code);
        assert_non_null(outcome.message);
        assert_non_null(strstr(outcome.message, refused[i].text));
        assert_int_equal(outcome.document != NULL, refused[i].code == CW_PROGRAM_FAILED);
        run_outcome_free(&outcome);
    }
}

static void test_a_document_is_read_back(void **state)
{
    (void)state;
    char path[] = "/tmp/cubewarp-document-XXXXXX";
    struct run_outcome outcome;
    struct result_document document;
    struct cw_error error;
    close(mkstemp(path));
    assert_int_equal(run_words(NULL, &outcome, "--preset tiny --bytes 4096:8192 --verify-data"),
                     CW_OK);
    assert_int_equal(json_dump_file(outcome.document, path, JSON_REAL_PRECISION(15)), 0);
    run_outcome_free(&outcome);
    assert_int_equal(result_document_read(path, &document, &error), CW_OK);
    assert_int_equal(document.row_count, 2);
    assert_string_equal(document.bench, "ccl_allreduce");
    assert_int_equal(strlen(document.config_digest), 16);
    assert_int_equal(strlen(document.engine.trace_hash), 16);
    assert_int_equal(document.sips, 1);
    assert_false(document.interrupted);
    assert_null(document.failure);
    assert_string_equal(result_document_provenance(&document, "preset"), "tiny");
    const struct document_row *const row =
        result_document_row(&document, "all_reduce", 8192, false, 0);
    assert_ptr_equal(row, &document.rows[1]);
    assert_true(row->time_ns > row->bound_ns && row->bound_ns > 0);
    assert_int_equal(document_row_time_ps(row), llround(row->time_ns * 1000));
    assert_int_equal(row->wrong, 0);
    assert_int_equal(row->count, 4096);
    assert_null(row->not_run);
    assert_null(result_document_row(&document, "all_reduce", 8192, false, 1));
    assert_null(result_document_row(&document, "all_gather", 8192, false, 0));
    result_document_free(&document);
    unlink(path);
}

static void test_other_texts_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *contents, *text;
    } wrong[] = {{"{ \"schema\": ", ":1:"},
                 {"[]", "no object with a schema"},
                 {"{\"schema\": \"cubewarp.phold/1\"}", "the schema is cubewarp.phold/1"},
                 {"{\"schema\": \"cubewarp.run/1\"}", "no list of results"},
                 {"{\"schema\": \"cubewarp.run/1\", \"results\": [{\"bytes\": 4}]}",
                  "results[0] has no bytes or no time_ns"}};
    struct result_document document;
    struct cw_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char path[] = "/tmp/cubewarp-document-XXXXXX";
        FILE *const file = fdopen(mkstemp(path), "w");
        assert_non_null(file);
        fputs(wrong[i].contents, file);
        fclose(file);
        int code = result_document_read(path, &document, &error);
        if (code == CW_OK) /* a result, but not one that can be compared */
            code = result_document_check(&document, &error);
        assert_int_equal(code, CW_USAGE);
        result_document_free(&document);
        assert_non_null(strstr(error.text, wrong[i].text));
        assert_non_null(strstr(error.text, path));
        unlink(path);
    }
    assert_int_equal(result_document_read("/nowhere/a.json", &document, &error), CW_USAGE);
    assert_non_null(strstr(error.text, "/nowhere/a.json"));
}

static void note_changed(void *arg, const char *path, const char *value, const char *shipped)
{
    fprintf(arg, "%s: %s, shipped %s\n", path, value != NULL ? value : "none",
            shipped != NULL ? shipped : "none");
}

/* Of these layers, by the shipped values that the loader has kept, or by a load of its own. */
static char *changed_text(const struct config_request *request, const struct config *shipped)
{
    char *text = NULL;
    size_t bytes;
    struct config *config;
    struct config_errors errors = {0};
    FILE *const stream = text_stream_open(&text, &bytes);
    assert_int_equal(config_load(request, &config, &errors), CW_OK);
    assert_int_equal(changed_values_are_known(config), shipped == NULL);
    changed_values_visit(config, shipped, note_changed, stream);
    assert_int_equal(fclose(stream), 0);
    config_free(config);
    config_errors_free(&errors);
    return text;
}

static void kept_shipped_values_are_those_of_a_load_of_their_own(void **state)
{
    (void)state;
    static const char *const sets[] = {"links.ucie.bw_gbs=64", "defaults.n_slots=8",
                                       "algorithms.lrab_hierarchical_allreduce.root=0,0",
                                       "algorithms.mine={extends: ring_allreduce}"};
    const struct config_request requests[] = {
        {.preset = NULL},
        {.preset = "tiny"},
        {.preset = "pod1024", .algorithm = "ring_allreduce"},
        {.sets = sets, .set_count = sizeof sets / sizeof *sets, .algorithm = "mine"},
        {.preset = "tiny", .sets = sets, .set_count = 3},
    };
    struct config *shipped;
    struct config_errors errors = {0};
    assert_int_equal(config_load(&requests[0], &shipped, &errors), CW_OK);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct config_request keeping = requests[i];
        keeping.keep_shipped = true;
        char *const kept = changed_text(&keeping, NULL);
        char *const loaded = changed_text(&requests[i], shipped);
        assert_string_equal(kept, loaded);
        assert_true((kept[0] == '\0') == (i == 0));
        free(kept);
        free(loaded);
    }
    config_free(shipped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_line_same_rows),
        cmocka_unit_test(test_provenance_says_what_was_simulated),
        cmocka_unit_test(test_a_line_without_options_changes_nothing),
        cmocka_unit_test(test_a_chosen_algorithm_has_its_reason),
        cmocka_unit_test(test_refusals_are_texts),
        cmocka_unit_test(test_a_document_is_read_back),
        cmocka_unit_test(test_other_texts_are_refused),
        cmocka_unit_test(kept_shipped_values_are_those_of_a_load_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
