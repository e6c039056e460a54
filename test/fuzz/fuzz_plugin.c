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

struct fuzz_plugin fuzz_plugin = {.run = run_nothing};
struct ccl_algorithm fuzzed = {.name = "fuzzed"};
