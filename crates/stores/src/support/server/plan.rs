//! The settings that a server is started with, and the check that it took them.

use std::str::FromStr;

use storebench_core::server::PROGRAMS;
use storebench_core::store::{
    GivenSettings, OpenOptions, Result, Setting, SettingDef, StoreError, expect_taken,
};

#[derive(Debug)]
pub struct Plan {
    /// Names and values as they are read back.
    pub values: Vec<(&'static str, String)>,
    pub extra_arguments: Vec<String>,
    pub programs: Option<String>,
}

impl Plan {
    /// The settings of a private server, or of sessions on a running one: there only `session_settings` can be set.
    pub fn new<'a>(
        (options, given): (&OpenOptions<'_>, &GivenSettings<'a>),
        known: &'static [SettingDef],
        session_settings: Option<&[&str]>,
        user_value: impl Fn(&GivenSettings<'a>, &'static str) -> Result<Option<String>>,
        preset: impl Fn(&str, &OpenOptions<'_>) -> Option<String>,
    ) -> Result<Plan> {
        let can_be_set = |name: &str| session_settings.is_none_or(|names| names.contains(&name));
        if let Some(fixed) = options.settings.keys().find(|name| !can_be_set(name)) {
            return Err(StoreError::BadSetting(format!(
                "{fixed} can't be changed on a running server: set it there, or leave the URL out"
            )));
        }
        let preset =
            |name: &str, options: &OpenOptions<'_>| preset(name, options).filter(|_| can_be_set(name));
        let programs = options.settings.get(PROGRAMS).cloned();
        Ok(Plan { values: given.values(known, user_value, preset)?, extra_arguments: Vec::new(), programs })
    }

    /// `None` if it is left to the server.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(planned, _)| *planned == name).map(|(_, value)| value.as_str())
    }

    pub fn parsed<T: FromStr>(&self, name: &str) -> Option<T> {
        self.value(name)?.parse().ok()
    }

    /// Fails with [`StoreError::SettingNotTaken`] when a value was read back otherwise.
    pub fn check(&self, read_back: &[Setting]) -> Result<()> {
        for (name, planned) in &self.values {
            let found = read_back.iter().find(|setting| setting.name == *name);
            expect_taken(name, planned, &found.map(|setting| setting.value.clone()).unwrap_or_default())?;
        }
        Ok(())
    }
}
