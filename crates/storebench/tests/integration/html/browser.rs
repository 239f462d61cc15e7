//! A headless Chromium, driven through its DevTools protocol: real clicks and keys, and a record of what went wrong.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{HandshakeError, Message, WebSocket};

/// The longest time for anything before the test fails.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// What expressions of cases may use.
const HELPERS: &str = "const text = (selector) => document.querySelector(selector).textContent; \
    const count = (selector) => document.querySelectorAll(selector).length; \
    /* Whether all pictures in it are within their boxes, and the boxes within the page. */ \
    const within = (selector) => [...document.querySelectorAll(`${selector} .chart svg`)].every((svg) => { \
        const [inner, outer] = [svg, svg.parentElement].map((e) => e.getBoundingClientRect()); \
        return inner.height > 0 && inner.bottom <= outer.bottom + 1 && inner.right <= outer.right + 1 \
            && outer.right <= document.documentElement.clientWidth; });";

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// No sandbox, which containers often lack; and no unrequested network access.
const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update \
    --disable-sync --disable-dev-shm-usage --no-first-run --remote-debugging-port=0";

/// A page open in a separate browser, which ends with it.
pub struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    number: u64,
    events: Vec<Value>,
    page: PathBuf,
    /// What a line of a case has kept.
    kept: Value,
    _profile: TempDir,
}

impl Browser {
    /// Opens a page of a file, `after` being the part of its address after the name. `None` without Chromium.
    pub fn open(file: &Path, fragment: &str) -> Option<Browser> {
        let mut browser = Browser::start()?;
        let target = browser.send("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.send("Target.attachToTarget", target);
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Runtime.enable", "Log.enable", "Network.enable", "Page.enable"] {
            browser.send(domain, json!({}));
        }
        browser.go(file, fragment);
        Some(browser)
    }

    fn start() -> Option<Browser> {
        let profile = tempfile::tempdir().unwrap();
        let process = NAMES.iter().find_map(|name| {
            let mut command = Command::new(name);
            command
                .args(FLAGS.split(' '))
                .arg(format!("--user-data-dir={}", profile.path().display()))
                .arg("about:blank");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
        })?;
        let ready = profile.path().join("DevToolsActivePort");
        let read_address = || std::fs::read_to_string(&ready).ok().filter(|text| text.lines().count() == 2);
        let address = wait("a browser", read_address);
        let (port, path) = address.split_once('\n').unwrap();
        let socket = connect(port.parse().unwrap(), path.trim());
        Some(Browser {
            process,
            socket,
            session: String::new(),
            number: 0,
            events: vec![],
            page: PathBuf::new(),
            kept: Value::Null,
            _profile: profile,
        })
    }

    /// Does what a line of a case says of a page in this folder, if it is one for a browser.
    pub fn step(&mut self, folder: &Path, line: &str) -> bool {
        let line = line.replace("$kept", &self.kept.to_string());
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let expression = |text: &str| match text.strip_prefix("file ") {
            Some(name) => std::fs::read_to_string(folder.join(name)).unwrap(),
            None => format!("(() => {{ {HELPERS} return ({text}); }})()"),
        };
        let (selector, text) = rest.split_once(": ").unwrap_or((rest, ""));
        match verb {
            "click" => self.click(rest),
            "press" => self.press(rest),
            "choose" => self.choose(selector, text),
            "type" => drop(self.send("Input.insertText", json!({"text": rest}))),
            "do" if rest.starts_with("file ") => drop(self.value(&expression(rest))),
            "do" => drop(self.value(rest)),
            "keep" => self.kept = self.value(&expression(rest)),
            "until" => self.until(&expression(rest)),
            "sees" => {
                let (seen, wanted) = rest.rsplit_once(" == ").unwrap_or((rest, "true"));
                assert_eq!(self.value(&expression(seen)), serde_json::from_str::<Value>(wanted).unwrap());
            }
            "shows" | "hides" => {
                let shown = self.text(selector);
                assert_eq!(shown.contains(text), verb == "shows", "{shown}");
            }
            "screen" => {
                let mut words = rest.split(' ');
                let [width, height] = [(); 2].map(|()| words.next().unwrap().parse().unwrap());
                self.show_on(width, height, words.next() == Some("phone"));
            }
            "media" => drop(self.send("Emulation.setEmulatedMedia", serde_json::from_str(rest).unwrap())),
            "prints" => {
                let printed = self.send("Page.printToPDF", json!({}));
                assert!(printed["data"].as_str().unwrap().len() > rest.parse().unwrap());
            }
            "go" => {
                let (page, fragment) = (self.page.clone(), self.value(rest));
                self.send("Page.navigate", json!({"url": "about:blank"}));
                self.go(&page, fragment.as_str().unwrap());
            }
            "to" => {
                let address = format!("file://{}", folder.join(rest).display());
                self.send("Page.navigate", json!({"url": address}));
                let has_arrived =
                    format!("location.href === {} && document.readyState === 'complete'", json!(address));
                self.until(&has_arrived);
            }
            _ => return false,
        }
        true
    }

    /// Opens another page, or the same at another place.
    pub fn go(&mut self, file: &Path, fragment: &str) {
        self.page = file.to_path_buf();
        self.send("Page.navigate", json!({"url": format!("file://{}{fragment}", file.display())}));
        self.until("document.documentElement.dataset.ready === 'yes'");
    }

    pub fn send(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.ask(method, parameters);
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    /// Gives a command and waits for its answer, which may be an error.
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({"id": self.number, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(message.to_string())).unwrap();
        loop {
            let answer = next(&mut self.socket);
            if answer["id"] == json!(self.number) {
                return answer;
            }
            self.events.push(answer);
        }
    }

    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.send("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// The text of the first element that a selector finds.
    pub fn text(&mut self, selector: &str) -> String {
        let text = self.value(&format!("document.querySelector({}).textContent", json!(selector)));
        text.as_str().unwrap().to_owned()
    }

    /// Has a screen of this many pixels: a phone's has two physical ones for each.
    pub fn show_on(&mut self, width: u32, height: u32, is_phone: bool) {
        let scale = if is_phone { 2 } else { 1 };
        let screen =
            json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": is_phone});
        self.send("Emulation.setDeviceMetricsOverride", screen);
        self.until(&format!("innerWidth === {width}"));
    }

    pub fn until(&mut self, expression: &str) {
        // While a page gives way to the next there may be nothing to ask, which is not yet true.
        let parameters = json!({"expression": expression, "returnByValue": true});
        wait(expression, || {
            let answer = self.ask("Runtime.evaluate", parameters.clone());
            answer["result"]["result"]["value"].as_bool().filter(|is_true| *is_true)
        });
    }

    /// Clicks with the mouse on the middle of an element, of its first line if a link has several, which must be what is
    /// there to be clicked, once what came into view with it has been drawn and nothing moves any more: a page that has just
    /// opened may still scroll to where its link points.
    pub fn click(&mut self, selector: &str) {
        let look = format!(
            "(async () => {{ const e = document.querySelector({}); e.scrollIntoView({{block: 'center'}}); \
             const frame = () => new Promise(requestAnimationFrame); await frame(); await frame(); \
             const r = e.getClientRects()[0] ?? e.getBoundingClientRect(); const [x, y] = [r.x + r.width / 2, r.y + r.height / 2]; \
             return [x, y, e.contains(document.elementFromPoint(x, y))]; }})()",
            json!(selector)
        );
        let is_shown = |middle: &Value| middle[2] == json!(true);
        let what = format!("{selector}, if nothing hides it");
        let middle = wait(&what, || Some(self.value(&look)).filter(is_shown));
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": middle[0], "y": middle[1], "button": "left", "clickCount": 1});
            self.send("Input.dispatchMouseEvent", event);
        }
    }

    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            "Escape" => (27, ""),
            other => panic!("no such key: {other}"),
        };
        let mut down = json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if !text.is_empty() {
            down["text"] = json!(text);
        }
        self.send("Input.dispatchKeyEvent", down);
        self.send(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code}),
        );
    }

    /// Chooses a value of a list, as a keyboard does.
    pub fn choose(&mut self, selector: &str, text: &str) {
        let chosen = self.value(&format!(
            "(() => {{ const e = document.querySelector({}); \
             const o = [...e.options].find((o) => o.textContent === {}); if (!o) return false; \
             e.value = o.value; e.dispatchEvent(new Event('change', {{bubbles: true}})); return true; }})()",
            json!(selector),
            json!(text)
        ));
        assert_eq!(chosen, json!(true), "{selector} has no {text}");
    }

    /// The complaints so far: messages on the console, exceptions, requests of anything but the file itself.
    pub fn complaints(&mut self) -> Vec<String> {
        // Whatever was under way has been reported before this answer.
        self.value("new Promise((done) => setTimeout(done, 100))");
        let is_request = |event: &Value| event["method"] == "Network.requestWillBeSent";
        assert!(self.events.iter().any(is_request), "requests are not seen");
        let complaint = |event: &Value| match event["method"].as_str()? {
            "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded" => {
                Some(event["params"].to_string())
            }
            "Network.requestWillBeSent" => {
                let url = event["params"]["request"]["url"].as_str()?;
                let is_local =
                    ["file://", "data:", "blob:", "about:"].iter().any(|start| url.starts_with(start));
                (!is_local).then(|| format!("request: {url}"))
            }
            _ => None,
        };
        self.events.iter().filter_map(complaint).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        end(&mut self.process, &mut self.socket, &json!({"id": 0, "method": "Browser.close"}));
    }
}

pub fn next(socket: &mut WebSocket<TcpStream>) -> Value {
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => return serde_json::from_str(&text).unwrap(),
            // A signal came in between, such as that of a process that ended.
            Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
            message => drop(message.unwrap()),
        }
    }
}

pub fn connect(port: u16, path: &str) -> WebSocket<TcpStream> {
    loop {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        match tungstenite::client(format!("ws://127.0.0.1:{port}{path}"), stream) {
            Ok((socket, _)) => return socket,
            // As above.
            Err(HandshakeError::Failure(tungstenite::Error::Io(error)))
                if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Ends a browser. Asked to, it ends its own processes too. A test that failed may have left it beyond asking.
pub fn end(process: &mut Child, socket: &mut WebSocket<TcpStream>, close: &Value) {
    let is_asked = socket.send(Message::text(close.to_string())).is_ok();
    let start = Instant::now();
    while is_asked && start.elapsed() < Duration::from_secs(5) {
        if matches!(process.try_wait(), Ok(Some(_)) | Err(_)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = process.kill();
    let _ = process.wait();
}

pub fn wait<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
