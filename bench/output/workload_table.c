/*
 * workload_table.c: prints the graph of a step as tables, and as JSON (workload_table.h).
 */
#include "bench/output/workload_table.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_name[WORKLOAD_OP_KINDS] = {
    [WORKLOAD_NOTHING] = "nothing", [WORKLOAD_ROOFLINE] = "compute", [WORKLOAD_PRODUCT] = "product",
    [WORKLOAD_TIME] = "time",       [WORKLOAD_COLLECTIVE] = NULL, /* its own name */
    [WORKLOAD_SEND] = "send",       [WORKLOAD_RECV] = "recv"};

static const char *const purpose_name[WORKLOAD_PURPOSES] = {
    "other", "forward", "backward", "recompute", "update", "prefill", "decode"};

static const char *name_kind(const struct workload_op *op)
{
    return op->kind == WORKLOAD_COLLECTIVE ? ccl_collective_name(op->collective)
                                           : kind_name[op->kind];
}

static bool communicates(const struct workload_op *op)
{
    return op->kind == WORKLOAD_COLLECTIVE || op->kind == WORKLOAD_SEND ||
           op->kind == WORKLOAD_RECV;
}

static double flops_of(const struct workload_op *op)
{
    if (op->kind == WORKLOAD_PRODUCT)
        return 2.0 * op->side[0] * op->side[1] * op->side[2];
    return op->kind == WORKLOAD_ROOFLINE ? (double)op->flops : 0;
}

static uint32_t ranks_of(const struct workload_graph *graph, uint32_t program)
{
    uint32_t ranks = 0;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        ranks += graph->program_of[rank] == program;
    return ranks;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Operations of a program that are one row: of one label, kind, purpose and set. */
struct row {
    const struct workload_op *like;
    uint64_t count;
    double bytes, flops;
};

static bool is_like(const struct workload_op *a, const struct workload_op *b)
{
    return a->label == b->label && a->kind == b->kind && a->purpose == b->purpose &&
           a->set == b->set && a->collective == b->collective;
}

static void print_program(FILE *file, const struct workload_graph *graph,
                          const struct workload_program *program)
{
    enum { ROWS_MAX = 256 };
    struct row row[ROWS_MAX];
    uint32_t rows = 0;
    uint64_t rest = 0;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct workload_op *const op = &program->ops[i];
        uint32_t k = 0;
        while (k < rows && !is_like(row[k].like, op))
            k++;
        if (k == ROWS_MAX) {
            rest++;
            continue;
        }
        if (k == rows)
            row[rows++] = (struct row){.like = op};
        row[k].count++;
        row[k].bytes += (double)op->bytes;
        row[k].flops += flops_of(op);
    }
    for (uint32_t k = 0; k < rows; k++) {
        const struct workload_op *const op = row[k].like;
        fprintf(file, "  %-24s %-14s %-10s %-8s %8" PRIu64 " %14.6g %14.6g\n",
                graph->labels[op->label], name_kind(op), purpose_name[op->purpose],
                communicates(op) ? graph->sets[op->set].name : "-", row[k].count, row[k].bytes,
                row[k].flops);
    }
    if (rest > 0)
        fprintf(file, "  and %" PRIu64 " operations of other names\n", rest);
}

static void print_memory(FILE *file, const struct workload_memory *memory)
{
    fprintf(file,
            "  bytes held: weights %" PRIu64 ", gradients %" PRIu64 ", optimizer %" PRIu64
            ", activations %" PRIu64 ", cache %" PRIu64 ", other %" PRIu64 "\n",
            memory->weights, memory->gradients, memory->optimizer, memory->activations,
            memory->cache, memory->other);
}

static void print_sets(FILE *file, const struct workload_graph *graph)
{
    for (uint32_t i = 0; i < graph->set_count; i++) {
        const struct workload_set *const set = &graph->sets[i];
        fprintf(file, "groups of %s: %u; the first is ranks", set->name, set->groups);
        for (uint32_t k = set->first[0]; k < set->first[1] && k < 16; k++)
            fprintf(file, " %u", set->ranks[k]);
        fprintf(file, "%s\n", set->first[1] > 16 ? " ..." : "");
    }
}

void workload_table_print(FILE *file, const struct workload_graph *graph)
{
    fprintf(file, "%s: %u ranks in %u classes\n", graph->name, graph->rank_count,
            graph->program_count);
    print_sets(file, graph);
    for (uint32_t i = 0; i < graph->program_count; i++) {
        const struct workload_program *const program = &graph->programs[i];
        fprintf(file, "\n%s: %u ranks, %u operations of each\n", program->name, ranks_of(graph, i),
                program->op_count);
        fprintf(file, "  %-24s %-14s %-10s %-8s %8s %14s %14s\n", "name", "kind", "purpose", "of",
                "count", "bytes", "flops");
        print_program(file, graph, program);
        if (graph->memory != NULL && graph->memory[i].known)
            print_memory(file, &graph->memory[i]);
    }
    if (graph->quotes.tokens > 0 || graph->quotes.model_flops > 0)
        fprintf(file, "\nof all ranks: %.17g tokens, %.6g model FLOPs\n", graph->quotes.tokens,
                graph->quotes.model_flops);
}

void workload_fit_print(FILE *file, const char *prefix, const struct workload_graph *graph,
                        const struct workload_fit *fit)
{
    const double gib = 1024.0 * 1024 * 1024;
    if (fit->known)
        fprintf(file, "%sMemory            : %.3f of %.3f GiB, %s: %s\n", prefix,
                (double)fit->bytes / gib, (double)fit->hbm / gib,
                graph->programs[fit->program].name, fit->fits ? "it fits" : "it DOES NOT FIT");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_whole(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *json_of_op(const struct workload_graph *graph,
                          const struct workload_program *program, const struct workload_op *op)
{
    json_t *const object = json_object();
    json_object_set_new(object, "name", json_string(graph->labels[op->label]));
    json_object_set_new(object, "kind", json_string(name_kind(op)));
    json_object_set_new(object, "purpose", json_string(purpose_name[op->purpose]));
    json_object_set_new(object, "stream", json_string(graph->streams[op->stream].name));
    add_whole(object, "line", op->id);
    if (op->layer >= 0)
        add_whole(object, "layer", (uint64_t)op->layer);
    if (op->microbatch >= 0)
        add_whole(object, "microbatch", (uint64_t)op->microbatch);
    if (communicates(op)) {
        json_object_set_new(object, "of", json_string(graph->sets[op->set].name));
        json_object_set_new(object, "dtype", json_string(dtype_name(op->dtype)));
    }
    if (op->kind == WORKLOAD_SEND || op->kind == WORKLOAD_RECV) {
        add_whole(object, "peer", op->peer);
        add_whole(object, "tag", op->tag);
    }
    if (communicates(op) || op->kind == WORKLOAD_ROOFLINE)
        add_whole(object, "bytes", op->bytes);
    if (op->to_first > 0)
        json_object_set_new(object, "to_first", json_real(op->to_first / 1e3));
    if (op->from_first > 0)
        json_object_set_new(object, "from_first", json_real(op->from_first / 1e3));
    if (op->kind == WORKLOAD_ROOFLINE) {
        add_whole(object, "flops", op->flops);
        add_whole(object, "kernels", op->kernels);
    } else if (op->kind == WORKLOAD_PRODUCT) {
        json_object_set_new(object, "product",
                            json_pack("[I, I, I]", (json_int_t)op->side[0], (json_int_t)op->side[1],
                                      (json_int_t)op->side[2]));
    } else if (op->kind == WORKLOAD_TIME) {
        add_whole(object, "time_ps", op->time_ps);
    }
    json_t *const after = json_array(), *const begun = json_array();
    for (uint32_t i = 0; i < op->dep_count; i++) {
        const uint32_t dep = program->deps[op->first_dep + i];
        json_array_append_new((dep & WORKLOAD_AFTER_START) != 0 ? begun : after,
                              json_integer(dep & ~WORKLOAD_AFTER_START));
    }
    json_object_set_new(object, "after", after);
    if (json_array_size(begun) > 0)
        json_object_set_new(object, "after_start", begun);
    else
        json_decref(begun);
    return object;
}

static json_t *json_of_program(const struct workload_graph *graph, uint32_t index)
{
    const struct workload_program *const program = &graph->programs[index];
    json_t *const object = json_object(), *const ranks = json_array(), *const ops = json_array();
    json_object_set_new(object, "name", json_string(program->name));
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        if (graph->program_of[rank] == index)
            json_array_append_new(ranks, json_integer(rank));
    json_object_set_new(object, "ranks", ranks);
    if (graph->memory != NULL && graph->memory[index].known) {
        const struct workload_memory *const memory = &graph->memory[index];
        json_t *const held = json_object();
        add_whole(held, "weights", memory->weights);
        add_whole(held, "gradients", memory->gradients);
        add_whole(held, "optimizer", memory->optimizer);
        add_whole(held, "activations", memory->activations);
        add_whole(held, "cache", memory->cache);
        add_whole(held, "other", memory->other);
        json_object_set_new(object, "bytes_held", held);
    }
    for (uint32_t i = 0; i < program->op_count; i++)
        json_array_append_new(ops, json_of_op(graph, program, &program->ops[i]));
    json_object_set_new(object, "operations", ops);
    return object;
}

static json_t *json_of_set(const struct workload_set *set)
{
    json_t *const object = json_object(), *const groups = json_array();
    json_object_set_new(object, "name", json_string(set->name));
    for (uint32_t group = 0; group < set->groups; group++) {
        json_t *const ranks = json_array();
        for (uint32_t i = set->first[group]; i < set->first[group + 1]; i++)
            json_array_append_new(ranks, json_integer(set->ranks[i]));
        json_array_append_new(groups, ranks);
    }
    json_object_set_new(object, "groups", groups);
    return object;
}

int workload_json_write(FILE *file, const struct workload_graph *graph, struct cw_error *error)
{
    json_t *const root = json_object(), *const sets = json_array(), *const programs = json_array();
    json_object_set_new(root, "name", json_string(graph->name));
    add_whole(root, "ranks", graph->rank_count);
    if (graph->sip_of != NULL) {
        json_t *const sips = json_array();
        for (uint32_t rank = 0; rank < graph->rank_count; rank++)
            json_array_append_new(sips, json_integer(graph->sip_of[rank]));
        json_object_set_new(root, "sip_of_rank", sips);
    }
    for (uint32_t i = 0; i < graph->set_count; i++)
        json_array_append_new(sets, json_of_set(&graph->sets[i]));
    for (uint32_t i = 0; i < graph->program_count; i++)
        json_array_append_new(programs, json_of_program(graph, i));
    json_object_set_new(root, "sets", sets);
    json_object_set_new(root, "classes", programs);
    json_object_set_new(root, "quotes",
                        json_pack("{s:f, s:f, s:f, s:f}", "model_flops", graph->quotes.model_flops,
                                  "tokens", graph->quotes.tokens, "first_tokens",
                                  graph->quotes.first_tokens, "next_tokens",
                                  graph->quotes.next_tokens));
    const bool good = json_dumpf(root, file, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0 &&
                      fputc('\n', file) != EOF;
    json_decref(root);
    return good ? CW_OK
                : cw_error_set(error, CW_NO_RESOURCE, "cannot write the JSON of a workload");
}
