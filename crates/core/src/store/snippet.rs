//! Code in several languages that opens a store.

/// A language that code is shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C, from C11 on.
    C,
    /// Rust.
    Rust,
    /// Python 3.
    Python,
}

/// A template of the lines of code that open a store in an application, as docs/adding-a-store.md describes it.
#[derive(Debug, Clone, Copy)]
pub struct Snippet {
    /// The language it is in.
    pub language: Language,
    /// The lines.
    pub template: &'static str,
}

impl Language {
    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Rust => "rust",
            Language::Python => "python",
        }
    }
}

impl Snippet {
    /// A template in C.
    pub const fn c(template: &'static str) -> Snippet {
        Snippet { language: Language::C, template }
    }

    /// A template in Rust.
    pub const fn rust(template: &'static str) -> Snippet {
        Snippet { language: Language::Rust, template }
    }

    /// A template in Python.
    pub const fn python(template: &'static str) -> Snippet {
        Snippet { language: Language::Python, template }
    }
}
