// A tournament as it goes: bracket or table, every pairing with its reason, standings, faults; and what
// an operator does about it.

import { del, get, path, post, session, sessions } from "../lib/api.js";
import { drawing, reportOf } from "../lib/bracket.js";
import { h, render } from "../lib/dom.js";
import { partDone, remaining } from "../lib/progress.js";
import { matchButtons, orderButton } from "../lib/rulings.js";
import { capital, complaint, fault, player, players, score, span, standing, watched } from "../lib/show.js";
import { watch } from "../lib/stream.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */
/** @typedef {import("../lib/types.js").App} App */

const FORMATS = /** @type {Record<string, string>} */ ({ bracket: "single elimination", knockout: "knock-out", "round-robin": "everybody against everybody" });

/** @type {import("../lib/types.js").Mount} */
export function mount(root, params, app) {
  const id = params[0] ?? "";
  const at = path`/api/v1/tournaments/${id}`;
  app.title(id);
  /** @type {Tournament | null} */
  let tournament = null;
  /** @type {unknown} */
  let problem = null;
  let unwatch = () => {};
  let gone = false;
  const clock = setInterval(() => tournament && show(), 1_000);

  function show() {
    if (!tournament) return render(root, h("h1", {}, id), problem ? complaint(problem) : h("p", { class: "soft" }, "Looking …"));
    render(root, head(tournament), ...body(tournament, app, act));
  }

  /** @param {Tournament} now */
  function take(now) {
    tournament = now;
    problem = null;
    show();
  }

  /** Before it runs, the lobby tells when something changed. */
  function follow() {
    unwatch();
    const began = ["running", "over"].includes(tournament?.standing ?? "");
    unwatch = began
      ? watch(`${at}/events`, { show: take, problem: look })
      : watch("/api/v1/events", { show: () => void look() });
  }

  async function look() {
    const before = tournament?.standing;
    try {
      take(await get(at));
    } catch (wrong) {
      problem = wrong;
      show();
    }
    if (!gone && tournament && tournament.standing !== before) follow();
  }

  /**
   * @param {() => Promise<unknown>} what @param {string} done @param {string} [then]
   */
  const act = (what, done, then) => async () => {
    if (!session()) return app.go(`#/account?then=tournament/${encodeURIComponent(id)}`);
    try {
      await what();
      app.say(done);
      if (then) return app.go(then);
    } catch (wrong) {
      app.say(wrong instanceof Error ? wrong.message : String(wrong), "bad");
    }
    look();
  };

  show();
  look();
  sessions.addEventListener("session", show);
  return () => {
    gone = true;
    clearInterval(clock);
    unwatch();
    sessions.removeEventListener("session", show);
  };
}

/** @param {Tournament} tournament */
function head({ id, standing: now, paused, plan }) {
  const about = plan ? [capital(plan.game), FORMATS[plan.policy.format.kind], `best of ${plan.policy.match.best_of}`, plan.preset].filter(Boolean).join(" · ") : "";
  return h("div", { class: "head" }, h("h1", {}, id), standing(paused ? "paused" : now), h("p", { class: "soft" }, about));
}

/**
 * @param {Tournament} tournament @param {App} app
 * @param {(what: () => Promise<unknown>, done: string, then?: string) => () => Promise<void>} act
 */
function body(tournament, app, act) {
  if (tournament.standing === "called-off") return [h("p", { class: "card" }, "It was not held: ", tournament.reason ?? "")];
  if (tournament.standing === "open" || tournament.standing === "inviting") return [coming(tournament, app, act)];
  return [
    progress(tournament),
    operator(tournament, app),
    h("section", { class: "card", "aria-label": "Who meets whom" }, h("h2", {}, "Who meets whom"), drawing(tournament)),
    h("div", { class: "columns" }, h("div", { class: "stack" }, pairings(tournament)), h("div", { class: "stack" }, standings(tournament), faults(tournament))),
    downloads(tournament),
  ];
}

/** @type {(tournament: Tournament, app: App, act: (what: () => Promise<unknown>, done: string, then?: string) => () => Promise<void>) => Node} */
function coming(tournament, app, act) {
  const me = session();
  const names = tournament.plan.players;
  const signed = me && names.includes(me.account);
  const at = path`/api/v1/tournaments/${tournament.id}/signups`;
  const { at_least, at_most } = tournament.selection ?? {};
  return h("div", { class: "columns" },
    h("section", { class: "card", "aria-label": "Sign-up" }, h("h2", {}, tournament.standing === "open" ? "Sign-up" : "Invitations"),
      h("p", {}, `${names.length} so far`, at_least ? `, at least ${at_least}` : "", at_most ? `, at most ${at_most}` : "", ". ",
        tournament.closes_at ? `Closes in ${span(tournament.closes_at - Date.now())}.` : ""),
      tournament.standing === "inviting"
        ? h("ul", { class: "entries" }, tournament.replies?.map((one) => h("li", { class: "entry" }, player(one.player), h("span", { class: "tag" }, one.reply))) ?? null)
        : names.length ? h("ul", { class: "chips" }, names.map((name) => h("li", { "data-key": name }, player(name)))) : h("p", { class: "soft" }, "Be the first."),
      tournament.standing !== "open" ? null
        : signed ? h("button", { type: "button", class: "plain", onclick: act(() => del(at), "You are out of it.") }, "Withdraw")
        : h("button", { type: "button", onclick: act(() => post(at), `You are signed up for ${tournament.id}. Stay here: it starts by itself.`, "#/play") }, "Sign up")),
    me?.role === "operator" ? h("section", { class: "card operator", "aria-label": "Operator" }, h("h2", {}, "Operator"),
      h("div", { class: "row" }, orderButton(app, tournament.id, "start"), orderButton(app, tournament.id, "call-off"))) : null);
}

/** @param {Tournament} tournament */
function progress(tournament) {
  const { pairings = [], results, paused } = tournament;
  const over = pairings.filter((pairing) => pairing.over).length;
  const round = Math.max(0, ...pairings.map((pairing) => pairing.round));
  const left = remaining(tournament, Date.now());
  const won = results?.winners ?? [];
  return h("section", { class: "card", "aria-label": "Progress" },
    tournament.standing === "over"
      ? h("p", { class: "winner" }, won.length ? ["♛ ", players(won), " won."] : `Nobody won (${results?.status ?? ""}).`)
      : h("p", { id: "progress" }, `Round ${round}: ${over} of ${pairings.length} matches are over`, left === null ? "." : `, about ${span(left)} to go.`),
    h("progress", { max: 100, value: Math.round(100 * partDone(tournament)), "aria-label": "Progress" }),
    paused ? h("p", { class: "paused" }, h("strong", {}, "Paused "), "by ", player(paused.by), `: ${paused.why}`) : null);
}

/** @param {Tournament} tournament @param {App} app */
function operator(tournament, app) {
  if (session()?.role !== "operator" || tournament.standing !== "running") return null;
  const latest = Math.max(0, ...(tournament.pairings ?? []).map(({ round }) => round));
  const own = tournament.pairings?.filter(({ round }) => round === latest) ?? [];
  return h("section", { class: "card operator", "aria-label": "Operator" }, h("h2", {}, "Operator"),
    h("div", { class: "row" }, orderButton(app, tournament.id, tournament.paused ? "resume" : "pause"),
      h("span", { class: "soft small" }, tournament.paused ? "Rulings take effect with the resume." : "Pause it to rule about its matches.")),
    tournament.paused ? h("ul", { class: "entries" }, own.map((pairing) => h("li", { class: "entry", "data-key": pairing.match },
      h("div", {}, h("strong", {}, pairing.match), " ", pairing.players.join(" vs ")), matchButtons(app, tournament.id, pairing)))) : null);
}

/** @param {Tournament} tournament */
function pairings(tournament) {
  const rounds = [...new Set(tournament.pairings?.map(({ round }) => round) ?? [])];
  return h("section", { class: "card", "aria-label": "Pairings" }, h("h2", {}, "Every pairing and why"),
    rounds.length === 0 ? h("p", { class: "soft" }, "Players are being greeted.") : null,
    rounds.map((round) => h("div", { class: "pairings", "data-key": `round ${round}` }, h("h3", {}, `Round ${round}`), h("ul", { class: "entries" },
      tournament.pairings?.filter((pairing) => pairing.round === round).map((pairing) => {
        const report = reportOf(tournament, pairing.match);
        return h("li", { class: "entry", "data-key": pairing.match }, h("div", {},
          h("a", { href: watched(tournament.id, pairing.match) }, pairing.match), " ", players(pairing.players, " vs "),
          pairing.over ? null : h("span", { class: "tag good" }, "live"),
          report && report.result.how !== "played" ? h("span", { class: "tag warn" }, report.result.how) : null,
          h("div", { class: "soft small" }, pairing.reason),
          pairing.overridden ? h("div", { class: "small" }, h("span", { class: "tag warn" }, "overridden"), ` by ${pairing.overridden.by}: ${pairing.overridden.why} (${pairing.overridden.winners.join(", ") || "nobody"} wins)`) : null,
          pairing.replays?.map((ruling) => h("div", { class: "small" }, h("span", { class: "tag warn" }, "played again"), ` by ${ruling.by}: ${ruling.why}`)) ?? null),
          h("div", { class: "scores" }, report?.result.games.map((game) => score(tournament.id, pairing.match, game)) ?? null));
      }) ?? null,
      tournament.results?.rounds.find((one) => one.round === round)?.byes.map((bye) => h("li", { class: "entry" }, h("div", {},
        bye.player ? player(bye.player) : "Nobody", h("span", { class: "tag" }, bye.walkover ? "walkover" : "bye"), h("div", { class: "soft small" }, bye.reason)))) ?? null))));
}

/** @param {Tournament} tournament */
function standings({ results }) {
  if (!results) return null;
  return h("section", { class: "card", "aria-label": "Standings" }, h("h2", {}, "Standings"), h("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "Table of standings" }, h("table", { id: "standings" },
    h("thead", {}, h("tr", {}, ["#", "Player", "Matches", "Games", "Points"].map((word, index) => h("th", { scope: "col", class: index > 1 ? "number" : "" }, word)))),
    h("tbody", {}, results.standings.map((one) => h("tr", { "data-key": one.player }, h("td", {}, one.rank), h("td", {}, player(one.player)),
      h("td", { class: "number" }, `${one.matches_won}–${one.matches_lost}${one.matches_drawn ? `–${one.matches_drawn}` : ""}`),
      h("td", { class: "number" }, `${one.games_won}–${one.games_lost}${one.games_tied ? `–${one.games_tied}` : ""}`),
      h("td", { class: "number" }, one.points)))))));
}

/** @param {Tournament} tournament */
function faults({ id, results }) {
  const all = results?.standings.flatMap((one) => one.faults) ?? [];
  return h("section", { class: "card", "aria-label": "Faults" }, h("h2", {}, "Faults"),
    all.length === 0 ? h("p", { class: "soft" }, "None so far.") : h("ul", { class: "entries" }, all.map(([match, { player: name, game, fault: { kind, code } }]) =>
      h("li", { class: "entry" }, h("div", {}, player(name), h("span", { class: "tag bad" }, fault(kind)), h("div", { class: "soft small" }, h("code", {}, code),
        match === "-" ? null : [" in ", h("a", { href: watched(id, match) }, match), game ? `, game ${game}` : ""]))))));
}

/** @param {Tournament} tournament */
function downloads({ id, standing: now }) {
  if (now !== "over") return null;
  const at = path`/api/v1/tournaments/${id}`;
  return h("p", { class: "soft small" }, h("a", { href: `${at}/log`, download: `${id}.jsonl` }, "Log"), " · ", h("a", { href: `${at}/report` }, "Report"), " · ", h("a", { href: at }, "As JSON"));
}
