/*
 * machine_use.c: gathers the use of a machine from records. Bins get wider over time: when a
 * stretch is beyond the last one, bins are added up in pairs.
 */
#include "bench/draw/machine_use.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BIN_PS = 1000 };

struct machine_use {
    const struct lp_model *model; /* not used when freeing: it may be gone by then */
    uint32_t pe_count, lp_count;
    uint32_t first_io_die, first_switch; /* LPs */
    uint32_t links[LP_LINK_OWNERS];      /* in the state of each kind of LP */
    uint32_t batch;                      /* lp_model.first_batch; 0: there was none */
    int64_t begin_ps;                    /* the first start */
    int64_t bin_ps;
    bool out_of_memory; /* some bins are missing */
    struct pe_use *pe;  /* [pe_count] by lp_pe_place() */
    int64_t ***link;    /* [lp][number] its bins; NULL where nothing was carried */
    int64_t **bins;     /* [bin_count] all of them, for widening */
    size_t bin_count, bin_room;
};

struct machine_use *machine_use_create(const struct lp_model *model)
{
    struct machine_use *const use = calloc(1, sizeof *use);
    if (use == NULL)
        return NULL;
    use->model = model;
    use->pe_count = lp_pe_count(model);
    use->lp_count = model->lps.count;
    use->first_io_die = model->lps.first_io_die;
    use->first_switch = model->lps.first_switch;
    memcpy(use->links, model->links.count, sizeof use->links);
    use->bin_ps = FIRST_BIN_PS;
    use->pe = calloc(use->pe_count, sizeof *use->pe);
    use->link = calloc(model->lps.count, sizeof *use->link);
    if (use->pe != NULL && use->link != NULL)
        return use;
    free(use->pe);
    free(use->link);
    free(use);
    return NULL;
}

/* Links in the state of an LP. */
static uint32_t links_of(const struct machine_use *use, uint32_t lp)
{
    return use->links[lp >= use->first_switch   ? LP_OF_SWITCH
                      : lp >= use->first_io_die ? LP_OF_IO_DIE
                                                : LP_OF_CUBE];
}

static void forget_use(struct machine_use *use)
{
    for (size_t i = 0; i < use->bin_count; i++)
        free(use->bins[i]);
    for (uint32_t lp = 0; lp < use->lp_count; lp++)
        if (use->link[lp] != NULL)
            memset(use->link[lp], 0, links_of(use, lp) * sizeof *use->link[lp]);
    use->bin_count = 0;
    use->bin_ps = FIRST_BIN_PS;
    memset(use->pe, 0, use->pe_count * sizeof *use->pe);
}

void machine_use_free(struct machine_use *use)
{
    if (use == NULL)
        return;
    forget_use(use);
    for (uint32_t lp = 0; lp < use->lp_count; lp++)
        free(use->link[lp]);
    free(use->link);
    free(use->bins);
    free(use->pe);
    free(use);
}

/* ---- bins ------------------------------------------------------------------------------------ */

/* [USE_BINS] zeros, which stay the machine's. NULL: out of memory, which is noted. */
static int64_t *new_bins(struct machine_use *use)
{
    if (use->bin_count == use->bin_room) {
        const size_t room = use->bin_room == 0 ? 256 : 2 * use->bin_room;
        int64_t **const more = realloc(use->bins, room * sizeof *more);
        if (more == NULL) {
            use->out_of_memory = true;
            return NULL;
        }
        use->bins = more;
        use->bin_room = room;
    }
    int64_t *const bins = calloc(USE_BINS, sizeof *bins);
    if (bins == NULL)
        use->out_of_memory = true;
    else
        use->bins[use->bin_count++] = bins;
    return bins;
}

static void widen(struct machine_use *use)
{
    use->bin_ps *= 2;
    for (size_t i = 0; i < use->bin_count; i++) {
        int64_t *const bins = use->bins[i];
        for (int k = 0; k < USE_BINS / 2; k++)
            bins[k] = bins[2 * k] + bins[2 * k + 1];
        memset(bins + USE_BINS / 2, 0, USE_BINS / 2 * sizeof *bins);
    }
}

/* Adds a stretch of time since the first start. */
static void add_span(struct machine_use *use, int64_t *bins, struct use_span span)
{
    if (bins == NULL || span.begin_ps >= span.end_ps)
        return;
    while (span.end_ps > use->bin_ps * USE_BINS)
        widen(use);
    for (int64_t at = span.begin_ps; at < span.end_ps;) {
        const int64_t bin = at / use->bin_ps, edge_ps = (bin + 1) * use->bin_ps;
        const int64_t end_ps = edge_ps < span.end_ps ? edge_ps : span.end_ps;
        bins[bin] += end_ps - at;
        at = end_ps;
    }
}

/* ---- PEs ------------------------------------------------------------------------------------- */

/* Adds up the first of the kept stretches, which is final. */
static void drop_first(struct machine_use *use, struct pe_use *pe)
{
    add_span(use, pe->bins, pe->span[0]);
    pe->work_ps += pe->span[0].end_ps - pe->span[0].begin_ps;
    pe->spans--;
    memmove(pe->span, pe->span + 1, pe->spans * sizeof *pe->span);
}

/* Adds a stretch of work. Time that it shares with others counts once. */
static void add_work(struct machine_use *use, struct pe_use *pe, struct use_span span)
{
    uint32_t at = 0, kept = 0;
    if (span.begin_ps >= span.end_ps)
        return;
    for (uint32_t i = 0; i < pe->spans; i++) {
        const struct use_span other = pe->span[i];
        if (other.end_ps < span.begin_ps || other.begin_ps > span.end_ps) {
            pe->span[kept++] = other;
            continue;
        }
        span.begin_ps = other.begin_ps < span.begin_ps ? other.begin_ps : span.begin_ps;
        span.end_ps = other.end_ps > span.end_ps ? other.end_ps : span.end_ps;
    }
    pe->spans = kept;
    if (kept == USE_SPANS)
        drop_first(use, pe);
    while (at < pe->spans && pe->span[at].begin_ps < span.begin_ps)
        at++;
    memmove(pe->span + at + 1, pe->span + at, (pe->spans - at) * sizeof *pe->span);
    pe->span[at] = span;
    pe->spans++;
}

void machine_use_kernel(struct machine_use *use, const struct lp_kernel_record *record)
{
    struct pe_use *const pe = &use->pe[lp_pe_place(use->model, record->pe)];
    if (use->model->first_batch != use->batch) {
        forget_use(use);
        use->batch = use->model->first_batch;
        use->begin_ps = record->t_ps;
    }
    if (record->mark == LP_MARK_START) {
        pe->start_ps = record->t_ps - use->begin_ps;
        if (pe->bins == NULL)
            pe->bins = new_bins(use);
    }
    if (record->mark == LP_MARK_END)
        pe->end_ps = record->t_ps - use->begin_ps;
}

void machine_use_op(struct machine_use *use, const struct lp_op *op)
{
    struct pe_use *const pe = &use->pe[lp_pe_place(use->model, op->pe)];
    const struct use_span span = {op->t_start_ps - use->begin_ps, op->t_end_ps - use->begin_ps};
    const int64_t ps = span.end_ps - span.begin_ps;
    switch (op->kind) {
    case LP_OP_LOAD:
    case LP_OP_STORE:
    case LP_OP_COPY:
    case LP_OP_MATH:
    case LP_OP_CAST:
    case LP_OP_GEMM:
    case LP_OP_STORE_TO:
    case LP_OP_LOAD_FROM:
        add_work(use, pe, span);
        break;
    case LP_OP_SEND:
    case LP_OP_PUT:
        pe->sent_bytes += op->bytes;
        pe->send_ps += ps;
        break;
    case LP_OP_RECV:
        pe->received_bytes += op->bytes;
        pe->recv_ps += ps;
        break;
    case LP_OP_LAND:
        pe->received_bytes += op->bytes;
        break;
    case LP_OP_WAIT_NOTIFY:
        pe->recv_ps += ps;
        break;
    default:
        break;
    }
}

void machine_use_crossed(struct machine_use *use, const struct lp_crossed *crossed)
{
    int64_t ***const of_lp = &use->link[crossed->lp];
    if (crossed->batch < use->batch || use->batch == 0)
        return;
    if (*of_lp == NULL)
        *of_lp = calloc(links_of(use, crossed->lp), sizeof **of_lp);
    if (*of_lp == NULL) {
        use->out_of_memory = true;
        return;
    }
    int64_t **const bins = &(*of_lp)[crossed->index];
    if (*bins == NULL)
        *bins = new_bins(use);
    const int64_t end_ps = crossed->end_ps - use->begin_ps;
    add_span(use, *bins, (struct use_span){end_ps - crossed->busy_ps, end_ps});
}

/* ---- figures --------------------------------------------------------------------------------- */

bool machine_use_finish(struct machine_use *use)
{
    for (uint32_t i = 0; i < use->pe_count; i++)
        while (use->pe[i].spans > 0)
            drop_first(use, &use->pe[i]);
    return !use->out_of_memory;
}

const struct pe_use *machine_use_pe(const struct machine_use *use, uint32_t pe)
{
    const struct hw_fold *const fold = use->model->fold;
    const uint32_t of_sip = use->model->cubes * use->model->pes, sip = pe / of_sip;
    const uint32_t by = fold == NULL ? sip : hw_fold_representative(fold, sip);
    return &use->pe[lp_pe_place(use->model, pe - (sip - by) * of_sip)];
}

const int64_t *machine_use_link(const struct machine_use *use, uint32_t lp, uint32_t index)
{
    return use->link[lp] == NULL ? NULL : use->link[lp][index];
}

int64_t machine_use_bin_ps(const struct machine_use *use) { return use->bin_ps; }
