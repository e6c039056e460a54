/*
 * matrix.c: lists the models of the matrix (matrix.h). Each run of PHOLD is some five million
 * events, so that it takes a fifth of a second on one thread.
 */
#include "perf/matrix.h"

#include <stdint.h>
#include <stdio.h>

#include "perf/perf_run.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define EVENTS       5e6

struct visitor {
    perf_matrix_fn fn;
    void *arg;
};

/* Of a model whose events come one by `mean_us` after the other at each LP, in units of 1 us. */
static double end_for(uint32_t lps, uint32_t population, double lookahead)
{
    return EVENTS * (1 + lookahead) / ((double)lps * population);
}

static void visit_phold(const struct visitor *visitor, uint32_t lps, uint32_t population,
                        const char *lookahead, double lookahead_us, unsigned remote)
{
    char name[PERF_NAME_BYTES], command[PERF_COMMAND_BYTES];
    snprintf(name, sizeof name, "matrix-%ux%u-%s-%u", (unsigned)lps, (unsigned)population,
             lookahead, remote);
    snprintf(command, sizeof command,
             "phold --lps %u --population %u --lookahead %s --remote %u%% --end %.0f",
             (unsigned)lps, (unsigned)population, lookahead, remote,
             end_for(lps, population, lookahead_us));
    visitor->fn(visitor->arg, name, command);
}

static void visit_hot(const struct visitor *visitor, uint32_t lps, unsigned share)
{
    char name[PERF_NAME_BYTES], command[PERF_COMMAND_BYTES];
    snprintf(name, sizeof name, "matrix-%ux4-hot-%u", (unsigned)lps, share);
    snprintf(command, sizeof command,
             "phold --lps %u --population 4 --hot 10%% --hot-share %u%% --remote 50%% --end %.0f",
             (unsigned)lps, share, end_for(lps, 4, 0.1));
    visitor->fn(visitor->arg, name, command);
}

static void visit_all_reduce(const struct visitor *visitor, uint32_t w, uint32_t h,
                             uint32_t elements)
{
    char name[PERF_NAME_BYTES], command[PERF_COMMAND_BYTES];
    const unsigned long long iterations = 1 + 5000 / ((1 + elements / 64) * w * h);
    snprintf(name, sizeof name, "matrix-lrab-%u-%u", (unsigned)(w * h), (unsigned)elements);
    snprintf(command, sizeof command,
             "run --preset pod64 --algorithm lrab_hierarchical_allreduce --set "
             "system.sips.count=%u --set system.sips.w=%u "
             "--set system.sips.h=%u --no-data --n-elem %u --iters %llu",
             (unsigned)(w * h), (unsigned)w, (unsigned)h, (unsigned)elements, iterations);
    visitor->fn(visitor->arg, name, command);
}

static const struct {
    const char *text;
    double us;
} lookaheads[] = {{"0", 0}, {"0.0001", 0.0001}, {"0.01", 0.01}, {"0.1", 0.1}, {"1", 1}};

static void visit_whole(const struct visitor *visitor)
{
    static const uint32_t lps[] = {16, 256, 4096, 65536}, populations[] = {1, 4, 16};
    static const unsigned remotes[] = {10, 50, 100};
    static const struct {
        uint32_t w, h;
    } sips[] = {{2, 1}, {2, 2}, {4, 2}, {4, 4}, {8, 8}};
    static const uint32_t elements[] = {8, 512, 8192};
    for (size_t i = 0; i < COUNT(lps); i++)
        for (size_t j = 0; j < COUNT(populations); j++)
            for (size_t k = 0; k < COUNT(lookaheads); k++)
                for (size_t l = 0; l < COUNT(remotes); l++)
                    visit_phold(visitor, lps[i], populations[j], lookaheads[k].text,
                                lookaheads[k].us, remotes[l]);
    for (size_t i = 0; i < COUNT(lps); i++) {
        visit_hot(visitor, lps[i], 50);
        visit_hot(visitor, lps[i], 90);
    }
    for (size_t i = 0; i < COUNT(sips); i++)
        for (size_t j = 0; j < COUNT(elements); j++)
            visit_all_reduce(visitor, sips[i].w, sips[i].h, elements[j]);
}

void perf_matrix_each(bool whole, perf_matrix_fn fn, void *arg)
{
    const struct visitor visitor = {fn, arg};
    if (whole) {
        visit_whole(&visitor);
        return;
    }
    for (size_t k = 0; k < COUNT(lookaheads); k++)
        visit_phold(&visitor, 256, 1, lookaheads[k].text, lookaheads[k].us, 50);
    visit_phold(&visitor, 16, 1, "0.0001", 0.0001, 100);
    visit_phold(&visitor, 4096, 4, "0", 0, 100);
    visit_phold(&visitor, 65536, 1, "0.01", 0.01, 10);
    visit_hot(&visitor, 4096, 50);
    visit_hot(&visitor, 4096, 90);
    visit_all_reduce(&visitor, 2, 1, 8);
    visit_all_reduce(&visitor, 8, 8, 512);
}
