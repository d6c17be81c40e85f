//! All routes. The server serves exactly the routes in this list, and the OpenAPI document
//! describes them.

use super::route::Access::{Operator, Owner, PerhapsToken, Token};
use super::route::Route;
use super::{
    accounts, analysis, announce, assets, casual, docs, events, faults, formats, games, guests,
    invitations, lobby, matches, metrics, openapi, operator, page, play, played, positions, python,
    queues, reports, rulings, standings, start, tournaments,
};
use crate::engine::Report;
use crate::engine::Wanted;
use crate::engine::query::{AccountPage, ShownAccount, ShownLobby, TournamentPage};
use crate::engine::show::{ShownMatch, ShownTournament};
use agon_core::{Comparison, PlayerStatistics};
use serde_json::Value;

/// Every route there is.
pub(super) fn all() -> Vec<Route> {
    let mut all = of_accounts();
    all.extend(for_guests());
    all.extend(of_tournaments());
    all.extend(of_ended_tournaments());
    all.extend(of_matches());
    all.extend(for_operators());
    all.extend(of_results());
    all.extend(of_the_server());
    all
}

fn of_accounts() -> Vec<Route> {
    vec![
        Route::get("/api/v1/accounts", accounts::list, "All accounts, by name.")
            .query::<page::Page>()
            .gives::<AccountPage>(200),
        Route::post("/api/v1/accounts", accounts::register, "Registers an account.")
            .takes::<accounts::Registration>()
            .gives::<ShownAccount>(201)
            .fails(&[409, 429]),
        Route::get("/api/v1/accounts/{name}", accounts::one, "An account and its statistics.")
            .gives::<accounts::AccountInFull>(200)
            .fails(&[404, 422]),
        Route::get(
            "/api/v1/accounts/{name}/matches",
            played::lately,
            "The latest matches of a player.",
        )
        .gives::<played::Played>(200)
        .fails(&[404, 422]),
        Route::get(
            "/api/v1/accounts/{name}/faults",
            faults::of_account,
            "The faults of a player, with the evidence; `me` is the caller.",
        )
        .by(Owner)
        .gives::<faults::Faults>(200)
        .fails(&[404, 422]),
        Route::get(
            "/api/v1/accounts/{name}/rulings",
            rulings::of_account,
            "The rulings of operators about an account, each with its reason.",
        )
        .gives::<rulings::Rulings>(200)
        .fails(&[404, 422]),
        Route::put(
            "/api/v1/accounts/me/password",
            accounts::change_password,
            "Changes the password of the account.",
        )
        .by(Token)
        .takes::<accounts::Change>()
        .done()
        .fails(&[403, 429]),
        Route::post("/api/v1/sessions", accounts::log_in, "Logs in for a token.")
            .takes::<accounts::Credentials>()
            .gives::<accounts::NewSession>(201)
            .fails(&[401, 429]),
        Route::get("/api/v1/sessions", accounts::of_token, "The account of the token.")
            .by(Token)
            .gives::<accounts::Holder>(200),
        Route::delete("/api/v1/sessions", accounts::log_out, "Revokes the token it is sent with.")
            .by(Token)
            .done(),
        Route::get("/api/v1/queues/{name}", queues::list, "The players who wait in a queue.")
            .gives::<queues::ShownQueue>(200)
            .fails(&[422]),
        Route::post("/api/v1/queues/{name}", queues::enter, "Waits in a queue once more.")
            .by(Token)
            .gives::<queues::ShownQueue>(200)
            .fails(&[403, 409, 422]),
        Route::delete("/api/v1/queues/{name}", queues::leave, "Waits in a queue once less.")
            .by(Token)
            .gives::<queues::ShownQueue>(200)
            .fails(&[409, 422]),
        Route::get("/api/v1/play", play::play, "The native protocol over WebSocket.")
            .upgrades("A WebSocket; docs/protocol/native.md has its messages.")
            .fails(&[400, 403, 426]),
    ]
}

/// Guests, and the games that they start by themselves.
fn for_guests() -> Vec<Route> {
    vec![
        Route::post(
            "/api/v1/guests",
            guests::register,
            "Makes a guest account, and logs it in for a token.",
        )
        .gives::<accounts::NewSession>(201)
        .fails(&[403, 429]),
        Route::put(
            "/api/v1/accounts/me/claim",
            guests::claim,
            "Gives the guest who asks a name and a password, and logs in under that name.",
        )
        .by(Token)
        .takes::<guests::Claiming>()
        .gives::<accounts::NewSession>(201)
        .fails(&[403, 409, 429]),
        Route::post(
            "/api/v1/casual",
            casual::play,
            "Starts a casual game against house players, or invites people to one.",
        )
        .by(Token)
        .takes::<casual::CasualGame>()
        .gives::<announce::Announced>(201)
        .fails(&[403, 404, 409]),
    ]
}

fn of_tournaments() -> Vec<Route> {
    vec![
        Route::get("/api/v1/lobby", lobby::one, "Connected players, queues and running games.")
            .gives::<ShownLobby>(200),
        Route::get("/api/v1/events", events::of_lobby, "Events of the lobby.")
            .events::<ShownLobby>(),
        Route::get("/api/v1/invitations", invitations::mine, "The invitations of the account.")
            .by(Token)
            .gives::<invitations::Invitations>(200),
        Route::get("/api/v1/tournaments", tournaments::list, "All tournaments, by name.")
            .query::<tournaments::Listed>()
            .gives::<TournamentPage>(200)
            .fails(&[401]),
        Route::post("/api/v1/tournaments", announce::announce, "Announces a tournament.")
            .by(Token)
            .takes::<Wanted>()
            .gives::<announce::Announced>(201)
            .fails(&[403, 404, 409]),
        Route::get(
            "/api/v1/formats/simulation",
            formats::simulation,
            "How often each format finds the best player, by simulation.",
        )
        .by(Token)
        .query::<formats::Simulating>()
        .gives::<formats::Simulation>(200)
        .fails(&[422]),
        Route::get("/api/v1/tournaments/{id}", tournaments::one, "A tournament.")
            .gives::<ShownTournament>(200)
            .fails(&[404]),
        Route::get(
            "/api/v1/tournaments/{id}/live",
            tournaments::live,
            "The scores of the running matches of a tournament.",
        )
        .gives::<tournaments::LiveScores>(200)
        .fails(&[404]),
        Route::post("/api/v1/tournaments/{id}/signups", tournaments::sign_up, "Signs up.")
            .by(Token)
            .may_take::<tournaments::Entry>()
            .gives::<tournaments::SignedUp>(201)
            .fails(&[403, 404, 409]),
        Route::delete(
            "/api/v1/tournaments/{id}/signups",
            tournaments::withdraw,
            "Takes the sign-up back, or leaves a tournament that runs.",
        )
        .by(Token)
        .done()
        .fails(&[404, 409]),
        Route::put(
            "/api/v1/tournaments/{id}/invitation",
            invitations::answer,
            "Answers an invitation.",
        )
        .by(Token)
        .takes::<invitations::Replying>()
        .gives::<invitations::Answered>(200)
        .fails(&[403, 404, 409]),
        Route::get(
            "/api/v1/tournaments/{id}/events",
            events::of_tournament,
            "Events of a tournament.",
        )
        .events::<ShownTournament>()
        .fails(&[404, 409]),
    ]
}

/// Results and logs of tournaments that are over.
fn of_ended_tournaments() -> Vec<Route> {
    vec![
        Route::get("/api/v1/archive", standings::past, "Finished tournaments, the latest first.")
            .gives::<standings::Past>(200),
        Route::get(
            "/api/v1/tournaments/{id}/rulings",
            rulings::of_tournament,
            "The rulings of operators in a tournament, each with its reason.",
        )
        .gives::<rulings::Rulings>(200)
        .fails(&[404]),
        Route::get(
            "/api/v1/tournaments/{id}/report",
            reports::one,
            "The final report of a tournament that is over.",
        )
        .gives::<Report>(200)
        .fails(&[404, 409]),
        Route::get(
            "/api/v1/tournaments/{id}/analysis",
            analysis::of_tournament,
            "The points of all players of a tournament that is over, as scored and without luck.",
        )
        .gives::<analysis::TournamentAnalysis>(200)
        .fails(&[404, 409, 422]),
        Route::get(
            "/api/v1/tournaments/{id}/comparison",
            reports::comparison,
            "How strong the players of a tournament that is over are, with 95 % intervals.",
        )
        .gives::<Comparison>(200)
        .fails(&[404, 409]),
        Route::get(
            "/api/v1/tournaments/{id}/log",
            tournaments::log,
            "The log of a tournament that is over, a line an event.",
        )
        .text("application/jsonl")
        .fails(&[404, 409]),
    ]
}

fn of_matches() -> Vec<Route> {
    vec![
        Route::get("/api/v1/matches", played::latest, "The latest matches that are over.")
            .gives::<played::Latest>(200),
        Route::get("/api/v1/tournaments/{id}/matches/{match}", matches::one, "A match.")
            .gives::<ShownMatch<'static>>(200)
            .fails(&[404]),
        Route::get(
            "/api/v1/tournaments/{id}/matches/{match}/log",
            matches::log,
            "The log of a match that is over, a line an event.",
        )
        .text("application/jsonl")
        .fails(&[404, 409]),
        Route::get(
            "/api/v1/tournaments/{id}/matches/{match}/events",
            events::of_match,
            "Events of a match.",
        )
        .events::<ShownMatch<'static>>()
        .fails(&[404]),
        Route::get(
            "/api/v1/tournaments/{id}/matches/{match}/faults",
            faults::of_match,
            "The faults of players in a match; those of the caller with the evidence.",
        )
        .by(PerhapsToken)
        .gives::<faults::Faults>(200)
        .fails(&[404]),
        Route::get("/api/v1/tournaments/{id}/matches/{match}/games/{game}", games::one, "A game.")
            .gives::<games::ShownGame>(200)
            .fails(&[404]),
        Route::get(
            "/api/v1/tournaments/{id}/matches/{match}/games/{game}/events",
            events::of_game,
            "Events of a game.",
        )
        .events::<games::ShownGame>()
        .fails(&[404]),
        Route::get(
            "/api/v1/tournaments/{id}/matches/{match}/games/{game}/replay",
            played::replay,
            "A game of a match that is over, position by position.",
        )
        .query::<played::Shape>()
        .gives::<played::Replay>(200)
        .fails(&[404, 409]),
        Route::get(
            "/api/v1/tournaments/{id}/matches/{match}/games/{game}/analysis",
            analysis::of_game,
            "The luck of every draw and the cost of every decision in a game that is over.",
        )
        .query::<analysis::Waiting>()
        .gives::<agon_analysis::GameAnalysis>(200)
        .accepts("The server analyses the game; ask again later.")
        .fails(&[404, 409, 422]),
        Route::get(
            "/api/v1/tournaments/{id}/matches/{match}/games/{game}/positions",
            positions::all,
            "A game so far, position by position, as everybody could see it.",
        )
        .query::<positions::Known>()
        .gives::<positions::Positions>(200)
        .fails(&[404]),
    ]
}

/// The routes for operators.
fn for_operators() -> Vec<Route> {
    use operator::{Outcome, Player, Reason};
    let orders = vec![
        Route::post("/api/v1/accounts/{name}/logout", operator::log_out, "Logs an account out.")
            .takes::<Reason>(),
        Route::post("/api/v1/blacklist/{name}", operator::blacklist, "Blacklists an account.")
            .takes::<Reason>(),
        Route::delete("/api/v1/blacklist/{name}", operator::lift, "Lifts the blacklisting.")
            .takes::<Reason>(),
        Route::post("/api/v1/tournaments/{id}/start", operator::start, "Starts it now.")
            .takes::<Reason>(),
        Route::post("/api/v1/tournaments/{id}/call-off", operator::call_off, "Calls it off.")
            .takes::<Reason>(),
        Route::post("/api/v1/tournaments/{id}/pause", operator::pause, "Pauses it.")
            .takes::<Reason>(),
        Route::post("/api/v1/tournaments/{id}/resume", operator::resume, "Goes on with it.")
            .takes::<Reason>(),
        Route::post(
            "/api/v1/tournaments/{id}/award",
            operator::award,
            "Ends a paused tournament with these winners, or with none.",
        )
        .takes::<Outcome>(),
        Route::post(
            "/api/v1/tournaments/{id}/enter",
            operator::enter,
            "Enters a player into a tournament that runs.",
        )
        .takes::<Player>(),
        Route::post("/api/v1/tournaments/{id}/withdraw", operator::withdraw, "Takes a player out.")
            .takes::<Player>(),
        Route::post(
            "/api/v1/tournaments/{id}/matches/{match}/override",
            operator::override_result,
            "Gives a match another result.",
        )
        .takes::<Outcome>(),
        Route::post(
            "/api/v1/tournaments/{id}/matches/{match}/replay",
            operator::replay,
            "Has a match played again.",
        )
        .takes::<Reason>(),
        Route::post(
            "/api/v1/tournaments/{id}/matches/{match}/undo",
            operator::undo,
            "Undoes the latest ruling about a match.",
        )
        .takes::<Reason>(),
        Route::post(
            "/api/v1/tournaments/{id}/matches/{match}/games/{game}/void",
            operator::void,
            "Makes a game void.",
        )
        .takes::<Reason>(),
        Route::post(
            "/api/v1/tournaments/{id}/matches/{match}/games/{game}/undo",
            operator::undo_void,
            "Undoes that a game is void.",
        )
        .takes::<Reason>(),
    ];
    let order = |route: Route| route.by(Operator).done().fails(&[404, 409]);
    orders.into_iter().map(order).collect()
}

fn of_results() -> Vec<Route> {
    vec![
        Route::get(
            "/api/v1/statistics/{player}",
            standings::of_player,
            "The statistics of a player.",
        )
        .gives::<PlayerStatistics>(200)
        .fails(&[404, 422]),
        Route::get("/api/v1/ladders/{game}", standings::ladder, "Ratings at a game, best first.")
            .gives::<standings::Ladder>(200)
            .fails(&[404]),
        Route::get(
            "/api/v1/ladders/{game}/history/{player}",
            standings::history,
            "The history of a player's rating.",
        )
        .gives::<standings::RatingHistory>(200)
        .fails(&[404, 422]),
        Route::get(
            "/api/v1/statistics/{player}/versus",
            standings::met,
            "How a player did against everybody it has met.",
        )
        .gives::<standings::Met>(200)
        .fails(&[404, 422]),
        Route::get(
            "/api/v1/statistics/{player}/versus/{other}",
            standings::versus,
            "How one player did against another.",
        )
        .gives::<standings::Versus>(200)
        .fails(&[404, 422]),
    ]
}

fn of_the_server() -> Vec<Route> {
    vec![
        Route::get("/api/v1/games", games::all, "The games and presets there are.")
            .gives::<games::Games>(200),
        Route::get("/api/v1/openapi.json", openapi::show, "This document.").gives::<Value>(200),
        Route::get(
            "/api/v1/schemas/{schema}",
            openapi::schema,
            "The JSON Schemas of the native protocol, or of a game.",
        )
        .gives::<Value>(200)
        .fails(&[404]),
        Route::get("/", start::page, "The page for people.").text("text/html; charset=utf-8"),
        Route::get("/tv", start::page, "The same page, as a projector shows it.")
            .text("text/html; charset=utf-8"),
        Route::get("/web/{file}", assets::file, "A file of that page.")
            .text(assets::SCRIPT)
            .text(assets::STYLE)
            .text(assets::PICTURE)
            .fails(&[404]),
        Route::get("/web/{folder}/{file}", assets::file_of_folder, "A file of that page.")
            .text(assets::SCRIPT)
            .fails(&[404]),
        Route::get(
            "/clients/python.tar.gz",
            python::archive,
            "The Python client with its examples, to write a bot for this server.",
        )
        .text(python::GZIP),
        Route::get("/docs/{page}", docs::page, "The documentation, as it is in the repository.")
            .text("text/plain; charset=utf-8")
            .fails(&[404]),
        Route::get("/healthz", metrics::health, "A sign of life.")
            .gives::<metrics::Health>(200)
            .fails(&[422]),
        Route::get("/metrics", metrics::metrics, "Counters in the text format of Prometheus.")
            .text("text/plain; version=0.0.4"),
    ]
}
