/*
 * maps.h: the maps of virtual addresses to the PEs' HBM slices (hw/HARDWARE.md, "Blocks of a PE").
 * The host owns the table: it adds a map when a tensor is made, and drops it when the tensor is
 * freed. A map holds for some PEs of one SIP, its holders. It holds at a PE from the moment at
 * which its MmuMapMsg has taken effect there (lp_pe.mapped); a map without a message holds at once.
 *
 * Invariant: the maps of a SIP are sorted by address and do not overlap. The host writes between
 * drains; while the engine runs the table is const, and any thread reads.
 */
#ifndef LP_MAPS_H
#define LP_MAPS_H

#include <stdbool.h>
#include <stdint.h>

/* Whose part is where: part i begins at va + i * bytes. */
enum lp_map_parts {
    LP_MAP_ALIKE,   /* one part: the same address on each holder */
    LP_MAP_BY_CUBE, /* i is the cube: its PEs map their own copies */
    LP_MAP_BY_PE    /* i is cube * pes + pe */
};

struct lp_map {
    uint64_t va;    /* of part 0 */
    uint64_t pa;    /* byte offset of a holder's part in its HBM slice */
    uint64_t bytes; /* of a part; the map ends there, to the byte */
    uint32_t sip;
    uint32_t message; /* number of its MmuMapMsg, ascending; 0: it needs none */
    uint32_t first_cube, cubes, first_pe, pes; /* its holders */
    enum lp_map_parts parts;
};

struct lp_maps;

struct lp_maps *lp_maps_create(uint32_t sips, uint32_t pes_per_cube); /* NULL: out of memory */
void lp_maps_free(struct lp_maps *maps);                              /* accepts NULL */
bool lp_maps_add(struct lp_maps *maps, const struct lp_map *map);     /* false: out of memory */
/* Drops the map that begins at this address, if there is one. */
void lp_maps_drop(struct lp_maps *maps, uint32_t sip, uint64_t va);

/* The map of a SIP in which a part begins at or before the address, and none of a later map does;
 * NULL: there is none. */
const struct lp_map *lp_maps_find(const struct lp_maps *maps, uint32_t sip, uint64_t va);
/* The i-th map of a SIP, in the order of addresses; NULL: there are fewer. */
const struct lp_map *lp_maps_at(const struct lp_maps *maps, uint32_t sip, uint32_t i);

bool lp_map_is_held(const struct lp_map *map, uint32_t cube, uint32_t pe);
/* The address of a holder's part. */
uint64_t lp_map_va(const struct lp_maps *maps, const struct lp_map *map, uint32_t cube,
                   uint32_t pe);

#endif
