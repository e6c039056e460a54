/*
 * options_call.c: reads --call. Which groups there are is checked later, by the bench.
 */
#include "bench/options/options_call.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/options_size.h"
#include "bench/options/options_value.h"
#include "collectives/config/ccl_groups.h"
#include "collectives/config/input/decimal.h"
#include "collectives/config/input/text.h"

static const struct call_kind {
    const char *name;
    enum ccl_collective collective;
    enum compute_kind compute;
} kinds[] = {{.name = "all_reduce", .collective = CCL_ALL_REDUCE},
             {.name = "reduce_scatter", .collective = CCL_REDUCE_SCATTER},
             {.name = "all_gather", .collective = CCL_ALL_GATHER},
             {.name = "all_to_all", .collective = CCL_ALL_TO_ALL},
             {.name = "broadcast", .collective = CCL_BROADCAST},
             {.name = "barrier", .collective = CCL_BARRIER},
             {.name = "send", .collective = CCL_SEND_RECV},
             {.name = "product", .collective = CCL_COMPUTE, .compute = COMPUTE_PRODUCT},
             {.name = "roofline", .collective = CCL_COMPUTE, .compute = COMPUTE_ROOFLINE},
             {.name = "time", .collective = CCL_COMPUTE, .compute = COMPUTE_TIME}};
enum { KINDS = sizeof kinds / sizeof *kinds, RANK_MAX = 16383 };

/* "5us", all of the text. */
static bool read_start(const char *text, int64_t *ps)
{
    static const struct {
        const char *suffix;
        int64_t ps;
    } units[] = {
        {"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000}};
    struct decimal number;
    const size_t digits = decimal_prefix(text, strlen(text), &number);
    for (size_t i = 0; i < sizeof units / sizeof *units && digits > 0; i++)
        if (strcmp(text + digits, units[i].suffix) == 0)
            return decimal_times(number, units[i].ps, ps);
    return false;
}

/* "0-8", all of the text: two ranks. */
static bool read_pair(const char *text, struct run_call *call)
{
    uint64_t from = 0, to = 0;
    const size_t bytes = strlen(text), first = text_whole(text, bytes, RANK_MAX, &from);
    if (first == 0 || text[first] != '-')
        return false;
    const size_t second = text_whole(text + first + 1, bytes - first - 1, RANK_MAX, &to);
    call->from = (uint32_t)from;
    call->to = (uint32_t)to;
    return second > 0 && first + 1 + second == bytes && from != to;
}

static const struct call_kind *find_kind(const char *text, size_t bytes)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strlen(kinds[i].name) == bytes && memcmp(kinds[i].name, text, bytes) == 0)
            return &kinds[i];
    return NULL;
}

/* "4096x4096x8192" */
static bool read_product(const char *text, struct compute_request *request)
{
    uint64_t side[3];
    for (uint32_t i = 0; i < 3; i++) {
        const size_t bytes = text_whole(text, strlen(text), COMPUTE_SIDE_MAX, &side[i]);
        if (bytes == 0 || text[bytes] != (i < 2 ? 'x' : '\0') || side[i] == 0)
            return false;
        text += bytes + 1;
    }
    request->m = (uint32_t)side[0];
    request->n = (uint32_t)side[1];
    request->k = (uint32_t)side[2];
    return true;
}

/* "2.5T/64MiB": floating-point operations, and bytes; either may be 0. */
static bool read_roofline(const char *text, struct compute_request *request)
{
    static const char suffixes[] = "KMGTP";
    struct decimal number;
    int64_t flops, unit = 1;
    const size_t digits = decimal_prefix(text, strlen(text), &number);
    const char *at = text + digits;
    const char *const suffix = *at != '\0' ? strchr(suffixes, *at) : NULL;
    for (const char *s = suffixes; suffix != NULL && s <= suffix; s++)
        unit *= 1000;
    at += suffix != NULL;
    if (digits == 0 || *at != '/' || !decimal_times(number, unit, &flops))
        return false;
    request->flops = (uint64_t)flops;
    request->block = TL_BLOCK_GEMM;
    return strcmp(at + 1, "0") == 0 || size_parse(at + 1, strlen(at + 1), &request->bytes);
}

/* What is wrong with the size of a computation; NULL: nothing. */
static const char *read_computation(const char *text, struct compute_request *request)
{
    switch (text != NULL ? request->kind : COMPUTE_TIME) {
    case COMPUTE_PRODUCT:
        return read_product(text, request) ? NULL
                                           : "a product is MxNxK, as in product:tp:64x64x512";
    case COMPUTE_ROOFLINE:
        return read_roofline(text, request) ? NULL
                                            : "a roofline has flops and bytes of a rank, as in "
                                              "roofline:tp:2.5G/64MiB";
    default:
        return text != NULL && read_start(text, &request->time_ps)
                   ? NULL
                   : "after the groups stands what is computed: product:tp:64x64x512, "
                     "roofline:tp:2.5G/64MiB, time:tp:5us";
    }
}

const char *options_parse_call(const char *text, struct run_call *call)
{
    char own[sizeof call->text];
    *call = (struct run_call){.collective = CCL_COLLECTIVES};
    snprintf(call->text, sizeof call->text, "%s", text);
    snprintf(own, sizeof own, "%s", text);
    char *const at = strchr(own, '@');
    if (at != NULL && !read_start(at + 1, &call->start_ps))
        return "after @ stands a time such as 5us: a number with ps, ns, us, ms or s";
    if (at != NULL)
        *at = '\0';
    char *const groups = strchr(own, ':');
    const struct call_kind *const kind =
        find_kind(own, groups != NULL ? (size_t)(groups - own) : strlen(own));
    if (kind == NULL)
        return "expected all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, barrier, "
               "send, product, roofline or time before the first colon";
    call->collective = kind->collective;
    if (groups == NULL || groups[1] == '\0')
        return "the groups are missing, as in all_reduce:tp:1MiB; all ranks are 'world'";
    char *const size = strchr(groups + 1, ':');
    call->compute.kind = kind->compute;
    const char *const wrong = kind->collective == CCL_COMPUTE
                                  ? read_computation(size != NULL ? size + 1 : NULL, &call->compute)
                                  : NULL;
    if (wrong != NULL)
        return wrong;
    const bool is_barrier = kind->collective == CCL_BARRIER;
    if (is_barrier && size != NULL)
        return "a barrier has no size: barrier:tp";
    if (!is_barrier && kind->collective != CCL_COMPUTE &&
        (size == NULL || !size_parse(size + 1, strlen(size + 1), &call->bytes) || call->bytes == 0))
        return "after the groups stands the size of a rank's tensor, as in all_reduce:tp:1MiB";
    if (size != NULL)
        *size = '\0';
    if (strlen(groups + 1) >= sizeof call->groups)
        return "the name of the groups is too long";
    snprintf(call->groups, sizeof call->groups, "%.79s", groups + 1);
    if (kind->collective == CCL_SEND_RECV && !read_pair(call->groups, call))
        return "a send goes from one rank to another, as in send:0-8:64KiB";
    return NULL;
}

int run_options_read_call(struct option_parse *parse, const struct option_row *row,
                          const char *text, struct cw_error *error)
{
    struct run_options *const run = parse->values;
    for (;;) {
        char one[sizeof run->calls->text];
        const size_t bytes = strcspn(text, ",");
        snprintf(one, sizeof one, "%.*s", (int)(bytes < sizeof one ? bytes : 0), text);
        if (run->call_count == RUN_CALLS_MAX)
            return cw_error_set(error, CW_USAGE, "--%s: more than %d calls", row->name,
                                RUN_CALLS_MAX);
        const char *const wrong = options_parse_call(one, &run->calls[run->call_count]);
        if (wrong != NULL)
            return options_refuse(error, row->name, bytes < sizeof one ? one : text, wrong);
        run->call_count++;
        if (text[bytes] == '\0')
            return CW_OK;
        text += bytes + 1;
    }
}
