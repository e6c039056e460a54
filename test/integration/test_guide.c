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

/* Builds NAME.so from the guide's text, with `from` replaced by `to`, and NAME.yaml to load it. */
static int build_as(const char *guide, const char *name, const char *from, const char *to)
{
    char command[400], object[100], source[64], entry[64];
    snprintf(object, sizeof object, "%s/%s.so", folder, name);
    snprintf(source, sizeof source, "%s.c", name);
    snprintf(entry, sizeof entry, "%s.yaml", name);
    write_block(guide, "```c\n", source, from, to);
    write_block(guide, "```yaml\n", entry, "./chain.so", object);
    snprintf(command, sizeof command,
             "${CC:-cc} -std=gnu17 -I. -Wall -Wextra -Werror -shared -fPIC "
             "-o %s %s/%s",
             object, folder, source);
    return system(command);
}

static int build(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/cubewarp-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    char *guide = read_guide();
    assert_non_null(
        strstr(guide, "\ncc -std=gnu17 -I. -shared -fPIC -o chain.so chain.c\n")); /* as here */
    assert_non_null(strstr(guide, "    return k;\n"));
    assert_non_null(strstr(guide, "                                    .order = &order,\n"));
    const int code = build_as(guide, "chain", NULL, NULL) |
                     build_as(guide, "backwards", "return k;", "return world_size - 1 - k;") |
                     build_as(guide, "twice", "return k;", "return k / 2;") |
                     build_as(guide, "silent", ".order = &order,", ".order = 0 ? &order : NULL,");
    free(guide);
    return code;
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
        json_t *chain = run_json("run --ccl %s/chain.yaml --verify-data %s", folder, tensors[i]);
        json_t *ring = run_json("run --algorithm ring_allreduce "
                                "--set defaults.rank_invariant=true %s",
                                tensors[i]);
        assert_non_null(hash_of(chain));
        assert_string_equal(hash_of(chain), hash_of(ring));
        json_decref(chain);
        json_decref(ring);
    }
}

/* The order is a statement of its own: one that the kernel does not keep is found out. */
static void another_order_than_the_kernels_is_found_out(void **state)
{
    (void)state;
    struct run_output output =
        run_line(1, "run --ccl %s/backwards.yaml --n-elem 5001 --verify-data", folder);
    run_output_free(&output);
    output = run_line(2, "run --ccl %s/twice.yaml --n-elem 16 --verify-data", folder);
    assert_non_null(strstr(output.err, "verification: operand 1 of rank 0, in the order of chain, "
                                       "is rank 0 again; legal is each of 0 to 3 once"));
    run_output_free(&output);
    output =
        run_line(0, "run --ccl %s/silent.yaml --n-elem 16 --verify-data --input integers", folder);
    assert_non_null(strstr(output.out, "bit for bit: the inputs are whole numbers"));
    run_output_free(&output);
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
        cmocka_unit_test(another_order_than_the_kernels_is_found_out),
        cmocka_unit_test(the_worked_example_rolls_back),
        cmocka_unit_test(other_collectives_run_on_the_wiring_of_the_worked_example),
    };
    return cmocka_run_group_tests_name("guide", tests, build, clean);
}
