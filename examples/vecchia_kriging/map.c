/* SPDX-License-Identifier: BSD-3-Clause */
#include "map.h"
#include "canvas.h"
#include "program.h"

#include <math.h>
#include <stdio.h>

enum { PANEL_WIDTH = 1440, MARGIN = 60, TITLE = 84, LEGEND = 110, MAX_TICKS = 8, SAMPLES = 2 };
static const unsigned text_colour = 0x222222, faint_colour = 0x666666;
static const double sea[3] = {0xeb, 0xee, 0xf0};
static const double degree = 3.14159265358979323846 / 180.0;

/* Colours at equal steps, sRGB, and the values at the ends and ticks of the bar, which is linear in
 * the square root. Source of the colours: Smith & van der Walt, viridis and magma, CC0. */
typedef struct {
    const char *title, *unit;
    unsigned colour[10];
    double most, tick[MAX_TICKS];
    int ticks;
} scale_t;
static const scale_t scales[2] = {
    {"Elevation, interpolated between airports",
     "metres above sea level",
     {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b,
      0xfde725},
     4500.0,
     {0, 100, 500, 1000, 2000, 3000, 4500},
     7},
    {"Standard error of the interpolation, and the airports it stands on",
     "metres",
     {0xfcfdbf, 0xfeca8d, 0xfd9668, 0xf1605d, 0xcd4071, 0x9e2f7f, 0x721f81, 0x440f76, 0x180f3d,
      0x000004},
     900.0,
     {0, 10, 50, 100, 200, 400, 600, 900},
     8},
};

static void scale_colour(const scale_t *scale, double value, double rgb[3]) {
    const double place = 9.0 * sqrt(fmin(fmax(value / scale->most, 0.0), 1.0));
    const int low = place < 8.0 ? (int)place : 8;
    for (int k = 0; k < 3; k++) {
        const int shift = 16 - 8 * k;
        const double a = scale->colour[low] >> shift & 0xff;
        const double b = scale->colour[low + 1] >> shift & 0xff;
        rgb[k] = a + (place - low) * (b - a);
    }
}

/* Equal Earth projection: y(theta), and x = longitude * stretch(theta), sin theta = sqrt(3)/2 sin
 * latitude. Source: Savric, Patterson & Jenny, Int. J. Geogr. Inf. Sci. 33, 2019. */
static double ee_y(double theta, double *slope, double *stretch) {
    const double a1 = 1.340264, a2 = -0.081106, a3 = 0.000893, a4 = 0.003796;
    const double t2 = theta * theta, t6 = t2 * t2 * t2;
    *slope = a1 + 3.0 * a2 * t2 + t6 * (7.0 * a3 + 9.0 * a4 * t2);
    *stretch = 2.0 * sqrt(3.0) * cos(theta) / (3.0 * *slope);
    return theta * (a1 + a2 * t2 + t6 * (a3 + a4 * t2));
}

static const double half_width = 2.7066299836, half_height = 1.3173627591;

typedef struct {
    double left, top, scale; /* of the panel in pixels; pixels per unit */
} frame_t;

static void project(const frame_t *frame, double longitude, double latitude, double *x, double *y) {
    double slope, stretch;
    const double height = ee_y(asin(0.5 * sqrt(3.0) * sin(latitude * degree)), &slope, &stretch);
    *x = frame->left + frame->scale * (half_width + longitude * degree * stretch);
    *y = frame->top + frame->scale * (half_height - height);
}

/* Bilinear between the centres of four cells; NaN where one of them is. */
static double sample(const surface_t *s, const float *field, double longitude, double latitude) {
    const double u = (longitude + 180.0) / 360.0 * s->width - 0.5;
    const double v = fmin(fmax((90.0 - latitude) / 180.0 * s->height - 0.5, 0.0), s->height - 1.0);
    const int west = (int)floor(u), north = (int)v < s->height - 1 ? (int)v : s->height - 2;
    const float *upper = field + (ptrdiff_t)north * s->width, *lower = upper + s->width;
    const int a = (west + s->width) % s->width, b = (west + 1) % s->width;
    const double fu = u - west, fv = v - north;
    return (1.0 - fv) * ((1.0 - fu) * upper[a] + fu * upper[b]) +
           fv * ((1.0 - fu) * lower[a] + fu * lower[b]);
}

/* Field value and colour of one sample of the picture; paper beyond the edge of the globe. */
static void shade(const surface_t *surface, const float *field, const scale_t *scale,
                  double longitude, double latitude, double rgb[3]) {
    const int outside = !(fabs(longitude) <= 180.0);
    for (int k = 0; k < 3; k++)
        rgb[k] = outside ? 255.0 : sea[k];
    if (!outside && sample(surface, surface->distance, longitude, latitude) <= SURFACE_REACH_KM)
        scale_colour(scale, sample(surface, field, longitude, latitude), rgb);
}

static void fill(canvas_t *c, const frame_t *frame, const surface_t *surface, const float *field,
                 const scale_t *scale) {
    const int rows = (int)(2.0 * half_height * frame->scale) + 2;
#pragma omp parallel for schedule(dynamic, 16)
    for (int row = 0; row < rows; row++) {
        for (int sub = 0; sub < SAMPLES; sub++) {
            const double height = half_height - (row + (sub + 0.5) / SAMPLES) / frame->scale;
            double theta = 0.75 * height, slope, stretch;
            for (int i = 0; i < 8; i++)
                theta -= (ee_y(theta, &slope, &stretch) - height) / slope;
            ee_y(theta, &slope, &stretch);
            const double latitude = asin(sin(theta) * 2.0 / sqrt(3.0)) / degree;
            for (int x = 0; x < PANEL_WIDTH * SAMPLES; x++) {
                const double east = (x + 0.5) / SAMPLES / frame->scale - half_width;
                const double longitude = isnan(latitude) ? NAN : east / stretch / degree;
                double rgb[3];
                shade(surface, field, scale, longitude, latitude, rgb);
                /* The k-th sample of a pixel weighs 1 / k, which leaves their mean. */
                canvas_set(c, (int)frame->left + x / SAMPLES, (int)frame->top + row, rgb,
                           1.0 / (1 + x % SAMPLES + SAMPLES * sub));
            }
        }
    }
}

static void line_on_globe(canvas_t *c, const frame_t *frame, double longitude, double latitude,
                          double east, double north, double thickness) {
    double x0, y0;
    project(frame, longitude, latitude, &x0, &y0);
    for (int i = 1; i <= 90; i++) {
        double x, y;
        project(frame, longitude + east * i / 90.0, latitude + north * i / 90.0, &x, &y);
        canvas_line(c, x0, y0, x, y, thickness);
        x0 = x;
        y0 = y;
    }
}

static void graticule(canvas_t *c, const frame_t *frame) {
    char label[16];
    for (int longitude = -150; longitude <= 150; longitude += 30)
        line_on_globe(c, frame, longitude, -90.0, 0.0, 180.0, 0.9);
    for (int latitude = -60; latitude <= 60; latitude += 30)
        line_on_globe(c, frame, -180.0, latitude, 360.0, 0.0, 0.9);
    canvas_blend(c, 0x55606a, 0.35);
    line_on_globe(c, frame, -180.0, -90.0, 0.0, 180.0, 1.4);
    line_on_globe(c, frame, 180.0, -90.0, 0.0, 180.0, 1.4);
    line_on_globe(c, frame, -180.0, -90.0, 360.0, 0.0, 1.4);
    line_on_globe(c, frame, -180.0, 90.0, 360.0, 0.0, 1.4);
    canvas_blend(c, 0x55606a, 1.0);
    for (int latitude = -60; latitude <= 60; latitude += 30) {
        double x, y;
        project(frame, -180.0, latitude, &x, &y);
        snprintf(label, sizeof label, "%d\xb0%s", latitude < 0 ? -latitude : latitude,
                 latitude < 0 ? " S" : (latitude > 0 ? " N" : ""));
        canvas_text(c, x - 10.0, y + 4.5, 9.0, 1.2, 1.0, label);
    }
    for (int longitude = -120; longitude <= 120; longitude += 60) {
        double x, y;
        project(frame, longitude, -90.0, &x, &y);
        snprintf(label, sizeof label, "%d\xb0%s", longitude < 0 ? -longitude : longitude,
                 longitude < 0 ? " W" : (longitude > 0 ? " E" : ""));
        canvas_text(c, x, y + 20.0, 9.0, 1.2, 0.5, label);
    }
    canvas_blend(c, faint_colour, 1.0);
}

static void legend(canvas_t *c, const scale_t *scale, double left, double top) {
    const int width = 560, height = 16;
    char label[64];
    for (int x = 0; x < width; x++) {
        double rgb[3];
        const double root = (x + 0.5) / width;
        scale_colour(scale, root * root * scale->most, rgb);
        for (int y = 0; y < height; y++)
            canvas_set(c, (int)left + x, (int)top + y, rgb, 1.0);
    }
    for (int t = 0; t < scale->ticks; t++) {
        const double x = left + width * sqrt(scale->tick[t] / scale->most);
        canvas_line(c, x, top + height, x, top + height + 5.0, 1.2);
        snprintf(label, sizeof label, "%g", scale->tick[t]);
        canvas_text(c, x, top + height + 20.0, 10.0, 1.3, 0.5, label);
    }
    canvas_text(c, left + width + 24.0, top + 13.0, 11.0, 1.4, 0.0, scale->unit);
    snprintf(label, sizeof label, "no airport within %g km", SURFACE_REACH_KM);
    canvas_text(c, left + width + 406.0, top + 13.0, 11.0, 1.4, 0.0, label);
    canvas_blend(c, text_colour, 1.0);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < 28; x++)
            canvas_set(c, (int)left + width + 364 + x, (int)top + y, sea, 1.0);
}

int map_write(const char *path, const surface_t *surface, const airport_t *airport, int airports,
              const char *caption) {
    const double scale = PANEL_WIDTH / (2.0 * half_width);
    const int map_height = (int)ceil(2.0 * half_height * scale) + 1;
    const int panel_height = TITLE + map_height + LEGEND;
    canvas_t c;
    if (canvas_create(&c, PANEL_WIDTH + 2 * MARGIN, 2 * panel_height) != 0)
        return complain("out of memory for the picture");
    for (int panel = 0; panel < 2; panel++) {
        const double top = panel * panel_height;
        const frame_t frame = {MARGIN, top + TITLE, scale};
        fill(&c, &frame, surface, panel == 0 ? surface->elevation : surface->error, &scales[panel]);
        if (panel == 1) {
            for (int i = 0; i < airports; i++) {
                double x, y;
                project(&frame, airport[i].longitude, airport[i].latitude, &x, &y);
                canvas_line(&c, x, y, x, y, 1.0);
            }
            canvas_blend(&c, 0x0b3d5c, 0.55);
        }
        graticule(&c, &frame);
        canvas_text(&c, MARGIN, top + 40.0, 18.0, 2.2, 0.0, scales[panel].title);
        canvas_blend(&c, text_colour, 1.0);
        canvas_text(&c, MARGIN, top + 66.0, 10.0, 1.3, 0.0, caption);
        canvas_blend(&c, faint_colour, 1.0);
        legend(&c, &scales[panel], MARGIN + 60.0, top + TITLE + map_height + 44.0);
    }
    const int failed = canvas_write_png(&c, path);
    canvas_destroy(&c);
    return failed;
}
