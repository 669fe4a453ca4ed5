//! The guide and the reference pages agree with the program.

mod errors;
mod guide_blocks;
mod guide_links;
mod guide_size;
mod guide_tables;
mod reference;
