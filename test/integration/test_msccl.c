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

/* In small pieces, in tiles of all sizes, in lines of each protocol: the bits are right, and the
 * head names the protocol. */
static void files_run_in_pieces_and_in_lines(void **state)
{
    (void)state;
    static const char *const protocols[] = {"", " proto=\"LL\"", " proto=\"LL128\""};
    static const char *const heads[] = {" PEs, configuration", " PEs, protocol LL, configuration",
                                        " PEs, protocol LL128, configuration"};
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        FILE *const f = fopen(path_of("pieces.xml"), "w");
        assert_non_null(f);
        fprintf(f, "<algo ngpus=\"2\" coll=\"allgather\" nchunksperloop=\"2\"%s>", protocols[i]);
        for (unsigned g = 0; g < 2; g++)
            fprintf(f,
                    "<gpu id=\"%u\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">"
                    "<copy i_off=\"0\" o_off=\"%u\"/><tb id=\"0\" send=\"%u\" recv=\"%u\" "
                    "chan=\"0\"><step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" "
                    "dstbuf=\"o\" dstoff=\"%u\"/><step s=\"1\" type=\"r\" srcbuf=\"i\" "
                    "srcoff=\"0\" dstbuf=\"o\" dstoff=\"%u\"/></tb></gpu>",
                    g, g, 1 - g, 1 - g, g, 1 - g);
        end(f);
        for (unsigned elems = 2; elems <= 20000; elems *= 10) {
            char options[300], hash[17], again[17];
            snprintf(options, sizeof options,
                     "--n-elem %u --dtype f32 --set defaults.piece_size=12000 --set "
                     "defaults.tile_min_size=64 --set defaults.ll128_piece_size=9000 --set "
                     "defaults.ll_n_slots=32",
                     elems);
            verify_file("pieces.xml", 2, options, hash);
            strcat(options, " --threads 2");
            verify_file("pieces.xml", 2, options, again);
            assert_string_equal(hash, again);
        }
        struct run_output out =
            run_line(0, "run --algorithm %s " SMALL "--n-elem 64", path_of("pieces.xml"), 2u);
        assert_non_null(strstr(out.out, heads[i]));
        run_output_free(&out);
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
    snprintf(text, sizeof text,
             "cubewarp run: %s is a folder; legal is an MSCCL XML file or an "
             "MSCCL++ plan\n",
             path_of("folder.xml"));
    assert_string_equal(out.err, text);
    run_output_free(&out);
    write_ring("ring.txt", 2);
    out = run_line(2, "run --algorithm %s", path_of("ring.txt"));
    assert_non_null(strstr(out.err,
                           "ring.txt: expected an entry of ccl.yaml, whose module may be "
                           "a shared object, or the path of an MSCCL XML file or an MSCCL++ "
                           "plan, whose name ends with .xml or .json\n"));
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

/* ---- custom collectives, broadcasts and reduces ---------------------------------------------- */

enum { NEXT_GPUS_MAX = 12, NEXT_TBS_MAX = 3 * NEXT_GPUS_MAX, NEXT_STEPS_MAX = 8 };

/* A gpu of next.xml while its steps are made. */
struct next_gpu {
    struct next_tb {
        int send, recv;
        unsigned chan, count;
        char steps[NEXT_STEPS_MAX][200];
        bool awaited[NEXT_STEPS_MAX];
    } tb[NEXT_TBS_MAX];
    unsigned tbs, scratch;
};

struct next_wait {
    int tb, step; /* -1: for none */
};

/* Adds a step to the gpu's thread block of these peers; returns it, as another may wait for it. */
static struct next_wait next_step(struct next_gpu *gpu, int send, int recv, unsigned chan,
                                  const char *text, struct next_wait wait)
{
    unsigned t = 0;
    while (t < gpu->tbs &&
           (gpu->tb[t].send != send || gpu->tb[t].recv != recv || gpu->tb[t].chan != chan))
        t++;
    struct next_tb *const tb = &gpu->tb[t];
    if (t == gpu->tbs) {
        assert_true(gpu->tbs < NEXT_TBS_MAX);
        *tb = (struct next_tb){.send = send, .recv = recv, .chan = chan};
        gpu->tbs++;
    }
    assert_true(tb->count < NEXT_STEPS_MAX);
    snprintf(tb->steps[tb->count], sizeof tb->steps[0], "%s depid=\"%d\" deps=\"%d\"", text,
             wait.tb, wait.step);
    if (wait.tb >= 0)
        gpu->tb[wait.tb].awaited[wait.step] = true;
    return (struct next_wait){(int)t, (int)tb->count++};
}

static struct next_wait next_move(struct next_gpu *gpus, unsigned from, unsigned to, unsigned chan,
                                  const char *source, const char *target, struct next_wait wait)
{
    char text[200];
    snprintf(text, sizeof text, "type=\"s\" %s cnt=\"1\"", source);
    (void)next_step(&gpus[from], (int)to, -1, chan, text, wait);
    snprintf(text, sizeof text, "type=\"r\" %s cnt=\"1\"", target);
    return next_step(&gpus[to], -1, (int)from, chan, text, (struct next_wait){-1, -1});
}

/* One chunk of gpu g's input to gpu g + 1: at the border of two nodes by way of the node's gpu
 * `chunk` and the next node's, each through a chunk of scratch; else, and if not `spread`,
 * directly.
 */
static void next_chunk(struct next_gpu *gpus, unsigned g, unsigned local, unsigned chunk,
                       bool spread)
{
    const unsigned node = g / local * local, to = g + 1;
    const bool crosses = spread && to % local == 0;
    const unsigned way[] = {g, crosses ? node + chunk : g, crosses ? node + local + chunk : to, to};
    struct next_wait got = {-1, -1};
    char source[80];
    snprintf(source, sizeof source, "srcbuf=\"i\" srcoff=\"%u\"", chunk);
    for (unsigned k = 0; k < 3; k++) {
        char target[80];
        if (way[k] == way[k + 1])
            continue;
        const bool ends = way[k + 1] == to;
        const unsigned at = ends ? chunk : gpus[way[k + 1]].scratch++;
        snprintf(target, sizeof target, "dstbuf=\"%c\" dstoff=\"%u\"", ends ? 'o' : 's', at);
        got = next_move(gpus, way[k], way[k + 1], k, source, target, got);
        snprintf(source, sizeof source, "srcbuf=\"s\" srcoff=\"%u\"", at);
        if (ends)
            return;
    }
}

/* Each gpu's input becomes the next one's output; the first one's output stays as it is. */
static void write_next(const char *name, unsigned nodes, unsigned local, bool spread, bool in_place)
{
    const unsigned gpus = nodes * local;
    struct next_gpu *const all = calloc(gpus, sizeof *all);
    assert_non_null(all);
    assert_true(gpus <= NEXT_GPUS_MAX);
    for (unsigned g = 0; g + 1 < gpus; g++)
        for (unsigned chunk = 0; chunk < local; chunk++)
            next_chunk(all, g, local, chunk, spread);
    FILE *const f = begin(name, gpus, local, "custom", in_place);
    for (unsigned g = 0; g < gpus; g++) {
        fprintf(f, "<gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"%u\" s_chunks=\"%u\">\n", g, local,
                local, all[g].scratch);
        for (unsigned t = 0; t < all[g].tbs; t++) {
            const struct next_tb *const tb = &all[g].tb[t];
            fprintf(f, "<tb id=\"%u\" send=\"%d\" recv=\"%d\" chan=\"%u\">\n", t, tb->send,
                    tb->recv, tb->chan);
            for (unsigned s = 0; s < tb->count; s++)
                fprintf(f, "<step s=\"%u\" %s hasdep=\"%d\"/>\n", s, tb->steps[s], tb->awaited[s]);
            fputs("</tb>\n", f);
        }
        fputs("</gpu>\n", f);
    }
    end(f);
    free(all);
}

/* The member of the first row of a run of a file, with verified data; "": it is null. */
static void row_text(const char *name, unsigned gpus, const char *options, const char *member,
                     char text[40])
{
    json_t *const root =
        run_json("run --algorithm %s " SMALL "--verify-data %s", path_of(name), gpus, options);
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
    const char *const value = json_string_value(json_object_get(row, member));
    snprintf(text, 40, "%s", value != NULL ? value : "");
    json_decref(root);
}

/* What is moved by way of others arrives as what is sent directly: the same bits everywhere. */
static void a_custom_file_is_compared_with_its_own_steps(void **state)
{
    (void)state;
    static const unsigned shapes[][2] = {{1, 3}, {2, 4}, {3, 2}, {2, 1}};
    char text[40], direct[40];
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const unsigned nodes = shapes[i][0], local = shapes[i][1], gpus = nodes * local;
        write_next("next.xml", nodes, local, true, i % 2 == 1);
        write_next("direct.xml", nodes, local, false, false);
        row_text("direct.xml", gpus, "--n-elem 1200", "data_hash", direct);
        row_text("next.xml", gpus, "--n-elem 1200", "data_hash", text);
        assert_string_equal(text, direct);
        row_text("next.xml", gpus, "--n-elem 1200 --threads 2", "data_hash", text);
        assert_string_equal(text, direct);
    }
    /* In one buffer a gpu's input would be written over while it is sent. */
    write_next("next.xml", 2, 4, true, true);
    struct run_output two = run_line(0, "run --algorithm %s " SMALL "--n-elem 1200 --verify-data",
                                     path_of("next.xml"), 8u);
    assert_non_null(strstr(two.err, "in one buffer its steps would race: input and output are "
                                    "taken as two\n"));
    assert_null(strstr(two.err, "hazard"));
    run_output_free(&two);
    write_next("next.xml", 2, 1, true, false);
    row_text("next.xml", 2, "--n-elem 1200", "proof", text);
    assert_string_equal(text, "steps");
    row_text("next.xml", 2, "--n-elem 1200", "collective", text);
    assert_string_equal(text, "custom");
    row_text("next.xml", 2, "--n-elem 1200", "bound_by", text);
    assert_string_equal(text, "");
    struct run_output out = run_line(0, "run --algorithm %s " SMALL "--n-elem 1200 --verify-data",
                                     path_of("next.xml"), 2u);
    assert_non_null(strstr(out.out, "data as the file's own steps give"));
    assert_null(strstr(out.err, "hazard"));
    run_output_free(&out);
}

/* Chunks of one place are added to chunks of another, and copied there. */
static void chunks_of_a_custom_file_go_anywhere(void **state)
{
    (void)state;
    char text[40], again[40];
    FILE *const f = begin("anywhere.xml", 2, 3, "custom", false);
    fputs("<gpu id=\"0\" i_chunks=\"3\" o_chunks=\"3\" s_chunks=\"0\">\n"
          "<tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">\n",
          f);
    step(f, 0, "s", "i", 2, "o", 0, -1, -1);
    step(f, 1, "rrc", "i", 0, "o", 2, -1, -1);
    step(f, 2, "re", "i", 1, "o", 2, -1, -1);
    fputs("</tb>\n</gpu>\n<gpu id=\"1\" i_chunks=\"3\" o_chunks=\"3\" s_chunks=\"0\">\n"
          "<tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">\n",
          f);
    step(f, 0, "r", "i", 0, "o", 0, -1, -1);
    step(f, 1, "s", "i", 1, "o", 0, -1, -1);
    fputs("</tb>\n</gpu>\n", f);
    end(f);
    static const char *const of[] = {"--dtype f32", "--dtype bf16 --op max", "--dtype int8",
                                     "--set defaults.accumulate=f32 --dtype f16"};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        char options[100];
        snprintf(options, sizeof options, "--n-elem 9999 %s", of[i]);
        row_text("anywhere.xml", 2, options, "data_hash", text);
        snprintf(options, sizeof options, "--n-elem 9999 --threads 3 %s", of[i]);
        row_text("anywhere.xml", 2, options, "data_hash", again);
        assert_string_equal(text, again);
    }
    /* All chunks have one size: the run without a size has 9 elements, not 8. */
    struct run_output out =
        run_line(2, "run --algorithm %s " SMALL "--n-elem 1000", path_of("anywhere.xml"), 2u);
    assert_non_null(strstr(out.err, "1000 elements are no multiple of the 3 chunks of "
                                    "anywhere_xml; use 1002, or another multiple"));
    run_output_free(&out);
    out = run_line(0, "run --algorithm %s " SMALL "-b 1000 -e 1000 --verify-data",
                   path_of("anywhere.xml"), 2u);
    assert_non_null(strstr(out.err, "rounded down to what 3 chunks"));
    run_output_free(&out);
    out = run_line(0, "run --algorithm %s " SMALL "--verify-data --csv -", path_of("anywhere.xml"),
                   2u);
    assert_non_null(strstr(out.out, "custom"));
    run_output_free(&out);
    out = run_line(0, "check --algorithm %s " SMALL, path_of("anywhere.xml"), 2u);
    run_output_free(&out);
    out =
        run_line(2, "run --algorithm %s " SMALL "--n-elem 9 --op avg", path_of("anywhere.xml"), 2u);
    assert_non_null(strstr(out.err, "--op avg: ccl_custom reduces by sum, prod, max or min"));
    run_output_free(&out);
}

/* Two thread blocks that write to one chunk, in no order. */
static void a_custom_file_with_a_race_says_so(void **state)
{
    (void)state;
    FILE *const f = begin("race.xml", 3, 1, "custom", false);
    for (unsigned g = 0; g < 3; g++) {
        fprintf(f, "<gpu id=\"%u\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">\n", g);
        for (unsigned t = 0; t < (g == 0 ? 2 : 1); t++) {
            fprintf(f, "<tb id=\"%u\" send=\"%d\" recv=\"%d\" chan=\"0\">\n", t, g == 0 ? -1 : 0,
                    g == 0 ? 1 + (int)t : -1);
            step(f, 0, g == 0 ? "r" : "s", "i", 0, "o", 0, -1, -1);
            fputs("</tb>\n", f);
        }
        fputs("</gpu>\n", f);
    }
    end(f);
    struct run_output out =
        run_line(0, "run --algorithm %s " SMALL "--n-elem 64", path_of("race.xml"), 3u);
    assert_non_null(strstr(out.err, "race.xml: its result may depend on which of these steps comes "
                                    "first; data are compared with one order of them\n"));
    run_output_free(&out);
    out = run_line(2,
                   "run --algorithm %s " SMALL "--n-elem 64 --set "
                   "defaults.strict_validation=true",
                   path_of("race.xml"), 3u);
    run_output_free(&out);
}

/* A chain from the root, or to it, of two chunks. */
static void write_chain(const char *name, unsigned n, unsigned root, const char *coll,
                        bool in_place)
{
    const bool sends = strcmp(coll, "broadcast") == 0;
    FILE *const f = begin(name, n, 2, coll, in_place);
    for (unsigned g = 0; g < n; g++) {
        const unsigned place = (g + n - root) % n;
        const int outwards = place + 1 < n ? (int)((g + 1) % n) : -1,
                  inwards = place > 0 ? (int)((g + n - 1) % n) : -1;
        fprintf(f,
                "<gpu id=\"%u\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"0\">\n"
                "<tb id=\"0\" send=\"%d\" recv=\"%d\" chan=\"0\">\n",
                g, sends ? outwards : inwards, sends ? inwards : outwards);
        const char *const first = sends ? "s" : "rrc", *const last = sends ? "r" : "s",
                          *const between = sends ? "rcs" : "rrs";
        for (unsigned k = 0; k < 2; k++)
            step(f, k,
                 place == 0       ? first
                 : place + 1 == n ? last
                                  : between,
                 "i", (int)k, "o", (int)k, -1, -1);
        for (unsigned k = 0; k < 2 && sends && place == 0 && !in_place; k++)
            step(f, 2 + k, "cpy", "i", (int)k, "o", (int)k, -1, -1);
        fputs("</tb>\n</gpu>\n", f);
    }
    end(f);
}

static void broadcasts_and_reduces_have_the_root_of_their_steps(void **state)
{
    (void)state;
    static const char *const colls[] = {"broadcast", "reduce"};
    static const char *const topologies[] = {"ring_1d", "mesh_2d_no_wrap", "fully_connected"};
    char text[40], options[200];
    for (unsigned i = 0; i < 2 * 2 * 4; i++) {
        const char *const coll = colls[i % 2];
        const unsigned root = i / 4;
        write_chain("chain.xml", 4, root, coll, i % 4 < 2);
        snprintf(options, sizeof options, "--n-elem %u --set system.sips.topology=%s", 301 + i,
                 topologies[i % 3]);
        row_text("chain.xml", 4, options, "collective", text);
        assert_string_equal(text, coll);
        row_text("chain.xml", 4, options, "proof", text);
        assert_string_equal(text, i % 2 == 0 ? "moved" : "order");
    }
    struct run_output out = run_line(0, "run --algorithm %s " SMALL "--n-elem 64 --verify-data",
                                     path_of("chain.xml"), 4u);
    assert_non_null(strstr(out.err, "chain.xml: the root is gpu 3, by its steps\n"));
    run_output_free(&out);
    out = run_line(0, "check --algorithm %s " SMALL, path_of("chain.xml"), 4u);
    run_output_free(&out);
    out = run_line(2, "run --bench ccl_custom");
    assert_non_null(strstr(out.err, "no algorithm for custom is part of this version; legal is an "
                                    "MSCCL XML file, or an MSCCL++ plan, of that collective"));
    run_output_free(&out);
}

/* The middle of a line is nearer to all than an end is: so is its bound. */
static void the_bound_of_a_broadcast_is_its_root_s(void **state)
{
    (void)state;
    double bound[2];
    for (unsigned i = 0; i < 2; i++) {
        write_chain("chain.xml", 5, i == 0 ? 0 : 2, "broadcast", true);
        json_t *const root = run_json("run --algorithm %s " SMALL
                                      "--n-elem 4 --set system.sips.topology=mesh_2d_no_wrap",
                                      path_of("chain.xml"), 5u);
        const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
        bound[i] = json_number_value(json_object_get(row, "bound_ns"));
        json_decref(root);
    }
    assert_true(bound[1] > 0 && bound[1] < bound[0]);
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

/* ---- what runtimes take ---------------------------------------------------------------------- */

/* The largest figures of a file. */
struct written {
    unsigned steps, tbs, sends, recvs, channels, count;
};

static unsigned number_in(const char *line, const char *name)
{
    const char *const at = strstr(line, name);
    assert_non_null(at);
    return (unsigned)strtol(at + strlen(name), NULL, 10);
}

static void raise_to(unsigned *most, unsigned value) { *most = value > *most ? value : *most; }

/* Counts the lines that topo writes. A step that others wait for signals, and is no nop: the waits
 * are looked at by the reader's notes. */
static struct written count_written(const char *name)
{
    struct written w = {0};
    char line[400];
    unsigned steps = 0, tbs = 0, sends[256] = {0}, recvs[256] = {0};
    FILE *const f = fopen(path_of(name), "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        if (strstr(line, "<gpu ") != NULL) {
            tbs = 0;
            memset(sends, 0, sizeof sends);
            memset(recvs, 0, sizeof recvs);
        } else if (strstr(line, "<tb ") != NULL) {
            const unsigned channel = number_in(line, "chan=\"");
            assert_true(channel < 256);
            raise_to(&w.channels, channel + 1);
            sends[channel] += strstr(line, "send=\"-1\"") == NULL;
            recvs[channel] += strstr(line, "recv=\"-1\"") == NULL;
            raise_to(&w.sends, sends[channel]);
            raise_to(&w.recvs, recvs[channel]);
            raise_to(&w.tbs, ++tbs);
            steps = 0;
        } else if (strstr(line, "<step ") != NULL) {
            raise_to(&w.steps, ++steps);
            raise_to(&w.count, number_in(line, "cnt=\""));
        }
    }
    assert_int_equal(fclose(f), 0);
    return w;
}

/* Writes an algorithm's file for so many ranks, which must say that; a line of it is the comment.
 */
static struct written write_file(const char *algorithm, unsigned ranks, const char *says)
{
    char head[600] = "", expected[600], from[100];
    snprintf(from, sizeof from, "%s", algorithm); /* which may be path_of() */
    struct run_output out =
        run_line(0, "topo --algorithm %s " SMALL "--xml %s", from, ranks, path_of("fit.xml"));
    snprintf(expected, sizeof expected, "cubewarp: note: the file is %s\n", says);
    if (strstr(out.err, expected) == NULL)
        fail_msg("%s %u: %s", from, ranks, out.err);
    run_output_free(&out);
    FILE *const f = fopen(path_of("fit.xml"), "r");
    assert_non_null(f);
    assert_non_null(fgets(head, sizeof head, f));
    assert_int_equal(fclose(f), 0);
    snprintf(expected, sizeof expected, "<!-- %s -->\n", says);
    assert_string_equal(head, expected);
    return count_written("fit.xml");
}

#define FOR_ALL "for microsoft/msccl, RCCL and msccl-executor-nccl"

/* 32 thread blocks of a channel send, and as many receive; RCCL has 64 of a gpu, with 64 steps. */
static void files_fit_into_what_runtimes_have(void **state)
{
    (void)state;
    char hash[17], again[17];
    struct written w = write_file("direct_rs_ag", 33, FOR_ALL);
    assert_int_equal(w.sends, 32);
    assert_int_equal(w.channels, 1);
    static const char *const direct[] = {"direct_rs_ag", "direct_all_gather",
                                         "pairwise_all_to_all"};
    for (size_t i = 0; i < sizeof direct / sizeof direct[0]; i++) {
        w = write_file(direct[i], 40, FOR_ALL);
        assert_true(w.sends <= 32 && w.recvs <= 32 && w.channels == 2);
        assert_int_equal(w.tbs, 39); /* one for each other rank */
        verify_file("fit.xml", 40, "--n-elem 400 --set sip.cube_mesh.w=3", hash);
    }
    w = write_file("pairwise_all_to_all", 65, FOR_ALL);
    assert_true(w.sends <= 32 && w.recvs <= 32 && w.tbs == 64);
    w = write_file("pairwise_all_to_all", 66,
                   "for microsoft/msccl and msccl-executor-nccl; not for RCCL, since gpu 0 has 65 "
                   "thread blocks, of at most 64");
    assert_true(w.sends <= 32 && w.recvs <= 32);
    w = write_file("rings_reduce_scatter", 5,
                   "for RCCL and msccl-executor-nccl; not for microsoft/msccl, since coll must be "
                   "\"reduce_scatter\" there");
    /* Round a ring of 80, a chunk takes 79 steps to be whole, and 79 to be everywhere. */
    w = write_file("ring_rs_ag", 80, FOR_ALL);
    assert_true(w.steps <= 64 && w.tbs <= 64 && w.channels > 1);
    verify_file("fit.xml", 80, "--n-elem 800", hash);
    w = write_file("ring_rs_ag", 24, FOR_ALL);
    assert_int_equal(w.channels, 1);
    verify_file("fit.xml", 24, "--n-elem 480 --threads 2", hash);
    verify_file("fit.xml", 24, "--n-elem 480", again);
    assert_string_equal(hash, again);
}

/* Steps of many chunks, and very many steps without a peer. */
static void long_steps_and_threads_are_cut(void **state)
{
    (void)state;
    char hash[17];
    FILE *f = begin("large.xml", 2, 200, "allreduce", true);
    for (unsigned g = 0; g < 2; g++)
        fprintf(f,
                "<gpu id=\"%u\" i_chunks=\"200\" o_chunks=\"0\" s_chunks=\"0\">\n"
                "<tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">\n"
                "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" cnt=\"200\"/>\n"
                "<step s=\"1\" type=\"rrc\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" "
                "cnt=\"200\"/>\n</tb>\n</gpu>\n",
                g, 1 - g, 1 - g);
    end(f);
    struct written w = write_file(path_of("large.xml"), 2, FOR_ALL);
    assert_int_equal(w.count, 71);
    assert_int_equal(w.steps, 6); /* 71 + 71 + 58 chunks, both ways */
    verify_file("fit.xml", 2, "--n-elem 4000", hash);
    /* 1,500 messages: parts of 60 and fewer would need more than 32 channels, or leave more than 64
     * steps in each; parts of 128 have as many sends, and as many receives. */
    f = begin("queue.xml", 2, 1500, "allreduce", true);
    for (unsigned g = 0; g < 2; g++) {
        fprintf(f,
                "<gpu id=\"%u\" i_chunks=\"1500\" o_chunks=\"0\" s_chunks=\"0\">\n"
                "<tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">\n",
                g, 1 - g, 1 - g);
        for (unsigned k = 0; k < 1500; k++) {
            step(f, 2 * k, "s", "i", (int)k, "i", (int)k, -1, -1);
            step(f, 2 * k + 1, "rrc", "i", (int)k, "i", (int)k, -1, -1);
        }
        fputs("</tb>\n</gpu>\n", f);
    }
    end(f);
    w = write_file(path_of("queue.xml"), 2,
                   "for microsoft/msccl; not for RCCL and msccl-executor-nccl, since gpu 0, tb 0 "
                   "has 256 steps, of at most 64");
    assert_int_equal(w.steps, 256);
    assert_int_equal(w.channels, 12);
    verify_file("fit.xml", 2, "--n-elem 1500", hash);
    f = begin("long.xml", 2, 2, "alltoall", false);
    for (unsigned g = 0; g < 2; g++) {
        fprintf(f,
                "<gpu id=\"%u\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"2\">\n"
                "<tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">\n",
                g, 1 - g, 1 - g);
        step(f, 0, "cpy", "i", 1 - (int)g, "s", 0, -1, -1);
        for (unsigned k = 1; k < 150; k++)
            step(f, k, "cpy", "s", (k - 1) % 2, "s", k % 2, -1, -1);
        step(f, 150, "s", "s", 1, "o", 0, -1, -1);
        step(f, 151, "r", "i", 0, "o", 1 - (int)g, -1, -1);
        step(f, 152, "cpy", "i", (int)g, "o", (int)g, -1, -1);
        fputs("</tb>\n</gpu>\n", f);
    }
    end(f);
    w = write_file(path_of("long.xml"), 2, FOR_ALL);
    assert_true(w.steps <= 64 && w.tbs > 2);
    verify_file("fit.xml", 2, "--n-elem 400", hash);
}

/* What a file's author has forgotten is there in the file that is written from it. */
static void written_files_have_no_notes(void **state)
{
    (void)state;
    static const char *const shapes[] = {"pairs_with_nops", "two_steps_through_scratch", "copies"};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const unsigned gpus = copy_shape(shapes[i], "shape.xml", false, "");
        (void)write_file(path_of("shape.xml"), gpus, FOR_ALL);
        char hash[17];
        verify_file("fit.xml", gpus, "--n-elem 4948 --dtype f32", hash);
        struct run_output out =
            run_line(0, "run --algorithm %s " SMALL "--n-elem 4948", path_of("fit.xml"), gpus);
        assert_null(strstr(out.err, "MSCCL"));
        run_output_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_all_collectives_run),
        cmocka_unit_test(files_run_in_pieces_and_in_lines),
        cmocka_unit_test(files_in_the_shapes_of_generators_run),
        cmocka_unit_test(a_step_of_very_many_chunks_runs),
        cmocka_unit_test(steps_send_what_their_thread_has_received),
        cmocka_unit_test(an_all_reduce_of_any_size_runs),
        cmocka_unit_test(a_file_is_for_so_many_ranks),
        cmocka_unit_test(ccl_yaml_names_a_file),
        cmocka_unit_test(what_is_no_file_is_told),
        cmocka_unit_test(a_file_with_a_fault_ends_with_its_place),
        cmocka_unit_test(a_wait_that_msccl_hangs_at_is_a_note),
        cmocka_unit_test(files_fit_into_what_runtimes_have),
        cmocka_unit_test(long_steps_and_threads_are_cut),
        cmocka_unit_test(written_files_have_no_notes),
        cmocka_unit_test(a_custom_file_is_compared_with_its_own_steps),
        cmocka_unit_test(chunks_of_a_custom_file_go_anywhere),
        cmocka_unit_test(a_custom_file_with_a_race_says_so),
        cmocka_unit_test(broadcasts_and_reduces_have_the_root_of_their_steps),
        cmocka_unit_test(the_bound_of_a_broadcast_is_its_root_s),
        cmocka_unit_test(too_many_thread_blocks_name_a_key_that_helps),
        cmocka_unit_test(algorithms_are_written_and_run)};
    return cmocka_run_group_tests_name("msccl", tests, make_folder, remove_folder);
}
