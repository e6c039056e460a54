/*
 * expression.c: reads formulas by recursive descent, and computes them (expression.h). Depth and
 * size of a tree are bounded by the depth of parentheses and the length of a text; a value that
 * depends on itself is found when it is computed.
 */
#include "workload/file/expression.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WHOLE_MAX ((uint64_t)INT64_MAX)

enum {
    FORMULA_BYTES_MAX = 4096,
    NESTED_MAX = 60,
    DEPTH_MAX = 2000, /* of a computation, through values */
    ARGUMENTS_MAX = 16,
    NAME_MAX_BYTES = 64,
    MESSAGE_BYTES = 512
};

enum part { PART_NUMBER, PART_NAME, PART_MINUS, PART_NOT, PART_COMBINE, PART_CALL };

enum function {
    CALL_IF,
    CALL_CEIL,
    CALL_FLOOR,
    CALL_ROUND,
    CALL_MIN,
    CALL_MAX,
    CALL_ABS,
    CALL_LOG2,
    CALL_SQRT,
    CALLS
};

static const struct {
    const char *name, *usage;
    uint32_t least, most;
} function_row[CALLS] = {
    [CALL_IF] = {"if", "if(CONDITION, THEN, ELSE)", 3, 3},
    [CALL_CEIL] = {"ceil", "ceil(X)", 1, 1},
    [CALL_FLOOR] = {"floor", "floor(X)", 1, 1},
    [CALL_ROUND] = {"round", "round(X)", 1, 1},
    [CALL_MIN] = {"min", "min(X, Y, ...)", 1, ARGUMENTS_MAX},
    [CALL_MAX] = {"max", "max(X, Y, ...)", 1, ARGUMENTS_MAX},
    [CALL_ABS] = {"abs", "abs(X)", 1, 1},
    [CALL_LOG2] = {"log2", "log2(X)", 1, 1},
    [CALL_SQRT] = {"sqrt", "sqrt(X)", 1, 1},
};

struct expression {
    enum part part;
    uint32_t offset; /* in the node's text */
    uint8_t op;      /* enum number_operator or enum function */
    uint32_t count;  /* of arguments */
    struct number value;
    const char *name;
    struct symbol *symbol;
    struct expression **argument;
};

/* ---- symbols --------------------------------------------------------------------------------- */

struct symbol *symbol_find(const struct symbols *symbols, const char *name, size_t bytes)
{
    for (struct symbol *symbol = symbols->first; symbol != NULL; symbol = symbol->next)
        if (strlen(symbol->name) == bytes && memcmp(symbol->name, name, bytes) == 0)
            return symbol;
    return NULL;
}

struct symbol *symbol_add(struct symbols *symbols, const char *name, const char *meaning)
{
    struct symbol *const symbol = config_arena_alloc(symbols->loader->arena, sizeof *symbol);
    if (symbol == NULL)
        return NULL;
    *symbol = (struct symbol){.name = name, .meaning = meaning};
    if (symbols->last != NULL)
        symbols->last->next = symbol;
    else
        symbols->first = symbol;
    symbols->last = symbol;
    return symbol;
}

void symbol_set(struct symbols *symbols, struct symbol *symbol, struct number value)
{
    symbol->now = value;
    symbol->is_set = true;
    symbols->epoch++;
}

void symbol_unset(struct symbols *symbols, struct symbol *symbol)
{
    symbol->is_set = false;
    symbols->epoch++;
}

static bool begins_name(char c) { return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_'; }

static bool continues_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

static size_t name_length(const char *text, size_t bytes)
{
    size_t length = bytes > 0 && begins_name(text[0]) ? 1 : 0;
    while (length > 0 && length < bytes && continues_name(text[length]))
        length++;
    return length;
}

bool symbol_name_is_good(const char *name, size_t bytes)
{
    static const char *const words[] = {"and", "or", "not"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == bytes && memcmp(words[i], name, bytes) == 0)
            return false;
    for (size_t i = 0; i < CALLS; i++)
        if (strlen(function_row[i].name) == bytes && memcmp(function_row[i].name, name, bytes) == 0)
            return false;
    return bytes > 0 && bytes < NAME_MAX_BYTES && name_length(name, bytes) == bytes;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    struct symbols *symbols;
    const struct config_node *node;
    size_t at;
    uint32_t nested;
    bool failed;
};

/* Where a byte of a node's text is in its file. */
static struct config_place place_in(const struct config_node *node, size_t offset)
{
    struct config_place place = node->place;
    if (place.line > 0 && !node->is_long && node->kind == CONFIG_SCALAR)
        place.column += (uint32_t)offset + (node->plain ? 0 : 1);
    return place;
}

static struct expression *refuse(struct reader *reader, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static struct expression *refuse(struct reader *reader, size_t offset, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!reader->failed)
        config_error(reader->symbols->loader, place_in(reader->node, offset), "%s", text);
    reader->failed = true;
    return NULL;
}

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->node->bytes &&
           memchr(" \t\n", reader->node->text[reader->at], 3) != NULL)
        reader->at++;
}

/* Takes a sign or word if it is next. */
static bool takes(struct reader *reader, const char *word)
{
    skip_blanks(reader);
    const size_t bytes = strlen(word), left = reader->node->bytes - reader->at;
    const char *const text = reader->node->text + reader->at;
    if (left < bytes || memcmp(text, word, bytes) != 0 ||
        (begins_name(word[0]) && left > bytes && continues_name(text[bytes])))
        return false;
    reader->at += bytes;
    return true;
}

static struct expression *new_part(struct reader *reader, enum part part, size_t offset,
                                   uint32_t arguments)
{
    struct config_arena *const arena = reader->symbols->loader->arena;
    struct expression *const made = config_arena_alloc(arena, sizeof *made);
    if (made != NULL) {
        *made = (struct expression){.part = part, .offset = (uint32_t)offset};
        if (arguments > 0)
            made->argument = config_arena_alloc(arena, arguments * sizeof(struct expression *));
    }
    if (made == NULL || (arguments > 0 && made->argument == NULL)) {
        reader->failed = true;
        return NULL;
    }
    return made;
}

static struct expression *read_any(struct reader *reader);

/* name(a, b, ...) from its opening parenthesis on. */
static struct expression *read_call(struct reader *reader, const char *name, size_t bytes,
                                    size_t offset)
{
    uint32_t function = 0;
    while (function < CALLS && (strlen(function_row[function].name) != bytes ||
                                memcmp(function_row[function].name, name, bytes) != 0))
        function++;
    if (function == CALLS)
        return refuse(reader, offset,
                      "no such function; legal are if, ceil, floor, round, min, max, abs, log2, "
                      "sqrt");
    struct expression *const call = new_part(reader, PART_CALL, offset, ARGUMENTS_MAX);
    if (call == NULL)
        return NULL;
    call->op = (uint8_t)function;
    do {
        if (call->count == ARGUMENTS_MAX)
            return refuse(reader, reader->at, "more than %d arguments", ARGUMENTS_MAX);
        struct expression *const argument = read_any(reader);
        if (argument == NULL)
            return NULL;
        call->argument[call->count++] = argument;
    } while (takes(reader, ","));
    if (!takes(reader, ")"))
        return refuse(reader, reader->at, "expected , or ) of %s", function_row[function].usage);
    if (call->count < function_row[function].least || call->count > function_row[function].most)
        return refuse(reader, offset, "%u arguments; legal is %s", call->count,
                      function_row[function].usage);
    return call;
}

static struct expression *read_name(struct reader *reader)
{
    const size_t offset = reader->at;
    const char *const text = reader->node->text + offset;
    const size_t bytes = name_length(text, reader->node->bytes - offset);
    reader->at += bytes;
    if (takes(reader, "("))
        return read_call(reader, text, bytes, offset);
    if (!symbol_name_is_good(text, bytes))
        return refuse(reader, offset, "a function or a word where a number or a name is expected");
    struct expression *const name = new_part(reader, PART_NAME, offset, 0);
    if (name != NULL)
        name->name = config_arena_text(reader->symbols->loader->arena, text, bytes);
    if (name == NULL || name->name == NULL)
        reader->failed = true;
    return name;
}

static struct expression *read_number(struct reader *reader)
{
    const size_t offset = reader->at;
    const char *wrong;
    struct expression *const number = new_part(reader, PART_NUMBER, offset, 0);
    if (number == NULL)
        return NULL;
    const size_t bytes = number_parse(reader->node->text + offset, reader->node->bytes - offset,
                                      &number->value, &wrong);
    if (bytes == 0)
        return refuse(reader, offset, "%s", wrong);
    reader->at += bytes;
    return number;
}

static struct expression *read_operand(struct reader *reader)
{
    skip_blanks(reader);
    const size_t offset = reader->at;
    if (offset == reader->node->bytes)
        return refuse(reader, offset, "the formula ends where a number or a name is expected");
    const char c = reader->node->text[offset];
    if (takes(reader, "(")) {
        struct expression *const inner = read_any(reader);
        if (inner != NULL && !takes(reader, ")"))
            return refuse(reader, reader->at, "expected )");
        return inner;
    }
    if ((c >= '0' && c <= '9') || c == '.')
        return read_number(reader);
    if (begins_name(c))
        return read_name(reader);
    return refuse(reader, offset, "expected a number, a name or a formula such as 2 * hidden / tp");
}

static struct expression *combined(struct reader *reader, enum number_operator op, size_t offset,
                                   struct expression *left, struct expression *right)
{
    if (left == NULL || right == NULL)
        return NULL;
    struct expression *const both = new_part(reader, PART_COMBINE, offset, 2);
    if (both == NULL)
        return NULL;
    both->op = (uint8_t)op;
    both->count = 2;
    both->argument[0] = left;
    both->argument[1] = right;
    return both;
}

static struct expression *read_sign(struct reader *reader);

/* ^ binds more than a sign before it, and to the right: -2^3^2 is -(2^(3^2)). */
static struct expression *read_power(struct reader *reader)
{
    struct expression *const base = read_operand(reader);
    if (base == NULL)
        return NULL;
    const bool stars = takes(reader, "**");
    const size_t offset = reader->at;
    if (!stars && !takes(reader, "^"))
        return base;
    return combined(reader, NUMBER_POW, offset, base, read_sign(reader));
}

static struct expression *read_sign(struct reader *reader)
{
    const size_t offset = reader->at;
    const bool minus = takes(reader, "-");
    if (!minus && !takes(reader, "+"))
        return read_power(reader);
    if (++reader->nested > NESTED_MAX)
        return refuse(reader, reader->at, "nested more than %d deep", NESTED_MAX);
    struct expression *const operand = read_sign(reader);
    reader->nested--;
    if (!minus || operand == NULL)
        return operand;
    struct expression *const sign = new_part(reader, PART_MINUS, offset, 1);
    if (sign == NULL)
        return NULL;
    sign->argument[sign->count++] = operand;
    return sign;
}

struct sign {
    const char *text;
    enum number_operator op;
};

/* a SIGN b SIGN c ..., from the left; signs of one level. */
static struct expression *read_level(struct reader *reader, const struct sign *signs, size_t count,
                                     struct expression *(*operand)(struct reader *))
{
    struct expression *left = operand(reader);
    while (left != NULL) {
        size_t i = 0;
        skip_blanks(reader);
        const size_t offset = reader->at;
        while (i < count && !takes(reader, signs[i].text))
            i++;
        if (i == count)
            return left;
        left = combined(reader, signs[i].op, offset, left, operand(reader));
    }
    return NULL;
}

#define LEVEL(signs, operand) read_level(reader, signs, sizeof(signs) / sizeof *(signs), operand)

static struct expression *read_product(struct reader *reader)
{
    static const struct sign signs[] = {
        {"//", NUMBER_FLOOR_DIV}, {"*", NUMBER_MUL}, {"/", NUMBER_DIV}, {"%", NUMBER_MOD}};
    return LEVEL(signs, read_sign);
}

static struct expression *read_sum(struct reader *reader)
{
    static const struct sign signs[] = {{"+", NUMBER_ADD}, {"-", NUMBER_SUB}};
    return LEVEL(signs, read_product);
}

static struct expression *read_comparison(struct reader *reader)
{
    static const struct sign signs[] = {{"<=", NUMBER_LE}, {">=", NUMBER_GE}, {"==", NUMBER_EQ},
                                        {"!=", NUMBER_NE}, {"<", NUMBER_LT},  {">", NUMBER_GT}};
    return LEVEL(signs, read_sum);
}

static struct expression *read_not(struct reader *reader)
{
    skip_blanks(reader);
    const size_t offset = reader->at;
    if (!takes(reader, "not"))
        return read_comparison(reader);
    if (++reader->nested > NESTED_MAX)
        return refuse(reader, reader->at, "nested more than %d deep", NESTED_MAX);
    struct expression *const operand = read_not(reader);
    reader->nested--;
    struct expression *const not = operand != NULL ? new_part(reader, PART_NOT, offset, 1) : NULL;
    if (not != NULL)
        not ->argument[not ->count++] = operand;
    return not ;
}

static struct expression *read_and(struct reader *reader)
{
    static const struct sign signs[] = {{"and", NUMBER_AND}};
    return LEVEL(signs, read_not);
}

static struct expression *read_any(struct reader *reader)
{
    static const struct sign signs[] = {{"or", NUMBER_OR}};
    if (++reader->nested > NESTED_MAX)
        return refuse(reader, reader->at, "nested more than %d deep", NESTED_MAX);
    struct expression *const any = LEVEL(signs, read_and);
    reader->nested--;
    return any;
}

struct formula *formula_read(struct symbols *symbols, const struct config_node *node)
{
    struct reader reader = {.symbols = symbols, .node = node};
    char quoted[TEXT_QUOTE_BYTES];
    if (node->kind != CONFIG_SCALAR || (node->plain && node->bytes == 0)) {
        config_error(symbols->loader, node->place,
                     "expected a number or a formula such as 2 * hidden / tp; found %s",
                     config_quote_node(node, quoted));
        return NULL;
    }
    if (node->bytes > FORMULA_BYTES_MAX) {
        config_error(symbols->loader, node->place, "a formula of more than %d bytes",
                     FORMULA_BYTES_MAX);
        return NULL;
    }
    const struct expression *tree;
    struct expression truth = {.part = PART_NUMBER};
    if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0) {
        truth.value = number_of(node->text[0] == 't');
        struct expression *const made = new_part(&reader, PART_NUMBER, 0, 0);
        if (made == NULL)
            return NULL;
        *made = truth;
        tree = made;
    } else {
        tree = read_any(&reader);
        skip_blanks(&reader);
        if (tree != NULL && reader.at < node->bytes)
            tree = refuse(&reader, reader.at,
                          "expected an operator (+ - * / // %% ^ < <= == != >= > and or) or the "
                          "end of the formula");
    }
    struct formula *const formula =
        tree != NULL ? config_arena_alloc(symbols->loader->arena, sizeof *formula) : NULL;
    if (formula != NULL)
        *formula = (struct formula){.node = node, .tree = tree};
    return formula;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void report_name(struct symbols *symbols, const struct formula *formula,
                        const struct expression *name)
{
    struct text_nearest nearest = {0};
    char quoted[TEXT_QUOTE_BYTES];
    for (const struct symbol *symbol = symbols->first; symbol != NULL; symbol = symbol->next)
        text_nearest_try(&nearest, name->name, symbol->name);
    config_error(symbols->loader, place_in(formula->node, name->offset),
                 "unknown name %s; %s%s%slegal are the keys of `values`, sizes such as tp, "
                 "coordinates such as stage, and indices of loops",
                 text_quote(name->name, strlen(name->name), quoted),
                 nearest.best != NULL ? "did you mean '" : "",
                 nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'? " : "");
}

static void resolve(struct symbols *symbols, const struct formula *formula,
                    const struct expression *of)
{
    for (uint32_t i = 0; i < of->count; i++)
        resolve(symbols, formula, of->argument[i]);
    if (of->part != PART_NAME)
        return;
    struct symbol *const symbol = symbol_find(symbols, of->name, strlen(of->name));
    if (symbol == NULL)
        report_name(symbols, formula, of);
    else
        symbol->used = true;
    *(struct symbol **)(uintptr_t)&of->symbol = symbol;
}

void formula_resolve(struct symbols *symbols, struct formula *formula)
{
    if (formula != NULL)
        resolve(symbols, formula, formula->tree);
}

/* ---- computing ------------------------------------------------------------------------------- */

void formula_error(struct symbols *symbols, struct formula *formula, const char *text)
{
    if (!formula->reported)
        config_error(symbols->loader, formula->node->place, "%s", text);
    formula->reported = true;
}

static bool fails(struct symbols *symbols, struct formula *formula, const struct expression *of,
                  const char *why)
{
    if (!formula->reported && why != NULL)
        config_error(symbols->loader, place_in(formula->node, of->offset), "%s", why);
    formula->reported = true;
    return false;
}

static bool compute(struct symbols *symbols, struct formula *formula, const struct expression *of,
                    struct number *result);

static bool compute_name(struct symbols *symbols, struct formula *formula,
                         const struct expression *of, struct number *result)
{
    struct symbol *const symbol = of->symbol;
    char why[MESSAGE_BYTES];
    if (symbol == NULL)
        return false; /* reported when the name was not found */
    if (symbol->formula != NULL && !symbol->is_constant &&
        (!symbol->seen || symbol->epoch != symbols->epoch)) {
        const uint64_t varied = symbols->varied;
        if (symbol->busy) {
            snprintf(why, sizeof why, "'%s' depends on itself", symbol->name);
            return fails(symbols, formula, of, why);
        }
        symbol->busy = true;
        symbol->is_set = compute(symbols, symbol->formula, symbol->formula->tree, &symbol->now);
        symbol->busy = false;
        symbol->seen = true;
        symbol->is_constant = varied == symbols->varied;
        symbol->epoch = symbols->epoch;
    }
    symbols->varied += symbol->formula != NULL ? !symbol->is_constant : symbol->varies;
    if (!symbol->is_set && symbol->formula != NULL)
        return fails(symbols, formula, of, NULL);
    if (!symbol->is_set) {
        snprintf(why, sizeof why, "'%s' (%s) has no value here", symbol->name,
                 symbol->meaning != NULL ? symbol->meaning : "of a loop");
        return fails(symbols, formula, of, why);
    }
    *result = symbol->now;
    return true;
}

static bool compute_call(struct symbols *symbols, struct formula *formula,
                         const struct expression *of, struct number *result)
{
    struct number x, y;
    const char *wrong = NULL;
    if (!compute(symbols, formula, of->argument[0], &x))
        return false;
    if (of->op == CALL_IF)
        return compute(symbols, formula, of->argument[number_is_zero(x) ? 2 : 1], result);
    for (uint32_t i = 1; i < of->count; i++) {
        if (!compute(symbols, formula, of->argument[i], &y))
            return false;
        if ((number_compare(y, x) < 0) == (of->op == CALL_MIN))
            x = y;
    }
    switch (of->op) {
    case CALL_CEIL:
        *result = number_ceil(x);
        break;
    case CALL_FLOOR:
        *result = number_floor(x);
        break;
    case CALL_ROUND:
        *result = number_round(x);
        break;
    case CALL_ABS:
        *result = number_compare(x, number_of(0)) < 0 ? number_minus(x) : x;
        break;
    case CALL_LOG2:
        wrong = number_log2(x, result);
        break;
    case CALL_SQRT:
        wrong = number_sqrt(x, result);
        break;
    default:
        *result = x;
    }
    return wrong == NULL || fails(symbols, formula, of, wrong);
}

/* Of a tree's part whose arguments are to be computed. */
static bool compute_part(struct symbols *symbols, struct formula *formula,
                         const struct expression *of, struct number *result)
{
    struct number left, right;
    switch (of->part) {
    case PART_NUMBER:
        *result = of->value;
        return true;
    case PART_NAME:
        return compute_name(symbols, formula, of, result);
    case PART_CALL:
        return compute_call(symbols, formula, of, result);
    case PART_MINUS:
    case PART_NOT:
        if (!compute(symbols, formula, of->argument[0], &left))
            return false;
        *result =
            of->part == PART_MINUS ? number_minus(left) : number_of(number_is_zero(left) ? 1 : 0);
        return true;
    case PART_COMBINE:
        break;
    }
    if (!compute(symbols, formula, of->argument[0], &left))
        return false;
    /* What decides needs no second side: `tp > 1 and x / (tp - 1)`. */
    if ((of->op == NUMBER_AND && number_is_zero(left)) ||
        (of->op == NUMBER_OR && !number_is_zero(left))) {
        *result = number_of(of->op == NUMBER_OR);
        return true;
    }
    if (!compute(symbols, formula, of->argument[1], &right))
        return false;
    const char *const wrong = number_combine(of->op, left, right, result);
    return wrong == NULL || fails(symbols, formula, of, wrong);
}

static bool compute(struct symbols *symbols, struct formula *formula, const struct expression *of,
                    struct number *result)
{
    if (symbols->depth == DEPTH_MAX)
        return fails(symbols, formula, of, "values that lead to each other more than 2000 deep");
    symbols->depth++;
    const bool good = compute_part(symbols, formula, of, result);
    symbols->depth--;
    return good;
}

bool formula_compute(struct symbols *symbols, struct formula *formula, struct number *result)
{
    return compute(symbols, formula, formula->tree, result);
}

/* A formula's whole number from 0 to max; `absent` where there is no formula. */
bool formula_whole(struct symbols *symbols, struct formula *formula, uint64_t absent,
                   uint64_t least, uint64_t max, uint64_t *whole)
{
    struct number value;
    char text[160], found[NUMBER_TEXT_BYTES];
    *whole = absent;
    if (formula == NULL)
        return true;
    if (!formula_compute(symbols, formula, &value))
        return false;
    if (number_whole(value, max, whole) && *whole >= least)
        return true;
    snprintf(text, sizeof text, "%s; legal is a whole number from %" PRIu64 " to %" PRIu64,
             number_print(value, found), least, max);
    formula_error(symbols, formula, text);
    *whole = absent;
    return false;
}

/* Bytes, operations, picoseconds: rounded to a whole number. */
bool formula_amount(struct symbols *symbols, struct formula *formula, int64_t unit, uint64_t *whole)
{
    struct number value;
    char text[160], found[NUMBER_TEXT_BYTES];
    *whole = 0;
    if (formula == NULL)
        return true;
    if (!formula_compute(symbols, formula, &value))
        return false;
    if (number_combine(NUMBER_MUL, value, number_of(unit), &value) == NULL &&
        number_whole(number_round(value), WHOLE_MAX, whole))
        return true;
    snprintf(text, sizeof text, "%s; legal is a number from 0 to 2^63", number_print(value, found));
    formula_error(symbols, formula, text);
    return false;
}
