/*
 * data_join.c: combines the parts of tiles as switches do (data_join.h): in the order of the tree,
 * one rounding for each addition; with sums in f32, the sum of a switch is rounded when it leaves
 * the switch.
 */
#include "collectives/data/data_join.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <Judy.h>

#include "collectives/data/data_check.h"
#include "collectives/data/data_parcel.h"
#include "hw/topology/trees.h"

/* A tile of which not all parts have come. */
struct join {
    uint32_t count;
    struct join_part {
        struct lp_op op;
        struct tile_buffer *buffer;
    } part[]; /* [SIPs] */
};

struct data_joins {
    pthread_mutex_t lock;
    struct hw_trees trees;
    bool has_trees;
    uint32_t *order[HW_TREES_MAX]; /* hw_tree_sums() */
    void *by_name;                 /* JudyL: place in the SIP, direction, number -> struct join * */
};

struct data_joins *data_joins_create(void)
{
    struct data_joins *const joins = calloc(1, sizeof *joins);
    if (joins != NULL)
        (void)pthread_mutex_init(&joins->lock, NULL);
    return joins;
}

void data_joins_free(struct data_joins *joins)
{
    Word_t key = 0;
    if (joins == NULL)
        return;
    for (void **value = JudyLFirst(joins->by_name, &key, PJE0); value != NULL;
         value = JudyLNext(joins->by_name, &key, PJE0))
        free(*value); /* the buffers are their pools' */
    JudyLFreeArray(&joins->by_name, PJE0);
    for (uint32_t i = 0; i < HW_TREES_MAX; i++)
        free(joins->order[i]);
    hw_trees_free(&joins->trees);
    (void)pthread_mutex_destroy(&joins->lock);
    free(joins);
}

/* The order in which a tree adds; NULL: out of memory, or there is no such tree. */
static const uint32_t *order_of(struct data_joins *joins, const struct hw_config *hw, uint32_t tree)
{
    if (!joins->has_trees && !hw_trees_make(hw, &joins->trees))
        return NULL;
    joins->has_trees = true;
    if (tree >= joins->trees.count)
        return NULL;
    if (joins->order[tree] == NULL) {
        joins->order[tree] = malloc(2 * (size_t)hw->sip_count * sizeof *joins->order[tree]);
        if (joins->order[tree] != NULL)
            hw_tree_sums(&joins->trees, tree, joins->order[tree]);
    }
    return joins->order[tree];
}

static uint32_t pes_of_sip(const struct data_pass *pass)
{
    return pass->pe_count / pass->hw->sip_count;
}

static Word_t name_of(const struct data_pass *pass, const struct lp_op *op)
{
    return ((Word_t)(op->pe % pes_of_sip(pass)) * HW_DIRS_MAX + op->dir) << 32 | op->seq;
}

/* ---- the sum --------------------------------------------------------------------------------- */

/* A value on the stack; `own`: a sum, which may be added to. */
struct value {
    struct tile_buffer *buffer; /* NULL: an empty part */
    float *wide;                /* the sum before it is rounded; NULL: it is as in the buffer */
    bool own;
};

struct summing {
    const struct data_site *site;
    enum dtype dtype;
    enum redop op;
    uint32_t bytes;
    bool in_f32;
};

static void drop_value(const struct summing *s, struct value *value)
{
    free(value->wide);
    if (value->own)
        tile_buffer_release(value->buffer, &s->site->worker->pool);
    *value = (struct value){0};
}

static float *widened(const struct summing *s, const struct value *value)
{
    const size_t count = s->bytes / dtype_bytes(s->dtype);
    float *const wide = malloc((count + 1) * sizeof *wide);
    if (wide != NULL)
        dtype_to_f32(s->dtype, wide, value->buffer->bytes, count);
    return wide;
}

/* a <- a + b. `continues`: a is a sum that its switch has not rounded. False: out of memory. */
static bool add_value(const struct summing *s, struct value *a, struct value *b, bool continues)
{
    const size_t count = s->bytes / dtype_bytes(s->dtype);
    struct tile_buffer *const sum =
        a->own ? a->buffer : tile_pool_take(&s->site->worker->pool, s->bytes);
    if (sum == NULL)
        return false;
    if (!s->in_f32) {
        dtype_reduce(data_type(s->site->pass, s->dtype), s->op, sum->bytes, a->buffer->bytes,
                     b->buffer->bytes, count);
    } else {
        float *const left = continues && a->wide != NULL ? a->wide : widened(s, a);
        float *const right = widened(s, b);
        if (left != a->wide)
            free(a->wide);
        a->wide = left;
        if (left != NULL && right != NULL) {
            dtype_reduce(DTYPE_F32, REDOP_SUM, left, left, right, count);
            dtype_from_f32(data_type(s->site->pass, s->dtype), sum->bytes, left, count);
        }
        free(right);
        if (left == NULL || right == NULL) {
            if (!a->own)
                tile_buffer_release(sum, &s->site->worker->pool);
            return false;
        }
    }
    a->buffer = sum;
    a->own = true;
    drop_value(s, b);
    return true;
}

/* Combines all parts. *result is a value of the caller's. False: out of memory. */
static bool sum_parts(const struct summing *s, const struct join *join, const uint32_t *order,
                      uint32_t parts, struct value *result)
{
    struct value *const stack = calloc(parts + 1, sizeof *stack);
    uint32_t top = 0;
    bool made = stack != NULL;
    for (uint32_t i = 0; made && i + 1 < 2 * parts; i++) {
        if (order[i] < parts) {
            const struct join_part *const part = &join->part[order[i]];
            stack[top++] = (struct value){.buffer = part->op.bytes > 0 ? part->buffer : NULL};
            continue;
        }
        struct value *const a = &stack[top - 2], *const b = &stack[top - 1];
        top--;
        if (a->buffer == NULL) {
            *a = *b;
            *b = (struct value){0};
        } else if (b->buffer != NULL) {
            made = add_value(s, a, b, order[i] == HW_TREE_MORE);
        }
    }
    for (uint32_t i = 1; !made && stack != NULL && i <= top; i++)
        drop_value(s, &stack[i]);
    if (stack != NULL && made)
        *result = stack[0];
    else if (stack != NULL)
        drop_value(s, &stack[0]);
    free(stack);
    return made;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* The parts that are not empty are of one size. */
static int check_sizes(const struct data_site *site, const struct join *join, uint32_t parts,
                       uint32_t *bytes, struct cw_error *error)
{
    const struct lp_op *first = NULL;
    for (uint32_t i = 0; i < parts; i++) {
        const struct lp_op *const op = &join->part[i].op;
        if (op->bytes == 0)
            continue;
        first = first == NULL ? op : first;
        if (op->bytes != first->bytes || op->dtype != first->dtype ||
            op->math % LP_NOT_WANTED != first->math % LP_NOT_WANTED)
            return cw_error_set(
                error, CW_PROGRAM_FAILED,
                "IpcqTypeMismatch: PE index %u gave %u bytes of %s to tile %u of direction %s, and "
                "PE index %u %u bytes of %s; the parts of a tile must agree in size, type and "
                "operation, or be empty",
                first->pe, first->bytes, dtype_name((enum dtype)first->dtype), op->seq,
                data_dir_name(site->pass, op->pe, op->dir), op->pe, op->bytes,
                dtype_name((enum dtype)op->dtype));
    }
    *bytes = first != NULL ? first->bytes : 0;
    return CW_OK;
}

/* Every PE gets the tile, or an empty one. */
static int hand_over(const struct data_site *site, struct join *join, uint32_t parts,
                     struct tile_buffer *tile, uint32_t bytes, struct cw_error *error)
{
    int code = CW_OK;
    for (uint32_t i = 0; i < parts && code == CW_OK; i++) {
        struct lp_op op = join->part[i].op;
        const bool wanted = (op.math & LP_NOT_WANTED) == 0 && tile != NULL;
        op.bytes = wanted ? bytes : 0;
        tile_buffer_cross(wanted ? tile : join->part[i].buffer);
        code = data_parcel_send(site, &op, wanted ? tile : join->part[i].buffer, error);
    }
    return code;
}

static int finish_join(const struct data_site *site, struct join *join, const uint32_t *order,
                       struct cw_error *error)
{
    const uint32_t parts = site->pass->hw->sip_count;
    uint32_t bytes = 0;
    struct value tile = {0};
    const int code = check_sizes(site, join, parts, &bytes, error);
    if (code != CW_OK)
        return code;
    const struct lp_op *op = &join->part[0].op;
    for (uint32_t i = 0; i < parts; i++)
        op = join->part[i].op.bytes > 0 ? &join->part[i].op : op;
    const enum redop math = (enum redop)(op->math % LP_NOT_WANTED);
    const struct summing summing = {
        .site = site,
        .dtype = (enum dtype)op->dtype,
        .op = math,
        .bytes = bytes,
        .in_f32 = site->pass->arithmetic.accumulate == CCL_ACCUMULATE_F32 && math == REDOP_SUM &&
                  dtype_is_narrow((enum dtype)op->dtype)};
    if (bytes > 0 && !sum_parts(&summing, join, order, parts, &tile))
        return data_out_of_storage(site->pass, error);
    if (tile.own)
        tile_buffer_note_send(tile.buffer, bytes);
    const int sent = hand_over(site, join, parts, tile.buffer, bytes, error);
    drop_value(&summing, &tile);
    return sent;
}

/* Adds the part to its tile; the tile is complete: *join is the caller's. */
static int take_part(struct data_joins *joins, const struct data_site *site, const struct lp_op *op,
                     struct tile_buffer *buffer, struct join **join, struct cw_error *error)
{
    const uint32_t parts = site->pass->hw->sip_count, sip = op->pe / pes_of_sip(site->pass);
    const Word_t name = name_of(site->pass, op);
    void **const at = JudyLIns(&joins->by_name, name, PJE0);
    if (at == NULL || at == PPJERR)
        return data_out_of_storage(site->pass, error);
    if (*at == NULL)
        *at = calloc(1, sizeof **join + parts * sizeof *(*join)->part);
    struct join *const own = *at;
    if (own == NULL)
        return data_out_of_storage(site->pass, error);
    if (own->part[sip].buffer != NULL)
        return data_impossible(site->pass, op, error, "a second part of tile %u", op->seq);
    tile_buffer_cross(buffer);
    tile_buffer_hold(buffer);
    own->part[sip] = (struct join_part){*op, buffer};
    *join = NULL;
    if (++own->count == parts) {
        *join = own;
        (void)JudyLDel(&joins->by_name, name, PJE0);
    }
    return CW_OK;
}

int data_join_part(const struct data_site *site, const struct lp_op *op, struct tile_buffer *buffer,
                   struct cw_error *error)
{
    struct data_joins *const joins = site->pass->joins;
    struct join *join = NULL;
    (void)pthread_mutex_lock(&joins->lock);
    const uint32_t *const order = order_of(joins, site->pass->hw, op->dst.dir);
    int code = order != NULL ? take_part(joins, site, op, buffer, &join, error)
                             : data_out_of_storage(site->pass, error);
    if (join != NULL && code == CW_OK)
        code = finish_join(site, join, order, error);
    (void)pthread_mutex_unlock(&joins->lock);
    for (uint32_t i = 0; join != NULL && i < site->pass->hw->sip_count; i++)
        tile_buffer_release(join->part[i].buffer, &site->worker->pool);
    free(join);
    return code;
}
