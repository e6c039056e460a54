/*
 * fault_shim.h: the kinds of calls that fault_shim.c counts and makes fail, and the counts that it
 * shares with the test that has started the program.
 *
 * FAULT_AT has up to 8 faults, separated by commas: KIND:N, the N-th call of a kind; KIND:N-M, a
 * stretch; KIND:N-, all from the N-th on. Calls are numbered from 1, over all processes of a
 * command. With FAULT_KILLS a fault kills the program's whole process group instead (SIGKILL); with
 * FAULT_SHOWS it prints its stack on standard error.
 */
#ifndef TEST_FAULTS_FAULT_SHIM_H
#define TEST_FAULTS_FAULT_SHIM_H

#include <stdatomic.h>
#include <stdint.h>

enum fault_kind {
    FAULT_MALLOC,
    FAULT_MMAP,
    FAULT_OPEN,
    FAULT_READ,
    FAULT_WRITE,
    FAULT_CLOSE,
    FAULT_FSYNC,
    FAULT_RENAME,
    FAULT_UNLINK,
    FAULT_STAT,
    FAULT_THREAD,
    FAULT_PROCESS,
    FAULT_DLOPEN,
    FAULT_SQLITE,
    FAULT_KINDS
};

/* Their names, in this order. */
#define FAULT_KIND_NAMES                                                                           \
    "malloc", "mmap", "open", "read", "write", "close", "fsync", "rename", "unlink", "stat",       \
        "thread", "process", "dlopen", "sqlite"

struct fault_counts {
    _Atomic(uint64_t) calls[FAULT_KINDS];
    _Atomic(uint64_t) injected; /* calls that were made to fail */
};

#endif
