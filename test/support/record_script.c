/*
 * record_script.c: see record_script.h. A generator draws one record after the other, and notes
 * which tiles, puts and stores are under way.
 */
#include "test/support/record_script.h"

#include <stdlib.h>
#include <string.h>

enum { DIRS = 2, TILES_MAX = 4096, UNDER_WAY_MAX = 64, STORES = 3, BYTES_MAX = 512 };

struct drawn_tile {
    uint32_t bytes;
    bool received, dropped;
};

struct drawn_queue {
    struct drawn_tile tile[TILES_MAX];
    uint32_t sender; /* the PE at the queue's other end */
    uint32_t sent, received;
};

struct generator {
    struct cw_rng rng;
    struct script script;
    uint32_t capacity;
    struct drawn_queue queue[SCRIPT_PE_COUNT][DIRS];
    uint32_t puts[SCRIPT_PE_COUNT];           /* made so far */
    struct lp_op under_way[UNDER_WAY_MAX];    /* puts, raw stores and loans that have not landed */
    bool store_used[SCRIPT_PE_COUNT][STORES]; /* a raw store of this number is under way */
    bool load_used[SCRIPT_PE_COUNT][STORES];  /* a remote load of this number is under way */
    uint32_t under_way_count;
};

struct hw_config script_machine(void)
{
    return (struct hw_config){.sip_count = SCRIPT_SIPS,
                              .cube_w = SCRIPT_CUBES,
                              .cube_h = 1,
                              .pe_per_corner = SCRIPT_PES,
                              .corner_count = 1,
                              .tcm_bytes = SCRIPT_MEMORY,
                              .sram_bytes = SCRIPT_MEMORY,
                              .hbm_bytes = SCRIPT_MEMORY};
}

static uint32_t below(struct generator *g, uint32_t bound) { return cw_rng_below(&g->rng, bound); }

/* Several records may come from one event; several events may have one time. */
static void add_step(struct generator *g, const struct lp_op *op)
{
    struct script *const script = &g->script;
    if (script->count == g->capacity) {
        g->capacity = 2 * g->capacity + 1024;
        script->step = realloc(script->step, g->capacity * sizeof *script->step);
        if (script->step == NULL)
            abort();
    }
    struct script_step *const step = &script->step[script->count];
    *step = (struct script_step){.op = *op};
    step->event.time_ps = script->count / 3;
    step->event.entity = 1;
    step->event.number = script->count;
    step->event.lp = 1 + op->pe / SCRIPT_PES;
    step->event.payload_bytes = 4;
    memcpy(step->event.payload, &script->count, 4);
    script->count++;
}

static struct lp_operand draw_memory(struct generator *g, uint32_t bytes)
{
    return (struct lp_operand){.space = (uint8_t)(LP_SPACE_TCM + below(g, 3)),
                               .at = below(g, (SCRIPT_MEMORY - bytes) / 4) * 4};
}

/* A tile of so many bytes that is there, sometimes for the last time; or memory. */
static struct lp_operand draw_source(struct generator *g, uint32_t pe, uint32_t bytes)
{
    const uint32_t dir = below(g, DIRS);
    struct drawn_queue *const queue = &g->queue[pe][dir];
    for (uint32_t looks = 0; queue->sent > 0 && looks < 4 && below(g, 4) != 0; looks++) {
        const uint32_t back = below(g, queue->sent < 12 ? queue->sent : 12);
        const uint32_t seq = queue->sent - 1 - back;
        struct drawn_tile *const tile = &queue->tile[seq];
        if (tile->dropped || tile->bytes < bytes || (!tile->received && below(g, 8) != 0))
            continue;
        const bool last = below(g, 3) == 0;
        tile->received = true;
        tile->dropped = last;
        return (struct lp_operand){.space = LP_SPACE_TILE,
                                   .dir = (uint8_t)dir,
                                   .flags = last ? LP_LAST_USE : 0,
                                   .at = seq};
    }
    return draw_memory(g, bytes);
}

static void draw_send(struct generator *g)
{
    const uint32_t peer = below(g, SCRIPT_PE_COUNT), dir = below(g, DIRS);
    struct drawn_queue *const queue = &g->queue[peer][dir];
    const uint32_t pe = queue->sender;
    if (queue->sent == TILES_MAX)
        return;
    const uint32_t bytes = 4 * (1 + below(g, BYTES_MAX / 4));
    const struct lp_op op = {.kind = LP_OP_SEND,
                             .pe = pe,
                             .bytes = bytes,
                             .peer = peer,
                             .peer_dir = (uint8_t)dir,
                             .seq = queue->sent,
                             .a = draw_source(g, pe, bytes)};
    queue->tile[queue->sent++] = (struct drawn_tile){.bytes = bytes};
    add_step(g, &op);
}

static void draw_receive(struct generator *g, uint32_t pe)
{
    const uint32_t dir = below(g, DIRS);
    struct drawn_queue *const queue = &g->queue[pe][dir];
    while (queue->received < queue->sent && queue->tile[queue->received].dropped)
        queue->received++;
    if (queue->received == queue->sent)
        return;
    struct drawn_tile *const tile = &queue->tile[queue->received];
    const struct lp_op op = {.kind = LP_OP_RECV,
                             .pe = pe,
                             .dir = (uint8_t)dir,
                             .seq = queue->received++,
                             .bytes = tile->bytes,
                             .dst = below(g, 3) == 0 ? draw_memory(g, tile->bytes)
                                                     : (struct lp_operand){0}};
    tile->received = true;
    add_step(g, &op);
}

static void draw_put(struct generator *g, uint32_t pe)
{
    if (g->under_way_count == UNDER_WAY_MAX)
        return;
    const uint32_t bytes = 4 * (1 + below(g, BYTES_MAX / 4)), store = below(g, STORES);
    struct lp_op op = {.kind = LP_OP_PUT,
                       .pe = pe,
                       .bytes = bytes,
                       .dtype = (uint8_t)(LP_F16 + below(g, 3)),
                       .math = (uint8_t)(below(g, 2) * (1 + below(g, 4))),
                       .peer = below(g, SCRIPT_PE_COUNT),
                       .dst = draw_memory(g, bytes)};
    if (below(g, 2) == 0 && !g->store_used[pe][store]) {
        op.kind = LP_OP_STORE_TO;
        op.seq = store;
        op.math = 0;
        g->store_used[pe][store] = true;
    } else {
        op.seq = g->puts[pe]++;
    }
    op.a = draw_source(g, pe, bytes);
    g->under_way[g->under_way_count++] = op;
    add_step(g, &op);
}

/* A PE lends to its peer, with a number that the peer uses again for whoever lends next. */
static void draw_loan(struct generator *g, uint32_t pe)
{
    const uint32_t bytes = 4 * (1 + below(g, BYTES_MAX / 4)), load = below(g, STORES);
    struct lp_op op = {.kind = LP_OP_LENT,
                       .pe = pe,
                       .bytes = bytes,
                       .seq = load,
                       .peer = below(g, SCRIPT_PE_COUNT),
                       .a = draw_memory(g, bytes)};
    if (g->under_way_count == UNDER_WAY_MAX || g->load_used[op.peer][load])
        return;
    g->load_used[op.peer][load] = true;
    add_step(g, &op);
    op.dst =
        (struct lp_operand){.space = LP_SPACE_TCM, .at = below(g, (SCRIPT_MEMORY - bytes) / 4) * 4};
    g->under_way[g->under_way_count++] = op;
}

static void land(struct generator *g, uint32_t which)
{
    struct lp_op op = g->under_way[which];
    const uint32_t from = op.pe;
    g->under_way[which] = g->under_way[--g->under_way_count];
    if (op.kind == LP_OP_LENT) {
        g->load_used[op.peer][op.seq] = false;
        op.kind = LP_OP_LOAD_FROM;
        op.pe = op.peer;
        op.peer = from;
        op.a = (struct lp_operand){0};
        add_step(g, &op);
        return;
    }
    if (op.kind == LP_OP_STORE_TO)
        g->store_used[from][op.seq] = false;
    op.kind = op.kind == LP_OP_PUT ? LP_OP_LAND : LP_OP_STORED;
    op.pe = op.peer;
    op.peer = from;
    op.a = (struct lp_operand){0};
    add_step(g, &op);
}

static void draw_calculation(struct generator *g, uint32_t pe)
{
    const uint32_t bytes = 4 * (1 + below(g, BYTES_MAX / 4)), kind = below(g, 5);
    struct lp_op op = {.kind = LP_OP_MATH,
                       .pe = pe,
                       .bytes = bytes,
                       .dtype = (uint8_t)(LP_F16 + below(g, 3)),
                       .math = (uint8_t)(1 + below(g, 4))};
    if (kind == 0) {
        op.kind = LP_OP_COPY;
    } else if (kind == 1) {
        op.kind = LP_OP_CAST;
        op.math = (uint8_t)(LP_F16 + below(g, 3));
    } else if (kind == 2) { /* 4 x 3 x 2, of f32 */
        op.kind = LP_OP_GEMM;
        op.dtype = LP_F32;
        op.math = (uint8_t)(below(g, 2) * LP_MATH_SUM);
        op.bytes = 4 * 3 * 4;
        op.seq = 4;
        op.peer = 2;
    }
    op.a = draw_source(g, pe, op.bytes);
    if (op.kind == LP_OP_MATH || op.kind == LP_OP_GEMM)
        op.b = draw_source(g, pe, op.bytes);
    if (op.b.space == LP_SPACE_TILE && op.a.space == LP_SPACE_TILE && op.b.dir == op.a.dir &&
        op.b.at == op.a.at)
        op.a.flags = op.b.flags; /* one tile twice: used for the last time by both or none */
    op.dst = draw_memory(g, 2 * op.bytes);
    add_step(g, &op);
}

static void end_kernel(struct generator *g, uint32_t pe)
{
    for (uint32_t dir = 0; dir < DIRS; dir++)
        for (uint32_t seq = 0; seq < g->queue[pe][dir].sent; seq++)
            g->queue[pe][dir].tile[seq].dropped |= g->queue[pe][dir].tile[seq].received;
    add_step(g, &(struct lp_op){.pe = pe});
}

static void draw_step(struct generator *g)
{
    const uint32_t pe = below(g, SCRIPT_PE_COUNT), kind = below(g, 36);
    if (kind < 9)
        draw_send(g);
    else if (kind < 16)
        draw_receive(g, pe);
    else if (kind < 20)
        draw_put(g, pe);
    else if (kind < 24 && g->under_way_count > 0)
        land(g, below(g, g->under_way_count));
    else if (kind == 24)
        end_kernel(g, pe);
    else if (kind == 25)
        add_step(g, &(struct lp_op){.kind = LP_OP_NOTIFY, .pe = pe});
    else if (kind >= 32 && kind < 34)
        draw_loan(g, pe);
    else if (kind >= 34 && g->under_way_count > 0)
        land(g, below(g, g->under_way_count));
    else
        draw_calculation(g, pe);
}

/* Everything lands and is received, and all kernels end. */
static void finish_script(struct generator *g)
{
    while (g->under_way_count > 0)
        land(g, below(g, g->under_way_count));
    for (uint32_t pe = 0; pe < SCRIPT_PE_COUNT; pe++) {
        for (uint32_t dir = 0; dir < DIRS; dir++) {
            struct drawn_queue *const queue = &g->queue[pe][dir];
            for (uint32_t seq = 0; seq < queue->sent; seq++)
                if (!queue->tile[seq].dropped) {
                    queue->tile[seq].received = true;
                    add_step(g, &(struct lp_op){.kind = LP_OP_RECV,
                                                .pe = pe,
                                                .dir = (uint8_t)dir,
                                                .seq = seq,
                                                .bytes = queue->tile[seq].bytes});
                }
        }
        end_kernel(g, pe);
    }
}

static uint64_t tiles_left(const struct generator *g)
{
    uint64_t left = 0;
    for (uint32_t pe = 0; pe < SCRIPT_PE_COUNT; pe++)
        for (uint32_t dir = 0; dir < DIRS; dir++)
            for (uint32_t seq = 0; seq < g->queue[pe][dir].sent; seq++)
                left += !g->queue[pe][dir].tile[seq].dropped;
    return left;
}

struct script script_draw(uint64_t seed, uint32_t count, bool finish)
{
    struct generator *const g = calloc(1, sizeof *g);
    if (g == NULL)
        abort();
    g->rng = cw_rng_seeded(seed, 0);
    for (uint32_t pe = 0; pe < SCRIPT_PE_COUNT; pe++)
        for (uint32_t dir = 0; dir < DIRS; dir++)
            g->queue[pe][dir].sender = below(g, SCRIPT_PE_COUNT);
    while (g->script.count < count)
        draw_step(g);
    if (finish)
        finish_script(g);
    struct script script = g->script;
    script.tiles = tiles_left(g);
    free(g);
    return script;
}

void script_free(struct script *script) { free(script->step); }

struct lp_op script_emitted(const struct script_step *step)
{
    struct lp_op op = step->op;
    if (op.kind == LP_OP_LAND || op.kind == LP_OP_STORED) {
        op.bytes = 0;
        op.math = op.dtype = 0;
        op.dst = (struct lp_operand){0};
    }
    return op;
}
