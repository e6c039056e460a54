/*
 * survey.h: what a report shows, as a plain model between readers and writers: points (one result
 * document each: a run, or a point of a study), rows (one size of one point), axes (in which rows
 * differ), engine logs and throughput histories.
 *
 *   readers  survey_result.c, survey_study.c, survey_log.c fill it;
 *            survey_finish() sorts the axes' values, chooses x and makes the series;
 *   writers  page.c (HTML), sheet.c (CSV, Markdown), plots.c (gnuplot), pareto.c (SVG) read it.
 *
 * Units are in the names of fields and in survey_figures[]. An unknown figure is NAN. Texts are as
 * they are in the files: writers escape them. One thread. No function here fails: when memory runs
 * out, `no_memory` is set, which survey_finish() reports.
 */
#ifndef BENCH_SURVEY_H
#define BENCH_SURVEY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cw.h"

enum { SURVEY_AXES_MAX = 48 };

enum survey_figure {
    FIGURE_TIME,
    FIGURE_ALGBW,
    FIGURE_BUSBW,
    FIGURE_EFFICIENCY,
    FIGURE_BOUND,
    FIGURE_MEASURED,
    FIGURE_ERROR,
    FIGURE_CREDIT_WAIT,
    FIGURE_HOST_TIME,
    FIGURE_MOVED,
    FIGURE_TIME_COST,
    FIGURE_JOULES,
    FIGURE_JOULES_PER_BYTE,
    FIGURE_LINKS, /* these three of the machine */
    FIGURE_COST,
    FIGURE_WATTS,
    FIGURE_EVENTS, /* from here on: of the whole point, the same in its rows */
    FIGURE_EVENT_RATE,
    FIGURE_WALL,
    FIGURE_MEMORY,
    SURVEY_FIGURES
};

struct survey_figure_row {
    const char *key;   /* in CSV, JSON and links */
    const char *label; /* for people */
    const char *unit;  /* "" : none */
    int better;        /* -1: less is better, 1: more is, 0: neither */
};
extern const struct survey_figure_row survey_figures[SURVEY_FIGURES];

/* Where an axis comes from; the order is that in which axes name a series. */
enum survey_axis_kind {
    AXIS_STUDY,   /* an axis of a study */
    AXIS_TAG,     /* --tag */
    AXIS_RESULT,  /* of the result itself: algorithm, dtype, ... */
    AXIS_CHANGED, /* a key that differs from the shipped configuration */
    AXIS_MACHINE, /* counts that follow from the configuration */
    AXIS_SIZE,    /* bytes, bytes per rank: only one of them is the size */
    AXIS_SOURCE,  /* the point's name, where nothing else distinguishes two points */
};

struct survey_value {
    char *text;
    double number; /* NAN: the text is none */
};

struct survey_axis {
    char *name;
    enum survey_axis_kind kind;
    struct survey_value *values; /* sorted by survey_finish() */
    uint32_t count, room;
    uint32_t *found;     /* while reading: values by their hash, open addressing; index plus 1 */
    uint32_t found_room; /* a power of 2, or 0 */
    bool is_numeric;     /* all values are numbers */
    bool is_bytes;       /* numbers of bytes */
    bool varies;         /* rows differ in it */
    bool of_points;      /* the rows of one point never do */
    bool is_series;      /* names the series, beside the axis of sizes */
};

struct survey_phase {
    const char *name;
    double min_us, mean_us, max_us;
};

struct survey_link_kind {
    const char *name;
    double links, bytes, busy; /* busy: share of the time, 0 to 1 */
};

struct survey_row {
    size_t point;
    uint32_t axis[SURVEY_AXES_MAX]; /* value's index plus 1; 0: the row has none */
    double figure[SURVEY_FIGURES];
    const char *not_run;                     /* why this size was not run; NULL: it was */
    const char *bound_by;                    /* NULL: unknown */
    int64_t wrong, ranks_differ, not_finite; /* elements; -1: not verified */
    struct survey_phase *phases;
    size_t phase_count;
    struct survey_link_kind *kinds;
    size_t kind_count;
    const json_t *explain; /* where time goes, as the result has it; NULL: not asked for */
    uint32_t series;       /* UINT32_MAX: in none, since it was not run */
};

enum survey_state {
    STATE_DONE,
    STATE_FAILED,
    STATE_TIMEOUT,
    STATE_REFUSED,
    STATE_INTERRUPTED,
    STATE_PENDING
};
extern const char *const survey_state_names[];

struct survey_point {
    const char *label;  /* short and unique among the points */
    const char *source; /* the file */
    enum survey_state state;
    const char *message;      /* of a failure; NULL: none */
    double seconds;           /* wall time; NAN: unknown */
    const char *command;      /* the line that runs it alone; NULL: see provenance */
    int64_t tries;            /* 0: unknown */
    const json_t *document;   /* the result; NULL: there is none */
    const json_t *provenance; /* NULL: none */
    const json_t *picture;    /* the machine with the use of its links; NULL: none */
    size_t first_row, row_count;
    uint32_t axis[SURVEY_AXES_MAX]; /* values that all of its rows have; as in struct survey_row */
};

struct survey_study {
    const char *source, *name, *about, *created, *version, *commit; /* NULL: unknown */
    int64_t points_planned; /* including points that have not run; of this part, if the database
                               holds one part */
    int64_t shards;         /* parts of the study; 1: the database holds all of it */
    size_t first_point, point_count;
};

/* A CSV of `run --engine-log`. */
enum survey_log_column {
    LOG_WALL,
    LOG_GVT,
    LOG_COMMITTED,
    LOG_PROCESSED,
    LOG_UNDONE,
    LOG_MEMORY,
    LOG_IDLE,
    LOG_COLUMNS
};
struct survey_log {
    const char *source;
    double *values; /* LOG_COLUMNS of each round: s, ps, events, events, events, bytes, share */
    size_t count, room;
};

/* One case of a perf history over its runs, oldest first. */
struct survey_measure {
    int64_t run;
    const char *started, *commit;
    double median, least, most; /* events per second */
    bool disturbed;             /* at least half of its rounds were */
    int64_t events;             /* that were simulated; 0: unknown */
    const char *results;        /* simulated times and hashes; "": unknown */
    bool changed;               /* events or results differ from the previous run's */
};
struct survey_case {
    const char *source, *name, *host;
    struct survey_measure *measures;
    size_t count, room;
};

/* What the newest run of a history says of a case, worst first. */
enum survey_verdict_kind {
    VERDICT_SLOWER,
    VERDICT_MISSED,    /* a goal is not met */
    VERDICT_CHANGED,   /* other simulated results, lately */
    VERDICT_DISTURBED, /* half of the newest run's rounds, or more */
    VERDICT_FASTER,
    VERDICT_STEADY,
    VERDICT_NEW, /* too few runs for a verdict */
    VERDICTS
};
extern const char *const survey_verdict_names[VERDICTS];
struct survey_verdict {
    enum survey_verdict_kind kind;
    const char *name, *why, *goals; /* of the case; since when; figures beside goals, or "" */
    double median, least, most;     /* events per second in the newest run */
    size_t rounds, disturbed, runs;
};
/* The runs that were judged: the newest run's machine and set. */
struct survey_night {
    const char *source, *set, *host, *started, *commit;
    size_t runs;
    const char *fault;   /* why there are no verdicts; NULL: there are */
    size_t first, count; /* of `verdicts` */
};

struct survey_series {
    const char *name; /* "" where there is one only */
    size_t *rows;     /* by x */
    size_t count, room;
};

struct survey_block;

struct survey {
    struct survey_point *points;
    struct survey_row *rows;
    struct survey_study *studies;
    struct survey_log *logs;
    struct survey_case *cases;
    struct survey_night *nights;
    struct survey_verdict *verdicts;
    struct survey_series *series;
    size_t point_count, point_room, row_count, row_room, study_count, study_room, log_count,
        log_room, case_count, case_room, night_count, night_room, verdict_count, verdict_room,
        series_count, series_room;
    struct survey_axis axes[SURVEY_AXES_MAX];
    size_t axis_count;
    size_t axes_dropped; /* beyond SURVEY_AXES_MAX */
    int x;               /* the axis of the curves; -1: none */
    json_t **documents;  /* that points refer to */
    size_t document_count, document_room;
    struct survey_block *blocks;
    bool no_memory;
};

void survey_init(struct survey *survey);
void survey_free(struct survey *survey);

/* ---- for readers: storage that lives as long as the survey ----------------------------------- */

/* Zeroed; NULL: no_memory is set. */
void *survey_alloc(struct survey *survey, size_t bytes);
/* NULL stays NULL. */
char *survey_text(struct survey *survey, const char *text);
char *survey_print(struct survey *survey, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Takes over the reference and returns it. NULL: the reference was released, and no_memory is
 * set. */
json_t *survey_keep(struct survey *survey, json_t *document);
/* Appends a zeroed element of `bytes` to a growing list. NULL: no_memory is set. */
void *survey_more(struct survey *survey, void *list, size_t *count, size_t *room, size_t bytes);

struct survey_point *survey_point_add(struct survey *survey, const char *label, const char *source);
/* Belongs to the last point. */
struct survey_row *survey_row_add(struct survey *survey);
/* Sets the value of a row or a point (its member `axis`) on an axis, which is added if it is
 * new. */
void survey_put(struct survey *survey, uint32_t axis[SURVEY_AXES_MAX], const char *name,
                enum survey_axis_kind kind, const char *text);
void survey_put_number(struct survey *survey, uint32_t axis[SURVEY_AXES_MAX], const char *name,
                       enum survey_axis_kind kind, double number);

/* ---- between readers and writers ------------------------------------------------------------- */

/* The index of an axis by name; -1: there is none. */
int survey_axis_find(const struct survey *survey, const char *name);
/* A row's value; NULL: it has none. */
const struct survey_value *survey_value_of(const struct survey *survey, const uint32_t *axis,
                                           size_t index);
/* Whether each row that ran has a value on an axis. */
bool survey_axis_is_whole(const struct survey *survey, size_t index);
/* Whether any row of a series has a figure. */
bool survey_has(const struct survey *survey, enum survey_figure figure);
/* A row's place on x; NAN: none. */
double survey_x_of(const struct survey *survey, const struct survey_row *row);

#endif
