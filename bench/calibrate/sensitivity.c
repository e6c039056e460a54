/*
 * sensitivity.c: the columns of the Jacobian, each of length 1, span a matrix of their cosines. An
 * eigenvalue near 0 belongs to a combination of keys that moves hardly any row: the keys in it are
 * not told apart. The inverse of the same matrix gives the standard errors.
 */
#include "bench/calibrate/sensitivity.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 60 };
/* Two keys count as not told apart from a cosine of 0.98 on; a key is in a combination with a share
 * of 0.25 or more. A key that moves times by less than this part of a percent moves nothing. */
static const double confused = 0.02, share_least = 0.25, moves_least = 1e-4;

typedef double matrix[PARAMETERS_MAX][PARAMETERS_MAX];

/* Turns rows and columns p and q of a symmetric matrix so that a[p][q] becomes 0. */
static void rotate(matrix a, matrix vectors, uint32_t count, uint32_t p, uint32_t q)
{
    const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (uint32_t i = 0; i < count; i++) {
        const double ip = a[i][p], iq = a[i][q];
        a[i][p] = c * ip - s * iq;
        a[i][q] = s * ip + c * iq;
    }
    for (uint32_t i = 0; i < count; i++) {
        const double pi = a[p][i], qi = a[q][i];
        a[p][i] = c * pi - s * qi;
        a[q][i] = s * pi + c * qi;
    }
    for (uint32_t i = 0; i < count; i++) {
        const double ip = vectors[i][p], iq = vectors[i][q];
        vectors[i][p] = c * ip - s * iq;
        vectors[i][q] = s * ip + c * iq;
    }
}

/* Jacobi's method: afterwards the diagonal has the eigenvalues, `vectors` a column for each. */
static void diagonalise(matrix a, matrix vectors, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++)
            vectors[i][k] = i == k;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (uint32_t p = 0; p < count; p++)
            for (uint32_t q = p + 1; q < count; q++)
                if (fabs(a[p][q]) > 1e-15)
                    rotate(a, vectors, count, p, q);
}

/* The lengths of the columns as changes of a time, and the cosines between those that move any.
 * index[]: which; returns how many. */
static uint32_t cosines_of(const double *jacobian, uint32_t row_count, uint32_t count,
                           double *moves, uint32_t *index, matrix cosines)
{
    uint32_t moving = 0;
    for (uint32_t p = 0; p < count; p++) {
        double squares = 0;
        for (uint32_t r = 0; r < row_count; r++)
            squares += jacobian[r * count + p] * jacobian[r * count + p];
        moves[p] = row_count > 0 ? sqrt(squares / row_count) : 0;
        if (moves[p] >= moves_least)
            index[moving++] = p;
    }
    for (uint32_t i = 0; i < moving; i++)
        for (uint32_t k = 0; k < moving; k++) {
            double product = 0;
            for (uint32_t r = 0; r < row_count; r++)
                product += jacobian[r * count + index[i]] * jacobian[r * count + index[k]];
            cosines[i][k] = product / (row_count * moves[index[i]] * moves[index[k]]);
        }
    return moving;
}

static void add_confusion(struct sensitivity *sensitivity, const uint32_t *index, uint32_t moving,
                          matrix vectors, uint32_t column, double value)
{
    struct confusion *const confusion = &sensitivity->confusions[sensitivity->confusion_count++];
    confusion->left = sqrt(fmax(0, value));
    for (uint32_t i = 0; i < moving; i++)
        confusion->has[index[i]] = fabs(vectors[i][column]) >= share_least;
}

void sensitivity_of(const double *jacobian, uint32_t row_count, uint32_t count, double squares,
                    struct sensitivity *sensitivity)
{
    matrix cosines, vectors;
    uint32_t index[PARAMETERS_MAX];
    memset(sensitivity, 0, sizeof *sensitivity);
    const uint32_t moving =
        cosines_of(jacobian, row_count, count, sensitivity->moves, index, cosines);
    const double variance = row_count > count ? squares / (row_count - count) : HUGE_VAL;
    diagonalise(cosines, vectors, moving);
    for (uint32_t p = 0; p < count; p++)
        sensitivity->spread[p] = HUGE_VAL;
    for (uint32_t i = 0; i < moving; i++) {
        double inverse = 0;
        for (uint32_t k = 0; k < moving; k++)
            inverse += vectors[i][k] * vectors[i][k] / fmax(cosines[k][k], 1e-12);
        const double length = sensitivity->moves[index[i]];
        sensitivity->spread[index[i]] = 100 * sqrt(variance * inverse / row_count) / length;
    }
    for (uint32_t k = 0; k < moving; k++)
        if (cosines[k][k] < confused)
            add_confusion(sensitivity, index, moving, vectors, k, cosines[k][k]);
}
