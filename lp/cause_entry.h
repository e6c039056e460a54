/*
 * cause_entry.h: an event that a handler has sent, with the reason for its delay, as a log keeps
 * it: packed into words of 32 bits. There are as many entries as events, and memory that is touched
 * for the first time takes longer than to write an entry. So a field that most entries have in
 * common with another one is left out. Of words alone, without a pointer: an entry leads to the one
 * before it of its LP by a place, which the log translates (bench/explain/cause_log.h).
 *
 * An entry is written by the worker that owns the LP. It is read between drains.
 */
#ifndef LP_CAUSE_ENTRY_H
#define LP_CAUSE_ENTRY_H

#include "lp/model.h"

/*
 * A step is one word, or three:
 *   a link  bits 0 to 15 its number in the LP's state, 16 to 20 the next node, 21 to 26 its
 *           kind, 27 it was waited for, 28 it costs no serialisation, 29 the next node was late. A
 *           kind of node that does not exist stands for none, a kind of link for the reduce unit.
 *   a way   through a cube, as a transfer goes from router to router: several links in one step.
 *           Bit 30; bits 0 to 11 the links that were waited for, in their order; 12 to 19 the first
 *           router, 20 to 27 the last one; 28 they cost no serialisation. With bit 29 the way
 *           continues over the two links out of the cube: bits 20 and 21 the port, 22 and 23
 *           whether they were waited for. cause_way_unfold() (bench/explain/ways.h) gives its
 *           links.
 *   a part  bit 31; bits 26 to 30 enum lp_cause_part, bits 0 to 25 its time in ps. If these are all
 *           set, the time is in the next two words, the low one first.
 *   calls   bit 31, part LP_PART_CALLS, and how often each kind of overhead was paid: 6 bits each
 *           for ISSUE_CPU, ISSUE_IPCQ, ISSUE_MEMORY, ISSUE_COMPUTE, from bit 0 on.
 */
enum {
    LP_STEP_NODE_SHIFT = 16,
    LP_STEP_KIND_SHIFT = 21,
    LP_STEP_WAITED = 1 << 27,
    LP_STEP_FREE = 1 << 28,
    LP_STEP_LATE = 1 << 29,
    LP_STEP_WAY = 1 << 30,
    LP_WAY_LEAVES = 1 << 29,
    LP_WAY_FREE = 1 << 28,
    LP_WAY_FROM_SHIFT = 12,
    LP_WAY_TO_SHIFT = 20, /* a router, or a port */
    LP_WAY_OUT_WAITED = 1 << 22,
    LP_WAY_UCIE_WAITED = 1 << 23,
    LP_WAY_HOPS_MAX = 12,
    LP_STEP_PART_SHIFT = 26,
    LP_STEP_LONG = (1 << LP_STEP_PART_SHIFT) - 1, /* as a time: in the next words */
    LP_STEP_LONG_WORDS = 3,
    LP_STEP_CALLS_BITS = 6
};
#define LP_STEP_PART (1u << 31)
_Static_assert(HW_LINK_KINDS < 64 && HW_NODE_KINDS < 32, "they have six bits, and five");

/* The parts of a delay that are not the crossing of a link. */
enum lp_cause_part {
    LP_PART_CALLS,   /* overheads of calls: counts, see above */
    LP_PART_CPU,     /* pe_cpu outside of calls */
    LP_PART_FETCH,   /* PE_FETCH_STORE */
    LP_PART_MATH,    /* PE_MATH */
    LP_PART_GEMM,    /* PE_GEMM */
    LP_PART_CREDIT,  /* a receive waits until its credit is out */
    LP_PART_SLOT,    /* a tile's write into its slot, or its read there */
    LP_PART_POLL,    /* until the next look of a kernel that polls */
    LP_PART_STATIC,  /* launch_static_ns */
    LP_PART_DMA,     /* pe_dma's overhead, on the way out */
    LP_PART_SER_HBM, /* serialisation out of the memory, where a response starts */
    LP_PART_SER_SRAM,
    LP_PART_SER_TCM,
    LP_PART_WIRE,     /* pe_ipcq.wire_ns */
    LP_PART_SERVER,   /* m_cpu or io_cpu: its service, and the wait for it */
    LP_PART_TOGETHER, /* launch_together: until the common start */
    LP_PART_PE,       /* the PE runs another kernel */
    LP_PART_TIME,     /* an operation of a program that takes a time */
    LP_PART_UNIT,     /* a switch adds a tile up: the unit, and the wait for it */
    LP_PARTS
};
_Static_assert(LP_PARTS <= 1 << (31 - LP_STEP_PART_SHIFT), "a part's number has five bits");

/* A step's fields. */
static inline bool lp_step_is_part(uint32_t step) { return (step & LP_STEP_PART) != 0; }
static inline bool lp_step_is_way(uint32_t step)
{
    return (step & (LP_STEP_PART | LP_STEP_WAY)) == LP_STEP_WAY;
}
static inline uint32_t lp_step_index(uint32_t step) { return step & 0xffff; }
static inline uint32_t lp_step_node(uint32_t step) { return step >> LP_STEP_NODE_SHIFT & 31; }
static inline uint32_t lp_step_kind(uint32_t step) { return step >> LP_STEP_KIND_SHIFT & 63; }
static inline enum lp_cause_part lp_step_part(uint32_t step)
{
    return (enum lp_cause_part)(step >> LP_STEP_PART_SHIFT & 31);
}
/* How many words a step has. */
static inline uint32_t lp_step_words(uint32_t step)
{
    return lp_step_is_part(step) && (step & LP_STEP_LONG) == LP_STEP_LONG ? LP_STEP_LONG_WORDS : 1;
}
/* The time of a part, not of calls. */
static inline int64_t lp_step_ps(const uint32_t *step)
{
    const uint32_t ps = *step & LP_STEP_LONG;
    return ps < LP_STEP_LONG ? ps : (int64_t)((uint64_t)step[2] << 32 | step[1]);
}

/* An event that was sent. */
struct lp_sent {
    int64_t at_ps; /* its time */
    uint32_t entity,
        number; /* its sender as the handler's SIP sees it (entity.h); the low bits of its number */
    uint32_t to_lp;
    uint32_t bytes;    /* of a flight; of LP_EVENT_MEMORY: that the engine passes for it */
    uint32_t sigma_ps; /* of a flight: paid before this handler; saturates */
    uint8_t type;      /* enum lp_event_type; 0: a piece that ends here */
    uint8_t context;   /* of LP_EVENT_KERNEL */
    uint16_t count;    /* of steps */
};

/* An entry, unpacked: an event that was sent, or a piece of a transfer that has ended. */
struct lp_cause_entry {
    uint32_t place;  /* its own; 0: there is no such entry */
    uint32_t before; /* the place of the entry before it of the same LP; 0: it is the first */
    int64_t now_ps;  /* the event whose handler sent it: */
    uint32_t by_entity, by_number; /* as the handler's SIP sees it, as `entity` below */
    int64_t at_ps;                 /* the event that was sent: */
    uint32_t entity, number;
    uint32_t to_lp, bytes, sigma_ps;
    uint8_t by_type, type, context;
    uint16_t steps; /* words */
    const uint32_t *step;
    /* Of a switch in a folded machine, whose LP is read as that of any switch of its class: the SIP
     * that the event goes to, which says how all is turned; and the number of the link there. */
    uint32_t to_sip, to_link;
    bool is_turned; /* has these two */
};

/*
 * The words of an entry:
 *   0  the place of the entry before it
 *   1  the time of the event whose handler sent it, since the beginning of its block
 *   2  the delay
 *   3  the tag, see below
 *   4  the sender of the event that was sent
 *   5  and its number
 * and then, if the tag says so, each one of
 *   the number of the event whose handler sent it, if it is another one
 *   its sender, if it is another one
 *   bytes and sigma of a flight (two words)
 *   the LP that it was sent to, if it is another one
 *   both times (four words, the low ones first), if words 1 and 2 are too short for them
 * and then the steps.
 */
enum {
    LP_ENTRY_BEFORE,
    LP_ENTRY_SINCE,
    LP_ENTRY_DELAY,
    LP_ENTRY_TAG,
    LP_ENTRY_ENTITY,
    LP_ENTRY_NUMBER,
    LP_ENTRY_WORDS_MIN,
    LP_ENTRY_WORDS_MAX = LP_ENTRY_WORDS_MIN + 9, /* without steps */
    /* the tag: two types of four bits, the context, the number of steps, and */
    LP_TAG_TYPE_SHIFT = 4,
    LP_TAG_CONTEXT_SHIFT = 8,
    LP_TAG_STEPS_SHIFT = 12,
    LP_TAG_BY_NUMBER = 1 << 24,
    LP_TAG_BY_ENTITY = 1 << 25,
    LP_TAG_FLIGHT = 1 << 26,
    LP_TAG_ELSEWHERE = 1 << 27,
    LP_TAG_LONG = 1 << 28,
    LP_ENTRY_STEPS_MAX = 2048,
    LP_STEPS_AT_ONCE = 4 /* are copied without a question, so a list has room for as many */
};
_Static_assert(LP_EVENT_LEND < 16 && TL_CONTEXTS_MAX <= 16, "they have four bits each");
_Static_assert(LP_ENTRY_STEPS_MAX < 1 << 12, "the number of steps has twelve bits");

/* Where a worker keeps entries, one after the other. */
struct lp_cause_writer {
    uint32_t *at, *end;    /* room for entries */
    uint32_t *last;        /* [LP] the place of its latest entry */
    int64_t base_ps;       /* the beginning of the block */
    const uint32_t *begin; /* a word of the block, */
    uint32_t begin_place;  /* and its place */
    /* makes room for the longest entry, of an event at this time */
    void (*more)(struct lp_cause_writer *writer, int64_t now_ps);
};

/* The compiler must not gather words in a vector: that takes longer than to store them. */
static inline void lp_entry_put(uint32_t *to, uint32_t first, uint32_t second)
{
    __asm__("" : "+r"(first));
    to[0] = first;
    __asm__("" : "+r"(second));
    to[1] = second;
}

/* 0 or 1, and whole in a register. A comparison that goes to memory is one byte there, for which a
 * later, wider load waits. */
static inline uint32_t lp_entry_flag(bool is) { return (uint32_t)cw_keep_in_register(is); }

static inline uint32_t *lp_entry_put_times(uint32_t *to, uint64_t now_ps, uint64_t at_ps)
{
    lp_entry_put(to, (uint32_t)now_ps, (uint32_t)(now_ps >> 32));
    lp_entry_put(to + 2, (uint32_t)at_ps, (uint32_t)(at_ps >> 32));
    return to + 4;
}

/* Word by word, without a question up to the number that nearly all are within. The steps were
 * written a moment ago: a load of several of them would wait until all have reached the cache. */
static inline void lp_entry_copy_steps(uint32_t *to, const uint32_t *steps, uint32_t count)
{
#pragma GCC unroll 4
    for (uint32_t i = 0; i < LP_STEPS_AT_ONCE; i++)
        to[i] = (uint32_t)cw_keep_in_register(steps[i]);
    if (__builtin_expect(count > LP_STEPS_AT_ONCE, 0))
        for (uint32_t i = LP_STEPS_AT_ONCE; i < count; i++)
            to[i] = (uint32_t)cw_keep_in_register(steps[i]);
}

/* Fields that may be left out: of which a caller says that its entries always have them, whether
 * they need them or not, or never do. The questions for all others have no branch: the field is
 * written in any case, and the next word then overwrites it. */
struct lp_entry_form {
    uint32_t always, never, rarely; /* LP_TAG_...; with a branch */
};

/* One word of such a field. */
static inline __attribute__((always_inline)) uint32_t *
lp_entry_put_field(struct lp_entry_form form, uint32_t *to, uint32_t word, uint32_t which,
                   bool needed, uint32_t *tag)
{
    if (form.never & which || (form.rarely & which && __builtin_expect(!needed, 1)))
        return to;
    const uint32_t flag = (form.always | form.rarely) & which ? 1 : lp_entry_flag(needed);
    *to = word;
    *tag |= flag * which;
    return to + flag;
}

/* Keeps an event that was sent, with all its steps. `steps` has room for LP_STEPS_AT_ONCE. Inlined:
 * *sent stays in registers. From memory its fields would be read in other widths than they were
 * just written, which takes as long as all the rest. */
static inline __attribute__((always_inline)) void
lp_cause_write(struct lp_cause_writer *writer, const struct cw_event *event,
               const struct lp_sent *sent, const uint32_t *steps, struct lp_entry_form form)
{
    const uint32_t count = sent->count;
    if (__builtin_expect(
            writer->end - writer->at < LP_ENTRY_WORDS_MAX + LP_STEPS_AT_ONCE + (ptrdiff_t)count, 0))
        writer->more(writer, event->time_ps);
    uint32_t *const entry = writer->at;
    const uint64_t since_ps = (uint64_t)(event->time_ps - writer->base_ps);
    const uint64_t delay_ps = (uint64_t)(sent->at_ps - event->time_ps);
    const uint32_t by_number = (uint32_t)event->number;
    uint32_t tag = (uint32_t)event->type | (uint32_t)sent->type << LP_TAG_TYPE_SHIFT |
                   (uint32_t)sent->context << LP_TAG_CONTEXT_SHIFT | count << LP_TAG_STEPS_SHIFT;
    lp_entry_put(entry + LP_ENTRY_BEFORE, writer->last[event->lp], (uint32_t)since_ps);
    lp_entry_put(entry + LP_ENTRY_ENTITY, sent->entity, sent->number);
    uint32_t *to = entry + LP_ENTRY_WORDS_MIN;
    to = lp_entry_put_field(form, to, by_number, LP_TAG_BY_NUMBER, by_number != sent->number, &tag);
    to = lp_entry_put_field(form, to, event->entity, LP_TAG_BY_ENTITY,
                            event->entity != sent->entity, &tag);
    if (!(form.never & LP_TAG_FLIGHT)) {
        const bool needed = (sent->bytes | sent->sigma_ps) != 0;
        const uint32_t flag = form.always & LP_TAG_FLIGHT ? 1 : lp_entry_flag(needed);
        lp_entry_put(to, sent->bytes, sent->sigma_ps);
        tag |= flag * LP_TAG_FLIGHT;
        to += 2 * flag;
    }
    to =
        lp_entry_put_field(form, to, sent->to_lp, LP_TAG_ELSEWHERE, sent->to_lp != event->lp, &tag);
    if (__builtin_expect((since_ps | delay_ps) >> 32 != 0, 0)) {
        tag |= LP_TAG_LONG;
        to = lp_entry_put_times(to, (uint64_t)event->time_ps, (uint64_t)sent->at_ps);
    }
    lp_entry_put(entry + LP_ENTRY_DELAY, (uint32_t)delay_ps, tag);
    lp_entry_copy_steps(to, steps, count);
    writer->at = to + count;
    writer->last[event->lp] = writer->begin_place + (uint32_t)(entry - writer->begin);
}

/* The entry of this LP in these words of a block that began at `base_ps`. */
static inline struct lp_cause_entry lp_cause_read(const uint32_t *words, uint32_t place,
                                                  int64_t base_ps, uint32_t lp)
{
    const uint32_t tag = words[LP_ENTRY_TAG];
    struct lp_cause_entry entry = {.place = place,
                                   .before = words[LP_ENTRY_BEFORE],
                                   .now_ps = base_ps + words[LP_ENTRY_SINCE],
                                   .entity = words[LP_ENTRY_ENTITY],
                                   .number = words[LP_ENTRY_NUMBER],
                                   .to_lp = lp,
                                   .by_type = tag & 15,
                                   .type = tag >> LP_TAG_TYPE_SHIFT & 15,
                                   .context = tag >> LP_TAG_CONTEXT_SHIFT & 15,
                                   .steps = tag >> LP_TAG_STEPS_SHIFT & 4095};
    const uint32_t *from = words + LP_ENTRY_WORDS_MIN;
    entry.by_number = tag & LP_TAG_BY_NUMBER ? *from++ : entry.number;
    entry.by_entity = tag & LP_TAG_BY_ENTITY ? *from++ : entry.entity;
    if (tag & LP_TAG_FLIGHT) {
        entry.bytes = *from++;
        entry.sigma_ps = *from++;
    }
    if (tag & LP_TAG_ELSEWHERE)
        entry.to_lp = *from++;
    entry.at_ps = entry.now_ps + words[LP_ENTRY_DELAY];
    if (tag & LP_TAG_LONG) {
        entry.now_ps = (int64_t)((uint64_t)from[1] << 32 | from[0]);
        entry.at_ps = (int64_t)((uint64_t)from[3] << 32 | from[2]);
        from += 4;
    }
    entry.step = from;
    return entry;
}

#endif
