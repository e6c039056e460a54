/*
 * fuzz_main.c: libFuzzer's entries: the environment's FUZZ_FORMAT names the format. With an entry
 * for mutations, libFuzzer leaves all of them to it; its own are then one choice among others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room); /* libFuzzer's */

static const struct fuzz_format *format;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    const char *const name = getenv("FUZZ_FORMAT");
    for (size_t i = 0; name != NULL && fuzz_format_at(i) != NULL; i++)
        if (strcmp(fuzz_format_at(i)->name, name) == 0)
            format = fuzz_format_at(i);
    if (format != NULL)
        return 0;
    fprintf(stderr, "%s: FUZZ_FORMAT names one of:", (*argv)[0]);
    for (size_t i = 0; fuzz_format_at(i) != NULL; i++)
        fprintf(stderr, " %s", fuzz_format_at(i)->name);
    fputc('\n', stderr);
    exit(CW_USAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    format->once(data, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    struct fuzz_mutation mutation = {.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1,
                                     .bytes = LLVMFuzzerMutate};
    if (format->mutate == NULL || fuzz_draw(&mutation, 4) == 0)
        return LLVMFuzzerMutate(data, size, room);
    return format->mutate(&mutation, data, size, room);
}
