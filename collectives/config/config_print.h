/*
 * config_print.h: the resolved configuration as one text, and the digest of that text.
 */
#ifndef COLLECTIVES_CONFIG_PRINT_H
#define COLLECTIVES_CONFIG_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "collectives/config/config.h"

/*
 * The resolved configuration as YAML that loads again (as a preset), all three files in one; with
 * a comment for each value that says where it came from, if `places`.
 */
int config_print(FILE *file, const struct config *config, bool places);

/* Fills config->digest; CW_NO_RESOURCE without memory. */
int config_digest(struct config *config);

/* A file of code or of a schedule that the algorithm that runs comes from. */
struct config_loaded {
    char file[256];
    bool is_xml;
    uint64_t contents; /* their XXH3; 0: it cannot be read by that name */
};
/* The i-th of them: the algorithm's, the mapper's, the validator's; then those of other entries
 * that run. False: there is none. */
bool config_loaded_at(const struct config *config, uint32_t i, struct config_loaded *loaded);

#endif
