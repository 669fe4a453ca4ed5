//! Scales a picture down row by row.
//!
//! The crate `image` uses a temporary picture of four floating-point numbers a pixel, which exceeds the memory limit of
//! a picture. This implementation stores a single row of such numbers. The filter is a triangle, as wide as two pixels
//! of the smaller picture.

use image::{DynamicImage, GrayImage, RgbImage, RgbaImage};

/// The picture with its longer side reduced to `side`, which is at most the present length; the shorter side has at
/// least one pixel.
pub(super) fn resized(pixels: &DynamicImage, side: u32) -> DynamicImage {
    let longest = f64::from(pixels.width().max(pixels.height()));
    let scaled = |length: u32| ((f64::from(length) * f64::from(side) / longest).round() as u32).max(1);
    let (width, height) = (scaled(pixels.width()), scaled(pixels.height()));
    let bytes = |channels| smaller(pixels, channels, (width, height));
    match pixels {
        DynamicImage::ImageLuma8(_) => {
            GrayImage::from_raw(width, height, bytes(1)).unwrap_or_default().into()
        }
        DynamicImage::ImageRgba8(_) => {
            RgbaImage::from_raw(width, height, bytes(4)).unwrap_or_default().into()
        }
        // Pictures have one of these three types once their channels have eight bits.
        _ => RgbImage::from_raw(width, height, bytes(3)).unwrap_or_default().into(),
    }
}

/// The pixels of one line that contribute to a pixel of the smaller picture: the first of them, and the weight of each.
struct PixelWeights {
    first: usize,
    weights: Vec<f32>,
}

fn weights(from: u32, to: u32) -> Vec<PixelWeights> {
    let ratio = f64::from(from) / f64::from(to);
    let reach = ratio.max(1.0);
    let of = |pixel: u32| {
        let centre = (f64::from(pixel) + 0.5) * ratio - 0.5;
        let first = (centre - reach).ceil().max(0.0) as usize;
        let last = ((centre + reach).floor() as usize).min(from.saturating_sub(1) as usize);
        let weight = |at: usize| (1.0 - (at as f64 - centre).abs() / reach).max(0.0);
        let sum: f64 = (first..=last).map(weight).sum();
        let weights = (first..=last).map(|at| (weight(at) / sum) as f32).collect();
        PixelWeights { first, weights }
    };
    (0..to).map(of).collect()
}

fn smaller(pixels: &DynamicImage, channels: usize, (width, height): (u32, u32)) -> Vec<u8> {
    let stride = pixels.width() as usize * channels;
    let (across, down) = (weights(pixels.width(), width), weights(pixels.height(), height));
    let mut out = Vec::with_capacity(width as usize * height as usize * channels);
    let mut line = vec![0.0_f32; stride];
    for row in &down {
        line.fill(0.0);
        let rows = pixels.as_bytes().chunks_exact(stride.max(1)).skip(row.first);
        for (bytes, weight) in rows.zip(&row.weights) {
            line.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum += f32::from(*byte) * weight);
        }
        for pixel in &across {
            let start = pixel.first * channels;
            let part = line.get(start..start + pixel.weights.len() * channels).unwrap_or_default();
            for channel in 0..channels {
                let values = part.iter().skip(channel).step_by(channels);
                let sum: f32 = values.zip(&pixel.weights).map(|(value, weight)| value * weight).sum();
                out.push(sum.clamp(0.0, 255.0).round() as u8);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::imageops::FilterType;

    #[test]
    fn the_result_is_that_of_the_crate_image() {
        let byte = |n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8;
        let rgb =
            RgbImage::from_fn(97, 61, |x, y| image::Rgb([byte(x * 61 + y), (x * 2) as u8, (y * 4) as u8]));
        let pictures: [DynamicImage; 3] = [
            rgb.clone().into(),
            DynamicImage::from(rgb.clone()).into_luma8().into(),
            RgbaImage::from_fn(40, 90, |x, y| image::Rgba([byte(x), byte(y), byte(x + y), byte(x ^ y)]))
                .into(),
        ];
        for picture in pictures {
            for side in [90, 64, 31, 5, 1] {
                let side = side.min(picture.width().max(picture.height()));
                let ours = resized(&picture, side);
                let theirs = picture.resize_exact(ours.width(), ours.height(), FilterType::Triangle);
                assert_eq!(ours.color(), theirs.color());
                let pairs = ours.as_bytes().iter().zip(theirs.as_bytes());
                let most = pairs.map(|(a, b)| a.abs_diff(*b)).max();
                assert!(most.is_some_and(|most| most <= 1), "{side}: {most:?}");
            }
        }
    }
}
