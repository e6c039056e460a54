/*
 * format_descriptor.c: descriptors of algorithms in shared objects, and their parameters in a
 * configuration. The first bytes of an input choose each field of the descriptor, from values that
 * are right, wrong and at the ends; the rest is the algorithm's entry in ccl.yaml. Pointers are
 * NULL or good: a shared object of the user's is trusted code, but may be written wrong.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/config_load.h"
#include "collectives/config/config_print.h"
#include "collectives/runtime/mapper.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_plugin.h"

/* The bytes that choose fields; 0 behind the last. */
struct chooser {
    const uint8_t *at;
    size_t left;
};

static uint8_t choose_byte(struct chooser *chooser)
{
    if (chooser->left == 0)
        return 0;
    chooser->left--;
    return *chooser->at++;
}

#define CHOOSE(chooser, list) (list)[choose_byte(chooser) % (sizeof(list) / sizeof *(list))]

static const char *choose_name(struct chooser *chooser)
{
    static char long_name[400];
    static const char *const names[] = {
        "depth",          "route",  "fuzzed",   NULL,         "",
        long_name,        "a.b",    "n_slots",  "with space", "\x1b[1m",
        "ring_allreduce", "module", "\xff\xfe", "1"};
    memset(long_name, 'n', sizeof long_name - 1);
    return CHOOSE(chooser, names);
}

static int64_t choose_whole(struct chooser *chooser)
{
    static const int64_t wholes[] = {0,
                                     1,
                                     2,
                                     -1,
                                     64,
                                     INT64_MAX,
                                     INT64_MIN,
                                     INT32_MAX,
                                     INT32_MIN,
                                     INT64_C(1000000000000000000),
                                     INT64_C(-1000000000000000000),
                                     INT64_C(999999999999999999)};
    const uint8_t byte = choose_byte(chooser);
    return byte < 128 ? byte : wholes[(byte - 128) % (sizeof wholes / sizeof *wholes)];
}

static const char *const *choose_choices(struct chooser *chooser)
{
    static const char *const two[] = {"east", "both", NULL}, *const none[] = {NULL};
    static const char *const same[] = {"east", "east", NULL}, *const odd[] = {"", "\n", "true",
                                                                              NULL};
    static const char *const *const lists[] = {two, NULL, none, same, odd};
    return CHOOSE(chooser, lists);
}

static void choose_kernel(struct chooser *chooser, struct fuzz_plugin *plugin)
{
    static const char *const phases[] = {"send", "receive"};
    for (uint32_t i = 0; i < FUZZ_STREAMS; i++)
        plugin->streams[i] = choose_byte(chooser) % 8 == 7 ? NULL : plugin->run;
    plugin->kernel =
        (struct tl_kernel){.name = choose_name(chooser),
                           .frame_bytes = (uint32_t)choose_whole(chooser),
                           .run = choose_byte(chooser) % 8 == 7 ? NULL : plugin->run,
                           .phase = choose_byte(chooser) % 2 == 1 ? NULL : phases,
                           .phase_count = choose_byte(chooser) % 3,
                           .stream_count = choose_byte(chooser) % (FUZZ_STREAMS + 1),
                           .stream = choose_byte(chooser) % 8 == 7 ? NULL : plugin->streams};
}

/* The descriptor is that of a shared object, loaded once. */
static void choose_descriptor(struct chooser *chooser)
{
    void *const object = dlopen(FUZZ_PLUGIN_BUILT, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        fuzz_fail(__FILE__, __LINE__, "the shared object is loaded", dlerror());
    struct fuzz_plugin *const plugin = dlsym(object, "fuzz_plugin");
    struct ccl_algorithm *const algorithm = dlsym(object, "fuzzed");
    FUZZ_DEMAND(plugin != NULL && algorithm != NULL);
    choose_kernel(chooser, plugin);
    *algorithm = (struct ccl_algorithm){
        .name = choose_name(chooser),
        .collective = (enum ccl_collective)choose_whole(chooser),
        .kernel = choose_byte(chooser) % 8 == 7 ? NULL : &plugin->kernel,
        .parameters = choose_byte(chooser) % 8 == 7 ? NULL : plugin->parameters,
        .parameter_count = (uint32_t)choose_whole(chooser)};
    for (uint32_t i = 0; i < algorithm->parameter_count && i < FUZZ_PARAMETERS; i++)
        plugin->parameters[i] =
            (struct ccl_parameter){.name = choose_name(chooser),
                                   .type = (enum ccl_parameter_type)choose_byte(chooser) % 5,
                                   .value = choose_whole(chooser),
                                   .min = choose_whole(chooser),
                                   .max = choose_whole(chooser),
                                   .choice = choose_choices(chooser)};
    (void)dlclose(object); /* the program never unloads it */
}

static const char *write_config(const struct chooser *rest, const char *symbol)
{
    char *text = NULL;
    size_t bytes;
    FILE *const stream = open_memstream(&text, &bytes);
    FUZZ_DEMAND(stream != NULL);
    fprintf(stream,
            "defaults:\n  algorithm: mine\nalgorithms:\n  mine:\n    module: %s:%s\n"
            "    topology: none\n",
            FUZZ_PLUGIN_BUILT, symbol);
    fwrite(rest->at, 1, rest->left, stream);
    FUZZ_DEMAND(fclose(stream) == 0);
    const char *const path = fuzz_file("ccl.yaml", text, bytes);
    free(text);
    return path;
}

static void load_config(const char *ccl)
{
    const struct config_request request = {.ccl = ccl, .configs_dir = "configs"};
    struct config_errors errors = {0};
    struct config *config;
    const int code = config_load(&request, &config, &errors);
    FUZZ_DEMAND((code == CW_OK) == (config != NULL));
    FUZZ_DEMAND((code == CW_OK) == (errors.count == 0));
    for (size_t i = 0; i < errors.count; i++)
        if (strpbrk(errors.list[i].text, "\n\033") != NULL)
            fuzz_fail(__FILE__, __LINE__, "an error is a plain line", errors.list[i].text);
    if (config != NULL) {
        FILE *const sink = fopen("/dev/null", "w");
        FUZZ_DEMAND(sink != NULL);
        (void)config_print(sink, config, true);
        fclose(sink);
    }
    config_free(config);
    config_errors_free(&errors);
}

static void read_plugin(const uint8_t *data, size_t size)
{
    enum { FIELD_BYTES = 256 };
    static const char *const symbols[] = {"fuzzed",         "fuzzed", "fuzzed",
                                          "ccl_plugin_abi", "none",   "fuzz_map"};
    struct chooser fields = {.at = data, .left = size < FIELD_BYTES ? size : FIELD_BYTES};
    const uint8_t *const end = memchr(data, '\n', fields.left);
    if (end != NULL)
        fields.left = (size_t)(end - data);
    const size_t used = fields.left + (end != NULL);
    const struct chooser rest = {.at = data + used, .left = size - used};
    struct cw_error error = {.exit_code = CW_OK};
    const char *const symbol = CHOOSE(&fields, symbols);
    char module[256];
    choose_descriptor(&fields);
    snprintf(module, sizeof module, "%s:%s", FUZZ_PLUGIN_BUILT, symbol);
    if (ccl_algorithm_load(module, &error) == NULL)
        fuzz_demand_error(error.exit_code, &error);
    if (ccl_mapper_find(module, &error) == NULL)
        fuzz_demand_error(error.exit_code, &error);
    if (ccl_validator_find(module, &error) == NULL)
        fuzz_demand_error(error.exit_code, &error);
    load_config(write_config(&rest, symbol));
}

const struct fuzz_format fuzz_descriptor = {.name = "descriptor", .once = read_plugin};
