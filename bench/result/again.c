/*
 * again.c: joins the line of a first run with a new one, and compares the results (again.h). The
 * line is put together from words, so that it is read, refused and kept like any other line.
 */
#include "bench/result/again.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/options.h"
#include "bench/options/options_table.h"
#include "bench/output/report_json.h"
#include "bench/programs/run_options.h"
#include "bench/result/compare_report.h"

/* The lines while they are joined. */
struct joining {
    struct again *again;
    const char *path;               /* of --again in the new line; NULL: it is not there */
    uint32_t count;                 /* of --again in the new line */
    bool is_step;                   /* the first line is one of `cubewarp step` */
    bool gives_workload;            /* the new line does */
    bool given[OPTION_ROWS_MAX];    /* in the new line, by row of the table */
    const char *tags[RUN_TAGS_MAX]; /* KEY=VALUE of the new line's tags */
    size_t tag_count;
};

/* The value of an option, as "--name=VALUE" or as "--name VALUE". NULL: it has none. */
static const char *value_of(char **words, int count)
{
    const char *const equals = strchr(words[0], '=');
    return count > 1 ? words[1] : equals != NULL ? equals + 1 : NULL;
}

static bool is_tag(const struct option_row *row)
{
    return row != NULL && strcmp(row->name, "tag") == 0;
}

/* Whether the new line has a tag with the key of this one. */
static bool has_tag_like(const struct joining *joining, const char *tag)
{
    const size_t bytes = strcspn(tag, "=") + 1;
    for (size_t i = 0; i < joining->tag_count; i++)
        if (strncmp(joining->tags[i], tag, bytes) == 0)
            return true;
    return false;
}

static bool is_again(const struct option_row *row)
{
    return row != NULL && strcmp(row->name, "again") == 0;
}

/* It would end the options in the middle of the joined line. */
static bool is_end_of_options(const struct option_row *row, char **words)
{
    return row == NULL && strcmp(words[0], "--") == 0;
}

static void append_words(struct again *again, char **words, int count)
{
    for (int i = 0; i < count; i++)
        again->argv[again->argc++] = words[i];
}

static void note_given(void *arg, const struct option_row *row, char **words, int count)
{
    struct joining *const joining = arg;
    const char *const value = value_of(words, count);
    if (row != NULL && !row->repeats)
        joining->given[row - option_rows] = true;
    joining->gives_workload |= row != NULL && strcmp(row->name, "workload") == 0;
    joining->count += is_again(row);
    if (is_again(row))
        joining->path = value;
    if (is_tag(row) && value != NULL && joining->tag_count < RUN_TAGS_MAX)
        joining->tags[joining->tag_count++] = value;
}

static void take_new(void *arg, const struct option_row *row, char **words, int count)
{
    struct joining *const joining = arg;
    if (!is_again(row) && !is_end_of_options(row, words))
        append_words(joining->again, words, count);
}

/* Files and listings are of the first run alone. */
static void take_old(void *arg, const struct option_row *row, char **words, int count)
{
    struct joining *const joining = arg;
    const char *const value = value_of(words, count);
    if (is_tag(row) && value != NULL && has_tag_like(joining, value))
        return;
    if (is_end_of_options(row, words) ||
        (row != NULL &&
         (joining->given[row - option_rows] || is_again(row) || row->type == OPTION_OUTPUT ||
          row->type == OPTION_OUTPUT_FILE || strcmp(row->name, "dump-pointers") == 0)))
        return;
    if (row == NULL && joining->is_step) { /* its file: `run` has an option for it */
        static char option[] = "--workload";
        if (joining->gives_workload)
            return;
        joining->again->argv[joining->again->argc++] = option;
    }
    append_words(joining->again, words, count);
}

/* The words of the first run, in memory that the caller frees. NULL: it has none. */
static char **words_of(const struct result_document *document, int *count)
{
    const json_t *const line = json_object_get(document->provenance, "command_line");
    char **const words = calloc(json_array_size(line) + 1, sizeof *words);
    *count = (int)json_array_size(line);
    for (int i = 0; words != NULL && i < *count; i++) {
        words[i] = (char *)(uintptr_t)json_string_value(json_array_get(line, (size_t)i));
        if (words[i] == NULL)
            *count = 0;
    }
    if (words != NULL && *count > 0 &&
        (strcmp(words[0], "run") == 0 || strcmp(words[0], "step") == 0))
        return words;
    free(words);
    return NULL;
}

/* Whether the joined line has an option. */
static bool has_option(const struct again *again, const char *name, const char *letter)
{
    const size_t bytes = strlen(name);
    for (int i = 1; i < again->argc; i++) {
        const char *const word = again->argv[i];
        if ((strncmp(word, name, bytes) == 0 && (word[bytes] == '\0' || word[bytes] == '=')) ||
            (letter != NULL && strncmp(word, letter, 2) == 0))
            return true;
    }
    return false;
}

/* Whether the first run had the default size and algorithm, of the design records. */
static bool ran_as_records(const struct again *again)
{
    for (int i = 1; i < again->argc; i++)
        if (strcmp(again->argv[i], "records") == 0 ||
            strcmp(again->argv[i], "--preset=records") == 0)
            return false;
    return !has_option(again, "--bytes", NULL) && !has_option(again, "--bytes-per-rank", NULL) &&
           !has_option(again, "--n-elem", NULL) && !has_option(again, "--minbytes", "-b") &&
           !has_option(again, "--algorithm", NULL) && !has_option(again, "--bench", NULL) &&
           document_text_same(again->first.algorithm, "lrab_hierarchical_allreduce");
}

/* A result of 0.1.0: names each default of its line that is another one today. */
static void name_changed_defaults(const struct again *again)
{
    const char *const version = again->first.version;
    const bool by_auto = again->first.algorithm != NULL &&
                         strncmp(again->first.algorithm, "auto_", strlen("auto_")) == 0;
    if (version == NULL || strncmp(version, "0.1.", strlen("0.1.")) != 0)
        return;
    if (ran_as_records(again))
        fputs("cubewarp run: note: since 0.1.0 a line without algorithm, bench and size runs six "
              "sizes of a rank by auto_all_reduce, verified, and no longer 16 bytes by "
              "lrab_hierarchical_allreduce; --preset records does\n",
              stderr);
    if (has_option(again, "--minbytes", "-b"))
        fputs("cubewarp run: note: since 0.1.0 sizes of -b, -e, -f and -i are a rank's, and no "
              "longer a shard's; those of --bytes are\n",
              stderr);
    if (by_auto &&
        (has_option(again, "--minbytes", "-b") || has_option(again, "--bytes-per-rank", NULL)))
        fputs("cubewarp run: note: since 0.1.0 auto takes the placement of a rank's size, and no "
              "longer leader_only; --set algorithms.auto.mapper=leader_only does\n",
              stderr);
}

static int join(struct joining *joining, int argc, char **argv, struct cw_error *error)
{
    struct again *const again = joining->again;
    int count;
    int code = result_document_read(joining->path, &again->first, error);
    if (code == CW_OK)
        code = result_document_check(&again->first, error);
    if (code != CW_OK)
        return code;
    char **const words = words_of(&again->first, &count);
    if (words == NULL)
        return cw_error_set(error, CW_USAGE,
                            "--again %s: its provenance has no command line of run or step",
                            joining->path);
    again->asked = true;
    again->argv = calloc((size_t)argc + 2 * (size_t)count + 2, sizeof *again->argv);
    if (again->argv == NULL) {
        free(words);
        return cw_error_memory(error, "the line");
    }
    append_words(again, argv, 1);
    joining->is_step = strcmp(words[0], "step") == 0;
    if (joining->is_step) {
        static char bench[] = "--bench=step";
        again->argv[again->argc++] = bench;
    }
    code = options_walk(COMMAND_RUN, count, words, take_old, joining, error);
    if (code == CW_OK)
        code = options_walk(COMMAND_RUN, argc, argv, take_new, joining, error);
    if (code == CW_OK)
        name_changed_defaults(again);
    free(words);
    return code;
}

int again_begin(struct again *again, int argc, char **argv, struct cw_error *error)
{
    struct joining joining = {.again = again};
    struct cw_error ignored; /* the reader says the same */
    *again = (struct again){.asked = false};
    if (options_walk(COMMAND_RUN, argc, argv, note_given, &joining, &ignored) != CW_OK ||
        joining.path == NULL)
        return CW_OK;
    if (joining.count > 1)
        return cw_error_set(error, CW_USAGE, "--again: given more than once");
    return join(&joining, argc, argv, error);
}

void again_free(struct again *again)
{
    result_document_free(&again->first);
    free(again->argv);
    *again = (struct again){.asked = false};
}

/* Of two hashes that a run without that shortcut lacks. */
static bool same_hash(const char *a, const char *b)
{
    return a == NULL || b == NULL || strcmp(a, b) == 0;
}

/* Whether all events were the same; they are compared where both runs had one configuration and did
 * all of their sizes, and both were folded or neither. */
static bool same_events(const struct result_document *a, const struct result_document *b)
{
    return a->interrupted || a->failure != NULL ||
           !document_text_same(a->config_digest, b->config_digest) ||
           (same_hash(a->engine.trace_hash, b->engine.trace_hash) &&
            same_hash(a->engine.fold_hash, b->engine.fold_hash));
}

static const char *hash_of(const struct document_engine *engine)
{
    return engine->trace_hash != NULL  ? engine->trace_hash
           : engine->fold_hash != NULL ? engine->fold_hash
                                       : "none";
}

static int judge(const struct result_document *a, const struct result_document *b, FILE *file,
                 struct cw_error *error)
{
    struct comparison_of_documents comparison;
    if (compare_documents(a, b, 0, &comparison, error) != CW_OK)
        return error->exit_code;
    const bool events = same_events(a, b);
    fputs("#\n", file);
    (void)compare_report(file, COMPARISON_TEXT, a, b, &comparison, error);
    if (!events)
        fprintf(file, "# %s hashes differ: %s, %s\n",
                a->engine.trace_hash != NULL ? "trace" : "fold", hash_of(&a->engine),
                hash_of(&b->engine));
    const size_t differing = comparison.differing;
    comparison_of_documents_free(&comparison);
    if (differing > 0)
        return cw_error_set(error, CW_DATA_WRONG, "%zu sizes are not as in %s", differing, a->name);
    if (!events)
        return cw_error_set(error, CW_DATA_WRONG, "the %s hash is not as in %s",
                            a->engine.trace_hash != NULL ? "trace" : "fold", a->name);
    return CW_OK;
}

int again_end(const struct again *again, const struct result *result, FILE *file,
              struct cw_error *error)
{
    struct result_document second;
    json_t *const json = report_document(result);
    if (json == NULL)
        return cw_error_memory(error, "the comparison");
    int code = result_document_of(json, "this run", &second, error);
    json_decref(json);
    if (code == CW_OK)
        code = judge(&again->first, &second, file, error);
    result_document_free(&second);
    return code;
}
