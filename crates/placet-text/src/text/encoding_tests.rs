use super::*;
use proptest::prelude::*;

fn seen(bytes: &[u8]) -> Result<(TextEncoding, bool), NotText> {
    DetectedEncoding::of(bytes).map(|d| (d.encoding, d.stray))
}

#[test]
fn each_encoding_is_known_by_its_bytes() {
    let gbk = GBK.encode("// 这是一个测试文件\nint main() { return 0; } // 结束\n").0.into_owned();
    let sjis = SHIFT_JIS.encode("// これはテストです\nint main() {}\n").0.into_owned();
    let latin = WINDOWS_1252.encode("// café, naïve – “déjà vu”\nprintf(\"ça\");\n").0.into_owned();
    let wide = TextEncoding::Utf16Le.encode("plain words\r\n").unwrap().into_owned();
    let wide_be = TextEncoding::Utf16Be.encode("plain words\r\n").unwrap().into_owned();
    for (bytes, encoding, stray) in [
        (b"plain\n".to_vec(), TextEncoding::Utf8, false),
        ("žluťoučký\n".as_bytes().to_vec(), TextEncoding::Utf8, false),
        (b"\xEF\xBB\xBFmarked\n".to_vec(), TextEncoding::Utf8, false),
        (gbk, TextEncoding::Gbk, false),
        (sjis, TextEncoding::ShiftJis, false),
        (latin, TextEncoding::Windows1252, false),
        (wide.clone(), TextEncoding::Utf16Le, false),
        (wide_be, TextEncoding::Utf16Be, false),
        ([vec![0xFF, 0xFE], wide].concat(), TextEncoding::Utf16Le, false),
        ("über \u{20ac} ".bytes().chain(*b"and \xE9\xFF here\n").collect(), TextEncoding::Utf8, true),
        (b"\x81\x8D\x8F\x90 odd \x9D\n".to_vec(), TextEncoding::Utf8, true),
    ] {
        assert_eq!(seen(&bytes), Ok((encoding, stray)), "{:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn data_is_not_text() {
    assert_eq!(seen(b"abc\0def"), Err(NotText::Nul { at: 3 }));
    assert_eq!(seen(b"\xFF\xFE\0\0a\0\0\0"), Err(NotText::Utf32));
    let noise: Vec<u8> = (0..2000u32).map(|i| (i * 7919 % 255 + 1) as u8).collect();
    assert_eq!(seen(&noise), Err(NotText::Controls));
}

#[test]
fn a_character_that_is_not_there_is_named() {
    let error = TextEncoding::Windows1252.encode("price: 5 € or 5 ₿").unwrap_err();
    assert_eq!(error, UnencodableChar { character: '₿', encoding: TextEncoding::Windows1252 });
    assert_eq!(TextEncoding::Gbk.encode("好🙂").unwrap_err().character, '🙂');
}

proptest! {
    #[test]
    fn what_can_be_encoded_comes_back(text in "\\PC{0,40}") {
        for encoding in [TextEncoding::Utf8, TextEncoding::Utf16Le, TextEncoding::Utf16Be, TextEncoding::Windows1252, TextEncoding::Gbk, TextEncoding::ShiftJis] {
            if let Ok(bytes) = encoding.encode(&text) {
                prop_assert_eq!(encoding.decode(&bytes), text.as_str());
            }
        }
    }
}

/// Story: 300 bytes above 127 without a NUL were shown as 40 rows of `<BC><A1>`.
#[test]
fn what_nobody_can_read_is_binary_and_text_with_odd_bytes_is_not() {
    // As `/dev/urandom` gives them, with the highest bit set.
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 | 0x80
    };
    let noise: Vec<u8> = (0..300).map(|_| next()).collect();
    assert!(is_binary(&noise));
    assert!(is_binary(b"a\0b") && !is_binary(b"") && !is_binary("h\u{e9}llo\n".as_bytes()));
    assert!(!is_binary(b"caf\xe9 noir\nna\xefve\n"));
    // A comment in KOI8-R, in a file of code.
    assert!(!is_binary(b"fn main() {}\n// \xd0\xd2\xc9\xd7\xc5\xd4 \xcd\xc9\xd2\xcf\xd7\xcf\xca\n"));
    // What is not shown as lines must not have a command among them.
    let hides: Vec<u8> = [&noise[..], b"\nrm -rf ~\n"].concat();
    assert!(!is_binary(&hides));
}

/// A short line of Japanese without kana was not recognised, and could not be edited.
#[test]
fn short_japanese_lines_are_recognised_and_other_short_lines_are_not_japanese() {
    for text in [
        "日本語",
        "東京都",
        "設定",
        "会議室の予約",
        "確認済",
        "バージョン",
        "// 日本語 comment\n",
        "名前=東京\n",
    ] {
        let bytes = TextEncoding::ShiftJis.encode(text).unwrap();
        let found = DetectedEncoding::of(&bytes).unwrap();
        assert_eq!((found.encoding, found.stray), (TextEncoding::ShiftJis, false), "{text}");
        assert_eq!(found.encoding.decode(&bytes), text);
    }
    // German in the DOS code page 850, Russian in 866, windows-1251 and KOI8-R, Greek in windows-1253, Chinese in Big5.
    for bytes in [
        &b"f\x81r B\x81cher"[..],
        b"f\x81r \x8Epfel",
        b"\x8F\xE0\xA8\xA2\xA5\xE2",
        b"\xCF\xF0\xE8\xE2\xE5\xF2",
        b"\xF0\xD2\xC9\xD7\xC5\xD4",
        b"\xC3\xE5\xE9\xE1",
        b"\xA4\xA4\xA4\xE5",
        b"don\x92t can\x92t",
        b"\x93quoted\x94 \x96 text",
        b"caf\xE9",
    ] {
        assert_ne!(DetectedEncoding::of(bytes).unwrap().encoding, TextEncoding::ShiftJis, "{bytes:x?}");
    }
    for text in ["中文", "测试文本", "设置"] {
        let bytes = TextEncoding::Gbk.encode(text).unwrap();
        assert_eq!(DetectedEncoding::of(&bytes).unwrap().encoding, TextEncoding::Gbk, "{text}");
    }
}
