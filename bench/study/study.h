/*
 * study.h: a study as read from its file: settings, axes, points (STUDY.md). Constant once it is
 * read; its arena owns its memory. Any thread or process may read it.
 */
#ifndef BENCH_STUDY_H
#define BENCH_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "collectives/config/input/config_source.h"
#include "core/cw.h"

enum { STUDY_POINTS_MAX = 100000, STUDY_DIGEST_BYTES = 33 };

struct option_row; /* bench/options/option.h */
struct option_parse;

/* A name with a value: an option of `run`, or a key of the configuration. */
struct study_setting {
    const char *name;             /* "algorithm", "system.sips.count" */
    const struct option_row *row; /* of the option; a key's is --set */
    char *option;                 /* "--algorithm", "--set" */
    char *argument; /* of the option: "ring_allreduce", "system.sips.count=4"; NULL: none */
    bool is_off;    /* a flag that is false: the option is not given */
    struct config_place place;
};

struct study_settings {
    struct study_setting *list;
    uint32_t count;
};

/* One value of an axis: one setting, or a named case's. */
struct study_value {
    const char *text; /* as in labels and exclusions */
    struct study_settings settings;
    struct config_place place;
};

struct study_axis {
    const char *name;
    struct study_value *values;
    uint32_t count;
    uint32_t leader; /* the axis that it advances with: itself, or the first of its zip */
    bool is_zipped;
    struct config_place place;
};

/* A key that `calibrate` moves. */
struct study_fit {
    const char *name;
    double least, most, start;    /* NAN: not given; the bounds both or none */
    struct study_settings values; /* that it is swept over; count 0: it is fitted */
    struct config_place place;
};

/* A point: its value on each axis. */
struct study_point {
    const uint32_t *at;               /* [axis_count] indices of values */
    const struct study_setting *knob; /* of a study at equal cost; else NULL */
    char digest[STUDY_DIGEST_BYTES];
};

struct study {
    struct config_arena arena;
    struct config_source *sources;
    const char *path, *name, *about, *text; /* text: the whole file */
    struct study_settings base;
    struct study_axis *axes;
    uint32_t axis_count;
    struct study_fit *fits;
    uint32_t fit_count;
    struct study_point *points;
    uint32_t point_count;
    char digest[STUDY_DIGEST_BYTES];
};

/* The settings in force at a point, each name once, in the order of base and axes; or with these
 * values on the axes, before equal cost. The caller frees the list, not its texts. NULL list: no
 * memory. */
struct study_settings study_settings_of(const struct study *study, uint32_t point);
struct study_settings study_settings_at(const struct study *study, const uint32_t *at);
/* "algorithm=ring_allreduce, system.sips.count=4", and at equal cost the knob; "base" without. The
 * caller frees it. */
char *study_label(const struct study *study, uint32_t point);
/* Applies the settings to *options, `run`'s options with their defaults, and checks them
 * together. CW_OK, or CW_USAGE with *error filled. */
int study_settings_give(const struct study_settings *settings, struct option_parse *parse,
                        struct cw_error *error);
/* The settings as the arguments of `cubewarp`: "run", options, NULL. The caller frees the array,
 * not its texts. NULL: no memory. */
char **study_settings_words(const struct study_settings *settings, size_t *count);
/* Whether a setting is a size. The table `axis` leaves it out, since each row has its sizes, in
 * bytes. */
bool study_is_size(const char *name);
/* The line for a shell that runs a point alone: "cubewarp run ...". The caller frees it. */
char *study_command(const struct study *study, uint32_t point);

/* Writes a word, quoted for a shell if it needs to be. */
void study_put_word(FILE *stream, const char *word);

void study_free(struct study *study); /* accepts NULL */

#endif
