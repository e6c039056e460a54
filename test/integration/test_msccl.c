/*
 * test_msccl.c: MSCCL XML files on the machine: files of all collectives and step types run, with
 * the bits that their formulas give; files with faults end with a line that names the step; and
 * algorithms that are schedules are written as files that run with the same bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST_SCRATCH "msccl"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

#define SMALL "--preset tiny --set system.sips.count=%u "

static const char *path_of(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static FILE *begin(const char *name, unsigned gpus, unsigned loop, const char *coll, bool in_place)
{
    FILE *const file = fopen(path_of(name), "w");
    assert_non_null(file);
    fprintf(file,
            "<algo name=\"%s\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"%u\" ngpus=\"%u\" "
            "coll=\"%s\" inplace=\"%d\" outofplace=\"%d\" minBytes=\"0\" maxBytes=\"0\">\n",
            coll, loop, gpus, coll, in_place, !in_place);
    return file;
}

static void step(FILE *file, unsigned s, const char *type, const char *from, int at, const char *to,
                 int place, int depid, int deps)
{
    fprintf(file,
            "<step s=\"%u\" type=\"%s\" srcbuf=\"%s\" srcoff=\"%d\" dstbuf=\"%s\" dstoff=\"%d\" "
            "cnt=\"1\" depid=\"%d\" deps=\"%d\" hasdep=\"1\"/>\n",
            s, type, from, at, to, place, depid, deps);
}

static void end(FILE *file)
{
    fputs("</algo>\n", file);
    assert_int_equal(fclose(file), 0);
}

/* An all-reduce round a ring: s, rrs, rrcs, rcs, r. */
static void write_ring(const char *name, unsigned n)
{
    FILE *const f = begin(name, n, n, "allreduce", true);
    for (unsigned g = 0; g < n; g++) {
        fprintf(f,
                "<gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"%u\" s_chunks=\"0\">\n"
                "<tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">\n",
                g, n, n, (g + 1) % n, (g + n - 1) % n);
        for (unsigned k = 0; k < 2 * n - 1; k++) {
            const int chunk = (int)((g + 2 * n - k) % n);
            step(f, k,
                 k == 0           ? "s"
                 : k < n - 1      ? "rrs"
                 : k == n - 1     ? "rrcs"
                 : k + 2 == 2 * n ? "r"
                                  : "rcs",
                 "i", chunk, "o", chunk, -1, -1);
        }
        fputs("</tb>\n</gpu>\n", f);
    }
    end(f);
}

/* An all-reduce of every pair: each gpu adds the others' chunks, which come into its scratch, and
 * sends the sum back: s, r, nop, cpy, re, with thread blocks that wait for each other. */
static void write_pairs(const char *name, unsigned n)
{
    FILE *const f = begin(name, n, n, "allreduce", false);
    for (unsigned g = 0; g < n; g++) {
        fprintf(f, "<gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"%u\" s_chunks=\"%u\">\n", g, n, n, n);
        for (unsigned k = 0; k < n - 1; k++) {
            const int peer = (int)((g + 1 + k) % n);
            fprintf(f, "<tb id=\"%u\" send=\"%d\" recv=\"%d\" chan=\"0\">\n", k, peer, peer);
            step(f, 0, "s", "i", peer, "s", (int)g, -1, -1);
            step(f, 1, "r", "i", (int)g, "s", peer, -1, -1);
            step(f, 2, "nop", "i", -1, "o", -1, (int)n - 1, (int)n); /* the first reduction */
            step(f, 3, "s", "o", (int)g, "o", (int)g, (int)n - 1, (int)(2 * n - 2));
            step(f, 4, "r", "o", peer, "o", peer, -1, -1);
            fputs("</tb>\n", f);
        }
        fprintf(f, "<tb id=\"%u\" send=\"-1\" recv=\"-1\" chan=\"0\">\n", n - 1);
        step(f, 0, "cpy", "i", (int)g, "o", (int)g, -1, -1);
        for (unsigned k = 0; k < n - 1; k++)
            step(f, 1 + k, "nop", "i", -1, "o", -1, (int)k, 1);
        for (unsigned k = 0; k < n - 1; k++)
            step(f, n + k, "re", "s", (int)((g + 1 + k) % n), "o", (int)g, -1, -1);
        fputs("</tb>\n</gpu>\n", f);
    }
    end(f);
}

/* A reduce-scatter round a ring, which ends with rrc. */
static void write_scatter(const char *name, unsigned n)
{
    FILE *const f = begin(name, n, n, "reducescatter", false);
    for (unsigned g = 0; g < n; g++) {
        fprintf(f,
                "<gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"1\" s_chunks=\"0\">\n"
                "<tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">\n",
                g, n, (g + 1) % n, (g + n - 1) % n);
        for (unsigned k = 0; k < n; k++)
            step(f, k,
                 k == 0      ? "s"
                 : k < n - 1 ? "rrs"
                             : "rrc",
                 "i", (int)((g + 2 * n - 1 - k) % n), "o", 0, -1, -1);
        fputs("</tb>\n</gpu>\n", f);
    }
    end(f);
}

/* All-gather in place, and all-to-all: each pair on thread blocks of its own. */
static void write_direct(const char *name, unsigned n, bool gathers)
{
    FILE *const f = begin(name, n, n, gathers ? "allgather" : "alltoall", gathers);
    for (unsigned g = 0; g < n; g++) {
        fprintf(f, "<gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"%u\" s_chunks=\"0\">\n", g,
                gathers ? 0 : n, n);
        for (unsigned k = 0; k < n - 1; k++) {
            const int peer = (int)((g + 1 + k) % n);
            fprintf(f, "<tb id=\"%u\" send=\"%d\" recv=\"%d\" chan=\"0\">\n", k, peer, peer);
            step(f, 0, "s", gathers ? "o" : "i", gathers ? (int)g : peer, "o", (int)g, -1, -1);
            step(f, 1, "r", "i", 0, "o", peer, -1, -1);
            fputs("</tb>\n", f);
        }
        if (!gathers) {
            fprintf(f, "<tb id=\"%u\" send=\"-1\" recv=\"-1\" chan=\"0\">\n", n - 1);
            step(f, 0, "cpy", "i", (int)g, "o", (int)g, -1, -1);
            fputs("</tb>\n", f);
        }
        fputs("</gpu>\n", f);
    }
    end(f);
}

/* Runs a file with verified bits. Returns the trace hash. */
static void verify_file(const char *name, unsigned gpus, const char *options, char hash[17])
{
    json_t *const root =
        run_json("run --algorithm %s " SMALL "--verify-data %s", path_of(name), gpus, options);
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
    const char *const trace =
        json_string_value(json_object_get(json_object_get(root, "engine"), "trace_hash"));
    snprintf(hash, 17, "%s", trace != NULL ? trace : "");
    json_decref(root);
}

static void files_of_all_collectives_run(void **state)
{
    (void)state;
    char hash[17], again[17];
    for (unsigned n = 2; n <= 5; n++) {
        write_ring("ring.xml", n);
        write_pairs("pairs.xml", n);
        write_scatter("scatter.xml", n);
        write_direct("gather.xml", n, true);
        write_direct("swap.xml", n, false);
        static const char *const names[] = {"ring.xml", "pairs.xml", "scatter.xml", "gather.xml",
                                            "swap.xml"};
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            char size[60];
            snprintf(size, sizeof size, "--n-elem %u --dtype f32", n * 1237);
            verify_file(names[i], n, size, hash);
            strcat(size, " --threads 3");
            verify_file(names[i], n, size, again);
            assert_string_equal(hash, again);
        }
    }
}

/* Copies a sound file of the fuzzer: line ends as on Windows, a byte order mark; its gpus. */
static unsigned copy_shape(const char *shape, const char *name, bool crlf, const char *mark)
{
    char path[200], text[32768];
    snprintf(path, sizeof path, "test/fuzz/base/msccl/%s", shape);
    FILE *const from = fopen(path, "r"), *const to = fopen(path_of(name), "w");
    assert_non_null(from);
    assert_non_null(to);
    const size_t bytes = fread(text, 1, sizeof text - 1, from);
    text[bytes] = '\0';
    fputs(mark, to);
    for (size_t i = 0; i < bytes; i++) {
        if (crlf && text[i] == '\n')
            fputc('\r', to);
        fputc(text[i], to);
    }
    assert_int_equal(fclose(from), 0);
    assert_int_equal(fclose(to), 0);
    const char *const gpus = strstr(text, "ngpus=");
    return gpus != NULL ? (unsigned)strtoul(gpus + 7, NULL, 10) : 0;
}

/* The shapes that public generators write: nops that wait for several thread blocks, counts,
 * several channels and instances, scratch, copies, `op`, files that do not say their collective. */
static void files_in_the_shapes_of_generators_run(void **state)
{
    (void)state;
    static const char *const shapes[] = {"pairs_with_nops",
                                         "doubling_with_counts",
                                         "attributes_in_other_order",
                                         "custom",
                                         "ring_of_two_channels_twice",
                                         "prolog_and_comments",
                                         "fewest_attributes",
                                         "hierarchy_of_two_channels",
                                         "op_for_step",
                                         "one_pass_out_of_place",
                                         "two_steps_through_scratch",
                                         "halving_and_doubling",
                                         "chain_of_three_chunks",
                                         "thread_block_without_steps",
                                         "scatter_in_place",
                                         "single_quotes",
                                         "copies"};
    char hash[17], again[17];
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const unsigned gpus = copy_shape(shapes[i], "shape.xml", false, "");
        verify_file("shape.xml", gpus, "--n-elem 4948 --dtype f32", hash);
        (void)copy_shape(shapes[i], "shape.xml", true, i % 2 == 0 ? "\xef\xbb\xbf" : "");
        verify_file("shape.xml", gpus, "--n-elem 4948 --dtype f32", again);
        assert_string_equal(hash, again);
    }
}

/* An all-gather round a ring of receives, and of sends of chunks that were received before; not on
 * the PE that has the buffers. */
static void steps_send_what_their_thread_has_received(void **state)
{
    (void)state;
    char hash[17];
    enum { N = 4 };
    FILE *const f = begin("relay.xml", N, N, "allgather", true);
    for (unsigned g = 0; g < N; g++) {
        fprintf(f,
                "<gpu id=\"%u\" i_chunks=\"0\" o_chunks=\"%d\" s_chunks=\"0\">\n"
                "<tb id=\"0\" send=\"-1\" recv=\"-1\" chan=\"0\"/>\n"
                "<tb id=\"1\" send=\"%u\" recv=\"%u\" chan=\"0\">\n",
                g, N, (g + 1) % N, (g + N - 1) % N);
        for (unsigned k = 0; k < N - 1; k++) {
            const int sent = (int)((g + N - k) % N), got = (int)((g + N - k - 1) % N);
            step(f, 2 * k, "s", "o", sent, "o", sent, -1, -1);
            step(f, 2 * k + 1, "r", "o", got, "o", got, -1, -1);
        }
        fputs("</tb>\n</gpu>\n", f);
    }
    end(f);
    verify_file("relay.xml", N, "--n-elem 40 --dtype f32", hash);
    verify_file("relay.xml", N, "--n-elem 9000 --dtype f32", hash);
}

/* A step of more chunks than rings have slots, at both ends at once: the rings grow. */
static void a_step_of_very_many_chunks_runs(void **state)
{
    (void)state;
    char hash[17];
    enum { CHUNKS = 12000 };
    FILE *const f = begin("many.xml", 2, CHUNKS, "allreduce", true);
    for (unsigned g = 0; g < 2; g++)
        fprintf(f,
                "<gpu id=\"%u\" i_chunks=\"%d\" o_chunks=\"0\" s_chunks=\"0\">\n"
                "<tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">\n"
                "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" cnt=\"%d\"/>\n"
                "<step s=\"1\" type=\"rrc\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" "
                "cnt=\"%d\"/>\n</tb>\n</gpu>\n",
                g, CHUNKS, 1 - g, 1 - g, CHUNKS, CHUNKS);
    end(f);
    verify_file("many.xml", 2, "--n-elem 12000", hash);
}

static void an_all_reduce_of_any_size_runs(void **state)
{
    (void)state;
    char hash[17];
    write_ring("ring.xml", 4);
    write_pairs("pairs.xml", 4);
    verify_file("ring.xml", 4, "--n-elem 1", hash); /* three of four chunks are empty */
    verify_file("pairs.xml", 4, "--n-elem 7 --op max", hash);
    verify_file("pairs.xml", 4, "--n-elem 20001 --dtype bf16", hash);
}

static void a_file_is_for_so_many_ranks(void **state)
{
    (void)state;
    write_ring("ring.xml", 3);
    struct run_output out = run_line(2, "run --algorithm %s " SMALL, path_of("ring.xml"), 4u);
    assert_non_null(strstr(out.err, "ring.xml is for 3 gpus, and there are 4 ranks"));
    run_output_free(&out);
}

/* ccl.yaml names a file, too; its contents are part of the digest. --no-plugins says nothing about
 * it: it is no code. */
static void ccl_yaml_names_a_file(void **state)
{
    (void)state;
    char digest[100];
    write_ring("ring.xml", 2);
    FILE *const f = fopen(path_of("own.yaml"), "w");
    assert_non_null(f);
    fprintf(f,
            "defaults:\n  algorithm: own\nalgorithms:\n  own:\n    module: %s/ring.xml\n"
            "    topology: none\n    mapper: leader_only\n",
            folder);
    assert_int_equal(fclose(f), 0);
    struct run_output out =
        run_line(0, "check --no-plugins --ccl %s " SMALL, path_of("own.yaml"), 2u);
    snprintf(digest, sizeof digest, "%s", out.out);
    run_output_free(&out);
    write_pairs("ring.xml", 2);
    out = run_line(0, "check --ccl %s " SMALL, path_of("own.yaml"), 2u);
    assert_string_not_equal(out.out, digest);
    run_output_free(&out);
    out = run_line(0, "config --ccl %s " SMALL, path_of("own.yaml"), 2u);
    assert_non_null(strstr(out.out, "# contents of the module's file: "));
    run_output_free(&out);
}

/* Each message has the path once. */
static void what_is_no_file_is_told(void **state)
{
    (void)state;
    char text[200];
    struct run_output out = run_line(2, "run --algorithm %s", path_of("none.xml"));
    snprintf(text, sizeof text, "cubewarp run: %s cannot be read: No such file or directory; legal",
             path_of("none.xml"));
    assert_ptr_equal(strstr(out.err, text), out.err);
    run_output_free(&out);
    assert_int_equal(mkdir(path_of("folder.xml"), 0700), 0);
    out = run_line(2, "run --algorithm %s", path_of("folder.xml"));
    snprintf(text, sizeof text, "cubewarp run: %s is a folder; legal is an MSCCL XML file\n",
             path_of("folder.xml"));
    assert_string_equal(out.err, text);
    run_output_free(&out);
    write_ring("ring.txt", 2);
    out = run_line(2, "run --algorithm %s", path_of("ring.txt"));
    assert_non_null(strstr(out.err, "ring.txt: expected an entry of ccl.yaml, or the path of an "
                                    "MSCCL XML file, whose name ends with .xml\n"));
    run_output_free(&out);
    out = run_line(0, "run --help");
    assert_non_null(strstr(out.out, "FILE.xml"));
    run_output_free(&out);
}

static void a_file_with_a_fault_ends_with_its_place(void **state)
{
    (void)state;
    FILE *const f = begin("wrong.xml", 2, 2, "allreduce", false);
    for (unsigned g = 0; g < 2; g++) {
        fprintf(f,
                "<gpu id=\"%u\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"0\">\n"
                "<tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">\n",
                g, 1 - g, 1 - g);
        step(f, 0, "r", "i", 0, "o", 0, -1, -1);
        step(f, 1, "s", "i", 0, "o", 0, -1, -1);
        fputs("</tb>\n</gpu>\n", f);
    }
    end(f);
    struct run_output out = run_line(2, "run --algorithm %s " SMALL, path_of("wrong.xml"), 2u);
    assert_non_null(strstr(out.err, "cubewarp run: /tmp/cubewarp-msccl-"));
    assert_non_null(strstr(out.err,
                           "wrong.xml:4: gpu 0, tb 0, step 0: deadlock: receives from gpu "
                           "1, tb 0, step 1, which comes after gpu 1, tb 0, step 0, which "
                           "receives from gpu 0, tb 0, step 1, which comes after gpu 0, tb "
                           "0, step 0"));
    run_output_free(&out);
}

/* What MSCCL would hang at is a note, once; the file runs. */
static void a_wait_that_msccl_hangs_at_is_a_note(void **state)
{
    (void)state;
    FILE *const f = begin("hang.xml", 2, 2, "alltoall", false);
    for (unsigned g = 0; g < 2; g++) {
        fprintf(f,
                "<gpu id=\"%u\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"1\">\n"
                "<tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">\n"
                "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"%u\" cnt=\"1\"/>\n"
                "<step s=\"1\" type=\"r\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\" hasdep=\"0\"/>\n"
                "</tb>\n<tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"0\">\n",
                g, 1 - g, 1 - g, 1 - g);
        step(f, 0, "cpy", "s", 0, "o", 1 - (int)g, 0, 1);
        step(f, 1, "cpy", "i", (int)g, "o", (int)g, -1, -1);
        fputs("</tb>\n</gpu>\n", f);
    }
    end(f);
    struct run_output out = run_line(0, "run --algorithm %s " SMALL "--n-elem 64,128 --verify-data",
                                     path_of("hang.xml"), 2u);
    const char *const note = strstr(out.err, "hang.xml:8:1: gpu 0, tb 1, step 0 waits for step 1 "
                                             "of tb 0, which has hasdep=\"0\": in MSCCL, that "
                                             "wait never ends\n");
    assert_non_null(note);
    assert_null(strstr(note + 1, "hang.xml:8:1"));
    run_output_free(&out);
}

/* A rank has as many PEs as its SIP has, and each thread block takes one. */
static void too_many_thread_blocks_name_a_key_that_helps(void **state)
{
    (void)state;
    FILE *const f = begin("blocks.xml", 2, 2, "alltoall", true);
    for (unsigned g = 0; g < 2; g++) {
        fprintf(f, "<gpu id=\"%u\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"2\">\n", g);
        for (unsigned t = 0; t < 33; t++)
            fprintf(f, "<tb id=\"%u\" send=\"-1\" recv=\"-1\" chan=\"0\"/>\n", t);
        fprintf(f, "<tb id=\"33\" send=\"%u\" recv=\"%u\" chan=\"0\">\n", 1 - g, 1 - g);
        step(f, 0, "s", "i", 1 - (int)g, "o", (int)g, -1, -1);
        step(f, 1, "r", "i", 0, "o", 1 - (int)g, -1, -1);
        fputs("</tb>\n</gpu>\n", f);
    }
    end(f);
    struct run_output out = run_line(2, "run --algorithm %s " SMALL "--n-elem 64 --verify-data",
                                     path_of("blocks.xml"), 2u); /* 2 x 2 cubes of 8 PEs */
    assert_non_null(strstr(out.err, "rank 0 has 34 threads, each on a PE of its own, and there are "
                                    "32 PEs for it; legal: a machine with more cubes or PEs, such "
                                    "as by a larger sip.cube_mesh.w"));
    run_output_free(&out);
    out = run_line(0,
                   "run --algorithm %s " SMALL "--n-elem 64 --verify-data --set "
                   "sip.cube_mesh.w=3",
                   path_of("blocks.xml"), 2u);
    run_output_free(&out);
}

/* Every algorithm that is a schedule, as a file: the same bits, since it adds in the same order. */
static void algorithms_are_written_and_run(void **state)
{
    (void)state;
    static const char *const algorithms[] = {
        "ring_rs_ag",         "torus_rs_ag",        "direct_rs_ag",         "halving_doubling",
        "recursive_doubling", "double_binary_tree", "rings_reduce_scatter", "torus_reduce_scatter",
        "rings_all_gather",   "torus_all_gather",   "direct_all_gather",    "pairwise_all_to_all"};
    char hash[17];
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++)
        for (unsigned n = 2; n <= 6; n += 2) {
            struct run_output out = run_line(0, "topo --algorithm %s " SMALL "--xml %s",
                                             algorithms[i], n, path_of("out.xml"));
            assert_string_equal(out.out, "");
            run_output_free(&out);
            verify_file("out.xml", n, "--n-elem 6000 --dtype f32", hash);
        }
    struct run_output out = run_line(2, "topo --algorithm ring_allreduce --xml -");
    assert_non_null(strstr(out.err, "ring_allreduce is a kernel of its own, and no schedule"));
    run_output_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_all_collectives_run),
        cmocka_unit_test(files_in_the_shapes_of_generators_run),
        cmocka_unit_test(a_step_of_very_many_chunks_runs),
        cmocka_unit_test(steps_send_what_their_thread_has_received),
        cmocka_unit_test(an_all_reduce_of_any_size_runs),
        cmocka_unit_test(a_file_is_for_so_many_ranks),
        cmocka_unit_test(ccl_yaml_names_a_file),
        cmocka_unit_test(what_is_no_file_is_told),
        cmocka_unit_test(a_file_with_a_fault_ends_with_its_place),
        cmocka_unit_test(a_wait_that_msccl_hangs_at_is_a_note),
        cmocka_unit_test(too_many_thread_blocks_name_a_key_that_helps),
        cmocka_unit_test(algorithms_are_written_and_run)};
    return cmocka_run_group_tests_name("msccl", tests, make_folder, remove_folder);
}
