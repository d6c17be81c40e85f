// A replay as one file, with style, scripts and data inside and nothing to load.
//
// Modules cannot import each other from a disk, so they are combined into one script, each in its
// own function. That needs no parser, because modules here import and export only at the start of a
// line.

const IMPORT = /^import\s+(?:([^;"]*?)\s+from\s+)?"([^"]+)";$/gm;
const EXPORT = /^export\s+((?:async\s+)?(?:function|class|const|let))\s+(\w+)/gm;

/** @typedef {{ url: string, code: string }} Piece */

/**
 * A module and its dependencies, each after its own dependencies.
 * @param {string} url @param {Piece[]} pieces @param {(url: string) => Promise<string>} load
 */
async function collect(url, pieces, load) {
  const code = await load(url);
  const needs = [...code.matchAll(IMPORT)].map((found) => new URL(found[2], url).href);
  for (const need of needs) {
    if (!pieces.some((piece) => piece.url === need)) await collect(need, pieces, load);
  }
  if (!pieces.some((piece) => piece.url === url)) pieces.push({ url, code });
  return pieces;
}

/**
 * Combines the modules into one script without modules.
 * @param {Piece[]} pieces
 */
function bundled(pieces) {
  const name = (/** @type {string} */ url) => `m${pieces.findIndex((piece) => piece.url === url)}`;
  const one = (/** @type {Piece} */ { url, code }) => {
    const names = [...code.matchAll(EXPORT)].map((found) => found[2]);
    const inside = code
      .replace(
        IMPORT,
        (
          /** @type {string} */ _,
          /** @type {string | undefined} */ what,
          /** @type {string} */ from,
        ) => {
          const module = name(new URL(from, url).href);
          if (!what) return "";
          const all = /^\*\s+as\s+(\w+)$/.exec(what);
          return `const ${all ? all[1] : what.replace(/\bas\b/g, ":")} = ${module};`;
        },
      )
      .replace(EXPORT, "$1 $2");
    return `const ${name(url)} = (() => {\n${inside}\nreturn { ${names.join(", ")} };\n})();`;
  };
  return pieces.map(one).join("\n");
}

/** @param {string} url */
async function loaded(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.text();
}

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/**
 * A replay as a self-contained page.
 * @param {string} title @param {import("./replayer.js").Data} data @returns {Promise<string>}
 */
export async function saved(title, data) {
  const at = (/** @type {string} */ name) => new URL(name, import.meta.url).href;
  const pieces = await collect(at("./replayer.js"), [], loaded);
  await collect(at("./verify.js"), pieces, loaded);
  await collect(at("../replay/analysis.js"), pieces, loaded);
  const module = (/** @type {string} */ name) =>
    `m${pieces.findIndex((piece) => piece.url === at(name))}`;
  const files = ["style.css", "boards/boards.css", "boards/games.css", "replay/analysis.css"];
  const styles = files.map((name) => loaded(new URL(`../${name}`, import.meta.url).href));
  const style = (await Promise.all(styles)).join("\n").replace(/url\([^)]*\)/g, "none");
  const script = bundled(pieces).replaceAll("</script", "<\\/script");
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  const policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="icon" href="data:,">
<title>${escaped(title)}</title>
<style>
${style}
</style>
</head>
<body>
<main id="main" class="view"><h1>${escaped(title)}</h1></main>
<script type="application/json" id="data">${json}</script>
<script>
"use strict";
${script}
const data = JSON.parse(document.getElementById("data").textContent);
const verifier = async () => ${module("./verify.js")};
const analyst = async () => ${module("../replay/analysis.js")};
const main = document.getElementById("main");
${module("./replayer.js")}.replayer(main, data, { verifier, analyst }).explain();
</script>
</body>
</html>
`;
}

/**
 * Lets the user save a text as a file.
 * @param {string} name @param {string} type @param {string} text
 */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
