/*
 * msccl_xml.c: reads MSCCL XML files (msccl_xml.h), in three steps: the elements' attributes into
 * lists, in the order of the file (here); the lists sorted by number, and each number once
 * (msccl_lists.h); then the schedule (msccl_build.h).
 */
#include "collectives/msccl/msccl_xml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/text.h"
#include "collectives/config/input/xml_file.h"
#include "collectives/msccl/msccl_build.h"
#include "collectives/schedule/schedule_faults.h"

enum {
    GPUS_MAX = 65536,
    CHUNKS_MAX = MSCCL_CHUNKS_MAX,
    TBS_MAX = 65536,     /* of a gpu */
    STEPS_MAX = 1 << 24, /* of a thread block */
    CHANNELS = 256,
    COUNT_MAX = 65535
};
#define BYTES_MAX INT64_MAX /* as files have it that mean any size */

#define MISSING INT64_MIN

enum element { ELEMENT_ALGO, ELEMENT_GPU, ELEMENT_COPY, ELEMENT_TB, ELEMENT_STEP, ELEMENTS };
static const char *const element_name[ELEMENTS] = {"algo", "gpu", "copy", "tb", "step"};

/* An attribute that is a number: its range, and its value where it is missing. */
struct number_attribute {
    const char *name;
    int64_t least, most, absent; /* MISSING: it must be there */
};
enum { NUMBERS_MAX = 9, TEXTS_MAX = 3 };
/* An unknown attribute that differs from a longer one in at most this many letters is considered a
 * misspelling of it. */
enum { MISSPELT_LETTERS_MAX = 2, MISSPELT_BYTES_MIN = 3 };

enum { ALGO_NGPUS, ALGO_CHUNKS, ALGO_CHANNELS, ALGO_INPLACE, ALGO_MIN, ALGO_MAX, ALGO_ROOT };
enum { GPU_ID, GPU_I, GPU_O, GPU_S };
enum { COPY_I, COPY_O, COPY_CNT };
enum { TB_ID, TB_SEND, TB_RECV, TB_CHAN };
enum { STEP_S, STEP_SRCOFF, STEP_DSTOFF, STEP_OFF, STEP_CNT, STEP_DEPID, STEP_DEPS, STEP_HASDEP };
static const struct number_attribute numbers[ELEMENTS][NUMBERS_MAX] = {
    [ELEMENT_ALGO] = {{"ngpus", 1, GPUS_MAX, MISSING},
                      {"nchunksperloop", 1, CHUNKS_MAX, 0},
                      {"nchannels", 1, CHANNELS, 0},
                      {"inplace", 0, 1, -1},
                      {"minBytes", 0, BYTES_MAX, 0},
                      {"maxBytes", 0, BYTES_MAX, 0},
                      {"root", -1, GPUS_MAX - 1, -1}},
    [ELEMENT_GPU] = {{"id", 0, GPUS_MAX - 1, MISSING},
                     {"i_chunks", 0, CHUNKS_MAX, MISSING},
                     {"o_chunks", 0, CHUNKS_MAX, MISSING},
                     {"s_chunks", 0, CHUNKS_MAX, MISSING}},
    [ELEMENT_COPY] = {{"i_off", 0, CHUNKS_MAX - 1, MISSING},
                      {"o_off", 0, CHUNKS_MAX - 1, MISSING},
                      {"cnt", 1, COUNT_MAX, 1}},
    [ELEMENT_TB] = {{"id", 0, TBS_MAX - 1, MISSING},
                    {"send", -1, GPUS_MAX - 1, MISSING},
                    {"recv", -1, GPUS_MAX - 1, MISSING},
                    {"chan", 0, CHANNELS - 1, MISSING}},
    [ELEMENT_STEP] = {{"s", 0, STEPS_MAX - 1, MISSING},
                      {"srcoff", -1, CHUNKS_MAX - 1, -1},
                      {"dstoff", -1, CHUNKS_MAX - 1, -1},
                      {"off", -1, CHUNKS_MAX - 1, -1},
                      {"cnt", 0, COUNT_MAX, 1},
                      {"depid", -1, TBS_MAX - 1, -1},
                      {"deps", -1, STEPS_MAX - 1, -1},
                      {"hasdep", 0, 1, -1}}};
enum { ALGO_NAME, ALGO_COLL, ALGO_PROTO };
enum { STEP_TYPE, STEP_SRCBUF, STEP_DSTBUF };
static const char *const texts[ELEMENTS][TEXTS_MAX + 1] = {
    [ELEMENT_ALGO] = {"name", "coll", "proto"},
    [ELEMENT_STEP] = {"type", "srcbuf", "dstbuf", "buf"}};

/* The values of an element. */
struct attributes {
    int64_t number[NUMBERS_MAX];
    const char *text[TEXTS_MAX + 1]; /* NULL: missing */
};

struct reading {
    const char *path;
    XML_Parser parser;
    struct schedule_faults faults;
    struct msccl_lists lists;
    int depth;        /* of open elements */
    int passed;       /* depth from which elements are passed over; 0: none */
    bool in_algo;     /* has an algo */
    char inside[128]; /* "gpu 3, tb 2, ", for messages */
};

/* ---- attributes ------------------------------------------------------------------------------ */

/* The fault of the element that is being read. */
__attribute__((format(printf, 2, 3))) static void fault_here(struct reading *r, const char *format,
                                                             ...)
{
    char text[400], place[SCHEDULE_PLACE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(place, sizeof place, "%.300s:%lu:%lu", r->path, (unsigned long)XML_LINE_NOW(r->parser),
             (unsigned long)XML_COLUMN_NOW(r->parser) + 1);
    schedule_fault(&r->faults, place, "%s%s", r->inside, text);
}

/* A whole number; false: it is none, or has more than 63 bits. */
static bool parse_whole(const char *text, int64_t *value)
{
    const bool negative = *text == '-';
    const char *at = text + negative;
    int64_t sum = 0;
    bool fits = *at != '\0';
    for (; *at >= '0' && *at <= '9' && fits; at++)
        fits =
            !__builtin_mul_overflow(sum, 10, &sum) && !__builtin_add_overflow(sum, *at - '0', &sum);
    *value = negative ? -sum : sum;
    return *at == '\0' && fits;
}

static void take_number(struct reading *r, const struct number_attribute *attribute,
                        const char *text, int64_t *value)
{
    int64_t given;
    if (parse_whole(text, &given) && given >= attribute->least && given <= attribute->most)
        *value = given;
    else
        fault_here(r, "%s=\"%.40s\"; legal is %lld to %lld", attribute->name, text,
                   (long long)attribute->least, (long long)attribute->most);
}

static void try_attribute(struct text_nearest *nearest, const char *name, const char *attribute)
{
    if (strlen(attribute) >= MISSPELT_BYTES_MIN)
        text_nearest_try(nearest, name, attribute);
}

/* An unknown attribute whose name is nearly a known one: what it should say would be lost.
 * Extensions, such as `netdepid`, are ignored. */
static void refuse_misspelt(struct reading *r, enum element element, const char *name)
{
    struct text_nearest nearest = {0};
    for (int i = 0; i < NUMBERS_MAX && numbers[element][i].name != NULL; i++)
        try_attribute(&nearest, name, numbers[element][i].name);
    for (int i = 0; i <= TEXTS_MAX && texts[element][i] != NULL; i++)
        try_attribute(&nearest, name, texts[element][i]);
    if (nearest.best != NULL && nearest.distance <= MISSPELT_LETTERS_MAX)
        fault_here(r, "%s has an unknown attribute %.40s; did you mean %s?", element_name[element],
                   name, nearest.best);
}

static void take_attribute(struct reading *r, enum element element, const char *name,
                           const char *value, struct attributes *out)
{
    for (int i = 0; i < NUMBERS_MAX && numbers[element][i].name != NULL; i++)
        if (strcmp(numbers[element][i].name, name) == 0) {
            take_number(r, &numbers[element][i], value, &out->number[i]);
            return;
        }
    for (int i = 0; i <= TEXTS_MAX && texts[element][i] != NULL; i++)
        if (strcmp(texts[element][i], name) == 0) {
            out->text[i] = value;
            return;
        }
    if (element == ELEMENT_STEP && strcmp(name, "step") == 0) /* <op step= */
        take_number(r, &numbers[element][STEP_S], value, &out->number[STEP_S]);
    else if (element != ELEMENT_ALGO)
        refuse_misspelt(r, element, name);
}

/* The attributes of an element; false: one is missing or wrong, which is reported. */
static bool take_attributes(struct reading *r, enum element element, const char **given,
                            struct attributes *out)
{
    const uint32_t before = r->faults.count;
    bool present = true;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < NUMBERS_MAX; i++)
        out->number[i] = numbers[element][i].absent;
    for (; *given != NULL; given += 2)
        take_attribute(r, element, given[0], given[1], out);
    for (int i = 0; i < NUMBERS_MAX && numbers[element][i].name != NULL; i++)
        if (out->number[i] == MISSING && r->faults.count == before) {
            fault_here(r, "%s has no %s; legal is %lld to %lld", element_name[element],
                       numbers[element][i].name, (long long)numbers[element][i].least,
                       (long long)numbers[element][i].most);
            present = false;
        }
    return present && r->faults.count == before;
}

/* ---- elements -------------------------------------------------------------------------------- */

static void open_algo(struct reading *r, const char **given)
{
    struct attributes a;
    struct msccl_algo *const algo = &r->lists.algo;
    r->in_algo = true;
    if (!take_attributes(r, ELEMENT_ALGO, given, &a))
        return;
    const char *const coll = a.text[ALGO_COLL], *const name = a.text[ALGO_NAME];
    enum ccl_collective collective = CCL_CUSTOM;
    if (coll != NULL && strcmp(coll, "custom") != 0 && !msccl_collective_of(coll, &collective)) {
        fault_here(
            r,
            "coll=\"%.40s\"; legal are allreduce, reducescatter, allgather, alltoall, broadcast, "
            "reduce, custom",
            coll);
        return;
    }
    if (a.number[ALGO_ROOT] >= a.number[ALGO_NGPUS]) {
        fault_here(r, "root=\"%lld\"; legal is 0 to %lld", (long long)a.number[ALGO_ROOT],
                   (long long)a.number[ALGO_NGPUS] - 1);
        return;
    }
    const char *const proto = a.text[ALGO_PROTO];
    if (proto != NULL && strcmp(proto, "Simple") != 0 && strcmp(proto, "LL") != 0 &&
        strcmp(proto, "LL128") != 0) {
        fault_here(r, "proto=\"%.40s\"; legal are Simple, LL, LL128", proto);
        return;
    }
    *algo = (struct msccl_algo){.collective = collective,
                                .gpus = (uint32_t)a.number[ALGO_NGPUS],
                                .loop_chunks = (uint32_t)a.number[ALGO_CHUNKS],
                                .root = (uint32_t)a.number[ALGO_ROOT],
                                .in_place = (int)a.number[ALGO_INPLACE],
                                .min_bytes = (uint64_t)a.number[ALGO_MIN],
                                .max_bytes = (uint64_t)a.number[ALGO_MAX]};
    snprintf(algo->name, sizeof algo->name, "%.60s", name != NULL ? name : "msccl");
    snprintf(algo->protocol, sizeof algo->protocol, "%.15s", proto != NULL ? proto : "");
}

static struct msccl_place place_now(const struct reading *r)
{
    return (struct msccl_place){(uint32_t)XML_LINE_NOW(r->parser),
                                (uint32_t)XML_COLUMN_NOW(r->parser) + 1};
}

static void open_gpu(struct reading *r, const char **given)
{
    struct attributes a;
    struct msccl_gpu gpu = {.place = place_now(r), .id = UINT32_MAX};
    r->inside[0] = '\0';
    if (take_attributes(r, ELEMENT_GPU, given, &a)) {
        gpu.id = (uint32_t)a.number[GPU_ID];
        gpu.chunks[SCHEDULE_INPUT] = (uint32_t)a.number[GPU_I];
        gpu.chunks[SCHEDULE_OUTPUT] = (uint32_t)a.number[GPU_O];
        gpu.chunks[SCHEDULE_SCRATCH] = (uint32_t)a.number[GPU_S];
        snprintf(r->inside, sizeof r->inside, "gpu %u: ", gpu.id);
    }
    msccl_add_gpu(&r->lists, &gpu);
}

static void open_copy(struct reading *r, const char **given)
{
    struct attributes a;
    if (take_attributes(r, ELEMENT_COPY, given, &a))
        msccl_add_copy(&r->lists, &(struct msccl_copy){.place = place_now(r),
                                                       .from = (uint32_t)a.number[COPY_I],
                                                       .to = (uint32_t)a.number[COPY_O],
                                                       .count = (uint32_t)a.number[COPY_CNT]});
}

static void open_tb(struct reading *r, const char **given)
{
    struct attributes a;
    struct msccl_tb tb = {.place = place_now(r), .id = UINT32_MAX};
    const uint32_t gpu = msccl_last_gpu(&r->lists)->id;
    snprintf(r->inside, sizeof r->inside, "gpu %d: ", (int)gpu);
    if (take_attributes(r, ELEMENT_TB, given, &a)) {
        tb.id = (uint32_t)a.number[TB_ID];
        tb.channel = (uint8_t)a.number[TB_CHAN];
        tb.send = a.number[TB_SEND] < 0 ? SCHEDULE_NO_RANK : (uint32_t)a.number[TB_SEND];
        tb.recv = a.number[TB_RECV] < 0 ? SCHEDULE_NO_RANK : (uint32_t)a.number[TB_RECV];
        snprintf(r->inside, sizeof r->inside, "gpu %d, tb %u: ", (int)gpu, tb.id);
    }
    msccl_add_tb(&r->lists, &tb);
}

/* The operation of a step's type; SCHEDULE_OPS: none, which is reported. */
static enum schedule_op take_type(struct reading *r, const struct attributes *a)
{
    const char *const type = a->text[STEP_TYPE];
    unsigned op = 0;
    while (op < SCHEDULE_OPS &&
           (type == NULL || strcmp(schedule_op_name((enum schedule_op)op), type) != 0))
        op++;
    if (op == SCHEDULE_OPS)
        fault_here(r,
                   "step %lld has type=\"%.20s\"; legal are s, r, rcs, rrc, rrs, rrcs, cpy, re, "
                   "nop",
                   (long long)a->number[STEP_S], type != NULL ? type : "");
    return (enum schedule_op)op;
}

/* Chunks of a step, from its own attributes or from those for both source and destination. */
static bool take_chunks(struct reading *r, const struct attributes *a, bool source,
                        struct schedule_chunks *out)
{
    const char *const both = a->text[TEXTS_MAX];
    const char *text = a->text[source ? STEP_SRCBUF : STEP_DSTBUF];
    int64_t at = a->number[source ? STEP_SRCOFF : STEP_DSTOFF];
    if (text == NULL && both != NULL) {
        text = both;
        at = a->number[STEP_OFF];
    }
    const char *const letter =
        text != NULL && text[0] != '\0' && text[1] == '\0' ? strchr("ios", text[0]) : NULL;
    if (letter == NULL || at < 0) {
        fault_here(r,
                   "step %lld: %s needs %sbuf and %soff, and has \"%.20s\" and %lld; legal are "
                   "i, o, s, and 0 on",
                   (long long)a->number[STEP_S], a->text[STEP_TYPE], source ? "src" : "dst",
                   source ? "src" : "dst", text != NULL ? text : "", (long long)at);
        return false;
    }
    *out = (struct schedule_chunks){.at = (uint32_t)at, .buffer = (uint8_t)(letter - "ios")};
    return true;
}

static void open_step(struct reading *r, const char **given)
{
    struct attributes a;
    const struct msccl_tb *const tb = msccl_last_tb(&r->lists);
    if (!take_attributes(r, ELEMENT_STEP, given, &a))
        return;
    const enum schedule_op op = take_type(r, &a);
    if (op == SCHEDULE_OPS)
        return;
    struct msccl_step step = {.place = place_now(r), .s = (uint32_t)a.number[STEP_S]};
    step.depid = a.number[STEP_DEPID] < 0 ? UINT32_MAX : (uint32_t)a.number[STEP_DEPID];
    step.deps = (uint32_t)a.number[STEP_DEPS];
    step.hasdep = (int)a.number[STEP_HASDEP];
    struct schedule_step *const own = &step.step;
    *own = (struct schedule_step){.op = (uint8_t)op,
                                  .channel = tb->channel,
                                  .count = (uint32_t)a.number[STEP_CNT],
                                  .send_to = tb->send,
                                  .recv_from = tb->recv,
                                  .line = step.place.line};
    if (op == SCHEDULE_NOP)
        own->count = 0;
    else if (own->count == 0)
        fault_here(r, "step %u: %s has cnt=\"0\"; legal is 1 to %d", step.s, schedule_op_name(op),
                   COUNT_MAX);
    if (schedule_op_reads(op) && !take_chunks(r, &a, true, &own->src))
        return;
    if (schedule_op_writes(op) && !take_chunks(r, &a, false, &own->dst))
        return;
    if (step.depid != UINT32_MAX && a.number[STEP_DEPS] < 0)
        fault_here(r, "step %u waits for tb %u, and names no step of it in deps; legal is 0 on",
                   step.s, step.depid);
    else
        msccl_add_step(&r->lists, &step);
}

static void on_open(void *arg, const char *name, const char **given)
{
    struct reading *const r = arg;
    const int depth = r->depth++;
    if (r->passed != 0)
        return;
    if (depth == 0 && strcmp(name, "algo") == 0 && !r->in_algo)
        open_algo(r, given);
    else if (depth == 1 && strcmp(name, "gpu") == 0)
        open_gpu(r, given);
    else if (depth == 2 && strcmp(name, "copy") == 0)
        open_copy(r, given);
    else if (depth == 2 && strcmp(name, "tb") == 0)
        open_tb(r, given);
    else if (depth == 3 && (strcmp(name, "step") == 0 || strcmp(name, "op") == 0))
        open_step(r, given);
    else {
        fault_here(r,
                   "<%.40s> is out of place; legal is <algo>, with <gpu>, with <copy> and <tb>, "
                   "with <step> or <op>",
                   name);
        r->passed = r->depth;
    }
}

static void on_close(void *arg, const char *name)
{
    struct reading *const r = arg;
    (void)name;
    if (r->passed == r->depth)
        r->passed = 0;
    r->depth--;
    if (r->depth <= 1)
        r->inside[0] = '\0';
}

static void on_doctype(void *arg, const char *name, const char *system, const char *public, int own)
{
    struct reading *const r = arg;
    (void)name, (void)system, (void)public, (void)own;
    fault_here(r, "a document type is declared; legal is a file without <!DOCTYPE> and entities");
    (void)XML_StopParser(r->parser, XML_FALSE);
}

static void parse_text(struct reading *r, const char *text, size_t bytes)
{
    enum { PART = 1 << 20 };
    enum XML_Status status = XML_STATUS_OK;
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_open, on_close);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    for (size_t at = 0; status == XML_STATUS_OK && at <= bytes; at += PART) {
        const size_t left = bytes - at;
        status = XML_Parse(r->parser, text + at, (int)(left < PART ? left : PART), left <= PART);
        if (left <= PART)
            break;
    }
    const enum XML_Error code = XML_GetErrorCode(r->parser);
    r->inside[0] = '\0';
    if (status != XML_STATUS_OK && code == XML_ERROR_NO_MEMORY)
        r->faults.no_memory = true;
    else if (status != XML_STATUS_OK && code != XML_ERROR_ABORTED)
        fault_here(r, "%s; legal is XML", XML_ErrorString(code));
    else if (status == XML_STATUS_OK && !r->in_algo)
        fault_here(r, "there is no <algo>");
}

/* ---- the file -------------------------------------------------------------------------------- */

static struct schedule *make_of_lists(void *arg, enum ccl_collective collective,
                                      struct schedule_faults *faults, struct cw_error *error)
{
    struct reading *const r = arg;
    r->lists.algo.collective = collective;
    return msccl_build(&r->lists, r->path, faults, error);
}

int msccl_xml_read(const char *path, const char *text, size_t bytes, struct msccl_file *file,
                   struct cw_error *error)
{
    struct reading r = {.path = path, .parser = XML_ParserCreate(NULL)};
    if (r.parser == NULL)
        return cw_error_memory(error, "an MSCCL XML file");
    parse_text(&r, text, bytes);
    if (r.faults.count == 0)
        msccl_sort(&r.lists, path, &r.faults);
    r.faults.no_memory |= r.lists.no_memory;
    const struct msccl_maker maker = {.path = path,
                                      .collective = r.lists.algo.collective,
                                      .root = r.lists.algo.root,
                                      .empty = r.lists.step_count == 0 && r.lists.copy_count == 0,
                                      .make = make_of_lists,
                                      .arg = &r};
    if (r.faults.count == 0 && !r.faults.no_memory)
        msccl_make(&maker, file, &r.faults, error);
    if (file->schedule != NULL) {
        msccl_note_waits(&r.lists, path, &file->notes);
        msccl_note_size(&r.lists, file->schedule, &file->notes);
    }
    snprintf(file->protocol, sizeof file->protocol, "%s", r.lists.algo.protocol);
    const int code = schedule_faults_report(&r.faults, error);
    XML_ParserFree(r.parser);
    msccl_lists_free(&r.lists);
    schedule_faults_free(&r.faults);
    return code != CW_OK ? code : file->schedule == NULL ? error->exit_code : CW_OK;
}
