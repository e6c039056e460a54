/*
 * data_check.h: whether a record can be carried out (data_pass.h). A record may come from a file,
 * so nothing of it is taken for granted.
 */
#ifndef COLLECTIVES_DATA_CHECK_H
#define COLLECTIVES_DATA_CHECK_H

#include "collectives/data/data_operand.h"

/* CW_OK, or why the record is impossible. It changes nothing. The sender of a put may be a cube of
 * another worker: a landing that has not come is looked into between drains only. */
int data_check(const struct data_site *site, const struct lp_op *op, struct cw_error *error);
/* Always CW_BUG, with the operation and its fault. */
int data_impossible(const struct data_pass *pass, const struct lp_op *op, struct cw_error *error,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A PE's name of a direction, which is below HW_DIRS_MAX. */
const char *data_dir_name(const struct data_pass *pass, uint32_t pe, uint8_t dir);

#endif
