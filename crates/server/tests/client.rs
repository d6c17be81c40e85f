//! The client library against a real engine over real sockets, with connections that are cut.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use agon_client::http::{Http, HttpError};
use agon_client::{
    Address, Client, ClientError, ClientEvent, ClientSettings, House, Login, Player, Request,
    Until, play,
};
use agon_core::TournamentId;
use agon_games::Game;
use agon_games::yahtzee::Yahtzee;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use support::{Server, announcement, named, until};

fn settings(address: SocketAddr, name: &str) -> ClientSettings {
    let login = Login::password(name, format!("the pw of {name}")).register();
    ClientSettings::new(Address::parse(&address.to_string()).unwrap(), login)
}

/// A runtime of its own: the server has another.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// A way to the server that is cut after so many bytes of it, again and again.
fn cut_after(server: SocketAddr, bytes: usize, cuts: Arc<AtomicU32>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for near in listener.incoming() {
            let (Ok(near), Ok(far)) = (near, TcpStream::connect(server)) else { return };
            let (mut from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
            let (mut far, mut near, cuts) = (far, near, Arc::clone(&cuts));
            std::thread::spawn(move || {
                let (mut left, mut piece) = (bytes, [0; 512]);
                while let Ok(count @ 1..) = far.read(&mut piece) {
                    let passed = count.min(left);
                    let _ = near.write_all(&piece[..passed]);
                    left -= passed;
                    if left == 0 {
                        cuts.fetch_add(1, Ordering::SeqCst);
                        break;
                    }
                }
                let _ = near.shutdown(Shutdown::Both);
                let _ = far.shutdown(Shutdown::Both);
            });
        }
    });
    address
}

#[test]
fn functions_and_house_players_play_a_duel() {
    let server = Server::start();
    let address = server.address();
    let runtime = runtime();
    let mut ann = runtime.block_on(Client::connect(settings(address, "ann"))).unwrap();
    let mut bob = runtime.block_on(Client::connect(settings(address, "bob"))).unwrap();
    assert_eq!(ann.account().as_str(), "ann");
    until("both are in line", || server.line().len() == 2);
    server.announce(announcement("duel", "yahtzee-class", 1, 2));
    let ann = runtime.spawn(async move {
        let mut first = |request: &Request| {
            let (question, view) =
                (request.question_as::<Yahtzee>()?, request.view_as::<Yahtzee>()?);
            Ok(agon_games::json(&Yahtzee::legal_in(&question, &view)[0]))
        };
        play(&mut ann, &mut first, Until::Tournaments(1)).await
    });
    let mut house = House::new("bob", "greedy");
    let won = runtime.block_on(play(&mut bob, &mut house, Until::Tournaments(1))).unwrap();
    let lost = runtime.block_on(ann).unwrap().unwrap();
    assert_eq!((won, lost), (1, 0), "the most points beat the first answer");
    server.verify();
}

/// A player that notes how often it was asked what.
struct Noting<'a>(House, &'a mut BTreeMap<String, u32>);

impl Player for Noting<'_> {
    async fn answer(&mut self, request: &Request) -> Result<agon_games::Json, ClientError> {
        *self.1.entry(request.id.clone()).or_default() += 1;
        self.0.answer(request).await
    }
}

#[test]
fn a_connection_that_is_cut_again_and_again_costs_nothing() {
    let server = Server::start();
    let cuts = Arc::new(AtomicU32::new(0));
    let way = cut_after(server.address(), 20_000, Arc::clone(&cuts));
    let runtime = runtime();
    let mut ann = runtime.block_on(Client::connect(settings(way, "ann"))).unwrap();
    let mut duel = announcement("duel", "yahtzee-queue", 3, 2);
    duel.selection = named(&["ann", "house:random"]);
    server.announce(duel);
    let mut asked = BTreeMap::new();
    let mut player = Noting(House::new("ann", "greedy"), &mut asked);
    runtime.block_on(play(&mut ann, &mut player, Until::Tournaments(1))).unwrap();
    assert!(cuts.load(Ordering::SeqCst) > 2, "the way was cut: {cuts:?}");
    assert!(asked.len() > 60, "a whole match: {}", asked.len());
    assert!(asked.values().all(|times| *times == 1), "no question was put twice: {asked:?}");
    until("the duel is over", || server.finished("duel").is_some());
    let answers = server.log_text().matches(r#""type":"answer-accepted""#).count();
    assert!(answers >= asked.len(), "{answers}");
    server.verify();
}

#[test]
fn client_of_several_nodes_uses_the_next_one_when_its_node_is_lost() {
    let server = Server::start();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let cuts = Arc::new(AtomicU32::new(0));
    let lost = cut_after(server.address(), 20_000, Arc::clone(&cuts));
    let nodes = format!("{closed},{lost},{}", server.address());
    let server_address = Address::parse(&nodes).unwrap();
    let settings = ClientSettings { server: server_address, ..settings(closed, "ann") };
    let runtime = runtime();
    let mut ann = runtime.block_on(Client::connect(settings)).unwrap();
    let mut duel = announcement("duel", "yahtzee-queue", 3, 2);
    duel.selection = named(&["ann", "house:random"]);
    server.announce(duel);
    let mut asked = BTreeMap::new();
    let mut player = Noting(House::new("ann", "greedy"), &mut asked);
    runtime.block_on(play(&mut ann, &mut player, Until::Tournaments(1))).unwrap();
    assert_eq!(cuts.load(Ordering::SeqCst), 1, "the last node is never lost");
    assert!(asked.values().all(|times| *times == 1), "no request was answered twice: {asked:?}");
    until("the duel is over", || server.finished("duel").is_some());
    let url = format!("http://{closed},http://{}", server.http_address());
    let (http, _) = Http::parse(&url).unwrap();
    let found = runtime.block_on(http.get("/api/v1/tournaments/duel")).unwrap();
    assert_eq!(found["standing"], "over");
    assert_eq!(http.place(), server.http_address().to_string());
    server.verify();
}

#[test]
fn errors_are_typed() {
    let server = Server::start();
    let (address, runtime) = (server.address(), runtime());
    let connect = |settings: ClientSettings| runtime.block_on(Client::connect(settings));
    let stranger =
        ClientSettings { login: Login::password("eve", "x"), ..settings(address, "eve") };
    match connect(stranger).unwrap_err() {
        ClientError::Login(refused) => assert_eq!(refused.code, "wrong-credentials"),
        other => panic!("{other}"),
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = connect(settings(closed, "eve")).unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    // A token is good for another login, which takes the account over.
    let mut first = connect(settings(address, "ann")).unwrap();
    let token = first.token().unwrap().to_owned();
    let by_token =
        ClientSettings { login: Login::Token(token.clone()), ..settings(address, "ann") };
    assert!(!format!("{by_token:?}").contains(&token), "no token in what is printed");
    let mut second = connect(by_token).unwrap();
    assert_eq!(second.account().as_str(), "ann");
    let error = runtime.block_on(first.next()).unwrap_err();
    assert!(matches!(error, ClientError::TakenOver), "{error}");
    let error = runtime.block_on(async {
        loop {
            if let Err(error) = first.enqueue("q").await {
                return error;
            }
            tokio::task::yield_now().await;
        }
    });
    assert!(matches!(error, ClientError::Ended), "{error}");
    // The lobby's word comes as an event.
    let refused = runtime.block_on(async {
        second.sign_up(&TournamentId::from("no-such-cup"), None).await.unwrap();
        second.next().await.unwrap()
    });
    assert!(matches!(&refused, ClientEvent::Refused(why) if why.code == "refused"), "{refused:?}");
    let done = runtime.block_on(async {
        second.enqueue("yahtzee-queue").await.unwrap();
        second.next().await.unwrap()
    });
    assert!(matches!(&done, ClientEvent::Done(what) if what == "enqueue"), "{done:?}");
}

#[test]
fn client_that_cannot_reconnect_gives_up() {
    let server = Server::start();
    let runtime = runtime();
    let settings =
        ClientSettings { tries_max: 3, back_off_ms: 1, ..settings(server.address(), "ann") };
    let mut ann = runtime.block_on(Client::connect(settings)).unwrap();
    drop(server);
    let stopping = runtime.block_on(ann.next()).unwrap();
    assert!(matches!(&stopping, ClientEvent::Notice(it) if it.about == "stopping"), "{stopping:?}");
    assert!(matches!(runtime.block_on(ann.next()).unwrap(), ClientEvent::Lost));
    let error = runtime.block_on(ann.next()).unwrap_err();
    assert!(matches!(error, ClientError::GaveUp { tries: 3, .. }), "{error}");
}

#[test]
fn http_pages_problems_and_events() {
    let server = Server::start();
    let runtime = runtime();
    let (http, _) = Http::parse(&format!("http://{}", server.http_address())).unwrap();
    let mut duel = announcement("duel", "yahtzee-class", 1, 2);
    duel.selection = named(&["house:greedy", "house:random"]);
    server.announce(duel);
    until("the duel is over", || server.finished("duel").is_some());
    runtime.block_on(async {
        let found = http.get("/api/v1/tournaments/duel").await.unwrap();
        assert_eq!(found["standing"], "over");
        match http.get("/api/v1/tournaments/none").await.unwrap_err() {
            HttpError::Problem { status: 404, code, detail } => {
                assert_eq!(code, "not-found");
                assert!(detail.contains("none"), "{detail}");
            }
            other => panic!("{other}"),
        }
        let path = "/api/v1/tournaments/duel/events";
        let mut events = http.events(path, None).await.unwrap().expect("events");
        let end = events.next().await.unwrap().expect("the only event");
        assert_eq!(end.event, "end");
        assert_eq!(events.next().await.unwrap(), None);
        let more = http.events(path, end.id.as_deref()).await.unwrap();
        assert!(more.is_none(), "whoever has seen the end is told so");
    });
    server.verify();
}
