/*
 * test_config_fuzz.c: thousands of random mutations of the shipped files: each loads or is refused
 * with a message; none crashes. The seed is fixed; a failing case is printed.
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_load.h"
#include "collectives/config/config_place.h"

#define ROUNDS     3000
#define FILE_BYTES 16384u

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static size_t below(uint64_t *state, size_t bound) { return (size_t)(next_random(state) % bound); }

/* A text under mutation. */
struct text {
    char bytes[FILE_BYTES];
    size_t length;
};

static void read_shipped(const char *folder, const char *name, struct text *text)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    text->length = fread(text->bytes, 1, sizeof text->bytes / 2, file);
    fclose(file);
    assert_true(text->length > 0);
}

static void insert(struct text *text, size_t at, const char *piece, size_t bytes)
{
    if (text->length + bytes > sizeof text->bytes)
        return;
    memmove(text->bytes + at + bytes, text->bytes + at, text->length - at);
    memcpy(text->bytes + at, piece, bytes);
    text->length += bytes;
}

static void mutate(struct text *text, uint64_t *random)
{
    static const char *const pieces[] = {
        "{",    "}",    "[",   "]",        ": ",     ", ",           "- ",
        "\n",   "\n  ", "&a ", "*a",       "!!int ", "\"",           "'",
        "|\n",  ">",    "#",   "%",        "---\n",  "? ",           "<<: ",
        "null", "-1",   "0",   "1e999",    "0x10",   "1.5e-3",       "99999999999999999999",
        ".nan", "true", "\t",  "\xc3\xa9", "\xff",   "\xef\xbb\xbf", "extends: a"};
    const size_t at = below(random, text->length);
    const size_t span = 1 + below(random, 12);
    const size_t rest = text->length - at;
    const char *const piece = pieces[below(random, COUNT_OF(pieces))];
    char copy[16];
    switch (below(random, 5)) {
    case 0: /* another byte */
        text->bytes[at] = (char)next_random(random);
        break;
    case 1: /* a piece goes */
        if (rest > span && text->length > 2 * span) {
            memmove(text->bytes + at, text->bytes + at + span, rest - span);
            text->length -= span;
        }
        break;
    case 2:
    case 3:
        insert(text, at, piece, strlen(piece));
        break;
    default: /* a piece comes twice */
        if (rest > span) {
            memcpy(copy, text->bytes + at, span);
            insert(text, below(random, text->length), copy, span);
        }
        break;
    }
}

static void mutated_files_load_or_are_refused_with_a_place(void **state)
{
    (void)state;
    static const char *const names[] = {"topology.yaml", "components.yaml", "ccl.yaml"};
    static const char groups[] = "groups:\n  tp: { each: 2 }\n  dp: { stride: 2, algorithm: "
                                 "ring_rs_ag, lanes: 0-63 }\n  odd: { ranks: [0, 1-3/2] }\n";
    struct config *const shipped = load_with(NULL, NULL, 0);
    char folder[PATH_MAX];
    config_where(shipped, "system.sips.count", folder, sizeof folder);
    *strrchr(folder, '/') = '\0';
    config_free(shipped);
    uint64_t random = 20231120;
    size_t loaded = 0;
    for (int round = 0; round < ROUNDS; round++) {
        static struct text text;
        const size_t which = below(&random, COUNT_OF(names));
        read_shipped(folder, names[which], &text);
        if (which == 2) /* which ships without groups */
            insert(&text, text.length, groups, strlen(groups));
        for (size_t changes = 1 + below(&random, 4); changes > 0; changes--)
            mutate(&text, &random);
        write_bytes("mutant.yaml", text.bytes, text.length);
        struct config_request request = {.configs_dir = folder};
        const char **const file = which == 0   ? &request.topology
                                  : which == 1 ? &request.components
                                               : &request.ccl;
        *file = "mutant.yaml";
        int code;
        char *const errors = load_errors(&request, &code);
        if (code == CW_OK) {
            loaded++;
            assert_string_equal(errors, "");
        } else if (code != CW_USAGE || errors[0] == '\0') {
            fail_msg("round %d, code %d: %s\n%.*s", round, code, errors, (int)text.length,
                     text.bytes);
        }
        free(errors);
    }
    assert_in_range(loaded, ROUNDS / 20, ROUNDS * 19 / 20); /* both ends are reached */
}

static void random_set_options_load_or_are_refused(void **state)
{
    (void)state;
    static const char *const keys[] = {"system.sips.count",
                                       "system",
                                       "links.ucie",
                                       "defaults.vc_weights",
                                       "algorithms",
                                       "algorithms.a.root",
                                       "defaults.root",
                                       "cube.pe_layout.corners",
                                       "groups",
                                       "groups.a",
                                       "groups.a.ranks",
                                       "groups.a.each",
                                       "groups.a.lanes",
                                       "",
                                       "a.b.c"};
    uint64_t random = 7;
    for (int round = 0; round < ROUNDS / 3; round++) {
        char set[64];
        const char *const sets[] = {set};
        int used = snprintf(set, sizeof set, "%s=", keys[below(&random, COUNT_OF(keys))]);
        for (size_t bytes = below(&random, 12); bytes > 0; bytes--)
            set[used++] = "0123456789,.-{}[]:aNWE \n\"'&*!e\xc3\xa9\x01"[below(&random, 33)];
        set[used] = '\0';
        int code;
        char *const errors =
            load_errors(&(struct config_request){.sets = sets, .set_count = 1}, &code);
        assert_true(code == CW_OK || (code == CW_USAGE && errors[0] != '\0'));
        free(errors);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutated_files_load_or_are_refused_with_a_place),
        cmocka_unit_test(random_set_options_load_or_are_refused),
    };
    return cmocka_run_group_tests_name("configuration fuzz", tests, scratch_enter, scratch_leave);
}
