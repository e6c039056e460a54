/*
 * dist_check.c: the conditions of a call on this machine (dist_check.h). A refusal is data until
 * dist_check_call() joins it to a message with its place. Pure.
 */
#include "collectives/runtime/dist_check.h"

#include <string.h>

#include "collectives/config/config_place.h"
#include "collectives/config/config_rings.h"
#include "collectives/hook.h"
#include "collectives/runtime/mapper.h"
#include "hw/topology/broken.h"

uint64_t dist_ring_bytes(const struct config *config, enum hw_memory memory)
{
    const struct ccl_config *ccl = &config->ccl;
    if (ccl->queues.slots != memory)
        return 0;
    return (uint64_t)config_directions_max(&config->hw, ccl) * ccl->queues.n_slots *
           ccl->queues.slot_bytes;
}

/* A call is refused with the place of the value at fault; key NULL: it is the call's own. */
int dist_refuse(const struct config *config, const char *key, struct cw_error *error)
{
    char where[512], text[sizeof error->text];
    if (key == NULL)
        return error->exit_code = CW_USAGE;
    memcpy(text, error->text, sizeof text);
    config_where(config, key, where, sizeof where);
    /* A message on a file begins with its path, which the option that names the file has, too. */
    if (ccl_is_schedule_file(config->ccl.module) &&
        strncmp(text, config->ccl.module, strlen(config->ccl.module)) == 0 &&
        config_is_from_option(config, "defaults.algorithm"))
        return error->exit_code = CW_USAGE;
    return cw_error_set(error, CW_USAGE, "%s: %s", where, text);
}

/* A kernel runs on the PEs that it is written for. An algorithm that runs beside the configured one
 * chooses its own PEs. */
static int check_mapper(const struct config *config, const struct ccl_call *call,
                        struct ccl_refusal *refusal)
{
    struct cw_error ignored; /* ccl_algorithm_of() has said it */
    const struct ccl_algorithm *const configured = ccl_algorithm_load(config->ccl.module, &ignored);
    if (configured == NULL || configured->collective != call->collective)
        return CW_OK;
    return ccl_mapper_check(config->ccl.mapper, configured, call->hw, refusal);
}

/* Where ranks are PEs, an algorithm goes by the queues that join them. */
static int check_ranks_are_pes(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                               struct ccl_refusal *refusal)
{
    if (call->ccl->ranks.per_sip == 0 || ccl_goes_by_queues(algorithm))
        return CW_OK;
    (void)ccl_refuse(refusal, "defaults.mapper",
                     "%s goes by SIPs, and with the mapper " CCL_RANK_PER_PE " ranks are PEs",
                     algorithm->name);
    return ccl_advise(refusal, "use the mapper leader_only and at most %u ranks",
                      call->hw->sip_count);
}

/* A schedule goes by queues of its own, which only the configured algorithm has. */
static int check_has_queues(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                            struct ccl_refusal *refusal)
{
    struct cw_error ignored;
    if (algorithm->schedule == NULL || algorithm == ccl_algorithm_load(call->ccl->module, &ignored))
        return CW_OK;
    (void)ccl_refuse(refusal, "defaults.algorithm",
                     "%s needs queues of its own, and the installed ones are those of %s",
                     algorithm->name, call->ccl->algorithm);
    return ccl_legal(refusal, "for a program that calls %s, the algorithm %s is legal",
                     ccl_collective_name(call->collective), algorithm->name);
}

/* Ends the advice with the algorithms of a collective that go by rank. */
static int advise_by_rank(enum ccl_collective collective, struct ccl_refusal *refusal)
{
    const struct ccl_algorithm *other;
    bool any = false;
    for (uint32_t i = 0; (other = ccl_algorithm_at(i)); i++)
        if (other->collective == collective && !other->machine.by_sip) {
            (void)ccl_advise(refusal, "%s %s",
                             any ? "," : "an algorithm that goes by rank:", other->name);
            any = true;
        }
    return any ? CW_USAGE
               : ccl_advise(refusal, "a logical topology, which goes by rank, such as ring_1d");
}

/* Rank r is SIP r and all SIPs are ranks, or the algorithm does without. */
static int check_ranks_are_sips(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                                struct ccl_refusal *refusal)
{
    const struct ccl_ranks *const ranks = &call->ccl->ranks;
    uint32_t same = 0;
    if (!algorithm->machine.by_sip || !ccl_goes_by_machine(call->ccl))
        return CW_OK;
    while (same < call->world_size && ccl_sip_of(ranks, same) == same)
        same++;
    if (hw_living_sips(call->hw) < call->hw->sip_count) {
        (void)ccl_refuse(refusal, "defaults.algorithm",
                         "%s goes by the machine's own queues, and some of its SIPs have failed "
                         "(faults)",
                         algorithm->name);
        (void)ccl_advise(refusal, "use ");
    } else if (ranks->list != NULL && (same < call->world_size || same != call->hw->sip_count)) {
        (void)ccl_refuse(refusal, "defaults.algorithm",
                         "%s goes by the machine's own queues, where rank r is SIP r, and those of "
                         "this group are its algorithm's",
                         algorithm->name);
        (void)ccl_advise(refusal, "give the group that algorithm, or use ");
    } else if (same < call->world_size) {
        (void)ccl_refuse(refusal, ranks->by_mate ? "defaults.mate" : "defaults.package",
                         "%s: %s goes by the machine's own queues, where rank r is SIP r, and here "
                         "rank %u is SIP %u",
                         ranks->by_mate ? "mate" : "package", algorithm->name, same,
                         ccl_sip_of(ranks, same));
        (void)ccl_advise(refusal, "leave mate and package out, or use ");
    } else if (call->world_size != call->hw->sip_count) {
        (void)ccl_refuse(refusal, "defaults.world_size", "world_size %u: %s takes all %u SIPs",
                         call->world_size, algorithm->name, call->hw->sip_count);
        (void)ccl_advise(refusal, "leave it out, or use ");
    } else
        return CW_OK;
    return advise_by_rank(algorithm->collective, refusal);
}

/* An all-reduce whose tensors may be larger than TCM, if this machine can run it; or NULL. */
static const struct ccl_algorithm *
tiled_all_reduce(const struct ccl_call *call, const struct ccl_algorithm *algorithm, uint64_t left)
{
    const struct ccl_algorithm *const pipelined = ccl_algorithm_find("lrab_pipelined_allreduce");
    struct ccl_refusal refusal;
    struct ccl_config ccl = *call->ccl;
    struct ccl_call other = *call;
    if (call->collective != CCL_ALL_REDUCE || pipelined == NULL || pipelined == algorithm ||
        call->world_size != call->hw->sip_count)
        return NULL;
    snprintf(ccl.topology, sizeof ccl.topology, "none");
    other.ccl = &ccl;
    if (pipelined->check(&other, &refusal) != CW_OK ||
        ccl_algorithm_tcm_bytes(pipelined, &other) > left)
        return NULL;
    return pipelined;
}

/* The kernel's data fits in TCM beside this many bytes of receive rings. */
static int check_tcm_room(const struct config *config, const struct ccl_algorithm *algorithm,
                          const struct ccl_call *call, uint64_t rings, struct ccl_refusal *refusal)
{
    const uint64_t wanted = ccl_algorithm_tcm_bytes(algorithm, call),
                   left = config->hw.tcm_bytes - rings;
    if (wanted <= left)
        return CW_OK;
    struct ccl_call least = *call;
    least.n_elem = 1;
    if (ccl_algorithm_tcm_bytes(algorithm, &least) > left) {
        (void)ccl_refuse(refusal, "memory.tcm_kib",
                         "%s needs %llu bytes of TCM for any tensor, and %llu of %llu are free "
                         "beside the receive rings",
                         ccl_algorithm_label(call->ccl, algorithm), (unsigned long long)wanted,
                         (unsigned long long)left, (unsigned long long)config->hw.tcm_bytes);
        if (call->ccl->queues.whole_tensor)
            return ccl_advise(refusal, "with whole_tensor a tile may be a whole tensor: set "
                                       "defaults.whole_tensor=false, which cuts tensors into "
                                       "tiles of slot_size");
        return ccl_advise(refusal, "use fewer or smaller slots (defaults.n_slots, "
                                   "defaults.slot_size), or a larger memory.tcm_kib");
    }
    (void)ccl_refuse(refusal, "memory.tcm_kib",
                     "a tensor of %llu elements needs %llu bytes of TCM, and %llu of %llu are free "
                     "beside the receive rings",
                     (unsigned long long)call->n_elem, (unsigned long long)wanted,
                     (unsigned long long)left, (unsigned long long)config->hw.tcm_bytes);
    const struct ccl_algorithm *const tiled = tiled_all_reduce(call, algorithm, left);
    if (tiled == NULL)
        return ccl_advise(refusal, "use fewer elements, smaller rings (defaults.n_slots), or a "
                                   "larger memory.tcm_kib");
    return ccl_advise(refusal,
                      "--algorithm %s cuts it into tiles; or use fewer elements or "
                      "smaller rings (defaults.n_slots)",
                      tiled->name);
}

/* The algorithm's own conditions. */
static int check_own_conditions(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                                struct ccl_refusal *refusal)
{
    *refusal = (struct ccl_refusal){.key = "defaults.module"};
    if (algorithm->check == NULL || CCL_HOOK("check()", algorithm->check, (call, refusal)) == CW_OK)
        return CW_OK;
    if (refusal->wrong[0] == '\0')
        snprintf(refusal->wrong, sizeof refusal->wrong,
                 "%s refuses this call, and does not say why (its check())", algorithm->name);
    return CW_USAGE;
}

/* What a file's steps demand of its calls. */
static int check_fixed(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                       struct ccl_refusal *refusal)
{
    const struct ccl_fixed fixed = ccl_algorithm_fixed(algorithm);
    const char *const label = ccl_algorithm_label(call->ccl, algorithm);
    if (fixed.root != UINT32_MAX && call->root != fixed.root)
        return ccl_refuse(refusal, NULL, "root %u: the root of %s is %u", call->root, label,
                          fixed.root);
    if (call->n_elem % fixed.multiple == 0)
        return CW_OK;
    return ccl_refuse(
        refusal, NULL,
        "%llu elements are no multiple of the %u chunks of %s; use %llu, or another "
        "multiple",
        (unsigned long long)call->n_elem, fixed.multiple, label,
        (unsigned long long)(call->n_elem + fixed.multiple - call->n_elem % fixed.multiple));
}

/* Joins a refusal to a message, with its place; of an algorithm that was chosen it says why. */
static int report_refusal(const struct config *config, const struct ccl_refusal *refusal,
                          const struct ccl_algorithm *chosen, const struct ccl_choice *choice,
                          struct cw_error *error)
{
    size_t n = 0;
    if (choice->why[0] != '\0')
        n = (size_t)snprintf(error->text, sizeof error->text, "auto chose %s (%s): ", chosen->name,
                             choice->why);
    if (n < sizeof error->text)
        ccl_refusal_text(refusal, error->text + n, sizeof error->text - n);
    return dist_refuse(config, refusal->key, error);
}

int dist_check_choice(const struct config *config, const struct ccl_call *call,
                      struct ccl_choice *choice, struct cw_error *error)
{
    static const struct ccl_choice named; /* by the configuration: nothing to say about it */
    struct ccl_refusal refusal;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(call, choice, error);
    if (algorithm == NULL)
        return error->exit_code == CW_USAGE ? dist_refuse(config, "defaults.module", error)
                                            : error->exit_code;
    if (check_mapper(config, call, &refusal) != CW_OK ||
        check_has_queues(algorithm, call, &refusal) != CW_OK ||
        check_ranks_are_pes(algorithm, call, &refusal) != CW_OK ||
        check_fixed(algorithm, call, &refusal) != CW_OK ||
        check_ranks_are_sips(algorithm, call, &refusal) != CW_OK)
        return report_refusal(config, &refusal, algorithm, &named, error);
    if (check_own_conditions(algorithm, call, &refusal) != CW_OK)
        return report_refusal(config, &refusal, algorithm, choice, error);
    const uint64_t rings = dist_ring_bytes(config, HW_MEMORY_TCM);
    if (check_tcm_room(config, algorithm, call, rings, &refusal) != CW_OK)
        return report_refusal(config, &refusal, algorithm, &named, error);
    return CW_OK;
}

int dist_check_call(const struct config *config, const struct ccl_call *call,
                    struct cw_error *error)
{
    struct ccl_choice choice;
    return dist_check_choice(config, call, &choice, error);
}

int dist_check_own_rings(const struct config *config, const struct ccl_algorithm *algorithm,
                         const struct ccl_call *call, uint32_t rings, struct cw_error *error)
{
    static const struct ccl_choice named;
    const struct ccl_config *const ccl = &config->ccl;
    const uint64_t bytes = (uint64_t)rings * ccl->queues.n_slots * ccl->queues.slot_bytes;
    struct ccl_refusal refusal;
    if (ccl->queues.slots != HW_MEMORY_TCM ||
        check_tcm_room(config, algorithm, call, bytes, &refusal) == CW_OK)
        return CW_OK;
    return report_refusal(config, &refusal, algorithm, &named, error);
}

int dist_check_blocks(enum ccl_collective collective, uint64_t n_elem, uint32_t ranks,
                      struct cw_error *error)
{
    const bool is_of_blocks = collective == CCL_REDUCE_SCATTER || collective == CCL_ALL_GATHER ||
                              collective == CCL_ALL_TO_ALL;
    if (!is_of_blocks || n_elem % ranks == 0)
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "%s: %llu elements are no multiple of %u ranks; use %llu, or another "
                        "multiple",
                        ccl_collective_name(collective), (unsigned long long)n_elem, ranks,
                        (unsigned long long)(n_elem + ranks - n_elem % ranks));
}

int dist_check_product(const struct config *config, struct cw_error *error)
{
    if (config->ccl.ranks.per_sip == 0)
        return CW_OK;
    (void)cw_error_set(error, CW_USAGE,
                       "a matrix product goes by SIPs, and with the mapper " CCL_RANK_PER_PE
                       " ranks are PEs; use the mapper leader_only and at most %u ranks",
                       config->hw.sip_count);
    return dist_refuse(config, "defaults.mapper", error);
}

int dist_check_rings(const struct config *config, uint32_t rings, uint32_t pes,
                     struct cw_error *error)
{
    struct config_errors errors = {0};
    if (config_rings_fit(config, rings, pes, &errors))
        return CW_OK;
    snprintf(error->text, sizeof error->text, "%s",
             errors.count > 0 ? errors.list[0].text : "the receive rings do not fit");
    config_errors_free(&errors);
    return error->exit_code = CW_USAGE;
}

int dist_check_kernels_only(const struct config *config, const uint32_t pair[2],
                            struct cw_error *error)
{
    if (strcmp(config->ccl.topology, "none") != 0) {
        (void)cw_error_set(
            error, CW_USAGE,
            "topology: this bench uses the machine's own queues, which `none` is; %s has %s",
            config->ccl.algorithm, config->ccl.topology);
        return dist_refuse(config, "defaults.topology", error);
    }
    if (pair[0] == pair[1])
        return CW_OK;
    return dist_check_rings(config, config_directions_max(&config->hw, &config->ccl) + 1,
                            config_pes_with_rings(config), error);
}
