/*
 * left_aside.h: files aside that runs have left which were killed between giving a file its name
 * aside and renaming it (atomic_file.c). Each is one whole file, or on a file system without
 * O_TMPFILE perhaps half a one; no command reads it. A run that writes the same path says so on
 * standard error, and leaves it there: it may be the only result of a long run.
 *
 * A file aside is locked (flock) from its making until its process ends, however it does. So one
 * that nobody has locked is left over, also if its process was another host's or another
 * container's. Where the file system has no locks, nothing is said. Any thread.
 */
#ifndef BENCH_LEFT_ASIDE_H
#define BENCH_LEFT_ASIDE_H

/* Names a file aside: a path, the process and a number. */
#define LEFT_ASIDE_FORMAT "%s.%ld.%d.part"

/* Locks a new file aside, before it has its name if it gets one later. */
void left_aside_lock(int descriptor);
/* Says which files aside of `path`, in the folder `folder`, are left over. */
void left_aside_tell(const char *folder, const char *path);

#endif
