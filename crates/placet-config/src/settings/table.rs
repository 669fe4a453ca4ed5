//! The format of a section: one row for each key. The macro makes two things from a row: the entry that checks files
//! and appears on the reference page, and the field that the program reads. A key without a field, or a field without a
//! key, cannot be written.
//!
//! ```text
//! /// What it means: the help text, and the field's documentation.
//! "ui.fold_lines" => fold_lines: usize = 6;
//! ```
//!
//! A text that may be one of a few words has them after `in`. A type without `Option` needs a default. With `Option` a
//! default is only shown: the field is `None` until somebody sets the key, because the program knows a better value
//! than one for all cases, such as the limit of the provider in use.

macro_rules! settings_table {
    (@kind $type:ty) => { <$type as $crate::settings::field::SettingField>::KIND };
    (@kind $type:ty, $words:tt) => { $crate::settings::key::SettingKind::Word(&$words) };
    (
        $(#[$about:meta])*
        pub struct $section:ident {
            $(
                $(#[doc = $help:literal])+
                $key:literal => $field:ident: $type:ident $(<$inner:ident>)? $(in $words:tt)? $(= $default:tt)?;
            )+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $section {
            $( $(#[doc = $help])+ pub $field: $type $(<$inner>)?, )+
        }

        pub(super) const KEYS: &[$crate::settings::key::SettingKey] = &[
            $(
                $crate::settings::key::SettingKey {
                    name: $key,
                    kind: settings_table!(@kind $type $(<$inner>)? $(, $words)?),
                    default: concat!($(stringify!($default))?),
                    help: concat!($($help),+).trim_ascii_start(),
                },
            )+
        ];

        impl $section {
            pub(crate) fn read(
                reader: $crate::settings::field::FieldReader<'_>,
            ) -> $section {
                use $crate::settings::field::SettingField;
                $section {
                    $(
                        $field: <$type $(<$inner>)?>::read(reader, $key, concat!($(stringify!($default))?)),
                    )+
                }
            }
        }

        $(
            const _: () = assert!(
                <$type $(<$inner>)? as $crate::settings::field::SettingField>::MAY_BE_UNSET
                    || !concat!($(stringify!($default))?).is_empty(),
                concat!($key, " needs a default")
            );
        )+
    };
}

/// An enum of the words that a key may have. A file with another word is refused when it is read. The test of the
/// defaults parses each of them, so that the fallback to the first word is never used for another word.
macro_rules! words {
    (
        $(#[$about:meta])*
        pub enum $name:ident { $first:ident = $first_word:literal $(, $variant:ident = $word:literal)* $(,)? }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $first $(, $variant)* }

        impl $crate::settings::field::SettingField for $name {
            const KIND: $crate::settings::key::SettingKind =
                $crate::settings::key::SettingKind::Word(&[$first_word $(, $word)*]);

            fn read(
                reader: $crate::settings::field::FieldReader<'_>,
                key: &'static str,
                default: &'static str,
            ) -> $name {
                match reader.text_or(key, default) {
                    $($word => $name::$variant,)*
                    _ => $name::$first,
                }
            }
        }
    };
}

pub(super) use {settings_table, words};
