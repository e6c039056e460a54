/*
 * study.c: settings in force, labels and command lines of points (study.h).
 */
#include "bench/study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/options.h"
#include "bench/output/plain_text.h"
#include "core/os/text_stream.h"

/* Adds a setting at the end, and drops an earlier one of the same name. */
static void settings_put(struct study_settings *settings, const struct study_setting *setting)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < settings->count; i++)
        if (strcmp(settings->list[i].name, setting->name) != 0)
            settings->list[kept++] = settings->list[i];
    settings->list[kept] = *setting;
    settings->count = kept + 1;
}

struct study_settings study_settings_at(const struct study *study, const uint32_t *at)
{
    struct study_settings all = {0};
    size_t room = study->base.count + 2; /* one for the knob */
    for (uint32_t a = 0; a < study->axis_count; a++)
        room += study->axes[a].values[at[a]].settings.count;
    all.list = calloc(room, sizeof *all.list);
    if (all.list == NULL)
        return all;
    for (uint32_t i = 0; i < study->base.count; i++)
        settings_put(&all, &study->base.list[i]);
    for (uint32_t a = 0; a < study->axis_count; a++) {
        const struct study_settings *const more = &study->axes[a].values[at[a]].settings;
        for (uint32_t i = 0; i < more->count; i++)
            settings_put(&all, &more->list[i]);
    }
    return all;
}

struct study_settings study_settings_of(const struct study *study, uint32_t point)
{
    struct study_settings all = study_settings_at(study, study->points[point].at);
    if (all.list != NULL && study->points[point].knob != NULL)
        settings_put(&all, study->points[point].knob);
    return all;
}

char *study_label(const struct study *study, uint32_t point)
{
    char *text = NULL;
    size_t bytes;
    FILE *const stream = text_stream_open(&text, &bytes);
    if (stream == NULL)
        return NULL;
    for (uint32_t a = 0; a < study->axis_count; a++)
        fprintf(stream, "%s%s=%s", a == 0 ? "" : ", ", study->axes[a].name,
                study->axes[a].values[study->points[point].at[a]].text);
    if (study->axis_count == 0)
        fputs("base", stream);
    if (study->points[point].knob != NULL)
        fprintf(stream, ", %s", study->points[point].knob->argument);
    return fclose(stream) == 0 ? plain_text(text, "") : NULL;
}

bool study_is_size(const char *name)
{
    static const char *const sizes[] = {"bytes",    "bytes-per-rank", "n-elem",   "minbytes",
                                        "maxbytes", "stepfactor",     "stepbytes"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(name, sizes[i]) == 0)
            return true;
    return false;
}

int study_settings_give(const struct study_settings *settings, struct option_parse *parse,
                        struct cw_error *error)
{
    for (uint32_t i = 0; i < settings->count; i++) {
        const struct study_setting *const setting = &settings->list[i];
        if (!setting->is_off &&
            options_give(parse, setting->row, setting->argument, error) != CW_OK)
            return CW_USAGE;
    }
    return options_finish(parse, error);
}

char **study_settings_words(const struct study_settings *settings, size_t *count)
{
    char **const words = calloc(2 * (size_t)settings->count + 2, sizeof *words);
    *count = 0;
    if (words != NULL)
        words[(*count)++] = "run";
    for (uint32_t i = 0; words != NULL && i < settings->count; i++) {
        const struct study_setting *const setting = &settings->list[i];
        if (setting->is_off)
            continue;
        words[(*count)++] = setting->option;
        if (setting->argument != NULL)
            words[(*count)++] = setting->argument;
    }
    return words;
}

void study_put_word(FILE *stream, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=.,:/+@%";
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        fputs(word, stream);
        return;
    }
    fputc('\'', stream);
    for (; *word != '\0'; word++)
        if (*word == '\'')
            fputs("'\\''", stream);
        else
            fputc(*word, stream);
    fputc('\'', stream);
}

char *study_command(const struct study *study, uint32_t point)
{
    char *text = NULL;
    size_t bytes, count;
    struct study_settings settings = study_settings_of(study, point);
    char **const words = settings.list == NULL ? NULL : study_settings_words(&settings, &count);
    FILE *const stream = words == NULL ? NULL : text_stream_open(&text, &bytes);
    if (stream != NULL) {
        fputs("cubewarp", stream);
        for (size_t i = 0; i < count; i++) {
            fputc(' ', stream);
            study_put_word(stream, words[i]);
        }
        (void)fclose(stream); /* without memory there is no text */
    }
    free(words);
    free(settings.list);
    return text;
}

void study_free(struct study *study)
{
    if (study == NULL)
        return;
    config_arena_free(&study->arena);
    free(study);
}
