/*
 * test_locale.c: a shared object that calls setlocale() changes no byte of what is written, and
 * nothing of what is read. The locale with a decimal comma is made here, since machines without
 * locales are common.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "test/support/built_plugin.h"
#include "test/support/file_text.h"
#include "test/support/run_cubewarp.h"

BUILT_PLUGIN("foreign_locale")

/* The number that a compiled LC_NUMERIC begins with (glibc's locale/localeinfo.h). */
enum { NUMERIC_MAGIC = 0x20031114, NUMERIC_FIELDS = 6 };

/* `comma/LC_NUMERIC` in the object's folder: a comma, a thin thousands separator, no more. */
static void make_locale(void)
{
    static const char texts[] = ",\0.\0\3"; /* three texts: point, separator, grouping */
    enum {
        HEAD = 4 * (2 + NUMERIC_FIELDS),
        WIDE = HEAD + 8,
        CODESET = WIDE + 8,
        END = CODESET + 6
    };
    const uint32_t head[2 + NUMERIC_FIELDS] = {NUMERIC_MAGIC, NUMERIC_FIELDS, HEAD,     HEAD + 2,
                                               HEAD + 4,      WIDE,           WIDE + 4, CODESET};
    const uint32_t wide[2] = {',', '.'};
    char bytes[END] = "", path[160];
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + HEAD, texts, sizeof texts);
    memcpy(bytes + WIDE, wide, sizeof wide);
    memcpy(bytes + CODESET, "UTF-8", 6);
    snprintf(path, sizeof path, "%s/comma", plugin.folder);
    assert_int_equal(mkdir(path, 0777), 0);
    strcat(path, "/LC_NUMERIC");
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
    assert_int_equal(fclose(file), 0);
}

static void speak(const char *locale)
{
    assert_int_equal(setenv("LOCPATH", plugin.folder, 1), 0);
    unsetenv("LC_ALL");
    if (locale != NULL)
        assert_int_equal(setenv("LC_NUMERIC", locale, 1), 0);
    else
        unsetenv("LC_NUMERIC");
}

/* A ccl.yaml in whose entry the object is the validator, and a table of measured times. */
static void write_files(void)
{
    char path[160];
    snprintf(path, sizeof path, "%s/own.yaml", plugin.folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "defaults:\n  algorithm: mine\nalgorithms:\n  mine:\n    extends: ring_allreduce\n"
            "    validator: %s:any_tensor\n",
            plugin.path);
    assert_int_equal(fclose(file), 0);
    snprintf(path, sizeof path, "%s/measured.txt", plugin.folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("# size count type redop time algbw busbw #wrong\n"
          "4096 2048 half sum 12.75 0.32 0.48 0\n",
          file);
    assert_int_equal(fclose(file), 0);
}

static char *contents(const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", plugin.folder, name);
    return read_file(path);
}

/* All the files of a run whose bytes depend on nothing but the simulation. */
static void run_in(const char *locale, const char *mark)
{
    const char *const d = plugin.folder;
    speak(locale);
    struct run_output output =
        run_line(0,
                 "run --quiet --ccl %s/own.yaml --set system.sips.topology=switch --bytes 4096 "
                 "--verify-data --threads 2 --sync "
                 "optimistic --measured %s/measured.txt --csv %s/%s.csv --svg %s/%s.svg --dot "
                 "%s/%s.dot --gexf %s/%s.gexf --links "
                 "%s/%s.links.json --trace %s/%s.trace --ccl-trace %s/%s.ccl --explain",
                 d, d, d, mark, d, mark, d, mark, d, mark, d, mark, d, mark, d, mark);
    run_output_free(&output);
}

static void no_byte_of_a_file_depends_on_the_locale(void **state)
{
    (void)state;
    static const char *const kinds[] = {"csv", "svg", "dot", "gexf", "links.json", "trace", "ccl"};
    make_locale();
    write_files();
    run_in(NULL, "plain");
    run_in("comma", "comma");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char name[2][40];
        snprintf(name[0], sizeof name[0], "plain.%s", kinds[i]);
        snprintf(name[1], sizeof name[1], "comma.%s", kinds[i]);
        char *const plain = contents(name[0]), *const comma = contents(name[1]);
        assert_string_equal(comma, plain);
        free(plain);
        free(comma);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_of_a_file_depends_on_the_locale),
    };
    return cmocka_run_group_tests(tests, build, clean);
}
