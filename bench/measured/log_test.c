/*
 * log_test.c: names of tests: NAME_perf of nccl-tests and rccl-tests, NAME_test of hccl_test,
 * NAME_test_perf of mscclpp-test, osu_NAME, "# OSU MPI Name Latency Test", "# Benchmarking Name" of
 * IMB, and the short names that nccom-test takes (log_test.h).
 */
#include "bench/measured/log_test.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Collectives in lower case without '_' and '-'. */
static const struct {
    const char *name;
    enum ccl_collective does;
} collectives[] = {
    {"allreduce", CCL_ALL_REDUCE},
    {"allgather", CCL_ALL_GATHER},
    {"reducescatter", CCL_REDUCE_SCATTER},
    {"reducescatterblock", CCL_REDUCE_SCATTER},
    {"alltoall", CCL_ALL_TO_ALL},
    {"broadcast", CCL_BROADCAST},
    {"bcast", CCL_BROADCAST},
    {"barrier", CCL_BARRIER},
    {"reduce", CCL_REDUCE},
    {"sendrecv", CCL_COLLECTIVES},
    {"gather", CCL_COLLECTIVES},
    {"gatherv", CCL_COLLECTIVES},
    {"scatter", CCL_COLLECTIVES},
    {"scatterv", CCL_COLLECTIVES},
    {"allgatherv", CCL_COLLECTIVES},
    {"alltoallv", CCL_COLLECTIVES},
    {"alltoallw", CCL_COLLECTIVES},
    {"hypercube", CCL_COLLECTIVES},
    {"scan", CCL_COLLECTIVES},
    {"exscan", CCL_COLLECTIVES},
    {"latency", CCL_COLLECTIVES},
    {"pingpong", CCL_COLLECTIVES},
    {"bw", CCL_COLLECTIVES},
    {"exchange", CCL_COLLECTIVES},
    {"bibw", CCL_COLLECTIVES},
    {"allr", CCL_ALL_REDUCE}, /* of nccom-test, which follow */
    {"allg", CCL_ALL_GATHER},
    {"redsct", CCL_REDUCE_SCATTER},
    {"permute", CCL_COLLECTIVES},
};
enum { COLLECTIVES = sizeof collectives / sizeof *collectives, NCCOM_TEST = COLLECTIVES - 4 };

static bool is_name_char(char c) { return isalnum((unsigned char)c) != 0 || c == '_'; }

/* The collective that a name folds to; COLLECTIVES: none. */
static size_t fold(const char *name, size_t bytes)
{
    char folded[32];
    size_t length = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (name[i] == '_' || name[i] == '-')
            continue;
        if (length + 1 >= sizeof folded)
            return COLLECTIVES;
        folded[length++] = (char)tolower((unsigned char)name[i]);
    }
    folded[length] = '\0';
    for (size_t i = 0; i < COLLECTIVES; i++)
        if (strcmp(collectives[i].name, folded) == 0)
            return i;
    return COLLECTIVES;
}

static bool ends_in(const char *name, size_t *bytes, const char *end)
{
    const size_t length = strlen(end);
    if (*bytes <= length || memcmp(name + *bytes - length, end, length) != 0)
        return false;
    *bytes -= length;
    return true;
}

static bool skip_start(const char **name, size_t *bytes, const char *start)
{
    const size_t length = strlen(start);
    if (*bytes <= length || memcmp(*name, start, length) != 0)
        return false;
    *name += length;
    *bytes -= length;
    return true;
}

/* "osu_allreduce", "osu_xccl_allreduce", "osu_iallreduce". */
static size_t fold_osu(const char *name, size_t bytes)
{
    (void)skip_start(&name, &bytes, "xccl_");
    const size_t which = fold(name, bytes);
    return which == COLLECTIVES && skip_start(&name, &bytes, "i") ? fold(name, bytes) : which;
}

/* "all_reduce_perf", "all_reduce_perf_mpi", "allreduce_test_perf", "osu_allreduce". */
static size_t fold_program(const char *name, size_t bytes)
{
    if (skip_start(&name, &bytes, "osu_"))
        return fold_osu(name, bytes);
    (void)ends_in(name, &bytes, "_mpi");
    const bool is_perf = ends_in(name, &bytes, "_perf"), is_test = ends_in(name, &bytes, "_test");
    return is_perf || is_test ? fold(name, bytes) : COLLECTIVES;
}

/* Another name of the same line: false where it does something else than the one before. */
static bool take(struct log_test *test, const char *before, const char *name, size_t bytes,
                 enum ccl_collective does)
{
    char text[sizeof test->name];
    snprintf(text, sizeof text, "%s%.*s", before, (int)(bytes < 40 ? bytes : 40), name);
    if (test->name[0] != '\0')
        return test->does == does && (does != CCL_COLLECTIVES || strcmp(test->name, text) == 0);
    memcpy(test->name, text, sizeof text);
    test->does = does;
    return true;
}

bool log_test_named(const char *name, size_t bytes, struct log_test *test)
{
    size_t which = fold_program(name, bytes);
    if (which == COLLECTIVES)
        which = fold(name, bytes);
    *test = (struct log_test){.does = CCL_COLLECTIVES};
    return which < COLLECTIVES && take(test, "", name, bytes, collectives[which].does);
}

/* The word that begins at or after `at`; false: there is none. */
static bool next_word(const char **at, const char *end, size_t *bytes)
{
    while (*at < end && !is_name_char(**at))
        (*at)++;
    const char *last = *at;
    while (last < end && (is_name_char(*last) || (*last == '-' && last > *at)))
        last++;
    *bytes = (size_t)(last - *at);
    return *bytes > 0;
}

static bool word_is(const char *word, size_t bytes, const char *text)
{
    return bytes == strlen(text) && memcmp(word, text, bytes) == 0;
}

bool log_test_read(const char *line, size_t bytes, struct log_test *test)
{
    const char *const end = line + bytes, *before = NULL;
    size_t length, before_bytes = 0;
    bool is_osu = false, is_imb = false, is_nccom = false;
    *test = (struct log_test){.does = CCL_COLLECTIVES};
    for (const char *at = line; next_word(&at, end, &length); at += length) {
        size_t which = fold_program(at, length);
        bool is_one = true;
        if (which < COLLECTIVES && which < NCCOM_TEST) {
            is_one = take(test, "", at, length, collectives[which].does);
        } else if (is_osu && before != NULL && word_is(at, length, "Latency")) {
            which = fold(before, before_bytes);
            is_one = take(test, "OSU ", before, before_bytes,
                          which < COLLECTIVES ? collectives[which].does : CCL_COLLECTIVES);
        } else if (is_imb || is_nccom) {
            which = fold(at, length);
            if (which < COLLECTIVES)
                is_one = take(test, is_imb ? "IMB " : "nccom-test ", at, length,
                              collectives[which].does);
            is_nccom = is_nccom && which == COLLECTIVES;
        }
        if (!is_one) {
            test->name[0] = '\0';
            return false;
        }
        is_osu = is_osu || word_is(at, length, "OSU");
        is_imb = word_is(at, length, "Benchmarking");
        is_nccom = is_nccom || word_is(at, length, "nccom-test");
        before = at;
        before_bytes = length;
    }
    return test->name[0] != '\0';
}
