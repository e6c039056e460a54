/*
 * graph_nccl.c: a host as NCCL or RCCL dumped it, `<system><cpu><pci><gpu>`, and copies of it on a
 * network (graph_sources.h; hw/HARDWARE.md, "Files of others"). Speeds are not in the file: they
 * are constants of the libraries, by the kind of GPU and CPU.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/graph_rules.h"
#include "collectives/config/input/graph_sources.h"
#include "collectives/config/input/xml_file.h"

/* Millionths of GB/s. */
#define GBS INT64_C(1000000)

enum nccl_kind {
    NCCL_NVSWITCH,
    NCCL_PCI,
    NCCL_CPU,
    NCCL_NIC,
    NCCL_SWITCHES,
    NCCL_GPU = NCCL_SWITCHES
};
static const char *const nccl_kind_name[NCCL_SWITCHES] = {"nvswitch", "pci", "cpu", "nic"};
enum { NCCL_GPUS_MAX = 1024, NCCL_CPUS_MAX = 256, NCCL_NODES_MAX = 16384, NCCL_CLASSES_MAX = 40 };
#define NCCL_NONE UINT32_MAX

/* A GPU, or what becomes a switch. */
struct nccl_part {
    enum nccl_kind kind;
    uint32_t number; /* of its kind; of a GPU its SIP */
    uint32_t host;
    uint64_t bus;
    const struct xml_element
        *element;  /* <gpu>, <pci>, <cpu>, <nic>; of a GPU without <gpu> <pci> */
    int64_t order; /* of a GPU: its rank, its device, or its bus */
    int64_t link;  /* speed of its NVLink or xGMI; of a CPU to others */
};

struct nccl_link {
    uint32_t from, to; /* parts */
    int64_t speed, back;
    const char *class;
};

/* A network port. */
struct nccl_net {
    uint32_t nic;
    int64_t speed, latency_ps;
};

struct nccl {
    const struct graph_file *file;
    const struct xml_element *root;
    uint32_t elements;
    struct nccl_part *part; /* [elements + 1] */
    struct nccl_link *link; /* grows */
    struct nccl_net *net;   /* [elements] */
    uint32_t parts, links, room, nets;
    uint32_t *part_of; /* [elements] of <pci>, <cpu>, <nic>; NCCL_NONE: nothing */
    uint64_t *host;    /* [elements] hashes of hosts */
    uint32_t hosts, count[NCCL_SWITCHES + 1];
    bool is_amd, has_gpu, has_rank; /* GPUs have gcn or xGMI; are <gpu>, not <pci>; have ranks */
    bool has_speed;                 /* all PCI links have a speed */
    uint32_t absent, unknown;       /* links to GPUs that are not there; elements passed over */
    const char *first_unknown;
    /* classes by name and speed */
    struct {
        const char *base;
        int64_t speed, latency_ps;
        uint32_t class;
    } class[NCCL_CLASSES_MAX];
    uint32_t classes;
    /* of the copies */
    uint32_t nodes;
    bool rails;
    struct level network;
    bool networked;
    const char *rings; /* what the file of rings says; NULL: there is none */
};

static bool nccl_fault(const struct nccl *n, const struct xml_element *element, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));
static bool nccl_fault(const struct nccl *n, const struct xml_element *element, const char *format,
                       ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    config_error(n->file->loader, element->place, "<%.20s>: %s", element->name, text);
    return false;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static bool is_named(const struct xml_element *element, const char *name)
{
    return strcmp(element->name, name) == 0;
}

/* A whole number, decimal or with 0x. `absent`: where it is missing or, as NCCL writes what it does
 * not know, empty; INT64_MIN: it must be there.
 */
static bool nccl_number(const struct nccl *n, const struct xml_element *element, const char *name,
                        int64_t least, int64_t most, int64_t absent, int64_t *value)
{
    const char *const text = xml_attribute(element, name);
    char *end = NULL, quoted[TEXT_QUOTE_BYTES];
    *value = absent;
    if ((text == NULL || *text == '\0') && absent != INT64_MIN)
        return true;
    if (text == NULL)
        return nccl_fault(n, element, "no %s; legal: %" PRId64 " to %" PRId64, name, least, most);
    *value = strtoll(text, &end, 0);
    if (*text != '\0' && *text != ' ' && *end == '\0' && *value >= least && *value <= most)
        return true;
    return nccl_fault(n, element, "%s is %s; legal: %" PRId64 " to %" PRId64, name,
                      text_quote(text, strlen(text), quoted), least, most);
}

/* "0000:3b:00.0" as a number; false: it is none. */
static bool bus_of(const char *text, uint64_t *bus)
{
    uint32_t digits = 0;
    *bus = 0;
    for (; text != NULL && *text != '\0'; text++) {
        const char *const hex = strchr("0123456789abcdef", *text | 0x20);
        if (*text == ':' || *text == '.')
            continue;
        if (hex == NULL || *text < '0' || ++digits > 16)
            return false;
        *bus = *bus << 4 | (uint64_t)(hex - "0123456789abcdef");
    }
    return digits > 0;
}

static bool nccl_bus(const struct nccl *n, const struct xml_element *element, const char *name,
                     uint64_t *bus)
{
    const char *const text = xml_attribute(element, name);
    char quoted[TEXT_QUOTE_BYTES];
    if (bus_of(text, bus))
        return true;
    return nccl_fault(n, element, "%s is %s; legal: a bus, such as 0000:3b:00.0", name,
                      text == NULL ? "missing" : text_quote(text, strlen(text), quoted));
}

static bool begins(const char *text, const char *with)
{
    return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

/* ---- constants of the libraries -------------------------------------------------------------- */

/* Of one NVLink, by the compute capability (NCCL's src/graph/topo.h, 2026). */
static int64_t nvlink_speed(int64_t sm)
{
    static const struct {
        int64_t least, speed;
    } table[] = {{100, 40100000}, {90, 20600000}, {87, 20000000}, {86, 12000000},
                 {80, 20000000},  {70, 20000000}, {60, 18000000}, {0, 20000000}};
    uint32_t i = 0;
    while (sm < table[i].least)
        i++;
    return table[i].speed;
}

/* Of one xGMI link, by the architecture, "gfx942", "908" (RCCL's src/graph/topo.h). Old files do
 * not have it.
 */
static int64_t xgmi_speed(const char *gcn)
{
    if (gcn == NULL)
        return 24 * GBS;
    if (begins(gcn, "gfx"))
        gcn += 3;
    if (begins(gcn, "90a") || begins(gcn, "910"))
        return 36 * GBS;
    return begins(gcn, "94") || begins(gcn, "95") ? 48 * GBS : 24 * GBS;
}

/* Hundreds of Mbit/s of a PCIe lane; 0: not known. */
static int64_t lane_speed(const char *text)
{
    static const struct {
        const char *name;
        int64_t speed;
    } table[] = {{"2.5 GT/s", 15},   {"5 GT/s", 30},   {"5.0 GT/s", 30},   {"8 GT/s", 60},
                 {"8.0 GT/s", 60},   {"16 GT/s", 120}, {"16.0 GT/s", 120}, {"32 GT/s", 240},
                 {"32.0 GT/s", 240}, {"64 GT/s", 480}, {"64.0 GT/s", 480}};
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++)
        if (begins(text, table[i].name))
            return table[i].speed;
    return 0;
}

/* Of a port, whose speed is in Mbit/s. */
static int64_t net_speed(int64_t mbits) { return (mbits > 0 ? mbits : 10000) * (GBS / 8000); }

/* Between two CPUs. */
static bool cpu_speed(const struct nccl *n, const struct xml_element *cpu, int64_t *speed)
{
    const char *const arch = xml_attribute(cpu, "arch"), *const vendor =
                                                             xml_attribute(cpu, "vendor");
    int64_t family, model;
    if (!nccl_number(n, cpu, "familyid", INT32_MIN, INT32_MAX, 0, &family) ||
        !nccl_number(n, cpu, "modelid", INT32_MIN, INT32_MAX, 0, &model))
        return false;
    *speed = 5000 * GBS; /* as within a node, like NCCL for what it does not know */
    if (begins(arch, "ppc64"))
        *speed = 32 * GBS;
    else if (begins(arch, "arm64") || begins(arch, "aarch64"))
        *speed = 6 * GBS;
    else if (vendor != NULL && strcmp(vendor, "GenuineIntel") == 0)
        *speed = family != 6                                                        ? 6 * GBS
                 : model >= 0xcf || model == 0xad || model == 0xae || model == 0xaf ? 40 * GBS
                 : model >= 0x8f                                                    ? 22 * GBS
                 : model >= 0x55                                                    ? 10 * GBS
                                                                                    : 6 * GBS;
    else if (vendor != NULL && strcmp(vendor, "AuthenticAMD") == 0)
        *speed = n->is_amd                        ? 16 * GBS
                 : family == 0xbf || family == 26 ? 32 * GBS
                 : family == 0xaf || family == 25 ? 24 * GBS
                                                  : 16 * GBS;
    else if (vendor != NULL && (strcmp(vendor, "CentaurHauls") == 0 || strstr(vendor, "Shanghai")))
        *speed = family == 7 && model == 0x5b ? 9 * GBS : 6 * GBS;
    return true;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static uint32_t add_part(struct nccl *n, enum nccl_kind kind, const struct xml_element *element,
                         uint32_t host)
{
    n->part[n->parts] = (struct nccl_part){
        .kind = kind, .number = n->count[kind]++, .host = host, .element = element};
    return n->parts++;
}

static bool add_link(struct nccl *n, uint32_t from, uint32_t to, int64_t speed, int64_t back,
                     const char *class)
{
    if (n->links == n->room) {
        const uint32_t room = 2 * n->room + 256;
        struct nccl_link *const more = realloc(n->link, room * sizeof *more);
        if (more == NULL) {
            n->file->loader->arena->failed = true;
            return false;
        }
        n->link = more;
        n->room = room;
    }
    n->link[n->links++] = (struct nccl_link){from, to, speed, back, class};
    return true;
}

/* The host of a CPU: those with one hash are one. */
static uint32_t host_of(struct nccl *n, const struct xml_element *cpu)
{
    const char *const text = xml_attribute(cpu, "host_hash");
    const uint64_t hash = text != NULL ? strtoull(text, NULL, 16) : 0;
    uint32_t i = 0;
    while (i < n->hosts && n->host[i] != hash)
        i++;
    if (i == n->hosts)
        n->host[n->hosts++] = hash;
    return i;
}

static bool add_cpu(struct nccl *n, const struct xml_element *cpu)
{
    if (n->count[NCCL_CPU] == NCCL_CPUS_MAX)
        return nccl_fault(n, cpu, "more than %d CPUs", NCCL_CPUS_MAX);
    const uint32_t part = add_part(n, NCCL_CPU, cpu, host_of(n, cpu));
    n->part_of[cpu->number] = part;
    return cpu_speed(n, cpu, &n->part[part].link);
}

/* A PCIe link to the part above: width x speed of a lane. */
static bool pci_speed(struct nccl *n, const struct xml_element *pci, int64_t *speed)
{
    int64_t width, lane = lane_speed(xml_attribute(pci, "link_speed"));
    if (!nccl_number(n, pci, "link_width", 0, 1024, 0, &width))
        return false;
    n->has_speed &= lane > 0 && width > 0;
    if (lane == 0)
        lane = 60;
    if (width == 0)
        width = 16;
    *speed = width * lane * GBS / 80;
    return true;
}

static bool add_gpu(struct nccl *n, const struct xml_element *gpu, uint64_t bus, uint32_t above,
                    int64_t speed)
{
    int64_t sm;
    if (n->has_rank && xml_attribute(gpu, "rank") == NULL)
        return true; /* not of the job, as in NCCL */
    if (n->count[NCCL_GPU] == NCCL_GPUS_MAX)
        return nccl_fault(n, gpu, "more than %d GPUs", NCCL_GPUS_MAX);
    const uint32_t part = add_part(n, NCCL_GPU, gpu, n->part[above].host);
    struct nccl_part *const own = &n->part[part];
    own->bus = bus;
    if (!nccl_number(n, gpu, n->has_rank ? "rank" : "dev", 0, INT32_MAX, INT64_MIN, &own->order) ||
        !nccl_number(n, gpu, "sm", 0, INT32_MAX, 0, &sm))
        return false;
    own->link = n->is_amd ? xgmi_speed(xml_attribute(gpu, "gcn")) : nvlink_speed(sm);
    return add_link(n, part, above, speed, speed, "pci");
}

/* In a file without <gpu>: one of a class of displays or accelerators. */
static bool add_pci_gpu(struct nccl *n, const struct xml_element *pci, uint64_t bus, uint32_t above,
                        int64_t speed)
{
    if (n->count[NCCL_GPU] == NCCL_GPUS_MAX)
        return nccl_fault(n, pci, "more than %d GPUs", NCCL_GPUS_MAX);
    const uint32_t part = add_part(n, NCCL_GPU, pci, n->part[above].host);
    n->part[part].bus = bus;
    n->part[part].order = (int64_t)(bus & INT64_MAX);
    return add_link(n, part, above, speed, speed, "pci");
}

static const struct xml_element *child(const struct xml_element *element, const char *name)
{
    const struct xml_element *each = element->first;
    while (each != NULL && !is_named(each, name))
        each = each->next;
    return each;
}

/* A GPU, a NIC, or a switch. Other ends of the tree, such as an NVSwitch's, are nothing. */
static bool add_pci(struct nccl *n, const struct xml_element *pci)
{
    const uint32_t above = pci->parent != NULL ? n->part_of[pci->parent->number] : NCCL_NONE;
    const char *const class = xml_attribute(pci, "class");
    const bool is_gpu = begins(class, "0x03") || begins(class, "0x12");
    const bool is_port = !n->has_gpu && child(pci, "nic") == NULL && begins(class, "0x02");
    const bool is_nic = is_port || child(pci, "nic") != NULL;
    uint64_t bus;
    int64_t speed;
    if (above == NCCL_NONE)
        return true;
    if (!nccl_bus(n, pci, "busid", &bus) || !pci_speed(n, pci, &speed))
        return false;
    if (child(pci, "gpu") != NULL) {
        for (const struct xml_element *each = pci->first; each != NULL; each = each->next)
            if (is_named(each, "gpu") && !add_gpu(n, each, bus, above, speed))
                return false;
        return true;
    }
    if (is_gpu && !is_nic && !n->has_gpu)
        return add_pci_gpu(n, pci, bus, above, speed);
    if (!is_nic && (is_gpu || begins(class, "0x02") || begins(class, "0x0680")))
        return true;
    const uint32_t part = add_part(n, is_nic ? NCCL_NIC : NCCL_PCI, pci, n->part[above].host);
    n->part[part].bus = bus;
    n->part_of[pci->number] = part;
    if (is_port)
        n->net[n->nets++] = (struct nccl_net){.nic = part, .speed = net_speed(0)};
    return add_link(n, part, above, speed, speed, "pci");
}

/* A NIC at a CPU; one at a <pci> is that. */
static bool add_nic(struct nccl *n, const struct xml_element *nic)
{
    const uint32_t above = nic->parent != NULL ? n->part_of[nic->parent->number] : NCCL_NONE;
    if (above == NCCL_NONE || n->part[above].kind != NCCL_CPU) {
        n->part_of[nic->number] = above;
        return true;
    }
    const uint32_t part = add_part(n, NCCL_NIC, nic, n->part[above].host);
    n->part_of[nic->number] = part;
    return add_link(n, part, above, 5000 * GBS, 5000 * GBS, "local");
}

/* Without a device it is none, nor where it is part of another (net="0"). */
static bool add_net(struct nccl *n, const struct xml_element *net)
{
    const uint32_t nic = net->parent != NULL ? n->part_of[net->parent->number] : NCCL_NONE;
    const char *const whole = xml_attribute(net, "net"), *const latency =
                                                             xml_attribute(net, "latency");
    struct nccl_net *const own = &n->net[n->nets];
    int64_t speed;
    if (nic == NCCL_NONE || n->part[nic].kind != NCCL_NIC || xml_attribute(net, "dev") == NULL ||
        (whole != NULL && strcmp(whole, "0") == 0))
        return true;
    if (!nccl_number(n, net, "speed", INT32_MIN, INT32_MAX, 0, &speed))
        return false;
    const double us = latency != NULL ? strtod(latency, NULL) : 0;
    *own = (struct nccl_net){.nic = nic,
                             .speed = net_speed(speed),
                             .latency_ps = us > 0 && us < 1e6 ? (int64_t)(us * 1e6) : 0};
    n->nets++;
    return true;
}

static bool pass_over(struct nccl *n, const struct xml_element *element)
{
    static const char *const later[] = {"nvlink", "xgmi", "c2c", "pcilink", "gpu"};
    for (uint32_t i = 0; i < sizeof later / sizeof *later; i++)
        if (is_named(element, later[i]))
            return true;
    n->unknown++;
    if (n->first_unknown == NULL)
        n->first_unknown = element->name;
    return true;
}

static bool read_parts(struct nccl *n)
{
    for (const struct xml_element *e = n->root; e != NULL; e = xml_after(e)) {
        n->has_gpu |= is_named(e, "gpu");
        n->has_rank |= is_named(e, "gpu") && xml_attribute(e, "rank") != NULL;
        n->is_amd |= is_named(e, "xgmi") || (is_named(e, "gpu") && xml_attribute(e, "gcn") != NULL);
    }
    for (const struct xml_element *e = xml_after(n->root); e != NULL; e = xml_after(e)) {
        n->part_of[e->number] = NCCL_NONE;
        if (!(is_named(e, "cpu")   ? add_cpu(n, e)
              : is_named(e, "pci") ? add_pci(n, e)
              : is_named(e, "nic") ? add_nic(n, e)
              : is_named(e, "net") ? add_net(n, e)
                                   : pass_over(n, e)))
            return false;
    }
    return n->count[NCCL_GPU] > 0 ||
           nccl_fault(n, n->root,
                      "no GPU; legal: <cpu>, in it <pci>, in it <gpu>, or <pci> with a "
                      "class of 0x03 or 0x12");
}

/* SIPs are numbered by host, then by rank, device or bus. */
static bool number_gpus(struct nccl *n)
{
    for (uint32_t i = 0; i < n->parts; i++) {
        struct nccl_part *const own = &n->part[i];
        if (own->kind != NCCL_GPU)
            continue;
        own->number = 0;
        for (uint32_t j = 0; j < n->parts; j++) {
            const struct nccl_part *const other = &n->part[j];
            const bool same = n->has_rank || other->host == own->host;
            if (other->kind != NCCL_GPU || i == j)
                continue;
            if (same && other->order == own->order && !n->has_gpu)
                return nccl_fault(n, i > j ? own->element : other->element, "busid twice");
            if (same && other->order == own->order)
                return nccl_fault(n, i > j ? own->element : other->element, "%s %" PRId64 " twice",
                                  n->has_rank ? "rank" : "dev", own->order);
            own->number += same ? other->order < own->order : other->host < own->host;
        }
    }
    return true;
}

/* With `rings`, SIPs are numbered along the first of them. */
static bool order_gpus(struct nccl *n)
{
    const struct config_node *rings = NULL;
    const uint32_t gpus = n->count[NCCL_GPU];
    struct config_arena *const scratch = n->file->loader->scratch;
    for (const struct config_node *key = n->file->graph->first; key != NULL; key = key->next)
        rings = strcmp(key->text, "rings") == 0 ? key->value : rings;
    if (rings == NULL)
        return true;
    int64_t *const rank = config_arena_alloc(scratch, gpus * sizeof *rank);
    int64_t *const dev = config_arena_alloc(scratch, gpus * sizeof *dev);
    uint32_t *const place = config_arena_alloc(scratch, gpus * sizeof *place);
    if (rank == NULL || dev == NULL || place == NULL) {
        n->file->loader->arena->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < n->parts; i++) {
        const struct nccl_part *const own = &n->part[i];
        if (own->kind != NCCL_GPU)
            continue;
        rank[own->number] = n->has_rank ? own->order : -1;
        if (!nccl_number(n, own->element, "dev", 0, INT32_MAX,
                         n->has_gpu ? -1 : (int64_t)own->number, &dev[own->number]))
            return false;
    }
    if (!graph_nccl_rings(n->file, rings, gpus, rank, dev, place, &n->rings))
        return false;
    for (uint32_t i = 0; i < n->parts; i++)
        if (n->part[i].kind == NCCL_GPU)
            n->part[i].number = place[n->part[i].number];
    return true;
}

/* ---- links ----------------------------------------------------------------------------------- */

static uint32_t gpu_at(const struct nccl *n, uint32_t host, uint64_t bus)
{
    for (uint32_t i = 0; i < n->parts; i++)
        if (n->part[i].kind == NCCL_GPU && n->part[i].host == host && n->part[i].bus == bus)
            return i;
    return NCCL_NONE;
}

/* The part of the <gpu> that an element is in; NCCL_NONE: it is in none that counts. */
static uint32_t gpu_of(const struct nccl *n, const struct xml_element *element)
{
    for (uint32_t i = 0; i < n->parts; i++)
        if (n->part[i].kind == NCCL_GPU && n->part[i].element == element->parent)
            return i;
    return NCCL_NONE;
}

static uint32_t cpu_of(const struct nccl *n, const struct xml_element *element)
{
    while (element != NULL && !is_named(element, "cpu"))
        element = element->parent;
    return element != NULL ? n->part_of[element->number] : NCCL_NONE;
}

/* NVSwitches are one, as in NCCL. */
static uint32_t nvswitch(struct nccl *n)
{
    for (uint32_t i = 0; i < n->parts; i++)
        if (n->part[i].kind == NCCL_NVSWITCH)
            return i;
    return add_part(n, NCCL_NVSWITCH, n->root, 0);
}

/* <nvlink> or <xgmi>. One between GPUs is listed at both. */
static bool add_nvlink(struct nccl *n, const struct xml_element *link)
{
    const uint32_t gpu = gpu_of(n, link);
    const char *const tclass = xml_attribute(link, "tclass");
    uint64_t bus;
    int64_t count;
    if (gpu == NCCL_NONE)
        return true;
    if (!nccl_number(n, link, "count", 1, 1000, INT64_MIN, &count))
        return false;
    const int64_t speed = count * n->part[gpu].link;
    if (begins(tclass, "0x068000"))
        return add_link(n, gpu, nvswitch(n), speed, speed, "nvlink");
    if (begins(tclass, "0x068001"))
        return add_link(n, gpu, cpu_of(n, link), speed, speed, "nvlink");
    if (!nccl_bus(n, link, "target", &bus))
        return false;
    const uint32_t to = gpu_at(n, n->part[gpu].host, bus);
    n->absent += to == NCCL_NONE;
    return to == NCCL_NONE || to == gpu || add_link(n, gpu, to, speed, 0, link->name);
}

static bool add_c2c(struct nccl *n, const struct xml_element *link)
{
    const uint32_t gpu = gpu_of(n, link);
    int64_t count, speed;
    if (gpu == NCCL_NONE)
        return true;
    if (!nccl_number(n, link, "count", 1, 1000, INT64_MIN, &count) ||
        !nccl_number(n, link, "bw", 1, INT32_MAX, INT64_MIN, &speed))
        return false;
    speed *= count * (GBS / 1000);
    return add_link(n, gpu, cpu_of(n, link), speed, speed, "c2c");
}

static bool add_pcilink(struct nccl *n, const struct xml_element *link)
{
    const uint32_t from = link->parent != NULL ? n->part_of[link->parent->number] : NCCL_NONE;
    uint64_t bus;
    if (from == NCCL_NONE)
        return true;
    if (!nccl_bus(n, link, "target", &bus))
        return false;
    for (uint32_t i = 0; i < n->parts; i++)
        if (n->part[i].kind == NCCL_PCI && n->part[i].bus == bus && i != from &&
            n->part[i].host == n->part[from].host)
            return add_link(n, from, i, 5000 * GBS, 0, "pcilink");
    return true;
}

/* By their ends, whichever is first; the direction to the greater part first. */
static int by_ends(const void *a, const void *b)
{
    const struct nccl_link *const x = a, *const y = b;
    const uint32_t low_x = x->from < x->to ? x->from : x->to, high_x = x->from ^ x->to ^ low_x,
                   low_y = y->from < y->to ? y->from : y->to, high_y = y->from ^ y->to ^ low_y;
    if (low_x != low_y)
        return low_x < low_y ? -1 : 1;
    if (high_x != high_y)
        return high_x < high_y ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* What is between the same two parts is one link, with the sum of its speeds each way. */
static void merge_links(struct nccl *n)
{
    uint32_t kept = 0;
    qsort(n->link, n->links, sizeof *n->link, by_ends);
    for (uint32_t i = 0; i < n->links; i++) {
        struct nccl_link *const last = kept > 0 ? &n->link[kept - 1] : NULL;
        const struct nccl_link *const own = &n->link[i];
        if (last != NULL && last->from == own->from && last->to == own->to) {
            last->speed += own->speed;
            last->back += own->back;
        } else if (last != NULL && last->from == own->to && last->to == own->from) {
            last->back += own->speed;
            last->speed += own->back;
        } else {
            n->link[kept++] = *own;
        }
    }
    n->links = kept;
}

/* The faster links first, so that of two equal ways the one by NVLink is taken; PCIe last. */
static bool read_links(struct nccl *n)
{
    struct nccl_link *const tree = n->link; /* the links of read_parts() */
    const uint32_t tree_links = n->links;
    bool read = true;
    n->link = NULL;
    n->links = n->room = 0;
    for (const struct xml_element *e = xml_after(n->root); read && e != NULL; e = xml_after(e))
        read = is_named(e, "nvlink") || is_named(e, "xgmi") ? add_nvlink(n, e)
               : is_named(e, "c2c")                         ? add_c2c(n, e)
               : is_named(e, "pcilink")                     ? add_pcilink(n, e)
                                                            : true;
    if (read && n->links > 0)
        merge_links(n);
    for (uint32_t i = 0; read && i < tree_links; i++)
        read = add_link(n, tree[i].from, tree[i].to, tree[i].speed, tree[i].back, tree[i].class);
    free(tree);
    for (uint32_t i = 0; read && i < n->parts; i++)
        for (uint32_t j = i + 1; read && n->part[i].kind == NCCL_CPU && j < n->parts; j++)
            if (n->part[j].kind == NCCL_CPU && n->part[j].host == n->part[i].host)
                read = add_link(n, i, j, n->part[i].link, n->part[j].link, "sys");
    return read;
}

/* ---- the machine ----------------------------------------------------------------------------- */

/* The class of links of this speed: BASE, BASE_2, ... in the order in which speeds are met. */
static uint32_t class_of(struct nccl *n, const char *base, int64_t speed, int64_t latency_ps)
{
    struct level figures = {.given = {false}};
    char name[GRAPH_NAME_BYTES];
    uint32_t same = 1;
    for (uint32_t i = 0; i < n->classes; i++) {
        if (strcmp(n->class[i].base, base) != 0)
            continue;
        if (n->class[i].speed == speed && n->class[i].latency_ps == latency_ps)
            return n->class[i].class;
        same++;
    }
    if (n->classes == NCCL_CLASSES_MAX) {
        n->file->list->why = "links of more than 40 speeds";
        return GRAPH_LIST_FULL;
    }
    if (strcmp(base, "net") == 0)
        figures = n->network;
    if (!figures.given[LEVEL_BW_GBS])
        figures.number[LEVEL_BW_GBS] = graph_millionths(speed);
    figures.given[LEVEL_BW_GBS] = true;
    if (latency_ps > 0 && !figures.given[LEVEL_LATENCY_NS]) {
        figures.given[LEVEL_LATENCY_NS] = true;
        figures.number[LEVEL_LATENCY_NS] = graph_millionths(latency_ps * 1000);
    }
    snprintf(name, sizeof name, same > 1 ? "%s_%" PRIu32 : "%s", base, same);
    n->class[n->classes].base = base;
    n->class[n->classes].speed = speed;
    n->class[n->classes].latency_ps = latency_ps;
    return n->class[n->classes++].class = graph_source_class(n->file->list, name, &figures);
}

static uint32_t stop_of(const struct nccl *n, const uint32_t kind[NCCL_SWITCHES + 1], uint32_t part,
                        uint32_t node)
{
    const struct nccl_part *const own = &n->part[part];
    return own->kind == NCCL_GPU ? node * n->count[NCCL_GPU] + own->number
                                 : graph_list_switch(n->file->list, kind[own->kind],
                                                     node * n->count[own->kind] + own->number);
}

/* The name of a GPU's direction: what it leads to. */
static void name_end(const struct nccl *n, uint32_t to, struct hw_graph_end *end)
{
    if (n->part[to].kind == NCCL_GPU)
        snprintf(end->name, sizeof end->name, "gpu %" PRIu32, n->part[to].number);
    else
        snprintf(end->name, sizeof end->name, "%s", nccl_kind_name[n->part[to].kind]);
}

static void put_link(struct nccl *n, const uint32_t kind[NCCL_SWITCHES + 1],
                     const struct nccl_link *own, uint32_t node)
{
    struct hw_graph_link link = {
        .from = {.stop = stop_of(n, kind, own->from, node), .port = HW_PORT_NONE},
        .to = {.stop = stop_of(n, kind, own->to, node), .port = HW_PORT_NONE},
        .one_way = own->back == 0};
    if (n->part[own->from].kind == NCCL_GPU)
        name_end(n, own->to, &link.from);
    if (n->part[own->to].kind == NCCL_GPU)
        name_end(n, own->from, &link.to);
    link.link = graph_list_link_kind(class_of(n, own->class, own->speed, 0));
    link.back =
        own->back == 0 ? link.link : graph_list_link_kind(class_of(n, own->class, own->back, 0));
    graph_list_add(n->file->list, &link, 1);
}

static void put_network(struct nccl *n, const uint32_t kind[NCCL_SWITCHES + 1])
{
    struct graph_list *const list = n->file->list;
    const uint32_t network =
        graph_list_kind(list, n->rails ? "rail" : "network", n->rails ? n->nets : 1);
    for (uint32_t node = 0; network != GRAPH_LIST_FULL && node < n->nodes; node++)
        for (uint32_t i = 0; i < n->nets; i++)
            graph_list_join(list, stop_of(n, kind, n->net[i].nic, node),
                            graph_list_switch(list, network, n->rails ? i : 0),
                            class_of(n, "net", n->net[i].speed, n->net[i].latency_ps), 1);
}

static bool fits(const struct nccl *n)
{
    const uint64_t sips = (uint64_t)n->nodes * n->count[NCCL_GPU],
                   links = (uint64_t)n->nodes * (n->links + n->nets),
                   switches = (uint64_t)n->nodes * (n->parts - n->count[NCCL_GPU]) + n->nets;
    if (sips <= GRAPH_SIPS_MAX && links <= HW_GRAPH_LINKS_MAX && switches <= GRAPH_SWITCHES_MAX)
        return true;
    config_error(n->file->loader, n->file->graph->place,
                 "%s: %" PRIu64 " GPUs, %" PRIu64 " switches and %" PRIu64
                 " links; legal: up to %d, %d and %d",
                 n->file->path, sips, switches, links, GRAPH_SIPS_MAX, GRAPH_SWITCHES_MAX,
                 HW_GRAPH_LINKS_MAX);
    return false;
}

static bool put_machine(struct nccl *n)
{
    struct graph_list *const list = n->file->list;
    uint32_t kind[NCCL_SWITCHES + 1] = {0};
    if (!fits(n))
        return false;
    list->sips = n->nodes * n->count[NCCL_GPU];
    list->routes = HW_ROUTES_LISTED;
    for (uint32_t k = 0; k < NCCL_SWITCHES; k++)
        if (n->count[k] > 0)
            kind[k] = graph_list_kind(list, nccl_kind_name[k], n->nodes * n->count[k]);
    if (list->why != NULL)
        return true;
    for (uint32_t node = 0; node < n->nodes; node++)
        for (uint32_t i = 0; i < n->links; i++)
            put_link(n, kind, &n->link[i], node);
    if (n->networked)
        put_network(n, kind);
    for (uint32_t sip = 0; sip < list->sips; sip++)
        graph_list_end(list, sip);
    return true;
}

/* ---- copies, and what is told ---------------------------------------------------------------- */

static bool read_network(struct nccl *n, const struct config_node *node)
{
    const struct config_node *const key = node->kind == CONFIG_MAPPING ? node->first : NULL;
    const char *const name = key != NULL                   ? key->text
                             : node->kind == CONFIG_SCALAR ? node->text
                                                           : "";
    char quoted[TEXT_QUOTE_BYTES];
    n->rails = strcmp(name, "rails") == 0;
    if ((!n->rails && strcmp(name, "switch") != 0) || (key != NULL && key->next != NULL) ||
        (key != NULL && key->value->kind != CONFIG_MAPPING)) {
        config_error(n->file->loader, node->place,
                     "%s: expected network: switch, rails, or one of them with figures of its "
                     "links, such as {switch: {latency_ns: 500}}; found %s",
                     n->file->path, config_quote_node(node, quoted));
        return false;
    }
    for (const struct config_node *figure = key != NULL ? key->value->first : NULL; figure != NULL;
         figure = figure->next)
        if (!level_read_figure(n->file->loader, n->file->path, "a network", figure, &n->network))
            return false;
    n->networked = true;
    return true;
}

static bool read_copies(struct nccl *n)
{
    const struct config_node *network = NULL, *nodes = NULL;
    char quoted[TEXT_QUOTE_BYTES];
    uint64_t count = 1;
    for (const struct config_node *key = n->file->graph->first; key != NULL; key = key->next) {
        network = strcmp(key->text, "network") == 0 ? key->value : network;
        nodes = strcmp(key->text, "nodes") == 0 ? key->value : nodes;
    }
    if (nodes != NULL &&
        (nodes->kind != CONFIG_SCALAR || nodes->bytes == 0 ||
         text_whole(nodes->text, nodes->bytes, NCCL_NODES_MAX, &count) != nodes->bytes ||
         count == 0)) {
        config_error(n->file->loader, nodes->place,
                     "%s: expected nodes: a whole number from 1 to %d; found %s", n->file->path,
                     NCCL_NODES_MAX, config_quote_node(nodes, quoted));
        return false;
    }
    n->nodes = (uint32_t)count;
    if (network != NULL && !read_network(n, network))
        return false;
    n->networked |= n->nodes > 1;
    if (!n->networked || n->nets > 0)
        return true;
    config_error(n->file->loader, n->file->graph->place,
                 "%s: the file has no <net> by which %" PRIu32 " copies could be joined; legal: "
                 "nodes: 1, without network",
                 n->file->path, n->nodes);
    return false;
}

static void tell(const struct nccl *n)
{
    static const char *const word[NCCL_SWITCHES] = {"NVSwitch", "PCIe switch", "CPU", "NIC"};
    static const char *const plural[NCCL_SWITCHES] = {"es", "es", "s", "s"};
    struct config_arena *const arena = n->file->loader->arena;
    char text[600];
    size_t used = (size_t)snprintf(text, sizeof text, "%s topology: %" PRIu32 " GPU%s by %s",
                                   n->is_amd ? "RCCL" : "NCCL", n->count[NCCL_GPU],
                                   n->count[NCCL_GPU] > 1 ? "s" : "",
                                   n->has_rank  ? "rank"
                                   : n->has_gpu ? "device"
                                                : "bus");
    for (uint32_t k = NCCL_SWITCHES; k-- > 0;)
        if (n->count[k] > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, ", %" PRIu32 " %s%s",
                                     n->count[k], word[k], n->count[k] > 1 ? plural[k] : "");
    used += (size_t)snprintf(text + used, sizeof text - used, ", %" PRIu32 " network port%s",
                             n->nets, n->nets == 1 ? "" : "s");
    if (n->hosts > 1)
        used += (size_t)snprintf(text + used, sizeof text - used, ", %" PRIu32 " hosts", n->hosts);
    if (n->nodes > 1)
        used += (size_t)snprintf(text + used, sizeof text - used, "; %" PRIu32 " copies on %s",
                                 n->nodes, n->rails ? "rails" : "one switch");
    if (n->rings != NULL)
        snprintf(text + used, sizeof text - used, "; %s", n->rings);
    n->file->list->read = config_arena_text(arena, text, strlen(text));
    used = (size_t)snprintf(text, sizeof text,
                            "speeds as %s's constants; latencies as links.sip_link; GPUs forward "
                            "nothing",
                            n->is_amd ? "RCCL" : "NCCL");
    if (!n->has_gpu)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "; GPUs and network ports by PCI class, without NVLinks");
    if (!n->has_speed)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "; PCIe links without speed are 8 GT/s, without width x16");
    if (n->absent > 0)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "; %" PRIu32 " links to GPUs that are not in the file left out",
                                 n->absent);
    if (!n->networked && n->nets > 0)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "; network ports lead nowhere (give nodes)");
    if (n->unknown > 0)
        snprintf(text + used, sizeof text - used, "; %" PRIu32 " elements not used, first <%.30s>",
                 n->unknown, n->first_unknown);
    n->file->list->assumed = config_arena_text(arena, text, strlen(text));
}

static bool check_root(const struct nccl *n)
{
    const char *const version = xml_attribute(n->root, "version");
    char quoted[TEXT_QUOTE_BYTES];
    if (is_named(n->root, "graphs"))
        return nccl_fault(n, n->root,
                          "a file of NCCL_GRAPH_DUMP_FILE has rings and trees, and no "
                          "machine; legal: <system>, as of NCCL_TOPO_DUMP_FILE, beside which "
                          "`rings` names this file");
    if (!is_named(n->root, "system"))
        return nccl_fault(n, n->root, "legal: <system>, as of NCCL_TOPO_DUMP_FILE");
    if (version != NULL && strcmp(version, "1") != 0 && strcmp(version, "2") != 0)
        return nccl_fault(n, n->root, "version is %s; legal: 1, of NCCL, and 2, of RCCL",
                          text_quote(version, strlen(version), quoted));
    return true;
}

bool graph_nccl_read(const struct graph_file *file)
{
    struct nccl n = {.file = file, .has_speed = true};
    struct config_arena *const scratch = file->loader->scratch;
    n.root = xml_parse(file->loader, file->source, file->text, file->bytes, &n.elements);
    if (n.root == NULL || !check_root(&n))
        return false;
    n.part = config_arena_alloc(scratch, (n.elements + 1) * sizeof *n.part);
    n.net = config_arena_alloc(scratch, n.elements * sizeof *n.net);
    n.part_of = config_arena_alloc(scratch, n.elements * sizeof *n.part_of);
    n.host = config_arena_alloc(scratch, n.elements * sizeof *n.host);
    const bool has_memory = n.part != NULL && n.net != NULL && n.part_of != NULL && n.host != NULL;
    file->loader->arena->failed |= !has_memory;
    if (has_memory)
        n.part_of[0] = NCCL_NONE;
    const bool read = has_memory && read_parts(&n) && number_gpus(&n) && order_gpus(&n) &&
                      read_links(&n) && read_copies(&n) && put_machine(&n);
    if (read)
        tell(&n);
    free(n.link);
    return read;
}
