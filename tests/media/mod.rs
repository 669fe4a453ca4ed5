//! Pictures and PDF files.

mod hostile_pictures;
mod image_forms;
mod image_read;
mod pdf;
mod picture_damage;
mod picture_entrances;
