//! One observer: whatever it watches, its events in order and in time.

use crate::clock::now_ms;
use crate::engine::delay::DelayLine;
use crate::engine::watch::{About, Shown, Watch};
use agon_core::Millis;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// What a message about one thing says about another; nothing, if nothing.
pub(super) type Turned = Box<dyn Fn(&Shown) -> Option<Shown> + Send>;

/// Where events come from.
enum Source {
    Watch(Watch),
    /// Something that is over: one event and no more.
    Once(Option<Shown>),
}

/// An observer's events. They are not shown before their time.
pub(super) struct Observer {
    source: Source,
    /// Where what is watched is a part of what is told of: how to find it.
    turned: Option<Turned>,
    /// The mark of what was turned out last.
    seen: Option<u64>,
    delay_ms: Millis,
    line: DelayLine,
    /// Rings when the first in line is due.
    bell: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

impl Observer {
    fn new(source: Source, delay_ms: Millis) -> Observer {
        let line = DelayLine::new(delay_ms);
        let (turned, seen, bell, ended) = (None, None, None, false);
        Observer { source, turned, seen, delay_ms, line, bell, ended }
    }

    pub(super) fn of(watch: Watch, delay_ms: Millis) -> Observer {
        Observer::new(Source::Watch(watch), delay_ms)
    }

    /// The same, of something inside; nothing of it is sent twice.
    pub(super) fn turned(
        watch: Watch,
        delay_ms: Millis,
        seen: Option<u64>,
        how: Turned,
    ) -> Observer {
        let observer = Observer::of(watch, delay_ms);
        Observer { turned: Some(how), seen, ..observer }
    }

    /// Of something that is over.
    pub(super) fn once(shown: Shown) -> Observer {
        Observer::new(Source::Once(Some(shown)), 0)
    }

    /// The next event; `None` when there will be no more.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Shown>> {
        loop {
            if let Some(shown) = self.line.pop_due(now_ms()) {
                return Poll::Ready(Some(shown));
            }
            while !self.ended {
                let Poll::Ready(next) = self.poll_source(context) else { break };
                match next {
                    None => self.ended = true,
                    Some(shown) if self.delay_ms.max(shown.held_ms) == 0 => {
                        return Poll::Ready(Some(shown));
                    }
                    Some(shown) => self.line.push(shown),
                }
            }
            match self.line.next_due() {
                None if self.ended => return Poll::Ready(None),
                None => return Poll::Pending,
                Some(due) => ready!(self.poll_bell(due, context)),
            }
        }
    }

    /// Waits until then.
    fn poll_bell(&mut self, due: Millis, context: &mut Context<'_>) -> Poll<()> {
        // A clock that was set back makes nobody wait for hours.
        let wait = Duration::from_millis(due.saturating_sub(now_ms()).clamp(1, 60_000));
        let at = Instant::now() + wait;
        match &mut self.bell {
            Some(bell) => bell.as_mut().reset(at),
            None => self.bell = Some(Box::pin(tokio::time::sleep_until(at))),
        }
        self.bell.as_mut().map_or(Poll::Ready(()), |bell| bell.as_mut().poll(context))
    }

    fn poll_source(&mut self, context: &mut Context<'_>) -> Poll<Option<Shown>> {
        loop {
            let next = match &mut self.source {
                Source::Watch(watch) => ready!(watch.poll_next(context)),
                Source::Once(shown) => shown.take(),
            };
            let (Some(shown), Some(turned)) = (&next, &self.turned) else {
                return Poll::Ready(next);
            };
            let Some(shown) = turned(shown) else { continue };
            let (ends, news) = (shown.about == About::End, self.seen != Some(shown.mark));
            self.seen = Some(shown.mark);
            if ends {
                self.source = Source::Once(None);
                self.turned = None;
            }
            if ends || news {
                return Poll::Ready(Some(shown));
            }
        }
    }
}

/// The word for an event.
pub(super) fn name(shown: &Shown) -> &'static str {
    match shown.about {
        About::Snapshot => "snapshot",
        About::Change => "change",
        About::Lagged => "lagged",
        About::End => "end",
    }
}

/// The id of an event: it stands for what is shown.
pub(super) fn id(shown: &Shown) -> String {
    format!("{:016x}", shown.mark)
}

/// The data of an event: what is shown, which was written once for all, and how old that is.
pub(super) fn data(shown: &Shown) -> String {
    let behind_ms = now_ms().saturating_sub(shown.at);
    let object = shown.data.strip_suffix('}').unwrap_or(&shown.data);
    match shown.skipped {
        0 => format!("{object},\"behind_ms\":{behind_ms}}}"),
        skipped => format!("{object},\"behind_ms\":{behind_ms},\"skipped\":{skipped}}}"),
    }
}

/// A message about something else that is shown at the same time.
pub(super) fn like(shown: &Shown, about: About, data: Arc<str>) -> Shown {
    let Shown { at, held_ms, skipped, .. } = *shown;
    Shown { at, held_ms, skipped, ..Shown::new(about, data) }
}
