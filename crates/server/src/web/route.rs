//! One route: its input, its answers, its access rule, and its handler.
//!
//! Routes and their documentation come from one list, so that neither can exist without the other.

use super::Web;
use super::body::Form;
use super::observe::Watching;
use axum::handler::Handler;
use axum::routing::{self, MethodRouter};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::marker::PhantomData;

/// Makes the schema of a type.
pub(super) type Shape = fn(&mut SchemaGenerator) -> Schema;

/// The access rule of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    /// Everybody; a token is ignored.
    Anybody,
    /// Everybody; with a token, the answer shows more.
    PerhapsToken,
    /// Clients with a token.
    Token,
    /// The account in the path, and operators.
    Owner,
    /// Operators.
    Operator,
}

/// An answer that is not a problem.
pub(super) struct Given {
    pub(super) status: u16,
    pub(super) tells: &'static str,
    /// The media type and the shape; `None` if there is no body.
    pub(super) body: Option<(&'static str, Shape)>,
}

/// The data of an event: a state, and its age.
struct EventOf<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for EventOf<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Event", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Value::from(T::json_schema(generator));
        let age = [
            ("behind_ms", "How old this is, in milliseconds."),
            ("skipped", "How many changes were left out before this one."),
        ];
        let age = age.map(|(name, tells)| {
            (name, json!({"type": "integer", "minimum": 0, "description": tells}))
        });
        let add_age = |object: &mut Value| {
            for (name, field) in &age {
                object["properties"][*name] = field.clone();
            }
        };
        match schema.get_mut("oneOf").and_then(Value::as_array_mut) {
            Some(variants) => variants.iter_mut().for_each(add_age),
            None => add_age(&mut schema),
        }
        Schema::try_from(schema).expect("an object is a schema")
    }
}

/// A route and its documentation.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) handler: MethodRouter<Web>,
    pub(super) tells: &'static str,
    pub(super) access: Access,
    pub(super) query: Option<Shape>,
    pub(super) takes: Option<Shape>,
    /// True if the body, if the route takes one, is required.
    pub(super) needs_body: bool,
    pub(super) gives: Vec<Given>,
    pub(super) fails: Vec<u16>,
}

macro_rules! methods {
    ($($name:ident $method:literal),*) => {
        impl Route {
            $(pub(super) fn $name<H: Handler<T, Web>, T: 'static>(
                path: &'static str,
                handler: H,
                tells: &'static str,
            ) -> Route {
                Route::new($method, path, routing::$name(handler), tells)
            })*
        }
    };
}

methods! { get "get", post "post", put "put", delete "delete" }

impl Route {
    fn new(
        method: &'static str,
        path: &'static str,
        handler: MethodRouter<Web>,
        tells: &'static str,
    ) -> Route {
        Route {
            method,
            path,
            handler,
            tells,
            access: Access::Anybody,
            query: None,
            takes: None,
            needs_body: true,
            gives: Vec::new(),
            fails: Vec::new(),
        }
    }

    pub(super) fn by(mut self, access: Access) -> Route {
        self.access = access;
        self
    }

    /// The fields of its query.
    pub(super) fn query<T: DeserializeOwned + JsonSchema>(mut self) -> Route {
        self.query = Some(|generator| generator.subschema_for::<T>());
        self
    }

    /// The form of its body.
    pub(super) fn takes<T: Form>(mut self) -> Route {
        self.takes = Some(|generator| generator.subschema_for::<T>());
        self
    }

    /// Takes a body that may be left out.
    pub(super) fn may_take<T: Form>(mut self) -> Route {
        self.needs_body = false;
        self.takes::<T>()
    }

    fn also(mut self, given: Given) -> Route {
        self.gives.push(given);
        self
    }

    /// Answers with JSON of this shape.
    pub(super) fn gives<T: JsonSchema>(self, status: u16) -> Route {
        let shape: Shape = |generator| generator.subschema_for::<T>();
        let tells = if status == 201 { "It was made." } else { "This is it." };
        self.also(Given { status, tells, body: Some(("application/json", shape)) })
    }

    /// Answers with an empty confirmation.
    pub(super) fn done(self) -> Route {
        self.also(Given { status: 204, tells: "It was done.", body: None })
    }

    /// Answers that it is not ready yet.
    pub(super) fn accepts(self, tells: &'static str) -> Route {
        self.also(Given { status: 202, tells, body: None })
    }

    /// Answers with text of another type.
    pub(super) fn text(self, media: &'static str) -> Route {
        let shape: Shape = |generator| generator.subschema_for::<String>();
        self.also(Given { status: 200, tells: "This is it.", body: Some((media, shape)) })
    }

    /// Answers with events of this shape, over either transport.
    pub(super) fn events<T: JsonSchema>(self) -> Route {
        let shape: Shape = |generator| generator.subschema_for::<EventOf<T>>();
        let tells = "Events; the data of each is of this shape.";
        self.query::<Watching>()
            .also(Given { status: 200, tells, body: Some(("text/event-stream", shape)) })
            .also(Given { status: 204, tells: "The end was seen already.", body: None })
            .upgrades("The same events over WebSocket.")
            .fails(&[403, 422])
    }

    /// Becomes a WebSocket.
    pub(super) fn upgrades(self, tells: &'static str) -> Route {
        self.also(Given { status: 101, tells, body: None })
    }

    /// Adds problems of its own, beyond those that follow from its input.
    pub(super) fn fails(mut self, statuses: &[u16]) -> Route {
        self.fails.extend(statuses);
        self
    }

    /// The names in its path.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let pieces = self.path.split('/');
        pieces.filter_map(|piece| piece.strip_prefix('{')?.strip_suffix('}'))
    }

    /// All problems it may answer with.
    pub(super) fn problems(&self) -> Vec<u16> {
        let mut all = vec![421, 429, 500, 503];
        if self.method != "get" {
            all.extend([403, 415]);
        }
        all.extend(&self.fails);
        if self.names().next().is_some() || self.query.is_some() {
            all.push(400);
        }
        if self.takes.is_some() {
            all.extend([400, 408, 413, 422]);
        }
        match self.access {
            Access::Anybody => {}
            Access::PerhapsToken | Access::Token => all.push(401),
            Access::Owner | Access::Operator => all.extend([401, 403]),
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}
