/*
 * fuzz_plugin.h: the shared object that the fuzzer of descriptors loads and fills.
 */
#ifndef TEST_FUZZ_PLUGIN_H
#define TEST_FUZZ_PLUGIN_H

#include "collectives/plugin.h"

enum { FUZZ_PARAMETERS = 40, FUZZ_STREAMS = 8 };

/* The objects that the descriptor points to. */
struct fuzz_plugin {
    struct tl_kernel kernel;
    struct ccl_parameter parameters[FUZZ_PARAMETERS];
    enum tl_status (*run)(struct tl *tl, void *frame);
    enum tl_status (*streams[FUZZ_STREAMS])(struct tl *tl, void *frame);
};

extern struct fuzz_plugin fuzz_plugin;
bool fuzz_map(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
extern struct ccl_algorithm fuzzed;

#endif
