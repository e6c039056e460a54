/*
 * test_place_text.c: places as text: runs, products, and each place of a random set exactly once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/draw/place_text.h"

enum { SIPS = 6, CUBES = 5, PES = 4 };

static int compare(const void *a, const void *b) { return place_compare(a, b); }

static void expect_text(const struct place_of *places, size_t count, uint32_t parts,
                        const char *prefix, const char *expected)
{
    char *const text = place_text(places, count, parts, prefix, 1);
    assert_string_equal(text, expected);
    free(text);
}

static void runs_and_products(void **state)
{
    (void)state;
    static const struct place_of alone[] = {{{7}}}, sips[] = {{{0}}, {{1}}, {{3}}, {{4}}, {{9}}};
    static const struct place_of cubes[] = {{{0, 2}}, {{1, 2}}, {{0, 3}}, {{1, 3}}, {{0, 9}}};
    static const struct place_of pes[] = {{{0, 1, 0}}, {{1, 1, 0}}, {{0, 1, 2}}, {{1, 1, 2}}};
    expect_text(alone, 1, 1, "", "7");
    expect_text(alone, 1, 1, "x", "x7");
    expect_text(sips, 5, 1, "", "0-1,3-4,9");
    expect_text(cubes, 5, 2, "", "0-1.2-3 0.9");
    expect_text(pes, 4, 3, "", "0-1.1.0,2");
}

/* Marks the numbers of one part, such as "0-1,3"; returns the text after it. */
static const char *read_part(const char *text, bool *has)
{
    for (;;) {
        char *end;
        const unsigned long first = strtoul(text, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (unsigned long i = first; i <= last; i++)
            has[i] = true;
        if (*end != ',')
            return end;
        text = end + 1;
    }
}

static void each_place_stands_once(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 300; round++) {
        struct place_of places[SIPS * CUBES * PES];
        bool wanted[SIPS][CUBES][PES] = {0};
        unsigned found[SIPS][CUBES][PES] = {0};
        size_t count = 0;
        for (uint32_t i = 0; i < SIPS * CUBES * PES; i++)
            if (rand() % 100 < (round % 10 + 1) * 10) {
                const struct place_of place = {{i % SIPS, i / SIPS % CUBES, i / SIPS / CUBES}};
                wanted[place.part[0]][place.part[1]][place.part[2]] = true;
                places[count++] = place;
            }
        qsort(places, count, sizeof *places, compare);
        char *const text = place_text(places, count, 3, "", 1);
        for (const char *at = text; *at != '\0'; at += *at == ' ') {
            bool sip[SIPS] = {0}, cube[CUBES] = {0}, pe[PES] = {0};
            at = read_part(at, sip);
            assert_int_equal(*at++, '.');
            at = read_part(at, cube);
            assert_int_equal(*at++, '.');
            at = read_part(at, pe);
            for (int i = 0; i < SIPS * CUBES * PES; i++)
                found[i % SIPS][i / SIPS % CUBES][i / SIPS / CUBES] +=
                    sip[i % SIPS] && cube[i / SIPS % CUBES] && pe[i / SIPS / CUBES];
        }
        for (int i = 0; i < SIPS * CUBES * PES; i++)
            assert_int_equal(found[i % SIPS][i / SIPS % CUBES][i / SIPS / CUBES],
                             wanted[i % SIPS][i / SIPS % CUBES][i / SIPS / CUBES]);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_products),
        cmocka_unit_test(each_place_stands_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
