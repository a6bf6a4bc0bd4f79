// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the similarity of a picture and its source, luma only. PSNR: 10 log10(255^2 / MSE).
// SSIM: Wang et al. 2004 with 8x8 windows at a stride of 4 pixels and uniform weights, as in x264
// and FFmpeg's filter.
#ifndef WEIR_MEDIA_PICTURE_QUALITY_H
#define WEIR_MEDIA_PICTURE_QUALITY_H

#include "common/base/decls.h"
#include "media/picture/picture.h"

DECLS_BEGIN

double quality_mse_y(const struct picture *a, const struct picture *b);  // same size
double quality_ssim_y(const struct picture *a, const struct picture *b); // same size, >= 8x8
double quality_psnr(double mse); // dB; equal pictures give the maximum, 100; NaN gives NaN

DECLS_END
#endif
