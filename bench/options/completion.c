/*
 * completion.c: scripts for bash, zsh and fish (completion.h). Each completes commands, the options
 * of a command, the choices of an option, and names of files where an option takes one.
 */
#include "bench/options/completion.h"

#include <stdbool.h>
#include <string.h>

#include "bench/options/options_table.h"

/* ---- values --------------------------------------------------------------------------------- */

static bool names_file(const struct option_row *row)
{
    return row->argument != NULL && strcmp(row->argument, "FILE") == 0;
}

static bool completes(const struct option_row *row, const struct command_row *command)
{
    return (row->commands & command->command) != 0;
}

static void put_choice_words(FILE *file, const struct option_row *row)
{
    const char *name;
    for (size_t i = 0; row->choice != NULL && (name = row->choice(i)) != NULL; i++)
        fprintf(file, "%s%s", i == 0 ? "" : " ", name);
}

/* "perf run" -> "perf_run" */
static void put_identifier(FILE *file, const char *name)
{
    for (; *name != '\0'; name++)
        putc(*name == ' ' ? '_' : *name, file);
}

/* The first line of a help, for a description in single quotes; `escaped` get a backslash. */
static void put_description(FILE *file, const char *help, const char *escaped)
{
    for (; *help != '\0'; help++) {
        if (*help == '\'')
            fputs("'\\'", file);
        else if (strchr(escaped, *help) != NULL)
            putc('\\', file);
        putc(*help == '\n' ? ' ' : *help, file);
    }
}

/* The word by which a command is named after `of`, a command with parts; after `cubewarp` itself if
 * that is NULL. NULL: it is not named there. */
static const char *word_after(const struct command_row *of, const struct command_row *command)
{
    const char *const part = strchr(command->name, ' ');
    if (of == NULL)
        return part == NULL ? command->name : NULL;
    const size_t bytes = strlen(of->name);
    return part == command->name + bytes && memcmp(command->name, of->name, bytes) == 0 ? part + 1
                                                                                        : NULL;
}

static bool has_parts(const struct command_row *command)
{
    return (command->command & COMMANDS_WITH_PARTS) != 0;
}

/* The words that may follow it. */
static void put_commands(FILE *file, const struct command_row *of)
{
    const struct command_row *command;
    for (size_t i = 0; (command = command_row_at(i)) != NULL; i++)
        if (word_after(of, command) != NULL)
            fprintf(file, " %s", word_after(of, command));
}

/* ---- bash ----------------------------------------------------------------------------------- */

/* The pattern of a case: each command of the option, with each of its names. */
static void put_bash_pattern(FILE *file, const struct option_row *row)
{
    const struct command_row *command;
    const char *between = "    ";
    for (size_t i = 0; (command = command_row_at(i)) != NULL; i++) {
        if (!completes(row, command))
            continue;
        fprintf(file, "%s'%s --%s'", between, command->name, row->name);
        between = " | ";
        if (row->letter != 0)
            fprintf(file, " | '%s -%c'", command->name, row->letter);
    }
}

static void print_bash(FILE *file)
{
    const struct command_row *command;
    fputs("# bash completion for cubewarp\n\n_cubewarp()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local command=${COMP_WORDS[1]} words=\n"
          "    COMPREPLY=()\n"
          "    if [[ $cur == '=' ]]; then\n"
          "        cur=\n"
          "    elif [[ $before == '=' ]]; then\n"
          "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W '",
          file);
    put_commands(file, NULL);
    fputs(" --help --version --generate' -- \"$cur\"))\n        return\n    fi\n", file);
    for (size_t i = 0; (command = command_row_at(i)) != NULL; i++) {
        if (!has_parts(command))
            continue;
        fprintf(file,
                "    if [[ $command == %s ]]; then\n"
                "        if ((COMP_CWORD == 2)); then\n"
                "            COMPREPLY=($(compgen -W '",
                command->name);
        put_commands(file, command);
        fprintf(file,
                " --help' -- \"$cur\"))\n            return\n        fi\n"
                "        command=\"%s ${COMP_WORDS[2]}\"\n    fi\n",
                command->name);
    }
    fputs("    case \"$command $before\" in\n"
          "    '--generate --generate') words='man bash zsh fish' ;;\n",
          file);
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *const row = &option_rows[i];
        if (row->argument == NULL || row->optional != NULL)
            continue;
        put_bash_pattern(file, row);
        if (row->choice != NULL) {
            fputs(") words='", file);
            put_choice_words(file, row);
            fputs("' ;;\n", file);
        } else {
            fputs(names_file(row) ? ") compopt -o default; return ;;\n" : ") return ;;\n", file);
        }
    }
    fputs("    esac\n    if [[ -z $words ]]; then\n        case $command in\n", file);
    for (size_t k = 0; (command = command_row_at(k)) != NULL; k++) {
        fprintf(file, "        '%s') words='", command->name);
        for (size_t i = 0; i < option_row_count; i++)
            if (completes(&option_rows[i], command))
                fprintf(file, "--%s ", option_rows[i].name);
        fputs("' ;;\n", file);
    }
    fputs("        esac\n        [[ $cur == -* ]] || { compopt -o default; return; }\n    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
          "complete -F _cubewarp cubewarp\n",
          file);
}

/* ---- zsh ------------------------------------------------------------------------------------ */

static void print_zsh_option(FILE *file, const struct option_row *row)
{
    const bool has_value = row->argument != NULL && row->optional == NULL;
    const char *const value = has_value ? "=" : "";
    fputs(" \\\n        ", file);
    if (row->letter != 0)
        fprintf(file, "'(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, row->name, row->letter,
                has_value ? "+" : "", row->name, value);
    else
        fprintf(file, "'%s--%s%s[", row->repeats ? "*" : "", row->name, value);
    put_description(file, row->help[0] != '\0' ? row->help : row->name, "[]:\\");
    putc(']', file);
    if (has_value)
        fprintf(file, ":%s:", row->argument);
    if (row->choice != NULL) {
        putc('(', file);
        put_choice_words(file, row);
        putc(')', file);
    } else if (names_file(row)) {
        fputs("_files", file);
    }
    putc('\'', file);
}

static void print_zsh_words(FILE *file, const struct command_row *of)
{
    const struct command_row *command;
    for (size_t i = 0; (command = command_row_at(i)) != NULL; i++) {
        if (word_after(of, command) == NULL)
            continue;
        fprintf(file, "\n        '%s:", word_after(of, command));
        put_description(file, command->summary, ":\\");
        putc('\'', file);
    }
}

static void print_zsh(FILE *file)
{
    const struct command_row *command;
    fputs("#compdef cubewarp\n", file);
    for (size_t k = 0; (command = command_row_at(k)) != NULL; k++) {
        if (has_parts(command))
            continue;
        fputs("\n_cubewarp_", file);
        put_identifier(file, command->name);
        fputs("()\n{\n    _arguments -s -S", file);
        for (size_t i = 0; i < option_row_count; i++)
            if (completes(&option_rows[i], command))
                print_zsh_option(file, &option_rows[i]);
        fputs(" \\\n        '*:argument:_files'\n}\n", file);
    }
    for (size_t i = 0; (command = command_row_at(i)) != NULL; i++) {
        if (!has_parts(command))
            continue;
        fprintf(file, "\n_cubewarp_%s()\n{\n    local -a parts=(", command->name);
        print_zsh_words(file, command);
        fprintf(file,
                ")\n    if ((CURRENT == 2)); then\n        _describe part parts\n"
                "    elif (($+functions[_cubewarp_%s_$words[2]])); then\n"
                "        shift words\n        ((CURRENT--))\n"
                "        _cubewarp_%s_$words[1]\n    fi\n}\n",
                command->name, command->name);
    }
    fputs("\n_cubewarp()\n{\n    local -a commands=(", file);
    print_zsh_words(file, NULL);
    fputs(")\n    if ((CURRENT == 2)); then\n"
          "        _describe command commands\n"
          "        compadd -- --help --version --generate\n"
          "    elif [[ $words[2] == --generate ]]; then\n"
          "        ((CURRENT == 3)) && compadd man bash zsh fish\n"
          "    elif (($+functions[_cubewarp_$words[2]])); then\n"
          "        shift words\n        ((CURRENT--))\n"
          "        _cubewarp_$words[1]\n    fi\n}\n\n_cubewarp \"$@\"\n",
          file);
}

/* ---- fish ----------------------------------------------------------------------------------- */

static void print_fish_option(FILE *file, const struct option_row *row,
                              const struct command_row *command)
{
    fprintf(file, "complete -c cubewarp -n '__cubewarp_is %s' -l %s", command->name, row->name);
    if (row->letter != 0)
        fprintf(file, " -s %c", row->letter);
    if (row->choice != NULL) {
        fputs(" -x -a '", file);
        put_choice_words(file, row);
        putc('\'', file);
    } else if (row->argument != NULL && row->optional == NULL) {
        fputs(names_file(row) ? " -r -F" : " -x", file);
    }
    fputs(" -d '", file);
    put_description(file, row->help[0] != '\0' ? row->help : row->name, "\\");
    fputs("'\n", file);
}

static void print_fish(FILE *file)
{
    const struct command_row *command;
    fputs("# fish completion for cubewarp\n\n"
          "# Whether the line is one of this command, of one or two words.\n"
          "function __cubewarp_is\n"
          "    set -l line (commandline -opc)\n"
          "    set -l last (math 1 + (count $argv))\n"
          "    test (count $line) -ge $last\n"
          "    and test \"$line[2..$last]\" = \"$argv\"\n"
          "end\n\n"
          "complete -c cubewarp -f\n"
          "complete -c cubewarp -n 'test (count (commandline -opc)) -eq 1' -l help -l version\n"
          "complete -c cubewarp -n 'test (count (commandline -opc)) -le 2' -l generate -x -a 'man "
          "bash zsh fish'\n",
          file);
    for (size_t k = 0; (command = command_row_at(k)) != NULL; k++) {
        const char *const part = strchr(command->name, ' ');
        fputs("complete -c cubewarp -n '", file);
        if (part == NULL)
            fprintf(file, "test (count (commandline -opc)) -eq 1' -a %s -d '", command->name);
        else
            fprintf(file,
                    "__cubewarp_is %.*s; and test (count (commandline -opc)) -eq 2' -a %s -d '",
                    (int)(part - command->name), command->name, part + 1);
        put_description(file, command->summary, "\\");
        fputs("'\n", file);
        for (size_t i = 0; i < option_row_count; i++)
            if (completes(&option_rows[i], command))
                print_fish_option(file, &option_rows[i], command);
    }
}

/* ---- shells --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*print)(FILE *file);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

const char *completion_shell(size_t i)
{
    return i < sizeof shells / sizeof *shells ? shells[i].name : NULL;
}

void completion_print(FILE *file, size_t shell) { shells[shell].print(file); }
