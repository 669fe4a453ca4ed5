//! Pages of the web.

pub(super) mod fetch_url;
mod html;
mod page;
mod pages;

pub use pages::WebPages;
