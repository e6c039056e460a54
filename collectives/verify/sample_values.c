/*
 * sample_values.c: computes some elements of results from their formulas, and compares them
 * (sample_values.h). First the formulas that these results need are marked, from the results down
 * to the inputs. Then each is evaluated, an operand before its sum. What a value must be follows
 * from its place in the result alone.
 */
#include "collectives/verify/sample_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/data/input.h"
#include "collectives/verify/expect_any.h"
#include "hw/arithmetic.h"

enum { EACH = 2 }; /* elements of a chunk */

struct evaluation {
    const struct sample_request *request;
    const struct sample_formulas *formulas;
    struct sample_found *found;
    bool in_f32;
    size_t bytes;   /* of an element while it is computed */
    bool *wanted;   /* [nodes] */
    uint8_t *value; /* [nodes][EACH] */
};

/* ---- places ---------------------------------------------------------------------------------- */

/* A chunk of a buffer: where it is in the shards that go by it. */
struct place {
    uint32_t shard, shards; /* the first; how many */
    uint64_t first, count;  /* of each */
};

static struct place place_of(const struct sample_layout *layout, uint32_t chunk)
{
    const uint32_t of_block = layout->chunks / layout->blocks, at = chunk % of_block;
    const uint32_t each = layout->shards > 1 ? of_block / layout->parts : of_block;
    const uint32_t part = at / each;
    const struct schedule_span span = schedule_span(layout->block_elems, each, at % each);
    struct place place = {.shards = 1,
                          .first = chunk / of_block * layout->block_elems + span.first,
                          .count = span.count};
    if (layout->shards > 1) {
        place.shard = part;
        place.shards = layout->shards / layout->parts + (part < layout->shards % layout->parts);
    }
    return place;
}

uint64_t sample_layout_elements(const struct sample_layout *layout, uint32_t chunk)
{
    const struct place place = place_of(layout, chunk);
    return place.count * place.shards;
}

/* How many elements of a chunk are computed; and the k-th of them. */
static uint32_t elements_of(const struct place *place)
{
    return place->shards == 0 || place->count == 0 ? 0 : place->count < EACH ? 1 : EACH;
}
static uint64_t element_at(const struct place *place, uint32_t k)
{
    return place->first + (k > 0 ? place->count - 1 : 0);
}

uint64_t sample_number(uint64_t i, uint64_t count, uint64_t of)
{
    if (i == 0 || count == of)
        return i;
    if (i == count - 1)
        return of - 1;
    const uint64_t first = (uint64_t)((unsigned __int128)of * i / count),
                   next = (uint64_t)((unsigned __int128)of * (i + 1) / count);
    return first + hw_mix(i) % (next - first);
}

uint64_t sample_room(const struct sample_request *request, uint32_t ranks, uint32_t count)
{
    const bool scatters = request->algorithm->collective == CCL_REDUCE_SCATTER;
    const uint64_t visits = (uint64_t)ranks * (scatters ? count : 1);
    return SAMPLE_VISITS / visits > 0 ? SAMPLE_VISITS / visits : 1;
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint8_t *value_at(const struct evaluation *e, uint32_t node)
{
    return e->value + (size_t)node * EACH * e->bytes;
}

static void take_input(const struct evaluation *e, uint32_t node)
{
    const struct sample_request *const r = e->request;
    const struct expect_request *const x = &r->expect;
    const uint32_t inputs = e->formulas->values->inputs, rank = node / inputs;
    const struct place place =
        place_of(&e->formulas->input, e->formulas->input_chunk + node % inputs);
    const size_t itemsize = dtype_bytes(x->dtype);
    const uint32_t shard = r->members > 1 ? rank % r->members : place.shard;
    const uint64_t first = input_first(rank / r->members, r->shards, shard, r->n_elem);
    _Alignas(64) uint8_t bits[EACH * DTYPE_BYTES_MAX] = {0};
    for (uint32_t k = 0; k < elements_of(&place); k++)
        input_fill(x->dtype, x->seed, first + element_at(&place, k), bits + k * itemsize, 1);
    scaling_multiply(&x->scaling, x->dtype, bits, EACH);
    float wide[EACH];
    if (e->in_f32)
        dtype_to_f32(x->dtype, wide, bits, EACH);
    memcpy(value_at(e, node), e->in_f32 ? (const void *)wide : bits, EACH * e->bytes);
}

/* A sum's operand in f32: as it is, or rounded to the type when it was sent or stored. */
static void take_operand(const struct evaluation *e, float *value, uint32_t node, bool is_wide)
{
    _Alignas(64) uint8_t bits[EACH * DTYPE_BYTES_MAX];
    memcpy(value, value_at(e, node), EACH * sizeof *value);
    if (is_wide)
        return;
    dtype_from_f32(e->request->expect.dtype, bits, value, EACH);
    dtype_to_f32(e->request->expect.dtype, value, bits, EACH);
}

static void take_sum(const struct evaluation *e, uint32_t node)
{
    const struct schedule_values *const v = e->formulas->values;
    const struct value_node sum = v->node[node];
    if (!e->in_f32) {
        dtype_reduce(e->request->expect.dtype, e->request->expect.op, value_at(e, node),
                     value_at(e, sum.a), value_at(e, sum.b), EACH);
        return;
    }
    const uint8_t wide = v->wide != NULL ? v->wide[node] : 0;
    float a[EACH], b[EACH];
    take_operand(e, a, sum.a, wide & VALUE_WIDE_A);
    take_operand(e, b, sum.b, wide & VALUE_WIDE_B);
    dtype_reduce(DTYPE_F32, REDOP_SUM, value_at(e, node), a, b, EACH);
}

/* Evaluates what is wanted: nodes come after the nodes that they are sums of. */
static void evaluate(const struct evaluation *e)
{
    const struct schedule_values *const v = e->formulas->values;
    for (uint32_t i = v->nodes; i-- > v->leaves;)
        if (e->wanted[i])
            e->wanted[v->node[i].a] = e->wanted[v->node[i].b] = true;
    for (uint32_t i = 0; i < v->nodes; i++) {
        if (!e->wanted[i])
            continue;
        if (i < v->leaves)
            take_input(e, i);
        else
            take_sum(e, i);
    }
}

/* The values of a result, in the type. */
static void take_result(const struct evaluation *e, uint32_t node, uint8_t *bits)
{
    const struct expect_request *const x = &e->request->expect;
    float wide[EACH];
    memcpy(e->in_f32 ? (void *)wide : bits, value_at(e, node), EACH * e->bytes);
    if (e->in_f32)
        dtype_from_f32(x->dtype, bits, wide, EACH);
    scaling_divide(&x->scaling, x->dtype, bits, EACH);
}

/* ---- what they must be ----------------------------------------------------------------------- */

/* Element `at` of a shard of a result that is moved. */
static bool is_moved(const struct sample_request *r, uint32_t rank, uint32_t shard, uint64_t at,
                     const uint8_t *bits)
{
    const bool gathers = r->algorithm->collective == CCL_ALL_GATHER;
    const uint64_t block = gathers ? r->n_elem : r->n_elem / r->call.world_size;
    const uint64_t place = at % block + (gathers ? 0 : rank * block);
    uint8_t demanded[DTYPE_BYTES_MAX];
    input_fill(r->expect.dtype, r->expect.seed,
               input_first(at / block, r->shards, shard, r->n_elem) + place, demanded, 1);
    return memcmp(bits, demanded, dtype_bytes(r->expect.dtype)) == 0;
}

/* The same of a result that is reduced: shard by shard, or of all members' shards. */
static bool is_reduced(const struct sample_request *r, uint32_t rank, uint32_t shard, uint64_t at,
                       const uint8_t *bits)
{
    const bool scatters = r->algorithm->collective == CCL_REDUCE_SCATTER, apart = r->members <= 1;
    const struct expect_any any = {.ranks = r->call.world_size,
                                   .parts = apart ? 1 : r->members,
                                   .dtype = r->expect.dtype,
                                   .op = r->expect.op,
                                   .n_elem = apart ? r->shards * r->n_elem : r->n_elem,
                                   .seed = r->expect.seed,
                                   .scaling = r->expect.scaling,
                                   .exact = r->proof != PROOF_BOUND};
    const uint64_t block = scatters ? rank * (r->n_elem / r->call.world_size) : 0;
    return expect_any_holds(&any, (apart ? shard * r->n_elem : 0) + block + at, bits);
}

static bool is_right(const struct sample_request *r, uint32_t rank, uint32_t shard, uint64_t at,
                     const uint8_t *bits)
{
    return r->proof == PROOF_MOVED ? is_moved(r, rank, shard, at, bits)
                                   : is_reduced(r, rank, shard, at, bits);
}

/* ---- comparison ------------------------------------------------------------------------------ */

static void note_wrong(const struct evaluation *e, const struct sample_value *value)
{
    double number;
    e->found->wrong++;
    if (e->found->fault[0] != '\0')
        return;
    dtype_to_f64(e->request->expect.dtype, &number, value->bits, 1);
    snprintf(e->found->fault, sizeof e->found->fault,
             "rank %u: element %" PRIu64 " of shard %u is %.9g by the steps; demanded: %s",
             value->rank, value->at, value->shard, number, proof_text(e->request->proof));
}

/* The chunk `chunk` of `values`, of all ranks; those that share a formula are judged once. */
static void compare_chunk(const struct evaluation *e, uint32_t chunk, const uint32_t *rank,
                          uint32_t count, const bool *is_wrong)
{
    const struct sample_request *const r = e->request;
    const struct schedule_values *const v = e->formulas->values;
    const struct place place = place_of(&e->formulas->output, e->formulas->output_chunk + chunk);
    const uint32_t elements = elements_of(&place);
    const bool shared = r->algorithm->collective == CCL_ALL_REDUCE;
    uint32_t judged = VALUE_NONE;
    bool right[EACH];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = v->output[(size_t)rank[i] * v->outputs + chunk];
        if (is_wrong[(size_t)i * v->outputs + chunk])
            continue;
        _Alignas(64) uint8_t bits[EACH * DTYPE_BYTES_MAX];
        take_result(e, node, bits);
        for (uint32_t k = 0; k < elements; k++) {
            const struct sample_value value = {.rank = rank[i] / r->members,
                                               .shard = r->members > 1 ? rank[i] % r->members
                                                                       : place.shard,
                                               .at = element_at(&place, k),
                                               .bits = bits + k * dtype_bytes(r->expect.dtype)};
            if (!shared || node != judged)
                right[k] = is_right(r, value.rank, value.shard, value.at, value.bits);
            if (!right[k])
                note_wrong(e, &value);
            if (r->see != NULL)
                r->see(r->arg, &value);
        }
        judged = node;
        e->found->elements += elements;
    }
}

int sample_values(const struct sample_request *request, const struct sample_formulas *formulas,
                  const uint32_t *rank, uint32_t count, const bool *is_wrong,
                  struct sample_found *found, struct cw_error *error)
{
    const struct schedule_values *const v = formulas->values;
    const uint64_t room = sample_room(request, v->ranks, count);
    const uint64_t chunks = room < v->outputs ? room : v->outputs;
    struct evaluation e = {.request = request,
                           .formulas = formulas,
                           .found = found,
                           .in_f32 = expect_in_f32(&request->expect)};
    e.bytes = e.in_f32 ? sizeof(float) : dtype_bytes(request->expect.dtype);
    e.wanted = calloc((size_t)v->nodes + 1, sizeof *e.wanted);
    e.value = malloc(((size_t)v->nodes + 1) * EACH * e.bytes);
    const bool has_room = e.wanted != NULL && e.value != NULL;
    for (uint64_t c = 0; c < chunks && has_room; c++)
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t chunk = (uint32_t)sample_number(c, chunks, v->outputs);
            if (!is_wrong[(size_t)i * v->outputs + chunk])
                e.wanted[v->output[(size_t)rank[i] * v->outputs + chunk]] = true;
        }
    if (has_room)
        evaluate(&e);
    for (uint64_t c = 0; c < chunks && has_room; c++)
        compare_chunk(&e, (uint32_t)sample_number(c, chunks, v->outputs), rank, count, is_wrong);
    free(e.wanted);
    free(e.value);
    return has_room ? CW_OK : cw_error_memory(error, "verification");
}
