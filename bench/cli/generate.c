/*
 * generate.c: `cubewarp --generate` (generate.h): chooses the text and writes the files.
 */
#include "bench/cli/generate.h"

#include <stdio.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/options/completion.h"
#include "bench/options/man_page.h"
#include "bench/options/options_table.h"
#include "bench/output/atomic_file.h"

enum { PATH_BYTES = 4096 };

/* Writes one page; the program's own for NULL. */
static int write_page(const char *folder, const struct command_row *command, struct cw_error *error)
{
    struct atomic_file page = {.stream = NULL};
    char path[PATH_BYTES];
    int used = snprintf(path, sizeof path, "%s/cubewarp%s%s.1", folder, command != NULL ? "-" : "",
                        command != NULL ? command->name : "");
    if (used >= (int)sizeof path)
        return cw_error_set(error, CW_USAGE, "%.200s...: the folder's name is too long", folder);
    for (char *at = path + strlen(folder); *at != '\0'; at++)
        *at = *at == ' ' ? '-' : *at;
    int result = atomic_file_open(&page, path, error);
    if (result != CW_OK)
        return result;
    if (command != NULL)
        man_page_command(page.stream, command);
    else
        man_page_program(page.stream);
    result = atomic_file_commit(&page, error);
    atomic_file_discard(&page);
    return result;
}

static int write_pages(const char *folder, struct cw_error *error)
{
    int result = write_page(folder, NULL, error);
    for (size_t i = 0; result == CW_OK && command_row_at(i) != NULL; i++)
        result = write_page(folder, command_row_at(i), error);
    return result;
}

int generate_main(int argc, char **argv)
{
    struct cw_error error = {.exit_code = CW_OK};
    const char *const kind = argc > 1 ? argv[1] : "";
    const bool is_man = strcmp(kind, "man") == 0;
    size_t shell = 0;
    while (completion_shell(shell) != NULL && strcmp(kind, completion_shell(shell)) != 0)
        shell++;
    if ((!is_man && completion_shell(shell) == NULL) || argc != (is_man ? 3 : 2)) {
        cw_error_set(&error, CW_USAGE,
                     "expected man, with the folder for the pages, or bash, zsh "
                     "or fish");
        return cli_fail("--generate", &error);
    }
    if (!is_man)
        completion_print(stdout, shell);
    else if (write_pages(argv[2], &error) != CW_OK)
        return cli_fail("--generate", &error);
    return cli_end("--generate", CW_OK);
}
