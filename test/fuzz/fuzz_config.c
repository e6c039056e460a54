/*
 * fuzz_config.c: libFuzzer's entry for configuration files: whatever a preset says, it loads, or is
 * refused with a place; a configuration that loads is printed, and loads again.
 */
#define _GNU_SOURCE /* memfd_create */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collectives/config/config.h"
#include "collectives/config/config_load.h"
#include "collectives/config/config_print.h"
#include "core/cw.h"

/* Exit code of loading what is in the descriptor over the shipped files. */
static int load(int descriptor, FILE *print)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const struct config_request request = {
        .preset = path, .no_plugins = true, .configs_dir = "configs"};
    struct config_errors errors = {0};
    struct config *config;
    const int code = config_load(&request, &config, &errors);
    if ((code == CW_OK) != (errors.count == 0) || (code == CW_OK) != (config != NULL))
        abort();
    if (code == CW_OK && print != NULL)
        (void)config_print(print, config, true);
    config_free(config);
    config_errors_free(&errors);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int given = memfd_create("given", MFD_CLOEXEC), again = memfd_create("again", 0);
    FILE *print = again < 0 ? NULL : fdopen(dup(again), "w");
    if (given < 0 || print == NULL || write(given, data, size) != (ssize_t)size)
        abort();
    const int code = load(given, print);
    fclose(print);
    if (code == CW_OK && load(again, NULL) != CW_OK)
        abort();
    close(given);
    close(again);
    return 0;
}
