/*
 * link_use.h: the bytes that every link of the machine carried in the latest batches, by the link's
 * name. Host side, between drains; changes nothing.
 */
#ifndef LP_LINK_USE_H
#define LP_LINK_USE_H

#include "lp/model.h"

/* One directed link, over these batches. */
struct lp_link_use {
    const char *place; /* "sip 0 cube 1" */
    const char *kind;  /* "noc": the same pointer for all links of a kind */
    enum lp_links group;
    uint32_t lp, index;                   /* of its owner; its number in the owner's state */
    uint32_t sip;                         /* of its owner; or the switch's number */
    uint32_t cube;                        /* UINT32_MAX: none */
    uint32_t unit;                        /* its port, outlet, router, PE or SIP's link, by group */
    uint32_t number;                      /* of a router, PE, lane or SIP; UINT32_MAX: none */
    enum hw_port port;                    /* HW_PORT_NONE: none */
    char to_switch[HW_SWITCH_TEXT_BYTES]; /* of a link between switches: "switch leaf.1"; else "" */
    char outlet[HW_OUTLET_NAME_BYTES];    /* "": none */
    uint64_t bytes;
    int64_t busy_ps;      /* serialisation of those bytes, and the slowness of a slow link */
    int64_t queue_ps_max; /* the longest that a message waited for it, of whichever account */
    uint32_t alike; /* links of the whole machine that it stands for, itself too: 1, unless the
                       machine is folded. They are those of hw_fold_member() of its SIP */
};

/* Link number `k`, from 0 to alike - 1, of those that a link stands for, each in its own SIP or
 * switch of the whole machine; `lp` and `index` stay the representative's. `place` has room for its
 * place. */
enum { LP_LINK_PLACE_BYTES = 48 };
struct lp_link_use lp_link_member(const struct lp_model *m, const struct lp_link_use *use,
                                  uint32_t k, char place[LP_LINK_PLACE_BYTES]);

/* "sip 0 cube 1 noc router 3 E": links are many, and few are shown. */
void lp_link_name(const struct lp_link_use *use, char *text, size_t bytes);
/* The same without the place: "noc router 3 E". */
void lp_link_own_name(const struct lp_link_use *use, char *text, size_t bytes);

/* The same of link number `number` in the state of an LP, as the causes of events have it. */
void lp_link_name_of(const struct lp_model *m, uint32_t lp, uint32_t number, char *text,
                     size_t bytes);

/* The place at which that link may be late. */
struct hw_jitter_place lp_link_place(const struct lp_model *m, uint32_t lp, uint32_t index);

/* Part `part` of the `parts` parts of the machine: runs of whole SIPs that have LPs, and switches
 * with the last. */
struct lp_links_asked {
    uint32_t first_batch; /* what was sent in it and later ones, */
    uint32_t account;     /* under this account; 0: all */
    uint32_t part, parts;
    uint32_t groups; /* bit g: links of group g; 0: of all groups */
};
_Static_assert(LP_LINK_GROUPS < 31, "a group has a bit");

/* Visits every link of those groups that carried something in those batches. */
void lp_links_visit(const struct lp_model *m, const struct cw_sim *sim, struct lp_links_asked asked,
                    void (*visit)(void *arg, const struct lp_link_use *use), void *arg);

#endif
