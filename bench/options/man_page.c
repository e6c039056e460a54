/*
 * man_page.c: manual pages from the tables (man_page.h). The pages use few macros, so that every
 * formatter of man(7) shows them in the same way.
 */
#include "bench/options/man_page.h"

#include <inttypes.h>
#include <string.h>

#include "bench/options/options_table.h"
#include "collectives/config/input/environment.h"

/* ---- text ----------------------------------------------------------------------------------- */

/* Writes text as it is: no character of it means anything to a formatter. */
static void put_text(FILE *file, const char *text)
{
    bool at_start = true;
    for (; *text != '\0'; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            fputs("\\&", file);
        at_start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", file);
        else if (*text == '-')
            fputs("\\-", file);
        else
            putc(*text, file);
    }
}

/* Writes whole lines: a blank line separates paragraphs; an indented line is kept as it is. */
static void put_lines(FILE *file, const char *text)
{
    bool in_block = false;
    while (*text != '\0') {
        char line[512];
        const size_t bytes = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)bytes, text);
        const bool is_block = line[0] == ' ';
        if (is_block != in_block)
            fputs(is_block ? ".PP\n.nf\n" : ".fi\n", file);
        in_block = is_block;
        if (bytes == 0)
            fputs(text[1] != '\0' && text[1] != ' ' ? ".PP\n" : "", file);
        put_text(file, line);
        fputs(bytes > 0 ? "\n" : "", file);
        text += bytes + (text[bytes] == '\n');
    }
    if (in_block)
        fputs(".fi\n", file);
}

enum { PAGE_NAME_BYTES = 48 };

/* "perf run" -> "cubewarp-perf-run". Returns buf. */
static const char *page_name(const struct command_row *command, char buf[PAGE_NAME_BYTES])
{
    snprintf(buf, PAGE_NAME_BYTES, "cubewarp-%s", command->name);
    for (char *at = buf; *at != '\0'; at++)
        *at = *at == ' ' ? '-' : *at;
    return buf;
}

static void put_heading(FILE *file, const char *name)
{
    fputs(".TH ", file);
    for (; *name != '\0'; name++)
        putc(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name, file);
    /* Without a date: a page depends on the version only. */
    fprintf(file, " 1 \"\" \"cubewarp %s\" \"User Commands\"\n", CW_VERSION);
}

/* ---- options -------------------------------------------------------------------------------- */

static void put_page_choices(FILE *file, const struct option_row *row)
{
    const char *name;
    if (row->choice_help == NULL) {
        fputs(row->help[0] != '\0' ? ".br\nOne of\n" : "One of\n", file);
        for (size_t i = 0; (name = row->choice(i)) != NULL; i++) {
            fputs("\\fB", file);
            put_text(file, name);
            fprintf(file, "\\fR%s\n", row->choice(i + 1) != NULL ? "," : ".");
        }
        return;
    }
    fputs(".RS\n", file);
    for (size_t i = 0; (name = row->choice(i)) != NULL; i++) {
        fputs(".TP\n\\fB", file);
        put_text(file, name);
        fputs("\\fR\n", file);
        put_text(file, row->choice_help(i));
        fputs(i == 0 ? " (default)\n" : "\n", file);
    }
    fputs(".RE\n", file);
}

static void put_option(FILE *file, const struct option_row *row)
{
    fputs(".TP\n", file);
    if (row->letter != 0)
        fprintf(file, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", file);
    put_text(file, row->name);
    fputs("\\fR", file);
    if (row->argument != NULL) {
        fputs(" \\fI", file);
        put_text(file, row->argument);
        fputs("\\fR", file);
    }
    putc('\n', file);
    if (row->help[0] != '\0') {
        put_text(file, row->help);
        putc('\n', file);
    }
    if (row->type == OPTION_COUNT)
        fprintf(file, ".br\nA whole number from %" PRIu64 " to %" PRIu64 ".\n", row->min, row->max);
    if (row->choice != NULL)
        put_page_choices(file, row);
}

/* ---- pages ---------------------------------------------------------------------------------- */

/* `commands`: of the page; the codes that none of these returns are left out. */
static void put_exit_codes(FILE *file, uint32_t commands)
{
    static const struct {
        const char *code, *meaning;
        uint32_t commands;
    } codes[] = {
        {"0", "All is well.", UINT32_MAX},
        {"1", "Data is wrong, a result is another than before, or a case became slower.",
         UINT32_MAX},
        {"2", "The command line or the configuration is wrong.", UINT32_MAX},
        {"3", "The simulated program failed: deadlock, fault, overflow of time.", UINT32_MAX},
        {"4", "Memory, disk or threads ran out, or a result cannot be written.", UINT32_MAX},
        {"5", "An internal check of cubewarp failed.", UINT32_MAX},
        {"7", "Of perf compare: too little could be compared.", COMMAND_PERF_COMPARE},
        {"8", "Of perf compare and perf trend: simulated results changed.",
         COMMAND_PERF_COMPARE | COMMAND_PERF_TREND},
        {"129, 130, 143", "SIGHUP, SIGINT, SIGTERM ended it.", UINT32_MAX},
    };
    fputs(".SH EXIT STATUS\n", file);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if ((codes[i].commands & commands) != 0)
            fprintf(file, ".TP\n\\fB%s\\fR\n%s\n", codes[i].code, codes[i].meaning);
}

static void put_environment(FILE *file)
{
    fputs(".SH ENVIRONMENT\n", file);
    for (size_t i = 0; i < ENVIRONMENT_NAMES; i++) {
        fprintf(file, ".TP\n\\fB%s\\fR\n", environment_variables[i].name);
        put_text(file, environment_variables[i].doc);
        putc('\n', file);
    }
}

void man_page_command(FILE *file, const struct command_row *command)
{
    char name[PAGE_NAME_BYTES];
    put_heading(file, page_name(command, name));
    fputs(".SH NAME\n", file);
    put_text(file, name);
    fputs(" \\- ", file);
    put_text(file, command->summary);
    fprintf(file, "\n.SH SYNOPSIS\n\\fBcubewarp %s\\fR\n", command->name);
    put_text(file, command->arguments);
    fputs("\n.SH DESCRIPTION\n", file);
    put_lines(file, command->intro);
    if (command->after != NULL)
        put_lines(file, command->after);
    fputs((command->command & COMMANDS_WITH_PARTS) == 0 ? ".SH OPTIONS\n" : "", file);
    for (size_t i = 0; i < option_row_count; i++)
        if ((option_rows[i].commands & command->command) != 0)
            put_option(file, &option_rows[i]);
    put_exit_codes(file, command->command);
    if (command->examples[0] != NULL)
        fputs(".SH EXAMPLES\n.nf\n", file);
    for (size_t i = 0; i < 3 && command->examples[i] != NULL; i++) {
        fputs("cubewarp ", file);
        put_text(file, command->examples[i]);
        putc('\n', file);
    }
    fputs(command->examples[0] != NULL ? ".fi\n" : "", file);
    fputs(".SH SEE ALSO\n.BR cubewarp (1)\n", file);
}

void man_page_program(FILE *file)
{
    const struct command_row *command;
    put_heading(file, "cubewarp");
    fputs(".SH NAME\n"
          "cubewarp \\- simulate collective communication inside large AI accelerators\n"
          ".SH SYNOPSIS\n"
          "\\fBcubewarp\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n"
          ".br\n"
          "\\fBcubewarp \\-\\-generate\\fR \\fBman\\fR [\\fIFOLDER\\fR]\n"
          ".br\n"
          "\\fBcubewarp \\-\\-generate\\fR {\\fBbash\\fR|\\fBzsh\\fR|\\fBfish\\fR}\n"
          ".SH DESCRIPTION\n"
          "Each command has a page of its own and an option \\fB\\-\\-help\\fR.\n"
          "Options and arguments stand in any order.\n"
          "A value is \\fB\\-\\-name\\fR \\fIVALUE\\fR or \\fB\\-\\-name=\\fR\\fIVALUE\\fR.\n"
          "A name may be cut short where only one option begins with it.\n"
          "An option is given once, unless its description says that it may be repeated.\n"
          ".SH COMMANDS\n",
          file);
    for (size_t i = 0; (command = command_row_at(i)) != NULL; i++) {
        fprintf(file, ".TP\n\\fB%s\\fR\n", command->name);
        put_text(file, command->summary);
        putc('\n', file);
    }
    fputs(".SH OPTIONS\n"
          ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nthe list of commands\n"
          ".TP\n\\fB\\-\\-version\\fR\nthe version\n"
          ".TP\n\\fB\\-\\-generate\\fR \\fBman\\fR [\\fIFOLDER\\fR]\n"
          "write the manual pages into the folder, by default the current one\n"
          ".TP\n\\fB\\-\\-generate\\fR {\\fBbash\\fR|\\fBzsh\\fR|\\fBfish\\fR}\n"
          "print the completion of command lines for a shell\n",
          file);
    put_exit_codes(file, UINT32_MAX);
    put_environment(file);
    fputs(".SH SEE ALSO\n", file);
    for (size_t i = 0; (command = command_row_at(i)) != NULL; i++) {
        char name[PAGE_NAME_BYTES];
        fputs(".BR ", file);
        put_text(file, page_name(command, name));
        fprintf(file, " (1)%s\n", command_row_at(i + 1) != NULL ? "," : "");
    }
}
