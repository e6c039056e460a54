/*
 * picture_json.h: a picture as JSON, member "picture" of a result, and back. Links with equal kind,
 * count and use are one object, and so are cubes of SIPs with equal use:
 *
 *   {"topology": "torus_2d", "caption": "..", "directions": "..", "sips": 16, "switches": 0,
 * "paired": false, "dims": [{"joint": "ring", "size": 4}, ..], "cube_grid": [4, 4], "root": 10,
 * "pes": 8, "time_ns": 7450.669, "kinds": [{"kind": "sip_link", "gbs": 100, "latency_ns": 20}],
 * "links": [{"kind": "sip_link", "count": 1, "bytes": 4096, "busy_ns": 40.96, "busy_share": 0.0055,
 * "longest_queue_ns": 0, "at": "0>1 1>2"}], "cubes": [{"sips": "0-15", "work_ns": [..], "end_ns":
 * [..]}]}
 *
 * "switch_kinds": [{"kind": "leaf", "count": 8}, ..] is present where a graph names its switches,
 * and "failed": true in links that have failed.
 *
 * "at": sender > receiver, nodes as picture_node_name() writes them; a link of a cube ends with the
 * cube's side: "0.1>0.2E". "cubes" is present only with use.
 *
 * A picture that was written and read again is drawn the same, byte for byte.
 */
#ifndef BENCH_DRAW_PICTURE_JSON_H
#define BENCH_DRAW_PICTURE_JSON_H

#include <jansson.h>

#include "bench/draw/picture.h"

/* NULL: out of memory. */
json_t *picture_json(const struct picture *picture);

/* NULL, with *error filled: out of memory (CW_NO_RESOURCE), or the JSON is not a picture
 * (CW_USAGE; the message names the member and its legal values). */
struct picture *picture_from_json(const json_t *object, struct cw_error *error);

#endif
