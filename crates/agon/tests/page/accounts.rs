//! Accounts: register, log in, a wrong password, another password, log out, a token.

use crate::browser::Browser;
use crate::world::{PASSWORD, World};
use serde_json::Value;

fn log_in(browser: &mut Browser, name: &str, password: &str) {
    browser.fill("#log-in-form [name=account]", name);
    browser.fill("#log-in-form [name=password]", password);
    browser.click("#log-in-form button", "Log in");
}

#[test]
pub(crate) fn login_wrong_password_logout() {
    let world = World::start();
    world.person("ann");
    let mut browser = world.browser("#/account");
    browser.expect_error("status of 401");
    log_in(&mut browser, "ann", "wrong");
    browser.until_text("#log-in-form [role=alert]", "another password");
    assert_eq!(browser.text("#who"), "Log in");
    assert_eq!(browser.eval("localStorage.getItem('agon.session')"), Value::Null);
    log_in(&mut browser, "ann", PASSWORD);
    browser.until_text("#who", "ann");
    browser.until_true("the lobby is shown", "location.hash === '#/'");
    // It stays so after a reload, and in another tab of the same browser.
    browser.open(&world.url("#/account"));
    browser.until_text("h1", "ann");
    let token = browser.eval("JSON.parse(localStorage.getItem('agon.session')).token");
    browser.click("#log-out", "Log out");
    browser.until_text("#who", "Log in");
    assert_eq!(browser.eval("localStorage.getItem('agon.session')"), Value::Null);
    let (status, _) = world.send("GET", token.as_str(), "/api/v1/sessions", &Value::Null);
    assert_eq!(status, 401, "the token is revoked, not only forgotten");
}

#[test]
pub(crate) fn a_person_registers_changes_the_password_and_comes_back() {
    let world = World::start();
    let mut browser = world.browser("#/account");
    browser.expect_error("status of 409");
    browser.expect_error("status of 403");
    world.person("taken");
    browser.fill("#register-form [name=account]", "taken");
    browser.fill("#register-form [name=password]", PASSWORD);
    browser.press("Enter");
    browser.until_text("#register-form [role=alert]", "is taken");
    browser.fill("#register-form [name=account]", "zoë <b>");
    browser.fill("#register-form [name=password]", PASSWORD);
    browser.press("Enter");
    browser.until_text("#who", "zoë <b>");
    browser.until_text("h1", "Lobby");
    let account = world.get("/api/v1/accounts/zo%C3%AB%20%3Cb%3E");
    assert_eq!(account["kind"], "person");
    browser.go("#/account");
    browser.fill("#password-form [name=old]", "wrong");
    browser.fill("#password-form [name=fresh]", "tuna sandwich");
    browser.click("#password-form button", "Change password");
    browser.until_text("#password-form [role=alert]", "not the account's password");
    browser.fill("#password-form [name=old]", PASSWORD);
    browser.fill("#password-form [name=fresh]", "tuna sandwich");
    browser.click("#password-form button", "Change password");
    browser.until_text("#news", "Your password is changed");
    browser.click("#log-out", "Log out");
    log_in(&mut browser, "zoë <b>", "tuna sandwich");
    browser.until_text("#who", "zoë <b>");
}

#[test]
fn spaces_around_a_name_are_ignored() {
    let world = World::start();
    let mut browser = world.browser("#/account");
    browser.fill("#register-form [name=account]", "ann ");
    browser.fill("#register-form [name=password]", PASSWORD);
    browser.press("Enter");
    browser.until_text("#who", "ann");
    browser.go("#/account");
    browser.click("#log-out", "Log out");
    log_in(&mut browser, " ann ", PASSWORD);
    browser.until_text("#who", "ann");
    assert_eq!(world.get("/api/v1/accounts/ann")["kind"], "person");
}

#[test]
fn the_operator_comes_with_its_token() {
    let world = World::start();
    let mut browser = world.browser("#/account");
    browser.expect_error("status of 401");
    browser.click("summary", "Log in with a token");
    browser.fill("#token-form [name=token]", "nonsense");
    browser.click("#token-form button", "Log in with it");
    browser.until_text("#token-form [role=alert]", "it has expired");
    browser.fill("#token-form [name=token]", &world.operator);
    browser.click("#token-form button", "Log in with it");
    browser.until_text("#who", "operator");
    // The lobby is complete, so its links stay in their places.
    browser.until_text("main", "players online");
    browser.click("a", "New tournament");
    browser.fill("form [name=id]", "spring");
    browser.click("form button", "Create the tournament");
    browser.until_true("it is shown", "location.hash === '#/tournament/spring'");
    assert_eq!(world.get("/api/v1/tournaments/spring")["standing"], "open");
}

#[test]
fn visitor_who_signs_up_is_in_after_the_login() {
    let world = World::start();
    world.person("ann");
    for id in ["spring", "summer"] {
        world.open_sign_up(id, 8);
    }
    let players =
        |id: &str| world.get(&format!("/api/v1/tournaments/{id}"))["plan"]["players"].clone();
    let mut browser = world.browser("#/");
    browser.click("[aria-label='Sign up: spring']", "Sign up");
    browser.until_text("h1", "Log in");
    log_in(&mut browser, "ann", PASSWORD);
    browser.until_text("#news", "You signed up for spring");
    assert_eq!(players("spring"), serde_json::json!(["ann"]));
    // A visitor who leaves the form has changed their mind.
    browser.go("#/account");
    browser.click("#log-out", "Log out");
    browser.until_text("#who", "Log in");
    browser.go("#/");
    browser.click("[aria-label='Sign up: summer']", "Sign up");
    browser.until_text("h1", "Log in");
    browser.go("#/docs");
    browser.go("#/account");
    log_in(&mut browser, "ann", PASSWORD);
    browser.until_true("the lobby is shown", "location.hash === '#/'");
    assert_eq!(players("summer"), serde_json::json!([]));
}

#[test]
fn short_passwords_and_names_with_direction_controls_are_refused() {
    let world = World::start();
    let mut browser = world.browser("#/account");
    browser.expect_error("status of 422");
    browser.fill("#register-form [name=account]", "ann");
    browser.fill("#register-form [name=password]", "x");
    browser.press("Enter");
    let invalid = "document.querySelector('#register-form [name=password]').validity.tooShort";
    assert_eq!(browser.eval(invalid), true, "the form says so before it asks the server");
    assert_eq!(world.send("GET", None, "/api/v1/accounts/ann", &Value::Null).0, 404);
    // The server refuses as well, whatever a form says.
    let account = serde_json::json!({"account": "ann", "password": "x", "kind": "person"});
    assert_eq!(world.send("POST", None, "/api/v1/accounts", &account).0, 422);
    browser.fill("#register-form [name=account]", "ann\u{202E}bob");
    browser.fill("#register-form [name=password]", PASSWORD);
    browser.press("Enter");
    browser.until_text("#register-form [role=alert]", "U+202E, which cannot be seen");
}
