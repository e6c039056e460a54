/*
 * build_commit.c: which commit the program was built from; told by the build, and compiled again
 * when that changes. Linked into the program only.
 */
extern const char cw_build_commit[];
const char cw_build_commit[] = CW_COMMIT;
