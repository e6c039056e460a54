/*
 * plan_read.c: reads MSCCL++ execution plans (plan.h): JSON of the newer schema (input_chunks,
 * src_buff, channel_ids) or of the older one (inputChunks, o_buff, o_cids). JSON is YAML, so the
 * reader of configurations gives the tree, whose nodes know their places.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/config_parse.h"
#include "collectives/msccl/msccl_file.h"
#include "collectives/msccl/plan.h"

enum {
    GPUS_MAX = 65536,
    TBS_MAX = 4096,
    PARTS_MAX = 64,     /* thread blocks that share an operation */
    OPERANDS_MAX = 64,  /* of an operation */
    UNITS_MAX = 1 << 20 /* chunks that a pipeline goes through */
};

static const struct plan_name names[] = {
    {"nop", PLAN_NOP, 0},
    {"barrier", PLAN_BARRIER, 0},
    {"put", PLAN_PAIRS, 0},
    {"pws", PLAN_PAIRS, PLAN_SIGNALS},
    {"pwsf", PLAN_PAIRS, PLAN_SIGNALS},
    {"get", PLAN_PAIRS, PLAN_READS},
    {"copy", PLAN_PAIRS, 0},
    {"signal", PLAN_SIGNAL, 0},
    {"rlxsignal", PLAN_SIGNAL, 0},
    {"wait", PLAN_WAIT, 0},
    {"rlxwait", PLAN_WAIT, 0},
    {"flush", PLAN_FLUSH, 0},
    {"re", PLAN_VALUE, 0},
    {"res", PLAN_VALUE, 0},
    {"rs", PLAN_VALUE, 0},
    {"rre", PLAN_VALUE, PLAN_READS},
    {"rrc", PLAN_VALUE, PLAN_READS},
    {"rres", PLAN_VALUE, PLAN_READS},
    {"rrcs", PLAN_VALUE, PLAN_READS},
    {"ppkt", PLAN_PAIRS, PLAN_PACKETS},
    {"rppkt", PLAN_VALUE, PLAN_PACKETS},
    {"cpkt", PLAN_PAIRS, PLAN_PACKETS},
    {"upkt", PLAN_PAIRS, PLAN_PACKETS},
    {"tpkt", PLAN_PAIRS, PLAN_PACKETS},
    {"repkt", PLAN_VALUE, PLAN_PACKETS | PLAN_OWN_LAST},
    {"rpkt", PLAN_VALUE, PLAN_PACKETS | PLAN_OWN_LAST},
    {"respkt", PLAN_VALUE, PLAN_PACKETS | PLAN_OWN_LAST},
    {"rspkt", PLAN_VALUE, PLAN_PACKETS | PLAN_OWN_LAST},
    {"recpkt", PLAN_VALUE, PLAN_PACKETS | PLAN_OWN_LAST},
    {"recspkt", PLAN_VALUE, PLAN_PACKETS | PLAN_OWN_LAST},
    {"sem_acquire", PLAN_ACQUIRE, 0},
    {"sem_release", PLAN_RELEASE, 0},
    {"pipeline", PLAN_PIPELINE, 0},
    {"glres", PLAN_SWITCH, 0},
    {"gstore", PLAN_SWITCH, 0},
};
enum { NAMES = sizeof names / sizeof names[0] };

/* The keys of the format, which others are compared with. Those that are never asked for say
 * nothing about the schedule. */
static const char *const keys[] = {"name",
                                   "collective",
                                   "colletive",
                                   "protocol",
                                   "inplace",
                                   "reuse_resources",
                                   "gpus",
                                   "num_threads_per_block",
                                   "use_double_scratch_buffer",
                                   "buffer_alignment",
                                   "min_message_size",
                                   "max_message_size",
                                   "id",
                                   "input_chunks",
                                   "output_chunks",
                                   "scratch_chunks",
                                   "inputChunks",
                                   "outputChunks",
                                   "scratchChunks",
                                   "chunkGroups",
                                   "threadblocks",
                                   "channels",
                                   "remote_buffers",
                                   "semaphores",
                                   "ops",
                                   "remote_buffer_refs",
                                   "channel_type",
                                   "type",
                                   "connected_to",
                                   "connectedTo",
                                   "buffer_type",
                                   "buff",
                                   "rank_groups",
                                   "rankGroups",
                                   "srcbuff",
                                   "dstbuff",
                                   "rank",
                                   "access_channel_types",
                                   "init_value",
                                   "access_channel_type",
                                   "remote_buffer_ids",
                                   "channel_ids",
                                   "src",
                                   "dst",
                                   "ctype",
                                   "cids",
                                   "src_buff",
                                   "dst_buff",
                                   "index",
                                   "size",
                                   "buffer_id",
                                   "switch_channel_id",
                                   "reduce_op",
                                   "tbg_info",
                                   "tb_id",
                                   "tbg_size",
                                   "barrier_id",
                                   "num_threadblocks",
                                   "nthread_blocks",
                                   "semaphore_ids",
                                   "iter_context",
                                   "unit_size",
                                   "num_chunks",
                                   "o_buff",
                                   "i_buff",
                                   "o_cids",
                                   "i_cids",
                                   "off",
                                   "srcs",
                                   "dsts",
                                   "srcoff",
                                   "dstoff",
                                   "cnt",
                                   "deps",
                                   "tb",
                                   "step",
                                   "output_channel_ids",
                                   "ranks",
                                   "version"};

/* A channel, or a buffer of another gpu, as a thread block lists it for a type. */
struct tb_lists {
    uint32_t *channel[PLAN_CHANNEL_TYPES]; /* the gpu's numbers of that type */
    uint32_t channels[PLAN_CHANNEL_TYPES];
    uint32_t *buffer[PLAN_CHANNEL_TYPES]; /* the gpu's remote_buffers */
    uint32_t buffers[PLAN_CHANNEL_TYPES];
};

struct remote_buffer {
    uint32_t rank;
    uint8_t buffer;
};

struct plan_reading {
    struct plan *plan;
    bool older; /* the schema */
    uint32_t gpu, tb;
    struct plan_channel *channel[PLAN_CHANNEL_TYPES]; /* of the gpu, in the order of the file */
    uint32_t channels[PLAN_CHANNEL_TYPES];
    struct remote_buffer *remote;
    uint32_t remotes;
    struct tb_lists tb_lists;
};

void plan_fault(const struct plan *plan, struct msccl_place place, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    msccl_fault(plan->faults, plan->path, place, "%s", text);
}

static struct msccl_place place_of(const struct config_node *node)
{
    return (struct msccl_place){node->place.line, node->place.column};
}

static void *take(struct plan_reading *r, size_t count, size_t size)
{
    void *const memory = config_arena_alloc(&r->plan->arena, count * size + 1);
    r->plan->faults->no_memory |= memory == NULL;
    return memory;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* The value of a key; NULL: it is not there. */
static const struct config_node *get(const struct config_node *mapping, const char *key)
{
    if (mapping == NULL || mapping->kind != CONFIG_MAPPING)
        return NULL;
    for (const struct config_node *at = mapping->first; at != NULL; at = at->next)
        if (strlen(key) == at->bytes && memcmp(at->text, key, at->bytes) == 0)
            return at->value;
    return NULL;
}

/* Of two keys, the newer schema's and the older's, the one that is there. */
static const struct config_node *get_either(const struct config_node *mapping, const char *key,
                                            const char *older)
{
    const struct config_node *const value = get(mapping, key);
    return value != NULL ? value : get(mapping, older);
}

static uint32_t length_of(const struct config_node *list)
{
    uint32_t length = 0;
    for (const struct config_node *at = list != NULL ? list->first : NULL; at != NULL;
         at = at->next)
        length++;
    return length;
}

/* A list that must be one; NULL is an empty one. False: it is none, which is reported. */
static bool is_list(const struct plan_reading *r, const struct config_node *node, const char *what)
{
    char quoted[TEXT_QUOTE_BYTES];
    if (node == NULL || node->kind == CONFIG_SEQUENCE)
        return true;
    plan_fault(r->plan, place_of(node), "%s is %s; legal is a list", what,
               config_quote_node(node, quoted));
    return false;
}

/* A whole number; reports one that is missing (absent UINT64_MAX) or not in its range. */
static uint64_t number_at(const struct plan_reading *r, const struct config_node *in,
                          const char *key, const struct config_node *node, uint64_t most,
                          uint64_t absent)
{
    char quoted[TEXT_QUOTE_BYTES];
    uint64_t value;
    if (node == NULL && absent != UINT64_MAX)
        return absent;
    if (node == NULL)
        plan_fault(r->plan, place_of(in), "there is no %s; legal is 0 to %llu", key,
                   (unsigned long long)most);
    else if (node->kind == CONFIG_SCALAR && node->plain && node->bytes > 0 &&
             text_whole(node->text, node->bytes, most, &value) == node->bytes)
        return value;
    else
        plan_fault(r->plan, place_of(node), "%s is %s; legal is 0 to %llu", key,
                   config_quote_node(node, quoted), (unsigned long long)most);
    return 0;
}

static uint32_t get_number(const struct plan_reading *r, const struct config_node *in,
                           const char *key, uint32_t most, uint64_t absent)
{
    return (uint32_t)number_at(r, in, key, get(in, key), most, absent);
}

static bool is_text(const struct config_node *node, const char *text)
{
    return node != NULL && node->kind == CONFIG_SCALAR && node->bytes == strlen(text) &&
           memcmp(node->text, text, node->bytes) == 0;
}

static bool get_bool(const struct plan_reading *r, const struct config_node *in, const char *key,
                     bool absent)
{
    char quoted[TEXT_QUOTE_BYTES];
    const struct config_node *const node = get(in, key);
    if (node == NULL)
        return absent;
    if (!is_text(node, "true") && !is_text(node, "false"))
        plan_fault(r->plan, place_of(node), "%s is %s; legal is true or false", key,
                   config_quote_node(node, quoted));
    return is_text(node, "true");
}

/* A number of a list of names; reports another text. */
static unsigned choice_at(const struct plan_reading *r, const struct config_node *in,
                          const char *key, const struct config_node *node,
                          const char *const *choice, unsigned count, const char *legal)
{
    char quoted[TEXT_QUOTE_BYTES];
    for (unsigned i = 0; i < count; i++)
        if (is_text(node, choice[i]))
            return i;
    if (node == NULL)
        plan_fault(r->plan, place_of(in), "there is no %s; legal is %s", key, legal);
    else
        plan_fault(r->plan, place_of(node), "%s is %s; legal is %s", key,
                   config_quote_node(node, quoted), legal);
    return 0;
}

static uint8_t buffer_at(const struct plan_reading *r, const struct config_node *in,
                         const char *key, const struct config_node *node)
{
    static const char *const choice[] = {"i", "o", "s"};
    return (uint8_t)choice_at(r, in, key, node, choice, 3, "i, o or s");
}

enum { TYPE_NONE = PLAN_CHANNEL_TYPES }; /* after memory, port and switch */
static unsigned type_at(const struct plan_reading *r, const struct config_node *in, const char *key,
                        const struct config_node *node)
{
    static const char *const newer[] = {"memory", "port", "switch", "none"}, *const older[] = {
                                                                                 "sm", "proxy",
                                                                                 "nvls", "none"};
    return r->older ? choice_at(r, in, key, node, older, 4, "sm, proxy, nvls or none")
                    : choice_at(r, in, key, node, newer, 4, "memory, port, switch or none");
}

static bool is_known(const struct config_node *key)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (is_text(key, keys[i]))
            return true;
    return false;
}

/* A key that looks like a misspelt one is refused; others are extensions, which notes name. */
static void refuse_key(const struct plan_reading *r, const struct config_node *key)
{
    struct text_nearest nearest = {0};
    char quoted[TEXT_QUOTE_BYTES];
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        text_nearest_try(&nearest, key->text, keys[i]);
    text_quote_key(key->text, key->bytes, quoted);
    if (nearest.best != NULL)
        plan_fault(r->plan, place_of(key), "there is no key %s; did you mean '%s'?", quoted,
                   nearest.best);
    else
        msccl_fault(r->plan->notes, r->plan->path, place_of(key),
                    "key %s is not of the format, and has no effect", quoted);
}

static void check_keys(const struct plan_reading *r, const struct config_node *node)
{
    const bool has_keys = node->kind == CONFIG_MAPPING;
    for (const struct config_node *at = node->first; at != NULL; at = at->next) {
        const struct config_node *const value = has_keys ? at->value : at;
        if (has_keys && !is_known(at))
            refuse_key(r, at);
        if (value != NULL && value->kind != CONFIG_SCALAR)
            check_keys(r, value);
    }
}

/* ---- channels and buffers of a gpu ----------------------------------------------------------- */

/* How many channels of the type the gpu has to the peer so far. */
static uint32_t channels_to(const struct plan_reading *r, unsigned type, uint32_t peer)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->channels[type]; i++)
        count += r->channel[type][i].peer == peer;
    return count;
}

static void read_channels_of(struct plan_reading *r, const struct config_node *list, bool counts)
{
    for (const struct config_node *at = list != NULL ? list->first : NULL; at != NULL;
         at = at->next) {
        const unsigned type =
            type_at(r, at, "channel_type", get_either(at, "channel_type", "type"));
        const struct config_node *const peers = get_either(at, "connected_to", "connectedTo");
        if (type >= PLAN_NVLS) /* a switch's, which operations refuse */
            continue;
        if (!is_list(r, peers, "connected_to"))
            return;
        struct plan_channel channel = {.type = (uint8_t)type};
        if (r->older && !counts) {
            channel.src = buffer_at(r, at, "srcbuff", get(at, "srcbuff"));
            channel.dst = buffer_at(r, at, "dstbuff", get(at, "dstbuff"));
        }
        for (const struct config_node *peer = peers != NULL ? peers->first : NULL; peer != NULL;
             peer = peer->next) {
            if (!counts) {
                channel.peer = (uint32_t)number_at(r, at, "a gpu of connected_to", peer,
                                                   r->plan->gpu_count - 1, UINT64_MAX);
                channel.number = channels_to(r, type, channel.peer);
                if (channel.peer == r->gpu)
                    plan_fault(r->plan, place_of(peer), "gpu %u is connected to itself", r->gpu);
                r->channel[type][r->channels[type]] = channel;
            }
            r->channels[type]++;
        }
    }
}

static void read_channels(struct plan_reading *r, const struct config_node *gpu)
{
    const struct config_node *const list = get(gpu, "channels");
    memset(r->channels, 0, sizeof r->channels);
    if (!is_list(r, list, "channels"))
        return;
    read_channels_of(r, list, true);
    for (unsigned type = 0; type < PLAN_CHANNEL_TYPES; type++) {
        r->channel[type] = take(r, r->channels[type], sizeof *r->channel[type]);
        r->channels[type] = 0;
    }
    if (!r->plan->faults->no_memory && r->plan->faults->count == 0)
        read_channels_of(r, list, false);
}

static void read_remote_buffers(struct plan_reading *r, const struct config_node *gpu)
{
    const struct config_node *const list = get(gpu, "remote_buffers");
    r->remotes = 0;
    if (!is_list(r, list, "remote_buffers"))
        return;
    r->remote = take(r, length_of(list), sizeof *r->remote);
    for (const struct config_node *at = list != NULL ? list->first : NULL;
         at != NULL && r->remote != NULL; at = at->next)
        r->remote[r->remotes++] =
            (struct remote_buffer){get_number(r, at, "rank", r->plan->gpu_count - 1, UINT64_MAX),
                                   buffer_at(r, at, "type", get(at, "type"))};
}

static void read_semaphores(struct plan_reading *r, const struct config_node *node,
                            struct plan_gpu *gpu)
{
    const struct config_node *const list = get(node, "semaphores");
    if (!is_list(r, list, "semaphores"))
        return;
    gpu->semaphore = take(r, length_of(list), sizeof *gpu->semaphore);
    for (const struct config_node *at = list != NULL ? list->first : NULL;
         at != NULL && gpu->semaphore != NULL; at = at->next)
        gpu->semaphore[gpu->semaphore_count++] =
            get_number(r, at, "init_value", INT32_MAX, UINT64_MAX);
}

/* ---- a thread block's lists ------------------------------------------------------------------ */

static uint32_t *read_numbers(struct plan_reading *r, const struct config_node *in,
                              const struct config_node *list, const char *what, uint32_t most,
                              uint32_t *count)
{
    *count = 0;
    if (!is_list(r, list, what))
        return NULL;
    uint32_t *const number = take(r, length_of(list), sizeof *number);
    for (const struct config_node *at = list != NULL ? list->first : NULL;
         at != NULL && number != NULL; at = at->next)
        number[(*count)++] = (uint32_t)number_at(r, in, what, at, most, UINT64_MAX);
    return number;
}

static void append(struct plan_reading *r, uint32_t **list, uint32_t *count, const uint32_t *more,
                   uint32_t mores)
{
    uint32_t *const longer = take(r, (size_t)*count + mores, sizeof *longer);
    if (longer == NULL || mores == 0)
        return;
    if (*count > 0)
        memcpy(longer, *list, *count * sizeof *longer);
    memcpy(longer + *count, more, mores * sizeof *longer);
    *list = longer;
    *count += mores;
}

/* The gpu's channels of a pair of buffers, in the older schema, are numbered by themselves. */
static uint32_t channel_of_buffers(const struct plan_reading *r, const struct config_node *at,
                                   unsigned type, uint32_t number)
{
    const uint8_t src = buffer_at(r, at, "src", get(at, "src")),
                  dst = buffer_at(r, at, "dst", get(at, "dst"));
    uint32_t seen = 0;
    for (uint32_t i = 0; i < r->channels[type]; i++)
        if (r->channel[type][i].src == src && r->channel[type][i].dst == dst && seen++ == number)
            return i;
    plan_fault(r->plan, place_of(at),
               "the gpu has %u such channels from %c to %c, and %u is named; legal is less", seen,
               schedule_buffer_letter(src), schedule_buffer_letter(dst), number);
    return 0;
}

static void read_tb_lists(struct plan_reading *r, const struct config_node *tb)
{
    const struct config_node *const channels = get(tb, "channels"), *const refs = get(
                                                                        tb, "remote_buffer_refs");
    struct tb_lists *const lists = &r->tb_lists;
    *lists = (struct tb_lists){0};
    if (!is_list(r, channels, "channels") || !is_list(r, refs, "remote_buffer_refs"))
        return;
    for (const struct config_node *at = channels != NULL ? channels->first : NULL; at != NULL;
         at = at->next) {
        const unsigned type =
            type_at(r, at, "channel_type", get_either(at, "channel_type", "ctype"));
        uint32_t count, *number;
        if (type >= PLAN_NVLS)
            continue;
        number = read_numbers(r, at, get_either(at, "channel_ids", "cids"), "a channel of the gpu",
                              r->channels[type] > 0 ? r->channels[type] - 1 : 0, &count);
        for (uint32_t i = 0; i < count && r->older; i++)
            number[i] = channel_of_buffers(r, at, type, number[i]);
        if (count > 0 && r->channels[type] == 0)
            plan_fault(r->plan, place_of(at), "the gpu has no channels of this type");
        append(r, &lists->channel[type], &lists->channels[type], number, count);
    }
    for (const struct config_node *at = refs != NULL ? refs->first : NULL; at != NULL;
         at = at->next) {
        const unsigned type = type_at(r, at, "access_channel_type", get(at, "access_channel_type"));
        uint32_t count, *number;
        if (type >= PLAN_NVLS)
            continue;
        number = read_numbers(r, at, get(at, "remote_buffer_ids"), "a number of remote_buffers",
                              r->remotes > 0 ? r->remotes - 1 : 0, &count);
        if (count > 0 && r->remotes == 0)
            plan_fault(r->plan, place_of(at), "the gpu has no remote_buffers");
        append(r, &lists->buffer[type], &lists->buffers[type], number, count);
    }
}

/* ---- operations: the newer schema ------------------------------------------------------------ */

static struct plan_operand new_operand(const struct plan_reading *r, const struct config_node *at,
                                       unsigned type)
{
    const struct config_node *const id = get(at, "buffer_id");
    struct plan_operand operand = {.place = place_of(at),
                                   .rank = r->gpu,
                                   .at = get_number(r, at, "index", MSCCL_CHUNKS_MAX, UINT64_MAX),
                                   .count =
                                       get_number(r, at, "size", MSCCL_CHUNKS_MAX, UINT64_MAX)};
    if (id == NULL) {
        operand.buffer = buffer_at(r, at, "type", get(at, "type"));
        return operand;
    }
    const uint32_t buffers = type < PLAN_NVLS ? r->tb_lists.buffers[type] : 0;
    const uint32_t number = get_number(r, at, "buffer_id", MSCCL_CHUNKS_MAX, UINT64_MAX);
    if (number >= buffers || r->tb_lists.buffer[type][number] >= r->remotes) {
        plan_fault(r->plan, place_of(id),
                   "buffer_id is %u, and the thread block has %u remote_buffer_ids of the "
                   "operation's channel_type; legal is less",
                   number, buffers);
        return operand;
    }
    const struct remote_buffer *const remote = &r->remote[r->tb_lists.buffer[type][number]];
    operand.rank = remote->rank;
    operand.buffer = remote->buffer;
    return operand;
}

static struct plan_operand *new_operands(struct plan_reading *r, const struct config_node *op,
                                         const char *key, unsigned type, uint32_t *count)
{
    const struct config_node *const list = get(op, key);
    if (!is_list(r, list, key))
        return NULL;
    struct plan_operand *const operand = take(r, length_of(list), sizeof *operand);
    for (const struct config_node *at = list != NULL ? list->first : NULL;
         at != NULL && operand != NULL; at = at->next)
        operand[(*count)++] = new_operand(r, at, type);
    return operand;
}

static void new_channels(struct plan_reading *r, const struct config_node *node, unsigned type,
                         struct plan_op *op)
{
    const struct config_node *const list = get(node, "channel_ids");
    uint32_t count;
    const uint32_t *const number =
        read_numbers(r, node, list, "a number of channel_ids", MSCCL_CHUNKS_MAX, &count);
    op->channel = take(r, count, sizeof *op->channel);
    for (uint32_t i = 0; i < count && op->channel != NULL; i++) {
        const uint32_t channels = type < PLAN_NVLS ? r->tb_lists.channels[type] : 0;
        if (number[i] >= channels) {
            plan_fault(r->plan, place_of(list),
                       "channel %u of the thread block, which has %u of the operation's "
                       "channel_type; legal is less",
                       number[i], channels);
            return;
        }
        op->channel[op->channel_count++] = r->channel[type][r->tb_lists.channel[type][number[i]]];
    }
}

/* ---- operations: the older schema ------------------------------------------------------------ */

/* The thread block's channel `id` of those from one buffer to another; NULL: reported. */
static const struct plan_channel *old_channel(const struct plan_reading *r,
                                              const struct config_node *at,
                                              const struct config_node *buffers, unsigned type)
{
    const uint32_t id = get_number(r, at, "id", MSCCL_CHUNKS_MAX, UINT64_MAX);
    const uint8_t src = buffer_at(r, at, "src", get(buffers, "src")),
                  dst = buffer_at(r, at, "dst", get(buffers, "dst"));
    uint32_t seen = 0;
    for (uint32_t i = 0; type < PLAN_NVLS && i < r->tb_lists.channels[type]; i++) {
        const struct plan_channel *const channel = &r->channel[type][r->tb_lists.channel[type][i]];
        if (channel->src == src && channel->dst == dst && seen++ == id)
            return channel;
    }
    plan_fault(r->plan, place_of(at),
               "channel %u of the thread block, which has %u of this type from %c to %c; legal is "
               "less",
               id, seen, schedule_buffer_letter(src), schedule_buffer_letter(dst));
    return NULL;
}

static void add_operand(struct plan_operand *operand, uint32_t *count, struct plan_operand more)
{
    operand[(*count)++] = more;
}

/* `srcs`, or `dsts`. */
static void old_list(struct plan_reading *r, const struct config_node *op, const char *key,
                     uint32_t chunks, struct plan_operand *operand, uint32_t *count)
{
    const struct config_node *const list = get(op, key);
    if (!is_list(r, list, key))
        return;
    for (const struct config_node *at = list != NULL ? list->first : NULL; at != NULL;
         at = at->next)
        add_operand(
            operand, count,
            (struct plan_operand){.place = place_of(at),
                                  .rank = r->gpu,
                                  .buffer = buffer_at(r, at, "buff", get(at, "buff")),
                                  .at = get_number(r, at, "off", MSCCL_CHUNKS_MAX, UINT64_MAX),
                                  .count = chunks});
}

/* Chunks of peers, and the channels to them. */
static void old_peers(struct plan_reading *r, const struct config_node *op, bool out, unsigned type,
                      uint32_t chunks, struct plan_op *to, struct plan_operand *operand,
                      uint32_t *count)
{
    const struct config_node *const list = get(op, out ? "o_cids" : "i_cids"), *const buffers = get(
                                                                                   op,
                                                                                   out ? "o_buff"
                                                                                       : "i_buff");
    if (!is_list(r, list, out ? "o_cids" : "i_cids"))
        return;
    for (const struct config_node *at = list != NULL ? list->first : NULL; at != NULL;
         at = at->next) {
        const struct plan_channel *const channel = old_channel(r, at, buffers, type);
        if (channel == NULL)
            return;
        to->channel[to->channel_count++] = *channel;
        if (to->name->kind == PLAN_PAIRS || to->name->kind == PLAN_VALUE)
            add_operand(
                operand, count,
                (struct plan_operand){.place = place_of(at),
                                      .rank = channel->peer,
                                      .buffer = channel->dst,
                                      .at = get_number(r, at, "off", MSCCL_CHUNKS_MAX, UINT64_MAX),
                                      .count = chunks});
    }
}

static void old_operands(struct plan_reading *r, const struct config_node *node, unsigned type,
                         struct plan_op *op)
{
    const bool moves = op->name->kind == PLAN_PAIRS || op->name->kind == PLAN_VALUE;
    const uint32_t chunks = moves ? get_number(r, node, "cnt", MSCCL_CHUNKS_MAX, UINT64_MAX) : 0;
    const uint32_t peers = length_of(get(node, "o_cids")) + length_of(get(node, "i_cids"));
    op->channel = take(r, peers, sizeof *op->channel);
    op->src = take(r, (size_t)peers + length_of(get(node, "srcs")) + 1, sizeof *op->src);
    op->dst = take(r, (size_t)peers + length_of(get(node, "dsts")) + 1, sizeof *op->dst);
    if (r->plan->faults->no_memory)
        return;
    const struct config_node *const src = get(node, "srcbuff"), *const dst = get(node, "dstbuff");
    struct plan_operand own = {.place = op->place, .rank = r->gpu, .count = chunks};
    if (moves && src != NULL) {
        own.buffer = buffer_at(r, node, "srcbuff", src);
        own.at = get_number(r, node, "srcoff", MSCCL_CHUNKS_MAX, UINT64_MAX);
        add_operand(op->src, &op->src_count, own);
    }
    if (moves && dst != NULL) {
        own.buffer = buffer_at(r, node, "dstbuff", dst);
        own.at = get_number(r, node, "dstoff", MSCCL_CHUNKS_MAX, UINT64_MAX);
        add_operand(op->dst, &op->dst_count, own);
    }
    if (moves) {
        old_list(r, node, "srcs", chunks, op->src, &op->src_count);
        old_list(r, node, "dsts", chunks, op->dst, &op->dst_count);
    }
    old_peers(r, node, false, type, chunks, op, op->src, &op->src_count);
    old_peers(r, node, true, type, chunks, op, op->dst, &op->dst_count);
}

/* Waits that a nop names: of other thread blocks. */
static void read_deps(struct plan_reading *r, const struct config_node *node, struct plan_op *op)
{
    const struct config_node *const list = get(node, "deps");
    if (!is_list(r, list, "deps"))
        return;
    op->wait = take(r, length_of(list), sizeof *op->wait);
    for (const struct config_node *at = list != NULL ? list->first : NULL;
         at != NULL && op->wait != NULL; at = at->next) {
        const struct schedule_wait wait = {
            .thread = get_number(r, at, "tb", TBS_MAX, UINT64_MAX),
            .step = get_number(r, at, "step", MSCCL_CHUNKS_MAX, UINT64_MAX)};
        if (wait.thread != r->tb)
            op->wait[op->list_count++] = wait;
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static const struct plan_name *name_of(const struct plan_reading *r, const struct config_node *node)
{
    const struct config_node *const name = get(node, "name");
    char quoted[TEXT_QUOTE_BYTES], legal[400] = "";
    size_t n = 0;
    for (size_t i = 0; i < NAMES; i++)
        if (is_text(name, names[i].name))
            return &names[i];
    for (size_t i = 0; i < NAMES && n < sizeof legal; i++)
        n +=
            (size_t)snprintf(legal + n, sizeof legal - n, "%s%s", i > 0 ? ", " : "", names[i].name);
    if (name == NULL)
        plan_fault(r->plan, place_of(node), "an operation without a name; legal are %s", legal);
    else
        plan_fault(r->plan, place_of(name), "operation %s; legal are %s",
                   config_quote_node(name, quoted), legal);
    return NULL;
}

/* Thread blocks that share an operation take a part each. */
static void read_part(struct plan_reading *r, const struct config_node *node, struct plan_op *op)
{
    const struct config_node *const info = get(node, "tbg_info");
    op->parts = 1;
    if (info == NULL)
        return;
    op->parts = get_number(r, info, "tbg_size", PARTS_MAX, UINT64_MAX);
    if (op->parts == 0)
        plan_fault(r->plan, place_of(info), "tbg_size is 0; legal is 1 to %d", PARTS_MAX);
    op->parts += op->parts == 0;
    op->part = get_number(r, info, "tb_id", op->parts - 1, UINT64_MAX);
}

static void check_sums(const struct plan_reading *r, const struct config_node *node)
{
    const struct config_node *const op = get(node, "reduce_op");
    char quoted[TEXT_QUOTE_BYTES];
    if (op != NULL && !is_text(op, "sum"))
        plan_fault(r->plan, place_of(op), "reduce_op is %s; legal is sum",
                   config_quote_node(op, quoted));
}

/* Sources and destinations are as many, and of the counts, that the operation has. */
static void check_operands(const struct plan_reading *r, const struct plan_op *op)
{
    const bool pairs = op->name->kind == PLAN_PAIRS;
    if (!pairs && op->name->kind != PLAN_VALUE)
        return;
    if (op->src_count == 0 || op->dst_count == 0 || op->src_count > OPERANDS_MAX ||
        op->dst_count > OPERANDS_MAX ||
        (pairs && op->src_count != op->dst_count && op->src_count != 1)) {
        plan_fault(r->plan, op->place, "%s has %u sources and %u destinations; legal is %s",
                   op->name->name, op->src_count, op->dst_count,
                   pairs ? "a source for each destination, or one" : "1 to 64 of each");
        return;
    }
    for (uint32_t i = 0; i < op->src_count + op->dst_count; i++) {
        const bool is_src = i < op->src_count;
        const struct plan_operand *const x = is_src ? &op->src[i] : &op->dst[i - op->src_count];
        const uint32_t count = pairs && !is_src && op->src_count > 1
                                   ? op->src[i - op->src_count].count
                               : pairs && is_src && op->src_count > 1 ? x->count
                                                                      : op->src[0].count;
        if (x->count != count || count == 0) {
            plan_fault(r->plan, x->place,
                       "%s moves %u chunks here, and %u of its source; legal is "
                       "as many, and 1 at least",
                       op->name->name, x->count, count);
            return;
        }
        if (is_src && x->rank != r->gpu && (op->name->flags & PLAN_READS) == 0) {
            plan_fault(r->plan, x->place, "%s reads a chunk of gpu %u; legal are chunks of its own",
                       op->name->name, x->rank);
            return;
        }
    }
}

static void refuse_switch(const struct plan_reading *r, const struct plan_op *op)
{
    plan_fault(r->plan, op->place,
               "%s goes through a switch channel (NVLS): a plan cannot ask the machine's switches "
               "to reduce or to send to all; legal are put, get and the operations of memory and "
               "port channels",
               op->name->name);
}

static void read_ops(struct plan_reading *r, const struct config_node *list, struct plan_tb *tb,
                     struct plan_op *pipeline);

static void read_pipeline(struct plan_reading *r, const struct config_node *node,
                          struct plan_tb *tb, uint32_t at)
{
    const struct config_node *const context = get(node, "iter_context");
    const uint32_t first = tb->op_count;
    struct plan_op *const op = &tb->op[at];
    if (context == NULL) {
        plan_fault(r->plan, op->place,
                   "a pipeline without an iter_context; legal is one with "
                   "unit_size and num_chunks");
        return;
    }
    op->unit_bytes =
        number_at(r, context, "unit_size", get(context, "unit_size"), UINT32_MAX, UINT64_MAX);
    op->unit_chunks = get_number(r, context, "num_chunks", UNITS_MAX, UINT64_MAX);
    if (op->unit_bytes == 0)
        plan_fault(r->plan, place_of(context), "unit_size is 0; legal is 1 at least");
    r->plan->pipelines = true;
    read_ops(r, get(node, "ops"), tb, op);
    op->inside = tb->op_count - first;
}

static void read_op(struct plan_reading *r, const struct config_node *node, struct plan_tb *tb,
                    const struct plan_op *pipeline, uint32_t number)
{
    const struct plan_name *const name = name_of(r, node);
    if (name == NULL)
        return;
    const uint32_t at = tb->op_count++;
    struct plan_op *const op = &tb->op[at];
    const struct config_node *const type_node = get_either(node, "channel_type", "ctype");
    const unsigned type =
        type_node != NULL ? type_at(r, node, "channel_type", type_node) : (unsigned)TYPE_NONE;
    *op = (struct plan_op){.place = place_of(node),
                           .name = name,
                           .number = pipeline != NULL ? pipeline->number : number,
                           .by_port = type == PLAN_PORT};
    read_part(r, node, op);
    check_sums(r, node);
    if (name->kind == PLAN_SWITCH || type == PLAN_NVLS) {
        refuse_switch(r, op);
        return;
    }
    if (name->kind == PLAN_PIPELINE && pipeline == NULL)
        read_pipeline(r, node, tb, at);
    else if (name->kind == PLAN_PIPELINE)
        plan_fault(r->plan, op->place, "a pipeline inside a pipeline; legal is one in none");
    else if (r->older)
        old_operands(r, node, type, op);
    else {
        op->src = new_operands(r, node, "src_buff", type, &op->src_count);
        op->dst = new_operands(r, node, "dst_buff", type, &op->dst_count);
        new_channels(r, node, type, op);
    }
    if (name->kind == PLAN_BARRIER) {
        op->id = get_number(r, node, "barrier_id", TBS_MAX, UINT64_MAX);
        op->count = (uint32_t)number_at(r, node, "num_threadblocks",
                                        get_either(node, "num_threadblocks", "nthread_blocks"),
                                        TBS_MAX, UINT64_MAX);
    }
    if (name->kind == PLAN_ACQUIRE || name->kind == PLAN_RELEASE) {
        const uint32_t semaphores = r->plan->gpu[r->gpu].semaphore_count;
        op->semaphore = read_numbers(r, node, get(node, "semaphore_ids"), "a semaphore of the gpu",
                                     semaphores > 0 ? semaphores - 1 : 0, &op->list_count);
        if (op->list_count > 0 && semaphores == 0)
            plan_fault(r->plan, op->place, "gpu %u has no semaphores", r->gpu);
    }
    if (name->kind == PLAN_NOP)
        read_deps(r, node, op);
    if ((name->kind == PLAN_SIGNAL || name->kind == PLAN_WAIT ||
         (name->flags & PLAN_SIGNALS) != 0) &&
        op->channel_count == 0 && r->plan->faults->count == 0)
        plan_fault(r->plan, op->place, "%s names no channel; legal is one at least", name->name);
    if (r->plan->faults->count == 0)
        check_operands(r, op);
}

static uint32_t ops_in(const struct config_node *list)
{
    uint32_t count = 0;
    for (const struct config_node *at = list != NULL ? list->first : NULL; at != NULL;
         at = at->next)
        count += 1 + length_of(get(at, "ops"));
    return count;
}

static void read_ops(struct plan_reading *r, const struct config_node *list, struct plan_tb *tb,
                     struct plan_op *pipeline)
{
    uint32_t number = 0;
    if (!is_list(r, list, "ops"))
        return;
    for (const struct config_node *at = list != NULL ? list->first : NULL;
         at != NULL && tb->op_count < tb->op_room && !r->plan->faults->no_memory; at = at->next)
        read_op(r, at, tb, pipeline, number++);
}

/* ---- gpus ------------------------------------------------------------------------------------ */

static void read_tb(struct plan_reading *r, const struct config_node *node, struct plan_gpu *gpu)
{
    const uint32_t id = get_number(r, node, "id", gpu->tb_count - 1, UINT64_MAX);
    struct plan_tb *const tb = &gpu->tb[id];
    const struct config_node *const ops = get(node, "ops");
    if (tb->place.line != 0) {
        plan_fault(r->plan, place_of(node),
                   "gpu %u has thread block %u twice; legal are 0 to %u, "
                   "each once",
                   r->gpu, id, gpu->tb_count - 1);
        return;
    }
    tb->place = place_of(node);
    tb->op_room = ops != NULL && ops->kind == CONFIG_SEQUENCE ? ops_in(ops) : 0;
    tb->op = take(r, tb->op_room, sizeof *tb->op);
    r->tb = id;
    read_tb_lists(r, node);
    if (r->plan->faults->count == 0 && !r->plan->faults->no_memory)
        read_ops(r, ops, tb, NULL);
}

static void read_gpu(struct plan_reading *r, const struct config_node *node, struct plan_gpu *gpu)
{
    static const char *const newer[] = {"input_chunks", "output_chunks", "scratch_chunks"},
                             *const older[] = {"inputChunks", "outputChunks", "scratchChunks"};
    const struct config_node *const tbs = get(node, "threadblocks");
    gpu->place = place_of(node);
    for (int buffer = 0; buffer < SCHEDULE_BUFFERS; buffer++)
        gpu->chunks[buffer] =
            get_number(r, node, (r->older ? older : newer)[buffer], MSCCL_CHUNKS_MAX, UINT64_MAX);
    read_channels(r, node);
    read_remote_buffers(r, node);
    read_semaphores(r, node, gpu);
    if (!is_list(r, tbs, "threadblocks"))
        return;
    gpu->tb_count = length_of(tbs);
    if (gpu->tb_count > TBS_MAX)
        plan_fault(r->plan, gpu->place, "gpu %u has %u thread blocks; legal is up to %d", r->gpu,
                   gpu->tb_count, TBS_MAX);
    gpu->tb = take(r, gpu->tb_count, sizeof *gpu->tb);
    for (const struct config_node *at = tbs != NULL ? tbs->first : NULL;
         at != NULL && gpu->tb != NULL && r->plan->faults->count == 0; at = at->next)
        read_tb(r, at, gpu);
}

static void read_gpus(struct plan_reading *r, const struct config_node *list)
{
    struct plan *const plan = r->plan;
    plan->gpu = take(r, plan->gpu_count, sizeof *plan->gpu);
    for (const struct config_node *at = list->first;
         at != NULL && plan->gpu != NULL && plan->faults->count == 0; at = at->next) {
        r->gpu = get_number(r, at, "id", plan->gpu_count - 1, UINT64_MAX);
        if (plan->faults->count > 0)
            return;
        if (plan->gpu[r->gpu].place.line != 0)
            plan_fault(plan, place_of(at), "gpu %u is there twice; legal are 0 to %u, each once",
                       r->gpu, plan->gpu_count - 1);
        else
            read_gpu(r, at, &plan->gpu[r->gpu]);
    }
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Others than those that are known are found by the steps. */
static enum ccl_collective collective_of(const struct config_node *node)
{
    enum ccl_collective collective = CCL_CUSTOM;
    if (node != NULL && node->kind == CONFIG_SCALAR)
        (void)msccl_collective_of(node->text, &collective);
    return collective;
}

static void read_head(struct plan_reading *r, const struct config_node *root)
{
    static const char *const protocols[] = {"Simple", "LL"};
    struct plan *const plan = r->plan;
    const struct config_node *const name = get(root, "name"), *const gpus = get(root, "gpus");
    const struct config_node *const protocol = get(root, "protocol");
    plan->collective = collective_of(get_either(root, "collective", "colletive"));
    plan->packets = protocol != NULL &&
                    choice_at(r, root, "protocol", protocol, protocols, 2, "Simple or LL") == 1;
    plan->in_place = get_bool(r, root, "inplace", false);
    (void)get_bool(r, root, "reuse_resources", false);
    const bool doubles = get_bool(r, root, "use_double_scratch_buffer", r->older && plan->packets);
    plan->scratch_times = (plan->packets ? 2 : 1) * (doubles ? 2 : 1);
    plan->min_bytes =
        number_at(r, root, "min_message_size", get(root, "min_message_size"), UINT64_MAX - 1, 0);
    const struct config_node *const most = get(root, "max_message_size");
    plan->max_bytes = most == NULL || is_text(most, "18446744073709551615")
                          ? 0
                          : number_at(r, root, "max_message_size", most, UINT64_MAX - 1, 0);
    snprintf(plan->name, sizeof plan->name, "%.60s",
             name != NULL && name->kind == CONFIG_SCALAR ? name->text : "plan");
    plan->gpu_count = length_of(gpus);
    if (gpus == NULL)
        plan_fault(plan, place_of(root), "there are no gpus; legal is a list of them");
    else if (is_list(r, gpus, "gpus") && (plan->gpu_count == 0 || plan->gpu_count > GPUS_MAX))
        plan_fault(plan, place_of(gpus), "there are %u gpus; legal is 1 to %d", plan->gpu_count,
                   GPUS_MAX);
}

/* The schema, by the first gpu. */
static bool is_older(const struct config_node *root)
{
    const struct config_node *const gpus = get(root, "gpus");
    return gpus != NULL && gpus->kind == CONFIG_SEQUENCE && get(gpus->first, "inputChunks") != NULL;
}

/* Lines of the reader of configurations, which say where they are. */
static void take_errors(const struct plan *plan, const struct config_errors *errors)
{
    static const char not_yaml[] = "not YAML: ";
    for (size_t i = 0; i < errors->count; i++) {
        const struct config_error *const error = &errors->list[i];
        const char *text = strlen(error->text) > strlen(plan->path)
                               ? strstr(error->text + strlen(plan->path), ": ")
                               : NULL;
        text = text != NULL ? text + 2 : error->text;
        const bool is_syntax = strncmp(text, not_yaml, sizeof not_yaml - 1) == 0;
        plan_fault(plan, (struct msccl_place){error->line, error->column}, "%s%s",
                   is_syntax ? "not JSON: " : "", text + (is_syntax ? sizeof not_yaml - 1 : 0));
    }
}

void plan_read(struct plan *plan, const char *text, size_t bytes)
{
    struct config_errors errors = {0};
    struct config_arena scratch = {0};
    struct config_loader loader = {.arena = &scratch, .scratch = &scratch, .errors = &errors};
    const uint32_t source = config_source_add(
        &loader, &(struct config_source){.name = plan->path, .is_file = true, .is_list = true});
    const struct config_node *const root =
        source != 0 ? config_parse(&loader, source, text, bytes) : NULL;
    struct plan_reading r = {.plan = plan, .older = is_older(root)};
    take_errors(plan, &errors);
    if (root != NULL && root->kind != CONFIG_MAPPING)
        plan_fault(plan, place_of(root), "legal is an execution plan: an object with gpus");
    else if (root != NULL && errors.count == 0)
        read_head(&r, root);
    if (root != NULL && plan->faults->count == 0)
        check_keys(&r, root);
    if (root != NULL && plan->faults->count == 0)
        read_gpus(&r, get(root, "gpus"));
    if (root == NULL && plan->faults->count == 0 && !scratch.failed)
        plan_fault(plan, (struct msccl_place){1, 1}, "there is nothing; legal is a plan");
    plan->faults->no_memory |= scratch.failed || plan->arena.failed;
    config_errors_free(&errors);
    config_arena_free(&scratch);
}
