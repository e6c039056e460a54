/*
 * fault_shim.c: a library for LD_PRELOAD that counts the calls of a program to the system, by kind,
 * and makes chosen ones fail (fault_shim.h). It stands before the C library, and before SQLite.
 *
 * FAULT_COUNTS names a file of struct fault_counts, which all processes of a command map: so the
 * n-th call is the n-th of the command, whichever of its processes makes it. FAULT_AT lists the
 * calls that fail. FAULT_SITES names a file to which the number of each call goes whose stack has
 * not been seen before: one call for each place, and way to it, that a command has.
 *
 * Calls count from main() on, until it returns. Allocations by hwloc never fail: that library does
 * not check them (core/host/pin.c asks it only with memory to spare). Threads: counters are atomic;
 * the table of stacks is behind a lock.
 */
#define _GNU_SOURCE
#include "test/faults/fault_shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum { SITES = 1 << 16, FRAMES = 14, FRAMES_SKIPPED = 2, FAULTS_MAX = 8, EARLY_BYTES = 8 << 20 };

/* A fault: the calls of a kind from `first` to `last`. */
struct fault {
    enum fault_kind kind;
    uint64_t first, last;
};

static struct fault_counts *counts;
static struct fault_counts own_counts; /* where there is no file */
static struct fault faults[FAULTS_MAX];
static unsigned fault_count;
static atomic_bool armed;
static int sites_file = -1;
static _Atomic(uint64_t) sites[SITES];
static _Thread_local int inside;  /* the shim itself calls */
static _Thread_local int looking; /* ... to look up a name */
static _Thread_local int in_exec; /* sqlite3_exec() calls */
static bool has_begun;            /* main() has; written before there are threads */
static bool kills, shows;

static const char *const kind_name[FAULT_KINDS] = {FAULT_KIND_NAMES};

/* ---- real functions -------------------------------------------------------------------------- */

/* The next definition of a name. dlsym() may allocate: the early memory serves it. */
static void *real(const char *name)
{
    inside++;
    looking++;
    void *const function = dlsym(RTLD_NEXT, name);
    looking--;
    inside--;
    return function;
}

#define REAL(name)                                                                                 \
    ({                                                                                             \
        static __typeof__(&(name)) function_;                                                      \
        if (function_ == NULL)                                                                     \
            function_ = (__typeof__(&(name)))real(#name);                                          \
        function_;                                                                                 \
    })

/* ---- counting -------------------------------------------------------------------------------- */

/* Whether a stack is new; remembers it. */
static bool is_new_site(enum fault_kind kind)
{
    void *frames[FRAMES];
    inside++;
    const int depth = backtrace(frames, FRAMES);
    inside--;
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
    inside++;
    (void)!REAL(write)(sites_file, line, (size_t)bytes);
    inside--;
}

static void show_stack(void)
{
    void *frames[FRAMES];
    inside++;
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES), STDERR_FILENO);
    inside--;
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
    inside++;
    const int depth = backtrace(frames, FRAMES);
    inside--;
    for (int i = 0; i < depth; i++)
        if ((uintptr_t)frames[i] >= hwloc_code.first && (uintptr_t)frames[i] < hwloc_code.end)
            return true;
    return false;
}

/* Counts a call; whether it has to fail. */
static bool fails(enum fault_kind kind)
{
    if (!atomic_load_explicit(&armed, memory_order_acquire) || inside > 0)
        return false;
    const int number_before = errno;
    const uint64_t number = atomic_fetch_add(&counts->calls[kind], 1) + 1;
    if (sites_file >= 0 && is_new_site(kind))
        note_site(kind, number);
    errno = number_before;
    for (unsigned i = 0; i < fault_count; i++)
        if (faults[i].kind == kind && number >= faults[i].first && number <= faults[i].last) {
            if (kind == FAULT_MALLOC && is_called_by_hwloc())
                return false;
            atomic_fetch_add(&counts->injected, 1);
            if (shows)
                show_stack();
            if (kills)
                (void)kill(0, SIGKILL);
            return true;
        }
    return false;
}

#define FAIL_IF(kind, number, result)                                                              \
    if (fails(kind)) {                                                                             \
        errno = (number);                                                                          \
        return result;                                                                             \
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
    inside++;
    counts = &own_counts;
    const char *const path = getenv("FAULT_COUNTS");
    const int file = path != NULL ? REAL(open)(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *const shared =
            REAL(mmap)(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (shared != MAP_FAILED)
            counts = shared;
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
    inside--;
}

static int (*program_main)(int, char **, char **);

static int main_counted(int argc, char **argv, char **environment)
{
    begin();
    has_begun = true;
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
    const start_fn start = (start_fn)real("__libc_start_main");
    return start(main_counted, argc, argv, init, fini, loader_fini, stack_end);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Memory for all that allocates before main(): allocators may not be ready there, as that of
 * AddressSanitizer, which looks up names itself. It is never given back. */
static char early[EARLY_BYTES] __attribute__((aligned(16)));
static _Atomic(size_t) early_used;

static void *early_memory(size_t bytes)
{
    const size_t at = atomic_fetch_add(&early_used, (bytes + 15) / 16 * 16);
    if (at + bytes > EARLY_BYTES)
        abort();
    return early + at;
}

static bool is_early(const void *memory)
{
    return (const char *)memory >= early && (const char *)memory < early + EARLY_BYTES;
}

PUBLIC void *malloc(size_t bytes)
{
    if (!has_begun || looking)
        return early_memory(bytes);
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    return REAL(malloc)(bytes);
}

PUBLIC void *calloc(size_t count, size_t bytes)
{
    if (!has_begun || looking)
        return early_memory(count * bytes);
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    return REAL(calloc)(count, bytes);
}

PUBLIC void *realloc(void *memory, size_t bytes)
{
    if (has_begun && !looking && !is_early(memory)) {
        FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
        return REAL(realloc)(memory, bytes);
    }
    void *const moved = malloc(bytes);
    if (moved != NULL && memory != NULL) {
        const size_t rest = (size_t)(early + EARLY_BYTES - (char *)memory);
        memcpy(moved, memory, bytes < rest ? bytes : rest);
    }
    return moved;
}

PUBLIC void free(void *memory)
{
    if (memory != NULL && !is_early(memory))
        REAL(free)(memory);
}

PUBLIC void *aligned_alloc(size_t alignment, size_t bytes)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    return REAL(aligned_alloc)(alignment, bytes);
}

PUBLIC int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, ENOMEM)
    return REAL(posix_memalign)(memory, alignment, bytes);
}

PUBLIC void *reallocarray(void *memory, size_t count, size_t bytes)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    return REAL(reallocarray)(memory, count, bytes);
}

PUBLIC char *strdup(const char *text)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    inside++;
    char *const copy = REAL(strdup)(text);
    inside--;
    return copy;
}

PUBLIC char *strndup(const char *text, size_t bytes)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    inside++;
    char *const copy = REAL(strndup)(text, bytes);
    inside--;
    return copy;
}

PUBLIC void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t from)
{
    FAIL_IF(FAULT_MMAP, ENOMEM, MAP_FAILED)
    return REAL(mmap)(at, bytes, protection, flags, file, from);
}

PUBLIC int mprotect(void *at, size_t bytes, int protection)
{
    FAIL_IF(FAULT_MMAP, ENOMEM, -1)
    return REAL(mprotect)(at, bytes, protection);
}

/* ---- files ----------------------------------------------------------------------------------- */

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? (mode_t)va_arg(arguments, int) : 0;
}

#define OPEN(name)                                                                                 \
    PUBLIC int name(const char *path, int flags, ...)                                              \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        const mode_t mode = mode_of(flags, arguments);                                             \
        va_end(arguments);                                                                         \
        FAIL_IF(FAULT_OPEN, EMFILE, -1)                                                            \
        return REAL(name)(path, flags, mode);                                                      \
    }
OPEN(open)
OPEN(open64)

PUBLIC FILE *fopen(const char *path, const char *how)
{
    FAIL_IF(FAULT_OPEN, EMFILE, NULL)
    return REAL(fopen)(path, how);
}

PUBLIC FILE *fopen64(const char *path, const char *how)
{
    FAIL_IF(FAULT_OPEN, EMFILE, NULL)
    return REAL(fopen64)(path, how);
}

PUBLIC FILE *fdopen(int file, const char *how)
{
    FAIL_IF(FAULT_OPEN, EMFILE, NULL)
    return REAL(fdopen)(file, how);
}

PUBLIC FILE *open_memstream(char **text, size_t *bytes)
{
    FAIL_IF(FAULT_OPEN, ENOMEM, NULL)
    return REAL(open_memstream)(text, bytes);
}

PUBLIC FILE *fopencookie(void *cookie, const char *how, cookie_io_functions_t functions)
{
    FAIL_IF(FAULT_OPEN, ENOMEM, NULL)
    return REAL(fopencookie)(cookie, how, functions);
}

PUBLIC ssize_t read(int file, void *bytes, size_t count)
{
    FAIL_IF(FAULT_READ, EIO, -1)
    return REAL(read)(file, bytes, count);
}

#define PREAD(name, offset)                                                                        \
    PUBLIC ssize_t name(int file, void *bytes, size_t count, offset from)                          \
    {                                                                                              \
        FAIL_IF(FAULT_READ, EIO, -1)                                                               \
        return REAL(name)(file, bytes, count, from);                                               \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

/* Sets the stream's mark of an error as a failing read does: by a real one. */
static void mark_error(FILE *stream)
{
    const int file = fileno(stream);
    if (file < 0)
        return;
    /* A descriptor that cannot be read stands in for the file while the stream is read once more.
     */
    inside++;
    const int kept = dup(file), blind = REAL(open)("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept >= 0 && blind >= 0) {
        char nothing[8192];
        (void)fflush(stream);
        (void)dup2(blind, file);
        while (REAL(fread)(nothing, 1, sizeof nothing, stream) > 0)
            ;
        (void)dup2(kept, file);
    }
    (void)REAL(close)(kept);
    (void)REAL(close)(blind);
    inside--;
    errno = EIO;
}

PUBLIC size_t fread(void *bytes, size_t size, size_t count, FILE *stream)
{
    if (fails(FAULT_READ)) {
        mark_error(stream);
        return 0;
    }
    return REAL(fread)(bytes, size, count, stream);
}

PUBLIC char *fgets(char *text, int bytes, FILE *stream)
{
    if (fails(FAULT_READ)) {
        mark_error(stream);
        return NULL;
    }
    return REAL(fgets)(text, bytes, stream);
}

PUBLIC ssize_t getline(char **text, size_t *bytes, FILE *stream)
{
    if (fails(FAULT_READ)) {
        mark_error(stream);
        return -1;
    }
    return REAL(getline)(text, bytes, stream);
}

/* Every other fault of a writing call writes a part first, as a full disk does. */
static bool writes_a_part(size_t count) { return count > 1 && atomic_load(&counts->injected) == 1; }

PUBLIC ssize_t write(int file, const void *bytes, size_t count)
{
    if (fails(FAULT_WRITE)) {
        if (writes_a_part(count))
            (void)!REAL(write)(file, bytes, count / 2);
        errno = ENOSPC;
        return -1;
    }
    return REAL(write)(file, bytes, count);
}

#define PWRITE(name, offset)                                                                       \
    PUBLIC ssize_t name(int file, const void *bytes, size_t count, offset from)                    \
    {                                                                                              \
        if (fails(FAULT_WRITE)) {                                                                  \
            if (writes_a_part(count))                                                              \
                (void)!REAL(name)(file, bytes, count / 2, from);                                   \
            errno = ENOSPC;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        return REAL(name)(file, bytes, count, from);                                               \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

PUBLIC int fflush(FILE *stream)
{
    FAIL_IF(FAULT_WRITE, ENOSPC, EOF)
    return REAL(fflush)(stream);
}

PUBLIC int fclose(FILE *stream)
{
    const bool failing = fileno(stream) >= 0 && fails(FAULT_CLOSE);
    const int result = REAL(fclose)(stream);
    if (failing)
        errno = EIO;
    return failing ? EOF : result;
}

PUBLIC int close(int file)
{
    const bool failing = fails(FAULT_CLOSE);
    const int result = REAL(close)(file);
    if (failing)
        errno = EIO;
    return failing ? -1 : result;
}

PUBLIC int ftruncate(int file, off_t bytes)
{
    FAIL_IF(FAULT_WRITE, EIO, -1)
    return REAL(ftruncate)(file, bytes);
}

PUBLIC int ftruncate64(int file, off64_t bytes)
{
    FAIL_IF(FAULT_WRITE, EIO, -1)
    return REAL(ftruncate64)(file, bytes);
}

PUBLIC int fsync(int file)
{
    FAIL_IF(FAULT_FSYNC, EIO, -1)
    return REAL(fsync)(file);
}

PUBLIC int fdatasync(int file)
{
    FAIL_IF(FAULT_FSYNC, EIO, -1)
    return REAL(fdatasync)(file);
}

PUBLIC int rename(const char *from, const char *to)
{
    FAIL_IF(FAULT_RENAME, EACCES, -1)
    return REAL(rename)(from, to);
}

PUBLIC int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    FAIL_IF(FAULT_RENAME, EACCES, -1)
    return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

PUBLIC int unlink(const char *path)
{
    FAIL_IF(FAULT_UNLINK, EACCES, -1)
    return REAL(unlink)(path);
}

PUBLIC int mkdir(const char *path, mode_t mode)
{
    FAIL_IF(FAULT_OPEN, ENOSPC, -1)
    return REAL(mkdir)(path, mode);
}

#define STAT(name, status_type)                                                                    \
    PUBLIC int name(const char *path, status_type *status)                                         \
    {                                                                                              \
        FAIL_IF(FAULT_STAT, EACCES, -1)                                                            \
        return REAL(name)(path, status);                                                           \
    }
STAT(stat, struct stat)
STAT(stat64, struct stat64)
STAT(lstat, struct stat)

#define FSTAT(name, status_type)                                                                   \
    PUBLIC int name(int file, status_type *status)                                                 \
    {                                                                                              \
        FAIL_IF(FAULT_STAT, EIO, -1)                                                               \
        return REAL(name)(file, status);                                                           \
    }
FSTAT(fstat, struct stat)
FSTAT(fstat64, struct stat64)

PUBLIC int access(const char *path, int mode)
{
    FAIL_IF(FAULT_STAT, EACCES, -1)
    return REAL(access)(path, mode);
}

PUBLIC char *realpath(const char *path, char *resolved)
{
    FAIL_IF(FAULT_STAT, EACCES, NULL)
    return REAL(realpath)(path, resolved);
}

PUBLIC char *getcwd(char *path, size_t bytes)
{
    FAIL_IF(FAULT_STAT, ENOENT, NULL)
    return REAL(getcwd)(path, bytes);
}

/* ---- processes and threads ------------------------------------------------------------------- */

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg)
{
    FAIL_IF(FAULT_THREAD, EAGAIN, EAGAIN)
    return REAL(pthread_create)(thread, attributes, run, arg);
}

PUBLIC pid_t fork(void)
{
    FAIL_IF(FAULT_PROCESS, EAGAIN, -1)
    return REAL(fork)();
}

PUBLIC int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[],
                       char *const environment[])
{
    FAIL_IF(FAULT_PROCESS, EAGAIN, EAGAIN)
    return REAL(posix_spawn)(child, path, actions, attributes, argv, environment);
}

PUBLIC int posix_spawnp(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const argv[],
                        char *const environment[])
{
    FAIL_IF(FAULT_PROCESS, EAGAIN, EAGAIN)
    return REAL(posix_spawnp)(child, path, actions, attributes, argv, environment);
}

PUBLIC int pipe(int ends[2])
{
    FAIL_IF(FAULT_PROCESS, EMFILE, -1)
    return REAL(pipe)(ends);
}

PUBLIC int pipe2(int ends[2], int flags)
{
    FAIL_IF(FAULT_PROCESS, EMFILE, -1)
    return REAL(pipe2)(ends, flags);
}

PUBLIC int socketpair(int domain, int type, int protocol, int ends[2])
{
    FAIL_IF(FAULT_PROCESS, EMFILE, -1)
    return REAL(socketpair)(domain, type, protocol, ends);
}

PUBLIC int memfd_create(const char *name, unsigned flags)
{
    FAIL_IF(FAULT_PROCESS, EMFILE, -1)
    return REAL(memfd_create)(name, flags);
}

PUBLIC ssize_t send(int socket, const void *bytes, size_t count, int flags)
{
    FAIL_IF(FAULT_PROCESS, EPIPE, -1)
    return REAL(send)(socket, bytes, count, flags);
}

PUBLIC int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *cores)
{
    FAIL_IF(FAULT_PROCESS, EINVAL, -1)
    return REAL(sched_setaffinity)(process, bytes, cores);
}

PUBLIC void *dlopen(const char *path, int mode)
{
    FAIL_IF(FAULT_DLOPEN, ENOMEM, NULL)
    inside++;
    void *const object = REAL(dlopen)(path, mode);
    inside--;
    return object;
}

/* ---- SQLite ---------------------------------------------------------------------------------- */

PUBLIC int sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs)
{
    if (fails(FAULT_SQLITE)) {
        *db = NULL;
        return SQLITE_NOMEM;
    }
    return REAL(sqlite3_open_v2)(path, db, flags, vfs);
}

#define PREPARE(name, ...)                                                                         \
    {                                                                                              \
        if (fails(FAULT_SQLITE)) {                                                                 \
            *statement = NULL;                                                                     \
            return SQLITE_IOERR;                                                                   \
        }                                                                                          \
        return REAL(name)(__VA_ARGS__);                                                            \
    }
PUBLIC int sqlite3_prepare_v2(sqlite3 *db, const char *text, int bytes, sqlite3_stmt **statement,
                              const char **rest)
    PREPARE(sqlite3_prepare_v2, db, text, bytes, statement, rest) PUBLIC
    int sqlite3_prepare_v3(sqlite3 *db, const char *text, int bytes, unsigned flags,
                           sqlite3_stmt **statement, const char **rest)
        PREPARE(sqlite3_prepare_v3, db, text, bytes, flags, statement, rest)

            PUBLIC int sqlite3_step(sqlite3_stmt *statement)
{
    if (in_exec == 0 && fails(FAULT_SQLITE))
        return SQLITE_IOERR;
    return REAL(sqlite3_step)(statement);
}

PUBLIC int sqlite3_exec(sqlite3 *db, const char *text, int (*row)(void *, int, char **, char **),
                        void *arg, char **message)
{
    if (fails(FAULT_SQLITE)) {
        if (message != NULL)
            *message = NULL;
        return SQLITE_FULL;
    }
    in_exec++; /* it calls sqlite3_step() for its statements, and takes the result from elsewhere */
    const int result = REAL(sqlite3_exec)(db, text, row, arg, message);
    in_exec--;
    return result;
}

PUBLIC int sqlite3_bind_text(sqlite3_stmt *statement, int at, const char *text, int bytes,
                             void (*done)(void *))
{
    if (fails(FAULT_SQLITE)) {
        (void)sqlite3_bind_null(statement, at);
        return SQLITE_NOMEM;
    }
    return REAL(sqlite3_bind_text)(statement, at, text, bytes, done);
}

PUBLIC const unsigned char *sqlite3_column_text(sqlite3_stmt *statement, int column)
{
    if (fails(FAULT_SQLITE))
        return NULL;
    return REAL(sqlite3_column_text)(statement, column);
}
