/*
 * landing.c: the puts in flight (landing.h), in a hash table.
 */
#include "lp/host/landing.h"

struct lp_put_record {
    uint32_t bytes;
    struct lp_operand dst;
    uint8_t math, dtype;
};

/* Never 0, as the table wants it. PE indices have 30 bits. */
static uint64_t put_key(uint32_t pe, uint32_t seq, bool store)
{
    return (uint64_t)store << 63 | ((uint64_t)pe + 1) << 32 | seq;
}

void lp_landing_init(struct lp_landing *landing)
{
    table_init(&landing->puts, NULL, sizeof(struct lp_put_record));
}

void lp_landing_free(struct lp_landing *landing) { table_free(&landing->puts); }

bool lp_landing_put(struct lp_landing *landing, const struct lp_op *put)
{
    if (!table_reserve(&landing->puts))
        return false;
    struct lp_put_record *const record =
        table_add(&landing->puts, put_key(put->pe, put->seq, put->kind == LP_OP_STORE_TO));
    *record = (struct lp_put_record){
        .bytes = put->bytes, .dst = put->dst, .math = put->math, .dtype = put->dtype};
    return true;
}

bool lp_landing_land(struct lp_landing *landing, uint32_t from, struct lp_op *land)
{
    struct lp_put_record *const record =
        table_find(&landing->puts, put_key(from, land->seq, land->kind == LP_OP_STORED));
    if (record == NULL)
        return false;
    land->bytes = record->bytes;
    land->dst = record->dst;
    land->math = land->kind == LP_OP_LAND ? record->math : 0;
    land->dtype = record->dtype;
    table_remove(&landing->puts, record);
    return true;
}
