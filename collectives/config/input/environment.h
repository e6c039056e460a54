/*
 * environment.h: the environment variables that cubewarp reads: all of them, and the only place
 * that reads any. A variable that changes results is a layer of the configuration: the loader puts
 * it over the files and the options, so that the digest covers it and `cubewarp config` names it
 * as a value's place. The others change where files are, or how much a run says.
 */
#ifndef COLLECTIVES_ENVIRONMENT_H
#define COLLECTIVES_ENVIRONMENT_H

#include <stdbool.h>

enum environment_name {
    ENVIRONMENT_CONFIGS,       /* CUBEWARP_CONFIGS: the folder of the shipped files */
    ENVIRONMENT_BIRS_ENABLE,   /* CUBEWARP_BIRS_ENABLE: birs_enable, true or false */
    ENVIRONMENT_CCL_TRACE,     /* CUBEWARP_CCL_TRACE: 1 is --ccl-trace - */
    ENVIRONMENT_CHECK_CHANGES, /* CUBEWARP_CHECK_CHANGES: set, handlers' changes are checked */
    ENVIRONMENT_DEBUG,         /* CUBEWARP_DEBUG: set, doubtful calls of the host are warned of */
    ENVIRONMENT_SHORTCUTS,     /* CUBEWARP_SHORTCUTS: off, a run simulates all of itself */
    ENVIRONMENT_STACK_KIB,     /* CUBEWARP_STACK_KIB: a rank's stack */
    ENVIRONMENT_DATA_HOME,     /* XDG_DATA_HOME: where the history of throughput is kept */
    ENVIRONMENT_HOME,          /* HOME: where, without XDG_DATA_HOME */
    ENVIRONMENT_SLURM_ID,      /* SLURM_ARRAY_TASK_ID */
    ENVIRONMENT_SLURM_MIN,     /* SLURM_ARRAY_TASK_MIN */
    ENVIRONMENT_SLURM_MAX,     /* SLURM_ARRAY_TASK_MAX */
    ENVIRONMENT_SLURM_STEP,    /* SLURM_ARRAY_TASK_STEP */
    ENVIRONMENT_SLURM_COUNT,   /* SLURM_ARRAY_TASK_COUNT */
    ENVIRONMENT_LSF_ID,        /* LSB_JOBINDEX */
    ENVIRONMENT_LSF_END,       /* LSB_JOBINDEX_END */
    ENVIRONMENT_LSF_STEP,      /* LSB_JOBINDEX_STEP */
    ENVIRONMENT_SGE_ID,        /* SGE_TASK_ID */
    ENVIRONMENT_SGE_FIRST,     /* SGE_TASK_FIRST */
    ENVIRONMENT_SGE_LAST,      /* SGE_TASK_LAST */
    ENVIRONMENT_SGE_STEP,      /* SGE_TASK_STEPSIZE */
    ENVIRONMENT_PBS_ID,        /* PBS_ARRAY_INDEX */
    ENVIRONMENT_NAMES
};

/* One variable: its name, and one line of help that says which values mean something. */
struct environment_variable {
    const char *name, *doc;
};
extern const struct environment_variable environment_variables[ENVIRONMENT_NAMES];

/* The name of the i-th variable of the environment that begins as cubewarp's do and is none of
 * them, up to its '='; NULL: there are fewer. */
const char *environment_unknown(unsigned i);

/* The variable of cubewarp's own that such a name may be meant for; NULL: none is near. */
const char *environment_meant(const char *unknown);

/* A variable that is set for other software, where one of cubewarp's *own does the same here. NULL:
 * there is none. */
const char *environment_foreign(const char **own);

/* The variable's text, NULL if it is not set. The text is the environment's own. */
const char *environment_get(enum environment_name name);
/* Whether the variable is set to exactly this text. */
bool environment_is(enum environment_name name, const char *text);

/* A variable that says yes or no: true, yes, on, 1 or false, no, off, 0, in upper or lower case. An
 * empty one is not set. */
enum environment_answer { ENVIRONMENT_UNSET, ENVIRONMENT_YES, ENVIRONMENT_NO, ENVIRONMENT_NEITHER };
#define ENVIRONMENT_ANSWERS "true, yes, on or 1, or false, no, off or 0, in any case"
enum environment_answer environment_answer(enum environment_name name);

#endif
