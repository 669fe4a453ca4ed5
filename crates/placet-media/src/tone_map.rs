//! Tone mapping: converts pictures of unbounded brightness to eight bits.

use image::{DynamicImage, Rgb32FImage, RgbImage, RgbaImage};

/// Converts any picture to eight bits a channel; floating point is tone-mapped.
pub(super) fn eight_bit(image: DynamicImage) -> DynamicImage {
    match image {
        DynamicImage::ImageRgb32F(light) => DynamicImage::ImageRgb8(mapped(&light)),
        DynamicImage::ImageRgba32F(light) => {
            // First, so that the floating-point picture can be dropped before there is another picture.
            let (width, alphas) = (light.width(), light.pixels().map(|p| unit(p.0[3])).collect::<Vec<u8>>());
            let colours = mapped(&DynamicImage::ImageRgba32F(light).into_rgb32f());
            let at = |x: u32, y: u32| u64::from(y) * u64::from(width) + u64::from(x);
            let alpha = |x: u32, y: u32| {
                let at = usize::try_from(at(x, y)).ok();
                at.and_then(|at| alphas.get(at)).copied().unwrap_or(255)
            };
            let image = RgbaImage::from_fn(colours.width(), colours.height(), |x, y| {
                let [r, g, b] = colours.get_pixel_checked(x, y).map_or([0; 3], |p| p.0);
                image::Rgba([r, g, b, alpha(x, y)])
            });
            plain(DynamicImage::ImageRgba8(image))
        }
        DynamicImage::ImageLuma16(_) => DynamicImage::ImageLuma8(image.into_luma8()),
        DynamicImage::ImageRgb16(_) => DynamicImage::ImageRgb8(image.into_rgb8()),
        DynamicImage::ImageLumaA16(_) | DynamicImage::ImageRgba16(_) | DynamicImage::ImageLumaA8(_) => {
            plain(DynamicImage::ImageRgba8(image.into_rgba8()))
        }
        DynamicImage::ImageRgba8(_) => plain(image),
        other => other,
    }
}

/// Removes an alpha channel without information.
fn plain(image: DynamicImage) -> DynamicImage {
    match image {
        DynamicImage::ImageRgba8(pixels) if pixels.pixels().all(|p| p.0[3] == 255) => {
            let (width, height) = pixels.dimensions();
            let mut bytes = pixels.into_raw();
            drop_every_fourth(&mut bytes);
            RgbImage::from_raw(width, height, bytes).unwrap_or_default().into()
        }
        other => other,
    }
}

/// In place, because a second picture would exceed the memory limit of decoding.
pub(super) fn drop_every_fourth(bytes: &mut Vec<u8>) {
    let mut number = 0_u8;
    bytes.retain(|_| {
        number = (number + 1) % 4;
        number != 0
    });
}

/// Reinhard's operator, extended so that the brightest light becomes white; light within the display's range is
/// only encoded. (Reinhard and others, "Photographic tone reproduction for digital images", 2002, equation 4.)
fn mapped(light: &Rgb32FImage) -> RgbImage {
    let finite = |v: f32| if v.is_finite() { v.max(0.0) } else { 0.0 };
    let luminance = |p: &[f32; 3]| 0.2126 * finite(p[0]) + 0.7152 * finite(p[1]) + 0.0722 * finite(p[2]);
    let white = light.pixels().map(|p| luminance(&p.0)).fold(0.0, f32::max);
    RgbImage::from_fn(light.width(), light.height(), |x, y| {
        let pixel = light.get_pixel_checked(x, y).map_or([0.0; 3], |p| p.0);
        let bright = luminance(&pixel);
        let scale = match white > 1.0 && bright > 0.0 {
            true => (1.0 + bright / (white * white)) / (1.0 + bright),
            false => 1.0,
        };
        image::Rgb(pixel.map(|v| encoded(finite(v) * scale)))
    })
}

/// Linear light as sRGB (IEC 61966-2-1).
fn encoded(linear: f32) -> u8 {
    let value = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    unit(value)
}

fn unit(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}
