/*
 * goal_text.c: reads GOAL text (goal.h). A line has one operation or one dependency; comments are
 * blanks, and one that goes over lines ends none.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "collectives/config/input/text.h"
#include "workload/traces/goal.h"

enum { CPUS_MAX = 1 << 15 };

/* A label of the rank that is being read. */
struct label {
    const char *at;
    uint32_t bytes, op; /* bytes 0: free */
};

struct reader {
    struct trace_build *build;
    const char *path;
    const char *at, *end, *line_begin;
    uint32_t line;
    struct goal_program *programs;
    bool *is_there; /* [ranks] */
    uint32_t ranks;
    struct label *labels; /* by hash */
    uint32_t label_count, label_room;
};

/* "file:line:column: wrong; legal: ..." */
static int wrong(const struct reader *r, const char *at, const char *what, const char *legal)
{
    const char *end = at;
    char quoted[TEXT_QUOTE_BYTES];
    while (end < r->end && !isspace((unsigned char)*end))
        end++;
    return cw_error_set(r->build->error, CW_USAGE, "%s:%u:%zu: %s %s; legal: %s", r->path, r->line,
                        (size_t)(at - r->line_begin) + 1, what,
                        at == r->end ? "the end of the file"
                        : end == at  ? "the end of the line"
                                     : text_quote(at, (size_t)(end - at), quoted),
                        legal);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void new_line(struct reader *r)
{
    r->line++;
    r->line_begin = r->at;
}

/* Past blanks and comments of this line. False: a comment does not end. */
static bool skip_blanks(struct reader *r)
{
    while (r->at < r->end) {
        if (*r->at == ' ' || *r->at == '\t' || *r->at == '\r') {
            r->at++;
        } else if (r->end - r->at > 1 && r->at[0] == '/' && r->at[1] == '/') {
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        } else if (r->end - r->at > 1 && r->at[0] == '/' && r->at[1] == '*') {
            const struct reader before = *r;
            for (r->at += 2; r->end - r->at > 1 && (r->at[0] != '*' || r->at[1] != '/');)
                if (*r->at++ == '\n')
                    new_line(r);
            if (r->end - r->at < 2) {
                *r = before; /* the message is of its begin */
                return false;
            }
            r->at += 2;
        } else {
            break;
        }
    }
    return true;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The word at this place, which begins with a letter; 0 bytes: there is none. */
static size_t word_bytes(const struct reader *r)
{
    const char *at = r->at;
    if (at == r->end || !isalpha((unsigned char)*at))
        return 0;
    while (at < r->end && is_word(*at))
        at++;
    return (size_t)(at - r->at);
}

static bool take_word(struct reader *r, const char *word)
{
    if (!skip_blanks(r) || word_bytes(r) != strlen(word) || memcmp(r->at, word, strlen(word)) != 0)
        return false;
    r->at += strlen(word);
    return skip_blanks(r);
}

static int take_number(struct reader *r, uint64_t most, const char *legal, uint64_t *number)
{
    (void)skip_blanks(r);
    const size_t digits = text_whole(r->at, (size_t)(r->end - r->at), most, number);
    if (digits == 0)
        return wrong(r, r->at, "expected a number, found", legal);
    r->at += digits;
    (void)skip_blanks(r);
    return CW_OK;
}

/* A number, or -1 for any. */
static int take_any(struct reader *r, bool may, uint64_t most, const char *legal, uint64_t *number)
{
    (void)skip_blanks(r);
    if (may && r->end - r->at > 1 && r->at[0] == '-' && r->at[1] == '1' &&
        (r->end - r->at == 2 || !isdigit((unsigned char)r->at[2]))) {
        r->at += 2;
        *number = GOAL_ANY;
        return skip_blanks(r) ? CW_OK : wrong(r, r->at, "a comment without an end:", "*/");
    }
    return take_number(r, most, legal, number);
}

static int end_line(struct reader *r, const char *legal)
{
    if (!skip_blanks(r))
        return wrong(r, r->at, "a comment without an end:", "*/");
    if (r->at < r->end && *r->at != '\n')
        return wrong(r, r->at, "unexpected", legal);
    return CW_OK;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static struct label *label_place(const struct reader *r, const char *at, size_t bytes)
{
    uint32_t place = (uint32_t)XXH3_64bits(at, bytes) & (r->label_room - 1);
    while (r->labels[place].bytes != 0 &&
           (r->labels[place].bytes != bytes || memcmp(r->labels[place].at, at, bytes) != 0))
        place = (place + 1) & (r->label_room - 1);
    return &r->labels[place];
}

static bool more_labels(struct reader *r)
{
    struct label *const old = r->labels;
    const uint32_t old_room = r->label_room;
    struct label *const table = calloc(old_room > 0 ? 2 * old_room : 1024, sizeof *table);
    if (table == NULL)
        return false;
    r->labels = table;
    r->label_room = old_room > 0 ? 2 * old_room : 1024;
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i].bytes > 0)
            *label_place(r, old[i].at, old[i].bytes) = old[i];
    free(old);
    return true;
}

static int add_label(struct reader *r, const char *at, size_t bytes, uint32_t op)
{
    if (2 * (r->label_count + 1) > r->label_room && !more_labels(r))
        return trace_no_memory(r->build);
    struct label *const place = label_place(r, at, bytes);
    if (place->bytes != 0)
        return wrong(r, at, "the rank has already a label", "another one");
    *place = (struct label){at, (uint32_t)bytes, op};
    r->label_count++;
    return CW_OK;
}

static int find_label(struct reader *r, const char *at, size_t bytes, uint32_t *op)
{
    const struct label *const place = r->label_room > 0 ? label_place(r, at, bytes) : NULL;
    if (place == NULL || place->bytes == 0)
        return wrong(r, at, "no operation before this line has the label", "one of the same rank");
    *op = place->op;
    return CW_OK;
}

/* ---- operations ------------------------------------------------------------------------------ */

static int take_options(struct reader *r, struct goal_op *op)
{
    static const char legal[] =
        "\"tag\", \"cpu\" and \"nic\" with a number each, in this order, or "
        "the end of the line; calc has \"cpu\" alone";
    const bool calc = op->kind == GOAL_CALC;
    uint64_t cpu = 0, nic;
    int code = CW_OK;
    if (!calc && take_word(r, "tag"))
        code = take_any(r, op->kind == GOAL_RECV, UINT64_MAX - 1, "a tag from 0 on", &op->tag);
    if (code == CW_OK && take_word(r, "cpu"))
        code = take_number(r, CPUS_MAX, "the number of a CPU, from 0 to 32768", &cpu);
    if (code == CW_OK && !calc && take_word(r, "nic"))
        code = take_number(r, UINT32_MAX, "the number of a NIC", &nic);
    op->cpu = (uint32_t)cpu;
    return code == CW_OK ? end_line(r, legal) : code;
}

static int take_message(struct reader *r, struct goal_op *op)
{
    const bool sends = op->kind == GOAL_SEND;
    int code = take_number(r, UINT64_MAX, "bytes, as in \"send 10b to 1\"", &op->size);
    if (code != CW_OK)
        return code;
    if (!take_word(r, "b"))
        return wrong(r, r->at, "expected \"b\" after the number of bytes, found", "\"10b\"");
    if (!take_word(r, sends ? "to" : "from"))
        return wrong(r, r->at, sends ? "expected \"to\", found" : "expected \"from\", found",
                     sends ? "\"send 10b to 1\"" : "\"recv 10b from 0\"");
    return take_any(r, !sends, UINT64_MAX - 1, sends ? "a rank" : "a rank, or -1 for any",
                    &op->peer);
}

/* Takes the operation at this place, if there is one. */
static int take_op(struct reader *r, struct goal_program *program, bool *taken)
{
    static const char *const words[] = {
        [GOAL_SEND] = "send", [GOAL_RECV] = "recv", [GOAL_CALC] = "calc"};
    struct goal_op op = {.id = r->line};
    for (uint8_t kind = GOAL_SEND; op.kind == 0 && kind <= GOAL_CALC; kind++)
        if (take_word(r, words[kind]))
            op.kind = kind;
    *taken = op.kind != 0;
    if (!*taken)
        return CW_OK;
    int code =
        op.kind == GOAL_CALC ? take_number(r, UINT64_MAX, "ns", &op.size) : take_message(r, &op);
    if (code == CW_OK)
        code = take_options(r, &op);
    return code == CW_OK && !goal_add_op(program, &op) ? trace_no_memory(r->build) : code;
}

static int take_dependency(struct reader *r, struct goal_program *program, const char *label,
                           size_t bytes)
{
    const bool at_start = word_bytes(r) == strlen("irequires");
    uint32_t op, needs;
    if (!take_word(r, at_start ? "irequires" : "requires"))
        return wrong(r, r->at, "expected an operation or a dependency, found",
                     "\"LABEL: send ...\", \"LABEL requires LABEL\", \"LABEL irequires LABEL\"");
    const size_t other = word_bytes(r);
    if (other == 0)
        return wrong(r, r->at, "expected a label, found", "one of the same rank");
    int code = find_label(r, label, bytes, &op);
    if (code == CW_OK)
        code = find_label(r, r->at, other, &needs);
    r->at += other;
    if (code == CW_OK)
        code = end_line(r, "the end of the line");
    if (code == CW_OK && !goal_add_edge(program, op, needs | (at_start ? WORKLOAD_AFTER_START : 0)))
        code = trace_no_memory(r->build);
    return code;
}

static int take_line(struct reader *r, struct goal_program *program)
{
    bool taken;
    int code = take_op(r, program, &taken);
    if (code != CW_OK || taken)
        return code;
    const char *const label = r->at;
    const size_t bytes = word_bytes(r);
    if (bytes == 0)
        return wrong(r, r->at, "expected an operation, found",
                     "\"send\", \"recv\", \"calc\", a label, or \"}\"");
    r->at += bytes;
    (void)skip_blanks(r);
    if (r->at == r->end || *r->at != ':')
        return take_dependency(r, program, label, bytes);
    r->at++;
    code = take_op(r, program, &taken);
    if (code == CW_OK && !taken)
        return wrong(r, r->at, "expected an operation, found", "\"send\", \"recv\" or \"calc\"");
    return code == CW_OK ? add_label(r, label, bytes, program->count - 1) : code;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* To the next line that has something. False: a comment without an end. */
static bool next_line(struct reader *r)
{
    while (skip_blanks(r)) {
        if (r->at == r->end || *r->at != '\n')
            return true;
        r->at++;
        new_line(r);
    }
    return false;
}

static int take_rank(struct reader *r)
{
    uint64_t rank = 0;
    const char *const begin = r->at;
    if (!take_word(r, "rank"))
        return wrong(r, r->at, "expected a rank, found", "\"rank 0 {\"");
    int code = take_number(r, TRACE_RANKS_MAX, "a rank below num_ranks", &rank);
    if (code != CW_OK)
        return code;
    if (rank >= r->ranks || r->is_there[rank])
        return wrong(r, begin, rank >= r->ranks ? "a rank above num_ranks:" : "a second time:",
                     "each rank from 0 to num_ranks - 1 once");
    r->is_there[rank] = true;
    if (r->at == r->end || *r->at != '{')
        return wrong(r, r->at, "expected \"{\", found", "\"rank 0 {\"");
    r->at++;
    r->label_count = 0;
    if (r->label_room > 0)
        memset(r->labels, 0, r->label_room * sizeof *r->labels);
    for (;;) {
        if (!next_line(r))
            return wrong(r, r->at, "a comment without an end:", "*/");
        if (r->at == r->end)
            return wrong(r, r->at, "expected \"}\", found", "\"}\" after a rank's operations");
        if (*r->at == '}')
            break;
        code = take_line(r, &r->programs[rank]);
        if (code != CW_OK)
            return code;
    }
    r->at++;
    return CW_OK;
}

static int take_ranks(struct reader *r)
{
    uint64_t ranks = 0;
    int code = CW_OK;
    if (!next_line(r) || !take_word(r, "num_ranks"))
        return wrong(r, r->at, "expected the number of ranks, found", "\"num_ranks 16\"");
    code = take_number(r, TRACE_RANKS_MAX, "a number of ranks up to 131072", &ranks);
    if (code == CW_OK && ranks == 0)
        code = wrong(r, r->at, "no ranks, before", "\"num_ranks 1\" or more");
    if (code != CW_OK)
        return code;
    r->programs = calloc(ranks, sizeof *r->programs);
    r->is_there = calloc(ranks, sizeof *r->is_there);
    r->ranks = (uint32_t)ranks;
    if (r->programs == NULL || r->is_there == NULL)
        return trace_no_memory(r->build);
    while (code == CW_OK && next_line(r) && r->at < r->end)
        code = take_rank(r);
    if (code == CW_OK && r->at < r->end)
        code = wrong(r, r->at, "a comment without an end:", "*/");
    for (uint32_t rank = 0; code == CW_OK && rank < r->ranks; rank++)
        if (!r->is_there[rank])
            code = cw_error_set(r->build->error, CW_USAGE,
                                "%s: rank %u is missing; legal: each rank from 0 to %u", r->path,
                                rank, r->ranks - 1);
    return code;
}

int goal_read_text(struct trace_build *build, const struct trace_file *file)
{
    struct reader r = {.build = build,
                       .path = file->path,
                       .at = (const char *)file->bytes,
                       .end = (const char *)file->bytes + file->count,
                       .line_begin = (const char *)file->bytes,
                       .line = 1};
    int code = take_ranks(&r);
    if (code == CW_OK)
        code = goal_build(build, file->path, r.programs, r.ranks);
    goal_free(r.programs, r.ranks);
    free(r.is_there);
    free(r.labels);
    return code;
}
