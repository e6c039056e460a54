/*
 * test_generate.c: manual pages and completions name every option of every command, and every
 * choice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/completion.h"
#include "bench/options/man_page.h"
#include "bench/options/options_table.h"

/* A text that is written into memory. */
struct text {
    FILE *file;
    char *text;
    size_t bytes;
};

static void open_text(struct text *text)
{
    text->file = open_memstream(&text->text, &text->bytes);
    assert_non_null(text->file);
}

/* Takes the escapes of a page away: "\\-" is '-', and fonts are nothing. */
static void close_page(struct text *page)
{
    assert_int_equal(fclose(page->file), 0);
    char *to = page->text;
    for (const char *from = page->text; *from != '\0'; from++) {
        if (*from != '\\')
            *to++ = *from;
        else if (*++from == 'f')
            from++;
        else if (*from == '-')
            *to++ = '-';
    }
    *to = '\0';
}

static void expect_words(const char *text, const char *format, const char *a, const char *b,
                         const char *in)
{
    char words[256];
    assert_true((size_t)snprintf(words, sizeof words, format, a, b) < sizeof words);
    if (strstr(text, words) == NULL)
        fail_msg("%s: no '%s'", in, words);
}

static void a_page_names_every_option_of_its_command(void **state)
{
    (void)state;
    const struct command_row *command;
    for (size_t k = 0; (command = command_row_at(k)) != NULL; k++) {
        struct text page;
        open_text(&page);
        man_page_command(page.file, command);
        close_page(&page);
        for (size_t i = 0; i < option_row_count; i++) {
            const struct option_row *const row = &option_rows[i];
            if ((row->commands & command->command) == 0)
                continue;
            expect_words(page.text, row->argument != NULL ? "--%s %s\n" : "--%s%s\n", row->name,
                         row->argument != NULL ? row->argument : "", command->name);
            for (size_t n = 0; row->choice != NULL && row->choice(n) != NULL; n++)
                expect_words(page.text, "\n%s%s", row->choice(n), "", command->name);
        }
        free(page.text);
    }
}

/* Codes that no other command has are on the pages of theirs. */
static void pages_name_exit_codes(void **state)
{
    (void)state;
    struct text page;
    open_text(&page);
    man_page_command(page.file, command_row_of(COMMAND_PERF_COMPARE));
    close_page(&page);
    expect_words(page.text, "\n%s\nOf perf compare: %s", "7", "", "perf compare");
    expect_words(page.text, "\n%s\nOf perf compare%s", "8", "", "perf compare");
    free(page.text);
    open_text(&page);
    man_page_command(page.file, command_row_of(COMMAND_RUN));
    close_page(&page);
    expect_words(page.text, "\n%s\n%s", "129, 130, 143", "SIGHUP", "run");
    assert_null(strstr(page.text, "Of perf"));
    free(page.text);
}

static void the_page_of_the_program_names_every_command(void **state)
{
    (void)state;
    struct text page;
    open_text(&page);
    man_page_program(page.file);
    close_page(&page);
    for (size_t k = 0; command_row_at(k) != NULL; k++)
        expect_words(page.text, "\n%s\n%s\n", command_row_at(k)->name, command_row_at(k)->summary,
                     "cubewarp(1)");
    free(page.text);
}

static void completions_name_every_option_of_every_command(void **state)
{
    (void)state;
    static const char *const option_words[] = {"--%s%s", "--%s%s", " -l %s%s"};
    for (size_t shell = 0; completion_shell(shell) != NULL; shell++) {
        const struct command_row *command;
        struct text script;
        open_text(&script);
        completion_print(script.file, shell);
        assert_int_equal(fclose(script.file), 0);
        for (size_t k = 0; (command = command_row_at(k)) != NULL; k++) {
            const char *const part = strchr(command->name, ' ');
            expect_words(script.text, "%s%s", part != NULL ? part + 1 : command->name, "",
                         completion_shell(shell));
        }
        for (size_t i = 0; i < option_row_count; i++) {
            const struct option_row *const row = &option_rows[i];
            expect_words(script.text, option_words[shell], row->name, "", completion_shell(shell));
            for (size_t n = 0; row->choice != NULL && row->choice(n) != NULL; n++)
                expect_words(script.text, "%s%s", row->choice(n), "", completion_shell(shell));
        }
        free(script.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_names_every_option_of_its_command),
        cmocka_unit_test(pages_name_exit_codes),
        cmocka_unit_test(the_page_of_the_program_names_every_command),
        cmocka_unit_test(completions_name_every_option_of_every_command),
    };
    return cmocka_run_group_tests_name("generate", tests, NULL, NULL);
}
