// The shapes of answers, for `tsc --checkJs`. Nothing here is loaded by the page.
// docs/protocol/http.md and /api/v1/openapi.json are the contract.

/** @typedef {"program" | "person" | "house"} Kind */
/** @typedef {{ account: string, token: string, expires_at: number, role: string, kind: Kind }} Session */
/** @typedef {{ by: string, why: string }} Ruling */

/**
 * What every view is given beside its root and its parameters.
 * @typedef {object} App
 * @property {(title: string) => void} title names the page, in the tab and to screen readers
 * @property {(text: string, kind?: "good" | "bad") => void} say a short message that goes away
 * @property {(hash: string) => void} go goes to another view: `#/tournament/cup`
 * @property {Record<string, string>} query what the hash has after a `?`
 */

/** @typedef {(root: HTMLElement, params: string[], app: App) => () => void} Mount */

export {};
