/*
 * dist_check.c: what a call of a collective may ask for on this machine (distributed.h), found
 * before anything runs, with the place of the value at fault. Pure.
 */
#include <string.h>

#include "collectives/config/config_rings.h"

#include "collectives/config/config_place.h"
#include "collectives/runtime/dist_internal.h"

uint64_t dist_ring_bytes(const struct config *config, enum ccl_buffer_kind memory)
{
    const struct ccl_config *ccl = &config->ccl;
    if (ccl->buffer_kind != memory)
        return 0;
    return (uint64_t)config_directions_max(&config->hw, ccl) * ccl->n_slots * ccl->slot_bytes;
}

/* A call is refused with the place of the value at fault; key NULL: it is the call's own. */
int dist_refuse(const struct config *config, const char *key, struct cw_error *error)
{
    char where[512], text[sizeof error->text];
    if (key == NULL)
        return error->exit_code = CW_USAGE;
    memcpy(text, error->text, sizeof text);
    config_where(config, key, where, sizeof where);
    if (snprintf(error->text, sizeof error->text, "%s: %s", where, text) < 0)
        error->text[0] = 0;
    return error->exit_code = CW_USAGE;
}

/* TCM that the kernel uses beside the rings. */
static uint64_t dist_check_tcm_bytes(const struct ccl_algorithm *algorithm,
                                     const struct ccl_call *call)
{
    return algorithm->tcm_bytes != NULL ? algorithm->tcm_bytes(call)
                                        : call->n_elem * tl_itemsize(call->dtype);
}

/* A kernel runs on the PEs that it is written for. What runs beside the configured algorithm
 * chooses its own. */
static int check_mapper(const struct config *config, const struct ccl_call *call,
                        struct cw_error *error)
{
    const struct ccl_algorithm *const configured = ccl_algorithm_load(config->ccl.module, error);
    if (configured == NULL || configured->collective != call->collective)
        return CW_OK;
    return ccl_mapper_check(config->ccl.mapper, configured, call->hw, error);
}

/* What an algorithm that goes by SIP cannot have: "key: what is wrong", in *error. */
static const char *not_by_sip(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                              struct cw_error *error)
{
    const struct ccl_ranks *const ranks = &call->ccl->ranks;
    uint32_t same = 0;
    while (same < call->world_size && ccl_sip_of(ranks, same) == same)
        same++;
    if (same < call->world_size) {
        snprintf(error->text, sizeof error->text,
                 "%s: %s goes by the machine's own queues, where rank r is SIP r, and here rank %u "
                 "is SIP %u; leave mate and package out, or use",
                 ranks->by_mate ? "mate" : "package", algorithm->name, same,
                 ccl_sip_of(ranks, same));
        return ranks->by_mate ? "defaults.mate" : "defaults.package";
    }
    if (call->world_size == call->hw->sip_count)
        return NULL;
    snprintf(error->text, sizeof error->text,
             "world_size %u: %s takes all %u SIPs; leave it out, or use", call->world_size,
             algorithm->name, call->hw->sip_count);
    return "defaults.world_size";
}

/* Rank r is SIP r and all SIPs are ranks, or the algorithm does without. */
static int dist_check_check_ranks(const struct ccl_algorithm *algorithm,
                                  const struct ccl_call *call, const char **key,
                                  struct cw_error *error)
{
    const char *const at = algorithm->by_sip && ccl_goes_by_machine(call->ccl)
                               ? not_by_sip(algorithm, call, error)
                               : NULL;
    if (at == NULL)
        return CW_OK;
    const size_t before = strlen(error->text);
    size_t n = before;
    const struct ccl_algorithm *other;
    for (uint32_t i = 0; (other = ccl_algorithm_at(i)) && n < sizeof error->text; i++)
        if (other->collective == algorithm->collective && !other->by_sip)
            n += (size_t)snprintf(
                error->text + n, sizeof error->text - n, "%s %s",
                n > before ? "," : " an algorithm that goes by rank:", other->name);
    if (n == before)
        snprintf(error->text + n, sizeof error->text - n,
                 " a logical topology, which goes by rank, such as ring_1d");
    *key = at;
    return error->exit_code = CW_USAGE;
}

/* An all-reduce whose tensors may be larger than TCM, if this machine can run it. */
static const char *alternative(const struct ccl_call *call, const struct ccl_algorithm *algorithm,
                               uint64_t left)
{
    static const char name[] = "lrab_pipelined_allreduce";
    const struct ccl_algorithm *const pipelined = ccl_algorithm_find(name);
    const char *key;
    struct cw_error error;
    struct ccl_config ccl = *call->ccl;
    struct ccl_call other = *call;
    if (call->collective != CCL_ALL_REDUCE || pipelined == NULL || pipelined == algorithm ||
        call->world_size != call->hw->sip_count)
        return "";
    snprintf(ccl.topology, sizeof ccl.topology, "none");
    other.ccl = &ccl;
    if (pipelined->check(&other, &key, &error) != CW_OK ||
        dist_check_tcm_bytes(pipelined, &other) > left)
        return "";
    return ", or lrab_pipelined_allreduce";
}

/* A call's own algorithm refuses it; of one that was chosen the message says why it was. */
static int refuse_call(const struct config *config, const char *key, const char *name,
                       const char *why, struct cw_error *error)
{
    char text[sizeof error->text];
    if (why[0] != '\0') {
        /* what would be legal says the end of the sentence, for the algorithm that was chosen */
        const char *const advice = strstr(why, "; use ");
        const int bytes = (int)(advice != NULL ? (size_t)(advice - why) : strlen(why));
        memcpy(text, error->text, sizeof text);
        if (snprintf(error->text, sizeof error->text, "auto chose %s (%.*s): %s", name, bytes, why,
                     text) < 0)
            error->text[0] = '\0';
    }
    return dist_refuse(config, key, error);
}

int dist_check_call(const struct config *config, const struct ccl_call *call,
                    struct cw_error *error)
{
    const char *key = "defaults.module";
    char why[CCL_WHY_BYTES];
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(call, why, sizeof why, error);
    if (algorithm == NULL)
        return dist_refuse(config, key, error);
    if (check_mapper(config, call, error) != CW_OK)
        return dist_refuse(config, "defaults.mapper", error);
    if (dist_check_check_ranks(algorithm, call, &key, error) != CW_OK)
        return dist_refuse(config, key, error);
    error->text[0] = '\0';
    if (algorithm->check != NULL && algorithm->check(call, &key, error) != CW_OK) {
        if (error->text[0] == '\0')
            snprintf(error->text, sizeof error->text,
                     "%s refuses this call, and does not say why (its check())", algorithm->name);
        return refuse_call(config, key, algorithm->name, why, error);
    }
    const uint64_t rings = dist_ring_bytes(config, CCL_BUFFER_TCM);
    const uint64_t wanted = dist_check_tcm_bytes(algorithm, call),
                   left = config->hw.tcm_bytes - rings;
    if (wanted <= left)
        return CW_OK;
    struct ccl_call least = *call;
    least.n_elem = 1;
    if (dist_check_tcm_bytes(algorithm, &least) > left)
        snprintf(error->text, sizeof error->text,
                 "%s needs %llu bytes of TCM for any tensor, and %llu of %llu are free beside the "
                 "receive rings; use fewer or smaller slots, or a larger TCM",
                 ccl_algorithm_label(call->ccl, algorithm), (unsigned long long)wanted,
                 (unsigned long long)left, (unsigned long long)config->hw.tcm_bytes);
    else {
        const char *const other = alternative(call, algorithm, left);
        snprintf(error->text, sizeof error->text,
                 "a tensor of %llu elements needs %llu bytes of TCM, and %llu of %llu are free "
                 "beside the receive rings; use fewer elements%s%s",
                 (unsigned long long)call->n_elem, (unsigned long long)wanted,
                 (unsigned long long)left, (unsigned long long)config->hw.tcm_bytes,
                 other[0] != '\0' ? ", smaller rings" : " or smaller rings", other);
    }
    return dist_refuse(config, "memory.tcm_kib", error);
}

int dist_check_rings(const struct config *config, const struct lp_wiring *wiring,
                     struct cw_error *error)
{
    struct config_errors errors = {0};
    if (wiring == NULL || config_rings_fit(config, lp_wiring_rings_max(wiring), 1, &errors))
        return CW_OK;
    snprintf(error->text, sizeof error->text, "%s",
             errors.count > 0 ? errors.list[0].text : "the receive rings do not fit");
    config_errors_free(&errors);
    return error->exit_code = CW_USAGE;
}
