//! A browser, told what to do.

use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long something may take to show on the page. Nothing takes that long: it is where a test gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// How a browser is set up.
#[derive(Clone, Copy, Default)]
pub struct Setup {
    /// Whether the person at it prefers dark pages.
    pub dark: bool,
    /// Whether it is a phone, 360 pixels wide.
    pub phone: bool,
}

/// A browser at one server.
pub struct Browser {
    client: Client,
    driver: Child,
    base: String,
}

impl Browser {
    /// Starts a browser.
    pub async fn start(base: &str, setup: Setup) -> Self {
        let (driver, at) = driver();
        let mut args =
            vec!["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1280,1500"];
        args.push(if setup.dark { "--blink-settings=preferredColorScheme=0" } else { "--blink-settings=preferredColorScheme=1" });
        let mut options = json!({ "args": args });
        if setup.phone {
            options["mobileEmulation"] =
                json!({ "deviceMetrics": { "width": 360, "height": 1600, "pixelRatio": 1.0, "touch": true, "mobile": true } });
        }
        let mut wanted = Map::new();
        wanted.insert("goog:chromeOptions".to_owned(), options);
        wanted.insert("goog:loggingPrefs".to_owned(), json!({ "browser": "ALL" }));
        let client = ClientBuilder::new(HttpConnector::new()).capabilities(wanted).connect(&at).await.expect("the browser starts");
        Self { client, driver, base: base.to_owned() }
    }

    /// Opens a page.
    pub async fn open(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.base)).await.unwrap();
    }

    /// Signs in at whatever page is open.
    pub async fn sign_in(&self, token: &str) {
        self.fill("#token", token).await;
        self.click("form[data-act=sign-in] button").await;
        self.find("form[data-act=sign-out]").await;
    }

    /// Starts a run with the form of the list, and waits for its page.
    pub async fn start_run(&self, profile: &str, task: &str) -> String {
        self.open("/").await;
        self.fill("#task", task).await;
        self.client.find(Locator::Css("#profile")).await.unwrap().select_by_value(profile).await.unwrap();
        self.click("form[data-act=start] button").await;
        self.find("main[data-run]").await;
        self.run(r#"return document.querySelector("main").dataset.run"#).await.as_str().unwrap().to_owned()
    }

    /// An element, as soon as it is there.
    pub async fn find(&self, css: &str) -> fantoccini::elements::Element {
        let found = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await;
        match found {
            Ok(found) => found,
            Err(why) => panic!("`{css}`: {why}\n{}", self.client.source().await.unwrap_or_default()),
        }
    }

    pub async fn click(&self, css: &str) {
        self.find(css).await.click().await.unwrap();
    }

    pub async fn fill(&self, css: &str, text: &str) {
        let field = self.find(css).await;
        field.clear().await.unwrap();
        field.send_keys(text).await.unwrap();
    }

    /// Presses keys, wherever the keyboard is.
    pub async fn press(&self, keys: &str) {
        self.client.active_element().await.unwrap().send_keys(keys).await.unwrap();
    }

    pub async fn text(&self, css: &str) -> String {
        self.find(css).await.text().await.unwrap()
    }

    /// Runs a script in the page.
    pub async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap_or_else(|e| panic!("{script}: {e}"))
    }

    /// Waits until an expression holds in the page.
    pub async fn until(&self, holds: &str) {
        // The page itself looks before each of its frames. A page that is left on the way is asked again.
        let script = format!(
            "const [done] = arguments; const look = () => {{ try {{ if ({holds}) return done(true); }} catch {{}} requestAnimationFrame(look); }}; look();"
        );
        let waited = tokio::time::timeout(PATIENCE, async { while self.client.execute_async(&script, Vec::new()).await.is_err() {} });
        if waited.await.is_err() {
            panic!("never: {holds}\n{}", self.text("main").await);
        }
    }

    /// Waits until the run's badge says so.
    pub async fn until_badge(&self, words: &str) {
        self.until(&format!("document.querySelector('#standing .badge').textContent === '{words}'")).await;
    }

    /// Waits until the preview has gone, for the server has written what became of it, and the graph is drawn.
    pub async fn until_still(&self) {
        self.until("document.querySelector('#preview').hidden && document.querySelectorAll('.node').length > 1").await;
    }

    /// What the browser complains about: scripts that failed, and what the policy of the page forbade.
    pub async fn complaints(&self) -> Vec<String> {
        let log = self.client.issue_cmd(Log).await.unwrap();
        let entries = log.as_array().cloned().unwrap_or_default();
        // A request that is refused is shown to the person, and is no fault of the page.
        let message = |entry: &Value| entry["message"].as_str().unwrap_or_default().to_owned();
        entries.iter().filter(|entry| entry["level"] == "SEVERE").map(message).filter(|text| !text.contains("status of 4")).collect()
    }

    /// Takes a picture of the page, for people.
    pub async fn shot(&self, name: &str) {
        let folder = std::env::var_os("COUNTERSIGN_SHOTS").map_or_else(|| std::env::temp_dir().join("countersign-browser"), PathBuf::from);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), self.client.screenshot().await.unwrap()).unwrap();
    }

    /// Ends the browser, after a look at what it complained about.
    pub async fn close(mut self) {
        assert_eq!(self.complaints().await, Vec::<String>::new());
        self.client.clone().close().await.unwrap();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The driver's own command for the log of the browser.
#[derive(Debug)]
struct Log;

impl fantoccini::wd::WebDriverCompatibleCommand for Log {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({ "type": "browser" }).to_string()))
    }
}

/// Starts the driver, at a port of its own choice.
fn driver() -> (Child, String) {
    let mut child = Command::new("chromedriver")
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("`chromedriver` is there: run `.ci/browser`");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let port =
        lines.by_ref().map_while(Result::ok).find_map(|line| Some(line.split_once("successfully on port ")?.1.trim_end_matches('.').to_owned()));
    // Read on, so that it never waits for a full pipe.
    std::thread::spawn(move || lines.for_each(drop));
    (child, format!("http://127.0.0.1:{}", port.expect("it says where it listens")))
}
