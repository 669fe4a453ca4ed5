use super::*;
use placet_text::conversation::TokenUsage;

fn laid(text: &str) -> (CatalogFile, Vec<CatalogProblem>) {
    let mut file = shipped();
    let problems = file.lay_over(text);
    (file, problems)
}

#[test]
fn the_built_in_file_has_no_mistakes_and_a_date() {
    let mut file = CatalogFile::default();
    assert_eq!(file.lay_over(SHIPPED), Vec::new());
    assert_eq!(file.date.len(), "2026-11".len());
    let ids: Vec<&str> = ["anthropic", "openai", "gemini", "deepseek", "groq", "mistral", "xai"]
        .into_iter()
        .flat_map(|provider| file.section(provider).map(|(id, _)| id))
        .collect();
    assert!(ids.len() > 20, "{ids:?}");
    for preset in ProviderPreset::all() {
        let section = preset.catalog.as_deref().unwrap_or(&preset.name);
        if let Some(model) = &preset.default_model {
            let known = file.find(section, model).unwrap_or_else(|| panic!("{model}"));
            assert!(known.price.is_some() && known.window.is_some(), "{model}");
        }
    }
}

#[test]
fn a_model_is_known_by_its_exact_id_and_by_nothing_like_it() {
    let file = shipped();
    let known = file.find("anthropic", "claude-sonnet-4-5").unwrap();
    assert_eq!(file.find("anthropic", "claude-sonnet-4-5-20250929"), Some(known));
    for (provider, model) in [
        ("anthropic", "claude-sonnet-4-5-20991231"),
        ("anthropic", "claude-sonnet"),
        ("anthropic", "Claude-Sonnet-4-5"),
        ("openai", "claude-sonnet-4-5"),
        ("openai", "gpt-5-something"),
        ("nobody", "gpt-5"),
    ] {
        assert_eq!(file.find(provider, model), None, "{provider} {model}");
    }
    assert_eq!(ModelLimits::of("nobody", "gpt-5"), ModelLimits::UNKNOWN);
    let sonnet = ModelLimits { window: 200_000, max_output: 64_000, vision: true };
    assert_eq!(ModelLimits::of("anthropic", "claude-sonnet-4-5"), sonnet);
    assert_eq!(ModelLimits::of("openai-chat", "gpt-5"), ModelLimits::of("openai", "gpt-5"));
    let oss = ModelLimits { window: 131_072, max_output: 65_536, vision: false };
    assert_eq!(ModelLimits::of("groq", "openai/gpt-oss-120b"), oss);
    // The longest answer is not known, so a careful one is asked for.
    let grok = ModelLimits { window: 500_000, max_output: 8_192, vision: true };
    assert_eq!(ModelLimits::of("xai", "grok-4.5"), grok);
    assert_eq!(ModelLimits::of("mistral", "mistral-large-latest"), ModelLimits::UNKNOWN);
}

#[test]
fn the_cost_of_a_request_is_exact_and_unknown_where_a_price_is() {
    let file = shipped();
    let cost =
        |provider: &str, model: &str, usage: TokenUsage| file.find(provider, model).unwrap().cost(&usage);
    let usage = TokenUsage {
        input: 1_000,
        output: 2_000,
        cache_read: 30_000,
        cache_write: 400,
        ..TokenUsage::default()
    };
    // 3 + 30 + 9 + 1.5 thousandths of a dollar.
    assert_eq!(cost("anthropic", "claude-sonnet-4-5", usage), Some(Money::from_micros(43_500)));
    assert_eq!(cost("xai", "grok-4.5", usage), None, "no price of it is known");
    assert_eq!(cost("openai", "gpt-5", usage), None, "this vendor has no price for writing the cache");
    let read = TokenUsage { cache_write: 0, ..usage };
    assert_eq!(cost("openai", "gpt-5", read), Some(Money::from_micros(1_250 + 20_000 + 3_750)));
    assert_eq!(cost("deepseek", "deepseek-v4-pro", usage), None);
    let short = TokenUsage { input: 200_000, ..TokenUsage::default() };
    assert_eq!(cost("gemini", "gemini-2.5-pro", short), Some(Money::from_micros(250_000)));
    let long = TokenUsage { cache_read: 1, ..short };
    assert_eq!(cost("gemini", "gemini-2.5-pro", long).map(Money::picos), Some(500_000_250_000));
    let endless = TokenUsage { input: u64::MAX, ..TokenUsage::default() };
    assert_eq!(cost("openai", "gpt-5", endless), None);
}

#[test]
fn a_sum_of_many_small_costs_loses_nothing() {
    let file = shipped();
    let nano = file.find("openai", "gpt-5-nano").unwrap();
    let one = TokenUsage { cache_read: 1, ..TokenUsage::default() };
    let total: Money = (0..1_000_000).filter_map(|_| nano.cost(&one)).sum();
    assert_eq!(total, Money::from_micros(5_000));
}

#[test]
fn the_persons_file_overrules_field_by_field_and_its_mistakes_are_told() {
    let (file, problems) = laid(
        r#"
        [anthropic."claude-sonnet-4-5-20250929"]
        window = 1_000_000
        [mine.local]
        window = 65536
        price = { input = 0, output = 0 }
        [mine.typo]
        windw = 1
        [mine.none]
        window = 100
        max_output = 100
        [mine.negative]
        price = { input = -1 }
        "#,
    );
    let sonnet = file.find("anthropic", "claude-sonnet-4-5").unwrap();
    assert_eq!((sonnet.window, sonnet.max_output), (Some(1_000_000), Some(64_000)));
    let local = file.find("mine", "local").unwrap();
    assert_eq!(local.cost(&TokenUsage { input: 5, output: 5, ..TokenUsage::default() }), Some(Money::ZERO));
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].starts_with("[mine.\"negative\"]: a price is a number of dollars"), "{told:?}");
    assert_eq!(told[1], "[mine.\"none\"]: `max_output` must be less than `window`");
    assert!(told[2].starts_with("[mine.\"typo\"]: unknown field `windw`"), "{told:?}");
    assert_eq!(file.find("mine", "typo"), None);
    assert_eq!(laid("[").1.len(), 1);
}

#[test]
fn amounts_are_shown_without_hiding_small_ones() {
    for (micros, shown) in [
        (0, "$0.00"),
        (40, "<$0.0001"),
        (51, "$0.0001"),
        (43_500, "$0.0435"),
        (999_960, "$1.0000"),
        (1_234_567, "$1.23"),
        (12_345_678_901, "$12345.68"),
    ] {
        assert_eq!(Money::from_micros(micros).to_string(), shown);
    }
}

#[test]
fn the_tables_of_one_provider_are_those_of_the_whole_file() {
    let whole = shipped();
    for provider in
        ["anthropic", "openai", "gemini", "deepseek", "groq", "mistral", "xai", "none", "open", ""]
    {
        let mut alone = CatalogFile::default();
        assert_eq!(alone.lay_over(&shipped_section(provider)), []);
        let (alone, expected): (Vec<_>, Vec<_>) =
            (alone.section(provider).collect(), whole.section(provider).collect());
        assert_eq!(alone, expected, "{provider}");
        let is_known = SHIPPED.contains(&format!("\n[{provider}."));
        assert_eq!(!alone.is_empty(), is_known, "{provider}");
    }
}
