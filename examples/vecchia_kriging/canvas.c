/* SPDX-License-Identifier: BSD-3-Clause */
#include "canvas.h"
#include "program.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Letters as pen strokes: the advance, then strokes of points. A point is a column '0' .. '8' and a
 * height 'a' .. 'n', where 'd' is the base line, 'j' the top of small letters and 'm' of capitals.
 * '~' starts a smooth stroke and '@' a smooth closed one (quadratic B-spline of the points). */
static const char *const glyph[256] = {
    [' '] = "4",
    ['.'] = "1 0d0d",
    [','] = "1 1d0b",
    [':'] = "1 0d0d 0h0h",
    ['-'] = "3 0h3h",
    ['+'] = "4 0h4h 2f2j",
    ['/'] = "4 0b4m",
    ['('] = "2 ~2n0l0c2a",
    [')'] = "2 ~0n2l2c0a",
    ['%'] = "6 @0j2j2m0m @4d6d6g4g 0d6m",
    [0xb0] = "3 @0j3j3m0m",
    ['0'] = "5 @0d5d5m0m",
    ['1'] = "3 0k2m2d",
    ['2'] = "5 ~0k0m5m5i0d 0d5d",
    ['3'] = "5 ~0l1m5m5i2i ~2i5i5d1d0e",
    ['4'] = "5 4d4m0g5g",
    ['5'] = "5 5m1m0i ~0i1j5j5d1d0e",
    ['6'] = "5 ~5l4m0m0h0f @0d5d5i0i",
    ['7'] = "5 0m5m2d",
    ['8'] = "5 @0i5i5m0m @0d5d5i0i",
    ['9'] = "5 ~0e1d5d5i5k @0h5h5m0m",
    ['A'] = "6 0d3m6d 1g5g",
    ['B'] = "5 3d0d0m3m 0i3i ~3m5m5i3i ~3i5i5d3d",
    ['C'] = "6 ~6l5m0m0d5d6e",
    ['D'] = "6 2d0d0m2m ~2m6m6d2d",
    ['E'] = "5 5d0d0m5m 0i4i",
    ['F'] = "5 0d0m5m 0i4i",
    ['G'] = "6 ~6l5m0m0d6d6h 6h3h",
    ['H'] = "6 0d0m 6d6m 0i6i",
    ['I'] = "0 0d0m",
    ['J'] = "4 ~0f0d4d4g 4g4m",
    ['K'] = "5 0d0m 5m0h 2i5d",
    ['L'] = "5 0m0d5d",
    ['M'] = "7 0d0m 0m3f 4f7m 3f4f 7m7d",
    ['N'] = "6 0d0m6d6m",
    ['O'] = "7 @0d7d7m0m",
    ['P'] = "5 0d0m3m ~3m5m5h3h 3h0h",
    ['Q'] = "7 @0d7d7m0m 4f7c",
    ['R'] = "5 0d0m3m ~3m5m5h3h 3h0h 3h5d",
    ['S'] = "5 ~5l4m0m0i5i5d1d0e",
    ['T'] = "6 0m6m 3m3d",
    ['U'] = "6 0m0g ~0g0d6d6g 6g6m",
    ['V'] = "6 0m3d6m",
    ['W'] = "8 0m2d4l6d8m",
    ['X'] = "6 0m6d 6m0d",
    ['Y'] = "6 0m3h6m 3h3d",
    ['Z'] = "5 0m5m0d5d",
    ['a'] = "5 @0d5d5j0j 5j5d",
    ['b'] = "5 0m0d @0d5d5j0j",
    ['c'] = "5 ~5i4j0j0d4d5e",
    ['d'] = "5 5m5d @0d5d5j0j",
    ['e'] = "5 0g5g ~5g5j0j0d4d5e",
    ['f'] = "3 ~3m1m1j 1j1d 0j3j",
    ['g'] = "5 @0d5d5j0j 5j5d ~5d5a1a0b",
    ['h'] = "5 0m0d ~0h1j5j5g 5g5d",
    ['i'] = "0 0j0d 0l0l",
    ['j'] = "1 1j1d ~1d1a0a 1l1l",
    ['k'] = "4 0m0d 4j0f 1g4d",
    ['l'] = "0 0m0d",
    ['m'] = "8 0j0d ~0h1j4j4g 4g4d ~4h5j8j8g 8g8d",
    ['n'] = "5 0j0d ~0h1j5j5g 5g5d",
    ['o'] = "5 @0d5d5j0j",
    ['p'] = "5 0j0a @0d5d5j0j",
    ['q'] = "5 5j5a @0d5d5j0j",
    ['r'] = "3 0j0d ~0h1j3j",
    ['s'] = "4 ~4i3j0j0g4g4d1d0e",
    ['t'] = "3 1m1f ~1f1d3d 0j3j",
    ['u'] = "5 0j0g ~0g0d4d5f 5j5d",
    ['v'] = "4 0j2d4j",
    ['w'] = "8 0j2d4j6d8j",
    ['x'] = "4 0j4d 4j0d",
    ['y'] = "4 0j2d 4j1a",
    ['z'] = "4 0j4j0d4d",
};
enum { CAPITAL = 'm' - 'd', LETTER_GAP = 2, MAX_POINTS = 16, CURVE_STEPS = 6 };

int canvas_create(canvas_t *c, int width, int height) {
    const size_t pixels = (size_t)width * (size_t)height;
    *c = (canvas_t){width, height, malloc(3 * pixels), calloc(pixels, sizeof *c->ink), height, 0};
    if (c->pixel == NULL || c->ink == NULL) {
        canvas_destroy(c);
        return 1;
    }
    memset(c->pixel, 0xff, 3 * pixels);
    return 0;
}

void canvas_destroy(canvas_t *c) {
    free(c->pixel);
    free(c->ink);
    *c = (canvas_t){0};
}

void canvas_line(canvas_t *c, double x0, double y0, double x1, double y1, double thickness) {
    const double reach = 0.5 * thickness + 1.0, dx = x1 - x0, dy = y1 - y0;
    const double squared = dx * dx + dy * dy;
    const int left = (int)fmax(fmin(x0, x1) - reach, 0.0);
    const int right = (int)fmin(fmax(x0, x1) + reach + 1.0, c->width);
    const int top = (int)fmax(fmin(y0, y1) - reach, 0.0);
    const int bottom = (int)fmin(fmax(y0, y1) + reach + 1.0, c->height);
    for (int y = top; y < bottom; y++) {
        for (int x = left; x < right; x++) {
            const double px = x + 0.5 - x0, py = y + 0.5 - y0;
            const double t =
                squared > 0.0 ? fmin(fmax((px * dx + py * dy) / squared, 0.0), 1.0) : 0.0;
            const double distance = hypot(px - t * dx, py - t * dy);
            const double cover = fmin(fmax(0.5 * thickness + 0.5 - distance, 0.0), 1.0);
            float *ink = c->ink + (size_t)y * (size_t)c->width + x;
            *ink = fmaxf(*ink, (float)cover);
        }
    }
    c->top = top < c->top ? top : c->top;
    c->bottom = bottom > c->bottom ? bottom : c->bottom;
}

/* One stroke; returns where the next one starts in the glyph. */
static const char *stroke(canvas_t *c, const char *s, double x, double y, double unit,
                          double thickness) {
    double px[MAX_POINTS], py[MAX_POINTS];
    int n = 0;
    const int closed = *s == '@', smooth = closed || *s == '~';
    for (s += smooth; *s != '\0' && *s != ' '; s += 2, n++) {
        px[n] = x + unit * (s[0] - '0');
        py[n] = y - unit * (s[1] - 'd');
    }
    if (!smooth) {
        for (int i = 1; i < n; i++)
            canvas_line(c, px[i - 1], py[i - 1], px[i], py[i], thickness);
        return s;
    }
    for (int i = closed ? 0 : 1; i < (closed ? n : n - 1); i++) {
        const int before = (i + n - 1) % n, after = (i + 1) % n;
        const double from = !closed && i == 1 ? 0.0 : 0.5, to = !closed && i == n - 2 ? 1.0 : 0.5;
        const double ax = px[before] + from * (px[i] - px[before]);
        const double ay = py[before] + from * (py[i] - py[before]);
        const double bx = px[i] + to * (px[after] - px[i]), by = py[i] + to * (py[after] - py[i]);
        double lastx = ax, lasty = ay;
        for (int k = 1; k <= CURVE_STEPS; k++) {
            const double t = (double)k / CURVE_STEPS, u = 1.0 - t;
            const double qx = u * u * ax + 2.0 * u * t * px[i] + t * t * bx;
            const double qy = u * u * ay + 2.0 * u * t * py[i] + t * t * by;
            canvas_line(c, lastx, lasty, qx, qy, thickness);
            lastx = qx;
            lasty = qy;
        }
    }
    return s;
}

void canvas_text(canvas_t *c, double x, double y, double size, double thickness, double align,
                 const char *text) {
    const double unit = size / CAPITAL;
    int width = -LETTER_GAP;
    for (const char *t = text; *t != '\0'; t++)
        if (glyph[(unsigned char)*t] != NULL)
            width += glyph[(unsigned char)*t][0] - '0' + LETTER_GAP;
    x -= align * width * unit;
    for (; *text != '\0'; text++) {
        const char *s = glyph[(unsigned char)*text];
        if (s == NULL)
            continue;
        const double advance = unit * (*s++ - '0' + LETTER_GAP);
        while (*s == ' ')
            s = stroke(c, s + 1, x, y, unit, thickness);
        x += advance;
    }
}

void canvas_set(canvas_t *c, int x, int y, const double rgb[3], double opacity) {
    unsigned char *pixel = c->pixel + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
    for (int k = 0; k < 3; k++)
        pixel[k] = (unsigned char)(pixel[k] + opacity * (rgb[k] - pixel[k]) + 0.5);
}

void canvas_blend(canvas_t *c, unsigned rgb, double opacity) {
    const double colour[3] = {rgb >> 16 & 0xff, rgb >> 8 & 0xff, rgb & 0xff};
    for (int y = c->top; y < c->bottom; y++) {
        float *ink = c->ink + (size_t)y * (size_t)c->width;
        for (int x = 0; x < c->width; x++) {
            if (ink[x] > 0.0f)
                canvas_set(c, x, y, colour, opacity * ink[x]);
            ink[x] = 0.0f;
        }
    }
    c->top = c->height;
    c->bottom = 0;
}

int canvas_write_png(const canvas_t *c, const char *path) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)c->width,
                       .height = (png_uint_32)c->height,
                       .format = PNG_FORMAT_RGB};
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return complain("cannot write '%s': %s", path, strerror(errno));
    const int written = png_image_write_to_stdio(&image, file, 0, c->pixel, 0, NULL);
    if (fclose(file) != 0 || !written)
        return complain("'%s' could not be written in full: %s", path,
                        written ? strerror(errno) : image.message);
    return 0;
}
