/*
 * left_aside.h: temporary files left by runs that were killed between naming a temporary file and
 * renaming it (atomic_file.c). Each is a whole file, or on a file system without O_TMPFILE perhaps
 * half of one; no command reads it. A run that writes the same path says so on standard error, and
 * leaves it there: it may be the only result of a long run.
 *
 * A temporary file is locked (flock) from its creation until its process ends, in whatever way. So
 * one that nobody has locked is left over, even if its process ran on another host or in another
 * container. Where the file system has no locks, nothing is said. Any thread.
 */
#ifndef BENCH_LEFT_ASIDE_H
#define BENCH_LEFT_ASIDE_H

/* The name of a temporary file: a path, the process and a number. */
#define LEFT_ASIDE_FORMAT "%s.%ld.%d.part"

/* Locks a new temporary file, before it has its name if it gets one later. */
void left_aside_lock(int descriptor);
/* Says which temporary files for `path`, in the folder `folder`, are left over. */
void left_aside_report(const char *folder, const char *path);

#endif
