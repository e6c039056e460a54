/*
 * run_use.c: gathers the use of links and cubes after each row, and writes it: --links, --svg,
 * --dot,
 * --gexf, the picture of the result (run_use.h).
 */
#include "bench/programs/run_use.h"

#include <inttypes.h>
#include <string.h>

uint32_t run_root_cube(const struct config *config)
{
    const struct hw_config *const hw = &config->hw;
    const struct ccl_config *const ccl = &config->ccl;
    if (ccl->root == CCL_ROOT_XY)
        return ccl->root_y * hw->cube_w + ccl->root_x;
    return ccl->root == CCL_ROOT_CENTER ? hw->cube_h / 2 * hw->cube_w + hw->cube_w / 2
                                        : hw_cubes(hw) - 1;
}

bool run_use_is_asked(const struct run_options *options)
{
    bool drawn = false;
    for (uint32_t format = 0; format < PICTURE_FORMATS; format++)
        drawn = drawn || options->drawn[format] != NULL;
    return options->links != NULL || drawn;
}

int run_use_open(struct run_use *use, const struct run_options *options,
                 const struct config *config, struct cw_error *error)
{
    int code = CW_OK;
    *use = (struct run_use){.options = options, .config = config};
    if (options->links != NULL) {
        use->table = link_table_create();
        code = use->table == NULL ? cw_error_memory(error, "the table of links")
                                  : atomic_file_open(&use->links_file, options->links, error);
    }
    for (uint32_t format = 0; format < PICTURE_FORMATS; format++) {
        if (code == CW_OK && options->drawn[format] != NULL)
            code = picture_check(&config->hw, error);
        if (code == CW_OK && options->drawn[format] != NULL)
            code = atomic_file_open(&use->drawn_file[format], options->drawn[format], error);
    }
    return code;
}

int run_use_begin(struct run_use *use, const struct lp_model *model, struct cw_error *error)
{
    machine_use_free(use->machine);
    use->machine = NULL;
    if (use->options == NULL || !run_use_is_asked(use->options))
        return CW_OK;
    use->machine = machine_use_create(model);
    return use->machine != NULL ? CW_OK : cw_error_memory(error, "the use of the machine");
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* The cube at a lane of an edge of its SIP. */
static uint32_t cube_at_lane(const struct picture *picture, enum hw_port side, uint32_t lane)
{
    const uint32_t w = picture->cube_w, h = picture->cube_h;
    switch (side) {
    case HW_PORT_N:
        return lane;
    case HW_PORT_S:
        return (h - 1) * w + lane;
    case HW_PORT_E:
        return lane * w + w - 1;
    default:
        return lane * w;
    }
}

/* The links of a picture as they are visited. */
struct drawing {
    const struct lp_model *model;
    struct picture *picture;
};

static void use_link(struct picture *picture, const struct lp_link_use *use)
{
    struct picture_link *link = NULL;
    switch (use->group) {
    case LP_LINKS_OUTER:
        link = picture_outlet(picture, picture_sip(use->sip), use->unit);
        break;
    case LP_LINKS_TO_SIP:
        link = picture_outlet(picture, picture_switch(use->sip), use->unit);
        break;
    case LP_LINKS_UCIE:
        link = picture_out_of_cube(picture, use->sip, use->cube, use->port);
        break;
    case LP_LINKS_EDGE:
        link = picture_into_cube(picture, use->sip, cube_at_lane(picture, use->port, use->number),
                                 use->port);
        break;
    default:
        break;
    }
    if (link == NULL)
        return;
    link->bytes = use->bytes;
    link->busy_ps = use->busy_ps;
    link->queue_ps = use->queue_ps_max;
}

static void use_links(void *arg, const struct lp_link_use *use)
{
    const struct drawing *const drawing = arg;
    if (drawing->model->fold == NULL) {
        use_link(drawing->picture, use);
        return;
    }
    for (uint32_t k = 0; k < use->alike; k++) {
        char place[LP_LINK_PLACE_BYTES];
        const struct lp_link_use member = lp_link_member(drawing->model, use, k, place);
        use_link(drawing->picture, &member);
    }
}

static void use_cubes(struct picture *picture, const struct machine_use *machine, uint32_t pes)
{
    const uint32_t cubes = picture->sip_count * picture->cube_w * picture->cube_h;
    for (uint32_t i = 0; i < cubes; i++)
        for (uint32_t pe = 0; pe < pes; pe++) {
            const struct pe_use *const use = machine_use_pe(machine, i * pes + pe);
            struct picture_cube *const cube = &picture->cubes[i];
            cube->work_ps = use->work_ps > cube->work_ps ? use->work_ps : cube->work_ps;
            cube->end_ps = use->end_ps > cube->end_ps ? use->end_ps : cube->end_ps;
        }
}

static int draw_use(struct run_use *use, const struct result_row *row,
                    const struct lp_system *system, int64_t time_ps, struct picture **drawn,
                    struct cw_error *error)
{
    const struct hw_config *const hw = &lp_system_model(system)->hw;
    struct picture *const picture = picture_create(hw, run_root_cube(use->config), error);
    *drawn = picture;
    if (picture == NULL)
        return error->exit_code;
    const int code = picture_use(picture, time_ps, use->machine != NULL, error);
    if (code != CW_OK)
        return code;
    struct drawing drawing = {lp_system_model(system), picture};
    const uint32_t drawn_groups = 1u << LP_LINKS_OUTER | 1u << LP_LINKS_TO_SIP |
                                  1u << LP_LINKS_UCIE | 1u << LP_LINKS_EDGE; /* use_link() */
    lp_system_visit_links(system, (struct lp_machine_part){.parts = 1, .groups = drawn_groups},
                          use_links, &drawing);
    if (use->machine != NULL)
        use_cubes(picture, use->machine, hw_pes(hw));
    snprintf(picture->caption, sizeof picture->caption,
             "%s%s%s, %" PRIu64 " bytes, %" PRId64 ".%06" PRId64 " us", row->collective,
             row->algorithm[0] != '\0' ? " by " : "", row->algorithm, row->bytes, time_ps / 1000000,
             time_ps % 1000000);
    return CW_OK;
}

int run_use_row(struct run_use *use, struct result *result, const struct result_row *row,
                const struct lp_system *system, const struct lp_times *times,
                struct cw_error *error)
{
    struct picture *drawn = NULL;
    struct cw_error too_large; /* then a table of links is all */
    const int64_t time_ps = times->last_end_ps - times->first_start_ps;
    const struct link_table_head head = {.collective = row->collective,
                                         .algorithm = row->algorithm,
                                         .bytes = row->bytes,
                                         .time_ps = time_ps};
    if ((use->machine == NULL && !(use->options->explain && result->document)) || time_ps <= 0)
        return CW_OK;
    if (use->machine != NULL && !machine_use_finish(use->machine))
        return cw_error_memory(error, "the use of the machine");
    int code = CW_OK;
    if (use->table != NULL)
        code = link_table_add(use->table, &head, system, use->machine, error);
    if (code == CW_OK && picture_check(&use->config->hw, &too_large) == CW_OK)
        code = draw_use(use, row, system, time_ps, &drawn, error);
    if (code != CW_OK) {
        picture_free(drawn);
        return code;
    }
    picture_free(result->picture);
    result->picture = drawn;
    return CW_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool names_csv(const char *path)
{
    const size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".csv") == 0;
}

int run_use_commit(struct run_use *use, const struct result *result, struct cw_error *error)
{
    int code = CW_OK;
    if (use->links_file.stream != NULL) {
        if (names_csv(use->options->links))
            link_table_csv(use->links_file.stream, use->table, &use->config->hw);
        else
            link_table_json(use->links_file.stream, use->table);
        code = atomic_file_commit(&use->links_file, error);
    }
    for (uint32_t format = 0; format < PICTURE_FORMATS; format++) {
        struct atomic_file *const file = &use->drawn_file[format];
        if (code != CW_OK || file->stream == NULL || result->picture == NULL)
            continue;
        char note[GRAPHVIZ_NOTE_BYTES];
        code = picture_write(file->stream, result->picture, format, note, error);
        if (note[0] != '\0')
            fprintf(stderr, "cubewarp: note: SIPs are drawn in rows: %s\n", note);
        if (code == CW_OK)
            code = atomic_file_commit(file, error);
    }
    return code;
}

void run_use_discard(struct run_use *use)
{
    machine_use_free(use->machine);
    link_table_free(use->table);
    atomic_file_discard(&use->links_file);
    for (uint32_t format = 0; format < PICTURE_FORMATS; format++)
        atomic_file_discard(&use->drawn_file[format]);
    *use = (struct run_use){0};
}
