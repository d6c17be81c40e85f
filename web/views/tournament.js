// A running tournament: bracket or table, every pairing with its reason, standings, faults; and the
// operator's options.

import { formatOf } from "../formats/index.js";
import { get, isCasual, passes, path, sessions } from "../lib/api.js";
import { acting } from "../lib/acting.js";
import { h, render } from "../lib/dom.js";
import { equal } from "../lib/equal.js";
import { capital, complaint, standing } from "../lib/show.js";
import { watch } from "../lib/stream.js";
import { styled } from "../lib/styled.js";
import { coming } from "../tournament/coming.js";
import { comparison } from "../tournament/comparison.js";
import { downloads, faults, isWide, pairings, standings } from "../tournament/lists.js";
import { luck } from "../tournament/luck.js";
import { operator, progress } from "../tournament/progress.js";
import { ruled } from "../tournament/rulings.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** How long to wait before a retry that may help. */
const AGAIN_MS = 2_000;
/** How often the scores of running matches are fetched. */
const LIVE_MS = 2_000;
/** From this many players on, the drawing of the rounds gets the whole width of the window. */
const FULL_WIDTH_MIN = 9;

/** @type {import("../lib/types.js").Mount} */
export function mount(root, params, app) {
  styled("/web/formats/formats.css");
  const id = params[0] ?? "";
  const at = path`/api/v1/tournaments/${id}`;
  app.title(id);
  /** @type {Tournament | null} */
  let tournament = null;
  /** @type {unknown} */
  let problem = null;
  let unwatch = () => {};
  let gone = false;
  let headAsked = false;
  /** @type {import("../lib/types.js").Comparison | null} */
  let compared = null;
  let comparing = false;
  /** @type {import("../tournament/luck.js").Luck} */
  let withoutLuck = {};
  /** @type {import("../lib/types.js").Ruled[]} */
  let rulings = [];
  /** The standing whose events are followed. */
  let followed = "";
  const act = acting(app, look, path`tournament/${id}`);
  /** @type {Tournament["live"]} */
  let live;
  const scores = setInterval(lookLive, LIVE_MS);
  // Relative times change by themselves.
  const clock = setInterval(() => tournament && tournament.standing !== "over" && show(), 1_000);

  /** Fetches the scores of running matches, which no event includes. */
  async function lookLive() {
    if (document.hidden || tournament?.standing !== "running") return;
    try {
      const { matches } = await get(`${at}/live`);
      live = new Map(matches.map((/** @type {any} */ one) => [one.match, one]));
      if (!gone) show();
    } catch {
      // The stream reports that the server is unreachable.
    }
  }

  function show() {
    if (!tournament) {
      const words = problem ? complaint(problem) : h("p", { class: "soft" }, "Loading …");
      return render(root, h("h1", {}, id), words);
    }
    render(root, head(tournament), ...body({ ...tournament, live }));
  }

  /** @param {Tournament} now */
  function body(now) {
    if (now.standing === "called-off") {
      const words = h("p", { class: "card" }, "This tournament was not played: ", now.reason ?? "");
      return [words, ruled(id, rulings)];
    }
    if (now.standing === "open" || now.standing === "inviting")
      return [coming(now, app, act), ruled(id, rulings)];
    return [
      progress(now),
      operator(now, app),
      h(
        "section",
        {
          class: now.plan.players.length >= FULL_WIDTH_MIN ? "card full" : "card",
          "aria-label": "Rounds",
        },
        h("h2", {}, "Rounds"),
        formatOf(now.plan).draw(now),
      ),
      isWide(now) ? standings(now) : null,
      h(
        "div",
        { class: "columns" },
        h("div", { class: "stack" }, pairings(now)),
        h(
          "div",
          { class: "stack" },
          isWide(now) ? null : standings(now),
          comparison(compared),
          faults(now),
        ),
      ),
      now.standing === "over" ? luck(id, withoutLuck, computeLuck) : null,
      ruled(id, rulings),
      downloads(now),
    ];
  }

  /** @param {Tournament} now */
  function take(now) {
    const before = tournament;
    tournament = now;
    problem = null;
    show();
    if (!live) lookLive();
    const isNew = now.standing !== before?.standing || !equal(now.paused, before?.paused);
    if (isNew || !equal(ruledOf(now), before && ruledOf(before))) askRulings();
    // Events do not include the head of the log, so fetch it.
    if (now.standing === "over" && !now.head && !headAsked) {
      headAsked = true;
      look();
    }
    if (now.standing === "over" && !comparing) compare();
  }

  /** Fetches the rulings, which change with every pause; the page shows the rest without them. */
  async function askRulings() {
    try {
      rulings = (await get(`${at}/rulings`)).rulings;
      if (!gone) show();
    } catch (wrong) {
      if (!passes(wrong)) throw wrong;
    }
  }

  /** How sure the result is; the page shows the rest without it. */
  async function compare() {
    comparing = true;
    try {
      compared = await get(`${at}/comparison`);
      if (!gone) show();
    } catch (wrong) {
      if (passes(wrong)) setTimeout(compare, AGAIN_MS);
    }
  }

  async function computeLuck() {
    withoutLuck = { isAwaited: true };
    show();
    try {
      withoutLuck = { analysis: await get(`${at}/analysis`) };
    } catch (problem) {
      withoutLuck = { problem };
    }
    if (!gone) show();
  }

  /** Before the tournament runs, the lobby's stream reports changes. */
  function follow() {
    if (gone || !tournament || tournament.standing === followed) return;
    unwatch();
    followed = tournament.standing;
    unwatch = ["running", "over"].includes(followed)
      ? watch(`${at}/events`, { show: take, problem: lost })
      : watch("/api/v1/events", { show: look });
  }

  /** The tournament has another standing than expected: fetch it again. */
  function lost() {
    followed = "";
    setTimeout(look, AGAIN_MS);
  }

  async function look() {
    if (gone) return;
    try {
      take(await get(at));
    } catch (wrong) {
      problem = wrong;
      show();
      if (passes(wrong)) setTimeout(look, AGAIN_MS);
    }
    follow();
  }

  show();
  look();
  sessions.addEventListener("session", show);
  return () => {
    gone = true;
    clearInterval(clock);
    clearInterval(scores);
    unwatch();
    sessions.removeEventListener("session", show);
  };
}

/**
 * The parts of a tournament that a ruling changes: results, players, faults.
 * @param {Tournament} tournament
 */
const ruledOf = ({ pairings, plan, results }) => [
  (pairings ?? []).map(({ overridden, replays }) => [overridden ?? null, replays ?? null]),
  plan?.players ?? null,
  (results?.standings ?? []).map(({ faults }) => faults.length),
];

/** @param {Tournament} tournament */
function head({ id, standing: now, paused, plan, results }) {
  const { policy, game } = plan ?? {};
  const about = policy && [
    capital(game),
    formatOf(plan).label,
    `best of ${policy.match.best_of}`,
    isCasual(id) ? "casual" : null,
  ];
  return h(
    "div",
    { class: "head" },
    h("h1", {}, id),
    standing(results?.interrupted ? "interrupted" : paused ? "paused" : now),
    about ? h("p", { class: "soft" }, about.filter(Boolean).join(" · ")) : null,
  );
}
