/*
 * data_take.c: copies of results that a kernel is about to overwrite (data_take.h): a list in each
 * cube, which is empty in most.
 */
#include "collectives/data/data_take.h"

#include <stdlib.h>

#include "collectives/data/data_operand.h"
#include "collectives/data/data_pass.h"

int data_take_add(struct data_pass *pass, const struct data_take *take, struct cw_error *error)
{
    struct data_cube *const cube = &pass->cubes[take->pe / pass->pes];
    struct data_take *const own = malloc(sizeof *own);
    if (own == NULL)
        return cw_error_memory(error, "copies of results");
    *own = *take;
    own->next = cube->takes;
    cube->takes = own;
    return CW_OK;
}

/* Makes the copy, and takes it from the list. */
static void make(struct data_pass *pass, struct data_take **at)
{
    struct data_take *const take = *at;
    data_pass_read(pass, take->pe, take->offset, take->to, take->bytes);
    *at = take->next;
    free(take);
}

void data_take_now(struct data_pass *pass, uint32_t pe, const uint8_t *to)
{
    for (struct data_take **at = &pass->cubes[pe / pass->pes].takes; *at != NULL; at = &(*at)->next)
        if ((*at)->to == to) {
            make(pass, at);
            return;
        }
}

void data_take_at_start(struct data_pass *pass, uint32_t pe, uint32_t batch)
{
    struct data_take **at = &pass->cubes[pe / pass->pes].takes;
    while (*at != NULL)
        if ((*at)->pe == pe && (*at)->batch == batch)
            make(pass, at);
        else
            at = &(*at)->next;
}

void data_takes_free(struct data_cube *cube)
{
    while (cube->takes != NULL) {
        struct data_take *const next = cube->takes->next;
        free(cube->takes);
        cube->takes = next;
    }
}
