/*
 * test_graph_sources.c: machines of NCCL's, RCCL's and ASTRA-sim's files: speeds as the libraries'
 * sources have them, ranks before devices, copies on a network; and files that are wrong.
 */
#include "test/support/test_config_support.h"

#include "collectives/config/input/graph_read.h"

struct reading {
    struct config_arena arena;
    struct config_errors errors;
    struct config_loader loader;
    const struct graph_source *source;
};

/* The graph of one line, "{nccl: host.xml}". */
static bool read_line(struct reading *r, const char *text)
{
    *r = (struct reading){0};
    r->loader =
        (struct config_loader){.arena = &r->arena, .scratch = &r->arena, .errors = &r->errors};
    const uint32_t source =
        config_source_add(&r->loader, &(struct config_source){.name = "--set", .is_file = false});
    const struct config_node *const root = config_parse(&r->loader, source, text, strlen(text));
    assert_non_null(root);
    r->source = graph_read(&r->loader, "topology", root);
    assert_int_equal(r->errors.count, r->source != NULL ? 0 : 1);
    return r->source != NULL;
}

static void drop(struct reading *r)
{
    config_errors_free(&r->errors);
    config_arena_free(&r->arena);
}

static const struct graph_list *read_good(struct reading *r, const char *text)
{
    if (!read_line(r, text))
        fail_msg("%s: %s", text, r->errors.list[0].text);
    return &r->source->list;
}

static void expect_refusal(const char *file, const char *line, const char *why)
{
    struct reading r;
    write_bytes("bad", file, strlen(file));
    assert_false(read_line(&r, line));
    if (strstr(r.errors.list[0].text, why) == NULL)
        fail_msg("%s: \"%s\", not \"%s\"", file, r.errors.list[0].text, why);
    drop(&r);
}

/* The speed of a class in GB/s, as text. */
static void expect_speed(const struct graph_list *list, const char *class, const char *gbs)
{
    for (uint32_t i = 0; i < list->classes; i++)
        if (strcmp(list->class[i].name, class) == 0) {
            char text[DECIMAL_TEXT_BYTES];
            assert_true(list->class[i].figures.given[LEVEL_BW_GBS]);
            assert_string_equal(decimal_print(list->class[i].figures.number[LEVEL_BW_GBS], text),
                                gbs);
            return;
        }
    fail_msg("no class %s", class);
}

static uint32_t links_between(const struct graph_list *list, uint32_t a, uint32_t b)
{
    uint32_t links = 0;
    for (uint32_t i = 0; i < list->links; i++) {
        const uint32_t from = list->link[i].from.stop, to = list->link[i].to.stop;
        links += (from == a && to == b) || (from == b && to == a);
    }
    return links;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

#define CPU(attributes, inside) "<cpu numaid=\"0\" " attributes ">" inside "</cpu>"
#define AMD                     "arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"175\" modelid=\"1\""
#define PCI(bus, inside)                                                                           \
    "<pci busid=\"" bus "\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">" inside   \
    "</pci>"
#define GPU(bus, attributes, inside)                                                               \
    "<pci busid=\"" bus "\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">"          \
    "<gpu " attributes ">" inside "</gpu></pci>"
#define NIC(bus, net)                                                                              \
    "<pci busid=\"" bus "\" class=\"0x020000\" link_speed=\"16 GT/s\" link_width=\"8\">"           \
    "<nic><net name=\"n\" " net "/></nic></pci>"

/* Two GPUs that are joined, on one PCIe switch with a NIC. */
static void write_pair(const char *first, const char *second, const char *link, const char *net)
{
    char text[2000];
    const int bytes = snprintf(
        text, sizeof text,
        "<system version=\"1\">" CPU(
            AMD, PCI("0000:10:00.0", "<pci busid=\"0000:11:00.0\" class=\"0x030200\" "
                                     "link_speed=\"16 GT/s\" link_width=\"16\"><gpu %s><%s "
                                     "target=\"0000:12:00.0\" count=\"2\" tclass=\"0x030200\"/>"
                                     "</gpu></pci><pci busid=\"0000:12:00.0\" class=\"0x030200\" "
                                     "link_speed=\"16 GT/s\" link_width=\"16\"><gpu %s><%s "
                                     "target=\"0000:11:00.0\" count=\"2\" tclass=\"0x030200\"/>"
                                     "</gpu></pci><pci busid=\"0000:13:00.0\" class=\"0x020000\" "
                                     "link_speed=\"16 GT/s\" link_width=\"8\"><nic><net name=\"n\" "
                                     "%s/></nic></pci>")) "</system>",
        first, link, second, link, net);
    assert_in_range(bytes, 1, sizeof text - 1);
    write_bytes("pair.xml", text, (size_t)bytes);
}

/* SIP 0 and 1, the PCIe switch, the CPU and the NIC; NVLink's two are one link of both speeds. */
static void a_host_becomes_a_graph(void **state)
{
    (void)state;
    struct reading r;
    char name[GRAPH_NAME_BYTES + 16];
    write_pair("dev=\"0\" sm=\"80\" rank=\"0\"", "dev=\"1\" sm=\"80\" rank=\"1\"", "nvlink",
               "dev=\"0\" speed=\"200000\"");
    const struct graph_list *const list = read_good(&r, "{nccl: pair.xml}");
    assert_int_equal(list->sips, 2);
    assert_int_equal(list->switches, 3);
    assert_int_equal(list->links, 1 + 2 + 1 + 1);
    assert_int_equal(links_between(list, 0, 1), 1);
    expect_speed(list, "nvlink", "40");
    expect_speed(list, "pci", "24");   /* 16 lanes of 16 GT/s */
    expect_speed(list, "pci_2", "12"); /* 8 lanes */
    assert_int_equal(list->classes, 3);
    assert_string_equal(graph_list_stop_name(list, 2, name, sizeof name), "pci");
    assert_int_equal(links_between(list, 0, 2), 1);
    assert_true(list->ends[0] && list->ends[1]);
    assert_non_null(strstr(list->read, "2 GPUs by rank, 1 NIC, 1 CPU, 1 PCIe switch"));
    assert_non_null(strstr(list->assumed, "network ports lead nowhere"));
    drop(&r);
}

static void speeds_of_links_are_the_libraries(void **state)
{
    (void)state;
    static const struct {
        const char *gpu, *link, *gbs; /* of two links */
    } kinds[] = {
        {"sm=\"60\"", "nvlink", "36"},
        {"sm=\"70\"", "nvlink", "40"},
        {"sm=\"80\"", "nvlink", "40"},
        {"sm=\"86\"", "nvlink", "24"},
        {"sm=\"90\"", "nvlink", "41.2"},
        {"sm=\"100\"", "nvlink", "80.2"},
        {"sm=\"120\"", "nvlink", "80.2"},
        {"sm=\"120\" gcn=\"906\"", "xgmi", "48"},
        {"sm=\"98\" gcn=\"908\"", "xgmi", "48"},
        {"sm=\"90\" gcn=\"910\"", "xgmi", "72"},
        {"sm=\"104\" gcn=\"gfx90a\"", "xgmi", "72"},
        {"sm=\"304\" gcn=\"gfx942\"", "xgmi", "96"},
        {"sm=\"256\" gcn=\"gfx950\"", "xgmi", "96"},
        {"sm=\"96\"", "xgmi", "48"}, /* of RCCL's version 1, without gcn */
    };
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct reading r;
        char first[80], second[80];
        snprintf(first, sizeof first, "dev=\"0\" %s", kinds[i].gpu);
        snprintf(second, sizeof second, "dev=\"1\" %s", kinds[i].gpu);
        write_pair(first, second, kinds[i].link, "dev=\"0\"");
        expect_speed(read_good(&r, "{nccl: pair.xml}"), kinds[i].link, kinds[i].gbs);
        drop(&r);
    }
}

static void speeds_between_cpus(void **state)
{
    (void)state;
    static const struct {
        const char *cpu, *gpu, *gbs;
    } kinds[] = {
        {"arch=\"ppc64\"", "", "32"},
        {"arch=\"arm64\"", "", "6"},
        {"arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"79\"", "", "6"},
        {"arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\"", "", "10"},
        {"arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\"", "", "22"},
        {"arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"207\"", "", "40"},
        {"arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"143\" modelid=\"49\"", "", "16"},
        {"arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"175\" modelid=\"1\"", "", "24"},
        {"arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"191\" modelid=\"2\"", "", "32"},
        {"arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"191\" modelid=\"2\"", "gcn=\"gfx942\"",
         "16"},
        {"arch=\"x86_64\" vendor=\"CentaurHauls\" familyid=\"7\" modelid=\"91\"", "", "9"},
        {"arch=\"x86_64\" vendor=\"CentaurHauls\" familyid=\"7\" modelid=\"1\"", "", "6"},
    };
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct reading r;
        char text[1500];
        snprintf(text, sizeof text,
                 "<system version=\"1\"><cpu numaid=\"0\" %s>" GPU(
                     "0000:11:00.0", "dev=\"0\" sm=\"80\" %s",
                     "") "</cpu><cpu numaid=\"1\" %s>" GPU("0000:12:00.0", "dev=\"1\" sm=\"80\" %s",
                                                           "") "</cpu></system>",
                 kinds[i].cpu, kinds[i].gpu, kinds[i].cpu, kinds[i].gpu);
        write_bytes("cpus.xml", text, strlen(text));
        const struct graph_list *const list = read_good(&r, "{nccl: cpus.xml}");
        expect_speed(list, "sys", kinds[i].gbs);
        assert_int_equal(links_between(list, 2, 3), 1);
        drop(&r);
    }
}

/* Devices 0 and 1 are ranks 1 and 0: the SIP at bus 11 is number 1. Without ranks it is number 0;
 * a GPU without a rank beside one that has it is not of the job. */
static void ranks_come_before_devices(void **state)
{
    (void)state;
    struct reading r;
    static const char text[] = "<system version=\"2\">" CPU(
        AMD, GPU("0000:11:00.0", "dev=\"0\" sm=\"80\" rank=\"1\"", "")
                 PCI("0000:20:00.0", GPU("0000:12:00.0", "dev=\"1\" sm=\"80\" rank=\"0\"", ""))
                     GPU("0000:13:00.0", "dev=\"2\" sm=\"80\"", "")) "</system>";
    write_bytes("ranks.xml", text, sizeof text - 1);
    const struct graph_list *list = read_good(&r, "{nccl: ranks.xml}");
    assert_int_equal(list->sips, 2);
    assert_int_equal(links_between(list, 1, 3), 1); /* stops 2 and 3: PCIe switch and CPU */
    assert_int_equal(links_between(list, 0, 2), 1);
    drop(&r);
}

/* Missing, unknown or empty: 8 GT/s and 16 lanes are 12 GB/s. */
static void links_of_unknown_speed(void **state)
{
    (void)state;
    static const char *const unknown[] = {"", "link_speed=\"\" link_width=\"\"",
                                          "link_speed=\"Unknown\" link_width=\"0\"",
                                          "link_speed=\"8.0 GT/s PCIe\""};
    for (uint32_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct reading r;
        char text[300];
        snprintf(text, sizeof text,
                 "<system><cpu><pci busid=\"0:1\" %s><gpu dev=\"0\" sm=\"\"/></pci></cpu></system>",
                 unknown[i]);
        write_bytes("unknown.xml", text, strlen(text));
        const struct graph_list *const list = read_good(&r, "{nccl: unknown.xml}");
        expect_speed(list, "pci", "12");
        assert_non_null(strstr(list->assumed, "PCIe links without speed are 8 GT/s"));
        drop(&r);
    }
}

/* The licence of RCCL's files is a comment with lines of dashes, which is no XML. */
static void comments_may_have_dashes(void **state)
{
    (void)state;
    struct reading r;
    static const char text[] = "<!-------\n - text -- more\n ------->\n<system version=\"2\">" CPU(
        AMD, "<!---->" GPU("0:1", "dev=\"0\"", "") "<!-- a-b --->") "</system>";
    write_bytes("dashes.xml", text, sizeof text - 1);
    assert_int_equal(read_good(&r, "{nccl: dashes.xml}")->sips, 1);
    drop(&r);
    expect_refusal("<!--\n--\n-->\n<system>\n<!-- --", "{nccl: bad}", "bad:5:1: ");
}

/* As clouds hand out for NCCL_TOPO_FILE: GPUs and NICs are known by their class. SIP 0 is at the
 * lowest bus, which is on the second CPU.
 */
static void files_without_gpus_have_classes(void **state)
{
    (void)state;
    struct reading r;
#define LEAF(bus, class)                                                                           \
    "<pci busid=\"" bus "\" class=\"" class "\" link_speed=\"16 GT/s\" link_width=\"16\"/>"
    static const char text[] = "<system version=\"1\">" CPU(
        AMD, PCI("ffff:ff:01.0", LEAF("0003:00:00.0", "0x030200") LEAF("0103:00:00.0", "0x020700")))
        CPU(AMD, LEAF("0001:00:00.0", "0x030200") LEAF("0002:00:00.0", "0x120000")) "</system>";
    write_bytes("cloud.xml", text, sizeof text - 1);
    const struct graph_list *const list = read_good(&r, "{nccl: cloud.xml, nodes: 2}");
    assert_int_equal(list->sips, 2 * 3);
    const uint32_t pci = graph_list_switch(list, 0, 0), cpu = graph_list_switch(list, 1, 1);
    assert_int_equal(links_between(list, 0, cpu), 1);
    assert_int_equal(links_between(list, 1, cpu), 1);
    assert_int_equal(links_between(list, 2, pci), 1);
    expect_speed(list, "pci", "24");
    expect_speed(list, "net", "1.25");
    assert_non_null(strstr(list->read, "3 GPUs by bus, 1 NIC, 2 CPUs"));
    assert_non_null(strstr(list->assumed, "by PCI class, without NVLinks"));
    drop(&r);
    expect_refusal("<system>" CPU(AMD, LEAF("0:1", "0x030000") LEAF("0:1", "0x030000")) "</system>",
                   "{nccl: bad}", "busid twice");
#undef LEAF
}

/* 10,000 Mbit/s where a speed is missing or not above 0. */
static void speeds_of_network_ports(void **state)
{
    (void)state;
    static const struct {
        const char *net, *gbs;
    } nets[] = {{"dev=\"0\" speed=\"400000\"", "50"},
                {"dev=\"0\" speed=\"-1\"", "1.25"},
                {"dev=\"0\" speed=\"0\"", "1.25"},
                {"dev=\"0\"", "1.25"}};
    for (uint32_t i = 0; i < 4; i++) {
        struct reading r;
        write_pair("dev=\"0\" sm=\"80\"", "dev=\"1\" sm=\"80\"", "nvlink", nets[i].net);
        expect_speed(read_good(&r, "{nccl: pair.xml, nodes: 2}"), "net", nets[i].gbs);
        drop(&r);
    }
}

static void copies_are_joined(void **state)
{
    (void)state;
    struct reading r;
    write_pair("dev=\"0\" sm=\"80\"", "dev=\"1\" sm=\"80\"", "nvlink",
               "dev=\"0\" speed=\"100000\"");
    const struct graph_list *list = read_good(
        &r, "{nccl: pair.xml, nodes: 3, network: {switch: {bw_gbs: 7, latency_ns: 300}}}");
    assert_int_equal(list->sips, 6);
    assert_int_equal(list->switches, 3 * 3 + 1);
    assert_int_equal(list->links, 3 * (5 + 1));
    assert_string_equal(list->kind[3].name, "network");
    expect_speed(list, "net", "7");
    assert_int_equal(links_between(list, 2, 3), 1); /* the NVLink of the second copy */
    for (uint32_t node = 0; node < 3; node++)
        assert_int_equal(
            links_between(list, graph_list_switch(list, 2, node), graph_list_switch(list, 3, 0)),
            1);
    drop(&r);
    list = read_good(&r, "{nccl: pair.xml, nodes: 2, network: rails, classes: "
                         "{nvlink: {bw_gbs: 300}}, switches: [{name: pci, latency_ns: 110}]}");
    assert_string_equal(list->kind[3].name, "rail");
    expect_speed(list, "nvlink", "300");
    drop(&r);
}

/* The ring 0 2 1, by rank and, in older dumps, by device: SIP 1 is then what was number 2. */
static void rings_number_the_sips(void **state)
{
    (void)state;
    static const char host[] = "<system version=\"1\">" CPU(
        AMD, GPU("0000:11:00.0", "dev=\"5\" rank=\"0\" sm=\"80\"", "")
                 GPU("0000:12:00.0", "dev=\"6\" rank=\"1\" sm=\"80\"", "")
                     PCI("0000:20:00.0",
                         GPU("0000:13:00.0", "dev=\"7\" rank=\"2\" sm=\"80\"", ""))) "</system>";
    static const char *const gpus[] = {
        "<gpu rank=\"0\"/><gpu rank=\"2\"/><gpu rank=\"1\"/>",
        "<net dev=\"0\"/><gpu dev=\"5\"/><gpu dev=\"7\"/><gpu dev=\"6\"/><net dev=\"0\"/>"};
    struct reading r;
    char text[600];
    write_bytes("host.xml", host, sizeof host - 1);
    const struct graph_list *list = read_good(&r, "{nccl: host.xml}");
    assert_int_equal(links_between(list, 2, 3), 1); /* stop 3 is the PCIe switch */
    drop(&r);
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "<graphs version=\"1\"><graph id=\"1\" pattern=\"1\"><channel><gpu rank=\"9\"/>"
                 "</channel></graph><graph id=\"0\" pattern=\"4\" nchannels=\"2\" "
                 "speedintra=\"20\"><channel>%s</channel><channel/></graph></graphs>",
                 gpus[i]);
        write_bytes("rings.xml", text, strlen(text));
        list = read_good(&r, "{nccl: host.xml, rings: rings.xml}");
        assert_int_equal(links_between(list, 1, 3), 1);
        assert_int_equal(links_between(list, 2, 3), 0);
        assert_non_null(strstr(list->read, "ring 1 of 2, for which NCCL expects 20 GB/s"));
        drop(&r);
    }
#define RINGS "{nccl: host.xml, rings: bad}"
    expect_refusal("<system/>", RINGS, "bad:1:1: <system>: legal: <graphs>");
    expect_refusal("<graphs/>", RINGS, "no ring; legal: <graph pattern=\"4\">");
    expect_refusal("<graphs><graph pattern=\"4\"><channel><gpu rank=\"3\"/></channel></graph>"
                   "</graphs>",
                   RINGS, "the rank or the dev of a GPU");
    expect_refusal("<graphs><graph pattern=\"4\"><channel><gpu rank=\"0\"/><gpu rank=\"0\"/>"
                   "</channel></graph></graphs>",
                   RINGS, "in the ring already");
    expect_refusal("<graphs><graph pattern=\"4\"><channel><gpu rank=\"0\"/></channel></graph>"
                   "</graphs>",
                   RINGS, "some are missing");
    expect_refusal("<graphs/>", "{nccl: host.xml, rings: [bad]}", "expected rings: a file");
}

/* ---- ASTRA-sim ------------------------------------------------------------------------------- */

static void networks_of_astra_sim(void **state)
{
    (void)state;
    static const char yaml[] = "topology: [ Ring, FullyConnected, Switch ]\n"
                               "npus_count: [ 2, 8, 4 ]  # 64\n"
                               "bandwidth: [ 200.0, 100.0, 50 ]\nlatency: [ 50, 500, 2000.0 ]\n";
    static const char json[] = "{\"topology\": [\"Switch\"], \"npus_count\": [4],\n"
                               " \"bandwidth\": [1.0], \"latency\": [10]}";
    static const char old[] = "{\"topologies-per-dim\": [\"Ring\", \"AllToAll\"], \"units-count\": "
                              "[4, 3], \"links-count\": [4, 2], \"link-bandwidth\": [10, 10], "
                              "\"link-latency\": [1, 2], \"hbm-scale\": [0, 0]}";
    struct reading r;
    write_bytes("net.yml", yaml, sizeof yaml - 1);
    const struct graph_list *list = read_good(&r, "{astra: net.yml}");
    assert_int_equal(list->sips, 64);
    assert_int_equal(list->switches, 16);
    assert_int_equal(list->links, 64 + 28 * 8 + 64);
    assert_int_equal(list->dims, 3);
    expect_speed(list, "level_1", "214.748365"); /* 200 x 2^30 / 10^9, to six places */
    expect_speed(list, "level_3", "53.687091");
    assert_int_equal(list->class[2].figures.number[LEVEL_LATENCY_NS].mantissa, 2000);
    drop(&r);
    write_bytes("net.json", json, sizeof json - 1);
    list = read_good(&r, "{astra: net.json}");
    assert_int_equal(list->sips, 4);
    expect_speed(list, "level_1", "1.073742");
    drop(&r);
    write_bytes("old.json", old, sizeof old - 1); /* four links of a SIP are two rings */
    list = read_good(&r, "{astra: old.json}");
    expect_speed(list, "level_1", "21.474836");
    expect_speed(list, "level_2", "10.737418");
    assert_non_null(strstr(list->assumed, "not used"));
    drop(&r);
}

/* Files of ASTRA-sim 1 without topologies-per-dim say it in the name; two in a ring have two links,
 * or with links-count 1 one.
 */
static void networks_of_astra_sim_1(void **state)
{
    (void)state;
    struct reading r;
#define FIGURES(n)                                                                                 \
    "\"units-count\": [" n "], \"link-latency\": [" n "], \"link-bandwidth\": [" n "]}"
    static const char named[] = "{\"topology-name\": \"Ring_AllToAll_Switch\", " FIGURES("2, 8, 2");
    static const char torus[] = "{\"topology-name\": \"Torus2D\", " FIGURES("8, 6");
    static const char two[] = "{\"topology-name\": \"Hierarchical\", \"topologies-per-dim\": "
                              "[\"Ring\", \"Ring\"], \"links-count\": [2, 1], " FIGURES("2, 2");
    write_bytes("named.json", named, sizeof named - 1);
    const struct graph_list *list = read_good(&r, "{astra: named.json}");
    assert_int_equal(list->sips, 32);
    assert_int_equal(list->switches, 16);
    assert_int_equal(list->links, 32 + 4 * 28 + 32);
    drop(&r);
    write_bytes("torus.json", torus, sizeof torus - 1);
    assert_int_equal(read_good(&r, "{astra: torus.json}")->links, 2 * 48);
    drop(&r);
    write_bytes("two.json", two, sizeof two - 1);
    list = read_good(&r, "{astra: two.json}");
    assert_int_equal(links_between(list, 0, 1), 2);
    assert_int_equal(links_between(list, 0, 2), 1);
    drop(&r);
    static const char *const bad[] = {"Hierarchical",     "Torus3D", "Ring",
                                      "Ring_Switch_Ring", "Ring_",   "[Ring]"};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{topology-name: %s, units-count: [2, 2], link-latency: [1, 1], "
                 "link-bandwidth: [1, 1]}",
                 bad[i]);
        expect_refusal(text, "{astra: bad}", "expected topologies-per-dim, or topology-name");
    }
#undef FIGURES
}

/* ---- files that are wrong -------------------------------------------------------------------- */

static void bad_files_are_refused(void **state)
{
    (void)state;
#define NCCL  "{nccl: bad}"
#define ASTRA "{astra: bad}"
    expect_refusal("", NCCL, "bad:1:1: no element found; legal is XML");
    expect_refusal("<system>", NCCL, "legal is XML");
    expect_refusal("<a/>", NCCL, "bad:1:1: <a>: legal: <system>");
    expect_refusal("<graphs version=\"1\"/>", NCCL, "has rings and trees, and no machine");
    expect_refusal("<system version=\"3\"/>", NCCL, "version is '3'; legal: 1, of NCCL, and 2");
    expect_refusal("<system version=\"1\"/>", NCCL, "no GPU; legal: <cpu>");
    expect_refusal("<!DOCTYPE a><system/>", NCCL, "a document type is declared");
    expect_refusal("<system>\n" CPU(AMD, GPU("xx", "dev=\"0\"", "")) "</system>", NCCL,
                   "busid is 'xx'; legal: a bus");
    expect_refusal("<system>\n" CPU(AMD, GPU("0:1", "sm=\"80\"", "")) "</system>", NCCL,
                   "bad:2:151: <gpu>: no dev; legal: 0 to");
    expect_refusal(
        "<system>" CPU(AMD, GPU("0:1", "dev=\"0\"", "") GPU("0:2", "dev=\"0\"", "")) "</system>",
        NCCL, "dev 0 twice");
    expect_refusal("<system>" CPU(AMD, GPU("0:1", "dev=\"0\"",
                                           "<nvlink target=\"0:2\" count=\"many\"/>")) "</system>",
                   NCCL, "count is 'many'; legal: 1 to 1000");
    static const char good[] =
        "<system>" CPU(AMD, GPU("0:1", "dev=\"0\"", "") NIC("0:2", "dev=\"0\"")) "</system>";
    expect_refusal(good, "{nccl: bad, nodes: 0}", "expected nodes: a whole number from 1 to 16384");
    expect_refusal(good, "{nccl: bad, nodes: 16384}", "32769 switches");
    expect_refusal(good, "{nccl: bad, network: {ring: {}}}", "expected network: switch, rails");
    expect_refusal(good, "{nccl: bad, nodes: 2, network: {switch: {speed: 3}}}",
                   "unknown key 'speed'");
    expect_refusal(good, "{nccl: bad, nods: 2}", "unknown key 'nods'");
    expect_refusal(good, "{nccl: bad, astra: bad}", "one file, one rule, or `sips`");
    expect_refusal(good, "{nccl: [bad]}", "expected nccl: a file; found a list");
    expect_refusal(good, "{nccl: missing.xml}",
                   "missing.xml:1:1: cannot open: No such file or directory");
    expect_refusal("# nothing\n", ASTRA, "nothing but comments");
    expect_refusal("topology: [Ring]\nnpus_count: [8]\nbandwidth: [tbd]\nlatency: [1]\n", ASTRA,
                   "bad:3:13: expected bandwidth: a number from 0.001 to 900000");
    expect_refusal("topology: [Torus]\nnpus_count: [8]\nbandwidth: [1]\nlatency: [1]\n", ASTRA,
                   "bad:1:12: expected topology: Ring, FullyConnected or Switch; found 'Torus'");
    expect_refusal("topology: [Ring]\nnpus_count: [8, 2]\nbandwidth: [1]\nlatency: [1]\n", ASTRA,
                   "npus_count: expected a value for each of the 1 dimensions");
    expect_refusal("topology: [Ring]\nnpus_count: [8]\nbandwidth: [1]\n", ASTRA, "no latency");
    expect_refusal("topology: [Ring, Ring]\nnpus_count: [800, 800]\nbandwidth: [1, 1]\n"
                   "latency: [1, 1]\n",
                   ASTRA, "640000 NPUs");
    expect_refusal("topologies: [Ring]\n", ASTRA, "unknown key 'topologies'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_host_becomes_a_graph, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(speeds_of_links_are_the_libraries, scratch_enter,
                                        scratch_leave),
        cmocka_unit_test_setup_teardown(speeds_between_cpus, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(ranks_come_before_devices, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(links_of_unknown_speed, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(comments_may_have_dashes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(files_without_gpus_have_classes, scratch_enter,
                                        scratch_leave),
        cmocka_unit_test_setup_teardown(speeds_of_network_ports, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(copies_are_joined, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(rings_number_the_sips, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(networks_of_astra_sim, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(networks_of_astra_sim_1, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(bad_files_are_refused, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
