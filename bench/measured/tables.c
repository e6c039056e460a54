/*
 * tables.c: tables of measured times grow row by row (tables.h).
 */
#include "bench/measured/tables.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tables_free(struct tables *tables)
{
    for (size_t i = 0; i < tables->count; i++)
        free(tables->table[i].rows);
    free(tables->table);
}

int tables_begin(struct tables *tables, struct cw_error *error)
{
    if (tables->count == TABLES_MAX)
        return cw_error_set(error, CW_USAGE, "%s: more than %d tables of measured times",
                            tables->path, TABLES_MAX);
    struct table *const more = realloc(tables->table, (tables->count + 1) * sizeof *tables->table);
    if (more == NULL)
        return cw_error_memory(error, "the measured times");
    tables->table = more;
    tables->table[tables->count++] = (struct table){.halves = 1};
    return CW_OK;
}

static bool is_of(const struct table *table, const struct log_row *row)
{
    return (row->test.name[0] == '\0' || (table->test.does == row->test.does &&
                                          strcmp(table->test.name, row->test.name) == 0)) &&
           (row->ranks == 0 || table->ranks == row->ranks);
}

/* The table that a row belongs to, by what the row itself says. NULL: *error says why. */
static struct table *table_of(struct tables *tables, const struct log_row *row,
                              struct cw_error *error)
{
    const size_t last = tables->count - 1;
    if (is_of(&tables->table[last], row))
        return &tables->table[last];
    for (size_t i = last; i > 0 && tables->table[i - 1].line == tables->table[last].line; i--)
        if (is_of(&tables->table[i - 1], row))
            return &tables->table[i - 1];
    if (tables_begin(tables, error) != CW_OK)
        return NULL;
    struct table *const fresh = &tables->table[last];
    tables->table[last + 1] = *fresh;
    *fresh = (struct table){.test = row->test.name[0] != '\0' ? row->test : fresh->test,
                            .tool = fresh->tool,
                            .is_json = fresh->is_json,
                            .line = fresh->line,
                            .ranks = row->ranks > 0 ? row->ranks : fresh->ranks,
                            .halves = fresh->halves,
                            .place = {fresh->place[0], fresh->place[1]},
                            .time_scale = {fresh->time_scale[0], fresh->time_scale[1]},
                            .algbw_scale = {fresh->algbw_scale[0], fresh->algbw_scale[1]}};
    return fresh;
}

int tables_add_row(struct tables *tables, uint32_t line, const struct log_row *row,
                   struct cw_error *error)
{
    struct table *const table = table_of(tables, row, error);
    if (table == NULL)
        return error->exit_code;
    if (tables->rows == TABLE_ROWS_MAX)
        return cw_error_set(error, CW_USAGE, "%s: more than %d rows of measured times",
                            tables->path, TABLE_ROWS_MAX);
    if (table->row_count == table->capacity) {
        const size_t capacity = table->capacity > 0 ? 2 * table->capacity : 64;
        struct table_row *const rows = realloc(table->rows, capacity * sizeof *rows);
        if (rows == NULL)
            return cw_error_memory(error, "the measured times");
        table->rows = rows;
        table->capacity = capacity;
    }
    table->rows[table->row_count++] = (struct table_row){line, *row};
    tables->rows++;
    return CW_OK;
}

void tables_add_damaged(struct tables *tables, const char *fault)
{
    struct table *const table = &tables->table[tables->count - 1];
    if (table->damaged++ == 0)
        snprintf(table->fault, sizeof table->fault, "%s", fault);
    tables_note(tables, "%s", fault);
}

void tables_note(struct tables *tables, const char *format, ...)
{
    if (tables->notes < NOTES_MAX) {
        va_list list;
        va_start(list, format);
        (void)vsnprintf(tables->note[tables->notes], NOTE_BYTES, format, list);
        va_end(list);
    }
    tables->notes++;
}
