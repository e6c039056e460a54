/*
 * test_guide.c: the worked example of the author's guide (collectives/README.md), taken from its
 * text, built as it says, run, and compared with an algorithm that adds in the same order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

static char folder[64];

static char *read_guide(void)
{
    FILE *file = fopen("collectives/README.md", "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 17);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 17) - 1, file) > 0);
    assert_int_equal(fclose(file), 0);
    return text;
}

/* The first block of this language, into a file of the folder, with `from` replaced by `to`. */
static void write_block(const char *guide, const char *fence, const char *name, const char *from,
                        const char *to)
{
    char path[100];
    const char *begin = strstr(guide, fence);
    assert_non_null(begin);
    begin += strlen(fence);
    const char *end = strstr(begin, "\n```");
    assert_non_null(end);
    end++;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    const char *at = from ? strstr(begin, from) : NULL;
    if (at != NULL && at < end) {
        fwrite(begin, 1, (size_t)(at - begin), file);
        fputs(to, file);
        begin = at + strlen(from);
    }
    fwrite(begin, 1, (size_t)(end - begin), file);
    assert_int_equal(fclose(file), 0);
}

static int build(void **state)
{
    char command[300], object[100];
    (void)state;
    strcpy(folder, "/tmp/cubewarp-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    char *guide = read_guide();
    snprintf(object, sizeof object, "%s/chain.so", folder);
    write_block(guide, "```c\n", "chain.c", NULL, NULL);
    write_block(guide, "```yaml\n", "chain.yaml", "./chain.so", object);
    assert_non_null(
        strstr(guide, "\ncc -std=gnu17 -I. -shared -fPIC -o chain.so chain.c\n")); /* as here */
    free(guide);
    snprintf(command, sizeof command,
             "${CC:-cc} -std=gnu17 -I. -Wall -Wextra -Werror -shared -fPIC "
             "-o %s %s/chain.c",
             object, folder);
    return system(command);
}

static int clean(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *hash_of(const json_t *root)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(root, "results"), 0), "data_hash"));
}

static void the_worked_example_reduces(void **state)
{
    (void)state;
    static const char *const tensors[] = {"--n-elem 1", "--bytes 64KiB --dtype bf16",
                                          ("--n-elem 5001 --set defaults.n_slots=1 "
                                           "--set defaults.buffer_kind=hbm"),
                                          "--n-elem 700 --set system.sips.count=1",
                                          "--preset six_3x2 --n-elem 3000 --dtype f32 --op prod"};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        json_t *chain = run_json("run --ccl %s/chain.yaml %s", folder, tensors[i]);
        json_t *ring = run_json("run --algorithm ring_allreduce "
                                "--set defaults.rank_invariant=true %s",
                                tensors[i]);
        assert_non_null(hash_of(chain));
        assert_string_equal(hash_of(chain), hash_of(ring));
        json_decref(chain);
        json_decref(ring);
    }
}

static void the_worked_example_rolls_back(void **state)
{
    (void)state;
    struct run_output output = run_line(0,
                                        "verify --ccl %s/chain.yaml --n-elem 9000 --sync stress "
                                        "--threads 3",
                                        folder);
    assert_non_null(strstr(output.out, "\nidentical\n"));
    run_output_free(&output);
}

static void other_collectives_run_on_the_wiring_of_the_worked_example(void **state)
{
    (void)state;
    static const char *const benches[] = {"ccl_all_gather", "ccl_broadcast", "ccl_barrier"};
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        struct run_output output = run_line(
            0, "run --ccl %s/chain.yaml --bench %s --n-elem 16 --verify-data", folder, benches[i]);
        run_output_free(&output);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_example_reduces),
        cmocka_unit_test(the_worked_example_rolls_back),
        cmocka_unit_test(other_collectives_run_on_the_wiring_of_the_worked_example),
    };
    return cmocka_run_group_tests_name("guide", tests, build, clean);
}
