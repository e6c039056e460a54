/*
 * fuzz_plugin.c: a shared object whose descriptor the fuzzer fills: all fields are variables
 * (format_descriptor.c). Its kernel never runs.
 */
#include "test/fuzz/fuzz_plugin.h"

CCL_PLUGIN;

static enum tl_status run_nothing(struct tl *tl, void *frame)
{
    (void)tl;
    (void)frame;
    return (enum tl_status)0;
}

/* A function, where an algorithm is wanted. */
bool fuzz_map(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw;
    return rank == 0 && cube == 0 && pe == 0;
}

struct fuzz_plugin fuzz_plugin = {.run = run_nothing};
struct ccl_algorithm fuzzed = {.name = "fuzzed"};
