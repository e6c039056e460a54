/*
 * give_back.h: memory that this thread has freed goes back to the system at once. The allocator
 * would keep it for later, and the end of the process would give it back on one thread.
 */
#ifndef CORE_GIVE_BACK_H
#define CORE_GIVE_BACK_H

/* Without the allocator that the program is linked with (jemalloc), it does nothing. */
void give_back_freed(void);

#endif
