//! A browser with a profile of its own, and what a person does in it: look, click, type.
//!
//! Every wait polls with a deadline. When a browser is closed, the test fails if anything went to
//! its console as an error that the test did not say it expects.

use crate::cdp::Cdp;
use crate::support::{PATIENCE, Process, until};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Messages that a browser may log while a server is killed and started again.
pub(crate) const AWAY: [&str; 4] =
    ["net::ERR_", "status of 503", "response code: 503", "before receiving a handshake"];

/// A browser with one page.
pub(crate) struct Browser {
    cdp: Cdp,
    session: String,
    /// Everything that was asked for over the network.
    requests: Vec<String>,
    errors: Vec<String>,
    expected: Vec<&'static str>,
    _process: Process,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium with an empty page.
    pub(crate) fn start() -> Browser {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let names = ["chromium", "chromium-browser", "google-chrome"].map(String::from);
        let chosen = std::env::var("AGON_CHROMIUM").ok();
        let process = chosen.into_iter().chain(names).find_map(|program| {
            let mut command = Command::new(program);
            command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio"]);
            command.args(["--disable-dev-shm-usage", "--no-first-run", "--disable-extensions"]);
            command.args(["--disable-background-networking", "--disable-component-update"]);
            command.args(["--disable-sync", "--disable-default-apps", "--window-size=1280,900"]);
            command.args(["--remote-debugging-port=0", "about:blank"]);
            command.arg(format!("--user-data-dir={}", profile.path().display()));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().ok().map(Process)
        });
        let process = process.expect("chromium is missing; scripts/test installs it");
        let port = profile.path().join("DevToolsActivePort");
        let mut address = None;
        until("the browser listens", || {
            let text = std::fs::read_to_string(&port).unwrap_or_default();
            let found = text.split_once('\n').filter(|(_, path)| !path.is_empty());
            address = found.map(|(port, path)| format!("ws://127.0.0.1:{port}{}", path.trim()));
            address.is_some()
        });
        let mut cdp = Cdp::connect(&address.expect("it listens"));
        let made = cdp.call(None, "Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": made["targetId"], "flatten": true});
        let attached = cdp.call(None, "Target.attachToTarget", attach);
        let session = attached["sessionId"].as_str().expect("a session").to_owned();
        let (requests, errors, expected) = (Vec::new(), Vec::new(), Vec::new());
        let (_process, _profile) = (process, profile);
        let mut browser = Browser { cdp, session, requests, errors, expected, _process, _profile };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.cdp(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// A command of the DevTools protocol, about the page.
    pub(crate) fn cdp(&mut self, method: &str, params: Value) -> Value {
        let session = self.session.clone();
        self.cdp.call(Some(&session), method, params)
    }

    /// Opens an address, and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str) {
        // An address that differs in its hash only would not be loaded anew.
        self.cdp("Page.navigate", json!({"url": "about:blank"}));
        self.cdp("Page.navigate", json!({"url": url}));
        self.until_true("the page is loaded", "document.readyState === 'complete'");
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
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let session = self.session.clone();
        let came = self.cdp.try_call(Some(&session), "Runtime.evaluate", params)?;
        match came.get("exceptionDetails") {
            Some(error) => Err(error.clone()),
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
                for kind in ["mousePressed", "mouseReleased"] {
                    let click = json!({
                        "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1,
                    });
                    self.cdp("Input.dispatchMouseEvent", click);
                }
                return;
            }
            if started.elapsed() >= PATIENCE {
                let body = self.text("body");
                panic!("there is no {selector} with {text:?} to click; on the page: {body}");
            }
            before = at;
            std::thread::park_timeout(Duration::from_millis(20));
        }
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
        self.cdp("Input.insertText", json!({"text": text}));
    }

    /// Presses a key: `Enter`, `Tab`, `Escape`, `ArrowLeft`, or a letter.
    pub(crate) fn press(&mut self, key: &str) {
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

    /// A picture of the whole page, as PNG in base64.
    pub(crate) fn picture(&mut self) -> String {
        let params = json!({"format": "png", "captureBeyondViewport": true});
        let shot = self.cdp("Page.captureScreenshot", params);
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
        for event in self.cdp.events() {
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
                _ => {}
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.check_console();
        }
    }
}
