/*
 * pin.c: which hardware thread each thread gets (pin.h), by hwloc.
 *
 * The map of the machine is read once per simulation and only if threads are to be pinned. Reading
 * it leaves out all that is not asked for here (caches, devices, memories): that is most of
 * the time it takes. It is const from then on, so that workers may read it together.
 */
#include "core/host/pin.h"

#include "core/invariant.h"

#include <hwloc.h>
#include <stdlib.h>

struct pin {
    hwloc_topology_t topology;
    hwloc_bitmap_t before; /* the calling thread's binding; empty: unknown */
    uint32_t threads;
    hwloc_obj_t pu[]; /* [threads] */
};

static bool pin_load(hwloc_topology_t topology)
{
    const unsigned long flags = HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING |
                                HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
                                HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
    return hwloc_topology_set_flags(topology, flags) == 0 &&
           hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
           hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL) ==
               0 &&
           hwloc_topology_load(topology) == 0;
}

/* The number of the core that the calling thread is on. */
static int core_now(hwloc_topology_t topology, hwloc_obj_type_t cores, hwloc_bitmap_t scratch)
{
    if (hwloc_get_last_cpu_location(topology, scratch, HWLOC_CPUBIND_THREAD) != 0)
        return 0;
    const int pu = hwloc_bitmap_first(scratch);
    const int count = hwloc_get_nbobjs_by_type(topology, cores);
    for (int i = 0; i < count; i++)
        if (hwloc_bitmap_isset(hwloc_get_obj_by_type(topology, cores, (unsigned)i)->cpuset,
                               (unsigned)pu))
            return i;
    return 0;
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

/* Gives each thread its hardware thread; false: there are too few. `scratch` is overwritten. */
static bool assign(struct pin *pin, hwloc_bitmap_t scratch)
{
    const hwloc_topology_t topology = pin->topology;
    const hwloc_obj_type_t cores =
        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    const int count = hwloc_get_nbobjs_by_type(topology, cores);
    const int first = core_now(topology, cores, scratch);
    if (count <= 0 || hwloc_get_cpubind(topology, scratch, HWLOC_CPUBIND_THREAD) != 0)
        return false;
    uint32_t given = 0;
    for (unsigned nth = 0; given < pin->threads; nth++) {
        const uint32_t before = given;
        for (int i = 0; i < count && given < pin->threads; i++) {
            const hwloc_obj_t core =
                hwloc_get_obj_by_type(topology, cores, (unsigned)((first + i) % count));
            const hwloc_obj_t pu = pu_of_core(topology, core, scratch, nth);
            if (pu != NULL)
                pin->pu[given++] = pu;
        }
        if (given == before)
            return false;
    }
    return true;
}

struct pin *pin_create(uint32_t threads)
{
    if (threads < 2)
        return NULL;
    struct pin *const pin = calloc(1, sizeof *pin + threads * sizeof *pin->pu);
    if (pin == NULL)
        return NULL;
    pin->threads = threads;
    pin->before = hwloc_bitmap_alloc();
    if (pin->before != NULL && hwloc_topology_init(&pin->topology) == 0 &&
        pin_load(pin->topology) && assign(pin, pin->before))
        return pin;
    pin_free(pin);
    return NULL;
}

void pin_free(struct pin *pin)
{
    if (pin == NULL)
        return;
    if (pin->topology != NULL)
        hwloc_topology_destroy(pin->topology);
    hwloc_bitmap_free(pin->before);
    free(pin);
}

void pin_begin(struct pin *pin)
{
    if (pin != NULL && hwloc_get_cpubind(pin->topology, pin->before, HWLOC_CPUBIND_THREAD) != 0)
        hwloc_bitmap_zero(pin->before);
}

void pin_thread(const struct pin *pin, uint32_t index)
{
    CW_INVARIANT("I-PIN-1", pin == NULL || index == 0 || index < pin->threads,
                 "thread %u of %u is pinned", (unsigned)index, (unsigned)pin->threads);
    if (pin != NULL && index < pin->threads && !hwloc_bitmap_iszero(pin->before))
        (void)hwloc_set_cpubind(pin->topology, pin->pu[index]->cpuset, HWLOC_CPUBIND_THREAD);
}

/* Whether the calling thread is bound as before the drain, as far as the system tells. */
static bool is_bound_as_before(const struct pin *pin)
{
    const hwloc_bitmap_t now = hwloc_bitmap_alloc();
    const bool same = now == NULL ||
                      hwloc_get_cpubind(pin->topology, now, HWLOC_CPUBIND_THREAD) != 0 ||
                      hwloc_bitmap_isequal(now, pin->before);
    hwloc_bitmap_free(now);
    return same;
}

void pin_end(struct pin *pin)
{
    if (pin == NULL || hwloc_bitmap_iszero(pin->before))
        return;
    const bool bound = hwloc_set_cpubind(pin->topology, pin->before, HWLOC_CPUBIND_THREAD) == 0;
    CW_INVARIANT("I-PIN-1", !bound || is_bound_as_before(pin),
                 "the caller of %u threads is not bound as before", (unsigned)pin->threads);
    (void)bound;
}

uint32_t pin_count(const struct pin *pin) { return pin == NULL ? 0 : pin->threads; }
