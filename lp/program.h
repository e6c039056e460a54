/*
 * program.h: what a SIP's io_cpu carries out by itself (lp/fabric/sequencer.h): operations with
 * dependencies among them, each of which launches kernels on PEs of the SIP (hw/HARDWARE.md,
 * "Programs"). The host makes the programs of all SIPs before the machine, adds their launches
 * between drains, and begins them. Const while the engine runs.
 */
#ifndef LP_PROGRAM_H
#define LP_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lp_program_kind {
    LP_PROGRAM_KERNELS, /* is over when its kernels have ended; without any, at once */
    LP_PROGRAM_SEND,    /* asks the other SIP, and launches its kernels when that grants it */
    LP_PROGRAM_RECEIVE, /* launches its kernels when it has been asked; one of a SIP at a time */
    LP_PROGRAM_MEET,    /* is over when the program of each member has come to it; no kernels */
    LP_PROGRAM_TIME     /* is over after time_ps; no kernels */
};

/* An operation of another SIP. */
struct lp_program_place {
    uint32_t sip, op;
};

struct lp_program_op {
    uint8_t kind;   /* enum lp_program_kind */
    uint8_t turn;   /* 1 + a number below program->turns: of those with one number, a SIP has one
                       in flight at a time, the first in the program's order of those that may
                       begin; 0: of none */
    uint32_t needs; /* ends and beginnings of others before it begins */
    uint32_t first_next, next_count;     /* in program->next: those that need its end, */
    uint32_t first_after, after_count;   /* and those that need its beginning */
    int64_t time_ps;                     /* of a TIME */
    struct lp_program_place other;       /* SEND, RECEIVE: the other end. MEET: the first member */
    uint32_t first_member, member_count; /* of the first member of a MEET: in places; itself too */
    uint32_t first_run, run_count;       /* in runs */
};

/* A launch on PEs `stride` apart. */
struct lp_program_run {
    uint32_t launch, pe, count, stride;
};

/* Of one SIP. */
struct lp_program_of_sip {
    struct lp_program_op *ops; /* [count] */
    uint32_t count;
    uint32_t *next;
    struct lp_program_run *runs; /* [run_count], added by the machine */
    uint32_t run_count, run_capacity;
};

struct lp_program {
    struct lp_program_of_sip *sip; /* [lp_model.sips] of those SIPs that have LPs */
    struct lp_program_place *members;
    bool free_control; /* launches, completions and questions between SIPs take no time */
    bool meets;     /* some operation is a MEET; what its members say to each other takes no time */
    uint32_t turns; /* as lp_needs.turns */
    /* For reports: "layer forward, microbatch 3 on rank 5". Returns text. */
    const char *(*name)(void *arg, uint32_t sip, uint32_t op, char *text, size_t size);
    void *arg;
};

/* When an operation was carried out. */
struct lp_program_times {
    int64_t start_ps, end_ps; /* -1: not yet. Start: its launches began to be sent */
};

#endif
