//! Browsers. What they see of the report and of the site: cases/page.txt, heights.txt and site.txt.

pub mod browser;
mod firefox;

use serde_json::json;

use crate::cases::prepared_folder;
use crate::cli::support::skipped;
use firefox::Firefox;

#[test]
fn firefox_shows_the_site_as_chromium_does() {
    let scratch = prepared_folder("site");
    let Some(mut firefox) = Firefox::open(&scratch.join("site/index.html")) else {
        return skipped("the site in Firefox", "there is no Firefox");
    };
    firefox.until("document.documentElement.dataset.ready === 'yes'");
    assert_eq!(firefox.value("document.querySelectorAll('#rows tbody tr').length"), json!(6));
    let styled = "getComputedStyle(document.querySelector('nav ul')).listStyleType";
    assert_eq!(firefox.value(styled), json!("none"));
    let search = "(() => { const e = document.getElementById('search'); e.value = 'board one-file'; \
                  e.dispatchEvent(new Event('input', {bubbles: true})); return true; })()";
    assert_eq!(firefox.value(search), json!(true));
    assert_eq!(firefox.value("document.getElementById('count').textContent"), json!("1 of 6 rows."));
}
