/*
 * format_config.c: configuration files: whatever a preset says, it loads, or is refused with a
 * place; a configuration that loads is printed, and loads again as the same one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/config.h"
#include "collectives/config/config_load.h"
#include "collectives/config/config_print.h"
#include "test/fuzz/fuzz.h"

/* Loads a file over the shipped ones. NULL: it was refused. */
static struct config *load_preset(const char *path)
{
    const struct config_request request = {
        .preset = path, .no_plugins = true, .configs_dir = "configs"};
    struct config_errors errors = {0};
    struct config *config;
    const int code = config_load(&request, &config, &errors);
    FUZZ_DEMAND((code == CW_OK) == (errors.count == 0));
    FUZZ_DEMAND((code == CW_OK) == (config != NULL));
    for (size_t i = 0; i < errors.count; i++)
        FUZZ_DEMAND(strpbrk(errors.list[i].text, "\n\r\t\033") == NULL);
    config_errors_free(&errors);
    return config;
}

static char *printed(const struct config *config, size_t *bytes)
{
    char *text = NULL;
    FILE *const stream = open_memstream(&text, bytes);
    FUZZ_DEMAND(stream != NULL);
    (void)config_print(stream, config, true);
    FUZZ_DEMAND(fclose(stream) == 0);
    return text;
}

static void read_config(const uint8_t *data, size_t size)
{
    struct config *const config = load_preset(fuzz_file("preset.yaml", data, size));
    if (config == NULL)
        return;
    size_t bytes;
    char *const text = printed(config, &bytes);
    struct config *const again = load_preset(fuzz_file("again.yaml", text, bytes));
    FUZZ_DEMAND(again != NULL);
    if (strcmp(config->digest, again->digest) != 0)
        fuzz_fail(__FILE__, __LINE__, "a printed configuration is the same one", text);
    config_free(again);
    config_free(config);
    free(text);
}

const struct fuzz_format fuzz_config = {.name = "config", .once = read_config};
