/*
 * failing_memory.h: core/os/memory.c on an allocator that fails when it is told to, and that
 * counts the memory that has not been given back. Linked before the library, it stands in for
 * core/os/memory.c.
 *
 * For tests in one thread (explorer.h): nothing here is atomic.
 */
#ifndef TEST_STRESS_FAILING_MEMORY_H
#define TEST_STRESS_FAILING_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* From now on the n-th allocation fails, counted from 1; and, if `for_good`, all after it. 0: none
 * does. */
void failing_memory_arm(uint64_t n, bool for_good);

/* Allocations since failing_memory_arm(), failed ones too. */
uint64_t failing_memory_count(void);

/* Memory that has been allocated, ever, and not been freed: blocks, and bytes of mappings. */
uint64_t failing_memory_blocks(void);
uint64_t failing_memory_mapped(void);

#endif
