//! Rows from a thread of their own, which can be left at any time.
//!
//! Promises:   whoever waits for rows asks the observer every 50 ms. When nobody wants the rows any more, the database is told to
//!             stop. Silence without an end is a defect, never the end of the table
//! Checked by: `tests/it/{sqlite,postgres}.rs`

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use disjoin::read::{Row, Rows};
use disjoin::{Error, Observer, Result};

/// How long to wait before the observer is asked again.
const PATIENCE: Duration = Duration::from_millis(50);

/// How long a database may take to hear that nobody listens.
const FAREWELL: Duration = Duration::from_secs(2);

const SILENCE: Error = Error::Internal("the reader of a database ended early");

/// What is known before the first row.
pub(crate) struct Head {
    pub(crate) columns: Vec<String>,
    /// The positions of arrays.
    pub(crate) arrays: Vec<usize>,
    pub(crate) warnings: Vec<String>,
}

/// What the reading thread says: the head first, the end last.
enum Message {
    Head(Head),
    Rows(Vec<Row>),
    End,
}

/// Reads by a thread of its own: drivers block, and what they return borrows from the connection.
pub(crate) fn feed<'a>(
    name: &str,
    observer: &'a dyn Observer,
    work: impl FnOnce(&Out) -> Result<()> + Send + 'static,
) -> Result<Rows<'a>> {
    let (sender, messages) = sync_channel(2);
    let stop = Stop::default();
    let out = Out { sender, stop: stop.clone() };
    std::thread::spawn(move || {
        let end = work(&out).map(|()| Message::End);
        // Whoever does not listen any more does not need to know.
        let _ = out.sender.send(end);
    });
    let mut received = Received { messages, batch: Vec::new().into_iter(), ended: false, stop, observer };
    match received.message()? {
        Message::Head(Head { columns, arrays, warnings }) => {
            warnings.iter().for_each(|warning| observer.warn(warning));
            Ok(Rows { arrays, ..Rows::new(name, columns, received) })
        }
        Message::Rows(_) | Message::End => Err(SILENCE),
    }
}

/// What stands in rows of one cell: the names of tables.
pub(crate) fn names(rows: Rows<'_>) -> Result<Vec<String>> {
    Ok(rows.rows.collect::<Result<Vec<Row>>>()?.into_iter().flatten().flatten().collect())
}

/// Where the reading thread puts what it reads.
pub(crate) struct Out {
    sender: SyncSender<Result<Message>>,
    pub(crate) stop: Stop,
}

impl Out {
    /// Whether somebody still listens.
    pub(crate) fn head(&self, head: Head) -> bool {
        self.sender.send(Ok(Message::Head(head))).is_ok()
    }

    /// Whether somebody still listens.
    pub(crate) fn rows(&self, rows: Vec<Row>) -> bool {
        self.sender.send(Ok(Message::Rows(rows))).is_ok()
    }
}

type Farewell = Box<dyn FnOnce() + Send>;

/// Tells the reading thread, and its database, that nobody listens any more.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    asked: Arc<AtomicBool>,
    farewell: Arc<Mutex<Option<Farewell>>>,
}

impl Stop {
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// What to do when nobody listens any more, from another thread than that which reads.
    pub(crate) fn on_stop(&self, farewell: impl FnOnce() + Send + 'static) {
        *self.farewell.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(farewell));
    }

    fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
        let Some(farewell) = self.farewell.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let (done, wait) = channel();
        std::thread::spawn(move || {
            farewell();
            let _ = done.send(());
        });
        let _ = wait.recv_timeout(FAREWELL);
    }
}

struct Received<'a> {
    messages: Receiver<Result<Message>>,
    batch: std::vec::IntoIter<Row>,
    ended: bool,
    stop: Stop,
    observer: &'a dyn Observer,
}

impl Received<'_> {
    /// The next message, however long it takes, unless the observer ends the work.
    fn message(&mut self) -> Result<Message> {
        let message = loop {
            match self.messages.recv_timeout(PATIENCE) {
                Ok(message) => break message,
                Err(RecvTimeoutError::Timeout) => self.observer.check(),
                Err(RecvTimeoutError::Disconnected) => break Err(SILENCE),
            }
        };
        self.ended = matches!(message, Err(_) | Ok(Message::End));
        message
    }
}

impl Iterator for Received<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.batch.next() {
                return Some(Ok(row));
            }
            if self.ended {
                return None;
            }
            match self.message() {
                Ok(Message::Rows(rows)) => self.batch = rows.into_iter(),
                Ok(Message::End) => {}
                Ok(Message::Head(_)) => return Some(Err(SILENCE)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Drop for Received<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.stop.ask();
        }
    }
}
