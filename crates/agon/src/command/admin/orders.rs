//! Translates the command line into requests, and says what to print afterwards.

use super::tables::{self, Table};
use crate::args::{
    AccountCommand, AdminCommand, AdminMatch, AdminTournament, BlacklistCommand, CreateArgs,
    GameCommand, Pick, QueueCommand,
};
use crate::command::login;
use crate::exit::Misuse;
use agon_client::http::escaped;
use agon_core::{Format, Preset};
use agon_games::Registry;
use anyhow::Result;
use serde_json::{Map, Value, json};

/// A request to the server.
pub(super) enum Order {
    /// Show one page.
    Look { path: String, table: Table },
    /// Show all pages of a list.
    List { path: &'static str, what: &'static str, table: Table },
    /// Change something.
    Do { method: &'static str, path: String, body: Option<Value>, done: String },
}

/// The request for a command.
pub(super) fn order(command: &AdminCommand) -> Result<Order> {
    Ok(match command {
        // `status` also reads the metrics.
        AdminCommand::Status => look("/healthz".into(), tables::status),
        AdminCommand::Tournament(command) => tournament(command)?,
        AdminCommand::Match(command) => of_match(command),
        AdminCommand::Game(command) => game(command),
        AdminCommand::Account(command) => account(command)?,
        AdminCommand::Blacklist(command) => blacklist(command),
        AdminCommand::Queue(QueueCommand::Show { name }) => {
            look(format!("/api/v1/queues/{}", escaped(name)), tables::queue)
        }
    })
}

fn look(path: String, table: Table) -> Order {
    Order::Look { path, table }
}

fn post(path: String, body: Value, done: String) -> Order {
    Order::Do { method: "POST", path, body: Some(body), done }
}

fn tournament(command: &AdminTournament) -> Result<Order> {
    let page = |id: &str| format!("/api/v1/tournaments/{}", escaped(id));
    let act = |named: &crate::args::Named, what: &str, done: &str| {
        let body = json!({"why": named.why});
        post(format!("{}/{what}", page(&named.id)), body, format!("{} {done}.", named.id))
    };
    Ok(match command {
        AdminTournament::Create(args) => create(args)?,
        AdminTournament::List => Order::List {
            path: "/api/v1/tournaments",
            what: "tournaments",
            table: tables::tournaments,
        },
        AdminTournament::Show { id } => look(page(id), tables::tournament),
        AdminTournament::Start(named) => act(named, "start", "starts"),
        AdminTournament::CallOff(named) => act(named, "call-off", "is cancelled"),
        AdminTournament::Pause(named) => act(named, "pause", "is paused"),
        AdminTournament::Resume(named) => act(named, "resume", "is resumed"),
        AdminTournament::Award { id, winner, why } => {
            let done = match &winner[..] {
                [] => format!("{id} is cancelled; it counts for nobody."),
                winners => format!("{id} is won by {}.", winners.join(", ")),
            };
            post(format!("{}/award", page(id)), json!({"winners": winner, "why": why}), done)
        }
        AdminTournament::Enter { id, player, why } => post(
            format!("{}/enter", page(id)),
            json!({"player": player, "why": why}),
            format!("{player} enters {id} and plays from its next round on."),
        ),
        AdminTournament::Withdraw { id, player, why } => post(
            format!("{}/withdraw", page(id)),
            json!({"player": player, "why": why}),
            format!("{player} is removed from {id}."),
        ),
    })
}

fn create(args: &CreateArgs) -> Result<Order> {
    let mut body = json!({"id": args.id, "selection": selection(&args.pick, args.wait_ms)?});
    if let Some(preset) = &args.preset {
        body["preset"] = json!(preset);
    }
    if let Some(game) = &args.game {
        body["game"] = json!(game);
    }
    if let Some(config) = &args.game_config {
        body["config"] = read("--game-config", config)?;
    }
    if let Some(policy) = policy(args)? {
        body["policy"] = policy;
    }
    Ok(post("/api/v1/tournaments".into(), body, format!("{} is created.", args.id)))
}

/// The changes to the policy of the preset, if there are any.
fn policy(args: &CreateArgs) -> Result<Option<Value>> {
    let given = args.policy.as_deref().map(|text| read("--policy", text)).transpose()?;
    if given.as_ref().is_some_and(|given| !given.is_object()) {
        let why = "--policy must be a JSON object such as {\"match\":{…}}";
        return Err(Misuse(why.into()).into());
    }
    let mut policy = given.unwrap_or_else(|| json!({}));
    if let Some(text) = &args.format {
        let (format, rules) = adapted_format(args, text)?;
        policy["format"] = format;
        for (name, value) in rules {
            let field = &mut policy["match"][name.as_str()];
            if field.is_null() {
                *field = value;
            }
        }
    }
    if let Some(best_of) = args.best_of {
        policy["match"]["best_of"] = json!(best_of);
    }
    if let Some(pairing) = args.pairing {
        policy["pairing"] = json!(pairing.policy());
    }
    if let Some(pace) = args.pace {
        policy["match"]["time"]["house_pace_ms"] = json!(pace);
    }
    if args.duplicate {
        policy["match"]["duplicate"] = json!(true);
    }
    Ok(policy.as_object().is_some_and(|fields| !fields.is_empty()).then_some(policy))
}

/// A format as people write it, and the rules of matches that it needs to be different.
fn adapted_format(args: &CreateArgs, text: &str) -> Result<(Value, Map<String, Value>)> {
    let preset = args.preset.as_deref().map(Preset::named).transpose();
    let preset = preset.map_err(|unknown| Misuse(unknown.to_string()))?;
    let game = args.game.as_deref().or(preset.as_ref().map(|preset| preset.game));
    let kind = game.and_then(|game| Registry::standard().kind(game).cloned());
    let seats = kind.map_or(2..=2, |kind| kind.seats());
    let format = Format::read(text, &seats).map_err(Misuse)?;
    let Some(preset) = preset else { return Ok((json!(format), Map::new())) };
    let mut rules = preset.policy.rules.clone();
    format.rules().adapt(&mut rules);
    let (before, after) = (json!(preset.policy.rules), json!(rules));
    let changed = after.as_object().into_iter().flatten();
    let changed = changed.filter(|(name, value)| before[name.as_str()] != **value);
    let changed = changed.map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok((json!(format), changed))
}

fn selection(pick: &Pick, wait_ms: u64) -> Result<Value> {
    if !pick.named.is_empty() {
        return Ok(json!({"by": "named", "players": pick.named}));
    }
    if let Some(at_most) = pick.line {
        return Ok(json!({"by": "line", "at_most": at_most}));
    }
    if let [queue, at_most] = &pick.queue[..] {
        let at_most: u32 = at_most
            .parse()
            .map_err(|_| Misuse(format!("--queue QUEUE N: {at_most:?} is not a number")))?;
        return Ok(json!({"by": "queue", "queue": queue, "at_most": at_most}));
    }
    if let [at_least, at_most] = pick.sign_up[..] {
        return Ok(json!({
            "by": "sign-up",
            "at_least": at_least,
            "at_most": at_most,
            "wait_ms": wait_ms,
            "second_at_least": at_least,
            "second_wait_ms": 0,
        }));
    }
    read("--selection", pick.selection.as_deref().unwrap_or_default())
}

fn read(flag: &str, text: &str) -> Result<Value> {
    let wrong = |error| Misuse(format!("{flag} is not JSON: {error}"));
    Ok(serde_json::from_str(text).map_err(wrong)?)
}

fn of_match(command: &AdminMatch) -> Order {
    let page = |tournament: &str, id: &str| {
        format!("/api/v1/tournaments/{}/matches/{}", escaped(tournament), escaped(id))
    };
    match command {
        AdminMatch::Show { tournament, id } => look(page(tournament, id), tables::of_match),
        AdminMatch::Override { tournament, id, winner, why } => post(
            format!("{}/override", page(tournament, id)),
            json!({"winners": winner, "why": why}),
            format!("{id} of {tournament} is won by {}.", winner.join(", ")),
        ),
        AdminMatch::Replay { tournament, id, why } => post(
            format!("{}/replay", page(tournament, id)),
            json!({"why": why}),
            format!("{id} of {tournament} will be replayed."),
        ),
        AdminMatch::Undo { tournament, id, why } => post(
            format!("{}/undo", page(tournament, id)),
            json!({"why": why}),
            format!("The latest ruling about {id} of {tournament} is undone."),
        ),
    }
}

fn game(command: &GameCommand) -> Order {
    let (GameCommand::Void { tournament, id, game, why }
    | GameCommand::Undo { tournament, id, game, why }) = command;
    let (word, done) = match command {
        GameCommand::Void { .. } => ("void", "is void"),
        GameCommand::Undo { .. } => ("undo", "counts again"),
    };
    let (page, of) = (escaped(tournament), escaped(id));
    post(
        format!("/api/v1/tournaments/{page}/matches/{of}/games/{game}/{word}"),
        json!({"why": why}),
        format!("Game {game} of {id} of {tournament} {done}."),
    )
}

fn account(command: &AccountCommand) -> Result<Order> {
    Ok(match command {
        AccountCommand::List => {
            Order::List { path: "/api/v1/accounts", what: "accounts", table: tables::accounts }
        }
        AccountCommand::Show { name } => {
            look(format!("/api/v1/accounts/{}", escaped(name)), tables::account)
        }
        AccountCommand::Register { name, password_file } => {
            let Some(password) = login::password(password_file.as_deref())? else {
                let why = "put the password into AGON_PASSWORD or a --password-file";
                return Err(Misuse(why.into()).into());
            };
            let body = json!({"account": name, "password": password});
            post("/api/v1/accounts".into(), body, format!("{name} is registered."))
        }
        AccountCommand::Logout { name, why } => post(
            format!("/api/v1/accounts/{}/logout", escaped(name)),
            json!({"why": why}),
            format!("{name} is logged out."),
        ),
    })
}

fn blacklist(command: &BlacklistCommand) -> Order {
    let page = |name: &str| format!("/api/v1/blacklist/{}", escaped(name));
    match command {
        BlacklistCommand::Add { name, why } => post(
            page(name),
            json!({"why": why}),
            format!("{name} is on the blacklist and cannot enter tournaments."),
        ),
        BlacklistCommand::Lift { name, why } => Order::Do {
            method: "DELETE",
            path: page(name),
            body: Some(json!({"why": why})),
            done: format!("{name} is off the blacklist."),
        },
    }
}
