/*
 * fabric.h: the links inside a cube and out of it: its NoC, its ports, the links to its memories
 * and PEs. Each lp_cross function advances a flight over links of this LP and reserves them.
 * Handlers only.
 */
#ifndef LP_FABRIC_H
#define LP_FABRIC_H

#include "lp/lp_view.h"

/* Sends a transfer to `to_lp`, to be there at flight->tau_ps. */
void lp_forward(struct cw_ctx *ctx, uint32_t to_lp, enum lp_event_type type,
                struct lp_sender sender, const struct lp_transfer *transfer,
                const struct hw_flight *flight);

/* The same to another SIP, a switch or the host. `entity`: the sender's, as it is seen there. */
void lp_forward_out(struct cw_ctx *ctx, uint32_t to_lp, enum lp_event_type type,
                    struct lp_sender sender, uint32_t entity, const struct lp_transfer *transfer,
                    const struct hw_flight *flight);

/* A flight ends without an event; noted if the causes are traced. */
void lp_flight_ended(struct cw_ctx *ctx, struct lp_sender sender, const struct hw_flight *flight);

/* A flight has just crossed a link, whose record is emitted if the host wants it; NULL: it reserved
 * none. `rate`: of the link. Called on the slow path only (hw_config.watched). */
void lp_link_crossed(struct cw_ctx *ctx, const struct lp_model *m, uint32_t lp, uint32_t index,
                     struct hw_rate rate, const struct hw_flight *flight,
                     const struct hw_link *link);

/* How late a flight is on link number `index` of this cube. */
int64_t lp_late_ps(const struct lp_view *view, const struct hw_flight *flight,
                   enum hw_link_kind kind, uint32_t index);

/* From a UCIe port into the cube, to the port's router. */
void lp_cross_in(struct lp_view *view, struct hw_flight *flight, enum hw_port port);
void lp_cross_noc(struct lp_view *view, struct hw_flight *flight, uint32_t from, uint32_t to);
/* router -> pe_dma or pe_cpu; and pe_dma -> router. */
void lp_cross_pe_in(struct lp_view *view, struct hw_flight *flight, uint32_t pe,
                    enum hw_node_kind node);
void lp_cross_pe_out(struct lp_view *view, struct hw_flight *flight, uint32_t pe);
/* router -> memory; `pe` names the HBM slice. */
void lp_cross_to_memory(struct lp_view *view, struct hw_flight *flight, uint32_t router,
                        enum hw_memory memory, uint32_t pe);
/* memory -> router; returns when the tail has left the memory's own link, the first. */
int64_t lp_cross_from_memory(struct lp_view *view, struct hw_flight *flight, uint32_t router,
                             enum hw_memory memory, uint32_t pe);
/* Slot access: the last byte of a tile of `bytes` is at PE_DMA. Then the tile goes into its slot,
 * and holds the memory's link for all of that time. */
void lp_write_slot(struct lp_view *view, struct hw_flight *flight, uint32_t pe, uint32_t bytes)
    __attribute__((noinline, cold));
void lp_cross_tcm(struct lp_view *view, struct hw_flight *flight, uint32_t pe);
void lp_cross_m_cpu(struct lp_view *view, struct hw_flight *flight, bool to_m_cpu);
/* From `router` by `port` over the link out of the cube: to a cube or the IO die. */
void lp_cross_out(struct lp_view *view, struct hw_flight *flight, uint32_t router,
                  enum hw_port port, bool to_io_die);
/* PE_DMA's overhead when data leaves it. */
int64_t lp_dma_out_ps(const struct lp_view *view, uint32_t pe, uint64_t operation);

/* A message from a PE to the host, issued now by its pe_cpu. */
void lp_send_to_host(struct lp_view *view, uint32_t pe, enum lp_transfer_kind kind,
                     uint32_t launch);

/* Time of 0 bytes between PE_DMA and a memory of its cube, without the two ends' overheads. */
int64_t lp_memory_way_ps(const struct lp_model *m, uint32_t pe, enum hw_memory memory,
                         uint32_t slice);
/* The same, noted as steps of the flight; `with_node`: including the memory's own node. */
void lp_note_memory_way(const struct lp_model *m, uint32_t pe, enum hw_memory memory,
                        uint32_t slice, bool with_node);
/* The router of a memory; `slice`: of HBM. */
uint32_t lp_memory_router(const struct lp_model *m, enum hw_memory memory, uint32_t slice);
enum hw_link_kind lp_memory_link(enum hw_memory memory);
enum hw_node_kind lp_memory_node(enum hw_memory memory);

#endif
