/*
 * options.c: reads a command line by the table of options, prints --help from it, and says which
 * option a wrong name may have meant (options.h).
 */
#include "bench/options/options.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/options_table.h"
#include "bench/options/options_value.h"
#include "bench/output/atomic_file.h"
#include "bench/programs/bench.h"
#include "collectives/algorithm.h"
#include "collectives/config/builtin_files.h"
#include "collectives/config/input/meaning.h"
#include "collectives/config/input/text.h"

static bool row_is_of(const struct option_row *row, enum command command)
{
    return (row->commands & command) != 0;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* The option of that name, or the only one that begins with it. NULL: there is none. */
static const struct option_row *find_name(enum command command, const char *name, size_t bytes)
{
    const struct option_row *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *const row = &option_rows[i];
        if (!row_is_of(row, command) || strncmp(row->name, name, bytes) != 0)
            continue;
        if (row->name[bytes] == '\0')
            return row;
        found = row;
        count++;
    }
    return count == 1 ? found : NULL;
}

static int refuse_unknown(const struct option_parse *parse, const char *name, size_t bytes,
                          const char *argument, struct cw_error *error)
{
    struct text_nearest nearest = {0};
    char quoted[TEXT_QUOTE_BYTES], cut[64], names[512] = "";
    size_t begin = 0, length = 0;
    snprintf(cut, sizeof cut, "%.*s", (int)bytes, name);
    text_quote(argument, (size_t)(name - argument) + bytes, quoted);
    for (size_t i = 0; i < option_row_count; i++) {
        if (!row_is_of(&option_rows[i], parse->command))
            continue;
        text_nearest_try(&nearest, cut, option_rows[i].name);
        if (strncmp(option_rows[i].name, cut, strlen(cut)) != 0)
            continue;
        if (length < sizeof names)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s--%s",
                                       begin > 0 ? ", " : "", option_rows[i].name);
        begin++;
    }
    if (begin > 1)
        return cw_error_set(error, CW_USAGE, "option %s may mean more than one: %s", quoted, names);
    char text[MEANING_BYTES];
    const char *const meaning = meaning_of(name, bytes, text);
    const bool configures = find_name(parse->command, "set", 3) != NULL;
    if (meaning != NULL && configures)
        return cw_error_set(error, CW_USAGE, "unknown option %s; here that is %s", quoted, meaning);
    if (parse->command == COMMAND_SWEEP && find_name(COMMAND_RUN, name, bytes) != NULL)
        return cw_error_set(error, CW_USAGE,
                            "unknown option %s; what points run with stands in the study: base: "
                            "{%.*s: VALUE}",
                            quoted, (int)bytes, name);
    if (nearest.best == NULL)
        return cw_error_set(error, CW_USAGE, "unknown option %s", quoted);
    return cw_error_set(error, CW_USAGE, "unknown option %s; did you mean '--%s'?", quoted,
                        nearest.best);
}

static const struct option_row *find_letter(enum command command, char letter)
{
    for (size_t i = 0; i < option_row_count; i++)
        if (row_is_of(&option_rows[i], command) && option_rows[i].letter == letter)
            return &option_rows[i];
    return NULL;
}

/* ---- reading -------------------------------------------------------------------------------- */

int options_give(struct option_parse *parse, const struct option_row *row, const char *text,
                 struct cw_error *error)
{
    bool *const given = &parse->given[row - option_rows];
    if (*given && !row->repeats)
        return cw_error_set(error, CW_USAGE, "--%s: given more than once", row->name);
    *given = true;
    return options_store(parse, row, text, error);
}

/* The next word is the value of an option whose value may be left out. */
static bool is_optional_value(const struct option_row *row, int count, char **rest)
{
    const size_t bytes = strlen(row->optional);
    return count > 1 && strncmp(rest[1], row->optional, bytes) == 0 &&
           (rest[1][bytes] == '\0' || rest[1][bytes] == '=');
}

static int refuse_missing(const struct option_parse *parse, const struct option_row *row,
                          struct cw_error *error)
{
    if (command_row_of(parse->command)->brief)
        return cw_error_set(error, CW_USAGE, "--%s needs a value", row->name);
    return cw_error_set(error, CW_USAGE, "--%s needs a value: --%s %s", row->name, row->name,
                        row->argument);
}

/* `--name`, `--name=value` or `--name value`. *used: how many arguments it has taken. */
static int read_long(struct option_parse *parse, int count, char **rest, int *used,
                     struct cw_error *error)
{
    const char *const name = rest[0] + 2;
    const size_t bytes = strcspn(name, "=");
    const char *text = name[bytes] == '=' ? name + bytes + 1 : NULL;
    const struct option_row *const row = find_name(parse->command, name, bytes);
    *used = 1;
    if (row == NULL)
        return refuse_unknown(parse, name, bytes, rest[0], error);
    if (row->argument == NULL && text != NULL)
        return cw_error_set(error, CW_USAGE, "--%s takes no value", row->name);
    if (row->optional != NULL && text == NULL && !is_optional_value(row, count, rest))
        return options_give(parse, row, NULL, error);
    if (row->argument != NULL && text == NULL) {
        if (count < 2)
            return refuse_missing(parse, row, error);
        text = rest[1];
        *used = 2;
    }
    return options_give(parse, row, text, error);
}

/* `-bytes`, whose letters would be taken for options of one letter; `-np`, as mpirun has it. */
static int refuse_single_dash(const struct option_parse *parse, const char *name,
                              struct cw_error *error)
{
    const size_t bytes = strcspn(name, "=");
    char text[MEANING_BYTES];
    const char *const meaning = bytes > 1 ? meaning_of(name, bytes, text) : NULL;
    for (size_t i = 0; bytes > 2 && i < option_row_count; i++)
        if (row_is_of(&option_rows[i], parse->command) && strlen(option_rows[i].name) == bytes &&
            memcmp(option_rows[i].name, name, bytes) == 0)
            return cw_error_set(error, CW_USAGE, "unknown option '-%.*s'; did you mean '--%s'?",
                                (int)bytes, name, option_rows[i].name);
    if (meaning == NULL || find_name(parse->command, "set", 3) == NULL)
        return CW_OK;
    return cw_error_set(error, CW_USAGE, "unknown option '-%.40s'; here that is %s", name, meaning);
}

/* `-a`, `-ab`, `-avalue` or `-a value`. *used: how many arguments they have taken. */
static int read_letters(struct option_parse *parse, int count, char **rest, int *used,
                        struct cw_error *error)
{
    *used = 1;
    if (refuse_single_dash(parse, rest[0] + 1, error) != CW_OK)
        return CW_USAGE;
    for (const char *at = rest[0] + 1; *at != '\0'; at++) {
        const struct option_row *const row = find_letter(parse->command, *at);
        if (row == NULL)
            return cw_error_set(error, CW_USAGE, "unknown option -%c",
                                *at > 32 && *at < 127 ? *at : '?');
        if (row->argument == NULL) {
            if (options_give(parse, row, NULL, error) != CW_OK)
                return CW_USAGE;
            continue;
        }
        if (at[1] != '\0')
            return options_give(parse, row, at + 1, error);
        if (count < 2)
            return refuse_missing(parse, row, error);
        *used = 2;
        return options_give(parse, row, rest[1], error);
    }
    return CW_OK;
}

/* What a word without an option may have meant. */
static const char *meant_by(const struct option_parse *parse, const char *text,
                            char hint[MEANING_BYTES + 64])
{
    static const char *const units[] = {"B",   "K",   "M",  "G",  "KB", "MB", "GB", "KiB",
                                        "MiB", "GiB", "ps", "ns", "us", "ms", "s",  "%"};
    char preset[80], text_of[MEANING_BYTES];
    snprintf(preset, sizeof preset, "presets/%.60s.yaml", text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i]) == 0)
            return "; a number and its unit are one word, as in 64KB";
    if (text[0] == '=')
        return "; a name and its value are one word, as in KEY=VALUE";
    if (strcmp(text, "help") == 0)
        return "; that is --help";
    if (find_name(parse->command, "set", 3) == NULL)
        return "";
    for (size_t i = 0; i < builtin_file_count; i++)
        if (strcmp(builtin_files[i].name, preset) == 0)
            snprintf(hint, MEANING_BYTES + 64, "; that is --preset %.60s", text);
    for (size_t i = 0; bench_name(i) != NULL; i++)
        if (strcmp(bench_name(i), text) == 0)
            snprintf(hint, MEANING_BYTES + 64, "; that is --bench %.60s", text);
    if (ccl_algorithm_find(text) != NULL)
        snprintf(hint, MEANING_BYTES + 64, "; that is --algorithm %.60s", text);
    else if (meaning_of(text, strlen(text), text_of) != NULL)
        snprintf(hint, MEANING_BYTES + 64, "; that is %s", meaning_of(text, strlen(text), text_of));
    return hint;
}

static int refuse_argument(const struct option_parse *parse, const char *text,
                           struct cw_error *error)
{
    char quoted[TEXT_QUOTE_BYTES], hint[MEANING_BYTES + 64] = "";
    return cw_error_set(error, CW_USAGE, "unexpected argument %s%s",
                        text_quote(text, strlen(text), quoted), meant_by(parse, text, hint));
}

static int read_argument(struct option_parse *parse, int count, char **rest, int *used,
                         struct cw_error *error)
{
    const struct command_row *const command = command_row_of(parse->command);
    if (command->argument == NULL)
        return refuse_argument(parse, rest[0], error);
    parse->rows = option_rows;
    parse->row_count = option_row_count;
    *used = command->argument(parse, count, rest, error);
    return *used > 0 ? CW_OK : CW_USAGE;
}

/* ---- several options together --------------------------------------------------------------- */

static int check_company(const struct option_parse *parse, struct cw_error *error)
{
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *const row = &option_rows[i];
        if (!parse->given[i])
            continue;
        if (row->excludes != NULL && options_given(parse, row->excludes))
            return cw_error_set(error, CW_USAGE, "%s", row->excludes_text);
        if (row->needs != NULL && !options_given(parse, row->needs))
            return cw_error_set(error, CW_USAGE, "%s", row->needs_text);
    }
    return CW_OK;
}

static bool is_output(size_t row)
{
    return option_rows[row].type == OPTION_OUTPUT || option_rows[row].type == OPTION_OUTPUT_FILE;
}

/* The file that an option names; NULL: none, or a standard stream. */
static const char *named_file(const struct option_parse *parse, size_t row)
{
    if (!parse->given[row] || (!is_output(row) && option_rows[row].type != OPTION_FILE))
        return NULL;
    const char *path;
    memcpy(&path, (const char *)parse->values + option_rows[row].offset, sizeof path);
    return strcmp(path, "-") == 0 ? NULL : path;
}

/* No output takes the place of another one, nor of a file that is read. */
static int check_outputs(const struct option_parse *parse, struct cw_error *error)
{
    for (size_t i = 0; i < option_row_count; i++)
        for (size_t k = 0; k < i && named_file(parse, i) != NULL; k++)
            if (named_file(parse, k) != NULL && (is_output(i) || is_output(k)) &&
                atomic_file_same(named_file(parse, i), named_file(parse, k)))
                return cw_error_set(error, CW_USAGE,
                                    "--%s and --%s name one file; give each a file of its own",
                                    option_rows[k].name, option_rows[i].name);
    return CW_OK;
}

int options_finish(struct option_parse *parse, struct cw_error *error)
{
    const struct command_row *const command = command_row_of(parse->command);
    parse->rows = option_rows;
    parse->row_count = option_row_count;
    if (check_company(parse, error) != CW_OK || check_outputs(parse, error) != CW_OK)
        return CW_USAGE;
    return command->finish == NULL ? CW_OK : command->finish(parse, error);
}

int options_read(struct option_parse *parse, int argc, char **argv, struct cw_error *error)
{
    bool only_arguments = false; /* after -- */
    for (int at = 1, used; at < argc; at += used) {
        char *const text = argv[at];
        int result;
        if (only_arguments || text[0] != '-' || text[1] == '\0') {
            result = read_argument(parse, argc - at, argv + at, &used, error);
        } else if (strcmp(text, "--") == 0) {
            only_arguments = true;
            used = 1;
            result = CW_OK;
        } else {
            result = (text[1] == '-' ? read_long : read_letters)(parse, argc - at, argv + at, &used,
                                                                 error);
        }
        if (result != CW_OK)
            return result;
    }
    return parse->help ? CW_OK : options_finish(parse, error);
}

/* The option that a word begins; *used: the words that it takes. NULL with *error filled: none. */
static const struct option_row *row_of_word(const struct option_parse *parse, int count,
                                            char **rest, int *used, struct cw_error *error)
{
    const bool is_long = rest[0][1] == '-';
    const char *const name = rest[0] + 1 + is_long;
    const size_t bytes = is_long ? strcspn(name, "=") : 1;
    const struct option_row *const row =
        is_long ? find_name(parse->command, name, bytes) : find_letter(parse->command, name[0]);
    *used = row != NULL && row->argument != NULL && name[bytes] == '\0' && count > 1 &&
                    (row->optional == NULL || is_optional_value(row, count, rest))
                ? 2
                : 1;
    if (row == NULL)
        (void)refuse_unknown(parse, name, bytes, rest[0], error);
    return row;
}

int options_walk(enum command command, int argc, char **argv, options_visit_fn visit, void *arg,
                 struct cw_error *error)
{
    const struct option_parse parse = {.command = command};
    bool only_arguments = false;
    for (int at = 1, used = 1; at < argc; at += used) {
        const struct option_row *row = NULL;
        used = 1;
        only_arguments = only_arguments || strcmp(argv[at], "--") == 0;
        if (!only_arguments && argv[at][0] == '-' && argv[at][1] != '\0') {
            row = row_of_word(&parse, argc - at, argv + at, &used, error);
            if (row == NULL)
                return CW_USAGE;
        }
        visit(arg, row, argv + at, used);
    }
    return CW_OK;
}

/* ---- help ----------------------------------------------------------------------------------- */

static void print_name(const struct command_row *command, const struct option_row *row)
{
    char letter[8] = "", name[64];
    if (command->letters != LETTERS_HIDDEN && row->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(name, sizeof name, "%*s--%s %s", command->letters == LETTERS_IN_COLUMN ? -4 : 0,
             letter, row->name, row->argument != NULL ? row->argument : "");
    printf("  %-*s ", command->name_width, name);
}

/* The choices, after the help: in a row, or each in a line of its own with its meaning. */
static void print_choices(const struct option_row *row, int indent)
{
    const char *name;
    for (size_t i = 0; (name = row->choice(i)) != NULL; i++) {
        const char *const by_default = i == 0 ? " (default)" : "";
        if (row->choice_help == NULL)
            printf("%s%s%s", i == 0 ? "" : ", ", name, by_default);
        else if (i == 0 && row->help[0] == '\0')
            printf("%s%s: %s", name, by_default, row->choice_help(i));
        else
            printf("\n%*s%s%s: %s", indent, "", name, by_default, row->choice_help(i));
    }
}

void options_print_help(enum command command)
{
    const struct command_row *const shown = command_row_of(command);
    const int indent = 2 + shown->name_width + 1;
    printf("Usage: cubewarp %s %s\n%s", shown->name, shown->arguments, shown->intro);
    const char *group = NULL;
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *const row = &option_rows[i];
        group = row->group != NULL ? row->group : group;
        if (!row_is_of(row, command))
            continue;
        if (group != NULL)
            printf("\n%s:\n", group);
        group = NULL;
        print_name(shown, row);
        for (const char *at = row->help; *at != '\0'; at++)
            if (*at == '\n')
                printf("\n%*s", indent, "");
            else
                putchar(*at);
        if (row->listed)
            print_choices(row, indent);
        putchar('\n');
    }
    if (shown->after != NULL)
        fputs(shown->after, stdout);
    if (shown->examples[0] != NULL)
        fputs("\nExamples:\n", stdout);
    for (size_t i = 0; i < 3 && shown->examples[i] != NULL; i++)
        printf("  cubewarp %s\n", shown->examples[i]);
}
