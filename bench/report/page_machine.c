/*
 * page_machine.c: see page_machine.h. The picture is the result's own (bench/draw).
 */
#include "bench/report/page_machine.h"

#include "bench/report/say.h"

bool page_has_machine(const struct survey *survey)
{
    (void)survey;
    return false;
}

void page_write_machine(FILE *out, struct survey *survey)
{
    (void)out;
    (void)survey;
}

void page_machine_data(FILE *out, const struct survey *survey)
{
    (void)survey;
    fputs("\"pictures\":[],\n", out);
}
