/* SPDX-License-Identifier: BSD-3-Clause */
/* A small raster with smooth strokes and stroked text, written as PNG. */
#ifndef CANVAS_H
#define CANVAS_H

typedef struct {
    int width, height;
    unsigned char *pixel; /* 3 x width x height, sRGB */
    float *ink;           /* coverage of what is being drawn, 0 .. 1 */
    int top, bottom;      /* rows that have ink: top .. bottom - 1 */
} canvas_t;

/* White; nonzero if there is no memory. */
int canvas_create(canvas_t *c, int width, int height);
void canvas_destroy(canvas_t *c);

/* Ink for a line of this thickness with round ends; all lengths in pixels, y down. */
void canvas_line(canvas_t *c, double x0, double y0, double x1, double y1, double thickness);

/* Ink for a text whose capitals are `size` pixels high, on the base line y; align 0 starts at x,
 * 0.5 centres, 1 ends there. ASCII letters, digits, some punctuation and 0xb0 (degree). */
void canvas_text(canvas_t *c, double x, double y, double size, double thickness, double align,
                 const char *text);

/* Colours the ink so far and starts anew. */
void canvas_blend(canvas_t *c, unsigned rgb, double opacity);

void canvas_set(canvas_t *c, int x, int y, const double rgb[3], double opacity);

/* Nonzero after one sentence on stderr. */
int canvas_write_png(const canvas_t *c, const char *path);

#endif
