/*
 * cmd_topo.c: `cubewarp topo`: shows the machine that a configuration builds: counts, a
 * drawing (bench/draw), the algorithm's schedule as a file (msccl_write.h), and with --path the
 * nodes and links between two PEs with their times.
 */
#include "bench/cli/cmd_topo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/output/atomic_file.h"
#include "bench/cli/cli.h"
#include "bench/draw/graph_file.h"
#include "bench/draw/picture_format.h"
#include "bench/programs/run_use.h"
#include "collectives/config/config_load.h"
#include "collectives/config/config_tree.h"
#include "collectives/hook.h"
#include "collectives/runtime/distributed.h"
#include "collectives/runtime/install_plan.h"
#include "collectives/msccl/msccl_write.h"
#include "collectives/msccl/msccl_file.h"
#include "collectives/schedule/schedule_check.h"
#include "core/os/text_stream.h"
#include "hw/timing.h"
#include "hw/topology/broken.h"
#include "hw/topology/built.h"
#include "hw/topology/channels.h"
#include "hw/topology/sip_dims.h"
#include "lp/layout.h"

/* "S.C.P" within the machine. */
static bool parse_place(const char *text, const struct hw_config *hw, struct hw_place *place)
{
    char rest;
    return sscanf(text, "%u.%u.%u%c", &place->sip, &place->cube, &place->pe, &rest) == 3 &&
           place->sip < hw->sip_count && place->cube < hw_cubes(hw) && place->pe < hw_pes(hw);
}

/* The dimensions of the SIPs, where the name of the topology does not give them. */
static void print_dims(const struct hw_config *hw)
{
    static const char *const joint[] = {[HW_SIP_RING] = "ring of %u",
                                        [HW_SIP_LINE] = "line of %u",
                                        [HW_SIP_FULL] = "links between all %u",
                                        [HW_SIP_SWITCH] = "switch for %u"};
    for (uint32_t k = 0; k < hw->sip_dims.count; k++) {
        const struct hw_sip_dim *const dim = &hw->sip_dims.at[k];
        char text[40];
        snprintf(text, sizeof text, joint[dim->joint], dim->size);
        printf("  dimension %u  %s: %u %s of a SIP, %llu one way between halves, at most %u "
               "apart\n",
               k + 1, text, hw_dim_degree(dim), hw_link_name_of(hw, dim->link),
               (unsigned long long)hw_dim_bisection(hw, dim), hw_dim_diameter(dim));
    }
}

/* Whether links can wait for each other in a circle. */
static void print_channels(const struct hw_config *hw)
{
    enum { NAMED = 8 };
    char name[HW_PART_NAME_BYTES];
    struct hw_circle circle = hw_circle_of(hw);
    if (hw->sip_count > 1 && circle.kind == HW_CIRCLE_NONE)
        puts("channels     no circle of dependences: hardware needs no virtual channels");
    if (circle.kind == HW_CIRCLE_LARGE)
        puts("channels     not looked at in so large a machine");
    if (circle.kind == HW_CIRCLE_FOUND) {
        printf("channels     a circle of %u dependences, so hardware needs virtual channels:",
               circle.count);
        for (uint32_t i = 0; i < circle.count && i < NAMED; i++)
            printf("%s %s", i > 0 ? "," : "",
                   hw_outer_link_name(hw, circle.channel[i].stop, circle.channel[i].outlet, name));
        printf("%s\n", circle.count > NAMED ? ", ..." : "");
    }
    hw_circle_free(&circle);
}

/* Links and switches between the SIPs, and what all parts cost and draw. */
static void print_built(const struct hw_config *hw)
{
    const struct hw_built built = hw_built_of(hw);
    const char *before = "links        ";
    if (built.all_links == 0)
        puts("links        0 between SIPs");
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++) {
        if (built.links[kind] == 0)
            continue;
        printf("%s%" PRIu64 " %s of %.15g GB/s each way\n", before, built.links[kind],
               hw_link_name_of(hw, kind), hw_link_gbs(&hw->link[kind]));
        before = "             ";
    }
    printf("switches     %" PRIu64 "\n", built.switches);
    if (built.has_cost)
        printf("cost         %.15g, SIPs and switches included\n", built.cost);
    if (built.has_energy)
        printf("power        %.15g W, and what crosses links and switches\n", built.watts);
}

/* The way by which what crossed a failed link goes now: "sip 0 N, sip 56 E". */
static void name_detour(const struct hw_config *hw, uint32_t stop, uint32_t to, char *text,
                        size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t hops = 0; stop != to && hops < hw_stops(hw) && used + 1 < bytes; hops++) {
        char name[HW_PART_NAME_BYTES];
        const uint32_t outlet = hw_route_exit(hw, stop, to, 0);
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", hops > 0 ? ", " : "",
                                 hw_outer_link_name(hw, stop, outlet, name));
        stop = hw_hop(hw, stop, outlet).to;
    }
}

/* What has failed from the start, and what will. */
static void print_failed(const struct hw_config *hw, const struct hw_config *before,
                         const char *when)
{
    const struct hw_config *const whole = hw_whole(hw);
    const char *begin = when;
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++) {
        char name[HW_PART_NAME_BYTES], detour[200];
        if (hw_has_failed(hw, stop) && !hw_has_failed(before, stop)) {
            printf("%-12s %s, with its links\n", begin, hw_stop_name(hw, stop, name));
            begin = "";
        }
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(whole, stop, outlet);
            if (hop.link == HW_LINK_KINDS || hw_has_failed(hw, stop) || hw_has_failed(hw, hop.to) ||
                hw_hop(hw, stop, outlet).link < HW_LINK_KINDS ||
                hw_hop(before, stop, outlet).link == HW_LINK_KINDS)
                continue;
            detour[0] = '\0';
            if (!hw_is_switch(hw, hop.to))
                name_detour(hw, stop, hop.to, detour, sizeof detour);
            printf("%-12s %s%s%s\n", begin, hw_outer_link_name(hw, stop, outlet, name),
                   detour[0] != '\0' ? ", now by " : "", detour);
            begin = "";
        }
    }
}

/* What a file of another program said, and what had to be assumed. */
static void print_source(const struct config *config)
{
    const struct config_value *const topology =
        config_machine_value(config->tree, "system.sips.topology");
    const struct graph_list *const list = topology->graph != NULL ? &topology->graph->list : NULL;
    if (list != NULL && list->read != NULL)
        printf("read         %s\nassumed      %s\n", list->read, list->assumed);
}

static void print_counts(const struct config *config, const struct lp_model *m, uint64_t pairs)
{
    const struct hw_config *hw = &config->hw;
    printf("SIPs         %u, %s", hw->sip_count, hw->sip_topology->name);
    if (hw->sip_topology == &hw_levels)
        printf(": %s", config_machine_value(config->tree, "system.sips.topology")->text);
    else if (hw->sip_topology->is_3d)
        printf(" of %u x %u x %u", config->tree->grid.w, config->tree->grid.h,
               config->tree->grid.d);
    else if (hw->sip_topology->is_grid)
        printf(" of %u x %u", hw->sip_w, hw->sip_h);
    putchar('\n');
    print_source(config);
    print_dims(hw);
    print_channels(hw);
    print_built(hw);
    print_failed(hw, hw_whole(hw), "failed");
    if (hw->later != NULL)
        print_failed(hw->later, hw, "will fail");
    printf("cubes        %u, %u x %u in a SIP\n", hw->sip_count * m->cubes, hw->cube_w, hw->cube_h);
    printf("PEs          %u, %u in a cube:", hw_pe_count(hw), m->pes);
    for (uint32_t i = 0; i < hw->corner_count; i++)
        printf(" %s", hw_corner_name[hw->corner[i]]);
    printf(" x %u\nNoC          %u x %u routers in a cube\n", hw->pe_per_corner, hw->noc_w,
           hw->noc_h);
    printf("queue pairs  %llu, %u slots of %u bytes each\n", (unsigned long long)pairs,
           config->ccl.queues.n_slots, config->ccl.queues.slot_bytes);
    printf("LPs          %u: the host, cubes, IO dies and %u switches\n", m->lps.count,
           m->lps.switch_count);
    printf("state        %zu bytes per PE, its cube's and links' included\n",
           m->cube.state_bytes / m->pes);
}

/* A path being printed, and the sums of its times. */
struct walked_path {
    const struct hw_config *hw;
    uint64_t bytes;
    int64_t latency_ps, ser_ps_max;
};

static void print_path_ns(int64_t ps)
{
    printf("%6lld.%03lld", (long long)(ps / 1000), (long long)(ps % 1000));
}

static void print_place(const struct hw_config *hw, const struct hw_path_step *step)
{
    char outlet[HW_OUTLET_NAME_BYTES] = "";
    char where[64] = "";
    int n = 0;
    const bool is_switch = !step->is_link && hw_node_is_switch((enum hw_node_kind)step->kind);
    if (step->sip != UINT32_MAX && !is_switch)
        n += snprintf(where, sizeof where, "sip %u", step->sip);
    if (step->cube != UINT32_MAX)
        n += snprintf(where + n, sizeof where - (size_t)n, " cube %u", step->cube);
    if (step->index != UINT32_MAX)
        n += snprintf(where + n, sizeof where - (size_t)n, " #%u", step->index);
    if (step->outlet != HW_OUTLET_NONE && hw->sip_dims.count > 0) {
        hw_outlet_name(hw, step->sip, step->outlet, outlet);
        snprintf(where + n, sizeof where - (size_t)n, " %s", outlet);
    } else if (step->port < HW_PORTS)
        snprintf(where + n, sizeof where - (size_t)n, " %c", hw_port_letter[step->port]);
    printf("%-26s", where);
}

static void print_step(void *arg, const struct hw_path_step *step)
{
    struct walked_path *path = arg;
    if (!step->is_link) {
        const int64_t ps = path->hw->overhead_ps[step->kind];
        path->latency_ps += ps;
        printf("%-10s ", hw_node_name_of(path->hw, step->kind));
        print_place(path->hw, step);
        printf(" overhead ");
        print_path_ns(ps);
    } else {
        const struct hw_link_class *link = &path->hw->link[step->kind];
        const int64_t ser_ps = hw_ser_ps(link, path->bytes);
        path->latency_ps += link->prop_ps;
        path->ser_ps_max = ser_ps > path->ser_ps_max ? ser_ps : path->ser_ps_max;
        printf("  -%-8s ", hw_link_name_of(path->hw, step->kind));
        print_place(path->hw, step);
        printf(" flight   ");
        print_path_ns(link->prop_ps);
        printf("   %llu B take ", (unsigned long long)path->bytes);
        print_path_ns(ser_ps);
    }
    putchar('\n');
}

static void print_path(const struct config *config, struct hw_place from, struct hw_place to)
{
    struct walked_path path = {.hw = &config->hw, .bytes = config->ccl.queues.slot_bytes};
    printf("\nA tile of %u bytes from PE_DMA to the receive slot, in ns, on an idle fabric:\n",
           config->ccl.queues.slot_bytes);
    hw_path_walk(&config->hw, from, to, config->ccl.queues.slots, HW_OUTLET_NONE, HW_DIRS_MAX,
                 print_step, &path);
    printf("latency ");
    print_path_ns(path.latency_ps);
    printf(" + longest serialisation ");
    print_path_ns(path.ser_ps_max);
    printf(" = ");
    print_path_ns(path.latency_ps + path.ser_ps_max);
    putchar('\n');
}

static int write_picture(const struct picture *picture, enum picture_format format,
                         const char *path, struct cw_error *error)
{
    char note[GRAPHVIZ_NOTE_BYTES] = "";
    const bool to_stdout = strcmp(path, "-") == 0;
    struct atomic_file file = {0};
    int code = to_stdout ? CW_OK : atomic_file_open(&file, path, error);
    if (code == CW_OK)
        code = picture_write(to_stdout ? stdout : file.stream, picture, format, note, error);
    if (code == CW_OK && !to_stdout)
        code = atomic_file_commit(&file, error);
    if (note[0] != '\0')
        fprintf(stderr, "cubewarp: note: SIPs are drawn in rows: %s\n", note);
    atomic_file_discard(&file);
    return code;
}

static int draw(const char *path, enum picture_format format, const struct config *config,
                struct cw_error *error)
{
    struct picture *const picture = picture_create(&config->hw, run_root_cube(config), error);
    const int code =
        picture == NULL ? error->exit_code : write_picture(picture, format, path, error);
    picture_free(picture);
    return code;
}

static int write_graph(const char *path, const struct hw_config *hw, struct cw_error *error)
{
    if (strcmp(path, "-") == 0)
        return graph_file_write(stdout, hw, error);
    struct atomic_file file = {0};
    int code = atomic_file_open(&file, path, error);
    if (code == CW_OK)
        code = graph_file_write(file.stream, hw, error);
    if (code == CW_OK)
        code = atomic_file_commit(&file, error);
    atomic_file_discard(&file);
    return code;
}

/* The schedule of the configured algorithm. NULL: it is none, or cannot be made. */
static struct schedule *schedule_of(const struct ccl_algorithm *algorithm,
                                    const struct ccl_call *call, struct cw_error *error)
{
    struct ccl_refusal refusal;
    if (algorithm->check != NULL &&
        CCL_HOOK("check()", algorithm->check, (call, &refusal)) != CW_OK) {
        char text[sizeof refusal];
        ccl_refusal_text(&refusal, text, sizeof text);
        (void)cw_error_set(error, CW_USAGE, "--xml: %s", text);
        return NULL;
    }
    if (algorithm->schedule != NULL)
        return CCL_HOOK("schedule()", algorithm->schedule, (call, error));
    (void)cw_error_set(
        error, CW_USAGE,
        "--xml: %s is a kernel of its own, and no schedule; legal are ring_rs_ag and "
        "the others that ALGORITHMS.md lists as schedules, and MSCCL XML files",
        call->ccl->algorithm);
    return NULL;
}

/* The text of a schedule, on the heap, read again and checked; and which runtimes take it. NULL:
 * *error. */
static char *xml_of(const struct config *config, const struct schedule *schedule, size_t *bytes,
                    char fit[MSCCL_FIT_BYTES], struct cw_error *error)
{
    char *text = NULL;
    struct msccl_file again = {0};
    FILE *const stream = text_stream_open(&text, bytes);
    int code = stream == NULL ? cw_error_memory(error, "an MSCCL XML file")
                              : msccl_write(stream, schedule, fit, error);
    if (stream != NULL && fclose(stream) != 0 && code == CW_OK)
        code = cw_error_memory(error, "an MSCCL XML file");
    if (code == CW_OK)
        code = msccl_read_text("the file", text, *bytes, &again, error);
    if (code == CW_OK)
        code = schedule_check(again.schedule, config->ccl.queues.n_slots, NULL, NULL, error);
    msccl_file_free(&again);
    if (code == CW_OK)
        return text;
    free(text);
    return NULL;
}

static int put_xml(const char *path, const char *text, size_t bytes, struct cw_error *error)
{
    if (strcmp(path, "-") == 0) {
        fwrite(text, 1, bytes, stdout);
        return CW_OK;
    }
    struct atomic_file file = {0};
    int code = atomic_file_open(&file, path, error);
    if (code != CW_OK)
        return code;
    fwrite(text, 1, bytes, file.stream);
    return atomic_file_commit(&file, error);
}

static int write_xml(const struct run_options *options, const struct config *config,
                     struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, error);
    size_t bytes = 0;
    if (algorithm == NULL)
        return error->exit_code;
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = algorithm->collective,
                                  .world_size = dist_world_size_for(config),
                                  .n_elem = config->ccl.n_elem,
                                  .dtype = LP_F16,
                                  .math = LP_MATH_SUM};
    struct schedule *const schedule = schedule_of(algorithm, &call, error);
    if (schedule == NULL)
        return error->exit_code;
    char fit[MSCCL_FIT_BYTES];
    char *const text = xml_of(config, schedule, &bytes, fit, error);
    schedule_free(schedule);
    const int code = text == NULL ? error->exit_code : put_xml(options->xml, text, bytes, error);
    if (code == CW_OK)
        fprintf(stderr, "cubewarp: note: the file is %s\n", fit);
    free(text);
    return code;
}

/* Queue pairs that the algorithm's topology installs. */
static int count_pairs(const struct config *config, uint64_t *pairs, struct cw_error *error)
{
    *pairs = hw_queue_pairs(&config->hw, config->ccl.wiring == CCL_WIRING_ALL_PES);
    if (strcmp(config->ccl.topology, "none") == 0)
        return CW_OK;
    struct install_plans *plans;
    const char *key;
    const int code = build_install_plans(dist_world_size_for(config), config->ccl.algorithm,
                                         &config->ccl, &config->hw, &plans, &key, error);
    if (code != CW_OK)
        return code == CW_USAGE ? dist_refuse(config, key, error) : code;
    if (install_plans_wiring(plans) != NULL)
        *pairs = lp_wiring_queue_pairs(install_plans_wiring(plans));
    install_plans_free(plans);
    return CW_OK;
}

static int topo(const struct run_options *options, const struct config *config,
                struct cw_error *error)
{
    struct hw_place from, to;
    struct lp_model model;
    if (options->path_from != NULL && (!parse_place(options->path_from, &config->hw, &from) ||
                                       !parse_place(options->path_to, &config->hw, &to))) {
        return cw_error_set(error, CW_USAGE,
                            "--path %s %s: expected two PEs as SIP.CUBE.PE, up to %u.%u.%u",
                            options->path_from, options->path_to, config->hw.sip_count - 1,
                            hw_cubes(&config->hw) - 1, hw_pes(&config->hw) - 1);
    }
    for (uint32_t format = 0; format < PICTURE_FORMATS; format++)
        if (options->drawn[format] != NULL)
            return draw(options->drawn[format], format, config, error);
    if (options->graph != NULL)
        return write_graph(options->graph, &config->hw, error);
    if (options->xml != NULL)
        return write_xml(options, config, error);
    uint64_t pairs;
    const int code = count_pairs(config, &pairs, error);
    if (code != CW_OK)
        return code;
    lp_layout_init(&model, &config->hw, &config->ccl.queues, (struct lp_needs){0}, NULL);
    print_counts(config, &model, pairs);
    if (options->path_from != NULL)
        print_path(config, from, to);
    lp_layout_free(&model);
    return CW_OK;
}

int topo_main(int argc, char **argv)
{
    struct run_options options;
    struct config *config;
    struct cw_error error = {.exit_code = CW_OK};
    int code = cli_begin(&options, COMMAND_TOPO, argc, argv, &config);
    if (config == NULL)
        return code;
    code = topo(&options, config, &error);
    config_free(config);
    code = cli_end("topo", code);
    return error.exit_code != CW_OK ? cli_fail("topo", &error) : code;
}
