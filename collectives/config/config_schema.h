/*
 * config_schema.h: every key that a configuration may have: its type, range, unit, and where its
 * value goes in struct hw_config or struct ccl_config. Tables: the machine's keys
 * (topology.yaml, components.yaml) by their full path; the keys of collectives, which are in
 * ccl.yaml under `defaults` and, each overriding that, in an algorithm's entry; and the keys of
 * what users name: a set under `groups`, a fault under `faults`.
 */
#ifndef COLLECTIVES_CONFIG_SCHEMA_H
#define COLLECTIVES_CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/config/config_ranges.h"
#include "collectives/config/input/config_parse.h"
#include "collectives/config/input/decimal.h"
#include "collectives/config/input/config_source.h"
#include "collectives/config/input/graph_read.h"
#include "collectives/config/input/levels.h"

enum config_type {
    CONFIG_COUNT,   /* a whole number */
    CONFIG_DECIMAL, /* a number, at most 9 decimal places */
    CONFIG_RATE,    /* a number, at most 6 decimal places */
    CONFIG_BOOL,
    CONFIG_CHOICE,  /* one of `choice` */
    CONFIG_NAME,    /* letters, digits, _ and - */
    CONFIG_PLUGIN,  /* a name (one of `choice` if there are any), or ./file.so:symbol */
    CONFIG_ROOT,    /* center, corner or x,y */
    CONFIG_CORNERS, /* a list of different corners */
    CONFIG_WEIGHTS, /* a list of two whole numbers */
    CONFIG_RANKS,   /* a list of whole numbers, one per rank */
    CONFIG_PLACE,   /* s, s.c or s.c.p: a SIP, a cube, a PE; or as CONFIG_RANGES: SIPs */
    CONFIG_PARTS,   /* as CONFIG_PLACE; or a rule that chooses SIPs */
    CONFIG_KINDS,   /* one or more of `choice` */
    CONFIG_LINKS,   /* links by their names, one of `choice`: a kind; or a rule that chooses some */
    CONFIG_SLOWER,  /* a percentage, or a factor: 60, 60%, 1.6x */
    CONFIG_FAILED,  /* true, false or {at_ns: T} */
    CONFIG_RANGES,  /* numbers and ranges of them: 5, 0-15, [1, 3, 5-7, 8-31/2] */
    CONFIG_RANGE,   /* one of them, without a step */
    CONFIG_CALLS,   /* a list of words: calls of the bench `concurrent` */
    CONFIG_SIPS, /* one of `choice`, or a list of levels, which is the choice `levels`; or a graph
                  */
};

/* How a value becomes a field. CONFIG_STORE_HAND: config_fill.c does it, with other values. */
enum config_store {
    CONFIG_STORE_HAND,
    CONFIG_STORE_U32,
    CONFIG_STORE_U64, /* times `scale` */
    CONFIG_STORE_PS,
    CONFIG_STORE_HW_RATE,
    CONFIG_STORE_MILLIONTHS,
    CONFIG_STORE_BOOL,
    CONFIG_STORE_ENUM,
    CONFIG_STORE_TEXT, /* a char array of `scale` bytes */
};

/* Values of `jitter.*.each`: each operation, or each instance, has a draw of its own. */
enum config_draw { CONFIG_DRAW_OPERATION, CONFIG_DRAW_INSTANCE };

/* What in a run reads a key (config_unused.c says whether a run has that). */
enum config_reader {
    CONFIG_READ_BY_NOBODY_YET, /* no row has it */
    CONFIG_READ_ALWAYS,
    CONFIG_READ_AS_LIMIT,  /* it refuses what is larger, and is in no time */
    CONFIG_READ_BY_GRID,   /* of SIPs */
    CONFIG_READ_BY_CUBOID, /* a grid of three dimensions */
    CONFIG_READ_BY_NODE,   /* of kind `of` */
    CONFIG_READ_BY_LINK,   /* of kind `of` */
    CONFIG_READ_BY_BUILT,  /* links of kind `of`; HW_LINK_KINDS: switches */
    CONFIG_READ_BY_DRAWS,  /* random ones */
    CONFIG_READ_BY_SLOTS,  /* in the memory `of` */
    CONFIG_READ_BY_REDUCING_PUTS,
    CONFIG_READ_BY_SUMS_OF_SWITCHES,
    CONFIG_READ_BY_POLLING,
    CONFIG_READ_BY_LL,
    CONFIG_READ_BY_WAITS, /* for tiles or notifications */
    CONFIG_READ_BY_TILES, /* through queues */
    CONFIG_READ_BY_CUTS,  /* which make tiles, or pieces, of what is sent or added */
    CONFIG_READ_BY_TENSOR_CUTS,
    CONFIG_READ_BY_ANY_RECV, /* from any direction */
    CONFIG_READ_BY_CHANNELS, /* PE_DMA's, when both have work */
    CONFIG_READ_BY_WIRING,   /* the machine's own queues */
    CONFIG_READ_BY_ALGORITHM,
    CONFIG_READ_BY_MAPPED, /* an algorithm whose PEs the mapper chooses */
    CONFIG_READ_BY_TENSORS,
    CONFIG_READ_BY_OPTION,  /* the algorithm's hooks read the option `of` (enum ccl_reads) */
    CONFIG_READ_BY_FP8,     /* sums of that type */
    CONFIG_READ_BY_NARROW,  /* sums of a type that is narrower than f32 */
    CONFIG_READ_BY_NO_SIZE, /* the command line names none */
    CONFIG_READ_BY_GROUPS,  /* calls of the set of groups */
    CONFIG_READ_BY_STEPS,   /* their computations */
    CONFIG_READ_BY_FAULT,   /* its own fault, by what that names */
};

enum { CONFIG_OPTIONAL = 1, CONFIG_NOT_IN_DEFAULTS = 2, CONFIG_NOT_IN_ALGORITHM = 4 };

struct config_key {
    const char *path; /* "links.ucie.bw_gbs"; of a key of collectives its name alone */
    const char *min;  /* decimal literals; of a number (of each, in a list) */
    const char *max;  /* inclusive */
    const char *unit; /* "ns", "GB/s"; NULL: a pure number */
    const char *doc;  /* one line for --help and comments */
    /* The name of a choice: of an enumeration's value, of a registry's row; NULL beyond the last.
     */
    const char *(*choice)(uint32_t number);
    uint16_t offset; /* of the field */
    uint8_t type;    /* enum config_type */
    uint8_t store;   /* enum config_store */
    uint8_t flags;
    uint8_t file;   /* enum config_file */
    uint8_t reader; /* enum config_reader */
    uint16_t of;    /* the reader's kind */
    uint32_t scale;
};

#define CONFIG_LIST_MAX 4u

/* A rule that chooses some of many: every `every`th, from the first on; or each with a probability
 * of share_ppb / 10^9. */
struct config_rule {
    enum { CONFIG_RULE_NONE, CONFIG_RULE_EVERY, CONFIG_RULE_RANDOM } kind;
    uint32_t every, share_ppb;
    uint64_t seed;
};

/* The value of one key, checked on its own. */
struct config_value {
    struct config_place place; /* place.source == 0: not given */
    const char *text;          /* canonical, as config_print() writes it */
    struct decimal number;     /* of counts too; the choice's index; 0 or 1 of a bool */
    uint32_t list[CONFIG_LIST_MAX];
    uint32_t
        list_count; /* CONFIG_ROOT: 2 if x,y; CONFIG_PLACE: its parts; CONFIG_RANKS: of ranks */
    const uint16_t *ranks;
    const struct levels *levels;      /* CONFIG_SIPS: NULL unless it is a list */
    const struct graph_source *graph; /* CONFIG_SIPS: NULL unless it is a mapping */
    const struct config_ranges
        *ranges; /* CONFIG_RANGES, CONFIG_RANGE; CONFIG_PLACE: NULL unless SIPs */
    /* CONFIG_CALLS, CONFIG_LINKS: [list_count] scalars; CONFIG_KINDS: too */
    const struct config_node *words;
    struct config_rule rule; /* CONFIG_PARTS, CONFIG_LINKS: kind is not CONFIG_RULE_NONE */
    bool wrong;              /* given and refused: then not given, and no rule complains of that */
};

static inline bool config_given(const struct config_value *value)
{
    return value->place.source != 0;
}

#define CONFIG_MACHINE_KEYS_MAX 352u
#define CONFIG_CCL_KEYS_MAX     48u
#define CONFIG_NAMED_KEYS_MAX   8u

extern const struct config_key config_machine_keys[];
extern const uint32_t config_machine_key_count;
extern const struct config_key config_ccl_keys[];
extern const uint32_t config_ccl_key_count;

/* Mappings from names that users choose to a few keys of each. */
enum config_section { CONFIG_GROUPS, CONFIG_FAULTS, CONFIG_SECTIONS };
struct config_section_row {
    const char *name, *holds, *item; /* "groups", "sets of groups", "set" */
    const struct config_key *keys;
    uint32_t key_count, files; /* files: a bit for each enum config_file that may have it */
};
extern const struct config_section_row config_sections[CONFIG_SECTIONS];

/* Index of the machine's key with this path, of the collectives' key with this name, of the key of
 * a section with this name; or -1. */
int config_machine_find(const char *path);
int config_ccl_find(const char *name);
int config_named_find(enum config_section section, const char *name);
/* The section whose name and a dot begin a path; CONFIG_SECTIONS: none. *rest: what follows. */
enum config_section config_section_of(const char *path, const char **rest);

#endif
