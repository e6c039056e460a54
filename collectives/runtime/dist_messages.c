/*
 * dist_messages.c: the messages of uneven all-to-alls, gathers, scatters, sends and receives: which
 * elements each moves, and whether both ends agree (dist_messages.h). A rank's call is launched
 * when it is made, so ends are compared when the later one is made. Between drains, one thread.
 */
#include "collectives/runtime/dist_messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/runtime/dist_check.h"
#include "collectives/runtime/dist_internal.h"

/* ---- a rank's messages ----------------------------------------------------------------------- */

static struct dist_messages *create_messages(uint32_t sends, uint32_t receives)
{
    struct dist_messages *const m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->list.send = calloc((size_t)sends + 1, sizeof *m->list.send);
    m->list.receive = calloc((size_t)receives + 1, sizeof *m->list.receive);
    if (m->list.send != NULL && m->list.receive != NULL)
        return m;
    dist_free_messages(m);
    return NULL;
}

void dist_free_messages(struct dist_messages *messages)
{
    if (messages == NULL)
        return;
    free(messages->list.send);
    free(messages->list.receive);
    free(messages->sent);
    free(messages->received);
    free(messages);
}

bool dist_tensor_of(const struct submission *submission, uint32_t i, struct tensor **tensor,
                    bool *changes)
{
    const struct dist_messages *const m = submission->messages;
    struct tensor *const own[] = {submission->in, submission->out, submission->operands};
    enum { OWN = sizeof own / sizeof *own };
    *changes = i > 0;
    *tensor = i < OWN ? own[i] : NULL;
    if (i < OWN)
        return true;
    if (m == NULL || m->sent == NULL || i - OWN >= m->list.send_count + m->list.receive_count)
        return false;
    *changes = i - OWN >= m->list.send_count;
    *tensor = *changes ? m->received[i - OWN - m->list.send_count] : m->sent[i - OWN];
    return true;
}

static void add_message(struct schedule_message *list, uint32_t *count, uint32_t peer,
                        const struct tensor *tensor, uint64_t first, uint64_t elems)
{
    struct schedule_message *const at = &list[*count];
    *at = (struct schedule_message){.peer = peer, .number = (*count)++, .elems = elems};
    if (tensor == NULL)
        return;
    at->dtype = (enum lp_dtype)tensor->dtype;
    at->va = tensor->window_va + first * tensor->item_bytes;
    at->pa = tensor->hbm_offset + first * tensor->item_bytes;
}

uint32_t dist_messages_threads(const struct dist_messages *messages, uint32_t rank,
                               const uint32_t *pe, uint32_t count, uint32_t *out)
{
    const struct schedule_program *const program = messages->program;
    const uint32_t pes_of_sip = hw_cubes(program->hw) * hw_pes(program->hw);
    uint32_t needed = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t thread = schedule_program_thread(program, rank, pe[i] % pes_of_sip);
        if (schedule_messages_ways(&messages->list, program, rank, thread) != 0)
            out[needed++] = pe[i];
    }
    return needed;
}

/* ---- what all calls of messages check -------------------------------------------------------- */

/* The steps of the group's algorithm. Ends the worker if they cannot carry messages. */
static const struct schedule_program *program_for(const char *call, const struct dist_group *group)
{
    struct cw_error error;
    if (!group->dist->open)
        mp_fail(CW_PROGRAM_FAILED,
                "%s before dist_init_process_group: the queues are not installed", call);
    const struct schedule_program *const program = install_plans_program(group->plans);
    if (dist_rank_in(group, (uint32_t)mp_rank()) == UINT32_MAX)
        mp_fail(CW_PROGRAM_FAILED, "%s: rank %d is not in the group%s%s", call, mp_rank(),
                group->name[0] != '\0' ? " " : "", group->name);
    if (program != NULL && program->schedule->direct)
        return program;
    (void)cw_error_set(&error, CW_USAGE,
                       "%s: %s moves equal blocks only; legal: pairwise_all_to_all", call,
                       install_plan_of(group->plans, 0).algorithm->name);
    (void)dist_refuse(group->config, "defaults.algorithm", &error);
    mp_fail(error.exit_code, "%s", cw_error_text(&error));
}

/* ---- all-to-all ------------------------------------------------------------------------------ */

/* One side's sizes are the tensor's elements. */
static void check_splits(const struct tensor *tensor, const uint64_t *splits, uint32_t ranks,
                         const char *side)
{
    const uint64_t elems = tensor != NULL ? tensor->shard_elems : 0;
    uint64_t sum = 0;
    if (splits == NULL)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_all_to_all_v: no %s_splits (NULL); legal: a number for each of %u ranks",
                side, ranks);
    for (uint32_t i = 0; i < ranks; i++) {
        if (splits[i] > elems - sum)
            mp_fail(CW_PROGRAM_FAILED,
                    "dist_all_to_all_v: %s_splits[%u] is %llu, and %llu of the %s's %llu elements "
                    "are left; legal: sizes that add up to the elements of a shard",
                    side, i, (unsigned long long)splits[i], (unsigned long long)(elems - sum), side,
                    (unsigned long long)elems);
        sum += splits[i];
    }
    if (sum < elems)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_all_to_all_v: the %s_splits add up to %llu, and the %s has %llu elements; "
                "legal: sizes that add up to the elements of a shard",
                side, (unsigned long long)sum, side, (unsigned long long)elems);
}

/* The messages of a call with a size for each pair. */
static struct dist_messages *messages_of_splits(const struct schedule_program *program,
                                                const struct tensor *output,
                                                const uint64_t *output_splits,
                                                const struct tensor *input,
                                                const uint64_t *input_splits, uint32_t ranks)
{
    struct dist_messages *const m = create_messages(ranks, ranks);
    uint64_t sent = 0, received = 0;
    for (uint32_t i = 0; m != NULL && i < ranks; i++) {
        add_message(m->list.send, &m->list.send_count, i, input, sent, input_splits[i]);
        add_message(m->list.receive, &m->list.receive_count, i, output, received, output_splits[i]);
        sent += input_splits[i];
        received += output_splits[i];
    }
    if (m != NULL) {
        m->program = program;
        schedule_messages_lay(program, &m->list);
    }
    return m;
}

static struct dist_work *submit_messages(struct submission submission,
                                         struct dist_messages *messages)
{
    if (messages == NULL)
        mp_fail(CW_NO_RESOURCE, "out of memory: the messages of %u ranks",
                dist_group_or_world(submission.group)->size);
    submission.messages = messages;
    return dist_submit(&submission);
}

struct dist_work *dist_all_to_all_v_async(struct dist_group *group, struct tensor *output,
                                          const uint64_t *output_splits, struct tensor *input,
                                          const uint64_t *input_splits)
{
    const struct dist_group *const own = dist_group_or_world(group);
    const uint32_t ranks = own->size;
    const struct schedule_program *const program = program_for("dist_all_to_all_v", own);
    if (output == input && output != NULL)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_all_to_all_v: input and output are one tensor; legal: two, since blocks come "
                "while others have not been sent");
    if (output != NULL && input != NULL && output->dtype != input->dtype)
        mp_fail(CW_PROGRAM_FAILED, "dist_all_to_all_v: an output of %s for an input of %s",
                dtype_name(output->dtype), dtype_name(input->dtype));
    check_splits(input, input_splits, ranks, "input");
    check_splits(output, output_splits, ranks, "output");
    dist_wait_for_room(own->dist, (uint32_t)mp_rank(), own->queue); /* from here on nothing waits */
    return submit_messages(
        (struct submission){.group = group,
                            .collective = CCL_ALL_TO_ALL,
                            .name = "all_to_all_v",
                            .in = input,
                            .out = output},
        messages_of_splits(program, output, output_splits, input, input_splits, ranks));
}

void dist_all_to_all_v(struct tensor *output, const uint64_t *output_splits, struct tensor *input,
                       const uint64_t *input_splits)
{
    dist_wait_for_all(dist_all_to_all_v_async(NULL, output, output_splits, input, input_splits));
}

/* ---- gather and scatter ---------------------------------------------------------------------- */

/* A gather or a scatter, as the calling rank gives it: an all-to-all in which all blocks but those
 * to or from the root are empty. */
struct rooted {
    const char *name;    /* "gather" */
    const char *gives;   /* the tensor that only the root gives */
    struct tensor *all;  /* that tensor: a block for each rank */
    struct tensor *each; /* every rank's: one block */
    uint32_t root;
    bool gathers;
};

static void check_rooted(const struct rooted *call, const struct dist_group *group)
{
    const char *const name = call->name, *const gives = call->gives;
    const uint32_t rank = dist_rank_in(group, (uint32_t)mp_rank()), ranks = group->size;
    const struct tensor *const all = call->all, *const each = call->each;
    if (call->root >= ranks)
        mp_fail(CW_PROGRAM_FAILED, "dist_%s: root %u; legal: 0 to %u", name, call->root, ranks - 1);
    if (each == NULL)
        mp_fail(CW_PROGRAM_FAILED, "dist_%s: no %s (NULL); legal: a tensor of every rank", name,
                call->gathers ? "input" : "output");
    if (rank == call->root && all == NULL)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_%s: rank %u is the root and gives no %s (NULL); legal: a tensor with a block "
                "for each of %u ranks",
                name, rank, gives, ranks);
    if (rank != call->root && all != NULL)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_%s: rank %u gives an %s, and rank %u is the root; legal: NULL on all other "
                "ranks",
                name, rank, gives, call->root);
    if (all == each)
        mp_fail(CW_PROGRAM_FAILED, "dist_%s: input and output are one tensor; legal: two", name);
    if (all != NULL && (all->shard_elems != each->shard_elems * ranks ||
                        all->dtype != each->dtype || all->shard_count != each->shard_count))
        mp_fail(CW_PROGRAM_FAILED,
                "dist_%s: the root's %s has %u shards of %llu elements of %s, its %s %u of %llu of "
                "%s; legal: as many shards, and elements for each of %u ranks",
                name, gives, all->shard_count, (unsigned long long)all->shard_elems,
                dtype_name(all->dtype), call->gathers ? "input" : "output", each->shard_count,
                (unsigned long long)each->shard_elems, dtype_name(each->dtype), ranks);
}

/* The root has a block for each rank, and each rank one, from or for the root. */
static struct dist_messages *messages_of_rooted(const struct schedule_program *program,
                                                const struct rooted *call, uint32_t ranks)
{
    uint64_t *const of_all = calloc(2 * (size_t)ranks, sizeof *of_all);
    struct dist_messages *messages = NULL;
    if (of_all == NULL)
        return NULL;
    uint64_t *const of_each = of_all + ranks;
    for (uint32_t i = 0; i < ranks && call->all != NULL; i++)
        of_all[i] = call->each->shard_elems;
    of_each[call->root] = call->each->shard_elems;
    messages = call->gathers
                   ? messages_of_splits(program, call->all, of_all, call->each, of_each, ranks)
                   : messages_of_splits(program, call->each, of_each, call->all, of_all, ranks);
    free(of_all);
    return messages;
}

static struct dist_work *submit_rooted(struct dist_group *group, const struct rooted *call)
{
    const struct dist_group *const own = dist_group_or_world(group);
    char name[32];
    (void)snprintf(name, sizeof name, "dist_%s", call->name);
    const struct schedule_program *const program = program_for(name, own);
    check_rooted(call, own);
    dist_wait_for_room(own->dist, (uint32_t)mp_rank(), own->queue); /* from here on nothing waits */
    return submit_messages((struct submission){.group = group,
                                               .collective = CCL_ALL_TO_ALL,
                                               .name = call->name,
                                               .in = call->gathers ? call->each : call->all,
                                               .out = call->gathers ? call->all : call->each,
                                               .root = call->root},
                           messages_of_rooted(program, call, own->size));
}

struct dist_work *dist_gather_async(struct dist_group *group, struct tensor *output,
                                    struct tensor *input, uint32_t root)
{
    return submit_rooted(group, &(struct rooted){.name = "gather",
                                                 .gives = "output",
                                                 .all = output,
                                                 .each = input,
                                                 .root = root,
                                                 .gathers = true});
}

struct dist_work *dist_scatter_async(struct dist_group *group, struct tensor *output,
                                     struct tensor *input, uint32_t root)
{
    return submit_rooted(
        group,
        &(struct rooted){
            .name = "scatter", .gives = "input", .all = input, .each = output, .root = root});
}

void dist_gather(struct tensor *output, struct tensor *input, uint32_t root)
{
    dist_wait_for_all(dist_gather_async(NULL, output, input, root));
}

void dist_scatter(struct tensor *output, struct tensor *input, uint32_t root)
{
    dist_wait_for_all(dist_scatter_async(NULL, output, input, root));
}

/* ---- ends that differ ------------------------------------------------------------------------ */

/* The two ends of a message differ. */
static int refuse_pair(const char *call, uint32_t from, const struct schedule_message *sent,
                       uint32_t to, const struct schedule_message *received, struct cw_error *error)
{
    const enum dtype s = (enum dtype)sent->dtype, r = (enum dtype)received->dtype;
    if (sent->elems != received->elems)
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "%s: rank %u sends %llu elements to rank %u, which receives %llu from "
                            "it; both must be equal",
                            call, from, (unsigned long long)sent->elems, to,
                            (unsigned long long)received->elems);
    return cw_error_set(error, CW_PROGRAM_FAILED,
                        "%s: rank %u sends elements of %s to rank %u, which receives %s from it; "
                        "both must be equal",
                        call, from, dtype_name(s), to, dtype_name(r));
}

/* Messages without elements have no type. */
static bool ends_agree(const struct schedule_message *sent, const struct schedule_message *received)
{
    return sent->elems == received->elems && (sent->elems == 0 || sent->dtype == received->dtype);
}

int dist_check_splits(const struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    const uint32_t ranks = work->group->size;
    const char *const name = dist_of(work, rank)->submission.name;
    const struct schedule_messages *const own = &dist_of(work, rank)->submission.messages->list;
    for (uint32_t peer = 0; peer < ranks; peer++) {
        if (!dist_is_live(work->group, peer) || !dist_of(work, peer)->submits)
            continue;
        const struct schedule_messages *const other =
            &dist_of(work, peer)->submission.messages->list;
        if (!ends_agree(&own->send[peer], &other->receive[rank]))
            return refuse_pair(name, rank, &own->send[peer], peer, &other->receive[rank], error);
        if (!ends_agree(&other->send[rank], &own->receive[peer]))
            return refuse_pair(name, peer, &other->send[rank], rank, &own->receive[peer], error);
    }
    return CW_OK;
}

/* ---- what has been moved --------------------------------------------------------------------- */

uint64_t dist_count_messages(const struct dist_work *work)
{
    const struct dist_messages *const first = dist_of(work, work->first_rank)->submission.messages;
    if (first == NULL)
        return 0;
    return work->alone ? first->list.receive_count
                       : (uint64_t)work->group->size * work->group->size;
}

/* Of a batch, in which whole tensors are sent. */
static struct dist_moved moved_alone(const struct dist_work *work, uint32_t i)
{
    const struct dist_messages *const m = dist_of(work, work->first_rank)->submission.messages;
    const struct schedule_message *const message = &m->list.receive[i];
    return (struct dist_moved){.from = message->peer,
                               .to = work->first_rank,
                               .result = m->received[message->number],
                               .input_elems = message->elems,
                               .count = message->elems};
}

/* Elements of a rank's tensor before a message of an all-to-all. */
static uint64_t elems_before(const struct schedule_message *list, uint32_t message)
{
    const uint32_t itemsize = tl_itemsize(list[message].dtype);
    return itemsize > 0 ? (list[message].pa - list[0].pa) / itemsize : 0;
}

struct dist_moved dist_moved(const struct dist_completion *completion, uint64_t message)
{
    const struct dist_work *const work = completion->work;
    const uint32_t size = work->group->size;
    if (work->alone)
        return moved_alone(work, (uint32_t)message);
    const uint32_t from = (uint32_t)(message % size), to = (uint32_t)(message / size);
    const struct schedule_message *const sent = dist_of(work, from)->submission.messages->list.send;
    return (struct dist_moved){
        .from = from,
        .to = to,
        .result = work->tensors[to],
        .input_elems = elems_before(sent, size - 1) + sent[size - 1].elems,
        .first_in = elems_before(sent, to),
        .first_out = elems_before(dist_of(work, to)->submission.messages->list.receive, from),
        .count = sent[to].elems};
}

/* ---- sends and receives ---------------------------------------------------------------------- */

/* A send without its receive, or the reverse. */
struct dist_pending {
    struct dist_pending *next; /* made later */
    struct schedule_message message;
    uint32_t from, to;
    uint64_t calls; /* of the group, by the rank that has made it */
    bool sends;
    const struct dist_work *work;
    const struct dist_group *group;
};

static void describe_pending(const struct dist_pending *p, char *text, size_t size)
{
    const char *const dtype = dtype_name((enum dtype)p->message.dtype),
                      *const name = p->group->name, *const group = name[0] != '\0' ? "group " : "";
    if (p->sends)
        snprintf(
            text, size,
            "%s%s%srank %u sends %llu elements of %s to rank %u, which has no receive for them",
            group, name, name[0] != '\0' ? ": " : "", p->from, (unsigned long long)p->message.elems,
            dtype, p->to);
    else
        snprintf(
            text, size,
            "%s%s%srank %u receives %llu elements of %s from rank %u, which does not send them",
            group, name, name[0] != '\0' ? ": " : "", p->to, (unsigned long long)p->message.elems,
            dtype, p->from);
}

bool dist_describe_pending(const struct dist *dist, const struct dist_work *work, char *text,
                           size_t size)
{
    for (uint32_t to = 0; dist->pending != NULL && to < dist->facts.world_size; to++)
        for (const struct dist_pending *at = dist->pending[to]; at != NULL; at = at->next)
            if (work == NULL || at->work == work) {
                describe_pending(at, text, size);
                return true;
            }
    return false;
}

bool dist_has_pending(const struct dist *dist) { return dist->pending_count > 0; }

void dist_drop_pending(struct dist *dist)
{
    for (uint32_t to = 0; dist->pending != NULL && to < dist->facts.world_size; to++)
        for (struct dist_pending *at = dist->pending[to], *next; at != NULL; at = next) {
            next = at->next;
            free(at);
        }
    free(dist->pending);
    dist->pending = NULL;
    dist->pending_count = 0;
}

/* Compares an end with the other one, which came before it. */
static int check_match(const struct dist_pending *own, const struct dist_pending *first,
                       struct cw_error *error)
{
    const struct dist_pending *const sent = own->sends ? own : first, *const received =
                                                                          own->sends ? first : own;
    if (!ends_agree(&sent->message, &received->message))
        return refuse_pair("send", sent->from, &sent->message, sent->to, &received->message, error);
    if (sent->calls == received->calls)
        return CW_OK;
    return cw_error_set(error, CW_PROGRAM_FAILED,
                        "send: rank %u sends to rank %u after %llu collective calls, and rank %u "
                        "receives after %llu; messages and collective calls must be in the same "
                        "order on both",
                        sent->from, sent->to, (unsigned long long)sent->calls, sent->to,
                        (unsigned long long)received->calls);
}

/* Finds the other end of a message, or keeps it until that comes. */
static int match(struct dist *dist, const struct dist_pending *own, struct cw_error *error)
{
    struct dist_pending **at = &dist->pending[dist_world_rank(own->group, own->to)];
    while (*at != NULL &&
           ((*at)->group != own->group || (*at)->from != own->from || (*at)->sends == own->sends))
        at = &(*at)->next;
    struct dist_pending *const found = *at;
    if (found != NULL) {
        const int code = check_match(own, found, error);
        *at = found->next;
        free(found);
        dist->pending_count--;
        return code;
    }
    *at = malloc(sizeof **at);
    if (*at == NULL)
        return dist_no_memory(error);
    **at = *own;
    (*at)->next = NULL;
    dist->pending_count++;
    return CW_OK;
}

/* Matches a list, of which all sends or all receives of a peer are in order, from a number on. */
static int match_list(struct dist_work *work, uint32_t rank, bool sends, uint32_t first,
                      struct cw_error *error)
{
    const struct schedule_messages *const m = &dist_of(work, rank)->submission.messages->list;
    const struct schedule_message *const list = sends ? m->send : m->receive;
    int code = CW_OK;
    for (uint32_t i = 0; i < (sends ? m->send_count : m->receive_count) && code == CW_OK; i++)
        if (list[i].number >= first)
            code = match(work->dist,
                         &(struct dist_pending){.message = list[i],
                                                .from = sends ? rank : list[i].peer,
                                                .to = sends ? list[i].peer : rank,
                                                .calls = work->group->calls[rank],
                                                .sends = sends,
                                                .work = work,
                                                .group = work->group},
                         error);
    return code;
}

/* All from these numbers on. */
static int match_from(struct dist_work *work, uint32_t rank, uint32_t first_send,
                      uint32_t first_receive, struct cw_error *error)
{
    struct dist *const dist = work->dist;
    if (dist->pending == NULL)
        dist->pending = calloc(dist->facts.world_size, sizeof *dist->pending);
    if (dist->pending == NULL)
        return dist_no_memory(error);
    const int code = match_list(work, rank, true, first_send, error);
    return code == CW_OK ? match_list(work, rank, false, first_receive, error) : code;
}

int dist_match_messages(struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    return match_from(work, rank, 0, 0, error);
}

/* ---- batches --------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const struct dist_p2p_op *)a)->tensor,
                    y = (uintptr_t)((const struct dist_p2p_op *)b)->tensor;
    return x < y ? -1 : x > y;
}

/* A tensor that is received would be written while another operation reads or writes it. `m`: what
 * the operations are added to. */
static int check_overlap(const struct dist_messages *m, const struct dist_p2p_op *ops,
                         uint32_t count, struct cw_error *error)
{
    const uint32_t sends = m->list.send_count, all = sends + m->list.receive_count;
    struct dist_p2p_op *const sorted = malloc(((size_t)all + count) * sizeof *sorted);
    bool overlaps = false;
    if (sorted == NULL)
        return dist_no_memory(error);
    for (uint32_t i = 0; i < all; i++)
        sorted[i] = i < sends ? (struct dist_p2p_op){DIST_SEND, m->sent[i], 0}
                              : (struct dist_p2p_op){DIST_RECV, m->received[i - sends], 0};
    memcpy(sorted + all, ops, count * sizeof *sorted);
    qsort(sorted, (size_t)all + count, sizeof *sorted, by_address);
    for (uint32_t i = 1; i < all + count; i++)
        overlaps |= sorted[i].tensor == sorted[i - 1].tensor &&
                    (sorted[i].op == DIST_RECV || sorted[i - 1].op == DIST_RECV);
    free(sorted);
    if (overlaps)
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "dist_batch_isend_irecv: a tensor is received, and is in another "
                            "operation of the batch, too; legal: a tensor of its own for each "
                            "receive");
    return CW_OK;
}

/* *array has room for `count` more elements. */
static bool extend(void *array, uint32_t used, uint32_t count, size_t size)
{
    void **const at = array;
    void *const longer = realloc(*at, ((size_t)used + count) * size);
    if (longer != NULL)
        *at = longer;
    return longer != NULL;
}

static int add_ops(struct dist_messages *m, const struct dist_p2p_op *ops, uint32_t count,
                   struct cw_error *error)
{
    const uint32_t sent = m->list.send_count, received = m->list.receive_count;
    const int code = check_overlap(m, ops, count, error);
    if (code != CW_OK)
        return code;
    if (!extend(&m->list.send, sent, count, sizeof *m->list.send) ||
        !extend(&m->list.receive, received, count, sizeof *m->list.receive) ||
        !extend(&m->sent, sent, count, sizeof(struct tensor *)) ||
        !extend(&m->received, received, count, sizeof(struct tensor *)))
        return dist_no_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        const bool sends = ops[i].op == DIST_SEND;
        if (sends)
            m->sent[m->list.send_count] = ops[i].tensor;
        else
            m->received[m->list.receive_count] = ops[i].tensor;
        add_message(sends ? m->list.send : m->list.receive,
                    sends ? &m->list.send_count : &m->list.receive_count, ops[i].peer,
                    ops[i].tensor, 0, ops[i].tensor->shard_elems);
    }
    schedule_messages_lay(m->program, &m->list);
    return CW_OK;
}

/* The batch that the calling rank has begun at this moment, if that is its latest call. */
static struct dist_work *open_batch(const struct dist_group *group)
{
    const struct dist *const dist = group->dist;
    for (size_t i = dist->part_count; i-- > 0;) {
        struct dist_work *const work = dist->parts[i].work;
        if (dist_world_rank(work->group, dist->parts[i].rank) == (uint32_t)mp_rank())
            return work->alone && work->group == group ? work : NULL;
    }
    return NULL;
}

/* The operations become a part of a batch. */
static int join_batch(struct dist_work *work, uint32_t rank, const struct dist_p2p_op *ops,
                      uint32_t count, struct cw_error *error)
{
    struct dist_messages *const m = dist_of(work, rank)->submission.messages;
    const uint32_t sent = m->list.send_count, received = m->list.receive_count;
    const int code = add_ops(m, ops, count, error);
    work->holders++;
    return code == CW_OK ? match_from(work, rank, sent, received, error) : code;
}

static void check_op(uint32_t rank, uint32_t ranks, const struct dist_p2p_op *op, uint32_t i)
{
    if ((op->op != DIST_SEND && op->op != DIST_RECV) || op->tensor == NULL)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_batch_isend_irecv: operation %u is none; legal: DIST_SEND or DIST_RECV, and "
                "a tensor",
                i);
    if (op->peer == rank || op->peer >= ranks)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_batch_isend_irecv: operation %u is %s rank %u; legal: another rank of %u", i,
                op->op == DIST_SEND ? "to" : "from", op->peer, ranks);
}

struct dist_work *dist_batch_isend_irecv(struct dist_group *group, const struct dist_p2p_op *ops,
                                         uint32_t count)
{
    const struct dist_group *const own = dist_group_or_world(group);
    const struct schedule_program *const program = program_for("dist_batch_isend_irecv", own);
    const uint32_t rank = dist_rank_in(own, (uint32_t)mp_rank());
    struct cw_error error;
    if (count == 0)
        mp_fail(CW_PROGRAM_FAILED, "dist_batch_isend_irecv: no operations; legal: at least one");
    for (uint32_t i = 0; i < count; i++)
        check_op(rank, own->size, &ops[i], i);
    for (uint32_t i = 0; i < count; i++)
        if (dist_check_shards(own, rank, ops[i].tensor, &error) != CW_OK)
            mp_fail(error.exit_code, "%s", cw_error_text(&error));
    struct dist_work *const open = open_batch(own);
    if (open != NULL) {
        if (join_batch(open, rank, ops, count, &error) != CW_OK)
            mp_fail(error.exit_code, "%s", cw_error_text(&error));
        return open;
    }
    dist_wait_for_room(own->dist, (uint32_t)mp_rank(), own->queue); /* from here on nothing waits */
    struct dist_messages *const m = create_messages(0, 0);
    int code = m != NULL ? CW_OK : dist_no_memory(&error);
    if (m != NULL) {
        m->program = program;
        m->list.apart = true;
        code = add_ops(m, ops, count, &error);
    }
    if (code != CW_OK) {
        dist_free_messages(m);
        mp_fail(error.exit_code, "%s", cw_error_text(&error));
    }
    return dist_submit(
        &(struct submission){.group = group, .collective = CCL_SEND_RECV, .messages = m});
}

struct dist_work *dist_isend(struct dist_group *group, struct tensor *tensor, uint32_t to)
{
    return dist_batch_isend_irecv(group, &(struct dist_p2p_op){DIST_SEND, tensor, to}, 1);
}

struct dist_work *dist_irecv(struct dist_group *group, struct tensor *tensor, uint32_t from)
{
    return dist_batch_isend_irecv(group, &(struct dist_p2p_op){DIST_RECV, tensor, from}, 1);
}

void dist_send(struct tensor *tensor, uint32_t to) { dist_wait(dist_isend(NULL, tensor, to)); }

void dist_recv(struct tensor *tensor, uint32_t from) { dist_wait(dist_irecv(NULL, tensor, from)); }
