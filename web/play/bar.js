// The bar in the head of every view but Play: the person's game, whose turn it is, and the way back.

import { h, render } from "../lib/dom.js";
import { styled } from "../lib/styled.js";
import { clock } from "../lib/table.js";

/** @typedef {import("./session.js").PlaySession} PlaySession */
/** @typedef {import("../lib/matches.js").Seat} Seat */

/**
 * Shows the bar while there is a game; returns a function that removes it.
 * @param {PlaySession} playing
 */
export function showBar(playing) {
  styled("/web/play/play.css");
  const bar = h("div", { class: "your-game", hidden: true });
  document.querySelector(".top")?.append(bar);
  const draw = () => {
    const seat = chosen(playing);
    const elsewhere = !/^#\/play\b/.test(location.hash);
    bar.hidden = !seat || !elsewhere || !playing.active;
    if (seat && !bar.hidden) render(bar, words(playing, seat));
  };
  const tick = setInterval(draw, 500);
  playing.addEventListener("change", draw);
  addEventListener("hashchange", draw);
  return () => {
    clearInterval(tick);
    removeEventListener("hashchange", draw);
    bar.remove();
  };
}

/**
 * The match to speak of: one with an open request, else a running one, else one that has ended and
 * that the person has not seen since.
 * @param {PlaySession} playing @returns {Seat | undefined}
 */
function chosen(playing) {
  const all = [...playing.own.matches.values()];
  return (
    playing.turns.sort((one, other) => one.due - other.due)[0] ??
    all.find((seat) => !seat.over && !seat.end) ??
    all.find((seat) => seat.over && !seat.seen)
  );
}

/** @param {PlaySession} playing @param {Seat} seat */
function words(playing, seat) {
  const others = playing.own.names(seat).filter((name) => name !== playing.who.account);
  const against = others.length ? ` against ${others.join(", ")}` : "";
  const turn = playing.turns.includes(seat);
  const text = turn
    ? `Your turn${against}`
    : seat.over
      ? seat.won
        ? `You won${against}`
        : `Your game${against} is over`
      : playing.own.pause(seat)
        ? `Paused: your game${against}`
        : `Your game${against}: the others move`;
  return h(
    "a",
    { href: "#/play", class: turn ? "turn" : "" },
    h("span", { role: "status" }, text),
    turn ? h("span", { class: "clock", role: "timer" }, clock(seat.due - Date.now())) : null,
    h("strong", {}, seat.over ? "See the result" : turn ? "Play" : "Go to the game"),
  );
}
