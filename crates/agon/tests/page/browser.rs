//! A browser with a profile of its own, and what a person does in it: look, click, type.
//!
//! Every wait polls with a deadline. When a browser is closed, the test fails if anything went to
//! its console as an error that the test did not say it expects.

use crate::remote::Remote;
use crate::support::{PATIENCE, Process, until};
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Messages that a browser may log while a server is killed and started again.
pub(crate) const AWAY: [&str; 4] =
    ["net::ERR_", "status of 503", "response code: 503", "before receiving a handshake"];

/// Preferences that keep Firefox from acting on its own while it is tested.
const FIREFOX_SETTINGS: &str = r#"
user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("dom.ipc.processCount", 1);
user_pref("focusmanager.testmode", true);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,#none");
user_pref("toolkit.telemetry.server", "");
"#;

/// The programs that can show the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Program {
    Chromium,
    Firefox,
}

thread_local! {
    /// The program that this test uses.
    static PROGRAM: Cell<Program> = const { Cell::new(Program::Chromium) };
}

/// Runs a test in Firefox.
pub(crate) fn in_firefox(test: fn()) {
    PROGRAM.set(Program::Firefox);
    test();
    PROGRAM.set(Program::Chromium);
}

/// The place of the page in the protocol of its browser.
enum Place {
    /// A session of the DevTools protocol.
    Session(String),
    /// A browsing context of WebDriver BiDi.
    Context(String),
}

/// A browser with one page.
pub(crate) struct Browser {
    remote: Remote,
    place: Place,
    /// Everything that was asked for over the network.
    requests: Vec<String>,
    errors: Vec<String>,
    expected: Vec<&'static str>,
    _process: Process,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts the browser of this test with an empty page.
    pub(crate) fn start() -> Browser {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let (process, address) = match PROGRAM.get() {
            Program::Chromium => chromium(profile.path()),
            Program::Firefox => firefox(profile.path()),
        };
        let mut remote = Remote::connect(&address);
        let place = match PROGRAM.get() {
            Program::Chromium => Place::Session(new_session(&mut remote)),
            Program::Firefox => Place::Context(new_context(&mut remote)),
        };
        let (requests, errors, expected) = (Vec::new(), Vec::new(), Vec::new());
        let (_process, _profile) = (process, profile);
        Browser { remote, place, requests, errors, expected, _process, _profile }
    }

    /// A command of the DevTools protocol, about the page. Only Chromium takes it.
    pub(crate) fn cdp(&mut self, method: &str, params: Value) -> Value {
        let Place::Session(session) = &self.place else { panic!("{method} is for Chromium only") };
        self.remote.call(Some(session), method, params)
    }

    /// A command of WebDriver BiDi, about the page of Firefox.
    fn bidi(&mut self, method: &str, mut params: Value) -> Value {
        let Place::Context(context) = &self.place else { panic!("{method} is for Firefox only") };
        params["context"] = context.as_str().into();
        self.remote.call(None, method, params)
    }

    fn is_firefox(&self) -> bool {
        matches!(self.place, Place::Context(_))
    }

    /// Opens an address, and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str) {
        // An address that differs in its hash only would not be loaded anew.
        for url in ["about:blank", url] {
            match self.is_firefox() {
                true => self.bidi("browsingContext.navigate", json!({"url": url, "wait": "none"})),
                false => self.cdp("Page.navigate", json!({"url": url})),
            };
        }
        let loaded = format!(
            "document.readyState === 'complete' && location.href.startsWith({})",
            json!(url.split('#').next())
        );
        self.until_true("the page is loaded", &loaded);
    }

    /// Sets the size of the window, and whether the page is dark.
    pub(crate) fn look(&mut self, width: u32, height: u32, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        if self.is_firefox() {
            let viewport = json!({"viewport": {"width": width, "height": height}});
            self.bidi("browsingContext.setViewport", viewport);
            // Firefox has no command for the system's choice, so this is the user's.
            self.eval(&format!("document.documentElement.dataset.theme = '{scheme}'"));
            return;
        }
        let phone = width < 600;
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone,
        });
        self.cdp("Emulation.setDeviceMetricsOverride", size);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.cdp("Emulation.setEmulatedMedia", media);
    }

    /// Draws no scrollbars, which would stand beside the page in a picture of all of it.
    pub(crate) fn hide_scrollbars(&mut self) {
        self.cdp("Emulation.setScrollbarsHidden", json!({"hidden": true}));
    }

    /// Goes to another view of the page that is open, and waits until it is mounted.
    pub(crate) fn go(&mut self, hash: &str) {
        let hash = json!(hash);
        self.eval(&format!("location.hash = {hash}"));
        let mounted = "document.getElementById('main').dataset.at === location.hash";
        self.until_true("the view is mounted", mounted);
    }

    /// The value of an expression, or of the promise that it returns.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        self.try_eval(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    fn try_eval(&mut self, expression: &str) -> Result<Value, Value> {
        let came = match &self.place {
            Place::Session(session) => {
                let params =
                    json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
                self.remote.try_call(Some(session), "Runtime.evaluate", params)?
            }
            Place::Context(context) => {
                let target = json!({"context": context});
                let params =
                    json!({"expression": expression, "target": target, "awaitPromise": true});
                self.remote.try_call(None, "script.evaluate", params)?
            }
        };
        match came.get("exceptionDetails") {
            Some(error) => Err(error.clone()),
            None if self.is_firefox() => Ok(plain(&came["result"])),
            None => Ok(came["result"]["value"].clone()),
        }
    }

    /// Waits until an expression is true. One that fails, between two pages, is not.
    pub(crate) fn until_true(&mut self, what: &str, expression: &str) {
        let started = Instant::now();
        while self.try_eval(expression) != Ok(Value::Bool(true)) {
            if started.elapsed() >= PATIENCE {
                let text = self.eval("location.href + '\\n' + document.body.innerText");
                panic!("waited in vain until {what}; on the page: {}", text.as_str().unwrap_or(""));
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// Waits until something that fits the selector holds this text.
    pub(crate) fn until_text(&mut self, selector: &str, text: &str) {
        let (place, words) = (json!(selector), json!(text));
        let has = format!(
            "[...document.querySelectorAll({place})].some(e => e.textContent.includes({words}))"
        );
        self.until_true(&format!("{selector} says {text:?}"), &has);
    }

    /// Waits until nothing that fits the selector holds this text.
    pub(crate) fn until_no_text(&mut self, selector: &str, text: &str) {
        let (place, words) = (json!(selector), json!(text));
        let lacks = format!(
            "[...document.querySelectorAll({place})].every(e => !e.textContent.includes({words}))"
        );
        self.until_true(&format!("{selector} does not say {text:?}"), &lacks);
    }

    /// The text of the first thing that fits, as it is seen.
    pub(crate) fn text(&mut self, selector: &str) -> String {
        let place = json!(selector);
        let text = self.eval(&format!("document.querySelector({place})?.innerText ?? ''"));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks with a real mouse what fits the selector and holds this text, once it is there, can
    /// be clicked and stands still.
    pub(crate) fn click(&mut self, selector: &str, text: &str) {
        let (place, words) = (json!(selector), json!(text));
        let find = format!(
            "(() => {{ const found = [...document.querySelectorAll({place})].find(e =>
                 e.textContent.includes({words}) && !e.disabled && e.getClientRects().length);
               if (!found) return null;
               found.scrollIntoView({{ block: 'center', behavior: 'instant' }});
               const box = found.getBoundingClientRect();
               const at = [box.x + box.width / 2, box.y + box.height / 2];
               const hit = document.elementFromPoint(...at);
               return hit && (found === hit || found.contains(hit) || hit.contains(found))
                 ? at : null; }})()"
        );
        let (started, mut before) = (Instant::now(), Value::Null);
        loop {
            let at = self.try_eval(&find).unwrap_or_default();
            if at.is_array() && at == before {
                return self.click_at(&at);
            }
            if started.elapsed() >= PATIENCE {
                let body = self.text("body");
                panic!("there is no {selector} with {text:?} to click; on the page: {body}");
            }
            before = at;
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// Clicks with a real mouse at this point.
    fn click_at(&mut self, at: &Value) {
        if self.is_firefox() {
            let [x, y] = [0, 1].map(|axis| at[axis].as_f64().unwrap_or_default().floor() as i64);
            let press = |kind: &str| json!({"type": kind, "button": 0});
            let steps = json!([
                {"type": "pointerMove", "x": x, "y": y},
                press("pointerDown"),
                press("pointerUp"),
            ]);
            let mouse = json!({"type": "pointer", "id": "mouse", "actions": steps});
            self.bidi("input.performActions", json!({"actions": [mouse]}));
            return;
        }
        for kind in ["mousePressed", "mouseReleased"] {
            let click = json!({
                "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1,
            });
            self.cdp("Input.dispatchMouseEvent", click);
        }
    }

    /// Types these keys in Firefox, one after another.
    fn type_keys(&mut self, keys: &[String]) {
        let press = |kind: &str, key: &String| json!({"type": kind, "value": key});
        let steps: Vec<Value> =
            keys.iter().flat_map(|key| [press("keyDown", key), press("keyUp", key)]).collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": steps});
        self.bidi("input.performActions", json!({"actions": [keyboard]}));
    }

    /// Types into a field, in place of what is in it.
    pub(crate) fn fill(&mut self, selector: &str, text: &str) {
        let place = json!(selector);
        self.until_true(
            &format!("{selector} is there"),
            &format!("document.querySelector({place}) !== null"),
        );
        self.eval(&format!(
            "(e => {{ e.focus(); e.select?.(); }})(document.querySelector({place}))"
        ));
        match self.is_firefox() {
            true => self.type_keys(&text.chars().map(String::from).collect::<Vec<_>>()),
            false => drop(self.cdp("Input.insertText", json!({"text": text}))),
        }
    }

    /// Presses a key: `Enter`, `Tab`, `Escape`, `ArrowLeft`, or a letter.
    pub(crate) fn press(&mut self, key: &str) {
        if self.is_firefox() {
            return self.type_keys(&[webdriver_key(key).into()]);
        }
        let text = match key {
            "Enter" => Some("\r"),
            " " => Some(" "),
            key if key.chars().count() == 1 => Some(key),
            _ => None,
        };
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            " " => 32,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            letter => letter.to_uppercase().bytes().next().map_or(0, i32::from),
        };
        let down = if text.is_some() { "keyDown" } else { "rawKeyDown" };
        for kind in [down, "keyUp"] {
            let mut press = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
            if let Some(text) = text.filter(|_| kind == "keyDown") {
                press["text"] = text.into();
            }
            self.cdp("Input.dispatchKeyEvent", press);
        }
    }

    /// Says that an error with these words in the console is part of the test.
    pub(crate) fn expect_error(&mut self, words: &'static str) {
        self.expected.push(words);
    }

    /// Every address that was asked for so far.
    pub(crate) fn requests(&mut self) -> Vec<String> {
        self.listen();
        self.requests.clone()
    }

    /// How many tabs the browser has.
    pub(crate) fn tabs(&mut self) -> usize {
        let targets = self.remote.call(None, "Target.getTargets", json!({}));
        let all = targets["targetInfos"].as_array().expect("a list");
        all.iter().filter(|one| one["type"] == "page").count()
    }

    /// Lets the page read the clipboard without a question.
    pub(crate) fn allow_reading_the_clipboard(&mut self) {
        let permissions = json!({"permissions": ["clipboardReadWrite"]});
        self.remote.call(None, "Browser.grantPermissions", permissions);
    }

    /// Shows this page again after another tab was opened.
    pub(crate) fn bring_to_front(&mut self) {
        self.cdp("Page.bringToFront", json!({}));
    }

    /// A picture of the whole page, as PNG in base64.
    pub(crate) fn picture(&mut self) -> String {
        let shot = match self.is_firefox() {
            true => self.bidi("browsingContext.captureScreenshot", json!({"origin": "document"})),
            false => {
                let params = json!({"format": "png", "captureBeyondViewport": true});
                self.cdp("Page.captureScreenshot", params)
            }
        };
        shot["data"].as_str().expect("a picture").to_owned()
    }

    /// Checks that nothing went wrong in the browser so far.
    pub(crate) fn check_console(&mut self) {
        self.listen();
        let expected = &self.expected;
        let unexpected: Vec<&String> = self
            .errors
            .iter()
            .filter(|error| !expected.iter().any(|words| error.contains(words)))
            .collect();
        assert!(unexpected.is_empty(), "errors in the console: {unexpected:#?}");
    }

    /// A small picture of what is seen at first, as WebP in base64.
    pub(crate) fn small_picture(&mut self) -> String {
        let params = json!({"format": "webp", "quality": 70});
        let shot = self.cdp("Page.captureScreenshot", params);
        shot["data"].as_str().expect("a picture").to_owned()
    }

    fn listen(&mut self) {
        for event in self.remote.events() {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    self.requests.push(url.to_owned());
                }
                "Network.webSocketCreated" => {
                    self.requests.push(params["url"].as_str().unwrap_or_default().to_owned());
                }
                "Runtime.exceptionThrown" => self.errors.push(params.to_string()),
                "Runtime.consoleAPICalled" if params["type"] == "error" => {
                    self.errors.push(params["args"].to_string());
                }
                "Log.entryAdded" if params["entry"]["level"] == "error" => {
                    self.errors.push(params["entry"].to_string());
                }
                "network.beforeRequestSent" => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    self.requests.push(url.to_owned());
                }
                "log.entryAdded" if params["level"] == "error" => {
                    self.errors.push(params["text"].to_string());
                }
                _ => {}
            }
        }
    }
}

/// Starts Chromium; its address for remote control.
fn chromium(profile: &Path) -> (Process, String) {
    let names = ["chromium", "chromium-browser", "google-chrome"].map(String::from);
    let chosen = std::env::var("AGON_CHROMIUM").ok();
    let process = chosen.into_iter().chain(names).find_map(|program| {
        let mut command = Command::new(program);
        command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio"]);
        command.args(["--disable-dev-shm-usage", "--no-first-run", "--disable-extensions"]);
        command.args(["--disable-background-networking", "--disable-component-update"]);
        command.args(["--disable-sync", "--disable-default-apps", "--window-size=1280,900"]);
        command.args(["--remote-debugging-port=0", "about:blank"]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        started(command)
    });
    let process = process.expect("chromium is missing; scripts/test installs it");
    let port = profile.join("DevToolsActivePort");
    let mut address = None;
    until("Chromium listens", || {
        let text = std::fs::read_to_string(&port).unwrap_or_default();
        let found = text.split_once('\n').filter(|(_, path)| !path.is_empty());
        address = found.map(|(port, path)| format!("ws://127.0.0.1:{port}{}", path.trim()));
        address.is_some()
    });
    (process, address.expect("it listens"))
}

/// Starts Firefox; its address for remote control, which needs no driver beside it.
fn firefox(profile: &Path) -> (Process, String) {
    std::fs::write(profile.join("user.js"), FIREFOX_SETTINGS).expect("a file");
    let names = ["firefox-esr", "firefox"].map(String::from);
    let chosen = std::env::var("AGON_FIREFOX").ok();
    let process = chosen.into_iter().chain(names).find_map(|program| {
        let mut command = Command::new(program);
        command.args(["--headless", "--no-remote", "--remote-debugging-port", "0"]);
        command.arg("--profile").arg(profile).arg("about:blank").env("HOME", profile);
        started(command)
    });
    let process = process.expect("firefox-esr is missing; scripts/test installs it");
    let file = profile.join("WebDriverBiDiServer.json");
    let mut address = None;
    until("Firefox accepts connections", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let (host, port) = (said["ws_host"].as_str(), said["ws_port"].as_u64());
        address = host.zip(port).map(|(host, port)| format!("ws://{host}:{port}/session"));
        address.is_some()
    });
    (process, address.expect("it accepts connections"))
}

fn started(mut command: Command) -> Option<Process> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok().map(Process)
}

/// A page of Chromium with everything that is listened to.
fn new_session(remote: &mut Remote) -> String {
    let made = remote.call(None, "Target.createTarget", json!({"url": "about:blank"}));
    let attach = json!({"targetId": made["targetId"], "flatten": true});
    let attached = remote.call(None, "Target.attachToTarget", attach);
    let session = attached["sessionId"].as_str().expect("a session").to_owned();
    for domain in ["Page", "Runtime", "Log", "Network"] {
        remote.call(Some(&session), &format!("{domain}.enable"), json!({}));
    }
    session
}

/// A page of Firefox with everything that is listened to.
fn new_context(remote: &mut Remote) -> String {
    remote.call(None, "session.new", json!({"capabilities": {}}));
    let events = json!({"events": ["log.entryAdded", "network.beforeRequestSent"]});
    remote.call(None, "session.subscribe", events);
    // The first tab of a headless Firefox never has the focus, so keys would not press buttons.
    let made = remote.call(None, "browsingContext.create", json!({"type": "tab"}));
    let context = made["context"].as_str().expect("a page").to_owned();
    let viewport = json!({"context": context, "viewport": {"width": 1280, "height": 900}});
    remote.call(None, "browsingContext.setViewport", viewport);
    context
}

/// A value of WebDriver BiDi as JSON.
fn plain(value: &Value) -> Value {
    let inside = || value["value"].as_array().into_iter().flatten();
    match value["type"].as_str().unwrap_or_default() {
        "array" | "nodelist" | "set" => inside().map(plain).collect(),
        "object" => {
            let fields = inside().filter_map(|pair| Some((pair[0].as_str()?, plain(&pair[1]))));
            fields.map(|(name, value)| (name.to_owned(), value)).collect()
        }
        "string" | "number" | "boolean" => value["value"].clone(),
        _ => Value::Null,
    }
}

/// The name of a key in WebDriver.
fn webdriver_key(key: &str) -> &str {
    match key {
        "Enter" => "\u{E007}",
        "Tab" => "\u{E004}",
        "Escape" => "\u{E00C}",
        "End" => "\u{E010}",
        "Home" => "\u{E011}",
        "ArrowLeft" => "\u{E012}",
        "ArrowUp" => "\u{E013}",
        "ArrowRight" => "\u{E014}",
        "ArrowDown" => "\u{E015}",
        letter => letter,
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.check_console();
        }
    }
}
