/*
 * place_text.c: joins places into blocks. Blocks begin as one place each; part by part, beginning
 * with SIPs, neighbours that agree in all other parts are joined.
 */
#include "bench/draw/place_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/os/text_stream.h"

enum { LOOK_BACK = 2000 }; /* most blocks in one text; more are not worth the time */

/* A product: the text of each part. */
struct block {
    char *text[PLACE_PARTS];
    uint32_t first[PLACE_PARTS], last[PLACE_PARTS]; /* the run at the end of the text */
};

int place_compare(const struct place_of *a, const struct place_of *b)
{
    for (int i = PLACE_PARTS - 1; i >= 0; i--)
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    return 0;
}

/* "0", "0-3", "0-3,7": adds so many numbers to the runs. False: out of memory. */
static bool add_run(struct block *block, uint32_t part, uint32_t number, uint32_t count)
{
    char run[40];
    char **const text = &block->text[part];
    const bool continues = *text != NULL && number == block->last[part] + 1;
    if (!continues)
        block->first[part] = number;
    block->last[part] = number + count - 1;
    if (continues) { /* the last run is rewritten */
        char *const comma = strrchr(*text, ',');
        *(comma != NULL ? comma : *text) = '\0';
    }
    if (block->first[part] == block->last[part])
        snprintf(run, sizeof run, "%u", number);
    else
        snprintf(run, sizeof run, "%u-%u", block->first[part], block->last[part]);
    const size_t before = *text == NULL ? 0 : strlen(*text);
    char *const more = realloc(*text, before + strlen(run) + 2);
    if (more == NULL)
        return false;
    sprintf(more + before, "%s%s", before > 0 ? "," : "", run);
    *text = more;
    return true;
}

static bool same_but(const struct block *a, const struct block *b, uint32_t but)
{
    for (uint32_t i = 0; i < PLACE_PARTS; i++)
        if (i != but && strcmp(a->text[i], b->text[i]) != 0)
            return false;
    return true;
}

static void free_block(struct block *block)
{
    for (uint32_t i = 0; i < PLACE_PARTS; i++)
        free(block->text[i]);
}

/* Joins each block with an earlier one that agrees in all other parts; returns how many are left.
 */
static size_t join_blocks(struct block *blocks, size_t count, uint32_t part, bool *fine)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t to = kept;
        const size_t begin = kept > LOOK_BACK ? kept - LOOK_BACK : 0;
        while (to > begin && !same_but(&blocks[to - 1], &blocks[i], part))
            to--;
        if (*fine && to > begin) {
            *fine = add_run(&blocks[to - 1], part, blocks[i].first[part],
                            blocks[i].last[part] - blocks[i].first[part] + 1);
            free_block(&blocks[i]);
            continue;
        }
        blocks[kept++] = blocks[i];
    }
    return kept;
}

static char *written(const struct block *blocks, size_t count, uint32_t parts, const char *prefix)
{
    char *text = NULL;
    size_t bytes;
    FILE *const out = text_stream_open(&text, &bytes);
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s%s", i > 0 ? " " : "", prefix);
        for (uint32_t k = 0; k < parts; k++)
            fprintf(out, "%s%s", k > 0 ? "." : "", blocks[i].text[k]);
    }
    (void)fclose(out); /* without memory there is no text */
    return text;
}

char *place_text(const struct place_of *places, size_t count, uint32_t parts, const char *prefix,
                 uint32_t run)
{
    struct block *const blocks = calloc(count + 1, sizeof *blocks);
    bool fine = blocks != NULL;
    size_t left = 0;
    for (; fine && left < count; left++)
        for (uint32_t i = 0; i < PLACE_PARTS; i++)
            fine = fine && add_run(&blocks[left], i, places[left].part[i], i == 0 ? run : 1);
    for (uint32_t part = 0; fine && part < PLACE_PARTS; part++)
        left = join_blocks(blocks, left, part, &fine);
    char *const text = fine ? written(blocks, left, parts, prefix) : NULL;
    for (size_t i = 0; i < left; i++)
        free_block(&blocks[i]);
    free(blocks);
    return text;
}
