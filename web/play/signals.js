// Signals that it is the person's turn: the title of the tab, a tone, and a notification. The tone
// and the notification are off until the person turns them on.

import { markTitle } from "../lib/title.js";
import { options } from "./options.js";

/** @typedef {import("./session.js").PlaySession} PlaySession */

/** A request that follows an answer within this time is the same turn, and gives no signal. */
const SAME_TURN_MS = 1_500;

/** The request that was signalled last. */
let last = "";
/** @type {AudioContext | null} */
let audio = null;

/**
 * Signals the state of the connection; `null` when there is none.
 * @param {PlaySession | null} playing
 */
export function signal(playing) {
  const [turn] = playing?.turns ?? [];
  markTitle(turn ? "● Your turn" : "");
  if (!playing || !turn || turn.request.id === last) return;
  last = turn.request.id;
  if (Date.now() - playing.answeredAt < SAME_TURN_MS && !document.hidden) return;
  if (options().sound) chime();
  if (options().notify) notify(`It is your turn in ${turn.tournament}.`);
}

/** Plays two short tones. */
export function chime() {
  audio ??= new AudioContext();
  const start = audio.currentTime;
  [660, 880].forEach((hertz, at) => {
    if (!audio) return;
    const [tone, volume] = [audio.createOscillator(), audio.createGain()];
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(0.12, start + at * 0.14);
    volume.gain.exponentialRampToValueAtTime(0.001, start + at * 0.14 + 0.25);
    tone.connect(volume).connect(audio.destination);
    tone.start(start + at * 0.14);
    tone.stop(start + at * 0.14 + 0.26);
  });
}

/**
 * Shows a notification of the system, if the tab is hidden and the person allowed it.
 * @param {string} words
 */
function notify(words) {
  if (!document.hidden || !("Notification" in window)) return;
  if (Notification.permission !== "granted") return;
  try {
    const note = new Notification("Agon", { body: words, icon: "/web/icon.svg", tag: "agon-turn" });
    note.onclick = () => {
      focus();
      location.hash = "#/play";
      note.close();
    };
  } catch {
    // Some browsers on phones allow notifications only from a service worker.
  }
}

/**
 * Asks the person for the permission to notify.
 * @returns {Promise<boolean>}
 */
export async function allowNotifications() {
  if (!("Notification" in window)) return false;
  return (await Notification.requestPermission()) === "granted";
}
