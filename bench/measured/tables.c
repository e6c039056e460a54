/*
 * tables.c: tables of measured times grow row by row (tables.h).
 */
#include "bench/measured/tables.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

int tables_add_row(struct tables *tables, uint32_t line, const struct log_row *row,
                   struct cw_error *error)
{
    struct table *const table = &tables->table[tables->count - 1];
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
