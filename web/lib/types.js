// The types of responses, for `tsc --checkJs`. The page loads nothing of this.
// docs/protocol/http.md and /api/v1/openapi.json are the contract.

/** @typedef {"program" | "person" | "house"} Kind */
/**
 * @typedef {{ account: string, token: string, expires_at: number, role: string, kind: Kind,
 *   guest?: boolean }} Session
 */
/** @typedef {{ by: string, why: string }} Ruling */
/** @typedef {{ won: number, lost: number, tied: number }} Tally */

/** @typedef {{ player: string, kind: Kind, wire?: string }} Here */
/**
 * A tournament in a list.
 * @typedef {object} Listed
 * @property {string} id
 * @property {string} standing
 * @property {boolean} [interrupted]
 * @property {boolean} [paused]
 * @property {string} [game]
 * @property {number} [players]
 * @property {string[]} [winners]
 * @property {string} [reason]
 */
/**
 * A finished tournament.
 * @typedef {{ id: string, game: string, format: string, players: number, began_at: number,
 *   ended_at: number, winners: string[], aborted?: string }} PastTournament
 */
/**
 * A ruling of an operator.
 * @typedef {{ at: number, what: string, match?: string, game?: number, player?: string,
 *   winners?: string[],
 *   by: string, why: string }} Ruled
 */
/**
 * @typedef {object} Lobby
 * @property {number} accounts
 * @property {number} here
 * @property {Here[]} players
 * @property {{ queue: string, waiting: number }[]} queues
 * @property {Record<string, number>} counts
 * @property {Listed[]} tournaments
 */
/**
 * @typedef {{ games: { game: string, at_least: number, at_most: number }[], presets: { preset:
 *   string, game: string, about: string, queue_players?: number }[] }} Games
 */
/**
 * @typedef {{ value: number, deviation: number, low: number, high: number }} Rating with the bounds
 *   of its 95 % interval
 */
/** @typedef {{ value: number | null, low: number | null, high: number | null }} EloInterval */
/**
 * @typedef {{ rank: number, player: string, games: number, points: number, elo?: EloInterval,
 *   performance?: number }} ComparedPlayer
 */
/**
 * @typedef {{ players: ComparedPlayer[], pairs: { one: string, other: string, won: number, drawn:
 *   number, lost: number, elo: EloInterval, superiority: number, test?: { player: string, llr:
 *   number, lower: number, upper: number, verdict?: "h0" | "h1" } }[], podium?: { players:
 *   string[], winner: number, set: number, order: number } }} Comparison
 */
/**
 * @typedef {{ mean: number, deviation: number, interval?: [number, number] }} Estimate a mean per
 *   game; the interval is absent with fewer than two games
 */
/**
 * @typedef {{ model: string, players: { player: string, games: number, raw: Estimate, adjusted:
 *   Estimate, luck: number, cost: number }[], costs: { player: string, games: number, decisions:
 *   number, mistakes: number, per_decision: Estimate, per_game: Estimate }[] }} AdjustedStandings
 */
/** @typedef {{ player: string, rank: number, rating: Rating }} Ranked */

/**
 * @typedef {{ game: number, seats: string[], end: "played" | "forfeited" | "void", by?:
 *   string, scores: number[], ranks: (number | null)[], winners: string[], voided?: Ruling }}
 *   GameResult
 */
/** @typedef {{ player: string, game?: number, fault: { kind: string, code: string } }} Faulted */
/**
 * @typedef {{ winners: string[], how: string, halves: number[], games: GameResult[],
 *   counts_from: number, faults: Faulted[], out: string[] }} MatchResult
 */
/**
 * @typedef {{ id: string, players: string[], reason: string, result: MatchResult, overridden?:
 *   { by: string, why: string, winners: string[] } }} MatchReport
 */
/** @typedef {MatchReport & { tournament: string, game: string, at: number }} PlayedMatch */
/** @typedef {{ player: string | null, reason: string, walkover?: string }} Bye */
/**
 * @typedef {{ kind: string, slots?: number, min?: number, max?: number, rounds?: number,
 *   cycles?: number, size?: number, challengers?: number, third_place?: boolean,
 *   stages?: { format: FormatOptions, players?: number }[] }} FormatOptions
 */
/**
 * @typedef {{ round: number, stage?: { number: number, players?: string[] }, byes: Bye[],
 *   matches: MatchReport[] }} Round
 */
/**
 * @typedef {object} Place a player's place in a tournament
 * @property {number} rank
 * @property {string} player
 * @property {number} matches_won
 * @property {number} matches_lost
 * @property {number} matches_drawn
 * @property {number} games_won
 * @property {number} games_lost
 * @property {number} games_tied
 * @property {number} points
 * @property {number} byes
 * @property {[string, Faulted][]} faults
 * @property {{ by: string, value: number }[]} [tie_breaks]
 */
/**
 * @typedef {{ round: number, match: string, players: string[], reason: string, over: boolean,
 *   overridden?: Ruling & { winners: string[] }, replays?: Ruling[] }} Pairing
 */
/**
 * @typedef {{ match: string, round: number, players: string[], won: number[], best_of: number,
 *   game?: { number: number, seats: string[], points: number[], percent: number } }} LiveScore
 */
/**
 * @typedef {object} Tournament
 * @property {string} id
 * @property {string} standing
 * @property {{ game: string, preset: string | null, players: string[], policy: { format:
 *   FormatOptions, match: { best_of: number, time: { answer_ms: number } } } }} plan
 * @property {number} [before] how many rounds earlier stages had, in a part of a tournament
 * @property {Pairing[]} [pairings]
 * @property {{ rounds: Round[], standings: Place[], winners: string[], status: string,
 *   interrupted?: { missing: string[], why: string }, awarded?: Ruling & { winners: string[] },
 *   cheating: string[], failing: string[] }} [results]
 * @property {Map<string, LiveScore>} [live] the scores of running matches, which the page fetches
 * @property {string} [head]
 * @property {Ruling} [paused]
 * @property {number} [began_at]
 * @property {number} [closes_at]
 * @property {boolean} [readying]
 * @property {{ by: string, at_least?: number, at_most?: number }} [selection]
 * @property {{ player: string, reply: string }[]} [replies]
 * @property {string} [reason]
 */
/**
 * @typedef {object} Statistics what a player did, at one game or in all
 * @property {Tally} games
 * @property {Tally} matches
 * @property {Tally} tournaments
 * @property {number} tournaments_played
 * @property {number} points
 * @property {number} cheats
 * @property {number} no_shows
 * @property {number} faults
 * @property {number} games_forfeited
 * @property {number} matches_forfeited
 * @property {number} [rank]
 * @property {Rating} [rating]
 */
/**
 * @typedef {{ account: string, kind: Kind, role: string, blacklisted: string | null,
 *   registered_at: number, statistics: { by_game: Record<string, Statistics>, total: Statistics
 *   } }} Account
 */
/**
 * @typedef {{ tournament: string, match?: string, game?: number, player: string, kind: string,
 *   code: string, evidence?: { at: number, detail: string, answer?: string, sent?: string,
 *   asked?: { limit_ms: number, question: unknown } } }} Fault
 */
/**
 * @typedef {{ tournament: string, game: string, by: string | null, readying: boolean, reply:
 *   string | null, closes_at: number }} Invited
 */

/**
 * The help that every view gets beside its root and its parameters.
 * @typedef {object} App
 * @property {(title: string) => void} title names the page, in the tab and to screen readers
 * @property {(text: string, kind?: "good" | "bad") => void} say a short message that goes away
 * @property {(hash: string) => void} go goes to another view: `#/tournament/cup`
 * @property {Record<string, string>} query what the hash has after a `?`
 */

/** @typedef {(root: HTMLElement, params: string[], app: App) => () => void} Mount */

export {};
