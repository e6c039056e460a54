/*
 * expression.h: the formulas of workload files: numbers with units, names, + - * / // % ^,
 * comparisons, `and`, `or`, `not`, and functions. A name stands for a symbol: a number that the
 * expansion sets (a size, a coordinate, the index of a loop), or a formula of its own (`values`),
 * which is computed where it is used, with the numbers that the others have there.
 */
#ifndef WORKLOAD_FILE_EXPRESSION_H
#define WORKLOAD_FILE_EXPRESSION_H

#include "collectives/config/input/config_parse.h"
#include "workload/file/number.h"

struct expression; /* a tree */
struct symbol;

/* One formula of a file. */
struct formula {
    const struct config_node *node; /* where it is */
    const struct expression *tree;
    bool reported; /* a computation failed, and has been reported: no second message */
};

struct symbol {
    const char *name;
    const char *meaning;     /* "the pipeline stage of the rank"; NULL: a value of the file's */
    struct formula *formula; /* of a value; else NULL */
    struct number now;       /* valid if `is_set` */
    bool is_set;
    bool varies;      /* set again and again: coordinates, loops */
    bool busy;        /* of a value: it is being computed */
    bool seen;        /* of a value: it was computed, in `epoch` */
    bool is_constant; /* of a value: it depends on no number that varies */
    uint64_t epoch;
    bool used; /* a formula names it */
    struct symbol *next;
};

struct symbols {
    struct config_loader *loader;
    struct symbol *first, *last;
    uint64_t epoch;  /* grows whenever a number is set */
    uint64_t varied; /* how often one that varies was used */
    uint32_t depth;  /* of the computation */
};

/* NULL: there is none. */
struct symbol *symbol_find(const struct symbols *symbols, const char *name, size_t bytes);
/* Adds one; NULL without memory. The name is not copied. */
struct symbol *symbol_add(struct symbols *symbols, const char *name, const char *meaning);
void symbol_set(struct symbols *symbols, struct symbol *symbol, struct number value);
void symbol_unset(struct symbols *symbols, struct symbol *symbol);
bool symbol_name_is_good(const char *name, size_t bytes);

/* Reads a formula. NULL, with an error reported, if the node is none. Names that are not known yet
 * are reported by formula_resolve(). */
struct formula *formula_read(struct symbols *symbols, const struct config_node *node);
/* Finds the symbols of the formula's names, and reports those that there are not. */
void formula_resolve(struct symbols *symbols, struct formula *formula);
/* False: it cannot be computed; reported once for each formula. */
bool formula_compute(struct symbols *symbols, struct formula *formula, struct number *result);
/* The formula's whole number from `least` to `max`; without a formula `absent`. False: reported,
 * and *whole is `absent`. */
bool formula_whole(struct symbols *symbols, struct formula *formula, uint64_t absent,
                   uint64_t least, uint64_t max, uint64_t *whole);
/* Its number times `unit`, rounded to a whole one from 0 to 2^63; without a formula 0. False:
 * reported. */
bool formula_amount(struct symbols *symbols, struct formula *formula, int64_t unit,
                    uint64_t *whole);
/* Its error at its place: "KEY: what is wrong". */
void formula_error(struct symbols *symbols, struct formula *formula, const char *text);

#endif
