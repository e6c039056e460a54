/*
 * shortcuts.c: which of --fold, --repeat and --replay a run may take, by its options and its
 * configuration alone, and why not (shortcuts.h).
 */
#include "bench/programs/shortcuts.h"

#include <string.h>

#include "collectives/config/input/environment.h"

static const char *const shortcut_name[SHORTCUTS] = {
    [SHORTCUT_FOLD] = "fold", [SHORTCUT_REPEAT] = "repeat", [SHORTCUT_REPLAY] = "replay"};

static uint32_t asked_for(enum shortcut which, const struct run_options *options)
{
    return which == SHORTCUT_FOLD     ? options->fold
           : which == SHORTCUT_REPEAT ? options->repeat
                                      : options->replay;
}

static bool draws(const struct hw_jitter_kind *kind)
{
    return hw_jitter_is_drawn(kind) && !kind->per_instance;
}

/* Of the first kind of parts whose operations take different times; NULL: there is none. */
static const char *why_operations_differ(const struct hw_config *hw)
{
#define WHY(index, name)          [index] = "the jitter of " #name " is drawn for each operation",
#define WHY_NODE(KIND, name, ...) WHY(HW_NODE_##KIND, name)
#define WHY_LINK(KIND, name, ...) WHY(HW_LINK_##KIND, name)
    static const char *const node[] = {HW_NODES(WHY_NODE)}, *const link[] = {HW_LINKS(WHY_LINK)};
    for (int i = 0; i < HW_NODE_KEYED; i++)
        if (draws(&hw->node_jitter[i]))
            return node[i];
    for (int i = 0; i < HW_LINK_KEYED; i++) /* the others are as sip_link */
        if (draws(&hw->link_jitter[i]))
            return link[i];
    return NULL;
}

/* What shows each event, or measures the engine. */
static const char *why_all_is_shown(enum shortcut which, const struct run_options *options)
{
    const bool is_step = strcmp(options->bench, "step") == 0;
    if (options->engine.events_max > 0)
        return "--max-events counts all events";
    return options->explain && (which != SHORTCUT_FOLD || is_step) ? "--explain follows all events"
           : options->op_log != NULL                               ? "--op-log has all operations"
           : options->timeline != NULL && strcmp(options->bench, "step") != 0
               ? "--trace shows all kernels" /* that of a step has operations */
           : options->ccl_trace != NULL ? "--ccl-trace has all tiles"
           : environment_is(ENVIRONMENT_CCL_TRACE, "1") && !options->aside
               ? "CUBEWARP_CCL_TRACE=1 prints all tiles"
           : options->dump_pointers        ? "--dump-pointers prints all queues"
           : options->engine_log != NULL   ? "--engine-log measures the engine"
           : options->engine_trace != NULL ? "--engine-trace measures the engine"
                                           : NULL;
}

const char *shortcut_why_not(enum shortcut which, const struct run_options *options,
                             const struct config *config)
{
    const bool is_step = strcmp(options->bench, "step") == 0;
    if (environment_answer(ENVIRONMENT_SHORTCUTS) == ENVIRONMENT_NO)
        return "CUBEWARP_SHORTCUTS=off in the environment";
    if (which == SHORTCUT_REPEAT && is_step)
        return "a step runs once";
    if (which == SHORTCUT_REPEAT && options->engine.end_ps > 0)
        return "--max-sim-time ends the run";
    if (why_operations_differ(&config->hw) != NULL)
        return why_operations_differ(&config->hw);
    if (which == SHORTCUT_FOLD && config->ccl.strict_validation)
        return "strict_validation looks at the messages of every PE";
    if (is_step ? options->verify_data : !options->no_data)
        return is_step ? "--verify-data computes the values of all ranks"
                       : "each rank has values of its own: give --no-data, or --verify-data sample";
    return why_all_is_shown(which, options);
}

bool shortcut_is_open(enum shortcut which, const struct run_options *options,
                      const struct config *config)
{
    return asked_for(which, options) != RUN_SHORTCUT_OFF &&
           shortcut_why_not(which, options, config) == NULL;
}

int shortcuts_check(const struct run_options *options, const struct config *config,
                    struct cw_error *error)
{
    if (environment_answer(ENVIRONMENT_SHORTCUTS) == ENVIRONMENT_NEITHER)
        return cw_error_set(error, CW_USAGE,
                            "CUBEWARP_SHORTCUTS=%.40s: expected " ENVIRONMENT_ANSWERS,
                            environment_get(ENVIRONMENT_SHORTCUTS));
    for (enum shortcut which = 0; which < SHORTCUTS; which++) {
        const char *const why = asked_for(which, options) == RUN_SHORTCUT_ON
                                    ? shortcut_why_not(which, options, config)
                                    : NULL;
        if (why != NULL)
            return cw_error_set(error, CW_USAGE, "--%s on: %s", shortcut_name[which], why);
    }
    return CW_OK;
}

void shortcuts_off(struct run_options *options)
{
    options->fold = options->repeat = options->replay = RUN_SHORTCUT_OFF;
}
