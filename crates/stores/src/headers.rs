//! Checks our declarations of C libraries against their headers: a C compiler takes both together.

use std::fmt::Write;
use std::fs;
use std::process::Command;

struct Library {
    header: &'static str,
    prefix: Option<&'static str>,
    declarations: &'static str,
    /// The name of a constant in the header; `None` for our own C++ code.
    constant: fn(&str) -> Option<String>,
}

const LIBRARIES: [Library; 4] = [
    Library {
        header: "leveldb/c.h",
        prefix: option_env!("STOREBENCH_LEVELDB_PREFIX"),
        declarations: include_str!("leveldb/ffi.rs"),
        constant: |_| None,
    },
    Library {
        header: "rocksdb/c.h",
        prefix: option_env!("STOREBENCH_ROCKSDB_PREFIX"),
        declarations: include_str!("rocksdb/ffi.rs"),
        // Enumerators there.
        constant: |name| Some(name.to_lowercase()),
    },
    Library {
        header: "mdbx.h",
        prefix: option_env!("STOREBENCH_LIBMDBX_PREFIX"),
        declarations: include_str!("libmdbx/ffi.rs"),
        constant: |name| Some(name.to_owned()),
    },
    Library {
        header: "unqlite.h",
        prefix: option_env!("STOREBENCH_UNQLITE_PREFIX"),
        declarations: include_str!("unqlite/ffi.rs"),
        constant: |name| Some(name.to_owned()),
    },
];

impl Library {
    /// Our declarations in C, after the header: a compiler refuses two that differ.
    fn declarations_in_c(&self, declarations: &str) -> String {
        let mut c = format!("#include <stddef.h>\n#include <stdint.h>\n#include <{}>\n", self.header);
        let code: String = declarations.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let opaque = opaque_types(&code);
        let statements =
            code.split(';').filter_map(|statement| statement.split_once("pub ")).map(|(_, rest)| rest);
        for statement in statements {
            if let Some(function) = statement.strip_prefix("fn ") {
                let (name, signature) = function.split_at(function.find('(').unwrap());
                // Our own C++ functions are in no header.
                if !name.starts_with("sb_") {
                    writeln!(c, "extern {};", declare_in_c(name, signature, &opaque)).unwrap();
                }
            } else if let Some(constant) = statement.strip_prefix("const ") {
                let (name, rest) = constant.split_once(':').unwrap();
                let value = rest.split_once('=').unwrap().1;
                if let Some(name) = (self.constant)(name) {
                    writeln!(c, "_Static_assert({name} == {value}, \"{name}\");").unwrap();
                }
            } else if let Some(alias) = statement.strip_prefix("type ") {
                let (name, function) = alias.split_once('=').unwrap();
                let signature = &function[function.find('(').unwrap()..];
                let declared = declare_in_c(&format!("(*{})", name.trim()), signature, &opaque);
                writeln!(c, "typedef {declared};").unwrap();
            }
        }
        c
    }

    fn compiles(&self, c: &str) -> (bool, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("declared.c");
        fs::write(&file, c).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu11", "-fsyntax-only"]);
        if let Some(prefix) = self.prefix.filter(|prefix| !prefix.is_empty()) {
            compiler.arg(format!("-I{prefix}/include"));
        }
        let output = compiler.arg(file).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn opaque_types(code: &str) -> Vec<(&str, &str)> {
    let Some((_, rest)) = code.split_once("opaque! {") else { return Vec::new() };
    let list = rest.split_once('}').unwrap().0;
    let entries = list.split(',').filter_map(|entry| entry.split_once(':'));
    entries.map(|(name, in_c)| (name.trim(), in_c.trim().trim_matches('"'))).collect()
}

/// C's declaration for `(name: type, ...) -> type`.
fn declare_in_c(name: &str, signature: &str, opaque: &[(&str, &str)]) -> String {
    let end = signature.rfind(')').unwrap();
    let (parameters, result) = (&signature[1..end], signature[end + 1..].trim());
    let result = result.strip_prefix("->").map_or("void".to_owned(), |result| translate_to_c(result, opaque));
    let parameters = parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty());
    let parameters: Vec<String> = parameters
        .map(|parameter| {
            let rust_type = parameter.split_once(':').map_or(parameter, |(_, rust_type)| rust_type);
            translate_to_c(rust_type, opaque)
        })
        .collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    format!("{result} {name}({parameters})")
}

fn translate_to_c(rust: &str, opaque: &[(&str, &str)]) -> String {
    let rust = rust.trim();
    if let Some(pointed) = rust.strip_prefix("*mut ") {
        return format!("{} *", translate_to_c(pointed, opaque));
    }
    if let Some(pointed) = rust.strip_prefix("*const ") {
        return format!("{} const *", translate_to_c(pointed, opaque));
    }
    if let Some(pointer) = rust.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        return pointer.to_owned();
    }
    let types = [
        ("c_char", "char"),
        ("c_uchar", "unsigned char"),
        ("c_int", "int"),
        ("c_uint", "unsigned int"),
        ("c_longlong", "long long"),
        ("c_void", "void"),
        ("f64", "double"),
        ("bool", "_Bool"),
        ("u64", "uint64_t"),
        ("isize", "intptr_t"),
        ("usize", "size_t"),
        ("mode_t", "mode_t"),
        ("...", "..."),
    ];
    let mut found = types.iter().chain(opaque).filter(|(name, _)| *name == rust);
    // Structures that we look into have the header's own names.
    let header_name = rust.starts_with("MDBX_").then_some(rust);
    let found = found.next().map(|(_, in_c)| *in_c).or(header_name);
    found.unwrap_or_else(|| panic!("{rust} has no counterpart in C here")).to_owned()
}

#[test]
fn our_declarations_are_those_of_the_headers() {
    for library in LIBRARIES.iter().filter(|library| library.prefix.is_some()) {
        let c = library.declarations_in_c(library.declarations);
        assert!(c.matches("extern").count() >= 10, "{c}");
        let (compiles, messages) = library.compiles(&c);
        assert!(compiles, "{}: {messages}\n{c}", library.header);
    }
}

/// One type or number at a time is changed.
#[test]
fn other_declarations_are_refused() {
    for library in LIBRARIES.iter().filter(|library| library.prefix.is_some()) {
        for (ours, other) in
            [("c_int", "f64"), ("*const c_char", "*mut c_char"), (": c_int = ", ": c_int = 9")]
        {
            let Some((start, end)) = library.declarations.rsplit_once(ours) else { continue };
            let c = library.declarations_in_c(&[start, other, end].concat());
            let is_ours = c == library.declarations_in_c(library.declarations);
            assert!(is_ours || !library.compiles(&c).0, "{}: {other} for {ours}", library.header);
        }
    }
}
