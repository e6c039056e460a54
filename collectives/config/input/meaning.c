/*
 * meaning.c: the table of words and their meanings (meaning.h).
 */
#include "collectives/config/input/meaning.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hw/topology/topology.h"

/* Words with blanks between and around them, '-' for '_'. */
static const struct {
    const char *words, *meaning;
} meanings[] = {
    {" ranks nranks n-ranks num-ranks world-size nodes nnodes gpus ngpus num-gpus npus devices "
     "chips accelerators sips packages num-nodes np ",
     "--set system.sips.count=N"},
    {" ring torus mesh switch grid interconnect network ring-1d torus-2d torus-3d mesh-2d-no-wrap "
     "fully-connected pair-switch fat-tree dragonfly ",
     "--set system.sips.topology=NAME (cubewarp list topologies)"},
    {" cubes chiplets dies ", "--set sip.cube_mesh.w=N --set sip.cube_mesh.h=N"},
    {" pes cores-per-cube ", "--set cube.pe_layout.pe_per_corner=N"},
    {" size sizes message message-size msg-size msgsize length count data-size nbytes ",
     "--bytes-per-rank SIZE, or --bytes SIZE for one shard"},
    {" algo alg algorithms collective-algorithm ", "--algorithm NAME (cubewarp list algorithms)"},
    {" coll collective collectives benchmark test operation-type ",
     "--bench NAME (cubewarp list benches)"},
    {" machine system model cluster config configuration hardware platform ",
     "--preset NAME (cubewarp list presets)"},
    {" bw bandwidth link-bw link-bandwidth gbs ", "--set links.sip_link.bw_gbs=GB/s"},
    {" latency link-latency alpha ", "--set links.sip_link.latency_ns=NS"},
    {" mapper mapping placement ", "--set algorithms.NAME.mapper=all_pes"},
    {" datatype data-type type precision ", "--dtype T"},
    {" reduce-op redop reduction ", "--op OP"},
    {" verify validate check-data validation ", "--verify-data"},
    {" workers nthreads num-threads parallel procs processes ", "--threads N"},
    {" repeat repeats iterations niters num-iters runs ", "--iters N"},
    {" warmup warmups ", "--warmup_iters N"},
    {" output out result results save ", "--json FILE or --csv FILE"},
    {" plot plots graph html ", "--json FILE, and then cubewarp report FILE"},
    {" timeline profile perfetto chrome-trace ", "--trace FILE"},
    {" straggler slow slow-node ", "--set faults.slow.links=sip_link --set faults.slow.slower=2x"},
    {" sweep study ", "cubewarp sweep STUDY.yaml"},
};

static bool has_word(const char *words, const char *word, size_t bytes)
{
    for (const char *at = words + 1; *at != '\0'; at += strcspn(at, " ") + 1) {
        const size_t length = strcspn(at, " ");
        bool is_equal = length == bytes;
        for (size_t i = 0; i < bytes && is_equal; i++) {
            const char given = word[i] == '_' ? '-' : word[i];
            is_equal = strncasecmp(&given, at + i, 1) == 0;
        }
        if (is_equal)
            return true;
    }
    return false;
}

const char *meaning_of(const char *word, size_t bytes, char text[MEANING_BYTES])
{
    snprintf(text, MEANING_BYTES, "%.*s", (int)bytes, word);
    if (hw_topology_find(text) != NULL) {
        snprintf(text, MEANING_BYTES, "--set system.sips.topology=%.*s", (int)bytes, word);
        return text;
    }
    for (size_t i = 0; bytes > 0 && i < sizeof meanings / sizeof *meanings; i++)
        if (has_word(meanings[i].words, word, bytes))
            return meanings[i].meaning;
    return NULL;
}
