/*
 * fault_shim.c: a library for LD_PRELOAD that counts the calls of a program to the system, by kind,
 * and makes chosen ones fail (fault_shim.h). It stands before the C library, and before SQLite.
 * This file counts; the functions that it stands before are in fault_memory.c, fault_files.c and
 * fault_system.c.
 *
 * FAULT_COUNTS names a file of struct fault_counts, which all processes of a command map: so the
 * n-th call is the n-th of the command, whichever of its processes makes it. FAULT_AT lists the
 * calls that fail. FAULT_SITES names a file to which the number of each call goes whose stack has
 * not been seen before: one call for each place, and way to it, that a command has.
 *
 * Calls count from main() on, until it returns. Allocations by hwloc never fail: that library does
 * not check them (core/os/pin.c asks it only with memory to spare). Threads: counters are atomic;
 * the table of stacks is behind a lock.
 */
#define _GNU_SOURCE
#include "test/faults/fault_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SITES = 1 << 16, FRAMES = 14, FRAMES_SKIPPED = 2, FAULTS_MAX = 8 };

/* A fault: the calls of a kind from `first` to `last`. */
struct fault {
    enum fault_kind kind;
    uint64_t first, last;
};

struct fault_counts *fault_counted;
static struct fault_counts own_counts; /* where there is no file */
static struct fault faults[FAULTS_MAX];
static unsigned fault_count;
static atomic_bool armed;
static int sites_file = -1;
static _Atomic(uint64_t) sites[SITES];
_Thread_local int fault_inside, fault_looking;
bool fault_has_begun; /* written before there are threads */
static bool kills, shows;

static const char *const kind_name[FAULT_KINDS] = {FAULT_KIND_NAMES};

/* ---- real functions -------------------------------------------------------------------------- */

/* dlsym() may allocate: the early memory (fault_memory.c) serves it. */
void *fault_real(const char *name)
{
    fault_inside++;
    fault_looking++;
    void *const function = dlsym(RTLD_NEXT, name);
    fault_looking--;
    fault_inside--;
    return function;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Whether a stack is new; remembers it. */
static bool is_new_site(enum fault_kind kind)
{
    void *frames[FRAMES];
    fault_inside++;
    const int depth = backtrace(frames, FRAMES);
    fault_inside--;
    uint64_t hash = 0x9E3779B97F4A7C15u * (uint64_t)(kind + 1);
    for (int i = FRAMES_SKIPPED; i < depth; i++) {
        hash ^= (uint64_t)(uintptr_t)frames[i];
        hash *= 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 29;
    }
    if (hash == 0)
        hash = 1;
    for (uint64_t at = hash % SITES;; at = (at + 1) % SITES) {
        uint64_t found = 0;
        if (atomic_compare_exchange_strong(&sites[at], &found, hash))
            return true;
        if (found == hash)
            return false;
    }
}

static void note_site(enum fault_kind kind, uint64_t number)
{
    char line[64];
    const int bytes =
        snprintf(line, sizeof line, "%s:%llu\n", kind_name[kind], (unsigned long long)number);
    fault_inside++;
    (void)!REAL(write)(sites_file, line, (size_t)bytes);
    fault_inside--;
}

static void show_stack(void)
{
    void *frames[FRAMES];
    fault_inside++;
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES), STDERR_FILENO);
    fault_inside--;
}

/* Where hwloc's code is: [first, end). */
static struct {
    uintptr_t first, end;
} hwloc_code;

/* The part of a library that can be executed, if it is hwloc. */
static int find_hwloc(struct dl_phdr_info *library, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (library->dlpi_name == NULL || strstr(library->dlpi_name, "libhwloc") == NULL)
        return 0;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &library->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
            hwloc_code.first = library->dlpi_addr + part->p_vaddr;
            hwloc_code.end = hwloc_code.first + part->p_memsz;
        }
    }
    return 1;
}

static bool is_called_by_hwloc(void)
{
    void *frames[FRAMES];
    fault_inside++;
    const int depth = backtrace(frames, FRAMES);
    fault_inside--;
    for (int i = 0; i < depth; i++)
        if ((uintptr_t)frames[i] >= hwloc_code.first && (uintptr_t)frames[i] < hwloc_code.end)
            return true;
    return false;
}

bool fault_comes(enum fault_kind kind)
{
    if (!atomic_load_explicit(&armed, memory_order_acquire) || fault_inside > 0)
        return false;
    const int number_before = errno;
    const uint64_t number = atomic_fetch_add(&fault_counted->calls[kind], 1) + 1;
    if (sites_file >= 0 && is_new_site(kind))
        note_site(kind, number);
    errno = number_before;
    for (unsigned i = 0; i < fault_count; i++)
        if (faults[i].kind == kind && number >= faults[i].first && number <= faults[i].last) {
            if (kind == FAULT_MALLOC && is_called_by_hwloc())
                return false;
            atomic_fetch_add(&fault_counted->injected, 1);
            if (shows)
                show_stack();
            if (kills)
                (void)kill(0, SIGKILL);
            return true;
        }
    return false;
}

/* ---- start ----------------------------------------------------------------------------------- */

/* "malloc:17,rename:1-": each is a kind and a call, a stretch of calls, or all from one on. */
static void read_faults(const char *text)
{
    while (text != NULL && *text != '\0' && fault_count < FAULTS_MAX) {
        const char *const colon = strchr(text, ':');
        if (colon == NULL)
            break;
        for (int k = 0; k < FAULT_KINDS; k++)
            if (strlen(kind_name[k]) == (size_t)(colon - text) &&
                strncmp(text, kind_name[k], (size_t)(colon - text)) == 0) {
                char *end;
                struct fault *const fault = &faults[fault_count++];
                fault->kind = (enum fault_kind)k;
                fault->first = fault->last = strtoull(colon + 1, &end, 10);
                if (*end == '-')
                    fault->last =
                        end[1] >= '0' && end[1] <= '9' ? strtoull(end + 1, NULL, 10) : UINT64_MAX;
            }
        text = strchr(colon, ',');
        text = text != NULL ? text + 1 : NULL;
    }
}

static void begin(void)
{
    void *frames[4];
    fault_inside++;
    fault_counted = &own_counts;
    const char *const path = getenv("FAULT_COUNTS");
    const int file = path != NULL ? REAL(open)(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *const shared =
            REAL(mmap)(NULL, sizeof *fault_counted, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (shared != MAP_FAILED)
            fault_counted = shared;
        (void)REAL(close)(file);
    }
    read_faults(getenv("FAULT_AT"));
    kills = getenv("FAULT_KILLS") != NULL;
    shows = getenv("FAULT_SHOWS") != NULL;
    const char *const sites_path = getenv("FAULT_SITES");
    if (sites_path != NULL)
        sites_file = REAL(open)(sites_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    (void)backtrace(frames, 4); /* loads its library now */
    (void)dl_iterate_phdr(find_hwloc, NULL);
    fault_inside--;
}

static int (*program_main)(int, char **, char **);

static int main_counted(int argc, char **argv, char **environment)
{
    begin();
    fault_has_begun = true;
    atomic_store_explicit(&armed, true, memory_order_release);
    const int code = program_main(argc, argv, environment);
    atomic_store(&armed, false);
    return code;
}

typedef int (*main_fn)(int, char **, char **);
typedef int (*start_fn)(main_fn, int, char **, void (*)(void), void (*)(void), void (*)(void),
                        void *);
PUBLIC int __libc_start_main(main_fn program, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*loader_fini)(void), void *stack_end);
PUBLIC int __libc_start_main(main_fn program, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    program_main = program;
    const start_fn start = (start_fn)fault_real("__libc_start_main");
    return start(main_counted, argc, argv, init, fini, loader_fini, stack_end);
}
