/*
 * call_check.c: what a call of a collective may ask for on this machine (distributed.h), found
 * before anything runs, with the place of the value at fault. Pure.
 */
#include <string.h>

#include "collectives/world.h"

uint64_t dist_ring_bytes(const struct config *config, enum ccl_buffer_kind memory)
{
    const struct ccl_config *ccl = &config->ccl;
    if (ccl->buffer_kind != memory)
        return 0;
    return (uint64_t)config_directions_max(&config->hw, ccl) * ccl->n_slots * ccl->slot_bytes;
}

/* A call is refused with the place of the value at fault. */
static int refuse(const struct config *config, const char *key, struct cw_error *error)
{
    char where[512], text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    config_where(config, key, where, sizeof where);
    if (snprintf(error->text, sizeof error->text, "%s: %s", where, text) < 0)
        error->text[0] = 0;
    return error->exit_code = CW_USAGE;
}

/* What ccl.yaml may ask for and this version does not do is refused, never passed over. */
int dist_check_features(const struct config *config, struct cw_error *error)
{
    const struct ccl_config *ccl = &config->ccl;
    const struct {
        bool asked;
        const char *key, *legal;
    } absent[] = {
        {ccl->host_copy != CCL_HOST_COPY_INSTANT, "defaults.host_copy", "instant"},
        {strcmp(ccl->topology, "none") != 0, "defaults.topology", "none"},
        {ccl->mapper[0] != 0, "defaults.mapper", "no mapper"},
        {ccl->validator[0] != 0, "defaults.validator", "no validator"},
    };
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        if (!absent[i].asked)
            continue;
        snprintf(error->text, sizeof error->text,
                 "%s: this value is not part of this version, which has %s",
                 strchr(absent[i].key, '.') + 1, absent[i].legal);
        return refuse(config, absent[i].key, error);
    }
    return CW_OK;
}

int dist_check_call(const struct config *config, const struct ccl_call *call,
                    struct cw_error *error)
{
    const struct ccl_algorithm *algorithm = ccl_algorithm_find(config->ccl.module);
    const char *key = "defaults.module";
    if (algorithm != NULL && algorithm->collective != call->collective) {
        algorithm = ccl_algorithm_for(&config->ccl, call->collective);
        if (algorithm == NULL) {
            snprintf(error->text, sizeof error->text, "no algorithm for %s is part of this version",
                     ccl_collective_name(call->collective));
            return error->exit_code = CW_USAGE;
        }
    }
    if (algorithm == NULL) {
        size_t n = (size_t)snprintf(
            error->text, sizeof error->text,
            "algorithm module %s is not part of this version; there are:", config->ccl.module);
        for (uint32_t i = 0; (algorithm = ccl_algorithm_at(i)) && n < sizeof error->text; i++)
            n += (size_t)snprintf(error->text + n, sizeof error->text - n, " %s", algorithm->name);
        return refuse(config, key, error);
    }
    const int code = dist_check_features(config, error);
    if (code != CW_OK)
        return code;
    if (config->ccl.world_size && config->ccl.world_size != config->hw.sip_count) {
        snprintf(error->text, sizeof error->text,
                 "world_size %u: %s takes all %u SIPs; leave it out", config->ccl.world_size,
                 config->ccl.algorithm, config->hw.sip_count);
        return refuse(config, "defaults.world_size", error);
    }
    if (algorithm->check(call, &key, error) != CW_OK)
        return refuse(config, key, error);
    const uint64_t rings = dist_ring_bytes(config, CCL_BUFFER_TCM);
    const uint64_t wanted = algorithm->tcm_bytes(call);
    if (wanted <= config->hw.tcm_bytes - rings)
        return CW_OK;
    snprintf(error->text, sizeof error->text,
             "a tensor of %llu elements needs %llu bytes of TCM, and %llu of %llu are free beside "
             "the receive rings; use fewer elements, smaller rings, or lrab_pipelined_allreduce%s",
             (unsigned long long)call->n_elem, (unsigned long long)wanted,
             (unsigned long long)(config->hw.tcm_bytes - rings),
             (unsigned long long)config->hw.tcm_bytes,
             ccl_algorithm_note("lrab_pipelined_allreduce"));
    return refuse(config, "memory.tcm_kib", error);
}
