use std::fmt::Write;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ffi;

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include")
}

/// Lines of C that a compiler refuses where a struct is laid out otherwise in Rust: its size, and where its fields are.
macro_rules! laid_out {
    ($name:literal, $type:ty: $($field:ident)+) => {{
        let mut text = format!("_Static_assert(sizeof({0}) == {1}, \"{0}\");\n", $name, size_of::<$type>());
        $(
            let (field, offset) = (stringify!($field), offset_of!($type, $field));
            writeln!(text, "_Static_assert(offsetof({0}, {field}) == {offset}, \"{0}.{field}\");", $name).unwrap();
        )+
        text
    }};
}

#[test]
fn the_header_is_laid_out_as_it_is_in_rust() {
    let mut c = String::from("#include \"storebench_store.h\"\n");
    c += &laid_out!("sb_error", ffi::Error: text);
    c += &laid_out!("sb_offer", ffi::Offer: tier atomic_replace kill_costs power_cut_costs settings why);
    c += &laid_out!("sb_setting", ffi::Setting: name values default_value help promise tune in_bytes);
    c += &laid_out!("sb_value", ffi::Value: name value read_back);
    c += &laid_out!("sb_change", ffi::Change: key key_len value value_len);
    c += &laid_out!("sb_how", ffi::How:
        size folder tier compress cache_bytes sessions settings setting_count);
    c += &laid_out!("sb_store", ffi::Store:
        size name summary practice version codec flags max_key_bytes max_bytes sessions shipped
        offers offer_count settings setting_count open close tier count settle read_settings session end
        get put remove batch scan statistics syncs verify);
    c += &laid_out!("sb_library", ffi::Library: version count stores);
    let constants = [
        ("SB_VERSION", i64::from(ffi::VERSION)),
        ("SB_OK", ffi::OK.into()),
        ("SB_MISSING", ffi::MISSING.into()),
        ("SB_UNSUPPORTED", ffi::UNSUPPORTED.into()),
        ("SB_BAD_SETTING", ffi::BAD_SETTING.into()),
        ("SB_FAILED", ffi::FAILED.into()),
        ("SB_AS_SHIPPED", ffi::AS_SHIPPED.into()),
        ("SB_ORDERED", ffi::ORDERED as i64),
        ("SB_ATOMIC_BATCH", ffi::ATOMIC_BATCH as i64),
        ("SB_REPLACES_WHOLE", ffi::REPLACES_WHOLE as i64),
        ("SB_COPIES", ffi::COPIES as i64),
        ("SB_OWN_CALLS", ffi::OWN_CALLS as i64),
        ("SB_NO_EMPTY_VALUES", ffi::NO_EMPTY_VALUES as i64),
        ("SB_IN_MEMORY", ffi::IN_MEMORY as i64),
        ("SB_KEEPS_NOTHING", ffi::KEEPS_NOTHING as i64),
    ];
    for (name, value) in constants {
        writeln!(c, "_Static_assert({name} == {value}, \"{name}\");").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("layout.c");
    std::fs::write(&source, c).unwrap();
    for (compiler, standard, language) in [("cc", "-std=c11", "c"), ("c++", "-std=c++17", "c++")] {
        let mut command = Command::new(compiler);
        if language == "c++" {
            command.arg("-D_Static_assert=static_assert");
        }
        command.args("-Wall -Wextra -Wpedantic -Werror -fsyntax-only".split(' '));
        command.args([standard, "-x", language, "-I"]).args([include(), source.clone()]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_header_is_short() {
    let header = std::fs::read_to_string(include().join("storebench_store.h")).unwrap();
    assert!(header.lines().count() <= 200);
}
