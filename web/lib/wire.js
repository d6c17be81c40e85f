// The native protocol over WebSocket: it reconnects when the connection closes, and loses no
// answer.
//
// docs/protocol/native.md is the contract. An answer that could not be sent is sent when the server
// repeats its request; the server accepts an answer only once.

const BACK_MS = [250, 500, 1_000, 2_000, 4_000];
/** After these errors the client does not reconnect. */
const LAST_WORDS = [
  "taken-over",
  "wrong-credentials",
  "logged-out",
  "logged-in-elsewhere",
  "flood",
];
/** How often the page pings the server. The server pings too, but a page cannot see that. */
const ASK_MS = 20_000;

/**
 * @typedef {object} Listener
 * @property {(message: any) => void} message every message of the server from the welcome on
 * @property {(state: "connecting" | "here" | "away" | "ended", why: string) => void} state
 */

export class Wire {
  /** @param {string} token @param {Listener} listener */
  constructor(token, listener) {
    this.token = token;
    this.listener = listener;
    this.ended = false;
    this.failures = 0;
    this.timer = 0;
    this.asking = 0;
    /** True if the server has sent nothing since the latest ping. */
    this.unanswered = false;
    /**
     * Answers that may not have arrived.
     * @type {Map<string, any>}
     */
    this.unsure = new Map();
    /**
     * The player's contribution to the randomness of their games, so that nobody else can choose
     * it.
     */
    this.nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
      byte.toString(16).padStart(2, "0"),
    ).join("");
    this.connect();
  }

  connect() {
    if (this.ended) return;
    this.listener.state(this.failures ? "away" : "connecting", "");
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/v1/play`);
    this.socket = socket;
    this.unanswered = false;
    clearInterval(this.asking);
    this.asking = window.setInterval(() => this.ask(socket), ASK_MS);
    socket.onmessage = ({ data }) => this.take(socket, JSON.parse(data));
    socket.onclose = () => this.lost(socket);
  }

  /**
   * Pings the server, and closes a connection that did not answer the previous ping. The time since
   * then does not count, because browsers slow down the timers of hidden tabs.
   * @param {WebSocket} socket
   */
  ask(socket) {
    if (this.unanswered) return socket.close();
    this.unanswered = true;
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "ping" }));
  }

  /** @param {WebSocket} socket @param {any} message */
  take(socket, message) {
    if (this.ended || socket !== this.socket) return;
    this.unanswered = false;
    switch (message.type) {
      case "greeting":
        this.send({ type: "hello", protocol: 1, name: "page", nonce: this.nonce, history: true });
        this.send({ type: "login", token: this.token });
        return;
      case "welcome":
        this.failures = 0;
        this.listener.state("here", "");
        break;
      case "error":
        if (LAST_WORDS.includes(message.code)) return this.end(message.code);
        if (message.id) this.unsure.delete(message.id);
        break;
      case "request":
        // It was answered, but the answer may have been lost.
        if (this.unsure.has(message.id))
          return this.send({ type: "answer", id: message.id, answer: this.unsure.get(message.id) });
        this.forget(message.id);
        break;
      default:
    }
    this.listener.message(message);
  }

  /**
   * The next request of a match confirms the answer to the previous one.
   * @param {string} id
   */
  forget(id) {
    const match = id.split(".")[0];
    for (const other of [...this.unsure.keys()])
      if (other.split(".")[0] === match) this.unsure.delete(other);
  }

  /** @param {WebSocket} socket */
  lost(socket) {
    if (this.ended || socket !== this.socket) return;
    clearInterval(this.asking);
    this.listener.state("away", "");
    const wait =
      BACK_MS[Math.min(this.failures++, BACK_MS.length - 1)] * (0.75 + Math.random() / 2);
    this.timer = window.setTimeout(() => this.connect(), wait);
  }

  /** @param {object} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** @param {string} id @param {any} answer */
  answer(id, answer) {
    this.unsure.set(id, answer);
    this.send({ type: "answer", id, answer });
  }

  /** @param {string} why */
  end(why) {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.timer);
    clearInterval(this.asking);
    this.socket?.close();
    this.listener.state("ended", why);
  }
}
