/*
 * pin.c: which hardware thread each thread gets (pin.h), by hwloc.
 *
 * The map of the machine is read once per simulation and only if threads are to be pinned, and is
 * freed as soon as the hardware threads are chosen. Reading it leaves out all that is not asked for
 * here (caches, devices): that is most of the time it takes.
 *
 * hwloc continues after an allocation that failed, and ends the program. So it is asked only while
 * there is memory to spare, and threads are bound by the system's own calls, which allocate
 * nothing.
 *
 * Many systems deal the numbers of hardware threads out to the NUMA nodes in turn. So cores are
 * ordered by their nodes here, whatever their numbers are.
 */
#define _GNU_SOURCE
#include "core/os/pin.h"

#include "core/invariant.h"

#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum {
    CPUS_FIRST = CPU_SETSIZE, /* hardware threads that a set has room for, to begin with, ... */
    CPUS_MOST = 1 << 20,      /* ... and at most: the system does not report its own number */
    SPARE_BYTES = 4 << 20     /* hwloc's map of a machine with 512 hardware threads: some 2 MiB */
};

struct pin {
    uint32_t threads;
    bool bound; /* the calling thread is, since its binding was read */
    size_t set_bytes;
    char sets[]; /* [threads + 2][set_bytes]: each thread's, that before the drain, a scratch one */
};

static cpu_set_t *set_of(const struct pin *pin, uint32_t index)
{
    return (cpu_set_t *)(uintptr_t)(pin->sets + index * pin->set_bytes);
}
static cpu_set_t *set_before(const struct pin *pin) { return set_of(pin, pin->threads); }
static cpu_set_t *set_scratch(const struct pin *pin) { return set_of(pin, pin->threads + 1); }

/* Groups are kept where they mean something: a NUMA node hangs on one, and would have all of the
 * machine's hardware threads without it. */
bool pin_filter(struct hwloc_topology *topology)
{
    return hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
           hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP,
                                          HWLOC_TYPE_FILTER_KEEP_STRUCTURE) == 0 &&
           hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL) ==
               0;
}

static bool pin_load(hwloc_topology_t topology)
{
    const unsigned long flags = HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING |
                                HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
                                HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
    return hwloc_topology_set_flags(topology, flags) == 0 && pin_filter(topology) &&
           hwloc_topology_load(topology) == 0;
}

/* The NUMA node that a hardware thread belongs to; 0 if no node has it. */
static uint32_t node_of(hwloc_topology_t topology, unsigned pu)
{
    const int nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    for (int i = 0; i < nodes; i++)
        if (hwloc_bitmap_isset(
                hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned)i)->cpuset, pu))
            return (uint32_t)i;
    return 0;
}

/* A core, and where it comes in the order of the threads. */
struct ordered_core {
    hwloc_obj_t core;
    uint32_t node;
    uint64_t rank; /* nodes from the calling thread's on; within a node, cores from its own on */
};

static int by_rank(const void *left, const void *right)
{
    const uint64_t a = ((const struct ordered_core *)left)->rank,
                   b = ((const struct ordered_core *)right)->rank;
    return a < b ? -1 : a > b;
}

/* Cores in the order in which threads get them. `here` is a hardware thread. Returns how many. */
static uint32_t order_cores(hwloc_topology_t topology, unsigned here, struct ordered_core *cores)
{
    const hwloc_obj_type_t type =
        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    const int found = hwloc_get_nbobjs_by_type(topology, type);
    const uint32_t count = found < 0 ? 0 : (uint32_t)found;
    const int known = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    const uint32_t nodes = known < 1 ? 1 : (uint32_t)known, home = node_of(topology, here);
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        cores[i].core = hwloc_get_obj_by_type(topology, type, i);
        cores[i].node = node_of(topology, (unsigned)hwloc_bitmap_first(cores[i].core->cpuset));
        if (hwloc_bitmap_isset(cores[i].core->cpuset, here))
            first = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t distance = (cores[i].node + nodes - home) % nodes;
        const uint32_t place = distance == 0 ? (i + count - first) % count : i;
        cores[i].rank = (uint64_t)distance << 32 | place;
    }
    qsort(cores, count, sizeof *cores, by_rank);
    return count;
}

/* The `nth` hardware thread of a core, of those allowed; NULL: it has no more. */
static hwloc_obj_t pu_of_core(hwloc_topology_t topology, hwloc_obj_t core,
                              hwloc_const_bitmap_t allowed, unsigned nth)
{
    const unsigned count =
        (unsigned)hwloc_get_nbobjs_inside_cpuset_by_type(topology, core->cpuset, HWLOC_OBJ_PU);
    for (unsigned i = 0; i < count; i++) {
        const hwloc_obj_t pu =
            hwloc_get_obj_inside_cpuset_by_type(topology, core->cpuset, HWLOC_OBJ_PU, i);
        if (hwloc_bitmap_isset(allowed, pu->os_index) && nth-- == 0)
            return pu;
    }
    return NULL;
}

/* How many hardware threads of each core are used: one of each core first, then further ones. */
static bool share_out(hwloc_topology_t topology, hwloc_const_bitmap_t allowed, uint32_t threads,
                      const struct ordered_core *cores, uint32_t count, uint32_t *used)
{
    uint32_t given = 0;
    for (unsigned nth = 0; given < threads; nth++) {
        const uint32_t before = given;
        for (uint32_t i = 0; i < count && given < threads; i++)
            if (pu_of_core(topology, cores[i].core, allowed, nth) != NULL) {
                used[i]++;
                given++;
            }
        if (given == before)
            return false;
    }
    return true;
}

bool pin_choose(struct hwloc_topology *topology, const struct hwloc_bitmap_s *allowed,
                unsigned here, uint32_t threads, struct pin_place *places)
{
    const int pus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    const size_t room = pus > 0 ? (size_t)pus : 1; /* there are no more cores than that */
    struct ordered_core *const cores = calloc(room, sizeof *cores);
    uint32_t *const used = calloc(room, sizeof *used);
    bool chosen = cores != NULL && used != NULL;
    const uint32_t count = chosen ? order_cores(topology, here, cores) : 0;
    chosen = chosen && share_out(topology, allowed, threads, cores, count, used);
    uint32_t given = 0;
    for (uint32_t i = 0; i < count && chosen; i++)
        for (unsigned nth = 0; nth < used[i]; nth++)
            places[given++] = (struct pin_place){
                pu_of_core(topology, cores[i].core, allowed, nth)->os_index, cores[i].node};
    free(cores);
    free(used);
    return chosen;
}

/* The hardware thread that the calling thread is on. */
static unsigned pu_now(hwloc_topology_t topology, hwloc_bitmap_t scratch)
{
    if (hwloc_get_last_cpu_location(topology, scratch, HWLOC_CPUBIND_THREAD) != 0)
        return 0;
    const int pu = hwloc_bitmap_first(scratch);
    return pu < 0 ? 0 : (unsigned)pu;
}

/* Chooses a hardware thread for each thread; false: there are too few. */
static bool choose_places(uint32_t threads, struct pin_place *places)
{
    hwloc_topology_t topology = NULL;
    const hwloc_bitmap_t scratch = hwloc_bitmap_alloc();
    bool chosen = scratch != NULL && hwloc_topology_init(&topology) == 0 && pin_load(topology);
    if (chosen) {
        const unsigned here = pu_now(topology, scratch);
        chosen = hwloc_get_cpubind(topology, scratch, HWLOC_CPUBIND_THREAD) == 0 &&
                 pin_choose(topology, scratch, here, threads, places);
    }
    if (topology != NULL)
        hwloc_topology_destroy(topology);
    hwloc_bitmap_free(scratch);
    return chosen;
}

/* Whether hwloc gets the memory that it takes for granted. */
static bool has_spare_memory(void)
{
    void *const spare = malloc(SPARE_BYTES);
    free(spare);
    return spare != NULL;
}

/* The bytes of a set that the system fills; 0: it fills none. */
static size_t bytes_of_sets(void)
{
    for (size_t cpus = CPUS_FIRST; cpus <= CPUS_MOST; cpus *= 2) {
        const size_t bytes = CPU_ALLOC_SIZE(cpus);
        cpu_set_t *const set = malloc(bytes);
        const bool fits = set != NULL && pthread_getaffinity_np(pthread_self(), bytes, set) == 0;
        free(set);
        if (fits)
            return bytes;
    }
    return 0;
}

static struct pin *pin_of(const struct pin_place *places, uint32_t threads, size_t set_bytes)
{
    struct pin *const pin = calloc(1, sizeof *pin + (threads + 2) * set_bytes);
    if (pin == NULL)
        return NULL;
    pin->threads = threads;
    pin->set_bytes = set_bytes;
    for (uint32_t i = 0; i < threads; i++)
        CPU_SET_S(places[i].pu, set_bytes, set_of(pin, i));
    return pin;
}

struct pin *pin_create(uint32_t threads)
{
    const size_t set_bytes = threads < 2 || !has_spare_memory() ? 0 : bytes_of_sets();
    if (set_bytes == 0)
        return NULL;
    struct pin_place *const places = calloc(threads, sizeof *places);
    struct pin *const pin = places != NULL && choose_places(threads, places)
                                ? pin_of(places, threads, set_bytes)
                                : NULL;
    free(places);
    return pin;
}

void pin_free(struct pin *pin) { free(pin); }

void pin_thread(struct pin *pin, uint32_t index)
{
    CW_INVARIANT("I-PIN-1", pin == NULL || index == 0 || index < pin->threads,
                 "thread %u of %u is pinned", (unsigned)index, (unsigned)pin->threads);
    if (pin == NULL || index >= pin->threads)
        return;
    if (index == 0 && !pin->bound)
        pin->bound = pthread_getaffinity_np(pthread_self(), pin->set_bytes, set_before(pin)) == 0;
    if (index > 0 || pin->bound) /* a set that was not read cannot be restored */
        (void)pthread_setaffinity_np(pthread_self(), pin->set_bytes, set_of(pin, index));
}

/* Whether the calling thread is bound as before the drain, as far as the system reports it. */
static bool is_bound_as_before(const struct pin *pin)
{
    return pthread_getaffinity_np(pthread_self(), pin->set_bytes, set_scratch(pin)) != 0 ||
           CPU_EQUAL_S(pin->set_bytes, set_scratch(pin), set_before(pin));
}

void pin_end(struct pin *pin)
{
    if (pin == NULL || !pin->bound)
        return;
    pin->bound = false;
    const bool bound = pthread_setaffinity_np(pthread_self(), pin->set_bytes, set_before(pin)) == 0;
    CW_INVARIANT("I-PIN-1", !bound || is_bound_as_before(pin),
                 "the caller of %u threads is not bound as before", (unsigned)pin->threads);
    (void)bound;
}

uint32_t pin_count(const struct pin *pin) { return pin == NULL ? 0 : pin->threads; }
