/*
 * sweep_emit.c: writes a script for each kind of job array. A task runs its part of the study into
 * its own database. Submitted again, it resumes; a task without open points ends at once.
 */
#include "bench/sweep/sweep_emit.h"

#include <limits.h>
#include <unistd.h>

#include "core/os/program_path.h"

enum {
    CORES_DEFAULT = 4,
    TASK_S = 600,
    TASKS_MAX = 1000,
    MIB = 1 << 20,
    SAFETY_MIB = 256,
    MINUTES_MAX = 365 * 24 * 60
};
/* On top of estimates that are right within a factor of 3. */
#define MEMORY_SAFETY 1.5
#define TIME_SAFETY   4.0

struct emitting {
    FILE *file;
    const struct sweep_plan *plan;
    const struct sweep_options *options;
    char program[PATH_MAX], folder[PATH_MAX];
    char name[64];
    uint32_t tasks, cores;
    uint64_t mib; /* of a task */
    uint32_t minutes;
};

static void measure(struct emitting *emitting)
{
    const struct sweep_plan *const plan = emitting->plan;
    const double seconds = sweep_plan_seconds(plan);
    const uint32_t points = plan->count > 0 ? plan->count : 1;
    double most_bytes = 0, most_s = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct study_estimate *const estimate = &plan->estimates[plan->points[i]];
        most_bytes = (double)estimate->bytes > most_bytes ? (double)estimate->bytes : most_bytes;
        most_s = estimate->seconds > most_s ? estimate->seconds : most_s;
    }
    emitting->cores = emitting->options->jobs > 0 ? emitting->options->jobs : CORES_DEFAULT;
    const double wanted = seconds / ((double)emitting->cores * TASK_S) + 1;
    emitting->tasks = emitting->options->tasks > 0 ? emitting->options->tasks
                      : wanted < TASKS_MAX         ? (uint32_t)wanted
                                                   : TASKS_MAX;
    emitting->tasks = emitting->tasks < points ? emitting->tasks : points;
    const uint32_t each = (points + emitting->tasks - 1) / emitting->tasks;
    emitting->cores = emitting->cores < each ? emitting->cores : each;
    emitting->mib = (uint64_t)(MEMORY_SAFETY * most_bytes * emitting->cores / MIB) + SAFETY_MIB;
    const double minutes =
        TIME_SAFETY * (seconds / emitting->tasks / emitting->cores + most_s) / 60 + 10;
    emitting->minutes = minutes < MINUTES_MAX ? (uint32_t)minutes : MINUTES_MAX;
}

/* A comment that describes the script, in lines that begin with `#`. */
static void put_about(const struct emitting *emitting, const char *submit)
{
    fprintf(emitting->file,
            "# %u points of the study %s in %u tasks, by cubewarp %s.\n"
            "# Submit: %s. After a failure submit it again: finished points do not run again.\n"
            "# Then: cubewarp sweep merge --db %s.sqlite %s.*-of-%u.sqlite\n",
            emitting->plan->count, emitting->plan->study->name, emitting->tasks, CW_VERSION, submit,
            emitting->name, emitting->name, emitting->tasks);
}

/* The line that runs a part, `shard` of --shard. */
static void put_sweep(const struct emitting *emitting, const char *shard)
{
    FILE *const file = emitting->file;
    study_put_word(file, emitting->program);
    fprintf(file, " sweep --shard %s --db ", shard);
    study_put_word(file, emitting->name);
    fprintf(file, ".$TASK-of-%u.sqlite --jobs %u --quiet", emitting->tasks, emitting->cores);
    if (emitting->options->timeout_s > 0)
        fprintf(file, " --point-timeout %.17g", emitting->options->timeout_s);
    if (emitting->options->memory_bytes > 0)
        fprintf(file, " --max-memory %llu", (unsigned long long)emitting->options->memory_bytes);
    if (emitting->options->threads > 0)
        fprintf(file, " --threads %u", emitting->options->threads);
    fputc(' ', file);
    study_put_word(file, emitting->options->study);
    fputc('\n', file);
}

static void put_folder(const struct emitting *emitting)
{
    fputs("set -eu\ncd ", emitting->file);
    study_put_word(emitting->file, emitting->folder);
    fputc('\n', emitting->file);
}

static void put_array(const struct emitting *emitting, const char *task)
{
    char shard[32];
    put_folder(emitting);
    fprintf(emitting->file, "TASK=$%s\nexec ", task);
    snprintf(shard, sizeof shard, "array/%u", emitting->tasks);
    put_sweep(emitting, shard);
}

static void emit_slurm(const struct emitting *emitting)
{
    fprintf(emitting->file,
            "#SBATCH --job-name=%s\n#SBATCH --array=1-%u\n#SBATCH --ntasks=1\n"
            "#SBATCH --cpus-per-task=%u\n#SBATCH --mem=%lluM\n#SBATCH --time=%u\n"
            "#SBATCH --output=%s.%%a.log\n#SBATCH --open-mode=append\n",
            emitting->name, emitting->tasks, emitting->cores, (unsigned long long)emitting->mib,
            emitting->minutes, emitting->name);
    put_about(emitting, "sbatch THIS_FILE");
    put_array(emitting, "SLURM_ARRAY_TASK_ID");
}

static void emit_lsf(const struct emitting *emitting)
{
    fprintf(emitting->file,
            "#BSUB -J \"%s[1-%u]\"\n#BSUB -n %u\n#BSUB -R \"span[hosts=1]\"\n"
            "#BSUB -M %lluMB\n#BSUB -W %u:%02u\n#BSUB -o %s.%%I.log\n",
            emitting->name, emitting->tasks, emitting->cores, (unsigned long long)emitting->mib,
            emitting->minutes / 60, emitting->minutes % 60, emitting->name);
    put_about(emitting, "bsub < THIS_FILE");
    put_array(emitting, "LSB_JOBINDEX");
}

static void emit_sge(const struct emitting *emitting)
{
    fprintf(emitting->file,
            "#$ -N %s\n#$ -t 1-%u\n#$ -pe smp %u\n#$ -l h_vmem=%lluM\n#$ -l h_rt=%u:%02u:00\n"
            "#$ -j y\n#$ -o %s.$TASK_ID.log\n#$ -S /bin/bash\n",
            emitting->name, emitting->tasks, emitting->cores,
            (unsigned long long)(emitting->mib / emitting->cores), emitting->minutes / 60,
            emitting->minutes % 60, emitting->name);
    put_about(emitting, "qsub THIS_FILE");
    put_array(emitting, "SGE_TASK_ID");
}

/* On this machine; --sshloginfile spreads the tasks over others that share the folder. */
static void emit_parallel(const struct emitting *emitting)
{
    char shard[32];
    put_about(emitting, "bash THIS_FILE [OPTION OF PARALLEL]...");
    put_folder(emitting);
    fputs("task() {\n    TASK=$1\n    ", emitting->file);
    snprintf(shard, sizeof shard, "$TASK/%u", emitting->tasks);
    put_sweep(emitting, shard);
    fprintf(
        emitting->file,
        "}\nexport -f task\nexport SHELL=/bin/bash\n"
        "CORES=$(($(nproc) / %u))\n"
        "exec parallel --env task --memfree %lluM --jobs $((CORES > 0 ? CORES : 1)) \"$@\" task "
        "::: $(seq %u)\n",
        emitting->cores, (unsigned long long)emitting->mib, emitting->tasks);
}

int sweep_emit(FILE *file, const struct sweep_plan *plan, const struct sweep_options *options,
               struct cw_error *error)
{
    static void (*const emit[])(const struct emitting *emitting) = {emit_slurm, emit_lsf, emit_sge,
                                                                    emit_parallel};
    struct emitting emitting = {.file = file, .plan = plan, .options = options};
    if (!program_path(emitting.program, sizeof emitting.program) ||
        getcwd(emitting.folder, sizeof emitting.folder) == NULL)
        return cw_error_set(error, CW_NO_RESOURCE,
                            "--emit: the system does not say where the program and this folder "
                            "are");
    snprintf(emitting.name, sizeof emitting.name, "%.60s", plan->study->name);
    measure(&emitting);
    fputs("#!/bin/bash\n", file);
    emit[options->emit - 1](&emitting);
    return CW_OK;
}
