/*
 * build_commit.c: the commit and the flags that the program was built from, set by the build and
 * compiled again when the commit changes. Linked into the program only.
 */
extern const char cw_build_commit[], cw_build_compiler[], cw_build_flags[];
const char cw_build_commit[] = CW_COMMIT;
#ifdef __clang__
const char cw_build_compiler[] = __VERSION__;
#else
const char cw_build_compiler[] = "GCC " __VERSION__;
#endif
const char cw_build_flags[] = CW_FLAGS;
