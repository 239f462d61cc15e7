//! A headless Firefox, asked through WebDriver BiDi.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

use super::browser::{connect, end, next, wait};

const NAMES: [&str; 2] = ["firefox-esr", "firefox"];

/// A page open in a separate Firefox, which ends with it.
pub struct Firefox {
    process: Child,
    socket: WebSocket<TcpStream>,
    context: Value,
    number: u64,
    _profile: TempDir,
}

impl Firefox {
    /// Opens a page of a file. `None` without Firefox.
    pub fn open(file: &Path) -> Option<Firefox> {
        let profile = tempfile::tempdir().unwrap();
        let process = NAMES.iter().find_map(|name| {
            let mut command = Command::new(name);
            command
                .args(["--headless", "--no-remote", "--remote-debugging-port=0", "--profile"])
                .arg(profile.path());
            // Its settings and caches are in the profile, whoever runs the tests.
            command.env("HOME", profile.path()).arg("about:blank");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
        })?;
        let ready = profile.path().join("WebDriverBiDiServer.json");
        let server: Value = wait("a browser", || serde_json::from_slice(&std::fs::read(&ready).ok()?).ok());
        let port = server["ws_port"].as_u64().unwrap() as u16;
        let socket = connect(port, "/session");
        let mut firefox = Firefox { process, socket, context: Value::Null, number: 0, _profile: profile };
        firefox.send("session.new", json!({"capabilities": {}}));
        let tree = firefox.send("browsingContext.getTree", json!({}));
        firefox.context = tree["contexts"][0]["context"].clone();
        let page = json!({"context": firefox.context, "url": format!("file://{}", file.display()), "wait": "complete"});
        firefox.send("browsingContext.navigate", page);
        Some(firefox)
    }

    fn send(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let message = json!({"id": self.number, "method": method, "params": parameters});
        self.socket.send(Message::text(message.to_string())).unwrap();
        loop {
            let answer = next(&mut self.socket);
            if answer["id"] == json!(self.number) {
                assert_eq!(answer["type"], "success", "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// The value of an expression in the page: a number, a text or a truth.
    pub fn value(&mut self, expression: &str) -> Value {
        let target = json!({"context": self.context});
        let parameters = json!({"expression": expression, "target": target, "awaitPromise": true});
        self.send("script.evaluate", parameters)["result"]["value"].clone()
    }

    pub fn until(&mut self, expression: &str) {
        wait(expression, || self.value(expression).as_bool().filter(|is_true| *is_true));
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        let close = json!({"id": 0, "method": "browser.close", "params": {}});
        end(&mut self.process, &mut self.socket, &close);
    }
}
