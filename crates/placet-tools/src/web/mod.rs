//! Pages of the web.

mod answer_wait;
pub(super) mod fetch_url;
mod html;
mod html_code;
mod html_cost;
mod html_join;
mod html_table;
mod model_search;
mod page;
mod page_tree;
mod pages;
mod search_answer;
mod search_engine;
pub(super) mod search_web;

pub use pages::WebPages;
pub use search_engine::{SearchEngine, SearchSetupError};
pub use search_web::SEARCH_WEB;
