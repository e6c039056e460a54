/*
 * test_calibrate.c: `cubewarp calibrate` as a user runs it. Tables of measured times are made by
 * the simulator itself, from values that the fit must find again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST_SCRATCH "calibrate"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

#define MACHINE "--preset a100_8 --set launch_static_ns=30000 "

/* Writes the simulated times of a line as a table of measured ones. */
static void write_table(const char *name, const char *line)
{
    json_t *const root = run_json("run " MACHINE "--no-data --quiet %s", line);
    FILE *const file = fopen(in_folder(name), "w");
    size_t i;
    json_t *row;
    assert_non_null(file);
    fputs("bytes,in_place_ns\n", file);
    json_array_foreach(json_object_get(root, "results"), i, row)
    {
        const long long bytes = json_integer_value(json_object_get(row, "bytes_per_rank"));
        const double time = json_number_value(json_object_get(row, "time_ns"));
        fprintf(file, "%lld,%.3f\n", bytes, time);
    }
    assert_int_equal(fclose(file), 0);
    json_decref(root);
}

static void write_text(const char *name, const char *text)
{
    FILE *const file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* The value after the fit in the line of a key: its third word. */
static double after(const char *out, const char *key)
{
    const char *const line = strstr(out, key);
    double before, value;
    assert_non_null(line);
    assert_int_equal(sscanf(line + strlen(key), "%lf %lf", &before, &value), 2);
    return value;
}

static void fails(int code, const char *expected, const char *line)
{
    struct run_output output = run_line(code, "%s", line);
    if (strstr(output.err, expected) == NULL)
        fail_msg("%s:\n%sexpected: %s", line, output.err, expected);
    run_output_free(&output);
}

static void planted_values_are_found(void **state)
{
    char line[400];
    (void)state;
    write_table("planted.csv", "--set links.sip_link.bw_gbs=180 --set nodes.pe_ipcq.wire_ns=2500 "
                               "--bytes-per-rank 64KiB:32MiB:x2");
    snprintf(line, sizeof line,
             "calibrate %s " MACHINE
             "--fit links.sip_link.bw_gbs,nodes.pe_ipcq.wire_ns --starts 1 --jobs 1 -o %s",
             in_folder("planted.csv"), in_folder("planted.yaml"));
    struct run_output output = run_line(0, "%s", line);
    assert_float_equal(after(output.out, "links.sip_link.bw_gbs"), 180, 0.18);
    assert_float_equal(after(output.out, "nodes.pe_ipcq.wire_ns"), 2500, 2.5);
    run_output_free(&output);
    /* What was written is a preset, under which the run meets its table. */
    json_t *const root =
        run_json("run --preset %s --no-data --quiet --bytes-per-rank 8MiB --measured %s",
                 in_folder("planted.yaml"), in_folder("planted.csv"));
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    assert_float_equal(json_number_value(json_object_get(row, "error_percent")), 0, 0.1);
    json_decref(root);
}

static void a_study_has_curves_bounds_and_lists(void **state)
{
    char text[1200];
    struct run_output outputs[2];
    (void)state;
    write_table("two.csv", "--set system.sips.count=2 --set links.sip_link.bw_gbs=180 "
                           "--set defaults.min_way_bytes=300000 --bytes-per-rank 256KiB:8MiB:x2");
    write_table("eight.csv", "--set links.sip_link.bw_gbs=180 "
                             "--set defaults.min_way_bytes=300000 --bytes-per-rank 256KiB:8MiB:x2");
    snprintf(text, sizeof text,
             "study: planted\nbase: {preset: a100_8, launch_static_ns: 30000}\naxes:\n  gpus:\n"
             "    two: {system.sips.count: 2, measured: %s}\n    eight: {measured: %s}\n"
             "fit:\n  links.sip_link.bw_gbs: {from: 100, to: 400, start: 300}\n"
             "  defaults.min_way_bytes: [100000, 300000]\n",
             in_folder("two.csv"), in_folder("eight.csv"));
    write_text("planted_study.yaml", text);
    for (int jobs = 1; jobs <= 2; jobs++)
        outputs[jobs - 1] =
            run_line(0, "calibrate %s --starts 1 --jobs %d", in_folder("planted_study.yaml"), jobs);
    assert_string_equal(outputs[0].out, outputs[1].out);
    assert_float_equal(after(outputs[0].out, "links.sip_link.bw_gbs"), 180, 0.18);
    assert_non_null(strstr(outputs[0].out, " 300000   the best of 2 values\n"));
    assert_non_null(strstr(outputs[0].out, "2 of 2 combinations"));
    run_output_free(&outputs[0]);
    run_output_free(&outputs[1]);
}

static void keys_without_effect_are_named(void **state)
{
    (void)state;
    /* The machine has no paired dies, whose links these are. */
    write_table("large.csv", "--bytes-per-rank 1MiB:10MiB:+1MiB");
    struct run_output output = run_line(
        0, "calibrate %s " MACHINE "--fit launch_static_ns,links.sio.bw_gbs --starts 1 --jobs 1",
        in_folder("large.csv"));
    assert_non_null(strstr(output.out, "# moves no row: links.sio.bw_gbs\n"));
    run_output_free(&output);
}

static void bad_input_is_refused(void **state)
{
    char line[400];
    (void)state;
    write_table("short.csv", "--bytes-per-rank 1MiB:8MiB:x2");
    fails(2, "name measured tables, or a study that does", "calibrate");
    fails(2, "name the keys to fit: --fit", "calibrate a.csv");
    fails(2, "--fit: the study says it; drop it", "calibrate a.yaml --fit launch_static_ns");
    fails(2, "expected one study, which names its tables, or tables alone",
          "calibrate a.csv a.yaml");
    fails(2, "/nowhere.csv: cannot open: No such file",
          "calibrate /nowhere.csv --fit launch_static_ns");
    snprintf(line, sizeof line, "calibrate %s " MACHINE "--fit launch_static_ns",
             in_folder("short.csv"));
    fails(2, "1 keys for 4 rows; at most one key for 5 rows is legal", line);
    snprintf(line, sizeof line, "calibrate %s " MACHINE "--fit defaults.n_slots",
             in_folder("short.csv"));
    fails(2, "--fit: defaults.n_slots: not a number with decimals, so it is not fitted", line);
    snprintf(line, sizeof line, "calibrate %s " MACHINE "--fit launch_statik_ns",
             in_folder("short.csv"));
    fails(2, "did you mean 'launch_static_ns'?", line);
    snprintf(line, sizeof line,
             "calibrate %s " MACHINE "--fit nodes.pe_dma.overhead_ns --set "
             "nodes.pe_dma.overhead_ns=0",
             in_folder("short.csv"));
    fails(2, "its value is 0, from which no bounds follow; expected {from: A, to: B}", line);
}

static void a_preset_that_cannot_be_written_is_absent(void **state)
{
    char line[400];
    (void)state;
    write_table("whole.csv", "--bytes-per-rank 1MiB:16MiB:x2");
    snprintf(line, sizeof line,
             "calibrate %s " MACHINE
             "--fit links.sip_link.bw_gbs --starts 1 --jobs 1 -o %s/no/p.yaml",
             in_folder("whole.csv"), folder);
    fails(4, "no/p.yaml", line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_values_are_found),
        cmocka_unit_test(a_study_has_curves_bounds_and_lists),
        cmocka_unit_test(keys_without_effect_are_named),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(a_preset_that_cannot_be_written_is_absent),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
